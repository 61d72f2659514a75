#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include "apps/picture/image.h"
#include "engine/coloured_mesh.h"
#include "engine/mesh_shapes.h"
#include "engine/npz.h"
#include "tests/apps/program.h"

namespace abut::test {
namespace {

using Catch::Contains;

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

#ifdef ABUT_HAVE_RENDERER
TEST_CASE("abut snapshot: draws the initial state and any frame of a trajectory as a PNG file",
          "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene), trajectory = folder.path() / "run.npz";
  REQUIRE(run_program({"run", scene, "--out", trajectory, "--quiet"}).exit_code == 0);
  const auto picture = [&](std::vector<std::string> more) {
    const std::string out = folder.path() / "picture.png";
    std::vector<std::string> arguments{"snapshot",      scene,    "--width",     "64",      "--height", "48",
                                       "--camera-from", "1,-2,1", "--camera-to", "0,0,0.1", "--out",    out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = run_program(arguments);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return read_file(out);
  };
  const std::string initial = picture({});
  CHECK(initial.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  CHECK(big_endian(initial, 16) == 64);
  CHECK(big_endian(initial, 20) == 48);
  CHECK(picture({"--trajectory", trajectory, "--frame", "0"}) ==
        initial);  // asset frames, so no shift either
  const std::string last = picture({"--trajectory", trajectory});
  CHECK(last != initial);
  CHECK(picture({"--trajectory", trajectory, "--frame", "last"}) == last);
  CHECK(picture({"--trajectory", trajectory, "--frame", "40"}) == last);
  CHECK(picture({"--trajectory", trajectory, "--frame", "-1"}) == last);
  // A trajectory names its scene.
  const auto picture_of_trajectory = [&](const std::string& frame) {
    const std::string out = folder.path() / "trajectory.png";
    const ProgramResult result =
        run_program({"snapshot", trajectory, "--frame", frame, "--width", "64", "--height", "48",
                     "--camera-from", "1,-2,1", "--camera-to", "0,0,0.1", "--out", out});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return read_file(out);
  };
  CHECK(picture_of_trajectory("last") == last);
  CHECK(picture_of_trajectory("0") == initial);
}

TEST_CASE("abut snapshot: a red body is red, and its visual mesh is drawn in place of its collision mesh",
          "[apps][value]") {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "picture.png";
  write_coloured_obj(folder.path() / "look.obj", {box_mesh(Vec3<double>(0.08, 0.08, 0.04), 1), {}, {}});
  const auto scene_with_keys = [&](const std::string& keys) {
    return folder.write("scene.toml", "[[body]]\nname = \"ball\"\ndensity = 500\n" + keys +
                                          "[[body.primitive]]\nkind = \"sphere\"\nradius = 0.1\n");
  };
  // Pixels where red dominates.
  const auto red_pixels = [&](const std::string& keys, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{
        "snapshot", scene_with_keys(keys), "--out",  out,           "--width", "64", "--height",
        "64",       "--camera-from",       "0,-1,0", "--camera-to", "0,0,0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = run_program(arguments);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const Image image = read_png(out);
    int count = 0;
    for (std::size_t i = 0; i < image.pixels.size(); i += 3)
      count += image.pixels[i] > 60 && image.pixels[i] > 3 * image.pixels[i + 1] &&
               image.pixels[i] > 3 * image.pixels[i + 2];
    return count;
  };
  const std::string red = "color = \"#ff0000\"\n", look = "visual = \"look.obj\"\n";
  CHECK(red_pixels("") == 0);
  const int of_ball = red_pixels(red), of_box = red_pixels(red + look);
  CHECK(of_ball > 100);
  CHECK(of_box < 0.8 * of_ball);  // seen from the side it is flat
  CHECK(of_box > 60);
  // Without a visual mesh it is the surface of the SDF that is seen.
  CHECK(red_pixels(red + look, {"--surface", "sdf"}) == of_ball);
  const int of_mesh = red_pixels(red + look, {"--surface", "mesh"});
  CHECK(of_mesh == red_pixels(red, {"--surface", "mesh"}));
  CHECK(std::abs(of_mesh - of_ball) < 0.05 * of_ball);

  const auto complaint = [&](const std::string& keys) {
    const ProgramResult result = run_program({"snapshot", scene_with_keys(keys), "--out", out});
    CHECK(result.exit_code == 2);
    CHECK(line_count(result.err) == 1);
    return result.err;
  };
  folder.write("damaged.obj", "v 0 0 0\nv 0 0\n");
  CHECK_THAT(complaint("visual = \"damaged.obj\"\n"), Contains("damaged.obj:2: a vertex with 2 numbers"));
  CHECK_THAT(complaint("visual = \"none.obj\"\n"),
             Contains("scene.toml:4: body[0].visual") && Contains("there is no file"));
  CHECK(run_program({"run", scene_with_keys("visual = \"damaged.obj\"\n"), "--steps", "1"}).exit_code == 0);
}

TEST_CASE("abut snapshot: a visual mesh larger than its body is in the picture", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "picture.png";
  write_coloured_obj(folder.path() / "look.obj", {box_mesh(Vec3<double>(0.5, 0.5, 0.5), 1), {}, {}});
  const std::string scene =
      folder.write("scene.toml",
                   "[[body]]\nname = \"ball\"\ndensity = 500\ncolor = \"#ff0000\"\nvisual = \"look.obj\"\n"
                   "[[body.primitive]]\nkind = \"sphere\"\nradius = 0.1\n");
  const auto border_is_red = [&](const std::string& surface) {
    const ProgramResult result = run_program(
        {"snapshot", scene, "--out", out, "--width", "64", "--height", "64", "--surface", surface});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const Image image = read_png(out);
    bool is_red = false;
    for (std::size_t i = 0; i < 64; ++i) {
      for (const std::size_t pixel : {i, 63 * 64 + i, 64 * i, 64 * i + 63})
        is_red = is_red || image.pixels[3 * pixel] > 3 * image.pixels[3 * pixel + 1];
    }
    return is_red;
  };
  CHECK_FALSE(border_is_red("visual"));
  CHECK_FALSE(border_is_red("mesh"));
}

TEST_CASE("abut snapshot: a camera too far away to tell anything sees nothing", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene), out = folder.path() / "picture.png";
  for (const std::string from : {"1e20,0,3", "1e100,0,3", "1e300,0,3"}) {
    CAPTURE(from);
    CHECK(run_program(
              {"snapshot", scene, "--out", out, "--camera-from", from, "--width", "16", "--height", "16"})
              .exit_code == 0);
  }
}

TEST_CASE("abut snapshot: where it cannot draw it says why, exits with 1 and writes nothing",
          "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene), out = folder.path() / "picture.png";
  // No vendor of EGL that libglvnd could load, as on a machine without a driver.
  const ProgramResult result = run_executable(ABUT_EXECUTABLE, {"snapshot", scene, "--out", out},
                                              {{"__EGL_VENDOR_LIBRARY_FILENAMES", "/dev/null"}});
  CAPTURE(result.err);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("abut snapshot") && Contains("EGL"));
  CHECK(line_count(result.err) == 1);
  CHECK_FALSE(std::filesystem::exists(out));
}

#else

TEST_CASE("abut snapshot: a build without a renderer says so, exits with 1 and writes nothing",
          "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene), out = folder.path() / "picture.png";
  const ProgramResult result = run_program({"snapshot", scene, "--out", out});
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("ABUT_BUILD_VIEWER"));
  CHECK(line_count(result.err) == 1);
  CHECK_FALSE(std::filesystem::exists(out));
}

#endif

TEST_CASE("abut snapshot: bad usage and trajectories of other scenes are exit code 2 and one line",
          "[apps][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene), out = folder.path() / "picture.png";
  const std::string other = folder.path() / "other.npz";
  NpzWriter writer;
  const std::array<double, 8> zeros{};
  writer.add("position", std::span<const double>(zeros).first(6), std::array<std::size_t, 3>{1, 2, 3});
  writer.add("orientation_wxyz", zeros, std::array<std::size_t, 3>{1, 2, 4});
  writer.write(other);
  struct Case {
    std::vector<std::string> arguments;
    std::string cause;
  };
  const Case cases[] = {
      {{"snapshot", scene}, "--out"},
      {{"snapshot", "--out", out}, "scene"},
      {{"snapshot", folder.path() / "none.toml", "--out", out}, "none.toml"},
      {{"snapshot", scene, "--out", out, "--width", "0"}, "--width"},
      {{"snapshot", scene, "--out", out, "--frame", "3"}, "--trajectory"},
      {{"snapshot", scene, "--out", out, "--surface", "none"}, "--surface"},
      {{"snapshot", scene, "--out", folder.path() / "picture.jpg"}, ".png"},
      {{"snapshot", scene, "--out", out, "--camera-from", "1,2"}, "--camera-from"},
      {{"snapshot", scene, "--out", out, "--camera-from", "1,2,3", "--camera-to", "1,2,3"}, "same point"},
      {{"snapshot", scene, "--out", out, "--trajectory", folder.path() / "none.npz"}, "none.npz"},
      {{"snapshot", scene, "--out", out, "--trajectory", other}, "not a trajectory of this scene"},
      {{"snapshot", other, "--out", out}, "does not say of which scene"},
      {{"snapshot", folder.path() / "none.npz", "--out", out}, "none.npz"},
      {{"snapshot", other, "--out", out, "--trajectory", other}, ".toml"},
#ifdef ABUT_HAVE_RENDERER
      {{"snapshot", scene, "--out", folder.path() / "no" / "such.png", "--width", "8", "--height", "8"},
       "such.png"},
#endif
  };
  for (const Case& c : cases) {
    const ProgramResult result = run_program(c.arguments);
    CAPTURE(c.cause, result.err);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains(c.cause));
    CHECK(line_count(result.err) == 1);
  }
}

}  // namespace
}  // namespace abut::test
