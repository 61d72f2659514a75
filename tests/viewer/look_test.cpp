/// Light, shadows, occlusion, outlines and the grid of pictures.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "apps/render/shadow_map.h"
#include "tests/support/scenes.h"
#include "tests/viewer/studio.h"

namespace abut::test {
namespace {

Pixel pixel_of(const Image& image, const OrbitCamera& camera, const Vec3<double>& p_W) {
  const Vec3<double> place = camera.project(p_W, static_cast<double>(image.width) / image.height);
  return pixel(image, static_cast<int>(image.width * (0.5 + 0.5 * place.x())),
               static_cast<int>(image.height * (0.5 - 0.5 * place.y())));
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

TEST_CASE("Renderer: a ghost that is where a body is leaves the body as it looks", "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.surfaces = {ball(k_red)};
  const Image alone = studio.draw(picture);
  for (const double shift : {0.0, 1e-7, -1e-7}) {
    CAPTURE(shift);
    DrawnSurface ghost = ball(k_green, 0.2, {shift, 0, 0});
    ghost.colour.w() = 0.3f;
    picture.surfaces = {ball(k_red), ghost};
    const Image both = studio.draw(picture);
    int different = 0;
    for (int y = 0; y < k_height; ++y) {
      for (int x = 0; x < k_width; ++x) different += pixel(both, x, y) != pixel(alone, x, y);
    }
    CHECK(different == 0);
  }
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

}  // namespace
}  // namespace abut::test
