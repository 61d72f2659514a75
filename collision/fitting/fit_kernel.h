/// Radial distances of a superquadric at many points, and the normal equations of its fit to them.
#pragma once

#include <array>
#include <cstddef>

#include "collision/fitting/fit_kernels.h"
#include "collision/fitting/superquadric_residual.h"
#include "engine/pack.h"
#include "engine/types.h"

namespace abut {
inline namespace ABUT_SIMD {

/// One register: two at a time do not stay in registers of 32 bytes, of which there are 16.
using FitLanes = Pack<float, simd::k_register_lanes>;
static_assert(k_lanes_of_fit % FitLanes::k_lanes == 0);

/// A superquadric as packs evaluate it.
struct PackedSuperquadric {
  FitLanes R[9], center[3];
  Vec3<FitLanes> inverse_axes;
  FitLanes eps1, eps2;

  ABUT_INLINE explicit PackedSuperquadric(const SuperquadricNumbers& sq) : eps1(sq.eps1), eps2(sq.eps2) {
    for (int i = 0; i < 9; ++i) R[i] = FitLanes(sq.R[i]);
    for (int i = 0; i < 3; ++i) {
      center[i] = FitLanes(sq.center[i]);
      inverse_axes[i] = FitLanes(sq.inverse_axes[i]);
    }
  }
  template <bool derivative>
  [[nodiscard]] ABUT_INLINE FitLanes distance(const FitLanes& x, const FitLanes& y, const FitLanes& z,
                                              std::array<FitLanes, 11>& J) const {
    const FitLanes p0 = x - center[0], p1 = y - center[1], p2 = z - center[2];
    const Vec3<FitLanes> local(R[0] * p0 + R[3] * p1 + R[6] * p2, R[1] * p0 + R[4] * p1 + R[7] * p2,
                               R[2] * p0 + R[5] * p1 + R[8] * p2);
    return radial_distance<derivative>(local, inverse_axes, eps1, eps2, J);
  }
};

inline void fit_distances(const SuperquadricNumbers& sq, const float* x, const float* y, const float* z,
                          int count, float* out) {
  const PackedSuperquadric packed(sq);
  std::array<FitLanes, 11> unused;
  for (int s = 0; s < count; s += FitLanes::k_lanes) {
    packed.distance<false>(FitLanes::load(x + s), FitLanes::load(y + s), FitLanes::load(z + s), unused)
        .store(out + s);
  }
}

inline void fit_normal_equations(const SuperquadricNumbers& sq, const FitColumns& points, float truncation,
                                 FitSums& result) {
  const PackedSuperquadric packed(sq);
  const FitLanes T(truncation);
  FitLanes products[66], sums[11];
  for (FitLanes& sum : products) sum = FitLanes(0.0f);
  for (FitLanes& sum : sums) sum = FitLanes(0.0f);
  FitLanes cost(0.0f), total(0.0f);
  std::array<FitLanes, 11> J;
  for (int s = 0; s < points.count; s += FitLanes::k_lanes) {
    const FitLanes x = FitLanes::load(points.x + s), y = FitLanes::load(points.y + s),
                   z = FitLanes::load(points.z + s);
    const FitLanes outline = packed.distance<false>(x, y, z, J), others = FitLanes::load(points.others + s);
    const FitLanes w = FitLanes::load(points.w + s);
    const FitLanes e = min(max(min(outline, others), -T), T) - FitLanes::load(points.d + s);
    cost = cost + w * e * e;
    total = total + w;
    const auto moves = abs(outline) < T && outline < others;
    if (!any(moves)) continue;
    static_cast<void>(packed.distance<true>(x, y, z, J));
    const FitLanes slope = select(moves, w, FitLanes(0.0f));
    for (std::size_t a = 0, product = 0; a < 11; ++a) {
      const FitLanes wJ = slope * J[a];
      sums[a] = sums[a] + wJ * e;
      for (std::size_t b = 0; b <= a; ++b, ++product) products[product] = products[product] + wJ * J[b];
    }
  }
  for (int a = 0; a < 66; ++a) result.JJ[a] = reduce_sum(products[a]);
  for (int a = 0; a < 11; ++a) result.Je[a] = reduce_sum(sums[a]);
  result.cost = reduce_sum(cost);
  result.weight = reduce_sum(total);
}

}  // namespace ABUT_SIMD
}  // namespace abut
