// Bars through rings and rings through rings: what is linked stays so, however it is pulled.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "dynamics/simulator.h"
#include "tests/support/compound_bodies.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"

using namespace abut;
using test::CompoundBody;
using test::Finish;

namespace {

/// A closed frame about its z axis, and the corners of its centre line, which is plane and convex.
struct Ring {
  CompoundBody frame;
  std::vector<Vec3<double>> corners;
  double half = 0.0;  ///< inradius of the centre line [m]
};

Ring regular_ring(CompoundBody frame, int sides, double radius, double turn) {
  Ring ring{std::move(frame), {}, radius * std::cos(std::numbers::pi / sides)};
  for (int i = 0; i < sides; ++i) {
    const double angle = 2.0 * std::numbers::pi * (i + turn) / sides;
    ring.corners.emplace_back(radius * std::cos(angle), radius * std::sin(angle), 0.0);
  }
  return ring;
}

Ring square_ring_of(const std::string& name, double half, double t, const Finish& finish) {
  return regular_ring(test::square_ring(name, half, t, finish), 4, std::numbers::sqrt2 * half, 0.5);
}

/// Six capsules, with a collision mesh by marching cubes.
const Ring& capsule_ring() {
  static const Ring ring = [] {
    constexpr double k_radius = 0.35;
    const Ring outline = regular_ring({}, 6, k_radius, 0.0);
    test::CompoundParts parts;
    for (std::size_t i = 0; i < 6; ++i)
      parts.add_capsule(outline.corners[i], outline.corners[(i + 1) % 6], 0.05);
    return regular_ring(test::meshed_compound("capsule ring", parts, 500), 6, k_radius, 0.0);
  }();
  return ring;
}

Ring random_ring(const std::string& name, Random& random) {
  if (random.uniform() < 0.25) return capsule_ring();
  Finish finish;
  if (random.uniform() < 0.5) finish.rounding = random.uniform(0.1, 0.9);
  if (random.uniform() < 0.25) finish.divisions = 2;
  const double half = random.uniform(0.25, 0.4);
  return square_ring_of(name, half, random.uniform(0.1, 0.2) * half, finish);
}

/// Where a line crosses the plane of a ring.
struct Crossing {
  double along = 0.0;  ///< in units of to - from, 0 at `from`
  bool is_inside = false;
  int sign = 0;  ///< 1: towards the side of the ring's z axis
};

Crossing crossing(const Ring& ring, const Pose<double>& X, const Vec3<double>& from, const Vec3<double>& to) {
  const Pose<double> X_inverse = X.inverse();
  const Vec3<double> a = X_inverse * from, b = X_inverse * to;
  Crossing result;
  result.along = a.z() / (a.z() - b.z());
  result.sign = b.z() > a.z() ? 1 : -1;
  const Vec3<double> at = a + result.along * (b - a);
  result.is_inside = std::isfinite(result.along);
  for (std::size_t i = 0; i < ring.corners.size(); ++i) {
    const Vec3<double>& corner = ring.corners[i];
    const Vec3<double> side = ring.corners[(i + 1) % ring.corners.size()] - corner;
    if (side.cross(at - corner).z() < 0.0) result.is_inside = false;
  }
  return result;
}

/// How often B goes through A, with its sign: what no motion without passing through changes.
int linking_number(const Ring& A, const Pose<double>& X_A, const Ring& B, const Pose<double>& X_B) {
  int sum = 0;
  for (std::size_t i = 0; i < B.corners.size(); ++i) {
    const Crossing c = crossing(A, X_A, X_B * B.corners[i], X_B * B.corners[(i + 1) % B.corners.size()]);
    if (c.is_inside && c.along >= 0.0 && c.along < 1.0) sum += c.sign;
  }
  return sum;
}

constexpr double k_link_step = 1e-3;  // [s]

/// Two bodies that are pulled apart without gravity until a step fails: the second along `pull`, from a speed
/// of up to half the thickness of the thinner a step on, with up to 100 times its weight on earth.
Trajectory pulled(const CompoundBody& A, const CompoundBody& B, bool is_A_fixed,
                  const std::vector<Pose<double>>& poses, const Vec3<double>& pull, Random& random) {
  Model model;
  model.bodies = {A.body, B.body};
  model.bodies[0].fixed = is_A_fixed;
  model.gravity.setZero();
  const double inradius = std::min(A.inradius(), B.inradius());
  State start;
  start.X_WB = poses;
  start.V_WB = {Vec6<double>::Zero(),
                test::moving_at(random.uniform(0.0, 1.0) * inradius / k_link_step * pull)};
  model.bodies[1].external_wrench.tail<3>() = model.bodies[1].mass * random.uniform(0.0, 1000.0) * pull;
  StepConfig config;
  config.h = k_link_step;
  return Simulator(model, config).rollout(start, 300);
}

CompoundBody random_bar(const std::string& name, double t, double half_length, Random& random) {
  if (random.uniform() < 0.5) {
    const Finish finish{random.uniform() < 0.5 ? 0.0 : random.uniform(0.1, 0.9), 0};
    return test::bar(name, {t, t, half_length}, finish);
  }
  const test::ConvexBody prism =
      test::prism(name, 3 + static_cast<int>(random.integer(22)), 1.5 * t, 2.0 * half_length);
  return {prism.body, {prism}, 0.0};
}

}  // namespace

TEST_CASE("a bar in a ring leaves it by its ends alone, however it is pulled",
          "[dynamics][property][nightly]") {
  constexpr double k_half_length = 1.5, k_fast = 750.0;
  int stays = 0, slides_out = 0, failed = 0;
  double deepest = 0.0, deepest_of_fast = 0.0;
  for (const std::uint64_t seed : test::seeds(300)) {
    CAPTURE(seed);
    Random random(seed);
    const Ring ring = random_ring("ring", random);
    const CompoundBody bar = random_bar("bar", random.uniform(0.04, 0.15) * ring.half, k_half_length, random);
    const auto random_axis = [&] {
      const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
      return Vec3<double>(std::cos(angle), std::sin(angle), 0.0);
    };
    std::vector<Pose<double>> poses(2);
    do {
      const Quat<double> tilt = exp_quaternion<double>(random.uniform(0.0, 1.0) * random_axis()),
                         roll = exp_quaternion<double>({0.0, 0.0, random.uniform(0.0, 3.0)});
      poses[1] = {tilt * roll, random.uniform(0.0, 0.5) * ring.half * random_axis()};
    } while (test::overlap(ring.frame, poses[0], bar, poses[1]).depth > 0.0);
    const Vec3<double> pull = poses[1].q * random_axis();
    const Trajectory trajectory = pulled(ring.frame, bar, seed % 2 == 0, poses, pull, random);
    failed += !trajectory.ok();
    bool is_out = false;
    for (const State& state : trajectory.states) {
      const auto on_axis = [&](double z) { return state.X_WB[1] * Vec3<double>(0.0, 0.0, z); };
      const Crossing at = crossing(ring, state.X_WB[0], on_axis(-k_half_length), on_axis(k_half_length));
      is_out = at.along < 0.05 || at.along > 0.95;
      if (is_out) break;
      REQUIRE(at.is_inside);
      double& most = state.V_WB[1].head<3>().norm() > k_fast ? deepest_of_fast : deepest;
      most = std::max(most, test::overlap(ring.frame, state.X_WB[0], bar, state.X_WB[1]).share);
    }
    ++(is_out ? slides_out : stays);
  }
  CAPTURE(stays, slides_out, failed);
  CHECK(stays > test::samples(300) / 3);
  CHECK(failed == 0);
  // A thin bar rolls by up to 0.75 rad a step, and contacts are those of the start of a step; the fastest
  // spin at 900 rad/s.
  CHECK(deepest < 0.9);
  CHECK(deepest_of_fast < 0.95);
}

TEST_CASE("linked rings stay linked, however they are pulled", "[dynamics][property][nightly]") {
  int failed = 0;
  double deepest = 0.0;
  for (const std::uint64_t seed : test::seeds(300)) {
    CAPTURE(seed);
    Random random(seed);
    const Ring A = random_ring("A", random), B = random_ring("B", random);
    std::vector<Pose<double>> poses(2);
    do {
      poses[1] = {random.quaternion(), test::random_vector(random, 0.4)};
    } while (linking_number(A, poses[0], B, poses[1]) == 0 ||
             test::overlap(A.frame, poses[0], B.frame, poses[1]).depth > 0.0);
    const int linked = linking_number(A, poses[0], B, poses[1]);
    const Trajectory trajectory =
        pulled(A.frame, B.frame, seed % 3 == 0, poses, random.unit_vector(), random);
    failed += !trajectory.ok();
    for (const State& state : trajectory.states) {
      REQUIRE(linking_number(A, state.X_WB[0], B, state.X_WB[1]) == linked);
      deepest = std::max(deepest, test::overlap(A.frame, state.X_WB[0], B.frame, state.X_WB[1]).share);
    }
  }
  CHECK(failed == 0);
  CHECK(deepest < 0.3);
}

TEST_CASE("a chain of rings hangs on its first", "[dynamics][value]") {
  const double rounding = GENERATE(0.0, 0.5);
  const int divisions = GENERATE(0, 2);
  constexpr double k_half = 0.3, k_t = 0.05;
  constexpr std::size_t k_links = 4;
  const Ring ring = square_ring_of("link", k_half, k_t, {rounding, divisions});
  Model model;
  State start, end;
  for (std::size_t i = 0; i < k_links; ++i) {
    model.bodies.push_back(ring.frame.body);
    const double down = static_cast<double>(i) * 2.0 * (k_half - k_t - 1e-3);
    start.X_WB.push_back({exp_quaternion<double>({0.0, 0.0, i % 2 == 0 ? 0.0 : 0.5 * std::numbers::pi}) *
                              exp_quaternion<double>({0.5 * std::numbers::pi, 0.0, 0.0}),
                          Vec3<double>(0.0, 0.0, -down)});
  }
  model.bodies[0].fixed = true;
  start.V_WB.assign(k_links, Vec6<double>::Zero());
  const Simulator simulator(model, StepConfig());
  CAPTURE(rounding, divisions);
  REQUIRE(simulate(simulator.stepper(), start, 1000, {}, end).status == StepStatus::ok);
  for (std::size_t i = 0; i + 1 < k_links; ++i) {
    CHECK(std::abs(linking_number(ring, end.X_WB[i], ring, end.X_WB[i + 1])) == 1);
    CHECK(test::overlap(ring.frame, end.X_WB[i], ring.frame, end.X_WB[i + 1]).depth <
          0.01 * ring.frame.body.size);
  }
}
