#include "apps/viewer/picture_maker.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/viewer/contact_description.h"
#include "apps/viewer/gradient_arrows.h"
#include "apps/viewer/joint_glyphs.h"
#include "apps/viewer/pressure_paint.h"

namespace abut::viewer {

void add_gradient_glyphs(const Frame& frame, const GradientResult& result, double size, int selected_body,
                         const GlyphScale& scale, GlyphList& glyphs, PictureNotes& notes,
                         const Visibility& visibility) {
  std::vector<GradientArrow> arrows = gradient_arrows(frame, result, size, scale);
  std::erase_if(arrows, [&](const GradientArrow& arrow) { return !visibility.shows_body(arrow.body); });
  const std::vector<const GradientArrow*> labelled = labelled_arrows(arrows, selected_body);
  std::string meaning;  // of the kind of arrows that came last
  for (const GradientArrow& arrow : arrows) {
    add_rimmed_arrow(arrow.from_W, arrow.to_W, arrow.radius, arrow.colour, scale, glyphs);
    const bool has_number = std::find(labelled.begin(), labelled.end(), &arrow) != labelled.end();
    const double priority = arrow.share + (arrow.body == selected_body ? 1.0 : 0.0);
    notes.arrows.push_back(
        {arrow.from_W, arrow.to_W, has_number ? arrow.label : std::string(), priority, arrow.colour});
    if (std::exchange(meaning, arrow.meaning) == arrow.meaning) continue;
    const double value = round_down(k_legend_length / arrow.points_per_unit);
    notes.legend.add({LegendMark::arrow, arrow.colour,
                      fmt::format("{:.3g} {}: {}", value, arrow.unit, arrow.meaning),
                      value * arrow.points_per_unit});
  }
  if (!arrows.empty())
    notes.legend.add({LegendMark::none, {}, "L: " + loss_name(frame.model->model(), result.request.loss)});
}

namespace {

/// How far the colours of bodies of other motions are tinted.
struct GhostLook {
  Colour colour;
  float share;
  bool keeps_own_colours;
};
const GhostLook k_paler{k_ghost_colour, 0.5f, true}, k_passing{k_passing_ghost_colour, 0.8f, false},
    k_predicted{k_predicted_ghost_colour, 0.8f, false};

constexpr double k_slice_bands = 12.0;  // of the legend, to either side

Colour slice_legend_colour(double x) { return slice_colour(k_slice_bands * (2.0 * x - 1.0)); }

Colour discrepancy_legend_colour(double x) { return diverging_colour(2.0 * x - 1.0); }

/// Arrows of the gradient, and what the colours of a slice mean.
void add_slice_notes(const SlicePicture& slice, double band, GlyphList& glyphs, Legend& legend) {
  const double radius = 0.004 * slice.plane.size;
  for (const SlicePicture::Arrow& arrow : slice.arrows)
    glyphs.add_arrow(arrow.from, arrow.to, radius, k_rim_colour);
  if (!slice.arrows.empty()) legend.add({LegendMark::arrow, k_rim_colour, "gradient of the distance"});
  const double farthest = k_slice_bands * band;
  legend.add({LegendMark::scale,
              {},
              "signed distance, a line each " + three_digits(band, "m"),
              0.0,
              &slice_legend_colour,
              three_digits(-farthest, "m"),
              three_digits(farthest, "m")});
}

}  // namespace

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

PictureMaker::Made PictureMaker::make(const Frame& frame, const ContactSet& set,
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
  const auto add_ghost = [&](int body, const Pose<double>& X_WB, const GhostLook& look) {
    if (!display.visibility.shows_body(body)) return;
    const std::size_t before = picture.surfaces.size();
    surfaces_of(frame).add_body(frame.model->model(), body, X_WB, ghosts, false, picture);
    for (std::size_t i = before; i < picture.surfaces.size(); ++i) {
      Colour& colour = picture.surfaces[i].colour;
      colour.head<3>() += look.share * (look.colour - colour).head<3>();
      picture.surfaces[i].own_colours = picture.surfaces[i].own_colours && look.keeps_own_colours;
    }
  };
  const auto add_to_legend = [&](const std::string& name, const GhostLook& look) {
    if (!name.empty()) made.notes.legend.add({LegendMark::ball, look.colour, "seen through: " + name});
  };
  for (const BodyGhost& ghost : frame.ghosts) {
    add_ghost(ghost.body, ghost.X_WB, ghost.is_passing ? k_passing : k_paler);
    ghost.is_passing ? add_to_legend(frame.passing_ghosts_name, k_passing)
                     : add_to_legend(frame.ghosts_name, k_paler);
  }
  if (display.predicted_X_WB.size() == frame.state.X_WB.size()) {
    for (std::size_t b = 0; b < display.predicted_X_WB.size(); ++b) {
      if (!frame.model->model().bodies[b].fixed)
        add_ghost(static_cast<int>(b), display.predicted_X_WB[b], k_predicted);
    }
    add_to_legend("the end that the gradient predicts", k_predicted);
  }
  if (display.discrepancy)
    made.notes.legend.add({LegendMark::scale,
                           {},
                           "collision mesh against its SDF, of each body up to its largest distance",
                           0.0,
                           &discrepancy_legend_colour,
                           "inside",
                           "outside"});
  const GhostPoints& points = frame.ghost_points;
  for (const auto& p_W : points.points_W.colwise()) {
    const Vec3<double> point(p_W);
    const double dot = 0.4 * k_point_radius * scale.point_at(point);  // that can be seen
    picture.glyphs_on_top.add_sphere(point, std::max(dot, points.noise), k_selection_colour);
  }
  if (points.points_W.cols() > 0)
    made.notes.legend.add({LegendMark::ball, k_selection_colour,
                           "seen on surfaces, standard deviation " + three_digits(points.noise, "m")});
  if (display.preview_X_WB.size() == frame.state.X_WB.size()) {
    add_bodies(display.preview_X_WB, ghosts, false);
    made.notes.legend.add({LegendMark::ball, k_ghost_colour, "seen through: the moment under the mouse"});
  }
  made.counts = add_contact_glyphs(frame, set, display.contacts, selection, scale, picture, made.notes);
  if (display.contacts.pressure)
    made.counts.pressures = add_pressures(frame, set, display, surfaces_of(frame), picture, made.notes);
  if (gradient && display.gradient_arrows)
    add_gradient_glyphs(frame, *gradient, display.gradient_scale, selection.body, scale,
                        picture.glyphs_on_top, made.notes, display.visibility);
  if (selection.joint >= 0 && selection.joint < static_cast<int>(frame.model->model().joints.size())) {
    add_joint_glyphs(frame, selection.joint, scale, picture.glyphs_on_top);
    made.notes.legend.add({LegendMark::rod, k_selection_colour, "selected joint"});
  }
  if (frame.pull.body >= 0) {
    const Vec3<double> held = frame.state.X_WB[at(frame.pull.body)] * frame.pull.point_B;
    const double point = scale.point_at(frame.pull.target_W);
    picture.glyphs_on_top.add_rod(held, frame.pull.target_W, k_rod_radius * point, k_pull_colour);
    picture.glyphs_on_top.add_sphere(frame.pull.target_W, k_point_radius * point, k_pull_colour);
    made.notes.legend.add({LegendMark::rod, k_pull_colour, "pull"});
  }
  if (display.slice.shown) {
    const int bodies = frame.model->model().body_count();
    const int body = display.slice.body < bodies ? display.slice.body : -1;
    const double band = round_down(display.slice.size / 18.0);
    picture.slice =
        slice_picture(frame.model->simulator.stepper().detector(), frame.state.X_WB, body,
                      slice_plane(display.slice), display.slice.resolution, display.slice.arrows, band);
    add_slice_notes(*picture.slice, band, picture.glyphs, made.notes.legend);
  }
  return made;
}

}  // namespace abut::viewer
