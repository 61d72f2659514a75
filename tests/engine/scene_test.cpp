#include "engine/scene.h"

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/close.h"

using namespace abut;

namespace {

/// Steps of 2 ms from 0; the joints 1 and 3 have motors.
Scene scene_with_motors() {
  Scene scene;
  scene.model.bodies.resize(2);
  scene.model.joints.resize(4);
  scene.model.joints[1].motor.kind = MotorKind::force;
  scene.model.joints[3].motor.kind = MotorKind::velocity;
  scene.config.step.h = 0.002;
  return scene;
}

/// The commands of the second motor, of so many steps.
std::vector<double> commands_of_second(const Scene& scene, int steps) {
  std::vector<double> commands;
  for (const Control& control : controls_of(scene, steps)) commands.push_back(control.commands.at(1));
  return commands;
}

}  // namespace

TEST_CASE("controls_of: a held command changes with the step that starts at its time", "[engine][value]") {
  Scene scene = scene_with_motors();
  scene.commands = {{1, false, {0.0, 0.5, 1.0}, {1.0, -2.0, 3.0}}};
  const std::vector<double> commands = commands_of_second(scene, 600);
  for (std::size_t k = 0; k < commands.size(); ++k) {
    CAPTURE(k);
    CHECK(commands[k] == (k < 250 ? 1.0 : k < 500 ? -2.0 : 3.0));
  }
  // So it does from times that are sums of steps, whose rounding errors add up to either side.
  for (const double h : {0.001, 0.002, 0.1, 1.0 / 3.0}) {
    scene.commands = {{1, false, {0.0, 100 * h, 200 * h}, {1.0, -2.0, 3.0}}};
    double time = 0.0;
    for (int k = 0; k < 300; ++k, time += h) {
      CAPTURE(h, k);
      CHECK(control_at(scene, time, h).commands.at(1) == (k < 100 ? 1.0 : k < 200 ? -2.0 : 3.0));
    }
  }
}

TEST_CASE("controls_of: within a step a held command counts from its middle on", "[engine][value]") {
  Scene scene = scene_with_motors();
  scene.commands = {{1, false, {0.0, 0.0029, 0.0051}, {1.0, 2.0, 3.0}}};
  CHECK(commands_of_second(scene, 4) == std::vector<double>{1.0, 2.0, 2.0, 3.0});
}

TEST_CASE("controls_of: the first command counts before its time, and the last after its own",
          "[engine][value]") {
  Scene scene = scene_with_motors();
  scene.initial.time = -1.0;
  for (const bool is_linear : {false, true}) {
    CAPTURE(is_linear);
    scene.commands = {{1, is_linear, {-0.99, -0.98}, {4.0, 7.0}}};
    const std::vector<double> commands = commands_of_second(scene, 20);
    for (std::size_t k = 0; k < 5; ++k) CHECK(commands[k] == 4.0);
    for (std::size_t k = 10; k < 20; ++k) CHECK(commands[k] == 7.0);
    scene.commands = {{1, is_linear, {0.25}, {-3.0}}};
    CHECK(commands_of_second(scene, 3) == std::vector<double>(3, -3.0));
  }
}

TEST_CASE("controls_of: a linear command is that on the line at the middle of a step", "[engine][value]") {
  Scene scene = scene_with_motors();
  scene.commands = {{1, true, {0.0, 0.01, 0.011}, {1.0, 2.0, -1.0}}};
  const std::vector<double> commands = commands_of_second(scene, 7);
  for (std::size_t k = 0; k < 5; ++k) {
    const double middle = 0.002 * static_cast<double>(k) + 0.001;
    CAPTURE(k);
    CHECK(test::close(commands[k], 1.0 + middle / 0.01, 1e-14, 0));
  }
  CHECK(test::close(commands[5], -1.0, 1e-12, 0));  // its middle is the last time
  CHECK(commands[6] == -1.0);
}

TEST_CASE("controls_of: commands of a motor add up, and a motor without any has zero", "[engine][value]") {
  Scene scene = scene_with_motors();
  CHECK(controls_of(scene, 3).empty());
  scene.commands = {{1, false, {0.0}, {1.0}}, {1, false, {0.0, 0.002}, {0.25, 0.5}}};
  const std::vector<Control> controls = controls_of(scene, 3);
  REQUIRE(controls.size() == 3);
  CHECK(controls[0].commands == std::vector<double>{0.0, 1.25});
  CHECK(controls[1].commands == std::vector<double>{0.0, 1.5});
  CHECK(controls[0].wrenches.empty());

  scene.pushes = {{1, 0.0, 0.002, Vec6<double>::Unit(3)}};
  CHECK(controls_of(scene, 1)[0].wrenches.at(1) == Vec6<double>::Unit(3));
  CHECK(controls_of(scene, 1)[0].commands == std::vector<double>{0.0, 1.25});
  scene.commands.clear();
  CHECK(controls_of(scene, 2)[1].commands.empty());
  CHECK(controls_of(scene, 2)[1].wrenches.size() == 2);
}
