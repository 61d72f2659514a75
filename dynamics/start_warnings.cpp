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

JointVelocity held_velocity(const JointRows& rows, const JointGroup& group, const Vec6<double>& V_WA,
                            const Vec6<double>& V_WB) {
  Vec6<double> sums = Vec6<double>::Zero();
  for (int i = group.begin; i < group.end; ++i) {
    const Vec6<double>&J_A = rows.direction(group, i, 0), &J_B = rows.direction(group, i, 1);
    const double velocity = J_A.dot(V_WA) + J_B.dot(V_WB);
    const bool is_rotation = J_B.tail<3>().isZero(0.0);
    sums[is_rotation ? 0 : 1] += velocity * velocity;
  }
  return {std::sqrt(sums[1]), std::sqrt(sums[0])};
}

/// How far a coordinate is beyond one of its limits [rad or m]; 0 within them.
double beyond_limits(const CoordinateForces& forces, double q) {
  return std::max({0.0, forces.lower - q, q - forces.upper});
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
  JointSettings settings = stepper.joint_settings();
  settings.is_link = {};  // what trees hold is asked for, too
  JointRows rows;
  make_joint_rows(model, mass, initial, settings, rows);
  for (const JointGroup& group : rows.groups) {
    if (group.is_coordinate) continue;
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
    const JointVelocity velocity = held_velocity(rows, group, V_WA, V_WB);
    const auto add = [&](Kind kind, double value, double least) {
      if (value > least && std::isfinite(value)) warnings.push_back({kind, group.joint, value});
    };
    if (std::isinf(joint.stiffness)) add(Kind::parted, error.position, k_parted * size);
    if (std::isinf(joint.angular_stiffness)) add(Kind::turned, error.rotation, k_turned);
    if (std::isinf(joint.stiffness)) add(Kind::parting, velocity.linear, least_speed);
    if (std::isinf(joint.angular_stiffness)) add(Kind::turning, velocity.angular, least_speed / size);
    if (!has_coordinate(joint.kind)) continue;
    add(Kind::outside, beyond_limits(joint, joint_coordinate(model, group.joint, initial)),
        joint.kind == JointKind::hinge ? k_turned : k_parted * size);
  }
  for (std::size_t c = 0; c < model.couplings.size(); ++c) {
    const Coupling& coupling = model.couplings[c];
    const double q = coupling_coordinate(model, coupling, initial);
    const int joint = coupling.terms.front().joint;
    const double size = size_of(model, model.joints[at(joint)]),
                 least = turns(model, coupling) ? k_turned : k_parted * size;
    const auto add = [&](Kind kind, double value, double at_least) {
      if (value > at_least) warnings.push_back({kind, joint, value, static_cast<int>(c)});
    };
    if (coupling.is_held() && std::isinf(coupling.stiffness)) {
      double rate = 0.0, rates = 0.0;
      for (const CouplingTerm& term : coupling.terms) {
        const double slope = term.at(joint_coordinate(model, term.joint, initial)).slope,
                     of_term =
                         gear_of(model, coupling) * slope * joint_rate(model.joints[at(term.joint)], initial);
        rate += of_term;
        rates += std::abs(of_term);
      }
      const double at_rest = k_forbidden_step * stepper.acceleration_scale() * stepper.config().h;
      add(Kind::uncoupled, std::abs(q - coupling.held_at), least);
      add(Kind::uncoupling, std::abs(rate),
          std::max(k_forbidden * rates, at_rest / (turns(model, coupling) ? size : 1.0)));
    }
    add(Kind::outside, beyond_limits(coupling, q), least);
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
    case Kind::uncoupled:
      return "uncoupled_joints";
    case Kind::uncoupling:
      return "uncoupling_joints";
  }
  return "unknown";
}

const std::string& name_of(const Model& model, const JointStartWarning& warning) {
  return warning.coupling >= 0 ? model.couplings[at(warning.coupling)].name
                               : model.joints[at(warning.joint)].name;
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
  const Coupling* const coupling = warning.coupling < 0 ? nullptr : &model.couplings[at(warning.coupling)];
  const bool is_angle = coupling != nullptr ? turns(model, *coupling) : joint.kind == JointKind::hinge;
  const std::string what =
      coupling != nullptr
          ? fmt::format("{} '{}'", coupling->is_actuator ? "actuator" : "coupling", coupling->name)
          : fmt::format("joint '{}' of '{}' with {}", joint.name, model.bodies[at(joint.body_B)].name, with);
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
          what, warning.value, is_angle ? "rad" : "m");
    case Kind::uncoupled:
      return fmt::format(
          "{} starts {:.3g} {} from where it is held, which the first steps undo; try coordinates that fit "
          "it",
          what, warning.value, is_angle ? "rad" : "m");
    case Kind::uncoupling:
      return fmt::format(
          "{} forbids {:.3g} {} of the rates, which the first step takes away; try rates that fit it", what,
          warning.value, is_angle ? "rad/s" : "m/s");
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
