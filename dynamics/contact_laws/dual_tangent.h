/// Tangents of the smooth Coulomb law for Newton's method that starts far from the solution, as an impact does.
///
/// The law is steep: its foot is an exponential, and friction turns within v_s. So tangents where an iterate's
/// velocities are tell it little: they unload an exponential by a factor e an iteration. Primal-dual methods have
/// impulses as iterates of their own and take tangents of the inverse laws, which are nearly straight there,
///     x = ramp^-1(y),   x = (v_hat - u_n)/w,   y = gamma_n/(c w);          W p = P u,   W = sqrt(|P u|^2 + v_s^2),
/// and after a step
///     y+ = max(y + ramp'(x)(x+ - x), x+ Gamma/(W_n c), k_kept y),   x = min(x+, ramp^-1(y+)),
///     p+ = p_u + (P du - (p_u.P du) p)/W,   |p+| <= 1,   p_u = P u/W.
/// (T. F. Chan, G. H. Golub, P. Mulet, A nonlinear primal-dual method for total variation-based image restoration, SIAM J.
/// Sci. Comput. 20(6), 1999, for p.) The second term of y+ is what would stop W_n at once: it lets open contacts
/// answer that are run into. Tangents lie below the convex ramp: impulses remain positive.
#pragma once

#include "dynamics/contact_laws/friction.h"
#include "dynamics/contact_laws/smooth_coulomb.h"

namespace abut::dual_tangent {

inline constexpr double k_kept = 0.02;       ///< part of y that a step leaves at least
inline constexpr double k_first = 0.01;      ///< y at the start, at most, of contacts that are not run into
inline constexpr double k_smallest = 1e-13;  ///< y at least

/// The x of ramp(x) = y > 0, to 1e-16/y.
template <typename S>
S ramp_inverse(const S& y) {
  using std::exp;
  return y + log_normal(S(1) - exp(-y));
}

/// Where the tangent of a normal law touches it.
template <typename S>
struct NormalTangent {
  S x;

  /// @param x_at_start  of the law at the velocities
  /// @param to_stop     Gamma/(W_n c)
  static NormalTangent first(const S& x_at_start, const S& to_stop) {
    using std::max, std::min;
    const S foot = min(smooth_coulomb::Ramp<S>(x_at_start).value, S(k_first));
    return below(x_at_start, max(x_at_start * to_stop, foot));
  }

  /// @param x_next  of the law after a step
  [[nodiscard]] NormalTangent next(const S& x_next, const S& to_stop) const {
    using std::max;
    const smooth_coulomb::Ramp<S> ramp(x);
    const S expected = ramp.value + ramp.slope * (x_next - x);
    return below(x_next, max(max(expected, x_next * to_stop), S(k_kept) * ramp.value));
  }

  /// Impulse and slope of the tangent at another x.
  [[nodiscard]] smooth_coulomb::NormalResponse<S> response(const S& at, const S& scale,
                                                           const S& width) const {
    const smooth_coulomb::Ramp<S> ramp(x);
    return {scale * width * (ramp.value + ramp.slope * (at - x)), -scale * ramp.slope};
  }

 private:
  static NormalTangent below(const S& x_of_law, const S& y) {
    using std::max, std::min;
    return {min(x_of_law, ramp_inverse(max(y, S(k_smallest))))};
  }
};

/// p after a step to the velocity u.
///
/// @param before  friction at the velocity u_before
template <typename S>
Vec3<S> next_direction(const FrictionOf<S>& before, const Vec3<S>& u_before, const Vec3<S>& p,
                       const Vec3<S>& u) {
  const Vec3<S> du = u - u_before, change = du - before.n.dot(du) * before.n,
                direction = before.inverse_w * before.P_u_t;
  const Vec3<S> next = direction + before.inverse_w * (change - direction.dot(change) * p);
  const S square = next.dot(next);
  const S shorter = select(square > S(1), reciprocal_sqrt(square), S(1));
  return shorter * next;
}

/// FrictionOf::resistance() with p in place of one p_u: not symmetric.
template <typename S>
Mat3<S> friction_resistance(const FrictionOf<S>& friction, const S& bound, const Vec3<S>& p) {
  const Vec3<S> direction = friction.inverse_w * friction.P_u_t, off = direction - p;
  const S unit = bound * friction.inverse_w;
  Mat3<S> K = friction.resistance(bound);
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) K(i, j) = K(i, j) + unit * off[i] * direction[j];
  }
  return K;
}

}  // namespace abut::dual_tangent
