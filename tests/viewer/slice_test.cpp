#include <cmath>

#include <catch2/catch.hpp>

#include "apps/picture/slice.h"
#include "collision/manifold/contact_detector.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

constexpr double k_radius = 0.2, k_band = 0.02;

SlicePlane plane_around(const Vec3<double>& centre) {
  SlicePlane plane;
  plane.centre = centre;
  plane.size = 1.0;
  return plane;
}

struct SlicePixel {
  int red, green, blue, opacity;
};

SlicePixel pixel(const SlicePicture& picture, int x, int y) {
  const std::uint8_t* p = &picture.pixels[4 * static_cast<std::size_t>(y * picture.resolution + x)];
  return {p[0], p[1], p[2], p[3]};
}

Vec3<double> point_of(const SlicePicture& picture, int x, int y) {
  const double n = picture.resolution;
  return picture.plane.point((2.0 * x + 1.0) / n - 1.0, (2.0 * y + 1.0) / n - 1.0);
}

double distance(const SlicePicture& picture, int x, int y) {
  return double(picture.distances[static_cast<std::size_t>(y * picture.resolution + x)]);
}

TEST_CASE("slice_picture: through a sphere phi is |x| - r, wherever the sphere is", "[viewer][value]") {
  const Vec3<double> centre(0.3, -2.0, 1.0);
  TestScene scene;
  scene.add(sphere_of_mass(k_radius, 1.0), pose_at(centre, {0.3, 0.2, -0.5}));
  const ContactDetector detector(scene.model, {});
  const SlicePicture picture = slice_picture(
      detector, scene.state.X_WB, 0, plane_around(centre + Vec3<double>(0.05, 0.02, 0)), 33, 0, k_band);
  REQUIRE(picture.resolution == 33);
  REQUIRE(picture.distances.size() == 33u * 33u);
  REQUIRE(picture.pixels.size() == 4u * 33u * 33u);
  CHECK(picture.arrows.empty());
  for (int y = 0; y < 33; ++y) {
    for (int x = 0; x < 33; ++x) {
      const double phi = (point_of(picture, x, y) - centre).norm() - k_radius;
      REQUIRE(close(distance(picture, x, y), phi, 1e-6, 1e-7));
    }
  }
}

TEST_CASE("slice_picture: blue inside, orange outside, a dark line between, rows from below",
          "[viewer][value]") {
  TestScene scene;
  scene.add(sphere_of_mass(k_radius, 1.0), pose_at({0, 0, -0.25}));
  const ContactDetector detector(scene.model, {});
  const int n = 200;  // pixels of 5 mm
  const SlicePicture picture =
      slice_picture(detector, scene.state.X_WB, 0, plane_around({0, 0, 0}), n, 0, k_band);
  const SlicePixel inside = pixel(picture, n / 2, n / 4), outside = pixel(picture, n / 2, n - 20);
  CHECK(inside.blue > inside.red + 60);
  CHECK(outside.red > outside.blue + 60);
  CHECK(inside.opacity > 200);
  CHECK(inside.opacity < 255);
  int darkest = -1, least = 1000;
  for (int y = n / 4; y < n; ++y) {
    const SlicePixel p = pixel(picture, n / 2, y);
    if (p.red + p.green + p.blue < least) {
      least = p.red + p.green + p.blue;
      darkest = y;
    }
  }
  CHECK(least < 150);
  CHECK(std::abs(point_of(picture, n / 2, darkest).z() - (k_radius - 0.25)) < 0.005);
}

TEST_CASE("slice_picture: without a body it is the least of all of them", "[viewer][property]") {
  TestScene scene = floor_scene();
  scene.add(sphere_of_mass(k_radius, 1.0), pose_at({-0.3, 0, 0.1}));
  scene.add(box_of_mass({0.1, 0.1, 0.1}, 1.0), pose_at({0.3, 0, 0.1}));
  const ContactDetector detector(scene.model, {});
  const SlicePlane plane = plane_around({0, 0, 0.2});
  const auto slice = [&](int body) {
    return slice_picture(detector, scene.state.X_WB, body, plane, 24, 0, k_band);
  };
  const SlicePicture all = slice(-1), floor = slice(0), sphere = slice(1), box = slice(2);
  for (std::size_t i = 0; i < all.distances.size(); ++i) {
    CHECK(all.distances[i] == std::min({floor.distances[i], sphere.distances[i], box.distances[i]}));
  }
}

TEST_CASE("slice_picture: arrows go along the gradient, within the plane", "[viewer][property]") {
  TestScene scene;
  scene.add(sphere_of_mass(k_radius, 1.0), pose_at({0, 0.1, 0}, {0.4, 1.0, 0.2}));
  const ContactDetector detector(scene.model, {});
  const SlicePlane plane = plane_around({0, 0, 0});
  const SlicePicture picture = slice_picture(detector, scene.state.X_WB, -1, plane, 8, 6, k_band);
  REQUIRE(picture.arrows.size() == 36);
  for (const SlicePicture::Arrow& arrow : picture.arrows) {
    const Vec3<double> way = arrow.to - arrow.from, middle = 0.5 * (arrow.from + arrow.to);
    CHECK(std::abs(way.dot(plane.normal())) < 1e-12);
    CHECK(way.norm() < plane.size / 6);
    CHECK(
        close(way.normalized(), middle.normalized(), 0, 1e-9));  // radial, as the sphere's middle is below 0
  }
}

TEST_CASE("slice_picture: where there is nothing, and where a pose is NaN, is far and one colour",
          "[viewer][value]") {
  TestScene scene;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  scene.add(sphere_of_mass(k_radius, 1.0), pose_at({nan, 0, 0}));
  Body empty = sphere_of_mass(k_radius, 1.0);
  empty.shape.primitives.clear();
  scene.add(std::move(empty));
  const ContactDetector detector(scene.model, {});
  for (const int body : {-1, 0, 1}) {
    const SlicePicture picture =
        slice_picture(detector, scene.state.X_WB, body, plane_around({0, 0, 0}), 5, 3, k_band);
    CHECK(picture.arrows.empty());
    const SlicePixel first = pixel(picture, 0, 0);
    for (int i = 0; i < 25; ++i) {
      CHECK(picture.distances[static_cast<std::size_t>(i)] == 1e30f);
      CHECK(pixel(picture, i % 5, i / 5).red == first.red);
    }
  }
}

}  // namespace
}  // namespace abut::test
