/// VJP of the closest points, normal and distance of two padded convex sets by cores, paddings and poses.
///
/// phi by the envelope theorem, see proximity_qp.h. The points and the normal by implicit differentiation of
/// the optimality conditions: given x_bar, with the solution (x, s, y),
///   (P + G^T D(y/s) G) dx = -x_bar,   dy_i = (G dx)_i/s_i,   e = F x + w,
///   F_bar = (F dx) x^T + e dx^T,   w_bar = F dx,   G_bar = D(y) (dy x^T + 1 dx^T).
/// These are P_bar = (dx x^T + x dx^T)/2, c_bar = dx and G_bar of OptNet, put through P = F^T F, c = F^T w.
/// The points have kinks where a constraint begins or ceases to hold them, and steep slopes of cores that are
/// nearly parallel. Therefore (x, s, y) are those of the relaxed conditions s_i y_i = kappa: the derivative
/// is then that of smooth points near by, bounded by about 1/kappa, and tends to the exact one with kappa.
/// kappa = 0 differentiates the solution itself.
///
/// @see  Amos, Kolter (2017), "OptNet"; Tracy, Howell, Manchester (2022), "DiffPills", II-C: their (13), (14)
///       and (17) are printed with lambda* for x*, with d_lambda for d_x, and without the inverse; Tracy,
///       Manchester (2024), "On the differentiability of the primal-dual interior-point method" (qpax), for
///       kappa.
#pragma once

#include "collision/convex/proximity_qp.h"
#include "collision/convex/proximity_qp_core.h"
#include "collision/convex/proximity_qp_factors.h"
#include "collision/convex/proximity_qp_interior_point.h"
#include "collision/convex/proximity_qp_program.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// dL/d of what proximity() gives.
template <typename S>
struct ProximityBar {
  S distance = S(0);
  Vec3<S> normal{S(0), S(0), S(0)}, point_A{S(0), S(0), S(0)}, point_B{S(0), S(0), S(0)};
};

/// dL/d(core A, core B).
template <typename S, int dim_A, int m_A, int dim_B, int m_B>
struct ProximityCoresBar {
  PaddedCoreBar<S, dim_A, m_A> A;
  PaddedCoreBar<S, dim_B, m_B> B;
};

/// The solution of s_i y_i = kappa, for derivatives; of kappa = 0 the one of `at`.
template <typename S, int dim_A, int m_A, int dim_B, int m_B, typename T>
[[nodiscard]] ABUT_KERNEL_PART ProximitySolution<S, dim_A + dim_B, m_A + m_B> relaxed_solution(
    const ProximityProgram<S, dim_A, m_A, dim_B, m_B>& program,
    const Proximity<S, dim_A, m_A, dim_B, m_B>& at, const ProximitySettings<T>& settings) {
  if (!(settings.kappa > T(0))) return at.solution;
  InteriorPointSettings<T> relaxed = settings.solver;
  relaxed.kappa = settings.kappa;
  return interior_point(program, relaxed);
}

namespace proximity_qp_detail {

/// y/s, at most so large that larger ones would change nothing but the rounding of weight (G dx).
template <typename S, int n, int m>
ABUT_KERNEL_PART void rigid_weights(const ProximitySolution<S, n, m>& solution, S (&weight)[m]) {
  const S rigid(sizeof(scalar_value_t<S>) == 4 ? 3e3 : 6e7);
  for (int i = 0; i < m; ++i) {
    weight[i] = solution.y[i] / solution.s[i];
    weight[i] = select(weight[i] < rigid, weight[i], rigid);
  }
}

}  // namespace proximity_qp_detail

/// VJP: dL/d(cores) given dL/d(proximity). Those of poses come from it by placed_vjp().
///
/// The sizes are scales and count as constants. Where cores meet the normal is a constant.
/// @param relaxed  from relaxed_solution()
template <typename S, int dim_A, int m_A, int dim_B, int m_B>
[[nodiscard]] ABUT_KERNEL ProximityCoresBar<S, dim_A, m_A, dim_B, m_B> proximity_vjp(
    const PaddedCore<S, dim_A, m_A>& A, const PaddedCore<S, dim_B, m_B>& B,
    const ProximityProgram<S, dim_A, m_A, dim_B, m_B>& program,
    const Proximity<S, dim_A, m_A, dim_B, m_B>& at,
    const ProximitySolution<S, dim_A + dim_B, m_A + m_B>& relaxed, const ProximityBar<S>& bar) {
  using namespace proximity_qp_detail;
  constexpr int n = dim_A + dim_B, m = m_A + m_B;
  const S length = program.length, inverse_length = S(1) / length;
  ProximityCoresBar<S, dim_A, m_A, dim_B, m_B> r;
  r.A.padding = dot(at.normal, bar.point_A) - bar.distance;
  r.B.padding = -dot(at.normal, bar.point_B) - bar.distance;

  // dL/d(x_A, x_B) by points and normal; with the distance, for points that are fixed to their cores
  const S apart = S(1) - at.meeting, inverse = apart / (at.core_distance + at.meeting);
  const Vec3<S> n_bar = plus(plus(bar.normal, A.padding, bar.point_A), S(-B.padding), bar.point_B);
  const Vec3<S> across = plus(n_bar, S(-dot(at.normal, n_bar)), at.normal);
  const Vec3<S> x_A_bar = plus(bar.point_A, S(-inverse), across),
                x_B_bar = plus(bar.point_B, inverse, across);
  const Vec3<S> fixed_A_bar = plus(x_A_bar, S(-bar.distance), at.normal),
                fixed_B_bar = plus(x_B_bar, bar.distance, at.normal);

  S dx[n];
  for (int k = 0; k < dim_A; ++k) dx[k] = -length * dot(A.axes[k], x_A_bar);
  for (int l = 0; l < dim_B; ++l) dx[dim_A + l] = -length * dot(B.axes[l], x_B_bar);
  S weight[m], dy[m];
  rigid_weights(relaxed, weight);
  ProximityFactors<S, n>(program, weight).solve(dx);
  program.times(dx, dy);
  for (int i = 0; i < m; ++i) dy[i] = dy[i] * weight[i];  // times y, as G_bar has it

  // F dx, and e of the relaxed solution
  Vec3<S> Fdx(S(0), S(0), S(0));
  Vec3<S> e = relative<S, S>(A.centre, B.centre);
  for (int i = 0; i < 3; ++i) e[i] = e[i] * inverse_length;
  for (int k = 0; k < dim_A; ++k) {
    Fdx = plus(Fdx, dx[k], A.axes[k]);
    e = plus(e, relaxed.x[k], A.axes[k]);
  }
  for (int l = 0; l < dim_B; ++l) {
    Fdx = plus(Fdx, S(-dx[dim_A + l]), B.axes[l]);
    e = plus(e, S(-relaxed.x[dim_A + l]), B.axes[l]);
  }

  r.A.centre = plus(fixed_A_bar, inverse_length, Fdx);
  r.B.centre = plus(fixed_B_bar, S(-inverse_length), Fdx);
  for (int k = 0; k < dim_A; ++k) {
    for (int i = 0; i < 3; ++i) {
      r.A.axes[k][i] = at.solution.x[k] * length * fixed_A_bar[i] + Fdx[i] * relaxed.x[k] + e[i] * dx[k];
    }
  }
  for (int l = 0; l < dim_B; ++l) {
    const int k = dim_A + l;
    for (int i = 0; i < 3; ++i) {
      r.B.axes[l][i] = at.solution.x[k] * length * fixed_B_bar[i] - Fdx[i] * relaxed.x[k] - e[i] * dx[k];
    }
  }
  // d phi/d G = y x^T ell^2/delta, by the Lagrangian
  const S by_distance = bar.distance * length * length * inverse;
  for (int i = 0; i < m_A; ++i) {
    for (int k = 0; k < dim_A; ++k) {
      r.A.normals[i][k] = length * (dy[i] * relaxed.x[k] + relaxed.y[i] * dx[k] +
                                    by_distance * at.solution.y[i] * at.solution.x[k]);
    }
  }
  for (int i = 0; i < m_B; ++i) {
    for (int l = 0; l < dim_B; ++l) {
      const int k = dim_A + l, j = m_A + i;
      r.B.normals[i][l] = length * (dy[j] * relaxed.x[k] + relaxed.y[j] * dx[k] +
                                    by_distance * at.solution.y[j] * at.solution.x[k]);
    }
  }
  return r;
}

/// All in one: relaxes the solution, and takes dL/d(proximity) to dL/d(poses).
///
/// @param origin_A, origin_B  of these frames [m]
template <typename S, int dim_A, int m_A, int dim_B, int m_B, typename T>
[[nodiscard]] ABUT_KERNEL ProximityPosesBar<S> proximity_pose_vjp(
    const PaddedCore<S, dim_A, m_A>& A, const PaddedCore<S, dim_B, m_B>& B, const Vec3<S>& origin_A,
    const Vec3<S>& origin_B, const Proximity<S, dim_A, m_A, dim_B, m_B>& at,
    const ProximitySettings<T>& settings, const ProximityBar<S>& bar) {
  const auto program = proximity_program(A, B, S(settings.lambda));
  const auto cores_bar = proximity_vjp(A, B, program, at, relaxed_solution(program, at, settings), bar);
  return {placed_vjp(A, origin_A, cores_bar.A), placed_vjp(B, origin_B, cores_bar.B)};
}

}  // namespace abut
