/// Impacts: when within a step a contact closes, and with which velocity it opens again.
///
/// Velocities of a step of H seconds are those of its middle, as x+ = x + H v+ has it. At the time t of a
/// substep of h seconds a body whose velocity is v there moves with
///     v + a l(t),   l(t) = t - h + H/2,
/// a being the acceleration of free flight, (v* - v_start)/h. While v is constant, the way from 0 to t is t v
/// plus the bow a b(t), b(t) = t (t - 2 h + H)/2, which is 0 at both ends of a whole step. A contact that was
/// evaluated at the time t_0, without the bow, at the distance d with the normal velocity u thus has the gap
///     g(t_0 + x) = G + w x + a x^2/2,   G = d + a b(t_0),   w = u + a l(t_0).
/// It is hit if it is closed at the end of the step, a hard test, across which two successive steps compose
/// continuously. It closes at
///     t = t_0 + max(0, 2 G/(-w + sqrt(w^2 - 2 a G))),   or, where w > 0,   t_0 + (w + sqrt(w^2 - 2 a G))/-a
/// with the velocity u_c = w + a (t - t_0), and Newton's restitution asks for
///     v_hat = max(0, -e s(u_c) u_c - a l(t)).
/// The share of a contact that is an impact, not a resting contact, is
///     s(u) = S(1/2 - (u + v_thr)/(3/4 v_thr)),     S: smoothstep5,
/// 0 and exactly so at resting speeds. Contacts that approach more slowly than g h/50 are left to the rest of
/// the next step; how much the others count says
///     psi(u_c) = S(-u_c/(g h) - 1/50).
/// Signs as in smooth_coulomb.h.
///
/// The impacts of a pair of bodies act together, when the first of them closes, but smoothly so:
///     t = sum_i w_i t_i/sum_i w_i,   w_i = Gamma_i psi_i exp(-t_i/(0.05 h)),
/// as after that the bodies no longer move as the other t_i say.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "engine/smooth.h"

namespace abut::impact {

/// What the impacts of a substep share.
struct Settings {
  double h = 0;            ///< its length [s]
  double nominal_h = 0;    ///< H: that of the whole step [s]
  double threshold = 0;    ///< v_thr [m/s], > 0
  double speed_scale = 0;  ///< g h [m/s], > 0

  /// l(t) [s]
  [[nodiscard]] double lead(double t) const { return t - h + 0.5 * nominal_h; }
  /// b(t) [s^2], whose derivative is l(t)
  [[nodiscard]] double bow(double t) const { return 0.5 * t * (t - 2.0 * h + nominal_h); }
};

/// s of a normal velocity.
inline double share(double u, const Settings& s) {
  return smoothstep5(0.5 - (u + s.threshold) / (0.75 * s.threshold));
}
inline double share_slope(double u, const Settings& s) {
  return -smoothstep5_dx(0.5 - (u + s.threshold) / (0.75 * s.threshold)) / (0.75 * s.threshold);
}

/// The slowest approach that is an impact [g h].
inline constexpr double k_slowest = 0.02;
inline bool is_impact(double u_c, const Settings& s) { return -u_c > k_slowest * s.speed_scale; }

/// psi of a velocity of approach.
inline double effect(double u_c, const Settings& s) { return smoothstep5(-u_c / s.speed_scale - k_slowest); }
inline double effect_slope(double u_c, const Settings& s) {
  return -smoothstep5_dx(-u_c / s.speed_scale - k_slowest) / s.speed_scale;
}

/// A contact on its way, or dL/d of it, or its change.
struct Approach {
  double distance = 0;      ///< d [m]
  double velocity = 0;      ///< u [m/s]
  double acceleration = 0;  ///< a [m/s^2]
  double time = 0;          ///< t_0 [s]

  [[nodiscard]] double gap(const Settings& s) const { return distance + acceleration * s.bow(time); }
  /// w
  [[nodiscard]] double true_velocity(const Settings& s) const {
    return velocity + acceleration * s.lead(time);
  }
  /// Gap at the end of the substep.
  [[nodiscard]] double gap_at_end(const Settings& s) const {
    return distance + velocity * (s.h - time) + acceleration * s.bow(s.h);
  }
  /// Whether it is hit in the rest of the substep; being closed already, only if it approaches, or opens and is
  /// brought back.
  [[nodiscard]] bool hits(const Settings& s) const {
    const double G = gap(s), w = true_velocity(s), square = w * w - 2.0 * acceleration * G;
    if (!(gap_at_end(s) < 0.0)) return false;
    return G > 0.0 || w < 0.0 || (square > 0.0 && w + std::sqrt(square) < -acceleration * (s.h - time));
  }
  /// Whether it is open before it closes.
  [[nodiscard]] bool opens(const Settings& s) const { return gap(s) > 0.0 || true_velocity(s) > 0.0; }
};

/// When and how fast a contact closes, or dL/d of it, or its change.
struct Closing {
  double time = 0;      ///< t [s]
  double velocity = 0;  ///< u_c [m/s], < 0
};

/// When and how fast a contact that is hit closes.
inline Closing closing(const Approach& x, const Settings& s) {
  const double a = x.acceleration, G = x.gap(s), w = x.true_velocity(s);
  if (!x.opens(s)) return {x.time, w};
  const double root = std::sqrt(std::max(0.0, w * w - 2.0 * a * G));
  return {x.time + (w > 0.0 ? (root + w) / -a : 2.0 * G / (root - w)), -root};
}

inline Approach closing_vjp(const Approach& x, const Settings& s, const Closing& at, const Closing& bar) {
  const double a = x.acceleration;
  Approach out;
  out.time = bar.time;
  double w_bar = bar.velocity;
  if (x.opens(s)) {  // G + w tau + a tau^2/2 = 0, u_c = w + a tau
    const double tau = at.time - x.time, G_bar = -(bar.time + a * bar.velocity) / at.velocity;
    out.distance = G_bar;
    out.acceleration = 0.5 * tau * tau * G_bar + tau * bar.velocity + G_bar * s.bow(x.time);
    out.time += G_bar * a * s.lead(x.time);
    w_bar += tau * G_bar;
  }
  out.velocity = w_bar;
  out.acceleration += w_bar * s.lead(x.time);
  out.time += w_bar * a;
  return out;
}

inline Closing closing_jvp(const Approach& x, const Settings& s, const Closing& at, const Approach& dot) {
  const double a = x.acceleration, w_dot = dot.velocity + dot.acceleration * s.lead(x.time) + a * dot.time;
  if (!x.opens(s)) return {dot.time, w_dot};
  const double tau = at.time - x.time,
               G_dot = dot.distance + dot.acceleration * s.bow(x.time) + a * s.lead(x.time) * dot.time,
               tau_dot = -(G_dot + tau * w_dot + 0.5 * tau * tau * dot.acceleration) / at.velocity;
  return {dot.time + tau_dot, w_dot + tau * dot.acceleration + a * tau_dot};
}

/// What v_hat of an impact at x.time is the positive part of: what restitution gives, -e s(w) w, and what lets
/// the bodies go on together, -a l(t). Or dL/d of these, or their change.
struct Target {
  double rebound = 0, settle = 0;  ///< [m/s]
};

inline Target target(const Approach& x, const Settings& s, double restitution) {
  const double w = x.true_velocity(s);
  return {-restitution * share(w, s) * w, -x.acceleration * s.lead(x.time)};
}

/// d(s(w) w)/dw
inline double share_product_slope(double w, const Settings& s) { return share(w, s) + w * share_slope(w, s); }

/// Adds dL/de to `restitution_bar`.
inline Approach target_vjp(const Approach& x, const Settings& s, double restitution, const Target& bar,
                           double& restitution_bar) {
  const double w = x.true_velocity(s), w_bar = -restitution * share_product_slope(w, s) * bar.rebound;
  restitution_bar -= share(w, s) * w * bar.rebound;
  Approach out;
  out.velocity = w_bar;
  out.acceleration = (w_bar - bar.settle) * s.lead(x.time);
  out.time = (w_bar - bar.settle) * x.acceleration;
  return out;
}

inline Target target_jvp(const Approach& x, const Settings& s, double restitution, const Approach& dot,
                         double restitution_dot) {
  const double w = x.true_velocity(s),
               lead_change = dot.acceleration * s.lead(x.time) + x.acceleration * dot.time,
               w_dot = dot.velocity + lead_change;
  return {-restitution_dot * share(w, s) * w - restitution * share_product_slope(w, s) * w_dot, -lead_change};
}

/// An impact of a pair, or dL/d of it, or its change.
struct PairImpact {
  double weight = 0;  ///< Gamma
  double effect = 0;  ///< psi
  double time = 0;    ///< t_i [s]
};

namespace detail {
inline constexpr double k_pair_width = 0.05;  ///< of the substep's length

/// exp(-(t_i - min t)/(0.05 h)): t does not depend on the minimum.
class PairWeights {
 public:
  PairWeights(std::span<const PairImpact> impacts, double h) : width_(k_pair_width * h) {
    for (const PairImpact& impact : impacts) first_ = std::min(first_, impact.time);
    for (const PairImpact& impact : impacts) sum_ += impact.weight * impact.effect * factor(impact);
  }
  [[nodiscard]] double factor(const PairImpact& impact) const {
    return std::exp(-(impact.time - first_) / width_);
  }
  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] double first() const { return first_; }

 private:
  double width_, first_ = std::numeric_limits<double>::infinity(), sum_ = 0.0;
};
}  // namespace detail

/// When the impacts of a pair act [s].
///
/// @param impacts  at least one; weights and effects > 0
inline double pair_time(std::span<const PairImpact> impacts, double h) {
  const detail::PairWeights weights(impacts, h);
  double sum = 0.0;
  for (const PairImpact& impact : impacts)
    sum += impact.weight * impact.effect * weights.factor(impact) * (impact.time - weights.first());
  return weights.first() + sum / weights.sum();
}

/// @param time  pair_time(impacts, h)
/// @param bars  of the impacts, overwritten
inline void pair_time_vjp(std::span<const PairImpact> impacts, double h, double time, double time_bar,
                          std::span<PairImpact> bars) {
  const detail::PairWeights weights(impacts, h);
  for (std::size_t i = 0; i < impacts.size(); ++i) {
    const PairImpact& x = impacts[i];
    const double by_weight = weights.factor(x) / weights.sum() * time_bar, later = x.time - time;
    bars[i] = {x.effect * by_weight * later, x.weight * by_weight * later,
               x.weight * x.effect * by_weight * (1.0 - later / weights.width())};
  }
}

inline double pair_time_jvp(std::span<const PairImpact> impacts, double h, double time,
                            std::span<const PairImpact> dots) {
  const detail::PairWeights weights(impacts, h);
  double sum = 0.0;
  for (std::size_t i = 0; i < impacts.size(); ++i) {
    const PairImpact &x = impacts[i], &dot = dots[i];
    const double later = x.time - time;
    sum += weights.factor(x) * ((dot.weight * x.effect + x.weight * dot.effect) * later +
                                x.weight * x.effect * dot.time * (1.0 - later / weights.width()));
  }
  return sum / weights.sum();
}

}  // namespace abut::impact
