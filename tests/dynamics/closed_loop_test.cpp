/// Feedback policies, and gradients of rollouts through them.
#include "dynamics/rollout/closed_loop.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "dynamics/simulator.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

constexpr int k_loop_steps = 30;

/// Pulls body 1 to a goal, turns it, and pushes the last body away from it: every wrench depends on both.
struct PullAndTurn {
  template <typename X, typename P, typename U>
  void operator()(int k, const X& x, const P& p, U& u) const {
    const int last = x.body_count() - 1;
    const auto to_goal = (p[0] - x.position(1).x()) * p[1];
    u.force(1).x() += to_goal - p[2] * x.velocity(1).x();
    u.torque(1).z() += p[3] * x.rotation(1)(1, 0) - 0.01 * x.angular_velocity(1).z();
    u.force(last) += (0.1 + 0.01 * k) * p[4] * (x.position(last) - x.position(1));
  }
};

const std::vector<double> k_policy_parameters{0.3, 5.0, 1.0, 0.2, 0.7};

State moved_by(State state, const StateTangent& direction, double step) {
  for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
    state.X_WB[b] = retract<double>(state.X_WB[b], step * direction.pose[b]);
    state.V_WB[b] += step * direction.twist[b];
  }
  return state;
}

/// Smallest relative error of central differences over a range of steps.
double error_of(double slope, double size, const std::function<double(double)>& f) {
  double best = std::numeric_limits<double>::infinity();
  for (const double h : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
    const double error = std::abs(test::fd_derivative(f, 0.0, h) - slope) / (std::abs(slope) + 1e-3 * size);
    best = std::min(best, error);
  }
  return best;
}

RolloutLoss loss_of_ends() {
  return running_loss([](int k, const auto& x) {
    const int last = x.body_count() - 1;
    return (k == k_loop_steps ? 1.0 : 0.02) * (x.position(1) + 0.3 * x.position(last)).squaredNorm() +
           0.01 * x.velocity(last).x();
  });
}

StepConfig exact_config() {
  StepConfig config;
  config.h = 2e-3;
  config.tolerance = 1e-13;
  return config;
}

}  // namespace

TEST_CASE("closed_loop_rollout: is the rollout under the wrenches that the policy gave",
          "[dynamics][value]") {
  Random random(5);
  const test::TestScene scene = test::random_contact_scene(random, {.min_bodies = 2, .max_bodies = 3});
  const Simulator simulator(scene.model, {});
  const Policy policy = make_policy(PullAndTurn());
  const Trajectory closed =
      simulator.closed_loop_rollout(scene.state, k_loop_steps, policy, k_policy_parameters);
  REQUIRE(closed.ok());
  REQUIRE(closed.controls.size() == k_loop_steps);
  CHECK(closed.controls[3].wrenches[1].norm() > 0.0);
  CHECK(closed.controls[3].wrenches != closed.controls[4].wrenches);
  const Trajectory open = simulator.rollout(scene.state, k_loop_steps, closed.controls);
  for (std::size_t k = 0; k < open.states.size(); ++k)
    CHECK(state_hash(open.states[k]) == state_hash(closed.states[k]));
}

TEST_CASE("closed_loop_adjoint: by state, policy and model, exact against differences through contact",
          "[dynamics][derivative]") {
  const Policy policy = make_policy(PullAndTurn());
  const RolloutLoss loss = loss_of_ends();
  int contacts = 0, through_policy = 0;
  for (int seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const test::TestScene scene = test::random_contact_scene(random, {.min_bodies = 2, .max_bodies = 3});
    const int n = scene.model.body_count();
    const StepConfig config = exact_config();
    const Simulator simulator(scene.model, config);
    const LossAndPolicyGradient result = simulator.closed_loop_value_and_gradient(
        scene.state, k_loop_steps, policy, k_policy_parameters, loss);
    REQUIRE(result.ok());
    for (const StepRecord& record : result.trajectory.records) contacts += record.report.contacts;
    const auto value = [&](const Model& model, const State& state, const std::vector<double>& p) {
      return value_of(loss, closed_loop_rollout(Stepper(model, config), state, k_loop_steps, policy, p));
    };
    CHECK(result.value == value(scene.model, scene.state, k_policy_parameters));

    const StateTangent direction = test::random_tangent(random, n);
    const double by_state = test::inner_product(result.gradient.gradient.initial, direction);
    CHECK(error_of(by_state, 1.0, [&](double step) {
            return value(scene.model, moved_by(scene.state, direction, step), k_policy_parameters);
          }) < 1e-5);
    double size = 0.0;
    for (const double x : result.gradient.parameters) size = std::max(size, std::abs(x));
    CHECK(size > 0.0);
    for (std::size_t i = 0; i < k_policy_parameters.size(); ++i) {
      CAPTURE(i);
      CHECK(error_of(result.gradient.parameters[i], size, [&](double step) {
              std::vector<double> p = k_policy_parameters;
              p[i] += step;
              return value(scene.model, scene.state, p);
            }) < 1e-5);
    }
    const double mass = scene.model.bodies[1].mass;
    const auto& bars = result.gradient.gradient.model.bodies;
    CHECK(error_of(mass * bars[1].mass, 0.01, [&](double step) {
            Model model = scene.model;
            model.bodies[1].mass *= 1.0 + step;
            return value(model, scene.state, k_policy_parameters);
          }) < 1e-5);
    CHECK(error_of(bars[1].external_wrench[3], 0.01, [&](double step) {
            Model model = scene.model;
            model.bodies[1].external_wrench[3] += step;
            return value(model, scene.state, k_policy_parameters);
          }) < 1e-5);
    // The gradient at fixed wrenches is another one.
    const Gradient open = adjoint(simulator.stepper(), result.trajectory, loss.gradient);
    through_policy +=
        std::abs(test::inner_product(open.initial, direction) - by_state) > 1e-4 * std::abs(by_state);
  }
  CHECK(contacts > 100);
  CHECK(through_policy >= 10);  // where bodies stick, the policy hardly matters
}

TEST_CASE("make_policy: its VJP agrees with one by hand, for more parameters than are taken at a time",
          "[dynamics][derivative]") {
  constexpr int k_count = 29;
  Random random(8);
  const int bodies = 3;
  std::vector<double> p;
  for (int i = 0; i < k_count; ++i) p.push_back(random.uniform(-1.0, 1.0));
  const Policy policy = make_policy([](int, const auto& x, const auto& q, auto& u) {
    for (std::size_t i = 0; i < q.size(); ++i)
      u.wrench(2)[static_cast<int>(i % 6)] += q[i] * q[i] * x.velocity(0).y();
  });
  State state = state_at_rest(bodies);
  state.V_WB[0][4] = 1.7;
  Control bar = test::zero_wrenches(3);
  bar.wrenches[2] = test::random_vector<6>(random);
  StateTangent state_bar(bodies);
  std::vector<double> parameter_bar(k_count, 0.5);  // added to
  policy.vjp(0, state, p, bar, state_bar, parameter_bar);
  double by_velocity = 0.0;
  for (std::size_t i = 0; i < k_count; ++i) {
    CHECK(parameter_bar[i] ==
          Approx(0.5 + 2.0 * p[i] * 1.7 * bar.wrenches[2][static_cast<int>(i % 6)]).epsilon(1e-14));
    by_velocity += p[i] * p[i] * bar.wrenches[2][static_cast<int>(i % 6)];
  }
  CHECK(state_bar.twist[0][4] == Approx(by_velocity).epsilon(1e-13));
  CHECK(state_bar.pose[0].isZero(0.0));
}

TEST_CASE("closed_loop_adjoint: a policy by hand, with its own VJP", "[dynamics][derivative]") {
  Policy by_hand;
  by_hand.control = [](int, const State& x, std::span<const double> p, Control& u) {
    u.wrenches[1][3] = -p[0] * x.X_WB[1].p.x() - p[1] * x.V_WB[1][3];
  };
  by_hand.vjp = [](int, const State& x, std::span<const double> p, const Control& u_bar, StateTangent& x_bar,
                   std::span<double> p_bar) {
    x_bar.pose[1][3] -= p[0] * u_bar.wrenches[1][3];
    x_bar.twist[1][3] -= p[1] * u_bar.wrenches[1][3];
    p_bar[0] -= x.X_WB[1].p.x() * u_bar.wrenches[1][3];
    p_bar[1] -= x.V_WB[1][3] * u_bar.wrenches[1][3];
  };
  const Policy by_numbers = make_policy([](int, const auto& x, const auto& p, auto& u) {
    u.force(1).x() = -p[0] * x.position(1).x() - p[1] * x.velocity(1).x();
  });
  const Vec3<double> half(0.1, 0.1, 0.05);
  const test::TestScene scene = test::box_on_floor(test::box_of_mass(half, 1.0), half, 0.3, 0.0, 1.0);
  const Simulator simulator(scene.model, {});
  const std::vector<double> gains{30.0, 3.0};
  const RolloutLoss loss = final_loss(40, [](const auto& x) { return x.position(1).x(); });
  const auto a = simulator.closed_loop_value_and_gradient(scene.state, 40, by_hand, gains, loss),
             b = simulator.closed_loop_value_and_gradient(scene.state, 40, by_numbers, gains, loss);
  CHECK(a.value == b.value);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(a.gradient.parameters[i] == Approx(b.gradient.parameters[i]).epsilon(1e-12));
    CHECK(a.gradient.parameters[i] != 0.0);
  }
  by_hand.vjp = nullptr;
  CHECK_THROWS_AS(simulator.closed_loop_gradient(a.trajectory, by_hand, gains, loss.gradient),
                  std::invalid_argument);
}

TEST_CASE("closed_loop_adjoint: descends to gains that push a box to its goal against friction",
          "[dynamics][value]") {
  // A PD policy with a feed-forward force; the box ends within a tenth of where it ended with the first
  // gains.
  constexpr int k_long = 150;
  const Vec3<double> half(0.1, 0.08, 0.05);
  test::TestScene scene = test::box_on_floor(test::box_of_mass(half, 2.0), half, 0.4);
  StepConfig config;
  config.h = 4e-3;
  const Simulator simulator(scene.model, config);
  constexpr double k_goal = 0.5;
  const Policy policy = make_policy([](int, const auto& x, const auto& p, auto& u) {
    u.force(1).x() = p[0] * (k_goal - x.position(1).x()) - p[1] * x.velocity(1).x();
  });
  const RolloutLoss loss = final_loss(k_long, [](const auto& x) {
    return (x.position(1).x() - k_goal) * (x.position(1).x() - k_goal) + 0.05 * x.velocity(1).squaredNorm();
  });
  std::vector<double> gains{25.0, 1.0};
  const auto evaluate = [&](const std::vector<double>& p) {
    return simulator.closed_loop_value_and_gradient(scene.state, k_long, policy, p, loss);
  };
  LossAndPolicyGradient now = evaluate(gains);
  const double first = now.value;
  double rate = 1e3;
  for (int i = 0; i < 60; ++i) {  // gradient descent with backtracking
    std::vector<double> trial = gains;
    for (std::size_t j = 0; j < gains.size(); ++j) trial[j] -= rate * now.gradient.parameters[j];
    const LossAndPolicyGradient next = evaluate(trial);
    const bool is_better = next.value < now.value;
    rate *= is_better ? 1.5 : 0.3;
    if (!is_better) continue;
    gains = trial;
    now = next;
  }
  CAPTURE(first, now.value, gains);
  CHECK(now.value < 0.01 * first);
  CHECK(std::abs(now.trajectory.states.back().X_WB[1].p.x() - k_goal) < 0.02);
}

}  // namespace abut
