/// L-BFGS on a function over the unit square with a logarithmic barrier:
///   minimise  f(x) - kappa sum_j (log x_j + log(1 - x_j))
/// from the centre, with backtracking (Armijo) that stays inside. For a quadratic f the minimiser is that of
/// interior_point.h at the same kappa. The points of a face are parametrised bilinearly, since the method
/// takes boxes alone; then f is a polynomial of degree four, and the barrier another one.
/// @see  Nocedal, Wright (2006), "Numerical optimization", algorithm 7.4.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "interior_point.h"

namespace abut::paper000 {

/// |v - a - x_1 ((b - a) + x_2 (c - b))|^2/2
template <typename S>
struct BilinearFace {
  Vec3<S> e1, e2, d;  ///< b - a, c - b, v - a

  [[nodiscard]] ABUT_KERNEL_PART Vec3<S> residual(const std::array<S, 2>& x) const {
    Vec3<S> r;
    for (int i = 0; i < 3; ++i) r[i] = x[0] * (e1[i] + x[1] * e2[i]) - d[i];
    return r;
  }
  [[nodiscard]] ABUT_KERNEL_PART S value(const std::array<S, 2>& x) const {
    const Vec3<S> r = residual(x);
    return S(0.5) * dot(r, r);
  }
  [[nodiscard]] ABUT_KERNEL_PART std::array<S, 2> gradient(const std::array<S, 2>& x) const {
    const Vec3<S> r = residual(x);
    return {dot(r, e1) + x[1] * dot(r, e2), x[0] * dot(r, e2)};
  }
};

template <typename T>
struct BarrierSettings {
  T kappa;                  ///< > 0
  T gradient_tolerance;     ///< on the gradient of the sum, largest element
  int max_iterations = 60;  ///< of a lane and its pack
};

template <typename S>
struct BarrierAnswer {
  std::array<S, 2> x;
  S iterations;
  bool has_converged;  ///< all lanes
};

/// All lanes go on until the last has converged, or can no longer descend in the precision of its numbers.
template <typename Objective, typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART BarrierAnswer<S> barrier_lbfgs(const Objective& objective,
                                                              const BarrierSettings<T>& settings) {
  using std::log;
  using namespace interior_point_detail;
  using Point = std::array<S, 2>;
  constexpr int k_memory = 4, k_max_halvings = 20;
  const S kappa(settings.kappa), rounding(S(8) * S(std::numeric_limits<T>::epsilon()));

  const auto value = [&](const Point& x) {
    return S(objective.value(x) - kappa * log(x[0] * (S(1) - x[0]) * (x[1] * (S(1) - x[1]))));
  };
  const auto gradient = [&](const Point& x) {
    Point g = objective.gradient(x);
    for (std::size_t j = 0; j < 2; ++j) {
      g[j] = g[j] - kappa * (S(1) - S(2) * x[j]) * inverse_of(S(x[j] * (S(1) - x[j])));
    }
    return g;
  };

  BarrierAnswer<S> r{{S(0.5), S(0.5)}, S(0), false};
  std::array<Point, k_memory> steps, changes;  // a ring; newest at (count - 1) % k_memory
  std::array<S, k_memory> inverse_curvature;
  S initial_scale(1);
  int count = 0;
  Point g = gradient(r.x);
  S f = value(r.x);
  auto is_stuck = S(0) > S(1);
  for (int iteration = 0; iteration <= settings.max_iterations; ++iteration) {
    const auto is_done =
        is_stuck || larger(magnitude(g[0]), magnitude(g[1])) <= S(settings.gradient_tolerance);
    if (all(is_done)) {
      r.has_converged = !any(is_stuck);
      break;
    }
    Point d = {-g[0], -g[1]};
    const int oldest = count > k_memory ? count - k_memory : 0;
    std::array<S, k_memory> a;
    for (int k = count - 1; k >= oldest; --k) {
      const auto i = static_cast<std::size_t>(k % k_memory);
      a[i] = inverse_curvature[i] * (steps[i][0] * d[0] + steps[i][1] * d[1]);
      for (std::size_t j = 0; j < 2; ++j) d[j] = d[j] - a[i] * changes[i][j];
    }
    for (std::size_t j = 0; j < 2; ++j) d[j] = d[j] * initial_scale;
    for (int k = oldest; k < count; ++k) {
      const auto i = static_cast<std::size_t>(k % k_memory);
      const S b = inverse_curvature[i] * (changes[i][0] * d[0] + changes[i][1] * d[1]);
      for (std::size_t j = 0; j < 2; ++j) d[j] = d[j] + steps[i][j] * (a[i] - b);
    }
    S slope = g[0] * d[0] + g[1] * d[1];
    const auto ascends = !(slope < S(0));
    for (std::size_t j = 0; j < 2; ++j) d[j] = select(ascends, S(-g[j]), d[j]);
    slope = select(ascends, S(-(g[0] * g[0] + g[1] * g[1])), slope);

    S fastest(0.9);  // at most 0.9 of the way to the nearest side
    for (std::size_t j = 0; j < 2; ++j) {
      fastest =
          larger(fastest, larger(S(-d[j] * inverse_of(r.x[j])), S(d[j] * inverse_of(S(S(1) - r.x[j])))));
    }
    S t = S(0.9) * inverse_of(fastest);
    const S slack = rounding * (magnitude(f) + kappa);
    Point x;
    S f_new;
    auto is_accepted = is_done;
    for (int halving = 0;; ++halving) {
      for (std::size_t j = 0; j < 2; ++j) x[j] = r.x[j] + t * d[j];
      f_new = value(x);
      is_accepted = is_done || f_new <= f + S(1e-4) * t * slope + slack;
      if (all(is_accepted) || halving == k_max_halvings) break;
      t = select(is_accepted, t, S(S(0.5) * t));
    }
    is_stuck = is_stuck || !is_accepted;
    const auto stays = is_done || is_stuck;

    const Point g_new = gradient(x);
    const auto i = static_cast<std::size_t>(count % k_memory);
    S curvature(0), square(0);
    for (std::size_t j = 0; j < 2; ++j) {
      steps[i][j] = select(stays, S(0), S(x[j] - r.x[j]));
      changes[i][j] = select(stays, S(0), S(g_new[j] - g[j]));
      curvature = curvature + steps[i][j] * changes[i][j];
      square = square + changes[i][j] * changes[i][j];
      r.x[j] = select(stays, r.x[j], x[j]);
      g[j] = select(stays, g[j], g_new[j]);
    }
    f = select(stays, f, f_new);
    const auto is_convex = curvature > S(std::numeric_limits<T>::min());
    inverse_curvature[i] = select(is_convex, S(S(1) / select(is_convex, curvature, S(1))), S(0));
    initial_scale = select(is_convex, S(curvature / select(is_convex, square, S(1))), initial_scale);
    ++count;
    r.iterations = r.iterations + select(stays, S(0), S(1));
  }
  return r;
}

}  // namespace abut::paper000
