// Round bodies roll without losing speed, at constant height, on planes and on boxes.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/rollers.h"
#include "tests/support/samples.h"
#include "tests/support/truths.h"
#include "tests/support/watched_run.h"

namespace abut {
namespace {

constexpr double k_speed = 1.0;  // [m/s]

/// A body that rolls along x, and what it is.
struct RollingBody {
  std::string name;
  Body body;
  Vec3<double> rotation_vector;  ///< to roll
  double radius;                 ///< [m]

  RollingBody(const test::Roller& roller)
      : name(roller.name),
        body(roller.body()),
        rotation_vector(roller.rotation_vector),
        radius(roller.radius) {}
  RollingBody(std::string its_name, const std::vector<Primitive>& parts, double its_radius)
      : name(std::move(its_name)), rotation_vector(test::k_quarter_turn, 0.0, 0.0), radius(its_radius) {
    Shape shape;
    shape.primitives = parts;
    MeshedBodyOptions options;
    options.name = name;
    body = make_meshed_body(shape, options).body;
  }
};

Primitive part_at(PrimitiveKind kind, const std::array<double, 5>& parameters, double z) {
  Primitive primitive;
  primitive.kind = kind;
  primitive.parameters = parameters;
  primitive.X_BP.p.z() = z;
  return primitive;
}

/// Round bodies that are not one primitive.
std::vector<RollingBody> bodies_of_parts() {
  using enum PrimitiveKind;
  const Primitive flange = part_at(superquadric, {0.05, 0.05, 0.01, 0.05, 1.0}, 0.03);
  Primitive other_flange = flange;
  other_flange.X_BP.p.z() = -0.03;
  std::vector<RollingBody> bodies;
  bodies.emplace_back("dumb-bell",
                      std::vector{part_at(sphere, {0.05}, -0.06), part_at(sphere, {0.05}, 0.06),
                                  part_at(superquadric, {0.02, 0.02, 0.06, 0.05, 1.0}, 0.0)},
                      0.05);
  bodies.emplace_back(
      "spool", std::vector{flange, other_flange, part_at(superquadric, {0.02, 0.02, 0.03, 0.05, 1.0}, 0.0)},
      0.05);
  bodies.emplace_back("wheel with hub",
                      std::vector{part_at(superquadric, {0.05, 0.05, 0.02, 0.05, 1.0}, 0.0),
                                  part_at(superquadric, {0.015, 0.015, 0.03, 0.05, 1.0}, 0.0)},
                      0.05);
  bodies.emplace_back(
      "extrusion",
      std::vector{make_extruded_superquadric({0.05, 0.05, 0.02}, 0.05, 1.0, {0.0}, {0.07}, 50.0)}, 0.05);
  return bodies;
}

test::TestScene rolling_scene(const RollingBody& roller, bool on_box) {
  test::TestScene scene;
  if (on_box) {
    Body table = make_box({8.0, 0.5, 0.1}, 0.0, 4, 1000.0);
    table.fixed = true;
    scene.add(table, test::pose_at({0.0, 0.0, -0.1}));
  } else {
    scene.add(make_half_space());
  }
  Vec6<double> V = test::moving_at({k_speed, 0.0, 0.0});
  V[1] = k_speed / roller.radius;
  scene.add(roller.body, test::pose_at({-5.0, 0.0, roller.radius}, roller.rotation_vector), V);
  return scene;
}

}  // namespace

TEST_CASE("rolling: a round body keeps its speed and its height", "[truth][property][nightly]") {
  const bool on_box = GENERATE(false, true);
  const double seconds = test::draws_all_samples() ? 10.0 : 2.0;
  std::vector<RollingBody> bodies = bodies_of_parts();
  bodies.insert(bodies.begin(), test::rollers().begin(), test::rollers().end());
  for (const RollingBody& roller : bodies) {
    const test::TestScene scene = rolling_scene(roller, on_box);
    double lowest = roller.radius, highest = roller.radius;
    const test::WatchedRun run = test::watch(scene, test::config_with_step(2e-3),
                                             static_cast<int>(seconds / 2e-3), [&](const State& state) {
                                               lowest = std::min(lowest, state.X_WB[1].p.z());
                                               highest = std::max(highest, state.X_WB[1].p.z());
                                             });
    const double kept = run.end.V_WB[1][3] / k_speed;
    CAPTURE(roller.name, on_box, kept, highest - lowest, run.end.V_WB[1].transpose());
    CHECK(run.status == StepStatus::ok);
    CHECK(std::abs(kept - 1.0) < 1e-3);
    CHECK(highest - lowest < 1e-3 * roller.radius);
  }
}

TEST_CASE("rolling: vertices within the faces of a table do not brake what rolls over them", "[truth]") {
  const Vec3<double> along_y(test::k_quarter_turn, 0.0, 0.0);
  for (const bool capsule : {false, true}) {
    test::TestScene scene;
    Body table =
        make_box({1.0, 0.25, 0.1}, 0.0, 40, 1000.0);  // a vertex every 50 mm, and one every 12.5 mm across
    table.fixed = true;
    scene.add(table, test::pose_at({0.0, 0.0, -0.1}));
    Vec6<double> V = test::moving_at({k_speed, 0.0, 0.0});
    V[1] = k_speed / 0.05;
    scene.add(capsule ? make_capsule(0.05, 0.05, 1000.0) : make_sphere(0.05, 1000.0),
              test::pose_at({-0.9, 0.0, 0.05}, along_y), V);
    const test::WatchedRun run = test::watch(scene, test::config_with_step(2e-3), 800, [](const State&) {});
    CAPTURE(capsule, run.end.V_WB[1].transpose());
    CHECK(run.status == StepStatus::ok);
    CHECK(std::abs(run.end.V_WB[1][3] / k_speed - 1.0) < 1e-4);
  }
}

TEST_CASE("rolling: a change of speed without spin is shared with the spin", "[truth][derivative][nightly]") {
  for (const test::Roller& roller : test::rollers()) {
    if (roller.name == "disc") continue;  // what its two rims do to each other spoils it (docs/manifold.md)
    const test::TestScene scene = rolling_scene(roller, false);
    // m v r + I w is kept at the point of contact.
    const double exact = 1.0 / (1.0 + roller.inertia_ratio(scene.model.bodies[1]));
    const test::EndGradient end = test::end_gradient(
        scene, test::config_with_step(2e-3), 500, [](const State& state) { return state.X_WB[1].p.x(); },
        [](const State&, StateTangent& bar) { bar.pose[1][3] += 1.0; });
    const double by_speed = end.by.initial.twist[1][3];
    CAPTURE(roller.name, exact, by_speed);
    CHECK(std::abs(by_speed / exact - 1.0) < 1e-2);
  }
}

TEST_CASE("rolling: at random poses round bodies touch a plane at the point of their support",
          "[truth][property][nightly]") {
  for (const test::Roller& roller : test::rollers()) {
    if (roller.kind == PrimitiveKind::cone) continue;  // its rims are those of a smooth maximum
    Random random(3);
    test::TestScene scene;
    scene.add(make_half_space());
    scene.add(roller.body());
    const Body& body = scene.model.bodies[1];
    const Vec3<double> centre = body.shape.primitives.front().X_BP.p;
    const double depth = 1e-6 * body.size;
    const ContactDetector detector(scene.model, {});
    DetectorScratch scratch;
    ContactManifold manifold;
    double worst_height = 0.0, worst_force = 0.0;
    std::vector<double> arms;
    for (int i = 0; i < test::samples(1000); ++i) {
      Pose<double>& X_WB = scene.X_WB(1);
      X_WB.q = random.quaternion();
      const Vec3<double> m = X_WB.q.conjugate() * Vec3<double>(0.0, 0.0, -1.0);
      X_WB.p.z() = roller.support(m) - (X_WB.q * centre).z() - depth;
      const Vec3<double> lowest = X_WB * Vec3<double>(centre + roller.support_point(m));
      detector.detect(scene.state.X_WB, {}, scratch, manifold);
      double least = 1.0, shares = 0.0, force = 0.0;
      Vec3<double> moment = Vec3<double>::Zero();
      for (const Contact& contact : manifold.contacts) {
        if (contact.weight > 0.01) least = std::min(least, contact.signed_distance);
        const double share = contact.area * contact.weight,
                     pressed = share * std::max(0.0, -contact.signed_distance);
        shares += share;
        force += pressed;
        moment += pressed * (contact.point_W - lowest);
      }
      worst_height = std::max(worst_height, std::abs(least + depth));
      worst_force = std::max(worst_force, std::abs(force / (shares * depth) - 1.0));
      arms.push_back(moment.head<2>().norm() / force);
    }
    std::sort(arms.begin(), arms.end());
    const double worst_arm = arms.back(), of_99_percent = arms[arms.size() * 99 / 100];
    CAPTURE(roller.name, worst_height / body.size, worst_force, worst_arm / body.size,
            of_99_percent / body.size);
    CHECK(worst_height < 2e-5 * body.size);  // a torus that lies nearly flat
    CHECK(of_99_percent < 5e-5 * body.size);
    CHECK(worst_arm < 5e-4 * body.size);  // a generator that lies nearly flat
  }
}

}  // namespace abut
