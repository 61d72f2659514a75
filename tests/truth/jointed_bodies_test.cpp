// Jointed bodies in contact, in closed form: joints hold in the contact problem as they do elsewhere.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
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

/// About y through the origin of W: z of the joint along y.
Joint hinge_about_y(int body, const Vec3<double>& p_BJ) {
  Joint hinge = joint_of(JointKind::hinge, -1, body, {0, 0, 0}, p_BJ);
  hinge.X_AJ.q = hinge.X_BJ.q =
      Quat<double>(Eigen::AngleAxisd(-0.5 * std::numbers::pi, Vec3<double>::UnitX()));
  return hinge;
}

/// A rod of 1 m on a hinge at its end, a ball of 100 kg fixed to its other end.
TestScene loaded_arm(double mass) {
  TestScene scene;
  scene.add(test::box_of_mass({0.5, 0.02, 0.02}, mass), test::pose_at({0.5, 0, 0}));
  scene.add(test::sphere_of_mass(0.1, 100.0), test::pose_at({1, 0, 0}));
  scene.model.joints.push_back(hinge_about_y(0, {-0.5, 0, 0}));
  scene.model.joints.push_back(joint_of(JointKind::fixed, 0, 1, {0.5, 0, 0}, {0, 0, 0}));
  return scene;
}

double fall_of_ball(const TestScene& scene, double h, double seconds) {
  const test::WatchedRun run =
      test::watch(scene, test::config_with_step(h), static_cast<int>(std::lround(seconds / h)));
  REQUIRE(run.status == StepStatus::ok);
  return -run.end.X_WB[1].p.z();
}

}  // namespace

TEST_CASE("jointed bodies: a motor without slip and a stop hold what is fixed to a light arm",
          "[truth][value]") {
  const double mass = GENERATE(10.0, 0.1, 1e-3), h = GENERATE(5e-4, 2e-3, 1e-2);
  CAPTURE(mass, h);
  TestScene held = loaded_arm(mass);
  held.model.joints[0].motor.kind = MotorKind::velocity;
  CHECK(std::abs(fall_of_ball(held, h, 1.0)) <= 1e-3);
  TestScene stopped = loaded_arm(mass);
  stopped.model.joints[0].upper = 0.01;
  // A stop gives as a contact at rest does.
  CHECK(std::abs(fall_of_ball(stopped, h, 1.0) - std::sin(0.01)) <= 2e-5 + 0.2 * 9.81 * h * h);
}

TEST_CASE("jointed bodies: a heavy body stands on a light foot that it is fixed to", "[truth][value]") {
  const double mass = GENERATE(1.0, 1e-2, 1e-4);
  const auto law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::convex_cone, ContactLaw::impedance,
                            ContactLaw::lcp, ContactLaw::relaxed_complementarity);
  CAPTURE(mass, to_string(law));
  TestScene scene;
  scene.add(make_half_space());
  scene.add(test::box_of_mass({0.1, 0.1, 0.1}, mass), test::pose_at({0, 0, 0.1}));
  scene.add(test::box_of_mass({0.1, 0.1, 0.1}, 10.0), test::pose_at({0, 0, 0.3}));
  scene.model.joints.push_back(joint_of(JointKind::fixed, 1, 2, {0, 0, 0.2}, {0, 0, 0}));
  StepConfig config = test::config_with_step(2e-3);
  config.law = law;
  const test::WatchedRun run = test::watch(scene, config, 500);
  REQUIRE(run.status == StepStatus::ok);
  // Contacts of the impedance law give by about 0.8 mm of one body of this mass and these contacts.
  CHECK(std::abs(run.end.X_WB[1].p.z() - 0.1) <= (law == ContactLaw::impedance ? 1e-3 : 1e-4));
}

TEST_CASE("jointed bodies: a spring that holds a slender rod bends by its own stiffness", "[truth][value]") {
  const double k = GENERATE(1e3, 1e5), half_width = GENERATE(0.005, 0.02), h = GENERATE(2e-3, 1e-2);
  TestScene scene;
  scene.add(test::box_of_mass({0.5, half_width, half_width}, 0.5), test::pose_at({0.5, 0, 0}));
  scene.body(0).angular_damping = 20.0;
  Joint joint = joint_of(JointKind::fixed, -1, 0, {0, 0, 0}, {-0.5, 0, 0});
  joint.angular_stiffness = k;
  scene.model.joints.push_back(joint);
  const test::WatchedRun run =
      test::watch(scene, test::config_with_step(h), static_cast<int>(std::lround(4.0 / h)));
  REQUIRE(run.status == StepStatus::ok);
  const double angle = 2.0 * std::asin(run.end.X_WB[0].q.y()), expected = 0.5 * 9.81 * 0.5 / k;
  CAPTURE(k, half_width, h, angle, expected);
  CHECK(std::abs(angle - expected) <= 5e-3 * expected);
}

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
    Joint hinge = hinge_about_y(i, {0, 0, k_length});
    hinge.X_AJ.p = {x, 0, k_length};
    scene.model.joints.push_back(hinge);
  }
  scene.set_friction(0.0);
  test::set_restitution(scene, 1.0);
  const test::WatchedRun run = test::watch(scene, test::config_with_step(h), 6);
  REQUIRE(run.status == StepStatus::ok);
  for (int i = 0; i < balls; ++i) {
    CAPTURE(balls, gap, h, i);
    const double spin = -run.end.V_WB[static_cast<std::size_t>(i)][1] * k_length;
    CHECK(std::abs(spin - (i + 1 == balls ? k_speed : 0.0)) <= (h < 1e-3 ? 2e-3 : 5e-3) * k_speed);
  }
}
