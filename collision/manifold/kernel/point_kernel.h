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

template <SdfOrder order>
void sample_points_of_order(const ShapeSdf& sdf, const double* x, const double* y, const double* z, int count,
                            double* out) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  for (int first = 0; first < count; first += W) {
    const int lanes = std::min(W, count - first);
    const auto at = [&](const double* p) {
      return lanes == W ? P::load(p + first) : P::load(p + first, lanes);
    };
    const SdfAnswer<order, P> sample = sdf.sample<order, P>(Vec3<P>{at(x), at(y), at(z)});
    const auto put = [&](int column, const P& value) {
      double* to = out + static_cast<std::ptrdiff_t>(column) * count + first;
      if (lanes == W) {
        value.store(to);
      } else {
        value.store(to, lanes);
      }
    };
    put(k_sample_distance, sample.distance);
    for (int i = 0; i < 3; ++i) {
      put(k_sample_normal + i, sample.normal[i]);
      if constexpr (order == SdfOrder::jacobian) {
        put(k_sample_gradient + i, sample.gradient[i]);
        for (int j = 0; j < 3; ++j) put(k_sample_normal_jacobian + 3 * i + j, sample.normal_jacobian(i, j));
      }
    }
  }
}

inline void sample_points_by_lanes(const ShapeSdf& sdf, SdfOrder order, const double* x, const double* y,
                                   const double* z, int count, double* out) {
  if (order == SdfOrder::jacobian) {
    sample_points_of_order<SdfOrder::jacobian>(sdf, x, y, z, count, out);
  } else {
    sample_points_of_order<SdfOrder::normal>(sdf, x, y, z, count, out);
  }
}

inline void relate_edges_by_lanes(const EdgeEdgeSettings<double>& settings, const EdgeColumns& A,
                                  const EdgeColumns& B, const EdgeRelations& out) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  const auto edge = [](const auto& number) {
    return Edge<P>{{number(0), number(1), number(2)},
                   {number(3), number(4), number(5)},
                   {number(6), number(7), number(8)}};
  };
  for (int k = 0; k < A.count; ++k) {
    const Edge<P> edge_A = edge([&](int c) { return P(A.numbers[c * A.count + k]); });
    for (int l = 0; l < B.count; l += W) {
      const int lanes = std::min(W, B.count - l);
      const Edge<P> edge_B = edge([&](int c) {
        const double* numbers = B.numbers + c * B.count + l;
        return lanes == W ? P::load(numbers) : P::load(numbers, lanes);
      });
      const EdgeWitness<P> w = edge_witness<P>(edge_A, edge_B, settings);
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(k) * B.count + l;
      const auto put = [&](const P& value, double* to) {
        if (lanes == W) {
          value.store(to + at);
        } else {
          value.store(to + at, lanes);
        }
      };
      put(w.softened, out.softened);
      put(w.minimum.gamma, out.interior);
      put(edge_clash<P>(edge_A, edge_B, settings), out.clash);
      for (int i = 0; i < 3; ++i) {
        put(w.e1[i], out.points[0][i]);
        put(w.e2[i], out.points[1][i]);
      }
    }
  }
}

}  // namespace ABUT_SIMD
}  // namespace abut
