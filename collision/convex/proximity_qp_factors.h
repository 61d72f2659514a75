/// Triangular factor of a proximity program's weighted normal matrix, by orthogonal transformations.
///
///   R^T R = P + G^T D(weight) G = F^T F + Lambda + G^T D(weight) G,
/// R from the rows of F, Lambda^(1/2) and D(weight)^(1/2) G by Householder reflections, those of G first and
/// of either core by themselves. Weights of constraints that hold the points are 1e15 and Lambda is 1e-10: in
/// the matrix itself, which Cholesky's method takes, rounding of the first would bury the second, and turn
/// flat directions along an edge into steps of any length; rows keep their digits.
/// @see  Björck (1996), "Numerical methods for least squares problems", 2.4 and 4.4.
#pragma once

#include <cmath>
#include <limits>

#include "collision/convex/proximity_qp_program.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"

namespace abut {

namespace proximity_qp_detail {

/// The Householder reflection that takes column j of a row and of `count` rows below it into the row alone,
/// applied to the columns from j on; what is left of column j below is of no use.
template <typename S, int rows, int n>
ABUT_KERNEL_PART void reflect(int j, S (&row)[n], S (&below)[rows][n], int first, int count) {
  using std::sqrt;
  S squared = S(std::numeric_limits<scalar_value_t<S>>::min()) + row[j] * row[j];
  for (int i = first; i < first + count; ++i) squared = squared + below[i][j] * below[i][j];
  const S length = sqrt(squared), diagonal = select(row[j] > S(0), S(-length), length);
  const S factor = S(1) / (squared - diagonal * row[j]);  // 2/|v|^2, v = column - diagonal e
  const S head = row[j] - diagonal;
  for (int k = j + 1; k < n; ++k) {
    S along = head * row[k];
    for (int i = first; i < first + count; ++i) along = along + below[i][j] * below[i][k];
    along = along * factor;
    row[k] = row[k] - along * head;
    for (int i = first; i < first + count; ++i) below[i][k] = below[i][k] - along * below[i][j];
  }
  row[j] = diagonal;
}

/// R in the first n rows; below the diagonal and in other rows nothing of use is left.
template <typename S, int rows, int n>
ABUT_KERNEL_PART void triangularize(S (&M)[rows][n]) {
  for (int j = 0; j < n && j < rows; ++j) reflect(j, M[j], M, j + 1, rows - j - 1);
}

}  // namespace proximity_qp_detail

template <typename S, int n>
class ProximityFactors {
 public:
  /// @param weight  >= 0
  template <int dim_A, int m_A, int dim_B, int m_B>
  ABUT_KERNEL_PART ProximityFactors(const ProximityProgram<S, dim_A, m_A, dim_B, m_B>& program,
                                    const S (&weight)[m_A + m_B]) {
    using proximity_qp_detail::reflect, proximity_qp_detail::triangularize;
    using std::sqrt;
    S of_A[m_A][dim_A], of_B[m_B][dim_B];
    for (int i = 0; i < m_A; ++i) {
      const S root = sqrt(weight[i]);
      for (int k = 0; k < dim_A; ++k) of_A[i][k] = root * program.G_A[i][k];
    }
    for (int i = 0; i < m_B; ++i) {
      const S root = sqrt(weight[m_A + i]);
      for (int l = 0; l < dim_B; ++l) of_B[i][l] = root * program.G_B[i][l];
    }
    triangularize(of_A);
    triangularize(of_B);
    S below[3 + n][n];  // F, and Lambda^(1/2), whose row i is empty before column i
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        R_[i][j] = S(0);
        below[3 + i][j] = i == j ? program.root_lambda[i] : S(0);
      }
    }
    for (int i = 0; i < dim_A && i < m_A; ++i) {
      for (int k = i; k < dim_A; ++k) R_[i][k] = of_A[i][k];
    }
    for (int i = 0; i < dim_B && i < m_B; ++i) {
      for (int l = i; l < dim_B; ++l) R_[dim_A + i][dim_A + l] = of_B[i][l];
    }
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < n; ++j) below[i][j] = program.F[i][j];
    }
    for (int j = 0; j < n; ++j) {
      reflect(j, R_[j], below, 0, 4 + j);
      inverse_diagonal_[j] = S(1) / R_[j][j];
    }
  }

  /// b <- (R^T R)^-1 b.
  ABUT_KERNEL_PART void solve(S (&b)[n]) const {
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < i; ++k) b[i] = b[i] - R_[k][i] * b[k];
      b[i] = b[i] * inverse_diagonal_[i];
    }
    for (int i = n - 1; i >= 0; --i) {
      for (int k = i + 1; k < n; ++k) b[i] = b[i] - R_[i][k] * b[k];
      b[i] = b[i] * inverse_diagonal_[i];
    }
  }

 private:
  S R_[n][n], inverse_diagonal_[n];  // R on and above the diagonal
};

}  // namespace abut
