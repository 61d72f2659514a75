/// Products of quaternions as Eigen has them, but inline and number by number: what Eigen writes to memory in one width
/// and reads in another is waited for.
#pragma once

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
