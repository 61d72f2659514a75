// The penalty law creates no energy, whatever dissipation the materials ask for. While a body turns its
// contacts share the pair's stiffness out anew, so that its springs have no potential; they dissipate more
// than they gain by it.
#include <catch2/catch.hpp>

#include <algorithm>

#include "dynamics/rollout/rollout.h"
#include "tests/support/scenes.h"

using namespace abut;
using test::TestScene;

TEST_CASE("penalty: boxes that are dropped on any corner gain no energy", "[dynamics][property]") {
  const double friction = GENERATE(0.0, 0.5), h = GENERATE(5e-4, 2e-3, 5e-3, 1e-2);
  const double stiffness = GENERATE(1e3, 1e4, 1e6);
  const double dissipation_time = GENERATE(-1.0, 0.0);  // by default, and none
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
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
