#include "apps/viewer/picture_maker.h"

#include <algorithm>
#include <cmath>

#include "apps/viewer/gradient_arrows.h"

namespace abut::viewer {
namespace {

constexpr double k_point_radius = 5.0, k_rod_radius = 1.4, k_force_radius = 2.0;  // [points]

/// An arrow on a rim that stands out on bodies of its own colour.
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

/// The largest force that is shown [N].
double largest_force(const Frame& frame, std::span<const ContactView> contacts,
                     const ContactDisplay& display) {
  double largest = 0.0;
  for (const ContactView& view : contacts) {
    if (view.has_force && is_shown(view, display)) largest = std::max(largest, view.force.force_B_W.norm());
  }
  for (const ContactForce& force : frame.other_forces) {
    if (display.shows(force.feature.kind)) largest = std::max(largest, force.force_B_W.norm());
  }
  return largest;
}

void add_force(const Vec3<double>& from, const Vec3<double>& force, double points_per_newton, double size,
               const GlyphScale& scale, GlyphList& glyphs) {
  constexpr double k_least = 10.0;       // so that small ones are seen [points]
  constexpr double k_negligible = 1e-3;  // of the largest
  const double newtons = force.norm(), length = points_per_newton * newtons;
  if (!(newtons > 0.0) || length < k_negligible * k_largest_length) return;
  const double point = scale.point_at(from);
  add_rimmed_arrow(from, from + point * std::max(k_least, length) / newtons * force,
                   k_force_radius * size * point, k_force_colour, scale, glyphs);
}

}  // namespace

double indicator_of(const ContactView& view, Indicator indicator) {
  const ContactIndicators& indicators = view.inspection.indicators;
  if (!view.inspection.known) return view.contact.activity;
  switch (indicator) {
    case Indicator::activity:
      return view.contact.activity;
    case Indicator::penetration:
      return indicators.penetration;
    case Indicator::window:
      return indicators.window;
    case Indicator::cone:
      return indicators.cone;
    case Indicator::gate:
      return indicators.gate;
    case Indicator::share:
      return indicators.share;
    case Indicator::selection:
      return indicators.selection;
  }
  return 0.0;
}

bool is_shown(const ContactView& view, const ContactDisplay& display) {
  return display.shows(view.contact.feature.kind) && indicator_of(view, display.indicator) >= display.least;
}

double GlyphScale::point_at(const Vec3<double>& p_W) const {
  constexpr double k_nearest = 1e-2;  // of the camera's distance, for what is beside or behind it
  const double depth = (p_W - camera.position()).dot(camera.forward());
  return camera.pixel_size(std::max(depth, k_nearest * camera.distance), height);
}

ContactGlyphCounts add_contact_glyphs(const Frame& frame, std::span<const ContactView> contacts,
                                      const ContactDisplay& display, const Selection& selection,
                                      const GlyphScale& scale, GlyphList& glyphs) {
  ContactGlyphCounts counts;
  const Model& model = frame.model->model();
  if (const double largest = largest_force(frame, contacts, display); largest > 0.0)
    counts.points_per_newton = display.size * display.force_scale * k_largest_length / largest;
  const auto colour_of_body = [&](int body) {
    return colour_of(model.bodies[static_cast<std::size_t>(body)], body);
  };
  if (display.candidates) {
    for (const ContactCandidate& candidate : frame.candidates) {
      const Colour colour = sequential_colour(candidate.weight);
      const double unit = display.size * scale.point_at(candidate.start_W);
      if (candidate.is_edge) {
        glyphs.add_rod(candidate.start_W, candidate.end_W, k_rod_radius * unit, colour);
      } else {
        glyphs.add_sphere(candidate.start_W, 0.7 * k_point_radius * unit, colour);
      }
      ++counts.candidates;
    }
  }
  for (const ContactView& view : contacts) {
    if (!is_shown(view, display)) continue;
    const Contact& contact = view.contact;
    const double unit = display.size * scale.point_at(contact.point_W);
    const double point_radius = k_point_radius * unit, rod_radius = k_rod_radius * unit;
    const double value = std::clamp(indicator_of(view, display.indicator), 0.0, 1.0);
    const double size = display.scale_by_indicator ? value : 1.0;
    const bool pinned = selection.is_pinned(contact.feature);
    const Colour colour = pinned ? k_selection_colour : sequential_colour(value);
    if (display.points) {
      const double radius = point_radius * (0.4 + 0.6 * size) * (pinned ? 1.8 : 1.0);
      glyphs.add_sphere(contact.point_W, radius, colour);
      ++counts.points;
    }
    if (display.normals) {
      add_rimmed_arrow(contact.point_W, contact.point_W + size * k_normal_length * unit * contact.normal_AB_W,
                       rod_radius, colour, scale, glyphs);
      ++counts.normals;
    }
    if (display.witness_points && view.inspection.known) {
      const ContactInspection& at = view.inspection;
      glyphs.add_sphere(at.witness_A_W, 0.5 * point_radius, colour_of_body(contact.feature.body_A));
      glyphs.add_sphere(at.witness_B_W, 0.5 * point_radius, colour_of_body(contact.feature.body_B));
      glyphs.add_rod(at.witness_A_W, at.witness_B_W, 0.5 * rod_radius, k_witness_colour);
      ++counts.witness_pairs;
    }
    if (!view.has_force) continue;
    if (display.forces) {
      add_force(contact.point_W, view.force.force_B_W, counts.points_per_newton, display.size, scale, glyphs);
      ++counts.forces;
    }
    if (display.friction_discs && view.force.normal_force() > 0.0) {
      constexpr double k_slides = 0.98;  // of the force that friction can hold at most
      const bool slides = view.force.friction > 0.0 && view.force.friction_use() > k_slides;
      // On a dark rim, as bodies may have the same colour.
      const double radius = 2.0 * point_radius;
      const Vec3<double> aside = 0.04 * radius * contact.normal_AB_W.normalized();
      const Colour& state_colour = slides ? k_slip_colour : k_stick_colour;
      glyphs.add_disc(contact.point_W, contact.normal_AB_W, 1.3 * radius, k_rim_colour);
      glyphs.add_disc(contact.point_W + aside, contact.normal_AB_W, radius, state_colour);
      glyphs.add_disc(contact.point_W - aside, contact.normal_AB_W, radius, state_colour);
      ++counts.friction_discs;
    }
  }
  if (display.forces) {
    for (const ContactForce& force : frame.other_forces) {
      if (!display.shows(force.feature.kind)) continue;
      add_force(force.point_W, force.force_B_W, counts.points_per_newton, display.size, scale, glyphs);
      ++counts.forces;
    }
  }
  return counts;
}

void add_gradient_glyphs(const Frame& frame, const GradientResult& result, double size,
                         const GlyphScale& scale, GlyphList& glyphs) {
  for (const GradientArrow& arrow : gradient_arrows(frame, result, size, scale))
    add_rimmed_arrow(arrow.from_W, arrow.to_W, arrow.radius, arrow.colour, scale, glyphs);
}

SlicePlane slice_plane(const SliceDisplay& slice) {
  SlicePlane plane;
  const double ca = std::cos(slice.azimuth), sa = std::sin(slice.azimuth);
  const double ce = std::cos(slice.elevation), se = std::sin(slice.elevation);
  const Vec3<double> normal(ce * ca, ce * sa, se);
  plane.right = Vec3<double>(-sa, ca, 0.0);
  plane.up = normal.cross(plane.right);
  plane.centre = slice.centre + slice.offset * normal;
  plane.size = slice.size;
  return plane;
}

BodySurfaces& PictureMaker::surfaces_of(const Frame& frame) {
  if (frame.model->geometry_version != geometry_version_) {
    surfaces_.reset(frame.model->visuals);
    geometry_version_ = frame.model->geometry_version;
  }
  return surfaces_;
}

PictureMaker::Made PictureMaker::make(const Frame& frame, std::span<const ContactView> contacts,
                                      const DisplayOptions& display, const Selection& selection,
                                      const GradientResult* gradient, const GlyphScale& scale) {
  Made made;
  Picture& picture = made.picture;
  picture.camera = scale.camera;
  const auto add_bodies = [&](std::span<const Pose<double>> X_WB, const BodyDisplay& how,
                              bool is_selectable) {
    for (int body = 0; body < static_cast<int>(X_WB.size()); ++body) {
      if (!display.visibility.shows_body(body)) continue;
      surfaces_of(frame).add_body(frame.model->model(), body, X_WB[at(body)], how,
                                  is_selectable && selection.has_body(body), picture);
    }
  };
  add_bodies(frame.state.X_WB, display, true);
  BodyDisplay ghosts = display;
  ghosts.translucent = true;
  ghosts.floor = false;
  for (const BodyGhost& ghost : frame.ghosts) {
    if (!display.visibility.shows_body(ghost.body)) continue;
    const std::size_t before = picture.surfaces.size();
    surfaces_of(frame).add_body(frame.model->model(), ghost.body, ghost.X_WB, ghosts, false, picture);
    for (std::size_t i = before; i < picture.surfaces.size(); ++i) {  // paler than the bodies themselves
      Colour& colour = picture.surfaces[i].colour;
      const Colour& towards = ghost.is_passing ? k_passing_ghost_colour : k_selection_colour;
      const float share = ghost.is_passing ? 0.8f : 0.5f;
      colour.head<3>() += share * (towards - colour).head<3>();
      if (ghost.is_passing) picture.surfaces[i].own_colours = false;
    }
  }
  for (const auto& p_W : frame.ghost_points_W.colwise()) {
    const Vec3<double> point(p_W);
    picture.glyphs_on_top.add_sphere(point, 0.4 * k_point_radius * scale.point_at(point), k_selection_colour);
  }
  if (display.preview_X_WB.size() == frame.state.X_WB.size()) add_bodies(display.preview_X_WB, ghosts, false);
  made.counts =
      add_contact_glyphs(frame, contacts, display.contacts, selection, scale, picture.glyphs_on_top);
  if (gradient && display.gradient_arrows)
    add_gradient_glyphs(frame, *gradient, display.gradient_scale, scale, picture.glyphs_on_top);
  if (frame.pull.body >= 0) {
    const Vec3<double> held = frame.state.X_WB[at(frame.pull.body)] * frame.pull.point_B;
    const double point = scale.point_at(frame.pull.target_W);
    picture.glyphs_on_top.add_rod(held, frame.pull.target_W, k_rod_radius * point, k_pull_colour);
    picture.glyphs_on_top.add_sphere(frame.pull.target_W, k_point_radius * point, k_pull_colour);
  }
  if (display.slice.shown) {
    const int bodies = frame.model->model().body_count();
    const int body = display.slice.body < bodies ? display.slice.body : -1;
    picture.slice = slice_picture(frame.model->simulator.stepper().detector(), frame.state.X_WB, body,
                                  slice_plane(display.slice), display.slice.resolution, display.slice.arrows,
                                  display.slice.size / 25.0);
  }
  return made;
}

}  // namespace abut::viewer
