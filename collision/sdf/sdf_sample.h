/// What a signed distance function answers at a point, and how much of it is asked for.
///
/// The distance d [m] is positive outside the solid. The normal n points out of it; it is not in general the
/// gradient of d (an approximate distance is not metric). All quantities are in the frame of the point.
#pragma once

#include <type_traits>

#include "engine/kernel_part.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// How much is computed; each includes those before it. On a superquadric the second costs as much as the
/// first (the distance needs the gradient of the gauge anyway), the third a quarter more, the last half more.
enum class SdfOrder { distance, normal, gradient, jacobian };

template <typename S>
struct SdfDistance {
  S distance;  ///< d [m]
};

template <typename S>
struct SdfNormal {
  S distance;      ///< d [m]
  Vec3<S> normal;  ///< n [-]
};

template <typename S>
struct SdfSample {
  S distance;        ///< d [m]
  Vec3<S> gradient;  ///< dd/dx [-]
  Vec3<S> normal;    ///< n [-]
};

template <typename S>
struct SdfSampleJacobian : SdfSample<S> {
  Mat3<S> normal_jacobian;  ///< dn/dx [1/m], row of n, column of x
};

/// The one of these that holds what `order` asks for.
template <SdfOrder order, typename S>
using SdfAnswer = std::conditional_t<
    order == SdfOrder::distance, SdfDistance<S>,
    std::conditional_t<order == SdfOrder::normal, SdfNormal<S>,
                       std::conditional_t<order == SdfOrder::gradient, SdfSample<S>, SdfSampleJacobian<S>>>>;

/// Bounds of a distance that are cheap to have.
template <typename S>
struct DistanceBounds {
  S lower, upper;
};

/// A number without its derivatives: a double, a float or a Pack of them.
template <typename S>
[[nodiscard]] auto plain_value(const S& x) {
  if constexpr (requires { x.d; }) {
    return plain_value(x.value);
  } else if constexpr (requires { x.a; }) {
    return plain_value(x.a);
  } else {
    return x;
  }
}

/// m v, where the matrix is in the precision of the shape and the vector in that of the point.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> transform(const Mat3<T>& m, const Vec3<S>& v) {
  return {S(m(0, 0)) * v[0] + S(m(0, 1)) * v[1] + S(m(0, 2)) * v[2],
          S(m(1, 0)) * v[0] + S(m(1, 1)) * v[1] + S(m(1, 2)) * v[2],
          S(m(2, 0)) * v[0] + S(m(2, 1)) * v[1] + S(m(2, 2)) * v[2]};
}

/// m^T v.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> transform_transposed(const Mat3<T>& m, const Vec3<S>& v) {
  return {S(m(0, 0)) * v[0] + S(m(1, 0)) * v[1] + S(m(2, 0)) * v[2],
          S(m(0, 1)) * v[0] + S(m(1, 1)) * v[1] + S(m(2, 1)) * v[2],
          S(m(0, 2)) * v[0] + S(m(1, 2)) * v[1] + S(m(2, 2)) * v[2]};
}

/// x - p.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> relative(const Vec3<S>& x, const Vec3<T>& p) {
  return {x[0] - S(p[0]), x[1] - S(p[1]), x[2] - S(p[2])};
}

}  // namespace abut
