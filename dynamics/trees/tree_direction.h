/// Forward-mode numbers for JVPs: the numbers of trees, moved along a direction to first order.
///
/// A JVP of a function of this folder is the function itself, evaluated at along(...), whose derivative parts are
/// read with derivative_of().
#pragma once

#include "dynamics/trees/joint_coordinates.h"
#include "dynamics/trees/tree_parameters.h"
#include "engine/dual.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

using Dual1 = Dual<double, 1>;

/// x + eps x_dot.
template <int n>
[[nodiscard]] Eigen::Matrix<Dual1, n, 1> along(const Eigen::Matrix<double, n, 1>& x,
                                               const Eigen::Matrix<double, n, 1>& x_dot) {
  Eigen::Matrix<Dual1, n, 1> moved(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) moved[i] = Dual1(x[i], {x_dot[i]});
  return moved;
}

/// q (+) eps q_dot.
[[nodiscard]] VecX<Dual1> coordinates_along(const KinematicTrees& trees, const VecX<double>& q,
                                            const VecX<double>& q_dot);

[[nodiscard]] TreeParameters<Dual1> along(const TreeParameters<double>& parameters,
                                          const TreeParametersTangent& direction);

/// Derivative part of a vector or matrix.
template <typename Derived>
[[nodiscard]] auto derivative_of(const Eigen::MatrixBase<Derived>& x) {
  return x.unaryExpr([](const Dual1& number) { return number.d[0]; }).eval();
}

/// Tangent [dtheta; dp] of a pose.
[[nodiscard]] inline Vec6<double> derivative_of(const Pose<Dual1>& X) {
  const Quat<double> value(X.q.w().value, X.q.x().value, X.q.y().value, X.q.z().value);
  const Quat<double> rate(X.q.w().d[0], X.q.x().d[0], X.q.y().d[0], X.q.z().d[0]);
  return stack<double>(2.0 * (rate * value.conjugate()).vec(), derivative_of(X.p));
}

/// Tangent (nv) of the coordinates of links in a range; others are not written.
void coordinate_derivative(const KinematicTrees& trees, const Tree& part, const VecX<Dual1>& q,
                           VecX<double>& q_dot);

}  // namespace abut
