// Inertia of the drives of joints.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "tests/support/close.h"
#include "tests/support/joint_scenes.h"

namespace {

using namespace abut;
using test::BodyOnJoint;
using test::joint_config;
using test::run_steps;
using test::TestScene;

constexpr double k_g = 9.81;

/// A bar on a hinge about y at the origin, with armature, without gravity; a ball that flies up hits it at `arm`.
struct HitArm {
  TestScene scene;
  double inertia;  ///< of the bar about the hinge [kg m^2]
  double mass = 0.3, speed = 2.0;

  HitArm(double armature, double arm, double restitution) : scene(test::arm_of_hinges(1)) {
    scene.model.gravity.setZero();
    scene.model.joints[0].armature = armature;
    inertia = scene.body(0).inertia(1, 1) + scene.body(0).mass * 0.01;
    scene.add(test::sphere_of_mass(0.03, mass), test::pose_at({arm, 0, -0.06}),
              test::moving_at({0, 0, speed}));
    for (int b = 0; b < 2; ++b) scene.body(b).material = {0.0, k_infinity, 0.0, restitution};
  }
};

}  // namespace

TEST_CASE("Armature: a coordinate speeds up as its inertia and that of its drive allow",
          "[dynamics][joints][value]") {
  const JointKind kind = GENERATE(JointKind::hinge, JointKind::slider);
  const bool is_tree = GENERATE(true, false);
  BodyOnJoint body(kind, is_tree, 0.3);
  body.joint().armature = 3.0 * body.inertia;
  body.load() = 0.2;
  const double rate = body.rate(run_steps(body.scene, joint_config(2e-3), 500));
  CAPTURE(static_cast<int>(kind), is_tree);
  CHECK(test::close(rate, 0.3 + 0.2 / (4.0 * body.inertia), 1e-9, 0));
}

TEST_CASE("Armature: a pendulum swings with the period of all its inertia", "[dynamics][joints][value]") {
  const double amplitude = 0.1, h = 1e-3, pi = std::numbers::pi;
  TestScene scene = test::arm_of_hinges(1, 0.5 * pi - amplitude);
  const Body& bar = scene.body(0);
  const double own = bar.inertia(1, 1) + bar.mass * 0.01, armature = GENERATE(0.0, 0.01, 0.2),
               moment = bar.mass * k_g * 0.1;
  scene.model.joints[0].armature = armature;
  const double period =
      2.0 * pi * std::sqrt((own + armature) / moment) * (1.0 + amplitude * amplitude / 16.0);
  std::vector<double> crossings;
  double before = -1.0;
  (void)run_steps(scene, joint_config(h), static_cast<int>(4.2 * period / h), [&](const State& state) {
    const double x = -state.X_WB[0].p.x();
    if (before < 0.0 && x >= 0.0) crossings.push_back(state.time - h * x / (x - before));
    before = x;
  });
  REQUIRE(crossings.size() >= 4);
  const double found = (crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1);
  CAPTURE(armature, period, found, found / period - 1.0);
  CHECK(test::close(found, period, 1e-5, 0));
}

TEST_CASE("Armature: a double pendulum keeps its energy, that of the drives included",
          "[dynamics][joints][property]") {
  const double armature = GENERATE(0.0, 0.02);
  TestScene scene = test::arm_of_hinges(2);
  for (Joint& joint : scene.model.joints) joint.armature = armature;
  const double start = mechanical_energy(scene.model, scene.state), scale = 2 * 0.5 * k_g * 0.2;
  double least = 0.0, most = 0.0;
  (void)run_steps(scene, joint_config(1e-3), 10000, [&](const State& state) {
    const double change = (mechanical_energy(scene.model, state) - start) / scale;
    least = std::min(least, change);
    most = std::max(most, change);
  });
  CAPTURE(armature, least, most);
  CHECK(least > -0.01);
  CHECK(most < 0.01);
}

TEST_CASE("Armature: what hits an arm feels the inertia of its drive", "[dynamics][joints][value]") {
  const double armature = GENERATE(0.0, 0.01, 0.1), restitution = GENERATE(0.0, 0.5), arm = 0.15;
  const HitArm hit(armature, arm, restitution);
  const State end = run_steps(hit.scene, joint_config(1e-3), 40);
  const double inertia = hit.inertia + armature,
               impulse = (1.0 + restitution) * hit.speed / (1.0 / hit.mass + arm * arm / inertia);
  CAPTURE(armature, restitution);
  if (restitution > 0.0) {
    CHECK(test::close(end.V_WB[1][5], hit.speed - impulse / hit.mass, 0.01, 0));
    CHECK(test::close(-end.V_WB[0][1], impulse * arm / inertia, 0.01, 0));
  }
  // Angular momentum about the hinge, of all three
  const double ball = hit.mass * (end.X_WB[1].p.x() * end.V_WB[1][5] - end.X_WB[1].p.z() * end.V_WB[1][3]);
  CHECK(test::close(ball - inertia * end.V_WB[0][1], hit.mass * hit.speed * arm, 1e-5, 0));
  CHECK(-end.V_WB[0][1] > 0.0);
}

TEST_CASE("Armature: a chain that hangs free keeps its angular momentum", "[dynamics][joints][property]") {
  TestScene scene;
  scene.model.gravity.setZero();
  for (int i = 0; i < 3; ++i) {
    const int b = scene.add(test::box_of_mass({0.1, 0.02, 0.02}, 0.5, 1), test::pose_at({0.2 * i, 0, 0}));
    scene.V_WB(b)[5] = 0.3 * i;
    if (b > 0) test::add_joint(scene, JointKind::hinge, b - 1, b, test::along_y({0.2 * i - 0.1, 0, 0}));
  }
  for (Joint& joint : scene.model.joints) joint.armature = 0.05;
  const auto momentum = [&](const State& state) {
    double sum = 0.0;
    for (int b = 0; b < 3; ++b) {
      const auto i = static_cast<std::size_t>(b);
      const Vec3<double> p = scene.body(b).mass * state.V_WB[i].tail<3>();
      sum += scene.body(b).inertia(1, 1) * state.V_WB[i][1] + state.X_WB[i].p.cross(p).y();
    }
    return sum;
  };
  const State end = run_steps(scene, joint_config(2e-3), 300);
  CHECK(test::close(momentum(end), momentum(run_steps(scene, joint_config(2e-3), 1)), 1e-10, 0));
}

TEST_CASE("Armature: gradients agree with differences, with contacts, impacts and a moving base",
          "[dynamics][joints][derivative]") {
  const int version = GENERATE(0, 1, 2, 3);
  CAPTURE(version);
  TestScene scene = test::row_of_joints(version == 1 ? 0.4 : 0.0);
  if (version == 3) {
    scene = test::arm_of_hinges(2, 0.3);
    Body base = test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 1);
    base.fixed = true;
    Vec6<double> V;
    V << 0.2, 0.5, 0.1, 0.3, 0.1, -0.2;
    const int b = scene.add(base, test::pose_at({0, 0.3, 0}), V);
    scene.model.joints[0].body_A = b;
    scene.model.joints[0].X_AJ.p.y() -= 0.3;
  }
  double next = 0.002;
  for (Joint& joint : scene.model.joints) {
    joint.armature = joint.kind == JointKind::hinge ? next : 100.0 * next;
    next += 0.001;
  }
  StepConfig config = joint_config(version == 2 ? 1e-3 : 2e-3);
  if (version == 2) config.law = ContactLaw::penalty;
  test::check_joint_gradients(scene, config, {"joint armature"});
}
