// What the scale-free defaults promise: a scene and its enlarged or heavier copy move alike, to the last bit
// where the scale is a power of two, because every number of the one is that of the other times a power of
// two.

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

#include "dynamics/rollout/rollout.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

/// The same scene with all lengths (gravity's included, so that times stay) and all masses scaled.
TestScene scaled(const TestScene& scene, double length, double mass) {
  TestScene out = scene;
  out.model.gravity *= length;
  for (Body& body : out.model.bodies) {
    for (Primitive& p : body.shape.primitives) {
      p.X_BP.p *= length;
      const std::size_t lengths = p.kind == PrimitiveKind::superquadric ? 3 : 5;
      for (std::size_t k = 0; k < lengths; ++k) p.parameters[k] *= length;
    }
    body.shape.union_smoothing *= length;
    body.mesh.vertices *= length;
    body.contact_points *= length;
    for (double& area : body.contact_areas) area *= length * length;
    body.contact_area_vectors *= length * length;
    body.contact_radius *= length;
    for (FlatFace& face : body.flat_faces) face.reach *= length;
    body.volume *= length * length * length;
    body.size *= length;
    body.inradius *= length;
    body.mass *= mass;
    body.inertia *= mass * length * length;
    body.material.stiffness *= mass;
  }
  for (Pose<double>& X : out.state.X_WB) X.p *= length;
  for (Vec6<double>& V : out.state.V_WB) V.tail<3>() *= length;
  return out;
}

}  // namespace

TEST_CASE("Stepper: a scene enlarged or made heavier by a power of two moves alike, bit for bit",
          "[dynamics][property]") {
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  const double length = GENERATE(1.0, 0.125, 64.0), mass = GENERATE(1.0 / 1024.0, 4096.0);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    const TestScene scene = test::random_contact_scene(random, {2, 3});
    const TestScene other = scaled(scene, length, mass);
    StepConfig config;
    config.law = law;
    config.h = law == ContactLaw::penalty ? 2e-4 : 2e-3;
    StepConfig other_config = config;
    if (law == ContactLaw::penalty) other_config.penalty_stiffness *= mass;
    const Stepper stepper(scene.model, config), other_stepper(other.model, other_config);
    State end, other_end;
    REQUIRE(simulate(stepper, scene.state, 200, {}, end).status == StepStatus::ok);
    REQUIRE(simulate(other_stepper, other.state, 200, {}, other_end).status == StepStatus::ok);
    CAPTURE(seed, length, mass);
    for (std::size_t b = 1; b < end.X_WB.size(); ++b) {
      REQUIRE(other_end.X_WB[b].p == length * end.X_WB[b].p);
      REQUIRE(other_end.X_WB[b].q.coeffs() == end.X_WB[b].q.coeffs());
      REQUIRE(other_end.V_WB[b].tail<3>() == length * end.V_WB[b].tail<3>());
      REQUIRE(other_end.V_WB[b].head<3>() == end.V_WB[b].head<3>());
    }
  }
}

TEST_CASE("Stepper: the scale of smoothing may be given, and without gravity is the earth's",
          "[dynamics][value]") {
  TestScene scene = test::stack_scene(1, 0.1, 1.0);
  CHECK(Stepper(scene.model, {}).acceleration_scale() == 9.81);
  scene.model.gravity = {0.0, 3.0, -4.0};
  CHECK(Stepper(scene.model, {}).acceleration_scale() == 5.0);
  scene.model.gravity.setZero();
  CHECK(Stepper(scene.model, {}).acceleration_scale() == 9.81);
  StepConfig config;
  config.acceleration_scale = 0.3;
  CHECK(Stepper(scene.model, config).acceleration_scale() == 0.3);
}
