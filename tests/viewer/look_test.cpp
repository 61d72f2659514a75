/// Light, shadows, occlusion, outlines and the grid of pictures.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "apps/picture/floor_grid.h"
#include "apps/picture/stroke_text.h"
#include "apps/render/shadow_map.h"
#include "tests/support/scenes.h"
#include "tests/viewer/studio.h"

namespace abut::test {
namespace {

int brightness(const Pixel& p) { return p.red + p.green + p.blue; }

Pixel pixel_of(const Image& image, const OrbitCamera& camera, const Vec3<double>& p_W) {
  const Vec3<double> place = camera.project(p_W, static_cast<double>(image.width) / image.height);
  return pixel(image, static_cast<int>(image.width * (0.5 + 0.5 * place.x())),
               static_cast<int>(image.height * (0.5 - 0.5 * place.y())));
}

/// A ball over a floor, seen from above.
Picture ball_over_floor() {
  Picture picture = empty_picture();
  picture.surfaces = {ball(k_red, 0.1, {0, 0, 0.25})};
  picture.floors = {{pose_at({0, 0, 0})}};
  picture.camera.elevation = 0.9;
  return picture;
}

TEST_CASE("Renderer: a floor is shaded away from the light, and not in plain quality", "[viewer][value]") {
  Studio studio;
  Picture picture = ball_over_floor();
  const Image full = studio.draw(picture);
  picture.look.quality = Quality::plain;
  const Image plain = studio.draw(picture);
  // The light is at (0.62, -0.1, 0.78): the ball's shadow is about (-0.199, 0.032, 0).
  const Vec3<double> shaded(-0.199, 0.032, 0.0), mirrored(0.25, 0.12, 0.0);
  CHECK(brightness(pixel_of(full, picture.camera, shaded)) <
        brightness(pixel_of(plain, picture.camera, shaded)) - 90);
  CHECK(std::abs(brightness(pixel_of(full, picture.camera, mirrored)) -
                 brightness(pixel_of(plain, picture.camera, mirrored))) < 12);
  // Without anything that casts it there is none.
  picture.look.quality = Quality::full;
  picture.surfaces.clear();
  const Image empty = studio.draw(picture);
  CHECK(brightness(pixel_of(empty, picture.camera, shaded)) >
        brightness(pixel_of(full, picture.camera, shaded)) + 90);
}

TEST_CASE("Renderer: light at the vertices of a smooth surface is that at its pixels", "[viewer][value]") {
  Studio studio;
  for (const bool selected : {false, true}) {
    Picture picture = empty_picture();
    picture.look.quality = Quality::plain;
    picture.surfaces = {ball(k_red, 0.3)};
    picture.surfaces[0].highlighted = selected;
    const Image at_vertices = studio.draw(picture);
    Surface two_sided = *picture.surfaces[0].surface;  // of which nobody knows the normals at vertices
    two_sided.two_sided = true;
    picture.surfaces[0].surface = std::make_shared<const Surface>(std::move(two_sided));
    const Image at_pixels = studio.draw(picture);
    int seen = 0, largest = 0;
    for (int y = 0; y < k_height; ++y) {
      for (int x = 0; x < k_width; ++x) {
        if (is_background(at_pixels, x, y)) continue;
        ++seen;
        const Pixel a = pixel(at_vertices, x, y), b = pixel(at_pixels, x, y);
        largest = std::max(
            {largest, std::abs(a.red - b.red), std::abs(a.green - b.green), std::abs(a.blue - b.blue)});
      }
    }
    CAPTURE(selected, seen);
    CHECK(seen > 1000);
    CHECK(largest < (selected ? 20 : 12));  // the rim of what is selected is steep
  }
}

TEST_CASE("shadow_extent: holds all casters near the camera's target, whatever their size",
          "[viewer][property]") {
  OrbitCamera camera;
  camera.target = {3.0, -2.0, 0.5};
  CHECK_FALSE(shadow_extent(camera, {}));
  for (const double radius : {0.0, 1e-30, 1e-9, 0.3, 1e3}) {
    for (const Vec3<double>& away : {Vec3<double>(0, 0, 0), Vec3<double>(0.4, -0.1, 0.2)}) {
      CAPTURE(radius, away.transpose());
      const std::vector<ShadowCaster> casters(2, {camera.target + away, radius});
      const std::optional<ShadowExtent> extent = shadow_extent(camera, casters);
      REQUIRE(extent);
      CHECK(extent->clip_from_world.allFinite());
      CHECK(extent->clip_from_world.cast<float>().allFinite());
      CHECK(extent->width > 0.0);
      CHECK(extent->depth > 0.0);
      const Vec4<double> clip = extent->clip_from_world * casters[0].centre_W.homogeneous();
      CHECK(clip.head<3>().cwiseAbs().maxCoeff() <= 1.0 + 1e-9);
    }
  }
  const std::vector<ShadowCaster> far{{camera.target + Vec3<double>(50, 0, 0), 0.0}};
  CHECK_FALSE(shadow_extent(camera, far));
}

TEST_CASE("Renderer: a surface without size leaves the light on the floor as it is", "[viewer][value]") {
  Studio studio;
  Picture picture = ball_over_floor();
  picture.surfaces.clear();
  const Image without = studio.draw(picture);
  Surface point = *mesh_surface(sphere_mesh(0.1, 1));
  for (Eigen::Vector3f& position : point.positions) position = {0.0f, 0.0f, 0.1f};
  DrawnSurface drawn = ball(k_red);
  drawn.surface = std::make_shared<const Surface>(std::move(point));
  picture.surfaces = {drawn};
  const Image with = studio.draw(picture);
  int changed = 0;
  for (int y = 0; y < k_height; ++y) {
    for (int x = 0; x < k_width; ++x)
      changed += std::abs(brightness(pixel(with, x, y)) - brightness(pixel(without, x, y))) > 6;
  }
  CHECK(changed < 10);
}

TEST_CASE("Renderer: shadows have a soft border, and what is seen through casts none", "[viewer][value]") {
  Studio studio;
  Picture picture = ball_over_floor();
  const Image full = studio.draw(picture);
  const int dark = brightness(pixel_of(full, picture.camera, {-0.199, 0.032, 0.0})),
            light = static_cast<int>(std::lround(255.0f * k_floor_colour.head<3>().sum()));
  int between = 0;  // millimetres along a line from the one into the other
  for (int i = 0; i <= 200; ++i) {
    const int now = brightness(pixel_of(full, picture.camera, {-0.199, 0.032 + 0.001 * i, 0.0}));
    between += now > dark + 20 && now < light - 60;  // darker than lines of the floor
  }
  CAPTURE(dark, light);
  CHECK(between >= 8);

  picture.surfaces[0].colour.w() = 0.3f;
  const Image glass = studio.draw(picture);
  CHECK(brightness(pixel_of(glass, picture.camera, {-0.199, 0.032, 0.0})) >
        brightness(pixel_of(full, picture.camera, {-0.199, 0.032, 0.0})) + 90);
}

TEST_CASE("Renderer: a box on a floor is darker where they meet in full quality, an empty floor is not",
          "[viewer][value]") {
  Studio studio;
  Picture picture = ball_over_floor();
  picture.surfaces[0].surface = mesh_surface(box_mesh({0.1, 0.1, 0.1}, 1));
  picture.surfaces[0].X_WB.p.z() = 0.1;
  picture.camera.azimuth = 0.0;  // from the side of the light, where nothing is in the shadow
  const Vec3<double> corner(0.106, 0.0, 0.0), away(0.3, 0.02, 0.0);
  const auto gain = [&](const Vec3<double>& p_W) {
    picture.look.quality = Quality::full;
    const int full = brightness(pixel_of(studio.draw(picture), picture.camera, p_W));
    picture.look.quality = Quality::plain;
    return full - brightness(pixel_of(studio.draw(picture), picture.camera, p_W));
  };
  CHECK(gain(corner) < -20);
  CHECK(std::abs(gain(away)) < 10);
  picture.surfaces.clear();
  CHECK(std::abs(gain(corner)) < 4);
}

TEST_CASE("Renderer: outlines are dark where a ball ends, and along the edges of a box", "[viewer][value]") {
  Studio studio;
  for (const Quality quality : {Quality::plain, Quality::full}) {
    Picture picture = empty_picture();
    picture.look.quality = quality;
    picture.surfaces = {ball(k_red)};  // its radius is 30 pixels
    const Image without = studio.draw(picture);
    picture.look.outlines = true;
    const Image with = studio.draw(picture);
    int darkest = 999;
    for (int x = 80 + 27; x <= 80 + 33; ++x) darkest = std::min(darkest, brightness(pixel(with, x, 60)));
    CHECK(darkest < 150);
    for (const int x : {80, 80 + 15, 80 + 40}) CHECK(pixel(with, x, 60) == pixel(without, x, 60));

    picture.surfaces[0].surface = mesh_surface(box_mesh({0.15, 0.15, 0.15}, 1));
    picture.camera.azimuth -= 0.8;
    const Vec3<double> edge(-0.15, 0.15, 0.0);
    const Image box = studio.draw(picture);
    const Vec3<double> place = picture.camera.project(edge, double(k_width) / k_height);
    const int middle = static_cast<int>(k_width * (0.5 + 0.5 * place.x()));
    darkest = 999;
    for (int x = middle - 3; x <= middle + 3; ++x) darkest = std::min(darkest, brightness(pixel(box, x, 60)));
    CHECK(darkest < 150);
  }
}

TEST_CASE("Renderer: a floor alone has no outlines", "[viewer][value]") {
  Studio studio;
  Picture picture = ball_over_floor();
  picture.camera.elevation = 0.2;
  picture.surfaces.clear();
  const Image without = studio.draw(picture);
  picture.look.outlines = true;
  CHECK(studio.draw(picture).pixels == without.pixels);
}

TEST_CASE("Renderer: a floor is of its colour, with darker lines", "[viewer][value]") {
  Studio studio;
  Picture picture = ball_over_floor();
  picture.surfaces.clear();
  for (const Colour& colour : {k_floor_colour, rgb(90, 120, 60)}) {
    picture.floors[0].colour = colour;
    const Image image = studio.draw(picture);
    int darker = 0, as_it_is = 0;
    for (int y = 30; y < k_height; ++y) {
      for (int x = 0; x < k_width; ++x) {
        darker += pixel(image, x, y).red < std::lround(255.0f * colour[0]) - 12;
        as_it_is += is_near(pixel(image, x, y), colour, 4);
      }
    }
    CHECK(darker > 300);
    CHECK(as_it_is > 5000);
  }
}

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

}  // namespace
}  // namespace abut::test
