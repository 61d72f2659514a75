/// Radial distance of a superquadric, and its derivatives by the eleven numbers that a fit moves.
#pragma once

#include <array>
#include <cmath>

#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// The radial distance d = |x| (1 - 1/F), and with `derivative` those of it by the tangent of moved()
/// (free_superquadric.h).
///
/// F is the gauge (collision/sdf/gauge.h) without the rounding of ridges. With the shares U, W of the inner
/// norm and of z in F^(2/eps1), and u, w of x and y in the inner norm^(2/eps2), g = (U u, U w, W):
///
///   d log F/d log|x_i| = g_i,   d log F/d log a_i = -g_i,   dd = (1 - 1/F) x.dx/|x| + |x|/F dlog F.
///
/// Logarithms are of squares that are at least 1e-30. All in the frame of the superquadric:
///
/// @param x            the point from the centre, along the axes
/// @param inverse_axes 1/a, 1/b, 1/c
template <bool derivative, typename S>
ABUT_KERNEL_PART S radial_distance(const Vec3<S>& x, const Vec3<S>& inverse_axes, const S& eps1,
                                   const S& eps2, std::array<S, 11>& J) {
  using std::abs, std::sqrt;
  const S one(1), half(0.5), smallest(1e-30);
  Vec3<S> logs;  // of squares of scaled coordinates
  for (int k = 0; k < 3; ++k) {
    const S t = x[k] * inverse_axes[k], square = t * t;
    logs[k] = log_normal(select(square > smallest, square, smallest));
  }
  // log(e^a + e^b), and the share of e^a in the sum.
  const auto sum = [&](const S& a, const S& b, S& share) {
    const S e = exp_normal(-abs(a - b)), larger_share = one / (one + e);
    share = select(a > b, larger_share, one - larger_share);
    return select(a > b, a, b) + log_normal(one + e);
  };
  const S inverse1 = one / eps1, inverse2 = one / eps2;
  S u, U;
  const S inner = sum(logs[0] * inverse2, logs[1] * inverse2, u), inner_log = eps2 * inner;
  const S outer = sum(inner_log * inverse1, logs[2] * inverse1, U);
  const S inverse_F = exp_normal(-half * eps1 * outer);
  const S squared = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  const S r = sqrt(select(squared > smallest, squared, smallest));
  if constexpr (derivative) {
    const Vec3<S> g(U * u, U * (one - u), one - U);
    const S along = (one - inverse_F) / r, by_log = r * inverse_F;
    Vec3<S> gradient;
    for (int k = 0; k < 3; ++k) {
      const S square = x[k] * x[k];
      gradient[k] = x[k] * (along + by_log * g[k] / select(square > smallest, square, smallest));
      J[at(k)] = -gradient[k];
      J[at(6 + k)] = -by_log * g[k];
    }
    for (int k = 0; k < 3; ++k) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      J[at(3 + k)] = gradient[i] * x[j] - gradient[j] * x[i];
    }
    J[9] = by_log * half * (outer - inverse1 * (U * inner_log + (one - U) * logs[2]));
    J[10] = by_log * half * U * (inner - inverse2 * (u * logs[0] + (one - u) * logs[1]));
  }
  return r - r * inverse_F;
}

}  // namespace abut
