#include "dynamics/gradient_check/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

/// Differences of f at 0 with steps 0.1, 0.025, ...
template <typename F>
Differences differences_of(const F& f, int count = 10) {
  Differences d;
  double h = 0.1;
  for (int i = 0; i < count; ++i, h *= 0.25) {
    d.steps.push_back(h);
    d.forward.push_back((f(h) - f(0.0)) / h);
    d.backward.push_back((f(0.0) - f(-h)) / h);
  }
  return d;
}

GradientSample sample_of(double error) {
  GradientSample sample;
  sample.relative_error = error;
  return sample;
}

/// Two bodies on a floor that touch it and each other at once; compliant and rigid, with an override.
test::TestScene small_scene() {
  Random random(4);
  test::TestScene scene = test::random_contact_scene(random, {2, 2});
  scene.body(1).material.stiffness = 2e4;
  scene.body(2).material.stiffness = k_infinity;
  scene.body(2).material.dissipation_time = -1.0;
  scene.model.pair_overrides.push_back({0, 1, 0.7, 3e4, 0.03});
  return scene;
}

/// Of samples of small_scene(): with a restitution of 0 there are no impacts, and nothing to compare with.
bool is_at_bound(const GradientSample& sample) {
  if (sample.at_bound) CHECK(sample.group == "restitution");
  return sample.at_bound;
}

/// The adjoint with something done to it.
template <typename Change>
GradientFunction changed_adjoint(const Change& change) {
  return [change](const Stepper& stepper, const Trajectory& trajectory, const LossGradient& loss) {
    Gradient gradient = adjoint(stepper, trajectory, loss);
    change(gradient);
    return gradient;
  };
}

// Scoring ---------------------------------------------------------------------------------------------------

TEST_CASE("best_difference: finds the slope of a curved function to ten digits", "[dynamics][value]") {
  const double curvature = GENERATE(1.0, 30.0);
  const auto f = [&](double x) { return std::sin(curvature * (x + 0.3)) / curvature; };
  const DifferenceEstimate estimate = best_difference(differences_of(f));
  CAPTURE(curvature, estimate.step);
  CHECK(test::close(estimate.value, std::cos(0.3 * curvature), 1e-10, 0));
  CHECK(estimate.error < 1e-8);
  CHECK(estimate.kink < 1e-6);
  CHECK(estimate.step < 0.1);
}

TEST_CASE("score_by_differences: steps that agree but are all too large do not hide what happens near 0",
          "[dynamics][value]") {
  const auto score = [](double bump) {
    GradientSample sample;
    sample.adjoint = 1.0 + bump;
    sample.largest = 1.0;
    score_by_differences([&](double h) { return h + bump * h * std::exp(-(h / 1e-5) * (h / 1e-5)); }, sample);
    return sample;
  };
  CHECK(score(0.0).relative_error < 1e-9);
  for (const double bump : {0.3, -0.5, 5.0, -1.0}) {
    const GradientSample sample = score(bump);
    CAPTURE(bump, sample.difference, sample.step, sample.self_disagreement);
    CHECK_FALSE(sample.unresolved);
    CHECK(std::abs(sample.difference - sample.adjoint) < 1e-4);
  }
}

TEST_CASE("best_difference: a kink between equal steps is seen, although central differences agree",
          "[dynamics][value]") {
  const auto f = [](double x) { return 2.0 * x + 0.3 * std::abs(x) + x * x * x; };
  const DifferenceEstimate estimate = best_difference(differences_of(f));
  CHECK(test::close(estimate.value, 2.0, 1e-10, 0));
  CHECK(estimate.error < 1e-8);
  CHECK(test::close(estimate.kink, 0.3, 1e-6, 0));
  CHECK(self_disagreement(estimate, 1.0) > 0.1);
}

TEST_CASE("best_difference: noise is told by the error", "[dynamics][value]") {
  Random random(1);
  const auto f = [&](double x) { return x + 1e-6 * random.uniform(-1.0, 1.0); };
  const DifferenceEstimate estimate = best_difference(differences_of(f));
  CHECK(std::abs(estimate.value - 1.0) < 1e-4);
  CHECK(estimate.error > 1e-9);
}

TEST_CASE("best_difference: steps that failed are passed over, and alone give NaN", "[dynamics][value]") {
  Differences d = differences_of([](double x) { return std::exp(x); });
  d.forward[0] = k_nan;
  d.backward[3] = std::numeric_limits<double>::infinity();
  CHECK(test::close(best_difference(d).value, 1.0, 1e-9, 0));
  for (double& slope : d.forward) slope = k_nan;
  CHECK(std::isnan(best_difference(d).value));
  CHECK(std::isinf(best_difference(d).error));
  CHECK(std::isnan(best_difference({}).value));
  CHECK_THROWS_AS(best_difference({{0.1, 0.05}, {1.0}, {1.0}}), std::invalid_argument);
}

TEST_CASE("relative_error: a derivative far below the largest is measured by the largest",
          "[dynamics][value]") {
  CHECK(test::close(relative_error(1.0, 1.0001, 1.0, 1.0), 1e-4 / 1.001, 1e-9, 0));
  CHECK(test::close(relative_error(0.0, 1e-9, 0.0, 1.0), 1e-6, 1e-9, 0));
  CHECK(relative_error(0.0, 0.0, 0.0, 0.0) == 0.0);
  CHECK(std::isnan(relative_error(k_nan, 1.0, k_nan, 1.0)));
}

TEST_CASE("self_disagreement: a huge adjoint does not hide that differences do not converge",
          "[dynamics][value]") {
  CHECK(self_disagreement({1.0, 1e-6, 0.5, 0.0}, 1e20) > 0.1);
  CHECK(self_disagreement({1.0, 1e-6, 0.0, 0.5}, 1e20) > 0.1);
  CHECK(self_disagreement({0.0, 1e-6, 1e-9, 1e-9}, 1.0) < 1e-5);
}

TEST_CASE("summarize: median, 99th percentile and maximum of all samples, bad ones included",
          "[dynamics][value]") {
  std::vector<GradientSample> samples;
  for (int i = 200; i >= 1; --i) samples.push_back(sample_of(i));
  GradientCheckSummary summary = summarize(samples);
  CHECK(summary.samples == 200);
  CHECK(summary.median_relative_error == 100.5);
  CHECK(summary.p99_relative_error == 198.0);
  CHECK(summary.max_relative_error == 200.0);
  CHECK(summary.non_finite == 0);
  CHECK(summary.unresolved == 0);

  samples[0] = sample_of(k_nan);
  samples[0].non_finite = true;
  samples[1].unresolved = true;
  summary = summarize(samples);
  CHECK(std::isinf(summary.max_relative_error));
  CHECK(summary.p99_relative_error == 198.0);
  CHECK(summary.non_finite == 1);
  CHECK(summary.unresolved == 1);

  const std::vector<GradientSample> one{sample_of(0.25)};
  summary = summarize(one);
  CHECK(summary.median_relative_error == 0.25);
  CHECK(summary.p99_relative_error == 0.25);
  CHECK(summarize({}).samples == 0);
}

TEST_CASE("GradientCheckConfig: every bad field is named", "[dynamics][value]") {
  CHECK_NOTHROW(validate(GradientCheckConfig{}));
  CHECK_THROWS_WITH(validate(GradientCheckConfig{0, -3, 1}),
                    Catch::Contains("steps = 0") && Catch::Contains("samples = -3"));
}

// The check itself ------------------------------------------------------------------------------------------

TEST_CASE("check_gradient: the adjoint agrees with differences in every group of inputs",
          "[dynamics][derivative]") {
  const test::TestScene scene = small_scene();
  const int steps = GENERATE(1, 10, 60);
  const GradientCheck check =
      check_gradient(scene.model, {}, scene.state, {.steps = steps, .samples = 40, .seed = 3});
  CAPTURE(steps);
  REQUIRE(check.failed_step < 0);
  REQUIRE(check.samples.size() == 40);
  std::set<std::string> groups;
  for (const GradientSample& sample : check.samples) {
    CAPTURE(sample.group, sample.adjoint, sample.difference, sample.step, sample.largest);
    groups.insert(sample.group);
    CHECK_FALSE(sample.unresolved);
    if (is_at_bound(sample)) continue;
    CHECK(sample.relative_error < 1e-5);
  }
  CHECK(groups == std::set<std::string>{"initial pose", "initial twist", "controls", "mass", "inertia",
                                        "density", "friction", "compliance", "dissipation time",
                                        "restitution", "linear damping", "angular damping", "external wrench",
                                        "gravity", "shape parameters", "shape poses", "pair friction",
                                        "pair compliance", "pair dissipation time"});
  CHECK(check.summary.median_relative_error < 1e-7);
  CHECK(check.summary.non_finite == 0);
  CHECK(check.summary.max_relative_error > 0.0);
}

TEST_CASE("check_gradient: contacts of edges take part, and agree with differences",
          "[dynamics][derivative]") {
  // A plank across a beam, which touch where neither has a vertex.
  test::TestScene scene;
  Body beam = test::box_of_mass({0.05, 0.5, 0.05}, 5.0, 1);
  beam.fixed = true;
  scene.add(beam);
  Vec6<double> V;
  V << 0.1, 0.2, -0.1, 0.3, 0.1, -0.2;
  scene.add(test::box_of_mass({0.5, 0.06, 0.02}, 1.0, 1), test::pose_at({0.02, 0.1, 0.07}), V);
  StepConfig config;
  config.contact.vertex_contacts = VertexContacts::none;
  const GradientCheck check =
      check_gradient(scene.model, config, scene.state, {.steps = 5, .samples = 45, .seed = 6});
  REQUIRE(check.samples.size() == 45);
  bool is_friction_felt = false;
  for (const GradientSample& sample : check.samples)
    is_friction_felt = is_friction_felt || (sample.group == "friction" && sample.adjoint != 0.0);
  CHECK(is_friction_felt);
  CHECK(check.summary.median_relative_error < 1e-7);
  CHECK(check.summary.max_relative_error < 1e-5);
}

TEST_CASE("check_gradient: the adjoint of the penalty law agrees with differences",
          "[dynamics][derivative]") {
  const test::TestScene scene = small_scene();
  StepConfig config;
  config.law = ContactLaw::penalty;
  config.h = 2e-4;
  config.penalty_stiction_factor =
      200.0;  // explicit friction is only stable for v_s > mu f_n h/m: else gradients explode
  const GradientCheck check =
      check_gradient(scene.model, config, scene.state, {.steps = 30, .samples = 36, .seed = 5});
  REQUIRE(check.samples.size() == 36);
  CHECK(check.summary.max_relative_error < 1e-5);
  CHECK(check.summary.unresolved == 0);
}

TEST_CASE("check_gradient: a gradient that is wrong by 1e-4 is caught, in all groups or in one",
          "[dynamics][derivative]") {
  const test::TestScene scene = small_scene();
  const GradientCheckConfig config{.steps = 5, .samples = 36, .seed = 2};
  const GradientFunction wrong_everywhere = changed_adjoint([](Gradient& g) {
    constexpr double k_factor = 1.0 + 1e-4;
    for (auto& pose : g.initial.pose) pose *= k_factor;
    for (auto& twist : g.initial.twist) twist *= k_factor;
    for (auto& control : g.controls) {
      for (auto& wrench : control.wrenches) wrench *= k_factor;
    }
    g.model.gravity *= k_factor;
    for (auto& body : g.model.bodies) {
      for (double* number : {&body.mass, &body.density, &body.friction, &body.compliance,
                             &body.dissipation_time, &body.linear_damping, &body.angular_damping}) {
        *number *= k_factor;
      }
      body.inertia *= k_factor;
      body.external_wrench *= k_factor;
      for (auto& primitive : body.shape) {
        primitive.pose *= k_factor;
        for (double& parameter : primitive.parameters) parameter *= k_factor;
      }
    }
    for (auto& pair : g.model.pairs) {
      for (double* number : {&pair.friction, &pair.compliance, &pair.dissipation_time}) *number *= k_factor;
    }
  });
  const GradientCheck check = check_gradient(scene.model, {}, scene.state, config, {}, wrong_everywhere);
  for (const GradientSample& sample : check.samples) {
    const double expected =
        1e-4 * std::abs(sample.adjoint) / (std::abs(sample.adjoint) + 1e-3 * sample.largest);
    CAPTURE(sample.group, sample.adjoint, sample.difference);
    if (is_at_bound(sample)) continue;
    CHECK(test::close(sample.relative_error, expected, 0.02, 1e-7));
  }
  CHECK(check.summary.max_relative_error > 0.9e-4);

  const GradientFunction wrong_mass =
      changed_adjoint([](Gradient& g) { g.model.bodies[1].mass *= 1.0 + 1e-2; });
  const GradientCheck one = check_gradient(scene.model, {}, scene.state, config, {}, wrong_mass);
  for (const GradientSample& sample : one.samples) {
    CAPTURE(sample.group, sample.relative_error);
    if (is_at_bound(sample)) continue;
    CHECK((sample.relative_error > 1e-5) == (sample.group == "mass"));
  }
}

TEST_CASE("check_gradient: components of the initial state are named, and an error of one of them is found",
          "[dynamics][derivative]") {
  test::TestScene scene = small_scene();
  for (int b = 0; b < scene.model.body_count(); ++b) scene.body(b).name = "body " + std::to_string(b);
  GradientCheckConfig config{.steps = 3, .samples = 1, .seed = 2, .components = 1000};
  const GradientCheck all = check_gradient(scene.model, {}, scene.state, config);
  std::set<std::string> names;
  int moving = 0;
  for (const Body& body : scene.model.bodies) moving += body.fixed ? 0 : 1;
  REQUIRE(static_cast<int>(all.samples.size()) == 1 + 12 * moving);
  CHECK(all.samples.front().component.empty());
  for (std::size_t i = 1; i < all.samples.size(); ++i) {
    const GradientSample& sample = all.samples[i];
    CAPTURE(sample.component, sample.adjoint, sample.difference);
    names.insert(sample.component);
    CHECK((sample.group == "initial pose" || sample.group == "initial twist"));
    CHECK(sample.relative_error < 1e-5);
  }
  CHECK(names.size() == all.samples.size() - 1);
  CHECK(names.count("body 1, rotation about z") == 1);
  CHECK(names.count("body 2, velocity along x") == 1);

  const GradientFunction wrong_entry = changed_adjoint([](Gradient& g) { g.initial.twist[1][3] *= 1.01; });
  const GradientCheck wrong = check_gradient(scene.model, {}, scene.state, config, {}, wrong_entry);
  for (std::size_t i = 1; i < wrong.samples.size(); ++i) {
    const GradientSample& sample = wrong.samples[i];
    CAPTURE(sample.component, sample.relative_error);
    CHECK((sample.relative_error > 1e-3) == (sample.component == "body 1, velocity along x"));
  }

  config.components = 7;
  const GradientCheck some = check_gradient(scene.model, {}, scene.state, config);
  CHECK(some.samples.size() == 8);
  CHECK_THROWS_WITH(validate(GradientCheckConfig{.components = -1}), Catch::Contains("components = -1"));
}

TEST_CASE("check_gradient: what is not finite is counted, and is no small error", "[dynamics][derivative]") {
  const test::TestScene scene = small_scene();
  const GradientFunction broken = changed_adjoint([](Gradient& g) { g.model.bodies[1].friction = k_nan; });
  const GradientCheck check =
      check_gradient(scene.model, {}, scene.state, {.steps = 2, .samples = 18, .seed = 1}, {}, broken);
  CHECK(check.summary.non_finite > 0);
  CHECK(std::isinf(check.summary.max_relative_error));
}

TEST_CASE("check_gradient: a rollout that fails is reported, not differentiated", "[dynamics][value]") {
  const test::TestScene scene = small_scene();
  StepConfig config;
  config.max_iterations = 1;
  const GradientCheck check =
      check_gradient(scene.model, config, scene.state, {.steps = 5, .samples = 4, .seed = 1});
  CHECK(check.failed_step >= 0);
  CHECK(check.failure.status == StepStatus::not_converged);
  CHECK(check.samples.empty());
}

TEST_CASE("check_gradient: the seed decides the samples, and progress counts them",
          "[dynamics][determinism]") {
  const test::TestScene scene = small_scene();
  const auto adjoints = [&](std::uint64_t seed) {
    std::vector<double> values;
    for (const auto& sample :
         check_gradient(scene.model, {}, scene.state, {.steps = 2, .samples = 6, .seed = seed}).samples) {
      values.push_back(sample.adjoint);
      values.push_back(sample.difference);
    }
    return values;
  };
  CHECK(adjoints(7) == adjoints(7));
  CHECK(adjoints(7) != adjoints(8));

  std::vector<int> seen;
  (void)check_gradient(scene.model, {}, scene.state, {.steps = 1, .samples = 5, .seed = 1},
                       [&](int done, int samples) { seen.push_back(100 * done + samples); });
  CHECK(seen == std::vector<int>{105, 205, 305, 405, 505});
}

TEST_CASE("check_gradient: free flight, where nothing but motion has a gradient", "[dynamics][derivative]") {
  test::TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::box_of_mass({0.1, 0.2, 0.3}, 2.0), {},
            stack<double>(Vec3<double>(1.0, 2.0, -1.0), Vec3<double>(0.1, 0.0, 0.2)));
  const GradientCheck check =
      check_gradient(scene.model, {}, scene.state, {.steps = 50, .samples = 30, .seed = 1});
  CHECK(check.summary.max_relative_error < 1e-7);
  CHECK(check.summary.unresolved == 0);
  for (const GradientSample& sample : check.samples) {
    if (sample.group == "friction") CHECK((sample.adjoint == 0.0 && sample.difference == 0.0));
  }
}

}  // namespace
}  // namespace abut
