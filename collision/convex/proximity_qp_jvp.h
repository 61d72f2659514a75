/// JVP of the closest points, normal and distance of two padded convex sets by their poses.
///
/// The transpose of proximity_qp_vjp.h, where the formulas are explained: with tangents dF, dw of the
/// program,
///   (P + G^T D(y/s) G) dx = -(F^T (dF x + dw) + dF^T e),   e = F x + w,
/// of the relaxed solution (x, s, y). Tangents of poses are [rotation; translation] on the left.
#pragma once

#include "collision/convex/proximity_qp_vjp.h"

namespace abut {

/// Derivative of what proximity() gives along a direction.
template <typename S>
struct ProximityTangent {
  S distance;
  Vec3<S> normal, point_A, point_B;
};

namespace proximity_qp_detail {

/// a x b.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> cross(const Vec3<S>& a, const Vec3<S>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace proximity_qp_detail

/// @param origin_A, origin_B    of frames that the cores are fixed to [m]
/// @param tangent_A, tangent_B  of these frames [rad; m]
/// @param relaxed               from relaxed_solution()
template <typename S, int dim_A, int m_A, int dim_B, int m_B>
[[nodiscard]] ABUT_KERNEL ProximityTangent<S> proximity_pose_jvp(
    const PaddedCore<S, dim_A, m_A>& A, const PaddedCore<S, dim_B, m_B>& B, const Vec3<S>& origin_A,
    const Vec3<S>& origin_B, const ProximityProgram<S, dim_A, m_A, dim_B, m_B>& program,
    const Proximity<S, dim_A, m_A, dim_B, m_B>& at,
    const ProximitySolution<S, dim_A + dim_B, m_A + m_B>& relaxed, const Vec6<S>& tangent_A,
    const Vec6<S>& tangent_B) {
  using namespace proximity_qp_detail;
  constexpr int n = dim_A + dim_B, m = m_A + m_B;
  const S length = program.length, inverse_length = S(1) / length;
  const Vec3<S> turn_A(tangent_A[0], tangent_A[1], tangent_A[2]),
      turn_B(tangent_B[0], tangent_B[1], tangent_B[2]);
  const Vec3<S> centre_A = plus<S>(cross<S>(turn_A, relative<S, S>(A.centre, origin_A)), S(1),
                                   Vec3<S>(tangent_A[3], tangent_A[4], tangent_A[5]));
  const Vec3<S> centre_B = plus<S>(cross<S>(turn_B, relative<S, S>(B.centre, origin_B)), S(1),
                                   Vec3<S>(tangent_B[3], tangent_B[4], tangent_B[5]));

  // Points fixed to their cores at the solution, and d(F x + w) and e at the relaxed one
  Vec3<S> axes_A[dim_A], axes_B[dim_B];
  Vec3<S> x_A = centre_A, x_B = centre_B;
  Vec3<S> moved = relative<S, S>(centre_A, centre_B), e = relative<S, S>(A.centre, B.centre);
  for (int i = 0; i < 3; ++i) {
    moved[i] = moved[i] * inverse_length;
    e[i] = e[i] * inverse_length;
  }
  for (int k = 0; k < dim_A; ++k) {
    axes_A[k] = cross<S>(turn_A, A.axes[k]);
    x_A = plus<S>(x_A, S(at.solution.x[k] * length), axes_A[k]);
    moved = plus<S>(moved, relaxed.x[k], axes_A[k]);
    e = plus<S>(e, relaxed.x[k], A.axes[k]);
  }
  for (int l = 0; l < dim_B; ++l) {
    axes_B[l] = cross<S>(turn_B, B.axes[l]);
    x_B = plus<S>(x_B, S(at.solution.x[dim_A + l] * length), axes_B[l]);
    moved = plus<S>(moved, S(-relaxed.x[dim_A + l]), axes_B[l]);
    e = plus<S>(e, S(-relaxed.x[dim_A + l]), B.axes[l]);
  }
  ProximityTangent<S> r;
  r.distance = dot<S>(at.normal, relative<S, S>(x_B, x_A));

  S dx[n], weight[m];
  for (int k = 0; k < dim_A; ++k) dx[k] = -(dot<S>(A.axes[k], moved) + dot<S>(axes_A[k], e));
  for (int l = 0; l < dim_B; ++l) dx[dim_A + l] = dot<S>(B.axes[l], moved) + dot<S>(axes_B[l], e);
  rigid_weights(relaxed, weight);
  ProximityFactors<S, n>(program, weight).solve(dx);
  for (int k = 0; k < dim_A; ++k) x_A = plus<S>(x_A, S(dx[k] * length), A.axes[k]);
  for (int l = 0; l < dim_B; ++l) x_B = plus<S>(x_B, S(dx[dim_A + l] * length), B.axes[l]);

  const S apart = S(1) - at.meeting, inverse = apart / (at.core_distance + at.meeting);
  const Vec3<S> difference = relative<S, S>(x_B, x_A);
  const Vec3<S> across = plus<S>(difference, S(-dot<S>(at.normal, difference)), at.normal);
  for (int i = 0; i < 3; ++i) r.normal[i] = inverse * across[i];
  r.point_A = plus<S>(x_A, A.padding, r.normal);
  r.point_B = plus<S>(x_B, S(-B.padding), r.normal);
  return r;
}

}  // namespace abut
