#include <cmath>

#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/apps/program.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

using Catch::Contains;

std::string body_text(const std::string& name, const std::string& keys) {
  return "[[body]]\nname = \"" + name + "\"\n" + keys;
}
const std::string k_upper = body_text("upper", R"(density = 500.0
position = [0.05, 0.0, 0.201]  # tilted, so that some points are only just near
rotation_vector = [0.01, 0.02, 0.3]
[[body.primitive]]
kind = "rounded_box"
half_extents = [0.1, 0.1, 0.1]
edge_radius = 0.01
)");
const std::string k_lower = body_text("lower", R"(density = 500.0
[[body.primitive]]
kind = "rounded_box"
half_extents = [0.12, 0.1, 0.1]
edge_radius = 0.02
)");

TEST_CASE("abut contacts: every contact has a kind, a unit normal and an activity between 0 and 1",
          "[apps][value]") {
  const TemporaryFolder folder;
  const ProgramResult result = run_program({"contacts", folder.write("scene.toml", k_scene), "--json"});
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  const Json json = parse_json(result.out);
  CHECK(keys_of(json) == std::vector<std::string>{"pairs", "faint", "overlaps"});
  REQUIRE(json["pairs"].size() == 2);
  CHECK(json["pairs"][0]["a"] == "floor");
  CHECK(json["pairs"][0]["b"] == "box, tilted");
  CHECK(json["pairs"][1]["b"] == "ball");
  for (const Json& pair : json["pairs"]) {
    CHECK(keys_of(pair) == std::vector<std::string>{"a", "b", "contacts"});
    CHECK_FALSE(pair["contacts"].empty());
    for (const Json& contact : pair["contacts"]) {
      CHECK(keys_of(contact) ==
            std::vector<std::string>{"kind", "point", "signed_distance", "normal", "weight", "activity"});
      CHECK(contact["kind"] == "vertex_sdf");
      const auto n = contact["normal"].get<std::vector<double>>();
      REQUIRE(n.size() == 3);
      CHECK(close(std::hypot(n[0], n[1], n[2]), 1.0, 1e-12, 0));
      CHECK(n[2] > 0.0);  // from the floor up
      CHECK(contact["activity"].get<double>() > 0.0);
      CHECK(contact["activity"].get<double>() <= 1.0);
    }
  }
  const Json& ball = json["pairs"][1]["contacts"];
  REQUIRE(ball.size() == 1);
  CHECK(close(ball[0]["signed_distance"].get<double>(), -1e-4, 1e-9, 0));
  CHECK(close(ball[0]["point"][0].get<double>(), 0.6, 1e-12, 0));
  CHECK(close(ball[0]["point"][2].get<double>(), -0.5e-4, 1e-9, 0));
}

TEST_CASE("abut contacts: with the bodies in the other order, normals turn round and the rest stays",
          "[apps][property]") {
  const TemporaryFolder folder;
  const auto contacts = [&](const std::string& text) {
    return parse_json(
        run_program({"contacts", folder.write("scene.toml", text), "--json", "--all"}).out)["pairs"];
  };
  const Json one = contacts(k_upper + k_lower), other = contacts(k_lower + k_upper);
  REQUIRE(one.size() == 1);
  REQUIRE(other.size() == 1);
  CHECK(one[0]["a"] == "upper");
  CHECK(other[0]["a"] == "lower");
  REQUIRE(one[0]["contacts"].size() == other[0]["contacts"].size());
  REQUIRE(one[0]["contacts"].size() > 1);
  // Which body's points come first depends on the order; the sets are the same.
  const auto count_like = [](const Json& contact, const Json& candidates, double sign) {
    return std::count_if(candidates.begin(), candidates.end(), [&](const Json& candidate) {
      bool same = close(contact["signed_distance"].get<double>(), candidate["signed_distance"].get<double>(),
                        0, 1e-14) &&
                  close(contact["activity"].get<double>(), candidate["activity"].get<double>(), 0, 1e-12);
      for (std::size_t i = 0; i < 3; ++i) {
        same =
            same && close(contact["point"][i].get<double>(), candidate["point"][i].get<double>(), 0, 1e-14) &&
            close(contact["normal"][i].get<double>(), sign * candidate["normal"][i].get<double>(), 0, 1e-12);
      }
      return same;
    });
  };
  for (const Json& contact : one[0]["contacts"])
    CHECK(count_like(contact, other[0]["contacts"], -1.0) == count_like(contact, one[0]["contacts"], 1.0));
}

TEST_CASE("abut contacts: a table for people, and a word where nothing touches", "[apps][value]") {
  const TemporaryFolder folder;
  const ProgramResult result = run_program({"contacts", folder.write("scene.toml", k_scene)});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out,
             Contains("activity") && Contains("floor") && Contains("ball") && Contains("vertex_sdf"));

  const std::string alone = folder.write("alone.toml", k_lower);
  CHECK_THAT(run_program({"contacts", alone}).out, Contains("no contacts"));
  CHECK(parse_json(run_program({"contacts", alone, "--json"}).out) ==
        Json{{"pairs", Json::array()}, {"faint", 0}, {"overlaps", Json::array()}});
}

TEST_CASE("abut contacts: those that hardly count are listed by --all alone", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_upper + k_lower);
  const auto answer = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"contacts", scene};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments).out;
  };
  const Json some = parse_json(answer({"--json"})), all = parse_json(answer({"--json", "--all"}));
  const std::size_t faint = some["faint"].get<std::size_t>();
  REQUIRE(faint > 0);
  CHECK(all["faint"] == 0);
  CHECK(all["pairs"][0]["contacts"].size() == some["pairs"][0]["contacts"].size() + faint);
  for (const Json& contact : some["pairs"][0]["contacts"]) CHECK(contact["activity"].get<double>() >= 1e-3);
  CHECK_THAT(answer({}), Contains(std::to_string(faint) + " more of an activity below 0.001 (--all)"));
  CHECK_THAT(answer({"--all"}), !Contains("--all"));
}

TEST_CASE("abut contacts: a bad scene is answered with file and line", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_lower + "colour = \"red\"\n");
  const ProgramResult result = run_program({"contacts", scene});
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, Contains(scene + ":8: "));
}

}  // namespace
}  // namespace abut::test
