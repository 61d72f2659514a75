#include "apps/viewer/simulation/gradient_job.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "dynamics/gradient_check/gradient_check.h"

namespace abut::viewer {
namespace {

/// What a change of 1 along a direction means, so that it is a large one for every body.
struct Scale {
  double length, speed, force;
};

Scale scale_of(const Model& model, double gravity) {
  double size = 1e30, mass = 0.0;
  for (const Body& body : model.bodies) {
    if (body.fixed) continue;
    size = std::min(size, body.size);
    mass = std::max(mass, body.mass);
  }
  return {size, std::sqrt(gravity * size), mass * gravity};
}

/// One group of inputs: its gradient, and what moves the inputs along a direction of its own.
struct Group {
  const char* name;
  double norm;  ///< of the gradient
  double scale;
  std::function<void(double amount, State& initial, Controls& controls)> move;
};

std::vector<Group> groups_of(const GradientResult& result, const Scale& scale) {
  const auto norm_of = [](const std::vector<Vec6<double>>& x, bool heads, bool tails) {
    double sum = 0.0;
    for (const Vec6<double>& v : x) {
      if (heads) sum += v.head<3>().squaredNorm();
      if (tails) sum += v.tail<3>().squaredNorm();
    }
    return std::sqrt(sum);
  };
  const StateTangent& initial = result.gradient.initial;
  double controls_norm = 0.0;
  for (const auto& step : result.gradient.controls) {
    const double norm = norm_of(step.wrenches, false, true);
    controls_norm = std::hypot(controls_norm, norm);
  }
  const double position = norm_of(initial.pose, false, true), rotation = norm_of(initial.pose, true, false),
               velocity = norm_of(initial.twist, false, true), turn = norm_of(initial.twist, true, false);
  // The direction of a group is its gradient; bodies of infinite mass stay where they are.
  const auto along = [&](const std::vector<Vec6<double>>& x, std::size_t b, bool heads, double factor) {
    Vec6<double> d = Vec6<double>::Zero();
    if (result.request.model->model().bodies[b].fixed) return d;
    if (heads) d.head<3>() = factor * x[b].head<3>();
    if (!heads) d.tail<3>() = factor * x[b].tail<3>();
    return d;
  };
  const auto move_pose = [&initial, along](bool heads, double norm) {
    return [&initial, along, heads, norm](double amount, State& state, Controls&) {
      for (std::size_t b = 0; b < state.X_WB.size(); ++b)
        state.X_WB[b] = retract(state.X_WB[b], along(initial.pose, b, heads, amount / norm));
    };
  };
  const auto move_twist = [&initial, along](bool heads, double norm) {
    return [&initial, along, heads, norm](double amount, State& state, Controls&) {
      for (std::size_t b = 0; b < state.V_WB.size(); ++b)
        state.V_WB[b] += along(initial.twist, b, heads, amount / norm);
    };
  };
  const auto move_controls = [&result, controls_norm, along](double amount, State& state,
                                                             Controls& controls) {
    controls.resize(result.gradient.controls.size());
    for (std::size_t k = 0; k < controls.size(); ++k) {
      std::vector<Vec6<double>>& wrenches = controls[k].wrenches;
      wrenches.resize(state.X_WB.size(), Vec6<double>::Zero());
      for (std::size_t b = 0; b < wrenches.size(); ++b)
        wrenches[b] += along(result.gradient.controls[k].wrenches, b, false, amount / controls_norm);
    }
  };
  return {{"initial position", position, scale.length, move_pose(false, position)},
          {"initial rotation", rotation, 1.0, move_pose(true, rotation)},
          {"initial velocity", velocity, scale.speed, move_twist(false, velocity)},
          {"initial angular velocity", turn, scale.speed / scale.length, move_twist(true, turn)},
          {"forces", controls_norm, scale.force, move_controls}};
}

void remove_fixed(const Model& model, Gradient& gradient) {
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    if (!model.bodies[b].fixed) continue;
    gradient.initial.pose[b].setZero();
    gradient.initial.twist[b].setZero();
    for (Control& step : gradient.controls) step.wrenches[b].setZero();
  }
}

struct Cancelled : std::runtime_error {
  Cancelled() : std::runtime_error("cancelled") {}
};

StepObserver stopping(const std::stop_token& stop) {
  return [&stop](int, const State&, const StepReport&) {
    if (stop.stop_requested()) throw Cancelled();
    return true;
  };
}

/// The reverse pass over a trajectory.
void differentiate(const Simulator& simulator, const Trajectory& trajectory, const std::stop_token& stop,
                   GradientResult& result) {
  const AdjointOptions options;
  const int steps = trajectory.step_count();
  std::vector<StateTangent> bars = rollout_loss_gradient(simulator, trajectory.states, result.request.loss);
  result.steps.resize(at(steps));
  double norm_after = 0.0;  // of dL/d(state k + 1)
  const LossGradient loss = [&](int k, const State&, StateTangent& bar) {
    if (norm_after > 0.0) result.steps[at(k)].growth = norm(bar) / norm_after;
    const StateTangent& added = bars[at(k)];
    for (std::size_t b = 0; b < added.pose.size(); ++b) {
      bar.pose[b] += added.pose[b];
      bar.twist[b] += added.twist[b];
    }
    norm_after = norm(bar);
  };
  AdjointSweep sweep(simulator.stepper(), steps, trajectory.controls, loss, options);
  sweep.start(trajectory.states.back());
  for (int k = steps; k-- > 0;) {
    if (stop.stop_requested()) throw Cancelled();
    const StepRecord& record = trajectory.records[at(k)];
    sweep.step_back(k, trajectory.states[at(k)], trajectory.states[at(k + 1)], record);
    GradientStep& step = result.steps[at(k)];
    step.contacts = record.report.contacts;
    step.iterations = record.report.iterations;
  }
  result.gradient = sweep.finish();
  const GradientHealth& health = result.gradient.health;
  for (std::size_t k = 0; k < health.kinks.size(); ++k) {
    const KinkCount& kinks = health.kinks[k];
    if (kinks.near_kink == 0) continue;
    result.steps[k].share_near_kink = static_cast<double>(kinks.near_kink) / kinks.contacts;
    result.steps[k].kink_body = kinks.body;
  }
  for (const GradientWarning& warning : health.warnings) {
    if (warning.kind == GradientWarning::Kind::branch)
      result.steps[at(warning.step)].has_other_answers = true;
  }
}

void check(const Simulator& simulator, const std::stop_token& stop, GradientResult& result) {
  const GradientRequest& request = result.request;
  const auto loss_of = [&](const State& initial, const Controls& controls) {
    const Trajectory moved = simulator.rollout(initial, request.steps, controls, stopping(stop));
    return moved.ok() ? rollout_loss(simulator, moved.states, request.loss)
                      : std::numeric_limits<double>::quiet_NaN();
  };
  const double nominal = loss_of(request.initial, request.controls);
  std::vector<GradientSample> samples;
  double largest = 0.0;
  const std::vector<Group> groups =
      groups_of(result, scale_of(simulator.model(), simulator.stepper().acceleration_scale()));
  for (const Group& group : groups) largest = std::max(largest, group.norm * group.scale);
  for (const Group& group : groups) {
    if (!(group.norm > 0.0)) continue;
    GradientSample sample;
    sample.group = group.name;
    sample.adjoint = group.norm * group.scale;
    sample.largest = largest;
    score_by_differences(
        [&](double h) {
          State initial = request.initial;
          Controls controls = request.controls;
          group.move(h * group.scale, initial, controls);
          return loss_of(initial, controls) - nominal;
        },
        sample);
    // What moves the loss by less than a few of its last digits cannot be seen in differences.
    constexpr double k_digits = 1e3 * std::numeric_limits<double>::epsilon();
    const double seen = std::max(std::abs(sample.adjoint), std::abs(sample.difference)) * sample.step;
    if (seen < k_digits * std::abs(result.loss)) sample.unresolved = true;
    samples.push_back(sample);
  }
  result.check = std::move(samples);
}

}  // namespace

GradientResult compute_gradient(const GradientRequest& request, const std::stop_token& stop) {
  GradientResult result;
  result.request = request;
  const auto begin = std::chrono::steady_clock::now();
  try {
    // Noise of the solver is noise of the differences.
    StepConfig config = request.model->config();
    if (request.check) config.tolerance = std::min(config.tolerance, k_gradient_check_tolerance);
    const Simulator simulator(request.model->model(), config, &request.model->simulator);
    const Model& model = simulator.model();
    Trajectory trajectory =
        simulator.rollout(request.initial, request.steps, request.controls, stopping(stop));
    if (!trajectory.ok()) {
      result.error = failure_text(
          model, config, request.initial.time + (trajectory.failed_step + 1) * config.h, trajectory.failure);
      return result;
    }
    result.loss = rollout_loss(simulator, trajectory.states, request.loss);
    differentiate(simulator, trajectory, stop, result);
    remove_fixed(model, result.gradient);
    if (request.check) check(simulator, stop, result);
    result.states = std::move(trajectory.states);
  } catch (const std::exception& error) {
    result.error = error.what();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

DeterminismResult check_determinism(const SceneModel& model, const History& history, std::int64_t from) {
  DeterminismResult result;
  from = std::clamp(from, history.first(), history.last());
  StepScratch scratch;
  State next;
  for (std::int64_t n = from; n < history.last(); ++n) {
    const Moment &here = history.at(n), &there = history.at(n + 1);
    const StepReport report = model.simulator.stepper().step(here.state, there.control, next, scratch);
    ++result.steps;
    if (report.status != StepStatus::ok || state_hash(next) != state_hash(there.state)) {
      result.first_difference = n + 1;
      return result;
    }
  }
  if (result.steps == 0) result.error = "there is no step to repeat";
  return result;
}

GradientJob::~GradientJob() {
  cancel();
  if (future_.valid()) future_.wait();
}

void GradientJob::start(GradientRequest request) {
  if (busy()) return;
  stop_ = {};
  future_ = std::async(std::launch::async, [request = std::move(request), stop = stop_.get_token()] {
    return compute_gradient(request, stop);
  });
}

std::optional<GradientResult> GradientJob::poll() {
  if (!busy() || future_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return std::nullopt;
  return future_.get();
}

GradientResult GradientJob::wait() { return future_.get(); }

}  // namespace abut::viewer
