#include "dynamics/rollout.h"

#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dynamics/shape_change.h"
#include "engine/check.h"

namespace abut {
namespace {

const Control k_no_control;

void require_controls(const Stepper& stepper, int steps, const Controls& controls) {
  require(steps >= 1, fmt::format("a rollout needs at least 1 step, not {}", steps));
  require(controls.empty() || static_cast<int>(controls.size()) == steps,
          fmt::format("{} controls for {} steps: give one per step or none", controls.size(), steps));
  for (std::size_t k = 0; k < controls.size(); ++k) {
    require(controls[k].empty() || static_cast<int>(controls[k].size()) == stepper.model().body_count(),
            fmt::format("control of step {}: {} wrenches for {} bodies", k, controls[k].size(),
                        stepper.model().body_count()));
  }
}

void require_state(const Stepper& stepper, const State& state) {
  const auto bodies = static_cast<std::size_t>(stepper.model().body_count());
  require(state.X_WB.size() == bodies && state.V_WB.size() == bodies,
          fmt::format("state of {} poses and {} twists for {} bodies", state.X_WB.size(), state.V_WB.size(),
                      bodies));
}

const Control& control_of(const Controls& controls, int step) {
  return controls.empty() ? k_no_control : controls[static_cast<std::size_t>(step)];
}

double norm(const StateTangent& tangent) {
  double sum = 0.0;
  for (const Vec6<double>& x : tangent.pose) sum += x.squaredNorm();
  for (const Vec6<double>& x : tangent.twist) sum += x.squaredNorm();
  return std::sqrt(sum);
}

/// What follows from the sums over all steps: density, stiffness and the total shape gradient.
void complete(const Stepper& stepper, ModelGradient& gradient) {
  const Model& model = stepper.model();
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    BodyGradient& bar = gradient.bodies[b];
    const double k = body.material.stiffness;
    bar.stiffness = std::isfinite(k) ? -bar.compliance / (k * k) : 0.0;
    if (!body.fixed && body.volume > 0.0) {
      bar.density =
          (body.mass * bar.mass + body.inertia.cwiseProduct(bar.inertia).sum()) / (body.mass / body.volume);
    }
    bar.shape = total_shape_gradient(body, stepper.detector().sdf(static_cast<int>(b)), bar.geometry);
  }
  for (std::size_t p = 0; p < model.pair_overrides.size(); ++p) {
    const double k = model.pair_overrides[p].stiffness;
    if (std::isfinite(k)) gradient.pairs[p].stiffness = -gradient.pairs[p].compliance / (k * k);
  }
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const double k = model.joints[j].stiffness, k_angular = model.joints[j].angular_stiffness;
    JointGradient& bar = gradient.joints[j];
    if (std::isfinite(k)) bar.stiffness = -bar.compliance / (k * k);
    if (std::isfinite(k_angular)) bar.angular_stiffness = -bar.angular_compliance / (k_angular * k_angular);
  }
}

}  // namespace

Trajectory rollout(const Stepper& stepper, const State& initial, int steps, Controls controls,
                   const StepObserver& observer) {
  require_controls(stepper, steps, controls);
  require_state(stepper, initial);
  Trajectory trajectory;
  trajectory.controls = std::move(controls);
  trajectory.states.reserve(static_cast<std::size_t>(steps) + 1);
  trajectory.records.reserve(static_cast<std::size_t>(steps));
  trajectory.states.push_back(initial);
  StepScratch scratch;
  for (int k = 0; k < steps; ++k) {
    State next;
    StepRecord record;
    const StepReport report =
        stepper.step(trajectory.states.back(), control_of(trajectory.controls, k), next, scratch, &record);
    if (report.status != StepStatus::ok) {
      trajectory.failed_step = k;
      trajectory.failure = report;
      break;
    }
    trajectory.states.push_back(std::move(next));
    trajectory.records.push_back(std::move(record));
    if (observer && !observer(k, trajectory.states.back(), report)) break;
  }
  return trajectory;
}

StepReport simulate(const Stepper& stepper, const State& initial, int steps, const Controls& controls,
                    State& final_state, const StepObserver& observer) {
  require_controls(stepper, steps, controls);
  require_state(stepper, initial);
  StepScratch scratch;
  StepReport report;
  State next;
  final_state = initial;
  for (int k = 0; k < steps; ++k) {
    report = stepper.step(final_state, control_of(controls, k), next, scratch);
    std::swap(final_state, next);
    const bool go_on = !observer || observer(k, final_state, report);
    if (report.status != StepStatus::ok || !go_on) break;
  }
  return report;
}

Gradient adjoint(const Stepper& stepper, const Trajectory& trajectory, const LossGradient& loss) {
  if (!trajectory.ok()) {
    throw std::logic_error(fmt::format("step {} of the rollout ended '{}': it has no gradient",
                                       trajectory.failed_step, to_string(trajectory.failure.status)));
  }
  const int bodies = stepper.model().body_count(), steps = trajectory.step_count();
  Gradient gradient;
  gradient.model.set_zero(stepper.model());
  gradient.controls.assign(static_cast<std::size_t>(steps),
                           std::vector<Vec6<double>>(static_cast<std::size_t>(bodies), Vec6<double>::Zero()));
  gradient.adjoint_norm.assign(static_cast<std::size_t>(steps) + 1, 0.0);
  StepScratch scratch;
  StateTangent bar(bodies), before;
  const auto add_loss = [&](int k) {
    loss(k, trajectory.states[static_cast<std::size_t>(k)], bar);
    gradient.adjoint_norm[static_cast<std::size_t>(k)] = norm(bar);
  };
  add_loss(steps);
  for (int k = steps; k-- > 0;) {
    const auto i = static_cast<std::size_t>(k);
    stepper.step_vjp(trajectory.states[i], control_of(trajectory.controls, k), trajectory.states[i + 1],
                     trajectory.records[i], bar, before, gradient.controls[i], gradient.model, scratch);
    for (std::size_t b = 0; b < gradient.controls[i].size(); ++b) {
      gradient.model.bodies[b].external_wrench += gradient.controls[i][b];
    }
    std::swap(bar, before);
    add_loss(k);
  }
  gradient.initial = std::move(bar);
  complete(stepper, gradient.model);
  return gradient;
}

std::uint64_t state_hash(const State& state) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    for (int byte = 0; byte < 8; ++byte) {
      hash ^= (bits >> (8 * byte)) & 0xffu;
      hash *= 0x100000001b3u;
    }
  };
  for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
    for (const double x :
         {state.X_WB[b].q.w(), state.X_WB[b].q.x(), state.X_WB[b].q.y(), state.X_WB[b].q.z()})
      add(x);
    for (int i = 0; i < 3; ++i) add(state.X_WB[b].p[i]);
    for (int i = 0; i < 6; ++i) add(state.V_WB[b][i]);
  }
  return hash;
}

}  // namespace abut
