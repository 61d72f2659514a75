/// A solid's signed distance at many points at once: which points are near it, which primitives matter to
/// them, and the answer, a pack of points at a time.
///
/// A primitive matters at a point if its distance is within `negligible` of the least one's; bounds decide.
/// Leaving the others out changes results by less than rounding. For instruction sets see engine/pack.h.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <variant>

#include "collision/manifold/kernel/body_features.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/pack.h"

namespace abut {
inline namespace ABUT_SIMD {

/// The packs of the kernels: one register.
template <typename T>
inline constexpr int k_width = simd::k_register_bytes / static_cast<int>(sizeof(T));
template <typename T>
using Lanes = Pack<T, k_width<T>>;

/// Points in the frame of a solid, densely packed, with a mask of primitives for every pack of them. The
/// buffers belong to somebody else; they have room for a pack more than is ever used.
template <typename T>
struct PointList {
  T *x, *y, *z;
  T* id;                      ///< place of each point where it comes from: whole numbers
  std::uint64_t* primitives;  ///< a bit for each primitive, of a pack of points
  int count = 0;

  void clear() {
    count = 0;
    primitives[0] = 0;
  }

  ABUT_INLINE void append(const Vec3<Lanes<T>>& p, const Lanes<T>& ids, std::uint32_t lane_bits,
                          std::uint64_t mask) {
    constexpr int W = k_width<T>;
    const int first = count / W;
    p[0].store_chosen(x + count, lane_bits);
    p[1].store_chosen(y + count, lane_bits);
    p[2].store_chosen(z + count, lane_bits);
    ids.store_chosen(id + count, lane_bits);
    count += std::popcount(lane_bits);
    primitives[first] |= mask;
    for (int group = first + 1; group <= count / W; ++group) primitives[group] = group * W < count ? mask : 0;
  }

  /// Fills the last pack up with copies of the last point.
  ABUT_INLINE void finish() {
    constexpr int W = k_width<T>;
    if (count == 0) return;
    for (int i = count; i % W != 0; ++i)
      x[i] = x[count - 1], y[i] = y[count - 1], z[i] = z[count - 1], id[i] = id[count - 1];
  }

  [[nodiscard]] int groups() const { return (count + k_width<T> - 1) / k_width<T>; }
};

/// R x + p.
template <typename T, typename P>
[[nodiscard]] ABUT_INLINE Vec3<P> moved(const Mat3<T>& R, const Vec3<T>& t, const P& x, const P& y,
                                        const P& z) {
  Vec3<P> r;
  for (int i = 0; i < 3; ++i) r[i] = fma(P(R(i, 0)), x, fma(P(R(i, 1)), y, fma(P(R(i, 2)), z, P(t[i]))));
  return r;
}

/// R v.
template <typename T, typename P>
[[nodiscard]] ABUT_INLINE Vec3<P> rotated(const Mat3<T>& R, const Vec3<P>& v) {
  Vec3<P> r;
  for (int i = 0; i < 3; ++i) r[i] = fma(P(R(i, 0)), v[0], fma(P(R(i, 1)), v[1], P(R(i, 2)) * v[2]));
  return r;
}

/// The primitives of a solid as bits of a mask: one each, or several to a bit if there are more than 64.
template <typename T>
class PrimitiveSet {
  static constexpr int k_mask_bits = 64;

 public:
  explicit PrimitiveSet(const BodyFeatures<T>& solid)
      : count_(static_cast<int>(solid.bounds.size())), to_a_bit_((count_ + k_mask_bits - 1) / k_mask_bits) {}

  [[nodiscard]] ABUT_INLINE std::uint64_t bit(int primitive) const {
    return std::uint64_t{1} << (to_a_bit_ == 1 ? primitive : primitive / to_a_bit_);
  }
  [[nodiscard]] bool one_a_bit() const { return to_a_bit_ == 1; }
  [[nodiscard]] std::uint64_t all() const {
    const int bits = (count_ + to_a_bit_ - 1) / to_a_bit_;
    return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  }
  /// f(primitive) for each that is in the mask, in ascending order.
  template <typename F>
  ABUT_INLINE void each(std::uint64_t mask, F f) const {
    for (; mask != 0; mask &= mask - 1) {
      const int first = std::countr_zero(mask) * to_a_bit_;
      for (int i = first; i < first + to_a_bit_ && i < count_; ++i) f(i);
    }
  }

 private:
  int count_, to_a_bit_;
};

/// Differences of distance that no sum notices [m], for culling with bounds that are not exact themselves.
template <typename T>
[[nodiscard]] T negligible_distance(const BodyFeatures<T>& solid) {
  const double tau = solid.sdf->smoothing();
  return static_cast<T>(k_negligible<T> * tau +
                        64.0 * std::numeric_limits<T>::epsilon() * static_cast<double>(solid.size));
}

/// Whether points of `owner` are centres of balls, whose distances to the rims of the solid are measured.
template <typename T>
[[nodiscard]] bool measures_to_rims(const BodyFeatures<T>& owner, const BodyFeatures<T>& solid) {
  return owner.contact_radius > T(0) && solid.sdf->has_rims();
}

/// From the box of a primitive, for all points within r of x: d >= this where this is positive.
template <typename T, typename P>
[[nodiscard]] ABUT_INLINE P lower_bound(const PrimitiveBound<T>& bound, const Vec3<P>& x, const P& r) {
  const P dx = x[0] - P(bound.center[0]), dy = x[1] - P(bound.center[1]), dz = x[2] - P(bound.center[2]);
  P most = P(T(-1e30));
  for (int i = 0; i < 3; ++i) {
    const P along = fma(P(bound.to_scaled(i, 0)), dx,
                        fma(P(bound.to_scaled(i, 1)), dy, P(bound.to_scaled(i, 2)) * dz)),
            t = i == 0 ? max(along, P(bound.below) * along) : abs(along);
    most = max(most, fma(-r, P(bound.inverse_axes[i]), t - P(bound.half[i])));
  }
  return most * P(bound.steepest);
}

template <typename T>
struct CullBuffers {
  std::uint32_t* kept;    ///< lane bits of a primitive, or primitives
  std::uint16_t* nearby;  ///< primitives
  T* lower;               ///< bounds, a pack each
};

/// How far away what counts may be [m].
template <typename T>
struct CullDistances {
  T reach;   ///< of a primitive, for its union to be nearer than the cut
  T margin;  ///< beyond the nearest primitive

  CullDistances(const BodyFeatures<T>& solid, T cut) {
    const T lowered = static_cast<T>(solid.sdf->smoothing() * std::log(std::max(solid.sdf->added(), 1)));
    reach = cut + lowered;
    margin = negligible_distance(solid) + lowered;
  }
};

/// Which of the `nearby` primitives matter at a pack of points; leaves in `lanes` those that may be nearer to
/// the solid than `reach`.
template <typename T>
[[nodiscard]] ABUT_INLINE std::uint64_t primitives_that_matter(const BodyFeatures<T>& solid,
                                                               const Vec3<Lanes<T>>& x, T reach, T margin,
                                                               int nearby, const CullBuffers<T>& buffers,
                                                               std::uint32_t& lanes) {
  using P = Lanes<T>;
  constexpr int W = k_width<T>;
  if (solid.bounds.size() == 1) {
    lanes &= bits(lower_bound(solid.bounds[0], x, P(0)) < P(reach));
    return lanes != 0 ? 1 : 0;
  }
  const PrimitiveSet<T> set(solid);
  const auto& primitives = solid.sdf->template primitives<T>();
  P least_lower = P(T(1e30)), least_upper = P(reach);
  for (int i = 0; i < nearby; ++i) {
    const DistanceBounds<P> bounds =
        primitive_bounds<P>(primitives[buffers.nearby[i]], solid.sdf->distance_mode(), x);
    bounds.lower.store(buffers.lower + i * W);
    least_lower = min(least_lower, bounds.lower);
    least_upper = min(least_upper, bounds.upper);
  }
  lanes &= bits(least_lower < P(reach));
  std::uint64_t mask = 0;
  if (lanes == 0) return mask;
  const P limit = least_upper + P(margin);
  for (int i = 0; i < nearby; ++i) {
    if ((bits(P::load(buffers.lower + i * W) < limit) & lanes) != 0) mask |= set.bit(buffers.nearby[i]);
  }
  for (int l = solid.sdf->added(); l < static_cast<int>(solid.bounds.size()); ++l) mask |= set.bit(l);
  return mask;
}

/// Leaves in buffers.kept the added primitives that may be that near to points between `low` and `high`, and
/// says how many.
template <typename T>
[[nodiscard]] int primitives_near_box(const BodyFeatures<T>& solid, const Vec3<T>& low, const Vec3<T>& high,
                                      const CullDistances<T>& culling, const CullBuffers<T>& buffers) {
  using P = Lanes<T>;
  const Vec3<T> center = T(0.5) * (low + high);
  const P radius = P(T(0.5) * (high - low).norm() * (T(1) + T(8) * std::numeric_limits<T>::epsilon()));
  const Vec3<P> x{P(center[0]), P(center[1]), P(center[2])};
  int count = 0;
  for (int l = 0; l < solid.sdf->added(); ++l) {
    const P lower = lower_bound(solid.bounds[static_cast<std::size_t>(l)], x, radius);
    if (lower[0] < culling.reach + culling.margin) buffers.kept[count++] = static_cast<std::uint32_t>(l);
  }
  return count;
}

/// Which of the first `candidates` primitives in buffers.kept matter at points from anywhere.
template <typename T>
[[nodiscard]] std::uint64_t primitives_near(const BodyFeatures<T>& solid, const Vec3<Lanes<T>>& x,
                                            const CullDistances<T>& culling, int candidates,
                                            const CullBuffers<T>& buffers, std::uint32_t& lanes) {
  using P = Lanes<T>;
  int nearby = 0;
  for (int i = 0; i < candidates; ++i) {
    const std::uint32_t l = buffers.kept[i];
    const P lower = lower_bound(solid.bounds[l], x, P(0));
    if ((bits(lower < P(culling.reach + culling.margin)) & lanes) != 0)
      buffers.nearby[nearby++] = static_cast<std::uint16_t>(l);
  }
  return primitives_that_matter(solid, x, culling.reach, culling.margin, nearby, buffers, lanes);
}

/// The same for one pack of points from anywhere, as near as `cut` [m].
template <typename T>
[[nodiscard]] std::uint64_t primitives_near(const BodyFeatures<T>& solid, const Vec3<Lanes<T>>& x, T cut,
                                            const CullBuffers<T>& buffers, std::uint32_t& lanes) {
  const CullDistances<T> culling(solid, cut);
  if (solid.bounds.size() == 1)
    return primitives_that_matter(solid, x, culling.reach, culling.margin, 0, buffers, lanes);
  Vec3<T> low, high;
  for (int k = 0; k < 3; ++k) {
    low[k] = reduce_min(x[k]);
    high[k] = reduce_max(x[k]);
  }
  const int candidates = primitives_near_box(solid, low, high, culling, buffers);
  return primitives_near(solid, x, culling, candidates, buffers, lanes);
}

/// Appends to `list` the points of `owner` that may be nearer to the solid than the cut. (R, p) takes the
/// owner's frame to the solid's.
///
/// @param weights  of the points; those of weight 0 are left out. Null: all have weight
template <typename T>
void append_near_points(const BodyFeatures<T>& owner, const BodyFeatures<T>& solid, const Mat3<T>& R,
                        const Vec3<T>& p, const T* weights, const CullDistances<T>& culling,
                        const CullBuffers<T>& buffers, PointList<T>& list) {
  using P = Lanes<T>;
  constexpr int W = k_width<T>;
  const PointBlocks<T>& points = owner.points;
  const int added = solid.sdf->added();
  const T reach = culling.reach;
  // The primitive nearest to the centre of a ball may be cut away there: all within its reach count.
  const T margin = culling.margin + (measures_to_rims(owner, solid) ? reach + owner.contact_radius : T(0));
  alignas(64) T lane_numbers[W];
  for (int i = 0; i < W; ++i) lane_numbers[i] = static_cast<T>(i);
  const P lane_number = P::load(lane_numbers);

  for (int first = 0; first < points.blocks; first += W) {
    const Vec3<P> center = moved(R, p, P::load(&points.center_x[static_cast<std::size_t>(first)]),
                                 P::load(&points.center_y[static_cast<std::size_t>(first)]),
                                 P::load(&points.center_z[static_cast<std::size_t>(first)]));
    const P radius = P::load(&points.radius[static_cast<std::size_t>(first)]);
    std::uint32_t near = 0;
    for (int l = 0; l < added; ++l) {
      const P lower = lower_bound(solid.bounds[static_cast<std::size_t>(l)], center, radius);
      buffers.kept[l] = bits(lower < P(reach + margin));
      near |= bits(lower < P(reach));
    }
    if (points.blocks - first < W) near &= (1u << (points.blocks - first)) - 1u;
    for (; near != 0; near &= near - 1) {
      const int lane = std::countr_zero(near), block = first + lane;
      int nearby = 0;
      for (int l = 0; l < added; ++l) {
        buffers.nearby[nearby] = static_cast<std::uint16_t>(l);
        nearby += static_cast<int>(buffers.kept[l] >> lane & 1u);
      }
      for (int begin = block * k_block; begin < (block + 1) * k_block; begin += W) {
        const int valid = points.points - begin;
        if (valid <= 0) break;
        std::uint32_t chosen = valid < W ? (1u << valid) - 1u : ~0u >> (32 - W);
        if (weights != nullptr) {
          chosen &= bits(P::load(weights + begin) > P(0));
          if (chosen == 0) continue;
        }
        const auto at = static_cast<std::size_t>(begin);
        const Vec3<P> x = moved(R, p, P::load(&points.x[at]), P::load(&points.y[at]), P::load(&points.z[at]));
        const std::uint64_t mask = primitives_that_matter(solid, x, reach, margin, nearby, buffers, chosen);
        if (chosen == 0) continue;
        list.append(x, lane_number + P(static_cast<T>(begin)), chosen, mask);
      }
    }
  }
}

/// `count` packs as one; of(i) is the i-th.
template <typename T, int count, typename F>
[[nodiscard]] ABUT_INLINE Pack<T, count * k_width<T>> packs_joined(F of, int first = 0) {
  if constexpr (count == 1) {
    return of(first);
  } else {
    return Pack<T, count * k_width<T>>::joined(packs_joined<T, count / 2>(of, first),
                                               packs_joined<T, count / 2>(of, first + count / 2));
  }
}

/// The i-th of them.
template <typename T, int W>
[[nodiscard]] ABUT_INLINE Lanes<T> pack_of(const Pack<T, W>& joined, int i) {
  if constexpr (W == k_width<T>) {
    return joined;
  } else {
    constexpr int half = W / k_width<T> / 2;
    return pack_of<T, W / 2>(joined.half(i / half), i % half);
  }
}

/// Several superquadrics as one: each pack of lanes has the constants of one of them. Chains of dependent
/// instructions side by side keep the machine busy where a single one would make it wait.
template <typename T, int count>
struct SuperquadricGroup {
  using Q = Pack<T, count * k_width<T>>;

  ABUT_INLINE explicit SuperquadricGroup(const Superquadric<T>* const (&group)[count]) : rounded(false) {
    const auto all = [&](auto number) {
      return packs_joined<T, count>([&](int i) { return Lanes<T>(number(*group[i])); });
    };
    using One = Superquadric<T>;
    for (const One* one : group) rounded = rounded || one->rounded;
    eps1 = all([](const One& s) { return s.eps1; });
    eps2 = all([](const One& s) { return s.eps2; });
    power1 = all([](const One& s) { return s.power1; });
    power2 = all([](const One& s) { return s.power2; });
    delta_squared = all([](const One& s) { return s.delta_squared; });
    for (int i = 0; i < 3; ++i) {
      centre[i] = all([i](const One& s) { return s.centre[i]; });
      for (int j = 0; j < 3; ++j) to_scaled(i, j) = all([i, j](const One& s) { return s.to_scaled(i, j); });
    }
  }

  Mat3<Q> to_scaled;
  Vec3<Q> centre;
  Q eps1, eps2, power1, power2, delta_squared;
  bool rounded;
  int shortest = 0;  // which way is up at the very centre of a solid does not matter
};

/// Taubin's answers of several superquadrics at a pack of points.
template <SdfOrder order, typename T, int count>
__attribute__((noinline)) ABUT_KERNEL void sample_superquadrics(
    const Superquadric<T>* const (&group)[count], const Vec3<Lanes<T>>& x,
    SdfAnswer<order, Lanes<T>> (&answers)[count]) {
  using Q = Pack<T, count * k_width<T>>;
  const auto repeated = [](const Lanes<T>& p) { return packs_joined<T, count>([&](int) { return p; }); };
  const Vec3<Q> points(repeated(x[0]), repeated(x[1]), repeated(x[2]));
  const SdfAnswer<order, Q> all = taubin_sample<order, Q>(SuperquadricGroup<T, count>(group), points);
  for (int k = 0; k < count; ++k) {
    answers[k].distance = pack_of<T>(all.distance, k);
    for (int i = 0; i < 3; ++i) {
      if constexpr (order >= SdfOrder::normal) answers[k].normal[i] = pack_of<T>(all.normal[i], k);
      if constexpr (order >= SdfOrder::gradient) answers[k].gradient[i] = pack_of<T>(all.gradient[i], k);
      if constexpr (order >= SdfOrder::jacobian) {
        for (int j = 0; j < 3; ++j)
          answers[k].normal_jacobian(i, j) = pack_of<T>(all.normal_jacobian(i, j), k);
      }
    }
  }
}

/// The same with the distance to rims: ShapeSdf::sample_to_rims().
template <SdfOrder order, typename T>
[[nodiscard]] __attribute__((noinline)) SdfAnswer<order, Lanes<T>> sample_solid_to_rims(
    const BodyFeatures<T>& solid, std::uint64_t mask, const Vec3<Lanes<T>>& x) {
  using P = Lanes<T>;
  const auto& primitives = solid.sdf->template primitives<T>();
  const P tau = P(static_cast<T>(solid.sdf->smoothing()));
  const int added = solid.sdf->added();
  const auto sample = [&](int l) {
    return primitive_sample<order, P>(primitives[static_cast<std::size_t>(l)], solid.sdf->distance_mode(), x);
  };
  UnionSum<order, P> subtracted_sum(tau), sum(tau);
  for (int l = added; l < static_cast<int>(primitives.size()); ++l) subtracted_sum.add(sample(l));
  const SdfAnswer<order, P> subtracted = subtracted_sum.result();
  PrimitiveSet<T>(solid).each(mask, [&](int l) {
    if (l < added) sum.add(difference_to_rims<order, P>(sample(l), subtracted, tau));
  });
  SdfAnswer<order, P> result = sum.result();
  scale_normal<order, P>(result);
  return result;
}

/// The solid's answer at a pack of points, from the primitives of a mask.
///
/// @param to_rims  see measures_to_rims()
template <SdfOrder order, typename T>
[[nodiscard]] SdfAnswer<order, Lanes<T>> sample_solid(const BodyFeatures<T>& solid, std::uint64_t mask,
                                                      const Vec3<Lanes<T>>& x, bool to_rims = false) {
  using P = Lanes<T>;
  using One = Superquadric<T>;
  if constexpr (order == SdfOrder::normal || order == SdfOrder::jacobian) {
    if (to_rims) return sample_solid_to_rims<order, T>(solid, mask, x);
  }
  // Four chains of dependent instructions side by side; fewer where derivatives need the registers.
  constexpr int k_group = order <= SdfOrder::normal ? 4 : simd::k_register_bytes == 64 ? 2 : 1;
  const auto& primitives = solid.sdf->template primitives<T>();
  const DistanceMode mode = solid.sdf->distance_mode();
  if (primitives.size() == 1) return primitive_sample<order, P>(primitives[0], mode, x);
  const P tau = P(static_cast<T>(solid.sdf->smoothing()));
  const int added = solid.sdf->added();
  UnionSum<order, P> sides[2] = {UnionSum<order, P>(tau), UnionSum<order, P>(tau)};
  bool subtracts = false;
  const One* group[k_group];
  int waiting = 0;  // of the group
  SdfAnswer<order, P> answers[k_group];
  PrimitiveSet<T>(solid).each(mask, [&](int l) {
    const PreparedPrimitive<T>& primitive = primitives[static_cast<std::size_t>(l)];
    const auto* superquadric =
        mode == DistanceMode::taubin ? std::get_if<Superquadric<T>>(&primitive.solid) : nullptr;
    if (l >= added || superquadric == nullptr) {
      sides[l < added ? 0 : 1].add(primitive_sample<order, P>(primitive, mode, x));
      subtracts = subtracts || l >= added;
      return;
    }
    group[waiting++] = superquadric;
    if (waiting < k_group) return;
    sample_superquadrics<order, T, k_group>(group, x, answers);
    sides[0].add(answers);
    waiting = 0;
  });
  if constexpr (k_group > 2) {
    if (waiting > 1) {
      const One* pair[2] = {group[0], group[1]};
      SdfAnswer<order, P> two[2];
      sample_superquadrics<order, T, 2>(pair, x, two);
      sides[0].add(two);
    }
  }
  if (waiting % 2 == 1) sides[0].add(taubin_sample<order, P>(*group[waiting - 1], x));
  SdfAnswer<order, P> result = sides[0].result();
  if (subtracts) result = smooth_difference<order, P>(result, sides[1].result(), tau);
  if (primitives.size() > 1) scale_normal<order, P>(result);
  return result;
}

}  // namespace ABUT_SIMD
}  // namespace abut
