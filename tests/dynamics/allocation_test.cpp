#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "dynamics/step/step_memory.h"
#include "dynamics/step/stepper.h"
#include "engine/body_builder.h"
#include "engine/lie.h"
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

TEST_CASE("Stepper: the derivatives of a step allocate nothing once their scratch has grown",
          "[dynamics][property]") {
  if (!test::k_counts_allocations) return;
  Model model;
  // Two boxes that touch with their edges too, and a ball.
  model.bodies = {make_half_space(), make_box({0.05, 0.05, 0.05}, 0.002, 500.0),
                  make_box({0.04, 0.06, 0.05}, 0.002, 500.0), make_sphere(0.04, 800.0)};
  State state;
  state.X_WB.resize(4);
  state.V_WB.assign(4, Vec6<double>::Zero());
  state.X_WB[1].p = {0.0, 0.0, 0.05};
  state.X_WB[2].p = {0.01, 0.0, 0.15};
  state.X_WB[3].p = {0.3, 0.0, 0.04};
  StepConfig config;
  config.h = 1e-3;
  config.contact.edge_edge = GENERATE(true, false);
  const Stepper stepper(model, config);
  StepScratch scratch;
  std::vector<State> states{state};
  std::vector<StepRecord> records(60);
  for (StepRecord& record : records) {
    State next;
    REQUIRE(stepper.step(states.back(), {}, next, scratch, &record).status == StepStatus::ok);
    states.push_back(next);
  }
  StateTangent bar(4), before;
  for (Vec6<double>& x : bar.pose) x = Vec6<double>::Constant(0.3);
  std::vector<Vec6<double>> wrench_bar(4, Vec6<double>::Zero());
  ModelGradient model_bar;
  model_bar.set_zero(model);
  std::size_t allocations = 0;
  int contacts = 0;
  StateTangent tangent(4), after(4);
  const std::vector<BodyDirection> change(4);
  for (std::size_t k = 0; k < records.size(); ++k) {
    const test::NoAlloc guard;
    const StepDirection direction{&tangent, wrench_bar, Vec3<double>(0, 0, 1), change, &after};
    stepper.step_jvp(states[k], {}, states[k + 1], records[k], {&direction, 1}, scratch);
    if (k >= 30 && !config.contact.edge_edge)
      allocations += guard.allocations();  // JVPs of edges take memory
    std::swap(tangent, after);
  }
  CHECK(allocations == 0);
  CHECK(tangent.pose[1].norm() > 0.0);
  for (std::size_t k = records.size(); k-- > 0;) {
    const test::NoAlloc guard;
    const StepBar step_bar{&bar, &before, wrench_bar, &model_bar};
    const KinkCount kinks =
        stepper.step_vjp(states[k], {}, states[k + 1], records[k], {&step_bar, 1}, scratch);
    if (k < 30) {
      allocations += guard.allocations();
      contacts += kinks.contacts;
    }
    std::swap(bar, before);
  }
  CHECK(contacts > 1000);
  CHECK(allocations == 0);
}

TEST_CASE(
    "Stepper: steps that follow gaps, and their derivatives, allocate nothing once their scratch has grown",
    "[dynamics][property]") {
  if (!test::k_counts_allocations) return;
  const bool edge_edge = GENERATE(false, true);
  // A box just above the floor, another just above it and tilted: all of them close within the step.
  Model model;
  model.bodies = {make_half_space(), make_box({0.05, 0.05, 0.05}, 0.002, 500.0),
                  make_box({0.04, 0.06, 0.05}, 0.002, 500.0)};
  State state;
  state.X_WB.resize(3);
  state.V_WB.assign(3, Vec6<double>::Zero());
  state.X_WB[1].p = {0.0, 0.0, 0.0503};
  state.X_WB[2] = {exp_quaternion<double>({0.0, 0.7, 0.1}), {0.01, 0.0, 0.166}};
  state.V_WB[1][5] = -0.5;
  state.V_WB[2][5] = -1.5;
  StepConfig config;
  config.h = 1e-3;
  config.contact.edge_edge = edge_edge;
  const Stepper stepper(model, config);
  StepScratch scratch;
  State next;
  StepRecord record;
  const StateTangent bar = [] {
    StateTangent made(3);
    for (Vec6<double>& x : made.pose) x = Vec6<double>::Constant(0.3);
    return made;
  }();
  StateTangent before(3), after(3);
  std::vector<Vec6<double>> wrench_bar(3, Vec6<double>::Zero());
  ModelGradient model_bar;
  model_bar.set_zero(model);
  const std::vector<BodyDirection> change(3);
  const StepBar step_bar{&bar, &before, wrench_bar, &model_bar};
  const StepDirection direction{&bar, wrench_bar, Vec3<double>(0, 0, 1), change, &after};
  std::size_t count = 0;
  for (int k = 0; k < 6; ++k) {
    const test::NoAlloc guard;
    REQUIRE(stepper.step(state, {}, next, scratch, &record).status == StepStatus::ok);
    (void)stepper.step_vjp(state, {}, next, record, {&step_bar, 1}, scratch);
    if (!edge_edge) stepper.step_jvp(state, {}, next, record, {&direction, 1}, scratch);  // see above
    if (k >= 3) count += guard.allocations();
  }
  const auto& followed = scratch.memory().solved.followed;
  CHECK(followed.size() >= 4);
  CHECK(std::any_of(followed.begin(), followed.end(), [](const FollowedGap& gap) {
          return gap.start.feature.kind == ContactKind::edge_edge;
        }) == edge_edge);
  CHECK(before.twist[1].norm() > 0.0);
  CHECK(count == 0);
}
