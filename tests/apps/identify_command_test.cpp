#include <catch2/catch.hpp>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/abut/trajectory_file.h"
#include "apps/identification/experiment_io.h"
#include "apps/identification/unit_check.h"
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

/// A table of measurements with one of its numbers changed in all rows, or in one (from 1, the header is 0).
void change_numbers(const fs::path& file, int column, const std::function<double(double)>& change,
                    int only_row = -1) {
  std::istringstream in(read_file(file));
  std::string out;
  int row = 0;
  for (std::string line; std::getline(in, line); ++row) {
    std::vector<std::string> fields;
    std::istringstream of_line(line);
    for (std::string field; std::getline(of_line, field, ',');) fields.push_back(field);
    auto& field = fields.at(static_cast<std::size_t>(column));
    if (row > 0 && (only_row < 0 || row == only_row)) field = std::to_string(change(std::stod(field)));
    for (std::size_t i = 0; i < fields.size(); ++i) out += (i == 0 ? "" : ",") + fields[i];
    out += '\n';
  }
  std::ofstream(file) << out;
}

const Json& estimate(const Json& result, const std::string& name) {
  for (const Json& row : result["estimates"]) {
    if (row["name"] == name) return row;
  }
  throw std::invalid_argument(name);
}

/// An experiment of a box that is thrown over a floor to a goal, and its scene.
std::string write_thrown_box(const TemporaryFolder& folder, const std::string& unknown,
                             const std::string& search) {
  folder.write("scene.toml", R"([simulation]
time_step = 0.002
steps = 300
[[body]]
name = "floor"
friction = 0.4
[[body.primitive]]
kind = "half_space"
[[body]]
name = "box"
mass = 1
friction = 0.4
position = [0, 0, 0.2]
linear_velocity = [1, 0, 0]
angular_velocity = [0, 4, 3]
[[body.primitive]]
kind = "rounded_box"
half_extents = [0.05, 0.05, 0.05]
edge_radius = 0.005
)");
  const std::string text =
      "scene = \"scene.toml\"\n" + search + "[[unknown]]\nname = \"body.box." + unknown + R"("
[[motion]]
[[motion.goal]]
kind = "pose"
body = "box"
time = 0.6
position = [0.4, 0.02, 0.06]
position_tolerance = 0.002
)";
  return folder.write("experiment.toml", text).string();
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

TEST_CASE("abut identify: data in millimetres are no answer, and the factor is named first",
          "[apps][program]") {
  const Copy c("sphere_bounce");
  for (int m = 0; m < 3; ++m) {
    const fs::path data = c.folder.path() / c.name / ("motion_" + std::to_string(m) + ".csv");
    for (int column = 2; column < 5; ++column)
      change_numbers(data, column, [](double metres) { return 1000.0 * metres; });
  }
  const ProgramResult run = run_program({"identify", c.experiment(), "--out", c.out().string()});
  CAPTURE(run.out, run.err);
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.err, Contains("warning: positions look like millimetres"));
  CHECK(run.out.rfind("Not explained: ", 0) == 0);
  CHECK(run.out.find("millimetres") < run.out.find("unknowns by"));
  const Json verdict = parse_json(read_file(c.out() / "result.json"))["verdict"];
  CHECK(verdict["status"] == "not_explained");
  CHECK(verdict["is_answer"] == false);
  CHECK_THAT(verdict["checks"][0].get<std::string>(), Contains("multiplied by 0.001"));
  CHECK_THAT(read_file(c.out() / "report.html"),
             Contains("Not explained: ") && Contains("look like millimetres"));
}

TEST_CASE("abut identify: times in milliseconds are refused before they are searched", "[apps][program]") {
  const Copy c("sphere_bounce");
  for (int m = 0; m < 3; ++m) {
    change_numbers(c.folder.path() / c.name / ("motion_" + std::to_string(m) + ".csv"), 0,
                   [](double seconds) { return 1000.0 * seconds; });
  }
  const ProgramResult run = run_program({"identify", c.experiment(), "--out", c.out().string()});
  CAPTURE(run.out, run.err);
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.err, Contains("times look like milliseconds: multiplied by 0.001"));
  CHECK_FALSE(fs::exists(c.out()));
}

TEST_CASE("abut identify: an outlier is named by file and row, with the loss for it", "[apps][program]") {
  const Copy c("sphere_bounce");
  change_numbers(
      c.folder.path() / c.name / "motion_1.csv", 2, [](double x) { return x + 0.5; }, 12);
  const std::vector<std::string> arguments{"identify", c.experiment(), "--out", c.out().string(), "-q"};
  const ProgramResult run = run_program(arguments);
  CAPTURE(run.out, run.err);
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.out, Contains("motion_1.csv:13 (position.x of 'ball'") && Contains("loss = \"cauchy\""));
  c.folder.write(c.name + ".toml", read_file(c.experiment()) + "\n[search]\nloss = \"cauchy\"\n");
  CHECK(run_program(arguments).exit_code == 0);
}

TEST_CASE("abut identify: an estimate at a bound is no answer", "[apps][program]") {
  const Copy c("sphere_bounce");
  std::string text = read_file(c.experiment());
  text.replace(text.find("upper = 1\ntruth = 0.7"), 9, "upper = 0.695");  // a noise's width from the truth
  c.folder.write(c.name + ".toml", text);
  const ProgramResult run = run_program({"identify", c.experiment(), "--out", c.out().string(), "-q"});
  CAPTURE(run.out, run.err);
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.out, Contains("body.ball.restitution lies at its upper bound, 0.695"));
}

TEST_CASE("abut identify: a planar track is enough where it tells", "[apps][program]") {
  const Copy c("sphere_bounce");
  for (int m = 0; m < 3; ++m) {
    const fs::path data = c.folder.path() / c.name / ("motion_" + std::to_string(m) + ".csv");
    std::string text = read_file(data);
    const std::string name = "position_y";
    text.replace(text.find(name), name.size(), "depth");  // what the camera did not see
    std::ofstream(data) << text;
  }
  const ProgramResult run = run_program({"identify", c.experiment(), "--out", c.out().string(), "-q"});
  CAPTURE(run.out, run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, Contains("no column position_y") && Contains("body.ball.restitution"));
}

TEST_CASE("abut optimize: a plan with another shape is a scene that repeats it", "[apps][program]") {
  const TemporaryFolder folder;
  const std::string unknown = GENERATE("half_extents", "position", "edge_radius");
  const std::string experiment =
      write_thrown_box(folder, "primitive.0." + unknown, "[search]\nmax_iterations = 2\n");
  const std::string out = (folder.path() / "out").string(), again = out + "/again.npz";
  const ProgramResult run = run_program({"optimize", experiment, "--out", out, "-q"});
  CAPTURE(unknown, run.out, run.err);
  REQUIRE(run.exit_code <= 1);
  const ProgramResult repeated = run_program({"run", out + "/best.toml", "--out", again, "--quiet"});
  CAPTURE(repeated.err);
  REQUIRE(repeated.exit_code == 0);
  CHECK(read_npz(out + "/best.npz").at("position").doubles() == read_npz(again).at("position").doubles());
}

TEST_CASE("abut optimize: a step to an inertia whose coordinates are lost in rounding is taken back",
          "[apps][program]") {
  const TemporaryFolder folder;
  const std::string experiment = write_thrown_box(folder, "inertia", "");
  const std::string out = (folder.path() / "out").string();
  const ProgramResult run = run_program({"optimize", experiment, "--out", out, "-q"});
  CAPTURE(run.out, run.err);
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.out, Contains("Not reached: the goal is missed") && Contains("The loss went from"));
  CHECK(fs::exists(out + "/best.toml"));

  // An extent of exp(-70) m vanishes beside the others: the last digits say whether it has a derivative.
  std::string text = read_file(experiment);
  const std::string name = "\"body.box.inertia\"";
  text.insert(text.find(name) + name.size(), "\ninitial = [-70, -3.1, -4.5, 0.022, 0.007, 0.006]");
  const ProgramResult flat =
      run_program({"optimize", folder.write("flat.toml", text).string(), "--out", out, "-q"});
  CAPTURE(flat.out, flat.err);
  CHECK(flat.exit_code == 1);
  CHECK_THAT(flat.out + flat.err, Contains("'body.box.inertia.log_x' = -70"));
}

TEST_CASE("abut optimize: says whether goals are reached, and writes a plan that runs", "[apps][program]") {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "out").string(), best = out + "/best.toml",
                    trajectory = out + "/again.npz";
  const std::string experiment = (k_experiments / "drill_push.toml").string();
  const ProgramResult run = run_program({"optimize", experiment, "--out", out, "-q"});
  CAPTURE(run.out, run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(run.out.rfind("Reached: all 4 goals are within tolerance", 0) == 0);
  CHECK_THAT(run.out, Contains("position of 'drill' at 0.8 s off by") && Contains("abut run"));
  for (const char* of_data : {"residual", "measured", "noise", "chi square"})
    CHECK_THAT(read_file(out + "/report.html"), !Contains(of_data));

  const ProgramResult again = run_program({"run", best, "--out", trajectory, "--json", "--quiet"});
  CAPTURE(again.err);
  REQUIRE(again.exit_code == 0);
  const auto planned = read_npz(out + "/best.npz"), repeated = read_npz(trajectory);
  for (const char* array : {"time", "position", "orientation_wxyz", "linear_velocity"}) {
    CAPTURE(array);
    CHECK(planned.at(array).shape == repeated.at(array).shape);
    CHECK(planned.at(array).doubles() == repeated.at(array).doubles());  // to the last bit
  }
  CHECK(scene_of_trajectory(out + "/best.npz") == fs::canonical(best));

  // Without the time to get there, and with nothing to get to.
  std::string text = read_file(experiment);
  const std::string scene = "drill_push/scene.toml";
  text.replace(text.find(scene), scene.size(), (k_experiments / scene).string());
  const std::string hasty = folder.write("hasty.toml", text + "max_iterations = 1\n").string();
  const ProgramResult missed = run_program({"optimize", hasty, "--out", out, "-q"});
  CHECK(missed.exit_code == 1);
  CHECK_THAT(missed.out, Contains("Not reached: ") && Contains("not reached") && Contains("starts = 12"));
  const ProgramResult none =
      run_program({"optimize", (k_experiments / "sphere_bounce.toml").string(), "--out", out});
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Contains("[[motion.goal]]"));
}

TEST_CASE("suspected_units: the factors of lengths and times that explain the data", "[apps][value]") {
  const auto name_of = [](double length, double time) {
    ExperimentFile file = read_experiment(k_experiments / "sphere_bounce.toml");
    for (MeasuredMotion& motion : file.experiment.motions) {
      for (Measurement& measurement : motion.measurements) {
        measurement.time *= time;
        std::get<MeasuredPose>(measurement.what).p_WA *= length;
      }
    }
    std::string names;
    for (const UnitSuspicion& suspicion : suspected_units(MotionFit(file.experiment)))
      names += suspicion.text.substr(0, suspicion.text.find(':')) + ";";
    return names;
  };
  CHECK(name_of(1.0, 1.0).empty());
  CHECK(name_of(1000.0, 1.0) == "positions look like millimetres;");
  CHECK(name_of(100.0, 1.0) == "positions look like centimetres;");
  CHECK(name_of(1.0 / 0.0254, 1.0) == "positions look like inches;");
  CHECK(name_of(1.0, 1000.0) == "times look like milliseconds;");
  CHECK(name_of(1000.0, 1000.0) == "positions look like millimetres;times look like milliseconds;");
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
  CHECK(plan["iterations"].get<int>() > 0);
  CHECK(plan["quadratic_programs"] == 0);
  CHECK(plan["units"]["worst_collision"] == "m");
  CHECK(run_program({"identify", experiment, "--out", out}).exit_code == 2);
}

TEST_CASE("abut optimize: plans a car's way past polygons, and refuses one that is not convex",
          "[apps][program]") {
  const TemporaryFolder folder;
  const fs::path experiment = k_experiments / "car_past_polygons.toml";
  const std::string out = (folder.path() / "out").string();
  const ProgramResult run = run_program({"optimize", experiment.string(), "--out", out, "-q"});
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.out, Contains("quadratic programs of") && Contains(" m at a knot") && Contains("wall time"));

  std::string text = read_file(experiment);
  text.replace(text.find("[30.0, 2.0]"), 11, "[27.0, 2.5]");
  const ProgramResult refused =
      run_program({"optimize", folder.write("bent.toml", text).string(), "--out", out, "-q"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err,
             Contains("bent.toml:36: obstacle[1].polygon: it is not convex at corner 3, allowed: a "
                      "convex polygon of 3 to 8 corners"));
}

}  // namespace abut::test
