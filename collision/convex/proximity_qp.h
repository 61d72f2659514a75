/// Signed distance of two padded convex sets by a quadratic program, with closest points and normal.
///
/// With the closest points x_A and x_B of the cores, delta = |x_B - x_A| and paddings r_A and r_B,
///   phi = delta - r_A - r_B,   n_AB = (x_B - x_A)/delta,   p_A = x_A + r_A n,   p_B = x_B - r_B n.
/// phi [m] is > 0 when the sets are apart, and negative, with an exact normal, as far as the paddings go.
///
/// Where the cores themselves meet, phi stays at -r_A - r_B. That is not the depth, and its derivative is 0.
/// `meeting` is 1 there and the normal is the axis that the caller gives, for instance the normal of the step
/// before, or else the axis from centre to centre. Derivatives of phi use that normal, so that descent leads
/// out. Choose paddings larger than any penetration. Two capsules have a closed form, also for crossing
/// centre lines, which is faster: collision/capsule_distance.h.
///
/// phi changes as if x_A and x_B were fixed to their cores, since they minimise it (the envelope theorem):
/// its derivative has a closed form, and no program is differentiated. For those of points and normal see
/// proximity_qp_vjp.h.
///
/// @see  Tracy, Howell, Manchester (2022), "DiffPills", III-A, IV. Theirs is phi = delta^2 - (r_A + r_B)^2
///       [m^2], whose gradient fades as cores approach each other; and the terms of (27), (28), (33), (34)
///       that go through the program add up to 0.
#pragma once

#include <cmath>

#include "collision/convex/proximity_qp_core.h"
#include "collision/convex/proximity_qp_interior_point.h"
#include "collision/convex/proximity_qp_program.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// Numbers without a dimension, for a plain type T: the programs are in units of ell, the sum of both sizes.
template <typename T>
struct ProximitySettings {
  T lambda = sizeof(T) == 4 ? T(1e-5) : T(1e-10);  ///< regularisation, > 0 (proximity_qp_program.h)
  T meeting = sizeof(T) == 4 ? T(1e-2) : T(1e-6);  ///< cores meet where delta <= this ell
  T kappa = T(1e-3);                               ///< of derivatives, >= 0
  InteriorPointSettings<T> solver = {};            ///< its own kappa is 0
};

template <typename S, int dim_A, int m_A, int dim_B, int m_B>
struct Proximity {
  S distance;                ///< phi [m]
  Vec3<S> normal;            ///< n_AB, of unit length
  Vec3<S> point_A, point_B;  ///< p_A and p_B, on the surfaces [m]
  Vec3<S> core_A, core_B;    ///< x_A and x_B [m]
  S core_distance;           ///< delta [m]
  S meeting;                 ///< 1 where the cores meet, else 0
  ProximitySolution<S, dim_A + dim_B, m_A + m_B> solution;
};

namespace proximity_qp_detail {

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S dot(const Vec3<S>& a, const Vec3<S>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
/// y + s x.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> plus(const Vec3<S>& y, const S& s, const Vec3<S>& x) {
  return {y[0] + s * x[0], y[1] + s * x[1], y[2] + s * x[2]};
}

/// From centre to centre, of unit length; the x axis where they coincide.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> centre_axis(const Vec3<S>& from, const Vec3<S>& to, const S& length) {
  using std::sqrt;
  const Vec3<S> d = relative<S, S>(to, from);
  const S squared = dot(d, d);
  const auto coincide = squared <= S(1e-12) * length * length;
  const S inverse = S(1) / sqrt(select(coincide, S(1), squared));
  return {select(coincide, S(1), S(d[0] * inverse)), select(coincide, S(0), S(d[1] * inverse)),
          select(coincide, S(0), S(d[2] * inverse))};
}

}  // namespace proximity_qp_detail

/// The signed distance from a solution of the program, of whichever method.
///
/// @param axis  normal where cores meet, of unit length
template <typename S, int dim_A, int m_A, int dim_B, int m_B, typename T>
[[nodiscard]] ABUT_KERNEL_PART Proximity<S, dim_A, m_A, dim_B, m_B> proximity_of_solution(
    const PaddedCore<S, dim_A, m_A>& A, const PaddedCore<S, dim_B, m_B>& B,
    const ProximitySolution<S, dim_A + dim_B, m_A + m_B>& solution, const ProximitySettings<T>& settings,
    const Vec3<S>& axis) {
  using namespace proximity_qp_detail;
  using std::sqrt;
  const S length = A.size + B.size;
  Proximity<S, dim_A, m_A, dim_B, m_B> r;
  r.solution = solution;
  S y_A[dim_A], y_B[dim_B];
  for (int k = 0; k < dim_A; ++k) y_A[k] = solution.x[k] * length;
  for (int l = 0; l < dim_B; ++l) y_B[l] = solution.x[dim_A + l] * length;
  r.core_A = A.point(y_A);
  r.core_B = B.point(y_B);
  const Vec3<S> difference = relative<S, S>(r.core_B, r.core_A);
  const S squared = dot(difference, difference), limit = S(settings.meeting) * length;
  const auto meet = squared <= limit * limit;
  r.meeting = select(meet, S(1), S(0));
  r.core_distance = select(meet, S(0), S(sqrt(select(meet, S(1), squared))));
  const S inverse = S(1) / select(meet, S(1), r.core_distance);
  for (int i = 0; i < 3; ++i) r.normal[i] = select(meet, axis[i], S(difference[i] * inverse));
  r.distance = r.core_distance - A.padding - B.padding;
  r.point_A = plus(r.core_A, A.padding, r.normal);
  r.point_B = plus(r.core_B, S(-B.padding), r.normal);
  return r;
}

/// By interior point. Never throws; NaN in, NaN out.
///
/// @param axis  normal where cores meet, of unit length
template <typename S, int dim_A, int m_A, int dim_B, int m_B, typename T>
[[nodiscard]] ABUT_KERNEL Proximity<S, dim_A, m_A, dim_B, m_B> proximity(const PaddedCore<S, dim_A, m_A>& A,
                                                                         const PaddedCore<S, dim_B, m_B>& B,
                                                                         const ProximitySettings<T>& settings,
                                                                         const Vec3<S>& axis) {
  const auto program = proximity_program(A, B, S(settings.lambda));
  return proximity_of_solution(A, B, interior_point(program, settings.solver), settings, axis);
}

/// The same with the axis from centre to centre.
template <typename S, int dim_A, int m_A, int dim_B, int m_B, typename T>
[[nodiscard]] ABUT_KERNEL Proximity<S, dim_A, m_A, dim_B, m_B> proximity(
    const PaddedCore<S, dim_A, m_A>& A, const PaddedCore<S, dim_B, m_B>& B,
    const ProximitySettings<T>& settings) {
  return proximity(A, B, settings,
                   proximity_qp_detail::centre_axis<S>(A.centre, B.centre, S(A.size + B.size)));
}

/// Derivatives by the poses of frames that the cores are fixed to, tangents [rotation; translation].
template <typename S>
struct ProximityPosesBar {
  Vec6<S> A, B;
};

/// d phi by these poses, the envelope shortcut: no program is solved or differentiated.
template <typename S, int dim_A, int m_A, int dim_B, int m_B>
[[nodiscard]] ABUT_KERNEL_PART ProximityPosesBar<S> proximity_distance_dpose(
    const Proximity<S, dim_A, m_A, dim_B, m_B>& at, const Vec3<S>& origin_A, const Vec3<S>& origin_B) {
  const auto moment = [&](const Vec3<S>& point, const Vec3<S>& origin, const S& sign) {
    const Vec3<S> arm = relative<S, S>(point, origin);
    Vec6<S> r;
    r[0] = sign * (arm[1] * at.normal[2] - arm[2] * at.normal[1]);
    r[1] = sign * (arm[2] * at.normal[0] - arm[0] * at.normal[2]);
    r[2] = sign * (arm[0] * at.normal[1] - arm[1] * at.normal[0]);
    for (int i = 0; i < 3; ++i) r[3 + i] = sign * at.normal[i];
    return r;
  };
  return {moment(at.core_A, origin_A, S(-1)), moment(at.core_B, origin_B, S(1))};
}

}  // namespace abut
