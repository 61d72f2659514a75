#include "apps/identification/unknown_space.h"
#include "dynamics/parameters/scene_parameter_derivatives.h"
#include "engine/control.h"
#include "engine/pose.h"

namespace abut {
namespace {

using VariableKind = Variable::Kind;

}  // namespace

bool UnknownSpace::is_initial(int tangent_entry) const {
  const Variable& variable = variable_of(tangent_entry);
  const Unknown* unknown = unknown_of(variable);
  return variable.kind != VariableKind::number ||
         (unknown->kind == Unknown::Kind::number && unknown->parameter.is_initial_state());
}

bool UnknownSpace::has_direction(int tangent_entry) const {
  const Unknown* unknown = unknown_of(variable_of(tangent_entry));
  return unknown == nullptr || unknown->kind != Unknown::Kind::number ||
         abut::has_direction(unknown->parameter);
}

StateTangent UnknownSpace::initial_direction(int tangent_entry, const Inputs& inputs) const {
  const Scene& scene = inputs.scene;
  StateTangent direction(scene.model.body_count());
  const Variable& variable = variable_of(tangent_entry);
  const int component = tangent_entry - variable.tangent_begin;
  if (variable.kind == VariableKind::position_and_twist) {
    Vec6<double>& half =
        component < 6 ? direction.pose[at(variable.body)] : direction.twist[at(variable.body)];
    half[component % 6] = 1.0;
    return direction;
  }
  if (variable.kind == VariableKind::orientation) {
    const Vec3<double> turn = Vec3<double>::Unit(component);
    const Vec3<double> arm =
        scene.initial.X_WB[at(variable.body)].q * scene.model.bodies[at(variable.body)].p_BA;
    direction.pose[at(variable.body)] = stack<double>(turn, -turn.cross(arm));
    return direction;
  }
  const Unknown& unknown = *unknown_of(variable);
  if (unknown.kind == Unknown::Kind::control) return direction;
  if (unknown.parameter.kind == SceneParameter::Kind::center_of_mass) {
    const std::size_t b = at(unknown.parameter.body_A);
    direction.pose[b].tail<3>() = scene.initial.X_WB[b].q * Vec3<double>::Unit(unknown.parameter.index);
  }
  if (unknown.parameter.is_initial_state()) return rollout_direction_of(scene, unknown.parameter).initial;
  return direction;
}

RolloutDirection UnknownSpace::direction(int tangent_entry, const Segment& segment,
                                         const Inputs& inputs) const {
  const Variable& variable = variable_of(tangent_entry);
  const Unknown* unknown = unknown_of(variable);
  RolloutDirection direction;
  if (variable.kind != VariableKind::number || unknown->kind == Unknown::Kind::control ||
      is_initial(tangent_entry)) {
    direction.initial = initial_direction(tangent_entry, inputs);
    if (unknown == nullptr || unknown->kind != Unknown::Kind::control) return direction;
    direction.controls.assign(at(segment.step_count), zero_control(inputs.scene.model));
    for (int k = 0; k < segment.step_count; ++k) {
      if (acts(variable, segment, k)) number_in(direction.controls[at(k)], *unknown) = 1.0;
    }
    return direction;
  }
  return rollout_direction_of(inputs.scene, unknown->parameter);
}

double UnknownSpace::derivative(int tangent_entry, const Segment& segment, const Inputs& inputs,
                                const Gradient& gradient) const {
  const Variable& variable = variable_of(tangent_entry);
  const Unknown* unknown = unknown_of(variable);
  const int component = tangent_entry - variable.tangent_begin;
  if (variable.kind == VariableKind::position_and_twist) {
    const std::size_t b = at(variable.body);
    return component < 6 ? gradient.initial.pose[b][component] : gradient.initial.twist[b][component - 6];
  }
  if (variable.kind == VariableKind::orientation) {
    const std::size_t b = at(variable.body);
    return gradient.initial.pose[b].dot(initial_direction(tangent_entry, inputs).pose[b]);
  }
  if (unknown->kind == Unknown::Kind::control) {
    double sum = 0.0;
    for (int k = 0; k < segment.step_count; ++k) {
      if (acts(variable, segment, k)) sum += number_in(gradient.controls[at(k)], *unknown);
    }
    return sum;
  }
  return derivative_by(inputs.scene, unknown->parameter, gradient);
}

UnknownSpace::ShapeGradients UnknownSpace::shape_gradients(const Inputs& inputs,
                                                           const Stepper& stepper) const {
  ShapeGradients shapes(lines_.size());
  for (std::size_t b = 0; b < lines_.size(); ++b) {
    if (!lines_[b]) continue;
    shapes[b].emplace(inputs.scene.model.bodies[b], stepper.detector().sdf(static_cast<int>(b)), *lines_[b]);
  }
  return shapes;
}

void UnknownSpace::complete_shapes(ShapeGradients& shapes, Gradient& gradient) {
  for (std::size_t b = 0; b < shapes.size(); ++b) {
    BodyGradient& body = gradient.model.bodies[b];
    if (shapes[b]) body.shape = (*shapes[b])(body.geometry);
  }
}

double UnknownSpace::derivative(int tangent_entry, const Inputs& inputs,
                                const GeometryDependence& dependence) const {
  const Variable& variable = variable_of(tangent_entry);
  const Unknown* unknown = unknown_of(variable);
  if (unknown == nullptr || unknown->kind != Unknown::Kind::number) return 0.0;
  const SceneParameter& parameter = unknown->parameter;
  if (parameter.body_A != dependence.body) return 0.0;
  double sum = 0.0;
  if (parameter.kind == SceneParameter::Kind::center_of_mass) {
    sum -= dependence.p_BA[parameter.index];
    for (const PrimitiveGradient& primitive : dependence.primitives)
      sum -= primitive.pose[3 + parameter.index];
  } else if (parameter.is_of_shape() && !dependence.primitives.empty()) {
    sum = derivative_by_shape(inputs.scene.model.bodies[at(dependence.body)], parameter,
                              dependence.primitives[at(parameter.primitive)]);
  }
  return sum;
}

}  // namespace abut
