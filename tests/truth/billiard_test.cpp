// The break of a triangle of balls without friction: momentum, energy, symmetry, no overlap.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "tests/support/impacts.h"
#include "tests/support/watched_run.h"

namespace {

using namespace abut;

constexpr double k_ball_radius = 0.0285, k_mass = 0.17, k_speed = 5.0;

/// Ten balls in four rows, `gap` apart, and one (body 0) that comes along x at 5 m/s, `aside` of the axis.
test::TestScene rack(double gap, double aside, double restitution) {
  test::TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(k_ball_radius, k_mass), test::pose_at({-0.2, aside, 0}),
            test::moving_at({k_speed, 0, 0}));
  const double pitch = 2.0 * k_ball_radius + gap;
  for (int row = 0; row < 4; ++row) {
    for (int i = 0; i <= row; ++i) {
      scene.add(test::sphere_of_mass(k_ball_radius, k_mass),
                test::pose_at({0.5 * std::sqrt(3.0) * pitch * row, pitch * (i - 0.5 * row), 0}));
    }
  }
  scene.set_friction(0.0);
  test::set_restitution(scene, restitution);
  return scene;
}

struct Break {
  test::WatchedRun run;
  double momentum = 0.0, angular_momentum = 0.0;  ///< relative errors at the end
  double energy = 0.0;                            ///< over that at the start
  double overlap = 0.0;  ///< of any two balls at the end of any step, by their centres [m]
};

Break break_of(const test::TestScene& scene, double h) {
  const StepConfig config = test::config_with_step(h);
  Break result;
  result.run = test::watch(scene, config, static_cast<int>(std::lround(0.12 / h)), [&](const State& state) {
    for (std::size_t a = 0; a < state.X_WB.size(); ++a) {
      for (std::size_t b = a + 1; b < state.X_WB.size(); ++b) {
        result.overlap =
            std::max(result.overlap, 2.0 * k_ball_radius - (state.X_WB[a].p - state.X_WB[b].p).norm());
      }
    }
  });
  REQUIRE(result.run.status == StepStatus::ok);
  const test::Totals start(scene.model, scene.state), end(scene.model, result.run.end);
  result.momentum = (end.momentum - start.momentum).norm() / start.momentum.norm();
  result.angular_momentum =  // about the centre of the triangle's first ball, by m v r
      (end.angular_momentum - start.angular_momentum).norm() / (k_mass * k_speed * k_ball_radius);
  result.energy = end.energy / start.energy;
  return result;
}

}  // namespace

TEST_CASE("billiard: a break keeps momentum and, between elastic balls, energy", "[truth][property]") {
  const double gap = GENERATE(1e-5, 1e-4, 1e-3), aside = GENERATE(0.0, 0.004, 0.02), h = GENERATE(5e-4, 2e-3);
  const Break got = break_of(rack(gap, aside, 1.0), h);
  CAPTURE(gap, aside, h, got.energy, got.momentum, got.angular_momentum, got.overlap);
  CHECK(got.momentum <= 1e-9);
  CHECK(got.angular_momentum <= 1e-8);
  CHECK(got.run.highest_energy <= (1.0 + 1e-9) * got.run.start_energy);
  CHECK(got.energy >= 0.97);  // the impact speed of 3 g h and the compliance of contacts take the rest
}

TEST_CASE("billiard: no balls come into each other, whatever the restitution", "[truth][property]") {
  const double restitution = GENERATE(0.3, 0.8, 1.0), gap = GENERATE(0.0, 1e-5, 1e-3),
               aside = GENERATE(0.0, 0.004, 0.02), h = GENERATE(5e-4, 2e-3);
  const Break got = break_of(rack(gap, aside, restitution), h);
  CAPTURE(restitution, gap, aside, h, got.overlap, got.energy);
  CHECK(got.overlap <= 1e-4);  // a step is 10 mm of way at 2 ms
  // Balls in contact drift apart by the law of rest, at up to 0.15 g h.
  const double drift = 0.15 * 9.81 * h, of_drift = 10.0 * 0.5 * k_mass * drift * drift;
  CHECK(got.run.highest_energy <= (1.0 + 1e-9) * got.run.start_energy + (gap == 0.0 ? of_drift : 0.0));
  CHECK(got.momentum <= 1e-9);
}

TEST_CASE("billiard: a break along the axis is symmetrical", "[truth][property]") {
  const double h = GENERATE(5e-4, 2e-3);
  const Break got = break_of(rack(1e-4, 0.0, 1.0), h);
  for (std::size_t row = 0, first = 1; row < 4; first += ++row) {
    for (std::size_t i = 0; i <= row; ++i) {
      Vec3<double> mirrored = got.run.end.V_WB[first + row - i].tail<3>();
      mirrored.y() *= -1.0;
      CAPTURE(h, row, i, mirrored.transpose());
      CHECK((got.run.end.V_WB[first + i].tail<3>() - mirrored).norm() <= 1e-3 * k_speed);
    }
  }
}
