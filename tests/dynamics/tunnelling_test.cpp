// Convex bodies thrown at each other, and long bodies that cross: nothing passes through, and no impact gains
// energy.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "dynamics/simulator.h"
#include "tests/support/convex_bodies.h"
#include "tests/support/impacts.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"
#include "tests/support/test_bodies.h"

using namespace abut;
using test::ConvexBody;

namespace {

constexpr double k_step = 1e-3;  // [s]

double largest_along(const ConvexBody& of, const Pose<double>& X, const Vec3<double>& axis) {
  double most = -1e30;
  for (const Vec3<double>& x : of.vertices) most = std::max(most, axis.dot(X * x));
  return most;
}

/// Two bodies, one of which flies towards the other without gravity.
struct Throw {
  Model model;
  State start;
  int steps = 0;
  double free_depth = 0.0;  ///< how deep they would be in each other if they did not touch [m]
};

/// @param speed  of a step, in thicknesses of the thinner body
Throw make_throw(const ConvexBody& A, const ConvexBody& B, Random& random, double speed) {
  Throw result;
  result.model.bodies = {A.body, B.body};
  result.model.gravity.setZero();
  const Vec3<double> along = random.unit_vector();
  Vec3<double> aside = random.unit_vector();
  aside -= along * along.dot(aside);
  const Pose<double> X_A{random.quaternion(), Vec3<double>::Zero()},
      X_B{random.quaternion(), random.uniform(0.0, 0.3) * std::min(A.body.size, B.body.size) * aside};
  const double apart = largest_along(B, X_B, along) + largest_along(A, X_A, -along) +
                       0.01 * std::min(A.body.size, B.body.size),
               through = apart + largest_along(A, X_A, along) + largest_along(B, X_B, -along),
               a_step = speed * 2.0 * std::min(A.inradius, B.inradius);
  result.start.X_WB = {X_A, {X_B.q, X_B.p - apart * along}};
  result.start.V_WB.assign(2, Vec6<double>::Zero());
  result.start.V_WB[1].tail<3>() = a_step / k_step * along;
  result.steps = std::min(20 + static_cast<int>(2.0 * through / a_step), 300);
  for (int i = 0; i <= 40; ++i) {
    const Pose<double> X{X_B.q, X_B.p + (through * i / 40.0 - apart) * along};
    result.free_depth = std::max(result.free_depth, test::overlap_depth(A, X_A, B, X));
  }
  return result;
}

double kinetic_energy(const Model& model, const State& state) {
  double energy = 0.0;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Vec3<double> w = state.X_WB[b].rotation().transpose() * state.V_WB[b].head<3>();
    energy += 0.5 * model.bodies[b].mass * state.V_WB[b].tail<3>().squaredNorm() +
              0.5 * w.dot(model.bodies[b].inertia * w);
  }
  return energy;
}

}  // namespace

TEST_CASE("no convex body passes through another, at up to half its thickness a step",
          "[dynamics][property][nightly]") {
  // A spike that reaches through a wedge meets it with the middle of an edge: that is seen by edge_sdf alone.
  const bool edge_sdf = GENERATE(false, true);
  const int throws = test::samples(1000);
  int hits = 0, passed = 0;
  double deepest_of_all = 0.0;
  for (const std::uint64_t seed : test::seeds(1000)) {
    Random random(seed);
    const ConvexBody A = test::random_convex_body("A", random), B = test::random_convex_body("B", random);
    const double inradius = std::min(A.inradius, B.inradius);
    const Throw thrown = make_throw(A, B, random, random.uniform(0.05, 0.5));
    if (thrown.free_depth < 0.3 * inradius) continue;  // a miss
    ++hits;
    StepConfig config;
    config.h = k_step;
    config.contact.edge_sdf = edge_sdf;
    const Simulator simulator(thrown.model, config);
    const Trajectory trajectory = simulator.rollout(thrown.start, thrown.steps);
    CAPTURE(edge_sdf, seed, hits);
    REQUIRE(trajectory.states.size() == static_cast<std::size_t>(thrown.steps) + 1);
    double deepest = 0.0;
    for (std::size_t k = 0; k < trajectory.states.size(); k += 2) {
      const State& state = trajectory.states[k];
      deepest = std::max(deepest, test::overlap_depth(A, state.X_WB[0], B, state.X_WB[1]));
    }
    if (deepest < inradius) {
      deepest_of_all = std::max(deepest_of_all, deepest / (2.0 * inradius));
    } else {
      ++passed;  // what is deeper is pushed out on the other side
    }
  }
  CAPTURE(edge_sdf, deepest_of_all);
  CHECK(hits > 0.9 * throws);
  const int known = test::draws_all_samples() ? 3 : 1;  // one of three is among the first 200
  CHECK(passed <= (edge_sdf ? 0 : known));
  CHECK(deepest_of_all < (edge_sdf ? 0.25 : 0.45));
}

TEST_CASE("impacts of convex bodies gain no energy", "[dynamics][property][nightly]") {
  int impacts = 0;
  double largest_gain = 0.0;
  for (std::uint64_t seed = 1; impacts < test::samples(200); ++seed) {
    Random random(seed);
    const ConvexBody A = test::random_convex_body("A", random), B = test::random_convex_body("B", random);
    Throw thrown = make_throw(A, B, random, 0.02);
    if (thrown.free_depth < 0.3 * std::min(A.inradius, B.inradius)) continue;  // a miss
    thrown.start.V_WB[1].tail<3>().normalize();
    StepConfig config;
    config.h = k_step;
    const Simulator simulator(thrown.model, config);
    const Trajectory trajectory = simulator.rollout(thrown.start, 400);
    CAPTURE(seed);
    REQUIRE(trajectory.ok());
    const double before = kinetic_energy(thrown.model, thrown.start);
    double most = 0.0;
    for (const State& state : trajectory.states) most = std::max(most, kinetic_energy(thrown.model, state));
    const bool hit = kinetic_energy(thrown.model, trajectory.states.back()) < 0.999 * before;
    impacts += hit;
    largest_gain = std::max(largest_gain, most / before - 1.0);
  }
  CHECK(largest_gain <= 1e-3);
}

TEST_CASE("bodies that are dropped on each other gain no energy in the impact",
          "[dynamics][property][nightly]") {
  const int drops = test::samples(100);
  const bool armadillos = GENERATE(false, true);
  int impacts = 0, gaining = 0;
  double largest_gain = 0.0;
  for (std::uint64_t seed = 1; impacts < drops; ++seed) {
    Random random(seed);
    test::TestScene scene;
    for (const std::string name : {"A", "B"})
      scene.add(armadillos ? test::asset("armadillo") : test::random_convex_body(name, random).body);
    scene.body(0).fixed = true;
    const double size = std::min(scene.body(0).size, scene.body(1).size);
    scene.X_WB(0).q = random.quaternion();
    scene.X_WB(1) = {random.quaternion(),
                     0.3 * size * random.unit_vector() +
                         Vec3<double>(0.0, 0.0, 0.87 * (scene.body(0).size + scene.body(1).size))};
    scene.state.V_WB[1].tail<3>() = Vec3<double>(0.0, 0.0, -4.0 * size / 0.3);  // [m/s]
    StepConfig config;
    config.h = k_step;
    const Simulator simulator(scene.model, config);
    const Trajectory trajectory = simulator.rollout(scene.state, 300);
    CAPTURE(armadillos, seed);
    REQUIRE(trajectory.ok());
    const double before = kinetic_energy(scene.model, scene.state),
                 start = test::Totals(scene.model, scene.state, k_step).energy;
    double lowest = start, gain = 0.0;
    for (const State& state : trajectory.states) {
      const double energy = test::Totals(scene.model, state, k_step).energy;
      gain = std::max(gain, (energy - lowest) / before);
      lowest = std::min(lowest, energy);
    }
    impacts += lowest < start - 0.1 * before;
    gaining += gain > 1e-3;
    largest_gain = std::max(largest_gain, gain);
  }
  // Two edges of armadillos come into contact 6 mm deep, between vertices, and are pushed apart.
  CAPTURE(armadillos, largest_gain);
  CHECK(gaining <= (armadillos ? 1 : 0));
  CHECK(largest_gain <= (armadillos ? 5e-3 : 1e-3));
}

TEST_CASE("crossed prisms and bars rest on each other, whatever their sides", "[dynamics][value]") {
  for (const int sides : {3, 4, 5, 6, 8, 12, 16, 24}) {
    for (const double turn : {0.0, 0.3}) {
      const ConvexBody lower = test::prism("lower", sides, 0.02, 0.2),
                       upper = test::prism("upper", sides, 0.02, 0.2);
      Model model;
      model.bodies = {lower.body, upper.body};
      model.bodies[0].fixed = true;
      State start;
      const auto axis_angle = [](double angle, const Vec3<double>& axis) {
        return Quat<double>(Eigen::AngleAxisd(angle, axis));
      };
      const Quat<double> lying = axis_angle(0.5 * std::numbers::pi, Vec3<double>::UnitY());
      start.X_WB = {{lying * axis_angle(turn, Vec3<double>::UnitZ()), Vec3<double>::Zero()},
                    {axis_angle(0.5 * std::numbers::pi, Vec3<double>::UnitZ()) * lying *
                         axis_angle(turn, Vec3<double>::UnitZ()),
                     Vec3<double>(0.0, 0.0, 0.05)}};
      start.V_WB.assign(2, Vec6<double>::Zero());
      const Simulator simulator(model, StepConfig());
      const Trajectory trajectory = simulator.rollout(start, 150);
      CAPTURE(sides, turn);
      REQUIRE(trajectory.states.size() == 151);
      const State& end = trajectory.states.back();
      double deepest = 0.0;
      for (const State& state : trajectory.states)
        deepest = std::max(deepest, test::overlap_depth(lower, state.X_WB[0], upper, state.X_WB[1]));
      CHECK(deepest < 2e-3);  // 1 % of the size
      CHECK(end.X_WB[1].p.z() > 0.01);
    }
  }
}
