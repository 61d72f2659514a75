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

/// 1 at or beside the lower bound of a variable, -1 at or beside its upper bound, else 0.
int inward(const UnknownSpace& unknowns, const Variable& variable, const Eigen::VectorXd& x) {
  constexpr double k_beside = 0.01;  // of the range: a restitution of 0.006 has no impacts either
  if (variable.kind != Variable::Kind::number) return 0;
  const auto [lower, upper] = unknowns.bounds(variable);
  const double value = x[variable.begin], near = k_beside * range_of(unknowns, variable);
  return value - lower <= near ? 1 : upper - value <= near ? -1 : 0;
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

InsideBounds inside_silent_bounds(const MotionFit& fit, const Eigen::VectorXd& x) {
  constexpr double k_share = 0.1;  // of the range
  const UnknownSpace& unknowns = fit.unknowns();
  InsideBounds inside{x, {}};
  std::vector<const Variable*> at_bounds;
  for (const Variable& variable : unknowns.variables()) {
    if (inward(unknowns, variable, x) != 0) at_bounds.push_back(&variable);
  }
  if (at_bounds.empty()) return inside;
  const MotionFit::Evaluation here = fit.evaluate(x, MotionFit::Want::jacobian);
  if (!here.ok) return inside;
  std::vector<const Variable*> silent;
  for (const Variable* variable : at_bounds) {
    if (!is_silent(fit, *variable, here.jacobian)) continue;
    inside.x[variable->begin] += inward(unknowns, *variable, x) * k_share * range_of(unknowns, *variable);
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
