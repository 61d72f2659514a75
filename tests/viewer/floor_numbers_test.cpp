/// The grid of a floor and the numbers at its lines.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "apps/picture/floor_grid.h"
#include "apps/picture/stroke_text.h"
#include "tests/support/scenes.h"
#include "tests/viewer/studio.h"

namespace abut::test {
namespace {

TEST_CASE("floor_grid: lines are 1, 2 or 5 times a power of ten apart, as wide as suits the picture",
          "[viewer][property]") {
  for (double distance = 1e-3; distance < 1e4; distance *= 1.17) {
    OrbitCamera camera;
    camera.distance = distance;
    const FloorGrid grid = floor_grid({}, camera);
    CHECK(grid.major > 0.1 * distance);
    CHECK(grid.major < 0.3 * distance);
    const double digit = grid.major / std::pow(10.0, std::floor(std::log10(grid.major * (1.0 + 1e-9))));
    CHECK((digit == Approx(1.0) || digit == Approx(2.0) || digit == Approx(5.0)));
    CHECK(grid.major / grid.minor == Approx(digit == Approx(2.0) ? 4.0 : 5.0));
  }
}

TEST_CASE("floor_grid: of a level floor it is that of the world, of another one the floor's own",
          "[viewer][value]") {
  OrbitCamera camera;
  camera.target = {1.3, -0.4, 0.5};
  DrawnFloor floor{pose_at({0.03, 0.07, -0.2})};
  floor.X_WP.q = Eigen::AngleAxisd(0.4, Vec3<double>::UnitZ());
  const FloorGrid level = floor_grid(floor, camera);
  CHECK(level.X_WG.p == Vec3<double>(0, 0, -0.2));
  CHECK(level.middle == Vec2<double>(1.3, -0.4));
  CHECK(level.reach == Approx(camera.distance + 0.7));
  floor.X_WP.q = Eigen::AngleAxisd(0.4, Vec3<double>::UnitX());
  CHECK(floor_grid(floor, camera).X_WG.p == floor.X_WP.p);
}

TEST_CASE("grid_labels: numbers are where they say, in view, along two lines", "[viewer][property]") {
  for (const double distance : {0.004, 0.7, 3.0, 40.0, 2000.0}) {
    for (double azimuth = 0.3; azimuth < 6.0; azimuth += 1.1) {
      OrbitCamera camera;
      camera.distance = distance;
      camera.azimuth = azimuth;
      camera.target = distance * Vec3<double>(0.37, -1.2, 0.1);
      const FloorGrid grid = floor_grid({}, camera);
      const std::vector<GridLabel> labels = grid_labels(grid, camera, 1.6);
      CHECK(labels.size() >= 3);
      std::array<int, 2> of_axis{};
      for (const GridLabel& label : labels) {
        const int axis = label.text[0] == 'x' ? 0 : 1;
        ++of_axis[static_cast<std::size_t>(axis)];
        const std::string unit = label.text.substr(label.text.rfind(' ') + 1);
        const double metres = unit == "km" ? 1e3 : unit == "m" ? 1.0 : unit == "mm" ? 1e-3 : 1e-6;
        CHECK(std::stod(label.text.substr(2)) * metres == Approx(label.p_W[axis]).margin(1e-9 * distance));
        CHECK(label.p_W.z() == 0.0);
        const Vec3<double> place = camera.project(label.p_W, 1.6);
        CHECK(std::abs(place.x()) < 1.0);
        CHECK(std::abs(place.y()) < 1.0);
      }
      CHECK(of_axis[0] >= 1);
      CHECK(of_axis[1] >= 1);
      camera.elevation = -0.3;
      CHECK(grid_labels(grid, camera, 1.6).empty());
    }
  }
}

TEST_CASE("Renderer: numbers of the floor are drawn where there is room for them", "[viewer][value]") {
  HeadlessContext context(640, 480);
  Renderer renderer;
  Picture picture = ball_over_floor();
  picture.surfaces.clear();
  const auto dark_pixels = [&](int width, int height) {
    renderer.draw(picture, {0, 0, width, height}, context.framebuffer());
    require_no_gl_error("after a picture");
    const Image image = read_pixels(width, height, context.framebuffer());
    int dark = 0;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) dark += brightness(pixel(image, x, y)) < 120;
    }
    return dark;
  };
  CHECK(dark_pixels(640, 480) > 200);
  CHECK(dark_pixels(160, 120) == 0);
}

TEST_CASE("stroke_text: is as high as it is asked to be, and its letters differ", "[viewer][value]") {
  for (const double height : {8.0, 11.0, 30.0}) {
    CAPTURE(height);
    std::vector<std::vector<std::uint8_t>> seen;
    for (const char letter : std::string("0123456789+-.exykmu")) {
      const StrokeText text = stroke_text({&letter, 1}, height);
      REQUIRE(text.ink.size() == static_cast<std::size_t>(text.width * text.height));
      REQUIRE(text.rim.size() == text.ink.size());
      int ink = 0, top = text.height, bottom = -1;
      for (int y = 0; y < text.height; ++y) {
        for (int x = 0; x < text.width; ++x) {
          const auto i = static_cast<std::size_t>(y * text.width + x);
          CHECK(text.ink[i] <= text.rim[i]);
          if (text.ink[i] < 128) continue;
          ++ink;
          top = std::min(top, y);
          bottom = std::max(bottom, y);
          const bool is_border = x == 0 || y == 0 || x + 1 == text.width || y + 1 == text.height;
          CHECK_FALSE(is_border);  // nothing is cut off
        }
      }
      CHECK(ink > 0);
      if (letter >= '0' && letter <= '9') CHECK(std::abs(bottom - top + 1 - height) <= 2.0 + 0.15 * height);
      CHECK(std::find(seen.begin(), seen.end(), text.ink) == seen.end());
      seen.push_back(text.ink);
    }
    const StrokeText blank = stroke_text(" ?", height);
    CHECK(std::count(blank.ink.begin(), blank.ink.end(), 0) == static_cast<std::ptrdiff_t>(blank.ink.size()));
    CHECK(stroke_text("10", height).width > stroke_text("1", height).width);
  }
  CHECK(stroke_text("", 11.0).width > 0);
}

TEST_CASE("Renderer: numbers of the floor are left out where there is a body", "[viewer][value]") {
  HeadlessContext context(640, 480);
  Renderer renderer;
  Picture picture = ball_over_floor();
  const Viewport all{0, 0, 640, 480};
  for (const Quality quality : {Quality::plain, Quality::full}) {
    picture.look.quality = quality;
    const auto draw = [&] {
      renderer.draw(picture, all, context.framebuffer());
      require_no_gl_error("after a picture");
      return read_pixels(all.width, all.height, context.framebuffer());
    };
    const auto dark_around = [&](const Image& image, const Vec3<double>& p_W) {
      const Vec3<double> place = picture.camera.project(p_W, 640.0 / 480.0);
      const int x0 = static_cast<int>(640 * (0.5 + 0.5 * place.x())),
                y0 = static_cast<int>(480 * (0.5 - 0.5 * place.y()));
      int dark = 0;
      for (int y = std::max(0, y0 - 20); y < std::min(480, y0); ++y) {
        for (int x = std::max(0, x0 - 30); x < std::min(640, x0 + 30); ++x)
          dark += brightness(pixel(image, x, y)) < 120;
      }
      return dark;
    };
    picture.surfaces.clear();
    const std::vector<GridLabel> labels =
        grid_labels(floor_grid(picture.floors[0], picture.camera), picture.camera, 640.0 / 480.0);
    REQUIRE(labels.size() > 3);
    const Vec3<double> place = labels[labels.size() / 2].p_W;
    CHECK(dark_around(draw(), place) > 10);
    // Behind it, and before it.
    for (const double nearer : {-0.05, 0.05}) {
      CAPTURE(nearer);
      Vec3<double> towards = picture.camera.position() - place;
      towards.z() = 0.0;
      picture.surfaces = {
          ball(rgb(230, 180, 90), 0.03, place + nearer * towards.normalized() + Vec3<double>(0, 0, 0.03))};
      CHECK(dark_around(draw(), place) < 3);
      picture.surfaces[0].colour.w() = 0.3f;  // seen through
      CHECK(dark_around(draw(), place) < 3);
    }
  }
}

TEST_CASE("Renderer: numbers of the floor that the border would cut off are left out", "[viewer][value]") {
  HeadlessContext context(640, 480);
  Renderer renderer;
  Picture picture = ball_over_floor();
  picture.surfaces.clear();
  int dark_inside = 0;
  for (double azimuth = 0.0; azimuth < 6.2; azimuth += 0.05) {
    CAPTURE(azimuth);
    picture.camera.azimuth = azimuth;
    renderer.draw(picture, {0, 0, 640, 480}, context.framebuffer());
    require_no_gl_error("after a picture");
    const Image image = read_pixels(640, 480, context.framebuffer());
    int dark_at_border = 0;
    for (int y = 0; y < 480; ++y) {
      for (int x = 0; x < 640; ++x) {
        const bool is_dark = brightness(pixel(image, x, y)) < 120, is_border = x < 2 || x >= 638;
        (is_border ? dark_at_border : dark_inside) += is_dark;
      }
    }
    CHECK(dark_at_border == 0);
  }
  CHECK(dark_inside > 10000);
}

}  // namespace
}  // namespace abut::test
