/// What is called chaotic: growth of the adjoint beyond that of free motion.

#include "dynamics/rollout/adjoint_growth.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

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

/// Where a body ends along x: what the gradient by its initial velocity predicts for a velocity 1 % larger or smaller, and
/// what a simulation gives.
struct Prediction {
  double predicted = 0.0, ahead = 0.0, behind = 0.0;
  bool is_warned = false;

  [[nodiscard]] bool is_right_to_half() const {
    const auto is_near = [&](double simulated) {
      return std::abs(simulated - predicted) <= 0.5 * std::max(std::abs(simulated), std::abs(predicted));
    };
    return is_near(ahead) && is_near(behind);
  }
};

Prediction prediction_of(const TestScene& scene, std::size_t body, int steps) {
  const Stepper stepper(scene.model, {});
  const Trajectory trajectory = rollout(stepper, scene.state, steps);
  REQUIRE(trajectory.ok());
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    if (k == steps) bar.pose[body][3] += 1.0;
  });
  const Vec6<double> change = 0.01 * scene.state.V_WB[body];
  const auto end_after = [&](double factor) {
    State start = scene.state, end;
    start.V_WB[body] += factor * change;
    CHECK(simulate(stepper, start, steps, {}, end).status == StepStatus::ok);
    return end.X_WB[body].p.x();
  };
  const double here = trajectory.states.back().X_WB[body].p.x();
  return {gradient.initial.twist[body].dot(change), end_after(1.0) - here, here - end_after(-1.0),
          is_called_chaotic(gradient.health)};
}

TEST_CASE("adjoint: what predicts a change of 1 % right comes without a warning", "[dynamics][value]") {
  const bool is_slide = GENERATE(true, false);
  const Vec3<double> half = Vec3<double>::Constant(0.05);
  TestScene scene = is_slide ? test::box_on_floor(test::box_of_mass(half, 1.0), half, 0.4, 0.0, 1.5)
                             : test::stack_scene(3, 0.1, 1.0);
  if (!is_slide) scene.V_WB(3)[3] = 0.5;
  const auto body = static_cast<std::size_t>(scene.model.body_count() - 1);
  const Prediction prediction = prediction_of(scene, body, 250);
  CAPTURE(is_slide, prediction.predicted, prediction.ahead, prediction.behind);
  CHECK(prediction.predicted > 1e-4);
  CHECK(prediction.is_right_to_half());
  CHECK_FALSE(prediction.is_warned);
}

TEST_CASE("adjoint: what predicts a change of 1 % wrong because the motion is chaotic comes with a warning",
          "[dynamics][value]") {
  const bool is_billiard = GENERATE(true, false);
  TestScene scene;
  if (is_billiard) {  // a ball between four round walls
    scene.model.gravity.setZero();
    scene.add(test::sphere_of_mass(0.02, 1.0), test::pose_at({0.01, 0.02, 0}), test::moving_at({3, 1.3, 0}));
    for (const auto& [x, y] : {std::pair(0.3, 0.0), {-0.3, 0.0}, {0.0, 0.3}, {0.0, -0.3}}) {
      Body wall = test::sphere_of_mass(0.2, 1.0);
      wall.fixed = true;
      scene.add(std::move(wall), test::pose_at({x, y, 0}));
    }
    for (Body& body : scene.model.bodies) body.material.restitution = 1.0;
    scene.set_friction(0.0);
  } else {  // a box that tumbles down a slope
    scene = test::floor_scene(0.5, 0.6);
    Vec6<double> V;
    V << 3.0, 8.0, 2.0, 2.0, 0.0, 0.0;
    scene.add(test::box_of_mass({0.1, 0.15, 0.2}, 1.0, 1), test::pose_at({0.0, 0.0, 0.5}, {0.3, 0.4, 0.2}),
              V);
  }
  const Prediction prediction = prediction_of(scene, is_billiard ? 0 : 1, is_billiard ? 800 : 1500);
  CAPTURE(is_billiard, prediction.predicted, prediction.ahead, prediction.behind);
  CHECK_FALSE(prediction.is_right_to_half());
  CHECK(prediction.is_warned);
}

}  // namespace
}  // namespace abut
