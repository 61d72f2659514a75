/// Motions with a closed form, and what the simulator makes of them: values and gradients.
///
/// SI units; gravity is 9.81 m/s^2 along -z. Slopes fall towards +x.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <stdexcept>
#include <string>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "tests/support/scenes.h"

namespace abut::test {

inline constexpr double k_g = 9.81;

/// What a simulation gives, and what mechanics says.
struct Truth {
  double value = 0, exact = 0;
  [[nodiscard]] double relative_error() const { return (value - exact) / std::abs(exact); }
};

/// The state after some steps; throws std::runtime_error where one fails.
inline State state_after(const TestScene& scene, const StepConfig& config, int steps,
                         const StepObserver& observer = {}) {
  const Stepper stepper(scene.model, config);
  State end;
  const StepReport report = simulate(stepper, scene.state, steps, {}, end, observer);
  if (report.status != StepStatus::ok) throw std::runtime_error(to_string(report.status));
  return end;
}

inline int step_count(double seconds, const StepConfig& config) {
  return static_cast<int>(std::lround(seconds / config.h));
}

/// A coordinate of a state, and its gradient by everything before.
struct EndGradient {
  double value = 0;
  Gradient by;
};

/// `add_loss` adds to dL/d(state) of the last state.
inline EndGradient end_gradient(const TestScene& scene, const StepConfig& config, int steps,
                                const std::function<double(const State&)>& value,
                                const std::function<void(const State&, StateTangent&)>& add_loss) {
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, steps);
  if (!trajectory.ok()) throw std::runtime_error(to_string(trajectory.failure.status));
  return {value(trajectory.states.back()),
          adjoint(stepper, trajectory, [&](int k, const State& state, StateTangent& bar) {
            if (k == steps) add_loss(state, bar);
          })};
}

/// dL/d(friction of every pair), where all bodies have the same: their harmonic mean is that, too.
inline double by_common_friction(const Gradient& gradient) {
  double sum = 0.0;
  for (const BodyGradient& body : gradient.model.bodies) sum += body.friction;
  return sum;
}

// A box that slides ----------------------------------------------------------------------------------------

/// A flat box of 10 cm and 0.7 kg on a level floor, with a speed along x.
struct SlidingBox {
  double friction = 0.5, speed = 1.5;

  [[nodiscard]] TestScene scene() const {
    const Vec3<double> half(0.05, 0.05, 0.01);
    return box_on_floor(box_of_mass(half, 0.7), half, friction, 0.0, speed);
  }
  [[nodiscard]] int steps(const StepConfig& config) const {
    return step_count(1.3 * speed / (friction * k_g), config);
  }
  /// x = v^2/(2 mu g)
  [[nodiscard]] double distance() const { return speed * speed / (2.0 * friction * k_g); }
  [[nodiscard]] double distance_by_speed() const { return speed / (friction * k_g); }
  [[nodiscard]] double distance_by_friction() const { return -distance() / friction; }

  [[nodiscard]] Truth measured_distance(const StepConfig& config) const {
    return {state_after(scene(), config, steps(config)).X_WB[1].p.x(), distance()};
  }
  [[nodiscard]] EndGradient gradient(const StepConfig& config) const {
    return end_gradient(
        scene(), config, steps(config), [](const State& end) { return end.X_WB[1].p.x(); },
        [](const State&, StateTangent& bar) { bar.pose[1][3] += 1.0; });
  }
};

// A sphere that slides, then rolls -------------------------------------------------------------------------

struct SlidingSphere {
  double friction = 0.3, radius = 0.1, speed = 2.0;

  [[nodiscard]] TestScene scene() const {
    TestScene scene = floor_scene();
    scene.add(sphere_of_mass(radius, 3.0), pose_at({0.0, 0.0, radius}), moving_at({speed, 0.0, 0.0}));
    scene.set_friction(friction);
    return scene;
  }
  [[nodiscard]] double seconds() const { return 1.5 * slip_time(); }
  /// It slips until v - mu g t = (5/2) mu g t.
  [[nodiscard]] double slip_time() const { return 2.0 / 7.0 * speed / (friction * k_g); }
  [[nodiscard]] double rolling_speed() const { return 5.0 / 7.0 * speed; }
  /// x(T) = 5/7 v T + 2 v^2/(49 mu g)
  [[nodiscard]] double distance_by_speed(double T) const {
    return 5.0 / 7.0 * T + 4.0 * speed / (49.0 * friction * k_g);
  }
  [[nodiscard]] double distance_by_friction() const {
    return -2.0 * speed * speed / (49.0 * friction * friction * k_g);
  }

  [[nodiscard]] Truth measured_speed(const StepConfig& config) const {
    return {state_after(scene(), config, step_count(seconds(), config)).V_WB[1][3], rolling_speed()};
  }
  [[nodiscard]] EndGradient speed_gradient(const StepConfig& config) const {
    return end_gradient(
        scene(), config, step_count(seconds(), config), [](const State& end) { return end.V_WB[1][3]; },
        [](const State&, StateTangent& bar) { bar.twist[1][3] += 1.0; });
  }
  [[nodiscard]] EndGradient distance_gradient(const StepConfig& config) const {
    return end_gradient(
        scene(), config, step_count(seconds(), config), [](const State& end) { return end.X_WB[1].p.x(); },
        [](const State&, StateTangent& bar) { bar.pose[1][3] += 1.0; });
  }
};

// Thresholds on slopes -------------------------------------------------------------------------------------

/// Speeds down a slope of a box that starts at rest there, after one second and after two [m/s].
///
/// @param ratio  tan of the slope, over the friction coefficient
inline std::array<double, 2> speeds_on_slope(const StepConfig& config, double ratio, double friction = 0.5) {
  const Vec3<double> half(0.05, 0.05, 0.02);
  const double angle = std::atan(ratio * friction);
  const Vec3<double> down(std::cos(angle), 0.0, -std::sin(angle));
  const TestScene scene = box_on_floor(box_of_mass(half, 1.0, 2), half, friction, angle);
  const int second = step_count(1.0, config);
  double speed = 0.0;
  const State end = state_after(scene, config, 2 * second, [&](int k, const State& state, const StepReport&) {
    if (k + 1 == second) speed = down.dot(state.V_WB[1].tail<3>());
    return true;
  });
  return {speed, down.dot(end.V_WB[1].tail<3>())};
}

/// tan of the slope, over the friction coefficient, above which a box speeds up: 1. Below it creeps at a
/// steady speed, so what counts is the gain of speed in the second second: g (sin a - mu cos a) > 0.005
/// m/s^2, which is 0.1 % beyond the threshold.
inline Truth slip_threshold(const StepConfig& config, double friction = 0.5) {
  const auto slips = [&](double ratio) {
    const auto [first, second] = speeds_on_slope(config, ratio, friction);
    return second - first > 0.005;
  };
  double low = 0.5, high = 1.2;
  for (int i = 0; i < 11; ++i) {
    const double middle = 0.5 * (low + high);
    (slips(middle) ? high : low) = middle;
  }
  return {0.5 * (low + high), 1.0};
}

/// The slope at which a box tips over its lower edge: tan a = arm/height of its centre of mass. The floor
/// tilts at `rate` [rad/s] from 0.05 rad below to 0.05 rad above; the box counts as tipping at 0.05 rad from
/// the floor, about half a second late. NaN: it never does.
inline Truth toppling_threshold(const StepConfig& config, double rate = 0.004) {
  constexpr double k_range = 0.05, k_tipping = 0.05;
  const Vec3<double> half(0.05, 0.1, 0.1);
  const Body box = box_of_mass(half, 1.0, 2);
  const double arm = half.x() - box.contact_radius;  // its edge is round: it rolls over that
  const double exact = std::atan2(arm, half.z());
  TestScene scene = box_on_floor(box, half, 2.0, exact - k_range);
  const Vec3<double> w(0.0, rate, 0.0);  // about the origin
  scene.V_WB(0).head<3>() = w;
  scene.V_WB(1) = stack<double>(w, Vec3<double>(w.cross(scene.X_WB(1).p)));
  double tipped_at = std::numeric_limits<double>::quiet_NaN();
  (void)state_after(scene, config, step_count(2.0 * k_range / rate, config),
                    [&](int, const State& state, const StepReport&) {
                      if (difference(state.X_WB[1], state.X_WB[0])[1] < k_tipping) return true;
                      tipped_at = exact - k_range + rate * state.time;
                      return false;
                    });
  return {tipped_at, exact};
}

/// The friction below which something slides, near that of statics, by bisection to 0.02 % of it.
inline Truth measured_threshold(double exact, const std::function<bool(double friction)>& slides) {
  double low = 0.8 * exact, high = 1.3 * exact;
  for (int i = 0; i < 11; ++i) {
    const double middle = 0.5 * (low + high);
    (slides(middle) ? low : high) = middle;
  }
  return {0.5 * (low + high), exact};
}

/// Whether a body of a scene moves by more than a centimetre in a second.
inline bool moves(const TestScene& scene, int body, const StepConfig& config) {
  const State end = state_after(scene, config, step_count(1.0, config));
  const auto b = static_cast<std::size_t>(body);
  return (end.X_WB[b].p - scene.state.X_WB[b].p).norm() > 0.01;
}

// A ladder -------------------------------------------------------------------------------------------------

/// A ladder of 2 m on a rough floor and against a smooth wall, `angle` from the vertical. Foot and top are
/// balls of radius r about the ends of a segment of length l. Moments about the foot: N_w (r + l cos a) = m g
/// l/2 sin a, and N_f = m g, friction = N_w.
struct Ladder {
  double angle = 0;  ///< [rad]
  static constexpr double k_radius = 0.02, k_half = 1.0;

  [[nodiscard]] double least_friction() const {
    return k_half * std::sin(angle) / (k_radius + 2.0 * k_half * std::cos(angle));
  }

  [[nodiscard]] TestScene scene(double friction) const {
    TestScene scene = floor_scene();
    scene.add(make_half_space(), pose_at(Vec3<double>::Zero(), {0.0, 0.5 * std::numbers::pi, 0.0}));
    Body ladder = make_capsule(k_radius, k_half, 1000.0);
    Points ends(3, 2);
    ends << 0.0, 0.0, 0.0, 0.0, -k_half, k_half;
    ladder.contact_points = ends;
    ladder.contact_areas = {0.01, 0.01};
    scene.add(ladder, pose_at({k_radius + k_half * std::sin(angle), 0.0, k_radius + k_half * std::cos(angle)},
                              {0.0, -angle, 0.0}));
    scene.set_friction(friction);
    PairOverride smooth_wall;
    smooth_wall.body_A = 1;
    smooth_wall.body_B = 2;
    smooth_wall.friction = 0.0;
    scene.model.pair_overrides = {smooth_wall};
    return scene;
  }

  /// The friction below which it slides.
  [[nodiscard]] Truth measured_friction(const StepConfig& config) const {
    return measured_threshold(least_friction(),
                              [&](double friction) { return moves(scene(friction), 2, config); });
  }
};

// Plates that lean against each other ----------------------------------------------------------------------

/// Two equal plates of 1 m that lean against each other on a rough floor, `angle` from the vertical. They
/// touch floor and each other with the lower long edges of their lower faces, rounded by r: with the half
/// thickness a and the half length c of the cores inside, moments about the foot of one give H (2 c cos a +
/// r) = m g (c sin a - a cos a), friction = H, N = m g. By symmetry the force between the plates has no part
/// along them.
struct LeaningPlates {
  double angle = 0;  ///< [rad]
  static constexpr double k_thickness = 0.04, k_width = 0.3, k_length = 1.0;
  static constexpr double k_radius = 0.025 * k_thickness;  ///< of box_of_mass()
  static constexpr double k_half = 0.5 * k_thickness - k_radius, k_long = 0.5 * k_length - k_radius;

  /// Centre of the first plate; the other is its mirror image in x.
  [[nodiscard]] Vec3<double> center() const {
    return {-(k_half * std::cos(angle) + k_long * std::sin(angle) + k_radius), 0.0,
            k_half * std::sin(angle) + k_long * std::cos(angle) + k_radius};
  }
  [[nodiscard]] double least_friction() const {
    const double top = center().z() - k_half * std::sin(angle) + k_long * std::cos(angle);
    return (k_long * std::sin(angle) - k_half * std::cos(angle)) / top;
  }

  [[nodiscard]] TestScene scene(double friction) const {
    TestScene scene = floor_scene();
    const Body plate = box_of_mass(0.5 * Vec3<double>(k_thickness, k_width, k_length), 1.0);
    const Vec3<double> p = center();
    scene.add(plate, pose_at(p, {0.0, angle, 0.0}));
    scene.add(plate, pose_at({-p.x(), 0.0, p.z()}, {0.0, -angle, 0.0}));
    scene.set_friction(friction);
    return scene;
  }
  /// The friction below which they slide.
  [[nodiscard]] Truth measured_friction(const StepConfig& config) const {
    return measured_threshold(least_friction(),
                              [&](double friction) { return moves(scene(friction), 1, config); });
  }
};

// Painleve's rod -------------------------------------------------------------------------------------------

/// A rod of 1 m that slides on its lower end with that end ahead, at tan(angle) = 2 from the floor, where
/// rigid-body mechanics with Coulomb friction has no solution for mu > 4/3: the end cannot slide on without
/// acceleration into the floor. Neither energy nor speed may come from that.
struct RodRun {
  double energy_ratio = 0;  ///< largest mechanical energy over the first
  double speed_ratio = 0;   ///< largest speed of the centre over sqrt(2 E/m), E being the first energy
  double penetration = 0;   ///< largest [m]
  double catch_time = -1;   ///< until the end stops sliding [s]; -1: never
};

inline constexpr double k_rod_half_length = 0.5;

/// The rod stands on the floor, and slides.
inline TestScene painleve_scene(double friction, double speed) {
  constexpr double k_radius = 0.01, k_half = k_rod_half_length;
  const double angle = std::atan(2.0);
  TestScene scene = floor_scene();
  Body rod = make_capsule(k_radius, k_half, 1000.0);
  set_mass(rod, 1.0);
  Points ends(3, 2);
  ends << 0.0, 0.0, 0.0, 0.0, -k_half, k_half;
  rod.contact_points = ends;
  rod.contact_areas = {0.01, 0.01};
  scene.add(
      rod,
      pose_at({0.0, 0.0, k_radius + k_half * std::sin(angle)}, {0.0, 0.5 * std::numbers::pi - angle, 0.0}),
      moving_at({-speed, 0.0, 0.0}));
  scene.set_friction(friction);
  return scene;
}

inline RodRun painleve_rod(const StepConfig& config, double friction = 1.6, double speed = 2.0) {
  const TestScene scene = painleve_scene(friction, speed);
  const double first = mechanical_energy(scene.model, scene.state), scale = std::sqrt(2.0 * first);
  RodRun run;
  (void)state_after(
      scene, config, step_count(1.5, config), [&](int, const State& state, const StepReport& report) {
        run.energy_ratio = std::max(run.energy_ratio, mechanical_energy(scene.model, state) / first);
        run.speed_ratio = std::max(run.speed_ratio, state.V_WB[1].tail<3>().norm() / scale);
        run.penetration = std::max(run.penetration, report.max_penetration);
        const Vec3<double> end = state.X_WB[1].q * Vec3<double>(0.0, 0.0, -k_rod_half_length);
        const Vec3<double> w = state.V_WB[1].head<3>();
        const double sliding = state.V_WB[1][3] + w.cross(end).x();
        if (run.catch_time < 0.0 && sliding > -0.05 * speed) run.catch_time = state.time;
        return true;
      });
  return run;
}

// Bounces --------------------------------------------------------------------------------------------------

struct BouncingBall {
  double restitution = 0.8, gap = 0.2, speed = 0.0;  ///< speed along z, downwards < 0

  [[nodiscard]] TestScene scene() const {
    TestScene scene = floor_scene();
    scene.add(sphere_of_mass(0.1, 1.0), pose_at({0.0, 0.0, 0.1 + gap}), moving_at({0.0, 0.0, speed}));
    for (Body& body : scene.model.bodies) body.material.restitution = restitution;
    return scene;
  }
  /// e^2 of the height that it fell from.
  [[nodiscard]] Truth apex(const StepConfig& config) const {
    const double height = gap + 0.5 * speed * speed / k_g;
    const double impact = std::sqrt(2.0 * height / k_g) + speed / k_g;
    double found = 0.0;
    (void)state_after(scene(), config,
                      step_count(impact + 1.1 * restitution * std::sqrt(2.0 * height / k_g) + 0.05, config),
                      [&](int, const State& state, const StepReport&) {
                        if (state.time > impact + 0.01) found = std::max(found, state.X_WB[1].p.z() - 0.1);
                        return true;
                      });
    return {found, restitution * restitution * height};
  }
  /// z - 0.1 at the time T, after one impact: e u s - g s^2/2, s = T - t, u = sqrt(v^2 + 2 g gap), t = (v +
  /// u)/g.
  [[nodiscard]] double height_at(double T) const {
    const double u = std::sqrt(speed * speed + 2.0 * k_g * gap), s = T - (speed + u) / k_g;
    return restitution * u * s - 0.5 * k_g * s * s;
  }
  [[nodiscard]] double by_gap(double T) const {
    const double u = std::sqrt(speed * speed + 2.0 * k_g * gap), s = T - (speed + u) / k_g;
    return restitution * k_g / u * s - (restitution * u - k_g * s) / u;
  }
  [[nodiscard]] double by_restitution(double T) const {
    const double u = std::sqrt(speed * speed + 2.0 * k_g * gap);
    return u * (T - (speed + u) / k_g);
  }
  [[nodiscard]] EndGradient gradient(const StepConfig& config, double T) const {
    return end_gradient(
        scene(), config, step_count(T, config), [](const State& end) { return end.X_WB[1].p.z() - 0.1; },
        [](const State&, StateTangent& bar) { bar.pose[1][5] += 1.0; });
  }
};

/// Two equal elastic balls, the first of which moves along x: after the impact the other does.
inline TestScene two_balls(double restitution = 1.0) {
  TestScene scene;
  scene.model.gravity.setZero();
  for (const double x : {0.0, 0.25}) scene.add(sphere_of_mass(0.1, 1.0), pose_at({x, 0.0, 0.0}));
  scene.V_WB(0)[3] = 1.0;
  for (Body& body : scene.model.bodies) body.material.restitution = restitution;
  return scene;
}

// A pendulum -----------------------------------------------------------------------------------------------

/// A bar on a hinge about y through the origin, `arm` m from its centre; the angle is that from the vertical
/// towards +x.
struct Pendulum {
  double arm = 0.1, angle = 1.0, rate = 0.0;

  [[nodiscard]] Vec3<double> along(double at) const { return {std::sin(at), 0.0, -std::cos(at)}; }
  [[nodiscard]] TestScene scene() const {
    TestScene scene;
    const double below = 0.5 * std::numbers::pi - angle;  // the bar's x axis points away from the hinge
    const Vec3<double> w(0.0, -rate, 0.0), p = arm * along(angle);
    const int b = scene.add(bar(), pose_at(p, {0.0, below, 0.0}), stack<double>(w, Vec3<double>(w.cross(p))));
    Joint joint;
    joint.name = "hinge";
    joint.kind = JointKind::hinge;
    joint.body_B = b;
    joint.X_AJ = pose_at(Vec3<double>::Zero(), {-0.5 * std::numbers::pi, 0.0, 0.0});
    joint.X_BJ = scene.X_WB(b).inverse() * joint.X_AJ;
    scene.model.joints.push_back(joint);
    return scene;
  }
  /// 4 sqrt(L/g) K(sin(angle/2)), K by the arithmetic-geometric mean; without a rate.
  [[nodiscard]] double period() const {
    double a = 1.0, b = std::cos(0.5 * angle);
    for (int i = 0; i < 20; ++i) {
      const double mean = 0.5 * (a + b);
      b = std::sqrt(a * b);
      a = mean;
    }
    return 2.0 * std::numbers::pi * std::sqrt(length(arm) / k_g) / a;
  }
  [[nodiscard]] Truth measured_period(const StepConfig& config) const {
    double first = 0.0, last = 0.0, before = 1.0;
    int crossings = 0;
    (void)state_after(scene(), config, step_count(4.4 * period(), config),
                      [&](int, const State& state, const StepReport&) {
                        const double x = state.X_WB[0].p.x();
                        if (before < 0.0 && x >= 0.0) {
                          last = state.time - config.h * x / (x - before);
                          if (crossings++ == 0) first = last;
                        }
                        before = x;
                        return true;
                      });
    return {(last - first) / std::max(1, crossings - 1), period()};
  }

  /// The angle at a time, of angle'' = -g/L sin(angle), by the classical Runge-Kutta method.
  [[nodiscard]] double exact_angle(double T) const {
    constexpr int k_steps = 4000;
    const double h = T / k_steps, rate_2 = k_g / length(arm);
    double q = angle, v = rate;
    for (int k = 0; k < k_steps; ++k) {
      const double k1 = v, a1 = -rate_2 * std::sin(q);
      const double k2 = v + 0.5 * h * a1, a2 = -rate_2 * std::sin(q + 0.5 * h * k1);
      const double k3 = v + 0.5 * h * a2, a3 = -rate_2 * std::sin(q + 0.5 * h * k2);
      const double k4 = v + h * a3, a4 = -rate_2 * std::sin(q + h * k3);
      q += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
      v += h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4);
    }
    return q;
  }
  /// d(angle at T)/d(angle, rate, arm), by differences of exact_angle.
  [[nodiscard]] Vec3<double> exact_gradient(double T) const {
    constexpr double k_step = 1e-4;
    const auto slope = [&](double Pendulum::*of) {
      Pendulum more = *this, less = *this;
      more.*of += k_step;
      less.*of -= k_step;
      return (more.exact_angle(T) - less.exact_angle(T)) / (2.0 * k_step);
    };
    return {slope(&Pendulum::angle), slope(&Pendulum::rate), slope(&Pendulum::arm)};
  }
  /// The same of the simulator. The hinge is in the world; as the arm grows, the bar moves out along itself.
  [[nodiscard]] Vec3<double> gradient(const StepConfig& config, double T) const {
    const auto angle_of = [](const State& end) { return std::atan2(end.X_WB[0].p.x(), -end.X_WB[0].p.z()); };
    const EndGradient end = end_gradient(scene(), config, step_count(T, config), angle_of,
                                         [&](const State& state, StateTangent& bar) {
                                           const Vec3<double> p = state.X_WB[0].p;
                                           bar.pose[0][3] += -p.z() / p.squaredNorm();
                                           bar.pose[0][5] += p.x() / p.squaredNorm();
                                         });
    const Vec6<double>&pose = end.by.initial.pose[0], &twist = end.by.initial.twist[0];
    const Vec3<double> down = along(angle), sideways(std::cos(angle), 0.0, std::sin(angle));
    return {-pose[1] + arm * pose.tail<3>().dot(sideways) - rate * arm * twist.tail<3>().dot(down),
            -twist[1] + arm * twist.tail<3>().dot(sideways),
            pose.tail<3>().dot(down) + rate * twist.tail<3>().dot(sideways) - end.by.model.joints[0].X_BJ[3]};
  }

 private:
  [[nodiscard]] static Body bar() { return box_of_mass({0.1, 0.01, 0.01}, 0.5, 1); }
  /// Of the mathematical pendulum: (I + m d^2)/(m d).
  [[nodiscard]] static double length(double arm) {
    static const Body b = bar();
    return (b.inertia(1, 1) + b.mass * arm * arm) / (b.mass * arm);
  }
};

// A free top -----------------------------------------------------------------------------------------------

struct TopRun {
  double energy_error = 0, momentum_error = 0;  ///< largest, relative
};

/// An asymmetric top without forces that turns about an axis near the middle one, `steps` long.
inline TopRun free_top(const StepConfig& config, int steps) {
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(box_of_mass({0.1, 0.06, 0.03}, 1.0, 1));
  scene.V_WB(0).head<3>() << 0.3, 4.0, 0.5;
  const Body& top = scene.body(0);
  const auto momentum = [&](const State& state) {
    const Mat3<double> R = state.X_WB[0].rotation();
    return Vec3<double>(R * top.inertia * (R.transpose() * state.V_WB[0].head<3>()));
  };
  const Vec3<double> first = momentum(scene.state);
  const double energy = mechanical_energy(scene.model, scene.state);
  TopRun run;
  (void)state_after(scene, config, steps, [&](int, const State& state, const StepReport&) {
    run.energy_error =
        std::max(run.energy_error, std::abs(mechanical_energy(scene.model, state) / energy - 1.0));
    run.momentum_error = std::max(run.momentum_error, (momentum(state) - first).norm() / first.norm());
    return true;
  });
  return run;
}

// A ball on a spring ---------------------------------------------------------------------------------------

/// A ball of 1 kg laid on a floor that is a critically damped spring, dissipation time 2/omega; it rests m
/// g/k deep.
struct ElasticSupport {
  double mass = 1.0, stiffness = 2e4, radius = 0.05;

  [[nodiscard]] double depth() const { return mass * k_g / stiffness; }
  [[nodiscard]] double depth_by_stiffness() const { return -depth() / stiffness; }

  [[nodiscard]] TestScene scene() const {
    TestScene scene = floor_scene();
    scene.add(sphere_of_mass(radius, mass), pose_at({0.0, 0.0, radius}));
    scene.body(1).material.stiffness = stiffness;
    for (int b : {0, 1}) scene.body(b).material.dissipation_time = 2.0 / std::sqrt(stiffness / mass);
    return scene;
  }
  /// After 0.3 s, 42/omega of the default: depth, and its derivative by the stiffness.
  [[nodiscard]] std::array<Truth, 2> measured(const StepConfig& config) const {
    const auto [height, by] = end_gradient(
        scene(), config, step_count(0.3, config), [](const State& end) { return end.X_WB[1].p.z(); },
        [](const State&, StateTangent& bar) { bar.pose[1][5] += 1.0; });
    return {{{radius - height, depth()}, {-by.model.bodies[1].stiffness, depth_by_stiffness()}}};
  }
};

}  // namespace abut::test
