/// The normal impulse of the smooth Coulomb law: compliant, unilateral, C-infinity in velocity. (Friction:
/// friction.h.)
///
/// Signs: u is the velocity of B's contact point relative to A's, n points from A to B, so u_n = n.u > 0
/// separates; the impulse acts on B, its opposite on A.
#pragma once

#include <cmath>

#include "engine/smooth.h"

namespace abut::smooth_coulomb {

/// Settings of a step that every contact shares.
struct Settings {
  double h = 0;                   ///< time step [s]
  double near_rigid = 0;          ///< beta^2/(4 pi^2) [-]
  double velocity_smoothing = 0;  ///< tau_v [m/s]
  double stiction_speed = 0;      ///< v_s [m/s]
  double push_out_speed = 0;      ///< cap of the normal target of a rigid contact [m/s]
  bool pushes_out = true;         ///< or, in overlap, the target is 0
  double impact_speed = 0;        ///< impact::Settings::threshold [m/s]
};

/// What the law needs to know of one contact.
struct Parameters {
  double distance = 0;          ///< d [m]
  double weight = 0;            ///< Gamma in [0, 1]: this contact's share of its pair's stiffness [-]
  double inverse_mass = 0;      ///< W = 1/m_A + 1/m_B [1/kg]
  double compliance = 0;        ///< 1/k of the pair [m/N]
  double dissipation_time = 0;  ///< tau_d [s]
};

/// R [1/kg].
template <typename S>
S normal_resistance(const S& inverse_mass, double compliance, double dissipation_time, const Settings& s) {
  return S(compliance / (s.h * (s.h + dissipation_time))) + S(s.near_rigid) * inverse_mass;
}
inline double normal_resistance(const Parameters& c, const Settings& s) {
  return normal_resistance(c.inverse_mass, c.compliance, c.dissipation_time, s);
}

/// Derivatives of R. None depends on W, so that the contacts of a pair share them.
struct NormalResistanceDerivatives {
  double d_inverse_mass, d_compliance, d_dissipation_time;
};
inline NormalResistanceDerivatives normal_resistance_derivatives(double compliance, double dissipation_time,
                                                                 const Settings& s) {
  const double stretch = s.h * (s.h + dissipation_time);
  return {s.near_rigid, 1.0 / stretch, -compliance / (stretch * stretch) * s.h};
}

/// The fastest that a contact resolves overlap, and its derivatives:
///     cap = v_p R/R_rigid,   R_rigid = beta^2/(4 pi^2) W,   v_p the push-out speed.
/// It bounds what only the regularisation of a rigid contact makes a velocity of: the impulse v_p/R_rigid.
/// The force k d of a spring, which is R_rigid/R times softer, is left alone at every time step.
template <typename S>
struct PushOutCap {
  S value, d_inverse_mass, d_compliance, d_dissipation_time;
};

template <typename S>
PushOutCap<S> push_out_cap(const S& inverse_mass, double compliance, double dissipation_time,
                           const Settings& s) {
  const double stretch = s.h * (s.h + dissipation_time);
  const S by_mass = reciprocal(inverse_mass);
  const S d_compliance = S(s.push_out_speed / (s.near_rigid * stretch)) * by_mass;
  const S elastic = S(compliance) * d_compliance;
  return {S(s.push_out_speed) + elastic, -elastic * by_mass, d_compliance, elastic * S(-s.h / stretch)};
}

/// log(1 + e^x) and its derivative, which share e^-|x| and the quotient 1/(1 + e^-|x|), with which the
/// logarithm is that of the rounded sum plus what rounding lost.
template <typename S>
struct Ramp {
  S value, slope;

  explicit Ramp(const S& x) {
    using std::abs, std::exp;
    const S e = exp(-abs(x)), sum = S(1) + e, inverse = reciprocal(sum);
    const auto is_positive = x > S(0);
    value = select(is_positive, x, S(0)) + (log_normal(sum) + (e - (sum - S(1))) * inverse);
    slope = select(is_positive, S(1), e) * inverse;
  }
};

/// Normal target velocity v_hat(d) and its derivatives: -d/h before touching, -d/(h + tau_d) in overlap,
/// joined by a softplus of width tau_v h and capped by push_out_cap().
template <typename S>
struct NormalTarget {
  S value, d_distance, d_inverse_mass, d_compliance, d_dissipation_time;
};

template <typename S>
NormalTarget<S> normal_target(const S& distance, const S& inverse_mass, double compliance,
                              double dissipation_time, const Settings& s) {
  const double length = s.velocity_smoothing * s.h;
  const double relaxed = s.pushes_out ? 1.0 / (s.h + dissipation_time) : 0.0;
  const double difference = 1.0 / s.h - relaxed;
  const Ramp<S> touching(distance * S(-1.0 / length));
  const S depth = S(length) * touching.value;
  const S uncapped = distance * S(-1.0 / s.h) - S(difference) * depth;

  const PushOutCap<S> cap = push_out_cap(inverse_mass, compliance, dissipation_time, s);
  const double width = 0.05 * s.push_out_speed;
  const Ramp<S> over((uncapped - cap.value) * S(1.0 / width));
  const S d_cap = over.slope, d_uncapped = S(1) - d_cap;
  return {uncapped - S(width) * over.value, d_uncapped * (S(difference) * touching.slope - S(1.0 / s.h)),
          d_cap * cap.d_inverse_mass, d_cap * cap.d_compliance,
          d_cap * cap.d_dissipation_time - d_uncapped * S(relaxed * relaxed) * depth};
}
inline NormalTarget<double> normal_target(const Parameters& c, const Settings& s) {
  return normal_target(c.distance, c.inverse_mass, c.compliance, c.dissipation_time, s);
}

/// The part of a contact in a solution.
struct Part {
  double answers = 1.0;  ///< q in [0, 1]: how much of what it does is its own
  bool hits = false;     ///< an impact
  double target = 0.0;   ///< v_hat of an impact [m/s]

  [[nodiscard]] bool is_ordinary() const { return answers == 1.0 && !hits; }
};

/// Normal impulse  gamma_n = c w log(1 + exp((v_hat - u_n)/w)),  c = Gamma/R,  w = tau_v. It is the negative
/// derivative of a convex potential of u_n.
///
/// Of an impact: a contact without compliance, and sharper, w = 0.004 tau_v, whose target is the velocity after
/// it. A contact that takes part by q has the resistance R + W (1/q - 1) in place of R: against the bodies' own
/// inertia, so that half of q is half of the effect, and q = 0 none.
struct NormalLaw {
  double target = 0;  ///< v_hat [m/s]
  double scale = 0;   ///< c [kg]
  double width = 0;   ///< w [m/s]
};

inline constexpr double k_impact_width = 0.004;  ///< w of an impact [tau_v]

/// @param target  normal_target() of the contact
inline NormalLaw normal_law(const Parameters& c, const Settings& s, const Part& part,
                            const NormalTarget<double>& target) {
  const double q = part.answers, W = c.inverse_mass,
               R = part.hits ? s.near_rigid * W : normal_resistance(c, s);
  return {part.hits ? part.target : target.value, c.weight * q / (q * R + (1.0 - q) * W),
          part.hits ? k_impact_width * s.velocity_smoothing : s.velocity_smoothing};
}
inline NormalLaw normal_law(const Parameters& c, const Settings& s, const Part& part = {}) {
  return normal_law(c, s, part, normal_target(c, s));
}

template <typename S>
struct NormalResponse {
  S value;       ///< gamma_n [N s], >= 0
  S d_velocity;  ///< d/du_n [kg], <= 0
};

/// @param ramp  at (target - u_n)/width
template <typename S>
NormalResponse<S> normal_impulse(const Ramp<S>& ramp, const S& scale, const S& width) {
  return {scale * width * ramp.value, -scale * ramp.slope};
}
template <typename S>
NormalResponse<S> normal_impulse(const S& u_n, const S& target, const S& scale, const S& width) {
  return normal_impulse(Ramp<S>((target - u_n) * reciprocal(width)), scale, width);
}

/// The normal impulse of a contact with its derivatives.
struct NormalImpulse {
  double value = 0;       ///< [N s], >= 0
  double d_velocity = 0;  ///< d/du_n [kg], <= 0
  double d_distance = 0, d_weight = 0, d_inverse_mass = 0, d_compliance = 0, d_dissipation_time = 0;
  double d_answers = 0, d_target = 0;  ///< by the numbers of its Part
};

/// @param target  normal_target() of the contact
inline NormalImpulse normal_impulse_derivatives(double u_n, const Parameters& c, const Settings& s,
                                                const Part& part, const NormalTarget<double>& target) {
  const NormalLaw law = normal_law(c, s, part, target);
  const Ramp<double> ramp((law.target - u_n) * reciprocal(law.width));
  const NormalResponse<double> response = normal_impulse(ramp, law.scale, law.width);
  NormalImpulse gamma;
  gamma.value = response.value;
  gamma.d_velocity = response.d_velocity;

  // c = Gamma q/(q R + (1 - q) W)
  const double q = part.answers, W = c.inverse_mass,
               R = part.hits ? s.near_rigid * W : normal_resistance(c, s),
               denominator = q * R + (1.0 - q) * W;
  const double by_law_target = -gamma.d_velocity, by_law_scale = law.width * ramp.value,
               by_denominator = -by_law_scale * law.scale / denominator, by_resistance = by_denominator * q;
  gamma.d_weight = by_law_scale * q / denominator;
  gamma.d_answers = by_law_scale * c.weight * W / (denominator * denominator);
  gamma.d_inverse_mass = by_denominator * (1.0 - q);
  if (part.hits) {
    gamma.d_inverse_mass += by_resistance * s.near_rigid;
    gamma.d_target = by_law_target;
    return gamma;
  }
  const auto by = normal_resistance_derivatives(c.compliance, c.dissipation_time, s);
  gamma.d_distance = by_law_target * target.d_distance;
  gamma.d_inverse_mass += by_law_target * target.d_inverse_mass + by_resistance * by.d_inverse_mass;
  gamma.d_compliance = by_law_target * target.d_compliance + by_resistance * by.d_compliance;
  gamma.d_dissipation_time =
      by_law_target * target.d_dissipation_time + by_resistance * by.d_dissipation_time;
  return gamma;
}
inline NormalImpulse normal_impulse_derivatives(double u_n, const Parameters& c, const Settings& s,
                                                const Part& part = {}) {
  return normal_impulse_derivatives(u_n, c, s, part, normal_target(c, s));
}

}  // namespace abut::smooth_coulomb
