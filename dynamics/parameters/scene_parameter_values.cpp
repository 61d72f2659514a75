#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <variant>

#include <spdlog/fmt/fmt.h>

#include "dynamics/parameters/scene_parameter.h"
#include "dynamics/rollout/shape_change.h"
#include "engine/body_builder.h"
#include "engine/check.h"
#include "engine/config_fields.h"
#include "engine/inertia_coordinates.h"
#include "engine/lie.h"

namespace abut {
namespace {

PairOverride* find_override(Model& model, int body_A, int body_B) {
  for (PairOverride& pair : model.pair_overrides) {
    if (pair.body_A == body_A && pair.body_B == body_B) return &pair;
  }
  return nullptr;
}

/// The override of a pair, made if there is none.
PairOverride& override_of(Model& model, int body_A, int body_B) {
  if (PairOverride* const pair = find_override(model, body_A, body_B)) return *pair;
  PairOverride& pair = model.pair_overrides.emplace_back();
  pair.body_A = body_A;
  pair.body_B = body_B;
  return pair;
}

/// Where a number stands that is a variable of the scene; null for one that is a coordinate of something
/// else, and for that of a pair without an override.
double* find_number(Scene& scene, const SceneParameter& parameter) {
  const int k = parameter.index;
  if (parameter.kind == ParameterKind::gravity) return &gravity_parameter().value(scene.model, k);
  if (parameter.is_of_joint()) {
    const JointParameter* const joint = joint_parameter(parameter.kind);
    return joint == nullptr ? nullptr : &joint->of_joint(scene.model.joints[at(parameter.joint)]);
  }
  if (parameter.is_of_coupling())
    return &joint_parameter(parameter.kind)->of_coupling(scene.model.couplings[at(parameter.coupling)]);
  if (parameter.body_A < 0 || parameter.kind == ParameterKind::mass) return nullptr;
  const std::size_t b = at(parameter.body_A);
  if (const MaterialParameter* const material = material_parameter(parameter.kind)) {
    if (!parameter.is_of_pair()) return &(scene.model.bodies[b].material.*material->of_body);
    PairOverride* const pair = find_override(scene.model, parameter.body_A, parameter.body_B);
    return pair == nullptr ? nullptr : &(pair->*material->of_pair);
  }
  if (const BodyParameter* const body = body_parameter(parameter.kind))
    return &body->value(scene.model.bodies[b], k);
  if (const StateParameter* const state = state_parameter(parameter.kind))
    return &state->value(scene.initial, b, k);
  return nullptr;
}

void set_step_setting(int index, double value, StepConfig& config) {
  const StepConfigField& field = step_config_fields()[at(index)];
  if (const auto* number = std::get_if<double& (*)(StepConfig&)>(&field.get)) {
    (*number)(config) = value;
  } else {
    std::get<int& (*)(StepConfig&)>(field.get)(config) = static_cast<int>(value);
  }
}

/// The pose of a body's asset frame, to be changed component by component.
struct AssetPose {
  Vec3<double> p_WA;
  std::optional<Vec3<double>> rotation_vector;  // where that changes
};

/// Of the asset's frame, whose axes are those of B.
Vec3<double> center_of_mass(const Body& body) { return -body.p_BA; }

void set_center_of_mass(Body& body, const Vec3<double>& in_asset) {
  const Vec3<double> shift = in_asset - center_of_mass(body);
  body.contact_points.colwise() -= shift;
  body.mesh.vertices.colwise() -= shift;
  for (Primitive& primitive : body.shape.primitives) primitive.X_BP.p -= shift;
  body.p_BA -= shift;
}

double& shape_number(Primitive& primitive, int index) {
  return shape_parameter(primitive, primitive.kind, at(index));
}

/// A body's numbers that change together: its inertia, its centre of mass and its shape.
class BodyChange {
 public:
  explicit BodyChange(const Body& body)
      : inertia_(inertia_coordinates(body.mass, body.inertia)),
        center_(center_of_mass(body)),
        primitives_(body.shape.primitives) {
    for (const Primitive& primitive : primitives_) turns_.push_back(log_quaternion(primitive.X_BP.q));
  }

  void set(const SceneParameter& parameter, double value) {
    const int k = parameter.index;
    if (parameter.kind == ParameterKind::inertia) {
      inertia_[k] = value;
      has_inertia_ = true;
    } else if (parameter.kind == ParameterKind::center_of_mass) {
      center_[k] = value;
      has_center_ = true;
    } else {
      set_shape(parameter, value);
      has_shape_ = true;
    }
  }
  [[nodiscard]] double get(const SceneParameter& parameter, const Body& body) const {
    const int k = parameter.index;
    switch (parameter.kind) {
      case ParameterKind::inertia:
        return inertia_[k];
      case ParameterKind::center_of_mass:
        return center_[k];
      case ParameterKind::primitive_position:
        return primitives_[at(parameter.primitive)].X_BP.p[k] - body.p_BA[k];
      case ParameterKind::primitive_rotation_vector:
        return turns_[at(parameter.primitive)][k];
      default: {
        const Primitive& primitive = primitives_[at(parameter.primitive)];
        return shape_parameter(primitive, primitive.kind, at(k));
      }
    }
  }
  /// After the mass was set.
  void apply(Body& body) const {
    if (has_inertia_) body.inertia = inertia_from_coordinates(body.mass, inertia_);
    if (has_shape_) body = with_primitives(body, primitives_);
    if (has_center_) set_center_of_mass(body, center_);
  }

 private:
  void set_shape(const SceneParameter& parameter, double value) {
    Primitive& primitive = primitives_[at(parameter.primitive)];
    const int k = parameter.index;
    if (parameter.kind == ParameterKind::shape) {
      shape_number(primitive, k) = value;
    } else if (parameter.kind == ParameterKind::primitive_position) {
      primitive.X_BP.p[k] = value - original_center_[k];
    } else {
      turns_[at(parameter.primitive)][k] = value;
      primitive.X_BP.q = exp_quaternion(turns_[at(parameter.primitive)]).normalized();
    }
  }
  Vec6<double> inertia_;
  Vec3<double> center_, original_center_ = center_;
  std::vector<Primitive> primitives_;
  std::vector<Vec3<double>> turns_;
  bool has_inertia_ = false, has_center_ = false, has_shape_ = false;
};

}  // namespace

double value_of(const Scene& scene, const SceneParameter& parameter) {
  if (const double* const number = find_number(for_reading(scene), parameter)) return *number;
  if (parameter.is_of_pair()) return std::numeric_limits<double>::quiet_NaN();
  const int b = std::max(0, parameter.body_A), k = parameter.index;
  const Body& body = scene.model.bodies[at(b)];
  const Pose<double>& X_WB = scene.initial.X_WB[at(b)];
  switch (parameter.kind) {
    case ParameterKind::step_setting: {
      StepConfig config = scene.config.step;
      const StepConfigField& field = step_config_fields()[at(k)];
      if (const auto* number = std::get_if<double& (*)(StepConfig&)>(&field.get)) return (*number)(config);
      return std::get<int& (*)(StepConfig&)>(field.get)(config);
    }
    case ParameterKind::mass:
      return body.mass;
    case ParameterKind::density:
      return body.mass / body.volume;
    case ParameterKind::position:
      return (X_WB * body.p_BA)[k];
    case ParameterKind::rotation_vector:
      return log_quaternion(X_WB.q)[k];
    case ParameterKind::joint_coordinate:
      return joint_coordinate(scene.model, parameter.joint, scene.initial);
    case ParameterKind::joint_rate:
      return joint_rate(scene.model.joints[at(parameter.joint)], scene.initial);
    default:
      return BodyChange(body).get(parameter, body);
  }
}

void set_parameters(const std::vector<SceneParameter>& parameters, std::span<const double> values,
                    Scene& scene) {
  std::map<int, AssetPose> poses;
  std::map<int, BodyChange> changes;
  const auto pose_of = [&](int b) -> AssetPose& {
    const auto [entry, is_new] = poses.try_emplace(b);
    if (is_new) entry->second.p_WA = scene.initial.X_WB[at(b)] * scene.model.bodies[at(b)].p_BA;
    return entry->second;
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const SceneParameter& parameter = parameters[i];
    const double value = values[i];
    const int b = parameter.body_A, k = parameter.index;
    if (parameter.is_of_pair()) (void)override_of(scene.model, parameter.body_A, parameter.body_B);
    if (double* const number = find_number(scene, parameter)) {
      *number = value;
      continue;
    }
    switch (parameter.kind) {
      case ParameterKind::step_setting:
        set_step_setting(k, value, scene.config.step);
        break;
      case ParameterKind::mass:
        set_mass(scene.model.bodies[at(b)], value);
        break;
      case ParameterKind::density:
        set_density(scene.model.bodies[at(b)], value);
        break;
      case ParameterKind::position:
        pose_of(b).p_WA[k] = value;
        break;
      case ParameterKind::rotation_vector: {
        AssetPose& pose = pose_of(b);
        if (!pose.rotation_vector) pose.rotation_vector = log_quaternion(scene.initial.X_WB[at(b)].q);
        (*pose.rotation_vector)[k] = value;
        break;
      }
      case ParameterKind::joint_coordinate:
      case ParameterKind::joint_rate:
        break;  // after what bodies have
      default:
        if (parameter.kind == ParameterKind::center_of_mass)
          (void)pose_of(b);  // where the asset's frame was, stays
        changes.try_emplace(b, scene.model.bodies[at(b)]).first->second.set(parameter, value);
        break;
    }
  }
  for (const SceneParameter& parameter : parameters) {
    if (parameter.is_of_joint()) validate(scene.model.joints[at(parameter.joint)], scene.model);
    if (parameter.is_of_coupling()) validate(scene.model.couplings[at(parameter.coupling)], scene.model);
  }
  for (const auto& [b, change] : changes) change.apply(scene.model.bodies[at(b)]);
  for (const auto& [b, pose] : poses) {
    Pose<double>& X_WB = scene.initial.X_WB[at(b)];
    if (pose.rotation_vector) X_WB.q = exp_quaternion(*pose.rotation_vector).normalized();
    X_WB.p = pose.p_WA - X_WB.q * scene.model.bodies[at(b)].p_BA;
  }
  for (const auto& [kind, set] : {std::pair{ParameterKind::joint_coordinate, &set_joint_coordinate},
                                  std::pair{ParameterKind::joint_rate, &set_joint_rate}}) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].kind == kind) set(scene.model, parameters[i].joint, values[i], scene.initial);
    }
  }
}

void require_allowed(const SceneParameter& parameter, double value) {
  require(parameter.range.contains(value),
          fmt::format("'{}' = {}, allowed: {}", parameter.name, value, parameter.range.text()));
  require(
      !parameter.whole || (value == std::floor(value) && value <= 1e9),
      fmt::format("'{}' = {}, allowed: a whole number {}", parameter.name, value, parameter.range.text()));
  if (parameter.kind != ParameterKind::step_setting) return;
  StepConfig config;
  set_step_setting(parameter.index, value, config);
  try {
    validate(config);  // knows of upper bounds, too
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("'{}': {}", parameter.name, error.what()));
  }
}

}  // namespace abut
