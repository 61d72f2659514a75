#include "apps/viewer/simulation/ghosts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <variant>

#include "apps/identification/measurement.h"
#include "apps/picture/camera.h"
#include "engine/check.h"
#include "engine/joint_geometry.h"

namespace abut::viewer {
namespace {

Pose<double> between(const GhostPose& earlier, const GhostPose& later, double time) {
  const double share =
      std::clamp((time - earlier.time) / std::max(later.time - earlier.time, 1e-300), 0.0, 1.0);
  const Vec3<double> p = (1.0 - share) * earlier.X_WA.p + share * later.X_WA.p;
  if (!earlier.X_WA.q.coeffs().allFinite() || !later.X_WA.q.coeffs().allFinite()) return {earlier.X_WA.q, p};
  return {interpolate(earlier.X_WA, later.X_WA, share).X_WB.q, p};
}

/// Moves the bodies to where a joint was measured. They were last where those measured before had them.
void add_joint_ghosts(const Model& model, double time, const MeasuredJoint& measured, State& state,
                      Ghosts& ghosts) {
  if (!measured.coordinate || !can_move(model, measured.joint) || !is_held(model, measured.joint)) return;
  set_joint_coordinate(model, measured.joint, *measured.coordinate, state);
  for (int b = 0; b < model.body_count(); ++b) {
    const Body& body = model.bodies[at(b)];
    if (body.fixed || !hangs_together(model, measured.joint, b)) continue;
    const Pose<double>& X_WB = state.X_WB[at(b)];
    std::vector<GhostPose>& poses = ghosts.of_body[at(b)];
    if (poses.empty() || poses.back().time != time) poses.emplace_back();
    poses.back() = {time, {X_WB.q, X_WB * body.p_BA}};
  }
}

Pose<double> pose_at(const std::vector<GhostPose>& poses, double time) {
  const auto after = std::upper_bound(poses.begin(), poses.end(), time,
                                      [](double t, const GhostPose& pose) { return t < pose.time; });
  if (after == poses.begin()) return poses.front().X_WA;
  if (after == poses.end()) return poses.back().X_WA;
  return between(*std::prev(after), *after, time);
}

}  // namespace

Ghosts motion_ghosts(const Model& model, std::span<const State> states, std::string name) {
  Ghosts ghosts;
  ghosts.name = std::move(name);
  ghosts.of_body.resize(model.bodies.size());
  for (const State& state : states) {
    for (std::size_t b = 0; b < model.bodies.size(); ++b)
      ghosts.of_body[b].push_back({state.time, {state.X_WB[b].q, state.X_WB[b] * model.bodies[b].p_BA}});
  }
  return ghosts;
}

Ghosts measured_ghosts(const Model& model, const State& start, std::span<const Measurement> measurements,
                       std::string name) {
  constexpr double k_unknown = std::numeric_limits<double>::quiet_NaN();
  State state = start;
  Ghosts ghosts;
  ghosts.name = std::move(name);
  ghosts.of_body.resize(model.bodies.size());
  for (const Measurement& measurement : measurements) {
    if (const auto* pose = std::get_if<MeasuredPose>(&measurement.what)) {
      GhostPose ghost{measurement.time, {pose->q_WA.value_or(Quat<double>(k_unknown, 0, 0, 0)), pose->p_WA}};
      for (int i = 0; i < 3; ++i) {
        if (!pose->is_measured[at(i)]) ghost.X_WA.p[i] = k_unknown;
      }
      ghosts.of_body[at(pose->body)].push_back(ghost);
    } else if (const auto* joint = std::get_if<MeasuredJoint>(&measurement.what)) {
      add_joint_ghosts(model, measurement.time, *joint, state, ghosts);
    } else if (const auto* points = std::get_if<SurfacePoints>(&measurement.what)) {
      if (!ghosts.points.empty() && ghosts.points.back().time == measurement.time) {  // of another body
        Points& all = ghosts.points.back().points_W;
        const Eigen::Index before = all.cols();
        all.conservativeResize(3, before + points->p_W.cols());
        all.rightCols(points->p_W.cols()) = points->p_W;
        ghosts.points.back().noise = std::max(ghosts.points.back().noise, points->noise);
      } else {
        ghosts.points.push_back({measurement.time, points->p_W, points->noise});
      }
    }
  }
  return ghosts;
}

std::vector<BodyGhost> ghosts_at(const Ghosts& ghosts, const Model& model, const State& now) {
  std::vector<BodyGhost> bodies;
  for (std::size_t b = 0; b < ghosts.of_body.size(); ++b) {
    if (ghosts.of_body[b].empty()) continue;
    const Vec3<double>& p_BA = model.bodies[b].p_BA;
    Pose<double> X_WA = pose_at(ghosts.of_body[b], now.time);
    if (!X_WA.q.coeffs().allFinite()) X_WA.q = now.X_WB[b].q;
    const Vec3<double> simulated = now.X_WB[b] * p_BA;
    for (int i = 0; i < 3; ++i) {
      if (!std::isfinite(X_WA.p[i])) X_WA.p[i] = simulated[i];
    }
    bodies.push_back({static_cast<int>(b), {X_WA.q, X_WA.p - X_WA.q * p_BA}});
  }
  return bodies;
}

Points ghost_extent_W(const Ghosts& ghosts, const Model& model, const State& now) {
  constexpr std::size_t k_most_poses = 40;  // of a body
  Points extent_W(3, 0);
  for (std::size_t b = 0; b < ghosts.of_body.size(); ++b) {
    const std::vector<GhostPose>& poses = ghosts.of_body[b];
    const std::size_t stride = std::max<std::size_t>(1, poses.size() / k_most_poses);
    Model one;  // the body alone
    one.bodies = {model.bodies[b]};
    State then = now;
    for (std::size_t i = 0; i < poses.size(); i += stride) {
      then.time = poses[i].time;
      for (const BodyGhost& ghost : ghosts_at(ghosts, model, then)) {
        if (ghost.body != static_cast<int>(b)) continue;
        const Points corners_W = box_corners_W(one, {&ghost.X_WB, 1});
        const Eigen::Index before = extent_W.cols();
        extent_W.conservativeResize(3, before + corners_W.cols());
        extent_W.rightCols(corners_W.cols()) = corners_W;
      }
    }
  }
  return extent_W;
}

const GhostPoints* ghost_points_at(const Ghosts& ghosts, double time) {
  constexpr double k_old = 0.5;  // [s]
  const auto after = std::upper_bound(ghosts.points.begin(), ghosts.points.end(), time,
                                      [](double t, const GhostPoints& points) { return t < points.time; });
  if (after == ghosts.points.begin() || std::prev(after)->time < time - k_old) return nullptr;
  return &*std::prev(after);
}

}  // namespace abut::viewer
