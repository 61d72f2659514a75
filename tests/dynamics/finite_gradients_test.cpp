// Where formulas divide by nothing or overflow: bodies about one centre, springs of any stiffness.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "engine/body_builder.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

bool is_finite(const Gradient& gradient) {
  bool finite = true;
  for (std::size_t b = 0; b < gradient.initial.pose.size(); ++b) {
    const BodyGradient& body = gradient.model.bodies[b];
    finite = finite && gradient.initial.pose[b].allFinite() && gradient.initial.twist[b].allFinite() &&
             std::isfinite(body.mass) && std::isfinite(body.friction) && std::isfinite(body.stiffness) &&
             std::isfinite(body.dissipation_time);
    for (const PrimitiveGradient& primitive : body.geometry.primitives) {
      finite = finite && primitive.pose.allFinite();
      for (const double parameter : primitive.parameters) finite = finite && std::isfinite(parameter);
    }
  }
  for (const auto& step : gradient.controls) {
    for (const Vec6<double>& wrench : step.wrenches) finite = finite && wrench.allFinite();
    for (const double command : step.commands) finite = finite && std::isfinite(command);
  }
  return finite;
}

/// The gradient of the sum of all that moves, after `steps` steps, which must succeed.
Gradient gradient_of_everything(const TestScene& scene, const StepConfig& config, int steps) {
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, steps);
  CAPTURE(trajectory.failed_step);
  REQUIRE(trajectory.ok());
  return adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    if (k != steps) return;
    for (std::size_t b = 0; b < bar.pose.size(); ++b) {
      bar.pose[b].array() += 1.0;
      bar.twist[b].array() += 1.0;
    }
  });
}

Body sphere() { return test::sphere_of_mass(0.1, 1.0); }
Body capsule() { return make_capsule(0.1, 0.1, 1000.0); }
Body box() { return test::box_of_mass(Vec3<double>::Constant(0.1), 1.0, 1); }

TEST_CASE("adjoint: is finite where bodies have one centre, whatever the law", "[dynamics][derivative]") {
  for (const auto& [name, law] : contact_laws()) {
    for (int pair = 0; pair < 6; ++pair) {
      CAPTURE(std::string(name), pair);
      TestScene scene;
      scene.model.gravity.setZero();
      scene.add(pair < 3 ? sphere() : pair < 5 ? capsule() : box());
      scene.add(pair == 0 ? sphere() : pair == 1 || pair == 3 ? capsule() : box());
      StepConfig config;
      config.law = law;
      config.penetration_limit = 10.0;
      CHECK(is_finite(gradient_of_everything(scene, config, 1)));
    }
  }
}

TEST_CASE("adjoint: is finite whatever the stiffness and the law", "[dynamics][derivative]") {
  for (const auto& [name, law] : contact_laws()) {
    for (const double stiffness : {1e-6, 1.0, 1e20, 1e300}) {
      CAPTURE(std::string(name), std::log10(stiffness));
      TestScene scene = test::floor_scene();
      scene.add(sphere(), test::pose_at({0.0, 0.0, 0.0999}), test::moving_at({0.3, 0.0, -0.2}));
      scene.add(box(), test::pose_at({0.05, 0.0, 0.2999}));
      for (Body& body : scene.model.bodies) body.material.stiffness = stiffness;
      scene = test::without_ignored(scene, law);
      StepConfig config;
      config.law = law;
      CHECK(is_finite(gradient_of_everything(scene, config, 3)));
    }
  }
}

}  // namespace
