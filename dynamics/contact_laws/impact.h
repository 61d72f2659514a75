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
#pragma once

#include <algorithm>
#include <cmath>

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
};

struct Impact {
  bool hit = false;
  double share = 0;   ///< s [-]
  double time = 0;    ///< t_c [s]
  double target = 0;  ///< v_hat [m/s]
};

/// dL/d of an Impact's numbers.
struct ImpactBar {
  double share = 0, time = 0, target = 0;
};

namespace detail {
struct Fall {
  double acceleration, start_velocity;  ///< a, w
  Fall(const Approach& x, const Settings& s)
      : acceleration((x.u_free - x.u_start) / s.h),
        start_velocity(x.u_start + 0.5 * acceleration * s.nominal_h) {}
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

inline Impact make_impact(const Approach& x, const Settings& s) {
  Impact impact;
  impact.share = smoothstep5(detail::share_argument(x, s));
  if (impact.share == 0.0) return impact;
  impact.hit = gap_at_end(x, s) < 0.0;
  if (!impact.hit) return impact;
  const detail::Fall fall(x, s);
  const double a = fall.acceleration, w = fall.start_velocity;
  if (x.distance > 0.0) impact.time = 2.0 * x.distance / (std::sqrt(w * w - 2.0 * a * x.distance) - w);
  impact.target = std::max(0.0, detail::rebound(x, s, fall, impact.time));
  return impact;
}

inline ApproachBar impact_vjp(const Approach& x, const Settings& s, const Impact& impact,
                              const ImpactBar& bar) {
  ApproachBar out;
  out.u_free -= bar.share * smoothstep5_dx(detail::share_argument(x, s)) / (0.75 * s.threshold);
  if (!impact.hit) return out;
  const detail::Fall fall(x, s);
  const double a = fall.acceleration, t = impact.time, u_c = fall.start_velocity + a * t;
  double t_bar = bar.time, a_bar = 0.0, w_bar = 0.0;
  if (detail::follows_restitution(x, s, fall, t)) out.restitution -= bar.target * u_c;
  if (impact.target > 0.0) {
    const double e = x.restitution;
    w_bar -= bar.target * e;
    a_bar += bar.target * (s.h - 0.5 * s.nominal_h - t * (1.0 + e));
    t_bar -= bar.target * a * (1.0 + e);
    out.h += bar.target * a;
  }
  if (t > 0.0) {  // d + w t + a t^2/2 = 0
    const double multiplier = -t_bar / u_c;
    out.distance += multiplier;
    w_bar += multiplier * t;
    a_bar += multiplier * 0.5 * t * t;
  }
  a_bar += 0.5 * s.nominal_h * w_bar;
  out.u_start += w_bar - a_bar / s.h;
  out.u_free += a_bar / s.h;
  out.h -= a_bar * a / s.h;
  return out;
}

/// The other way round: the change of an impact's numbers along one of its approach.
inline ImpactBar impact_jvp(const Approach& x, const Settings& s, const Impact& impact,
                            const ApproachBar& dot) {
  ImpactBar out;
  out.share = -smoothstep5_dx(detail::share_argument(x, s)) / (0.75 * s.threshold) * dot.u_free;
  if (!impact.hit) return out;
  const detail::Fall fall(x, s);
  const double a = fall.acceleration, t = impact.time, u_c = fall.start_velocity + a * t;
  const double a_dot = (dot.u_free - dot.u_start - a * dot.h) / s.h,
               w_dot = dot.u_start + 0.5 * s.nominal_h * a_dot;
  if (t > 0.0) out.time = -(dot.distance + t * w_dot + 0.5 * t * t * a_dot) / u_c;
  if (detail::follows_restitution(x, s, fall, t)) out.target -= dot.restitution * u_c;
  if (impact.target > 0.0) {
    out.target += -x.restitution * (w_dot + t * a_dot + a * out.time) +
                  a_dot * (s.h - t - 0.5 * s.nominal_h) + a * (dot.h - out.time);
  }
  return out;
}

}  // namespace abut::impact
