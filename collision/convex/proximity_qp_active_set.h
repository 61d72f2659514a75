/// A primal active-set method for proximity programs: exact to rounding, one problem at a time.
///
/// From x = 0, with a working set W of constraints that hold with equality:
///   P p + G_W^T y_W = -(P x + c),   G_W p = 0   gives the step p and the multipliers y_W.
/// The step ends at the first constraint that it meets, which joins W. After a whole step the constraint with
/// the least multiplier leaves W if that is < 0; else x is optimal. The objective falls with every whole
/// step, no working set comes twice, and there are finitely many.
/// @see  Nocedal, Wright (2006), "Numerical optimization", algorithm 16.3. The document enumerates the nine
///       sets of two segments (algorithm 4), for which collision/capsule_distance.h has a closed form.
#pragma once

#include <Eigen/Core>
#include <Eigen/LU>

#include "collision/convex/proximity_qp_program.h"

namespace abut {

/// Never throws or allocates. Not converged after 10 m steps, or with NaN.
template <int dim_A, int m_A, int dim_B, int m_B>
[[nodiscard]] ProximitySolution<double, dim_A + dim_B, m_A + m_B> active_set(
    const ProximityProgram<double, dim_A, m_A, dim_B, m_B>& program) {
  constexpr int n = dim_A + dim_B, m = m_A + m_B;
  using Kkt = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 2 * n, 2 * n>;
  using Step = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 2 * n, 1>;
  ProximitySolution<double, n, m> r{};
  Eigen::Matrix<double, m, n> G = Eigen::Matrix<double, m, n>::Zero();
  Eigen::Matrix<double, n, n> P;
  double scale = 1.0;
  for (int i = 0; i < m_A; ++i) {
    for (int k = 0; k < dim_A; ++k) G(i, k) = program.G_A[i][k];
  }
  for (int i = 0; i < m_B; ++i) {
    for (int k = 0; k < dim_B; ++k) G(m_A + i, dim_A + k) = program.G_B[i][k];
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) P(i, j) = program.P[i][j];
    scale = std::max(scale, std::abs(program.c[i]));
  }
  Eigen::Map<Eigen::Matrix<double, n, 1>> x(r.x);
  const Eigen::Map<const Eigen::Matrix<double, n, 1>> c(program.c);

  int working[n];
  int count = 0;
  bool is_in_working[m] = {};
  for (int iteration = 0; iteration < 10 * m; ++iteration) {
    r.iterations = iteration + 1;
    Kkt K = Kkt::Zero(n + count, n + count);
    Step right = Step::Zero(n + count);
    K.template topLeftCorner<n, n>() = P;
    right.template head<n>() = -(P * x + c);
    for (int k = 0; k < count; ++k) {
      K.row(n + k).template head<n>() = G.row(working[k]);
      K.col(n + k).template head<n>() = G.row(working[k]).transpose();
    }
    const Step solution = Eigen::FullPivLU<Kkt>(K).setThreshold(1e-16).solve(right);
    const Eigen::Matrix<double, n, 1> p = solution.template head<n>();

    double step = 1.0;
    int met = -1;
    for (int i = 0; i < m && count < n; ++i) {
      const double rate = G.row(i).dot(p);
      if (is_in_working[i] || rate <= 1e-14 * G.row(i).norm() * p.norm()) continue;
      const double until = std::max(0.0, 1.0 - G.row(i).dot(x)) / rate;
      if (until < step) step = until, met = i;
    }
    x += step * p;
    if (met >= 0) {
      working[count++] = met;
      is_in_working[met] = true;
      continue;
    }
    int leaving = -1;
    double least = -1e-14 * scale;
    for (int k = 0; k < count; ++k) {
      if (solution[n + k] < least) least = solution[n + k], leaving = k;
    }
    if (leaving < 0) {
      for (int k = 0; k < count; ++k) r.y[working[k]] = std::max(0.0, solution[n + k]);
      r.converged = x.allFinite() ? 1.0 : 0.0;
      break;
    }
    is_in_working[working[leaving]] = false;
    working[leaving] = working[--count];
  }
  for (int i = 0; i < m; ++i) r.s[i] = is_in_working[i] ? 0.0 : std::max(0.0, 1.0 - G.row(i).dot(x));
  return r;
}

}  // namespace abut
