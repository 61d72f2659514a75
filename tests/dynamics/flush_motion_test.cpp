// Bodies with thin or narrow faces, on edges and ridges: what lies flush is what carries, and no more.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "dynamics/simulator.h"
#include "tests/support/convex_bodies.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

/// A prism along y of a convex cross-section in the plane of x and z; its frame is at the mean of its
/// corners.
ConvexBody extruded(const std::string& name, const std::vector<Eigen::Vector2d>& section, double half_width) {
  const int n = static_cast<int>(section.size());
  std::vector<Vec3<double>> corners;
  for (const double y : {-half_width, half_width})
    for (const Eigen::Vector2d& x : section) corners.emplace_back(x[0], y, x[1]);
  Faces faces(2);
  for (int i = 0; i < n; ++i) {
    faces[0].push_back(i);
    faces[1].push_back(n + i);
    faces.push_back({i, (i + 1) % n, n + (i + 1) % n, n + i});
  }
  return convex_body(name, corners, faces, 0.1 * half_width);
}

double lowest(const ConvexBody& of, const Pose<double>& X) {
  double least = 1e30;
  for (const Vec3<double>& x : of.vertices) least = std::min(least, (X * x).z());
  return least;
}

/// A body that was put down with its lowest corner at z = 0.
struct PutDown {
  Model model;
  State start;
  ConvexBody upper;

  PutDown(const ConvexBody& ground, const Pose<double>& X_ground, const ConvexBody& what, double x)
      : upper(what) {
    model.bodies = {ground.body, what.body};
    model.bodies[0].fixed = true;
    for (Body& body : model.bodies) body.material.friction = 0.8;
    start.X_WB = {X_ground, pose_at({x, 0.0, 0.0})};
    start.X_WB[1].p.z() = -lowest(what, start.X_WB[1]);
    start.V_WB.assign(2, Vec6<double>::Zero());
  }
  [[nodiscard]] State end(bool flush_faces, int steps = 200) const {
    StepConfig config;
    config.h = 2e-3;
    config.contact.flush_faces = flush_faces;
    const Trajectory trajectory = Simulator(model, config).rollout(start, steps);
    REQUIRE(trajectory.ok());
    return trajectory.states.back();
  }
};

/// With its top at z = 0.
Pose<double> below(const ConvexBody& ground) {
  double most = -1e30;
  for (const Vec3<double>& x : ground.vertices) most = std::max(most, x.z());
  return pose_at({0.0, 0.0, -most});
}

ConvexBody table() { return block("table", {1.0, 1.0, 0.2}); }

void stays(const PutDown& put, double within) {
  const State with = put.end(true), without = put.end(false);
  CHECK(std::abs(lowest(put.upper, with.X_WB[1])) < within);
  CHECK((with.X_WB[1].p - without.X_WB[1].p).norm() < within);
  CHECK(log_quaternion(with.X_WB[1].q).norm() < within);
  CHECK(with.V_WB[1].norm() < 10.0 * within);
}

}  // namespace

TEST_CASE("flush faces: narrow bevels and thin plates that hang over an edge stay on it",
          "[dynamics][value]") {
  const double overhang = GENERATE(0.2, 0.3, 0.45);
  const double thickness = GENERATE(0.0, 3e-4, 7e-4, 1e-3, 2e-3, 5e-3, 0.01);
  CAPTURE(overhang, thickness);
  const double x = 0.5 + overhang;  // of 1 m on a table whose edge is at 1 m
  if (thickness > 0.0)
    stays(PutDown(table(), below(table()), block("plate", {0.5, 0.5, 0.5 * thickness}), x), 1e-4);
  const double b = thickness;
  std::vector<Eigen::Vector2d> section{{-0.5 + b, 0.0}, {0.5 - b, 0.0}, {0.5, b},
                                       {0.5, 0.3},      {-0.5, 0.3},    {-0.5, b}};
  if (b == 0.0) section = {{-0.5, 0.0}, {0.5, 0.0}, {0.5, 0.3}, {-0.5, 0.3}};
  stays(PutDown(table(), below(table()), extruded("bevelled", section, 0.5), x), 1e-4);
}

TEST_CASE("flush faces: the far side of a thin plate carries nothing", "[dynamics][value]") {
  SECTION("a frustum on a bar narrower than its bottom") {
    const ConvexBody bar = block("bar", {0.45, 2.0, 0.2});
    const ConvexBody plate =
        extruded("plate", {{-0.5, 0.0}, {0.5, 0.0}, {0.446, 0.012}, {-0.446, 0.012}}, 0.5);
    stays(PutDown(bar, below(bar), plate, 0.0), 1e-4);
  }
  SECTION("its edge above that of the table") {
    const double thickness = GENERATE(2e-3, 5e-3, 0.01), off = GENERATE(0.0, 1e-4, -1e-4);
    CAPTURE(thickness, off);
    stays(PutDown(table(), below(table()), block("plate", {0.5, 0.5, 0.5 * thickness}), 0.5 + off), 1e-4);
  }
}

TEST_CASE("flush faces: a box of eight corners does not sink onto a ridge under its middle",
          "[dynamics][value]") {
  const double slope = GENERATE(5e-4, 1e-3, 2e-3, 5e-3, 0.02), x = GENERATE(0.0, 0.02);
  CAPTURE(slope, x);
  const ConvexBody roof = extruded(
      "roof", {{-2.0, -1.0}, {2.0, -1.0}, {2.0, -2.0 * slope}, {0.0, 0.0}, {-2.0, -2.0 * slope}}, 3.0);
  const PutDown put(roof, below(roof), block("box", {0.5, 0.5, 0.5}), x);
  const double sunk =
      -lowest(put.upper, put.end(true).X_WB[1]) - (-lowest(put.upper, put.end(false).X_WB[1]));
  CHECK(std::abs(sunk) < 3e-4);  // v/2, where the ridge is as flat as that
}

TEST_CASE("flush faces: a wedge with a blunt tip parts two blocks", "[dynamics][value]") {
  const ConvexBody wedge = extruded("wedge", {{-3e-4, -0.5}, {3e-4, -0.5}, {0.02, 0.5}, {-0.02, 0.5}}, 0.3);
  TestScene scene = floor_scene();
  for (const double side : {-1.0, 1.0}) {
    scene.add(block("block", {0.4, 0.4, 0.5}).body, pose_at({side * 0.40812, 0.0, 0.5}));
    set_mass(scene.model.bodies.back(), 100.0);
    scene.model.bodies.back().material.friction = 0.3;
  }
  scene.add(wedge.body, pose_at({0.0, 0.0, 1.15}));
  Body& driven = scene.model.bodies.back();
  set_mass(driven, 20.0);
  driven.material.friction = 0.1;
  driven.external_wrench[5] = -200.0;
  StepConfig config;
  config.h = 2e-3;
  const Trajectory trajectory = Simulator(scene.model, config).rollout(scene.state, 600);
  REQUIRE(trajectory.ok());
  CHECK(trajectory.states.back().X_WB[1].p.x() < -0.40812 - 0.005);
  CHECK(trajectory.states.back().X_WB[2].p.x() > 0.40812 + 0.005);
}

TEST_CASE("flush faces: gradients are finite just where a face is wholly flush", "[dynamics][derivative]") {
  // Q is 1 where the mean distance is 8 tau_p, a depth of 0.016 m here.
  const double off = GENERATE(0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-7, -1e-7, 1e-5, -1e-5);
  CAPTURE(off);
  TestScene scene = floor_scene();
  Body box = make_box({0.5, 0.5, 0.5}, 0.0, 4, 1000.0);
  box.material.stiffness = 1e6;
  scene.add(box, pose_at({0.0, 0.0, 0.484 + off}));
  const Simulator simulator(scene.model, StepConfig());
  const auto gradient_by_height = [&] {
    const Trajectory trajectory = simulator.rollout(scene.state, 1);
    REQUIRE(trajectory.ok());
    return simulator
        .gradient(trajectory,
                  [](int k, const State&, StateTangent& bar) {
                    if (k == 1) bar.pose[1][5] = 1.0;
                  })
        .initial.pose[1];
  };
  const Vec6<double> by_pose = gradient_by_height();
  CHECK(by_pose.allFinite());
  const auto height = [&](double h) {
    State moved = scene.state;
    moved.X_WB[1].p.z() += h;
    return simulator.rollout(moved, 1).states.back().X_WB[1].p.z();
  };
  CHECK(by_pose[5] == Approx((height(1e-6) - height(-1e-6)) / 2e-6).epsilon(1e-4));
}

}  // namespace abut::test
