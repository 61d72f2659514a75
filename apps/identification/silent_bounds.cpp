#include "apps/identification/silent_bounds.h"

#include <algorithm>
#include <cmath>

namespace abut {
namespace {

/// Length of the range of a number, 1 where it has no other end.
double range_of(const UnknownSpace& unknowns, const Variable& variable) {
  const auto [lower, upper] = unknowns.bounds(variable);
  return std::isfinite(upper - lower) ? upper - lower : 1.0;
}

/// Whether no residual but a prior depends on a variable, to first order.
bool is_silent(const MotionFit& fit, const Variable& variable, const Eigen::MatrixXd& jacobian) {
  return std::all_of(fit.blocks().begin(), fit.blocks().end(), [&](const ResidualBlock& block) {
    return block.kind == ResidualBlock::Kind::prior ||
           jacobian.block(block.begin, variable.tangent_begin, block.count, variable.tangent_size)
               .isZero(0.0);
  });
}

}  // namespace

std::optional<double> inside_of_bound(const UnknownSpace& unknowns, const Variable& variable,
                                      const Eigen::VectorXd& x) {
  constexpr double k_beside = 0.01;  // of the range: a restitution of 0.006 has no impacts either
  constexpr double k_share = 0.1;    // of the range
  if (variable.kind != Variable::Kind::number) return {};
  const auto [lower, upper] = unknowns.bounds(variable);
  const double value = x[variable.begin], range = range_of(unknowns, variable);
  if (value - lower <= k_beside * range) return value + k_share * range;
  if (upper - value <= k_beside * range) return value - k_share * range;
  return {};
}

InsideBounds inside_silent_bounds(const MotionFit& fit, const Eigen::VectorXd& x) {
  const UnknownSpace& unknowns = fit.unknowns();
  InsideBounds inside{x, {}};
  std::vector<const Variable*> at_bounds;
  for (const Variable& variable : unknowns.variables()) {
    if (inside_of_bound(unknowns, variable, x)) at_bounds.push_back(&variable);
  }
  if (at_bounds.empty()) return inside;
  const MotionFit::Evaluation here = fit.evaluate(x, MotionFit::Want::jacobian);
  if (!here.ok) return inside;
  std::vector<const Variable*> silent;
  for (const Variable* variable : at_bounds) {
    if (!is_silent(fit, *variable, here.jacobian)) continue;
    inside.x[variable->begin] = *inside_of_bound(unknowns, *variable, x);
    silent.push_back(variable);
  }
  if (silent.empty()) return inside;
  const MotionFit::Evaluation there = fit.evaluate(inside.x, MotionFit::Want::jacobian);
  for (const Variable* variable : silent) {
    if (there.ok && !is_silent(fit, *variable, there.jacobian)) {
      inside.moved.push_back(variable);
    } else {
      inside.x[variable->begin] = x[variable->begin];
    }
  }
  return inside;
}

}  // namespace abut
