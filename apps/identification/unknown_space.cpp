#include "apps/identification/unknown_space.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/control.h"
#include "engine/lie.h"

namespace abut {
namespace {

using VariableKind = Variable::Kind;

Quat<double> quaternion_in(const Eigen::VectorXd& x, int begin) {
  return {x[begin], x[begin + 1], x[begin + 2], x[begin + 3]};
}

void put_quaternion(const Quat<double>& q, int begin, Eigen::VectorXd& x) {
  x.segment<4>(begin) << q.w(), q.x(), q.y(), q.z();
}

/// Turns a body about the origin of its asset's frame.
void set_orientation(const Quat<double>& q, const Body& body, Pose<double>& X_WB) {
  const Vec3<double> p_WA = X_WB * body.p_BA;
  X_WB.q = q.normalized();
  X_WB.p = p_WA - X_WB.q * body.p_BA;
}

/// A pose of the body where its measured poses say it was at a time, and the twist between them; nothing
/// unless there are two.
bool measured_state(const MeasuredMotion& motion, int body_index, const Body& body, double time,
                    Pose<double>& X_WB, Vec6<double>& V_WB) {
  const MeasuredPose* poses[2] = {nullptr, nullptr};
  double times[2] = {0.0, 0.0};
  for (const Measurement& measurement : motion.measurements) {
    const auto* pose = std::get_if<MeasuredPose>(&measurement.what);
    if (pose == nullptr || pose->body != body_index || !pose->q_WA || pose->components().size() < 3) continue;
    const bool is_first_pair = poses[0] == nullptr || poses[1] == nullptr;
    if (!is_first_pair && times[1] >= time) break;
    const double last = poses[1] != nullptr ? times[1] : times[0];
    if (poses[0] != nullptr && measurement.time <= last) continue;  // two at a time say nothing of a twist
    if (poses[1] != nullptr) {
      poses[0] = poses[1];
      times[0] = times[1];
    }
    if (poses[0] == nullptr) {
      poses[0] = pose;
      times[0] = measurement.time;
    } else {
      poses[1] = pose;
      times[1] = measurement.time;
    }
  }
  if (poses[1] == nullptr) return false;
  const auto body_pose = [&](const MeasuredPose& pose) {
    return Pose<double>{*pose.q_WA, pose.p_WA - *pose.q_WA * body.p_BA};
  };
  const double duration = times[1] - times[0];
  const Pose<double> earlier = body_pose(*poses[0]), later = body_pose(*poses[1]);
  V_WB = difference(later, earlier) / duration;
  X_WB = interpolate(earlier, later, (time - times[0]) / duration).X_WB;
  return true;
}

bool is_shape(const Unknown* unknown) {
  return unknown != nullptr && unknown->kind == Unknown::Kind::number && unknown->parameter.is_of_shape();
}

/// Throws std::invalid_argument unless the coordinates of each inertia can be recovered from it: an extent
/// that is lost in rounding beside the others has no derivative.
void require_recoverable_inertias(const std::vector<SceneParameter>& parameters,
                                  const std::vector<double>& values, const Scene& scene) {
  constexpr double k_tolerance = 1e-3;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const SceneParameter& parameter = parameters[i];
    if (parameter.kind != SceneParameter::Kind::inertia) continue;
    const bool is_recovered = std::abs(value_of(scene, parameter) - values[i]) <= k_tolerance;  // not if NaN
    require(is_recovered, fmt::format("'{}' = {}: extents of the inertia differ by more than rounding allows",
                                      parameter.name, values[i]));
  }
}

}  // namespace

UnknownSpace::UnknownSpace(const Experiment& experiment)
    : experiment_(experiment), prepared_(experiment.scene.model, experiment.scene.config.step) {
  const int motions = static_cast<int>(experiment.motions.size());
  for (int m = 0; m < motions; ++m) {
    const int steps = step_count(experiment, experiment.motions[at(m)]);
    const int parts = experiment.shooting.segments;
    for (int s = 0; s < parts; ++s) {
      const int first = s * steps / parts, end = (s + 1) * steps / parts;
      segments_.push_back({m, s, first, end - first});
    }
  }
  for (std::size_t u = 0; u < experiment.unknowns.size(); ++u) {
    const Unknown& unknown = experiment.unknowns[u];
    const int owners = unknown.in_each_motion ? motions : 1;
    const int pieces = unknown.kind == Unknown::Kind::control ? unknown.pieces : 1;
    for (int m = 0; m < owners; ++m) {
      for (int piece = 0; piece < pieces; ++piece) {
        Variable variable;
        variable.unknown = static_cast<int>(u);
        variable.motion = unknown.in_each_motion ? m : -1;
        variable.piece = piece;
        if (unknown.kind == Unknown::Kind::orientation) {
          variable.kind = VariableKind::orientation;
          variable.body = unknown.body;
          variable.size = 4;
          variable.tangent_size = 3;
        }
        add(variable);
      }
    }
  }
  const std::vector<Body>& bodies = experiment.scene.model.bodies;
  for (const Segment& segment : segments_) {
    if (segment.number == 0) continue;
    for (int b = 0; b < experiment.scene.model.body_count(); ++b) {
      if (bodies[at(b)].fixed) continue;
      Variable variable;
      variable.kind = VariableKind::position_and_twist;
      variable.motion = segment.motion;
      variable.segment = segment.number;
      variable.body = b;
      variable.size = 13;
      variable.tangent_size = 12;
      add(variable);
    }
  }
  lines_.resize(bodies.size());
  for (const Unknown& unknown : experiment.unknowns) {
    if (!is_shape(&unknown)) continue;
    auto& lines = lines_[at(unknown.parameter.body_A)];
    if (!lines) lines = contact_point_lines(bodies[at(unknown.parameter.body_A)]);
  }
  find_shared();
}

void UnknownSpace::find_shared() {
  std::vector<bool> differs(experiment_.scene.model.bodies.size());  // from one motion to another
  for (const MeasuredMotion& motion : experiment_.motions) {
    for (const auto& [parameter, value] : motion.settings) {
      if (parameter.is_of_shape()) differs[at(parameter.body_A)] = true;
    }
  }
  for (const Unknown& unknown : experiment_.unknowns) {
    if (is_shape(&unknown) && unknown.in_each_motion) differs[at(unknown.parameter.body_A)] = true;
  }
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    const Unknown* unknown = unknown_of(variables_[v]);
    if (is_shape(unknown) && !differs[at(unknown->parameter.body_A)]) shared_.push_back(static_cast<int>(v));
  }
}

void UnknownSpace::add(Variable variable) {
  variable.begin = size_;
  variable.tangent_begin = tangent_size_;
  size_ += variable.size;
  tangent_size_ += variable.tangent_size;
  for (int i = 0; i < variable.tangent_size; ++i)
    variable_of_entry_.push_back(static_cast<int>(variables_.size()));
  variables_.push_back(variable);
}

const Unknown* UnknownSpace::unknown_of(const Variable& variable) const {
  return variable.unknown < 0 ? nullptr : &experiment_.unknowns[at(variable.unknown)];
}

std::string UnknownSpace::name(int tangent_entry) const {
  const Variable& variable = variable_of(tangent_entry);
  const int component = tangent_entry - variable.tangent_begin;
  std::string name;
  if (const Unknown* unknown = unknown_of(variable)) {
    name = unknown->name;
    if (variable.kind == VariableKind::orientation) name += fmt::format(".{}", "xyz"[component]);
    if (unknown->pieces > 1) name += fmt::format(".{}", variable.piece);
  } else {
    static constexpr const char* k_components[] = {
        "rotation.x",         "rotation.y",        "rotation.z",         "position.x",
        "position.y",         "position.z",        "angular_velocity.x", "angular_velocity.y",
        "angular_velocity.z", "linear_velocity.x", "linear_velocity.y",  "linear_velocity.z"};
    name = fmt::format("segment {} of body.{}.{}", variable.segment,
                       experiment_.scene.model.bodies[at(variable.body)].name, k_components[component]);
  }
  if (variable.motion >= 0 && experiment_.motions.size() > 1)
    name += fmt::format(" ({})", experiment_.motions[at(variable.motion)].name);
  return name;
}

Eigen::VectorXd UnknownSpace::assemble(bool true_values) const {
  Eigen::VectorXd x = Eigen::VectorXd::Zero(size_);
  for (const Variable& variable : variables_) {
    const Unknown* unknown = unknown_of(variable);
    if (unknown == nullptr) continue;
    if (variable.kind == VariableKind::orientation) {
      const Quat<double>& guess = unknown->initial_orientation;
      put_quaternion(true_values ? unknown->true_orientation.value_or(guess) : guess, variable.begin, x);
      continue;
    }
    const double value = true_values ? unknown->truth.value_or(unknown->initial) : unknown->initial;
    x[variable.begin] = unknown->logarithmic ? std::log(value) : value;
  }
  guess_segment_starts(x);
  return x;
}

Eigen::VectorXd UnknownSpace::initial() const { return assemble(false); }

Eigen::VectorXd UnknownSpace::truth() const { return assemble(true); }

void UnknownSpace::guess_segment_starts(Eigen::VectorXd& x) const {
  if (experiment_.shooting.segments == 1) return;
  const double h = experiment_.scene.config.step.h;
  const std::optional<Prepared> prepared = prepare(x);
  for (std::size_t m = 0; m < experiment_.motions.size(); ++m) {
    const MeasuredMotion& motion = experiment_.motions[m];
    std::optional<Simulation> whole;
    try {
      whole = simulate(x, static_cast<int>(m), prepared);
    } catch (const std::invalid_argument&) {
      // a shape that cannot be, as the search will say
    }
    const std::vector<State> nowhere{experiment_.scene.initial};
    const std::vector<State>& states = whole ? whole->trajectory.states : nowhere;
    const Model& model = whole ? whole->simulator.model() : experiment_.scene.model;
    for (const Segment& segment : segments_) {
      if (segment.motion != static_cast<int>(m) || segment.number == 0) continue;
      const double time = experiment_.scene.initial.time + segment.first_step * h;
      for (const int v : start_variables(segment.motion, segment.number)) {
        const Variable& variable = variables_[at(v)];
        const State& state = states[std::min(at(segment.first_step), states.size() - 1)];
        Pose<double> X_WB = state.X_WB[at(variable.body)];
        Vec6<double> V_WB = state.V_WB[at(variable.body)];
        measured_state(motion, variable.body, model.bodies[at(variable.body)], time, X_WB, V_WB);
        put_quaternion(X_WB.q, variable.begin, x);
        x.segment<3>(variable.begin + 4) = X_WB.p;
        x.segment<6>(variable.begin + 7) = V_WB;
      }
    }
  }
}

Eigen::VectorXd UnknownSpace::plus(const Eigen::VectorXd& x, const Eigen::VectorXd& tangent) const {
  Eigen::VectorXd y = x;
  for (const Variable& variable : variables_) {
    if (variable.kind == VariableKind::number) {
      y[variable.begin] += tangent[variable.tangent_begin];
      continue;
    }
    const Vec3<double> turn = tangent.segment<3>(variable.tangent_begin);
    const Quat<double> q = exp_quaternion(turn) * quaternion_in(x, variable.begin);
    put_quaternion(q.normalized(), variable.begin, y);
    const int rest = variable.size - 4;
    y.segment(variable.begin + 4, rest) += tangent.segment(variable.tangent_begin + 3, rest);
  }
  return y;
}

Eigen::VectorXd UnknownSpace::minus(const Eigen::VectorXd& y, const Eigen::VectorXd& x) const {
  Eigen::VectorXd tangent(tangent_size_);
  for (const Variable& variable : variables_) {
    if (variable.kind == VariableKind::number) {
      tangent[variable.tangent_begin] = y[variable.begin] - x[variable.begin];
      continue;
    }
    const Quat<double> turn = quaternion_in(y, variable.begin) * quaternion_in(x, variable.begin).conjugate();
    tangent.segment<3>(variable.tangent_begin) = log_quaternion(turn);
    const int rest = variable.size - 4;
    tangent.segment(variable.tangent_begin + 3, rest) =
        y.segment(variable.begin + 4, rest) - x.segment(variable.begin + 4, rest);
  }
  return tangent;
}

std::pair<double, double> UnknownSpace::bounds(const Variable& variable) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Unknown* unknown = unknown_of(variable);
  if (unknown == nullptr || variable.kind != VariableKind::number) return {-infinity, infinity};
  double lower = unknown->lower, upper = unknown->upper;
  if (unknown->kind == Unknown::Kind::number) {
    const NumberRange& range = unknown->parameter.range;
    const double inside = 1e-9 * std::max(std::abs(unknown->initial), 1e-300);
    const bool excludes_lower = range.lower_excluded || vanishes_at_zero(unknown->parameter.kind);
    lower = std::max(lower, excludes_lower ? range.lower + inside : range.lower);
    upper = std::min(upper, range.upper_excluded ? range.upper - inside : range.upper);
  }
  if (!unknown->logarithmic) return {lower, upper};
  return {lower > 0.0 ? std::log(lower) : -infinity, std::log(upper)};
}

double UnknownSpace::value(const Variable& variable, double x) const {
  const Unknown* unknown = unknown_of(variable);
  return unknown != nullptr && unknown->logarithmic ? std::exp(x) : x;
}

double UnknownSpace::slope(int tangent_entry, const Eigen::VectorXd& x) const {
  const Variable& variable = variable_of(tangent_entry);
  const Unknown* unknown = unknown_of(variable);
  return unknown != nullptr && unknown->logarithmic ? std::exp(x[variable.begin]) : 1.0;
}

std::vector<int> UnknownSpace::start_variables(int motion, int segment) const {
  std::vector<int> found;
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    const Variable& variable = variables_[v];
    if (variable.kind == VariableKind::position_and_twist && variable.motion == motion &&
        variable.segment == segment)
      found.push_back(static_cast<int>(v));
  }
  return found;
}

std::optional<UnknownSpace::Prepared> UnknownSpace::prepare(const Eigen::VectorXd& x) const {
  if (shared_.empty() || segments_.size() < 2) return std::nullopt;
  Scene scene = experiment_.scene;
  std::vector<SceneParameter> parameters;
  std::vector<double> values;
  for (const int v : shared_) {
    const Variable& variable = variables_[at(v)];
    parameters.push_back(unknown_of(variable)->parameter);
    values.push_back(value(variable, x[variable.begin]));
  }
  try {
    set_parameters(parameters, values, scene);
    Simulator simulator(scene.model, scene.config.step, &prepared_);
    return Prepared{std::move(scene), std::move(simulator)};
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

UnknownSpace::Inputs UnknownSpace::inputs(const Eigen::VectorXd& x, const Segment& segment,
                                          const std::optional<Prepared>& prepared) const {
  Inputs inputs{prepared ? prepared->scene : experiment_.scene, {}};
  Scene& scene = inputs.scene;
  std::vector<SceneParameter> parameters;
  std::vector<double> values;
  for (const auto& [parameter, value] : experiment_.motions[at(segment.motion)].settings) {
    parameters.push_back(parameter);
    values.push_back(value);
  }
  const auto is_ours = [&](const Variable& variable) {
    return variable.motion < 0 || variable.motion == segment.motion;
  };
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    const Variable& variable = variables_[v];
    const Unknown* unknown = unknown_of(variable);
    if (unknown == nullptr || unknown->kind != Unknown::Kind::number || !is_ours(variable)) continue;
    const bool is_set = prepared && std::binary_search(shared_.begin(), shared_.end(), static_cast<int>(v));
    if (is_set) continue;
    parameters.push_back(unknown->parameter);
    values.push_back(value(variable, x[variable.begin]));
  }
  set_parameters(parameters, values, scene);
  require_recoverable_inertias(parameters, values, scene);
  const std::vector<Body>& bodies = scene.model.bodies;
  const double h = scene.config.step.h;
  const double start_time = scene.initial.time + segment.first_step * h;
  if (!scene.pushes.empty() || !scene.commands.empty()) {
    for (int k = 0; k < segment.step_count; ++k)
      inputs.controls.push_back(control_at(scene, start_time + k * h, h));
  }
  const Control nothing = zero_control(scene.model);
  for (const Variable& variable : variables_) {
    if (!is_ours(variable)) continue;
    if (variable.kind == VariableKind::orientation) {
      set_orientation(quaternion_in(x, variable.begin), bodies[at(variable.body)],
                      scene.initial.X_WB[at(variable.body)]);
    }
    const Unknown* unknown = unknown_of(variable);
    if (unknown == nullptr || unknown->kind != Unknown::Kind::control) continue;
    inputs.controls.resize(at(segment.step_count));
    for (int k = 0; k < segment.step_count; ++k) {
      inputs.controls[at(k)] += nothing;
      if (acts(variable, segment, k)) number_in(inputs.controls[at(k)], *unknown) += x[variable.begin];
    }
  }
  if (segment.number == 0) return inputs;
  scene.initial.time = start_time;
  for (const int v : start_variables(segment.motion, segment.number)) {
    const Variable& variable = variables_[at(v)];
    const Quat<double> q = quaternion_in(x, variable.begin);
    scene.initial.X_WB[at(variable.body)] = {q.normalized(), x.segment<3>(variable.begin + 4)};
    scene.initial.V_WB[at(variable.body)] = x.segment<6>(variable.begin + 7);
  }
  return inputs;
}

UnknownSpace::Simulation UnknownSpace::simulate(const Eigen::VectorXd& x, int motion,
                                                const std::optional<Prepared>& prepared) const {
  const Segment whole{motion, 0, 0, step_count(experiment_, experiment_.motions[at(motion)])};
  Inputs start = inputs(x, whole, prepared);
  Simulator simulator = this->simulator(start, prepared);
  Trajectory trajectory;
  trajectory.states = {start.scene.initial};
  if (whole.step_count > 0)
    trajectory = simulator.rollout(start.scene.initial, whole.step_count, start.controls);
  return {std::move(start), std::move(simulator), std::move(trajectory)};
}

bool UnknownSpace::acts(const Variable& variable, const Segment& segment, int step) const {
  const Unknown& unknown = *unknown_of(variable);
  const double h = experiment_.scene.config.step.h;
  const double middle = experiment_.scene.initial.time + (segment.first_step + step + 0.5) * h;
  if (middle < unknown.from || middle >= unknown.until) return false;
  const double share = (middle - unknown.from) / (unknown.until - unknown.from);
  return std::min(static_cast<int>(share * unknown.pieces), unknown.pieces - 1) == variable.piece;
}

bool UnknownSpace::concerns(int tangent_entry, const Segment& segment) const {
  const Variable& variable = variable_of(tangent_entry);
  if (variable.motion >= 0 && variable.motion != segment.motion) return false;
  if (variable.kind == VariableKind::position_and_twist) return variable.segment == segment.number;
  if (segment.number > 0 && is_initial(tangent_entry)) return false;
  return true;
}

}  // namespace abut
