#include "dynamics/gradient_check/gradient_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dynamics/gradient_check/joint_scales.h"
#include "dynamics/rollout/shape_change.h"
#include "engine/check.h"
#include "engine/control.h"
#include "engine/law_settings.h"
#include "engine/model_validation.h"
#include "engine/parameters.h"
#include "engine/primitive_check.h"

namespace abut {
namespace {

constexpr const char *k_pose_group = "initial pose", *k_twist_group = "initial twist";

/// One number of a model: how it moves, and the derivative along that.
struct Scalar {
  double scale;
  std::function<void(Model& model, double x)> move;
  std::function<double(const ModelGradient& gradient)> bar;
};

/// The key of a parameter in words: "linear damping".
std::string words_of_key(const ParameterInfo& parameter) {
  std::string words(parameter.key);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

/// "friction", "compliance": what an offset of the parameter is of.
std::string name_of_offset(const MaterialParameter& parameter) {
  return parameter.kind == ParameterKind::stiffness ? "compliance" : words_of_key(parameter);
}

Vec6<double> six(std::span<const double> x, std::size_t i) {
  Vec6<double> v;
  for (std::size_t k = 0; k < 6; ++k) v[static_cast<Eigen::Index>(k)] = x[6 * i + k];
  return v;
}

/// Refuses what validate() reads as "the default", which lies beyond a time of 0.
void require_explicit_times(const Model& model, bool law_honours_times) {
  const auto check = [](double time) {
    require(!(time < 0.0), fmt::format("dissipation time = {}, allowed: >= 0", time));
  };
  for (const Joint& joint : model.joints) check(joint.dissipation_time);
  for (const Coupling& coupling : model.couplings) check(coupling.dissipation_time);
  if (!law_honours_times) return;
  for (const Body& body : model.bodies) check(body.material.dissipation_time);
  for (const PairOverride& pair : model.pair_overrides) check(pair.dissipation_time);
}

/// Gives every step wrenches and commands, those that were not there 0.
void add_zero_controls(RolloutInputs& inputs, std::size_t steps) {
  const Control zero = zero_control(inputs.model);
  inputs.controls.resize(steps);
  for (Control& control : inputs.controls) control += zero;
}

class GroupBuilder {
 public:
  GroupBuilder(const RolloutInputs& nominal, const Stepper& stepper, int steps)
      : nominal_(nominal), config_(stepper.config()), g_(stepper.acceleration_scale()), steps_(steps) {
    double longest = 0.0;
    for (const Body& body : bodies()) {
      if (std::isfinite(body.size)) longest = std::max(longest, body.size);
      if (!body.fixed) heaviest_ = std::max(heaviest_, body.mass);
    }
    if (longest == 0.0) longest = 1.0;
    for (std::size_t b = 0; b < bodies().size(); ++b) {
      lengths_.push_back(std::isfinite(bodies()[b].size) ? bodies()[b].size : longest);
      if (!bodies()[b].fixed) moving_.push_back(b);
    }
    add_initial_poses();
    add_initial_twists();
    add_controls();
    add_commands();
    add_body_number(*body_parameter(ParameterKind::mass));
    add_inertia();
    add_density();
    add_materials();
    add_other_body_numbers();
    add_external_wrench();
    add_gravity();
    if (stepper.detector().has_shape_derivatives()) {
      add_shape_parameters();
      add_shape_poses();
    }
    add_pairs();
    add_joint_frames();
    add_joint_numbers();
  }

  [[nodiscard]] InputGroups result() && {
    InputGroups result{std::move(groups_), std::move(moving_), std::move(lengths_), {}};
    for (const double length : result.lengths) result.speeds.push_back(std::sqrt(g_ * length));
    return result;
  }

 private:
  [[nodiscard]] const std::vector<Body>& bodies() const { return nominal_.model.bodies; }
  [[nodiscard]] double weight(std::size_t body) const { return bodies()[body].mass * g_; }

  void add(InputGroup group) {
    if (!group.scale.empty()) groups_.push_back(std::move(group));
  }

  void add_scalars(std::string name, const std::vector<Scalar>& scalars) {
    InputGroup group;
    group.name = std::move(name);
    for (const Scalar& scalar : scalars) group.scale.push_back(scalar.scale);
    group.move = [scalars](RolloutInputs& inputs, std::span<const double> x) {
      for (std::size_t i = 0; i < scalars.size(); ++i) scalars[i].move(inputs.model, x[i]);
    };
    group.derivative = [scalars](const Gradient& gradient, std::span<const double> x) {
      double sum = 0.0;
      for (std::size_t i = 0; i < scalars.size(); ++i) sum += scalars[i].bar(gradient.model) * x[i];
      return sum;
    };
    const bool has_times = honours("dissipation_time");
    group.require_valid = [&nominal = nominal_, scalars, has_times](std::span<const double> x) {
      Model model = nominal.model;
      for (std::size_t i = 0; i < scalars.size(); ++i) scalars[i].move(model, x[i]);
      validate(model);
      require_explicit_times(model, has_times);
    };
    add(std::move(group));
  }

  /// The component i of a parameter of a body.
  static Scalar scalar_of(const BodyParameter& parameter, std::size_t b, int i, double scale) {
    return {scale, [&parameter, b, i](Model& model, double x) { parameter.value(model.bodies[b], i) += x; },
            [&parameter, b, i](const ModelGradient& gradient) {
              return parameter.slot(for_reading<BodyTangent>(gradient.bodies[b]), i);
            }};
  }

  /// Scale of an offset of a moving body's number.
  [[nodiscard]] double body_scale(const BodyParameter& parameter, const Body& body) const {
    switch (parameter.kind) {
      case ParameterKind::linear_damping:
      case ParameterKind::angular_damping:
        return 1.0 / (steps_ * config_.h);
      default:
        return own_or(parameter.value(for_reading(body), 0), 1.0);
    }
  }

  /// A number of every moving body.
  void add_body_number(const BodyParameter& parameter) {
    std::vector<Scalar> scalars;
    for (const std::size_t b : moving_)
      scalars.push_back(scalar_of(parameter, b, 0, body_scale(parameter, bodies()[b])));
    add_scalars(words_of_key(parameter), scalars);
  }

  /// Those but for the mass, which comes first.
  void add_other_body_numbers() {
    for (const BodyParameter& parameter : body_parameters()) {
      const bool is_number = parameter.components == ParameterComponents::number;
      if (is_number && parameter.kind != ParameterKind::mass) add_body_number(parameter);
    }
  }

  void add_initial_poses() {  // those of fixed bodies, too: a floor may be tilted
    InputGroup group{k_pose_group, {}, {}, {}, {}};
    for (const double length : lengths_)
      group.scale.insert(group.scale.end(), {1, 1, 1, length, length, length});
    group.move = [](RolloutInputs& inputs, std::span<const double> x) {
      auto& poses = inputs.initial.X_WB;
      for (std::size_t b = 0; b < poses.size(); ++b) poses[b] = retract<double>(poses[b], six(x, b));
    };
    group.derivative = [](const Gradient& gradient, std::span<const double> x) {
      double sum = 0.0;
      for (std::size_t b = 0; b < gradient.initial.pose.size(); ++b)
        sum += gradient.initial.pose[b].dot(six(x, b));
      return sum;
    };
    add(std::move(group));
  }

  void add_initial_twists() {
    InputGroup group{k_twist_group, {}, {}, {}, {}};
    std::vector<std::size_t> moving = moving_;  // first, and then what is driven
    for (std::size_t b = 0; b < bodies().size(); ++b) {
      if (bodies()[b].fixed && !nominal_.initial.V_WB[b].isZero(0.0)) moving.push_back(b);
    }
    for (const std::size_t b : moving) {
      const double v = std::sqrt(g_ * lengths_[b]), w = v / lengths_[b];
      group.scale.insert(group.scale.end(), {w, w, w, v, v, v});
    }
    group.move = [moving](RolloutInputs& inputs, std::span<const double> x) {
      for (std::size_t i = 0; i < moving.size(); ++i) inputs.initial.V_WB[moving[i]] += six(x, i);
    };
    group.derivative = [moving](const Gradient& gradient, std::span<const double> x) {
      double sum = 0.0;
      for (std::size_t i = 0; i < moving.size(); ++i) sum += gradient.initial.twist[moving[i]].dot(six(x, i));
      return sum;
    };
    add(std::move(group));
  }

  void add_controls() {
    InputGroup group{"controls", {}, {}, {}, {}};
    for (int k = 0; k < steps_; ++k) {
      for (const std::size_t b : moving_) {
        const double force = weight(b), torque = force * lengths_[b];
        group.scale.insert(group.scale.end(), {torque, torque, torque, force, force, force});
      }
    }
    const auto steps = static_cast<std::size_t>(steps_);
    group.move = [moving = moving_, steps](RolloutInputs& inputs, std::span<const double> x) {
      add_zero_controls(inputs, steps);
      for (std::size_t k = 0; k < steps; ++k) {
        for (std::size_t i = 0; i < moving.size(); ++i)
          inputs.controls[k].wrenches[moving[i]] += six(x, k * moving.size() + i);
      }
    };
    group.derivative = [moving = moving_, steps](const Gradient& gradient, std::span<const double> x) {
      double sum = 0.0;
      for (std::size_t k = 0; k < steps; ++k) {
        for (std::size_t i = 0; i < moving.size(); ++i) {
          sum += gradient.controls[k].wrenches[moving[i]].dot(six(x, k * moving.size() + i));
        }
      }
      return sum;
    };
    add(std::move(group));
  }

  void add_commands() {
    const std::vector<MotorPlace> motors = motors_of(nominal_.model);
    const JointScales scales = joint_scales();
    InputGroup group{"commands", {}, {}, {}, {}};
    for (int k = 0; k < steps_; ++k) {
      for (const MotorPlace& place : motors) group.scale.push_back(scales.target(place));
    }
    const auto steps = static_cast<std::size_t>(steps_);
    const std::size_t count = motors.size();
    group.move = [count, steps](RolloutInputs& inputs, std::span<const double> x) {
      add_zero_controls(inputs, steps);
      for (std::size_t i = 0; i < x.size(); ++i) inputs.controls[i / count].commands[i % count] += x[i];
    };
    group.derivative = [count](const Gradient& gradient, std::span<const double> x) {
      double sum = 0.0;
      for (std::size_t i = 0; i < x.size(); ++i)
        sum += gradient.controls[i / count].commands[i % count] * x[i];
      return sum;
    };
    add(std::move(group));
  }

  void add_inertia() {  // I = L L^T moves to L (1 + S) L^T with S symmetric and small: positive definite
    constexpr double k_scale = 0.3;
    InputGroup group{"inertia", std::vector<double>(6 * moving_.size(), k_scale), {}, {}, {}};
    const auto change = [](const Body& body, const Vec6<double>& x) {
      Mat3<double> S;
      S << x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2];
      const Mat3<double> L = body.inertia.llt().matrixL();
      const Mat3<double> dI = L * S * L.transpose();
      return Mat3<double>(0.5 * (dI + dI.transpose()));
    };
    group.move = [moving = moving_, change](RolloutInputs& inputs, std::span<const double> x) {
      for (std::size_t i = 0; i < moving.size(); ++i) {
        Body& body = inputs.model.bodies[moving[i]];
        body.inertia += change(body, six(x, i));
      }
    };
    group.derivative = [&nominal = nominal_, moving = moving_, change](const Gradient& gradient,
                                                                       std::span<const double> x) {
      double sum = 0.0;
      for (std::size_t i = 0; i < moving.size(); ++i) {
        const Mat3<double> dI = change(nominal.model.bodies[moving[i]], six(x, i));
        sum += gradient.model.bodies[moving[i]].inertia.cwiseProduct(dI).sum();
      }
      return sum;
    };
    add(std::move(group));
  }

  void add_density() {  // mass and inertia in proportion
    std::vector<Scalar> scalars;
    for (const std::size_t b : moving_) {
      const Body& body = bodies()[b];
      if (!(body.volume > 0.0)) continue;
      scalars.push_back({body.mass / body.volume,
                         [b](Model& model, double x) {
                           Body& moved = model.bodies[b];
                           const double factor = 1.0 + x * moved.volume / moved.mass;
                           moved.mass *= factor;
                           moved.inertia *= factor;
                         },
                         [b](const ModelGradient& gradient) { return gradient.bodies[b].density; }});
    }
    add_scalars("density", scalars);
  }

  /// A positive parameter moves by its own value, one that is 0 by a typical one.
  static double own_or(double value, double typical) { return value > 0.0 ? value : typical; }
  static constexpr double k_typical_friction = 0.5, k_typical_restitution = 0.5;

  [[nodiscard]] bool honours(std::string_view key) const {
    return setting_use(key, config_.law) == SettingUse::honoured;
  }

  /// Scale of 1/k [m/N]: the compliance itself; where rigid, that which the smooth Coulomb law adds to every
  /// contact, so that a small step below zero still leaves the contact compliant. The penalty law has none to
  /// change there.
  [[nodiscard]] double compliance_scale(double stiffness, double mass) const {
    if (std::isfinite(stiffness)) return 1.0 / stiffness;
    if (config_.law == ContactLaw::penalty || mass == 0.0) return 0.0;
    const double beta = config_.near_rigid_factor / (2.0 * std::numbers::pi);
    return beta * beta / mass * config_.h * config_.h;
  }

  /// Scale of an offset of a material's number, 0 where the law has none.
  ///
  /// @param mass  of the body, or of the heaviest where that is not its own
  [[nodiscard]] double material_scale(const MaterialParameter& parameter, double value, double mass) const {
    if (!honours(parameter.key)) return 0.0;
    switch (parameter.kind) {
      case ParameterKind::friction:
        return own_or(value, k_typical_friction);
      case ParameterKind::stiffness:
        return compliance_scale(value, mass);
      case ParameterKind::dissipation_time:
        return own_or(value, config_.h);
      default:
        return k_typical_restitution;
    }
  }

  /// The material of one body, or of several whose numbers move as one.
  static Scalar scalar_of(const MaterialParameter& parameter, const std::vector<std::size_t>& of,
                          double scale) {
    return {scale,
            [&parameter, of](Model& model, double x) {
              for (const std::size_t b : of) parameter.move(model.bodies[b].material.*parameter.of_body, x);
            },
            [&parameter, of](const ModelGradient& gradient) {
              double sum = 0.0;
              for (const std::size_t b : of) sum += gradient.bodies[b].*parameter.slot;
              return sum;
            }};
  }

  /// Frictions of 0 move as one: the harmonic mean of two zeros has a derivative along equal changes alone.
  void add_materials() {
    for (const MaterialParameter& parameter : k_material_parameters) {
      std::vector<Scalar> scalars;
      std::vector<std::size_t> frictionless;
      for (std::size_t b = 0; b < bodies().size(); ++b) {
        const Body& body = bodies()[b];
        const double value = body.material.*parameter.of_body;
        if (parameter.kind == ParameterKind::friction && value == 0.0) {
          frictionless.push_back(b);
          continue;
        }
        const double scale = material_scale(parameter, value, body.fixed ? heaviest_ : body.mass);
        if (scale != 0.0) scalars.push_back(scalar_of(parameter, {b}, scale));
      }
      if (!frictionless.empty()) scalars.push_back(scalar_of(parameter, frictionless, k_typical_friction));
      add_scalars(name_of_offset(parameter), scalars);
    }
  }

  void add_external_wrench() {
    std::vector<Scalar> scalars;
    for (const std::size_t b : moving_) {
      for (int i = 0; i < 3; ++i)
        scalars.push_back(scalar_of(*body_parameter(ParameterKind::torque), b, i, weight(b) * lengths_[b]));
      for (int i = 0; i < 3; ++i)
        scalars.push_back(scalar_of(*body_parameter(ParameterKind::force), b, i, weight(b)));
    }
    add_scalars("external wrench", scalars);
  }

  void add_gravity() {
    const GravityParameter& gravity = gravity_parameter();
    std::vector<Scalar> scalars;
    for (int i = 0; i < 3; ++i) {
      scalars.push_back({g_, [&gravity, i](Model& model, double x) { gravity.value(model, i) += x; },
                         [&gravity, i](const ModelGradient& gradient) {
                           return gravity.slot(for_reading(gradient.gravity), i);
                         }});
    }
    add_scalars(words_of_key(gravity), scalars);
  }

  /// Moves all primitives by `change(primitive, next numbers of x)`, and what follows the surface with them.
  template <typename Change>
  static void move_shapes(Model& model, std::span<const double> x, const Change& change) {
    std::size_t next = 0;
    for (Body& body : model.bodies) {
      std::vector<Primitive> primitives = body.shape.primitives;
      for (Primitive& primitive : primitives) next += change(primitive, x.subspan(next));
      body = with_primitives(body, primitives);
    }
  }

  /// By how much a shape parameter is moved, times the step: by itself, or where that may be 0 by what is
  /// as large.
  static double parameter_scale(const Primitive& primitive, std::size_t i) {
    const bool has_places = primitive.kind == PrimitiveKind::oriented_point_cloud ||
                            primitive.kind == PrimitiveKind::padded_polygon;
    if (has_places) return primitive.parameters[0];
    if (!is_length(primitive.kind, i) && i > 5) return 1.0;  // an angle
    return shape_parameter(primitive, primitive.kind, i);
  }

  /// Adds the next numbers of dx to all shape parameters; returns how many these are.
  static std::size_t change_parameters(Primitive& primitive, std::span<const double> dx) {
    const std::size_t count = parameter_count(primitive);
    for (std::size_t i = 0; i < count; ++i) shape_parameter(primitive, primitive.kind, i) += dx[i];
    return count;
  }

  void add_shape_parameters() {
    InputGroup group{"shape parameters", {}, {}, {}, {}};
    for (const Body& body : bodies()) {
      for (const Primitive& primitive : body.shape.primitives) {
        for (std::size_t i = 0; i < parameter_count(primitive); ++i) {
          group.scale.push_back(parameter_scale(primitive, i));
        }
      }
    }
    group.move = [](RolloutInputs& inputs, std::span<const double> x) {
      move_shapes(inputs.model, x, change_parameters);
    };
    group.require_valid = [&nominal = nominal_](std::span<const double> x) {
      std::size_t next = 0;
      for (const Body& body : nominal.model.bodies) {
        for (std::size_t p = 0; p < body.shape.primitives.size(); ++p) {
          const std::size_t count = parameter_count(body.shape.primitives[p]);
          const auto dx = x.subspan(next, count);
          next += count;
          if (std::all_of(dx.begin(), dx.end(), [](double d) { return d == 0.0; })) continue;
          Primitive primitive = body.shape.primitives[p];
          change_parameters(primitive, dx);
          require_valid(primitive, fmt::format("{}: primitive {}", body.name, p));
        }
      }
    };
    group.derivative = [&nominal = nominal_](const Gradient& gradient, std::span<const double> x) {
      double sum = 0.0;
      std::size_t next = 0;
      const std::vector<Body>& bodies = nominal.model.bodies;
      for (std::size_t b = 0; b < bodies.size(); ++b) {
        for (std::size_t p = 0; p < bodies[b].shape.primitives.size(); ++p) {
          const Primitive& primitive = bodies[b].shape.primitives[p];
          for (std::size_t i = 0; i < parameter_count(primitive); ++i)
            sum += shape_parameter(gradient.model.bodies[b].shape[p], primitive.kind, i) * x[next++];
        }
      }
      return sum;
    };
    add(std::move(group));
  }

  void add_shape_poses() {
    InputGroup group{"shape poses", {}, {}, {}, {}};
    for (std::size_t b = 0; b < bodies().size(); ++b) {
      for (std::size_t p = 0; p < bodies()[b].shape.primitives.size(); ++p) {
        const double length = lengths_[b];
        group.scale.insert(group.scale.end(), {1, 1, 1, length, length, length});
      }
    }
    group.move = [](RolloutInputs& inputs, std::span<const double> x) {
      move_shapes(inputs.model, x, [](Primitive& primitive, std::span<const double> dx) {
        primitive.X_BP = retract<double>(primitive.X_BP, six(dx, 0));
        return std::size_t{6};
      });
    };
    group.derivative = [](const Gradient& gradient, std::span<const double> x) {
      double sum = 0.0;
      std::size_t next = 0;
      for (const BodyGradient& body : gradient.model.bodies) {
        for (const PrimitiveGradient& primitive : body.shape) sum += primitive.pose.dot(six(x, next++));
      }
      return sum;
    };
    add(std::move(group));
  }

  void add_pairs() {
    const auto& pairs = nominal_.model.pair_overrides;
    for (const MaterialParameter& parameter : k_material_parameters) {
      std::vector<Scalar> scalars;
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        const double value = pairs[p].*parameter.of_pair;
        if (!pairs[p].collide || std::isnan(value)) continue;
        const double scale = material_scale(parameter, value, heaviest_);
        if (scale == 0.0) continue;
        scalars.push_back(
            {scale,
             [&parameter, p](Model& model, double x) {
               parameter.move(model.pair_overrides[p].*parameter.of_pair, x);
             },
             [&parameter, p](const ModelGradient& gradient) { return gradient.pairs[p].*parameter.slot; }});
      }
      add_scalars("pair " + name_of_offset(parameter), scalars);
    }
  }

  [[nodiscard]] JointScales joint_scales() const {
    return {nominal_.model, lengths_, heaviest_, g_, config_.h, steps_};
  }

  void add_joint_frames() {
    InputGroup group{"joint frames", {}, {}, {}, {}};
    for (const Joint& joint : nominal_.model.joints) {
      const double length = joint_scales().length(joint);
      for (int side = 0; side < 2; ++side)
        group.scale.insert(group.scale.end(), {1, 1, 1, length, length, length});
    }
    group.move = [](RolloutInputs& inputs, std::span<const double> x) {
      std::size_t next = 0;
      for (Joint& joint : inputs.model.joints) {
        joint.X_AJ = retract<double>(joint.X_AJ, six(x, next++));
        joint.X_BJ = retract<double>(joint.X_BJ, six(x, next++));
      }
    };
    group.derivative = [](const Gradient& gradient, std::span<const double> x) {
      double sum = 0.0;
      std::size_t next = 0;
      for (const JointGradient& joint : gradient.model.joints) {
        sum += joint.X_AJ.dot(six(x, next++));
        sum += joint.X_BJ.dot(six(x, next++));
      }
      return sum;
    };
    add(std::move(group));
  }

  /// Of all joints or couplings that have the number of a parameter.
  template <typename Owner>
  void add_numbers(const JointParameter& parameter, const std::string& prefix,
                   std::vector<Owner> Model::*list, std::vector<JointGradient> ModelGradient::*bars,
                   double& (*JointParameter::*value)(Owner& owner)) {
    const JointScales scales = joint_scales();
    std::vector<Scalar> scalars;
    for (std::size_t i = 0; i < (nominal_.model.*list).size(); ++i) {
      const double scale = scales.number(parameter, (nominal_.model.*list)[i]);
      if (!std::isfinite(scale) || !(scale > 0.0)) continue;
      scalars.push_back({scale,
                         [&parameter, list, value, i](Model& model, double x) {
                           (parameter.*value)((model.*list)[i]) += x;
                         },
                         [&parameter, bars, i](const ModelGradient& gradient) {
                           return parameter.slot(for_reading((gradient.*bars)[i]));
                         }});
    }
    const bool is_of_motor = parameter.owner == ParameterOwner::motor;
    add_scalars(prefix + (is_of_motor ? "motor " : "") + words_of_key(parameter), scalars);
  }

  void add_joint_numbers() {
    for (const JointParameter& parameter : joint_parameters()) {
      const std::string of_joints = parameter.owner == ParameterOwner::motor ? "" : "joint ";
      add_numbers(parameter, of_joints, &Model::joints, &ModelGradient::joints, &JointParameter::of_joint);
      add_numbers(parameter, "coupling ", &Model::couplings, &ModelGradient::couplings,
                  &JointParameter::of_coupling);
    }
  }

  const RolloutInputs& nominal_;
  StepConfig config_;
  double g_;
  int steps_;
  double heaviest_ = 0.0;
  std::vector<double> lengths_;
  std::vector<std::size_t> moving_;
  std::vector<InputGroup> groups_;
};

/// What refuses an offset; empty if nothing does.
std::string refusal_of(const InputGroup& group, std::span<const double> x) {
  if (!group.require_valid) return {};
  try {
    group.require_valid(x);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

std::vector<double> scaled(std::span<const double> x, double factor) {
  std::vector<double> result(x.begin(), x.end());
  for (double& xi : result) xi *= factor;
  return result;
}

/// How far a direction can be followed, at most as far as differences need: by one of their steps, or 0.
struct Room {
  double step = 0.0;
  std::string refusal;  ///< of the largest step; empty if none
};

Room room_along(const InputGroup& group, std::span<const double> x, double sign) {
  constexpr double k_least = 1e-12;
  Room room;
  for (double h = k_largest_difference_step; h > k_least; h *= k_difference_step_ratio) {
    const std::string refusal = refusal_of(group, scaled(x, sign * h));
    if (refusal.empty()) {
      room.step = h;
      return room;
    }
    if (room.refusal.empty()) room.refusal = refusal;
  }
  return room;
}

}  // namespace

InputGroups input_groups(const RolloutInputs& nominal, const Stepper& stepper, int steps) {
  return GroupBuilder(nominal, stepper, steps).result();
}

std::vector<StateComponent> state_components(const Model& model, const InputGroups& inputs) {
  constexpr const char* k_names[2][6] = {
      {"rotation about x", "rotation about y", "rotation about z", "x", "y", "z"},
      {"angular velocity about x", "angular velocity about y", "angular velocity about z", "velocity along x",
       "velocity along y", "velocity along z"}};
  const auto index_of = [&](std::string_view name) {
    const auto at = std::find_if(inputs.groups.begin(), inputs.groups.end(),
                                 [&](const InputGroup& group) { return group.name == name; });
    return static_cast<std::size_t>(at - inputs.groups.begin());
  };
  std::vector<StateComponent> components;
  if (inputs.moving.empty()) return components;
  const std::size_t groups[2] = {index_of(k_pose_group), index_of(k_twist_group)};
  for (std::size_t i = 0; i < inputs.moving.size(); ++i) {
    const std::size_t body = inputs.moving[i],
                      firsts[2] = {6 * body, 6 * i};  // poses of all, twists of moving
    for (std::size_t half = 0; half < 2; ++half) {
      for (std::size_t k = 0; k < 6; ++k) {
        components.push_back({groups[half], firsts[half] + k,
                              fmt::format("{}, {}", model.bodies[body].name, k_names[half][k])});
      }
    }
  }
  return components;
}

BoundedDirection within_bounds(const InputGroup& group, std::vector<double> x) {
  // Differences with fewer than the six smaller ones of their nine steps would lose digits.
  const double enough = k_largest_difference_step * std::pow(k_difference_step_ratio, 3);
  const Room forward = room_along(group, x, 1.0), backward = room_along(group, x, -1.0);
  if (forward.step >= enough && backward.step >= enough) return {std::move(x), DifferenceSide::both, {}};

  BoundedDirection inwards{std::vector<double>(x.size(), 0.0), DifferenceSide::forward, {}};
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<double> alone(x.size(), 0.0);
    alone[i] = x[i];
    const Room up = room_along(group, alone, 1.0), down = room_along(group, alone, -1.0);
    const double sign = up.step >= std::min(enough, down.step) ? 1.0 : -1.0;
    const double room = sign > 0.0 ? up.step : down.step;
    inwards.x[i] = sign * x[i] * std::min(1.0, room / enough);
    if (inwards.bound.empty() && std::min(up.step, down.step) < enough)
      inwards.bound = up.step < down.step ? up.refusal : down.refusal;
  }
  if (inwards.bound.empty()) inwards.bound = backward.step < enough ? backward.refusal : forward.refusal;
  const double together = room_along(group, inwards.x, 1.0).step;
  if (together > 0.0 && together < enough) inwards.x = scaled(inwards.x, together / enough);
  return inwards;
}

}  // namespace abut
