#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {
namespace {

/// Length in a picture of a segment of a length [m] at p_W, across the view [points].
double length_in_picture(const GlyphScale& scale, const Vec3<double>& p_W, double length) {
  const Vec3<double> end = p_W + length * scale.camera.up();
  return 0.5 * scale.height * (scale.camera.project(end, 1.0).y() - scale.camera.project(p_W, 1.0).y());
}

ContactDisplay nothing_of_contacts() {
  ContactDisplay display;
  display.points = display.normals = false;
  return display;
}

Vec3<double> tip_of(const Glyph& cone) { return (cone.origin + cone.axes.col(2)).cast<double>(); }

/// Arrows without their rims: heads of that colour.
std::vector<Glyph> heads(const GlyphList& glyphs, const Colour& colour) {
  std::vector<Glyph> found;
  for (const Glyph& glyph : glyphs.glyphs(GlyphShape::cone)) {
    if (glyph.colour == colour) found.push_back(glyph);
  }
  return found;
}

}  // namespace

TEST_CASE("Contact glyphs: zooming leaves the sizes of points and normals in the picture as they are",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("box_on_box"));
  const Frame& frame = user.frame();
  REQUIRE_FALSE(frame.contacts.empty());
  ContactDisplay display = nothing_of_contacts();
  display.points = display.normals = true;
  display.scale_by_indicator = false;
  for (const double distance : {0.5, 1.0, 4.0, 30.0}) {
    for (const int height : {200, 1080}) {
      CAPTURE(distance, height);
      GlyphScale scale{user.viewer.camera, height};
      scale.camera.distance *= distance;
      GlyphList glyphs;
      const ContactGlyphCounts counts = add_contact_glyphs(frame, frame.contacts, display, {}, scale, glyphs);
      REQUIRE(counts.points == static_cast<int>(glyphs.glyphs(GlyphShape::sphere).size()));
      for (const Glyph& ball : glyphs.glyphs(GlyphShape::sphere)) {
        const Vec3<double> p = ball.origin.cast<double>();
        CHECK(length_in_picture(scale, p, ball.axes.col(0).norm()) == Approx(5.0).epsilon(1e-3));
      }
      // Each normal is a head and the head of its rim behind it.
      const std::vector<Glyph>& cones = glyphs.glyphs(GlyphShape::cone);
      REQUIRE(cones.size() == 2 * static_cast<std::size_t>(counts.normals));
      std::size_t i = 0;
      for (const ContactView& view : frame.contacts) {
        if (!is_shown(view, display)) continue;
        const Vec3<double>& p = view.contact.point_W;
        const double length = (tip_of(cones[i]) - p).norm();
        CHECK(length_in_picture(scale, p, length) == Approx(k_normal_length).epsilon(1e-3));
        CHECK((tip_of(cones[i + 1]) - scale.camera.position()).norm() >
              (tip_of(cones[i]) - scale.camera.position()).norm());
        i += 2;
      }
    }
  }
}

TEST_CASE("Contact glyphs: arrows of forces are in proportion, the largest of a fixed length in the picture",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("gripper"));
  user.steps(100);
  user.draw();
  const Frame& frame = user.frame();
  ContactDisplay display = nothing_of_contacts();
  display.forces = true;
  std::vector<ContactForce> forces = frame.other_forces;
  for (const ContactView& view : frame.contacts) {
    if (view.has_force && is_shown(view, display)) forces.push_back(view.force);
  }
  double largest = 0.0;
  for (const ContactForce& force : forces) largest = std::max(largest, force.force_B_W.norm());
  REQUIRE(largest > 0.0);
  for (const double distance : {1.0, 5.0}) {
    GlyphScale scale{user.viewer.camera, 720};
    scale.camera.distance *= distance;
    GlyphList glyphs;
    const ContactGlyphCounts counts = add_contact_glyphs(frame, frame.contacts, display, {}, scale, glyphs);
    CHECK(counts.points_per_newton * largest == Approx(k_largest_length));
    const std::vector<Glyph> arrows = heads(glyphs, k_force_colour);
    REQUIRE_FALSE(arrows.empty());
    for (const ContactForce& force : forces) {
      const double newtons = force.force_B_W.norm(), length = counts.points_per_newton * newtons;
      if (length < 15.0) continue;
      const Vec3<double> tip =
          force.point_W + length / newtons * scale.point_at(force.point_W) * force.force_B_W;
      const auto is_tip = [&](const Glyph& head) {
        return (tip_of(head) - tip).norm() < 0.1 * scale.point_at(tip);
      };
      CHECK(std::any_of(arrows.begin(), arrows.end(), is_tip));
    }
    // Glyphs of the size 0.5 are half as long, and forces are half as long again by their own scale.
    display.size = display.force_scale = 0.5;
    GlyphList small;
    CHECK(add_contact_glyphs(frame, frame.contacts, display, {}, scale, small).points_per_newton * largest ==
          Approx(0.25 * k_largest_length));
    display.size = display.force_scale = 1.0;
  }
}

}  // namespace abut::viewer
