#include <cmath>
#include <set>

#include <catch2/catch.hpp>

#include "tests/apps/program.h"

namespace abut::test {
namespace {

using Catch::Contains;
using Catch::StartsWith;

TEST_CASE("abut gradcheck: --json prints one object with these keys, and the adjoint is right",
          "[apps][derivative]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene);
  const ProgramResult result =
      run_program({"gradcheck", scene, "--steps", "10", "--samples", "30", "--components", "0", "--json"});
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  const Json json = parse_json(result.out);
  const std::vector<std::string> numbers{"samples",
                                         "median_relative_error",
                                         "p99_relative_error",
                                         "max_relative_error",
                                         "max_resolved_error",
                                         "off",
                                         "one_sided",
                                         "at_bound",
                                         "unresolved",
                                         "non_finite"};
  std::vector<std::string> keys{"passed", "reason", "tolerance", "solver_tolerance"};
  keys.insert(keys.end(), numbers.begin(), numbers.end());
  for (const char* key : {"groups", "notes", "health"}) keys.push_back(key);
  CHECK(keys_of(json) == keys);
  CHECK(json["passed"] == true);
  CHECK(json["reason"] == "");
  CHECK(json["tolerance"] == 1e-4);
  CHECK(json["solver_tolerance"] == 1e-12);
  CHECK(json["samples"] == 30);
  CHECK(json["non_finite"] == 0);
  CHECK(json["unresolved"] == 0);
  CHECK(json["median_relative_error"].get<double>() < 1e-7);
  CHECK(json["max_relative_error"].get<double>() < 1e-4);
  CHECK(json["median_relative_error"] <= json["p99_relative_error"]);
  CHECK(json["p99_relative_error"] <= json["max_relative_error"]);

  int samples = 0;
  std::set<std::string> names;
  for (const Json& group : json["groups"]) {
    for (const std::string& key : numbers) CHECK(group.contains(key));
    CHECK(group["max_relative_error"] <= json["max_relative_error"]);
    samples += group["samples"].get<int>();
    names.insert(group["group"].get<std::string>());
  }
  CHECK(samples == 30);
  CHECK(names.size() == json["groups"].size());
  for (const char* name : {"initial pose", "controls", "mass", "friction", "gravity", "shape parameters"}) {
    CHECK(names.count(name) == 1);
  }

  const auto with_seed = [&](const char* seed) {
    return run_program({"gradcheck", scene, "--steps", "10", "--samples", "30", "--components", "0", "--seed",
                        seed, "--json"})
        .out;
  };
  CHECK(with_seed("1") == result.out);
  CHECK(with_seed("2") != result.out);
}

TEST_CASE("abut gradcheck: components of the initial state have rows of their own", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene);
  const std::vector<std::string> arguments{"gradcheck", scene, "--steps", "2", "--samples", "2"};
  const ProgramResult table = run_program(arguments);
  CAPTURE(table.out, table.err);
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Contains("initial pose, by component") && Contains("initial twist, by component"));
  std::vector<std::string> five = arguments;
  for (const char* word : {"--components", "5", "--json"}) five.emplace_back(word);
  const ProgramResult some = run_program(five);
  CHECK(parse_json(some.out)["samples"] == 7);
  const auto with_seed = [&](const char* seed) {
    std::vector<std::string> seeded = five;
    for (const char* word : {"--seed", seed}) seeded.emplace_back(word);
    return run_program(seeded).out;
  };
  CHECK(with_seed("1") == some.out);
  CHECK(with_seed("2") != some.out);
}

TEST_CASE("abut gradcheck: a table of the groups, progress on stderr", "[apps][value]") {
  const TemporaryFolder folder;
  const ProgramResult result = run_program({"gradcheck", folder.write("scene.toml", k_scene), "--steps", "2",
                                            "--samples", "4", "--components", "0"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("adjoint of 2 steps of 0.002 s") && Contains("initial pose") &&
                             Contains("median error") && Contains("relative error of 4 samples"));
  CHECK_THAT(result.err, Contains("4/4 samples"));
}

TEST_CASE("abut gradcheck: says how the gradient came about", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene);
  const ProgramResult table = run_program({"gradcheck", scene, "--steps", "20", "--samples", "1"});
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Contains("health: the adjoint grows by at most") && Contains("0.0 % of ") &&
                            !Contains("backward"));
  const ProgramResult result = run_program(
      {"gradcheck", scene, "--steps", "20", "--samples", "1", "--json", "--backward-distance", "0.05"});
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  const Json json = parse_json(result.out), &health = json["health"];
  CHECK(health["contacts"].get<int>() > 0);
  CHECK(health["contacts_near_kink"] == 0);
  CHECK(health["share_near_kink"] == 0.0);
  CHECK(health["largest_growth"].get<double>() > 0.0);
  CHECK(health["warnings"].empty());
  REQUIRE(json["backward"].size() == 7);
  for (const Json& group : json["backward"]) {
    CAPTURE(group.dump());
    CHECK(std::abs(group["cosine"].get<double>()) <= 1.0 + 1e-12);
    CHECK(group["exact_norm"].get<double>() > 0.0);
    CHECK(group["from_distance_norm"].get<double>() > 0.0);
    CHECK(group["from_distance_norm"] != group["exact_norm"]);
  }
}

TEST_CASE("abut gradcheck: a contact near a kink is counted in the health, without a warning",
          "[apps][value]") {
  // A ball that reaches the floor just at the end of its tenth step, where the test for the impact nearly
  // flips.
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", R"(name = "throw"
[simulation]
time_step = 0.002
steps = 20
gravity = [0.0, 0.0, 0.0]
[[body]]
name = "floor"
restitution = 0.5
[[body.primitive]]
kind = "half_space"
[[body]]
name = "ball"
density = 700.0
restitution = 0.5
position = [0.0, 0.0, 0.0700000001]
linear_velocity = [0.0, 0.0, -0.5]
[[body.primitive]]
kind = "sphere"
radius = 0.06
)");
  const ProgramResult table = run_program({"gradcheck", scene, "--steps", "15", "--samples", "1"});
  CAPTURE(table.out, table.err);
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Contains("near a kink") && !Contains("; 0.0 % of") && !Contains("warning: "));
  const Json json =
      parse_json(run_program({"gradcheck", scene, "--steps", "15", "--samples", "1", "--json"}).out);
  CHECK(json["health"]["contacts_near_kink"] > 0);
  CHECK(json["health"]["warnings"].empty());
}

TEST_CASE("abut gradcheck: a rollout that fails ends with code 1 and its reason", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", scene_with("max_iterations = 1"));
  const ProgramResult result = run_program({"gradcheck", scene, "--json"});
  CHECK(result.exit_code == 1);
  CHECK(result.out.empty());
  CHECK_THAT(result.err,
             Contains("abut gradcheck: step 1 ") && Contains("not converged") && Contains("'floor'"));
}

TEST_CASE("abut gradcheck: samples that are off end with code 1, and one line says so", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene);
  const std::vector<std::string> arguments{"gradcheck",    scene, "--steps",     "10",    "--samples", "30",
                                           "--components", "0",   "--tolerance", "1e-16", "--json"};
  const ProgramResult result = run_program(arguments);
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  const Json json = parse_json(result.out);
  CHECK(json["passed"] == false);
  CHECK(json["tolerance"] == 1e-16);
  CHECK_THAT(result.err, Contains("\nabut gradcheck: failed: of 30 samples ") ||
                             StartsWith("abut gradcheck: failed: of 30 samples "));
  CHECK_THAT(result.err, Contains(json["reason"].get<std::string>()));
  CHECK(run_program({"gradcheck", scene, "--steps", "10", "--samples", "30", "--tolerance", "1e-3"})
            .exit_code == 0);
}

TEST_CASE("abut gradcheck: inputs at a bound are told in the table and in the JSON", "[apps][value]") {
  const TemporaryFolder folder;
  std::string text = k_scene;
  const std::string ball = "name = \"ball\"\n";
  text.insert(text.find(ball) + ball.size(), "friction = 0.0\n");
  const std::string scene = folder.write("scene.toml", text);
  const ProgramResult table = run_program({"gradcheck", scene, "--steps", "10", "--samples", "17"});
  CAPTURE(table.out, table.err);
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Contains("one-sided") && Contains("at a bound") &&
                            Contains("friction, one-sided: body 'ball': friction = -"));
  const Json json =
      parse_json(run_program({"gradcheck", scene, "--steps", "10", "--samples", "17", "--json"}).out);
  CHECK(json["one_sided"].get<int>() >= 1);
  bool found = false;
  for (const Json& note : json["notes"]) {
    found = found || (note["group"] == "friction" && note["status"] == "right on one side" &&
                      note["side"] == "forward");
  }
  CHECK(found);
}

TEST_CASE("abut gradcheck: options that make no sense are refused by name", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene);
  const std::vector<std::vector<std::string>> cases{{"--steps", "0"},
                                                    {"--samples", "0"},
                                                    {"--samples", "nan"},
                                                    {"--components", "-1"},
                                                    {"--seed", "-1"},
                                                    {"--tolerance", "0"},
                                                    {"--tolerance", "inf"},
                                                    {"--seed", "1.5"},
                                                    {"--seed", "18446744073709551616"},
                                                    {"--backward-distance", "0"},
                                                    {"--quiet"},
                                                    {"second.toml"}};
  for (const auto& options : cases) {
    std::vector<std::string> arguments{"gradcheck", scene};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProgramResult result = run_program(arguments);
    CAPTURE(options, result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, Contains(options[0]) && Contains("abut gradcheck --help"));
  }
}

}  // namespace
}  // namespace abut::test
