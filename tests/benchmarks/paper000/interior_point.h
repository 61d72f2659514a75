/// A primal-dual interior-point method for the quadratic programs of witness points, and a log barrier's
/// minimiser: the slower ways to the same points, written to be as fast as they go.
///
/// Perturbed optimality conditions of  min f(x), s = h - G x >= 0,  with multipliers y >= 0:
///   Q x + c + G^T y = 0,   s_i y_i = kappa.
/// Their solution minimises f(x) - kappa sum_i log s_i; it is smooth for kappa > 0 and exact as kappa -> 0.
/// Newton steps with Mehrotra's predictor and corrector, from a point inside, so that s = h - G x always.
/// @see  Nocedal, Wright (2006), "Numerical optimization", section 16.6; the smoothing is that of Tracy,
///       Manchester (2024), "On the differentiability of the primal-dual interior-point method".
#pragma once

#include <array>
#include <cstddef>

#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "quadratic_program.h"

namespace abut::paper000 {

template <typename T>
struct InteriorPointSettings {
  T kappa;                  ///< s_i y_i where it ends, >= 0
  T gradient_tolerance;     ///< on |Q x + c + G^T y|, largest element
  T gap_tolerance;          ///< on |s_i y_i - kappa|
  int max_iterations = 40;  ///< of a lane and its pack
};

template <typename S>
struct InteriorPointAnswer {
  std::array<S, 2> x;
  S iterations;        ///< Newton steps of the lane
  bool has_converged;  ///< all lanes
};

namespace interior_point_detail {

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S magnitude(const S& x) {
  return select(x < S(0), S(-x), x);
}
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S larger(const S& a, const S& b) {
  return select(a < b, b, a);
}

}  // namespace interior_point_detail

/// All lanes go on until the last has converged; a lane that has stays where it is.
template <typename Set, typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART InteriorPointAnswer<S> interior_point(
    const QuadraticProgram<S>& program, const InteriorPointSettings<T>& settings) {
  using namespace interior_point_detail;
  constexpr std::size_t m = Set::k_rows;
  const S kappa(settings.kappa);
  InteriorPointAnswer<S> r{{S(Set::k_centre), S(Set::k_centre)}, S(0), false};
  std::array<S, m> s = Set::slacks(r.x), y;
  {
    const std::array<S, 2> g = program.gradient(r.x);  // too small a start, near a flat place, would jam
    const S start =
        S(0.3) * (magnitude(g[0]) + magnitude(g[1])) + S(0.05) * (program.Q11 + program.Q22) + S(4) * kappa;
    for (std::size_t i = 0; i < m; ++i) y[i] = start;
  }
  for (int iteration = 0; iteration <= settings.max_iterations; ++iteration) {
    std::array<S, 2> residual = program.gradient(r.x);
    const std::array<S, 2> force = Set::transposed_times(y);
    for (std::size_t j = 0; j < 2; ++j) residual[j] = residual[j] + force[j];
    std::array<S, m> product;
    S sum(0), gap(0);
    for (std::size_t i = 0; i < m; ++i) {
      product[i] = s[i] * y[i];
      sum = sum + product[i];
      gap = larger(gap, magnitude(S(product[i] - kappa)));
    }
    const auto is_done =
        larger(magnitude(residual[0]), magnitude(residual[1])) <= S(settings.gradient_tolerance) &&
        gap <= S(settings.gap_tolerance);
    if (all(is_done)) {
      r.has_converged = true;
      break;
    }

    // (Q + G^T diag(y/s) G) dx = -residual - G^T(rho/s),  ds = -G dx,  dy = (rho - y ds)/s
    std::array<S, m> inverse_s, weight;
    for (std::size_t i = 0; i < m; ++i) {
      inverse_s[i] = inverse_of(s[i]);
      weight[i] = y[i] * inverse_s[i];
    }
    const std::array<S, 3> GWG = Set::normal_matrix(weight);
    const S H11 = program.Q11 + GWG[0], H12 = program.Q12 + GWG[1], inverse_H11 = inverse_of(H11);
    const S factor = H12 * inverse_H11, inverse_pivot = H11 * inverse_of(Set::determinant(program, weight));
    std::array<S, 2> dx;
    std::array<S, m> ds, dy;
    const auto solve = [&](const std::array<S, m>& rho) {
      std::array<S, m> scaled;
      for (std::size_t i = 0; i < m; ++i) scaled[i] = rho[i] * inverse_s[i];
      const std::array<S, 2> right = Set::transposed_times(scaled);
      const S b1 = -residual[0] - right[0], b2 = -residual[1] - right[1];
      dx[1] = (b2 - factor * b1) *
              inverse_pivot;  // by elimination: Cramer's rule loses dy where weights are large
      dx[0] = (b1 - H12 * dx[1]) * inverse_H11;
      const std::array<S, m> Gdx = Set::times(dx);
      for (std::size_t i = 0; i < m; ++i) {
        ds[i] = -Gdx[i];
        dy[i] = scaled[i] + weight[i] * Gdx[i];
      }
    };
    std::array<S, m> inverse_y;
    for (std::size_t i = 0; i < m; ++i) inverse_y[i] = inverse_of(y[i]);
    const auto longest_step = [&](const S& share) {
      S fastest = share;  // so that the step is 1 at most
      for (std::size_t i = 0; i < m; ++i) {
        fastest = larger(fastest, larger(S(-ds[i] * inverse_s[i]), S(-dy[i] * inverse_y[i])));
      }
      return S(share * inverse_of(fastest));
    };

    std::array<S, m> rho;
    for (std::size_t i = 0; i < m; ++i) rho[i] = kappa - product[i];
    solve(rho);
    const S predicted_step = longest_step(S(1));
    S predicted(0);
    for (std::size_t i = 0; i < m; ++i) {
      predicted = predicted + (s[i] + predicted_step * ds[i]) * (y[i] + predicted_step * dy[i]);
    }
    const S ratio = predicted * inverse_of(sum);
    const S target = larger(kappa, S(ratio * ratio * ratio * sum * S(1.0 / static_cast<double>(m))));
    for (std::size_t i = 0; i < m; ++i) rho[i] = target - product[i] - ds[i] * dy[i];
    solve(rho);
    const S step = longest_step(S(0.99));
    const auto move = [&](S& value, const S& direction) {
      value = select(is_done, value, S(value + step * direction));  // those of a lane that is done may be NaN
    };
    for (std::size_t j = 0; j < 2; ++j) move(r.x[j], dx[j]);
    for (std::size_t i = 0; i < m; ++i) {
      move(s[i], ds[i]);
      move(y[i], dy[i]);
    }
    r.iterations = r.iterations + select(is_done, S(0), S(1));
  }
  return r;
}

}  // namespace abut::paper000
