// Jointed bodies in contact, in closed form: joints hold in the contact problem as they do elsewhere.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/watched_run.h"

namespace {

using namespace abut;
using test::TestScene;

Joint joint_of(JointKind kind, int body_A, int body_B, const Vec3<double>& p_AJ, const Vec3<double>& p_BJ) {
  Joint joint;
  joint.name = "joint " + std::to_string(body_B);
  joint.kind = kind;
  joint.body_A = body_A;
  joint.body_B = body_B;
  joint.X_AJ.p = p_AJ;
  joint.X_BJ.p = p_BJ;
  return joint;
}

}  // namespace

TEST_CASE("jointed bodies: a light tip fixed to a heavy body gives back what one rigid body does",
          "[truth][value]") {
  const double ratio = GENERATE(1.0, 10.0, 100.0), e = GENERATE(0.5, 1.0), h = GENERATE(5e-4, 2e-3, 1e-2);
  constexpr double k_speed = 1.0, k_radius = 0.05, k_length = 0.3;
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(make_half_space());
  const double gap = 1.4 * h * k_speed;
  scene.add(test::sphere_of_mass(k_radius, 1.0), test::pose_at({0, 0, k_radius + gap}),
            test::moving_at({0, 0, -k_speed}));
  scene.add(test::sphere_of_mass(k_radius, ratio), test::pose_at({0, 0, k_radius + gap + k_length}),
            test::moving_at({0, 0, -k_speed}));
  scene.model.joints.push_back(joint_of(JointKind::fixed, 1, 2, {0, 0, k_length}, {0, 0, 0}));
  test::set_restitution(scene, e);
  const test::WatchedRun run = test::watch(scene, test::config_with_step(h), 4);
  REQUIRE(run.status == StepStatus::ok);
  CAPTURE(ratio, e, h, run.end.V_WB[1].transpose());
  for (const std::size_t b : {1U, 2U})
    CHECK(std::abs(run.end.V_WB[b][5] - e * k_speed) <= 1e-4 * (1.0 + ratio) * k_speed);
}

TEST_CASE("jointed bodies: a cradle of pendulums hands its blow on to the last ball", "[truth][value]") {
  const int balls = GENERATE(2, 3, 5);
  const double gap = GENERATE(0.0, 1e-4), h = GENERATE(5e-4, 2e-3);
  constexpr double k_radius = 0.02, k_length = 0.5, k_speed = 1.0;
  TestScene scene;
  scene.model.gravity.setZero();  // between swings: the blow takes no time
  for (int i = 0; i < balls; ++i) {
    const double x = i * (2.0 * k_radius + gap) - (i == 0 ? 3.4 * h * k_speed : 0.0);
    // Twists about the pivot: the ball turns as it goes.
    scene.add(test::sphere_of_mass(k_radius, 0.1), test::pose_at({x, 0, 0}),
              i == 0 ? stack<double>(Vec3<double>(0, -k_speed / k_length, 0), Vec3<double>(k_speed, 0, 0))
                     : Vec6<double>(Vec6<double>::Zero()));
    Joint hinge = joint_of(JointKind::hinge, -1, i, {x, 0, k_length}, {0, 0, k_length});
    const Quat<double> turn(Eigen::AngleAxisd(-0.5 * 3.14159265358979323846, Vec3<double>::UnitX()));
    hinge.X_AJ.q = hinge.X_BJ.q = turn;  // z of the joint along y
    scene.model.joints.push_back(hinge);
  }
  scene.set_friction(0.0);
  test::set_restitution(scene, 1.0);
  const test::WatchedRun run = test::watch(scene, test::config_with_step(h), 6);
  REQUIRE(run.status == StepStatus::ok);
  for (int i = 0; i < balls; ++i) {
    CAPTURE(balls, gap, h, i);
    const double spin = -run.end.V_WB[static_cast<std::size_t>(i)][1] * k_length;
    CHECK(std::abs(spin - (i + 1 == balls ? k_speed : 0.0)) <= 2e-3 * k_speed);
  }
}
