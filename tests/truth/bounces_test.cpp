// Balls that bounce: heights on a floor, many bounces between walls in one step, corners, friction.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/support/watched_run.h"

namespace {

using namespace abut;
using test::TestScene;

constexpr double k_g = 9.81, k_bouncing_radius = 0.1;

/// Restitution is e from 1.375 times the impact speed on, max(impact_speed, 3 g h).
double fully_restored_speed(double h) { return 1.375 * std::max(StepConfig().impact_speed, 3.0 * k_g * h); }

/// A wall through p whose solid lies behind it: a half-space with the normal x, -x or z.
enum class Facing { x, minus_x, z, y };
int add_wall(TestScene& scene, const Vec3<double>& p, Facing facing) {
  constexpr double k_quarter = 0.5 * std::numbers::pi;
  Vec3<double> turn = Vec3<double>::Zero();
  if (facing == Facing::x) turn.y() = k_quarter;
  if (facing == Facing::minus_x) turn.y() = -k_quarter;
  if (facing == Facing::y) turn.x() = -k_quarter;
  return scene.add(make_half_space(), test::pose_at(p, turn));
}

/// A ball along x between walls at 0 and at its diameter plus `room`.
struct Bouncing {
  double room, speed, restitution;

  struct At {
    double x = 0.0, v = 0.0, way = 0.0;
    int bounces = 0;
  };
  /// Its way and velocity t seconds after it left the wall at 0: after k bounces the speed is e^k v, and one
  /// passage takes room/(e^k v).
  [[nodiscard]] At at(double t) const {
    At now{0.0, speed, 0.0, 0};
    for (double passage = room / speed; t >= passage; passage = room / std::abs(now.v)) {
      t -= passage;
      now.way += room;
      now.v *= -restitution;
      ++now.bounces;
    }
    now.x = (now.bounces % 2 == 0 ? 0.0 : room) + now.v * t;
    now.way += std::abs(now.v) * t;
    return now;
  }
};

}  // namespace

TEST_CASE("bounce: after n bounces a ball rises to e^(2n) of the height that it fell from",
          "[truth][value]") {
  const double e = GENERATE(0.5, 0.7, 0.9, 1.0), h = GENERATE(5e-4, 1e-3, 2e-3, 5e-3, 1e-2);
  constexpr double k_height = 1.0;
  constexpr int k_bounces = 10;
  TestScene scene = test::floor_scene();
  // Velocities belong to the middles of steps: at rest at time 0 is g h/2 half a step before.
  scene.add(test::sphere_of_mass(k_bouncing_radius, 1.0), test::pose_at({0, 0, k_bouncing_radius + k_height}),
            test::moving_at({0, 0, 0.5 * k_g * h}));
  test::set_restitution(scene, e);
  int bounces = 0, compared = 0;
  double speed = scene.V_WB(1)[5];
  bool rests = false;
  const test::WatchedRun run =
      test::watch(scene, test::config_with_step(h), static_cast<int>(12.0 / h), [&](const State& state) {
        const double v = state.V_WB[1][5], true_v = v - 0.5 * k_g * h;
        const bool flies = std::abs(v - speed + k_g * h) < 1e-9;
        if (!flies && v > 0.0) ++bounces;
        rests = rests || (!flies && v <= 0.0);
        speed = v;
        if (!flies || rests) return;
        const double exact = std::pow(e, 2 * bounces) * k_height, before = exact / (e * e);
        if (bounces > k_bounces || std::sqrt(2.0 * k_g * before) < fully_restored_speed(h)) return;
        // The highest point of the flight that it is on: z + v^2/(2 g).
        const double apex = state.X_WB[1].p.z() - k_bouncing_radius + true_v * true_v / (2.0 * k_g);
        ++compared;
        CAPTURE(e, h, bounces, apex, exact, state.time);
        // Near-rigid contacts take 2.6e-4 (1 + e) of the speed of approach off each bounce, twice that of the height.
        REQUIRE(std::abs(apex - exact) <= 6e-4 * (1.0 + e) / e * bounces * exact + 1e-9);
      });
  CHECK(run.status == StepStatus::ok);
  CAPTURE(e, h, bounces);
  CHECK(compared > 100);
  CHECK(run.jump <= h * StepConfig().impact_speed);  // slower bounces may come several to a step
}

TEST_CASE("bounce: a ball between two walls is where it would be after many bounces in one step",
          "[truth][value]") {
  const double speed = GENERATE(3.0, 12.0), e = GENERATE(0.7, 0.9, 1.0), h = GENERATE(2e-3, 1e-2),
               room = GENERATE(0.004, 0.02);
  const Bouncing exact{room, speed, e};
  TestScene scene;
  scene.model.gravity.setZero();
  add_wall(scene, {0, 0, 0}, Facing::x);
  add_wall(scene, {2.0 * k_bouncing_radius + room, 0, 0}, Facing::minus_x);
  const int ball = scene.add(test::sphere_of_mass(k_bouncing_radius, 1.0),
                             test::pose_at({k_bouncing_radius, 0, 0}), test::moving_at({speed, 0, 0}));
  scene.set_friction(0.0);
  test::set_restitution(scene, e);
  int compared = 0, most = 0, before = 0;
  const test::WatchedRun run = test::watch(scene, test::config_with_step(h), 10, [&](const State& state) {
    const Bouncing::At at = exact.at(state.time);
    const double x = state.X_WB[static_cast<std::size_t>(ball)].p.x() - k_bouncing_radius,
                 v = state.V_WB[static_cast<std::size_t>(ball)][3];
    if (std::abs(at.v) < fully_restored_speed(h) || at.bounces > 40) return;
    most = std::max(most, at.bounces - before);
    before = at.bounces;
    ++compared;
    // Compliance takes 3e-4 of a speed at a bounce, and so of the way after it.
    const double error = 1e-3 * at.bounces;
    const bool is_near_wall = std::min(at.x, room - at.x) <= error * at.way;  // may have bounced or not
    CAPTURE(speed, e, h, room, state.time, at.bounces, x, at.x, v, at.v);
    CHECK(std::abs(x - at.x) <= error * at.way + 1e-9);
    if (!is_near_wall) CHECK(std::abs(v - at.v) <= error * std::abs(at.v) + 1e-9);
  });
  CAPTURE(speed, e, h, room, compared, most);
  CHECK(run.status == StepStatus::ok);
  CHECK(compared > 0);
}

TEST_CASE("bounce: a ball thrown into a corner returns its way without spin", "[truth][value]") {
  const double e = GENERATE(0.5, 1.0), h = GENERATE(5e-4, 2e-3, 1e-2);
  // Of the two walls one is hit 0.2, the other one 0.2, 0.5 or 0.8 of the fourth step after its start.
  const double later = GENERATE(3.2, 3.5, 3.8);
  const Vec3<double> v(-2.0, 0.0, -3.0);
  TestScene scene;
  scene.model.gravity.setZero();
  add_wall(scene, Vec3<double>::Zero(), Facing::x);
  add_wall(scene, Vec3<double>::Zero(), Facing::z);
  const Vec3<double> closing(3.2 * h, 0.0, later * h);
  const int ball = scene.add(
      test::sphere_of_mass(k_bouncing_radius, 1.0),
      test::pose_at({k_bouncing_radius - v.x() * closing.x(), 0.0, k_bouncing_radius - v.z() * closing.z()}),
      test::moving_at(v));
  scene.set_friction(0.0);
  test::set_restitution(scene, e);
  constexpr int k_steps = 6;
  const test::WatchedRun run = test::watch(scene, test::config_with_step(h), k_steps);
  REQUIRE(run.status == StepStatus::ok);
  const auto b = static_cast<std::size_t>(ball);
  CAPTURE(e, h, later, run.end.V_WB[b].transpose(), run.end.X_WB[b].p.transpose());
  CHECK(run.end.V_WB[b].head<3>().norm() <= 1e-9);
  for (const Eigen::Index i : {0, 2}) {
    const double away = -e * v[i];
    CAPTURE(i, away);
    CHECK(std::abs(run.end.V_WB[b][3 + i] - away) <= 1e-3 * away);
    CHECK(std::abs(run.end.X_WB[b].p[i] - (k_bouncing_radius + away * (k_steps * h - closing[i]))) <=
          2e-3 * away * k_steps * h);
  }
}

TEST_CASE("bounce: a ball in the corner of three walls leaves it at e times its velocity", "[truth][value]") {
  const double e = GENERATE(0.5, 1.0), h = GENERATE(5e-4, 2e-3, 1e-2);
  const Vec3<double> v(-2.0, -1.5, -3.0), closing = h * Vec3<double>(2.1, 2.6, 2.9);
  TestScene scene;
  scene.model.gravity.setZero();
  for (const Facing facing : {Facing::x, Facing::y, Facing::z}) add_wall(scene, Vec3<double>::Zero(), facing);
  const int ball = scene.add(
      test::sphere_of_mass(k_bouncing_radius, 1.0),
      test::pose_at(Vec3<double>::Constant(k_bouncing_radius) - v.cwiseProduct(closing)), test::moving_at(v));
  scene.set_friction(0.0);
  test::set_restitution(scene, e);
  const test::WatchedRun run = test::watch(scene, test::config_with_step(h), 5);
  REQUIRE(run.status == StepStatus::ok);
  const auto b = static_cast<std::size_t>(ball);
  CAPTURE(e, h, run.end.V_WB[b].transpose());
  CHECK(run.end.V_WB[b].head<3>().norm() <= 1e-9);
  CHECK((run.end.V_WB[b].tail<3>() + e * v).norm() <= 1e-3 * v.norm());
}

TEST_CASE("bounce: friction of a spinning ball is Coulomb's, at most mu times the normal impulse",
          "[truth][value]") {
  const double mu = GENERATE(0.0, 0.1, 0.3, 0.5, 1.0, 2.0), e = GENERATE(0.5, 1.0), h = GENERATE(2e-3, 1e-2);
  const double spin = GENERATE(0.0, 30.0, -30.0, 150.0), along = GENERATE(0.0, 2.0), down = 3.0;
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(make_half_space());
  scene.add(test::sphere_of_mass(k_bouncing_radius, 1.0),
            test::pose_at({0, 0, k_bouncing_radius + 2.4 * h * down}),
            stack<double>(Vec3<double>(0, spin, 0), Vec3<double>(along, 0, -down)));
  scene.set_friction(mu);
  test::set_restitution(scene, e);
  const test::WatchedRun run = test::watch(scene, test::config_with_step(h), 4);
  REQUIRE(run.status == StepStatus::ok);
  // Impulses on 1 kg: normal (1 + e) v_n; the slip s = v_x - r w_y of a solid ball ends by 2/7 s at the centre
  // (5/7 of v_x are left without spin), if friction can give that.
  const double slip = along - k_bouncing_radius * spin, normal = (1.0 + e) * down,
               friction = std::clamp(-2.0 / 7.0 * slip, -mu * normal, mu * normal),
               end_along = along + friction, end_spin = spin - friction / (0.4 * k_bouncing_radius);
  const Vec6<double>& V = run.end.V_WB[1];
  CAPTURE(mu, e, h, spin, along, V.transpose(), end_along, end_spin);
  // Friction sticks up to the stiction speed, 0.01 g h.
  const double stiction = 0.01 * k_g * h, error = 1e-3 * (mu * normal + std::abs(along)) + stiction;
  CHECK(std::abs(V[5] - e * down) <= 1e-3 * down);
  CHECK(std::abs(V[3] - end_along) <= error);
  CHECK(std::abs(V[1] - end_spin) <= error / (0.4 * k_bouncing_radius) + 1e-3 * std::abs(spin));
  CHECK(std::abs(V[3] - along) <= mu * (V[5] + down) * (1.0 + 1e-6) + 1e-9);
}

TEST_CASE("bounces: a ball whose gap closes just where a step ends keeps its restitution", "[truth][value]") {
  const double restitution = GENERATE(0.5, 0.9), speed = GENERATE(1.0, 5.0);
  const int steps = GENERATE(1, 2, 3);
  const double h = 2e-3, radius = 0.05, half = 0.1;
  CAPTURE(restitution, speed, steps);
  test::TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::box_of_mass({half, half, half}, 1e9, 1), test::pose_at({0, 0, 0}));
  scene.add(test::sphere_of_mass(radius, 1.0),
            test::pose_at({-half - radius - steps * speed * h, 0.037, 0.0185}),
            test::moving_at({speed, 0, 0}));
  test::set_restitution(scene, restitution);
  StepConfig config = test::config_with_step(h);
  config.acceleration_scale = 9.81;
  const test::WatchedRun run = test::watch(scene, config, steps + 2);
  REQUIRE(run.status == StepStatus::ok);
  CHECK(run.end.V_WB[1][3] == Approx(-restitution * speed).epsilon(1e-4));
}

TEST_CASE("bounces: a ball that is thrown at a ceiling comes back, however small and long the step",
          "[truth][value]") {
  const double h = GENERATE(2e-3, 1e-2), radius = GENERATE(5e-4, 2e-3, 1e-2, 5e-2), e = GENERATE(0.5, 1.0),
               part = GENERATE(0.1, 0.25, 0.5, 0.75);  // of the first step, until it is there
  // Velocities are those of middles of steps.
  const double speed = 1.0, start = speed - 0.5 * k_g * h, time = part * h,
               gap = start * time - 0.5 * k_g * time * time, at_ceiling = start - k_g * time;
  TestScene scene;
  scene.add(make_half_space(), test::pose_at({0.0, 0.0, radius + gap}, {std::numbers::pi, 0.0, 0.0}));
  scene.add(test::sphere_of_mass(radius, 1.0), Pose<double>(), test::moving_at({0.0, 0.0, speed}));
  test::set_restitution(scene, e);
  const test::WatchedRun run = test::watch(scene, test::config_with_step(h), 3);
  CAPTURE(h, radius, e, part, run.overlap, run.end.V_WB[1].transpose());
  REQUIRE(run.status == StepStatus::ok);
  CHECK(run.overlap <= 0.0);
  CHECK(run.end.V_WB[1][5] == Approx(-e * at_ceiling - k_g * (2.5 * h - time)).margin(0.01 * k_g * h));
}

TEST_CASE("bounces: a force that brings a body at rest to a wall within a step makes it bounce",
          "[truth][value]") {
  const double h = 2e-3, force = 1000.0, gap = GENERATE(1e-4, 1.2e-3, 1.9e-3), e = GENERATE(0.5, 1.0);
  TestScene scene;
  scene.model.gravity.setZero();
  const double radius = 0.05;
  add_wall(scene, {radius + gap, 0.0, 0.0}, Facing::minus_x);
  const int ball = scene.add(test::sphere_of_mass(radius, 1.0));
  scene.body(ball).external_wrench[3] = force;
  test::set_restitution(scene, e);
  const test::WatchedRun run = test::watch(scene, test::config_with_step(h), 1);
  const double closing = std::sqrt(2.0 * gap * force);  // at 1 kg
  CAPTURE(gap, e, closing, run.end.X_WB[1].p.transpose(), run.end.V_WB[1].transpose());
  REQUIRE(run.status == StepStatus::ok);
  CHECK(run.end.X_WB[1].p.x() <= gap + 1e-4 * radius);
  CHECK(run.end.V_WB[1][3] < 0.0);
}
