/// Normal cones of a body's vertices (closest_features.h), lanes at a time. For instruction sets see
/// engine/pack.h.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

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
  /// @param lanes  wanted; the others have 1
  [[nodiscard]] ABUT_INLINE ConePair<P> values(const Vec3<P>& n, std::uint32_t lanes) const {
    T strict[W], wide[W];
    std::fill_n(strict, W, T(1));
    std::fill_n(wide, W, T(1));
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const ConePair<T> of_point =
          cones_of_point(first_[lane], count_[lane], {n[0][lane], n[1][lane], n[2][lane]});
      strict[lane] = of_point.strict;
      wide[lane] = of_point.wide;
    }
    return {P::load(strict), P::load(wide)};
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
  static constexpr std::array<T, std::size_t{2 * W}> k_ones_and_zeros = [] {
    std::array<T, std::size_t{2 * W}> numbers{};
    std::fill_n(numbers.begin(), W, T(1));
    return numbers;
  }();

  /// C(w_r) and C(w_p) of one point; its edges are taken a pack at a time.
  [[nodiscard]] ABUT_INLINE ConePair<T> cones_of_point(std::int32_t first, std::int32_t count,
                                                       const Vec3<T>& n) const {
    const T strict_width = T(k_strict_cone) * width_, wide_width = T(k_patch_cone) * width_;
    ConePair<P> cones{P(1), P(1)};
    bool is_partial = false;
    for (std::int32_t k = 0; k < count; k += W) {
      const auto loaded = [&](const std::vector<T>& numbers) { return P::load(numbers.data() + first + k); };
      const Vec3<P> edges(loaded(edges_.x), loaded(edges_.y), loaded(edges_.z));
      const P is_edge = P::load(k_ones_and_zeros.data() + W - std::min(count - k, std::int32_t{W})),
              rise = is_edge * dot_with(edges, {P(n[0]), P(n[1]), P(n[2])});
      if (any(rise <= P(T(0) - wide_width))) return {T(0), T(0)};
      if (all(rise >= P(T(-0.5) * strict_width))) continue;
      cones.strict = cones.strict * cone_factor<P>(rise, P(T(1) / strict_width));
      cones.wide = cones.wide * cone_factor<P>(rise, P(T(1) / wide_width));
      is_partial = true;
    }
    if (!is_partial) return {T(1), T(1)};
    return {product(cones.strict), product(cones.wide)};
  }
  /// Most of the factors are 1.
  [[nodiscard]] static ABUT_INLINE T product(const P& factors) {
    T result(1);
    for (std::uint32_t left = bits(factors != P(1)); left != 0; left &= left - 1)
      result *= factors[std::countr_zero(left)];
    return result;
  }
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
