/// Normal cones of a body's vertices (closest_features.h), lanes at a time. For instruction sets see
/// engine/pack.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

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
      : edges_(edges), points_(points), width_(width) {
    if (edges.first.empty()) return;
    for (int lane = 0; lane < W; ++lane) {
      first_[lane] = edges.first[at(points[lane])];
      count_[lane] = edges.first[at(points[lane]) + 1] - first_[lane];
      most_ = std::max(most_, count_[lane]);
    }
  }

  /// Lanes, at least of those where C(w_r) = 1: the others need values().
  ///
  /// @param rise  A.n, A the area vector [m^2]
  [[nodiscard]] ABUT_INLINE std::uint32_t is_closest(const P& rise) const {
    if (most_ == 0) return ~0u;
    const T beta =
        T(0.45 * k_strict_cone) * width_;  // below 1/2, and so sin(beta) <= w_r/2, by more than rounding
    const T cos_beta = std::cos(beta) + T(4) * std::numeric_limits<T>::epsilon(), sin_beta = std::sin(beta);
    T cosines[W], sines[W];
    for (int lane = 0; lane < W; ++lane) {
      cosines[lane] = edges_.cone_cos[at(points_[lane])];
      sines[lane] = edges_.cone_sin[at(points_[lane])];
    }
    return bits(P(0) - rise >= P(cos_beta) * P::load(cosines) - P(sin_beta) * P::load(sines));
  }

  /// @param n      of the solid, in the owner's frame
  /// @param lanes  that count
  [[nodiscard]] ABUT_INLINE ConePair<P> values(const Vec3<P>& n, std::uint32_t lanes) const {
    constexpr int k_kept = 16;
    P rises[k_kept], lowest(0);
    for (int k = 0; k < most_; ++k) {
      const P rise = dot_with(edge(k), n);
      if (k < k_kept) rises[k] = rise;
      lowest = min(lowest, rise);
    }
    const T strict_width = T(k_strict_cone) * width_, wide_width = T(k_patch_cone) * width_;
    const std::uint32_t none = bits(lowest <= P(T(0) - wide_width)),
                        whole = bits(lowest >= P(T(-0.5) * strict_width));
    if ((lanes & ~(none | whole)) == 0) {
      const P is_whole = select(lowest <= P(T(0) - wide_width), P(0), P(1));
      return {is_whole, is_whole};
    }
    ConePair<P> cones{P(1), P(1)};
    for (int k = 0; k < most_; ++k) {
      const P rise = k < k_kept ? rises[k] : dot_with(edge(k), n);
      cones.strict = cones.strict * cone_factor<P>(rise, P(T(1) / strict_width));
      cones.wide = cones.wide * cone_factor<P>(rise, P(T(1) / wide_width));
    }
    return cones;
  }

  [[nodiscard]] ABUT_INLINE ConePair<NormalCone<P>> derivatives(const Vec3<P>& n) const {
    ConePair<NormalCone<P>> cones;
    for (int k = 0; k < most_; ++k) {
      const Vec3<P> along = edge(k);
      const P rise = dot_with(along, n);
      cones.strict.add(along, rise, P(T(1) / (T(k_strict_cone) * width_)));
      cones.wide.add(along, rise, P(T(1) / (T(k_patch_cone) * width_)));
    }
    return cones;
  }

 private:
  static constexpr int W = k_width<T>;

  /// The k-th of each point; 0 where a point has fewer.
  [[nodiscard]] ABUT_INLINE Vec3<P> edge(int k) const {
    std::int32_t index[W];
    for (int lane = 0; lane < W; ++lane) index[lane] = k < count_[lane] ? first_[lane] + k : 0;
    return {P::gather(edges_.x.data(), index), P::gather(edges_.y.data(), index),
            P::gather(edges_.z.data(), index)};
  }
  [[nodiscard]] static ABUT_INLINE P dot_with(const Vec3<P>& edge, const Vec3<P>& n) {
    return fma(edge[0], n[0], fma(edge[1], n[1], edge[2] * n[2]));
  }

  const PointEdges<T>& edges_;
  const std::int32_t* points_;
  T width_;
  std::int32_t first_[W], count_[W];
  std::int32_t most_ = 0;
};

}  // namespace ABUT_SIMD
}  // namespace abut
