#include "dynamics/parameters/scene_parameter_derivatives.h"

#include <cmath>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/inertia_coordinates.h"
#include "engine/joint_geometry.h"
#include "engine/lie.h"

namespace abut {
namespace {

/// Tangent of a body's pose per unit of a component of its asset's position or rotation vector: the origin of
/// the asset's frame stays where it is while the body turns.
Vec6<double> pose_direction(const Scene& scene, const SceneParameter& parameter) {
  const Vec3<double> unit = Vec3<double>::Unit(parameter.index);
  if (parameter.kind == ParameterKind::position) return stack<double>(Vec3<double>::Zero(), unit);
  const Pose<double>& X_WB = scene.initial.X_WB[at(parameter.body_A)];
  const Vec3<double> turn = left_jacobian_so3(Vec3<double>(log_quaternion(X_WB.q))) * unit;
  const Vec3<double> arm = X_WB.q * scene.model.bodies[at(parameter.body_A)].p_BA;
  return stack<double>(turn, -turn.cross(arm));
}

/// Derivative of the initial state with respect to a joint's coordinate or rate.
StateTangent joint_direction(const Scene& scene, const SceneParameter& parameter) {
  return parameter.kind == ParameterKind::joint_rate
             ? joint_rate_direction(scene.model, parameter.joint, scene.initial)
             : joint_coordinate_direction(scene.model, parameter.joint, scene.initial);
}

/// How the numbers of a body move per unit of a parameter of its own.
BodyDirection body_direction(const Scene& scene, const SceneParameter& parameter) {
  const Body& body = scene.model.bodies[at(parameter.body_A)];
  BodyDirection direction;
  switch (parameter.kind) {
    case ParameterKind::mass:
      direction.mass = 1.0;
      direction.inertia = body.inertia / body.mass;
      return direction;
    case ParameterKind::density:
      direction.mass = body.volume;
      direction.inertia = body.volume / body.mass * body.inertia;
      return direction;
    case ParameterKind::inertia:
      direction.inertia = inertia_coordinate_direction(
          body.mass, inertia_coordinates(body.mass, body.inertia), parameter.index);
      return direction;
    default:
      break;
  }
  if (const MaterialParameter* const material = material_parameter(parameter.kind)) {
    direction.*material->slot = material->slope(body.material.*material->of_body);
  } else if (const BodyParameter* const plain = body_parameter(parameter.kind)) {
    plain->slot(direction, parameter.index) = 1.0;
  }
  return direction;
}

/// dL/d(centre of mass): the geometry moves the other way in B, and B's origin with it in the world.
double derivative_by_center(const Scene& scene, const SceneParameter& parameter, const Gradient& gradient) {
  const std::size_t b = at(parameter.body_A);
  const GeometryGradient& geometry = gradient.model.bodies[b].geometry;
  double derivative = -geometry.contact_points.row(parameter.index).sum();
  for (const PrimitiveGradient& primitive : geometry.primitives)
    derivative -= primitive.pose[3 + parameter.index];
  const Vec3<double> unit = Vec3<double>::Unit(parameter.index);
  return derivative + gradient.initial.pose[b].tail<3>().dot(scene.initial.X_WB[b].q * unit);
}

double derivative_by_pair(const Scene& scene, const SceneParameter& parameter, const Gradient& gradient) {
  for (std::size_t i = 0; i < scene.model.pair_overrides.size(); ++i) {
    const PairOverride& pair = scene.model.pair_overrides[i];
    if (pair.body_A != parameter.body_A || pair.body_B != parameter.body_B) continue;
    const MaterialParameter& material = *material_parameter(parameter.kind);
    const double slope = material.slope(pair.*material.of_pair);
    const bool has_part =
        std::isfinite(slope) && slope != 0.0;  // none: an infinite stiffness, or no override
    return has_part ? slope * gradient.model.pairs[i].*material.slot : 0.0;
  }
  throw std::invalid_argument(
      fmt::format("'{}': the scene gives the pair no value of its own", parameter.name));
}

/// Through compliances, as gradients of single steps have no more.
double by_stiffness(double k, double compliance_bar) {
  return std::isfinite(k) ? -compliance_bar / (k * k) : 0.0;
}

double derivative_by_joint(const Scene& scene, const SceneParameter& parameter, const Gradient& gradient) {
  const Joint& joint = scene.model.joints[at(parameter.joint)];
  const JointGradient& bar = gradient.model.joints[at(parameter.joint)];
  switch (parameter.kind) {
    case ParameterKind::joint_coordinate:
    case ParameterKind::joint_rate:
      return inner_product(gradient.initial, joint_direction(scene, parameter));
    case ParameterKind::joint_stiffness:
      return by_stiffness(joint.stiffness, bar.compliance);
    case ParameterKind::joint_angular_stiffness:
      return by_stiffness(joint.angular_stiffness, bar.angular_compliance);
    default:
      return joint_parameter(parameter.kind)->slot(for_reading(bar));
  }
}

double derivative_by_coupling(const Scene& scene, const SceneParameter& parameter, const Gradient& gradient) {
  const JointGradient& bar = gradient.model.couplings[at(parameter.coupling)];
  if (parameter.kind != ParameterKind::joint_stiffness)
    return joint_parameter(parameter.kind)->slot(for_reading(bar));
  return by_stiffness(scene.model.couplings[at(parameter.coupling)].stiffness, bar.compliance);
}

}  // namespace

double derivative_by_shape(const Body& body, const SceneParameter& parameter,
                           const PrimitiveGradient& gradient) {
  const Primitive& primitive = body.shape.primitives[at(parameter.primitive)];
  const Vec3<double> unit = Vec3<double>::Unit(parameter.kind == ParameterKind::shape ? 0 : parameter.index);
  switch (parameter.kind) {
    case ParameterKind::primitive_position:
      return gradient.pose.tail<3>().dot(unit);
    case ParameterKind::primitive_rotation_vector:
      return gradient.pose.head<3>().dot(left_jacobian_so3(Vec3<double>(log_quaternion(primitive.X_BP.q))) *
                                         unit);
    default: {
      const std::size_t i = at(parameter.index), fixed = at(parameter_count(primitive.kind));
      if (i >= fixed && gradient.values.empty()) return 0.0;
      return shape_parameter(gradient, primitive.kind, i);
    }
  }
}

bool is_differentiable(const SceneParameter& parameter) {
  return parameter.kind != ParameterKind::step_setting;
}

bool is_differentiable_at(const Scene& scene, const SceneParameter& parameter) {
  return is_differentiable(parameter) &&
         (!vanishes_at_zero(parameter.kind) || value_of(scene, parameter) > 0.0);
}

bool has_direction(const SceneParameter& parameter) {
  return is_differentiable(parameter) && !parameter.is_of_pair() && !parameter.is_of_shape() &&
         (!parameter.is_of_joint() || parameter.is_initial_state()) && !parameter.is_of_coupling() &&
         parameter.kind != ParameterKind::center_of_mass;
}

double derivative_by(const Scene& scene, const SceneParameter& parameter, const Gradient& gradient) {
  if (!is_differentiable(parameter)) {
    throw std::invalid_argument(fmt::format(
        "'{}' is a setting of the time step: nothing can be differentiated by it", parameter.name));
  }
  require(is_differentiable_at(scene, parameter),
          fmt::format("'{}' = 0: there is none, and no derivative with respect to it; allowed: > 0",
                      parameter.name));
  if (parameter.is_of_pair()) return derivative_by_pair(scene, parameter, gradient);
  if (parameter.is_of_joint()) return derivative_by_joint(scene, parameter, gradient);
  if (parameter.is_of_coupling()) return derivative_by_coupling(scene, parameter, gradient);
  const std::size_t b = parameter.body_A < 0 ? 0 : at(parameter.body_A);
  if (parameter.is_of_shape()) {
    return derivative_by_shape(scene.model.bodies[b], parameter,
                               gradient.model.bodies[b].shape[at(parameter.primitive)]);
  }
  if (const StateParameter* const state = state_parameter(parameter.kind))
    return state->slot(for_reading(gradient.initial), b, parameter.index);
  switch (parameter.kind) {
    case ParameterKind::center_of_mass:
      return derivative_by_center(scene, parameter, gradient);
    case ParameterKind::gravity:
      return gravity_parameter().slot(for_reading(gradient.model.gravity), parameter.index);
    case ParameterKind::position:
    case ParameterKind::rotation_vector:
      return gradient.initial.pose[b].dot(pose_direction(scene, parameter));
    default:
      return inner_product(gradient.model.bodies[b], body_direction(scene, parameter));
  }
}

RolloutDirection rollout_direction_of(const Scene& scene, const SceneParameter& parameter) {
  require(has_direction(parameter), fmt::format("'{}': known backwards only, or not at all", parameter.name));
  RolloutDirection direction;
  direction.initial.set_zero(scene.model.body_count());
  const std::size_t b = parameter.body_A < 0 ? 0 : at(parameter.body_A);
  if (const StateParameter* const state = state_parameter(parameter.kind)) {
    state->slot(direction.initial, b, parameter.index) = 1.0;
    return direction;
  }
  switch (parameter.kind) {
    case ParameterKind::gravity:
      gravity_parameter().slot(direction.gravity, parameter.index) = 1.0;
      break;
    case ParameterKind::position:
    case ParameterKind::rotation_vector:
      direction.initial.pose[b] = pose_direction(scene, parameter);
      break;
    case ParameterKind::joint_coordinate:
    case ParameterKind::joint_rate:
      direction.initial = joint_direction(scene, parameter);
      break;
    default:
      direction.bodies.resize(scene.model.bodies.size());
      direction.bodies[b] = body_direction(scene, parameter);
  }
  return direction;
}

void require_known_derivatives(const Scene& scene, std::span<const SceneParameter> parameters) {
  for (const SceneParameter& of_joint : parameters) {
    if (!of_joint.is_of_joint() || !of_joint.is_initial_state()) continue;
    for (const SceneParameter& of_body : parameters) {
      if (of_body.is_of_joint() || !of_body.is_initial_state()) continue;
      require(!hangs_together(scene.model, of_joint.joint, of_body.body_A),
              fmt::format(
                  "'{}' and '{}' have no derivatives together: the joint moves what is beyond it from where "
                  "the body is; vary one of them",
                  of_body.name, of_joint.name));
    }
  }
}

}  // namespace abut
