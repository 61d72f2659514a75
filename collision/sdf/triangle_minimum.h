/// The least signed distance on a triangle: by Frank and Wolfe's method, and by projections.
///
/// minimise phi(x) over x = sum_i b_i v_i, b_i >= 0, sum b_i = 1. Both start at the vertex with the least
/// phi. phi may be any function with a gradient. Where it is not convex on the triangle, as of a union, they
/// find a local minimum; where it has kinks, as on the medial planes inside a box, they may end short of one.
///
///   Frank-Wolfe   x_{k+1} = x_k + 2/(k + 2) (s_k - x_k),   s_k the vertex with the least grad phi(x_k).s,
///                 needs no projection and no step search, has no branch and runs in lanes. The first step
///                 reaches s_0 whatever x_0 is. For convex phi with curvature up to C,
///                   phi(x_k) - phi* <= 2 C diameter^2/(k + 2),
///                 and phi(x_k) + grad phi(x_k).(s_k - x_k) <= phi*, a certificate that costs nothing. Steps
///                 do not descend: the least of all iterates is taken, not the last.
///   projections   x_{k+1} = P(x_k - t grad phi(x_k)), P onto the triangle, t by backtracking: exact to
///                 rounding, for comparison.
/// @see  Macklin et al. (2020), "Local optimization for robust signed distance field collision"; Strecke,
///       Stueckler (2021), "DiffSDFSim", which takes 32 steps; Jaggi (2013), "Revisiting Frank-Wolfe".
#pragma once

#include <algorithm>
#include <cmath>

#include "collision/fitting/triangle_geometry.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

template <typename S>
struct TriangleMinimum {
  S weights[3];  ///< b, barycentric coordinates
  S distance;    ///< phi(x) [m]
  S bound;       ///< phi* is not less, for convex phi [m]

  [[nodiscard]] Vec3<S> point(const Vec3<S> (&corners)[3]) const {
    Vec3<S> x;
    for (int i = 0; i < 3; ++i)
      x[i] = weights[0] * corners[0][i] + weights[1] * corners[1][i] + weights[2] * corners[2][i];
    return x;
  }
};

/// @param corners  v [m]
/// @param sdf      SdfSample<S> sdf(Vec3<S> x); its distance and gradient are used
/// Never throws; NaN in, NaN out.
template <typename S, typename Sdf>
[[nodiscard]] TriangleMinimum<S> frank_wolfe_minimum(const Vec3<S> (&corners)[3], const Sdf& sdf,
                                                     int iterations) {
  S distances[3];
  for (int k = 0; k < 3; ++k) distances[k] = sdf(corners[k]).distance;
  const auto first = distances[0] <= distances[1] && distances[0] <= distances[2];
  const auto second = !first && distances[1] <= distances[2];
  TriangleMinimum<S> at;
  at.weights[0] = select(first, S(1), S(0));
  at.weights[1] = select(second, S(1), S(0));
  at.weights[2] = S(1) - at.weights[0] - at.weights[1];
  TriangleMinimum<S> best = at;
  for (int i = 0;; ++i) {
    const Vec3<S> x = at.point(corners);
    const auto sample = sdf(x);
    at.distance = sample.distance;
    S slopes[3];  // grad phi.(v_k - x)
    for (int k = 0; k < 3; ++k) {
      slopes[k] = sample.gradient[0] * (corners[k][0] - x[0]) + sample.gradient[1] * (corners[k][1] - x[1]) +
                  sample.gradient[2] * (corners[k][2] - x[2]);
    }
    const auto to_first = slopes[0] <= slopes[1] && slopes[0] <= slopes[2];
    const auto to_second = !to_first && slopes[1] <= slopes[2];
    const S least = select(to_first, slopes[0], select(to_second, slopes[1], slopes[2]));
    at.bound = at.distance + least;
    if (i == 0) {
      best.distance = at.distance;
      best.bound = at.bound;
    } else {
      const auto is_less = at.distance < best.distance;
      best.distance = select(is_less, at.distance, best.distance);
      for (int k = 0; k < 3; ++k) best.weights[k] = select(is_less, at.weights[k], best.weights[k]);
      best.bound = select(at.bound > best.bound, at.bound, best.bound);
    }
    if (i == iterations) return best;
    const S step(2.0 / (i + 2)), kept = S(1) - step;
    at.weights[0] = kept * at.weights[0] + select(to_first, step, S(0));
    at.weights[1] = kept * at.weights[1] + select(to_second, step, S(0));
    at.weights[2] = kept * at.weights[2] + select(to_first || to_second, S(0), step);
  }
}

struct ProjectedMinimum {
  Vec3<double> point;  ///< x [m]
  double distance;     ///< phi(x) [m]
  double bound;        ///< phi* is not less, for convex phi [m]
};

/// The same by projections, of single numbers.
///
/// @param max_iterations  evaluations of sdf, at most
template <typename Sdf>
[[nodiscard]] ProjectedMinimum projected_minimum(const Vec3<double> (&corners)[3], const Sdf& sdf,
                                                 int max_iterations = 1000) {
  const Vec3<double>&a = corners[0], &b = corners[1], &c = corners[2];
  Vec3<double> x = a;
  auto sample = sdf(x);
  for (int k = 1; k < 3; ++k) {
    const auto other = sdf(corners[k]);
    if (other.distance < sample.distance) sample = other, x = corners[k];
  }
  const double size = std::max({(b - a).norm(), (c - b).norm(), (a - c).norm()});
  double step = size;
  for (int i = 0; i < max_iterations && step > 1e-14 * size; ++i) {
    const Vec3<double> target = x - step * sample.gradient;
    const Vec3<double> candidate = target - offset_from_triangle(target, a, b, c), moved = candidate - x;
    if (moved.norm() <= 1e-15 * size) break;
    const auto there = sdf(candidate);
    const double model = sample.distance + sample.gradient.dot(moved) + moved.squaredNorm() / (2.0 * step);
    if (there.distance < sample.distance && there.distance <= model) {
      x = candidate;
      sample = there;
      step = std::min(2.0 * step, 1e3 * size);
    } else {
      step *= 0.5;
    }
  }
  const double least =
      std::min({sample.gradient.dot(a - x), sample.gradient.dot(b - x), sample.gradient.dot(c - x)});
  return {x, sample.distance, sample.distance + least};
}

}  // namespace abut
