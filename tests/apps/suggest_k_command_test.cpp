#include <catch2/catch.hpp>

#include <numeric>
#include <string>
#include <vector>

#include "tests/apps/program.h"

namespace abut::test {
namespace {

using Catch::Contains;

const std::string k_boxes = R"(
[[body]]
name = "floor"
[[body.primitive]]
kind = "half_space"
[[body]]
name = "upper"
density = 500.0
position = [0.0, 0.0, 1.0]
[[body.primitive]]
kind = "rounded_box"
half_extents = [0.1, 0.1, 0.1]
edge_radius = 0.01
[[body]]
name = "lower"
density = 500.0
[[body.primitive]]
kind = "rounded_box"
half_extents = [0.12, 0.1, 0.1]
edge_radius = 0.02
[[pair]]
bodies = ["floor", "lower"]
collide = false
)";

TEST_CASE("abut suggest-k: histograms of every pair that can collide, and a suggestion for each body",
          "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_boxes);
  const ProgramResult result = run_program({"suggest-k", scene, "--samples", "40", "--json"});
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  const Json json = parse_json(result.out);
  CHECK(keys_of(json) == std::vector<std::string>{"samples", "seed", "quantile", "depth", "pairs", "bodies"});
  REQUIRE(json["pairs"].size() == 2);  // not the pair that never touches
  CHECK(json["pairs"][0]["a"] == "floor");
  CHECK(json["pairs"][0]["b"] == "upper");
  CHECK(json["pairs"][1]["b"] == "lower");
  for (const Json& pair : json["pairs"]) {
    for (const char* key : {"edge_pairs", "vertices_a", "vertices_b"}) {
      const auto histogram = pair[key]["histogram"].get<std::vector<int>>();
      CHECK(std::accumulate(histogram.begin(), histogram.end(), 0) == 40);
      const int quantile = pair[key]["quantile"].get<int>();
      CHECK(quantile < static_cast<int>(histogram.size()));
      int covered = 0;
      for (int v = 0; v <= quantile; ++v) covered += histogram[static_cast<std::size_t>(v)];
      CHECK(covered >= 38);
    }
  }
  CHECK(json["pairs"][0]["edge_pairs"]["quantile"] == 0);  // a floor has no edges
  CHECK(json["pairs"][0]["vertices_b"]["quantile"] == 1);  // one corner of a tilted box
  REQUIRE(json["bodies"].size() == 2);
  CHECK(json["bodies"][0]["name"] == "upper");
  CHECK(json["bodies"][0]["selected_edges"].get<int>() >= 1);
}

TEST_CASE(
    "abut suggest-k: the same seed gives the same figures, alone or with other pairs, and another does not",
    "[apps][determinism]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_boxes);
  const auto figures = [&](const std::string& seed, bool alone) {
    std::vector<std::string> words{"suggest-k", scene, "--samples", "60", "--json", "--seed", seed};
    if (alone) words.insert(words.end(), {"--pair", "lower", "upper"});
    const Json pairs = parse_json(run_program(words).out)["pairs"];
    return pairs[pairs.size() - 1];
  };
  const Json one = figures("3", false);
  CHECK(one == figures("3", false));
  CHECK(one == figures("3", true));
  CHECK(one != figures("4", false));
}

TEST_CASE("abut suggest-k: text histograms, and bad usage answered by name", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_boxes);
  const ProgramResult result =
      run_program({"suggest-k", scene, "--samples", "20", "--pair", "upper", "lower"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("upper and lower, 20 colliding poses") && Contains("edge pairs in touch") &&
                             Contains("<- quantile") && Contains("#") && Contains("selected_edges"));
  CHECK_THAT(result.err, Contains("20"));  // the progress bar

  const ProgramResult unknown = run_program({"suggest-k", scene, "--pair", "uper", "lower"});
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.err, Contains("there is no body 'uper'; did you mean 'upper'?"));
  CHECK_THAT(run_program({"suggest-k", scene, "--pair", "upper", "upper"}).err,
             Contains("paired with itself"));
  CHECK(run_program({"suggest-k", scene, "--quantile", "1.5"}).exit_code == 2);
  CHECK(run_program({"suggest-k", scene, "--samples", "0"}).exit_code == 2);
}

}  // namespace
}  // namespace abut::test
