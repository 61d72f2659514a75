#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <catch2/catch.hpp>

#include "apps/abut/batch_command.h"
#include "apps/abut/batch_journal.h"
#include "apps/abut/batch_table.h"
#include "apps/abut/report.h"
#include "apps/abut/trajectory_file.h"
#include "dynamics/simulator.h"
#include "engine/npz.h"
#include "tests/apps/program.h"
#include "tests/support/close.h"
#include "tests/support/malformed.h"

namespace abut::test {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

const std::string k_head = "scene = \"scene.toml\"\nsteps = 25\n";
const std::string k_rows = k_head + R"(columns = ["body.ball.friction", "body.box, tilted.linear_velocity.x"]
rows = [[0.1, 0.5],
        [0.2, 0.6],
        [0.3, -1]]
)";

/// A folder with a scene and a table of rollouts beside it.
struct Workplace {
  explicit Workplace(const std::string& table_text, const std::string& scene_text = k_scene) {
    scene = folder.write("scene.toml", scene_text);
    table = folder.write("batch.toml", table_text);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder.path() / name; }
  [[nodiscard]] BatchArguments arguments(const std::string& out) const {
    BatchArguments result;
    result.table = table;
    result.out = path(out);
    result.threads = 2;
    result.json = result.quiet = true;
    return result;
  }

  TemporaryFolder folder;
  std::string scene, table;
};

std::vector<double> row_of(const BatchTable& table, int rollout) {
  const auto p = static_cast<std::ptrdiff_t>(table.parameters().size());
  return {table.values().begin() + rollout * p, table.values().begin() + (rollout + 1) * p};
}

// The table ------------------------------------------------------------------------------------------------

TEST_CASE("BatchTable: rows, grid and samples are multiplied, samples change fastest", "[apps][value]") {
  const Workplace place(k_rows + R"([grid]
"body.ball.mass" = [1, 2]
simulation.gravity.z = [-9.81, -1.62, -3.7]
[random]
seed = 11
count = 2
[random.uniform]
body.ball.position.x = [0.4, 0.6]
)");
  const BatchTable table(place.table);
  REQUIRE(table.rollouts() == 3 * 2 * 3 * 2);
  CHECK(table.steps() == 25);
  std::vector<std::string> names;
  for (const SceneParameter& parameter : table.parameters()) names.push_back(parameter.name);
  CHECK(names == std::vector<std::string>{"body.ball.friction", "body.box, tilted.linear_velocity.x",
                                          "body.ball.mass", "simulation.gravity.z", "body.ball.position.x"});
  const std::vector<double> friction{0.1, 0.2, 0.3}, speed{0.5, 0.6, -1.0}, mass{1, 2},
      gravity{-9.81, -1.62, -3.7};
  std::set<double> samples;
  for (int i = 0; i < table.rollouts(); ++i) {
    CAPTURE(i);
    const auto row = row_of(table, i);
    const auto r = static_cast<std::size_t>(i);
    CHECK(row[0] == friction[r / 12]);
    CHECK(row[1] == speed[r / 12]);
    CHECK(row[2] == mass[r / 6 % 2]);
    CHECK(row[3] == gravity[r / 2 % 3]);
    CHECK(row[4] >= 0.4);
    CHECK(row[4] <= 0.6);
    samples.insert(row[4]);
  }
  CHECK(samples.size() == 36);
  CHECK(BatchTable(place.table).values() == table.values());
}

TEST_CASE("BatchTable: another seed draws other numbers, spread over the range", "[apps][value]") {
  const auto draw = [](int seed) {
    const Workplace place(k_head + "[random]\nseed = " + std::to_string(seed) +
                          "\ncount = 400\n[random.uniform]\nbody.ball.friction = [0.2, 0.8]\n");
    return BatchTable(place.table).values();
  };
  const std::vector<double> a = draw(1), b = draw(2);
  CHECK(a != b);
  for (const auto& values : {a, b}) {
    double sum = 0.0;
    for (const double x : values) sum += x;
    CHECK(std::abs(sum / 400.0 - 0.5) < 0.04);  // 4.6 standard deviations of the mean
    CHECK(*std::min_element(values.begin(), values.end()) < 0.22);
    CHECK(*std::max_element(values.begin(), values.end()) > 0.78);
  }
}

TEST_CASE("BatchTable: a parameter does what the same number in the scene would do", "[apps][value]") {
  struct Case {
    std::string parameter, value, old_text, new_text;
  };
  const std::string box = "density = 500.0\n", ball = "density = 700.0\n";
  const std::vector<Case> cases{
      {"body.ball.mass", "1.5", ball, "mass = 1.5\n"},
      {"body.ball.density", "321", ball, "density = 321\n"},
      {"body.ball.friction", "0.7", ball, ball + "friction = 0.7\n"},
      {"body.ball.stiffness", "2e3", ball, ball + "stiffness = 2e3\n"},
      {"body.ball.stiffness", "inf", ball, ball + "stiffness = inf\n"},
      {"body.ball.dissipation_time", "0.03", ball, ball + "dissipation_time = 0.03\n"},
      {"body.ball.restitution", "0.5", ball, ball + "restitution = 0.5\n"},
      {"body.ball.linear_damping", "0.5", ball, ball + "linear_damping = 0.5\n"},
      {"body.ball.angular_damping", "0.5", ball, ball + "angular_damping = 0.5\n"},
      {"body.ball.position.y", "0.25", "[0.5, 0.0, 0.0599]", "[0.5, 0.25, 0.0599]"},
      {"body.box, tilted.rotation_vector.y", "-0.01", "[0.02, 0.03, 0.4]", "[0.02, -0.01, 0.4]"},
      {"body.box, tilted.linear_velocity.z", "-0.1", "[0.5, 0.1, -0.2]", "[0.5, 0.1, -0.1]"},
      {"body.ball.angular_velocity.y", "2", "[3.0, 0.0, 0.0]", "[3.0, 2, 0.0]"},
      {"body.ball.force.x", "3", ball, ball + "force = [3, 0, 0]\n"},
      {"body.ball.torque.z", "0.2", ball, ball + "torque = [0, 0, 0.2]\n"},
      {"pair.ball.floor.friction", "0.9", "[simulation]",
       "pair = [{bodies = [\"floor\", \"ball\"], friction = 0.9}]\n[simulation]"},
      {"pair.floor.ball.restitution", "0.9", "[simulation]",
       "pair = [{bodies = [\"floor\", \"ball\"], restitution = 0.9}]\n[simulation]"},
      {"simulation.time_step", "0.001", "time_step = 0.002", "time_step = 0.001"},
      {"simulation.stiction_factor", "0.5", "[simulation]", "[simulation]\nstiction_factor = 0.5"},
      {"simulation.gravity.x", "1", "[simulation]", "[simulation]\ngravity = [1, 0, -9.81]"}};
  const auto end_of = [](const Scene& scene) {
    return Simulator(scene.model, scene.config.step).rollout(scene.initial, 25).states.back();
  };
  const Scene plain = read_scene(Workplace(k_rows).scene);
  for (const Case& c : cases) {
    CAPTURE(c.parameter);
    const Workplace place(k_head + "[grid]\n\"" + c.parameter + "\" = [" + c.value + "]\n");
    std::string text = k_scene;
    text.replace(text.find(c.old_text), c.old_text.size(), c.new_text);
    const BatchTable table(place.table);
    REQUIRE(table.rollouts() == 1);
    const State given = end_of(table.scene_of(0)),
                expected = end_of(read_scene(place.folder.write("other.toml", text)));
    // Rounded differently where an inertia is scaled or a rotation is taken apart; the rest is the same.
    for (std::size_t b = 0; b < 3; ++b) {
      CHECK(close(given.X_WB[b].p, expected.X_WB[b].p, 1e-9, 1e-9));
      CHECK(close(given.X_WB[b].q.coeffs(), expected.X_WB[b].q.coeffs(), 1e-9, 1e-9));
      CHECK(close(given.V_WB[b], expected.V_WB[b], 1e-7, 1e-7));
    }
    // The ball rests, so restitution does not show; that it is set does.
    if (c.parameter == "body.ball.restitution") {
      CHECK(table.scene_of(0).model.bodies[2].material.restitution == 0.5);
    } else if (c.parameter == "pair.floor.ball.restitution") {
      CHECK(table.scene_of(0).model.pair_overrides.at(0).restitution == 0.9);
    } else if (c.value != "inf") {
      CHECK(state_hash(given) != state_hash(end_of(plain)));  // not vacuous
    }
    const BatchTask task = table.task_of(0);
    CHECK(state_hash(task.simulator->rollout(task.initial, 25).states.back()) == state_hash(given));
  }
}

TEST_CASE("BatchTable: the same number of two primitives is two parameters", "[apps][value]") {
  const Workplace place(
      k_head + "[grid]\n\"body.pin.primitive.0.radius\" = [0.05]\n\"body.pin.primitive.1.radius\" = [0.07]\n",
      R"([[body]]
name = "pin"
mass = 0.5
center_of_mass = [0, 0, 0.025]
inertia = [1e-3, 1e-3, 8e-4, 0, 0, 0]
[body.contact]
points = [[0, 0, -0.06], [0, 0, 0.11]]
[[body.primitive]]
kind = "sphere"
radius = 0.06
[[body.primitive]]
kind = "sphere"
radius = 0.06
position = [0, 0, 0.05]
)");
  const Scene scene = BatchTable(place.table).scene_of(0);
  const std::vector<Primitive>& primitives = scene.model.bodies.front().shape.primitives;
  CHECK(primitives[0].parameters[0] == 0.05);
  CHECK(primitives[1].parameters[0] == 0.07);
}

TEST_CASE("BatchTable: a malformed table is refused with file, line and cause", "[apps][value]") {
  struct Case {
    std::string text;
    std::vector<std::string> parts;
  };
  const std::string grid = k_head + "[grid]\n", uniform = k_head + "[random]\ncount = 2\n[random.uniform]\n";
  const std::vector<Case> cases{
      {"steps = 3\n", {"missing key 'scene'"}},
      {"scene = \"none.toml\"\n", {":1: ", "there is no file", "none.toml"}},
      {k_head, {"nothing differs"}},
      {k_head + "coluns = []\n", {":3: ", "unknown key 'coluns'"}},
      {k_head + "columns = [\"body.ball.friction\"]\n", {"missing key 'rows'"}},
      {k_head + "rows = [[1]]\n", {"missing key 'columns'"}},
      {k_head + "columns = []\nrows = []\n", {":3: ", "no column"}},
      {k_head + "columns = [\"body.ball.friction\"]\nrows = []\n", {":4: ", "no row"}},
      {k_head + "columns = [\"body.ball.friction\"]\nrows = [[1],\n[1, 2]]\n",
       {":5: ", "rows[1]", "an array of 1 numbers"}},
      {k_head + "columns = [\"body.ball.friction\"]\nrows = [[1],\n[\"a\"]]\n",
       {":5: ", "rows[1][0]", "\"a\""}},
      {k_head + "columns = [\"body.ball.friction\"]\nrows = [[1],\n[2],\n[-1]]\n",
       {":6: ", "rows[2], column 'body.ball.friction' = -1, allowed: >= 0"}},
      {k_head + "columns = [\"body.ball.friction\"]\nrows = [[nan]]\n", {":4: ", "nan"}},
      {k_head + "columns = [\"body.ball.friction\", \"body.ball.friction\"]\nrows = [[1, 1]]\n",
       {":3: ", "'body.ball.friction' is given twice"}},
      {k_rows + "[grid]\n\"body.ball.friction\" = [1]\n", {":8: ", "is given twice"}},
      {grid + "simulation.adaptive_substeps = [1]\n",
       {":4: ", "'simulation.adaptive_substeps' is a switch, true or false, and no number"}},
      {grid + "\"pair.ball.floor.friction\" = [1]\n\"pair.floor.ball.friction\" = [1]\n",
       {":5: ", "'pair.floor.ball.friction' is given twice"}},
      {grid + "\"body.ball.mass\" = [1]\n\"body.ball.density\" = [1]\n", {":5: ", "only one of"}},
      {grid + "\"body.bal.mass\" = [1]\n",
       {":4: ", "no parameter 'body.bal.mass'", "did you mean 'body.ball.mass'?"}},
      {grid + "\"body.ball.frction\" = [1]\n", {"did you mean 'body.ball.friction'?"}},
      {grid + "\"simulation.timestep\" = [1]\n", {"did you mean 'simulation.time_step'?"}},
      {grid + "\"pair.ball.floor.frictoin\" = [1]\n", {"did you mean 'pair.ball.floor.friction'?"}},
      {grid + "\"body.ball.position\" = [1]\n", {"no parameter 'body.ball.position'"}},
      {grid + "\"body.floor.mass\" = [1]\n", {":4: ", "half_space has no mass"}},
      {grid + "\"body.floor.linear_velocity.x\" = [1]\n", {":4: ", "a fixed body has no velocity"}},
      {grid + "\"body.ball.restitution\" = [0.5,\n1.5]\n", {":4: ", "value 1 of ", "1.5", "[0, 1]"}},
      {grid + "\"body.ball.mass\" = [0]\n", {":4: ", "> 0"}},
      {grid + "\"body.ball.mass\" = [inf]\n", {":4: ", "finite"}},
      {grid + "\"body.ball.mass\" = []\n", {":4: ", "has no value"}},
      {grid + "\"body.ball.mass\" = 1\n", {":4: ", "an array of numbers"}},
      {grid + "\"simulation.max_iterations\" = [1.5]\n", {":4: ", "a whole number"}},
      {grid + "\"simulation.max_iterations\" = [0]\n", {":4: ", ">= 1"}},
      {grid, {"no parameter"}},
      {k_head + "[random]\nseed = 1\n", {":3: ", "missing key 'count'"}},
      {k_head + "[random]\ncount = 0\n", {":4: ", "count", ">= 1"}},
      {k_head + "[random]\ncount = 1\n", {"no parameter in [random.uniform]"}},
      {uniform + "\"body.ball.mass\" = [2, 1]\n", {":6: ", "the smaller one first"}},
      {uniform + "\"body.ball.mass\" = [1]\n", {":6: ", "two finite numbers"}},
      {uniform + "\"body.ball.stiffness\" = [1, inf]\n", {":6: ", "two finite numbers"}},
      {uniform + "\"body.ball.mass\" = [-1, 1]\n", {":6: ", "> 0"}},
      {uniform + "\"simulation.max_iterations\" = [1, 5]\n", {":6: ", "is a whole number"}},
      {k_rows + "[random]\ncount = 1000000\n[random.uniform]\nbody.ball.mass = [1, 2]\n",
       {"3000000 rollouts, allowed: at most 1000000"}},
      {k_head + "[[grid]]\n", {"a table, [grid]"}},
      {"scene = \n", {":1: ", "not valid TOML"}}};
  for (const Case& c : cases) {
    const Workplace place(c.text);
    const std::string message = rejection([&] { return BatchTable(place.table).rollouts(); });
    CAPTURE(c.text, message);
    CHECK(message.rfind(place.table + ":", 0) == 0);
    CHECK(missing_part(message, c.parts).empty());
  }
}

// The verb -------------------------------------------------------------------------------------------------

TEST_CASE("abut run --batch: writes parameters, last states and what became of each rollout",
          "[apps][value]") {
  const Workplace place(k_rows);
  const std::string out = place.path("new/batch.npz");
  const ProgramResult result =
      run_program({"run", "--batch", place.table, "--out", out, "--threads", "2", "--json", "--quiet"});
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  const Json json = parse_json(result.out);
  CHECK(json["rollouts"] == 3);
  CHECK(json["failed"] == 0);
  CHECK(json["resumed"] == 0);
  CHECK(json["threads"] == 2);
  CHECK(json["statuses"]["ok"] == 3);
  CHECK(json["steps_solved_by"]["newton"] == 75);
  CHECK_FALSE(fs::exists(batch_journal_path(out)));

  const auto arrays = read_npz(out);
  CHECK(arrays.at("parameter_names").texts() ==
        std::vector<std::string>{"body.ball.friction", "body.box, tilted.linear_velocity.x"});
  CHECK(arrays.at("body_names").texts() == std::vector<std::string>{"floor", "box, tilted", "ball"});
  CHECK(arrays.at("status_names").texts()[0] == "ok");
  CHECK(arrays.at("parameters").shape == std::vector<std::size_t>{3, 2});
  CHECK(arrays.at("parameters").doubles() == std::vector<double>{0.1, 0.5, 0.2, 0.6, 0.3, -1.0});
  CHECK(arrays.at("final_position").shape == std::vector<std::size_t>{3, 3, 3});
  CHECK(arrays.at("final_orientation_wxyz").shape == std::vector<std::size_t>{3, 3, 4});
  CHECK(arrays.count("position") == 0);
  CHECK(arrays.at("steps_solved_by_names").texts() ==
        std::vector<std::string>{"newton", "convex_pass", "graduated_friction", "other_start",
                                 "negative_determinant"});
  CHECK(arrays.at("steps_solved_by").shape == std::vector<std::size_t>{3, 5});
  CHECK(arrays.at("steps_solved_by").integers() ==
        std::vector<std::int64_t>{25, 0, 0, 0, 0, 25, 0, 0, 0, 0, 25, 0, 0, 0, 0});
  const BatchTable table(place.table);
  for (int i = 0; i < 3; ++i) {
    const auto r = static_cast<std::size_t>(i);
    const BatchTask task = table.task_of(i);
    State end;
    const StepReport report = simulate(task.simulator->stepper(), task.initial, 25, {}, end);
    CHECK(arrays.at("status").integers()[r] == 0);
    CHECK(arrays.at("steps").integers()[r] == 25);
    CHECK(arrays.at("state_hash").texts()[r] == hash_text(state_hash(end)));
    CHECK(arrays.at("energy_final").doubles()[r] == mechanical_energy(task.simulator->model(), end));
    CHECK(arrays.at("max_penetration").doubles()[r] >= report.max_penetration);
    const Vec3<double> p = end.X_WB[2] * task.simulator->model().bodies[2].p_BA;
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(arrays.at("final_position").doubles()[9 * r + 6 + k] == p[static_cast<int>(k)]);
  }
}

TEST_CASE("abut run --batch: any number of threads gives the same bytes, trajectories included",
          "[apps][determinism]") {
  const Workplace place(k_rows);
  std::vector<std::string> files;
  for (const char* threads : {"1", "2", "5"}) {
    const std::string out = place.path(std::string(threads) + ".npz");
    REQUIRE(run_program({"run", "--batch", place.table, "--out", out, "--threads", threads, "--trajectories",
                         "--quiet"})
                .exit_code == 0);
    files.push_back(read_file(out));
  }
  CHECK(files[1] == files[0]);
  CHECK(files[2] == files[0]);
  const auto arrays = read_npz(place.path("1.npz"));
  REQUIRE(arrays.at("position").shape == std::vector<std::size_t>{3, 26, 3, 3});
  CHECK(arrays.at("time").shape == std::vector<std::size_t>{3, 26});
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t k = 0; k < 9; ++k) {
      CHECK(arrays.at("position").doubles()[9 * (26 * r + 25) + k] ==
            arrays.at("final_position").doubles()[9 * r + k]);
    }
  }
}

TEST_CASE("abut run --batch: a rollout that fails is told, and does not stop the others", "[apps][value]") {
  const Workplace place(k_head + "[grid]\n\"body.ball.force.x\" = [0, 1e4, 1]\n",
                        scene_with("speed_limit = 20"));
  const std::string out = place.path("batch.npz");
  const ProgramResult result =
      run_program({"run", "--batch", place.table, "--out", out, "--trajectories", "--json", "--quiet"});
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("1 of 3 rollouts failed; rollout 1: step ") && Contains("body 'ball'") &&
                             Contains("allowed: 20 m/s"));
  CHECK(line_count(result.err) == 1);
  CHECK(parse_json(result.out)["statuses"]["too_fast"] == 1);
  const auto arrays = read_npz(out);
  const auto& status = arrays.at("status").integers();
  CHECK(status[0] == 0);
  CHECK(arrays.at("status_names").texts()[static_cast<std::size_t>(status[1])] == "too_fast");
  CHECK(status[2] == 0);
  const auto steps = static_cast<std::size_t>(arrays.at("steps").integers()[1]);
  REQUIRE(steps < 25);
  for (std::size_t k = 0; k < 26; ++k) CHECK(std::isnan(arrays.at("time").doubles()[26 + k]) == (k > steps));
}

TEST_CASE("abut run --batch: options that make no sense are refused", "[apps][value]") {
  const Workplace place(k_rows);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"run"}, "SCENE"},
      {{"run", place.scene, "--batch", place.table}, "--batch"},
      {{"run", place.scene, "--threads", "2"}, "--batch"},
      {{"run", place.scene, "--resume"}, "--batch"},
      {{"run", "--batch", place.table, "--resume"}, "--out"},
      {{"run", "--batch", place.table, "--trajectories"}, "--out"},
      {{"run", "--batch", place.table, "--threads", "0"}, "--threads"},
      {{"run", "--batch", place.table, "--dt", "0.1"}, "--dt"},
      {{"run", "--batch", place.table, "--out", place.path("t.csv")}, "allowed: .npz"},
      {{"run", "--batch", place.table, "--out", place.table + "/t.npz"}, "is not a folder"},
      {{"run", "--batch", place.path("none.toml")}, "none.toml"}};
  for (const auto& [arguments, part] : cases) {
    const ProgramResult result = run_program(arguments);
    CAPTURE(arguments, result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, Contains(part));
    CHECK(line_count(result.err) == 1);
  }
  CHECK(std::distance(fs::directory_iterator(place.folder.path()), fs::directory_iterator()) == 2);
}

// Stopped and resumed --------------------------------------------------------------------------------------

const std::string k_many = k_head + "[random]\ncount = 12\n[random.uniform]\nbody.ball.friction = [0, 1]\n";

/// Asks to stop after so many calls.
std::function<bool()> stop_after(int calls) {
  return [calls, asked = 0]() mutable { return ++asked <= calls; };
}

/// A batch that is stopped when about five rollouts have finished; returns how many records its journal
/// holds.
std::size_t stop_half_way(const BatchArguments& arguments) {
  CHECK(run_batch_table(arguments, stop_after(2)) == 1);
  CHECK_FALSE(fs::exists(arguments.out));
  REQUIRE(fs::exists(batch_journal_path(arguments.out)));
  return static_cast<std::size_t>(fs::file_size(batch_journal_path(arguments.out)));
}

TEST_CASE("abut run --batch: a batch that was stopped and resumed writes the same bytes",
          "[apps][determinism]") {
  const bool trajectories = GENERATE(false, true);
  const Workplace place(k_many);
  BatchArguments whole = place.arguments("whole.npz"), parts = place.arguments("parts.npz");
  whole.trajectories = parts.trajectories = trajectories;
  REQUIRE(run_batch_table(whole, [] { return true; }) == 0);
  const std::size_t size = stop_half_way(parts);
  const fs::path journal = batch_journal_path(parts.out);
  CHECK(size > 100);

  SECTION("as it was") {}
  SECTION("with half a record at its end") { fs::resize_file(journal, size - 5); }
  SECTION("with a record of which only the length is there") {
    std::ofstream(journal, std::ios::app | std::ios::binary).write("\x10\x00\x00\x00", 4);
  }
  SECTION("with a bit that flipped in its last record") {
    std::fstream file(journal, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size) - 9);
    file.put('\x55');
  }
  SECTION("with nothing but half a header") { fs::resize_file(journal, 7); }
  SECTION("stopped once more") {
    parts.resume = true;
    (void)run_batch_table(parts, stop_after(0));
  }
  parts.resume = true;
  REQUIRE(run_batch_table(parts, [] { return true; }) == 0);
  CHECK(read_file(parts.out) == read_file(whole.out));
  CHECK_FALSE(fs::exists(journal));
}

TEST_CASE("abut run --batch: resumed, it does not run again what has finished", "[apps][value]") {
  const Workplace place(k_many);
  (void)stop_half_way(place.arguments("batch.npz"));
  const ProgramResult result = run_program(
      {"run", "--batch", place.table, "--out", place.path("batch.npz"), "--resume", "--json", "--quiet"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(parse_json(result.out)["resumed"].get<int>() >= 3);
  CHECK(parse_json(result.out)["resumed"].get<int>() < 12);
}

TEST_CASE("abut run --batch: a journal that does not fit is refused, and stays", "[apps][value]") {
  const Workplace place(k_many);
  const BatchArguments arguments = place.arguments("batch.npz");
  (void)stop_half_way(arguments);
  const std::string journal = batch_journal_path(arguments.out), before = read_file(journal);
  std::vector<std::string> words{"run", "--batch", place.table, "--out", arguments.out, "--quiet"};
  std::string part = "go on with --resume";
  SECTION("without --resume") {}
  SECTION("of another table") {
    place.folder.write("batch.toml", k_many + "\n");
    words.emplace_back("--resume");
    part = "another batch";
  }
  SECTION("of another scene") {
    place.folder.write("scene.toml", k_scene + "\n");
    words.emplace_back("--resume");
    part = "another batch";
  }
  SECTION("of other options") {
    words.insert(words.end(), {"--resume", "--trajectories"});
    part = "another batch";
  }
  const ProgramResult result = run_program(words);
  CAPTURE(result.err);
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Contains(part) && Contains(journal));
  CHECK(line_count(result.err) == 1);
  CHECK(read_file(journal) == before);
}

TEST_CASE("abut run --batch: a file that is no journal is left alone", "[apps][value]") {
  const Workplace place(k_many);
  const std::string journal = place.folder.write("batch.npz.journal", "the diary of someone else");
  for (const bool resume : {false, true}) {
    std::vector<std::string> words{"run", "--batch", place.table, "--out", place.path("batch.npz")};
    if (resume) words.emplace_back("--resume");
    const ProgramResult result = run_program(words);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains("not touched"));
    CHECK(read_file(journal) == "the diary of someone else");
  }
}

TEST_CASE("abut run --batch: two programs do not share a journal", "[apps][value]") {
  const Workplace place(k_many);
  BatchJournal first(place.path("j"), 7, false);
  CHECK_THAT(rejection([&] { return BatchJournal(place.path("j"), 7, true).finished().size(); }),
             Contains("is in use"));
}

TEST_CASE("abut run --batch: Ctrl-C ends it with a whole journal and a word how to go on", "[apps][value]") {
  const Workplace place(
      "scene = \"scene.toml\"\nsteps = 200\n[random]\ncount = 3000\n[random.uniform]\n"
      "body.ball.friction = [0, 1]\n");
  const std::string out = place.path("batch.npz"), journal = batch_journal_path(out), err = place.path("err");
  std::vector<std::string> words{ABUT_EXECUTABLE, "run", "--batch", place.table, "--out", out, "--quiet"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  std::error_code ignored;
  for (int i = 0; i < 3000 && (!fs::exists(journal) || fs::file_size(journal, ignored) < 2000); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  const std::string message = read_file(err);
  CAPTURE(message);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  CHECK_THAT(message, Contains("stopped after ") && Contains("of 3000 rollouts") && Contains(journal) &&
                          Contains("--batch " + place.table + " --out " + out + " --resume"));
  CHECK_FALSE(fs::exists(out));
  CHECK(rejection([&] { return BatchJournal(journal, 0, true).finished().size(); }).find("another batch") !=
        std::string::npos);  // a journal, and not of key 0
}

}  // namespace
}  // namespace abut::test
