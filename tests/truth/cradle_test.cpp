// Rows of balls against the impacts of two neighbours at a time: Newton's cradle, inelastic and unequal balls.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/ball_rows.h"
#include "tests/support/watched_run.h"

namespace {

using namespace abut;
using test::BallRow;

/// Speed [m/s] by which that of a ball at the end of a run may be wrong, per 1 m/s of the first: contacts yield
/// by their near-rigid compliance, and balls slower than the impact speed, 3 g h, meet without restitution.
double tolerance_of(double h) { return h < 1e-3 ? 0.002 : h < 5e-3 ? 0.005 : 0.04; }

struct RowRun {
  std::vector<double> speeds, exact;
  double worst = 0.0;     ///< largest error of a speed [m/s]
  double momentum = 0.0;  ///< relative error
  double energy = 0.0;    ///< over that at the start
};

RowRun run_row(const BallRow& row, double h, double seconds) {
  const StepConfig config = test::config_with_step(h);
  const test::TestScene scene = row.scene();
  const test::WatchedRun run = test::watch(scene, config, static_cast<int>(std::lround(seconds / h)));
  REQUIRE(run.status == StepStatus::ok);
  RowRun result;
  result.exact = row.velocities(seconds);
  double before = row.masses[0] * row.speed, after = 0.0, energy = 0.0;
  for (std::size_t i = 0; i < row.masses.size(); ++i) {
    result.speeds.push_back(run.end.V_WB[i][3]);
    result.worst = std::max(result.worst, std::abs(result.speeds[i] - result.exact[i]));
    after += row.masses[i] * result.speeds[i];
    energy += row.masses[i] * result.speeds[i] * result.speeds[i];
  }
  result.momentum = std::abs(after / before - 1.0);
  result.energy = energy / (before * row.speed);
  return result;
}

}  // namespace

TEST_CASE("cradle: of equal elastic balls only the last one leaves, apart by a gap or in contact",
          "[truth][value]") {
  const int count = GENERATE(2, 3, 4, 5, 6, 7);
  const double gap = GENERATE(0.0, 1e-6, 1e-4, 1e-3), h = GENERATE(5e-4, 2e-3, 1e-2);
  const BallRow row{std::vector<double>(static_cast<std::size_t>(count), 1.0), gap};
  const RowRun run = run_row(row, h, 0.3);
  CAPTURE(count, gap, h, run.speeds, run.exact, run.energy);
  REQUIRE(run.exact.back() == Approx(1.0));
  CHECK(run.worst <= tolerance_of(h));
  CHECK(run.momentum <= 1e-9);
  // Balls that rest closer than the law's resting gap drift apart at up to 0.15 g h, before they are struck.
  const double g = 9.81, drift = gap < 0.4 * g * h * h ? 0.15 * g * h : 0.0;
  CHECK(run.energy <= 1.0 + (count - 1) * drift * drift + 1e-9);
}

TEST_CASE("cradle: two balls that come together drive two away", "[truth][value]") {
  const double h = GENERATE(5e-4, 2e-3);
  BallRow row{std::vector<double>(5, 1.0), 1e-4};
  test::TestScene scene = row.scene();  // the second ball follows the first by the same gap
  scene.X_WB(1).p.x() = row.start(0) + 2.0 * BallRow::k_radius + row.gap;
  scene.V_WB(1)[3] = row.speed;
  for (int b = 2; b < 5; ++b) scene.X_WB(b).p.x() += BallRow::k_approach;
  const StepConfig config = test::config_with_step(h);
  const test::WatchedRun run = test::watch(scene, config, static_cast<int>(0.4 / h));
  REQUIRE(run.status == StepStatus::ok);
  for (std::size_t b = 0; b < 5; ++b) {
    CAPTURE(h, b, run.end.V_WB[b][3]);
    CHECK(std::abs(run.end.V_WB[b][3] - (b < 3 ? 0.0 : 1.0)) <= tolerance_of(h));
  }
}

TEST_CASE("cradle: inelastic balls a gap apart end as by impacts of two at a time", "[truth][value]") {
  const int count = GENERATE(3, 4);
  const double gap = GENERATE(1e-4, 1e-3), h = GENERATE(5e-4, 2e-3, 1e-2);
  // At 10 m/s every impact that counts is faster than the impact speed.
  const BallRow row{std::vector<double>(static_cast<std::size_t>(count), 1.0), gap, 0.5, 10.0};
  const RowRun run = run_row(row, h, 0.06);
  CAPTURE(count, gap, h, run.speeds, run.exact);
  CHECK(run.worst <= tolerance_of(h) * row.speed);
  CHECK(run.momentum <= 1e-9);
}

TEST_CASE("cradle: unequal balls a gap apart end as by impacts of two at a time", "[truth][value]") {
  const double restitution = GENERATE(0.8, 1.0), gap = GENERATE(1e-4, 1e-3), h = GENERATE(5e-4, 2e-3, 1e-2);
  const std::vector<double> masses =
      GENERATE(std::vector<double>{1.0, 3.0, 0.5}, std::vector<double>{2.0, 1.0, 0.5, 0.25},
               std::vector<double>{0.25, 1.0, 4.0});
  const BallRow row{masses, gap, restitution, 10.0};
  const RowRun run = run_row(row, h, 0.06);
  CAPTURE(masses, restitution, gap, h, run.speeds, run.exact);
  CHECK(run.worst <= tolerance_of(h) * row.speed);
  CHECK(run.momentum <= 1e-9);
  CHECK(run.energy <= 1.0 + 1e-9);
}

TEST_CASE("cradle: a light ball between heavy ones comes between them in turn if steps are short",
          "[truth][value]") {
  const double restitution = GENERATE(0.8, 1.0), gap = GENERATE(1e-4, 1e-3), h = 5e-4;
  const BallRow row{{1.0, 0.1, 1.0}, gap, restitution, 10.0};
  const RowRun run = run_row(row, h, 0.06);
  CAPTURE(restitution, gap, run.speeds, run.exact);
  CHECK(run.worst <= tolerance_of(h) * row.speed);
}

TEST_CASE("cradle: many impacts of a light ball between heavy ones in one step leave it between them",
          "[truth][property]") {
  const double restitution = GENERATE(0.5, 0.8, 1.0), gap = GENERATE(0.0, 1e-6, 1e-4, 1e-3),
               light = GENERATE(0.1, 0.01, 0.001), h = GENERATE(2e-3, 1e-2);
  const RowRun run = run_row({{1.0, light, 1.0}, gap, restitution, 10.0}, h, 0.06);
  CAPTURE(restitution, gap, light, h, run.speeds, run.exact, run.energy);
  CHECK(run.momentum <= 1e-9);
  CHECK(run.energy <= 1.0 + 1e-9);
  // What is not apart in time is at least not in each other: 60 ms later 1 m/s would be 60 mm.
  for (std::size_t i = 0; i < 2; ++i) CHECK(run.speeds[i] <= run.speeds[i + 1] + 1e-3);
}

TEST_CASE("cradle: a ball thrown at two that touch, between them, comes back at a fifth of its speed",
          "[truth][value]") {
  // Symmetrical, so that both impacts act at once. With n at 30 degrees to the way, impulses P along n reverse
  // the relative velocity: P (1 + 2 cos^2 30)/m = 2 v cos 30, so v_0' = v - 2 P cos 30/m = -v/5, |v_i'| = 2
  // sqrt(3)/5 v.
  const double h = GENERATE(5e-4, 2e-3, 1e-2), r = 0.05, v = 2.0;
  test::TestScene scene;
  scene.model.gravity.setZero();
  const double reach = std::sqrt(3.0) * r;
  scene.add(test::sphere_of_mass(r, 1.0), test::pose_at({-reach - 0.033, 0, 0}), test::moving_at({v, 0, 0}));
  for (const double side : {-1.0, 1.0})
    scene.add(test::sphere_of_mass(r, 1.0), test::pose_at({0, side * (r + 1e-9), 0}));
  scene.set_friction(0.0);
  test::set_restitution(scene, 1.0);
  const StepConfig config = test::config_with_step(h);
  const test::WatchedRun run = test::watch(scene, config, static_cast<int>(0.05 / h));
  REQUIRE(run.status == StepStatus::ok);
  CAPTURE(h, run.end.V_WB[0].transpose(), run.end.V_WB[1].transpose(), run.end.V_WB[2].transpose());
  const double along = 0.6 * v, across = 0.2 * std::sqrt(3.0) * v;  // 2 sqrt(3)/5 (cos 30, sin 30)
  CHECK((run.end.V_WB[0].tail<3>() - Vec3<double>(-0.2 * v, 0, 0)).norm() <= tolerance_of(h) * v);
  CHECK((run.end.V_WB[1].tail<3>() - Vec3<double>(along, -across, 0)).norm() <= tolerance_of(h) * v);
  CHECK((run.end.V_WB[2].tail<3>() - Vec3<double>(along, across, 0)).norm() <= tolerance_of(h) * v);
}

TEST_CASE("cradle: a light ball over a heavy one leaves the floor faster than it came", "[truth][value]") {
  // The heavy one turns round first, then they meet at 2 v: v_light = (3 M - m)/(M + m) v, v_heavy = (M - 3
  // m)/(M + m) v.
  const double ratio = GENERATE(3.0, 10.0, 100.0), h = GENERATE(5e-4, 2e-3, 1e-2), v = 3.0;
  test::TestScene scene = test::floor_scene(0.0);
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.1, ratio), test::pose_at({0, 0, 0.1 + 0.0437}),
            test::moving_at({0, 0, -v}));
  scene.add(test::sphere_of_mass(0.05, 1.0), test::pose_at({0, 0, 0.2501 + 0.0437}),
            test::moving_at({0, 0, -v}));
  scene.set_friction(0.0);
  test::set_restitution(scene, 1.0);
  const StepConfig config = test::config_with_step(h);
  const test::WatchedRun run = test::watch(scene, config, static_cast<int>(0.06 / h));
  REQUIRE(run.status == StepStatus::ok);
  const double heavy = (ratio - 3.0) / (ratio + 1.0) * v, light = (3.0 * ratio - 1.0) / (ratio + 1.0) * v;
  CAPTURE(ratio, h, run.end.V_WB[1][5], heavy, run.end.V_WB[2][5], light);
  CHECK(std::abs(run.end.V_WB[1][5] - heavy) <= tolerance_of(h) * v);
  CHECK(std::abs(run.end.V_WB[2][5] - light) <= tolerance_of(h) * v);
}
