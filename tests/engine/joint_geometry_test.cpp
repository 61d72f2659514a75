#include "engine/joint_geometry.h"

#include <algorithm>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/lie.h"
#include "tests/support/joint_scenes.h"

namespace {

using namespace abut;
using test::TestScene;

/// A chain of a hinge, a slider and a hinge from the world, with a body in between that is fixed to its second.
TestScene chain() {
  TestScene scene;
  for (int b = 0; b < 4; ++b)
    scene.add(test::box_of_mass({0.1, 0.05, 0.05}, 1.0, 1),
              test::pose_at({0.3 * b, 0.1 * b, 0}, {0.2 * b, 0.1, 0}));
  test::add_joint(scene, JointKind::hinge, -1, 0, test::along_y({-0.1, 0, 0}));
  test::add_joint(scene, JointKind::slider, 0, 1, test::along_x({0.15, 0, 0}));
  test::add_joint(scene, JointKind::hinge, 1, 2, test::along_x({0.5, 0.1, 0}));
  test::add_joint(scene, JointKind::fixed, 1, 3, test::pose_at({0.6, 0, 0.2}));
  return scene;
}

double gap(const TestScene& scene, const State& state) {
  double largest = 0.0;
  for (const Joint& joint : scene.model.joints) {
    const JointError error = joint_error(joint, state);
    largest = std::max({largest, error.position, error.rotation});
  }
  return largest;
}

}  // namespace

TEST_CASE("set_joints: every coordinate and rate is as asked for, joints hold, and nothing else moves",
          "[engine][joints][property]") {
  const TestScene scene = chain();
  State state = scene.state;
  const std::vector<int> joints = joints_with_coordinate(scene.model);
  REQUIRE(joints == std::vector<int>{0, 1, 2});
  const std::vector<double> q{7.5, -0.4, -2.0}, u{3.0, 0.7, -5.0};
  set_joints(scene.model, q.data(), u.data(), state);
  CHECK(gap(scene, state) <= 1e-14);
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(test::close(joint_coordinate(scene.model, joints[i], state), q[i], 1e-14, 1e-14));
    CHECK(test::close(joint_rate(scene.model.joints[i], state), u[i], 1e-13, 0));
  }
  State later = state;  // a moment later joints still hold, and coordinates have changed by the rates
  const double h = 1e-6;
  for (std::size_t b = 0; b < 4; ++b) later.X_WB[b] = retract<double>(state.X_WB[b], h * state.V_WB[b]);
  CHECK(gap(scene, later) <= 1e-10);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(test::close((joint_coordinate(scene.model, joints[i], later) - q[i]) / h, u[i], 1e-4, 0));

  const std::vector<double> moved_q{-1.0, 0.2, 1.5};
  State moved = state;
  set_joints(scene.model, moved_q.data(), nullptr, moved);  // rates stay
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(test::close(joint_rate(scene.model.joints[i], moved), u[i], 1e-13, 0));
  for (std::size_t b = 0; b < 4; ++b) moved.X_WB[b] = retract<double>(moved.X_WB[b], h * moved.V_WB[b]);
  CHECK(gap(scene, moved) <= 1e-10);

  State again = state;
  set_joints(scene.model, q.data(), u.data(), again);
  for (std::size_t b = 0; b < 4; ++b) {
    CHECK(again.X_WB[b].p == state.X_WB[b].p);
    CHECK(again.V_WB[b] == state.V_WB[b]);
  }
}

TEST_CASE("set_joint_coordinate: moves body A where B is held, and refuses loops",
          "[engine][joints][value]") {
  TestScene scene = chain();
  std::swap(scene.model.joints[0].body_A, scene.model.joints[0].body_B);  // from body 0 to the world
  std::swap(scene.model.joints[0].X_AJ, scene.model.joints[0].X_BJ);
  scene.add(test::box_of_mass({0.1, 0.1, 0.1}, 1.0), test::pose_at({-0.1, 0, 0}));
  scene.body(4).fixed = true;
  scene.model.joints[0].body_B = 4;
  scene.model.joints[0].X_BJ = scene.X_WB(4).inverse() * test::along_y({-0.1, 0, 0});
  State state = scene.state;
  set_joint_coordinate(scene.model, 0, 0.6, state);
  CHECK(test::close(joint_coordinate(scene.model, 0, state), 0.6, 1e-14, 0));
  CHECK(gap(scene, state) <= 1e-14);
  CHECK(state.X_WB[4].p == scene.state.X_WB[4].p);

  test::add_joint(scene, JointKind::ball, 2, 4, test::pose_at({0.2, 0, 0.5}));
  for (const double q : {0.6, 0.0}) {  // where it is, nothing needs to move
    State of_loop = scene.state;
    if (q == 0.0) {
      CHECK_NOTHROW(set_joint_coordinate(scene.model, 0, q, of_loop));
    } else {
      CHECK_THROWS_AS(set_joint_coordinate(scene.model, 0, q, of_loop), std::invalid_argument);
      CHECK_THROWS_AS(set_joint_rate(scene.model, 0, q, of_loop), std::invalid_argument);
    }
  }
}

TEST_CASE(
    "set_joint_coordinate: the order of joints does not matter, and the first body of a free mechanism stays",
    "[engine][joints][property]") {
  TestScene scene;  // two legs on a base, which is body B of both and listed between them
  for (int b = 0; b < 3; ++b)
    scene.add(test::box_of_mass({0.1, 0.05, 0.05}, 1.0, 1), test::pose_at({0.3 * b, 0, 0}),
              test::moving_at({0.1 * b, 0.2, 0}));
  test::add_joint(scene, JointKind::hinge, 0, 1, test::along_y({0.15, 0, 0}));
  test::add_joint(scene, JointKind::hinge, 2, 1, test::along_x({0.45, 0, 0}));
  State there = scene.state, back = scene.state;
  set_joint_coordinate(scene.model, 0, 0.3, there);
  set_joint_coordinate(scene.model, 1, -0.8, there);
  set_joint_coordinate(scene.model, 1, -0.8, back);
  set_joint_coordinate(scene.model, 0, 0.3, back);
  for (std::size_t b = 0; b < 3; ++b) {
    CHECK(test::close(there.X_WB[b].p, back.X_WB[b].p, 0, 1e-14));
    CHECK(there.X_WB[b].q.angularDistance(back.X_WB[b].q) < 1e-14);
    CHECK(test::close(there.V_WB[b], back.V_WB[b], 0, 1e-14));
  }
  CHECK(there.X_WB[0].p == scene.state.X_WB[0].p);
}

TEST_CASE("joint_coordinate_direction and joint_rate_direction: are the derivatives of what sets them",
          "[engine][joints][derivative]") {
  for (const bool from_A : {false, true}) {
    TestScene scene = chain();
    if (from_A) {  // body A of the first joint is what moves
      scene.add(test::box_of_mass({0.1, 0.1, 0.1}, 1.0), test::pose_at({-0.1, 0, 0}));
      scene.body(4).fixed = true;
      Joint& joint = scene.model.joints[0];
      joint.body_A = 0;
      joint.body_B = 4;
      joint.X_AJ = scene.X_WB(0).inverse() * test::along_y({-0.1, 0, 0});
      joint.X_BJ = scene.X_WB(4).inverse() * test::along_y({-0.1, 0, 0});
    }
    State state = scene.state;
    const std::vector<double> q{0.5, -0.4, -2.0}, u{3.0, 0.7, -5.0};
    set_joints(scene.model, q.data(), u.data(), state);
    const auto check = [&](int joint, double value, auto set, const StateTangent& direction) {
      constexpr double k_step = 1e-5;
      State up = state, down = state;
      set(scene.model, joint, value + k_step, up);
      set(scene.model, joint, value - k_step, down);
      for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
        CAPTURE(from_A, joint, b);
        const Pose<double>&X = up.X_WB[b], &Y = down.X_WB[b];
        const Vec3<double> turn = log_quaternion<double>(X.q * Y.q.conjugate()) / (2.0 * k_step),
                           way = (X.p - Y.p) / (2.0 * k_step);
        CHECK(test::close(stack<double>(turn, way), direction.pose[b], 1e-8, 1e-8));
        const Vec6<double> twist = (up.V_WB[b] - down.V_WB[b]) / (2.0 * k_step);
        CHECK(test::close(twist, direction.twist[b], 1e-8, 1e-8));
      }
    };
    for (int j = 0; j < 3; ++j) {
      check(j, joint_coordinate(scene.model, j, state), set_joint_coordinate,
            joint_coordinate_direction(scene.model, j, state));
      check(j, joint_rate(scene.model.joints[at(j)], state), set_joint_rate,
            joint_rate_direction(scene.model, j, state));
    }
    test::add_joint(scene, JointKind::ball, 2, 3, test::pose_at({0.2, 0, 0.5}));
    CHECK(can_move(scene.model, 0));
    CHECK_FALSE(can_move(scene.model, 2));
    CHECK_THROWS_AS(joint_rate_direction(scene.model, 2, state), std::invalid_argument);
  }
}

TEST_CASE("start_within_limits: takes whole turns off where that brings a hinge within its limits",
          "[engine][joints][value]") {
  test::BodyOnJoint wheel(JointKind::hinge, true, 0.0);
  const double pi = std::numbers::pi;
  const auto start = [&](double angle, double lower, double upper) {
    State state = wheel.scene.state;
    set_joint_coordinate(wheel.scene.model, 0, angle, state);
    state.hinge_angles.clear();
    wheel.joint().lower = lower;
    wheel.joint().upper = upper;
    start_within_limits(wheel.scene.model, state);
    return joint_coordinate(wheel.scene.model, 0, state);
  };
  CHECK(test::close(start(1.0, -2.0, 2.0), 1.0, 1e-14, 0));
  CHECK(test::close(start(-1.0, 2.0, 6.0), 2.0 * pi - 1.0, 1e-14, 0));
  CHECK(test::close(start(1.0, -20.0, -10.0), 1.0 - 4.0 * pi, 1e-14, 0));
  CHECK(test::close(start(1.0, 2.0, 3.0), 1.0, 1e-14, 0));  // at no turn within
}

TEST_CASE("hangs_together: all that joints tie, in whatever order they stand", "[engine][joints][value]") {
  TestScene scene = chain();
  scene.add(test::box_of_mass({0.1, 0.1, 0.1}, 1.0, 1), test::pose_at({0, 5, 0}));
  for (int turn = 0; turn < 4; ++turn) {
    std::vector<Joint>& joints = scene.model.joints;
    std::rotate(joints.begin(), joints.begin() + 1, joints.end());
    for (int joint = 0; joint < 4; ++joint) {
      CAPTURE(turn, joint);
      for (int body = 0; body < 4; ++body) CHECK(hangs_together(scene.model, joint, body));
      CHECK_FALSE(hangs_together(scene.model, joint, 4));
      CHECK(is_held(scene.model, joint));
    }
  }
  const auto on_world = [](const Joint& joint) { return joint.body_A < 0; };
  std::erase_if(scene.model.joints, on_world);
  CHECK_FALSE(is_held(scene.model, 0));
}
