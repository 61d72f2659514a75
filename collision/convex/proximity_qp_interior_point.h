/// Mehrotra's predictor-corrector interior-point method for proximity programs, many at once in lanes.
///
/// Solves the perturbed optimality conditions
///   P x + c + G^T y = 0,   s = 1 - G x > 0,   y > 0,   s_i y_i = kappa
/// by Newton steps. kappa = 0 is the program itself; for kappa > 0 the solution minimises the objective less
/// kappa sum_i log s_i and is smooth in all that the program is made of. The start x = 0, s = 1 is inside, so
/// that primal residuals vanish throughout. A step solves twice with one factorization, weights y/s:
///   (P + G^T D(y/s) G) dx = -residual - G^T (rho/s),   ds = -G dx,   dy = (rho - y ds)/s,
/// predictor: rho = kappa - s y; corrector: rho = target - s y - ds dy. 0.99 of the way to the boundary.
/// @see  Nocedal, Wright (2006), "Numerical optimization", section 16.6; Mehrotra (1992); Tracy, Manchester
///       (2024), "On the differentiability of the primal-dual interior-point method", for kappa.
#pragma once

#include <limits>

#include "collision/convex/proximity_qp_factors.h"
#include "collision/convex/proximity_qp_program.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"

namespace abut {

/// Numbers without a dimension, for a plain type T.
template <typename T>
struct InteriorPointSettings {
  /// s_i y_i of the solution, >= 0; at least least_kappa max(1, |c|)^2. The cores are then farther apart than
  /// they could be, by less than m kappa ell^2/delta, and by less than sqrt(2 m kappa) ell in any case.
  T kappa = T(0);
  /// Below it weights y/s grow so large that rounding buries Lambda (proximity_qp_factors.h).
  T least_kappa = sizeof(T) == 4 ? T(1e-6) : T(1e-15);
  T centrality = sizeof(T) == 4 ? T(0.5) : T(1e-2);  ///< where it stops: greatest |s_i y_i - kappa|/kappa
  /// Where it stops: greatest |P x + c + G^T y| by max(1, |c|). Rounding leaves the more the farther apart
  /// the slacks of active constraints are; that is an error of multipliers, not of x.
  T residual = sizeof(T) == 4 ? T(1e-3) : T(1e-10);
  int max_iterations = 30;  ///< of a lane and its pack; ordinary are 11 in double and 6 in float
};

namespace proximity_qp_detail {

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S larger(const S& a, const S& b) {
  return select(a < b, b, a);
}
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S magnitude(const S& x) {
  return select(x < S(0), S(-x), x);
}

}  // namespace proximity_qp_detail

/// All lanes go on until the last has converged; a lane that has stays where it is, and does not depend on
/// the others. Never throws; NaN in, NaN out, not converged.
template <typename S, int dim_A, int m_A, int dim_B, int m_B, typename T>
[[nodiscard]] ABUT_KERNEL_PART ProximitySolution<S, dim_A + dim_B, m_A + m_B> interior_point(
    const ProximityProgram<S, dim_A, m_A, dim_B, m_B>& program, const InteriorPointSettings<T>& settings) {
  using namespace proximity_qp_detail;
  constexpr int n = dim_A + dim_B, m = m_A + m_B;
  constexpr T k_huge = std::numeric_limits<T>::max();
  constexpr int k_corrected_steps = 12;
  ProximitySolution<S, n, m> r;
  S scale(1), start(0.05);
  for (int j = 0; j < n; ++j) {
    r.x[j] = S(0);
    scale = larger(scale, magnitude(program.c[j]));
    start = start + S(0.3) * magnitude(program.c[j]);
  }
  for (int i = 0; i < m; ++i) {
    r.s[i] = S(1);
    r.y[i] = start;
  }
  r.iterations = S(0);
  const S kappa = larger(S(settings.kappa), S(S(settings.least_kappa) * scale * scale)),
          gap_tolerance = S(settings.centrality) * kappa, residual_tolerance = S(settings.residual) * scale;
  for (int iteration = 0;; ++iteration) {
    S residual[n], product[m], sum(0), gap(0), largest_residual(0);
    program.gradient(r.x, residual);
    program.add_transposed(r.y, residual);
    for (int i = 0; i < m; ++i) {
      product[i] = r.s[i] * r.y[i];
      sum = sum + product[i];
      gap = larger(gap, magnitude(S(product[i] - kappa)));
    }
    for (int j = 0; j < n; ++j) largest_residual = larger(largest_residual, magnitude(residual[j]));
    const auto is_done =
        gap <= gap_tolerance && largest_residual <= residual_tolerance && sum < S(k_huge);  // false of NaN
    r.converged = select(is_done, S(1), S(0));
    if (all(is_done) || iteration == settings.max_iterations) return r;

    S inverse_s[m], weight[m], dx[n], ds[m], dy[m], rho[m];
    for (int i = 0; i < m; ++i) {
      inverse_s[i] = S(1) / r.s[i];
      weight[i] = r.y[i] * inverse_s[i];
    }
    const ProximityFactors<S, n> factors(program, weight);
    const auto solve = [&] {
      S scaled[m], Gdx[m];
      for (int i = 0; i < m; ++i) scaled[i] = -rho[i] * inverse_s[i];
      for (int j = 0; j < n; ++j) dx[j] = -residual[j];
      program.add_transposed(scaled, dx);
      factors.solve(dx);
      program.times(dx, Gdx);
      for (int i = 0; i < m; ++i) {
        ds[i] = -Gdx[i];
        dy[i] = weight[i] * Gdx[i] - scaled[i];
      }
    };
    // The largest share of the step, 1 at most, that stays inside.
    const auto longest_step = [&](const S& share) {
      S fastest = share;
      for (int i = 0; i < m; ++i) {
        fastest = larger(fastest, larger(S(-ds[i] * inverse_s[i]), S(-dy[i] / r.y[i])));
      }
      return S(share / fastest);
    };

    for (int i = 0; i < m; ++i) rho[i] = kappa - product[i];
    solve();
    const S predicted_step = longest_step(S(1));
    S predicted(0);
    for (int i = 0; i < m; ++i) {
      predicted = predicted + (r.s[i] + predicted_step * ds[i]) * (r.y[i] + predicted_step * dy[i]);
    }
    const S ratio = predicted / sum;
    // Unless the predictor went far its products mislead; a few programs go in circles by them.
    const S share = iteration < k_corrected_steps ? S(predicted_step * predicted_step) : S(0);
    const S target = larger(kappa, S(ratio * ratio * ratio * sum * S(1.0 / m)));
    for (int i = 0; i < m; ++i) rho[i] = target - product[i] - share * ds[i] * dy[i];
    solve();
    const S step = longest_step(S(0.99));
    const auto move = [&](S& value, const S& direction) {
      value = select(is_done, value, S(value + step * direction));
    };
    for (int j = 0; j < n; ++j) move(r.x[j], dx[j]);
    for (int i = 0; i < m; ++i) {
      move(r.s[i], ds[i]);
      move(r.y[i], dy[i]);
    }
    r.iterations = r.iterations + select(is_done, S(0), S(1));
  }
}

}  // namespace abut
