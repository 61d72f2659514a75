/// Numbers of a scene by their names, such as "body.ball.friction": the parameters of engine/parameters.h, of
/// each body, primitive, pair, joint and coupling, and the settings of the time step. Which there are:
/// docs/scene_format.md, "Batches".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/control.h"
#include "engine/parameters.h"
#include "engine/scene.h"

namespace abut {

/// Which number of a scene a parameter is.
struct SceneParameter {
  using Kind = ParameterKind;
  std::string name;
  Kind kind = Kind::gravity;
  int body_A = -1, body_B = -1;  ///< body_A alone where one body is meant
  int primitive = -1;            ///< of the body's shape
  int joint = -1;                ///< of the model; no body is named beside it
  int coupling = -1;             ///< likewise, and no joint either
  int index = 0;                 ///< of a component, a setting in step_config_fields(), a shape_parameter()
  NumberRange range = any_number();
  bool whole = false;     ///< a whole number
  std::string_view unit;  ///< "kg", "m/s^2"; "" for a number without one

  [[nodiscard]] bool is_of_pair() const { return body_B >= 0; }
  [[nodiscard]] bool is_of_shape() const { return primitive >= 0; }
  /// Whether it moves surfaces in their bodies.
  [[nodiscard]] bool is_of_geometry() const { return is_of_shape() || kind == Kind::center_of_mass; }
  [[nodiscard]] bool is_of_joint() const { return joint >= 0; }
  [[nodiscard]] bool is_of_coupling() const { return coupling >= 0; }
  /// Whether it is the mass of its body, directly or by the density.
  [[nodiscard]] bool is_mass() const { return kind == Kind::mass || kind == Kind::density; }
  /// Whether rollouts that differ in it alone have the same model and settings.
  [[nodiscard]] bool is_initial_state() const { return abut::is_initial_state(kind); }
};

/// The parameter of a name. Throws std::invalid_argument for one that the scene has not.
[[nodiscard]] SceneParameter find_parameter(const Scene& scene, const std::string& name);

/// The name of the target of a motor.
[[nodiscard]] std::string target_name(const Model& model, const MotorPlace& place);

/// The names of a vector's components: "body.ball.position" stands for "body.ball.position.x" and two more,
/// "body.ball.inertia" for six. One name, the same, where it is none.
[[nodiscard]] std::vector<std::string> component_names(const Scene& scene, const std::string& name);

/// Whether two are the same number of a scene, under whatever names.
[[nodiscard]] bool is_same(const SceneParameter& a, const SceneParameter& b);

/// Whether 0 leaves the parameter's term out of the step, so that there is no derivative with respect to it there.
[[nodiscard]] bool vanishes_at_zero(ParameterKind kind);

/// Every parameter that a loss can be differentiated by and that has a part in the motion: gravity, then body
/// by body, pair by pair, joint by joint and coupling by coupling. Not those of a fixed body's mass and forces, an infinite
/// stiffness, damping, friction, armature or a spring of a joint that has none, where a loop starts, or a pair without a value of its own.
[[nodiscard]] std::vector<SceneParameter> differentiable_parameters(const Scene& scene);

/// The value that a scene has of it. NaN for that of a pair without a value of its own.
[[nodiscard]] double value_of(const Scene& scene, const SceneParameter& parameter);

/// Sets parameters of a scene to values in their ranges. Throws std::invalid_argument naming the body for a
/// shape that cannot be (shape_change.h), or the joint for one that cannot be.
void set_parameters(const std::vector<SceneParameter>& parameters, std::span<const double> values,
                    Scene& scene);

/// Throws std::invalid_argument saying what is allowed, if the parameter may not have a value.
void require_allowed(const SceneParameter& parameter, double value);

}  // namespace abut
