#include <catch2/catch.hpp>
#include <vector>

#include "dynamics/stepper.h"
#include "engine/body_builder.h"
#include "tests/support/no_alloc.h"

using namespace abut;

TEST_CASE("NoAlloc: sees the allocations of operator new and of Eigen", "[support][value]") {
  if (!test::k_counts_allocations) return;
  const test::NoAlloc guard;
  const std::vector<int> a(100, 1);
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(100);
  const std::size_t count = guard.allocations();
  CHECK(a.size() + static_cast<std::size_t>(b.size()) == 200);
  CHECK(count == 2);
}

TEST_CASE("Stepper: a step allocates nothing once its scratch has grown", "[dynamics][property]") {
  if (!test::k_counts_allocations) return;
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty, ContactLaw::convex_cone,
                                  ContactLaw::impedance);
  Model model;
  model.bodies = {make_half_space(), make_box({0.05, 0.05, 0.05}, 0.002, 500.0), make_sphere(0.04, 800.0),
                  make_capsule(0.03, 0.05, 800.0)};
  State state;
  state.X_WB.resize(4);
  state.V_WB.assign(4, Vec6<double>::Zero());
  state.X_WB[1].p = {0.0, 0.0, 0.05};
  state.X_WB[2].p = {0.0, 0.0, 0.141};
  state.X_WB[3].p = {0.2, 0.0, 0.081};
  state.V_WB[3][3] = 0.3;
  StepConfig config;
  config.h = 1e-3;
  config.law = law;
  const Stepper stepper(model, config);
  StepScratch scratch;
  State next = state;
  for (int k = 0; k < 200; ++k) {  // until every contact that will be there has been there
    REQUIRE(stepper.step(state, {}, next, scratch).status == StepStatus::ok);
    std::swap(state, next);
  }
  const test::NoAlloc guard;
  int contacts = 0;
  for (int k = 0; k < 50; ++k) {
    contacts += stepper.step(state, {}, next, scratch).contacts;
    std::swap(state, next);
  }
  const std::size_t count = guard.allocations();
  CHECK(contacts > 50);
  CHECK(count == 0);
}
