/// Losses that are written once, and what they are written on.
#include "dynamics/rollout/loss.h"

#include <cmath>

#include <catch2/catch.hpp>

#include "dynamics/rollout/gradient_bundle.h"
#include "dynamics/simulator.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

/// The state moved along a tangent.
State moved_along(State state, const StateTangent& direction, double step) {
  for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
    state.X_WB[b] = retract<double>(state.X_WB[b], step * direction.pose[b]);
    state.V_WB[b] += step * direction.twist[b];
  }
  return state;
}

State random_state(Random& random, int bodies) {
  State state = state_at_rest(bodies);
  for (Pose<double>& X : state.X_WB) X = {random.quaternion(), test::random_vector(random, 2.0)};
  for (Vec6<double>& V : state.V_WB) V = test::random_vector<6>(random);
  state.time = 0.3;
  return state;
}

/// Takes everything that a state has, of bodies 0 and 2 alone.
template <typename S>
S loss_of_everything(const StateView<S>& x) {
  using std::atan2, std::cos, std::sqrt;
  const Mat3<S> R = x.rotation(2);
  const Vec3<S> p = x.point(0, {0.1, -0.2, 0.3}), q = x.position(2);
  return atan2(R(1, 0), R(0, 0)) + 0.5 * (p - q).squaredNorm() + x.velocity(2).dot(x.angular_velocity(0)) +
         sqrt(1.0 + x.twist(2).squaredNorm()) * x.time() + x.pose(0).q.x() * cos(q.z());
}

}  // namespace

TEST_CASE("StateView: gradients of functions of it agree with differences along random tangents",
          "[dynamics][derivative]") {
  for (int seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const State state = random_state(random, 4);
    const StateTangent direction = test::random_tangent(random, 4);
    const auto f = [](const auto& x) { return loss_of_everything(x); };
    StateTangent gradient(4);
    add_gradient_of(f, state, gradient);
    const double slope = test::inner_product(gradient, direction);
    const auto along = [&](double step) { return f(StateView<double>(moved_along(state, direction, step))); };
    CHECK(test::close(slope, test::fd_derivative(along, 0.0, 1e-5), 1e-7, 1e-8));
    CHECK(slope != 0.0);
    for (const int b : {1, 3}) CHECK((gradient.pose[at(b)].isZero(0.0) && gradient.twist[at(b)].isZero(0.0)));
  }
}

TEST_CASE("StateView: reads what the state has, and notes which bodies were read", "[dynamics][value]") {
  Random random(3);
  const State state = random_state(random, 3);
  BodiesRead read(3);
  const StateView<double> x(state, -1, &read);
  CHECK(x.body_count() == 3);
  CHECK(x.time() == state.time);
  CHECK(read == BodiesRead{false, false, false});
  CHECK(x.position(1) == state.X_WB[1].p);
  CHECK(x.rotation(1) == state.X_WB[1].rotation());
  CHECK(x.point(1, {1, 2, 3}) == state.X_WB[1] * Vec3<double>(1, 2, 3));
  CHECK(read == BodiesRead{false, true, false});
  CHECK(x.velocity(2) == state.V_WB[2].tail<3>());
  CHECK(x.angular_velocity(2) == state.V_WB[2].head<3>());
  CHECK(read == BodiesRead{false, true, true});
  CHECK(value_of(StateView<StateDual>(state, 1).position(1).x()) == state.X_WB[1].p.x());
}

TEST_CASE("value_and_gradient: of final and running losses, exact against differences through contact",
          "[dynamics][derivative]") {
  constexpr int k_loss_steps = 25;
  for (int seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const test::TestScene scene = test::random_contact_scene(random, {.min_bodies = 2, .max_bodies = 3});
    const int n = scene.model.body_count();
    StepConfig config;
    config.h = 2e-3;
    config.tolerance = 1e-13;
    const Simulator simulator(scene.model, config);
    const Vec3<double> goal = test::random_vector(random, 0.2);
    const auto at_end = [=](const auto& x) {
      return (x.position(n - 1) - goal).squaredNorm() + 0.1 * x.velocity(1).x() * x.rotation(1)(0, 2);
    };
    const auto at_every_step = [=](int k, const auto& x) {
      return (0.1 + 0.01 * k) * (x.position(1) - goal).squaredNorm() +
             0.01 * x.angular_velocity(n - 1).dot(goal);
    };
    const StateTangent direction = test::random_tangent(random, n);
    int contacts = 0;
    for (const RolloutLoss& loss : {final_loss(k_loss_steps, at_end), running_loss(at_every_step)}) {
      const LossAndGradient result = simulator.value_and_gradient(scene.state, k_loss_steps, {}, loss);
      REQUIRE(result.ok());
      for (const StepRecord& record : result.trajectory.records) {
        contacts += record.report.contacts;
        for (const SubstepRecord& substep : record.substeps) CHECK(substep.tape == nullptr);
      }
      CHECK(result.value == value_of(loss, simulator.rollout(scene.state, k_loss_steps)));
      const auto along = [&](double step) {
        return value_of(loss, simulator.rollout(moved_along(scene.state, direction, step), k_loss_steps));
      };
      const double slope = test::inner_product(result.gradient.initial, direction);
      CAPTURE(slope, along(0.0));
      double best = 1.0;
      for (const double h : {1e-4, 1e-5, 1e-6, 1e-7}) {
        const double difference = test::fd_derivative(along, 0.0, h);
        best = std::min(best, std::abs(difference - slope) / (std::abs(slope) + 1e-3));
      }
      CHECK(best < 1e-5);
    }
    CHECK(contacts > 0);
  }
}

TEST_CASE("value_and_gradient: a loss by hand and one by derivatives of numbers have the same gradient",
          "[dynamics][derivative]") {
  constexpr int k_loss_steps = 20;
  const test::TestScene scene =
      test::box_on_floor(test::box_of_mass({0.1, 0.1, 0.05}, 1.0), {0.1, 0.1, 0.05}, 0.4, 0.1, 0.5);
  const Simulator simulator(scene.model, {});
  const RolloutLoss by_hand{
      [](int k, const State& state) { return k == k_loss_steps ? state.X_WB[1].p.x() : 0.0; },
      [](int k, const State&, StateTangent& bar) {
        if (k == k_loss_steps) bar.pose[1][3] += 1.0;
      }};
  const RolloutLoss by_numbers = final_loss(k_loss_steps, [](const auto& x) { return x.position(1).x(); });
  const LossAndGradient a = simulator.value_and_gradient(scene.state, k_loss_steps, {}, by_hand),
                        b = simulator.value_and_gradient(scene.state, k_loss_steps, {}, by_numbers);
  CHECK(a.value == b.value);
  CHECK(a.value == a.trajectory.states.back().X_WB[1].p.x());
  CHECK(a.gradient.initial.twist[1] == b.gradient.initial.twist[1]);
  CHECK(a.gradient.model.bodies[1].friction == b.gradient.model.bodies[1].friction);
  CHECK(a.gradient.model.bodies[1].friction != 0.0);
}

TEST_CASE("value_and_gradient: a rollout that fails is NaN with a report, and no exception",
          "[dynamics][value]") {
  test::TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 5.0}));
  StepConfig config;
  config.speed_limit = 1.0;
  const Simulator simulator(scene.model, config);
  const auto loss = final_loss(500, [](const auto& x) { return x.position(1).z(); });
  const LossAndGradient result = simulator.value_and_gradient(scene.state, 500, {}, loss);
  CHECK_FALSE(result.ok());
  CHECK(std::isnan(result.value));
  CHECK(result.trajectory.failure.status == StepStatus::too_fast);
}

TEST_CASE("gradient_bundle: takes a loss that is written once", "[dynamics][value]") {
  test::TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0.3}));
  const Stepper stepper(scene.model, {});
  const auto loss = final_loss(10, [](const auto& x) { return x.position(1).x(); });
  BundleConfig config;
  config.samples = 8;
  const GradientBundle bundle = gradient_bundle(stepper, scene.state, 10, {}, loss, config);
  CHECK(bundle.first_order.mean.pose[1][3] == Approx(1.0).epsilon(1e-9));
}

}  // namespace abut
