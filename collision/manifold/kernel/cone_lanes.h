/// Normal cones of a body's vertices (closest_features.h), lanes at a time. For instruction sets see
/// engine/pack.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "collision/manifold/closest_features.h"
#include "collision/manifold/kernel/body_features.h"
#include "collision/manifold/kernel/solid_lanes.h"

namespace abut {
inline namespace ABUT_SIMD {

/// C(w_r) and C(w_p).
template <typename Cone>
struct ConePair {
  Cone strict, wide;
};

/// The normal cones of a pack of contact points of a body.
template <typename T>
class ConeLanes {
 public:
  using P = Lanes<T>;

  /// @param points  the contact points
  /// @param width   w_c [rad]
  ABUT_INLINE ConeLanes(const PointEdges<T>& edges, const std::int32_t* points, T width)
      : edges_(edges), width_(width) {
    if (edges.first.empty()) return;
    for (int lane = 0; lane < W; ++lane) {
      first_[lane] = edges.first[at(points[lane])];
      count_[lane] = edges.first[at(points[lane]) + 1] - first_[lane];
      most_ = std::max(most_, count_[lane]);
    }
  }

  /// @param n  of the solid, in the owner's frame
  [[nodiscard]] ABUT_INLINE ConePair<P> values(const Vec3<P>& n) const {
    ConePair<P> cones{P(1), P(1)};
    P lowest(0);
    each(n, [&](const Vec3<P>&, const P& rise) { lowest = min(lowest, rise); });
    const T strict_width = T(k_strict_cone) * width_, wide_width = T(k_patch_cone) * width_;
    if (all(lowest >= P(T(-0.5) * strict_width))) return cones;
    if (all(lowest >= P(T(-0.5) * strict_width) || lowest <= P(T(0) - wide_width))) {
      const P is_within = select(lowest <= P(T(0) - wide_width), P(0), P(1));
      return {is_within, is_within};
    }
    each(n, [&](const Vec3<P>&, const P& rise) {
      cones.strict = cones.strict * cone_factor<P>(rise, P(T(1) / strict_width));
      cones.wide = cones.wide * cone_factor<P>(rise, P(T(1) / wide_width));
    });
    return cones;
  }

  [[nodiscard]] ABUT_INLINE ConePair<NormalCone<P>> derivatives(const Vec3<P>& n) const {
    ConePair<NormalCone<P>> cones;
    each(n, [&](const Vec3<P>& edge, const P& rise) {
      cones.strict.add(edge, rise, P(T(1) / (T(k_strict_cone) * width_)));
      cones.wide.add(edge, rise, P(T(1) / (T(k_patch_cone) * width_)));
    });
    return cones;
  }

 private:
  static constexpr int W = k_width<T>;

  /// f(edge, how much it rises along n); the edge 0 where a point has fewer.
  template <typename F>
  ABUT_INLINE void each(const Vec3<P>& n, const F& f) const {
    for (int k = 0; k < most_; ++k) {
      std::int32_t index[W];
      for (int lane = 0; lane < W; ++lane) index[lane] = k < count_[lane] ? first_[lane] + k : 0;
      const Vec3<P> edge(P::gather(edges_.x.data(), index), P::gather(edges_.y.data(), index),
                         P::gather(edges_.z.data(), index));
      f(edge, fma(edge[0], n[0], fma(edge[1], n[1], edge[2] * n[2])));
    }
  }

  const PointEdges<T>& edges_;
  T width_;
  std::int32_t first_[W], count_[W];
  std::int32_t most_ = 0;
};

}  // namespace ABUT_SIMD
}  // namespace abut
