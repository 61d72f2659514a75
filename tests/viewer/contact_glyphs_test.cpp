#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "apps/viewer/contact_description.h"
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
      Picture picture;
      PictureNotes notes;
      const GlyphList& glyphs = picture.glyphs_on_top;
      const ContactGlyphCounts counts =
          add_contact_glyphs(frame, contacts_of(frame), display, {}, scale, picture, notes);
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
  display.force_sum = ForceSum::contact;
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
    Picture picture, small;
    PictureNotes notes;
    const ContactGlyphCounts counts =
        add_contact_glyphs(frame, contacts_of(frame), display, {}, scale, picture, notes);
    CHECK(counts.points_per_newton * largest == Approx(k_largest_length));
    const std::vector<Glyph> arrows = heads(picture.glyphs_on_top, k_force_colour);
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
    const ContactGlyphCounts halved =
        add_contact_glyphs(frame, contacts_of(frame), display, {}, scale, small, notes);
    CHECK(halved.points_per_newton * largest == Approx(0.25 * k_largest_length));
    display.size = display.force_scale = 1.0;
  }
}

TEST_CASE("Contact glyphs: a friction cone has the slope of friction, and the force within",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("gripper"));
  user.steps(100);
  user.draw();
  const Frame& frame = user.frame();
  const GlyphScale scale{user.viewer.camera, 720};
  for (const ForceSum sum : {ForceSum::contact, ForceSum::pair, ForceSum::body}) {
    CAPTURE(static_cast<int>(sum));
    ContactDisplay display = nothing_of_contacts();
    display.friction_cones = true;
    display.force_sum = sum;
    Picture picture;
    PictureNotes notes;
    const ContactGlyphCounts counts =
        add_contact_glyphs(frame, contacts_of(frame), display, {}, scale, picture, notes);
    const std::vector<Glyph>& cones = picture.see_through_glyphs.glyphs(GlyphShape::cone);
    CHECK(counts.friction_cones == static_cast<int>(cones.size()));
    CHECK((counts.friction_cones > 0) == (sum != ForceSum::body));
    const auto arrows = force_arrows(frame.model->model(), contacts_of(frame), display);
    for (const Glyph& cone : cones) {
      const Vec3<double> apex = tip_of(cone);
      const auto of = std::min_element(arrows.begin(), arrows.end(), [&](const auto& a, const auto& b) {
        return (a.point_W - apex).norm() < (b.point_W - apex).norm();
      });
      const double height = cone.axes.col(2).norm(), radius = cone.axes.col(0).norm();
      CHECK(radius / height == Approx(of->friction).epsilon(1e-4));
      CHECK(cone.colour.w() < 1.0f);
      // The tip of the force lies in the base, within its rim but for what smoothing lets it slip.
      const Vec3<double> normal = of->normal_W.normalized();
      const double along = of->force_W.dot(normal);
      const Vec3<double> tip = apex + height / along * of->force_W;
      CHECK((tip - cone.origin.cast<double>()).norm() < 1.02 * radius);
    }
  }
}

TEST_CASE("Contact glyphs: the legend tells of what is shown and of nothing else", "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"));
  const auto legend = [&](auto change) {
    ContactDisplay display = nothing_of_contacts();
    change(display);
    Picture picture;
    PictureNotes notes;
    const GlyphScale scale{user.viewer.camera, 720};
    (void)add_contact_glyphs(user.frame(), contacts_of(user.frame()), display, {}, scale, picture, notes);
    std::string words;
    for (const LegendEntry& entry : notes.legend.entries) words += entry.text + ";";
    return words;
  };
  user.steps(100);
  user.draw();
  CHECK(legend([](ContactDisplay&) {}).empty());
  for (std::size_t i = 0; i < std::size(k_indicator_names); ++i) {  // in one line each
    const std::string line = legend([i](ContactDisplay& d) {
      d.points = d.normals = true;
      d.indicator = static_cast<Indicator>(i);
      d.least = 0.0;
    });
    CHECK(line == k_indicator_names[i] + std::string(": ") + k_indicator_meanings[i] + ";");
    CHECK(line.size() < 65);
  }
  CHECK(legend([](ContactDisplay& d) { d.friction_discs = true; }) == "sticks;");
  CHECK(legend([](ContactDisplay& d) { d.candidates = true; }).empty());  // the scene has none
  CHECK(legend([](ContactDisplay& d) { d.forces = true; }).find("on the second body of each pair") !=
        std::string::npos);
  CHECK(legend([](ContactDisplay& d) { d.points = true, d.vertex_sdf = d.edge_edge = false; }).empty());
}

TEST_CASE("Contact glyphs: numbers stand at the tips of forces, unless they are switched off",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"), 640, 400);
  user.steps(100);
  user.viewer.display.contacts = nothing_of_contacts();
  user.viewer.display.contacts.forces = true;
  user.draw();
  const PictureNotes notes = user.viewer.notes();
  REQUIRE(static_cast<int>(notes.arrows.size()) == user.viewer.glyph_counts().forces);
  const auto arrows =
      force_arrows(user.frame().model->model(), contacts_of(user.frame()), user.viewer.display.contacts);
  REQUIRE(arrows.size() == notes.arrows.size());
  for (std::size_t i = 0; i < arrows.size(); ++i)
    CHECK(notes.arrows[i].text == three_digits(arrows[i].force_W.norm(), "N"));
  const Image with = user.image();
  user.viewer.display.contacts.force_numbers = false;
  user.draw();
  for (const ArrowLabel& label : user.viewer.notes().arrows) CHECK(label.text.empty());
  CHECK(difference(with, user.image()) > 200);
}

TEST_CASE("Contact glyphs: a contact under the mouse has its table beside it", "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"), 640, 400);
  user.steps(100);
  user.draw();
  const Image without = user.image();
  const auto [x, y] = user.on_screen(user.frame().contacts.front().contact.point_W);
  user.mouse_to(x, y);
  user.draw();
  CHECK(difference(without, user.image()) > 5000);
  user.viewer.display.contacts.tables = false;
  user.draw();
  CHECK(difference(without, user.image()) < 200);
}

}  // namespace abut::viewer
