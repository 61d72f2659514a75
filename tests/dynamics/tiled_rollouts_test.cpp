#include "dynamics/tiled_rollouts.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "dynamics/rollout/position_feedback.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

constexpr int k_tiled_steps = 25, k_tiled_bodies = 3;

/// A box that slides over a floor into a ball; the asset's frame of the box is not at its centre of mass.
ParameterizedScene tiled_scene(const std::vector<std::string>& parameters) {
  TestScene made = floor_scene();
  made.add(box_of_mass({0.06, 0.05, 0.04}, 0.8), pose_at({0.0, 0.0, 0.0405}, {0.02, 0.01, 0.3}),
           moving_at({0.8, 0.1, 0}));
  made.add(sphere_of_mass(0.05, 0.5), pose_at({0.118, 0.01, 0.0495}, {0.1, -0.2, 0.4}),
           moving_at({-0.6, 0, 0}));
  const char* const names[] = {"floor", "box", "ball"};
  for (int b = 0; b < k_tiled_bodies; ++b) {
    made.body(b).name = names[b];
    made.body(b).material.stiffness = 3e3;
    made.body(b).material.dissipation_time = 0.01;
  }
  made.body(1).p_BA = Vec3<double>(0.03, -0.02, 0.01);
  Scene scene;
  scene.name = "tiled";
  scene.model = made.model;
  scene.initial = made.state;
  scene.config.step.tolerance = 1e-12;  // the default is 19 times what differences of 1e-7 may be off by
  ParameterizedScene parameterized(scene);
  for (const std::string& name : parameters) parameterized.add_parameter(name);
  parameterized.prepare();
  return parameterized;
}

std::vector<double> tiled_random(Random& random, std::size_t count, double size) {
  std::vector<double> numbers(count);
  for (double& number : numbers) number = random.uniform(-size, size);
  return numbers;
}

/// The sum of all states' numbers, weighted; `weights` has as many as one array of them all.
double tiled_loss(const TiledRollouts& rollouts, const StateArrays& weights) {
  double sum = 0.0;
  const auto add = [&](const SharedArray<double>& array, const SharedArray<double>& weight) {
    for (std::size_t i = 0; i < array.size(); ++i) sum += array.data()[i] * weight.data()[i];
  };
  add(rollouts.states.position, weights.position);
  add(rollouts.states.orientation_wxyz, weights.orientation_wxyz);
  add(rollouts.states.linear_velocity, weights.linear_velocity);
  add(rollouts.states.angular_velocity, weights.angular_velocity);
  return sum;
}

StateArrays tiled_weights(Random& random, const TiledRollouts& rollouts) {
  StateArrays weights({at(rollouts.worlds), at(rollouts.steps) + 1}, k_tiled_bodies, 0);
  for (const SharedArray<double>* array :
       {&weights.position, &weights.orientation_wxyz, &weights.linear_velocity, &weights.angular_velocity}) {
    for (std::size_t i = 0; i < array->size(); ++i) array->data()[i] = random.uniform(-1.0, 1.0);
  }
  return weights;
}

StateNumbers<const double> tiled_constant(const StateArrays& arrays) {
  const StateNumbers<double> numbers = arrays.numbers();
  return {numbers.position, numbers.orientation_wxyz, numbers.linear_velocity, numbers.angular_velocity};
}

}  // namespace

TEST_CASE("tiled_rollouts: gives the bits of single rollouts on 1, 2 and 5 threads, recorded or not",
          "[dynamics][determinism]") {
  const ParameterizedScene scene = tiled_scene({"body.box.friction", "body.ball.mass"});
  const std::vector<double> values{0.2, 0.5, 0.4, 0.3, 0.6, 0.9, 0.1, 0.7};
  constexpr int k_worlds = 4;
  Random random(8);
  const std::vector<double> controls = tiled_random(random, at(k_tiled_steps) * k_tiled_bodies * 6, 0.5);
  TiledInputs inputs;
  inputs.worlds = k_worlds;
  inputs.steps = k_tiled_steps;
  inputs.values = {values, k_worlds};
  inputs.controls = {controls, 1};
  inputs.control_steps = k_tiled_steps;
  for (const int threads : {1, 2, 5}) {
    const bool record = threads != 2;
    const TiledRollouts rollouts = tiled_rollouts(scene, inputs, {threads, record});
    CHECK(rollouts.first_failed() == -1);
    for (int w = 0; w < k_worlds; ++w) {
      CAPTURE(threads, w);
      const Scene changed = scene.with(std::span(values).subspan(2 * at(w), 2));
      Controls expected_controls(k_tiled_steps, test::zero_wrenches(k_tiled_bodies));
      for (std::size_t k = 0; k < at(k_tiled_steps); ++k) {
        for (std::size_t b = 0; b < k_tiled_bodies; ++b)
          expected_controls[k].wrenches[b] =
              Eigen::Map<const Vec6<double>>(controls.data() + 6 * (k * k_tiled_bodies + b));
      }
      const Trajectory expected = Simulator(changed.model, changed.config.step)
                                      .rollout(changed.initial, k_tiled_steps, expected_controls);
      std::vector<double> position(3 * k_tiled_bodies);
      int differing = 0;
      for (std::size_t k = 0; k <= at(k_tiled_steps); ++k) {
        write_state(changed.model, expected.states[k], {position.data(), nullptr, nullptr, nullptr});
        const double* const got =
            rollouts.states.position.data() + (at(w) * (at(k_tiled_steps) + 1) + k) * 3 * k_tiled_bodies;
        for (std::size_t i = 0; i < position.size(); ++i) differing += position[i] != got[i];
      }
      CHECK(differing == 0);
    }
  }
}

TEST_CASE("tiled_rollouts: an input of one world, and controls of one step, stand for all",
          "[dynamics][batch]") {
  const ParameterizedScene scene = tiled_scene({"body.box.friction"});
  Random random(9);
  const std::vector<double> wrench = tiled_random(random, 6 * k_tiled_bodies, 0.5);
  std::vector<double> all;
  for (int k = 0; k < 2 * k_tiled_steps; ++k) all.insert(all.end(), wrench.begin(), wrench.end());
  const std::vector<double> one{0.3}, two{0.3, 0.3};
  TiledInputs tiled;
  tiled.worlds = 2;
  tiled.steps = k_tiled_steps;
  TiledInputs whole = tiled;
  tiled.values = {one, 1};
  tiled.controls = {wrench, 1};
  tiled.control_steps = 1;
  whole.values = {two, 2};
  whole.controls = {all, 2};
  whole.control_steps = k_tiled_steps;
  const SharedArray<double> a = tiled_rollouts(scene, tiled).states.position,
                            b = tiled_rollouts(scene, whole).states.position;
  REQUIRE(a.shape == std::vector<std::size_t>{2, k_tiled_steps + 1, k_tiled_bodies, 3});
  REQUIRE(a.shape == b.shape);
  int differing = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differing += a.data()[i] != b.data()[i];
  CHECK(differing == 0);
}

TEST_CASE("tiled_rollouts: refuses what does not fit, and names the world", "[dynamics][value]") {
  const ParameterizedScene scene = tiled_scene({"body.box.friction", "body.box.linear_velocity.x"});
  const std::vector<double> numbers{0.3, 1.0, -0.1, 1.0}, positions(3 * k_tiled_bodies, 1.0);
  TiledInputs inputs;
  inputs.worlds = 2;
  inputs.steps = 1;
  inputs.values = {numbers, 2};
  CHECK_THROWS_WITH(tiled_rollouts(scene, inputs),
                    "world 1: 'body.box.friction' = -0.1, allowed: >= 0, finite");
  inputs.values = {numbers, 4};
  CHECK_THROWS_AS(tiled_rollouts(scene, inputs), std::invalid_argument);
  inputs.values = {};
  inputs.position = {positions, 1};
  CHECK_THROWS_WITH(tiled_rollouts(scene, inputs),
                    "the initial state is given twice: by arrays, and by 'body.box.linear_velocity.x'");
}

TEST_CASE(
    "tiled_rollouts: a world that fails is NaN from there on, with its gradient; others are not disturbed",
    "[dynamics][value]") {
  const ParameterizedScene scene = tiled_scene({"body.box.friction"});
  constexpr std::size_t k_failing = 7;
  std::vector<double> controls(2 * at(k_tiled_steps) * k_tiled_bodies * 6, 0.0);
  controls[(at(k_tiled_steps) + k_failing) * k_tiled_bodies * 6 + 6] = std::nan("");
  TiledInputs inputs;
  inputs.worlds = 2;
  inputs.steps = k_tiled_steps;
  inputs.controls = {controls, 2};
  inputs.control_steps = k_tiled_steps;
  const TiledRollouts rollouts = tiled_rollouts(scene, inputs);
  CHECK(rollouts.first_failed() == 1);
  CHECK(rollouts.world[1].steps == k_failing);
  const auto energy = [&](std::size_t world, std::size_t k) {
    return rollouts.energy.data()[world * (at(k_tiled_steps) + 1) + k];
  };
  CHECK(std::isfinite(energy(0, at(k_tiled_steps))));
  CHECK(std::isfinite(energy(1, k_failing)));
  CHECK(std::isnan(energy(1, k_failing + 1)));
  Random random(10);
  const StateArrays weights = tiled_weights(random, rollouts);
  const TiledGradients gradients = tiled_gradients(scene, rollouts, tiled_constant(weights));
  CHECK(std::isfinite(gradients.values.data()[0]));
  CHECK(std::isnan(gradients.values.data()[1]));
  CHECK(std::isnan(gradients.initial.position.data()[3 * k_tiled_bodies]));
  // A loss without the failed world has a gradient: 0 by its inputs.
  const auto clear = [](const SharedArray<double>& array) {
    std::fill(array.data() + array.size() / 2, array.data() + array.size(), 0.0);
  };
  clear(weights.position);
  clear(weights.orientation_wxyz);
  clear(weights.linear_velocity);
  clear(weights.angular_velocity);
  const TiledGradients of_first = tiled_gradients(scene, rollouts, tiled_constant(weights));
  CHECK(of_first.values.data()[0] == gradients.values.data()[0]);
  CHECK(of_first.values.data()[1] == 0.0);
  CHECK(of_first.initial.position.data()[3 * k_tiled_bodies] == 0.0);
  CHECK(of_first.controls.data()[of_first.controls.size() - 1] == 0.0);
  weights.position.data()[weights.position.size() / 2] = 1.0;
  CHECK(std::isnan(tiled_gradients(scene, rollouts, tiled_constant(weights)).values.data()[1]));
  CHECK_THROWS_AS(tiled_gradients(scene, tiled_rollouts(scene, inputs, {0, false}), tiled_constant(weights)),
                  std::logic_error);
}

TEST_CASE("tiled_gradients: full records, as many as a world's memory holds, give the same but for rounding",
          "[dynamics][derivative]") {
  const ParameterizedScene scene = tiled_scene({"body.box.friction", "body.ball.mass"});
  Random random(12);
  TiledInputs inputs;
  inputs.worlds = 2;
  inputs.steps = k_tiled_steps;
  const TiledRollouts lean = tiled_rollouts(scene, inputs);
  const StateArrays weights = tiled_weights(random, lean);
  const TiledGradients expected = tiled_gradients(scene, lean, tiled_constant(weights));
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1} << 20}) {
    const TiledRollouts rollouts = tiled_rollouts(scene, inputs, {0, true, bytes});
    for (const TiledRollouts::World& world : rollouts.world) {
      int full = 0;
      for (const StepRecord& record : world.trajectory.records)
        full += record.substeps.front().tape != nullptr;
      CHECK(full == (bytes == 1 ? 1 : k_tiled_steps));
    }
    const TiledGradients gradients = tiled_gradients(scene, rollouts, tiled_constant(weights));
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(close(gradients.values.data()[i], expected.values.data()[i], 1e-9, 1e-12));
  }
}

TEST_CASE("tiled_gradients: agree with differences by parameters, controls and initial state",
          "[dynamics][derivative]") {
  Random random(11);
  constexpr int k_worlds = 2;
  TiledInputs inputs;
  inputs.worlds = k_worlds;
  inputs.steps = k_tiled_steps;
  std::vector<double> controls =
      tiled_random(random, at(k_worlds) * at(k_tiled_steps) * k_tiled_bodies * 6, 0.3);
  inputs.controls = {controls, k_worlds};
  inputs.control_steps = k_tiled_steps;
  // Checks a derivative of the loss with respect to one number of the inputs. Derivatives are up to 1,600 and noise of
  // the loss is up to 1e-11: no single step of differences resolves all of them.
  const auto check_derivative = [&](double derivative, const ParameterizedScene& scene,
                                    const StateArrays& weights, double& number) {
    constexpr double k_h = 1e-6, k_rtol = 2e-5, k_atol = 2e-6;
    const double before = number;
    const auto loss = [&](double x) {
      number = x;
      return tiled_loss(tiled_rollouts(scene, inputs, {1, false}), weights);
    };
    const SweptDerivative difference = fd_sweep(loss, before, k_h, k_rtol, k_atol);
    number = before;
    CAPTURE(derivative, difference.value, difference.error);
    CHECK(difference.error <= k_rtol * std::abs(difference.value) + k_atol);
    CHECK(close(derivative, difference.value, k_rtol, k_atol));
  };

  SECTION("parameters and controls") {
    const std::vector<std::string> names{"body.box.friction", "body.ball.mass", "body.box.center_of_mass.x",
                                         "simulation.time_step", "body.box.linear_velocity.x"};
    const ParameterizedScene scene = tiled_scene(names);
    std::vector<double> values{0.4, 0.5, -0.031, 0.002, 0.8, 0.3, 0.6, -0.028, 0.001, 0.7};
    inputs.values = {values, k_worlds};
    const TiledRollouts rollouts = tiled_rollouts(scene, inputs);
    const StateArrays weights = tiled_weights(random, rollouts);
    const TiledGradients gradients = tiled_gradients(scene, rollouts, tiled_constant(weights), 2);
    for (std::size_t i = 0; i < values.size(); ++i) {
      CAPTURE(i);
      if (names[i % names.size()] == "simulation.time_step") {
        CHECK(std::isnan(gradients.values.data()[i]));
        continue;
      }
      check_derivative(gradients.values.data()[i], scene, weights, values[i]);
    }
    for (const std::size_t i : {std::size_t{6}, std::size_t{9}, std::size_t{31}, controls.size() - 20}) {
      CAPTURE(i);
      check_derivative(gradients.controls.data()[i], scene, weights, controls[i]);
    }
    CHECK(gradients.health[0].contacts > 0);
  }

  SECTION("gains of a feedback beside controls") {
    const ParameterizedScene scene = tiled_scene({"body.box.friction"});
    const Policy policy = position_feedback(1, Vec3<double>(0.05, 0.02, 0.04));
    std::vector<double> gains{20.0, 10.0, 5.0, 2.0, 1.0, 0.5, 40.0, 30.0, 0.0, 4.0, 3.0, 0.0}, friction{0.4};
    inputs.values = {friction, 1};
    inputs.policy = &policy;
    CHECK_THROWS_WITH(tiled_rollouts(scene, inputs), "a policy without its parameters");
    inputs.policy_parameters = {gains, k_worlds};
    const TiledRollouts rollouts = tiled_rollouts(scene, inputs);
    const StateArrays weights = tiled_weights(random, rollouts);
    const TiledGradients gradients = tiled_gradients(scene, rollouts, tiled_constant(weights), 2);
    for (std::size_t i = 0; i < gains.size(); ++i) {
      CAPTURE(i);
      check_derivative(gradients.policy_parameters.data()[i], scene, weights, gains[i]);
    }
    const double by_all = gradients.values.data()[0] + gradients.values.data()[1];
    check_derivative(by_all, scene, weights, friction[0]);
  }

  SECTION("the initial state") {
    const ParameterizedScene scene = tiled_scene({});
    const State& initial = scene.scene().initial;
    StateArrays start({at(k_worlds)}, k_tiled_bodies, 0);
    for (std::size_t w = 0; w < at(k_worlds); ++w)
      write_state(scene.scene().model, initial, start.numbers().at_row(w, k_tiled_bodies, 0));
    for (std::size_t i = 0; i < start.orientation_wxyz.size(); ++i) start.orientation_wxyz.data()[i] *= 1.1;
    const auto rows = [&](const SharedArray<double>& array) {
      return TiledRows{{array.data(), array.size()}, at(k_worlds)};
    };
    inputs.position = rows(start.position);
    inputs.orientation_wxyz = rows(start.orientation_wxyz);
    inputs.linear_velocity = rows(start.linear_velocity);
    inputs.angular_velocity = rows(start.angular_velocity);
    const TiledRollouts rollouts = tiled_rollouts(scene, inputs);
    const StateArrays weights = tiled_weights(random, rollouts);
    const TiledGradients gradients = tiled_gradients(scene, rollouts, tiled_constant(weights), 1);
    const auto check = [&](const SharedArray<double>& gradient, const SharedArray<double>& numbers,
                           std::size_t width) {
      for (std::size_t i = width; i < 3 * width; ++i) {  // the box and the ball of the first world
        CAPTURE(width, i);
        check_derivative(gradient.data()[i], scene, weights, numbers.data()[i]);
      }
    };
    check(gradients.initial.position, start.position, 3);
    check(gradients.initial.orientation_wxyz, start.orientation_wxyz, 4);
    check(gradients.initial.linear_velocity, start.linear_velocity, 3);
    check(gradients.initial.angular_velocity, start.angular_velocity, 3);
  }
}

}  // namespace abut::test
