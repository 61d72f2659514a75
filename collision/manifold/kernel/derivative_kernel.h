/// The way back through a solid, by lanes: from signed distances and normals to points and primitives.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

#include "collision/manifold/convex_edges.h"
#include "collision/manifold/kernel/derivative_kernels.h"
#include "collision/manifold/kernel/solid_lanes.h"
#include "collision/sdf/parameter_vjp.h"
#include "engine/smooth.h"

namespace abut {
inline namespace ABUT_SIMD {

// Solids ----------------------------------------------------------------------------------------------------

using LaneSample = SdfSampleJacobian<Lanes<double>>;
using LaneBar = SampleBar<Lanes<double>>;

/// Adds dL/d(primitive) of a pack of points.
__attribute__((noinline)) ABUT_KERNEL inline void add_superquadric_bar(const Superquadric<double>& solid,
                                                                       const LaneBar& at,
                                                                       std::array<Lanes<double>, 5>& bar) {
  parameter_vjp(solid, at, bar);
}

/// Adds the numbers k of dL/d(primitive) of a pack of points: `add(k, pack)`.
template <typename Add>
void add_primitive_bar(const PreparedPrimitive<double>& primitive, const LaneBar& at, const Add& add) {
  using P = Lanes<double>;
  std::array<P, 5> parameters;
  parameters.fill(P(0));
  Vec3<P> centre(P(0), P(0), P(0));
  std::visit(
      [&](const auto& solid) {
        using Solid = std::remove_cvref_t<decltype(solid)>;
        if constexpr (std::is_same_v<Solid, Superquadric<double>>) {
          add_superquadric_bar(solid, at, parameters);
        } else if constexpr (k_has_parameter_vjp<Solid>) {
          parameter_vjp(solid, at, parameters);
        }
        if constexpr (std::is_same_v<Solid, HalfSpace<double>>) {
          for (int i = 0; i < 3; ++i) centre[i] = P(solid.point[i]);
        } else if constexpr (k_has_parameter_vjp<Solid>) {
          for (int i = 0; i < 3; ++i) centre[i] = P(solid.centre[i]);
        }
      },
      primitive.solid);
  // Moving the primitive by (theta, t) moves the point in it by -t - theta x (x - p), and turns n.
  const Vec3<P> turned = convex_edges_detail::cross(at.normal, at.normal_bar),
                arm(at.x[0] - centre[0], at.x[1] - centre[1], at.x[2] - centre[2]),
                moved_by = convex_edges_detail::cross(arm, at.x_bar);
  for (int k = 0; k < 5; ++k) add(k, parameters[static_cast<std::size_t>(k)]);
  for (int i = 0; i < 3; ++i) {
    add(5 + i, turned[i] - moved_by[i]);
    add(8 + i, -at.x_bar[i]);
  }
}

/// Distance, normal and their derivatives by the point; without normals only the gradient of the distance.
template <bool with_normals>
[[nodiscard]] LaneSample derivative_sample(const PreparedPrimitive<double>& primitive, DistanceMode mode,
                                           const Vec3<Lanes<double>>& x) {
  using P = Lanes<double>;
  constexpr SdfOrder order = with_normals ? SdfOrder::jacobian : SdfOrder::gradient;
  const auto* superquadric = std::get_if<Superquadric<double>>(&primitive.solid);
  const SdfAnswer<order, P> sample = superquadric != nullptr ? taubin_sample<order, P>(*superquadric, x)
                                                             : primitive_sample<order, P>(primitive, mode, x);
  LaneSample r;
  r.distance = sample.distance;
  r.gradient = sample.gradient;
  r.normal = sample.normal;
  if constexpr (with_normals) {
    r.normal_jacobian = sample.normal_jacobian;
  } else {
    r.normal_jacobian.setConstant(P(0));
  }
  return r;
}

inline void store_sample(const LaneSample& sample, double* to) {
  constexpr int W = Lanes<double>::k_lanes;
  sample.distance.store(to);
  for (int i = 0; i < 3; ++i) {
    sample.normal[i].store(to + (1 + i) * W);
    sample.gradient[i].store(to + (4 + i) * W);
    for (int j = 0; j < 3; ++j) sample.normal_jacobian(i, j).store(to + (7 + 3 * i + j) * W);
  }
}

[[nodiscard]] inline LaneSample load_sample(const double* from) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  LaneSample sample;
  sample.distance = P::load(from);
  for (int i = 0; i < 3; ++i) {
    sample.normal[i] = P::load(from + (1 + i) * W);
    sample.gradient[i] = P::load(from + (4 + i) * W);
    for (int j = 0; j < 3; ++j) sample.normal_jacobian(i, j) = P::load(from + (7 + 3 * i + j) * W);
  }
  return sample;
}

/// As ShapeSdf::parameter_vjp(), of a union: the sum over points, or each by itself.
template <bool with_normals, bool by_point = false>
void solid_vjp_of(const BoundedSolid& solid, const SolidBarColumns& columns, double* memory,
                  double* primitives_bar) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  constexpr double k_epsilon = std::numeric_limits<double>::epsilon();
  const auto& primitives = solid.sdf->primitives<double>();
  const DistanceMode mode = solid.sdf->distance_mode();
  const int added = solid.sdf->added();
  const P tau(solid.sdf->smoothing()), inverse_tau(1.0 / solid.sdf->smoothing());
  double* const numbers = memory + 16 * W * added;  // of the primitives that matter
  for (int first = 0; first < columns.count; first += W) {
    const Vec3<P> x(P::load(columns.x[0] + first), P::load(columns.x[1] + first),
                    P::load(columns.x[2] + first));
    const P distance_bar = P::load(columns.distance_bar + first);
    Vec3<P> normal_bar(P(0), P(0), P(0)), x_bar = normal_bar;
    if constexpr (with_normals) {
      for (int i = 0; i < 3; ++i) normal_bar[i] = P::load(columns.normal_bar[i] + first);
    }
    const auto go_back = [&](int l, const LaneSample& sample, const P& d_bar, const Vec3<P>& n_bar) {
      const LaneBar at{x, sample.distance, sample.normal, d_bar, n_bar, sample_vjp(sample, d_bar, n_bar)};
      for (int i = 0; i < 3; ++i) x_bar[i] = x_bar[i] + at.x_bar[i];
      if (primitives_bar == nullptr) return;
      add_primitive_bar(primitives[static_cast<std::size_t>(l)], at, [&](int k, const P& bar) {
        if constexpr (by_point) {
          bar.store(primitives_bar + (k_primitive_bars * l + k) * columns.count + first);
        } else {
          primitives_bar[k_primitive_bars * l + k] += reduce_sum(bar);
        }
      });
    };
    if (added == 1) {
      go_back(0, derivative_sample<with_normals>(primitives[0], mode, x), distance_bar, normal_bar);
    } else {
      const P given = P::load(columns.distance + first);
      const P cut = given + P(k_negligible<double>) * tau + P(64.0 * k_epsilon) * (abs(given) + tau);
      UnionSum<SdfOrder::normal, P> sum(tau);
      int count = 0;
      for (int l = 0; l < added; ++l) {
        const auto i = static_cast<std::size_t>(l);
        if (all(lower_bound(solid.bounds[i], x, P(0)) > max(cut, P(0))) ||
            all(primitive_bounds<P>(primitives[i], mode, x).lower >= cut))
          continue;
        const LaneSample sample = derivative_sample<with_normals>(primitives[i], mode, x);
        store_sample(sample, memory + 16 * W * count);
        numbers[count++] = l;
        sum.add(SdfNormal<P>{sample.distance, sample.normal});
      }
      const SdfNormal<P> all_of_them = sum.result();
      const Vec3<P>& m = all_of_them.normal;
      // n = m sqrt(1.01)/sqrt(|m|^2 + 0.01)
      constexpr double k_fade = k_normal_fade * k_normal_fade;
      const P inverse_square = P(1) / (convex_edges_detail::dot(m, m) + P(k_fade)),
              scale = sqrt(P(1.0 + k_fade) * inverse_square),
              along = convex_edges_detail::dot(m, normal_bar) * inverse_square;
      Vec3<P> m_bar;
      for (int i = 0; i < 3; ++i) m_bar[i] = scale * (normal_bar[i] - m[i] * along);
      for (int k = 0; k < count; ++k) {
        const LaneSample sample = load_sample(memory + 16 * W * k);
        const P weight = exp((all_of_them.distance - sample.distance) * inverse_tau);
        const Vec3<P> off(sample.normal[0] - m[0], sample.normal[1] - m[1], sample.normal[2] - m[2]);
        const P spread = convex_edges_detail::dot(m_bar, off) * inverse_tau;
        go_back(static_cast<int>(numbers[k]), sample, weight * (distance_bar - spread),
                Vec3<P>(weight * m_bar[0], weight * m_bar[1], weight * m_bar[2]));
      }
    }
    for (int i = 0; i < 3; ++i) x_bar[i].store(columns.x_bar[i] + first);
  }
}

inline void solid_vjp_by_lanes(const BoundedSolid& solid, const SolidBarColumns& columns, double* memory,
                               double* primitives_bar) {
  if (columns.normal_bar[0] != nullptr) {
    solid_vjp_of<true>(solid, columns, memory, primitives_bar);
  } else {
    solid_vjp_of<false>(solid, columns, memory, primitives_bar);
  }
}

inline void solid_vjp_by_lanes_and_point(const BoundedSolid& solid, const SolidBarColumns& columns,
                                         double* memory, double* primitives_bar) {
  solid_vjp_of<true, true>(solid, columns, memory, primitives_bar);
}

}  // namespace ABUT_SIMD
}  // namespace abut
