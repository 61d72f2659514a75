// Impacts off centre: what they conserve, and derivatives through them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/rollout/rollout_jvp.h"
#include "dynamics/step/step_memory.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/impacts.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::impact_config;
using test::TestScene;
using test::thrown_bodies;
using Kind = test::ThrownKind;
using test::Totals;

/// Of a loss on the end of a rollout, with respect to poses, twists and materials, all at once.
struct DerivativeCount {
  int compared = 0, unresolved = 0;
};

/// A ball that is tied to the second body and flies with it.
void tie_arm(TestScene& scene, JointKind kind) {
  Joint joint;
  joint.name = "elbow";
  joint.kind = kind;
  joint.body_A = 1;
  joint.X_AJ.p = {0, 0, 0.12};
  joint.X_BJ.p = {0, 0, -0.15};
  const Pose<double> X_WJ = scene.X_WB(1) * joint.X_AJ;
  Vec6<double> V = scene.state.V_WB[1];
  const Vec3<double> p_WB = X_WJ * Vec3<double>(-joint.X_BJ.p);
  V.tail<3>() += V.head<3>().cross(p_WB - scene.X_WB(1).p);
  Body ball = test::sphere_of_mass(0.04, 0.5);
  ball.material = scene.model.bodies[1].material;
  joint.body_B = scene.add(std::move(ball), {X_WJ.q, p_WB}, V);
  scene.model.joints.push_back(joint);
}

/// Adjoint and JVP against differences, along a random direction.
void check_derivatives(const TestScene& scene, const StepConfig& config, int steps, Random& random,
                       DerivativeCount& count) {
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, steps);
  REQUIRE(trajectory.ok());

  const Vec6<double> c_pose = test::random_vector<6>(random), c_twist = test::random_vector<6>(random);
  const double d_restitution = 0.1 * random.uniform(-1, 1), d_friction = 0.1 * random.uniform(-1, 1),
               d_mass = 0.1 * random.uniform(-1, 1);
  RolloutDirection direction;
  direction.initial.set_zero(scene.model.body_count());
  direction.bodies.resize(scene.model.bodies.size());
  for (const std::size_t b : {0u, 1u}) {
    direction.initial.pose[b] = 0.01 * test::random_vector<6>(random);
    direction.initial.twist[b] = test::random_vector<6>(random);
    direction.bodies[b].restitution = d_restitution;
    direction.bodies[b].friction = d_friction;
    direction.bodies[b].mass = d_mass;
  }
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    if (k != steps) return;
    for (const std::size_t b : {0u, 1u}) {
      bar.pose[b] += c_pose;
      bar.twist[b] += c_twist;
    }
  });
  const bool has_jvp = stepper.has_jvp();
  StateTangents tangents;
  if (has_jvp) tangents = rollout_jvp(stepper, trajectory, direction);
  double slope = 0.0, forward = 0.0, scale = 0.0;
  for (const std::size_t b : {0u, 1u}) {
    slope += gradient.initial.pose[b].dot(direction.initial.pose[b]) +
             gradient.initial.twist[b].dot(direction.initial.twist[b]) +
             gradient.model.bodies[b].restitution * d_restitution +
             gradient.model.bodies[b].friction * d_friction + gradient.model.bodies[b].mass * d_mass;
    if (has_jvp) forward += c_pose.dot(tangents.back().pose[b]) + c_twist.dot(tangents.back().twist[b]);
    scale += gradient.initial.pose[b].norm() * direction.initial.pose[b].norm() +
             gradient.initial.twist[b].norm() * direction.initial.twist[b].norm();
  }
  const auto loss = [&](double t) {
    TestScene moved = scene;
    for (const std::size_t b : {0u, 1u}) {
      moved.state.X_WB[b] = retract<double>(moved.state.X_WB[b], t * direction.initial.pose[b]);
      moved.state.V_WB[b] += t * direction.initial.twist[b];
      moved.model.bodies[b].material.restitution += t * d_restitution;
      moved.model.bodies[b].material.friction += t * d_friction;
      moved.model.bodies[b].mass += t * d_mass;
    }
    const Stepper at(moved.model, config);
    const State end = rollout(at, moved.state, steps).states.back();
    double sum = 0.0;
    for (const std::size_t b : {0u, 1u}) {
      sum += c_pose.dot(difference(end.X_WB[b], trajectory.states.back().X_WB[b])) + c_twist.dot(end.V_WB[b]);
    }
    return sum;
  };
  const auto fd = test::fd_sweep(loss, 0.0, 1e-4, 1e-6, 1e-9);
  ++count.compared;
  CAPTURE(slope, forward, fd.value, fd.error, scale);
  if (has_jvp) CHECK(std::abs(forward - slope) <= 1e-9 * scale);
  if (fd.disagrees_with_itself) {
    ++count.unresolved;
    return;
  }
  CHECK(test::close(slope, fd.value, 1e-4, 1e-5));
}

}  // namespace

TEST_CASE("impact: momentum and angular momentum are conserved off centre, whatever e, mu and h",
          "[dynamics][property]") {
  const Kind kind_A = GENERATE(Kind::sphere, Kind::box, Kind::capsule);
  const double h = GENERATE(1e-3, 2e-3, 5e-3, 1e-2);
  int hits = 0;
  for (const Kind kind_B : {Kind::sphere, Kind::box, Kind::capsule}) {
    for (const double restitution : {0.0, 0.3, 0.5, 0.9, 1.0}) {
      for (const double friction : {0.0, 0.5, 1.0}) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
          Random random(seed);
          const TestScene scene = thrown_bodies(kind_A, kind_B, restitution, friction, random);
          const Stepper stepper(scene.model, impact_config(h));
          const Trajectory trajectory = rollout(stepper, scene.state, static_cast<int>(0.12 / h));
          CAPTURE(static_cast<int>(kind_A), static_cast<int>(kind_B), h, restitution, friction, seed);
          REQUIRE(trajectory.ok());
          const Totals start(scene.model, scene.state), end(scene.model, trajectory.states.back());
          const double change = (end.angular_momentum - start.angular_momentum).norm(),
                       momentum_change = (end.momentum - start.momentum).norm();
          CAPTURE(change, start.angular_momentum.norm(), momentum_change);
          CHECK(change <= 1e-9 * start.angular_momentum.norm());
          CHECK(momentum_change <= 1e-9 * start.momentum.norm());
          // The free flight of a spinning box changes its energy by 1e-7 of it.
          if (restitution <= 0.5) CHECK(end.energy <= (1.0 + 1e-6) * start.energy);
          hits += (trajectory.states.back().V_WB[0].tail<3>() - scene.state.V_WB[0].tail<3>()).norm() > 1e-2;
        }
      }
    }
  }
  CAPTURE(hits);
  CHECK(hits > 100);
}

TEST_CASE("impact: angular momentum is conserved where a body is hit by two others in one step",
          "[dynamics][property]") {
  const double h = GENERATE(2e-3, 1e-2);
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0}));
  scene.add(test::sphere_of_mass(0.1, 1.5), test::pose_at({-0.2 - 0.25 * 3.0 * h, 0.04, 0}),
            test::moving_at({3, 0, 0}));
  scene.add(test::sphere_of_mass(0.1, 0.7), test::pose_at({0.05, -0.2 - 0.75 * 2.0 * h, 0}),
            test::moving_at({0, 2, 0.3}));
  for (Body& body : scene.model.bodies) {
    body.material.restitution = 0.5;
    body.material.friction = 0.5;
  }
  StepConfig config = impact_config(h);
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, 5);
  REQUIRE(trajectory.ok());
  const Totals start(scene.model, scene.state), end(scene.model, trajectory.states.back());
  CAPTURE(h, start.angular_momentum.transpose(), end.angular_momentum.transpose());
  CHECK(end.energy < 0.95 * start.energy);
  CHECK((end.angular_momentum - start.angular_momentum).norm() <= 1e-9 * start.angular_momentum.norm());
}

/// Two equal balls that meet half a radius off centre, at 6 m/s.
TestScene balls_off_centre(double friction) {
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({-0.2, 0, 0}), test::moving_at({3, 0, 0}));
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0.2, 0.1, 0}), test::moving_at({-3, 0, 0}));
  for (Body& body : scene.model.bodies) {
    body.material.restitution = 0.5;
    body.material.friction = friction;
  }
  return scene;
}

TEST_CASE("impact: balls that meet off centre keep their angular momentum", "[dynamics][value]") {
  const double h = GENERATE(2e-3, 1e-2);
  const TestScene scene = balls_off_centre(0.5);
  const Stepper stepper(scene.model, impact_config(h));
  State end;
  REQUIRE(simulate(stepper, scene.state, static_cast<int>(0.1 / h), {}, end).status == StepStatus::ok);
  const Vec3<double> before = Totals(scene.model, scene.state).angular_momentum,
                     after = Totals(scene.model, end).angular_momentum;
  CAPTURE(h, before.transpose(), after.transpose());
  CHECK(end.V_WB[0].head<3>().norm() > 1.0);  // friction has turned them
  CHECK(test::close(before, Vec3<double>(0, 0, 0.3), 0, 1e-12));
  CHECK((after - before).norm() <= 1e-9 * before.norm());
}

TEST_CASE("impact: frictionless balls that meet off centre do not spin", "[dynamics][property]") {
  const double h = GENERATE(2e-3, 1e-2);
  const TestScene scene = balls_off_centre(0.0);
  const Stepper stepper(scene.model, impact_config(h));
  State end;
  REQUIRE(simulate(stepper, scene.state, static_cast<int>(0.1 / h), {}, end).status == StepStatus::ok);
  CAPTURE(h, end.V_WB[0].transpose());
  CHECK(end.V_WB[0].head<3>().norm() < 1e-9);
  // Their centres are 0.1 m apart across their way when they touch, at a distance of 0.2 m.
  const double along = std::sqrt(3.0) / 2.0, across = 0.5;
  CHECK(test::close(end.V_WB[0][3], 3.0 - 4.5 * along * along, 0, 0.03));
  CHECK(test::close(end.V_WB[0][4], -4.5 * along * across, 0, 0.03));
}

TEST_CASE("impact: adjoint and JVP agree with differences through impacts off centre",
          "[dynamics][derivative]") {
  const Kind kind_A = GENERATE(Kind::sphere, Kind::box, Kind::capsule);
  const double h = GENERATE(2e-3, 1e-2);
  DerivativeCount count;
  int impacts = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Random random(seed);
    const Kind kind_B = seed % 2 == 0 ? Kind::sphere : Kind::box;
    const TestScene scene =
        thrown_bodies(kind_A, kind_B, random.uniform(0.2, 0.8), random.uniform(0.2, 0.8), random);
    const StepConfig config = impact_config(h);
    const int steps = static_cast<int>(0.1 / h);
    for (const StepRecord& record : rollout(Stepper(scene.model, config), scene.state, steps).records)
      impacts += record.report.impacts;
    CAPTURE(static_cast<int>(kind_A), h, seed);
    check_derivatives(scene, config, steps, random, count);
  }
  CAPTURE(h, count.compared, count.unresolved, impacts);
  CHECK(count.unresolved <= count.compared / 4);
  CHECK(impacts >= 6);
}

/// Relative gain of energy in a step up to which a group of bodies that turn on between its impacts keeps its
/// restitution: ImpactPhases.
static constexpr double k_turning = 1e-4;

TEST_CASE("impact: no energy is gained where Newton's restitution would gain some", "[dynamics][property]") {
  const double restitution = GENERATE(0.9, 1.0), friction = GENERATE(0.0, 0.3, 1.0);
  const double h = GENERATE(1e-3, 1e-2);
  const bool falls = GENERATE(false, true);
  double newton = 0.0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    TestScene scene = thrown_bodies(Kind::box, Kind::box, restitution, friction, random);
    if (falls) scene.model.gravity = {1.0, -2.0, -9.81};
    StepConfig config = impact_config(h);
    const auto gain = [&](bool passive) {
      config.passive_impacts = passive;
      const Trajectory trajectory =
          rollout(Stepper(scene.model, config), scene.state, static_cast<int>(0.12 / h));
      REQUIRE(trajectory.ok());
      return test::largest_gain(scene, trajectory, config);
    };
    CAPTURE(restitution, friction, h, falls, seed);
    CHECK(gain(true) <= k_turning);
    newton = std::max(newton, gain(false));
  }
  CAPTURE(restitution, friction, h, falls, newton);
  if (restitution == 1.0) CHECK(newton > 1e-3);
}

TEST_CASE("impact: impacts of one step at several times gain no energy under gravity",
          "[dynamics][property]") {
  const double restitution = GENERATE(0.9, 1.0), friction = GENERATE(0.0, 0.5);
  const double h = GENERATE(1e-3, 1e-2);
  const StepConfig config = impact_config(h);
  int steps_of_impact = 0, pushed_out = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    TestScene scene = thrown_bodies(Kind::box, Kind::sphere, restitution, friction, random);
    scene.model.gravity = {1.0, -2.0, -9.81};
    scene.add(scene.model.bodies[0], test::pose_at({0, 0.2, 0}), test::moving_at({0, -3, 0}));
    const Stepper stepper(scene.model, config);
    const Trajectory trajectory = rollout(stepper, scene.state, static_cast<int>(0.12 / h));
    CAPTURE(restitution, friction, h, seed);
    REQUIRE(trajectory.ok());
    for (std::size_t k = 0; k < trajectory.records.size(); ++k) {
      if (trajectory.records[k].report.impacts == 0) continue;
      const auto energy = [&](const State& end) { return Totals(scene.model, end, h).energy; };
      const double free = test::free_energy(scene, trajectory.states[k], config),
                   end = energy(trajectory.states[k + 1]);
      ++steps_of_impact;
      if (end <= (1.0 + k_turning) * free) continue;
      // The rest is what v_0 gains, in which contacts resolve an overlap from before: no impact adds to it.
      ++pushed_out;
      StepScratch scratch;
      State again, pushed = trajectory.states[k];
      REQUIRE(stepper.step(pushed, {}, again, scratch).status == StepStatus::ok);
      const SolvedSubstep& solved = scratch.memory().solved;
      const GrowableVector by_push_out = solved.solution.velocity - solved.free.v_free;
      for (std::size_t b = 0; b < pushed.V_WB.size(); ++b)
        pushed.V_WB[b] += by_push_out.segment<6>(6 * solved.mass.slot(static_cast<int>(b)));
      const double with_push_out = test::free_energy(scene, pushed, config);
      CAPTURE(k, end / free - 1.0, end / with_push_out - 1.0);
      CHECK(end <= (1.0 + k_turning) * with_push_out);
      CHECK(std::any_of(solved.rows.rows.begin(), solved.rows.rows.end(), [](const ContactRow& row) {
        return row.distance < 0.0 && row.weight > 0.0 && row.answers > 0.0;
      }));
    }
  }
  CAPTURE(restitution, friction, h, steps_of_impact, pushed_out);
  CHECK(steps_of_impact > 80);
  CHECK(pushed_out <= steps_of_impact / 30);
}

TEST_CASE("impact: bodies with joints gain no more energy than by plastic impacts", "[dynamics][property]") {
  const double h = GENERATE(1e-3, 5e-3), friction = GENERATE(0.0, 0.3, 1.0);
  const JointKind kind = GENERATE(JointKind::ball, JointKind::hinge);
  double newton = 0.0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    TestScene scene = thrown_bodies(Kind::box, Kind::box, 1.0, friction, random);
    tie_arm(scene, kind);
    TestScene plastic = scene;
    for (Body& body : plastic.model.bodies) body.material.restitution = 0.0;
    StepConfig config = impact_config(h);
    const Trajectory trajectory =
        rollout(Stepper(scene.model, config), scene.state, static_cast<int>(0.12 / h));
    CAPTURE(h, friction, static_cast<int>(kind), seed);
    REQUIRE(trajectory.ok());
    config.passive_impacts = false;
    const Stepper unbounded(scene.model, config), without_restitution(plastic.model, config);
    const auto energy_after = [&](const Stepper& stepper, const State& state) {
      State end;
      REQUIRE(simulate(stepper, state, 1, {}, end).status == StepStatus::ok);
      return Totals(scene.model, end, h).energy;
    };
    for (std::size_t k = 0; k < trajectory.records.size(); ++k) {
      if (trajectory.records[k].report.contacts == 0) continue;
      const State& state = trajectory.states[k];
      // A joint changes the energy of spinning bodies by O((h w)^2) in free flight, too: it belongs to the bound.
      State apart = state;
      apart.X_WB[0].p.x() += 100.0;
      const double bound =
          std::max(energy_after(without_restitution, apart), energy_after(without_restitution, state));
      CAPTURE(k);
      CHECK(Totals(scene.model, trajectory.states[k + 1], h).energy <= (1.0 + k_turning) * bound);
      newton = std::max(newton, energy_after(unbounded, state) / bound - 1.0);
    }
  }
  CAPTURE(h, friction, static_cast<int>(kind), newton);
  if (friction > 0.0) CHECK(newton > 1e-3);
}

TEST_CASE("impact: no kind of push-out gains energy by impacts", "[dynamics][property]") {
  const bool splits_push_out = GENERATE(false, true);
  const double h = 1e-3;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const TestScene scene = thrown_bodies(Kind::box, Kind::box, 1.0, 1.0, random);
    StepConfig config = impact_config(h);
    config.push_out = splits_push_out ? PushOut::split : PushOut::bias;
    const Trajectory trajectory = rollout(Stepper(scene.model, config), scene.state, 120);
    CAPTURE(splits_push_out, seed);
    REQUIRE(trajectory.ok());
    const double start = Totals(scene.model, scene.state).energy;
    for (const State& state : trajectory.states)
      REQUIRE(Totals(scene.model, state).energy <= (1.0 + 2.0 * k_turning) * start);
  }
}

TEST_CASE("impact: restitution is not reduced where no energy is gained", "[dynamics][value]") {
  const double restitution = GENERATE(0.3, 0.9, 1.0);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    const TestScene scene = thrown_bodies(Kind::sphere, Kind::sphere, restitution, 0.5, random);
    StepConfig config = impact_config(2e-3);
    const auto end = [&](bool passive) {
      config.passive_impacts = passive;
      return state_hash(rollout(Stepper(scene.model, config), scene.state, 60).states.back());
    };
    CAPTURE(restitution, seed);
    CHECK(end(true) == end(false));
  }
}

TEST_CASE("impact: adjoint and JVP agree with differences where restitution is reduced",
          "[dynamics][derivative]") {
  const double h = GENERATE(2e-3, 1e-2);
  const bool falls = GENERATE(false, true), has_joint = GENERATE(false, true);
  DerivativeCount count;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    TestScene scene = thrown_bodies(Kind::box, Kind::box, 0.98, 1.0, random);
    if (falls) scene.model.gravity = {1.0, -2.0, -9.81};
    if (has_joint) tie_arm(scene, JointKind::ball);
    StepConfig config = impact_config(h);
    const int steps = static_cast<int>(0.1 / h);
    const auto end = [&](bool passive) {
      config.passive_impacts = passive;
      return rollout(Stepper(scene.model, config), scene.state, steps).states.back().V_WB[0];
    };
    if ((end(false) - end(true)).norm() < 1e-4) continue;
    CAPTURE(h, falls, has_joint, seed);
    check_derivatives(scene, config, steps, random, count);
  }
  CAPTURE(h, falls, has_joint, count.compared, count.unresolved);
  CHECK(count.compared >= 5);
  CHECK(count.unresolved <= count.compared / 4);
}
