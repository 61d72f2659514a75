// Bodies that rest, slide and fall by each of the detectors, and the gradients of what they do.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <string>

#include "dynamics/batch_rollout.h"
#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/simulator.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

struct NamedDetector {
  const char* name;
  DetectorKind kind;
};
constexpr NamedDetector k_detectors[] = {{"manifold", DetectorKind::manifold},
                                         {"gjk", DetectorKind::gjk},
                                         {"proximity_qp", DetectorKind::proximity_qp},
                                         {"frank_wolfe", DetectorKind::frank_wolfe}};

StepConfig config_of(DetectorKind detector) {
  StepConfig config;
  config.h = 2e-3;
  config.contact.detector = detector;
  return config;
}

/// A table, a box that every detector takes.
Body fixed_table() {
  Body body = make_box({0.5, 0.5, 0.05}, 0.01, 2, 1000.0);
  body.name = "table";
  body.fixed = true;
  return body;
}

TEST_CASE("detectors: a stack of boxes stands where it was put", "[dynamics][motion]") {
  for (const auto& [name, kind] : k_detectors) {
    TestScene scene;
    scene.add(fixed_table(), pose_at({0.0, 0.0, -0.05}));
    for (int i = 0; i < 3; ++i) {
      scene.add(make_box({0.05, 0.05, 0.05}, 0.004, 2, 1000.0),
                pose_at({0.005 * i, 0.0, 0.05 + 0.1 * i}, {0.0, 0.0, 0.3 * i}));
    }
    scene.set_friction(0.5);
    const Simulator simulator(scene.model, config_of(kind));
    const Trajectory trajectory = simulator.rollout(scene.state, 500);
    CAPTURE(name);
    REQUIRE(trajectory.ok());
    const State& end = trajectory.states.back();
    for (int i = 1; i <= 3; ++i) {
      const auto b = static_cast<std::size_t>(i);
      CAPTURE(i, end.X_WB[b].p.transpose(), end.V_WB[b].transpose());
      CHECK((end.X_WB[b].p - scene.state.X_WB[b].p).norm() < 1e-3);
      CHECK(end.V_WB[b].norm() < 2e-2);
    }
  }
}

TEST_CASE("detectors: a box slides down a slope as Coulomb says", "[dynamics][motion]") {
  constexpr double angle = 0.5, friction = 0.3, g = 9.81;
  for (const auto& [name, kind] : k_detectors) {
    TestScene scene;
    const Vec3<double> tilt(0.0, angle, 0.0);
    const Quat<double> q = exp_quaternion<double>(tilt);
    Body slope = make_box({2.0, 0.5, 0.05}, 0.01, 2, 1000.0);
    slope.fixed = true;
    scene.add(slope, {q, q * Vec3<double>(0.0, 0.0, -0.05)});
    scene.add(make_box({0.05, 0.05, 0.025}, 0.002, 2, 1000.0), {q, q * Vec3<double>(-1.0, 0.0, 0.025)});
    scene.set_friction(friction);
    const Simulator simulator(scene.model, config_of(kind));
    const int steps = 200;
    const Trajectory trajectory = simulator.rollout(scene.state, steps);
    CAPTURE(name);
    REQUIRE(trajectory.ok());
    const double acceleration = g * (std::sin(angle) - friction * std::cos(angle)), t = 2e-3 * steps;
    CHECK(trajectory.states.back().V_WB[1].tail<3>().norm() == Approx(acceleration * t).epsilon(0.02));
  }
}

/// A capsule and a box that fall on a table askew.
TestScene falling_bodies() {
  TestScene scene;
  scene.add(fixed_table(), pose_at({0.0, 0.0, -0.05}));
  scene.add(make_capsule(0.03, 0.06, 1000.0), pose_at({-0.1, 0.0, 0.06}, {0.3, 1.2, 0.0}));
  scene.add(make_box({0.05, 0.04, 0.03}, 0.008, 2, 1000.0), pose_at({0.1, 0.0, 0.075}, {0.5, 0.3, 0.2}));
  scene.set_friction(0.4);
  return scene;
}

TEST_CASE("detectors: gradients are differences", "[dynamics][derivatives]") {
  for (const auto& [name, kind] : k_detectors) {
    const TestScene scene = falling_bodies();
    StepConfig config = config_of(kind);
    GradientCheckConfig check;
    check.steps = 30;
    check.samples = 24;
    check.seed = 3;
    const GradientCheck result = check_gradient(scene.model, config, scene.state, check);
    int wrong = 0;
    double largest = 0.0;
    for (const GradientSample& sample : result.samples) {
      if (sample.at_bound || sample.unresolved) continue;
      largest = std::max(largest, sample.relative_error);
      wrong += sample.relative_error > 1e-4;
    }
    CAPTURE(name, largest, result.summary.unresolved);
    CHECK(result.failed_step == -1);
    CHECK(wrong == 0);
  }
}

TEST_CASE("detectors: a gradient by shapes that there is not is NaN, and its health says so",
          "[dynamics][derivatives]") {
  const TestScene scene = falling_bodies();
  for (const auto& [name, kind] : k_detectors) {
    const Simulator simulator(scene.model, config_of(kind));
    const Trajectory trajectory = simulator.rollout(scene.state, 20);
    const Gradient gradient =
        adjoint(simulator.stepper(), trajectory, [&](int k, const State&, StateTangent& bar) {
          if (k == 20) bar.pose[1][5] += 1.0;
        });
    CAPTURE(name);
    CHECK(gradient.health.has_shape_derivatives == (kind == DetectorKind::manifold));
    CHECK(std::isnan(gradient.model.bodies[1].shape[0].parameters[0]) == (kind != DetectorKind::manifold));
    CHECK(gradient.initial.pose[1].allFinite());
    CHECK(std::isfinite(gradient.model.bodies[1].mass));
  }
}

}  // namespace
}  // namespace abut::test
