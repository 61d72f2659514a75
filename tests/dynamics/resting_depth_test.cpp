// Bodies dropped on each other come to rest without sinking in, and the depth that is reported is the true
// one.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "dynamics/simulator.h"
#include "tests/support/random_compounds.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"

using namespace abut;
using test::CompoundBody;
using test::Finish;
using test::pose_at;

namespace {

constexpr double k_right_angle = 0.5 * std::numbers::pi;

/// Bodies at rest at the start; the first ones may be fixed.
struct CompoundScene {
  std::vector<CompoundBody> bodies;
  std::vector<Pose<double>> poses;
  std::size_t fixed = 1;
  double sag = 0.0;  ///< how far the weight of a body compresses its contact, in sizes of it; 0: rigid

  void add(CompoundBody body, const Pose<double>& X) {
    bodies.push_back(std::move(body));
    poses.push_back(X);
  }
};

/// At the end of a simulation.
struct RestingDepth {
  double deepest = 0.0;     ///< by brute force on the convex pieces, in sizes of the smaller body of a pair
  double mesh_error = 0.0;  ///< of the collision meshes, in the same unit
  double reported = 0.0;    ///< in the same unit, as `abut run` reports it: by contacts and by overlaps
  double speed = 0.0;       ///< of the fastest point [m/s]
  StepStatus status = StepStatus::ok;
};

RestingDepth resting_depth(const CompoundScene& scene, int steps) {
  Model model;
  State start;
  double size = std::numeric_limits<double>::infinity(), mesh_error = 0.0;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    model.bodies.push_back(scene.bodies[b].body);
    Body& body = model.bodies.back();
    body.fixed = b < scene.fixed;
    if (!body.fixed && scene.sag > 0.0)
      body.material.stiffness = body.mass * model.gravity.norm() / (scene.sag * body.size);
    start.X_WB.push_back({scene.poses[b].q, scene.poses[b] * Vec3<double>(-scene.bodies[b].body.p_BA)});
    size = std::min(size, scene.bodies[b].body.size);
    mesh_error += scene.bodies[b].mesh_error;
  }
  start.V_WB.assign(scene.bodies.size(), Vec6<double>::Zero());
  const Simulator simulator(model, StepConfig());
  State end;
  StepReport last;
  RestingDepth result;
  const auto keep = [&](int, const State&, const StepReport& report) {
    last = report;
    return true;
  };
  result.status = simulate(simulator.stepper(), start, steps, {}, end, keep).status;
  for (std::size_t a = 0; a < scene.bodies.size(); ++a) {
    for (std::size_t b = std::max(a + 1, scene.fixed); b < scene.bodies.size(); ++b)
      result.deepest = std::max(
          result.deepest, test::overlap(scene.bodies[a], end.X_WB[a], scene.bodies[b], end.X_WB[b]).depth);
  }
  result.reported =
      std::max(last.max_penetration, deepest_overlap(simulator.stepper().detector(), end.X_WB)) / size;
  result.deepest /= size;
  result.mesh_error = mesh_error / size;
  result.speed = last.max_speed;
  return result;
}

struct NamedScene {
  std::string name;
  CompoundScene scene;
};

CompoundBody plate() { return test::bar("plate", {2.0, 2.0, 0.1}); }

std::vector<NamedScene> scenes_of(const Finish& finish) {
  std::vector<NamedScene> scenes;
  const auto turned = [](const Vec3<double>& p, double yaw, const Vec3<double>& then) {
    return Pose<double>{exp_quaternion<double>({0.0, 0.0, yaw}) * exp_quaternion<double>(then), p};
  };
  constexpr double t = 0.05, k_gap = 0.005;
  const double diagonal = finish.rounding * t + std::numbers::sqrt2 * (1.0 - finish.rounding) * t;
  const CompoundBody long_bar = test::bar("bar", {1.0, t, t}, finish);
  for (const double roll : {0.0, 0.5 * k_right_angle}) {  // faces, then edges up
    const double top = roll == 0.0 ? t : diagonal;
    const std::string how = roll == 0.0 ? "flat " : "edge-up ";
    for (const double yaw : {0.0, 0.3, 0.5 * k_right_angle}) {
      const std::string at = how + "bars, yaw " + std::to_string(yaw);
      const auto on_two_bars = [&](const std::string& name, CompoundBody body, double lowest, double apart) {
        CompoundScene scene;
        scene.fixed = 2;
        for (const double y : {-apart, apart})
          scene.add(long_bar, turned({0.0, y, 0.0}, 0.0, {roll, 0.0, 0.0}));
        scene.add(std::move(body),
                  turned({0.01, 0.02, top - lowest + k_gap}, k_right_angle + yaw, Vec3<double>::Zero()));
        scenes.push_back({name + " on " + at, scene});
      };
      on_two_bars("ladder", test::ladder("ladder", 0.6, 0.25, 4, t, finish), -t, 0.2);
      on_two_bars("cage", test::cage("cage", {0.4, 0.4, 0.3}, t, finish), -0.3 - t, 0.2);
      on_two_bars("bar", test::bar("upper", {0.6, t, 1.5 * t}, finish), -1.5 * t, 0.2);
      on_two_bars("triangle", test::triangle_plate("triangle", 1.0, 0.3, 0.04, finish.divisions), -0.04,
                  0.15);
      on_two_bars("ring", test::square_ring("ring", 0.35, t, finish), -t, 0.2);
    }
    CompoundScene hung;
    hung.add(long_bar, turned(Vec3<double>::Zero(), k_right_angle, {roll, 0.0, 0.0}));
    hung.add(test::square_ring("ring", 0.3, t, finish),
             turned({0.0, 0.0, top - 0.3 + t + k_gap}, 0.05, {k_right_angle, 0.0, 0.0}));
    scenes.push_back({"ring hung on " + how + "bar", hung});
    CompoundScene grooved;
    grooved.add(test::grooved_block("block", 0.1, 0.15, 0.4, t, finish), {});
    grooved.add(test::bar("bar", {0.5, t, t}, finish),
                turned({0.0, 0.0, top + k_gap}, k_right_angle, {roll, 0.0, 0.0}));
    scenes.push_back({how + "bar in groove", grooved});
    CompoundScene across;
    across.add(test::grooved_block("block", 0.1, 0.15, 0.4, t, finish), {});
    across.add(test::bar("bar", {0.5, t, t}, finish),
               turned({0.0, 0.0, 0.15 + top + k_gap}, 0.2, {roll, 0.0, 0.0}));
    scenes.push_back({how + "bar across groove", across});
    if (finish.rounding == 0.0) {
      CompoundScene notched;
      notched.add(test::notched_block("block", 0.35, 0.2, 0.2, 0.1, 0.4, finish.divisions), {});
      notched.add(
          test::bar("bar", {0.5, t, t}, finish),
          turned({0.0, 0.0, (roll == 0.0 ? 2.0 * t : diagonal) + k_gap}, k_right_angle, {roll, 0.0, 0.0}));
      scenes.push_back({how + "bar in notch", notched});
    }
  }
  for (const double yaw : {0.0, 0.4, 0.5 * k_right_angle}) {
    CompoundScene seated;
    seated.add(plate(), {});
    seated.add(test::chair("chair", 0.25, 0.45, 0.5, t, finish),
               turned({0.0, 0.0, 0.1 + 0.45 + k_gap}, yaw, Vec3<double>::Zero()));
    seated.add(test::cage("cage", {0.15, 0.15, 0.15}, 0.04, finish),
               turned({0.05, 0.0, 0.1 + 0.45 + t + 0.19 + 2.0 * k_gap}, 0.0, Vec3<double>::Zero()));
    scenes.push_back({"cage on chair on plate, yaw " + std::to_string(yaw), seated});
  }
  CompoundScene pegged;
  pegged.fixed = 2;
  pegged.add(plate(), {});
  pegged.add(test::bar("peg", {0.15, 0.15, 0.5}, finish), pose_at({0.0, 0.0, 0.6}));
  pegged.add(test::square_ring("ring", 0.25, t, finish), pose_at({0.02, 0.0, 0.5}, {0.1, 0.2, 0.3}));
  scenes.push_back({"ring on peg", pegged});
  return scenes;
}

}  // namespace

TEST_CASE("bodies that are not convex rest on each other without sinking in",
          "[dynamics][property][nightly]") {
  std::size_t index = 0;
  for (const double sag : {0.0, 0.004}) {
    for (const double rounding : {0.0, 0.4}) {
      for (const int divisions : {0, 2}) {
        for (NamedScene& named : scenes_of({rounding, divisions})) {
          if (!test::is_drawn(index++)) continue;
          named.scene.sag = sag;
          CAPTURE(sag, rounding, divisions, named.name);
          const RestingDepth depth = resting_depth(named.scene, 1000);
          CHECK(depth.status == StepStatus::ok);
          if (sag == 0.0) CHECK(depth.deepest <= 1e-3);  // springs may be as soft as one likes
          CHECK(std::abs(depth.reported - depth.deepest) <= std::max(0.2 * depth.deepest, 1e-3));
        }
      }
    }
  }
}

TEST_CASE("random bodies dropped on each other come to rest without sinking in",
          "[dynamics][property][nightly]") {
  for (const std::uint64_t seed : test::seeds(150)) {
    CAPTURE(seed);
    Random random(seed);
    CompoundScene scene;
    scene.fixed = 2;
    scene.add(plate(), pose_at({0.0, 0.0, -1.5}));
    double top = 0.0;
    for (const char* name : {"lower", "upper"}) {
      const CompoundBody body = test::random_compound(name, random);
      const Pose<double> X{random.quaternion(),
                           Vec3<double>(random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), 0.0)};
      const Pose<double> X_WB{X.q, X * Vec3<double>(-body.body.p_BA)};
      const double up = top + 0.01 + body.extent_along(X_WB, -Vec3<double>::UnitZ());
      scene.add(body, {X.q, X.p + (top == 0.0 ? 0.0 : up) * Vec3<double>::UnitZ()});
      top = body.extent_along(X_WB, Vec3<double>::UnitZ());
    }
    const RestingDepth depth = resting_depth(scene, 1000);
    CHECK(depth.status == StepStatus::ok);
    // A coarse mesh of sharp prisms leaves out their edges, and reports what it touches itself.
    CHECK(depth.deepest <= (depth.mesh_error > 0.0 ? 0.01 : 1e-3));
    CHECK(std::abs(depth.reported - depth.deepest) <= std::max(0.2 * depth.deepest, 1e-3) + depth.mesh_error);
  }
}

TEST_CASE("boxes of eight corners stand on each other at any yaw", "[dynamics][value]") {
  std::vector<double> yaws;
  for (int degrees = 0; degrees <= 90; degrees += 5) yaws.push_back(degrees * std::numbers::pi / 180.0);
  for (const double yaw : {1e-3, 0.02, std::numbers::sqrt2 - 1.0, 1.0 / std::numbers::pi})
    yaws.push_back(yaw);
  for (const double rounding : {0.0, 0.4}) {
    for (const Vec3<double>& offset : {Vec3<double>(0.0, 0.0, 0.0), Vec3<double>(0.07, 0.03, 0.0)}) {
      for (const double width : {1.0, 1.4}) {
        for (const double yaw : yaws) {
          const Vec3<double> half(0.15, 0.1, 0.1);
          const double radius = rounding * half.minCoeff();
          Model model;
          model.bodies = {make_box(half, radius, 1, 1000.0), make_box(width * half, radius, 1, 1000.0)};
          model.bodies[0].fixed = true;
          State start, end;
          start.X_WB = {{},
                        pose_at(offset + Vec3<double>(0.0, 0.0, (1.0 + width) * half.z()), {0.0, 0.0, yaw})};
          start.V_WB.assign(2, Vec6<double>::Zero());
          CAPTURE(rounding, offset, width, yaw);
          const Simulator simulator(model, StepConfig());
          const StepReport report = simulate(simulator.stepper(), start, 1500, {}, end);
          CHECK(report.status == StepStatus::ok);
          const Vec3<double> moved = end.X_WB[1].p - start.X_WB[1].p;
          CHECK(std::abs(moved.z()) < 1e-4);
          CHECK(moved.head<2>().norm() < 1e-4);
          CHECK(end.X_WB[1].q.angularDistance(start.X_WB[1].q) < 1e-4);
        }
      }
    }
  }
}
