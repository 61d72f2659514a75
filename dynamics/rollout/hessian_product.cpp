#include "dynamics/rollout/hessian_product.h"

#include <cmath>

#include "dynamics/rollout/loss.h"
#include "engine/lie.h"

namespace abut {
namespace {

/// a x + b y
StateTangent combine(double a, const StateTangent& x, double b, const StateTangent& y) {
  StateTangent sum(static_cast<int>(x.pose.size()));
  for (std::size_t i = 0; i < sum.pose.size(); ++i) {
    sum.pose[i] = a * x.pose[i] + b * y.pose[i];
    sum.twist[i] = a * x.twist[i] + b * y.twist[i];
  }
  return sum;
}

/// dL/da at a = t d in the coordinates X = Exp(a) X_0.
StateTangent gradient_at(const Stepper& stepper, const State& initial, int steps, const Controls& controls,
                         const LossGradient& loss, const StateTangent& d, double t) {
  State moved = initial;
  for (std::size_t b = 0; b < moved.X_WB.size(); ++b) {
    moved.X_WB[b] = retract<double>(initial.X_WB[b], t * d.pose[b]);
    moved.V_WB[b] += t * d.twist[b];
  }
  const Trajectory trajectory = rollout(stepper, moved, steps, controls, {}, k_gradient_tape_bytes);
  StateTangent gradient = adjoint(stepper, trajectory, loss).initial;
  for (std::size_t b = 0; b < moved.X_WB.size(); ++b) {
    const Vec3<double> turn = t * d.pose[b].head<3>();
    gradient.pose[b].head<3>() =
        (left_jacobian_so3<double>(turn).transpose() * gradient.pose[b].head<3>()).eval();
  }
  return gradient;
}

}  // namespace

HessianProduct hessian_product(const Stepper& stepper, const State& initial, int steps,
                               const Controls& controls, const LossGradient& loss,
                               const StateTangent& direction, double step) {
  const auto difference = [&](double t) {
    return combine(0.5 / t, gradient_at(stepper, initial, steps, controls, loss, direction, t), -0.5 / t,
                   gradient_at(stepper, initial, steps, controls, loss, direction, -t));
  };
  const StateTangent wide = difference(step), narrow = difference(0.5 * step);
  HessianProduct result;
  result.product = combine(4.0 / 3.0, narrow, -1.0 / 3.0, wide);
  const double size = norm(result.product);
  result.relative_error = size > 0.0 ? norm(combine(1.0, result.product, -1.0, narrow)) / size : 0.0;
  return result;
}

}  // namespace abut
