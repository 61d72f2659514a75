// Bodies at rest on a floor that others strike: none moves farther in a step than its velocities explain, none
// sinks into another, and energy does not rise.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "tests/support/watched_run.h"

namespace {

using namespace abut;
using test::TestScene;

/// Speed [m/s] that a body struck twice in a step may have in between, beyond those before and after.
constexpr double k_between = 0.1;

/// The same of a light body that a heavy one turns, or pushes out of its place, at `speed`: it may leave with
/// (1 + e) times that, and come back from the next one.
double between(double ratio, double restitution, double speed) {
  return ratio <= 10.0 ? k_between : (1.0 + restitution) * speed;
}

/// Overlap [m] by blows of bodies `ratio` times as heavy as the struck one: contacts at rest yield under a blow
/// by their near-rigid compliance, in proportion to h. Under a heavy body that rocks on it, contacts that recede
/// at the start of a step of 10 ms, and come back within it, are missed.
double overlap_limit(double h, double ratio, bool is_tilted) {
  if (h < 5e-3 && ratio <= 32.0) return 5e-4;
  if (!is_tilted || ratio <= 32.0 || h < 5e-3) return 3e-3;
  return ratio > 100.0 ? 1.5e-2 : 6e-3;
}

/// Energy [J] that may seem gained: a body at rest counts with half a step of gravity as its speed.
double energy_reading(const TestScene& scene, double h) {
  double mass = 0.0;
  for (const Body& body : scene.model.bodies)
    if (!body.fixed) mass += body.mass;
  const double speed = 0.5 * h * scene.model.gravity.norm();
  return 0.5 * mass * speed * speed;
}

void check_blow(const TestScene& scene, double h, double ratio, double speed_between = k_between,
                bool is_tilted = false) {
  const test::WatchedRun run =
      test::watch(scene, test::config_with_step(h), static_cast<int>(std::lround(0.15 / h)));
  const double limit = h * speed_between, gain_limit = 1e-3 * run.start_energy + energy_reading(scene, h);
  CAPTURE(run.steps, run.jumping_body, run.start_energy, run.energy_gain(), limit);
  REQUIRE(run.status == StepStatus::ok);
  CHECK(run.jump <= limit);
  CHECK(run.overlap <= overlap_limit(h, ratio, is_tilted));
  CHECK(run.energy_gain() <= gain_limit);
}

/// The gap [m] that a body at `speed` closes 0.35 steps after the start of the sixth.
double gap_before(double speed, double h) { return 5.35 * h * speed; }

/// One of 1 kg on the floor.
Body struck_box() { return test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 1); }

}  // namespace

TEST_CASE("struck at rest: a ball on the floor stays where it is under a ball that falls on it",
          "[truth][property]") {
  const double ratio = GENERATE(0.03, 1.0, 10.0, 32.0, 100.0, 1000.0), restitution = GENERATE(0.3, 1.0),
               h = GENERATE(5e-4, 2e-3, 1e-2), aside = GENERATE(0.0, 0.02);
  CAPTURE(ratio, restitution, h, aside);
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0.1}));
  const double height = std::sqrt(0.04 - aside * aside);
  scene.add(test::sphere_of_mass(0.1, ratio), test::pose_at({aside, 0, 0.1 + height + gap_before(2.0, h)}),
            test::moving_at({0, 0, -2.0}));
  test::set_restitution(scene, restitution);
  check_blow(scene, h, ratio);
}

TEST_CASE("struck at rest: a box on the floor stays where it is under a box that falls on it",
          "[truth][property]") {
  const double ratio = GENERATE(0.03, 1.0, 10.0, 20.0, 100.0, 1000.0), restitution = GENERATE(0.3, 1.0),
               h = GENERATE(5e-4, 2e-3, 1e-2);
  const bool is_tilted = GENERATE(false, true);
  CAPTURE(ratio, restitution, h, is_tilted);
  TestScene scene = test::floor_scene();
  scene.add(struck_box(), test::pose_at({0, 0, 0.05}));
  const double lowest = is_tilted ? 0.065 : 0.05;
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, ratio, 1),
            test::pose_at({0.01, 0, 0.1 + lowest + gap_before(1.5, h)},
                          is_tilted ? Vec3<double>(0.2, 0.15, 0.1) : Vec3<double>(Vec3<double>::Zero())),
            test::moving_at({0, 0, -1.5}));
  test::set_restitution(scene, restitution);
  check_blow(scene, h, ratio, is_tilted ? between(ratio, restitution, 1.5) : k_between, is_tilted);
}

TEST_CASE("struck at rest: a stack stands under a ball that falls on it", "[truth][property]") {
  const double ratio = GENERATE(0.03, 1.0, 10.0, 32.0, 100.0), restitution = GENERATE(0.3, 1.0),
               h = GENERATE(5e-4, 2e-3, 1e-2);
  CAPTURE(ratio, restitution, h);
  TestScene scene = test::stack_scene(3, 0.1, 1.0, 0.5, 1);
  scene.add(test::sphere_of_mass(0.05, ratio), test::pose_at({0.01, 0.005, 0.35 + gap_before(2.0, h)}),
            test::moving_at({0, 0, -2.0}));
  test::set_restitution(scene, restitution);
  check_blow(scene, h, ratio);
}

TEST_CASE("struck at rest: the box that a ball hits from the side leaves its stack without a jump",
          "[truth][property]") {
  const double ratio = GENERATE(0.03, 1.0, 10.0, 32.0), restitution = GENERATE(0.3, 1.0),
               h = GENERATE(5e-4, 2e-3, 1e-2);
  const int struck = GENERATE(1, 2, 3);
  CAPTURE(ratio, restitution, h, struck);
  TestScene scene = test::stack_scene(3, 0.1, 1.0, 0.5, 1);
  scene.add(test::sphere_of_mass(0.03, ratio),
            test::pose_at({-0.08 - gap_before(2.0, h), 0, 0.1 * struck - 0.05}),
            test::moving_at({2.0, 0, 0}));
  test::set_restitution(scene, restitution);
  check_blow(scene, h, ratio, between(ratio, restitution, 2.0));
}

TEST_CASE("struck at rest: a ball that is hit along the floor takes the velocity over and does not lift off",
          "[truth][value]") {
  // Without friction the floor does not take part: v_2' = (1 + e) M v/(M + m).
  const double ratio = GENERATE(0.1, 1.0, 10.0), restitution = GENERATE(0.3, 1.0), h = GENERATE(5e-4, 2e-3),
               v = 2.0;
  TestScene scene = test::floor_scene(0.0);
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0.1}));
  scene.add(test::sphere_of_mass(0.1, ratio), test::pose_at({-0.2 - gap_before(v, h), 0, 0.1}),
            test::moving_at({v, 0, 0}));
  scene.set_friction(0.0);
  test::set_restitution(scene, restitution);
  double highest = 0.0;
  const test::WatchedRun run =
      test::watch(scene, test::config_with_step(h), static_cast<int>(std::lround(0.1 / h)),
                  [&](const State& state) { highest = std::max(highest, state.X_WB[1].p.z() - 0.1); });
  CAPTURE(ratio, restitution, h, run.end.V_WB[1].transpose());
  REQUIRE(run.status == StepStatus::ok);
  const double exact = (1.0 + restitution) * ratio / (ratio + 1.0) * v;
  CHECK(std::abs(run.end.V_WB[1][3] - exact) <= 0.005 * exact);
  CHECK(highest <= 1e-5);
  CHECK(run.jump <= h * k_between);
}

TEST_CASE("struck at rest: a blow on a box between two others ends where a hammer, box and floor would",
          "[truth][property]") {
  // The boxes lie on each other in the corner of floor and wall, so that nothing gives way: the hammer comes
  // back at no more than e times its speed, and what it struck is at rest afterwards.
  const double restitution = GENERATE(0.3, 0.7), h = GENERATE(5e-4, 2e-3), v = 2.0;
  TestScene scene = test::floor_scene();
  const int wall = scene.add(make_half_space(), test::pose_at({0.05, 0, 0}, {0, -0.5 * M_PI, 0}));
  scene.add(struck_box(), test::pose_at({0, 0, 0.05}));
  scene.add(struck_box(), test::pose_at({-0.1, 0, 0.05}));
  scene.add(test::sphere_of_mass(0.05, 2.0), test::pose_at({-0.2 - gap_before(v, h), 0, 0.05}),
            test::moving_at({v, 0, 0}));
  test::set_restitution(scene, restitution);
  scene.body(wall).material.restitution = 0.0;
  const test::WatchedRun run =
      test::watch(scene, test::config_with_step(h), static_cast<int>(std::lround(0.1 / h)));
  CAPTURE(restitution, h, run.end.V_WB[4].transpose());
  REQUIRE(run.status == StepStatus::ok);
  CHECK(run.jump <= h * k_between);
  CHECK(run.overlap <= 5e-4);
  CHECK(run.end.V_WB[4][3] >= -restitution * v - 0.02);
  for (const std::size_t b : {2u, 3u}) CHECK(run.end.V_WB[b].tail<3>().norm() <= 1.5 * v);
}
