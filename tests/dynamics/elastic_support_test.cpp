/// A body at rest on a contact of finite stiffness sinks in by m g/k, whatever the time step.

#include <catch2/catch.hpp>

#include <string>

#include "engine/config.h"
#include "tests/support/close.h"
#include "tests/support/truths.h"

using namespace abut;

TEST_CASE("push-out: an elastic contact carries a body at m g/k at every time step", "[dynamics][property]") {
  // With the gradient by k, -m g/k^2.
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::convex_cone, ContactLaw::lcp,
                                  ContactLaw::relaxed_complementarity);
  StepConfig config;
  config.law = law;
  config.h = GENERATE(1e-2, 1e-3, 1e-4, 1e-5);
  const auto [depth, by_stiffness] = test::ElasticSupport().measured(config);
  CAPTURE(std::string(to_string(law)), config.h);
  // beta^2/(4 pi^2) h (h + tau_d)/m belongs to the compliance: 1e-3 of it at the longest step.
  CHECK(test::close(depth.value, depth.exact, 2e-3, 0));
  CHECK(test::close(by_stiffness.value, by_stiffness.exact, 2e-3, 0));
}
