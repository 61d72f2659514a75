#include "engine/joint_geometry.h"

#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/lie.h"

namespace abut {
namespace {

constexpr double k_turn = 2.0 * std::numbers::pi;
constexpr double k_rounding = 1e-12;  ///< relative, up to which coordinates and rates are the same

double& hinge_angle(const Model& model, int joint, State& state) {
  state.hinge_angles.resize(model.joints.size(), 0.0);
  return state.hinge_angles[at(joint)];
}

/// Marks the bodies that hang together with `body` but for `joint`. False if one of them is held, or is `other`.
bool find_hanging(const Model& model, int joint, int body, int other, std::vector<char>& is_hanging) {
  is_hanging.assign(model.bodies.size(), false);
  std::vector<int> reached{body};
  while (!reached.empty()) {
    const int next = reached.back();
    reached.pop_back();
    if (next < 0 || model.bodies[at(next)].fixed || next == other) return false;
    if (is_hanging[at(next)]) continue;
    is_hanging[at(next)] = true;
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
      const Joint& across = model.joints[j];
      if (static_cast<int>(j) == joint) continue;
      if (across.body_A == next) reached.push_back(across.body_B);
      if (across.body_B == next) reached.push_back(across.body_A);
    }
  }
  return true;
}

/// The bodies that move with a joint, and how: +1 on the side of B, -1 on that of A.
struct Beyond {
  std::vector<char> bodies;
  double sign = 1.0;
};

Beyond beyond(const Model& model, int joint) {
  const Joint& of = model.joints[at(joint)];
  Beyond side;
  if (find_hanging(model, joint, of.body_B, of.body_A, side.bodies)) return side;
  side.sign = -1.0;
  if (find_hanging(model, joint, of.body_A, of.body_B, side.bodies)) return side;
  throw std::invalid_argument(fmt::format(
      "joint '{}': neither side of it can move, it is part of a loop or of what is held at both ends",
      of.name));
}

}  // namespace

std::vector<std::string> names_of(const Model& model, std::span<const int> joints) {
  std::vector<std::string> names;
  for (const int joint : joints) names.push_back(model.joints[at(joint)].name);
  return names;
}

void set_joint_coordinate(const Model& model, int joint, double q, State& state) {
  const Joint& of = model.joints[at(joint)];
  constexpr double k_most = 1e9;  // beyond, rounding is more than 1e-7
  require(std::abs(q) <= k_most,
          fmt::format("joint '{}': coordinate = {}, allowed: -1e9 to 1e9", of.name, q));
  double change = q - joint_coordinate(model, joint, state);
  if (of.kind == JointKind::hinge) {
    change = std::remainder(change, k_turn);
    hinge_angle(model, joint, state) = q;
  }
  if (std::abs(change) <= k_rounding * (1.0 + std::abs(q))) return;
  const Beyond side = beyond(model, joint);
  const Pose<double> X_WJ = joint_frames(of, state).X_WJA;
  const Vec3<double> way = side.sign * change * (X_WJ.q * Vec3<double>::UnitZ());
  const bool slides = of.kind == JointKind::slider;
  const Quat<double> turn = slides ? Quat<double>::Identity() : exp_quaternion<double>(way);
  const int held = side.sign > 0.0 ? of.body_A : of.body_B;
  const auto moves_with_held = [&](const Vec3<double>& p) -> Vec6<double> {
    if (held < 0) return Vec6<double>::Zero();
    const Vec6<double>& V = state.V_WB[at(held)];
    return stack<double>(V.head<3>(), V.tail<3>() + V.head<3>().cross(p - state.X_WB[at(held)].p));
  };
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    if (!side.bodies[b]) continue;
    Pose<double>& X_WB = state.X_WB[b];
    const Vec6<double> V = state.V_WB[b] - moves_with_held(X_WB.p);
    if (slides) {
      X_WB.p += way;
    } else {
      X_WB = Pose<double>{turn * X_WB.q, X_WJ.p + turn * (X_WB.p - X_WJ.p)}.normalized();
    }
    state.V_WB[b] = moves_with_held(X_WB.p) + stack<double>(turn * V.head<3>(), turn * V.tail<3>());
  }
}

void set_joint_rate(const Model& model, int joint, double u, State& state) {
  const Joint& of = model.joints[at(joint)];
  require(std::isfinite(u), fmt::format("joint '{}': rate = {}, allowed: finite", of.name, u));
  const double change = u - joint_rate(of, state);
  if (std::abs(change) <= k_rounding * (1.0 + std::abs(u))) return;
  const Beyond side = beyond(model, joint);
  const JointFrames frames = joint_frames(of, state);
  const Vec3<double> way = side.sign * change * (frames.X_WJA.q * Vec3<double>::UnitZ());
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    if (!side.bodies[b]) continue;
    state.V_WB[b] += of.kind == JointKind::slider
                         ? stack<double>(Vec3<double>::Zero(), way)
                         : stack<double>(way, way.cross(state.X_WB[b].p - frames.X_WJA.p));
  }
}

void set_joints(const Model& model, const double* coordinates, const double* rates, State& state) {
  if (coordinates == nullptr && rates == nullptr) return;
  const std::vector<int> joints = joints_with_coordinate(model);
  for (std::size_t i = 0; i < joints.size() && coordinates != nullptr; ++i)
    set_joint_coordinate(model, joints[i], coordinates[i], state);
  for (std::size_t i = 0; i < joints.size() && rates != nullptr; ++i)
    set_joint_rate(model, joints[i], rates[i], state);
}

void start_within_limits(const Model& model, State& state) {
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (joint.kind != JointKind::hinge) continue;
    const int index = static_cast<int>(j);
    const double q = joint_coordinate(model, index, state);
    constexpr double k_rounding_of_poses = 1e-12;
    if (q < k_rounding_of_poses - std::numbers::pi) hinge_angle(model, index, state) = q + k_turn;
    double moved = q;
    if (q < joint.lower) moved = q + k_turn * std::ceil((joint.lower - q) / k_turn);
    if (q > joint.upper) moved = q - k_turn * std::ceil((q - joint.upper) / k_turn);
    if (moved != q && moved >= joint.lower && moved <= joint.upper) hinge_angle(model, index, state) = moved;
  }
}

void follow_hinges(const Model& model, std::span<const int> joints, const State& start, double h,
                   State& state) {
  for (const int joint : joints) {
    const Joint& of = model.joints[at(joint)];
    const double rate = 0.5 * (joint_rate(of, start) + joint_rate(of, state));
    hinge_angle(model, joint, state) = joint_coordinate(model, joint, start) + h * rate;
    hinge_angle(model, joint, state) = joint_coordinate(model, joint, state);
  }
}

}  // namespace abut
