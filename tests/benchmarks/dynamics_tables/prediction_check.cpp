#include "tests/benchmarks/dynamics_tables/prediction_check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "engine/pose.h"

namespace abut::tables {
namespace {

constexpr double k_negligible_part = 1e-5;  ///< of the natural scales of a state

double size_of(const Body& body) { return std::isfinite(body.size) ? body.size : 1.0; }

/// The natural scales of a body's tangents: [1; size] [rad; m].
Vec6<double> pose_scale(const Body& body) {
  return stack<double>(Vec3<double>::Ones(), Vec3<double>::Constant(size_of(body)));
}

/// The natural scales of a body's twist [rad/s; m/s].
Vec6<double> twist_scale(const Body& body, const Vec6<double>& V, double g) {
  const double speed = std::max(V.tail<3>().norm(), std::sqrt(g * size_of(body)));
  return speed / size_of(body) * pose_scale(body);
}

/// The changes of the twists, a product of squared scales with the gradient, and |S g|.
double scaled_gradient(const Stepper& stepper, const State& initial, const Gradient& gradient,
                       std::vector<Vec6<double>>& change) {
  double square = 0.0;
  change.assign(initial.V_WB.size(), Vec6<double>::Zero());
  for (std::size_t b = 0; b < change.size(); ++b) {
    const Body& body = stepper.model().bodies[b];
    if (body.fixed) continue;
    const Vec6<double> scale = twist_scale(body, initial.V_WB[b], stepper.acceleration_scale()),
                       scaled = scale.cwiseProduct(gradient.initial.twist[b]);
    square += scaled.squaredNorm();
    change[b] = scale.cwiseProduct(scaled);
  }
  return std::sqrt(square);
}

}  // namespace

double PredictionCheck::error() const {
  if (std::isnan(simulated)) return 1.0;
  const double largest = std::max({std::abs(predicted), std::abs(simulated), negligible});
  return largest > 0.0 ? std::abs(predicted - simulated) / largest : 0.0;
}

PredictionCheck check_prediction(const Stepper& stepper, const Trajectory& trajectory,
                                 const LossGradient& loss, const Gradient& gradient, double part) {
  PredictionCheck check;
  State changed = trajectory.states.front();
  std::vector<Vec6<double>> change;
  const double size = scaled_gradient(stepper, changed, gradient, change);
  if (!(size > 0.0)) return check;
  for (std::size_t b = 0; b < change.size(); ++b) changed.V_WB[b] += part / size * change[b];
  check.predicted = part * size;

  StateTangent bar;
  double square = 0.0;
  const auto add = [&](int k, const State& moved) {
    const State& state = trajectory.states[static_cast<std::size_t>(k)];
    bar.set_zero(stepper.model().body_count());
    loss(k, state, bar);
    for (std::size_t b = 0; b < bar.pose.size(); ++b) {
      const Body& body = stepper.model().bodies[b];
      if (body.fixed) continue;
      square += pose_scale(body).cwiseProduct(bar.pose[b]).squaredNorm() +
                twist_scale(body, state.V_WB[b], stepper.acceleration_scale())
                    .cwiseProduct(bar.twist[b])
                    .squaredNorm();
      check.simulated += bar.pose[b].dot(difference<double>(moved.X_WB[b], state.X_WB[b])) +
                         bar.twist[b].dot(moved.V_WB[b] - state.V_WB[b]);
    }
  };
  add(0, changed);
  State end;
  const StepReport report = simulate(stepper, changed, trajectory.step_count(), trajectory.controls, end,
                                     [&](int k, const State& moved, const StepReport& step) {
                                       if (step.status == StepStatus::ok) add(k + 1, moved);
                                       return true;
                                     });
  check.negligible = k_negligible_part * std::sqrt(square);
  if (report.status != StepStatus::ok) check.simulated = std::numeric_limits<double>::quiet_NaN();
  return check;
}

}  // namespace abut::tables
