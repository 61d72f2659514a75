#include "apps/identification/plan_files.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

#include "dynamics/parameters/scene_parameter.h"
#include "dynamics/rollout/rollout.h"
#include "engine/input_error.h"
#include "engine/scene_writer.h"
#include "tests/apps/program.h"

namespace abut::test {

using Catch::Contains;
namespace fs = std::filesystem;

TEST_CASE("pushes_of: one for each run of steps that feel the same", "[apps][value]") {
  const Vec6<double> none = Vec6<double>::Zero(), x = Vec6<double>::Unit(3), z = Vec6<double>::Unit(5);
  const Controls controls{{{none, x}}, {{none, x}}, {{none, none}}, {{z, x}}, {{z, z}}};
  const std::vector<Push> pushes = pushes_of(controls, 1.0, 0.5);
  REQUIRE(pushes.size() == 4);
  CHECK(pushes[0].body == 0);
  CHECK(pushes[0].from == 2.5);
  CHECK(pushes[0].until == 3.5);
  CHECK(pushes[1].until == 2.0);
  CHECK(pushes[3].wrench == z);
  // Read as a scene, they are the controls again.
  Scene scene;
  scene.model.bodies.resize(2);
  scene.config.step.h = 0.5;
  scene.initial.time = 1.0;
  scene.pushes = pushes;
  const Controls again = controls_of(scene, 5);
  REQUIRE(again.size() == controls.size());
  for (std::size_t k = 0; k < again.size(); ++k) {
    CHECK(again[k].wrenches == controls[k].wrenches);
    CHECK(again[k].commands.empty());
  }
  CHECK(pushes_of({}, 0.0, 0.1).empty());
  CHECK(pushes_of({{{}, {1.0}}}, 0.0, 0.1).empty());
}

TEST_CASE("commands_of: one table for each motor with commands, with a time at each change",
          "[apps][value]") {
  Scene scene;
  scene.model.joints.resize(5);
  for (const std::size_t j : {0, 2, 3}) scene.model.joints[j].motor.kind = MotorKind::velocity;
  scene.config.step.h = 0.1;
  scene.initial.time = 7.3;
  const Controls controls{
      {{}, {0, 0, 1}}, {{}, {0, 0, 1}}, {{}, {2, 0, 1}}, {{}, {0, 0, 1}}, {{}, {0, 0, 1}}};
  scene.commands = commands_of(controls, scene.model, 7.3, 0.1);
  REQUIRE(scene.commands.size() == 2);
  CHECK(scene.commands[0].motor == 0);
  CHECK(scene.commands[0].times == std::vector<double>{7.3, 7.3 + 2 * 0.1, 7.3 + 3 * 0.1});
  CHECK(scene.commands[0].values == std::vector<double>{0, 2, 0});
  CHECK_FALSE(scene.commands[0].is_linear);
  CHECK(scene.commands[1].motor == 2);
  CHECK(scene.commands[1].times == std::vector<double>{7.3});
  CHECK(scene.commands[1].values == std::vector<double>{1});
  // Read as a scene, they are the controls again.
  const Controls again = controls_of(scene, 5);
  REQUIRE(again.size() == controls.size());
  for (std::size_t k = 0; k < again.size(); ++k) CHECK(again[k].commands == controls[k].commands);
  CHECK(commands_of({}, scene.model, 0.0, 0.1).empty());
  CHECK(commands_of({{{Vec6<double>::Unit(3)}, {}}}, scene.model, 0.0, 0.1).empty());
  CHECK(commands_of({{{}, {0, 0, 0}}}, scene.model, 0.0, 0.1).empty());
}

TEST_CASE("commands_of: a linear command is replayed step by step", "[apps][property]") {
  Scene scene;
  scene.model.joints.resize(1);
  scene.model.joints[0].motor.kind = MotorKind::force;
  scene.config.step.h = 1.0 / 3.0;
  scene.initial.time = -2.1;
  scene.commands = {{0, true, {-1.0, 20.0, 21.0}, {0.5, -3.0, 8.0}}};
  const Controls controls = controls_of(scene, 90);
  Scene replayed = scene;
  replayed.commands = commands_of(controls, scene.model, scene.initial.time, scene.config.step.h);
  REQUIRE(replayed.commands.size() == 1);
  CHECK(replayed.commands[0].times.size() > 60);
  CHECK(replayed.commands[0].times.size() < 80);
  const Controls again = controls_of(replayed, 90);
  for (std::size_t k = 0; k < again.size(); ++k) CHECK(again[k].commands == controls[k].commands);
}

TEST_CASE("read_scene: pushes are read, and mistakes in them named", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string push = "[[push]]\nbody = \"ball\"\nuntil = 0.01\nforce = [1, 2, 3]\ntorque = [0, 0, 4]\n";
  const Scene scene = read_scene(folder.write("scene.toml", k_scene + push));
  REQUIRE(scene.pushes.size() == 1);
  CHECK(scene.pushes[0].body == 2);
  CHECK(scene.pushes[0].wrench.tail<3>() == Vec3<double>(1, 2, 3));
  const std::vector<Control> controls = controls_of(scene, 8);  // of 2 ms
  CHECK(controls[4].wrenches[2] == scene.pushes[0].wrench);
  CHECK(controls[5].wrenches[2].isZero(0.0));
  CHECK(controls_of(read_scene(folder.write("none.toml", k_scene)), 8).empty());
  const auto complaint = [&](const std::string& text) {
    try {
      (void)read_scene(folder.write("bad.toml", k_scene + text));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(complaint("[[push]]\nbody = \"bal\"\nuntil = 1\n"), Contains("did you mean 'ball'"));
  CHECK_THAT(complaint("[[push]]\nbody = \"floor\"\nuntil = 1\n"), Contains("fixed body"));
  CHECK_THAT(complaint("[[push]]\nbody = \"ball\"\nuntil = 1\n"), Contains("'force' or 'torque'"));
  CHECK_THAT(complaint("[[push]]\nbody = \"ball\"\nuntil = 0\n"), Contains("until"));
}

TEST_CASE("write_scene_at: a scene with other numbers reads back with them", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string pair = "[[pair]]\nbodies = [\"ball\", \"floor\"]\nfriction = 0.2\n";
  const fs::path path = folder.write("scene.toml", k_scene + pair);
  Scene changed = read_scene(path);
  std::vector<SceneParameter> parameters;
  std::vector<double> values;
  const auto set = [&](const std::string& name, double value) {
    parameters.push_back(find_parameter(changed, name));
    values.push_back(value);
  };
  set("body.ball.friction", 0.123);
  set("body.box, tilted.mass", 3.7);
  set("body.box, tilted.linear_velocity.x", -0.7);
  set("body.box, tilted.force.z", 0.4);
  set("body.ball.primitive.0.radius", 0.08);
  set("pair.ball.floor.friction", 0.9);
  set("pair.ball.box, tilted.restitution", 0.3);
  set("simulation.gravity.z", -3.7);
  set("simulation.tolerance", 1e-9);
  set("body.box, tilted.position.x", 0.25);
  set_parameters(parameters, values, changed);
  changed.pushes = {{2, 0.0, 0.01, Vec6<double>::Unit(4)}};
  SceneStart start;
  start.state = changed.initial;
  start.time_step = changed.config.step.h;
  start.steps = 12;
  start.changed = &changed;
  const fs::path to = folder.path() / "plans" / "best.toml";
  fs::create_directory(to.parent_path());
  write_scene_at(path, start, to);
  const Scene again = read_scene(to);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    CAPTURE(parameters[i].name);
    CHECK(value_of(again, parameters[i]) == Approx(values[i]).epsilon(1e-12));
  }
  CHECK(fs::exists(folder.path() / "plans" / "best_bodies" / "2_ball" / "body.toml"));
  REQUIRE(again.pushes.size() == 1);
  CHECK(again.pushes[0].wrench == changed.pushes[0].wrench);
  CHECK(again.config.steps == 12);
  // As text alone, the new shape has nowhere to go.
  CHECK_THROWS_WITH(scene_text_at(path, start, folder.path()), Contains("ball") && Contains("asset"));
}

}  // namespace abut::test
