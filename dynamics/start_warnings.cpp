#include "dynamics/start_warnings.h"

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

#include "dynamics/motion/mass_matrix.h"
#include "dynamics/rows/joint_constraints.h"
#include "dynamics/step/step_warnings.h"
#include "engine/joint_geometry.h"

namespace abut {
namespace {

using Kind = JointStartWarning::Kind;

/// Size of the smaller body of a joint [m].
double size_of(const Model& model, const Joint& joint) {
  const double size_B = model.bodies[at(joint.body_B)].size;
  return joint.body_A < 0 ? size_B : std::min(size_B, model.bodies[at(joint.body_A)].size);
}

/// |J v| of the constraints of a joint, of displacements [m/s] and of rotations [rad/s].
struct JointVelocity {
  double linear = 0, angular = 0;
};

JointVelocity joint_velocity(const JointRows& rows, const JointGroup& group, const Vec6<double>& V_WA,
                             const Vec6<double>& V_WB) {
  Vec6<double> sums = Vec6<double>::Zero();
  for (int i = group.begin; i < group.end; ++i) {
    const JointRow& row = rows.rows[at(i)];
    if (row.law != JointLaw::hold) continue;
    const double velocity = row.J_A.dot(V_WA) + row.J_B.dot(V_WB);
    const bool is_rotation = row.J_B.tail<3>().isZero(0.0);
    sums[is_rotation ? 0 : 1] += velocity * velocity;
  }
  return {std::sqrt(sums[1]), std::sqrt(sums[0])};
}

/// Distance of the coordinate of a joint from its limits where it is beyond one [rad or m], else 0.
double beyond_limits(const JointRows& rows, const JointGroup& group) {
  double beyond = 0.0;
  for (int i = group.begin; i < group.end; ++i) {
    const JointRow& row = rows.rows[at(i)];
    if (row.law != JointLaw::stop) continue;
    const Vec3<double> turn = row.J_B.head<3>(), way = row.J_B.tail<3>();
    beyond = std::max(beyond, -row.error / (way.isZero(0.0) ? turn.norm() : way.norm()));
  }
  return beyond;
}

/// Upper bound of the speed of a body's points [m/s].
double speed_of(const Body& body, const Vec6<double>& V_WB) {
  return V_WB.tail<3>().norm() + body.size * V_WB.head<3>().norm();
}

std::vector<JointStartWarning> find_joint_warnings(const Stepper& stepper, const State& initial) {
  const Model& model = stepper.model();
  std::vector<JointStartWarning> warnings;
  if (model.joints.empty()) return warnings;
  MassMatrix mass;
  mass.update(model, initial);
  JointRows rows;
  make_joint_rows(model, mass, initial, stepper.joint_settings(), rows);
  for (const JointGroup& group : rows.groups) {
    const Joint& joint = model.joints[at(group.joint)];
    const double size = size_of(model, joint);
    const Vec6<double> V_WA =
        joint.body_A < 0 ? Vec6<double>(Vec6<double>::Zero()) : initial.V_WB[at(joint.body_A)];
    const Vec6<double>& V_WB = initial.V_WB[at(joint.body_B)];
    double speed = speed_of(model.bodies[at(joint.body_B)], V_WB);
    if (joint.body_A >= 0) speed = std::max(speed, speed_of(model.bodies[at(joint.body_A)], V_WA));
    const double least_speed =
        std::max(k_forbidden * speed, k_forbidden_step * stepper.acceleration_scale() * stepper.config().h);
    const JointError error = joint_error(joint, initial);
    const JointVelocity velocity = joint_velocity(rows, group, V_WA, V_WB);
    const auto add = [&](Kind kind, double value, double least) {
      if (value > least && std::isfinite(value)) warnings.push_back({kind, group.joint, value});
    };
    if (std::isinf(joint.stiffness)) add(Kind::parted, error.position, k_parted * size);
    if (std::isinf(joint.angular_stiffness)) add(Kind::turned, error.rotation, k_turned);
    if (std::isinf(joint.stiffness)) add(Kind::parting, velocity.linear, least_speed);
    if (std::isinf(joint.angular_stiffness)) add(Kind::turning, velocity.angular, least_speed / size);
    add(Kind::outside, beyond_limits(rows, group),
        joint.kind == JointKind::hinge ? k_turned : k_parted * size);
  }
  return warnings;
}

}  // namespace

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::parted:
      return "parted_joint";
    case Kind::turned:
      return "turned_joint";
    case Kind::parting:
      return "parting_joint";
    case Kind::turning:
      return "turning_joint";
    case Kind::outside:
      return "outside_joint";
  }
  return "unknown";
}

StartWarnings find_start_warnings(const Stepper& stepper, const State& initial) {
  return {find_overlaps(stepper.detector(), initial.X_WB), find_joint_warnings(stepper, initial)};
}

std::string overlap_text(const Model& model, const Overlap& overlap) {
  const Body &A = model.bodies[at(overlap.body_A)], &B = model.bodies[at(overlap.body_B)];
  const Body& smaller = B.size <= A.size ? B : A;
  return fmt::format("'{}' and '{}' overlap by {:.3g} m, {:.3g} % of the size of '{}'", A.name, B.name,
                     overlap.depth, 100.0 * overlap.depth / smaller.size, smaller.name);
}

std::string warning_text(const Model& model, const JointStartWarning& warning) {
  const Joint& joint = model.joints[at(warning.joint)];
  const std::string with =
      joint.body_A < 0 ? "the world" : fmt::format("'{}'", model.bodies[at(joint.body_A)].name);
  const std::string what =
      fmt::format("joint '{}' of '{}' with {}", joint.name, model.bodies[at(joint.body_B)].name, with);
  switch (warning.kind) {
    case Kind::parted:
      return fmt::format("{} is {:.3g} m apart, which the first steps pull together; try poses that fit it",
                         what, warning.value);
    case Kind::turned:
      return fmt::format("{} is turned by {:.3g} rad, which the first steps turn back; try poses that fit it",
                         what, warning.value);
    case Kind::parting:
      return fmt::format(
          "{} forbids {:.3g} m/s of the velocities, which the first step takes away; try velocities that fit "
          "it",
          what, warning.value);
    case Kind::turning:
      return fmt::format(
          "{} forbids {:.3g} rad/s of the angular velocities, which the first step takes away; try "
          "velocities that fit it",
          what, warning.value);
    case Kind::outside:
      return fmt::format(
          "{} starts {:.3g} {} beyond its limit, and leaves it with the speed at which the first steps undo "
          "that; "
          "try a pose within its limits",
          what, warning.value, joint.kind == JointKind::hinge ? "rad" : "m");
  }
  return what;
}

std::vector<std::string> warning_texts(const Model& model, const StartWarnings& warnings) {
  std::vector<std::string> texts;
  for (const Overlap& overlap : warnings.overlaps) texts.push_back(overlap_text(model, overlap));
  for (const JointStartWarning& warning : warnings.joints) texts.push_back(warning_text(model, warning));
  return texts;
}

}  // namespace abut
