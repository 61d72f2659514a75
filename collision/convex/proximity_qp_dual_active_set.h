/// The dual active-set method of Goldfarb and Idnani for proximity programs: the fastest for one pair.
///
/// From the unconstrained minimum on, the constraint that is violated most joins the active ones, which lose
/// those whose multipliers would become negative on the way; the objective only rises. With J J^T = P^-1 and
/// the normals N of the active constraints, J^T N = [R; 0], R upper triangular. A violated constraint with
/// the normal n has d = J^T n, and along it
///   x moves by z = J_2 d_2,   multipliers of active constraints by -R^-1 d_1,
/// where J_2 are the columns of J beyond those of R. J and R are updated by rotations.
///
/// x is not as exact as that of active_set(): J has entries up to lambda^(-1/2) = 1e5 in flat directions, and
/// what they lose moves closest points along parallel features, and distances by 1e-10 ell.
/// @see  Goldfarb, Idnani (1983), "A numerically stable dual method for solving strictly convex quadratic
///       programs", Mathematical Programming 27.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "collision/convex/proximity_qp_factors.h"
#include "collision/convex/proximity_qp_program.h"

namespace abut {

namespace proximity_qp_detail {

/// Rotates (a, b) to (|(a, b)|, 0), and columns of J and rows of R with it.
struct Rotation {
  double c = 1.0, s = 0.0;

  Rotation(double& a, double& b) {
    const double length = std::sqrt(a * a + b * b);
    if (length > 0.0) c = a / length, s = b / length;
    a = length;
    b = 0.0;
  }
  void operator()(double& a, double& b) const {
    const double rotated = c * a + s * b;
    b = c * b - s * a;
    a = rotated;
  }
};

}  // namespace proximity_qp_detail

/// Never throws or allocates. Not converged after 10 m changes of the active constraints, or with NaN.
template <int dim_A, int m_A, int dim_B, int m_B>
[[nodiscard]] ProximitySolution<double, dim_A + dim_B, m_A + m_B> dual_active_set(
    const ProximityProgram<double, dim_A, m_A, dim_B, m_B>& program) {
  using proximity_qp_detail::Rotation;
  constexpr int n = dim_A + dim_B, m = m_A + m_B;
  constexpr double k_rounding = 4e-15, k_dependent = 1e-20;
  ProximitySolution<double, n, m> r{};

  // J = R^-1 of the triangular factor of P, by columns; x = -J J^T c
  double rows[3 + n][n] = {}, J[n][n] = {};
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < 3; ++i) rows[i][j] = program.F[i][j];
    rows[3 + j][j] = program.root_lambda[j];
  }
  proximity_qp_detail::triangularize(rows);
  for (int j = 0; j < n; ++j) {
    for (int i = j; i >= 0; --i) {
      double sum = i == j ? 1.0 : 0.0;
      for (int k = i + 1; k <= j; ++k) sum -= rows[i][k] * J[j][k];
      J[j][i] = sum / rows[i][i];
    }
  }
  for (int j = 0; j < n; ++j) {
    double along = 0.0;
    for (int i = 0; i <= j; ++i) along += J[j][i] * program.c[i];
    for (int i = 0; i <= j; ++i) r.x[i] -= along * J[j][i];
  }

  // The normal of constraint i, -g_i, has components [first, last).
  const auto first = [](int i) { return i < m_A ? 0 : dim_A; };
  const auto last = [](int i) { return i < m_A ? dim_A : n; };
  const auto g = [&](int i, int k) { return i < m_A ? program.G_A[i][k] : program.G_B[i - m_A][k - dim_A]; };
  double R[n][n] = {}, u[n] = {};  // R by columns
  int active[n] = {}, count = 0;
  bool is_active[m] = {};
  for (int change = 0;;) {
    int worst = -1;
    double most = 0.0;
    for (int i = 0; i < m; ++i) {
      double Gx = 0.0, size = 1.0;
      for (int k = first(i); k < last(i); ++k) {
        Gx += g(i, k) * r.x[k];
        size += std::abs(g(i, k) * r.x[k]);
      }
      r.s[i] = is_active[i] ? 0.0 : std::max(0.0, 1.0 - Gx);
      if (!is_active[i] && Gx - 1.0 > std::max(most, k_rounding * size)) most = Gx - 1.0, worst = i;
    }
    r.iterations = change;
    if (worst < 0) {
      double sum = 0.0;
      for (int k = 0; k < n; ++k) sum += r.x[k];
      for (int k = 0; k < count; ++k) r.y[active[k]] = u[k];
      r.converged = std::isfinite(sum) ? 1.0 : 0.0;
      return r;
    }
    double multiplier = 0.0;
    for (bool has_joined = false; !has_joined; ++change) {
      if (change >= 10 * m) return r;
      double d[n], z[n] = {}, d_1[n], squared = 0.0, all = 0.0;
      for (int j = 0; j < n; ++j) {
        d[j] = 0.0;
        for (int k = first(worst); k < last(worst); ++k) d[j] -= J[j][k] * g(worst, k);
        all += d[j] * d[j];
        if (j < count) continue;
        squared += d[j] * d[j];
        for (int k = 0; k < n; ++k) z[k] += d[j] * J[j][k];
      }
      double dual_step = std::numeric_limits<double>::infinity();
      int leaving = -1;
      for (int k = count - 1; k >= 0; --k) {
        d_1[k] = d[k];
        for (int j = k + 1; j < count; ++j) d_1[k] -= R[j][k] * d_1[j];
        d_1[k] /= R[k][k];
        if (d_1[k] > 0.0 && u[k] < dual_step * d_1[k]) dual_step = u[k] / d_1[k], leaving = k;
      }
      double gap = -1.0;
      for (int k = first(worst); k < last(worst); ++k) gap += g(worst, k) * r.x[k];
      const bool can_move = squared > k_dependent * all;
      const double whole_step = can_move ? gap / squared : std::numeric_limits<double>::infinity();
      const double step = std::min(dual_step, whole_step);
      if (!(step < std::numeric_limits<double>::infinity())) return r;
      for (int k = 0; k < count; ++k) u[k] = std::max(0.0, u[k] - step * d_1[k]);
      multiplier += step;
      if (can_move) {
        for (int k = 0; k < n; ++k) r.x[k] += step * z[k];
      }
      has_joined = whole_step <= dual_step;
      if (has_joined) {
        for (int j = n - 2; j >= count; --j) {
          const Rotation rotate(d[j], d[j + 1]);
          for (int k = 0; k < n; ++k) rotate(J[j][k], J[j + 1][k]);
        }
        for (int k = 0; k <= count; ++k) R[count][k] = d[k];
        u[count] = multiplier;
        active[count++] = worst;
        is_active[worst] = true;
      } else {
        is_active[active[leaving]] = false;
        for (int j = leaving; j + 1 < count; ++j) {
          active[j] = active[j + 1];
          u[j] = u[j + 1];
          std::copy(&R[j + 1][0], &R[j + 1][0] + n, &R[j][0]);
        }
        --count;
        for (int j = leaving; j < count; ++j) {
          const Rotation rotate(R[j][j], R[j][j + 1]);
          for (int k = j + 1; k < count; ++k) rotate(R[k][j], R[k][j + 1]);
          for (int k = 0; k < n; ++k) rotate(J[j][k], J[j + 1][k]);
        }
      }
    }
  }
}

}  // namespace abut
