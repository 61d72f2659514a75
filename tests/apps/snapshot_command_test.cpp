#include <array>
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include "apps/abut/image.h"
#include "apps/abut/ray_tracer.h"
#include "engine/body_builder.h"
#include "engine/npz.h"
#include "tests/apps/program.h"

namespace abut::test {
namespace {

using Catch::Contains;

/// Two balls of the same size above a floor.
struct Balls {
  Model model;
  std::vector<Pose<double>> X_WB;

  Balls() {
    model.bodies = {make_half_space(), make_sphere(0.1, 1000.0), make_sphere(0.1, 1000.0)};
    X_WB = {Pose<double>(),
            {Quat<double>::Identity(), {-0.2, 0, 0.2}},
            {Quat<double>::Identity(), {0.2, 0, 0.2}}};
  }
};

PictureOptions from_the_front() {
  PictureOptions options;
  options.width = 160;
  options.height = 90;
  options.from = Vec3<double>(0, -1.5, 0.2);
  options.to = Vec3<double>(0, 0, 0.2);
  return options;
}

std::array<int, 3> pixel(const Image& image, int x, int y) {
  const std::size_t i =
      3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
  return {image.pixels[i], image.pixels[i + 1], image.pixels[i + 2]};
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

TEST_CASE("draw_picture: each body is where the camera sees it, in its own colour", "[apps][value]") {
  const Balls balls;
  const PictureOptions options = from_the_front();
  const Image image = draw_picture(balls.model, balls.X_WB, options);
  REQUIRE(image.pixels.size() == 3u * 160u * 90u);
  // Of a camera at y = -1.5 with 0.55 rad across the height, +-0.2 m are +-21 pixels.
  const auto left = pixel(image, 59, 45), right = pixel(image, 101, 45), between = pixel(image, 80, 42);
  CHECK(left[0] > left[2] + 60);                  // orange
  CHECK(right[2] > right[0] + 60);                // blue
  CHECK(std::abs(between[0] - between[2]) < 40);  // neither
  const auto sky = pixel(image, 80, 2), floor = pixel(image, 80, 87);
  CHECK(sky != floor);
}

TEST_CASE("draw_picture: the number of threads does not change a bit", "[apps][determinism]") {
  const Balls balls;
  PictureOptions options = from_the_front();
  options.threads = 1;
  const Image one = draw_picture(balls.model, balls.X_WB, options);
  options.threads = 3;
  CHECK(draw_picture(balls.model, balls.X_WB, options).pixels == one.pixels);
}

TEST_CASE("camera_for: all bodies are in view, from either side of the world", "[apps][value]") {
  for (const Vec3<double>& gravity :
       {Vec3<double>(0, 0, -9.81), Vec3<double>(0, -9.81, 0), Vec3<double>(0, 0, 0)}) {
    Balls balls;
    balls.model.gravity = gravity;
    const PictureOptions options;
    const Camera camera = camera_for(balls.model, balls.X_WB, options);
    const Vec3<double> forward = (camera.to - camera.from).normalized();
    const Vec3<double> right = forward.cross(camera.up).normalized(), up = right.cross(forward);
    for (std::size_t b : {1, 2}) {
      const Vec3<double> r = balls.X_WB[b].p - camera.from;
      const double depth = r.dot(forward), limit = std::tan(0.5 * camera.vertical_angle);
      CHECK(depth > 0.1);
      CHECK((std::abs(r.dot(up)) + 0.1) / depth < limit);
      CHECK((std::abs(r.dot(right)) + 0.1) / depth < limit * options.width / options.height);
    }
  }
}

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
      {{"snapshot", scene, "--out", folder.path() / "picture.jpg"}, ".png"},
      {{"snapshot", scene, "--out", out, "--camera-from", "1,2"}, "--camera-from"},
      {{"snapshot", scene, "--out", out, "--camera-from", "1,2,3", "--camera-to", "1,2,3"}, "same point"},
      {{"snapshot", scene, "--out", out, "--trajectory", folder.path() / "none.npz"}, "none.npz"},
      {{"snapshot", scene, "--out", out, "--trajectory", other}, "not a trajectory of this scene"},
      {{"snapshot", scene, "--out", folder.path() / "no" / "such.png", "--width", "8", "--height", "8"},
       "such.png"},
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
