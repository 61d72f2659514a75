/// Six numbers of which every choice is the inertia of a possible body.
///
/// With the second moments Sigma = int rho x x^T dV about the centre of mass, I = tr(Sigma) 1 - Sigma, a body
/// of mass m has Sigma = m S S^T,
///   S = (e^c0  c3   c5 )
///       ( 0   e^c1  c4 )   [m].
///       ( 0    0   e^c2)
/// Sigma is positive definite whatever the c, which is all that physics asks (and more than a positive
/// definite I would say: its principal moments obey the triangle inequalities, too). I is in proportion to m.
///
/// @see  Rucker, Wensing (2022), "Smooth parameterization of rigid-body inertia": the log-Cholesky factors
///       of the pseudo-inertia; these are those of them that mass and centre of mass leave.
#pragma once

#include <Eigen/Core>

#include "engine/types.h"

namespace abut {

/// S of the coordinates c.
template <typename S>
[[nodiscard]] Mat3<S> inertia_factor(const Vec6<S>& c) {
  using std::exp;
  Mat3<S> factor = Mat3<S>::Zero();
  factor(0, 0) = exp(c[0]);
  factor(1, 1) = exp(c[1]);
  factor(2, 2) = exp(c[2]);
  factor(0, 1) = c[3];
  factor(1, 2) = c[4];
  factor(0, 2) = c[5];
  return factor;
}

/// I = tr(Sigma) 1 - Sigma, and the way back is its own: Sigma = tr(I)/2 1 - I.
template <typename S>
[[nodiscard]] Mat3<S> inertia_of_moments(const Mat3<S>& moments) {
  return Mat3<S>(moments.trace() * Mat3<S>::Identity() - moments);
}

/// The inertia about the centre of mass [kg m^2] of a body of a mass [kg].
template <typename S>
[[nodiscard]] Mat3<S> inertia_from_coordinates(const S& mass, const Vec6<S>& c) {
  const Mat3<S> factor = inertia_factor(c);
  return inertia_of_moments<S>(mass * (factor * factor.transpose()));
}

/// d(inertia)/d(c_i), the mass held fixed.
[[nodiscard]] inline Mat3<double> inertia_coordinate_direction(double mass, const Vec6<double>& c, int i) {
  const Mat3<double> factor = inertia_factor(c);
  Mat3<double> change = Mat3<double>::Zero();
  if (i < 3) change(i, i) = factor(i, i);
  if (i == 3) change(0, 1) = 1.0;
  if (i == 4) change(1, 2) = 1.0;
  if (i == 5) change(0, 2) = 1.0;
  const Mat3<double> product = mass * change * factor.transpose();
  return inertia_of_moments<double>(product + product.transpose());
}

/// The coordinates of an inertia. NaN for one that no body has.
[[nodiscard]] Vec6<double> inertia_coordinates(double mass, const Mat3<double>& inertia);

}  // namespace abut
