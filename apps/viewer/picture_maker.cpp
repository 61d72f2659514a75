#include "apps/viewer/picture_maker.h"

#include <algorithm>
#include <cmath>

#include "apps/viewer/gradient_arrows.h"
#include "apps/viewer/joint_glyphs.h"

namespace abut::viewer {

void add_gradient_glyphs(const Frame& frame, const GradientResult& result, double size, int selected_body,
                         const GlyphScale& scale, GlyphList& glyphs, PictureNotes& notes,
                         const Visibility& visibility) {
  std::vector<GradientArrow> arrows = gradient_arrows(frame, result, size, scale);
  std::erase_if(arrows, [&](const GradientArrow& arrow) { return !visibility.shows_body(arrow.body); });
  const std::vector<const GradientArrow*> labelled = labelled_arrows(arrows, selected_body);
  for (const GradientArrow& arrow : arrows) {
    add_rimmed_arrow(arrow.from_W, arrow.to_W, arrow.radius, arrow.colour, scale, glyphs);
    const bool has_number = std::find(labelled.begin(), labelled.end(), &arrow) != labelled.end();
    const double priority = arrow.share + (arrow.body == selected_body ? 1.0 : 0.0);
    notes.arrows.push_back(
        {arrow.from_W, arrow.to_W, has_number ? arrow.label : std::string(), priority, arrow.colour});
    notes.legend.add({LegendMark::arrow, arrow.colour,
                      arrow.meaning + loss_name(frame.model->model(), result.request.loss)});
  }
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
  for (const BodyGhost& ghost : frame.ghosts) {
    if (!display.visibility.shows_body(ghost.body)) continue;
    const std::size_t before = picture.surfaces.size();
    surfaces_of(frame).add_body(frame.model->model(), ghost.body, ghost.X_WB, ghosts, false, picture);
    for (std::size_t i = before; i < picture.surfaces.size(); ++i) {  // paler than the bodies themselves
      Colour& colour = picture.surfaces[i].colour;
      const Colour& towards = ghost.is_passing ? k_passing_ghost_colour : k_ghost_colour;
      const float share = ghost.is_passing ? 0.8f : 0.5f;
      colour.head<3>() += share * (towards - colour).head<3>();
      if (ghost.is_passing) picture.surfaces[i].own_colours = false;
    }
  }
  const auto add_ghosts_to_legend = [&](const std::string& name, const Colour& colour) {
    if (!name.empty()) made.notes.legend.add({LegendMark::ball, colour, "seen through: " + name});
  };
  add_ghosts_to_legend(frame.ghosts_name, k_ghost_colour);
  add_ghosts_to_legend(frame.passing_ghosts_name, k_passing_ghost_colour);
  for (const auto& p_W : frame.ghost_points_W.colwise()) {
    const Vec3<double> point(p_W);
    picture.glyphs_on_top.add_sphere(point, 0.4 * k_point_radius * scale.point_at(point), k_selection_colour);
  }
  if (display.preview_X_WB.size() == frame.state.X_WB.size()) {
    add_bodies(display.preview_X_WB, ghosts, false);
    made.notes.legend.add({LegendMark::ball, k_ghost_colour, "seen through: the moment under the mouse"});
  }
  made.counts = add_contact_glyphs(frame, set, display.contacts, selection, scale, picture, made.notes);
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
    picture.slice = slice_picture(frame.model->simulator.stepper().detector(), frame.state.X_WB, body,
                                  slice_plane(display.slice), display.slice.resolution, display.slice.arrows,
                                  display.slice.size / 25.0);
  }
  return made;
}

}  // namespace abut::viewer
