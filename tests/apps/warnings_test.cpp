/// What `abut` says about scenes whose motion is not what they seem to mean.
#include <string>

#include <catch2/catch.hpp>

#include "tests/apps/program.h"

namespace abut::test {
namespace {

using Catch::Contains;

const std::string k_floor = "[[body]]\nname = \"floor\"\n[[body.primitive]]\nkind = \"half_space\"\n";

std::string box(const std::string& name, const std::string& position, double mass = 1.0) {
  return "[[body]]\nname = \"" + name + "\"\nmass = " + std::to_string(mass) + "\nposition = " + position +
         "\n[[body.primitive]]\nkind = \"rounded_box\"\nhalf_extents = [0.1, 0.1, 0.1]\nedge_radius = "
         "0.005\n";
}

TEST_CASE("abut run: bodies that start in each other are named with their depth", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene =
      folder.write("scene.toml", k_floor + box("sunk", "[1, 0, 0.05]") + box("one", "[0, 0, 5]") +
                                     box("other", "[0.0001, 0, 5]"));
  const ProgramResult result = run_program({"run", scene, "--steps", "1", "--json", "--quiet"});
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.err, Contains("warning: at the start, 'floor' and 'sunk' overlap by 0.05 m") &&
                             Contains("'one' and 'other' overlap by 0.2 m"));
  const Json json = parse_json(result.out);
  REQUIRE(json["initial_overlaps"].size() == 2);
  CHECK(json["initial_overlaps"][0]["a"] == "floor");
  CHECK(json["initial_overlaps"][0]["b"] == "sunk");
  CHECK(json["initial_overlaps"][0]["depth"].get<double>() == Approx(0.05).epsilon(1e-4));
  CHECK(json["initial_overlaps"][1]["depth"].get<double>() == Approx(0.1999).epsilon(1e-3));
  CHECK(json["max_penetration"].get<double>() == Approx(0.1999).epsilon(1e-3));

  const ProgramResult table = run_program({"run", scene, "--steps", "1", "--quiet"});
  CHECK_THAT(table.out, Contains("overlap at start  'floor' and 'sunk' overlap by 0.05 m"));
  const ProgramResult contacts = run_program({"contacts", scene});
  CHECK_THAT(contacts.out, Contains("'one' and 'other' overlap by 0.2 m"));
}

namespace {

/// A box on a hinge along y, 0.5 m below it, that moves along the hinge at `speed` [m/s].
std::string pendulum(double speed) {
  const std::string frame = "axis = [0, 1, 0], position = ";
  return "[[body]]\nname = \"bob\"\nmass = 1\nposition = [0, 0, -0.5]\nlinear_velocity = [0, " +
         std::to_string(speed) +
         ", 0]\n[[body.primitive]]\nkind = \"sphere\"\nradius = 0.1\n[[joint]]\nname = \"pivot\"\n"
         "kind = \"hinge\"\nbody_B = \"bob\"\nframe_A = {" +
         frame + "[0, 0, 0]}\nframe_B = {" + frame + "[0, 0, 0.5]}\n";
}

}  // namespace

TEST_CASE(
    "abut run, identify, optimize, gradient: velocities that a joint forbids are named before and after",
    "[apps][value]") {
  const TemporaryFolder folder;
  const std::string words = "joint 'pivot' of 'bob' with the world forbids 0.3 m/s of the velocities";
  const std::string scene = folder.write("scene.toml", pendulum(0.3)),
                    good = folder.write("good.toml", pendulum(0.0));
  const ProgramResult table = run_program({"run", scene, "--steps", "1", "--quiet"});
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.err, Contains("abut run: warning: at the start, " + words));
  CHECK_THAT(table.out, Contains("joint at start    " + words));
  const Json json = parse_json(run_program({"run", scene, "--steps", "1", "--quiet", "--json"}).out);
  REQUIRE(json["initial_joint_warnings"].size() == 1);
  CHECK(json["initial_joint_warnings"][0]["kind"] == "parting_joint");
  CHECK(json["initial_joint_warnings"][0]["joint"] == "pivot");
  CHECK(json["initial_joint_warnings"][0]["value"].get<double>() == Approx(0.3));
  CHECK(run_program({"run", good, "--steps", "1", "--quiet"}).err.empty());
  for (const std::string verb : {"gradient", "gradcheck"}) {
    std::vector<std::string> arguments{verb, scene, "--steps", "2"};
    if (verb == "gradient") arguments.insert(arguments.end(), {"--loss", "z:bob"});
    CHECK_THAT(run_program(arguments).err, Contains("abut " + verb + ": warning: at the start, " + words));
  }

  const std::string goal =
      "[[motion]]\nname = \"swing\"\n[[motion.goal]]\nkind = \"pose\"\ntime = 0.1\nbody = \"bob\"\n"
      "position = [0, 0, -0.5]\n[[unknown]]\nname = \"body.bob.linear_velocity.x\"\ninitial = 0.01\n";
  for (const bool is_good : {false, true}) {
    const std::string experiment = folder.write(
        "experiment.toml", std::string("scene = \"") + (is_good ? "good" : "scene") + ".toml\"\n" + goal);
    const ProgramResult result =
        run_program({"optimize", experiment, "--quiet", "--out", folder.path() / "out"});
    CHECK(Contains("abut optimize: warning: at the start of motion 'swing', " + words).match(result.err) !=
          is_good);
    CHECK(Contains("at the start of motion 'swing', " + words).match(result.out) != is_good);
  }
}

TEST_CASE("abut run: a step too long for its scene is named once with its remedy", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene =
      folder.write("scene.toml", k_floor + box("lower", "[0, 0, 0.1]") + box("upper", "[0, 0, 0.3]"));
  const ProgramResult table = run_program({"run", scene, "--steps", "20", "--dt", "0.3", "--quiet"});
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out,
             Contains("warning") && Contains("first in step 1") && Contains("try a smaller time_step"));
  const Json json =
      parse_json(run_program({"run", scene, "--steps", "20", "--dt", "0.3", "--quiet", "--json"}).out);
  REQUIRE(json["warnings"].size() >= 1);
  CHECK(json["warnings"][0]["kind"] == "long_step");
  CHECK(json["warnings"][0]["body"] == "lower");
  CHECK(json["warnings"][0]["other"] == "floor");
  CHECK(json["warnings"][0]["first_step"] == 0);
}

TEST_CASE("abut run: a heavy body that sinks into a light one is named with its remedy", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string bodies = k_floor + box("coin", "[0, 0, 0.1]", 0.1) + box("anvil", "[0, 0, 0.3]", 2000.0);
  const auto warning = [&](const std::string& law) {
    const std::string scene = folder.write("scene.toml", "[simulation]\nlaw = \"" + law + "\"\n" + bodies);
    const ProgramResult result = run_program({"run", scene, "--steps", "100", "--quiet"});
    CHECK(result.exit_code == 0);
    return result.out;
  };
  CHECK_THAT(warning("smooth_coulomb"),
             Contains("'anvil' sinks") && Contains("mm into 'coin'") &&
                 Contains("2.0e+04 times smaller; try a smaller near_rigid_factor"));
  CHECK_THAT(warning("penalty"), Contains("'anvil' sinks") && Contains("try a smaller time_step"));
}

TEST_CASE("abut run, gradient: impacts without their restitution are named, and counted in the health",
          "[apps][value]") {
  const TemporaryFolder folder;
  const auto ball = [](const std::string& name, const std::string& mass, double x, double speed) {
    return "[[body]]\nname = \"" + name + "\"\nmass = " + mass + "\nrestitution = 1\nposition = [" +
           std::to_string(x) + ", 0, 0]\nlinear_velocity = [" + std::to_string(speed) +
           ", 0, 0]\n[[body.primitive]]\nkind = \"sphere\"\nradius = 0.05\n";
  };
  const auto scene = [&](const std::string& mass) {
    return folder.write("scene.toml", "[simulation]\ngravity = [0, 0, 0]\n" + ball("left", "1", -0.15, 1.0) +
                                          ball("light", mass, 0.013, 0.0) + ball("right", "1", 0.15, -1.0));
  };
  const std::string lost = scene("1e-5");
  CHECK_THAT(run_program({"run", lost, "--steps", "60", "--quiet"}).out,
             Contains("m/s slower than their restitution says"));
  const Json run = parse_json(run_program({"run", lost, "--steps", "60", "--quiet", "--json"}).out);
  REQUIRE(run["warnings"].size() >= 1);
  CHECK(run["warnings"][0]["kind"] == "lost_restitution");
  const int steps = run["warnings"][0]["steps"];
  const auto health = [&](const std::string& path) {
    return parse_json(
        run_program({"gradient", path, "--steps", "60", "--loss", "x:left", "--json"}).out)["health"];
  };
  CHECK(health(lost)["steps_lacking_restitution"] >= steps);
  const std::string kept = scene("0.1");
  CHECK(parse_json(run_program({"run", kept, "--steps", "60", "--quiet", "--json"}).out)["warnings"].empty());
  CHECK(health(kept)["steps_lacking_restitution"] == 0);
}

TEST_CASE("abut run --batch: rollouts with a warning are counted, and the worst is named", "[apps][value]") {
  const TemporaryFolder folder;
  folder.write("scene.toml", k_floor + box("box", "[0, 0, 0.1]"));
  const std::string table =
      folder.write("batch.toml",
                   "scene = \"scene.toml\"\nsteps = 5\ncolumns = [\"body.box.position.z\"]\n"
                   "rows = [[0.1], [0.08], [0.03]]\n");
  const ProgramResult result = run_program({"run", "--batch", table, "--json", "--quiet"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const Json warnings = parse_json(result.out)["warnings"];
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0]["kind"] == "initial_overlap");
  CHECK(warnings[0]["rollouts"] == 2);
  CHECK(warnings[0]["worst_rollout"] == 2);
  CHECK(warnings[0]["worst"].get<double>() == Approx(0.07).epsilon(1e-4));
}

}  // namespace
}  // namespace abut::test
