#include <array>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/joint_geometry.h"
#include "engine/npz.h"
#include "engine/scene_io.h"
#include "engine/scene_writer.h"
#include "tests/support/malformed.h"
#include "tests/support/temporary_folder.h"

using namespace abut;
namespace fs = std::filesystem;

namespace {

/// Lines 1 to 26, with the joints 0 'elbow' and 2 'wrist' that have motors; commands begin at line 27.
const std::string k_arm = R"([[body]]
name = "upper"
density = 500
primitive = [{kind = "sphere", radius = 0.1}]
[[body]]
name = "lower"
density = 500
position = [1, 0, 0]
primitive = [{kind = "sphere", radius = 0.1}]
[[joint]]
name = "elbow"
kind = "hinge"
body_B = "upper"
axis = [0, 1, 0]
motor = {kind = "velocity"}
[[joint]]
name = "rod"
kind = "ball"
body_A = "upper"
body_B = "lower"
[[joint]]
name = "wrist"
kind = "slider"
body_B = "lower"
axis = [0, 0, 1]
motor = {kind = "force", limit = 5}
)";

const std::string k_from_csv = "[[command]]\nfile = \"arm.csv\"\n",
                  k_from_npz = "[[command]]\nfile = \"arm.npz\"\n";

/// Arrays of a file of commands, right as they are.
struct Arrays {
  std::vector<double> time{0.0, 0.5, 1.0};
  std::vector<std::size_t> time_shape{3};
  std::vector<double> command{1, 10, 2, 20, 3, 30};
  std::vector<std::size_t> command_shape{3, 2};
  std::vector<std::string> names{"wrist", "elbow"};
};

struct File {
  test::TemporaryFolder folder;
  [[nodiscard]] fs::path path() const { return folder.path() / "scene.toml"; }
  [[nodiscard]] Scene read(const std::string& commands) const {
    return read_scene(folder.write("scene.toml", k_arm + commands));
  }
  /// The same, with what arm.csv says.
  [[nodiscard]] Scene read_csv(const std::string& csv, const std::string& commands = k_from_csv) const {
    folder.write("arm.csv", csv);
    return read(commands);
  }
  [[nodiscard]] Scene read_npz(const Arrays& arrays, const std::string& commands = k_from_npz) const {
    NpzWriter writer;
    writer.add("time", arrays.time, arrays.time_shape);
    writer.add("command", arrays.command, arrays.command_shape);
    writer.add("joint_names", arrays.names, std::array{arrays.names.size()});
    writer.write(folder.path() / "arm.npz");
    return read(commands);
  }
};

void check_table(const CommandTable& table, int motor, const std::vector<double>& values) {
  CHECK(table.motor == motor);
  CHECK(table.times == std::vector<double>{0.0, 0.5, 1.0});
  CHECK(table.values == values);
}

}  // namespace

TEST_CASE("read_scene: commands are read from the scene", "[engine][value]") {
  const File file;
  CHECK(file.read("").commands.empty());
  const Scene scene = file.read(
      "[[command]]\njoint = \"wrist\"\ntimes = [0, 0.5, 1]\nvalues = [1, -2, 3.5]\ninterpolation = "
      "\"linear\"\n"
      "[[command]]\njoint = \"elbow\"\ntimes = [0, 0.5, 1]\nvalues = [4, 5, 6]\n"
      "[[command]]\njoint = \"elbow\"\ntimes = [-1]\nvalues = [7]\ninterpolation = \"held\"\n");
  REQUIRE(scene.commands.size() == 3);
  check_table(scene.commands[0], 1, {1, -2, 3.5});
  CHECK(scene.commands[0].is_linear);
  check_table(scene.commands[1], 0, {4, 5, 6});
  CHECK_FALSE(scene.commands[1].is_linear);
  CHECK(scene.commands[2].times == std::vector<double>{-1});
  CHECK_FALSE(scene.commands[2].is_linear);
  CHECK(control_at(scene, 0.6, 0.002).commands.at(0) == 12.0);
}

TEST_CASE("read_scene: commands are read from a .csv file, of all motors or of one", "[engine][value]") {
  const File file;
  const std::string csv = "elbow,time,wrist\n1,0,10\n2,0.5,20\n3,1,30\n";
  const Scene scene = file.read_csv(csv, k_from_csv + "interpolation = \"linear\"\n");
  REQUIRE(scene.commands.size() == 2);
  check_table(scene.commands[0], 0, {1, 2, 3});
  check_table(scene.commands[1], 1, {10, 20, 30});
  CHECK(scene.commands[0].is_linear);
  CHECK(scene.commands[1].is_linear);
  CHECK(file.read_csv("time,wrist\n0,1\n").commands.size() == 1);
  // Of one joint, other columns do not count.
  const Scene one =
      file.read_csv("time,note,wrist\n0,a,1\n0.5,,2\n1,b,3\n", k_from_csv + "joint = \"wrist\"\n");
  REQUIRE(one.commands.size() == 1);
  check_table(one.commands[0], 1, {1, 2, 3});
}

TEST_CASE("read_scene: commands are read from a .npz file, of all motors or of one", "[engine][value]") {
  const File file;
  const Scene scene = file.read_npz({});
  REQUIRE(scene.commands.size() == 2);
  check_table(scene.commands[0], 1, {1, 2, 3});
  check_table(scene.commands[1], 0, {10, 20, 30});
  CHECK_FALSE(scene.commands[0].is_linear);
  const Scene one = file.read_npz({.names = {"sensor", "elbow"}}, k_from_npz + "joint = \"elbow\"\n");
  REQUIRE(one.commands.size() == 1);
  check_table(one.commands[0], 0, {10, 20, 30});
}

TEST_CASE("read_scene: a wrong command is refused with its line, key and cause", "[engine][value]") {
  const File file;
  const std::string of_elbow = "[[command]]\njoint = \"elbow\"\n", times = "times = [0, 0.5, 1]\n",
                    values = "values = [1, 2, 3]\n";
  file.folder.write("arm.csv", "time,elbow\n0,1\n");
  file.folder.write("arm.txt", "time,elbow\n0,1\n");
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"[[command]]\njoint = \"elbw\"\n" + times + values,
       {"scene.toml:28: command[0].joint: there is no joint or actuator 'elbw', allowed: elbow, wrist; did "
        "you mean "
        "'elbow'?"}},
      {"[[command]]\njoint = \"rod\"\n" + times + values,
       {"scene.toml:28: command[0].joint: joint 'rod' has no motor, allowed: elbow, wrist"}},
      {"[[command]]\n" + times + values, {"scene.toml:27: missing key 'joint' in command[0]"}},
      {"[[command]]\njoint = 3\n" + times + values,
       {"scene.toml:28: command[0].joint = 3, allowed: a string"}},
      {of_elbow, {"scene.toml:27: missing key 'times' in command[0], one of 'times', 'file' is needed"}},
      {of_elbow + values, {"one of 'times', 'file' is needed"}},
      {of_elbow + "time = [0]\n" + values, {"scene.toml:29", "unknown key 'time': did you mean 'times'?"}},
      {of_elbow + times, {"missing key 'values' in command[0]"}},
      {of_elbow + times + "file = \"arm.csv\"\n",
       {"scene.toml:30: command[0].file: only one of 'times', 'file' can be given"}},
      {of_elbow + "file = \"arm.csv\"\n" + values,
       {"scene.toml:30: command[0].values: the numbers are those of 'file'"}},
      {of_elbow + "times = []\nvalues = []\n",
       {"scene.toml:29: command[0].times: is empty, at least one time is needed"}},
      {of_elbow + "times = 0\n" + values,
       {"scene.toml:29: command[0].times = 0, allowed: an array of numbers"}},
      {of_elbow + "times = [0, 1, 0.5]\n" + values,
       {"scene.toml:29: command[0].times: time 0.5 does not lie after 1, the one before"}},
      {of_elbow + "times = [0, 0.5, 0.5]\n" + values, {"time 0.5 does not lie after 0.5"}},
      {of_elbow + "times = [0, inf, 1]\n" + values,
       {"scene.toml:29: command[0].times[1] = inf, allowed: [-1000000000000, 1000000000000]"}},
      {of_elbow + times + "values = [1, nan, 2]\n",
       {"scene.toml:30: command[0].values[1] = nan, allowed: any finite number"}},
      {of_elbow + times + "values = [1, 2]\n",
       {"scene.toml:30: command[0].values: 2 numbers, expected 3, one for each of 'times'"}},
      {of_elbow + times + values + "interpolation = \"linar\"\n",
       {"scene.toml:31: command[0].interpolation = \"linar\", allowed: held, linear; did you mean "
        "'linear'?"}},
      {of_elbow + times + values + "interpolaton = \"linear\"\n",
       {"scene.toml:31: unknown key 'interpolaton' in command[0]", "did you mean 'interpolation'?"}},
      {"[[command]]\nfile = \"none.csv\"\n",
       {"scene.toml:28: command[0].file: there is no file", "none.csv"}},
      {"[[command]]\nfile = \"arm.txt\"\n",
       {"scene.toml:28: command[0].file: 'arm.txt' has the unknown extension '.txt', allowed: .csv, .npz"}},
      {"[[command]]\njoint = \"rod\"\nfile = \"arm.csv\"\n",
       {"scene.toml:28: command[0].joint: joint 'rod' has no"}},
  };
  for (const auto& [text, parts] : cases) {
    const std::string message = test::rejection([&, &text = text] { return file.read(text); });
    CAPTURE(text, message);
    CHECK(test::missing_part(message, parts) == "");
  }
}

TEST_CASE("read_scene: a joint's command is refused where no joint has a motor", "[engine][value]") {
  const File file;
  const std::string without = k_arm.substr(0, k_arm.find("[[joint]]"));
  const std::string message = test::rejection([&] {
    return read_scene(
        file.folder.write("scene.toml", without + "[[command]]\njoint = \"a\"\ntimes = [0]\nvalues = [0]\n"));
  });
  CHECK(test::missing_part(message,
                           {"scene.toml:11: command[0].joint: there is no joint or actuator 'a'; the scene "
                            "has no motor"}) == "");
}

TEST_CASE("read_scene: a wrong .csv file of commands is refused with its line, column and cause",
          "[engine][value]") {
  const File file;
  const std::string of_elbow = k_from_csv + "joint = \"elbow\"\n";
  struct Case {
    std::string csv, commands;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases = {
      {"", k_from_csv, {"arm.csv: is empty"}},
      {"time,elbow\n", k_from_csv, {"arm.csv: there is no row, at least one time is needed"}},
      {"elbow\n1\n", k_from_csv, {"arm.csv: there is no column 'time': add the time"}},
      {"tme,elbow\n0,1\n", k_from_csv, {"arm.csv: there is no column 'time' (did 'tme' mean that?)"}},
      {"time\n0\n",
       k_from_csv,
       {"arm.csv:1: there is no column named after a joint with a motor or an actuator, allowed: elbow, "
        "wrist"}},
      {"time,elbw\n0,1\n",
       k_from_csv,
       {"arm.csv:1: column 'elbw': there is no joint or actuator 'elbw', allowed: elbow, wrist; did you mean "
        "'elbow'?"}},
      {"time,elbow,rod\n0,1,2\n",
       k_from_csv,
       {"arm.csv:1: column 'rod': joint 'rod' has no motor, allowed: elbow"}},
      {"time,elbow,elbow\n0,1,2\n", k_from_csv, {"arm.csv:1: there are two columns 'elbow'"}},
      {"time,elbow,time\n0,1,2\n", k_from_csv, {"arm.csv:1: there are two columns 'time'"}},
      {"time,wrist\n0,1\n",
       of_elbow,
       {"arm.csv: there is no column 'elbow': it is the 'joint' of the [[command]]"}},
      {"time,elbw\n0,1\n", of_elbow, {"arm.csv: there is no column 'elbow' (did 'elbw' mean that?)"}},
      {"time,elbow\n0,1\n0,2\n", k_from_csv, {"arm.csv:3: time 0 does not lie after 0, the one before"}},
      {"time,elbow\n0,1\n\n2,2\n1,3\n", k_from_csv, {"arm.csv:5: time 1 does not lie after 2"}},
      {"time,elbow\n0,1\n1,inf\n",
       k_from_csv,
       {"arm.csv:3: column 'elbow' = 'inf', allowed: a finite number"}},
      {"time,elbow\nnan,1\n",
       k_from_csv,
       {"arm.csv:2: column 'time' = 'nan', allowed: a number in [-1e+12, 1e+12]"}},
      {"time,elbow\n0,\n", k_from_csv, {"arm.csv:2: column 'elbow' = '', allowed: a finite number"}},
      {"time,elbow\n0\n", k_from_csv, {"arm.csv:2: 1 field, expected the 2 of the header"}},
  };
  for (const Case& c : cases) {
    const std::string message = test::rejection([&] { return file.read_csv(c.csv, c.commands); });
    CAPTURE(c.csv, c.commands, message);
    CHECK(test::missing_part(message, c.parts) == "");
  }
}

TEST_CASE("read_scene: a wrong .npz file of commands is refused with its array and cause",
          "[engine][value]") {
  const File file;
  constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
  const std::string of_elbow = k_from_npz + "joint = \"elbow\"\n";
  struct Case {
    Arrays arrays;
    std::string commands;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases = {
      {{.time_shape = {3, 1}}, k_from_npz, {"arm.npz: 'time' has shape (3, 1), expected (T)"}},
      {{.command_shape = {2, 3}}, k_from_npz, {"arm.npz: 'command' has shape (2, 3), expected (3, 2)"}},
      {{.command_shape = {6}}, k_from_npz, {"arm.npz: 'command' has shape (6), expected (3, 2)"}},
      {{.names = {"elbow"}}, k_from_npz, {"arm.npz: 'command' has shape (3, 2), expected (3, 1)"}},
      {{.time = {}, .time_shape = {0}, .command = {}, .command_shape = {0, 2}},
       k_from_npz,
       {"arm.npz: 'time' is empty, at least one time is needed"}},
      {{.command = {}, .command_shape = {3, 0}, .names = {}},
       k_from_npz,
       {"arm.npz: 'joint_names' is empty, allowed: elbow, wrist"}},
      {{.time = {0, 1, 1}}, k_from_npz, {"arm.npz: time[2]: time 1 does not lie after 1, the one before"}},
      {{.time = {0, k_nan, 1}}, k_from_npz, {"arm.npz: time[1] = nan, allowed: a number in [-1e+12, 1e+12]"}},
      {{.command = {1, 2, 3, k_nan, 5, 6}},
       k_from_npz,
       {"arm.npz: command[1, 1] = nan, allowed: any finite number"}},
      {{.names = {"wrist", "elbw"}},
       k_from_npz,
       {"arm.npz: joint_names[1]: there is no joint or actuator 'elbw', allowed: elbow, wrist; did you mean "
        "'elbow'?"}},
      {{.names = {"wrist", "rod"}}, k_from_npz, {"arm.npz: joint_names[1]: joint 'rod' has no motor"}},
      {{.names = {"wrist", "wrist"}}, k_from_npz, {"arm.npz: 'joint_names' has 'wrist' twice"}},
      {{.names = {"wrist", "elbw"}},
       of_elbow,
       {"'joint_names' has no 'elbow'", "wrist, elbw", "did 'elbw' mean that?"}},
  };
  for (const Case& c : cases) {
    const std::string message = test::rejection([&] { return file.read_npz(c.arrays, c.commands); });
    CAPTURE(message, c.parts.front());
    CHECK(test::missing_part(message, c.parts) == "");
  }

  const auto refusal_of = [&](const NpzWriter& writer) {
    writer.write(file.folder.path() / "arm.npz");
    return test::rejection([&] { return file.read(k_from_npz); });
  };
  NpzWriter writer;
  writer.add("joint_names", std::vector<std::string>{"elbow"}, std::array<std::size_t, 1>{1});
  writer.add("command", std::vector<double>{1.0}, std::array<std::size_t, 2>{1, 1});
  CHECK(test::missing_part(refusal_of(writer),
                           {"arm.npz: there is no array 'time', needed: time, command"}) == "");
  writer.add("time", std::vector<std::int64_t>{1}, std::array<std::size_t, 1>{1});
  CHECK(test::missing_part(refusal_of(writer),
                           {"arm.npz: 'time' holds integers or texts, expected float64"}) == "");
  NpzWriter other;
  other.add("joint_names", 1.0);
  CHECK(test::missing_part(refusal_of(other), {"arm.npz: 'joint_names' holds numbers, expected strings"}) ==
        "");
  file.folder.write("arm.npz", "no archive");
  CHECK(test::missing_part(test::rejection([&] { return file.read(k_from_npz); }), {"arm.npz: "}) == "");
}

TEST_CASE("write_scene_at: commands stay where they are in time, in whatever folder", "[engine][value]") {
  const File file;
  file.folder.write("arm.csv", "time,wrist\n0,1\n0.5,2\n1,3\n");
  const std::string linear =
      "[[command]]\njoint = \"elbow\"\ntimes = [0, 0.5, 1]\nvalues = [4, 5, 0.1]\ninterpolation = "
      "\"linear\"\n";
  const Scene scene = file.read(k_from_csv + linear);
  SceneStart start{scene.initial, 0.001, 3};
  start.state.time = 0.75;
  const fs::path to = file.folder.path() / "elsewhere" / "later.toml";
  fs::create_directory(to.parent_path());
  for (const bool is_given : {false, true}) {
    CAPTURE(is_given);
    start.changed = is_given ? &scene : nullptr;
    write_scene_at(file.path(), start, to);
    const Scene later = read_scene(to);
    CHECK(later.initial.time == 0.75);
    REQUIRE(later.commands.size() == 2);
    check_table(later.commands[0], 1, {1, 2, 3});
    CHECK_FALSE(later.commands[0].is_linear);
    check_table(later.commands[1], 0, {4, 5, 0.1});
    CHECK(later.commands[1].is_linear);
    CHECK(later.model.joints[2].motor.kind == MotorKind::force);
    CHECK(later.model.joints[2].motor.limit == 5.0);
  }
}

TEST_CASE("write_scene_at: other commands are written in place of those of the scene", "[engine][value]") {
  const File file;
  const Scene scene = file.read_csv("time,wrist\n0,1\n0.5,2\n1,3\n");
  Scene changed = scene;
  changed.commands = {{0, true, {0.0, 0.5, 1.0}, {1.0 / 3.0, -2.0, 1e-300}}, {1, false, {0.1}, {7.0}}};
  const SceneStart start{scene.initial, 0.001, 3, "", &changed};
  const fs::path to = file.folder.path() / "plan.toml";
  write_scene_at(file.path(), start, to);
  fs::remove(file.folder.path() / "arm.csv");
  const Scene again = read_scene(to);
  REQUIRE(again.commands.size() == 2);
  check_table(again.commands[0], 0, {1.0 / 3.0, -2.0, 1e-300});
  CHECK(again.commands[0].is_linear);
  CHECK(again.commands[1].motor == 1);
  CHECK(again.commands[1].times == std::vector<double>{0.1});
  CHECK_FALSE(again.commands[1].is_linear);

  (void)file.read_csv("time,wrist\n0,1\n");
  changed.commands.clear();
  write_scene_at(file.path(), start, to);
  CHECK(read_scene(to).commands.empty());
}

TEST_CASE("scene_files: a file of commands is one of a scene", "[engine][value]") {
  const File file;
  (void)file.read_csv("time,wrist\n0,1\n");
  CHECK(scene_files(file.path()) ==
        std::vector<fs::path>{fs::canonical(file.path()), fs::canonical(file.folder.path() / "arm.csv")});
}
