#include "dynamics/rollout/rollout.h"
#include "dynamics/rollout/adjoint.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "dynamics/simulator.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

TestScene scene_of(std::uint64_t seed) {
  Random random(seed);
  return test::random_contact_scene(random, {2, 3});
}

StepConfig config_of(ContactLaw law) {
  StepConfig config;
  config.law = law;
  if (law == ContactLaw::penalty) config.h = 2e-4;
  return config;
}

Controls random_controls(Random& random, int steps, int bodies) {
  Controls controls;
  for (int k = 0; k < steps; ++k) {
    Control control;
    for (int b = 0; b < bodies; ++b)
      control.wrenches.push_back(
          stack<double>(test::random_vector(random, 0.01), test::random_vector(random, 0.3)));
    controls.push_back(std::move(control));
  }
  return controls;
}

double largest(const StateTangent& a) {
  double m = 0.0;
  for (std::size_t i = 0; i < a.pose.size(); ++i)
    m = std::max({m, a.pose[i].cwiseAbs().maxCoeff(), a.twist[i].cwiseAbs().maxCoeff()});
  return m;
}

/// x a + y b.
StateTangent combined(double x, const StateTangent& a, double y, const StateTangent& b) {
  StateTangent sum(static_cast<int>(a.pose.size()));
  for (std::size_t i = 0; i < a.pose.size(); ++i) {
    sum.pose[i] = x * a.pose[i] + y * b.pose[i];
    sum.twist[i] = x * a.twist[i] + y * b.twist[i];
  }
  return sum;
}

/// The state moved along a tangent; fixed bodies keep their twist of zero.
State moved(const Model& model, const State& state, const StateTangent& tangent, double t) {
  State out = state;
  for (std::size_t b = 0; b < out.X_WB.size(); ++b) {
    out.X_WB[b] = retract<double>(out.X_WB[b], t * tangent.pose[b]);
    if (!model.bodies[b].fixed) out.V_WB[b] += t * tangent.twist[b];
  }
  return out;
}

/// The tangent from state a to state b.
StateTangent between(const State& b, const State& a) {
  StateTangent d(static_cast<int>(a.X_WB.size()));
  for (std::size_t i = 0; i < a.X_WB.size(); ++i) {
    d.pose[i] = difference(b.X_WB[i], a.X_WB[i]);
    d.twist[i] = b.V_WB[i] - a.V_WB[i];
  }
  return d;
}

/// A scene that no Newton step can solve: the iterations are too few.
StepConfig hopeless() {
  StepConfig config;
  config.max_iterations = 1;
  config.tolerance = 1e-14;
  return config;
}

}  // namespace

// Determinism ----------------------------------------------------------------------------------------------

TEST_CASE("rollout: the same inputs give the same bits, recorded or not", "[dynamics][determinism]") {
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const TestScene scene = scene_of(seed);
    Random random(seed);
    const Controls controls = random_controls(random, 200, scene.model.body_count());
    const Stepper stepper(scene.model, config_of(law));
    const Trajectory once = rollout(stepper, scene.state, 200, controls),
                     again = rollout(stepper, scene.state, 200, controls);
    State end;
    simulate(stepper, scene.state, 200, controls, end);
    const Model copy = scene.model;
    const Stepper other(copy, config_of(law));  // prepared anew, from a copy
    State other_end;
    simulate(other, scene.state, 200, controls, other_end);
    CAPTURE(seed);
    REQUIRE(once.ok());
    REQUIRE(state_hash(once.states.back()) == state_hash(again.states.back()));
    REQUIRE(state_hash(once.states.back()) == state_hash(end));
    REQUIRE(state_hash(once.states.back()) == state_hash(other_end));
    REQUIRE(end.time == once.states.back().time);
  }
}

TEST_CASE("adjoint: the same trajectory gives the same bits", "[dynamics][determinism]") {
  const TestScene scene = scene_of(3);
  const Stepper stepper(scene.model, {});
  const Trajectory trajectory = rollout(stepper, scene.state, 50);
  REQUIRE(trajectory.ok());
  const auto gradient = [&] {
    Random random(5);
    const StateTangent end_bar = test::random_tangent(random, scene.model.body_count());
    return adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
      if (k == 50) bar = combined(1.0, bar, 1.0, end_bar);
    });
  };
  const Gradient one = gradient(), other = gradient();
  for (std::size_t b = 0; b < scene.model.bodies.size(); ++b) {
    CHECK(one.initial.pose[b] == other.initial.pose[b]);
    CHECK(one.initial.twist[b] == other.initial.twist[b]);
    CHECK(one.model.bodies[b].inertia == other.model.bodies[b].inertia);
    CHECK(one.model.bodies[b].geometry.contact_points == other.model.bodies[b].geometry.contact_points);
  }
  CHECK(one.health.adjoint_norm == other.health.adjoint_norm);
}

TEST_CASE("state_hash: tells apart states that differ in one bit of one number", "[dynamics][determinism]") {
  const State state = scene_of(1).state;
  const std::uint64_t hash = state_hash(state);
  CHECK(state_hash(State(state)) == hash);
  for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
    State other = state;
    other.X_WB[b].p.z() = std::nextafter(other.X_WB[b].p.z(), 10.0);
    CHECK(state_hash(other) != hash);
    other = state;
    other.V_WB[b][3] = std::nextafter(other.V_WB[b][3], 10.0);
    CHECK(state_hash(other) != hash);
    other = state;
    other.X_WB[b].q.x() = std::nextafter(other.X_WB[b].q.x(), 10.0);
    CHECK(state_hash(other) != hash);
  }
  State swapped = state;
  std::swap(swapped.X_WB[1], swapped.X_WB[2]);
  CHECK(state_hash(swapped) != hash);
}

TEST_CASE("Stepper: a used scratch changes no bit of a step", "[dynamics][determinism]") {
  const StepConfig config;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const TestScene scene = scene_of(seed);
    const Stepper stepper(scene.model, config);
    StepScratch fresh, used;
    State next, other = scene.state, trash;
    for (int k = 0; k < 5; ++k) {  // anywhere else
      REQUIRE(stepper.step(other, {}, trash, used).status == StepStatus::ok);
      other = trash;
    }
    REQUIRE(stepper.step(scene.state, {}, next, fresh).status == StepStatus::ok);
    REQUIRE(stepper.step(scene.state, {}, other, used).status == StepStatus::ok);
    CAPTURE(seed);
    CHECK(state_hash(other) == state_hash(next));
  }
}

TEST_CASE("Stepper: without contacts a used scratch changes nothing", "[dynamics][determinism]") {
  TestScene scene = test::floor_scene();
  scene.add(test::box_of_mass({0.1, 0.2, 0.3}, 1.0), test::pose_at({0, 0, 9}, {0.1, 0.2, 0.3}),
            stack<double>(Vec3<double>(1, 2, 3), Vec3<double>(1, 0, 0)));
  TestScene touching = test::stack_scene(1, 0.1, 1.0);
  const Stepper flying(scene.model, {}), resting(touching.model, {});
  StepScratch fresh, used;
  State a, b, trash;
  REQUIRE(resting.step(touching.state, {}, trash, used).status == StepStatus::ok);
  REQUIRE(flying.step(scene.state, {}, a, fresh).status == StepStatus::ok);
  REQUIRE(flying.step(scene.state, {}, b, used).status == StepStatus::ok);
  CHECK(state_hash(a) == state_hash(b));
}

// Observers, controls, failures ----------------------------------------------------------------------------

TEST_CASE("rollout: the observer sees every step and may stop it", "[dynamics][value]") {
  const TestScene scene = test::stack_scene(1, 0.1, 1.0);
  const Stepper stepper(scene.model, {});
  std::vector<int> seen;
  const auto stop_at_4 = [&](int k, const State& state, const StepReport& report) {
    seen.push_back(k);
    CHECK(test::close(state.time, (k + 1) * stepper.config().h, 1e-12, 0));
    CHECK(report.status == StepStatus::ok);
    return k < 4;
  };
  const Trajectory trajectory = rollout(stepper, scene.state, 10, {}, stop_at_4);
  CHECK(seen == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(trajectory.ok());
  CHECK(trajectory.step_count() == 5);
  CHECK(trajectory.states.size() == 6);
  seen.clear();
  State end;
  simulate(stepper, scene.state, 10, {}, end, stop_at_4);
  CHECK(seen.size() == 5);
  CHECK(state_hash(end) == state_hash(trajectory.states.back()));
}

TEST_CASE("rollout: the control of a step acts in that step alone", "[dynamics][value]") {
  TestScene scene = test::floor_scene();
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.1, 2.0), test::pose_at({0, 0, 5}));
  const Stepper stepper(scene.model, {});
  Controls controls(6, test::zero_wrenches(2));
  controls[3].wrenches[1] << 0, 0, 0, 10, 0, 0;
  const Trajectory trajectory = rollout(stepper, scene.state, 6, controls);
  REQUIRE(trajectory.ok());
  for (std::size_t k = 0; k <= 6; ++k) {
    CHECK(test::close(trajectory.states[k].V_WB[1][3], k > 3 ? 10.0 / 2.0 * stepper.config().h : 0.0, 1e-14,
                      0));
  }
}

TEST_CASE("rollout: rejects controls and states that do not fit", "[dynamics][value]") {
  const TestScene scene = test::stack_scene(1, 0.1, 1.0);
  const Stepper stepper(scene.model, {});
  const Control right = test::zero_wrenches(2), wrong = test::zero_wrenches(3);
  State end, missing = scene.state;
  missing.V_WB.pop_back();
  CHECK_THROWS_WITH(rollout(stepper, scene.state, 0), Catch::Contains("at least 1 step"));
  CHECK_THROWS_WITH(rollout(stepper, scene.state, 3, Controls(2, right)),
                    Catch::Contains("2 controls for 3 steps"));
  CHECK_THROWS_WITH(rollout(stepper, scene.state, 2, {right, wrong}),
                    Catch::Contains("control of step 1: 3 wrenches for 2 bodies"));
  CHECK_THROWS_WITH(simulate(stepper, missing, 2, {}, end),
                    Catch::Contains("2 poses and 1 twists for 2 bodies"));
  CHECK_NOTHROW(rollout(stepper, scene.state, 2, {right, {}}));  // none in one step is none
}

TEST_CASE("Stepper: rejects bodies that no law of motion fits", "[dynamics][value]") {
  TestScene scene = test::stack_scene(1, 0.1, 1.0);
  scene.body(1).name = "stone";
  const auto construct = [&] { return Stepper(scene.model, {}); };
  CHECK_NOTHROW(construct());
  scene.body(1).mass = -1.0;
  CHECK_THROWS_WITH(construct(), Catch::Contains("'stone'") && Catch::Contains("mass -1"));
  scene.body(1).mass = 1.0;
  scene.body(1).inertia(0, 0) = -1.0;
  CHECK_THROWS_WITH(construct(), Catch::Contains("'stone'") && Catch::Contains("positive definite"));
  scene.body(1).inertia.setIdentity();
  scene.body(1).contact_areas.pop_back();
  CHECK_THROWS_WITH(construct(), Catch::Contains("97 contact areas for 98 contact points"));
  StepConfig bad;
  bad.h = -1.0;
  CHECK_THROWS_AS(Stepper(test::stack_scene(1, 0.1, 1.0).model, bad), std::invalid_argument);
}

TEST_CASE("rollout: stops at a step that does not converge, says where, and refuses its gradient",
          "[dynamics][value]") {
  TestScene scene = test::stack_scene(3, 0.1, 1.0);
  scene.V_WB(3) << 1, 2, 3, 0.5, 0.2, -1;
  const Stepper stepper(scene.model, hopeless());
  const Trajectory trajectory = rollout(stepper, scene.state, 10);
  REQUIRE_FALSE(trajectory.ok());
  CHECK(trajectory.failed_step == 0);
  CHECK(trajectory.failure.status == StepStatus::not_converged);
  CHECK(trajectory.failure.residual > 1e-14);
  CHECK(trajectory.failure.body >= 1);
  CHECK(trajectory.failure.contact.body_B >= 1);
  CHECK(trajectory.states.size() == 1);
  CHECK(trajectory.step_count() == 0);
  const auto no_loss = [](int, const State&, StateTangent&) {};
  CHECK_THROWS_AS(adjoint(stepper, trajectory, no_loss), std::logic_error);
  CHECK_THROWS_WITH(adjoint(stepper, trajectory, no_loss),
                    Catch::Contains("step 0") && Catch::Contains("not_converged"));

  StepScratch scratch;
  State next;
  StepRecord record;
  REQUIRE(stepper.step(scene.state, {}, next, scratch, &record).status == StepStatus::not_converged);
  const StateTangent bar(4);
  StateTangent out;
  std::vector<Vec6<double>> wrench_bar(4, Vec6<double>::Zero());
  ModelGradient model_bar;
  model_bar.set_zero(scene.model);
  const StepBar step_bar{&bar, &out, wrench_bar, &model_bar};
  CHECK_THROWS_AS(stepper.step_vjp(scene.state, {}, next, record, {&step_bar, 1}, scratch), std::logic_error);
}

TEST_CASE("rollout: a number that is not finite is a failure that names the body", "[dynamics][value]") {
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  const TestScene scene = test::stack_scene(3, 0.1, 1.0);
  const Stepper stepper(scene.model, config_of(law));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  SECTION("in the state") {
    State bad = scene.state;
    bad.V_WB[2][4] = nan;
    const Trajectory trajectory = rollout(stepper, bad, 10);
    CHECK(trajectory.failed_step == 0);
    CHECK(trajectory.failure.status == StepStatus::non_finite);
    CHECK(trajectory.failure.body == 2);
  }
  SECTION("in a control") {
    Controls controls(10, test::zero_wrenches(4));
    controls[6].wrenches[3][5] = nan;
    const Trajectory trajectory = rollout(stepper, scene.state, 10, controls);
    CHECK(trajectory.failed_step == 6);
    CHECK(trajectory.failure.status == StepStatus::non_finite);
    CHECK(trajectory.states.size() == 7);
    CHECK_THROWS_AS(adjoint(stepper, trajectory, [](int, const State&, StateTangent&) {}), std::logic_error);
    State end;
    CHECK(simulate(stepper, scene.state, 10, controls, end).status == StepStatus::non_finite);
  }
}

// Linearity ------------------------------------------------------------------------------------------------

TEST_CASE("step_vjp: is linear in what it is given, and adds to what is there", "[dynamics][derivative]") {
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const TestScene scene = scene_of(seed);
    const int bodies = scene.model.body_count();
    const Stepper stepper(scene.model, config_of(law));
    StepScratch scratch;
    State next;
    StepRecord record;
    REQUIRE(stepper.step(scene.state, {}, next, scratch, &record).status == StepStatus::ok);
    struct Out {
      StateTangent state;
      std::vector<Vec6<double>> wrench;
      ModelGradient model;
    };
    const auto vjp = [&](const StateTangent& bar) {
      Out out;
      out.wrench.assign(static_cast<std::size_t>(bodies), Vec6<double>::Zero());
      out.model.set_zero(scene.model);
      const StepBar step_bar{&bar, &out.state, out.wrench, &out.model};
      stepper.step_vjp(scene.state, {}, next, record, {&step_bar, 1}, scratch);
      return out;
    };
    Random random(seed);
    const StateTangent x = test::random_tangent(random, bodies), y = test::random_tangent(random, bodies);
    const Out at_x = vjp(x), at_y = vjp(y), at_both = vjp(combined(2.0, x, -3.0, y)),
              at_zero = vjp(StateTangent(bodies));
    CAPTURE(seed);
    const double scale = largest(at_x.state) + largest(at_y.state);
    REQUIRE(largest(combined(1.0, at_both.state, -1.0, combined(2.0, at_x.state, -3.0, at_y.state))) <=
            1e-10 * scale);  // sums of hundreds of contacts of edges
    REQUIRE(largest(at_zero.state) == 0.0);
    for (std::size_t b = 0; b < at_x.wrench.size(); ++b) {
      REQUIRE(
          test::close(at_both.wrench[b], 2.0 * at_x.wrench[b] - 3.0 * at_y.wrench[b], 1e-11, 1e-12 * scale));
      const BodyGradient &bx = at_x.model.bodies[b], &by = at_y.model.bodies[b],
                         &both = at_both.model.bodies[b];
      REQUIRE(test::close(both.mass, 2.0 * bx.mass - 3.0 * by.mass, 1e-10, 1e-12 * scale));
      REQUIRE(test::close(both.friction, 2.0 * bx.friction - 3.0 * by.friction, 1e-10, 1e-12 * scale));
    }
    // Twice into the same accumulators is twice as much; the state's gradient is overwritten.
    Out twice = vjp(x);
    const StepBar again{&x, &twice.state, twice.wrench, &twice.model};
    stepper.step_vjp(scene.state, {}, next, record, {&again, 1}, scratch);
    REQUIRE(largest(combined(1.0, twice.state, -1.0, at_x.state)) == 0.0);
    for (std::size_t b = 0; b < at_x.wrench.size(); ++b) {
      REQUIRE(test::close(twice.wrench[b], 2.0 * at_x.wrench[b], 1e-14, 1e-300));
      REQUIRE(test::close(twice.model.bodies[b].mass, 2.0 * at_x.model.bodies[b].mass, 1e-13, 1e-300));
    }
  }
}

TEST_CASE("adjoint: one JVP by differences and the VJPs of many losses have the same products",
          "[dynamics][derivative]") {
  // <bar, J d> = <J^T bar, d> for the map from the first to the last state, J d by Richardson's central
  // differences.
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  const bool gravity = GENERATE(true, false);
  constexpr int k_steps = 25;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed + 100);
    const TestScene scene = test::random_contact_scene(random, {2, 3, gravity});
    const int bodies = scene.model.body_count();
    StepConfig config = config_of(law);
    config.tolerance = 1e-12;
    const Stepper stepper(scene.model, config);
    const Trajectory trajectory = rollout(stepper, scene.state, k_steps);
    REQUIRE(trajectory.ok());
    const State& end = trajectory.states.back();
    StateTangent d = test::random_tangent(random, bodies);
    d.twist[0].setZero();  // the floor's
    const auto difference_with = [&](double step) {
      State forward, backward;
      REQUIRE(simulate(stepper, moved(scene.model, scene.state, d, step), k_steps, {}, forward).status ==
              StepStatus::ok);
      REQUIRE(simulate(stepper, moved(scene.model, scene.state, d, -step), k_steps, {}, backward).status ==
              StepStatus::ok);
      return combined(0.5 / step, between(forward, end), -0.5 / step, between(backward, end));
    };
    // The step that agrees best with the next: rollouts differ in how soon they are not linear any more.
    StateTangent Jd(bodies);
    double best = std::numeric_limits<double>::infinity();
    StateTangent coarse = difference_with(1e-5);
    for (const double step : {1e-6, 1e-7, 1e-8}) {
      const StateTangent fine = difference_with(step);
      const double off = largest(combined(1.0, fine, -1.0, coarse));
      if (off < best) best = off, Jd = combined(100.0 / 99.0, fine, -1.0 / 99.0, coarse);
      coarse = fine;
    }
    CAPTURE(seed, best, largest(Jd));
    for (int l = 0; l < 5; ++l) {
      const StateTangent bar = test::random_tangent(random, bodies);
      const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& into) {
        if (k == k_steps) into = combined(1.0, into, 1.0, bar);
      });
      REQUIRE(std::abs(test::inner_product(gradient.initial, d) - test::inner_product(bar, Jd)) <=
              1e-6 * largest(Jd) + 1e-9);
      REQUIRE(test::close(gradient.health.adjoint_norm.back(), std::sqrt(test::inner_product(bar, bar)),
                          1e-12, 0));
    }
  }
}

TEST_CASE("adjoint: a loss of states on the way counts them all, the first included",
          "[dynamics][derivative]") {
  TestScene scene = test::floor_scene();
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.1, 2.0), test::pose_at({0, 0, 5}), test::moving_at({1, 0, 0}));
  const Stepper stepper(scene.model, {});
  const int n = 10;
  const double h = stepper.config().h;
  const Trajectory trajectory = rollout(stepper, scene.state, n, Controls(n, test::zero_wrenches(2)));
  std::vector<int> asked;
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    asked.push_back(k);
    bar.pose[1][3] += 1.0;  // L = sum over k of x_k
  });
  CHECK(asked == std::vector<int>{10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(test::close(gradient.initial.pose[1][3], n + 1.0, 1e-13, 0));
  CHECK(test::close(gradient.initial.twist[1][3], h * n * (n + 1) / 2.0, 1e-13, 0));  // x_k = x_0 + k h v
  // A force in step k moves x_j, j > k, by (j - k) h^2/m.
  for (int k = 0; k < n; ++k) {
    const double m = n - k;
    CHECK(test::close(gradient.controls[static_cast<std::size_t>(k)].wrenches[1][3],
                      h * h / 2.0 * m * (m + 1.0) / 2.0, 1e-12, 0));
  }
  CHECK(test::close(gradient.model.gravity.x(), 2.0 * gradient.model.bodies[1].external_wrench[3], 1e-12, 0));
}

TEST_CASE("adjoint: of a constant wrench it is the sum of those of the steps' wrenches",
          "[dynamics][derivative]") {
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  const TestScene scene = scene_of(4);
  const int bodies = scene.model.body_count();
  const Stepper stepper(scene.model, config_of(law));
  const Trajectory trajectory = rollout(stepper, scene.state, 30);
  REQUIRE(trajectory.ok());
  Random random(4);
  const StateTangent end_bar = test::random_tangent(random, bodies);
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    if (k == 30) bar = combined(1.0, bar, 1.0, end_bar);
  });
  REQUIRE(gradient.health.adjoint_norm.size() == 31);
  for (std::size_t b = 1; b < scene.model.bodies.size(); ++b) {
    Vec6<double> sum = Vec6<double>::Zero();
    for (const auto& control : gradient.controls) sum += control.wrenches[b];
    CHECK(sum.norm() > 0.0);
    CHECK(test::close(sum, gradient.model.bodies[b].external_wrench, 1e-12, 1e-14));
  }
  CHECK(gradient.model.bodies[0].external_wrench.isZero(0.0));  // the floor does not feel any
}

TEST_CASE("adjoint: without contact, gradients are those of the free fall", "[dynamics][value]") {
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.1, 2.0), test::pose_at({0, 0, 5}), test::moving_at({1, 0, 0}));
  const Stepper stepper(scene.model, {});
  const int n = 50;
  const double h = stepper.config().h;
  const Gradient gradient =
      adjoint(stepper, rollout(stepper, scene.state, n), [](int k, const State&, StateTangent& bar) {
        if (k == n) bar.pose[1][5] += 1.0;  // L = z_n = z_0 + n h v_z + n (n + 1)/2 h^2 g_z
      });
  CHECK(test::close(gradient.initial.pose[1][5], 1.0, 1e-14, 0));
  CHECK(test::close(gradient.initial.twist[1][5], n * h, 1e-13, 0));
  CHECK(test::close(gradient.model.gravity.z(), 0.5 * h * h * n * (n + 1), 1e-13, 0));
  CHECK(test::close(gradient.controls[10].wrenches[1][5], h * h * (n - 10) / 2.0, 1e-13, 0));
  CHECK(gradient.model.bodies[1].friction == 0.0);
  CHECK(gradient.model.bodies[1].mass == 0.0);  // all bodies fall alike
}

TEST_CASE("Simulator: a contact point off its body's surface is an error", "[dynamics][value]") {
  TestScene scene = test::floor_scene();
  const int i = scene.add(test::superquadric_of_mass({0.1, 0.1, 0.1}, 0.5, 0.5, 1.0));
  CHECK_NOTHROW(Simulator(scene.model, StepConfig{}));
  scene.body(i).contact_points.col(7) *= 1.05;
  CHECK_THROWS_WITH(Simulator(scene.model, StepConfig{}), Catch::Contains("contact point 7"));
}
