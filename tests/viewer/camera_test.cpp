#include <cmath>
#include <numbers>

#include <catch2/catch.hpp>

#include "apps/picture/camera.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

OrbitCamera random_camera(Random& random) {
  OrbitCamera camera;
  camera.target = random_vector(random, 2.0);
  camera.distance = std::pow(10.0, random.uniform(-3.0, 2.0));
  camera.azimuth = random.uniform(-3.1, 3.1);
  camera.elevation = random.uniform(-1.5, 1.5);
  camera.vertical_angle = random.uniform(0.3, 1.2);
  camera.orthographic = random.uniform(0.0, 1.0) < 0.5;
  return camera;
}

Vec3<double> clip_place(const OrbitCamera& camera, const Vec3<double>& p_W, double aspect) {
  const Vec4<double> clip = camera.projection(aspect) * camera.view() * p_W.homogeneous();
  return clip.head<3>() / clip.w();
}

TEST_CASE("OrbitCamera: right, up and backwards are a right-handed frame of unit length, also at the poles",
          "[viewer][property]") {
  for (const double elevation : {-0.5 * std::numbers::pi, -0.7, 0.0, 1.2, 0.5 * std::numbers::pi}) {
    OrbitCamera camera;
    camera.elevation = elevation;
    Mat3<double> R;
    R << camera.right(), camera.up(), -camera.forward();
    CAPTURE(elevation);
    CHECK(close(R.transpose() * R, Mat3<double>::Identity(), 0, 1e-15));
    CHECK(R.determinant() == Approx(1.0));
    CHECK(camera.right().z() == 0.0);  // the horizon is level
    CHECK(camera.up().z() >= 0.0);
    CHECK(close(camera.position() + camera.distance * camera.forward(), camera.target, 0, 1e-15));
  }
}

TEST_CASE("OrbitCamera: a point on a ray is projected to where the ray began", "[viewer][property]") {
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    const OrbitCamera camera = random_camera(random);
    const double aspect = random.uniform(0.5, 2.5), x = random.uniform(-1, 1), y = random.uniform(-1, 1);
    const double way = camera.distance * random.uniform(0.1, 50.0);
    const Ray ray = camera.ray(x, y, aspect);
    const Vec3<double> p_W = ray.origin + way * ray.direction;
    const Vec3<double> place = camera.project(p_W, aspect);
    CAPTURE(i, place.transpose());
    CHECK(close(ray.direction.norm(), 1.0, 1e-14, 0));
    CHECK(close(place.head<2>(), Vec2<double>(x, y), 0, 1e-9));
    CHECK(close(place.z(), way * ray.direction.dot(camera.forward()), 1e-9, 0));
  }
}

TEST_CASE("OrbitCamera: view and projection put a point where project() says, and depths into [-1, 1]",
          "[viewer][property]") {
  Random random(8);
  for (int i = 0; i < 100; ++i) {
    const OrbitCamera camera = random_camera(random);
    const double aspect = random.uniform(0.5, 2.5);
    const Ray ray = camera.ray(random.uniform(-1, 1), random.uniform(-1, 1), aspect);
    const Vec3<double> p_W = ray.origin + camera.distance * random.uniform(0.1, 30.0) * ray.direction;
    const Vec3<double> clip = clip_place(camera, p_W, aspect), place = camera.project(p_W, aspect);
    CHECK(close(clip.head<2>(), place.head<2>(), 0, 1e-9));
    CHECK(std::abs(clip.z()) < 1.0);
    const Vec3<double> behind_W = p_W + 0.01 * camera.distance * camera.forward();
    CHECK(clip_place(camera, behind_W, aspect).z() > clip.z());
  }
}

TEST_CASE("OrbitCamera: what is behind it has no depth and no place", "[viewer][value]") {
  const OrbitCamera camera;
  const Vec3<double> place = camera.project(camera.position() - 0.5 * camera.forward() + camera.up(), 1.0);
  CHECK(place.z() == Approx(-0.5));
  CHECK(place.head<2>().isZero());
  CHECK(camera.project(camera.position(), 1.0).allFinite());
}

TEST_CASE("OrbitCamera: a step of pixel_size moves a point by a pixel", "[viewer][property]") {
  OrbitCamera camera;
  camera.distance = 3.0;
  const int height = 720;
  const double aspect = 16.0 / 9.0;
  const Vec3<double> p_W = camera.position() + 2.0 * camera.forward();
  const Vec3<double> step = camera.pixel_size(2.0, height) * camera.up();
  const double dy = camera.project(p_W + step, aspect).y() - camera.project(p_W, aspect).y();
  CHECK(close(0.5 * height * dy, 1.0, 1e-12, 0));
}

TEST_CASE("OrbitCamera: what is under the mouse follows a drag", "[viewer][property]") {
  OrbitCamera camera;
  camera.target = {0.3, -0.2, 0.5};
  const double aspect = 1.5;

  const Vec3<double> target = camera.target;
  camera.pan(0.1, -0.2);  // of the height, which is 2
  CHECK(close(camera.project(target, aspect).head<2>(), Vec2<double>(0.2 / aspect, -0.4), 0, 1e-12));

  // Turned, the near side of things goes the way of the hand.
  const Vec3<double> near_side = camera.target - 0.1 * camera.forward();
  OrbitCamera turned = camera;
  turned.turn(0.05, 0.03);
  const Vec3<double> place = turned.project(near_side, aspect);
  CHECK(place.x() > 0.001);
  CHECK(place.y() > 0.001);
  CHECK(close(turned.target, camera.target, 0, 0));
  CHECK(turned.distance == camera.distance);
}

TEST_CASE("OrbitCamera: no drag and no wheel takes it out of its bounds", "[viewer][property]") {
  OrbitCamera camera;
  camera.turn(0.0, -5.0);
  CHECK(camera.elevation == Approx(0.5 * std::numbers::pi));
  camera.turn(0.0, 5.0);
  CHECK(camera.elevation == Approx(-0.5 * std::numbers::pi));
  for (int i = 0; i < 100; ++i) camera.turn(0.7, 0.0);
  CHECK(std::abs(camera.azimuth) <= std::numbers::pi);

  const double distance = camera.distance;
  camera.zoom(1.0);
  CHECK(camera.distance < distance);
  camera.zoom(-1.0);
  CHECK(close(camera.distance, distance, 1e-14, 0));
  camera.zoom(1e5);
  CHECK(camera.distance > 0.0);
  camera.zoom(-1e5);
  CHECK(std::isfinite(camera.distance));
}

/// Boxes here and there above a floor.
TestScene boxes(Random& random, int count) {
  TestScene scene = floor_scene();
  for (int i = 0; i < count; ++i) {
    const Vec3<double> half(random.uniform(0.02, 0.3), random.uniform(0.02, 0.3), random.uniform(0.02, 0.3));
    scene.add(box_of_mass(half, 1.0), random_pose(random, 2.0));
  }
  return scene;
}

TEST_CASE("camera_around: every vertex of every body is in the picture, and they fill it",
          "[viewer][property]") {
  Random random(9);
  for (int i = 0; i < 40; ++i) {
    const TestScene scene = boxes(random, 1 + i % 4);
    OrbitCamera like = random_camera(random);
    like.elevation = i == 0 ? 0.5 * std::numbers::pi : like.elevation;
    const double aspect = random.uniform(0.4, 2.5);
    const OrbitCamera camera = camera_around(scene.model, scene.state.X_WB, aspect, like);
    CHECK(camera.azimuth == like.azimuth);
    CHECK(camera.elevation == like.elevation);
    double largest = 0.0;
    for (std::size_t b = 1; b < scene.model.bodies.size(); ++b) {
      const Points& vertices_B = scene.model.bodies[b].mesh.vertices;
      for (Eigen::Index v = 0; v < vertices_B.cols(); ++v) {
        const Vec3<double> p_W = scene.state.X_WB[b] * Vec3<double>(vertices_B.col(v));
        const Vec3<double> place = camera.project(p_W, aspect);
        REQUIRE(place.z() > 0.0);
        REQUIRE(clip_place(camera, p_W, aspect).z() > -1.0);  // not cut away in front
        largest = std::max({largest, std::abs(place.x()), std::abs(place.y())});
      }
    }
    CAPTURE(i, aspect, largest);
    CHECK(largest < 0.95);
    CHECK(largest > 0.5);
  }
}

TEST_CASE("OrbitCamera: looking around turns it where it stands", "[viewer][property]") {
  Random random(31);
  for (int i = 0; i < 30; ++i) {
    OrbitCamera camera = random_camera(random);
    const OrbitCamera before = camera;
    camera.look(0.1, 0.05);
    const double size = 1e-12 * (before.position().norm() + before.distance);
    CHECK((camera.position() - before.position()).norm() < 20.0 * size);
    CHECK(camera.distance == before.distance);
    CHECK(camera.forward().dot(before.right()) > 0.0);                                         // to the right
    if (std::abs(before.elevation) < 1.3) CHECK(camera.forward().z() > before.forward().z());  // and upwards
    camera.stand_at({1, 2, 3});
    CHECK((camera.position() - Vec3<double>(1, 2, 3)).norm() < 20.0 * size + 1e-12 * 40.0 * camera.distance);
  }
}

TEST_CASE("camera_around: bodies without a mesh are in the picture too", "[viewer][value]") {
  TestScene scene;
  scene.add(fixed_channel(0.1, 0.2, 0.5, 0.02), pose_at({3, 0, 0}));
  const OrbitCamera camera = camera_around(scene.model, scene.state.X_WB, 1.0);
  for (const double y : {-0.5, 0.5}) {
    const Vec3<double> place = camera.project({3.1, y, 0.2}, 1.0);
    CHECK(place.z() > 0.0);
    CHECK(place.head<2>().cwiseAbs().maxCoeff() < 1.0);
  }
}

TEST_CASE("camera_around: stays where it is if there is nothing to see, or nothing finite",
          "[viewer][value]") {
  OrbitCamera like;
  like.target = {1, 2, 3};
  like.distance = 4.0;
  TestScene scene = floor_scene();
  CHECK(camera_around(scene.model, scene.state.X_WB, 1.0, like).distance == 4.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  scene.add(sphere_of_mass(0.1, 1.0), pose_at({nan, 0, 0}));
  const OrbitCamera camera = camera_around(scene.model, scene.state.X_WB, 1.0, like);
  CHECK(camera.target == like.target);
  CHECK(camera.distance == 4.0);
  scene.add(sphere_of_mass(0.1, 1.0), pose_at({7, 0, 0}));
  CHECK(
      close(camera_around(scene.model, scene.state.X_WB, 1.0, like).target, Vec3<double>(7, 0, 0), 0, 1e-9));
}

}  // namespace
}  // namespace abut::test
