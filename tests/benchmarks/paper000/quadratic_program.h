/// Witness points as quadratic programs of two variables: what all solvers compared here are given.
///
///   minimise  1/2 x^T Q x + c^T x  over the set
///     edge and edge    UnitSquare:  x_b is the parameter along edge b
///     vertex and face  UnitTriangle:  the point of the face is a + x_1 (b - a) + x_2 (c - a)
/// S is a number or a Pack of them.
#pragma once

#include <array>

#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut::paper000 {

/// 1/x, as fast as the number has it.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S inverse_of(const S& x) {
  if constexpr (requires { reciprocal(x); }) {
    return reciprocal(x);
  } else {
    return S(1) / x;
  }
}

template <typename S>
struct QuadraticProgram {
  S Q11, Q12, Q22, c1, c2;

  [[nodiscard]] ABUT_KERNEL_PART S value(const std::array<S, 2>& x) const {
    return x[0] * (c1 + S(0.5) * Q11 * x[0] + Q12 * x[1]) + x[1] * (c2 + S(0.5) * Q22 * x[1]);
  }
  [[nodiscard]] ABUT_KERNEL_PART std::array<S, 2> gradient(const std::array<S, 2>& x) const {
    return {Q11 * x[0] + Q12 * x[1] + c1, Q12 * x[0] + Q22 * x[1] + c2};
  }
};

/// {x : G x <= h} by its slacks h - G x, and the products with G that a solver needs.
struct UnitSquare {
  static constexpr int k_rows = 4;
  static constexpr double k_centre = 0.5;  ///< of both coordinates
  static constexpr double k_G[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}}, k_h[4] = {0, 1, 0, 1};

  template <typename S>
  [[nodiscard]] ABUT_KERNEL_PART static std::array<S, 4> slacks(const std::array<S, 2>& x) {
    return {x[0], S(1) - x[0], x[1], S(1) - x[1]};
  }
  /// G x
  template <typename S>
  [[nodiscard]] ABUT_KERNEL_PART static std::array<S, 4> times(const std::array<S, 2>& x) {
    return {-x[0], x[0], -x[1], x[1]};
  }
  /// G^T y
  template <typename S>
  [[nodiscard]] ABUT_KERNEL_PART static std::array<S, 2> transposed_times(const std::array<S, 4>& y) {
    return {y[1] - y[0], y[3] - y[2]};
  }
  /// G^T diag(w) G as its elements 11, 12, 22.
  template <typename S>
  [[nodiscard]] ABUT_KERNEL_PART static std::array<S, 3> normal_matrix(const std::array<S, 4>& w) {
    return {w[0] + w[1], S(0), w[2] + w[3]};
  }
  /// det(Q + G^T diag(w) G), without differences of large terms.
  template <typename S>
  [[nodiscard]] ABUT_KERNEL_PART static S determinant(const QuadraticProgram<S>& p,
                                                      const std::array<S, 4>& w) {
    return (p.Q11 + w[0] + w[1]) * (p.Q22 + w[2] + w[3]) - p.Q12 * p.Q12;
  }
};

struct UnitTriangle {
  static constexpr int k_rows = 3;
  static constexpr double k_centre = 1.0 / 3.0;
  static constexpr double k_G[3][2] = {{-1, 0}, {0, -1}, {1, 1}}, k_h[3] = {0, 0, 1};

  template <typename S>
  [[nodiscard]] ABUT_KERNEL_PART static std::array<S, 3> slacks(const std::array<S, 2>& x) {
    return {x[0], x[1], S(1) - x[0] - x[1]};
  }
  template <typename S>
  [[nodiscard]] ABUT_KERNEL_PART static std::array<S, 3> times(const std::array<S, 2>& x) {
    return {-x[0], -x[1], x[0] + x[1]};
  }
  template <typename S>
  [[nodiscard]] ABUT_KERNEL_PART static std::array<S, 2> transposed_times(const std::array<S, 3>& y) {
    return {y[2] - y[0], y[2] - y[1]};
  }
  template <typename S>
  [[nodiscard]] ABUT_KERNEL_PART static std::array<S, 3> normal_matrix(const std::array<S, 3>& w) {
    return {w[0] + w[2], w[2], w[1] + w[2]};
  }
  template <typename S>
  [[nodiscard]] ABUT_KERNEL_PART static S determinant(const QuadraticProgram<S>& p,
                                                      const std::array<S, 3>& w) {
    return (p.Q11 + w[0]) * (p.Q22 + w[1]) - p.Q12 * p.Q12 +
           w[2] * (p.Q11 - S(2) * p.Q12 + p.Q22 + w[0] + w[1]);
  }
};

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S dot(const Vec3<S>& a, const Vec3<S>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> difference(const Vec3<S>& a, const Vec3<S>& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

/// |p + x_1 t - q - x_2 u|^2/2 + regularization |x - 1/2|^2/2 without its constant, of edges from p along t
/// and from q along u.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART QuadraticProgram<S> edge_edge_program(const Vec3<S>& p, const Vec3<S>& t,
                                                                     const Vec3<S>& q, const Vec3<S>& u,
                                                                     const S& regularization) {
  const Vec3<S> b = difference(p, q);
  const S half = S(0.5) * regularization;
  return {dot(t, t) + regularization, -dot(t, u), dot(u, u) + regularization, dot(t, b) - half,
          -dot(u, b) - half};
}

/// |v - a - x_1 (b - a) - x_2 (c - a)|^2/2 without its constant.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART QuadraticProgram<S> vertex_face_program(const Vec3<S>& v, const Vec3<S>& a,
                                                                       const Vec3<S>& b, const Vec3<S>& c) {
  const Vec3<S> e1 = difference(b, a), e2 = difference(c, a), d = difference(v, a);
  return {dot(e1, e1), dot(e1, e2), dot(e2, e2), -dot(e1, d), -dot(e2, d)};
}

}  // namespace abut::paper000
