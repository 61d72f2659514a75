/// Signed distances at many points, and relations of many edges, in double precision: what the simulation
/// asks.
#pragma once

#include <algorithm>

#include "collision/manifold/kernel/point_kernels.h"
#include "collision/manifold/kernel/solid_lanes.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/pack.h"

namespace abut {
inline namespace ABUT_SIMD {

template <SdfOrder order, bool to_rims = false>
void sample_points_of_order(const ShapeSdf& sdf, const double* x, const double* y, const double* z, int count,
                            double* out) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  for (int first = 0; first < count; first += W) {
    const int lanes = std::min(W, count - first);
    const auto at = [&](const double* p) {
      return lanes == W ? P::load(p + first) : P::load(p + first, lanes);
    };
    const Vec3<P> points{at(x), at(y), at(z)};
    const SdfAnswer<order, P> sample = [&] {
      if constexpr (to_rims) {
        return sdf.sample_to_rims<order, P>(points);
      } else {
        return sdf.sample<order, P>(points);
      }
    }();
    const auto put = [&](int column, const P& value) {
      double* to = out + static_cast<std::ptrdiff_t>(column) * count + first;
      if (lanes == W) {
        value.store(to);
      } else {
        value.store(to, lanes);
      }
    };
    put(k_sample_distance, sample.distance);
    if constexpr (order != SdfOrder::distance) {
      for (int i = 0; i < 3; ++i) {
        put(k_sample_normal + i, sample.normal[i]);
        if constexpr (order == SdfOrder::jacobian) {
          put(k_sample_gradient + i, sample.gradient[i]);
          for (int j = 0; j < 3; ++j) put(k_sample_normal_jacobian + 3 * i + j, sample.normal_jacobian(i, j));
        }
      }
    }
  }
}

inline void sample_points_by_lanes(const ShapeSdf& sdf, SdfOrder order, const double* x, const double* y,
                                   const double* z, int count, double* out) {
  if (order == SdfOrder::jacobian) {
    sample_points_of_order<SdfOrder::jacobian>(sdf, x, y, z, count, out);
  } else if (order == SdfOrder::distance) {
    sample_points_of_order<SdfOrder::distance>(sdf, x, y, z, count, out);
  } else {
    sample_points_of_order<SdfOrder::normal>(sdf, x, y, z, count, out);
  }
}

inline void sample_points_to_rims_by_lanes(const ShapeSdf& sdf, SdfOrder order, const double* x,
                                           const double* y, const double* z, int count, double* out) {
  if (order == SdfOrder::jacobian) {
    sample_points_of_order<SdfOrder::jacobian, true>(sdf, x, y, z, count, out);
  } else {
    sample_points_of_order<SdfOrder::normal, true>(sdf, x, y, z, count, out);
  }
}

}  // namespace ABUT_SIMD
}  // namespace abut
