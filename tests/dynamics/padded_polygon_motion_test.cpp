// Plates that are padded polygons: at rest, on each other, over an edge, and the gradients of what they do.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/simulator.h"
#include "tests/support/close.h"
#include "tests/support/convex_polygon.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

constexpr DetectorKind k_smooth_detectors[] = {DetectorKind::manifold, DetectorKind::gjk,
                                               DetectorKind::proximity_qp};

constexpr DetectorKind k_all_detectors[] = {DetectorKind::manifold, DetectorKind::gjk,
                                            DetectorKind::proximity_qp, DetectorKind::frank_wolfe};

StepConfig config_of(DetectorKind detector) {
  StepConfig config;
  config.h = 2e-3;
  config.contact.detector = detector;
  return config;
}

const std::vector<Vec2<double>> k_hexagon{{0.1, 0.0},  {0.05, 0.08},   {-0.05, 0.08},
                                          {-0.1, 0.0}, {-0.05, -0.08}, {0.05, -0.08}};

State end_of(const TestScene& scene, DetectorKind kind, int steps) {
  const Trajectory trajectory = Simulator(scene.model, config_of(kind)).rollout(scene.state, steps);
  REQUIRE(trajectory.ok());
  return trajectory.states.back();
}

TEST_CASE("padded polygons: a plate comes to rest on a floor at the height of its radius",
          "[dynamics][value]") {
  constexpr double k_radius = 0.01;
  for (const DetectorKind kind : k_all_detectors) {
    TestScene scene = floor_scene();
    scene.add(polygon_body(k_hexagon, k_radius), pose_at({0.3, 0.2, k_radius + 0.002}, {0.0, 0.0, 0.4}));
    const State end = end_of(scene, kind, 500);
    CAPTURE(static_cast<int>(kind), end.X_WB[1].p.transpose());
    CHECK(close(end.X_WB[1].p, Vec3<double>(0.3, 0.2, k_radius), 0, 1e-4));
    CHECK(close(log_quaternion(end.X_WB[1].q), Vec3<double>(0.0, 0.0, 0.4), 0, 1e-6));
    CHECK(end.V_WB[1].norm() < 1e-6);
  }
}

TEST_CASE("padded polygons: plates stacked on each other stay there", "[dynamics][value]") {
  constexpr double k_radius = 0.01;
  const double turn = GENERATE(0.0, 0.3);
  for (const DetectorKind kind : k_all_detectors) {
    TestScene scene = floor_scene();
    for (int i = 0; i < 4; ++i) {
      scene.add(polygon_body(i % 2 == 0 ? k_hexagon : rectangle_corners(0.08, 0.05), k_radius),
                pose_at({0.0, 0.0, (2 * i + 1) * k_radius}, {0.0, 0.0, turn * i}));
    }
    const State end = end_of(scene, kind, 500);
    for (std::size_t b = 1; b <= 4; ++b) {
      CAPTURE(static_cast<int>(kind), turn, b, end.X_WB[b].p.transpose());
      CHECK((end.X_WB[b].p - scene.state.X_WB[b].p).norm() < 5e-4);
      // Which triangles touch jumps where plates lie flush to rounding.
      CHECK(end.V_WB[b].norm() < (kind == DetectorKind::frank_wolfe ? 5e-2 : 1e-4));
    }
  }
}

TEST_CASE("padded polygons: a plate stays on a table while its centre is above it, and else falls",
          "[dynamics][value]") {
  for (const DetectorKind kind : k_smooth_detectors) {
    for (const double beyond : {-0.02, 0.02}) {
      TestScene scene;
      Body table = polygon_body(rectangle_corners(0.3, 0.3), 0.02);
      table.fixed = true;
      scene.add(table, pose_at({-0.3, 0.0, -0.02}));
      scene.add(polygon_body(k_hexagon, 0.01), pose_at({beyond, 0.0, 0.01}));
      scene.set_friction(0.8);
      const State end = end_of(scene, kind, 250);
      CAPTURE(static_cast<int>(kind), beyond, end.X_WB[1].p.transpose());
      if (beyond < 0.0) {
        CHECK((end.X_WB[1].p - scene.state.X_WB[1].p).norm() < 1e-3);
      } else {
        CHECK(end.X_WB[1].p.z() < -0.05);
      }
    }
  }
}

TEST_CASE("padded polygons: two that collide move with the frame, and keep their momentum",
          "[dynamics][property]") {
  Random random(3);
  const Pose<double> X = random_pose(random);
  for (const DetectorKind kind : k_smooth_detectors) {
    TestScene scene;
    scene.model.gravity.setZero();
    scene.add(polygon_body(k_hexagon, 0.01), pose_at({0.0, 0.0, 0.0}, {0.3, 0.1, 0.0}));
    scene.add(polygon_body(rectangle_corners(0.06, 0.04), 0.02), pose_at({0.03, 0.02, 0.1}, {0.2, 0.5, 0.7}),
              moving_at({0.0, 0.0, -1.0}));
    TestScene moved = scene;
    for (std::size_t b = 0; b < 2; ++b) {
      moved.state.X_WB[b] = X * scene.state.X_WB[b];
      const Vec3<double> v = scene.state.V_WB[b].tail<3>();
      moved.state.V_WB[b] = moving_at(X.q * v);
    }
    const State end = end_of(scene, kind, 80), there = end_of(moved, kind, 80);
    CAPTURE(static_cast<int>(kind));
    CHECK(end.V_WB[0].tail<3>().norm() > 0.1);
    const auto momentum = [&](const State& state) {
      return Vec3<double>(scene.model.bodies[0].mass * state.V_WB[0].tail<3>() +
                          scene.model.bodies[1].mass * state.V_WB[1].tail<3>());
    };
    CHECK(close(momentum(end), momentum(scene.state), 0, 1e-9));
    for (std::size_t b = 0; b < 2; ++b) CHECK(close(there.X_WB[b].p, X * end.X_WB[b].p, 0, 1e-5));
  }
}

TEST_CASE("padded polygons: gradients are differences, those by radius and corners among them",
          "[dynamics][derivative]") {
  for (const DetectorKind kind : k_smooth_detectors) {
    TestScene scene = floor_scene();
    scene.add(polygon_body(k_hexagon, 0.01), pose_at({0.0, 0.0, 0.05}, {0.4, 0.2, 0.3}));
    scene.add(polygon_body(rectangle_corners(0.06, 0.04), 0.015),
              pose_at({0.02, 0.01, 0.13}, {0.2, 0.5, 0.7}));
    StepConfig config = config_of(kind);
    GradientCheckConfig check;
    check.steps = 80;
    check.samples = 34;
    check.seed = 5;
    const GradientCheck result = check_gradient(scene.model, config, scene.state, check);
    CHECK(result.failed_step == -1);
    int by_shape = 0;
    for (const GradientSample& sample : result.samples) {
      CAPTURE(static_cast<int>(kind), sample.group, sample.relative_error);
      if (sample.at_bound) continue;
      by_shape += sample.group == "shape parameters";
      CHECK_FALSE(sample.unresolved);
      CHECK(sample.relative_error < 1e-4);
    }
    if (kind == DetectorKind::manifold) CHECK(by_shape >= 2);
  }
}

}  // namespace
}  // namespace abut::test
