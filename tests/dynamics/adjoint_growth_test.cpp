/// What is called chaotic: growth of the adjoint beyond that of free motion.

#include "dynamics/rollout/adjoint_growth.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "dynamics/rollout/adjoint.h"
#include "engine/scene_io.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

using test::TestScene;

enum class LossOf { last_positions, last_velocities, all_heights };

GradientHealth health_of(const Model& model, const StepConfig& config, const State& initial, int steps,
                         LossOf loss_of = LossOf::last_positions) {
  const Stepper stepper(model, config);
  const Trajectory trajectory = rollout(stepper, initial, steps);
  REQUIRE(trajectory.ok());
  return adjoint(stepper, trajectory,
                 [&](int k, const State& state, StateTangent& bar) {
                   for (std::size_t b = 0; b < model.bodies.size(); ++b) {
                     if (model.bodies[b].fixed) continue;
                     if (loss_of == LossOf::last_positions && k == steps)
                       bar.pose[b] += Vec6<double>::Constant(1.0);
                     if (loss_of == LossOf::last_velocities && k == steps)
                       bar.twist[b] += Vec6<double>::Constant(1.0);
                     // Squares of a height above where it ends: no loss at the end, and ever more before it.
                     if (loss_of == LossOf::all_heights)
                       bar.pose[b][5] += state.X_WB[b].p.z() - trajectory.states.back().X_WB[b].p.z();
                   }
                 })
      .health;
}

GradientHealth health_of(const TestScene& scene, int steps, LossOf loss_of = LossOf::last_positions) {
  StepConfig config;
  config.h = 2e-3;
  return health_of(scene.model, config, scene.state, steps, loss_of);
}

bool is_called_chaotic(const GradientHealth& health) {
  return std::any_of(health.warnings.begin(), health.warnings.end(), [](const GradientWarning& warning) {
    return warning.kind == GradientWarning::Kind::chaos;
  });
}

Joint hinge_about_y(const Vec3<double>& p_W, const Vec3<double>& p_B) {
  Joint joint;
  joint.name = "hinge";
  joint.kind = JointKind::hinge;
  joint.body_B = 0;
  joint.X_AJ = test::pose_at(p_W, {-1.5707963267948966, 0.0, 0.0});
  joint.X_BJ = test::pose_at(p_B, {-1.5707963267948966, 0.0, 0.0});
  return joint;
}

TEST_CASE("AdjointGrowth: a flight of ten seconds has a growth of 1", "[dynamics][property]") {
  const LossOf loss = GENERATE(LossOf::last_positions, LossOf::last_velocities, LossOf::all_heights);
  TestScene scene;
  scene.add(test::sphere_of_mass(0.02, 1.0), {}, test::moving_at({1.0, 0.0, 20.0}));
  const GradientHealth health = health_of(scene, 6000, loss);
  CAPTURE(static_cast<int>(loss), health.growth_over_free);
  CHECK(health.growth_over_free == Approx(1.0).margin(0.01));
  CHECK_FALSE(is_called_chaotic(health));
}

TEST_CASE("AdjointGrowth: a body that turns over and over in flight is not called chaotic",
          "[dynamics][property]") {
  TestScene scene;
  Vec6<double> V;
  V << 8.0, 1.0, 3.0, 0.0, 0.0, 40.0;
  scene.add(test::box_of_mass({0.1, 0.2, 0.3}, 2.0), {}, V);
  const GradientHealth health = health_of(scene, 5000);
  CAPTURE(health.growth_over_free);
  CHECK(health.growth_over_free < 100.0);
  CHECK_FALSE(is_called_chaotic(health));
}

TEST_CASE("AdjointGrowth: a pendulum is not called chaotic", "[dynamics][property]") {
  TestScene scene;
  scene.add(test::box_of_mass({0.05, 0.05, 0.2}, 1.0, 1));
  scene.model.joints.push_back(hinge_about_y({0.0, 0.0, 0.2}, {0.0, 0.0, 0.2}));
  scene.V_WB(0) << 0.0, 4.0, 0.0, -0.8, 0.0, 0.0;
  const GradientHealth health = health_of(scene, 5000);
  CAPTURE(health.growth_over_free);
  CHECK_FALSE(is_called_chaotic(health));
}

TEST_CASE("AdjointGrowth: stacks at rest and a box that slides are not called chaotic",
          "[dynamics][property]") {
  const std::string name = GENERATE("box_stack", "box_slide", "box_on_box", "pendulum");
  const LossOf loss = GENERATE(LossOf::last_positions, LossOf::all_heights);
  const Scene scene = read_scene(std::string(ABUT_SOURCE_DIR) + "/assets/scenes/" + name + ".toml");
  const GradientHealth health =
      health_of(scene.model, scene.config.step, scene.initial, scene.config.steps, loss);
  CAPTURE(name, static_cast<int>(loss), health.growth_over_free);
  CHECK_FALSE(is_called_chaotic(health));
}

TEST_CASE("AdjointGrowth: a ball that bounces for five seconds is not called chaotic",
          "[dynamics][property]") {
  TestScene scene = test::floor_scene(0.5);
  scene.add(test::sphere_of_mass(0.05, 1.0), test::pose_at({0.0, 0.0, 0.5}),
            test::moving_at({1.0, 0.0, 0.0}));
  for (Body& body : scene.model.bodies) body.material.restitution = 0.9;
  const GradientHealth health = health_of(scene, 2500);
  CAPTURE(health.growth_over_free);
  CHECK_FALSE(is_called_chaotic(health));
}

TEST_CASE("AdjointGrowth: a box that tumbles down a slope is called chaotic", "[dynamics][property]") {
  const std::uint64_t seed = GENERATE(1, 3);
  Random random(seed);
  TestScene scene = test::floor_scene(0.5, 0.6);
  Vec6<double> V;
  V << 3.0, 8.0, 2.0, 2.0, 0.0, 0.0;
  for (double& v : V) v += random.uniform(-1.0, 1.0);
  scene.add(test::box_of_mass({0.1, 0.15, 0.2}, 1.0, 1), test::pose_at({0.0, 0.0, 0.5}, {0.3, 0.4, 0.2}), V);
  const GradientHealth health = health_of(scene, 1500);
  CAPTURE(seed, health.growth_over_free);
  CHECK(health.growth_over_free > 1e4);
  CHECK(is_called_chaotic(health));
}

}  // namespace
}  // namespace abut
