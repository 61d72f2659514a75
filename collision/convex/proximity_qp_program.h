/// The quadratic program of the closest points of two convex cores.
///
///   minimise  1/2 |F x + w|^2 + 1/2 x^T Lambda x   subject to   G x <= 1,
///   x = [y_A; y_B],   F = [Q_A, -Q_B],   w = r_A - r_B,   F x + w = x_A - x_B,
/// or  1/2 x^T P x + c^T x  with P = F^T F + Lambda and c = F^T w, and G = blkdiag(G_A, G_B) the constraints
/// of the cores. Lengths are in units of ell, the sum of both sizes, so that all numbers have no dimension.
///
/// F^T F has rank 3 at most: points of polygons and polytopes are not determined by their distance alone, in
/// parallel faces least of all. lambda chooses one of the closest pairs, without a case for parallel cores:
/// it minimises |y_A/size_A|^2 + |y_B/size_B|^2, the distances from both centres by the sizes of the cores,
/// so that a small face on a large one touches near its middle. The points are continuous in the poses, if
/// steep, where cores tilt through parallel. lambda moves other pairs as well: the distance delta grows by
/// less than lambda ell^2/delta, and by less than sqrt(2 lambda) ell in the worst case, of nearly parallel
/// cores that touch.
///
/// x = 0 is strictly inside: every method here starts there.
/// @see  Tracy, Howell, Manchester (2022), "DiffPills", (31), (32), (36), (37).
#pragma once

#include <cmath>

#include "collision/convex/proximity_qp_core.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// @tparam dim_A, m_A  of core A: dimension and number of constraints
template <typename S, int dim_A, int m_A, int dim_B, int m_B>
struct ProximityProgram {
  static constexpr int n = dim_A + dim_B, m = m_A + m_B;

  S F[3][n];
  S root_lambda[n];  ///< the diagonal of Lambda^(1/2)
  S P[n][n];
  S c[n];
  S G_A[m_A][dim_A], G_B[m_B][dim_B];
  S length;  ///< ell [m]

  /// P x + c.
  ABUT_KERNEL_PART void gradient(const S (&x)[n], S (&g)[n]) const {
    for (int i = 0; i < n; ++i) {
      g[i] = c[i];
      for (int j = 0; j < n; ++j) g[i] = g[i] + P[i][j] * x[j];
    }
  }
  /// G x.
  ABUT_KERNEL_PART void times(const S (&x)[n], S (&Gx)[m]) const {
    for (int i = 0; i < m_A; ++i) {
      Gx[i] = G_A[i][0] * x[0];
      for (int k = 1; k < dim_A; ++k) Gx[i] = Gx[i] + G_A[i][k] * x[k];
    }
    for (int i = 0; i < m_B; ++i) {
      Gx[m_A + i] = G_B[i][0] * x[dim_A];
      for (int k = 1; k < dim_B; ++k) Gx[m_A + i] = Gx[m_A + i] + G_B[i][k] * x[dim_A + k];
    }
  }
  /// r + G^T y.
  ABUT_KERNEL_PART void add_transposed(const S (&y)[m], S (&r)[n]) const {
    for (int i = 0; i < m_A; ++i) {
      for (int k = 0; k < dim_A; ++k) r[k] = r[k] + G_A[i][k] * y[i];
    }
    for (int i = 0; i < m_B; ++i) {
      for (int k = 0; k < dim_B; ++k) r[dim_A + k] = r[dim_A + k] + G_B[i][k] * y[m_A + i];
    }
  }
};

/// Where the conditions of optimality hold, exactly or relaxed.
template <typename S, int n, int m>
struct ProximitySolution {
  S x[n];        ///< in units of ell
  S s[m], y[m];  ///< slacks 1 - G x and multipliers, >= 0
  S iterations;  ///< of the lane
  S converged;   ///< 1 or, where the bound of iterations ended it, 0
};

/// @param lambda  regularisation of the smaller core, > 0
template <typename S, int dim_A, int m_A, int dim_B, int m_B>
[[nodiscard]] ABUT_KERNEL_PART ProximityProgram<S, dim_A, m_A, dim_B, m_B> proximity_program(
    const PaddedCore<S, dim_A, m_A>& A, const PaddedCore<S, dim_B, m_B>& B, const S& lambda) {
  using std::sqrt;
  const auto dot = [](const Vec3<S>& a, const Vec3<S>& b) {
    return S(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
  };
  ProximityProgram<S, dim_A, m_A, dim_B, m_B> r;
  r.length = A.size + B.size;
  const S inverse = S(1) / r.length;
  const Vec3<S> w = relative<S, S>(A.centre, B.centre);
  // lambda (least size)^2/size^2 for either core
  const S least = select(A.size < B.size, A.size, B.size), root = sqrt(lambda);
  const S of_A = root * least / A.size, of_B = root * least / B.size;
  for (int i = 0; i < r.n; ++i) {
    r.root_lambda[i] = i < dim_A ? of_A : of_B;
    for (int j = 0; j < r.n; ++j) r.P[i][j] = i == j ? S(S(1) + r.root_lambda[i] * r.root_lambda[i]) : S(0);
  }
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < dim_A; ++k) r.F[i][k] = A.axes[k][i];
    for (int l = 0; l < dim_B; ++l) r.F[i][dim_A + l] = -B.axes[l][i];
  }
  for (int k = 0; k < dim_A; ++k) {
    r.c[k] = dot(A.axes[k], w) * inverse;
    for (int l = 0; l < dim_B; ++l) {
      r.P[k][dim_A + l] = -dot(A.axes[k], B.axes[l]);
      r.P[dim_A + l][k] = r.P[k][dim_A + l];
    }
  }
  for (int l = 0; l < dim_B; ++l) r.c[dim_A + l] = -dot(B.axes[l], w) * inverse;
  for (int i = 0; i < m_A; ++i) {
    for (int k = 0; k < dim_A; ++k) r.G_A[i][k] = A.normals[i][k] * r.length;
  }
  for (int i = 0; i < m_B; ++i) {
    for (int l = 0; l < dim_B; ++l) r.G_B[i][l] = B.normals[i][l] * r.length;
  }
  return r;
}

}  // namespace abut
