/// What only edges can hold: bodies that touch where neither has a vertex.

#include <cmath>

#include <catch2/catch.hpp>

#include "dynamics/rollout/rollout.h"
#include "tests/support/scenes.h"

using namespace abut;
using namespace abut::test;

namespace {

/// A plank across a fixed beam; no vertex of either is near the other's face.
TestScene plank_scene() {
  TestScene scene;
  Body beam = box_of_mass({0.05, 0.5, 0.05}, 5.0, 1);
  beam.fixed = true;
  scene.add(beam);
  scene.add(box_of_mass({0.5, 0.06, 0.02}, 1.0, 1), pose_at({0.02, 0.1, 0.07}));
  return scene;
}

}  // namespace

TEST_CASE("edges: a plank across a beam stays where it is", "[dynamics][value]") {
  const bool edge_edge = GENERATE(true, false), edge_sdf = GENERATE(true, false);
  const TestScene scene = plank_scene();
  StepConfig config;
  config.contact.edge_edge = edge_edge;
  config.contact.edge_sdf = edge_sdf;
  const Stepper stepper(scene.model, config);
  State end;
  REQUIRE(simulate(stepper, scene.state, 500, {}, end).status == StepStatus::ok);
  CAPTURE(edge_edge, edge_sdf);
  const bool stays = (end.X_WB[1].p - scene.state.X_WB[1].p).norm() < 1e-4;
  CHECK(stays == (edge_edge || edge_sdf));  // by its vertices alone it falls through
}
