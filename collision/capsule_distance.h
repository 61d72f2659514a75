/// Signed distance of two capsules, with closest points, normal and derivatives.
///
/// A capsule is all points within its radius of a segment, its centre line. With the closest points x_A and
/// x_B of the centre lines
///   phi = |x_B - x_A| - r_A - r_B,   n_AB = (x_B - x_A)/|x_B - x_A|,
/// phi [m] is > 0 when they are apart, n_AB points from A to B. Everything is in one common frame.
///
/// x_A and x_B minimise the distance, so that to first order phi changes as if they were fixed to their
/// capsules (the envelope theorem): derivatives need no derivative of the parameters.
///
/// Where centre lines cross, |x_B - x_A| is 0 and has no gradient. Two answers:
///   capsule_distance           in space. phi stays at -r_A - r_B: capsules whose centre lines cross can
///                              leave each other at once, perpendicular to both, and that is their normal.
///   capsule_distance_in_plane  of capsules that cannot leave a plane. There they have to move until an end
///                              of one centre line reaches the other line: by a depth d > 0, and
///                              phi = -d - r_A - r_B, with a gradient that leads out.
/// Both are the exact signed distance, the least translation that parts the capsules, and continuous. phi has
/// kinks where the pair of closest points jumps, as it does of parallel centre lines side by side: there the
/// derivative is the one at the middle of the stretch that is closest.
///
/// @see  Tracy, Howell, Manchester (2022), "DiffPills: differentiable collision detection for capsules and
///       padded polygons", III-A. Theirs is |x_B - x_A|^2 - (r_A + r_B)^2 [m^2], whose gradient fades as
///       centre lines approach each other and is zero where they cross; and their derivatives go through the
///       quadratic program, of which all terms but those here cancel.
#pragma once

#include <cmath>
#include <limits>

#include "collision/sdf/sdf_sample.h"
#include "collision/segment_distance.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// A capsule by the ends of its centre line.
template <typename S>
struct CapsuleEnds {
  Vec3<S> start, end;  ///< [m]; may be the same: a ball
  S radius;            ///< [m], >= 0
};

template <typename S>
struct CapsuleDistance {
  S distance;                  ///< phi [m]
  Vec3<S> normal;              ///< n_AB, of unit length
  S parameter_A, parameter_B;  ///< of x_A and x_B, from start (0) to end (1)
  Vec3<S> point_A, point_B;    ///< x_A + r_A n_AB and x_B - r_B n_AB, on the surfaces [m]
};

/// d phi by the ends of the centre lines [-]. d phi by either radius is -1.
template <typename S>
struct CapsuleDistanceGradient {
  Vec3<S> start_A, end_A, start_B, end_B;
};

/// d phi by tangents [rotation; translation] of two frames, [m/rad; -].
template <typename S>
struct CapsulePoseGradient {
  Vec6<S> A, B;
};

namespace capsule_distance_detail {

/// A unit vector perpendicular to d, of unit length or 0 (then the x axis).
/// @see  Duff et al. (2017), "Building an orthonormal basis, revisited", JCGT 6(1).
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> perpendicular(const Vec3<S>& d) {
  const S sign = select(d[2] < S(0), S(-1), S(1));
  const S a = S(-1) / (sign + d[2]);
  return {S(1) + sign * d[0] * d[0] * a, sign * d[0] * d[1] * a, -sign * d[0]};
}

/// x/|x|, and 0 of 0.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> unit(const Vec3<S>& x) {
  using std::sqrt;
  const S tiny = S(std::numeric_limits<scalar_value_t<S>>::min()),
          squared = segment_distance_detail::dot3(x, x);
  const S inverse = select(squared > tiny, S(1) / sqrt(select(squared > tiny, squared, S(1))), S(0));
  return x * inverse;
}

/// The distance along the difference of a pair of points, or where that is nothing but rounding along the
/// normal that `fallback` gives (asked only if there is such a lane: it costs as much as all the rest).
///
/// @param direction  1, or -1 where B has to go from x_B towards x_A to part from A
template <typename S, typename Fallback>
[[nodiscard]] ABUT_KERNEL_PART CapsuleDistance<S> along_difference(
    const CapsuleEnds<S>& A, const CapsuleEnds<S>& B,
    const segment_distance_detail::SegmentPair<S>& centre_lines,
    const segment_distance_detail::PointPair<S>& points, const S& direction, const Fallback& fallback) {
  using std::sqrt;
  const auto is_rounding = points.squared <= centre_lines.rounding_squared();
  const S length = sqrt(select(is_rounding, S(1), points.squared));
  const S factor = direction / length;
  CapsuleDistance<S> r;
  r.normal = points.difference * factor;
  S centre_distance = direction * length;
  if (any(is_rounding)) {
    const Vec3<S> normal = fallback();
    r.normal = select(is_rounding, normal, r.normal);
    centre_distance =
        select(is_rounding, segment_distance_detail::dot3(normal, points.difference), centre_distance);
  }
  r.distance = centre_distance - A.radius - B.radius;
  r.parameter_A = points.s_A;
  r.parameter_B = points.s_B;
  for (int i = 0; i < 3; ++i) {
    const S x_A = A.start[i] + points.s_A * centre_lines.u[i];
    r.point_A[i] = x_A + A.radius * r.normal[i];
    r.point_B[i] = x_A + points.difference[i] - B.radius * r.normal[i];
  }
  return r;
}

/// The normal in a plane of centre lines that meet at a pair of points, see capsule_distance_in_plane().
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> normal_in_plane(const segment_distance_detail::SegmentPair<S>& lines,
                                                       const segment_distance_detail::PointPair<S>& points,
                                                       const Vec3<S>& up) {
  using segment_distance_detail::cross3, segment_distance_detail::dot3;
  const auto nearer_end = [](const S& s) { return select(s < S(0.5), s, S(S(1) - s)); };
  const S inside_A = nearer_end(points.s_A), inside_B = nearer_end(points.s_B);
  const S reach_A = inside_A * inside_A * lines.uu, reach_B = inside_B * inside_B * lines.vv;
  const auto across_A = reach_A > reach_B || !(lines.vv > S(0));
  const Vec3<S> left_of_A = cross3(up, lines.u), left_of_B = cross3(up, lines.v);
  const Vec3<S> left = unit<S>(select(across_A, left_of_A, left_of_B));
  const Vec3<S> middles = lines.w + S(0.5) * (lines.v - lines.u);
  const S side = dot3(left, middles);
  const S decisive = select(side * side > lines.rounding_squared(), side, dot3(left, left_of_B));
  const auto both_are_points = !(lines.uu + lines.vv > S(0));
  const Vec3<S> towards_B = left * select(decisive < S(0), S(-1), S(1));
  return select(both_are_points, perpendicular(up), towards_B);
}

}  // namespace capsule_distance_detail

/// In space. Never throws; NaN in, NaN out.
///
/// Where the centre lines meet, up to rounding, the normal is u x v of their vectors, or if these are
/// parallel some perpendicular of the longer one, or if both are points the x axis.
template <typename S>
[[nodiscard]] ABUT_KERNEL CapsuleDistance<S> capsule_distance(const CapsuleEnds<S>& A,
                                                              const CapsuleEnds<S>& B) {
  using namespace capsule_distance_detail;
  const segment_distance_detail::SegmentPair<S> lines(A.start, A.end, B.start, B.end);
  const auto fallback = [&] {
    const Vec3<S> longer = unit<S>(select(lines.uu > lines.vv, lines.u, lines.v));
    return Vec3<S>(select(lines.is_parallel(), perpendicular(longer), unit(lines.normal)));
  };
  return along_difference(A, B, lines, segment_distance_detail::closest(lines), S(1), fallback);
}

/// In a plane. Never throws; NaN in, NaN out.
///
/// Where an end of a centre line lies on the other one, up to rounding, the normal is the perpendicular of
/// the one that is met farther from its own ends (of B where both are met at an end, of the longer one where
/// the other is a point). It points to the side on which the middle of B lies as seen from the middle of A;
/// where that is neither, as of capsules driven through each other along their axes, to the left of B's
/// direction: one side for all such pairs with the same B.
///
/// @param up  normal of the plane, of unit length; all four ends lie in one plane normal to it
template <typename S>
[[nodiscard]] ABUT_KERNEL CapsuleDistance<S> capsule_distance_in_plane(const CapsuleEnds<S>& A,
                                                                       const CapsuleEnds<S>& B,
                                                                       const Vec3<S>& up) {
  using namespace capsule_distance_detail;
  using namespace segment_distance_detail;
  const SegmentPair<S> lines(A.start, A.end, B.start, B.end);
  const auto is_parallel = lines.is_parallel();
  const auto do_cross = !is_parallel && lines.of_lines().are_inside();
  const Parameters<S> parallel = lines.of_parallel();
  const PointPair<S> points = chosen(is_parallel, lines.at(parallel.s_A, parallel.s_B), lines.of_ends());
  return along_difference(A, B, lines, points, select(do_cross, S(-1), S(1)),
                          [&] { return normal_in_plane(lines, points, up); });
}

/// By the ends, at fixed parameters.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART CapsuleDistanceGradient<S> capsule_distance_gradient(
    const CapsuleDistance<S>& at) {
  return {at.normal * (at.parameter_A - S(1)), at.normal * -at.parameter_A,
          at.normal * (S(1) - at.parameter_B), at.normal * at.parameter_B};
}

/// By the poses of frames that the capsules are fixed to: x moves by rotation x (x - origin) + translation.
///
/// @param origin_A, origin_B  of these frames [m]
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART CapsulePoseGradient<S> capsule_distance_dpose(const CapsuleDistance<S>& at,
                                                                             const Vec3<S>& origin_A,
                                                                             const Vec3<S>& origin_B) {
  CapsulePoseGradient<S> r;
  r.A.template head<3>() = segment_distance_detail::cross3<S>(at.normal, at.point_A - origin_A);
  r.A.template tail<3>() = -at.normal;
  r.B.template head<3>() = segment_distance_detail::cross3<S>(at.point_B - origin_B, at.normal);
  r.B.template tail<3>() = at.normal;
  return r;
}

}  // namespace abut
