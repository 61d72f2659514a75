#include "apps/viewer/joint_glyphs.h"

#include "apps/viewer/picture_maker.h"
#include "engine/joint_geometry.h"

namespace abut::viewer {

void add_joint_glyphs(const Frame& frame, int joint, const GlyphScale& scale, GlyphList& glyphs) {
  constexpr double k_ball = 7.0, k_rod = 1.5, k_axis_radius = 2.5, k_axis = 70.0;  // [points]
  const Joint& of = frame.model->model().joints[static_cast<std::size_t>(joint)];
  const JointFrames frames = joint_frames(of, frame.state);
  const Vec3<double>& p_W = frames.X_WJB.p;
  const double point = scale.point_at(p_W);
  glyphs.add_sphere(p_W, k_ball * point, k_selection_colour);
  glyphs.add_rod(p_W, frames.X_WB.p, k_rod * point, k_selection_colour);
  if (of.body_A >= 0) glyphs.add_rod(frames.X_WJA.p, frames.X_WA.p, k_rod * point, k_selection_colour);
  if (of.kind == JointKind::slider || of.kind == JointKind::distance)
    glyphs.add_rod(frames.X_WJA.p, p_W, k_rod * point, k_selection_colour);
  if (!has_coordinate(of.kind)) return;
  const Vec3<double> axis_W = frames.X_WJA.q * Vec3<double>::UnitZ();
  glyphs.add_arrow(p_W - 0.5 * k_axis * point * axis_W, p_W + 0.5 * k_axis * point * axis_W,
                   k_axis_radius * point, k_selection_colour);
}

}  // namespace abut::viewer
