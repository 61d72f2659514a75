#pragma once

#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "tests/support/jet_support.h"

namespace abut::test {

// By ceres::Jet: the same maths, differentiated by another's rules ------------------------------------------

/// df/dx of a scalar function of one number.
template <typename F>
double jet_derivative(const F& f, double x) {
  return f(Jet<1>(x, 0)).v[0];
}

/// (N) gradient of a scalar function of a vector (N).
template <typename F, int N>
Eigen::Matrix<double, N, 1> jet_gradient(const F& f, const Eigen::Matrix<double, N, 1>& x) {
  return f(variables(x)).v;
}

/// (M, N) Jacobian of a function from a vector (N) to a vector or matrix of M elements, in storage order.
template <typename F, int N>
Eigen::Matrix<double, Eigen::Dynamic, N> jet_jacobian(const F& f, const Eigen::Matrix<double, N, 1>& x) {
  const auto y = f(variables(x)).eval();
  Eigen::Matrix<double, Eigen::Dynamic, N> J(y.size(), N);
  for (Eigen::Index i = 0; i < y.size(); ++i) J.row(i) = y.data()[i].v.transpose();
  return J;
}

// By central differences: the right maths, to about h^2 + 1e-16/h -------------------------------------------

/// (f(x + h) - f(x - h)) / 2h of a function that gives a number.
template <typename F>
double fd_derivative(const F& f, double x, double h) {
  const double forward = x + h, backward = x - h;  // steps as they are after rounding
  return (f(forward) - f(backward)) / (forward - backward);
}

/// (N) gradient of a scalar function of a vector (N, or dynamic).
template <typename F, int N>
Eigen::Matrix<double, N, 1> fd_gradient(const F& f, const Eigen::Matrix<double, N, 1>& x, double h) {
  Eigen::Matrix<double, N, 1> gradient = x;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const auto along = [&](double xi) {
      auto moved = x;
      moved[i] = xi;
      return f(moved);
    };
    gradient[i] = fd_derivative(along, x[i], h);
  }
  return gradient;
}

/// (M, N) Jacobian of a function from a vector (N, or dynamic) to a vector or matrix of M elements, in
/// storage order.
template <typename F, int N>
Eigen::Matrix<double, Eigen::Dynamic, N> fd_jacobian(const F& f, const Eigen::Matrix<double, N, 1>& x,
                                                     double h) {
  const auto column = [&](Eigen::Index i) {
    Eigen::Matrix<double, N, 1> forward = x, backward = x;
    forward[i] += h;
    backward[i] -= h;
    return ((f(forward) - f(backward)) / (forward[i] - backward[i])).eval();
  };
  Eigen::Matrix<double, Eigen::Dynamic, N> J(column(0).size(), x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const auto difference = column(i);
    for (Eigen::Index k = 0; k < difference.size(); ++k) J(k, i) = difference.data()[k];
  }
  return J;
}

/// The best that differences can say of a derivative.
struct SweptDerivative {
  double value = std::numeric_limits<double>::quiet_NaN();
  /// Estimate of its error: how far it is from its own neighbours.
  double error = std::numeric_limits<double>::infinity();
  /// No step was good to rtol and atol, or the two sides have different slopes.
  bool disagrees_with_itself = true;
};

/// Central differences with steps h, h/2, h/4, ... extrapolated to 0 (Ridders), where `value` is the estimate
/// that differs least from those it was made of. The two sides' slopes are compared as well: a central
/// difference alone is blind to a kink at x.
///
/// @param h  the largest step: about the distance over which f curves; f is evaluated at x - h ... x + h.
/// @see  Ridders (1982), "Accurate computation of F'(x) and F'(x)F''(x)", Adv. Eng. Software 4(2).
template <typename F>
SweptDerivative fd_sweep(const F& f, double x, double h, double rtol = 1e-7, double atol = 0.0) {
  constexpr int k_steps = 12;
  const double at_x = f(x), magnitude = std::abs(at_x);
  double table[k_steps][k_steps];
  SweptDerivative best;
  double best_h = h;
  for (int i = 0; i < k_steps; ++i, h *= 0.5) {
    table[0][i] = fd_derivative(f, x, h);
    double factor = 4.0;
    for (int j = 1; j <= i; ++j, factor *= 4.0) {
      table[j][i] = table[j - 1][i] + (table[j - 1][i] - table[j - 1][i - 1]) / (factor - 1.0);
      const double spread =
          std::fmax(std::abs(table[j][i] - table[j - 1][i]), std::abs(table[j][i] - table[j - 1][i - 1]));
      const double rounding = std::numeric_limits<double>::epsilon() * magnitude / h;
      const double error = spread + rounding;
      if (error < best.error) best.value = table[j][i], best.error = error, best_h = h;
    }
  }
  const auto bend = [&](double step) { return std::abs((f(x + step) - at_x) - (at_x - f(x - step))) / step; };
  const double noise = 8.0 * std::numeric_limits<double>::epsilon() * magnitude / best_h;
  const bool has_kink =
      bend(0.25 * best_h) > 0.5 * bend(best_h) + 4.0 * noise + rtol * std::abs(best.value) + atol;
  best.disagrees_with_itself = !(best.error <= rtol * std::abs(best.value) + atol) || has_kink;
  return best;
}

}  // namespace abut::test
