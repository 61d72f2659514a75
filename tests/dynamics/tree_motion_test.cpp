#include "dynamics/step/tree_motion.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/rollout/rollout_jvp.h"
#include "engine/joint_geometry.h"
#include "tests/support/added_joint.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

constexpr double k_g = 9.81;

StepConfig config_with_step(double h) {
  StepConfig config;
  config.h = h;
  config.acceleration_scale = k_g;
  config.contact.edge_edge = false;
  return config;
}

/// A frame at p whose z axis is y of the world.
Pose<double> along_y(const Vec3<double>& p) { return test::pose_at(p, {-0.5 * std::numbers::pi, 0, 0}); }

/// The largest gap of all joints [m, or 2 sin(t/2)].
double largest_gap(const Model& model, const State& state) {
  double gap = 0.0;
  for (const Joint& joint : model.joints) {
    const JointError error = joint_error(joint, state);
    gap = std::max({gap, error.position, error.rotation});
  }
  return gap;
}

/// An arm of boxes on a hinge, a slider, a ball and a fixed joint, over a floor; it branches at its second link. It
/// hangs from the world, from a body of infinite mass, or from nothing.
enum class Base { world, body, none };
TestScene arm(Base base, Random& random) {
  TestScene scene = test::floor_scene(0.5);
  const double z = 0.25;
  int parent = -1;
  if (base == Base::body) {
    Body body = test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 1);
    body.fixed = true;
    parent = scene.add(std::move(body), test::pose_at({-0.3, 0, z}), 0.3 * test::random_vector<6>(random));
  }
  const JointKind kinds[] = {JointKind::hinge, JointKind::slider, JointKind::ball, JointKind::fixed,
                             JointKind::hinge};
  std::vector<int> links;
  for (int i = 0; i < 5; ++i) {
    const Vec3<double> p(0.2 * i, i == 4 ? 0.2 : 0.0, z);
    links.push_back(scene.add(test::box_of_mass({0.07, 0.04, 0.05}, 0.4 + 0.2 * i, 1), test::pose_at(p)));
    if (i == 0 && base == Base::none) continue;
    const int on = i == 0 ? parent : links[i == 4 ? 1 : static_cast<std::size_t>(i - 1)];
    test::add_joint(scene, kinds[i], on, links.back(),
                    along_y(p - Vec3<double>(0.1, i == 4 ? 0.1 : 0.0, 0.0)));
  }
  return scene;
}

}  // namespace

TEST_CASE("tree motion: joints have no gaps, whatever acts", "[dynamics][joints][property]") {
  const ContactLaw law =
      GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty, ContactLaw::lcp, ContactLaw::convex_cone,
               ContactLaw::relaxed_complementarity, ContactLaw::impedance);
  const Base base = GENERATE(Base::world, Base::body, Base::none);
  Random random(4);
  TestScene scene = arm(base, random);
  scene.model.joints.front().motor = {MotorKind::velocity, 2.0, 0.0, 1.0, 4.0};
  const auto stopped = std::find_if(
      scene.model.joints.begin() + 1, scene.model.joints.end(),
      [](const Joint& joint) { return joint.kind == JointKind::hinge || joint.kind == JointKind::slider; });
  stopped->upper = 0.05;
  if (law == ContactLaw::smooth_coulomb) {
    for (Body& body : scene.model.bodies) body.material.restitution = 0.5;
  }
  StepConfig config = config_with_step(law == ContactLaw::penalty ? 1e-3 : 2e-3);
  config.law = law;
  const Stepper stepper(scene.model, config);
  double gap = 0.0;
  int contacts = 0;
  State end;
  const StepReport report =
      simulate(stepper, scene.state, 300, {}, end, [&](int, const State& state, const StepReport& step) {
        gap = std::max(gap, largest_gap(scene.model, state));
        contacts += step.contacts;
        return true;
      });
  CAPTURE(static_cast<int>(law), static_cast<int>(base), to_string(report.status), contacts);
  CHECK(report.status == StepStatus::ok);
  CHECK(contacts > 0);
  CHECK(gap < 1e-13);
}

TEST_CASE("tree motion: a gap at the start is closed by the first step", "[dynamics][joints][value]") {
  Random random(5);
  TestScene scene = arm(Base::world, random);
  scene.state.X_WB[3].p.y() += 0.01;
  State next;
  StepScratch scratch;
  (void)Stepper(scene.model, config_with_step(2e-3)).step(scene.state, {}, next, scratch);
  CHECK(largest_gap(scene.model, next) < 1e-13);
}

TEST_CASE("tree motion: an arm whose weight is balanced stays where it is for ten seconds",
          "[dynamics][joints][property]") {
  Random random(6);
  TestScene scene = arm(Base::world, random);
  scene.model.bodies.erase(scene.model.bodies.begin());  // the floor
  scene.state.X_WB.erase(scene.state.X_WB.begin());
  scene.state.V_WB.erase(scene.state.V_WB.begin());
  for (Joint& joint : scene.model.joints) joint.body_A = std::max(-1, joint.body_A - 1), --joint.body_B;
  for (Body& body : scene.model.bodies) body.external_wrench.tail<3>() = -body.mass * scene.model.gravity;
  State end;
  REQUIRE(simulate(Stepper(scene.model, config_with_step(2e-3)), scene.state, 5000, {}, end).status ==
          StepStatus::ok);
  for (std::size_t b = 0; b < end.X_WB.size(); ++b)
    CHECK(difference(end.X_WB[b], scene.state.X_WB[b]).norm() < 1e-9);
}

TEST_CASE("tree motion: a link pressed against its stop rests, and says so", "[dynamics][joints][value]") {
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::box_of_mass({0.1, 0.1, 0.1}, 2.0, 1), test::pose_at({0.2, 0, 0}));
  test::add_joint(scene, JointKind::hinge, -1, 0, test::pose_at({0, 0, 0}));
  scene.model.joints[0].upper = 0.0;
  scene.body(0).external_wrench[2] = 5.0;
  State end;
  REQUIRE(simulate(Stepper(scene.model, config_with_step(2e-3)), scene.state, 500, {}, end).status ==
          StepStatus::ok);
  CHECK(std::abs(end.V_WB[0][2]) < 1e-9);
}

TEST_CASE("tree motion: rates are differences of positions, with torques on",
          "[dynamics][joints][property]") {
  TestScene scene;
  scene.add(test::box_of_mass({0.1, 0.1, 0.1}, 2.0, 1), test::pose_at({0, 0, 0}));
  test::add_joint(scene, JointKind::hinge, -1, 0, test::pose_at({0, 0, 0}));
  test::add_joint(scene, JointKind::slider, 0,
                  scene.add(test::box_of_mass({0.1, 0.1, 0.1}, 1.0, 1), test::pose_at({0, 0, 0.3})),
                  test::pose_at({0, 0, 0.3}));
  scene.body(0).external_wrench[2] = 1.0;
  scene.model.joints[0].motor = {MotorKind::position, 0.5, 20.0, 2.0};
  scene.model.joints[1].motor = {MotorKind::position, 0.1, 200.0, 5.0};
  const double h = 2e-3;
  double turn = 0.0, travel = 0.0;
  State end;
  const auto status = simulate(Stepper(scene.model, config_with_step(h)), scene.state, 400, {}, end,
                               [&](int step, const State& state, const StepReport&) {
                                 const double q0 = joint_coordinate(scene.model, 0, state),
                                              q1 = joint_coordinate(scene.model, 1, state);
                                 if (step > 0) {
                                   CHECK(test::close(state.V_WB[0][2], (q0 - turn) / h, 0, 1e-9));
                                   CHECK(test::close(state.V_WB[1][5], (q1 - travel) / h, 0, 1e-9));
                                 }
                                 turn = q0, travel = q1;
                                 return true;
                               })
                          .status;
  CHECK(status == StepStatus::ok);
}

TEST_CASE("tree motion: what is fixed to a turning base goes with it, and what hangs there swings",
          "[dynamics][joints][value]") {
  TestScene scene;
  Body base = test::box_of_mass({0.1, 0.1, 0.1}, 1.0, 1);
  base.fixed = true;
  const double w = 2.0, h = 2e-3;
  scene.add(std::move(base), test::pose_at({0, 0, 0}), stack<double>({0, 0, w}, {0.3, 0, 0}));
  const Vec3<double> p(0.5, 0.1, 0.0);
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 1), test::pose_at(p));
  test::add_joint(scene, JointKind::fixed, 0, 1, test::pose_at({0.3, 0, 0}));
  State end;
  REQUIRE(simulate(Stepper(scene.model, config_with_step(h)), scene.state, 500, {}, end).status ==
          StepStatus::ok);
  const Vec3<double> turn(0, 0, w * 500 * h), there = exp_so3(turn) * p + Vec3<double>(0.3 * 500 * h, 0, 0);
  CHECK(test::close(end.X_WB[1].p, there, 0, 1e-11));
  CHECK(test::close(end.V_WB[1][2], w, 1e-11, 0));
}

TEST_CASE("tree motion: adjoint, JVP and differences agree, with gaps at the start and moving bases",
          "[dynamics][joints][derivative]") {
  const Base base = GENERATE(Base::world, Base::body, Base::none);
  const double restitution = GENERATE(0.0, 0.6);
  const bool base_rests = GENERATE(false, true);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Random random(seed);
    TestScene scene = arm(base, random);
    for (Body& body : scene.model.bodies) body.material.restitution = restitution;
    if (base_rests) scene.state.V_WB[1].setZero();
    scene.model.joints.front().motor = {MotorKind::position, 0.3, 30.0, 1.0, 10.0};
    const std::size_t bodies = scene.model.bodies.size();
    for (std::size_t b = 1; b < bodies; ++b) {
      scene.state.X_WB[b] = retract<double>(scene.state.X_WB[b], 0.01 * test::random_vector<6>(random));
      const Vec6<double> V = test::random_vector<6>(random);
      if (!scene.model.bodies[b].fixed) scene.state.V_WB[b] = V;
    }
    const int steps = 60;
    const StepConfig config = config_with_step(2e-3);
    const Stepper stepper(scene.model, config);
    const Trajectory trajectory = rollout(stepper, scene.state, steps);
    REQUIRE(trajectory.ok());
    StateTangent loss_bar(static_cast<int>(bodies));
    RolloutDirection direction;
    direction.initial.set_zero(static_cast<int>(bodies));
    direction.bodies.resize(bodies);
    for (std::size_t b = 1; b < bodies; ++b) {
      loss_bar.pose[b] = test::random_vector<6>(random);
      loss_bar.twist[b] = test::random_vector<6>(random);
      direction.initial.pose[b] = 0.1 * test::random_vector<6>(random);
      direction.initial.twist[b] = test::random_vector<6>(random);
      if (!scene.model.bodies[b].fixed) direction.bodies[b].mass = 0.1 * random.uniform(-1, 1);
    }
    const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
      if (k != steps) return;
      for (std::size_t b = 1; b < bodies; ++b) {
        bar.pose[b] += loss_bar.pose[b];
        bar.twist[b] += loss_bar.twist[b];
      }
    });
    const StateTangents tangents = rollout_jvp(stepper, trajectory, direction);
    double backward = 0.0, forward = 0.0, scale = 0.0;
    for (std::size_t b = 1; b < bodies; ++b) {
      backward += gradient.initial.pose[b].dot(direction.initial.pose[b]) +
                  gradient.initial.twist[b].dot(direction.initial.twist[b]) +
                  gradient.model.bodies[b].mass * direction.bodies[b].mass;
      forward +=
          loss_bar.pose[b].dot(tangents.back().pose[b]) + loss_bar.twist[b].dot(tangents.back().twist[b]);
      scale += gradient.initial.pose[b].norm() * direction.initial.pose[b].norm() +
               gradient.initial.twist[b].norm() * direction.initial.twist[b].norm();
    }
    const auto loss = [&](double t) {
      TestScene moved = scene;
      for (std::size_t b = 1; b < bodies; ++b) {
        moved.state.X_WB[b] = retract<double>(moved.state.X_WB[b], t * direction.initial.pose[b]);
        moved.state.V_WB[b] += t * direction.initial.twist[b];
        moved.model.bodies[b].mass += t * direction.bodies[b].mass;
      }
      const State end = rollout(Stepper(moved.model, config), moved.state, steps).states.back();
      double sum = 0.0;
      for (std::size_t b = 1; b < bodies; ++b) {
        sum += loss_bar.pose[b].dot(difference(end.X_WB[b], trajectory.states.back().X_WB[b])) +
               loss_bar.twist[b].dot(end.V_WB[b]);
      }
      return sum;
    };
    const auto fd = test::fd_sweep(loss, 0.0, 1e-3, 1e-7, 1e-9);
    CAPTURE(static_cast<int>(base), restitution, seed, backward, forward, fd.value, fd.error, scale);
    CHECK(std::abs(forward - backward) <= 1e-9 * scale);
    if (!fd.disagrees_with_itself) CHECK(std::abs(backward - fd.value) <= 1e-6 * scale);
  }
}

TEST_CASE("tree motion: gradients next to where a step is divided are counted as near a kink",
          "[dynamics][property]") {
  for (const double spin : {10.0, 19.9, 20.1, 30.0}) {
    TestScene scene;
    scene.model.gravity.setZero();
    scene.add(test::box_of_mass({0.5, 0.02, 0.02}, 1.0), test::pose_at({0.5, 0, 0}),
              stack<double>(Vec3<double>(0, spin, 0), Vec3<double>(0, 0, -0.5 * spin)));
    Joint hinge;
    hinge.kind = JointKind::hinge;
    hinge.body_B = 0;
    hinge.X_AJ = along_y({0, 0, 0});
    hinge.X_BJ = along_y({-0.5, 0, 0});
    scene.model.joints.push_back(hinge);
    const Stepper stepper(scene.model, config_with_step(0.01));
    const Trajectory trajectory = rollout(stepper, scene.state, 5);
    REQUIRE(trajectory.ok());
    const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
      if (k == 5) bar.pose[0][4] = 1.0;
    });
    CAPTURE(spin, gradient.health.contacts_near_kink);
    CHECK((gradient.health.contacts_near_kink > 0) == (spin > 19.0 && spin < 21.0));
  }
}
