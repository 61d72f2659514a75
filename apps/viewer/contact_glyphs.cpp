#include "apps/viewer/contact_glyphs.h"

#include <algorithm>
#include <cmath>

#include "apps/viewer/contact_description.h"
#include "apps/viewer/panels/widgets.h"

namespace abut::viewer {
namespace {

constexpr double k_force_radius = 2.0,
                 k_sum_radius = 3.0;  // [points]
constexpr float k_cone_opacity = 0.42f;
constexpr double k_least_force_length = 10.0;  // so that small ones are seen [points]

Colour with_opacity(Colour colour, float opacity) {
  colour.w() = opacity;
  return colour;
}

class ContactGlyphMaker {
 public:
  ContactGlyphMaker(const Model& model, const ContactDisplay& display, const Selection& selection,
                    const GlyphScale& scale, Picture& picture, PictureNotes& notes)
      : model_(model),
        display_(display),
        selection_(selection),
        scale_(scale),
        glyphs_(picture.glyphs_on_top),
        see_through_(picture.see_through_glyphs),
        notes_(notes) {}

  void add_candidate(const ContactCandidate& candidate) {
    const Colour colour = sequential_colour(candidate.weight);
    const double unit = unit_at(candidate.start_W);
    if (candidate.is_edge) {
      glyphs_.add_rod(candidate.start_W, candidate.end_W, k_rod_radius * unit, colour);
    } else {
      glyphs_.add_sphere(candidate.start_W, 0.7 * k_point_radius * unit, colour);
    }
    ++counts_.candidates;
    notes_.legend.add({LegendMark::scale, {}, "weight of the choice", 0.0, &sequential_colour, "0", "1"});
  }

  void add_contact(const ContactView& view) {
    const Contact& contact = view.contact;
    const double unit = unit_at(contact.point_W);
    const double value = std::clamp(indicator_of(view, display_.indicator), 0.0, 1.0);
    const double size = display_.scale_by_indicator ? value : 1.0;
    const bool pinned = selection_.is_pinned(contact.feature);
    const Colour colour = sequential_colour(value);
    if (display_.points) {
      const double radius = k_point_radius * unit * (0.4 + 0.6 * size) * (pinned ? 1.8 : 1.0);
      glyphs_.add_sphere(contact.point_W, radius, pinned ? k_selection_colour : colour);
      ++counts_.points;
    }
    if (display_.normals) {
      add_rimmed_arrow(contact.point_W, contact.point_W + size * k_normal_length * unit * contact.normal_AB_W,
                       k_rod_radius * unit, colour, scale_, glyphs_);
      ++counts_.normals;
    }
    if (display_.points || display_.normals) {
      const auto i = static_cast<std::size_t>(display_.indicator);
      const std::string words = k_indicator_names[i] + std::string(": ") + k_indicator_meanings[i];
      notes_.legend.add({LegendMark::scale, {}, words, 0.0, &sequential_colour, "0", "1"});
      if (pinned && display_.points) notes_.legend.add({LegendMark::ball, k_selection_colour, "pinned"});
    }
    if (display_.witness_points && view.inspection.known) add_witness_points(view, unit);
    if (display_.friction_discs && view.has_force && view.force.normal_force() > 0.0)
      add_friction_disc(view, unit);
  }

  void add_forces(const ContactSet& set) {
    const std::vector<ForceArrow> arrows = force_arrows(model_, set, display_);
    double largest = 0.0;
    for (const ForceArrow& arrow : arrows) largest = std::max(largest, arrow.force_W.norm());
    if (!(largest > 0.0)) return;
    counts_.points_per_newton = display_.size * display_.force_scale * k_largest_length / largest;
    constexpr double k_negligible = 1e-3;  // of the largest
    for (const ForceArrow& arrow : arrows) {
      if (arrow.force_W.norm() < k_negligible * largest) continue;
      add_force(arrow);
      if (display_.friction_cones && has_friction_cone(arrow)) add_friction_cone(arrow);
    }
    constexpr const char* k_whose[] = {"on the second body of each contact",
                                       "on the second body of each pair", "on each body"};
    const double newtons = round_down(k_legend_length / counts_.points_per_newton * display_.size);
    notes_.legend.add({LegendMark::arrow, k_force_colour,
                       with_prefix(newtons, "N") + " " + k_whose[static_cast<int>(display_.force_sum)],
                       newtons * counts_.points_per_newton});
  }

  [[nodiscard]] const ContactGlyphCounts& counts() const { return counts_; }

 private:
  [[nodiscard]] double unit_at(const Vec3<double>& p_W) const { return display_.size * scale_.point_at(p_W); }

  void add_witness_points(const ContactView& view, double unit) {
    const ContactInspection& at = view.inspection;
    const auto colour_of_body = [&](int body) {
      return colour_of(model_.bodies[static_cast<std::size_t>(body)], body);
    };
    const double radius = 0.5 * k_point_radius * unit;
    glyphs_.add_sphere(at.witness_A_W, radius, colour_of_body(view.contact.feature.body_A));
    glyphs_.add_sphere(at.witness_B_W, radius, colour_of_body(view.contact.feature.body_B));
    glyphs_.add_rod(at.witness_A_W, at.witness_B_W, 0.5 * k_rod_radius * unit, k_witness_colour);
    notes_.legend.add({LegendMark::rod, k_witness_colour, "witness points, in the colours of their bodies"});
    ++counts_.witness_pairs;
  }

  void add_friction_disc(const ContactView& view, double unit) {
    // On a dark rim, as bodies may have the same colour.
    const Contact& contact = view.contact;
    const double radius = 2.0 * k_point_radius * unit;
    const Vec3<double> aside = 0.04 * radius * contact.normal_AB_W.normalized();
    const bool slip = slides(view.force);
    const Colour& state_colour = slip ? k_slip_colour : k_stick_colour;
    glyphs_.add_disc(contact.point_W, contact.normal_AB_W, 1.3 * radius, k_rim_colour);
    glyphs_.add_disc(contact.point_W + aside, contact.normal_AB_W, radius, state_colour);
    glyphs_.add_disc(contact.point_W - aside, contact.normal_AB_W, radius, state_colour);
    notes_.legend.add({LegendMark::disc, state_colour, slip ? "slides" : "sticks"});
    ++counts_.friction_discs;
  }

  void add_force(const ForceArrow& arrow) {
    const double newtons = arrow.force_W.norm(),
                 length = std::max(k_least_force_length, counts_.points_per_newton * newtons);
    const double point = scale_.point_at(arrow.point_W);
    const double radius = display_.force_sum == ForceSum::contact ? k_force_radius : k_sum_radius;
    const Vec3<double> tip = arrow.point_W + point * length / newtons * arrow.force_W;
    add_rimmed_arrow(arrow.point_W, tip, radius * display_.size * point, k_force_colour, scale_, glyphs_);
    notes_.arrows.push_back({arrow.point_W, tip,
                             display_.force_numbers ? three_digits(newtons, "N") : std::string(),
                             counts_.points_per_newton * newtons / k_largest_length, k_force_colour});
    ++counts_.forces;
  }

  /// As high as the force along the normal is long, so that a force that slides ends at its rim.
  void add_friction_cone(const ForceArrow& arrow) {
    const Vec3<double> normal = arrow.normal_W.normalized();
    const double newtons = arrow.force_W.norm(), along = arrow.force_W.dot(normal);
    if (!(along > 0.0)) return;
    const double length = std::max(k_least_force_length, counts_.points_per_newton * newtons);
    const double height = scale_.point_at(arrow.point_W) * length * along / newtons;
    const bool slip = friction_use(arrow) > k_sliding_use;
    see_through_.add_cone(arrow.point_W, arrow.point_W + height * normal, arrow.friction * height,
                          with_opacity(slip ? k_slip_colour : k_stick_colour, k_cone_opacity));
    notes_.legend.add({LegendMark::cone, slip ? k_slip_colour : k_stick_colour,
                       slip ? "friction cone, slides" : "friction cone, sticks"});
    ++counts_.friction_cones;
  }

  const Model& model_;
  const ContactDisplay& display_;
  const Selection& selection_;
  const GlyphScale& scale_;
  GlyphList &glyphs_, &see_through_;
  PictureNotes& notes_;
  ContactGlyphCounts counts_;
};

}  // namespace

double GlyphScale::point_at(const Vec3<double>& p_W) const {
  constexpr double k_nearest = 1e-2;  // of the camera's distance, for what is beside or behind it
  const double depth = (p_W - camera.position()).dot(camera.forward());
  return camera.pixel_size(std::max(depth, k_nearest * camera.distance), height);
}

void add_rimmed_arrow(const Vec3<double>& from, const Vec3<double>& to, double radius, const Colour& colour,
                      const GlyphScale& scale, GlyphList& glyphs) {
  const double length = (to - from).norm();
  if (!(length > 0.0)) return;
  glyphs.add_arrow(from, to, radius, colour);
  // Larger, and moved away from the camera along the rays to its ends, which leaves it in its place in the
  // picture, to behind the arrow.
  const Vec3<double> eye = scale.camera.position(), along = (to - from) / length;
  const double farther = 1.0 + 6.0 * radius / std::max((from - eye).norm(), 6.0 * radius);
  const auto behind = [&](const Vec3<double>& p) -> Vec3<double> { return eye + farther * (p - eye); };
  glyphs.add_arrow(behind(from - 0.5 * radius * along), behind(to + 1.6 * radius * along),
                   1.5 * farther * radius, k_rim_colour);
}

ContactGlyphCounts add_contact_glyphs(const Frame& frame, const ContactSet& set,
                                      const ContactDisplay& display, const Selection& selection,
                                      const GlyphScale& scale, Picture& picture, PictureNotes& notes) {
  ContactGlyphMaker maker(frame.model->model(), display, selection, scale, picture, notes);
  if (display.candidates) {
    for (const ContactCandidate& candidate : set.candidates) maker.add_candidate(candidate);
  }
  for (const ContactView& view : set.contacts) {
    if (is_shown(view, display)) maker.add_contact(view);
  }
  if (display.forces || display.friction_cones) maker.add_forces(set);
  return maker.counts();
}

}  // namespace abut::viewer
