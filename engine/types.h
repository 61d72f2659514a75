/// Short names of the small matrices that everything is written in, on any scalar S.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cstddef>
#include <limits>

#include "engine/scalar.h"

namespace abut {

template <typename S>
using Vec2 = Eigen::Matrix<S, 2, 1>;
template <typename S>
using Vec3 = Eigen::Matrix<S, 3, 1>;
template <typename S>
using Vec4 = Eigen::Matrix<S, 4, 1>;
template <typename S>
using Vec6 =
    Eigen::Matrix<S, 6,
                  1>;  ///< twist [w; v], wrench [torque; force], tangent of a pose [rotation; translation]
template <typename S>
using VecX = Eigen::Matrix<S, Eigen::Dynamic, 1>;

template <typename S>
using Mat2 = Eigen::Matrix<S, 2, 2>;
template <typename S>
using Mat3 = Eigen::Matrix<S, 3, 3>;
template <typename S>
using Mat4 = Eigen::Matrix<S, 4, 4>;
template <typename S>
using Mat6 = Eigen::Matrix<S, 6, 6>;
template <typename S>
using Mat36 = Eigen::Matrix<S, 3, 6>;  ///< Jacobian of a point by the tangent of a pose
template <typename S>
using MatX = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

/// Constructed as Quat<S>(w, x, y, z); coeffs() of it are (x, y, z, w).
template <typename S>
using Quat = Eigen::Quaternion<S>;

/// Many points (3, n) as a structure of arrays: one contiguous row a coordinate.
using Points = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor>;

inline constexpr double k_infinity = std::numeric_limits<double>::infinity();

/// An index of Eigen's kind as one of the standard library's.
[[nodiscard]] constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// select() of two matrices of the same size, element by element: with one condition for a pack of matrices,
/// each lane gets its own.
template <typename Condition, typename A, typename B>
[[nodiscard]] typename A::PlainObject select(const Condition& condition, const Eigen::MatrixBase<A>& a,
                                             const Eigen::MatrixBase<B>& b) {
  using S = typename A::Scalar;
  return a.binaryExpr(b, [&](const S& x, const S& y) { return select(condition, x, y); });
}

}  // namespace abut
