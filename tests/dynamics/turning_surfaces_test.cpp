/// The velocity that a turning body of infinite mass has half way through a step: its derivatives.
#include <catch2/catch.hpp>

#include <cmath>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/rollout/rollout_jvp.h"
#include "engine/pose.h"
#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/precise_config.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;

/// A ball and a box that slide on a table of infinite mass, which moves and turns about some axis.
test::TestScene on_turning_table(Random& random, bool last_is_fixed) {
  test::TestScene scene;
  Body table = make_box({0.6, 0.6, 0.1}, 0.0, 2, 1000.0);
  table.fixed = true;
  table.material = {0.4, 2e4, 0.01, 0.0};
  const Vec6<double> V = stack<double>(Vec3<double>(0.0, 0.0, 2.0) + test::random_vector(random, 0.3),
                                       test::random_vector(random, 0.2));
  const Pose<double> X = test::pose_at({0.0, 0.0, -0.1}, test::random_vector(random, 0.02));
  const auto add_table = [&] { scene.add(table, X, V); };
  if (!last_is_fixed) add_table();
  Body box = test::box_of_mass({0.06, 0.05, 0.04}, 0.7, 2), ball = test::sphere_of_mass(0.05, 0.5);
  for (Body* body : {&box, &ball}) {
    body->material = {0.4, 2e4, 0.01, 0.0};
    const double side = body == &box ? 0.25 : -0.25, height = body == &box ? 0.04 : 0.05;
    scene.add(*body, test::pose_at({side, 0.02, height - 5e-4}, test::random_vector(random, 0.01)),
              Vec6<double>(0.4 * test::random_vector<6>(random)));
  }
  if (last_is_fixed) add_table();
  return scene;
}

}  // namespace

TEST_CASE("turning surfaces: adjoint and JVP are derivatives by the twists of all bodies",
          "[dynamics][derivative]") {
  const ContactLaw law =
      GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty, ContactLaw::convex_cone,
               ContactLaw::impedance, ContactLaw::lcp, ContactLaw::relaxed_complementarity);
  const bool last_is_fixed = GENERATE(false, true);
  constexpr int k_steps = 5;
  Random random(static_cast<std::uint64_t>(17 + 2 * static_cast<int>(law) + (last_is_fixed ? 1 : 0)));
  const test::TestScene scene = test::without_ignored(on_turning_table(random, last_is_fixed), law);
  const Stepper stepper(scene.model, test::precise_config(law));
  const StateTangent weights = test::random_tangent(random, scene.model.body_count());
  const Trajectory trajectory = rollout(stepper, scene.state, k_steps);
  REQUIRE(trajectory.ok());
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    if (k == k_steps) bar = weights;
  });
  const State end = trajectory.states.back();
  double largest = 0.0;
  for (std::size_t b = 0; b < scene.model.bodies.size(); ++b) {
    for (int i = 0; i < 6; ++i) {
      const auto loss = [&](double x) {
        State start = scene.state;
        start.V_WB[b][i] += x;
        const Trajectory moved = rollout(stepper, start, k_steps);
        double sum = 0.0;
        for (std::size_t c = 0; c < scene.model.bodies.size(); ++c) {
          sum += weights.pose[c].dot(difference(moved.states.back().X_WB[c], end.X_WB[c])) +
                 weights.twist[c].dot(moved.states.back().V_WB[c] - end.V_WB[c]);
        }
        return sum;
      };
      const test::SweptDerivative exact = test::fd_sweep(loss, 0.0, 1e-4, 1e-6, 1e-9);
      RolloutDirection direction;
      direction.initial = StateTangent(scene.model.body_count());
      direction.initial.twist[b][i] = 1.0;
      const StateTangents tangents = rollout_jvp(stepper, trajectory, direction);
      const double by_adjoint = gradient.initial.twist[b][i],
                   by_jvp = test::inner_product(weights, tangents.back());
      CAPTURE(to_string(law), last_is_fixed, b, i, exact.value, exact.error, by_adjoint, by_jvp);
      CHECK(test::close(by_adjoint, by_jvp, 1e-8, 1e-9));
      CHECK(std::abs(by_adjoint - exact.value) <= 1e-5 * std::abs(exact.value) + 1e-6 + 10.0 * exact.error);
      largest = std::max(largest, std::abs(by_adjoint - exact.value));
    }
  }
  CHECK(largest > 0.0);
}
