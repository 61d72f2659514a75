// An elastic box that lands on a corner keeps its energy, however it is tilted.
#include <catch2/catch.hpp>

#include <cmath>

#include "tests/support/impacts.h"
#include "tests/support/watched_run.h"

namespace {

using namespace abut;
using test::TestScene;

/// Share of the energy that impacts may lose to the bound on what a group gains. Without it these boxes gain up to 1 %.
constexpr double k_lost = 0.02;

}  // namespace

TEST_CASE("elastic landing: a box that lands on a corner without friction keeps its energy",
          "[truth][value]") {
  const double tilt = GENERATE(0.48, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1), h = GENERATE(2e-3, 5e-4);
  TestScene scene = test::floor_scene();
  scene.model.gravity.setZero();
  scene.add(test::box_of_mass({0.1, 0.08, 0.05}, 1.0, 1), test::pose_at({0, 0, 0.16}, {tilt, 0.1, 0}),
            test::moving_at({0, 0, -2}));
  for (Body& body : scene.model.bodies) body.material.restitution = 1.0;
  scene.set_friction(0.0);
  StepConfig config;
  config.h = h;
  State end;
  const StepReport report =
      simulate(Stepper(scene.model, config), scene.state, static_cast<int>(std::lround(0.1 / h)), {}, end);
  REQUIRE(report.status == StepStatus::ok);
  CAPTURE(tilt, h);
  REQUIRE(end.V_WB[1][5] > 0.0);
  const double before = test::Totals(scene.model, scene.state).energy,
               after = test::Totals(scene.model, end).energy;
  CHECK(after <= (1.0 + 1e-3) * before);
  CHECK(after >= (1.0 - k_lost) * before);
}
