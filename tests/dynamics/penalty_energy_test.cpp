// Boxes dropped under the penalty law do not come to more energy than they started with, whatever dissipation
// the materials ask for. While a body turns its contacts share the pair's stiffness out anew, so that its
// springs have no potential; they dissipate more than they gain by it. (Later they may gain: docs/dynamics.md.)
#include <catch2/catch.hpp>

#include <algorithm>

#include "dynamics/rollout/rollout.h"
#include "engine/body_builder.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"

using namespace abut;
using test::TestScene;

TEST_CASE("penalty: boxes that are dropped on any corner gain no energy", "[dynamics][property][nightly]") {
  const double friction = GENERATE(0.0, 0.5, 3.0), h = GENERATE(5e-4, 2e-3, 5e-3, 1e-2);
  const double stiffness = GENERATE(1e3, 1e4, 1e6);
  const double dissipation_time = GENERATE(-1.0, 0.0);  // by default, and none
  for (const std::uint64_t seed : test::seeds(12)) {
    Random random(seed);
    TestScene scene = test::floor_scene(friction);
    const int box = scene.add(test::box_of_mass({0.05, 0.05, 0.05}, random.uniform(0.5, 2.0), 4),
                              test::pose_at({0, 0, 0.5}, test::random_vector(random, 3.0)));
    scene.body(box).material.friction = friction;
    for (Body& body : scene.model.bodies) body.material.dissipation_time = dissipation_time;
    StepConfig config;
    config.law = ContactLaw::penalty;
    config.h = h;
    config.penalty_stiffness = stiffness;
    const Trajectory trajectory =
        rollout(Stepper(scene.model, config), scene.state, static_cast<int>(1.5 / h));
    CAPTURE(friction, h, stiffness, dissipation_time, seed);
    REQUIRE(trajectory.ok());
    const double start = mechanical_energy(scene.model, scene.state);
    double highest = start;
    for (const State& state : trajectory.states)
      highest = std::max(highest, mechanical_energy(scene.model, state));
    CHECK(highest <= (1.0 + 1e-9) * start);
  }
}

TEST_CASE("penalty: boxes with a single contact point gain no energy, whatever finds their contacts",
          "[dynamics][property][nightly]") {
  const DetectorKind detector = GENERATE(DetectorKind::manifold, DetectorKind::gjk,
                                         DetectorKind::proximity_qp, DetectorKind::frank_wolfe);
  const double h = GENERATE(5e-4, 2e-3);
  for (const std::uint64_t seed : test::seeds(25)) {
    Random random(seed);
    TestScene scene = test::floor_scene(0.0);
    BodyDescription description;
    description.name = "box";
    Primitive cube;
    cube.kind = PrimitiveKind::rounded_box;
    cube.parameters = {0.05, 0.05, 0.05, 0.0};
    description.shape.primitives = {cube};
    description.mass_or_density = Mass{1.0};
    description.contact_points = Points(Vec3<double>::Constant(0.05));
    scene.add(make_body(description), test::pose_at({0, 0, 0.5}, test::random_vector(random, 3.0)));
    for (Body& body : scene.model.bodies) body.material.dissipation_time = 0.0;
    scene.body(1).material.friction = 0.0;
    StepConfig config;
    config.law = ContactLaw::penalty;
    config.h = h;
    config.penalty_stiffness = 1e4;
    config.contact.detector = detector;
    const Stepper stepper(scene.model, config);
    const double start = mechanical_energy(scene.model, scene.state);
    double highest = start;
    const auto watch = [&](int, const State& state, const StepReport&) {
      highest = std::max(highest, mechanical_energy(scene.model, state));
      return true;
    };
    State end;
    (void)simulate(stepper, scene.state, static_cast<int>(1.2 / h), {}, end, watch);
    CAPTURE(static_cast<int>(detector), h, seed);
    CHECK(highest <= (1.0 + 1e-9) * start);
  }
}
