/// Impacts: when within a step a contact closes, and with which velocity it opens again.
///
/// Velocities of a step of H seconds are those of its middle, as x+ = x + H v+ has it. At the time t of a
/// substep of h seconds a body whose velocity is v there moves with
///     v + a l(t),   l(t) = t - h + H/2,
/// a being the acceleration of free flight, (v* - v_start)/h. While v is constant, the way from 0 to t is t v
/// plus the bow a b(t), b(t) = t (t - 2 h + H)/2, which is 0 at both ends of a whole step. A contact that was
/// evaluated at the time t_0, without the bow, at the distance d with the normal velocity u thus has the gap
///     g(t_0 + x) = G + w x + a x^2/2,   G = d + a b(t_0),   w = u + a l(t_0).
/// It is hit in this step if it is closed at the end of it, a hard test, across which two successive steps
/// compose continuously. It closes at
///     t = t_0 + 2 G/(-w + sqrt(w^2 - 2 a G)),   or, where w > 0,   t_0 + (w + sqrt(w^2 - 2 a G))/-a,
/// or at t_0 if it was closed already when the velocities began to hold, with the velocity
/// u_c = w + a (t - t_0). Newton's restitution asks for
///     v_hat = max(0, -e s(u_c) u_c - a l(t)).
/// The share of a contact that is an impact, not a resting contact, is
///     s(u) = S(1/2 - (u + v_thr)/(3/4 v_thr)),     S: smoothstep5,
/// 0 and exactly so at resting speeds. Contacts that approach more slowly than g h/50 are left to the rest of
/// the next step; how much the others count says
///     psi = S(-u_c/(g h) - (1 + n)/50) S((h - t)/(h/10)),
/// n being 0 of a contact that was open, else how often its pair has closed just before, at most 12: what
/// impacts do not keep from approaching, as a body between others that it overlaps, does not close again and
/// again.
/// Signs as in smooth_coulomb.h.
///
/// The impacts of a pair of bodies act together, when the first of them closes, but smoothly so: at the root t of
///     sum_i p_i exp(s_i (t - t_i)) = 1,   p_i = Gamma_i psi_i/sum_k Gamma_k psi_k,   s_i = -u_c,i/delta,
/// delta being 2e-5 of the size of the smaller body. It lies between the first and the last t_i, and the first
/// has closed by at most delta log(1/p) then. A contact of the pair that approaches takes part in the impact by
///     kappa = S(2 - min(d, G)/lambda),   lambda = 1e-3 of that size:
/// what is farther apart, by the straight way and by the parabola, closes later, if at all. (A body that is
/// thrown at a ceiling is there on its parabola alone, and one that rests does not follow any.)
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
inline constexpr double k_end = 0.1;  // of the step's length
inline bool is_impact(double u_c, const Settings& s) { return -u_c > k_slowest * s.speed_scale; }

/// A contact on its way, or dL/d of it, or its change.
struct Approach {
  double distance = 0;      ///< d [m]
  double velocity = 0;      ///< u [m/s]
  double acceleration = 0;  ///< a [m/s^2]
  double time = 0;          ///< t_0 [s]

  /// G
  [[nodiscard]] double gap(const Settings& s) const { return distance + acceleration * s.bow(time); }
  [[nodiscard]] double gap_jvp(const Settings& s, const Approach& dot) const {
    return dot.distance + dot.acceleration * s.bow(time) + acceleration * s.lead(time) * dot.time;
  }
  /// Adds gap_bar dG/d(this) to `bar`.
  void add_gap_bar(const Settings& s, double gap_bar, Approach& bar) const {
    bar.distance += gap_bar;
    bar.acceleration += gap_bar * s.bow(time);
    bar.time += gap_bar * acceleration * s.lead(time);
  }
  /// w
  [[nodiscard]] double true_velocity(const Settings& s) const {
    return velocity + acceleration * s.lead(time);
  }
  [[nodiscard]] double true_velocity_jvp(const Settings& s, const Approach& dot) const {
    return dot.velocity + dot.acceleration * s.lead(time) + acceleration * dot.time;
  }
  /// Adds w_bar dw/d(this) to `bar`.
  void add_true_velocity_bar(const Settings& s, double w_bar, Approach& bar) const {
    bar.velocity += w_bar;
    bar.acceleration += w_bar * s.lead(time);
    bar.time += w_bar * acceleration;
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
};

/// When and how fast a contact closes, or dL/d of it, or its change.
struct Closing {
  double time = 0;       ///< t [s]
  double velocity = 0;   ///< u_c [m/s], < 0
  bool was_open = true;  ///< when the velocities began to hold; else it closes at t_0
};

/// When and how fast a contact that is hit closes, or has closed.
///
/// @param since  when velocities began to hold [s]: one that was closed then closes at x.time
inline Closing closing(const Approach& x, const Settings& s, double since) {
  const double a = x.acceleration, G = x.gap(s), w = x.true_velocity(s),
               root = std::sqrt(std::max(0.0, w * w - 2.0 * a * G)),
               time = x.time + (w > 0.0 ? (root + w) / -a : 2.0 * G / (root - w));
  return time > since ? Closing{time, -root, true} : Closing{x.time, w, false};
}

/// @param at  closing(x, s, ...)
inline Approach closing_vjp(const Approach& x, const Settings& s, const Closing& at, const Closing& bar) {
  const double a = x.acceleration;
  Approach out;
  out.time = bar.time;
  double w_bar = bar.velocity;
  if (at.was_open) {  // G + w tau + a tau^2/2 = 0, u_c = w + a tau
    const double tau = at.time - x.time, G_bar = -(bar.time + a * bar.velocity) / at.velocity;
    out.acceleration = 0.5 * tau * tau * G_bar + tau * bar.velocity;
    x.add_gap_bar(s, G_bar, out);
    w_bar += tau * G_bar;
  }
  out.velocity = w_bar;
  out.acceleration += w_bar * s.lead(x.time);
  out.time += w_bar * a;
  return out;
}

inline Closing closing_jvp(const Approach& x, const Settings& s, const Closing& at, const Approach& dot) {
  const double a = x.acceleration, tau = at.time - x.time, w_dot = x.true_velocity_jvp(s, dot);
  if (!at.was_open) return {dot.time, w_dot};
  const double tau_dot =
      -(x.gap_jvp(s, dot) + tau * w_dot + 0.5 * tau * tau * dot.acceleration) / at.velocity;
  return {dot.time + tau_dot, w_dot + tau * dot.acceleration + a * tau_dot};
}

namespace detail {
/// The argument of the first factor of psi.
inline double effective_speed(const Closing& x, const Settings& s, int closings) {
  return -x.velocity / s.speed_scale - k_slowest * (1 + (x.was_open ? 0 : closings));
}
}  // namespace detail

/// psi
///
/// @param closings  n of a contact that was closed
inline double effect(const Closing& x, const Settings& s, int closings) {
  return smoothstep5(detail::effective_speed(x, s, closings)) * smoothstep5((s.h - x.time) / (k_end * s.h));
}
inline Closing effect_gradient(const Closing& x, const Settings& s, int closings) {
  const double speed = detail::effective_speed(x, s, closings), left = (s.h - x.time) / (k_end * s.h);
  return {-smoothstep5(speed) * smoothstep5_dx(left) / (k_end * s.h),
          -smoothstep5_dx(speed) * smoothstep5(left) / s.speed_scale};
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
  double speed = 0;   ///< -u_c,i [m/s]

  /// exp(s_i (t - t_i))
  [[nodiscard]] double factor(double t, double length) const { return std::exp(speed / length * (t - time)); }
};

inline constexpr double k_pair_length = 2e-5;  ///< delta, of the size of the smaller body

/// log of the sum of pair_time() at a time: how far the pair has closed then [delta].
inline double pair_excess(std::span<const PairImpact> impacts, double length, double time) {
  double total = 0.0, sum = 0.0;
  for (const PairImpact& x : impacts) {
    total += x.weight * x.effect;
    sum += x.weight * x.effect * x.factor(time, length);
  }
  return std::log(sum / total);
}

/// When the impacts of a pair act [s].
///
/// @param impacts  at least one; weights, effects and speeds > 0
/// @param length   delta [m]
inline double pair_time(std::span<const PairImpact> impacts, double length) {
  double total = 0.0, time = std::numeric_limits<double>::infinity();
  for (const PairImpact& x : impacts) total += x.weight * x.effect;
  for (const PairImpact& x : impacts)
    time = std::min(time, x.time + length / x.speed * std::log(total / (x.weight * x.effect)));
  // The sum is at least 1 there. Its logarithm is convex: from there Newton's method only comes down.
  constexpr int k_most_iterations = 60;
  constexpr double k_tolerance = 1e-14;
  for (int iteration = 0; iteration < k_most_iterations; ++iteration) {
    double sum = 0.0, slope = 0.0;
    for (const PairImpact& x : impacts) {
      const double part = x.weight * x.effect * x.factor(time, length) / total;
      sum += part;
      slope += part * x.speed / length;
    }
    const double excess = std::log(sum);
    if (!(excess > k_tolerance)) break;
    time -= excess * sum / slope;
  }
  return time;
}

namespace detail {
/// sum_i Gamma_i psi_i s_i exp(s_i (t - t_i))
inline double pair_slope(std::span<const PairImpact> impacts, double length, double time) {
  double slope = 0.0;
  for (const PairImpact& x : impacts)
    slope += x.weight * x.effect * x.factor(time, length) * x.speed / length;
  return slope;
}
}  // namespace detail

/// @param time  pair_time(impacts, length)
/// @param bars  of the impacts, overwritten
inline void pair_time_vjp(std::span<const PairImpact> impacts, double length, double time, double time_bar,
                          std::span<PairImpact> bars) {
  const double scale = time_bar / detail::pair_slope(impacts, length, time);
  for (std::size_t i = 0; i < impacts.size(); ++i) {
    const PairImpact& x = impacts[i];
    const double factor = x.factor(time, length), by_exponent = -scale * x.weight * x.effect * factor;
    bars[i] = {scale * x.effect * (1.0 - factor), scale * x.weight * (1.0 - factor),
               -by_exponent * x.speed / length, by_exponent * (time - x.time) / length};
  }
}

inline double pair_time_jvp(std::span<const PairImpact> impacts, double length, double time,
                            std::span<const PairImpact> dots) {
  double sum = 0.0;
  for (std::size_t i = 0; i < impacts.size(); ++i) {
    const PairImpact &x = impacts[i], &dot = dots[i];
    const double factor = x.factor(time, length);
    sum += (dot.weight * x.effect + x.weight * dot.effect) * (1.0 - factor) +
           x.weight * x.effect * factor * (dot.time * x.speed - dot.speed * (time - x.time)) / length;
  }
  return sum / detail::pair_slope(impacts, length, time);
}

/// lambda, of the size of the smaller body.
inline constexpr double k_near_length = 1e-3;

/// kappa of the lesser of d and G, and lambda.
inline double nearness(double gap, double length) { return smoothstep5(2.0 - gap / length); }
inline double nearness_slope(double gap, double length) {
  return -smoothstep5_dx(2.0 - gap / length) / length;
}

}  // namespace abut::impact
