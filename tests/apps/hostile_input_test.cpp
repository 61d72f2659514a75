/// Inputs that used to end a program, or its message, half way.
#include <catch2/catch.hpp>

#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "tests/apps/program.h"

namespace abut::test {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

std::ptrdiff_t file_count(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

void check_refused(const std::vector<std::string>& arguments, const std::string& part) {
  const ProgramResult result = run_program(arguments);
  CAPTURE(arguments, result.out, result.err);
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, Contains(part));
  CHECK(line_count(result.err) == 1);
}

TEST_CASE("abut: every verb refuses a file that is nested too deep", "[apps][value]") {
  const TemporaryFolder folder;
  for (const std::string& text :
       {repeated("a.", 50'000) + "a = 1\n", "[" + repeated("a.", 50'000) + "a]\n"}) {
    const std::string file = folder.write("deep.toml", text), out = folder.path() / "out";
    const std::string expected = file + ":1: nested deeper than 64 levels";
    check_refused({"run", file}, expected);
    check_refused({"run", "--batch", file}, expected);
    check_refused({"contacts", file}, expected);
    check_refused({"gradcheck", file}, expected);
    check_refused({"snapshot", file, "--out", out + ".png"}, expected);
    check_refused({"suggest-k", file}, expected);
    check_refused({"identify", file}, expected);
    check_refused({"optimize", file}, expected);
    check_refused({"fit", file, "--out", out}, expected);
    check_refused({"run", folder.write("scene.toml", "[[body]]\nname = \"a\"\nasset = \"deep.toml\"\n")},
                  expected);
  }
}

TEST_CASE("abut: a limit on the size of files is an error that leaves nothing behind", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene);
  for (const char* name : {"t.npz", "t.csv"}) {
    const std::string out = folder.path() / name;
    const ProgramResult result = run_executable(
        "/bin/sh",
        {"-c", "ulimit -f 4; exec \"$0\" \"$@\"", ABUT_EXECUTABLE, "run", scene, "--quiet", "--out", out});
    CAPTURE(result.out, result.err);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains(out + ": cannot be written: File too large"));
    CHECK(file_count(folder.path()) == 1);
  }
}

TEST_CASE("abut: no option takes an empty value", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene);
  check_refused({"run", scene, "--out", ""}, "--out: must not be empty");
  check_refused({"run", scene, "--out="}, "--out");
  check_refused({"run", ""}, "SCENE: must not be empty");
  check_refused({"snapshot", scene, "--out", ""}, "--out: must not be empty");
  check_refused({"identify", scene, "--out", ""}, "--out: must not be empty");
  check_refused({"fit", "", "--out", folder.path() / "out"}, "input: must not be empty");
}

TEST_CASE("abut: numbers of options are never nan", "[apps][value]") {
  check_refused({"fit", "f", "--out", "o", "--friction", "nan"}, "allowed: a number >= 0, finite");
  check_refused({"identify", "e", "--outliers", "nan"}, "allowed: a number in [0, 1]");
  check_refused({"identify", "e", "--noise-factor", "nan"}, "allowed: a number in [");
  check_refused({"suggest-k", "s", "--quantile", "nan"}, "allowed: a number in [0, 1]");
}

TEST_CASE("abut: a number that is too large is named with its bound, and where it stands", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene);
  const std::string batch = folder.write("batch.toml",
                                         "scene = \"scene.toml\"\n[random]\ncount = 2\n[random.uniform]\n"
                                         "body.ball.force.x = [-1e308, 1e308]\n");
  check_refused({"run", "--batch", batch}, batch + ":5: ");
  check_refused({"run", "--batch", batch}, "the width of the interval must be finite");

  for (const char* steps : {"steps = 1e12", "steps = 1_000_000_000_000"}) {
    const std::string many = folder.write("many.toml", "[simulation]\n" + std::string(steps) + "\n");
    check_refused({"run", many}, many + ":2: simulation.steps = 1");
    check_refused({"run", many}, "allowed: a whole number in [1, 2147483647]");
  }

  const std::string experiment =
      folder.write("experiment.toml",
                   "scene = \"scene.toml\"\n[[unknown]]\nname = \"body.ball.mass\"\n"
                   "[[motion]]\nfile = \"motion.csv\"\n");
  const std::string motion = folder.write("motion.csv",
                                          "time,body,position_x,position_y,position_z,rotation_vector_x,"
                                          "rotation_vector_y,rotation_vector_z\n"
                                          "0.01,ball,0.5,0,0.06,0,0,0\n0.02,ball,1e308,0,0.06,0.1,0,0\n");
  check_refused({"identify", experiment, "--out", folder.path() / "out"},
                motion + ":3: column 'position_x' = '1e308', allowed: a number in [-1e+12, 1e+12]");
}

TEST_CASE("abut: a zero character in a name or path is refused with a whole message", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string in_value = folder.write("value.toml", "[[body]]\nname = \"a\"\nasset = \"\\u0000\"\n"),
                    in_key = folder.write("key.toml", "[[body]]\nname = \"a\"\n\"b\\u0000c\" = 1\n");
  check_refused({"run", in_value},
                in_value + ":3: \"\\u0000\" contains the character U+0000, which no name or path can\n");
  check_refused({"run", in_key}, in_key + ":3: \"b\\u0000c\" contains the character U+0000");
}

TEST_CASE("abut: contact points off the surface are refused with the scene's file", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", R"([[body]]
name = "ball"
mass = 1.0
inertia = [0.01, 0.01, 0.01, 0, 0, 0]
center_of_mass = [0, 0, 0]
[body.contact]
points = [[0, 0, 0.3], [0, 0, -0.3], [0.3, 0, 0], [0, 0.3, 0]]
areas = [0.1, 0.1, 0.1, 0.1]
radius = 0.0
[[body.primitive]]
kind = "superquadric"
semi_axes = [0.1, 0.1, 0.1]
exponents = [1, 1]
)");
  const std::string expected = "scene.toml: body 'ball': contact point 0 lies 0.2 m off the surface";
  check_refused({"run", scene}, expected);
  check_refused({"contacts", scene}, expected);
  check_refused({"gradcheck", scene}, expected);
}

TEST_CASE("abut fit: a file in the place of its folder is refused before the work", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string out = folder.write("out", "a file"),
                    body = folder.write("body.toml",
                                        "name = \"lens\"\ndensity = 1000\n[[primitive]]\n"
                                        "kind = \"superquadric\"\nsemi_axes = [0.1, 0.1, 0.05]\n"
                                        "exponents = [1, 1]\n");
  check_refused({"fit", body, "--out", out}, out + ": cannot be written: it is a file, not a folder");
}

}  // namespace
}  // namespace abut::test
