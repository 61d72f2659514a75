// Bodies of which a scene gives the primitives alone, and the program makes the rest.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>

#include "collision/fitting/shape_surface.h"
#include "dynamics/simulator.h"
#include "engine/scene_io.h"
#include "tests/support/temporary_folder.h"

using namespace abut;

namespace {

Scene scene_of(const std::string& bodies) {
  const test::TemporaryFolder folder;
  return read_scene(folder.write("scene.toml",
                                 "[simulation]\ntime_step = 0.002\n[[body]]\nname = \"floor\"\n"
                                 "[[body.primitive]]\nkind = \"half_space\"\n" +
                                     bodies),
                    surface_maker());
}

std::string body_of(const std::string& name, const std::string& position, const std::string& keys) {
  return "[[body]]\nname = \"" + name + "\"\ndensity = 800\nposition = " + position +
         "\n[[body.primitive]]\n" + keys + "\n";
}

}  // namespace

TEST_CASE("made bodies: cones, cylinders, boxes and rings rest where they are put", "[dynamics][property]") {
  const Scene scene = scene_of(
      body_of("cone", "[0, 0, 0.06]", "kind = \"cone\"\nradius = 0.05\nhalf_length = 0.06") +
      body_of("bucket", "[0.3, 0, 0.06]",
              "kind = \"cone\"\nradius = 0.04\ntop_radius = 0.06\nhalf_length = 0.06\nsmoothing = 0.0005") +
      body_of("cylinder", "[0.6, 0, 0.05]", "kind = \"cylinder\"\nradius = 0.04\nhalf_length = 0.05") +
      body_of("box", "[0.9, 0, 0.03]", "kind = \"box\"\nhalf_extents = [0.05, 0.04, 0.03]") +
      body_of("ring", "[1.5, 0, 0.02]", "kind = \"torus\"\nradius = 0.06\ntube_radius = 0.02"));
  const Simulator simulator(scene.model, scene.config.step);
  const Trajectory trajectory = simulator.rollout(scene.initial, 300);
  REQUIRE(trajectory.ok());
  const State& end = trajectory.states.back();
  for (std::size_t b = 1; b < scene.model.bodies.size(); ++b) {
    CAPTURE(scene.model.bodies[b].name, end.X_WB[b].p.transpose(), end.V_WB[b].transpose());
    const Pose<double> moved = {end.X_WB[b].q * scene.initial.X_WB[b].q.conjugate(),
                                end.X_WB[b].p - scene.initial.X_WB[b].p};
    CHECK(moved.p.norm() < 5e-4);
    CHECK(2.0 * moved.q.vec().norm() < 0.02);
    CHECK(end.V_WB[b].tail<3>().norm() < 2e-3);
  }
}

TEST_CASE("made bodies: a ring falls over a peg to the floor", "[dynamics][property]") {
  const Scene scene = scene_of(
      body_of("peg", "[0, 0, 0.08]",
              "kind = \"cone\"\nradius = 0.03\ntop_radius = 0.01\nhalf_length = 0.08\nsmoothing = 0.0005") +
      body_of("ring", "[0.004, -0.003, 0.2]", "kind = \"torus\"\nradius = 0.055\ntube_radius = 0.015"));
  Model model = scene.model;
  model.bodies[1].fixed = true;
  const Simulator simulator(model, scene.config.step);
  const Trajectory trajectory = simulator.rollout(scene.initial, 600);
  REQUIRE(trajectory.ok());
  const Pose<double>& ring = trajectory.states.back().X_WB[2];
  CAPTURE(ring.p.transpose());
  CHECK(std::abs(ring.p.z() - 0.015) < 1e-3);
  CHECK(ring.p.head<2>().norm() < 0.055 - 0.015 - 0.029);
}
