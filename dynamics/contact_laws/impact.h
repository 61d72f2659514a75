/// Impacts: when within a step a contact closes, and with which velocity it opens again.
///
/// Velocities of a step of H seconds are those at the middles of steps, as x+ = x + H v+ has it: a contact
/// with the velocities u_0 at the start and u* at the end of a substep of h seconds had there been no
/// contact, and hence the acceleration a = (u* - u_0)/h, has the gap
///     g(t) = d + w t + a t^2/2,   w = u_0 + a H/2.
/// It is hit if g(h) < 0, a hard test, across which two successive steps compose continuously; at
///     t_c = max(0, 2 d/(-w + sqrt(w^2 - 2 a d)))
/// with the velocity u_c = w + a t_c. Newton's restitution asks for -e u_c then, that is, for
///     v_hat = max(0, -e u_c + a (h - t_c - H/2))
/// at the end. How much of an impact a contact is, and not of a rest, says
///     s = S(1/2 + (-u* - v_thr)/(3/4 v_thr)),     S: smoothstep5
/// 0 and exactly so at resting speeds. Signs as in smooth_coulomb.h.
///
/// The impacts of a pair of bodies act together, when the first of them closes, but smoothly so:
///     t = sum_i w_i t_i/sum_i w_i,   w_i = Gamma_i s_i exp(-t_i/(0.05 h)),
/// as after that the bodies no longer move as the other t_i say. t_i and s_i follow from the velocities along
/// normals at the start of the substep, v_hat from those along normals at t (step/impact_rows.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "engine/smooth.h"

namespace abut::impact {

/// What the impacts of a substep share.
struct Settings {
  double h = 0;          ///< its length [s]
  double nominal_h = 0;  ///< H: that of the whole step [s]
  double threshold = 0;  ///< v_thr [m/s], > 0
};

/// What an impact depends on.
struct Approach {
  double distance = 0;     ///< d [m]
  double u_start = 0;      ///< u_0 [m/s]
  double u_free = 0;       ///< u* [m/s]
  double restitution = 0;  ///< e [-]
};

/// dL/d of an Approach, and of the substep's length.
struct ApproachBar {
  double distance = 0, u_start = 0, u_free = 0, restitution = 0, h = 0;

  ApproachBar& operator+=(const ApproachBar& other) {
    distance += other.distance;
    u_start += other.u_start;
    u_free += other.u_free;
    restitution += other.restitution;
    h += other.h;
    return *this;
  }
};

struct Impact {
  bool hit = false;
  double share = 0;    ///< s [-]
  double closing = 0;  ///< t_c, of this contact alone [s]
  double time = 0;     ///< when it acts: t_c, or that of its pair [s]
  double target = 0;   ///< v_hat [m/s]
};

/// dL/d of an Impact's numbers.
struct ImpactBar {
  double share = 0, time = 0, target = 0;
};

/// dL/d of what v_hat at a given t_c depends on.
struct TargetBar {
  ApproachBar approach;
  double time = 0;  ///< t_c
};

namespace detail {
struct Fall {
  double acceleration, start_velocity;  ///< a, w
  Fall(const Approach& x, const Settings& s)
      : acceleration((x.u_free - x.u_start) / s.h),
        start_velocity(x.u_start + 0.5 * acceleration * s.nominal_h) {}

  /// From dL/d(a, w): adds to `out`.
  void vjp(const Settings& s, double a_bar, double w_bar, ApproachBar& out) const {
    a_bar += 0.5 * s.nominal_h * w_bar;
    out.u_start += w_bar - a_bar / s.h;
    out.u_free += a_bar / s.h;
    out.h -= a_bar * acceleration / s.h;
  }
};
/// The change of a Fall.
struct FallDot {
  double acceleration, start_velocity;
  FallDot(const Fall& fall, const Settings& s, const ApproachBar& dot)
      : acceleration((dot.u_free - dot.u_start - fall.acceleration * dot.h) / s.h),
        start_velocity(dot.u_start + 0.5 * s.nominal_h * acceleration) {}
};
/// What v_hat is the positive part of.
inline double rebound(const Approach& x, const Settings& s, const Fall& fall, double t) {
  const double u_c = fall.start_velocity + fall.acceleration * t;
  return -x.restitution * u_c + fall.acceleration * (s.h - t - 0.5 * s.nominal_h);
}
/// Whether v_hat changes with e. Bodies that fall together (a = 0) put an e of 0 at the kink of v_hat but for
/// rounding; e can only grow from there, so that its derivative is the one on that side.
inline bool follows_restitution(const Approach& x, const Settings& s, const Fall& fall, double t) {
  constexpr double k_rounding = 1e-12;
  const double u_c = fall.start_velocity + fall.acceleration * t;
  return rebound(x, s, fall, t) > (x.restitution == 0.0 ? k_rounding * u_c : 0.0);
}
inline double share_argument(const Approach& x, const Settings& s) {
  return 0.5 - (x.u_free + s.threshold) / (0.75 * s.threshold);
}
}  // namespace detail

/// g(h) [m]
inline double gap_at_end(const Approach& x, const Settings& s) {
  const detail::Fall fall(x, s);
  return x.distance + s.h * (fall.start_velocity + 0.5 * fall.acceleration * s.h);
}

/// v_hat of an impact at t
inline double target(const Approach& x, const Settings& s, double t) {
  return std::max(0.0, detail::rebound(x, s, detail::Fall(x, s), t));
}

/// @param v_hat  target(x, s, t)
inline TargetBar target_vjp(const Approach& x, const Settings& s, double t, double v_hat, double bar) {
  TargetBar out;
  const detail::Fall fall(x, s);
  const double a = fall.acceleration, u_c = fall.start_velocity + a * t, e = x.restitution;
  if (detail::follows_restitution(x, s, fall, t)) out.approach.restitution = -bar * u_c;
  if (!(v_hat > 0.0)) return out;
  out.time = -bar * a * (1.0 + e);
  out.approach.h = bar * a;
  fall.vjp(s, bar * (s.h - 0.5 * s.nominal_h - t * (1.0 + e)), -bar * e, out.approach);
  return out;
}

/// @param t_dot  change of t
inline double target_jvp(const Approach& x, const Settings& s, double t, double v_hat, const ApproachBar& dot,
                         double t_dot) {
  const detail::Fall fall(x, s);
  const detail::FallDot fall_dot(fall, s, dot);
  const double a = fall.acceleration, u_c = fall.start_velocity + a * t;
  double sum = 0.0;
  if (detail::follows_restitution(x, s, fall, t)) sum -= dot.restitution * u_c;
  if (v_hat > 0.0) {
    sum += -x.restitution * (fall_dot.start_velocity + t * fall_dot.acceleration + a * t_dot) +
           fall_dot.acceleration * (s.h - t - 0.5 * s.nominal_h) + a * (dot.h - t_dot);
  }
  return sum;
}

inline Impact make_impact(const Approach& x, const Settings& s) {
  Impact impact;
  impact.share = smoothstep5(detail::share_argument(x, s));
  if (impact.share == 0.0) return impact;
  impact.hit = gap_at_end(x, s) < 0.0;
  if (!impact.hit) return impact;
  const detail::Fall fall(x, s);
  const double a = fall.acceleration, w = fall.start_velocity;
  if (x.distance > 0.0) impact.closing = 2.0 * x.distance / (std::sqrt(w * w - 2.0 * a * x.distance) - w);
  impact.time = impact.closing;
  impact.target = target(x, s, impact.time);
  return impact;
}

/// Of an impact that acts at its own t_c.
inline ApproachBar impact_vjp(const Approach& x, const Settings& s, const Impact& impact,
                              const ImpactBar& bar) {
  ApproachBar out;
  out.u_free -= bar.share * smoothstep5_dx(detail::share_argument(x, s)) / (0.75 * s.threshold);
  if (!impact.hit) return out;
  const detail::Fall fall(x, s);
  const double a = fall.acceleration, t = impact.closing, u_c = fall.start_velocity + a * t;
  const TargetBar by_target = target_vjp(x, s, t, impact.target, bar.target);
  out += by_target.approach;
  if (t > 0.0) {  // d + w t + a t^2/2 = 0
    const double multiplier = -(bar.time + by_target.time) / u_c;
    out.distance += multiplier;
    fall.vjp(s, multiplier * 0.5 * t * t, multiplier * t, out);
  }
  return out;
}

/// The other way round: the change of an impact's numbers along one of its approach.
inline ImpactBar impact_jvp(const Approach& x, const Settings& s, const Impact& impact,
                            const ApproachBar& dot) {
  ImpactBar out;
  out.share = -smoothstep5_dx(detail::share_argument(x, s)) / (0.75 * s.threshold) * dot.u_free;
  if (!impact.hit) return out;
  const detail::Fall fall(x, s);
  const double a = fall.acceleration, t = impact.closing, u_c = fall.start_velocity + a * t;
  const detail::FallDot fall_dot(fall, s, dot);
  if (t > 0.0) {
    out.time = -(dot.distance + t * fall_dot.start_velocity + 0.5 * t * t * fall_dot.acceleration) / u_c;
  }
  out.target = target_jvp(x, s, t, impact.target, dot, out.time);
  return out;
}

/// An impact of a pair, or dL/d of it, or its change.
struct PairImpact {
  double weight = 0;  ///< Gamma
  double share = 0;   ///< s
  double time = 0;    ///< t_c [s]
};

namespace detail {
inline constexpr double k_pair_width = 0.05;  ///< of the substep's length

/// exp(-(t_i - min t)/(0.05 h)): t does not depend on the minimum.
class PairWeights {
 public:
  PairWeights(std::span<const PairImpact> impacts, double h) : width_(k_pair_width * h) {
    for (const PairImpact& impact : impacts) first_ = std::min(first_, impact.time);
    for (const PairImpact& impact : impacts) sum_ += impact.weight * impact.share * factor(impact);
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
/// @param impacts  at least one; weights and shares > 0
inline double pair_time(std::span<const PairImpact> impacts, double h) {
  const detail::PairWeights weights(impacts, h);
  double sum = 0.0;
  for (const PairImpact& impact : impacts)
    sum += impact.weight * impact.share * weights.factor(impact) * (impact.time - weights.first());
  return weights.first() + sum / weights.sum();
}

/// @param time  pair_time(impacts, h)
/// @param bars  of the impacts, overwritten
/// @return      dL/dh
inline double pair_time_vjp(std::span<const PairImpact> impacts, double h, double time, double time_bar,
                            std::span<PairImpact> bars) {
  const detail::PairWeights weights(impacts, h);
  double width_bar = 0.0;
  for (std::size_t i = 0; i < impacts.size(); ++i) {
    const PairImpact& x = impacts[i];
    const double by_weight = weights.factor(x) / weights.sum() * time_bar, later = x.time - time,
                 w_bar = x.weight * x.share * by_weight;
    bars[i] = {x.share * by_weight * later, x.weight * by_weight * later,
               w_bar * (1.0 - later / weights.width())};
    width_bar += w_bar * later * (x.time - weights.first()) / (weights.width() * weights.width());
  }
  return detail::k_pair_width * width_bar;
}

/// At constant h.
inline double pair_time_jvp(std::span<const PairImpact> impacts, double h, double time,
                            std::span<const PairImpact> dots) {
  const detail::PairWeights weights(impacts, h);
  double sum = 0.0;
  for (std::size_t i = 0; i < impacts.size(); ++i) {
    const PairImpact &x = impacts[i], &dot = dots[i];
    const double later = x.time - time;
    sum += weights.factor(x) * ((dot.weight * x.share + x.weight * dot.share) * later +
                                x.weight * x.share * dot.time * (1.0 - later / weights.width()));
  }
  return sum / weights.sum();
}

}  // namespace abut::impact
