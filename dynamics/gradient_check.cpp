#include "dynamics/gradient_check.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <numbers>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dynamics/shape_change.h"
#include "engine/check.h"
#include "engine/law_settings.h"
#include "engine/random.h"

namespace abut {

void validate(const GradientCheckConfig& config) {
  std::string wrong;
  if (config.steps < 1) wrong += fmt::format("; steps = {}, allowed: >= 1", config.steps);
  if (config.samples < 1) wrong += fmt::format("; samples = {}, allowed: >= 1", config.samples);
  require(wrong.empty(), "gradient check" + wrong);
}

namespace {

// Groups of inputs ------------------------------------------------------------------------------------------

/// Everything a rollout depends on.
struct Inputs {
  Model model;
  State initial;
  Controls controls;
};

/// A group of inputs, as offsets x from the nominal ones; x = scale o d for a direction d of order 1.
struct InputGroup {
  std::string name;
  std::vector<double> scale;
  std::function<void(Inputs& inputs, std::span<const double> x)> move;
  std::function<double(const Gradient& gradient, std::span<const double> x)> derivative;  ///< dL along x
};

/// One number of a model: how it moves, and the derivative along that.
struct Scalar {
  double scale;
  std::function<void(Model& model, double x)> move;
  std::function<double(const ModelGradient& gradient)> bar;
};

/// Offset x of a compliance, written as the stiffness that a model holds.
void move_compliance(double& stiffness, double x) { stiffness = 1.0 / (1.0 / stiffness + x); }

Vec6<double> six(std::span<const double> x, std::size_t i) {
  Vec6<double> v;
  for (std::size_t k = 0; k < 6; ++k) v[static_cast<Eigen::Index>(k)] = x[6 * i + k];
  return v;
}

class InputGroups {
 public:
  InputGroups(const Inputs& nominal, const Stepper& stepper, int steps)
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
    add_mass();
    add_inertia();
    add_density();
    add_friction();
    add_compliance();
    add_dissipation_time();
    add_restitution();
    add_damping();
    add_external_wrench();
    add_gravity();
    add_shape_parameters();
    add_shape_poses();
    add_pairs();
    add_joint_frames();
    add_joint_numbers();
  }

  [[nodiscard]] const std::vector<InputGroup>& groups() const { return groups_; }
  [[nodiscard]] const std::vector<std::size_t>& moving() const { return moving_; }
  [[nodiscard]] double length(std::size_t body) const { return lengths_[body]; }
  [[nodiscard]] double speed(std::size_t body) const { return std::sqrt(g_ * lengths_[body]); }

 private:
  [[nodiscard]] const std::vector<Body>& bodies() const { return nominal_.model.bodies; }
  [[nodiscard]] double weight(std::size_t body) const { return bodies()[body].mass * g_; }

  void add(InputGroup group) {
    if (!group.scale.empty()) groups_.push_back(std::move(group));
  }

  void add_scalars(std::string name, std::vector<Scalar> scalars) {
    InputGroup group;
    group.name = std::move(name);
    for (const Scalar& scalar : scalars) group.scale.push_back(scalar.scale);
    group.move = [scalars](Inputs& inputs, std::span<const double> x) {
      for (std::size_t i = 0; i < scalars.size(); ++i) scalars[i].move(inputs.model, x[i]);
    };
    group.derivative = [scalars](const Gradient& gradient, std::span<const double> x) {
      double sum = 0.0;
      for (std::size_t i = 0; i < scalars.size(); ++i) sum += scalars[i].bar(gradient.model) * x[i];
      return sum;
    };
    add(std::move(group));
  }

  /// A number of every body (or every moving one): scale(body), move(body, x), bar(body's gradient). A scale
  /// of 0 leaves the body out.
  enum class Of { all, moving };
  template <typename Scale, typename Move, typename Bar>
  void add_body_scalars(std::string name, Of of, Scale scale, Move move, Bar bar) {
    std::vector<Scalar> scalars;
    for (std::size_t b = 0; b < bodies().size(); ++b) {
      if (of == Of::moving && bodies()[b].fixed) continue;
      const double s = scale(bodies()[b]);
      if (s == 0.0) continue;
      scalars.push_back({s, [b, move](Model& model, double x) { move(model.bodies[b], x); },
                         [b, bar](const ModelGradient& gradient) { return bar(gradient.bodies[b]); }});
    }
    add_scalars(std::move(name), std::move(scalars));
  }

  void add_initial_poses() {  // those of fixed bodies, too: a floor may be tilted
    InputGroup group{"initial pose", {}, {}, {}};
    for (const double length : lengths_)
      group.scale.insert(group.scale.end(), {1, 1, 1, length, length, length});
    group.move = [](Inputs& inputs, std::span<const double> x) {
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
    InputGroup group{"initial twist", {}, {}, {}};
    std::vector<std::size_t> moving = moving_;  // and what is driven
    for (std::size_t b = 0; b < bodies().size(); ++b) {
      if (bodies()[b].fixed && !nominal_.initial.V_WB[b].isZero(0.0)) moving.push_back(b);
    }
    for (const std::size_t b : moving) {
      const double v = speed(b), w = v / length(b);
      group.scale.insert(group.scale.end(), {w, w, w, v, v, v});
    }
    group.move = [moving](Inputs& inputs, std::span<const double> x) {
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
    InputGroup group{"controls", {}, {}, {}};
    for (int k = 0; k < steps_; ++k) {
      for (const std::size_t b : moving_) {
        const double force = weight(b), torque = force * length(b);
        group.scale.insert(group.scale.end(), {torque, torque, torque, force, force, force});
      }
    }
    const auto steps = static_cast<std::size_t>(steps_);
    group.move = [moving = moving_, steps](Inputs& inputs, std::span<const double> x) {
      inputs.controls.assign(steps, Control(inputs.model.bodies.size(), Vec6<double>::Zero()));
      for (std::size_t k = 0; k < steps; ++k) {
        for (std::size_t i = 0; i < moving.size(); ++i)
          inputs.controls[k][moving[i]] = six(x, k * moving.size() + i);
      }
    };
    group.derivative = [moving = moving_, steps](const Gradient& gradient, std::span<const double> x) {
      double sum = 0.0;
      for (std::size_t k = 0; k < steps; ++k) {
        for (std::size_t i = 0; i < moving.size(); ++i) {
          sum += gradient.controls[k][moving[i]].dot(six(x, k * moving.size() + i));
        }
      }
      return sum;
    };
    add(std::move(group));
  }

  void add_mass() {
    add_body_scalars(
        "mass", Of::moving, [](const Body& body) { return body.mass; },
        [](Body& body, double x) { body.mass += x; }, [](const BodyGradient& bar) { return bar.mass; });
  }

  void add_inertia() {  // I = L L^T moves to L (1 + S) L^T with S symmetric and small: positive definite
    constexpr double k_scale = 0.3;
    InputGroup group{"inertia", std::vector<double>(6 * moving_.size(), k_scale), {}, {}};
    const auto change = [](const Body& body, const Vec6<double>& x) {
      Mat3<double> S;
      S << x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2];
      const Mat3<double> L = body.inertia.llt().matrixL();
      const Mat3<double> dI = L * S * L.transpose();
      return Mat3<double>(0.5 * (dI + dI.transpose()));
    };
    group.move = [moving = moving_, change](Inputs& inputs, std::span<const double> x) {
      for (std::size_t i = 0; i < moving.size(); ++i) {
        Body& body = inputs.model.bodies[moving[i]];
        body.inertia += change(body, six(x, i));
      }
    };
    group.derivative = [this, change](const Gradient& gradient, std::span<const double> x) {
      double sum = 0.0;
      for (std::size_t i = 0; i < moving_.size(); ++i) {
        sum += gradient.model.bodies[moving_[i]]
                   .inertia.cwiseProduct(change(bodies()[moving_[i]], six(x, i)))
                   .sum();
      }
      return sum;
    };
    add(std::move(group));
  }

  void add_density() {  // mass and inertia in proportion
    add_body_scalars(
        "density", Of::moving,
        [](const Body& body) { return body.volume > 0.0 ? body.mass / body.volume : 0.0; },
        [](Body& body, double x) {
          const double factor = 1.0 + x * body.volume / body.mass;
          body.mass *= factor;
          body.inertia *= factor;
        },
        [](const BodyGradient& bar) { return bar.density; });
  }

  void add_friction() {
    add_body_scalars(
        "friction", Of::all, [](const Body& body) { return body.material.friction; },
        [](Body& body, double x) { body.material.friction += x; },
        [](const BodyGradient& bar) { return bar.friction; });
  }

  [[nodiscard]] bool honours(std::string_view key) const {
    return setting_use(key, config_.law) == SettingUse::honoured;
  }

  /// Scale of 1/k [m/N]: the compliance itself; where rigid, that which the smooth Coulomb law adds to every
  /// contact, so that a small step below zero still leaves the contact compliant. The penalty law has none to
  /// change there, and laws that ignore stiffness refuse one.
  [[nodiscard]] double compliance_scale(double stiffness, double mass) const {
    if (!honours("stiffness")) return 0.0;
    if (std::isfinite(stiffness)) return 1.0 / stiffness;
    if (config_.law == ContactLaw::penalty || mass == 0.0) return 0.0;
    const double beta = config_.near_rigid_factor / (2.0 * std::numbers::pi);
    return beta * beta / mass * config_.h * config_.h;
  }

  void add_compliance() {
    add_body_scalars(
        "compliance", Of::all,
        [&](const Body& body) {
          return compliance_scale(body.material.stiffness, body.fixed ? heaviest_ : body.mass);
        },
        [](Body& body, double x) { move_compliance(body.material.stiffness, x); },
        [](const BodyGradient& bar) { return bar.compliance; });
  }

  void add_dissipation_time() {  // a time of 0 is left out: below it is the default
    add_body_scalars(
        "dissipation time", Of::all, [](const Body& body) { return body.material.dissipation_time; },
        [](Body& body, double x) { body.material.dissipation_time += x; },
        [](const BodyGradient& bar) { return bar.dissipation_time; });
  }

  void add_restitution() {  // at 0 and 1 there is only one side
    add_body_scalars(
        "restitution", Of::all,
        [](const Body& body) {
          const double e = body.material.restitution;
          return std::min(e, 1.0 - e);
        },
        [](Body& body, double x) { body.material.restitution += x; },
        [](const BodyGradient& bar) { return bar.restitution; });
  }

  void add_damping() {
    const auto rate = [&](const Body&) { return 1.0 / (steps_ * config_.h); };
    add_body_scalars(
        "linear damping", Of::moving, rate, [](Body& body, double x) { body.linear_damping += x; },
        [](const BodyGradient& bar) { return bar.linear_damping; });
    add_body_scalars(
        "angular damping", Of::moving, rate, [](Body& body, double x) { body.angular_damping += x; },
        [](const BodyGradient& bar) { return bar.angular_damping; });
  }

  void add_external_wrench() {
    std::vector<Scalar> scalars;
    for (const std::size_t b : moving_) {
      for (Eigen::Index i = 0; i < 6; ++i) {
        scalars.push_back({i < 3 ? weight(b) * length(b) : weight(b),
                           [b, i](Model& model, double x) { model.bodies[b].external_wrench[i] += x; },
                           [b, i](const ModelGradient& bar) { return bar.bodies[b].external_wrench[i]; }});
      }
    }
    add_scalars("external wrench", std::move(scalars));
  }

  void add_gravity() {
    std::vector<Scalar> scalars;
    for (Eigen::Index i = 0; i < 3; ++i) {
      scalars.push_back({g_, [i](Model& model, double x) { model.gravity[i] += x; },
                         [i](const ModelGradient& bar) { return bar.gravity[i]; }});
    }
    add_scalars("gravity", std::move(scalars));
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
    if (primitive.kind == PrimitiveKind::oriented_point_cloud) return primitive.parameters[0];
    if (!is_length(primitive.kind, i) && i > 5) return 1.0;  // an angle
    return shape_parameter(primitive, primitive.kind, i);
  }

  void add_shape_parameters() {
    InputGroup group{"shape parameters", {}, {}, {}};
    for (const Body& body : bodies()) {
      for (const Primitive& primitive : body.shape.primitives) {
        for (std::size_t i = 0; i < parameter_count(primitive); ++i) {
          group.scale.push_back(parameter_scale(primitive, i));
        }
      }
    }
    group.move = [](Inputs& inputs, std::span<const double> x) {
      move_shapes(inputs.model, x, [](Primitive& primitive, std::span<const double> dx) {
        const std::size_t count = parameter_count(primitive);
        for (std::size_t i = 0; i < count; ++i) shape_parameter(primitive, primitive.kind, i) += dx[i];
        return count;
      });
    };
    group.derivative = [this](const Gradient& gradient, std::span<const double> x) {
      double sum = 0.0;
      std::size_t next = 0;
      for (std::size_t b = 0; b < bodies().size(); ++b) {
        for (std::size_t p = 0; p < bodies()[b].shape.primitives.size(); ++p) {
          const Primitive& primitive = bodies()[b].shape.primitives[p];
          for (std::size_t i = 0; i < parameter_count(primitive); ++i)
            sum += shape_parameter(gradient.model.bodies[b].shape[p], primitive.kind, i) * x[next++];
        }
      }
      return sum;
    };
    add(std::move(group));
  }

  void add_shape_poses() {
    InputGroup group{"shape poses", {}, {}, {}};
    for (std::size_t b = 0; b < bodies().size(); ++b) {
      for (std::size_t p = 0; p < bodies()[b].shape.primitives.size(); ++p) {
        const double length = lengths_[b];
        group.scale.insert(group.scale.end(), {1, 1, 1, length, length, length});
      }
    }
    group.move = [](Inputs& inputs, std::span<const double> x) {
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
    std::vector<Scalar> frictions, compliances, times, restitutions;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const PairOverride& pair = pairs[p];
      if (!pair.collide) continue;
      if (pair.friction > 0.0) {
        frictions.push_back({pair.friction,
                             [p](Model& model, double x) { model.pair_overrides[p].friction += x; },
                             [p](const ModelGradient& bar) { return bar.pairs[p].friction; }});
      }
      const double compliance =
          std::isnan(pair.stiffness) ? 0.0 : compliance_scale(pair.stiffness, heaviest_);
      if (compliance > 0.0) {
        compliances.push_back(
            {compliance,
             [p](Model& model, double x) { move_compliance(model.pair_overrides[p].stiffness, x); },
             [p](const ModelGradient& bar) { return bar.pairs[p].compliance; }});
      }
      if (pair.dissipation_time > 0.0) {
        times.push_back({pair.dissipation_time,
                         [p](Model& model, double x) { model.pair_overrides[p].dissipation_time += x; },
                         [p](const ModelGradient& bar) { return bar.pairs[p].dissipation_time; }});
      }
      if (pair.restitution > 0.0 && pair.restitution < 1.0) {
        restitutions.push_back({std::min(pair.restitution, 1.0 - pair.restitution),
                                [p](Model& model, double x) { model.pair_overrides[p].restitution += x; },
                                [p](const ModelGradient& bar) { return bar.pairs[p].restitution; }});
      }
    }
    add_scalars("pair friction", std::move(frictions));
    add_scalars("pair compliance", std::move(compliances));
    add_scalars("pair dissipation time", std::move(times));
    add_scalars("pair restitution", std::move(restitutions));
  }

  [[nodiscard]] double joint_length_scale(const Joint& joint) const {
    const double length = lengths_[static_cast<std::size_t>(joint.body_B)];
    return joint.body_A < 0 ? length : std::min(length, lengths_[static_cast<std::size_t>(joint.body_A)]);
  }

  void add_joint_frames() {
    InputGroup group{"joint frames", {}, {}, {}};
    for (const Joint& joint : nominal_.model.joints) {
      const double length = joint_length_scale(joint);
      for (int side = 0; side < 2; ++side)
        group.scale.insert(group.scale.end(), {1, 1, 1, length, length, length});
    }
    group.move = [](Inputs& inputs, std::span<const double> x) {
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

  /// A number of every joint: scale(joint), number(joint), bar(joint's gradient). A scale that is not finite
  /// and positive leaves the joint out.
  template <typename Scale, typename Number, typename Bar>
  void add_joint_scalars(std::string name, Scale scale, Number number, Bar bar) {
    std::vector<Scalar> scalars;
    for (std::size_t j = 0; j < nominal_.model.joints.size(); ++j) {
      const double s = scale(nominal_.model.joints[j]);
      if (!std::isfinite(s) || !(s > 0.0)) continue;
      scalars.push_back({s, [j, number](Model& model, double x) { number(model.joints[j]) += x; },
                         [j, bar](const ModelGradient& gradient) { return bar(gradient.joints[j]); }});
    }
    add_scalars(std::move(name), std::move(scalars));
  }

  void add_joint_numbers() {
    const auto has_motor = [](const Joint& joint) { return joint.motor.kind != MotorKind::none; };
    const auto coordinate_scale = [&](const Joint& joint) {
      return joint.kind == JointKind::hinge ? 1.0 : joint_length_scale(joint);
    };
    add_joint_scalars(
        "joint length", [](const Joint& j) { return j.kind == JointKind::distance ? j.length : 0.0; },
        [](Joint& j) -> double& { return j.length; }, [](const JointGradient& bar) { return bar.length; });
    add_joint_scalars(
        "joint stiffness", [](const Joint& j) { return j.stiffness; },
        [](Joint& j) -> double& { return j.stiffness; },
        [](const JointGradient& bar) { return bar.stiffness; });
    add_joint_scalars(
        "joint angular stiffness", [](const Joint& j) { return j.angular_stiffness; },
        [](Joint& j) -> double& { return j.angular_stiffness; },
        [](const JointGradient& bar) { return bar.angular_stiffness; });
    add_joint_scalars(
        "joint dissipation time", [](const Joint& j) { return j.dissipation_time; },
        [](Joint& j) -> double& { return j.dissipation_time; },
        [](const JointGradient& bar) { return bar.dissipation_time; });
    add_joint_scalars(
        "joint lower", [=](const Joint& j) { return std::isfinite(j.lower) ? coordinate_scale(j) : 0.0; },
        [](Joint& j) -> double& { return j.lower; }, [](const JointGradient& bar) { return bar.lower; });
    add_joint_scalars(
        "joint upper", [=](const Joint& j) { return std::isfinite(j.upper) ? coordinate_scale(j) : 0.0; },
        [](Joint& j) -> double& { return j.upper; }, [](const JointGradient& bar) { return bar.upper; });
    add_joint_scalars(
        "motor target",
        [=, this](const Joint& j) {
          const double per_time = j.motor.kind == MotorKind::velocity ? 1.0 / (steps_ * config_.h) : 1.0;
          return has_motor(j) ? per_time * coordinate_scale(j) : 0.0;
        },
        [](Joint& j) -> double& { return j.motor.target; },
        [](const JointGradient& bar) { return bar.motor.target; });
    add_joint_scalars(
        "motor stiffness", [=](const Joint& j) { return has_motor(j) ? j.motor.stiffness : 0.0; },
        [](Joint& j) -> double& { return j.motor.stiffness; },
        [](const JointGradient& bar) { return bar.motor.stiffness; });
    add_joint_scalars(
        "motor damping", [=](const Joint& j) { return has_motor(j) ? j.motor.damping : 0.0; },
        [](Joint& j) -> double& { return j.motor.damping; },
        [](const JointGradient& bar) { return bar.motor.damping; });
    add_joint_scalars(
        "motor limit", [=](const Joint& j) { return has_motor(j) ? j.motor.limit : 0.0; },
        [](Joint& j) -> double& { return j.motor.limit; },
        [](const JointGradient& bar) { return bar.motor.limit; });
  }

  const Inputs& nominal_;
  StepConfig config_;
  double g_;
  int steps_;
  double heaviest_ = 0.0;
  std::vector<double> lengths_;
  std::vector<std::size_t> moving_;
  std::vector<InputGroup> groups_;
};

// Losses ----------------------------------------------------------------------------------------------------

/// L = sum over times k and moving bodies of a weight times [log(R R_nominal^-1); (p - p_nominal)/size;
/// twist/speed]. What is subtracted does not change the gradient, but keeps differences of L from losing
/// digits.
class RandomLoss {
 public:
  RandomLoss(const Trajectory& nominal, const InputGroups& inputs, Random& random) : nominal_(nominal) {
    const int steps = nominal.step_count();
    for (const int k : std::set<int>{steps, 2 * steps / 3, steps / 3}) {
      if (k == 0) continue;
      const double importance = k == steps ? 1.0 : 0.5;
      for (const std::size_t b : inputs.moving()) {
        Term term{k, b, {}, {}};
        const double v = inputs.speed(b), length = inputs.length(b);
        for (Eigen::Index i = 0; i < 6; ++i) {
          term.pose[i] = importance * random.uniform(-1.0, 1.0) / (i < 3 ? 1.0 : length);
          term.twist[i] = importance * random.uniform(-1.0, 1.0) / (i < 3 ? v / length : v);
        }
        terms_.push_back(term);
      }
    }
  }

  [[nodiscard]] double value(int k, const State& state) const {
    double sum = 0.0;
    for (const Term& term : terms_) {
      if (term.step != k) continue;
      const State& from = nominal_.states[static_cast<std::size_t>(k)];
      sum += term.pose.dot(difference<double>(state.X_WB[term.body], from.X_WB[term.body]));
      sum += term.twist.dot(state.V_WB[term.body] - from.V_WB[term.body]);
    }
    return sum;
  }

  /// At the nominal states, where the Jacobian of log is the identity.
  void add_gradient(int k, StateTangent& bar) const {
    for (const Term& term : terms_) {
      if (term.step != k) continue;
      bar.pose[term.body] += term.pose;
      bar.twist[term.body] += term.twist;
    }
  }

 private:
  struct Term {
    int step;
    std::size_t body;
    Vec6<double> pose, twist;
  };
  const Trajectory& nominal_;
  std::vector<Term> terms_;
};

// Samples ---------------------------------------------------------------------------------------------------

/// The loss after a rollout from other inputs; NaN if that fails.
double loss_of(const Inputs& inputs, const StepConfig& config, int steps, const RandomLoss& loss,
               bool& non_finite) {
  const Stepper stepper(inputs.model, config);
  double sum = 0.0;
  State end;
  const StepReport report = simulate(stepper, inputs.initial, steps, inputs.controls, end,
                                     [&](int k, const State& state, const StepReport&) {
                                       sum += loss.value(k + 1, state);
                                       return true;
                                     });
  non_finite = non_finite || report.status == StepStatus::non_finite;
  return report.status == StepStatus::ok ? sum : std::numeric_limits<double>::quiet_NaN();
}

GradientSample check_sample(const Inputs& nominal, const Stepper& stepper, const Trajectory& trajectory,
                            const InputGroups& inputs, std::size_t group_index, Random random,
                            const GradientFunction& gradient_function) {
  const RandomLoss loss(trajectory, inputs, random);
  const Gradient gradient = gradient_function(
      stepper, trajectory, [&](int k, const State&, StateTangent& bar) { loss.add_gradient(k, bar); });

  GradientSample sample;
  std::vector<double> direction;
  for (std::size_t g = 0; g < inputs.groups().size(); ++g) {
    const InputGroup& group = inputs.groups()[g];
    std::vector<double> x = group.scale;
    for (double& xi : x) xi *= random.uniform(-1.0, 1.0);
    const double derivative = group.derivative(gradient, x);
    if (!std::isfinite(derivative)) sample.non_finite = true;
    sample.largest = std::max(sample.largest, std::abs(derivative));
    if (g != group_index) continue;
    sample.group = group.name;
    sample.adjoint = derivative;
    direction = std::move(x);
  }

  const InputGroup& group = inputs.groups()[group_index];
  const auto loss_at = [&](double h) {
    std::vector<double> x = direction;
    for (double& xi : x) xi *= h;
    Inputs moved = nominal;
    group.move(moved, x);
    return loss_of(moved, stepper.config(), trajectory.step_count(), loss, sample.non_finite);
  };
  score_by_differences(loss_at, sample);
  return sample;
}

/// Calls work(0), ..., work(count - 1) on all cores; the first exception is passed on.
template <typename Work>
void in_parallel(int count, const Work& work) {
  std::atomic<int> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto run = [&] {
    for (int i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const int helpers =
        std::min(count, std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) - 1;
    for (int i = 0; i < helpers; ++i) threads.emplace_back(run);
    run();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace

GradientCheck check_gradient(const Model& model, const StepConfig& step_config, const State& initial,
                             const GradientCheckConfig& config, const GradientCheckProgress& progress,
                             const GradientFunction& gradient) {
  validate(config);
  Inputs nominal{model, initial, {}};
  StepConfig step = step_config;
  step.tolerance = std::min(step.tolerance, k_gradient_check_tolerance);
  {
    const Stepper defaults(model, step);
    step.acceleration_scale = defaults.acceleration_scale();
    for (Body& body : nominal.model.bodies) {
      double& time = body.material.dissipation_time;
      const bool is_honoured = setting_use("dissipation_time", step.law) == SettingUse::honoured;
      if (time < 0.0 && is_honoured) time = defaults.default_dissipation_time();
    }
    for (Joint& joint : nominal.model.joints) {
      if (joint.dissipation_time < 0.0)
        joint.dissipation_time = defaults.joint_settings().default_dissipation_time;
    }
  }
  const Stepper stepper(nominal.model, step);
  const Trajectory trajectory = rollout(stepper, nominal.initial, config.steps);
  GradientCheck check;
  if (!trajectory.ok()) {
    check.failed_step = trajectory.failed_step;
    check.failure = trajectory.failure;
    return check;
  }
  const InputGroups inputs(nominal, stepper, config.steps);
  Random seeds(config.seed);
  std::vector<Random> random;
  for (int i = 0; i < config.samples; ++i) random.emplace_back(seeds.bits());
  check.samples.resize(random.size());
  std::mutex mutex;
  int done = 0;
  in_parallel(config.samples, [&](int i) {
    const auto k = static_cast<std::size_t>(i);
    check.samples[k] =
        check_sample(nominal, stepper, trajectory, inputs, k % inputs.groups().size(), random[k], gradient);
    const std::scoped_lock lock(mutex);
    ++done;
    if (progress) progress(done, config.samples);
  });
  check.summary = summarize(check.samples);
  return check;
}

}  // namespace abut
