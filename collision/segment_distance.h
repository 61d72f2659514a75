/// The closest points of two segments, in closed form.
///
/// Segment b = A, B runs from start_b along vector_b; its points are x_b(s_b) = start_b + s_b vector_b, s_b
/// in [0, 1]. With w = start_B - start_A, u and v the vectors and n = u x v, |x_B - x_A|^2 is least over all
/// s at
///   s_A = (w x v).n/|n|^2,   s_B = (w x u).n/|n|^2.
/// Where that lies outside of the unit square the answer is on one of its four sides: one parameter is 0 or 1
/// and the other that of the closest point of a segment. All five are tried and the closest is taken, so that
/// rounding in near-parallel segments, where s is ill determined, costs the distance no more than rounding.
///
/// Segments whose directions differ by rounding alone (sine below 256 machine epsilons), and those of length
/// 0, count as parallel: of the stretch along which they are equally close, the middle is taken.
/// @see  Ericson (2005), "Real-time collision detection", 5.1.9. Ours has no branch and takes the determinant
///       |u|^2 |v|^2 - (u.v)^2 to be |u x v|^2, which keeps its digits where the segments are near-parallel.
#pragma once

#include <limits>

#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// The closest points of two segments.
template <typename S>
struct SegmentDistance {
  S squared_distance;          ///< [m^2]
  S parameter_A, parameter_B;  ///< s in [0, 1], from start to end
};

namespace segment_distance_detail {

// Not Eigen's, which may sum in another order where it finds the numbers in a register.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S dot3(const Vec3<S>& a, const Vec3<S>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> cross3(const Vec3<S>& a, const Vec3<S>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S clamped(const S& x) {
  return select(x < S(0), S(0), select(x > S(1), S(1), x));
}

/// A denominator that is 0 only with its numerator.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S at_least_tiny(const S& x) {
  const S tiny = S(std::numeric_limits<scalar_value_t<S>>::min());
  return select(x > tiny, x, tiny);
}

template <typename S>
struct Parameters {
  S s_A, s_B;

  [[nodiscard]] ABUT_KERNEL_PART auto are_inside() const {
    return s_A >= S(0) && s_A <= S(1) && s_B >= S(0) && s_B <= S(1);
  }
};

/// A point of either segment.
template <typename S>
struct PointPair {
  S s_A, s_B;
  Vec3<S> difference;  ///< x_B - x_A [m]
  S squared;           ///< its squared length [m^2]
};

/// One of the two, in each lane of a pack.
template <typename S, typename Condition>
[[nodiscard]] ABUT_KERNEL_PART PointPair<S> chosen(const Condition& first, const PointPair<S>& a,
                                                   const PointPair<S>& b) {
  PointPair<S> r;
  r.s_A = select(first, a.s_A, b.s_A);
  r.s_B = select(first, a.s_B, b.s_B);
  for (int i = 0; i < 3; ++i) r.difference[i] = select(first, a.difference[i], b.difference[i]);
  r.squared = select(first, a.squared, b.squared);
  return r;
}

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART PointPair<S> closer(const PointPair<S>& a, const PointPair<S>& b) {
  return chosen(a.squared <= b.squared, a, b);
}

/// Two segments and their products.
template <typename S>
struct SegmentPair {
  Vec3<S> u, v, w;   ///< [m]
  S uu, uv, vv;      ///< u.u, u.v, v.v [m^2]
  S uw, vw;          ///< u.w, v.w [m^2]
  Vec3<S> normal;    ///< u x v [m^2]
  S normal_squared;  ///< |u x v|^2 [m^4]

  ABUT_KERNEL_PART SegmentPair(const Vec3<S>& start_A, const Vec3<S>& end_A, const Vec3<S>& start_B,
                               const Vec3<S>& end_B)
      : u(end_A - start_A),
        v(end_B - start_B),
        w(start_B - start_A),
        uu(dot3(u, u)),
        uv(dot3(u, v)),
        vv(dot3(v, v)),
        uw(dot3(u, w)),
        vw(dot3(v, w)),
        normal(cross3(u, v)),
        normal_squared(dot3(normal, normal)) {}

  /// Whether the directions are the same but for rounding, or one of the segments is a point.
  [[nodiscard]] ABUT_KERNEL_PART auto is_parallel() const {
    using T = scalar_value_t<S>;
    constexpr T k_sine = T(256) * std::numeric_limits<T>::epsilon();
    return !(normal_squared > S(k_sine * k_sine) * uu * vv);
  }
  /// A squared distance [m^2] that rounding of the ends can make out of 0.
  [[nodiscard]] ABUT_KERNEL_PART S rounding_squared() const {
    using T = scalar_value_t<S>;
    constexpr T k_relative = T(64) * std::numeric_limits<T>::epsilon();
    return S(k_relative * k_relative) * (uu + vv + dot3(w, w));
  }
  [[nodiscard]] ABUT_KERNEL_PART PointPair<S> at(const S& s_A, const S& s_B) const {
    PointPair<S> r;
    r.s_A = s_A;
    r.s_B = s_B;
    for (int i = 0; i < 3; ++i) r.difference[i] = w[i] + s_B * v[i] - s_A * u[i];
    r.squared = dot3(r.difference, r.difference);
    return r;
  }
  /// Where the lines are closest, which need not be inside both segments.
  [[nodiscard]] ABUT_KERNEL_PART Parameters<S> of_lines() const {
    const S inverse = S(1) / at_least_tiny(normal_squared);
    return {dot3(cross3(w, v), normal) * inverse, dot3(cross3(w, u), normal) * inverse};
  }
  /// The closest of those that have an end of one of the segments.
  [[nodiscard]] ABUT_KERNEL_PART PointPair<S> of_ends() const {
    const S inverse_uu = S(1) / at_least_tiny(uu), inverse_vv = S(1) / at_least_tiny(vv);
    const PointPair<S> start_A = at(S(0), clamped(S(-vw * inverse_vv))),
                       end_A = at(S(1), clamped(S((uv - vw) * inverse_vv))),
                       start_B = at(clamped(S(uw * inverse_uu)), S(0)),
                       end_B = at(clamped(S((uw + uv) * inverse_uu)), S(1));
    return closer(closer(start_A, end_A), closer(start_B, end_B));
  }
  /// The middle of what is closest of parallel segments; of segments that are points, the closest.
  [[nodiscard]] ABUT_KERNEL_PART Parameters<S> of_parallel() const {
    const S inverse_uu = S(1) / at_least_tiny(uu), inverse_vv = S(1) / at_least_tiny(vv);
    const S s_A = S(0.5) * (clamped(S(uw * inverse_uu)) + clamped(S((uw + uv) * inverse_uu)));
    return {s_A, clamped(S((s_A * uv - vw) * inverse_vv))};
  }
};

/// The closest points of the segments.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART PointPair<S> closest(const SegmentPair<S>& segments) {
  const auto is_parallel = segments.is_parallel();
  const Parameters<S> lines = segments.of_lines(), parallel = segments.of_parallel();
  const PointPair<S> inner = segments.at(select(is_parallel, parallel.s_A, lines.s_A),
                                         select(is_parallel, parallel.s_B, lines.s_B)),
                     ends = segments.of_ends();
  return chosen(is_parallel || (lines.are_inside() && inner.squared <= ends.squared), inner, ends);
}

}  // namespace segment_distance_detail

/// Exact, for any segments: parallel, crossing, of length 0. Never throws; NaN in, NaN out.
template <typename S>
[[nodiscard]] ABUT_KERNEL SegmentDistance<S> segment_distance(const Vec3<S>& start_A, const Vec3<S>& end_A,
                                                              const Vec3<S>& start_B, const Vec3<S>& end_B) {
  using namespace segment_distance_detail;
  const PointPair<S> points = closest(SegmentPair<S>(start_A, end_A, start_B, end_B));
  return {points.squared, points.s_A, points.s_B};
}

}  // namespace abut
