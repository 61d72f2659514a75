/// check_gradient() where inputs lie at the bounds of what a model may have.

#include "dynamics/gradient_check/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <catch2/catch.hpp>

#include "engine/primitive_builder.h"
#include "tests/support/close.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

using test::TestScene;

/// A body that slides and turns on a floor, in touch from the start.
TestScene on_floor(Body body, double height) {
  TestScene scene = test::floor_scene(0.5);
  body.material.friction = 0.5;
  Vec6<double> V;
  V << 0.4, -0.3, 0.5, 0.4, 0.2, -0.1;
  scene.add(std::move(body), test::pose_at({0.0, 0.0, height}, {0.05, 0.03, 0.2}), V);
  return scene;
}

TestScene box_scene() { return on_floor(test::box_of_mass({0.06, 0.05, 0.04}, 1.0, 1), 0.043); }

/// Two samples of each group.
GradientCheck check(const TestScene& scene, const StepConfig& config = {}, int steps = 12) {
  const GradientCheck result =
      check_gradient(scene.model, config, scene.state, {.steps = steps, .samples = 48, .seed = 4});
  REQUIRE(result.failed_step < 0);
  REQUIRE(result.samples.size() == 48);
  return result;
}

std::string text_of(const GradientCheck& check) {
  std::string text = check.verdict.reason;
  for (const GradientSample& s : check.samples) {
    text += fmt::format("\n{}: {} {:.3e} {:.3e} error {:.1e} +- {:.1e} step {:.1e}{}{} {}", s.group,
                        to_string(s.side), s.adjoint, s.difference, s.relative_error, s.self_disagreement,
                        s.step, s.unresolved ? " unresolved" : "", s.at_bound ? " at bound" : "", s.reason);
  }
  return text;
}

/// Samples of a group: all compared with one-sided differences, and right.
void check_one_sided(const GradientCheck& check, const std::string& group, const std::string& bound) {
  INFO(text_of(check));
  CHECK(check.verdict.passed);
  int count = 0;
  bool is_felt = false;
  for (const GradientSample& sample : check.samples) {
    if (sample.group != group) continue;
    ++count;
    is_felt = is_felt || sample.adjoint != 0.0;
    CHECK(sample.side == DifferenceSide::forward);
    CHECK_FALSE(sample.at_bound);
    CHECK_FALSE(sample.unresolved);
    CHECK(sample.relative_error < 1e-4);
    CHECK_THAT(sample.reason, Catch::Contains(bound));
  }
  CHECK(count > 0);
  CHECK(is_felt);
}

// Scoring ---------------------------------------------------------------------------------------------------

TEST_CASE("best_difference: one-sided differences find a slope to nine digits", "[dynamics][value]") {
  const double curvature = GENERATE(1.0, 30.0), sign = GENERATE(1.0, -1.0);
  const auto f = [&](double x) { return std::sin(curvature * (x + 0.3)) / curvature; };
  Differences d;
  double h = 1e-2;
  for (int i = 0; i < 9; ++i, h *= 0.25) {
    d.steps.push_back(h);
    (sign > 0.0 ? d.forward : d.backward).push_back(sign * (f(sign * h) - f(0.0)) / h);
  }
  const DifferenceEstimate estimate = best_difference(d);
  CAPTURE(curvature, sign, estimate.step);
  CHECK(test::close(estimate.value, std::cos(0.3 * curvature), 1e-9, 0));
  CHECK(estimate.kink == 0.0);
}

TEST_CASE("score_by_differences: a loss that has values on one side only is compared there",
          "[dynamics][value]") {
  const double sign = GENERATE(1.0, -1.0);
  GradientSample sample;
  sample.adjoint = sample.largest = 1.0;
  score_by_differences(
      [&](double h) { return sign * h >= 0.0 ? std::expm1(h) : std::numeric_limits<double>::quiet_NaN(); },
      sample);
  CHECK(sample.side == (sign > 0.0 ? DifferenceSide::forward : DifferenceSide::backward));
  CHECK(sample.relative_error < 1e-9);
  CHECK_FALSE(sample.unresolved);
}

TEST_CASE("verdict_of: says in one line what is wrong", "[dynamics][value]") {
  GradientSample good, off, unresolved, at_bound;
  off.relative_error = 2e-4;
  unresolved.relative_error = at_bound.relative_error = 0.5;
  unresolved.unresolved = at_bound.at_bound = true;
  std::vector<GradientSample> samples(18, good);
  samples.push_back(unresolved);
  samples.push_back(at_bound);
  CHECK(verdict_of(summarize(samples)).passed);
  CHECK(summarize(samples).at_bound == 1);
  CHECK(summarize(samples).max_relative_error == 0.5);
  CHECK(summarize(samples).max_resolved_error == 0.0);

  samples[0] = off;
  CHECK_FALSE(verdict_of(summarize(samples)).passed);
  CHECK_THAT(verdict_of(summarize(samples)).reason,
             Catch::Equals("of 20 samples 1 off by more than 0.0001, at most by 0.0002"));
  CHECK(verdict_of(summarize(samples, 1e-3), 1e-3).passed);

  samples[0] = samples[1] = unresolved;
  CHECK_THAT(verdict_of(summarize(samples)).reason, Catch::Contains("3 unresolved, more than a tenth"));
  samples[0] = samples[1] = good;
  samples[2].non_finite = true;
  CHECK_THAT(verdict_of(summarize(samples)).reason, Catch::Contains("1 not finite"));
}

// Shapes ----------------------------------------------------------------------------------------------------

TEST_CASE("check_gradient: exponents at their bounds are moved inwards", "[dynamics][derivative]") {
  const double exponent = GENERATE(0.02, 1.9);
  CAPTURE(exponent);
  check_one_sided(
      check(on_floor(test::superquadric_of_mass({0.06, 0.05, 0.04}, exponent, exponent, 1.0, 1), 0.04)),
      "shape parameters", "exponent = ");
}

TEST_CASE("check_gradient: exponents of exactly 1 are no bound", "[dynamics][derivative]") {
  const double eps1 = GENERATE(1.0, 0.2), eps2 = GENERATE(1.0, 0.2);
  const GradientCheck result =
      check(on_floor(test::superquadric_of_mass({0.06, 0.05, 0.04}, eps1, eps2, 1.0, 1), 0.04));
  INFO(text_of(result));
  CHECK(result.verdict.passed);
  CHECK(result.summary.unresolved == 0);
  for (const GradientSample& sample : result.samples)
    if (sample.group == "shape parameters") CHECK(sample.side == DifferenceSide::both);
}

TEST_CASE("check_gradient: profile powers at their bounds are moved inwards", "[dynamics][derivative]") {
  const double power = GENERATE(3.0, 100.0);
  CAPTURE(power);
  Shape shape;
  shape.primitives = {
      make_extruded_superquadric({0.06, 0.05, 0.04}, 0.6, 0.7, {0.0, 2.0, 4.0}, {0.05, 0.045, 0.05}, power)};
  check_one_sided(check(on_floor(test::star_shaped_body(shape, 1.0, 1), 0.04)), "shape parameters",
                  "profile power = ");
}

TEST_CASE("check_gradient: an edge radius just below half the extent", "[dynamics][derivative]") {
  const double gap = GENERATE(1e-6, 1e-9);
  CAPTURE(gap);
  const double half = 0.05;
  Body body = make_box(Vec3<double>::Constant(half), half - gap, 1, 1000.0);
  const GradientCheck result = check(on_floor(std::move(body), half));
  INFO(text_of(result));
  CHECK(result.verdict.passed);
  CHECK(result.summary.unresolved == 0);
  if (gap < 1e-8) check_one_sided(result, "shape parameters", "edge_radius = ");
}

TEST_CASE("check_gradient: creases of unions", "[dynamics][derivative][nightly]") {
  constexpr double k_smoothing[] = {1e-7, 1e-5, 1e-3};
  const double smoothing =
      k_smoothing[GENERATE(filter(test::is_drawn, range(std::size_t{0}, std::size_t{3})))];
  CAPTURE(smoothing);
  Shape shape;
  const Primitive ball{PrimitiveKind::sphere, PrimitiveOperation::add, {0.04}, test::pose_at({0.02, 0, 0})};
  Primitive other = ball;
  other.X_BP.p.x() = -0.02;
  shape.primitives = {ball, other};
  shape.union_smoothing = smoothing;
  const GradientCheck result = check(on_floor(test::star_shaped_body(shape, 1.0, 2), 0.04));
  INFO(text_of(result));
  CHECK(result.summary.off == 0);
  CHECK(result.summary.non_finite == 0);
  CHECK(result.verdict.passed);
}

// Materials -------------------------------------------------------------------------------------------------

TEST_CASE("check_gradient: frictions of 0 are moved upwards", "[dynamics][derivative]") {
  const bool both = GENERATE(false, true);
  CAPTURE(both);
  TestScene scene = box_scene();
  if (both) scene.body(0).material.friction = 0.0;
  scene.body(1).material.friction = 0.0;
  check_one_sided(check(scene), "friction", "friction = -");
}

TEST_CASE("check_gradient: a friction of 0 of a pair is moved upwards", "[dynamics][derivative]") {
  TestScene scene = box_scene();
  scene.model.pair_overrides.push_back({0, 1, 0.0});
  check_one_sided(check(scene), "pair friction", "friction = -");
}

TEST_CASE("check_gradient: dissipation times of 0 are moved upwards", "[dynamics][derivative]") {
  TestScene scene = box_scene();
  for (Body& body : scene.model.bodies) {
    body.material.dissipation_time = 0.0;
    body.material.stiffness = 2e4;
  }
  check_one_sided(check(scene), "dissipation time", "dissipation time = -");
}

TEST_CASE("check_gradient: a restitution of 1 is moved downwards", "[dynamics][derivative]") {
  TestScene scene = box_scene();
  for (Body& body : scene.model.bodies) body.material.restitution = 1.0;
  scene.X_WB(1).p.z() += 0.005;
  scene.V_WB(1)[5] = -1.0;
  // After 12 steps one of the derivatives is so small that differences drown in the noise of the solver.
  check_one_sided(check(scene, {}, 6), "restitution", "restitution = 1.0");
}

TEST_CASE("check_gradient: with a restitution of 0 there are no impacts, and nothing to compare with",
          "[dynamics][derivative]") {
  TestScene scene = box_scene();
  scene.X_WB(1).p.z() += 0.005;
  scene.V_WB(1)[5] = -1.0;
  const GradientCheck result = check(scene);
  INFO(text_of(result));
  CHECK(result.verdict.passed);
  CHECK(result.summary.unresolved == 0);
  CHECK(result.summary.at_bound > 0);
  for (const GradientSample& sample : result.samples) {
    CHECK(sample.at_bound == (sample.group == "restitution"));
    if (sample.at_bound) CHECK_THAT(sample.reason, Catch::Contains("restitution = -"));
  }
}

// Joints ----------------------------------------------------------------------------------------------------

TEST_CASE("check_gradient: a joint at its limits, as far apart as rounding", "[dynamics][derivative]") {
  const double width = GENERATE(0.2, 2e-9);
  const JointKind kind = GENERATE(JointKind::hinge, JointKind::slider);
  CAPTURE(width, static_cast<int>(kind));
  TestScene scene;
  scene.add(test::box_of_mass({0.06, 0.05, 0.04}, 1.0, 1), {}, test::moving_at({0.1, 0.3, 0.2}));
  Joint joint;
  joint.name = "joint";
  joint.kind = kind;
  joint.body_B = 0;
  joint.X_BJ = joint.X_AJ = test::pose_at({0.0, 0.1, 0.0}, {0.0, 1.5707963267948966, 0.0});
  joint.lower = -width;
  joint.upper = 0.0;
  scene.model.joints.push_back(joint);
  const GradientCheck result = check(scene, {}, 8);
  INFO(text_of(result));
  CHECK(result.verdict.passed);
  if (width > 1e-3) return;
  check_one_sided(result, "joint lower", "is not below upper");
  check_one_sided(result, "joint upper", "is not below upper");
}

// Aligned bodies --------------------------------------------------------------------------------------------

/// Boxes on each other, exactly aligned: corners of one lie at seams of the distance of the other.
TestScene aligned_boxes() {
  TestScene scene = test::floor_scene(0.5);
  for (const double z : {0.05, 0.15}) {
    Body box = make_box(Vec3<double>::Constant(0.05), 0.002, 1, 700.0);
    scene.add(std::move(box), test::pose_at({0.0, 0.0, z}));
  }
  return scene;
}

TEST_CASE("check_gradient: exactly aligned boxes have a gradient, and a wrong one is found",
          "[dynamics][derivative]") {
  const TestScene scene = aligned_boxes();
  const GradientCheckConfig config{.steps = 1, .samples = 96, .seed = 1};
  const GradientCheck result = check_gradient(scene.model, {}, scene.state, config);
  INFO(text_of(result));
  CHECK(result.verdict.passed);
  CHECK(result.summary.at_bound == 0);
  const GradientFunction wrong = [](const Stepper& stepper, const Trajectory& trajectory,
                                    const LossGradient& loss) {
    Gradient gradient = adjoint(stepper, trajectory, loss);
    for (Vec6<double>& pose : gradient.initial.pose) pose *= 1.001;
    return gradient;
  };
  const GradientCheck caught = check_gradient(scene.model, {}, scene.state, config, {}, wrong);
  CHECK(caught.summary.off >= 2);
  CHECK_FALSE(caught.verdict.passed);
}

// Settings --------------------------------------------------------------------------------------------------

constexpr int k_bounded_steps = 12;

/// lcp with just the iterations in which it reaches a tolerance.
StepConfig bounded_lcp(const TestScene& scene, double tolerance) {
  StepConfig config;
  config.law = ContactLaw::lcp;
  config.tolerance = tolerance;
  config.max_iterations = 1;
  const auto converges = [&] {
    State end;
    return simulate(Stepper(scene.model, config), scene.state, k_bounded_steps, {}, end).status ==
           StepStatus::ok;
  };
  while (!converges()) ++config.max_iterations;
  return config;
}

TEST_CASE("check_gradient: a law that does not reach the tightest tolerance is checked with what it reaches",
          "[dynamics][derivative]") {
  const TestScene scene = box_scene();
  const StepConfig config = bounded_lcp(scene, 1e-9);
  const double reached = reachable_tolerance(scene.model, config, scene.state, k_bounded_steps);
  CAPTURE(config.max_iterations, reached);
  REQUIRE(reached > k_gradient_check_tolerance);
  REQUIRE(reached <= config.tolerance);
  const GradientCheck result = check(scene, config, k_bounded_steps);
  INFO(text_of(result));
  CHECK(result.solver_tolerance == reached);
  CHECK(result.verdict.passed);
}

TEST_CASE("check_gradient: what a loose tolerance leaves open is unresolved, not off",
          "[dynamics][derivative]") {
  const TestScene scene = box_scene();
  const GradientCheck result = check(scene, bounded_lcp(scene, 1e-8), k_bounded_steps);
  INFO(text_of(result));
  CHECK(result.solver_tolerance == 1e-8);
  CHECK(result.summary.unresolved > 0);
  CHECK(result.summary.off == 0);
}

}  // namespace
}  // namespace abut
