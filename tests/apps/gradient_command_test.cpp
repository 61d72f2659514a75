#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/scene_coordinate.h"
#include "dynamics/parameters/scene_parameter_derivatives.h"
#include "dynamics/simulator.h"
#include "tests/apps/program.h"

namespace abut::test {
namespace {

using Catch::Contains;

const std::vector<std::string> k_names{"x:ball",
                                       "y:ball",
                                       "z:box, tilted",
                                       "roll:ball",
                                       "pitch:ball",
                                       "yaw:box, tilted",
                                       "vx:ball",
                                       "vz:box, tilted",
                                       "wx:ball",
                                       "wz:box, tilted",
                                       "distance:ball:box, tilted"};

double coordinate_after(const Scene& scene, const std::string& name, int steps) {
  const RolloutLoss loss = coordinate_loss(scene.model, find_coordinate(scene.model, name), steps);
  StepConfig config = scene.config.step;
  config.tolerance = 1e-13;
  config.acceleration_scale = 9.81;  // derivatives by gravity hold it fixed
  return value_of(loss,
                  Simulator(scene.model, config).rollout(scene.initial, steps, controls_of(scene, steps)));
}

TEST_CASE("scene_coordinate: coordinates are those of trajectories and scenes", "[apps][value]") {
  const TemporaryFolder folder;
  const Scene scene = read_scene(folder.write("scene.toml", k_scene));
  const auto at_start = [&](const std::string& name) {
    return coordinate_loss(scene.model, find_coordinate(scene.model, name), 0).value(0, scene.initial);
  };
  CHECK(at_start("x:ball") == Approx(0.5).epsilon(1e-12));  // of the asset, not of the centre of mass
  CHECK(at_start("z:box, tilted") == Approx(0.1062).epsilon(1e-12));
  CHECK(at_start("vx:box, tilted") == Approx(0.5));
  CHECK(at_start("wx:ball") == Approx(3.0));
  CHECK(at_start("distance:ball:box, tilted") == Approx(std::hypot(0.5, 0.0599 - 0.1062)).epsilon(1e-12));
  // R = Rz Ry Rx, from the angles and back.
  const double roll = at_start("roll:box, tilted"), pitch = at_start("pitch:box, tilted"),
               yaw = at_start("yaw:box, tilted");
  const Mat3<double> R =
      (Eigen::AngleAxisd(yaw, Vec3<double>::UnitZ()) * Eigen::AngleAxisd(pitch, Vec3<double>::UnitY()) *
       Eigen::AngleAxisd(roll, Vec3<double>::UnitX()))
          .toRotationMatrix();
  CHECK((R - scene.initial.X_WB[1].rotation()).norm() < 1e-14);
}

TEST_CASE("abut gradient: derivatives by parameters agree with differences of rollouts",
          "[apps][derivative]") {
  const TemporaryFolder folder;
  const std::string text = k_scene + "[[push]]\nbody = \"ball\"\nuntil = 0.02\nforce = [1, 0.5, 0]\n";
  const Scene scene = read_scene(folder.write("scene.toml", text));
  constexpr int k_steps = 12;
  const std::vector<SceneParameter> all = differentiable_parameters(scene);
  CHECK(all.size() > 50);
  for (const std::string& name : k_names) {
    const Simulator simulator(scene.model, scene.config.step);
    const RolloutLoss loss = coordinate_loss(scene.model, find_coordinate(scene.model, name), k_steps);
    const LossAndGradient result =
        simulator.value_and_gradient(scene.initial, k_steps, controls_of(scene, k_steps), loss);
    REQUIRE(result.ok());
    for (const char* by : {"body.ball.mass", "body.box, tilted.friction", "body.ball.position.z",
                           "body.box, tilted.linear_velocity.x", "simulation.gravity.z"}) {
      CAPTURE(name, by);
      const SceneParameter parameter = find_parameter(scene, by);
      const double derivative = derivative_by(scene, parameter, result.gradient),
                   before = value_of(scene, parameter);
      double best = 1.0;
      for (const double h : {1e-4, 1e-5, 1e-6}) {
        const auto at = [&](double value) {
          Scene changed = scene;
          set_parameters({parameter}, std::vector<double>{value}, changed);
          return coordinate_after(changed, name, k_steps);
        };
        const double difference = (at(before + h) - at(before - h)) / (2.0 * h);
        best = std::min(best, std::abs(difference - derivative) / (std::abs(derivative) + 1e-3));
      }
      CHECK(best < 1e-4);
    }
  }
}

TEST_CASE("abut gradient: one JSON object with values, units and health", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene);
  const ProgramResult result =
      run_program({"gradient", scene, "--loss", "x:box, tilted", "--steps", "20", "--json"});
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  const Json json = parse_json(result.out);
  CHECK(keys_of(json) ==
        std::vector<std::string>{"scene", "steps", "dt", "time", "loss", "derivatives", "health"});
  CHECK(json["steps"] == 20);
  CHECK(json["dt"] == 0.002);
  CHECK(json["time"].get<double>() == Approx(0.04));
  CHECK(json["loss"]["name"] == "x:box, tilted");
  CHECK(json["loss"]["unit"] == "m");
  CHECK(json["loss"]["initial_value"].get<double>() == Approx(0.0).margin(1e-14));
  const Scene read = read_scene(scene);
  CHECK(json["loss"]["value"].get<double>() ==
        Approx(coordinate_after(read, "x:box, tilted", 20)).epsilon(1e-6));
  std::vector<std::string> names;
  bool found = false;
  for (const Json& d : json["derivatives"]) {
    CHECK(keys_of(d) == std::vector<std::string>{"parameter", "value", "unit", "derivative",
                                                 "derivative_unit", "at_bound"});
    names.push_back(d["parameter"]);
    if (d["parameter"] != "body.box, tilted.linear_velocity.x") continue;
    found = true;
    CHECK(d["value"] == 0.5);
    CHECK(d["unit"] == "m/s");
    CHECK(d["derivative_unit"] == "m/(m/s)");
    CHECK(d["derivative"].get<double>() > 0.0);
    CHECK(d["derivative"].get<double>() <= 0.04 + 1e-9);
  }
  CHECK(found);
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  CHECK(has("body.ball.mass"));
  CHECK(has("body.floor.friction"));
  CHECK(has("simulation.gravity.z"));
  CHECK_FALSE(has("body.floor.mass"));
  CHECK(json["health"]["contacts"].get<int>() > 0);
}

TEST_CASE("abut gradient: a table of what was asked for, by words, names and vectors", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene);
  const ProgramResult result =
      run_program({"gradient", scene, "--loss", "distance:box, tilted:ball", "--steps", "10", "--wrt",
                   "body.box, tilted.friction,mass,body.ball.position,mass"});
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("ball and box: distance:box, tilted:ball after 10 steps of 0.002 s is ") &&
                             Contains("parameter") && Contains("body.box, tilted.friction") &&
                             Contains("body.ball.mass") && Contains("body.ball.position.y") &&
                             Contains("m/kg") && Contains("health: "));
  CHECK_THAT(result.out, !Contains("gravity") && !Contains("body.ball.friction"));
  CHECK(line_count(result.out) == 3 + 6 + 1);
  const ProgramResult all =
      run_program({"gradient", scene, "--loss", "z:ball", "--steps", "3", "--wrt", "all", "--table"});
  CHECK(all.exit_code == 0);
  CHECK_THAT(all.out, Contains("body.ball.primitive.0.radius") && Contains("body.ball.inertia.log_x"));
}

TEST_CASE("abut gradient: what there is not is named with what there is, code 2", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene);
  struct Case {
    std::vector<std::string> options;
    std::string message;
  };
  const std::vector<Case> cases{
      {{"--loss", "z:bal"},
       "'z:bal': there is no body 'bal'; did you mean 'ball'? (there are 'floor', 'box, tilted', 'ball')"},
      {{"--loss", "w:ball"}, "there is no coordinate 'w'"},
      {{"--loss", "rol:ball"}, "did you mean 'roll'?"},
      {{"--loss", "z"}, "'z': of which body? Write z:BODY"},
      {{"--loss", "distance:ball"}, "a distance is between two bodies"},
      {{"--loss", "distance:ball:ball"}, "a body has no distance from itself"},
      {{"--loss", "distance:ball:brick"}, "there is no body 'brick'"},
      {{"--loss", "z:ball", "--wrt", "frictoin"}, "there is no 'frictoin', did you mean 'friction'?"},
      {{"--loss", "z:ball", "--wrt", "body.ball.frictoin"}, "did you mean 'body.ball.friction'?"},
      {{"--loss", "z:ball", "--wrt", "simulation.time_step"}, "a setting of the time step"},
      {{"--loss", "z:ball", "--wrt", "body.floor.mass"}, "has no mass"},
      {{"--loss", "z:ball", "--steps", "0"}, "--steps"},
      {{"--loss", "z:ball", "--json", "--table"}, "--table"},
      {{}, "--loss"}};
  for (const Case& c : cases) {
    std::vector<std::string> arguments{"gradient", scene};
    arguments.insert(arguments.end(), c.options.begin(), c.options.end());
    const ProgramResult result = run_program(arguments);
    CAPTURE(c.options, result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, Contains("abut gradient: ") && Contains(c.message));
    CHECK(line_count(result.err) == 1);
  }
}

TEST_CASE("abut gradient: angles have no derivative at a pitch of 90 degrees", "[apps][value]") {
  const TemporaryFolder folder;
  const double degrees = GENERATE(90.0, -90.0, 89.9);
  const std::string scene = folder.write(
      "pitched.toml",
      fmt::format("[[body]]\nname = \"rod\"\ndensity = 1000.0\nrotation_vector = [0, {:.17g}, 0]\n"
                  "[[body.primitive]]\nkind = \"capsule\"\nradius = 0.1\nhalf_length = 0.2\n",
                  degrees * EIGEN_PI / 180.0));
  for (const char* loss : {"roll:rod", "pitch:rod", "yaw:rod"}) {
    CAPTURE(degrees, loss);
    const ProgramResult result = run_program({"gradient", scene, "--loss", loss, "--steps", "2"});
    CAPTURE(result.err);
    CHECK(result.exit_code == (std::abs(degrees) == 90.0 ? 1 : 0));
    if (std::abs(degrees) == 90.0)
      CHECK_THAT(result.err, Contains(fmt::format("'rod' is pitched by {:g} degrees", degrees)));
  }
}

TEST_CASE("abut gradient: a parameter at a bound says that its derivative is one-sided", "[apps][value]") {
  const TemporaryFolder folder;
  std::string text = k_scene;
  text.insert(text.find("density = 700.0"), "friction = 0.0\n");
  const std::string scene = folder.write("slide.toml", text);
  const ProgramResult result = run_program(
      {"gradient", scene, "--loss", "x:ball", "--steps", "3", "--wrt", "friction,mass", "--table"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("body.ball.friction is at a bound (") && !Contains("mass is at a bound"));
}

TEST_CASE("abut gradient: a rollout that fails ends with code 1 and its reason", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", scene_with("max_iterations = 1"));
  const ProgramResult result = run_program({"gradient", scene, "--loss", "z:ball", "--json"});
  CHECK(result.exit_code == 1);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, Contains("abut gradient: step 1 ") && Contains("not converged"));
}

}  // namespace
}  // namespace abut::test
