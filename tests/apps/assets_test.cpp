/// Every scene and every experiment that comes with Abut, as a user meets it. Files are found in their
/// folders: a new one takes part by itself.

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/apps/program.h"
#include "tests/support/samples.h"

namespace abut::test {
namespace {

namespace fs = std::filesystem;

fs::path assets(const std::string& folder) { return fs::path(ABUT_SOURCE_DIR) / "assets" / folder; }

/// Names of the TOML files of a folder, sorted.
std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(assets(folder))) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// An experiment with its first two motions alone, one start and two iterations.
std::string shortened(const std::string& text) {
  std::istringstream lines(text);
  std::string line, result, search;
  int motions = 0;
  bool is_left_out = false, is_search = false;
  while (std::getline(lines, line)) {
    if (line.starts_with("[")) {
      is_search = line.starts_with("[search]");
      if (line.starts_with("[[motion]]")) ++motions;
      is_left_out = motions > 2 && (line.starts_with("[[motion") || line.starts_with("[motion"));
    }
    if (is_search) {
      if (!line.starts_with("[") && !line.starts_with("starts") && !line.starts_with("max_iterations"))
        search += line + "\n";
    } else if (!is_left_out) {
      result += line + "\n";
    }
  }
  return result + "[search]\nstarts = 1\nmax_iterations = 2\n" + search;
}

TEST_CASE("assets: every scene runs for 200 steps", "[apps][value]") {
  const std::vector<std::string> scenes = files_of("scenes");
  REQUIRE(scenes.size() >= 12);
  const std::string scene = GENERATE_COPY(from_range(scenes));
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "motion.npz";
  const ProgramResult result = run_program({"run", (assets("scenes") / scene).string(), "--steps", "200",
                                            "--out", out.string(), "--json", "--quiet"});
  CAPTURE(scene, result.out, result.err);
  CHECK(result.exit_code == 0);
  CHECK(fs::exists(out));
  CHECK(parse_json(result.out)["steps"] == 200);
}

TEST_CASE("assets: the gradient of every scene passes its check", "[apps][derivative][nightly]") {
  const std::vector<std::string> scenes = files_of("scenes");
  const std::string& scene = scenes[GENERATE_COPY(filter(is_drawn, range(std::size_t{0}, scenes.size())))];
  const ProgramResult result =
      run_program({"gradcheck", (assets("scenes") / scene).string(), "--samples", "24", "--json"});
  CAPTURE(scene, result.out, result.err);
  CHECK(result.exit_code == 0);
  const Json json = parse_json(result.out);
  CHECK(json["passed"] == true);
  CHECK(json["off"] == 0);
  CHECK(json["non_finite"] == 0);
}

TEST_CASE("assets: the gradient of boxes that stand exactly on each other is right to a millionth",
          "[apps][derivative]") {
  const ProgramResult result =
      run_program({"gradcheck", (assets("scenes") / "box_stack.toml").string(), "--samples", "50", "--seed",
                   "7", "--tolerance", "1e-6", "--json"});
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 0);
  const Json json = parse_json(result.out);
  CHECK(json["off"] == 0);
  CHECK(json["max_relative_error"].get<double>() <= 1e-6);
  CHECK(json["unresolved"].get<int>() <= 4);  // edges that lose their weight next to their ends
}

TEST_CASE("assets: every experiment goes through its verb", "[apps][value]") {
  const std::vector<std::string> experiments = files_of("experiments");
  REQUIRE(experiments.size() >= 13);
  const std::string experiment = GENERATE_COPY(from_range(experiments));
  const std::string text = read_file(assets("experiments") / experiment);
  const bool is_car = contains(text, "experiment = \"car\""), has_goals = contains(text, "[[motion.goal]]");
  const std::string verb = is_car || has_goals ? "optimize" : "identify";

  const TemporaryFolder folder;
  for (const auto& entry : fs::directory_iterator(assets("experiments"))) {
    if (entry.is_directory())
      fs::create_directory_symlink(entry.path(), folder.path() / entry.path().filename());
  }
  const std::string file = folder.write("short.toml", is_car ? text : shortened(text));
  const fs::path out = folder.path() / "out";
  const ProgramResult result = run_program({verb, file, "--out", out.string(), "--json", "--quiet"});
  CAPTURE(experiment, verb, result.out, result.err);
  CHECK((result.exit_code == 0 || result.exit_code == 1));
  const Json json = parse_json(result.out);
  REQUIRE(json.is_object());
  CHECK(json.contains("status"));
  CHECK(fs::exists(out / (is_car ? "plan.csv" : "report.html")));
  CHECK(fs::exists(out / (is_car ? "plan.svg" : "result.json")));
}

}  // namespace
}  // namespace abut::test
