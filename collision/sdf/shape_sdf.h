/// The smooth signed distance function of a body: the union of added primitives less that of subtracted ones.
///
///   union      d = -tau log sum_l exp(-d_l/tau),   weights w_l = exp((d - d_l)/tau), adding up to 1
///   subtract   d = tau log(exp(d_+/tau) + exp(-d_-/tau)),   a smooth max of the two unions d_+ and -d_-
///   normal     n = m sqrt(1.01)/sqrt(|m|^2 + 0.01),   m = sum_l w_l n_l,   subtracted ones with w_l < 0
///
/// The union is lower than the least d_l by at most tau log L, so the solid grows by that where L primitives
/// meet. |n| = 1 where the primitives agree; where they, or opposite faces of a box, oppose each other n is
/// shorter, smoothly down to 0. Do not renormalise it: where no direction is right, none must be made up. The
/// normal of a single primitive is its own, n = m.
///
/// The smooth max is less than the distance to a rim where subtracted surfaces leave through others. On the
/// surface that does not matter. The centre of a ball, a capsule's end or a rounded corner is off the surface
/// when it touches: for these sample_to_rims() has the distance to the rim (wedge_distance.h), of each added
/// primitive with the union of the subtracted ones. Those are longer than the shape's where they end in the air
/// (cutter_ends.h).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <Eigen/Geometry>

#include "collision/sdf/cone.h"
#include "collision/sdf/convex_polyhedron.h"
#include "collision/sdf/cutter_ends.h"
#include "collision/sdf/exact_primitives.h"
#include "collision/sdf/extruded_superquadric.h"
#include "collision/sdf/oriented_point_cloud.h"
#include "collision/sdf/padded_polygon.h"
#include "collision/sdf/potential.h"
#include "collision/sdf/sdf_sample.h"
#include "collision/sdf/superquadric.h"
#include "collision/sdf/wedge_distance.h"
#include "engine/model.h"
#include "engine/pack.h"
#include "engine/primitive_gradient.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// A primitive made ready for evaluation. T: float or double.
template <typename T>
struct PreparedPrimitive {
  using Solid = std::variant<Superquadric<T>, HalfSpace<T>, Sphere<T>, Capsule<T>, RoundedBox<T>,
                             ConvexPolyhedron<T>, OrientedPointCloud<T>, ExtrudedSuperquadric<T>,
                             TruncatedCone<T>, Torus<T>, PaddedPolygonSolid<T>>;

  /// @param parameters  those of the primitive, in T
  PreparedPrimitive(const Primitive& primitive, const std::array<T, 5>& parameters, double tau);

  Solid solid;
};

/// Prepared once from a Shape; const, hence safe to share between threads, afterwards. A shape without an
/// added primitive is empty: 1e30 m away from everywhere, with normal 0.
///
/// S is double, float, a Pack of either, or a forward-mode number of double (Dual, ceres::Jet).
class ShapeSdf {
 public:
  /// No union smoothing means a negligible one. Throws std::invalid_argument if parameters make no solid.
  explicit ShapeSdf(const Shape& shape);

  /// d(x) [m].
  template <typename S>
  [[nodiscard]] S distance(const Vec3<S>& x_B) const {
    return sample<SdfOrder::normal>(x_B).distance;  // the normal comes with it
  }

  /// d and n.
  template <typename S>
  [[nodiscard]] SdfNormal<S> evaluate_normal(const Vec3<S>& x_B) const {
    return sample<SdfOrder::normal>(x_B);
  }

  /// d, n and dd/dx.
  template <typename S>
  [[nodiscard]] SdfSample<S> evaluate(const Vec3<S>& x_B) const {
    return sample<SdfOrder::gradient>(x_B);
  }

  /// d, n, dd/dx and dn/dx.
  template <typename S>
  [[nodiscard]] SdfSampleJacobian<S> evaluate_jacobian(const Vec3<S>& x_B) const {
    return sample<SdfOrder::jacobian>(x_B);
  }

  /// As much as `order` says.
  template <SdfOrder order, typename S>
  [[nodiscard]] SdfAnswer<order, S> sample(const Vec3<S>& x_B) const;

  /// The same for the centre of what is round, with the distance to rims; normal or jacobian.
  template <SdfOrder order, typename S>
  [[nodiscard]] SdfAnswer<order, S> sample_to_rims(const Vec3<S>& x_B) const;

  /// Adds dL/d(parameters, pose) of each primitive to its entry of `bar`, given dL/dd and dL/dn of sample() at
  /// x_B ...
  void parameter_vjp(const Vec3<double>& x_B, double distance_bar, const Vec3<double>& normal_bar,
                     std::span<PrimitiveGradient> bar) const;
  /// ... and of sample_to_rims().
  void parameter_vjp_to_rims(const Vec3<double>& x_B, double distance_bar, const Vec3<double>& normal_bar,
                             std::span<PrimitiveGradient> bar) const;

  /// A box in B that contains the solid {d <= 0}; infinite with a half-space, empty without primitives.
  [[nodiscard]] const Eigen::AlignedBox3d& bounds() const { return bounds_; }

  /// kappa >= 1: d >= D/kappa - tau log L, D being the distance [m] to the added primitives (or to bounds())
  /// and L their number, for x outside of them.
  [[nodiscard]] double distance_ratio() const { return distance_ratio_; }

  // For kernels that choose the primitives that matter themselves.

  /// In the precision T: added ones first, then the subtracted.
  template <typename T>
  [[nodiscard]] const std::vector<PreparedPrimitive<T>>& primitives() const {
    if constexpr (std::is_same_v<T, float>) {
      return prepared_float_;
    } else {
      return prepared_double_;
    }
  }
  [[nodiscard]] int added() const { return added_; }
  /// Primitives are subtracted: sample_to_rims() differs from sample().
  [[nodiscard]] bool has_rims() const { return added_ > 0 && added_ < static_cast<int>(order_.size()); }
  /// Which primitive of the shape is number i in that order.
  [[nodiscard]] int primitive_of_shape(std::size_t i) const { return order_[i]; }
  /// A union without subtractions, of primitives whose derivatives lanes know (parameter_vjp.h).
  [[nodiscard]] bool has_vjp_by_lanes() const { return has_vjp_by_lanes_; }
  /// One primitive whose distance is a convex function: where its gradient is equal at two points, it is
  /// linear between them.
  [[nodiscard]] bool is_convex() const { return is_convex_; }
  [[nodiscard]] DistanceMode distance_mode() const { return shape_.distance_mode; }
  /// tau of the union [m], > 0.
  [[nodiscard]] double smoothing() const { return tau_; }
  /// A box in B around primitive i in that order; infinite for a half-space.
  [[nodiscard]] const Eigen::AlignedBox3d& box_of_primitive(std::size_t i) const { return boxes_[i]; }

 private:
  /// The smooth union of primitives [begin, end) of order_, its normal not scaled yet.
  template <SdfOrder order, typename S>
  [[nodiscard]] SdfAnswer<order, S> union_sample(const Vec3<S>& x_B, std::size_t begin,
                                                 std::size_t end) const;
  /// Its VJP, given its value; adds to `bar`.
  void union_vjp(const Vec3<double>& x_B, std::size_t begin, std::size_t end, const SdfNormal<double>& sum,
                 const SdfNormal<double>& sum_bar, std::span<PrimitiveGradient> bar) const;
  /// The VJP of the sample of primitive i of order_; adds to `bar`.
  void primitive_vjp(const Vec3<double>& x_B, std::size_t i, const SdfSampleJacobian<double>& sample,
                     double distance_bar, const Vec3<double>& normal_bar,
                     std::span<PrimitiveGradient> bar) const;

  Shape shape_;
  std::vector<int> order_;  // indices of primitives: added first, then subtracted
  int added_ = 0;
  bool has_vjp_by_lanes_ = false, is_convex_ = false;
  std::vector<EndExtensions> extensions_;  // in that order; 0 of added ones
  std::vector<Eigen::AlignedBox3d> boxes_;
  std::vector<PreparedPrimitive<double>> prepared_double_;
  std::vector<PreparedPrimitive<float>> prepared_float_;
  Eigen::AlignedBox3d bounds_;
  double distance_ratio_ = 1.0;
  double tau_ = 0.0;       // of the union [m], > 0
  double rounding_ = 0.0;  // lengths below rounding_ * epsilon mean nothing [m]
};

// Implementation --------------------------------------------------------------------------------------------

template <typename T>
PreparedPrimitive<T>::PreparedPrimitive(const Primitive& primitive, const std::array<T, 5>& parameters,
                                        double tau)
    : solid([&]() -> Solid {
        switch (primitive.kind) {
          case PrimitiveKind::half_space:
            return HalfSpace<T>(parameters, primitive.X_BP);
          case PrimitiveKind::sphere:
            return Sphere<T>(parameters, primitive.X_BP);
          case PrimitiveKind::capsule:
            return Capsule<T>(parameters, primitive.X_BP);
          case PrimitiveKind::rounded_box:
            return RoundedBox<T>(parameters, primitive.X_BP);
          case PrimitiveKind::convex_polyhedron:
            return ConvexPolyhedron<T>(primitive, parameters);
          case PrimitiveKind::oriented_point_cloud:
            return OrientedPointCloud<T>(primitive, parameters);
          case PrimitiveKind::extruded_superquadric:
            return ExtrudedSuperquadric<T>(primitive, parameters, tau);
          case PrimitiveKind::cone:
            return TruncatedCone<T>(parameters, primitive.X_BP);
          case PrimitiveKind::torus:
            return Torus<T>(parameters, primitive.X_BP);
          case PrimitiveKind::padded_polygon:
            return PaddedPolygonSolid<T>(primitive, parameters);
          case PrimitiveKind::superquadric:
            break;
        }
        return Superquadric<T>(parameters, primitive.X_BP, tau);
      }()) {}

/// Distance, normal and their derivatives of what is a potential; out of line, to keep others' code short.
template <SdfOrder order, typename S, typename Solid>
[[nodiscard]] __attribute__((noinline)) SdfAnswer<order, S> potential_sample(const Solid& solid,
                                                                             const Vec3<S>& x_B) {
  return sample_of_potential<order, S>(potential<order, S>(solid, x_B));
}

template <SdfOrder order, typename S, typename T>
[[nodiscard]] __attribute__((noinline)) SdfAnswer<order, S> extruded_sample(
    const ExtrudedSuperquadric<T>& solid, const Vec3<S>& x_B) {
  return taubin_sample<order, S>(solid, x_B);
}

/// The sample of one primitive.
template <SdfOrder order, typename S, typename T>
[[nodiscard]] SdfAnswer<order, S> primitive_sample(const PreparedPrimitive<T>& primitive, DistanceMode mode,
                                                   const Vec3<S>& x_B) {
  return std::visit(
      [&](const auto& solid) -> SdfAnswer<order, S> {
        using Solid = std::remove_cvref_t<decltype(solid)>;
        if constexpr (std::is_same_v<Solid, Superquadric<T>>) {
          return superquadric_sample<order, S>(solid, mode, x_B);
        } else if constexpr (k_is_exact<Solid>) {
          return exact_sample<order, S>(solid, x_B);
        } else if constexpr (std::is_base_of_v<Superquadric<T>, Solid>) {
          return extruded_sample<order, S>(solid, x_B);
        } else {
          return potential_sample<order, S>(solid, x_B);
        }
      },
      primitive.solid);
}

/// Cheap bounds of the distance to one primitive; of an exact one, the distance itself.
template <typename S, typename T>
[[nodiscard]] DistanceBounds<S> primitive_bounds(const PreparedPrimitive<T>& primitive, DistanceMode mode,
                                                 const Vec3<S>& x_B) {
  return std::visit(
      [&](const auto& solid) -> DistanceBounds<S> {
        using Solid = std::remove_cvref_t<decltype(solid)>;
        if constexpr (std::is_same_v<Solid, Superquadric<T>>) {
          return distance_bounds<S>(solid, mode, x_B);
        } else if constexpr (k_is_exact<Solid>) {
          const S d = exact_sample<SdfOrder::distance, S>(solid, x_B).distance;
          return {d, d};
        } else {
          return distance_bounds<S>(solid, x_B);
        }
      },
      primitive.solid);
}

/// Running sums of the smooth union: exp(-(d_l - least)/tau) times what is averaged. One exp per primitive.
template <SdfOrder order, typename S>
class UnionSum {
 public:
  UnionSum(const SdfAnswer<order, S>& first, const S& tau)
      : tau_(tau), inverse_tau_(S(1) / tau), least_(first.distance), weight_(S(1)), sum_(first) {
    if constexpr (order >= SdfOrder::jacobian) subtract_spread(first, S(1));
  }

  /// Of nothing yet.
  explicit UnionSum(const S& tau) : tau_(tau), inverse_tau_(S(1) / tau), least_(S(1e30)), weight_(S(0)) {
    sum_.distance = S(1e30);
    if constexpr (order >= SdfOrder::normal) sum_.normal.setConstant(S(0));
    if constexpr (order >= SdfOrder::gradient) sum_.gradient.setConstant(S(0));
    if constexpr (order >= SdfOrder::jacobian) sum_.normal_jacobian.setConstant(S(0));
  }

  ABUT_KERNEL void add(const SdfAnswer<order, S>& sample) {
    const auto is_least = sample.distance < least_;
    const S lower = select(is_least, sample.distance, least_),
            higher = select(is_least, least_, sample.distance);
    const S fade = exp_normal((lower - higher) * inverse_tau_);
    const S keep = select(is_least, fade, S(1)), weight = select(is_least, S(1), fade);
    least_ = lower;
    weight_ = weight_ * keep + weight;
    for (int i = 0; i < 3; ++i) {
      if constexpr (order >= SdfOrder::normal)
        sum_.normal[i] = sum_.normal[i] * keep + weight * sample.normal[i];
      if constexpr (order >= SdfOrder::gradient)
        sum_.gradient[i] = sum_.gradient[i] * keep + weight * sample.gradient[i];
      if constexpr (order >= SdfOrder::jacobian) {
        for (int j = 0; j < 3; ++j) {
          sum_.normal_jacobian(i, j) =
              sum_.normal_jacobian(i, j) * keep + weight * sample.normal_jacobian(i, j);
        }
      }
    }
    if constexpr (order >= SdfOrder::jacobian) subtract_spread(sample, weight);
  }

  /// Several at once, whose exponentials do not wait for each other.
  template <std::size_t count>
  ABUT_KERNEL void add(const SdfAnswer<order, S> (&samples)[count]) {
    S least = least_;
    for (const SdfAnswer<order, S>& sample : samples)
      least = select(sample.distance < least, sample.distance, least);
    const S keep = exp_normal((least - least_) * inverse_tau_);
    least_ = least;
    weight_ = weight_ * keep;
    for (int i = 0; i < 3; ++i) {
      if constexpr (order >= SdfOrder::normal) sum_.normal[i] = sum_.normal[i] * keep;
      if constexpr (order >= SdfOrder::gradient) sum_.gradient[i] = sum_.gradient[i] * keep;
      if constexpr (order >= SdfOrder::jacobian) {
        for (int j = 0; j < 3; ++j) sum_.normal_jacobian(i, j) = sum_.normal_jacobian(i, j) * keep;
      }
    }
    for (const SdfAnswer<order, S>& sample : samples) {
      const S weight = exp_normal((least - sample.distance) * inverse_tau_);
      weight_ = weight_ + weight;
      for (int i = 0; i < 3; ++i) {
        if constexpr (order >= SdfOrder::normal) sum_.normal[i] = sum_.normal[i] + weight * sample.normal[i];
        if constexpr (order >= SdfOrder::gradient)
          sum_.gradient[i] = sum_.gradient[i] + weight * sample.gradient[i];
        if constexpr (order >= SdfOrder::jacobian) {
          for (int j = 0; j < 3; ++j) {
            sum_.normal_jacobian(i, j) = sum_.normal_jacobian(i, j) + weight * sample.normal_jacobian(i, j);
          }
        }
      }
      if constexpr (order >= SdfOrder::jacobian) subtract_spread(sample, weight);
    }
  }

  /// d, grad d, m = sum w n (not scaled yet) and dm/dx = sum w N - (sum w n g^T - m (grad d)^T)/tau.
  [[nodiscard]] ABUT_KERNEL SdfAnswer<order, S> result() const {
    using std::log;
    SdfAnswer<order, S> r;
    r.distance = least_ - tau_ * log(weight_);
    const S scale = S(1) / weight_;
    for (int i = 0; i < 3; ++i) {
      if constexpr (order >= SdfOrder::normal) r.normal[i] = sum_.normal[i] * scale;
      if constexpr (order >= SdfOrder::gradient) r.gradient[i] = sum_.gradient[i] * scale;
    }
    if constexpr (order >= SdfOrder::jacobian) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          r.normal_jacobian(i, j) =
              sum_.normal_jacobian(i, j) * scale + r.normal[i] * inverse_tau_ * r.gradient[j];
        }
      }
    }
    return r;
  }

 private:
  void subtract_spread(const SdfAnswer<order, S>& sample, const S& weight) {
    const S scale = weight * inverse_tau_;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        sum_.normal_jacobian(i, j) =
            sum_.normal_jacobian(i, j) - scale * sample.normal[i] * sample.gradient[j];
      }
    }
  }

  S tau_, inverse_tau_, least_, weight_;
  SdfAnswer<order, S> sum_;
};

/// max(a, -b), smooth, of two unions before their normals are scaled.
template <SdfOrder order, typename S>
[[nodiscard]] ABUT_KERNEL SdfAnswer<order, S> smooth_difference(const SdfAnswer<order, S>& a,
                                                                const SdfAnswer<order, S>& b, const S& tau) {
  using std::exp, std::log;
  const S sum = a.distance + b.distance;  // a - (-b)
  const auto is_a = sum > S(0);
  const S fade = exp(select(is_a, -sum, sum) / tau), total = S(1) + fade;
  const S larger = S(1) / total, smaller = fade * larger;
  const S w_a = select(is_a, larger, smaller), w_b = select(is_a, smaller, larger);
  SdfAnswer<order, S> r;
  r.distance = select(is_a, a.distance, -b.distance) + tau * log(total);
  for (int i = 0; i < 3; ++i) {
    if constexpr (order >= SdfOrder::normal) r.normal[i] = w_a * a.normal[i] - w_b * b.normal[i];
    if constexpr (order >= SdfOrder::gradient) r.gradient[i] = w_a * a.gradient[i] - w_b * b.gradient[i];
  }
  if constexpr (order >= SdfOrder::jacobian) {
    const S spread = w_a * w_b / tau;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        r.normal_jacobian(i, j) = w_a * a.normal_jacobian(i, j) - w_b * b.normal_jacobian(i, j) +
                                  (a.normal[i] + b.normal[i]) * spread * (a.gradient[j] + b.gradient[j]);
      }
    }
  }
  return r;
}

/// The same with the distance to the rim of both.
template <SdfOrder order, typename S>
[[nodiscard]] ABUT_KERNEL SdfAnswer<order, S> difference_to_rims(const SdfAnswer<order, S>& a,
                                                                 const SdfAnswer<order, S>& b, const S& tau) {
  SdfAnswer<order, S> outside = b;
  outside.distance = -b.distance;
  for (int i = 0; i < 3; ++i) {
    outside.normal[i] = -b.normal[i];
    if constexpr (order >= SdfOrder::gradient) outside.gradient[i] = -b.gradient[i];
    if constexpr (order >= SdfOrder::jacobian) {
      for (int j = 0; j < 3; ++j) outside.normal_jacobian(i, j) = -b.normal_jacobian(i, j);
    }
  }
  return with_distance_to_rim<order, S>(smooth_difference<order, S>(a, b, tau), a, outside, tau);
}

inline constexpr double k_normal_fade = 0.1;  ///< length of m below which n fades away

/// m -> n = m sqrt(1.01)/sqrt(|m|^2 + 0.01), and its Jacobian.
template <SdfOrder order, typename S>
ABUT_KERNEL void scale_normal(SdfAnswer<order, S>& sample) {
  using std::sqrt;
  if constexpr (order >= SdfOrder::normal) {
    constexpr double fade_squared = k_normal_fade * k_normal_fade;
    const Vec3<S> m = sample.normal;
    const S inverse_square = S(1) / (m[0] * m[0] + m[1] * m[1] + m[2] * m[2] + S(fade_squared));
    const S scale = sqrt(S(1.0 + fade_squared) * inverse_square);
    for (int i = 0; i < 3; ++i) sample.normal[i] = m[i] * scale;
    if constexpr (order >= SdfOrder::jacobian) {
      Mat3<S>& J = sample.normal_jacobian;
      for (int j = 0; j < 3; ++j) {
        const S along = (m[0] * J(0, j) + m[1] * J(1, j) + m[2] * J(2, j)) * inverse_square;
        for (int i = 0; i < 3; ++i) J(i, j) = scale * (J(i, j) - m[i] * along);
      }
    }
  }
}

/// A primitive that is k_negligible tau farther than the closest one is left out.
template <SdfOrder order, typename S>
SdfAnswer<order, S> ShapeSdf::union_sample(const Vec3<S>& x_B, std::size_t begin, std::size_t end) const {
  using T = scalar_value_t<S>;
  const auto& primitives = this->primitives<T>();
  const DistanceMode mode = shape_.distance_mode;
  if (end - begin == 1) return primitive_sample<order, S>(primitives[begin], mode, x_B);

  // What is negligible is decided by bounds, lane by lane: a lane of a pack gives what it would give alone.
  using std::abs;
  using V = decltype(plain_value(x_B[0]));
  constexpr std::size_t k_block = 32;
  const Vec3<V> x(plain_value(x_B[0]), plain_value(x_B[1]), plain_value(x_B[2]));
  std::array<V, k_block> lower;
  V least = V(1e30);
  for (std::size_t i = begin; i < end; ++i) {
    const DistanceBounds<V> bounds = primitive_bounds<V>(primitives[i], mode, x);
    if (i - begin < k_block) lower[i - begin] = bounds.lower;
    least = select(bounds.upper < least, bounds.upper, least);
  }
  const V slack = V(k_negligible<T> * tau_ + rounding_ * std::numeric_limits<T>::epsilon()) +
                  V(16 * std::numeric_limits<T>::epsilon()) * abs(least);
  V limit = least + slack;

  std::optional<UnionSum<order, S>> sum;
  for (std::size_t i = begin; i < end; ++i) {
    const auto is_negligible = i - begin < k_block ? lower[i - begin] > limit : V(1) < V(0);
    if (all(is_negligible)) continue;
    SdfAnswer<order, S> sample = primitive_sample<order, S>(primitives[i], mode, x_B);
    sample.distance = select(is_negligible, S(1e30), sample.distance);
    const V now = plain_value(sample.distance) + slack;
    limit = select(now < limit, now, limit);
    if (sum) {
      sum->add(sample);
    } else {
      sum.emplace(sample, S(tau_));
    }
  }
  return sum->result();
}

template <SdfOrder order, typename S>
SdfAnswer<order, S> ShapeSdf::sample(const Vec3<S>& x_B) const {
  const auto& primitives = this->primitives<scalar_value_t<S>>();
  if (added_ == 0) {
    SdfAnswer<order, S> empty;
    empty.distance = S(1e30);
    if constexpr (order >= SdfOrder::normal) empty.normal.setConstant(S(0));
    if constexpr (order >= SdfOrder::gradient) empty.gradient.setConstant(S(0));
    if constexpr (order >= SdfOrder::jacobian) empty.normal_jacobian.setConstant(S(0));
    return empty;
  }
  if (primitives.size() == 1) return primitive_sample<order, S>(primitives[0], shape_.distance_mode, x_B);

  const auto added = static_cast<std::size_t>(added_);
  SdfAnswer<order, S> result = union_sample<order, S>(x_B, 0, added);
  if (added < primitives.size()) {
    const SdfAnswer<order, S> subtracted = union_sample<order, S>(x_B, added, primitives.size());
    result = smooth_difference<order, S>(result, subtracted, S(tau_));
  }
  scale_normal<order, S>(result);
  return result;
}

/// A primitive is left out where its own distance, which is at most that of what is left of it, is negligible.
template <SdfOrder order, typename S>
SdfAnswer<order, S> ShapeSdf::sample_to_rims(const Vec3<S>& x_B) const {
  if (!has_rims()) return sample<order, S>(x_B);
  using T = scalar_value_t<S>;
  const auto& primitives = this->primitives<T>();
  const auto added = static_cast<std::size_t>(added_);
  const SdfAnswer<order, S> subtracted = union_sample<order, S>(x_B, added, primitives.size());
  using V = decltype(plain_value(x_B[0]));
  const Vec3<V> x(plain_value(x_B[0]), plain_value(x_B[1]), plain_value(x_B[2]));
  const V slack = V(k_negligible<T> * tau_ + rounding_ * std::numeric_limits<T>::epsilon());
  V limit = V(1e30);
  UnionSum<order, S> sum{S(tau_)};
  for (std::size_t i = 0; i < added; ++i) {
    const auto is_negligible = primitive_bounds<V>(primitives[i], shape_.distance_mode, x).lower > limit;
    if (all(is_negligible)) continue;
    SdfAnswer<order, S> left = difference_to_rims<order, S>(
        primitive_sample<order, S>(primitives[i], shape_.distance_mode, x_B), subtracted, S(tau_));
    left.distance = select(is_negligible, S(1e30), left.distance);
    const V now = plain_value(left.distance) + slack;
    limit = select(now < limit, now, limit);
    sum.add(left);
  }
  SdfAnswer<order, S> result = sum.result();
  scale_normal<order, S>(result);
  return result;
}

// Compiled once, in shape_sdf.cpp, for the numbers that the library uses. Kernels compile their own lanes.
#define ABUT_SDF_SAMPLE(prefix, order, S) \
  prefix template SdfAnswer<SdfOrder::order, S> ShapeSdf::sample<SdfOrder::order, S>(const Vec3<S>&) const;
#define ABUT_SDF_SAMPLE_TO_RIMS(prefix, order, S)                                                            \
  prefix template SdfAnswer<SdfOrder::order, S> ShapeSdf::sample_to_rims<SdfOrder::order, S>(const Vec3<S>&) \
      const;
#define ABUT_SDF_SAMPLES(prefix)                  \
  ABUT_SDF_SAMPLE(prefix, normal, double)         \
  ABUT_SDF_SAMPLE(prefix, gradient, double)       \
  ABUT_SDF_SAMPLE(prefix, jacobian, double)       \
  ABUT_SDF_SAMPLE_TO_RIMS(prefix, normal, double) \
  ABUT_SDF_SAMPLE_TO_RIMS(prefix, jacobian, double)
ABUT_SDF_SAMPLES(extern)
#ifndef ABUT_COMPILATION
using SdfDouble4 = Pack<double, 4>;
#define ABUT_SDF_SAMPLES_OF_LANES(prefix)     \
  ABUT_SDF_SAMPLE(prefix, normal, SdfDouble4) \
  ABUT_SDF_SAMPLE(prefix, jacobian, SdfDouble4)
ABUT_SDF_SAMPLES_OF_LANES(extern)
#endif

}  // namespace abut
