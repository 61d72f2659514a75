#include "apps/viewer/picture_maker.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace abut::viewer {
namespace {

/// Weight of the heaviest moving body [N]: what arrows of forces are measured by.
double reference_force(const Model& model) {
  double mass = 0.0;
  for (const Body& body : model.bodies) {
    if (!body.fixed) mass = std::max(mass, body.mass);
  }
  const double gravity = model.gravity.norm();
  return std::max(1e-300, mass * (gravity > 0.0 ? gravity : 9.81));
}

void add_force(const Vec3<double>& from, const Vec3<double>& force, double per_newton, double radius,
               GlyphList& glyphs) {
  glyphs.add_arrow(from, from + per_newton * force, radius, k_force_colour);
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

double glyph_unit(const Model& model) {
  double size = std::numeric_limits<double>::infinity();
  for (const Body& body : model.bodies) {
    if (!body.fixed) size = std::min(size, body.size);
  }
  return std::isfinite(size) ? 0.2 * size : 0.1;
}

ContactGlyphCounts add_contact_glyphs(const Frame& frame, std::span<const ContactView> contacts,
                                      const ContactDisplay& display, const Selection& selection,
                                      GlyphList& glyphs) {
  ContactGlyphCounts counts;
  const Model& model = frame.model->model();
  const double unit = display.size * glyph_unit(model);
  const double per_newton = 3.0 * unit * display.force_scale / reference_force(model);
  const double point_radius = 0.09 * unit, rod_radius = 0.025 * unit;
  const auto colour_of_body = [&](int body) {
    return colour_of(model.bodies[static_cast<std::size_t>(body)], body);
  };
  if (display.candidates) {
    for (const ContactCandidate& candidate : frame.candidates) {
      const Colour colour = sequential_colour(candidate.weight);
      if (candidate.is_edge) {
        glyphs.add_rod(candidate.start_W, candidate.end_W, 0.03 * unit, colour);
      } else {
        glyphs.add_sphere(candidate.start_W, 0.06 * unit, colour);
      }
      ++counts.candidates;
    }
  }
  for (const ContactView& view : contacts) {
    if (!is_shown(view, display)) continue;
    const Contact& contact = view.contact;
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
      glyphs.add_arrow(contact.point_W, contact.point_W + size * unit * contact.normal_AB_W, rod_radius,
                       colour);
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
      add_force(contact.point_W, view.force.force_B_W, per_newton, 1.3 * rod_radius, glyphs);
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
      add_force(force.point_W, force.force_B_W, per_newton, 1.3 * rod_radius, glyphs);
      ++counts.forces;
    }
  }
  return counts;
}

void add_gradient_glyphs(const Frame& frame, const GradientResult& result, double scale, GlyphList& glyphs) {
  const Model& model = frame.model->model();
  if (!result.error.empty() || result.gradient.initial.pose.size() != model.bodies.size()) return;
  const double length = 4.0 * scale * glyph_unit(model);
  // Side by side, as those of different kinds may point the same way.
  const auto add = [&](const std::vector<Vec6<double>>& bars, const Colour& colour, double radius,
                       double aside) {
    double largest = 0.0;
    for (const Vec6<double>& bar : bars) largest = std::max(largest, bar.tail<3>().norm());
    if (!(largest > 0.0)) return;
    for (std::size_t b = 0; b < bars.size(); ++b) {
      const Vec3<double> arrow = length / largest * bars[b].tail<3>();
      if (model.bodies[b].fixed || arrow.norm() < 1e-3 * length) continue;
      const Vec3<double> p = frame.state.X_WB[b].p + aside * length * arrow.unitOrthogonal();
      glyphs.add_arrow(p, p + arrow, radius * length, colour);
    }
  };
  add(result.gradient.initial.pose, k_gradient_position_colour, 0.012, 0.0);
  add(result.gradient.initial.twist, k_gradient_velocity_colour, 0.010, 0.03);
  const std::int64_t step = frame.number - result.request.number;
  if (step >= 0 && step < static_cast<std::int64_t>(result.gradient.controls.size()))
    add(result.gradient.controls[static_cast<std::size_t>(step)], k_gradient_force_colour, 0.008, -0.03);
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
                                      const GradientResult* gradient, const OrbitCamera& camera) {
  Made made;
  Picture& picture = made.picture;
  picture.camera = camera;
  surfaces_of(frame).add_bodies(frame.model->model(), frame.state.X_WB, display, selection.body, picture);
  if (!frame.ghosts_X_WB.empty()) {
    BodyDisplay ghosts = display;
    ghosts.translucent = true;
    ghosts.floor = false;
    surfaces_of(frame).add_bodies(frame.model->model(), frame.ghosts_X_WB, ghosts, -1, picture);
  }
  made.counts = add_contact_glyphs(frame, contacts, display.contacts, selection, picture.glyphs_on_top);
  if (gradient && display.gradient_arrows)
    add_gradient_glyphs(frame, *gradient, display.gradient_scale, picture.glyphs_on_top);
  if (frame.pull.body >= 0) {
    const Vec3<double> held = frame.state.X_WB[at(frame.pull.body)] * frame.pull.point_B;
    const double unit = glyph_unit(frame.model->model());
    picture.glyphs_on_top.add_rod(held, frame.pull.target_W, 0.03 * unit, k_pull_colour);
    picture.glyphs_on_top.add_sphere(frame.pull.target_W, 0.09 * unit, k_pull_colour);
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
