#include "engine/joint_geometry.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/lie.h"
#include "engine/parameters.h"

namespace abut {
namespace {

constexpr double k_turn = 2.0 * std::numbers::pi;
constexpr double k_rounding = 1e-12;  ///< relative, up to which coordinates and rates are the same

double& hinge_angle(const Model& model, int joint, State& state) {
  state.hinge_angles.resize(model.joints.size(), 0.0);
  return state.hinge_angles[at(joint)];
}

/// Marks the bodies that hang together with `body` but for `joint`. False if they hang on what is held, or on `other`.
bool find_hanging(const Model& model, int joint, int body, int other, std::vector<char>& is_hanging) {
  is_hanging.assign(model.bodies.size(), false);
  bool is_free = true;
  std::vector<int> reached{body};
  while (!reached.empty()) {
    const int next = reached.back();
    reached.pop_back();
    if (next < 0 || model.bodies[at(next)].fixed || next == other) {
      is_free = false;
      continue;
    }
    if (is_hanging[at(next)]) continue;
    is_hanging[at(next)] = true;
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
      const Joint& across = model.joints[j];
      if (static_cast<int>(j) == joint) continue;
      if (across.body_A == next) reached.push_back(across.body_B);
      if (across.body_B == next) reached.push_back(across.body_A);
    }
  }
  return is_free;
}

/// The bodies that move with a joint, and how: +1 on the side of B, -1 on that of A.
struct Beyond {
  std::vector<char> bodies;
  double sign = 1.0;
};

/// The side that is not held. Of two, that without the first body of what hangs together, so that there is one body that
/// no joint moves, and the order in which joints are set does not matter.
std::optional<Beyond> find_beyond(const Model& model, int joint) {
  const Joint& of = model.joints[at(joint)];
  Beyond A{{}, -1.0}, B;
  const bool A_hangs = find_hanging(model, joint, of.body_A, of.body_B, A.bodies),
             B_hangs = find_hanging(model, joint, of.body_B, of.body_A, B.bodies);
  if (A_hangs && B_hangs) {
    const auto first = [](const Beyond& side) {
      return std::find(side.bodies.begin(), side.bodies.end(), 1);
    };
    const bool is_first_in_A = first(A) - A.bodies.begin() < first(B) - B.bodies.begin();
    return is_first_in_A ? B : A;
  }
  if (A_hangs) return A;
  if (B_hangs) return B;
  return std::nullopt;
}

Beyond beyond(const Model& model, int joint) {
  if (auto side = find_beyond(model, joint)) return *std::move(side);
  throw std::invalid_argument(fmt::format(
      "joint '{}': neither side of it can move, it is part of a loop or of what is held at both ends",
      model.joints[at(joint)].name));
}

}  // namespace

std::vector<std::string> names_of(const Model& model, std::span<const int> joints) {
  std::vector<std::string> names;
  for (const int joint : joints) names.push_back(model.joints[at(joint)].name);
  return names;
}

bool hangs_together(const Model& model, int joint, int body) {
  std::vector<char> bodies;
  for (const int side : {model.joints[at(joint)].body_A, model.joints[at(joint)].body_B}) {
    (void)find_hanging(model, -1, side, -1, bodies);
    if (body == side || bodies[at(body)]) return true;
  }
  return false;
}

bool is_held(const Model& model, int joint) {
  std::vector<char> bodies;
  return !find_hanging(model, -1, model.joints[at(joint)].body_B, -1, bodies);
}

bool can_move(const Model& model, int joint) { return find_beyond(model, joint).has_value(); }

StateTangent joint_rate_direction(const Model& model, int joint, const State& state) {
  const Joint& of = model.joints[at(joint)];
  const Beyond side = beyond(model, joint);
  const Pose<double> X_WJ = joint_frames(of, state).X_WJA;
  const Vec3<double> axis = side.sign * (X_WJ.q * Vec3<double>::UnitZ());
  StateTangent direction(model.body_count());
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    if (!side.bodies[b]) continue;
    direction.twist[b] = of.kind == JointKind::slider
                             ? stack<double>(Vec3<double>::Zero(), axis)
                             : stack<double>(axis, axis.cross(state.X_WB[b].p - X_WJ.p));
  }
  return direction;
}

StateTangent joint_coordinate_direction(const Model& model, int joint, const State& state) {
  const Joint& of = model.joints[at(joint)];
  StateTangent direction = joint_rate_direction(model, joint, state);
  std::swap(direction.pose, direction.twist);
  const int held = beyond(model, joint).sign > 0.0 ? of.body_A : of.body_B;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Vec3<double> turn = direction.pose[b].head<3>(), way = direction.pose[b].tail<3>();
    // Velocities relative to what is held turn with the body.
    Vec6<double> relative = state.V_WB[b];
    Vec3<double> carried = Vec3<double>::Zero();
    if (held >= 0) {
      const Vec6<double>& V = state.V_WB[at(held)];
      relative.head<3>() -= V.head<3>();
      relative.tail<3>() -= V.tail<3>() + V.head<3>().cross(state.X_WB[b].p - state.X_WB[at(held)].p);
      carried = V.head<3>().cross(way);
    }
    direction.twist[b] =
        stack<double>(turn.cross(relative.head<3>()), carried + turn.cross(relative.tail<3>()));
  }
  return direction;
}

void set_joint_coordinate(const Model& model, int joint, double q, State& state) {
  const Joint& of = model.joints[at(joint)];
  const NumberRange& range = range_of(ParameterKind::joint_coordinate);
  require(range.contains(q),
          fmt::format("joint '{}': coordinate = {}, allowed: {}", of.name, q, range.text()));
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
  const StateTangent direction = joint_rate_direction(model, joint, state);
  for (std::size_t b = 0; b < model.bodies.size(); ++b) state.V_WB[b] += change * direction.twist[b];
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
