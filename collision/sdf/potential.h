/// Signed distance functions that are a smooth potential phi: the distance is its value, the normal
///   n = grad phi/sqrt(|grad phi|^2 + 1e-12),
/// which is defined, and short, where the gradient vanishes deep inside.
/// @see  the contact manifold paper, after eq. (5) and (6), where the norm and its square changed places.
#pragma once

#include <array>
#include <cmath>
#include <type_traits>

#include "collision/sdf/sdf_sample.h"
#include "engine/dual.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// A term of a sum of exponentials whose exponent is this much below the largest is left out: no sum of that
/// precision would notice it, one of N terms by at most N exp(-40) (float: N exp(-18)).
template <typename T>
inline constexpr double k_negligible = std::is_same_v<T, float> ? 18.0 : 40.0;

inline constexpr double k_least_gradient_squared = 1e-12;

/// What is known of a potential at a point; of each order what the order asks for.
template <typename S>
struct Potential {
  S value;           ///< [m]
  Vec3<S> gradient;  ///< [-], from SdfOrder::normal on
  Mat3<S> hessian;   ///< [1/m], with SdfOrder::jacobian
};

/// Distance, normal and their derivatives from those of the potential.
template <SdfOrder order, typename S>
[[nodiscard]] SdfAnswer<order, S> sample_of_potential(const Potential<S>& phi) {
  using std::sqrt;
  SdfAnswer<order, S> out;
  out.distance = phi.value;
  if constexpr (order >= SdfOrder::normal) {
    const Vec3<S>& g = phi.gradient;
    const S inverse = S(1) / sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + S(k_least_gradient_squared));
    for (int i = 0; i < 3; ++i) out.normal[i] = g[i] * inverse;
    if constexpr (order >= SdfOrder::gradient) out.gradient = g;
    if constexpr (order >= SdfOrder::jacobian) {
      const Vec3<S>& n = out.normal;
      const Mat3<S>& H = phi.hessian;
      for (int j = 0; j < 3; ++j) {
        const S along = n[0] * H(0, j) + n[1] * H(1, j) + n[2] * H(2, j);
        for (int i = 0; i < 3; ++i) out.normal_jacobian(i, j) = (H(i, j) - n[i] * along) * inverse;
      }
    }
  }
  return out;
}

/// x + eps v.
using DirectionalDual = Dual<double, 1>;
[[nodiscard]] inline Vec3<DirectionalDual> along(const Vec3<double>& x, const Vec3<double>& v) {
  return {DirectionalDual(x[0], {v[0]}), DirectionalDual(x[1], {v[1]}), DirectionalDual(x[2], {v[2]})};
}

/// Adds dL/d(parameter i) by `add(i, value)`, given dL/d(phi) and v = dL/d(grad phi) at x. Of all parameters
/// only d phi/d(parameter) is needed, since derivatives by x and by a parameter may be exchanged:
///   dL/d theta = phi_bar (d phi/d theta)(x) + d/d eps (d phi/d theta)(x + eps v).
template <typename Solid, typename Add>
void potential_parameter_vjp(const Solid& solid, const Vec3<double>& x_B, double phi_bar,
                             const Vec3<double>& gradient_bar, const Add& add) {
  for_each_parameter_derivative<DirectionalDual>(
      solid, along(x_B, gradient_bar),
      [&](std::size_t i, const DirectionalDual& by) { add(i, phi_bar * by.value + by.d[0]); });
}

/// The same from dL/d(distance) and dL/d(normal) of sample_of_potential.
template <typename Solid, typename Add>
void sample_parameter_vjp(const Solid& solid, const Vec3<double>& x_B, const Vec3<double>& gradient,
                          double distance_bar, const Vec3<double>& normal_bar, const Add& add) {
  const double inverse = 1.0 / std::sqrt(gradient.squaredNorm() + k_least_gradient_squared);
  const Vec3<double> n = gradient * inverse;
  potential_parameter_vjp(solid, x_B, distance_bar,
                          Vec3<double>((normal_bar - n * n.dot(normal_bar)) * inverse), add);
}

}  // namespace abut
