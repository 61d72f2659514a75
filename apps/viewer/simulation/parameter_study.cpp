#include "apps/viewer/simulation/parameter_study.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/abut/report.h"
#include "dynamics/parameters/scene_parameter_derivatives.h"
#include "dynamics/rollout/rollout_jvp.h"
#include "engine/check.h"

namespace abut::viewer {
namespace {

constexpr int k_curve_points = 16;  // a power of two

/// The scene of a gradient, begun where that begins.
Scene scene_of(const GradientRequest& request) {
  Scene scene = *request.model->scene;
  scene.initial = request.initial;
  return scene;
}

/// Of the smallest body that moves, or 1 m.
double typical_size(const Model& model) {
  double size = std::numeric_limits<double>::infinity();
  for (const Body& body : model.bodies) {
    if (!body.fixed) size = std::min(size, body.size);
  }
  return std::isfinite(size) ? size : 1.0;
}

/// Half the length of a slider: how far a hand would move the parameter.
double reach_of(const Scene& scene, const SceneParameter& parameter, double value) {
  const Body* const body = parameter.body_A >= 0 ? &scene.model.bodies[at(parameter.body_A)] : nullptr;
  const double size =
      body != nullptr && !body->fixed && std::isfinite(body->size) ? body->size : typical_size(scene.model);
  const double g = std::max(1e-3, scene.model.gravity.norm());
  switch (parameter.kind) {
    case ParameterKind::position:
    case ParameterKind::center_of_mass:
    case ParameterKind::primitive_position:
      return 0.5 * size;
    case ParameterKind::rotation_vector:
    case ParameterKind::primitive_rotation_vector:
      return 0.5;
    case ParameterKind::linear_velocity:
      return std::max(0.5 * std::abs(value), std::sqrt(g * size));
    case ParameterKind::angular_velocity:
      return std::max(0.5 * std::abs(value), std::sqrt(g / size));
    case ParameterKind::force:
      return std::max(0.5 * std::abs(value), body->mass * g);
    case ParameterKind::torque:
      return std::max(0.5 * std::abs(value), body->mass * g * size);
    case ParameterKind::friction:
      return std::max(0.5 * std::abs(value), 0.25);
    case ParameterKind::inertia:
      return 0.3;
    case ParameterKind::shape:
      return 0.2 * std::abs(value);
    default:
      return value != 0.0 ? 0.5 * std::abs(value) : 1.0;
  }
}

/// Simulates the steps of a request with other values; between steps it asks whether to stop.
SimulatedChange simulate_change(const GradientRequest& request, const std::vector<SceneParameter>& parameters,
                                const std::vector<double>& values, const std::stop_token& stop) {
  SimulatedChange change;
  try {
    Scene scene = scene_of(request);
    for (std::size_t i = 0; i < values.size(); ++i) require_allowed(parameters[i], values[i]);
    set_parameters(parameters, values, scene);
    const Simulator simulator(scene.model, scene.config.step, &request.model->simulator);
    std::vector<State> states{scene.initial};
    State last;
    const StepReport report =
        abut::simulate(simulator.stepper(), scene.initial, request.steps, request.controls, last,
                       [&](int, const State& state, const StepReport& of_step) {
                         if (of_step.status == StepStatus::ok) states.push_back(state);
                         return !stop.stop_requested();
                       });
    if (report.status != StepStatus::ok) {
      const double time = request.initial.time + (report.step + 1) * scene.config.step.h;
      change.error = failure_text(scene.model, scene.config.step, time, report);
    } else if (!stop.stop_requested()) {
      change.loss = rollout_loss(simulator, states, request.loss);
    }
    change.states = std::make_shared<const std::vector<State>>(std::move(states));
  } catch (const std::exception& error) {
    change.error = error.what();
  }
  return change;
}

/// How the poses after the last step of a request change by one unit of a parameter, forwards; null where
/// that is not known, and after a stop.
std::shared_ptr<const PoseTangents> end_tangent_forwards(const GradientRequest& request,
                                                         const SceneParameter& parameter,
                                                         const std::stop_token& stop) {
  if (!has_direction(parameter)) return nullptr;
  try {
    const Scene scene = scene_of(request);
    const Stepper& stepper = request.model->simulator.stepper();
    Trajectory whole = rollout(stepper, scene.initial, request.steps, request.controls,
                               [&](int, const State&, const StepReport&) { return !stop.stop_requested(); });
    if (!whole.ok()) return nullptr;
    RolloutDirection direction = rollout_direction_of(scene, parameter);
    for (std::size_t k = 0; k < whole.records.size(); ++k) {  // one by one, to stop in between
      if (stop.stop_requested()) return nullptr;
      Trajectory step;
      step.states = {whole.states[k], whole.states[k + 1]};
      step.records.push_back(std::move(whole.records[k]));
      if (!whole.controls.empty()) step.controls = {whole.controls[k]};
      direction.initial = rollout_jvp(stepper, step, direction).back();
    }
    return std::make_shared<const PoseTangents>(std::move(direction.initial.pose));
  } catch (const std::exception&) {  // a derivative that is known backwards alone
    return nullptr;
  }
}

/// Gradients of the poses after the last step of a request, of all six coordinates of each body that moves,
/// body by body; empty of more bodies than there is time for, where the steps fail, and after a stop.
std::vector<Gradient> end_gradients(const GradientRequest& request, const std::stop_token& stop) {
  constexpr std::ptrdiff_t k_most_bodies = 8;
  const std::vector<Body>& bodies = request.model->model().bodies;
  const auto moves = [](const Body& body) { return !body.fixed; };
  if (std::count_if(bodies.begin(), bodies.end(), moves) > k_most_bodies) return {};
  const Stepper& stepper = request.model->simulator.stepper();
  const Trajectory whole =
      rollout(stepper, request.initial, request.steps, request.controls,
              [&](int, const State&, const StepReport&) { return !stop.stop_requested(); });
  if (!whole.ok()) return {};
  std::vector<Gradient> gradients;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    for (Eigen::Index i = 0; moves(bodies[b]) && i < 6; ++i) {
      const LossGradient coordinate = [&](int k, const State&, StateTangent& bar) {
        if (k == request.steps) bar.pose[b][i] += 1.0;
      };
      const AdjointOptions options;
      AdjointSweep sweep(stepper, request.steps, whole.controls, coordinate, options);
      sweep.start(whole.states.back());
      for (int k = request.steps; k-- > 0;) {
        if (stop.stop_requested()) return {};
        sweep.step_back(k, whole.states[at(k)], whole.states[at(k + 1)], whole.records[at(k)]);
      }
      gradients.push_back(sweep.finish());
    }
  }
  return gradients;
}

/// The same tangents from these gradients; null where they are not known.
std::shared_ptr<const PoseTangents> end_tangent_backwards(const GradientRequest& request,
                                                          const SceneParameter& parameter,
                                                          const std::vector<Gradient>& gradients) {
  if (gradients.empty()) return nullptr;
  try {
    const Scene scene = scene_of(request);
    PoseTangents tangents(scene.model.bodies.size(), Vec6<double>::Zero());
    std::size_t next = 0;
    for (std::size_t b = 0; b < tangents.size(); ++b) {
      for (Eigen::Index i = 0; !scene.model.bodies[b].fixed && i < 6; ++i)
        tangents[b][i] = derivative_by(scene, parameter, gradients[next++]);
      if (!tangents[b].allFinite()) return nullptr;
    }
    return std::make_shared<const PoseTangents>(std::move(tangents));
  } catch (const std::exception&) {
    return nullptr;
  }
}

/// 0 ... 2^n in an order in which the first few already tell the shape of a curve.
std::vector<int> coarse_to_fine(int last) {
  std::vector<int> order{0, last};
  for (int stride = last; stride > 1; stride /= 2) {
    for (int i = stride / 2; i < last; i += stride) order.push_back(i);
  }
  return order;
}

}  // namespace

double StudiedParameter::influence() const { return 0.5 * (highest - lowest) * std::abs(derivative); }

std::vector<StudiedParameter> studied_parameters(const GradientResult& result) {
  std::vector<StudiedParameter> studied;
  if (!result.error.empty()) return studied;
  const Scene scene = scene_of(result.request);
  for (SceneParameter& parameter : differentiable_parameters(scene)) {
    if (parameter.kind == ParameterKind::density) continue;  // moves what the mass moves
    StudiedParameter one;
    one.value = one.wanted = value_of(scene, parameter);
    one.derivative = derivative_by(scene, parameter, result.gradient);
    if (!std::isfinite(one.value) || !std::isfinite(one.derivative) || one.derivative == 0.0) continue;
    const double reach = reach_of(scene, parameter, one.value);
    const NumberRange& range = parameter.range;
    one.lowest =
        std::max(one.value - reach,
                 range.lower_excluded ? range.lower + 0.01 * (one.value - range.lower) : range.lower);
    one.highest =
        std::min(one.value + reach,
                 range.upper_excluded ? range.upper - 0.01 * (range.upper - one.value) : range.upper);
    if (!(one.highest > one.lowest)) continue;
    one.parameter = std::move(parameter);
    studied.push_back(std::move(one));
  }
  std::stable_sort(studied.begin(), studied.end(), [](const StudiedParameter& a, const StudiedParameter& b) {
    return a.influence() > b.influence();
  });
  constexpr double k_rounding = 1e-12;  // of the most influential
  std::erase_if(studied, [least = k_rounding * (studied.empty() ? 0.0 : studied.front().influence())](
                             const StudiedParameter& p) { return p.influence() < least; });
  const std::vector<std::string>& unknowns = result.request.unknowns;
  std::stable_partition(studied.begin(), studied.end(), [&](const StudiedParameter& p) {
    return std::find(unknowns.begin(), unknowns.end(), p.parameter.name) != unknowns.end();
  });
  return studied;
}

ParameterStudy::~ParameterStudy() {
  stop_.request_stop();
  if (future_.valid()) future_.wait();
}

void ParameterStudy::begin(const GradientResult* result) {
  stop_.request_stop();
  is_wanted_ = false;
  active_ = -1;
  parameters_.clear();
  request_.reset();
  progress_ = std::make_shared<Progress>();
  tangents_ = std::make_shared<EndTangents>();
  if (result == nullptr || !result->error.empty()) return;
  end_ = result->states.empty() ? State() : result->states.back();
  request_ = std::make_shared<const GradientRequest>(result->request);
  parameters_ = studied_parameters(*result);
  loss_ = result->loss;
}

bool ParameterStudy::is_changed() const {
  return std::any_of(parameters_.begin(), parameters_.end(),
                     [](const StudiedParameter& p) { return p.wanted != p.value; });
}

void ParameterStudy::set(int index, double value) {
  StudiedParameter& parameter = parameters_[at(index)];
  if (!std::isfinite(value) || (parameter.wanted == value && active_ == index)) return;
  const bool keeps_curve = active_ == index;
  active_ = index;
  parameter.wanted = value;
  auto next = std::make_shared<Progress>();
  if (keeps_curve) next->curve = curve();
  progress_ = std::move(next);
  restart();
}

void ParameterStudy::reset() {
  for (StudiedParameter& parameter : parameters_) parameter.wanted = parameter.value;
  active_ = -1;
  progress_ = std::make_shared<Progress>();
  stop_.request_stop();
  is_wanted_ = false;
}

double ParameterStudy::predicted() const {
  double loss = loss_;
  for (const StudiedParameter& p : parameters_) loss += p.derivative * (p.wanted - p.value);
  return loss;
}

double ParameterStudy::predicted_at(double active_value) const {
  const StudiedParameter& p = parameters_[at(active_)];
  return predicted() + p.derivative * (active_value - p.wanted);
}

std::optional<SimulatedChange> ParameterStudy::simulated() const {
  const std::lock_guard lock(progress_->mutex);
  return progress_->change;
}

std::optional<std::vector<Pose<double>>> ParameterStudy::predicted_end() const {
  std::vector<Pose<double>> X_WB = end_.X_WB;
  const std::lock_guard lock(tangents_->mutex);
  for (const StudiedParameter& p : parameters_) {
    if (p.wanted == p.value) continue;
    const auto found = tangents_->of_parameter.find(p.parameter.name);
    if (found == tangents_->of_parameter.end() || !found->second) return std::nullopt;
    for (std::size_t b = 0; b < X_WB.size(); ++b)
      X_WB[b] = retract(X_WB[b], Vec6<double>((p.wanted - p.value) * (*found->second)[b]));
  }
  return X_WB;
}

void ParameterStudy::EndTangents::find(const GradientRequest& request,
                                       const std::vector<SceneParameter>& parameters,
                                       const std::stop_token& stop) {
  for (const SceneParameter& parameter : parameters) {
    {
      const std::lock_guard lock(mutex);
      if (of_parameter.contains(parameter.name)) continue;
    }
    std::shared_ptr<const PoseTangents> tangent = end_tangent_forwards(request, parameter, stop);
    if (!tangent && !gradients && !stop.stop_requested()) gradients = end_gradients(request, stop);
    if (stop.stop_requested()) {
      if (gradients && gradients->empty()) gradients.reset();  // it may not have come to its end
      return;
    }
    if (!tangent) tangent = end_tangent_backwards(request, parameter, *gradients);
    const std::lock_guard lock(mutex);
    of_parameter[parameter.name] = std::move(tangent);
  }
}

LossCurve ParameterStudy::curve() const {
  const std::lock_guard lock(progress_->mutex);
  return progress_->curve;
}

void ParameterStudy::restart() {
  stop_.request_stop();
  is_wanted_ = true;
  poll();
}

void ParameterStudy::poll() {
  if (future_.valid() && future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    future_.get();
  if (future_.valid() || !is_wanted_) return;
  is_wanted_ = false;
  stop_ = {};
  std::vector<SceneParameter> changed;
  std::vector<double> values;
  const StudiedParameter& active = parameters_[at(active_)];
  for (const StudiedParameter& p : parameters_) {
    if (p.wanted == p.value && &p != &active) continue;
    changed.push_back(p.parameter);
    values.push_back(p.wanted);
  }
  const auto place = static_cast<std::size_t>(
      std::find_if(changed.begin(), changed.end(),
                   [&](const SceneParameter& p) { return p.name == active.parameter.name; }) -
      changed.begin());
  future_ = std::async(
      std::launch::async, [request = request_, progress = progress_, tangents = tangents_, changed, values,
                           place, from = active.lowest, to = active.highest, stop = stop_.get_token()] {
        SimulatedChange change = simulate_change(*request, changed, values, stop);
        if (stop.stop_requested()) return;
        LossCurve known;
        {
          const std::lock_guard lock(progress->mutex);
          progress->change = std::move(change);
          known = progress->curve;
        }
        tangents->find(*request, changed, stop);
        if (stop.stop_requested()) return;
        for (const int i : coarse_to_fine(k_curve_points)) {
          const double x = from + (to - from) * i / k_curve_points;
          if (std::find(known.x.begin(), known.x.end(), x) != known.x.end()) continue;
          std::vector<double> moved = values;
          moved[place] = x;
          const SimulatedChange there = simulate_change(*request, changed, moved, stop);
          if (stop.stop_requested()) return;
          const std::lock_guard lock(progress->mutex);
          LossCurve& curve = progress->curve;
          const auto before = std::lower_bound(curve.x.begin(), curve.x.end(), x) - curve.x.begin();
          curve.x.insert(curve.x.begin() + before, x);
          curve.loss.insert(curve.loss.begin() + before,
                            there.error.empty() ? there.loss : std::numeric_limits<double>::quiet_NaN());
        }
      });
}

}  // namespace abut::viewer
