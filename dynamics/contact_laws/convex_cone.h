/// A compliant contact whose impulse lies in the friction cone: the projection of a spring's answer onto the
/// cone, in the metric of its compliance.
///
///     y = R^-1 (v_hat - u),   R = diag(R_n, R_t, R_t),
///     gamma = argmin over |gamma_t| <= mu gamma_n of 1/2 (gamma - y)^T R (gamma - y)
///
/// which is minus the gradient of the convex potential l(u) = 1/2 gamma^T R gamma. With N = n.(v_hat - u), T
/// = |P (v_hat - u)|, P = I - n n^T and rho = R_t/R_n it has three zones:
///     stick   T <= mu rho N        gamma_n = N/R_n,  gamma_t = P (v_hat - u)/R_t
///     open    N + mu T <= 0        gamma = 0
///     slide   elsewhere            gamma_n = (N + mu T)/((1 + mu^2 rho) R_n),
///                                  gamma_t = mu gamma_n P (v_hat - u)/T
/// gamma is continuous; its Jacobian jumps between the zones (also from stick to slide). Signs as in
/// smooth_coulomb.h. P is a projector where |n| = 1; nothing here relies on it.
///
/// Two laws share it, and differ in v_hat and R: Drake's, below, and MuJoCo's (impedance.h).
///
/// @see  Castro, Permenter and Han (2022), "An unconstrained convex formulation of compliant contact".
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "dynamics/contact_laws/smooth_coulomb.h"
#include "engine/types.h"

namespace abut::convex_cone {

/// What the cone needs to know of one contact. A contact of scale 0 answers with 0.
template <typename S>
struct Parameters {
  S target;    ///< n.v_hat [m/s]
  S scale;     ///< 1/R_n [kg]
  S ratio;     ///< rho = R_t/R_n [-], > 0
  S friction;  ///< mu [-], >= 0
};

enum class Zone { open, slide, stick };

template <typename S>
class ConeOf {
 public:
  /// @param u  relative velocity, less the tangential part of v_hat if there is one [m/s]
  ConeOf(const Vec3<S>& u, const Vec3<S>& normal, const Parameters<S>& parameters)
      : n(normal), c(parameters), z(-u) {
    using std::sqrt;
    const S z_n = n.dot(z);
    z_t = z - z_n * n;
    P_z_t = z_t - n.dot(z_t) * n;
    N = c.target + z_n;
    // Not 0 where there is no slip, so that directions are 0 there and not NaN.
    T = sqrt(z_t.dot(z_t) + S(std::numeric_limits<scalar_value_t<S>>::min()));
    inverse_T = S(1) / T;
    inverse_D = S(1) / (S(1) + c.friction * c.friction * c.ratio);
    p = (N + c.friction * T) * inverse_D;
    is_stick = T <= c.friction * c.ratio * N;
    is_open = N + c.friction * T <= S(0);
    along_n = select(is_open, S(0), select(is_stick, N, p));
    along_z = select(is_open, S(0), select(is_stick, S(1) / c.ratio, c.friction * p * inverse_T));
  }

  /// l(u) [J].
  [[nodiscard]] S potential() const {
    const S stick = N * N + T * T / c.ratio, slide = (S(1) + c.friction * c.friction * c.ratio) * p * p;
    return S(0.5) * c.scale * select(is_open, S(0), select(is_stick, stick, slide));
  }

  /// gamma_n [N s], >= 0.
  [[nodiscard]] S normal_impulse() const { return c.scale * along_n; }

  [[nodiscard]] Vec3<S> impulse() const { return c.scale * (along_n * n + along_z * P_z_t); }

  /// G = -d impulse/du, symmetric positive semidefinite [kg]. At a seam that of the zone listed first above.
  [[nodiscard]] Mat3<S> resistance() const {
    const auto is_slide = !(is_stick || is_open);
    const S zero(0), slope = c.scale * inverse_D, by_mu = c.friction * slope;
    const S isotropic = c.scale * along_z;  // times P P = I + (|n|^2 - 2) n n^T
    const S n_n = select(is_open, zero, select(is_stick, c.scale, slope)) + isotropic * (n.dot(n) - S(2));
    const S n_t = select(is_slide, by_mu, zero);
    const S t_t = select(is_slide, c.friction * by_mu - isotropic, zero);
    const Vec3<S> t = inverse_T * P_z_t;
    Mat3<S> K;
    for (int j = 0; j < 3; ++j) {
      for (int i = j; i < 3; ++i) {
        K(i, j) = n_n * (n[i] * n[j]) + n_t * (n[i] * t[j] + t[i] * n[j]) + t_t * (t[i] * t[j]);
        if (i == j) K(i, j) += isotropic;
        K(j, i) = K(i, j);
      }
    }
    return K;
  }

  /// Derivatives of the scalar lambda . gamma.
  struct Bar {
    Vec3<S> u, n;
    S target, scale, ratio, friction;
  };
  /// f = scale (along_n lambda_n + along_z s), lambda_n = n.lambda, s = (P lambda).z_t.
  [[nodiscard]] Bar vjp(const Vec3<S>& lambda) const {
    const S zero(0), mu = c.friction, lambda_n = n.dot(lambda);
    const Vec3<S> lambda_t = lambda - lambda_n * n;
    const S s = lambda_t.dot(z_t);
    const auto choose = [&](const S& stick, const S& slide) {
      return c.scale * select(is_open, zero, select(is_stick, stick, slide));
    };
    const S e = lambda_n + mu * s * inverse_T;  // slide: f = scale p e
    const S f_N = choose(lambda_n, e * inverse_D);
    const S f_T = choose(zero, (mu * e * inverse_D - mu * p * s * inverse_T * inverse_T));
    Bar bar;
    bar.target = f_N;
    bar.scale = along_n * lambda_n + along_z * s;
    bar.ratio = choose(-s / (c.ratio * c.ratio), -mu * mu * e * p * inverse_D);
    bar.friction = choose(zero, e * (T - S(2) * mu * c.ratio * p) * inverse_D + p * s * inverse_T);
    const S f_s = c.scale * along_z;
    const Vec3<S> z_t_bar = f_s * lambda_t + f_T * inverse_T * z_t, lambda_t_bar = f_s * z_t;
    bar.u = -(f_N * n + z_t_bar - n.dot(z_t_bar) * n);
    bar.n = f_N * z + c.scale * along_n * lambda;
    bar.n -= n.dot(z) * z_t_bar + n.dot(z_t_bar) * z;
    bar.n -= lambda_n * lambda_t_bar + n.dot(lambda_t_bar) * lambda;
    return bar;
  }

  [[nodiscard]] Zone zone() const { return is_open ? Zone::open : is_stick ? Zone::stick : Zone::slide; }

  /// Whether the contact comes into another zone if the relative velocity that it would have without itself
  /// changes by about `change`: a velocity where the zone leaves it free, and where the impulse answers to it
  /// the velocity that the impulse makes up for.
  ///
  /// @param response  velocity that an impulse on this contact alone brings about, W/Gamma [1/kg]
  [[nodiscard]] bool is_near_kink(double change, double response) const {
    const double approach = N + c.friction * T, gamma_n = normal_impulse();
    if (is_open) return -approach <= change;
    if (approach + response * gamma_n <= change) return true;
    if (c.friction == 0.0) return false;
    const double left = c.friction * c.ratio * N - T;
    return is_stick ? left + response * (c.scale / c.ratio) * left <= change : -left <= change;
  }

 private:
  using Mask = decltype(std::declval<S>() <= std::declval<S>());

  // NOLINTBEGIN(readability-identifier-naming): named as in the formulas
  Vec3<S> n;
  Parameters<S> c;
  Vec3<S> z, z_t, P_z_t;  // z = v_hat - u, but for the normal part of v_hat
  S N, T, inverse_T, inverse_D, p;
  Mask is_stick, is_open;
  S along_n, along_z;  // gamma/scale = along_n n + along_z P z_t
  // NOLINTEND(readability-identifier-naming)
};

using Cone = ConeOf<double>;

// Drake's parameters --------------------------------------------------------------------------------------
//
//     n.v_hat = normal_target(),
//     R_n = [1/(h k (h + tau_d)) + beta^2/(4 pi^2) W]/Gamma,   R_t = sigma W/Gamma,
// v_hat and R_n being those of smooth_coulomb.h; its tangential part is 0. A contact that slides at u_t opens
// to a gap of mu h |u_t|, where N + mu T is as good as 0. (With Drake's target, -d/(h + tau_d) on either side
// of the surface, it would be mu (h + tau_d) |u_t|.)

/// rho = R_t/R_n.
template <typename S>
S tangential_ratio(const S& inverse_mass, const S& normal_resistance, double sigma) {
  return S(sigma) * inverse_mass / normal_resistance;
}

inline Parameters<double> parameters_of(const smooth_coulomb::Parameters& c, double friction, double sigma,
                                        const smooth_coulomb::Settings& s) {
  const double R = smooth_coulomb::normal_resistance(c, s);
  return {smooth_coulomb::normal_target(c, s).value, c.weight / R, tangential_ratio(c.inverse_mass, R, sigma),
          friction};
}

/// From dL/d(target, scale, ratio) to dL/d of what they are made of.
struct ParametersBar {
  double distance = 0, weight = 0, inverse_mass = 0, compliance = 0, dissipation_time = 0;
};
inline ParametersBar parameters_vjp(const smooth_coulomb::Parameters& c, double sigma,
                                    const smooth_coulomb::Settings& s, double target_bar, double scale_bar,
                                    double ratio_bar) {
  const auto target = smooth_coulomb::normal_target(c, s);
  const double R = smooth_coulomb::normal_resistance(c, s);
  const auto by = smooth_coulomb::normal_resistance_derivatives(c.compliance, c.dissipation_time, s);
  const double R_bar = -(scale_bar * c.weight + ratio_bar * sigma * c.inverse_mass) / (R * R);
  ParametersBar bar;
  bar.distance = target_bar * target.d_distance;
  bar.weight = scale_bar / R;
  bar.inverse_mass = target_bar * target.d_inverse_mass + ratio_bar * sigma / R + R_bar * by.d_inverse_mass;
  bar.compliance = target_bar * target.d_compliance + R_bar * by.d_compliance;
  bar.dissipation_time = target_bar * target.d_dissipation_time + R_bar * by.d_dissipation_time;
  return bar;
}

}  // namespace abut::convex_cone
