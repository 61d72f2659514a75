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
    const Vec3<double> v(sign * q.x(), sign * q.y(), sign * q.z());
    const double square = v.dot(v);
    if (square < 0.03 * c * c) {
      // atan(x)/x = 1 - u/3 + u^2/5 - ... + u^10/21, u = x^2, in pairs and pairs of pairs
      const double inverse = 1.0 / c, u = square * (inverse * inverse), u2 = u * u, u4 = u2 * u2;
      const double first = (1.0 - u * (1.0 / 3)) + u2 * (1.0 / 5 - u * (1.0 / 7));
      const double second = (1.0 / 9 - u * (1.0 / 11)) + u2 * (1.0 / 13 - u * (1.0 / 15));
      const double third = (1.0 / 17 - u * (1.0 / 19)) + u2 * (1.0 / 21);
      return (2.0 * inverse * (first + u4 * (second + u4 * third))) * v;
    }
  }
  return log_quaternion(q);
}

/// q v q'.
template <typename S>
[[nodiscard]] inline Vec3<S> rotated(const Quat<S>& q, const Vec3<S>& v) {
  const Vec3<S> axis(q.x(), q.y(), q.z()), twice = S(2) * axis.cross(v);
  return v + q.w() * twice + axis.cross(twice);
}

/// The z axis of a frame of orientation q.
template <typename S>
[[nodiscard]] inline Vec3<S> z_axis(const Quat<S>& q) {
  return {S(2) * (q.x() * q.z() + q.w() * q.y()), S(2) * (q.y() * q.z() - q.w() * q.x()),
          S(1) - S(2) * (q.x() * q.x() + q.y() * q.y())};
}

}  // namespace abut
