// What surrounds a gradient: its health, softer contact in the backward pass, bundles, Hessian products.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/gradient_bundle.h"
#include "dynamics/rollout/hessian_product.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

StepConfig config() {
  StepConfig config;
  config.acceleration_scale = 9.81;
  config.tolerance = 1e-12;
  return config;
}

/// A ball on its way along x, and one at rest beside its path, `gap` away from being touched; no gravity.
TestScene passing_balls(double gap) {
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.05, 1.0), test::pose_at({-0.2, 0.1 + gap, 0}), test::moving_at({1, 0, 0}));
  scene.add(test::sphere_of_mass(0.05, 1.0));
  return scene;
}

constexpr int k_steps = 200;

/// Where the second ball ends, along -y.
void pushed_away(int k, const State&, StateTangent& bar) {
  if (k == k_steps) bar.pose[1][4] -= 1.0;
}

}  // namespace

TEST_CASE("adjoint: contacts from a distance point to a contact that did not happen, and say so",
          "[dynamics][derivative]") {
  const TestScene scene = passing_balls(0.01);
  const Stepper stepper(scene.model, config());
  const Trajectory trajectory = rollout(stepper, scene.state, k_steps);
  REQUIRE(trajectory.ok());
  const Gradient exact = adjoint(stepper, trajectory, pushed_away);
  CHECK(exact.initial.pose[0].isZero(0.0));  // it passes: its place does not matter
  CHECK_FALSE(exact.health.smoother_backward);

  const Stepper soft(scene.model, contacts_from_distance(scene.model, config(), 0.02));
  const Gradient hint = adjoint(stepper, trajectory, pushed_away, {.backward = &soft});
  CHECK(hint.health.smoother_backward);
  CAPTURE(hint.initial.pose[0].transpose(), hint.initial.twist[0].transpose());
  CHECK(hint.initial.pose[0][4] < 0.0);  // closer in y: pushes the other one further along -y
  CHECK(hint.initial.pose[0].allFinite());

  const Stepper other(scene.model, config());
  TestScene copy = passing_balls(0.01);
  const Stepper of_other_model(copy.model, config());
  CHECK_THROWS_AS(adjoint(stepper, trajectory, pushed_away, {.backward = &of_other_model}),
                  std::invalid_argument);
}

TEST_CASE("adjoint: the same settings backward give the same gradient", "[dynamics][value]") {
  TestScene scene = test::floor_scene();
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 2), test::pose_at({0, 0, 0.06}, {0.1, 0.2, 0}));
  const Stepper stepper(scene.model, config());
  const Trajectory trajectory = rollout(stepper, scene.state, 60);
  const auto loss = [](int k, const State&, StateTangent& bar) {
    if (k == 60) bar.pose[1][0] += 1.0;
  };
  const Gradient one = adjoint(stepper, trajectory, loss),
                 other = adjoint(stepper, trajectory, loss, {.backward = &stepper});
  CHECK(test::close(one.initial.pose[1], other.initial.pose[1], 1e-6, 1e-9));
  CHECK(one.model.bodies[1].friction == Approx(other.model.bodies[1].friction).epsilon(1e-6));
  CHECK(one.health.contacts > 0);
}

TEST_CASE(
    "adjoint: an impact at the start or the end of a step, where it changes sides, is reported as a kink",
    "[dynamics][value]") {
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::lcp);
  StepConfig settings;
  settings.law = law;
  const double h = settings.h, g = 9.81, speed = 1.0, to_end = h * (speed + g * h);
  const auto kinks_at = [&](double gap) {
    TestScene scene = test::floor_scene();
    scene.add(make_sphere(0.05, 1000.0), test::pose_at({0, 0, 0.05 + gap}));
    for (Body& body : scene.model.bodies) body.material.restitution = 0.5;
    scene.V_WB(1) = stack<double>(Vec3<double>::Zero(), Vec3<double>(0.0, 0.0, -speed));
    const Stepper stepper(scene.model, settings);
    const Trajectory trajectory = rollout(stepper, scene.state, 1);
    REQUIRE(trajectory.ok());
    return adjoint(stepper, trajectory,
                   [](int k, const State&, StateTangent& bar) {
                     if (k == 1) bar.pose[1][5] += 1.0;
                   })
        .health.contacts_near_kink;
  };
  CHECK(kinks_at(to_end) > 0);
  CHECK(kinks_at(to_end * (1.0 + 1e-5)) > 0);
  CHECK(kinks_at(0.5 * to_end) == 0);
  if (law == ContactLaw::smooth_coulomb) {  // the impact's own time starts to count there
    CHECK(kinks_at(0.0) > 0);
    CHECK(kinks_at(-1e-8) > 0);
  }
}

TEST_CASE("adjoint: contacts at the limit of friction are counted as kinks, of each step and with a body",
          "[dynamics][value]") {
  // A box that is drawn along the floor, ever harder: where it begins to slide, its contacts change their
  // formula. The force acts at the floor, so that all of them bear the same load.
  constexpr double k_half = 0.05, k_friction = 0.5;
  const Vec3<double> half = Vec3<double>::Constant(k_half);
  TestScene scene = test::box_on_floor(test::box_of_mass(half, 1.0, 2), half, k_friction);
  StepConfig c = config();
  c.law = ContactLaw::convex_cone;
  const Stepper stepper(scene.model, c);
  const State rest = rollout(stepper, scene.state, 500).states.back();
  const auto gradient_at = [&](double share_of_limit) {
    const double force = share_of_limit * k_friction * 9.81, torque = -k_half * force;
    const Controls controls(
        20,
        {{Vec6<double>::Zero(), stack<double>(Vec3<double>(0, torque, 0), Vec3<double>(force, 0, 0))}, {}});
    const Trajectory trajectory = rollout(stepper, rest, 20, controls);
    REQUIRE(trajectory.ok());
    return adjoint(stepper, trajectory, [](int k, const State&, StateTangent& bar) {
      if (k == 20) bar.pose[1][3] += 1.0;
    });
  };
  const GradientHealth at_limit = gradient_at(1.0).health;
  CAPTURE(at_limit.contacts, at_limit.contacts_near_kink, at_limit.share_near_kink());
  CHECK(at_limit.contacts >= 20 * 4);
  CHECK(at_limit.share_near_kink() > 0.5);
  CHECK(at_limit.share_near_kink() <= 1.0);
  REQUIRE(at_limit.kinks.size() == 20);
  int contacts = 0, near_kink = 0;
  for (const KinkCount& step : at_limit.kinks) {
    CHECK(step.body == (step.near_kink > 0 ? 1 : -1));
    contacts += step.contacts;
    near_kink += step.near_kink;
  }
  CHECK(contacts == at_limit.contacts);
  CHECK(near_kink == at_limit.contacts_near_kink);

  for (const double share_of_limit : {0.5, 1.5}) {
    const GradientHealth health = gradient_at(share_of_limit).health;
    CAPTURE(share_of_limit, health.contacts, health.contacts_near_kink);
    CHECK(health.contacts_near_kink == 0);
  }
}

TEST_CASE("adjoint: a box at rest is near no kink of the smooth Coulomb law, with or without restitution",
          "[dynamics][value]") {
  const Vec3<double> half = Vec3<double>::Constant(0.05);
  TestScene scene = test::box_on_floor(test::box_of_mass(half, 1.0, 2), half, 0.5);
  for (Body& body : scene.model.bodies) body.material.restitution = GENERATE(0.0, 0.5);
  const Stepper stepper(scene.model, config());
  const Trajectory trajectory = rollout(stepper, scene.state, 50);
  const GradientHealth health = adjoint(stepper, trajectory, [](int k, const State&, StateTangent& bar) {
                                  if (k == 50) bar.pose[1][3] += 1.0;
                                }).health;
  CHECK(health.contacts >= 50 * 4);
  CHECK(health.contacts_near_kink == 0);
  CHECK(health.warnings.empty());
}

TEST_CASE("adjoint: a motion that is chaotic is reported, with step and body", "[dynamics][value]") {
  // A ball between four fixed ones: every bounce off a round wall multiplies differences.
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.02, 1.0), test::pose_at({0.01, 0.02, 0}), test::moving_at({3, 1.3, 0}));
  for (const auto& [x, y] : {std::pair(0.3, 0.0), {-0.3, 0.0}, {0.0, 0.3}, {0.0, -0.3}}) {
    Body wall = test::sphere_of_mass(0.2, 1.0);
    wall.fixed = true;
    scene.add(std::move(wall), test::pose_at({x, y, 0}));
  }
  for (Body& body : scene.model.bodies) {
    body.material.restitution = 1.0;
    body.material.friction = 0.0;
  }
  StepConfig c = config();
  c.h = 1e-3;
  const Stepper stepper(scene.model, c);
  constexpr int k_long = 800;
  const Trajectory trajectory = rollout(stepper, scene.state, k_long);
  REQUIRE(trajectory.ok());
  const GradientHealth health = adjoint(stepper, trajectory, [](int k, const State&, StateTangent& bar) {
                                  if (k == k_long) bar.pose[0][3] += 1.0;
                                }).health;
  REQUIRE(health.warnings.size() == 1);  // where the limit is passed, once
  const GradientWarning& warning = health.warnings.front();
  CHECK(warning.kind == GradientWarning::Kind::chaos);
  CHECK(warning.value > AdjointOptions().chaos_warning);
  CHECK(warning.value <= health.growth_over_free);
  const std::string text = warning_text(scene.model, warning);
  CAPTURE(text);
  CHECK(text.find("step " + std::to_string(warning.step) + ", body '" + scene.model.bodies[0].name + "'") !=
        std::string::npos);

  // A ball in free flight gives no reason to warn.
  TestScene calm;
  calm.add(test::sphere_of_mass(0.02, 1.0));
  const Stepper flight(calm.model, config());
  CHECK(adjoint(flight, rollout(flight, calm.state, 50), [](int k, const State&, StateTangent& bar) {
          if (k == 50) bar.pose[0][3] += 1.0;
        }).health.warnings.empty());
}

TEST_CASE("hessian_product: agrees with differences of the loss, and is symmetric",
          "[dynamics][derivative]") {
  TestScene scene = test::floor_scene();
  scene.add(test::box_of_mass({0.05, 0.04, 0.06}, 1.0, 1), test::pose_at({0, 0, 0.07}, {0.2, 0.3, 0}),
            stack<double>(Vec3<double>(1, 2, 3), Vec3<double>(0.5, 0, -0.5)));
  StepConfig c = config();
  c.contact.edge_edge = false;
  c.normal_smoothing_factor = 1.0;  // a loss that is smooth on the scale of the differences
  const Stepper stepper(scene.model, c);
  const auto loss = [](int k, const State& state, StateTangent& bar) {
    if (k != 30) return;
    bar.pose[1].tail<3>() += state.X_WB[1].p;
    bar.twist[1] += 0.1 * state.V_WB[1];
  };
  const auto value = [&](const StateTangent& x) {
    State start = scene.state;
    start.X_WB[1] = retract<double>(start.X_WB[1], x.pose[1]);
    start.V_WB[1] += x.twist[1];
    const State end = rollout(stepper, start, 30).states.back();
    return 0.5 * end.X_WB[1].p.squaredNorm() + 0.05 * end.V_WB[1].squaredNorm();
  };
  Random random(5);
  const auto direction = [&] {
    StateTangent d(2);
    d.pose[1] = test::random_vector<6>(random, 0.05);
    d.twist[1] = test::random_vector<6>(random, 1.0);
    return d;
  };
  const auto dot = [](const StateTangent& a, const StateTangent& b) {
    return a.pose[1].dot(b.pose[1]) + a.twist[1].dot(b.twist[1]);
  };
  const StateTangent a = direction(), b = direction();
  const HessianProduct Ha = hessian_product(stepper, scene.state, 30, {}, loss, a),
                       Hb = hessian_product(stepper, scene.state, 30, {}, loss, b);
  CAPTURE(Ha.relative_error, Hb.relative_error);
  CHECK(Ha.relative_error < 1e-3);
  CHECK(dot(b, Ha.product) == Approx(dot(a, Hb.product)).epsilon(1e-4));
  const auto along_a = [&](double t) {
    StateTangent x(2);
    x.pose[1] = t * a.pose[1];
    x.twist[1] = t * a.twist[1];
    return value(x);
  };
  const double h = 3e-3, second = (along_a(h) - 2.0 * along_a(0.0) + along_a(-h)) / (h * h);
  CHECK(dot(a, Ha.product) == Approx(second).epsilon(1e-2));
}

TEST_CASE("gradient_bundle: both estimates of a quadratic loss are the gradient, within their errors",
          "[dynamics][value]") {
  TestScene scene;
  scene.add(test::sphere_of_mass(0.05, 1.0), test::pose_at({0.3, -0.2, 0.1}), test::moving_at({1, 0.5, 0}));
  const Stepper stepper(scene.model, config());
  const RolloutLoss loss{
      [](int k, const State& state) { return k == 50 ? 0.5 * state.X_WB[0].p.squaredNorm() : 0.0; },
      [](int k, const State& state, StateTangent& bar) {
        if (k == 50) bar.pose[0].tail<3>() += state.X_WB[0].p;
      }};
  const Vec3<double> end = rollout(stepper, scene.state, 50).states.back().X_WB[0].p;
  const GradientBundle bundle = gradient_bundle(stepper, scene.state, 50, {}, loss,
                                                {.samples = 400, .translation = 1e-2, .velocity = 0.1});
  CHECK(bundle.failed == 0);
  CHECK(bundle.largest_disagreement < 4.0);
  for (const BundleEstimate* of : {&bundle.first_order, &bundle.zeroth_order, &bundle.combined}) {
    for (int i = 0; i < 3; ++i) {
      CHECK(std::abs(of->mean.pose[0][3 + i] - end[i]) < 4.0 * of->standard_error.pose[0][3 + i] + 1e-9);
      CHECK(std::abs(of->mean.twist[0][3 + i] - 0.1 * end[i]) <
            4.0 * of->standard_error.twist[0][3 + i] + 1e-9);
    }
  }
  CHECK(bundle.first_order.standard_error.pose[0][3] < bundle.zeroth_order.standard_error.pose[0][3]);
  CHECK_THROWS_AS(gradient_bundle(stepper, scene.state, 50, {}, loss, {.samples = 1}), std::invalid_argument);
}

TEST_CASE("gradient_bundle: a loss that jumps shows as a disagreement", "[dynamics][value]") {
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.05, 1.0));
  const Stepper stepper(scene.model, config());
  const RolloutLoss step{
      [](int k, const State& state) { return k == 1 && state.X_WB[0].p.x() > 0.0 ? 1.0 : 0.0; },
      [](int, const State&, StateTangent&) {}};
  const GradientBundle bundle =
      gradient_bundle(stepper, scene.state, 1, {}, step, {.samples = 400, .velocity = 0.0});
  CHECK(bundle.first_order.mean.pose[0][3] == 0.0);
  CHECK(bundle.largest_disagreement > 5.0);
  // E over N(0, s^2) of a unit step: density at 0, 1/(s sqrt(2 pi)).
  const double truth = 1.0 / (1e-3 * std::sqrt(2.0 * 3.141592653589793));
  CHECK(std::abs(bundle.zeroth_order.mean.pose[0][3] - truth) <
        4.0 * bundle.zeroth_order.standard_error.pose[0][3]);
}
