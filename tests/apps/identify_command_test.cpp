#include <catch2/catch.hpp>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/apps/program.h"

namespace abut::test {
namespace {

using Catch::Contains;
namespace fs = std::filesystem;

const fs::path k_experiments = fs::path(ABUT_SOURCE_DIR) / "assets" / "experiments";

/// A copy of an experiment, its scene and its data, without assets.
struct Copy {
  TemporaryFolder folder;
  std::string name;
  explicit Copy(std::string of) : name(std::move(of)) {
    fs::copy(k_experiments / (name + ".toml"), folder.path() / (name + ".toml"));
    fs::copy(k_experiments / name, folder.path() / name);
  }
  [[nodiscard]] std::string experiment() const { return (folder.path() / (name + ".toml")).string(); }
  [[nodiscard]] fs::path out() const { return folder.path() / "out"; }
};

const Json& estimate(const Json& result, const std::string& name) {
  for (const Json& row : result["estimates"]) {
    if (row["name"] == name) return row;
  }
  throw std::invalid_argument(name);
}

}  // namespace

TEST_CASE("abut identify: finds the radius and the restitution of a bouncing ball, and writes a page",
          "[apps][program]") {
  const Copy c("sphere_bounce");
  const ProgramResult run = run_program({"identify", c.experiment(), "--out", c.out().string()});
  CAPTURE(run.err, run.out);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.out, Contains("body.ball.restitution") && Contains("report.html"));
  CHECK_THAT(run.err, Contains("gradient") && Contains("at most left"));
  CHECK_FALSE(fs::exists(c.out() / "checkpoint.json"));
  const Json result = parse_json(read_file(c.out() / "result.json"));
  REQUIRE_FALSE(result.is_discarded());
  CHECK(result["status"] == "converged");
  const Json& radius = estimate(result, "body.ball.primitive.0.radius");
  CHECK(std::abs(radius["value"].get<double>() - 0.5) < 4.0 * radius["deviation"].get<double>());
  CHECK(radius["deviation"].get<double>() < 1e-3);
  CHECK_THAT(read_file(c.out() / "report.html"),
             Contains("<svg") && Contains("body.ball.primitive.0.radius"));

  const ProgramResult json =
      run_program({"identify", c.experiment(), "--out", c.out().string(), "--json", "-q"});
  CHECK(json.err.empty());
  CHECK(parse_json(json.out)["estimates"].size() == 2);
}

TEST_CASE("abut identify --make-data: writes the data that are there", "[apps][program]") {
  const Copy c("sphere_bounce_weightless");
  const fs::path data = c.folder.path() / c.name / "motion_0.csv";
  const std::string before = read_file(data);
  fs::remove(data);
  const ProgramResult run = run_program({"identify", c.experiment(), "--make-data"});
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.out, Contains("3 files"));
  const std::string after = read_file(data);
  CHECK(after.substr(0, after.find('\n')) == before.substr(0, before.find('\n')));
  CHECK(line_count(after) == line_count(before));
  // Its first row, to the digits that do not depend on the machine.
  const auto first = [](const std::string& text) { return text.substr(text.find('\n') + 1, 24); };
  CHECK(first(after) == first(before));
  CHECK(run_program({"identify", c.experiment(), "--make-data", "--seed", "2"}).exit_code == 0);
  CHECK(read_file(data) != after);
}

TEST_CASE("abut identify --repeat and --gradcheck tell how good answers and gradients are",
          "[apps][program]") {
  const Copy c("sphere_bounce");
  const ProgramResult repeat = run_program({"identify", c.experiment(), "--repeat", "4", "--json", "-q"});
  REQUIRE(repeat.exit_code == 0);
  const Json told = parse_json(repeat.out);
  CHECK(told["repetitions"] == 4);
  CHECK(told["unknowns"][0]["mean_error"].get<double>() < 0.006);  // diffsdfsim's, in metres
  const ProgramResult check = run_program({"identify", c.experiment(), "--gradcheck", "--json"});
  REQUIRE(check.exit_code == 0);
  CHECK(parse_json(check.out)["median_relative_error"].get<double>() < 1e-6);
  CHECK_THAT(run_program({"identify", c.experiment(), "--gradcheck"}).out, Contains("median"));
}

TEST_CASE("abut identify: stops at an interrupt with the best so far, and goes on", "[apps][program]") {
  const Copy c("sphere_bounce");
  // So many iterations that there is always time for the signal.
  const std::string text = read_file(c.experiment());
  c.folder.write(c.name + ".toml", text + "\n[search]\nstarts = 1000\n");
  const std::string out = c.out().string(), experiment = c.experiment();
  const pid_t child = ::fork();
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    ::execl(ABUT_EXECUTABLE, ABUT_EXECUTABLE, "identify", experiment.c_str(), "--out", out.c_str(), nullptr);
    ::_exit(127);
  }
  while (!fs::exists(c.out() / "checkpoint.json")) ::usleep(10000);
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(parse_json(read_file(c.out() / "result.json"))["status"] == "stopped");
  CHECK(fs::exists(c.out() / "checkpoint.json"));

  const ProgramResult other =
      run_program({"identify", (k_experiments / "sphere_bounce.toml").string(), "--out", out, "--resume"});
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.err, Contains("checkpoint.json") && Contains("another experiment"));
  c.folder.write(c.name + ".toml", text);
  fs::remove(c.out() / "checkpoint.json");
  const ProgramResult nothing = run_program({"identify", experiment, "--out", out, "--resume"});
  CHECK(nothing.exit_code == 2);
  CHECK_THAT(nothing.err, Contains("nothing to go on with"));
}

TEST_CASE("abut identify: mistakes are named, and nothing is written", "[apps][program]") {
  const Copy c("sphere_bounce");
  const auto complaint = [&](const std::string& file, const std::string& from, const std::string& to) {
    const std::string text = read_file(c.folder.path() / file);
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    c.folder.write(file, changed);
    const ProgramResult run = run_program({"identify", c.experiment(), "--out", c.out().string()});
    c.folder.write(file, text);
    CHECK(run.exit_code == 2);
    CHECK(line_count(run.err) == 1);
    CHECK_FALSE(fs::exists(c.out()));
    return run.err;
  };
  CHECK_THAT(complaint("sphere_bounce.toml", "body.ball.restitution", "body.ball.restitutoin"),
             Contains("sphere_bounce.toml:15") && Contains("did you mean 'body.ball.restitution'"));
  CHECK_THAT(complaint("sphere_bounce/motion_1.csv", "0.04,", "0.01,"),
             Contains("motion_1.csv:3") && Contains("does not lie after"));
  CHECK_THAT(complaint("sphere_bounce/motion_1.csv", "\"ball\"", "\"bal\""),
             Contains("motion_1.csv:2") && Contains("did you mean 'ball'"));
  CHECK_THAT(complaint("sphere_bounce/motion_1.csv", "0.02,\"ball\",", "0.02,\"ball\",nan"),
             Contains("motion_1.csv:2") && Contains("position_x"));
  CHECK_THAT(complaint("sphere_bounce.toml", "[[motion]]", "[shooting]\nsegments = 1000\n[[motion]]"),
             Contains("sphere_bounce.toml: ") && Contains("segments"));
  for (const char* const other : {"--make-data", "--gradcheck", "--resume"}) {
    const ProgramResult both = run_program({"identify", c.experiment(), "--repeat", "2", other});
    CHECK(both.exit_code == 2);
    CHECK_THAT(both.err, Contains("--repeat") && Contains(other));
  }
  CHECK(run_program({"identify", c.experiment(), "--repeat", "2", "--outliers", "2"}).exit_code == 2);
  CHECK(run_program({"identify", c.experiment(), "--repeat", "2", "--noise-factor", "nan"}).exit_code == 2);
  CHECK_THAT(run_program({"identify", c.experiment(), "--noise-factor", "3"}).err,
             Contains("--noise-factor") && Contains("--repeat"));
  CHECK(run_program({"identify"}).exit_code == 2);
  CHECK(run_program({"identify", "none.toml"}).exit_code == 2);
  CHECK(run_program({"identify", c.experiment(), "--threads", "0"}).exit_code == 2);
}

TEST_CASE("abut optimize: plans how a car gets past a bus, and says when it cannot", "[apps][program]") {
  const TemporaryFolder folder;
  const std::string experiment = (k_experiments / "car_past_bus.toml").string(),
                    out = (folder.path() / "out").string();
  const ProgramResult run = run_program({"optimize", experiment, "--out", out, "--json", "-q"});
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  const Json plan = parse_json(run.out);
  CHECK(plan["status"] == "solved");
  CHECK(plan["worst_collision"].get<double>() <= 1e-4);
  CHECK(plan["worst_defect"].get<double>() <= 1e-4);
  CHECK(fs::exists(folder.path() / "out" / "plan.csv"));
  CHECK(fs::exists(folder.path() / "out" / "plan.svg"));
  CHECK(run_program({"identify", experiment, "--out", out}).exit_code == 2);
}

}  // namespace abut::test
