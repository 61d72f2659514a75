#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "dynamics/rollout/rollout.h"
#include "tests/support/close.h"
#include "tests/support/jointed_scenes.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

/// Two stacks, a ball that rolls on a floor that moves, and one that flies alone.
TestScene stacks() {
  TestScene scene = test::floor_scene();
  scene.V_WB(0) = test::moving_at({0.1, 0.02, 0});
  const Vec3<double> half = Vec3<double>::Constant(0.05);
  scene.add(test::box_of_mass(half, 1.0, 2), test::pose_at({0, 0, 0.0499}, {1e-3, 0, 0.1}));
  scene.add(test::box_of_mass(0.8 * half, 0.5, 2), test::pose_at({0.02, 0, 0.1398}, {0, 6e-4, 0.4}));
  scene.add(test::box_of_mass(half, 1.0, 2), test::pose_at({0.3, 0, 0.0499}));
  scene.add(test::box_of_mass(half, 1.0, 2), test::pose_at({0.3, 0.01, 0.1499}, {0, 0, 0.7}));
  scene.add(test::sphere_of_mass(0.05, 0.3), test::pose_at({-0.3, 0, 0.0499}), test::moving_at({0.2, 0, 0}));
  scene.add(test::sphere_of_mass(0.05, 0.3), test::pose_at({0, 3, 2.0}), test::moving_at({0, 0, 1}));
  return scene;
}

/// All rows of d(next state)/d(state): by many losses at once, or by one at a time.
std::vector<StateTangent> jacobian(const Stepper& stepper, const State& state, const State& next,
                                   const StepRecord& record, bool at_once) {
  const int bodies = stepper.model().body_count();
  std::vector<StateTangent> units, rows;
  for (int b = 0; b < bodies; ++b) {
    for (int i = 0; i < 12; ++i) {
      StateTangent& unit = units.emplace_back(bodies);
      (i < 6 ? unit.pose[at(b)][i] : unit.twist[at(b)][i - 6]) = 1.0;
    }
  }
  rows.assign(units.size(), StateTangent(bodies));
  std::vector<std::vector<Vec6<double>>> wrenches(
      units.size(), std::vector<Vec6<double>>(at(bodies), Vec6<double>::Zero()));
  ModelGradient model;
  model.set_zero(stepper.model());
  std::vector<StepBar> bars;
  for (std::size_t r = 0; r < units.size(); ++r)
    bars.push_back({&units[r], &rows[r], wrenches[r], &model, {false, false, false}});
  StepScratch scratch;
  for (std::size_t r = 0; r < bars.size() && !at_once; ++r)
    (void)stepper.step_vjp(state, {}, next, record, {&bars[r], 1}, scratch);
  if (at_once) (void)stepper.step_vjp(state, {}, next, record, bars, scratch);
  for (std::size_t r = 0; r < rows.size(); ++r) {  // by the wrenches, too
    for (std::size_t b = 0; b < at(bodies); ++b) rows[r].twist[b] += wrenches[r][b];
  }
  return rows;
}

void check_jacobians(const TestScene& scene, const StepConfig& config, int steps) {
  const Stepper stepper(scene.model, config);
  for (const Tape tape : {Tape::lean, Tape::full}) {
    State state = scene.state;
    StepScratch scratch;
    for (int k = 0; k < steps; ++k) {
      State next;
      StepRecord record;
      REQUIRE(stepper.step(state, {}, next, scratch, &record, tape).status == StepStatus::ok);
      const auto expected = jacobian(stepper, state, next, record, false),
                 found = jacobian(stepper, state, next, record, true);
      for (std::size_t r = 0; r < expected.size(); ++r) {
        double scale = 0.0;
        for (std::size_t b = 0; b < expected[r].pose.size(); ++b) {
          scale = std::max(
              {scale, expected[r].pose[b].cwiseAbs().maxCoeff(), expected[r].twist[b].cwiseAbs().maxCoeff()});
        }
        for (std::size_t b = 0; b < expected[r].pose.size(); ++b) {
          CAPTURE(k, r, b, tape == Tape::full);
          CHECK(test::close(found[r].pose[b], expected[r].pose[b], 1e-9, 1e-10 * scale));
          CHECK(test::close(found[r].twist[b], expected[r].twist[b], 1e-9, 1e-10 * scale));
        }
      }
      state = next;
    }
  }
}

}  // namespace

TEST_CASE("step_vjp: all losses at once have the Jacobian of one at a time", "[dynamics][derivative]") {
  TestScene scene = stacks();
  StepConfig config;
  SECTION("stacks") {}
  SECTION("impacts") { scene.body(5).material.restitution = 0.7; }
  SECTION("blended contacts") { config.contact.reduction = Reduction::blend; }
  SECTION("clustered contacts") { config.contact.reduction = Reduction::cluster; }
  SECTION("another law") { config.law = ContactLaw::convex_cone; }
  SECTION("GJK") { config.contact.detector = DetectorKind::gjk; }
  SECTION("no friction") { scene.set_friction(0.0); }
  check_jacobians(scene, config, 3);
}

TEST_CASE("step_vjp: all losses at once have the Jacobian of one at a time, joints included",
          "[dynamics][derivative]") {
  for (int seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    StepConfig config;
    check_jacobians(test::random_jointed_scene(seed), config, 2);
  }
}
