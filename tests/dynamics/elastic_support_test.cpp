/// A body at rest on a contact of finite stiffness sinks in by m g/k, whatever the time step.

#include <catch2/catch.hpp>

#include <cmath>
#include <string>

#include "engine/config.h"
#include "tests/support/close.h"
#include "tests/support/truths.h"

namespace {

using namespace abut;

constexpr double k_mass = 1.0, k_stiffness = 2e4, k_radius = 0.05;

/// A ball that just touches the floor, on a spring that is damped critically: tau_d = 2/omega.
test::TestScene ball_on_spring() {
  test::TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(k_radius, k_mass), test::pose_at({0.0, 0.0, k_radius}));
  scene.body(1).material.stiffness = k_stiffness;
  for (int b : {0, 1}) scene.body(b).material.dissipation_time = 2.0 / std::sqrt(k_stiffness / k_mass);
  return scene;
}

StepConfig config_of(ContactLaw law, double h) {
  StepConfig config;
  config.law = law;
  config.h = h;
  return config;
}

}  // namespace

TEST_CASE("push-out: an elastic contact carries a body at m g/k at every time step", "[dynamics][property]") {
  // With the gradient by k, -m g/k^2. All is at rest after 0.3 s, 42/omega.
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::convex_cone, ContactLaw::lcp,
                                  ContactLaw::relaxed_complementarity);
  const double h = GENERATE(1e-2, 1e-3, 1e-4, 1e-5);
  const StepConfig config = config_of(law, h);
  const double weight = k_mass * test::k_g;
  const auto [height, by] = test::end_gradient(
      ball_on_spring(), config, test::step_count(0.3, config),
      [](const State& end) { return end.X_WB[1].p.z(); },
      [](const State&, StateTangent& bar) { bar.pose[1][5] += 1.0; });
  CAPTURE(std::string(to_string(law)), h);
  // beta^2/(4 pi^2) h (h + tau_d)/m belongs to the compliance: 1e-3 of it at the longest step.
  CHECK(test::close(k_radius - height, weight / k_stiffness, 2e-3, 0));
  CHECK(test::close(by.model.bodies[1].stiffness, weight / (k_stiffness * k_stiffness), 2e-3, 0));
}
