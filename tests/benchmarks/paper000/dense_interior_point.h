/// The same method as in interior_point.h as a library of quadratic programming has it: any n variables and m
/// rows, a start that need not be inside, a factorisation a step, and one problem at a time.
///
///   minimise  1/2 x^T Q x + c^T x  subject to  G x <= h
/// with s = h - G x reached along the way. The first point and the choice of the first slacks and multipliers
/// are those of OptNet's solver, which qpax took over.
/// @see  Amos, Kolter (2017), "OptNet", appendix; Mattingley, Boyd (2012), "CVXGEN".
#pragma once

#include <algorithm>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "interior_point.h"

namespace abut::paper000 {

template <typename T, int n, int m>
struct DenseProgram {
  Eigen::Matrix<T, n, n> Q;
  Eigen::Matrix<T, n, 1> c;
  Eigen::Matrix<T, m, n> G;
  Eigen::Matrix<T, m, 1> h;
};

template <typename T, int n>
struct DenseAnswer {
  Eigen::Matrix<T, n, 1> x;
  int iterations = 0;
  bool has_converged = false;
};

/// The rows of a set, as numbers.
template <typename Set, typename T>
[[nodiscard]] DenseProgram<T, 2, Set::k_rows> dense_program(const QuadraticProgram<T>& program) {
  DenseProgram<T, 2, Set::k_rows> r;
  r.Q << program.Q11, program.Q12, program.Q12, program.Q22;
  r.c << program.c1, program.c2;
  for (int i = 0; i < Set::k_rows; ++i) {
    r.h[i] = static_cast<T>(Set::k_h[i]);
    for (int j = 0; j < 2; ++j) r.G(i, j) = static_cast<T>(Set::k_G[i][j]);
  }
  return r;
}

template <typename T, int n, int m>
[[nodiscard]] DenseAnswer<T, n> dense_interior_point(const DenseProgram<T, n, m>& program,
                                                     const InteriorPointSettings<T>& settings) {
  using Rows = Eigen::Matrix<T, m, 1>;
  const auto& Q = program.Q;
  const auto& c = program.c;
  const auto& G = program.G;
  const auto& h = program.h;
  DenseAnswer<T, n> r;
  // min 1/2 x^T Q x + c^T x + |G x - h|^2/2, whose residual is the first guess of slacks and multipliers
  r.x = Eigen::LLT<Eigen::Matrix<T, n, n>>(Q + G.transpose() * G).solve(G.transpose() * h - c);
  const Rows outside = G * r.x - h;
  Rows s = -outside, y = outside;
  if (const T least = s.minCoeff(); least <= T(0)) s.array() += T(1) - least;
  if (const T least = y.minCoeff(); least <= T(0)) y.array() += T(1) - least;

  const auto longest_step = [](const Rows& value, const Rows& direction, T step) {
    for (int i = 0; i < m; ++i) {
      if (direction[i] < T(0)) step = std::min(step, -value[i] / direction[i]);
    }
    return step;
  };
  for (;; ++r.iterations) {
    const Eigen::Matrix<T, n, 1> gradient = Q * r.x + c + G.transpose() * y;
    const Rows violation = G * r.x + s - h;
    const Rows product = s.cwiseProduct(y);
    const T gap = (product.array() - settings.kappa).abs().maxCoeff();
    r.has_converged = gradient.cwiseAbs().maxCoeff() <= settings.gradient_tolerance &&
                      violation.cwiseAbs().maxCoeff() <= settings.gradient_tolerance &&
                      gap <= settings.gap_tolerance;
    if (r.has_converged || r.iterations == settings.max_iterations) return r;

    const Rows inverse_s = s.cwiseInverse(), weight = y.cwiseProduct(inverse_s);
    const Eigen::LLT<Eigen::Matrix<T, n, n>> factor(Q + G.transpose() * weight.asDiagonal() * G);
    Eigen::Matrix<T, n, 1> dx;
    Rows ds, dy;
    const auto solve = [&](const Eigen::Array<T, m, 1>& rho) {  // s dy + y ds = rho, G dx + ds = -violation
      const Rows scaled = inverse_s.cwiseProduct(rho.matrix()) + weight.cwiseProduct(violation);
      dx = factor.solve(-gradient - G.transpose() * scaled);
      const Rows Gdx = G * dx;
      ds = -violation - Gdx;
      dy = scaled + weight.cwiseProduct(Gdx);
    };
    solve(settings.kappa - product.array());
    const T predicted_step = longest_step(s, ds, longest_step(y, dy, T(1)));
    const T sum = product.sum();
    const T ratio = (s + predicted_step * ds).dot(y + predicted_step * dy) / sum;
    const T target = std::max(settings.kappa, ratio * ratio * ratio * sum / T(m));
    solve(target - product.array() - ds.array() * dy.array());
    const T step = std::min(T(1), T(0.99) * longest_step(s, ds, longest_step(y, dy, T(2))));
    r.x += step * dx;
    s += step * ds;
    y += step * dy;
  }
}

}  // namespace abut::paper000
