/// Products of quaternions as Eigen has them, but inline and number by number: what Eigen writes to memory in one width
/// and reads in another is waited for.
#pragma once

#include <type_traits>

#include "engine/lie.h"
#include "engine/types.h"

namespace abut {

/// a b.
template <typename S>
[[nodiscard]] inline Quat<S> composed(const Quat<S>& a, const Quat<S>& b) {
  return Quat<S>(a.w() * b.w() - a.x() * b.x() - a.y() * b.y() - a.z() * b.z(),
                 a.w() * b.x() + a.x() * b.w() + a.y() * b.z() - a.z() * b.y(),
                 a.w() * b.y() + a.y() * b.w() + a.z() * b.x() - a.x() * b.z(),
                 a.w() * b.z() + a.z() * b.w() + a.x() * b.y() - a.y() * b.x());
}

/// a b', of unit quaternions: the rotation from b to a in the frame that both lead to.
template <typename S>
[[nodiscard]] inline Quat<S> relative(const Quat<S>& a, const Quat<S>& b) {
  return composed(a, Quat<S>(b.w(), -b.x(), -b.y(), -b.z()));
}

/// log_quaternion() to rounding. Its series for small rotations stands here once more because there it is a loop that
/// divides at every turn, one term after the other.
template <typename S>
[[nodiscard]] inline Vec3<S> rotation_vector(const Quat<S>& q) {
  if constexpr (std::is_same_v<S, double>) {
    const double sign = q.w() < 0.0 ? -1.0 : 1.0, c = sign * q.w();
    const double x = sign * q.x(), y = sign * q.y(), z = sign * q.z(), square = x * x + y * y + z * z;
    if (square < 0.03 * c * c) {
      // atan(x)/x = 1 - u/3 + u^2/5 - ... + u^10/21, u = x^2, in pairs and pairs of pairs
      const double inverse = 1.0 / c, u = square * (inverse * inverse), u2 = u * u, u4 = u2 * u2;
      const double first = (1.0 - u * (1.0 / 3)) + u2 * (1.0 / 5 - u * (1.0 / 7));
      const double second = (1.0 / 9 - u * (1.0 / 11)) + u2 * (1.0 / 13 - u * (1.0 / 15));
      const double third = (1.0 / 17 - u * (1.0 / 19)) + u2 * (1.0 / 21);
      const double scale = 2.0 * inverse * (first + u4 * (second + u4 * third));
      return {scale * x, scale * y, scale * z};
    }
  }
  return log_quaternion(q);
}

/// p + length q v q'.
template <typename S>
[[nodiscard]] inline Vec3<S> displaced(const Vec3<S>& p, const S& length, const Quat<S>& q,
                                       const Vec3<S>& v) {
  const S x = S(2) * (q.y() * v.z() - q.z() * v.y()), y = S(2) * (q.z() * v.x() - q.x() * v.z()),
          z = S(2) * (q.x() * v.y() - q.y() * v.x());
  return {p.x() + length * (v.x() + q.w() * x + (q.y() * z - q.z() * y)),
          p.y() + length * (v.y() + q.w() * y + (q.z() * x - q.x() * z)),
          p.z() + length * (v.z() + q.w() * z + (q.x() * y - q.y() * x))};
}

/// The z axis of a frame of orientation q, times a length.
template <typename S>
[[nodiscard]] inline Vec3<S> z_axis(const Quat<S>& q, const S& length) {
  const S twice = S(2) * length;
  return {twice * (q.x() * q.z() + q.w() * q.y()), twice * (q.y() * q.z() - q.w() * q.x()),
          length - twice * (q.x() * q.x() + q.y() * q.y())};
}

}  // namespace abut
