/// Scenes in MuJoCo (tests/support/mujoco_peer) have the masses, shapes, joints and motion of the model.

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

#include "dynamics/step/stepper.h"
#include "tests/support/added_joint.h"
#include "tests/support/mujoco_peer/mujoco_peer.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;

constexpr double k_h = 2e-3;

/// The largest difference of two states, of poses and twists of all bodies [rad, m, rad/s, m/s].
double state_difference(const State& a, const State& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.X_WB.size(); ++i) {
    largest = std::max(largest, difference(a.X_WB[i], b.X_WB[i]).cwiseAbs().maxCoeff());
    largest = std::max(largest, (a.V_WB[i] - b.V_WB[i]).cwiseAbs().maxCoeff());
  }
  return largest;
}

/// A body with three different moments of inertia about axes that are not its own.
Body skew_body() {
  Body body = test::box_of_mass({0.1, 0.07, 0.03}, 1.3);
  const Mat3<double> R = test::pose_at({}, {0.3, -0.4, 0.2}).rotation();
  body.inertia = R * body.inertia * R.transpose();
  return body;
}

}  // namespace

TEST_CASE("mujoco peer: a thrown body falls as the closed form of its steps says", "[truth][value]") {
  test::TestScene scene;
  scene.add(skew_body(), test::pose_at({0.1, 0.2, 3.0}), test::moving_at({0.5, -0.2, 1.0}));
  Body slowed = test::sphere_of_mass(0.1, 2.0);
  slowed.linear_damping = 0.7;
  scene.add(slowed, test::pose_at({2.0, 0.0, 3.0}), test::moving_at({1.0, 0.0, 0.0}));
  scene.body(1).external_wrench[3] = 3.0;
  test::MujocoPeer peer(scene.model, k_h, scene.state);
  peer.reset(scene.state);
  constexpr int k_steps = 300;
  double v = 1.0;
  for (int k = 0; k < k_steps; ++k) {
    peer.step();
    v = (v + k_h * 3.0 / 2.0) / (1.0 + k_h * 0.7);  // damping is implicit
  }
  const State state = peer.state();
  const double n = k_steps, fallen = 9.81 * k_h * k_h * n * (n + 1.0) / 2.0;
  CHECK(std::abs(state.X_WB[0].p.z() - (3.0 + n * k_h - fallen)) < 1e-12);
  CHECK(std::abs(state.X_WB[0].p.x() - (0.1 + 0.5 * n * k_h)) < 1e-12);
  CHECK(std::abs(state.V_WB[0][5] - (1.0 - 9.81 * n * k_h)) < 1e-12);
  CHECK(std::abs(state.V_WB[1][3] - v) < 1e-12);
  CHECK_FALSE(peer.has_warned());
}

TEST_CASE("mujoco peer: masses and inertias are those of the model", "[truth][value]") {
  test::TestScene scene;
  scene.add(skew_body());
  const test::MujocoPeer peer(scene.model, k_h, scene.state);
  const mjModel* m = peer.model();
  REQUIRE(m->nbody == 2);
  const mjtNum *q = m->body_iquat + 4, *I = m->body_inertia + 3;
  const Mat3<double> R = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix(),
                     inertia = R * Vec3<double>(I[0], I[1], I[2]).asDiagonal() * R.transpose();
  CHECK(std::abs(m->body_mass[1] - 1.3) < 1e-15);
  CHECK((inertia - scene.body(0).inertia).cwiseAbs().maxCoeff() < 1e-15);
  CHECK(std::abs(scene.body(0).inertia(0, 1)) > 5e-5);
}

TEST_CASE("mujoco peer: a state that is set is the state that is read, whatever the joints",
          "[truth][value]") {
  test::TestScene scene;
  const auto at = [](double x, double z) { return test::pose_at({x, 0.1, z}, {0.2, -0.3, 0.5}); };
  for (int i = 0; i < 6; ++i) scene.add(skew_body(), at(0.5 * i, 1.0));
  const Pose<double> hinge = test::pose_at({-0.2, 0.3, 1.1}, {0.7, 0.1, 0.0});
  test::add_joint(scene, JointKind::hinge, -1, 0, hinge);
  test::add_joint(scene, JointKind::ball, 0, 1, at(0.25, 1.2));
  test::add_joint(scene, JointKind::slider, 1, 2, at(0.9, 0.8));
  test::add_joint(scene, JointKind::fixed, 2, 3, at(1.2, 0.8));
  test::add_joint(scene, JointKind::ball, -1, 4, at(2.1, 0.8)).stiffness = 100.0;
  // The chain turns about the hinge; the second body also about its ball joint, the third along its slider.
  const auto moved = [&](int b, const Vec3<double>& w, const Vec3<double>& p) {
    return stack<double>(w, Vec3<double>(w.cross(scene.X_WB(b).p - p)));
  };
  const Vec3<double> w = 1.7 * (hinge.q * Vec3<double>(0, 0, 1)), w_ball(0.3, -0.8, 0.4);
  for (const int b : {0, 1, 2, 3}) {
    scene.V_WB(b) = moved(b, w, hinge.p);
    if (b > 0) scene.V_WB(b) += moved(b, w_ball, at(0.25, 1.2).p);
    if (b > 1) scene.V_WB(b).tail<3>() += 0.6 * (at(0.9, 0.8).q * Vec3<double>(0, 0, 1));
  }
  scene.V_WB(4) << 0.1, 0.2, -0.3, 0.4, 0.5, -0.6;
  scene.V_WB(5) << -0.1, 0.7, 0.3, 0.2, 0.5, 0.6;
  test::MujocoPeer peer(scene.model, k_h, scene.state);
  peer.reset(scene.state);
  CHECK(state_difference(peer.state(), scene.state) < 1e-12);
  CHECK(peer.model()->nv == 1 + 3 + 1 + 0 + 6 + 6);
}

TEST_CASE("mujoco peer: joints accelerate, hold and stretch as closed forms say", "[truth][value]") {
  test::TestScene scene;
  const double l = 0.4, slope = 0.5, k = 300.0;
  const Body ball = test::sphere_of_mass(0.1, 2.0);
  for (const double y : {0.0, 1.0, 2.0}) scene.add(ball, test::pose_at({l, y, 0.0}));
  const auto along = [](const Vec3<double>& axis, const Vec3<double>& p) {
    return Pose<double>{Eigen::Quaterniond::FromTwoVectors(Vec3<double>(0, 0, 1), axis), p};
  };
  const Vec3<double> down(std::cos(slope), 0.0, -std::sin(slope));
  test::add_joint(scene, JointKind::hinge, -1, 0, along({0, 1, 0}, Vec3<double>::Zero()));
  test::add_joint(scene, JointKind::slider, -1, 1, along(down, {l, 1.0, 0.0}));
  Joint& spring = test::add_joint(scene, JointKind::ball, -1, 2, test::pose_at({l, 2.0, 0.0}));
  spring.stiffness = k;
  spring.dissipation_time = 0.1;
  test::MujocoPeer peer(scene.model, k_h, scene.state);
  peer.reset(scene.state);
  peer.step();
  const double I = ball.inertia(1, 1);
  CHECK(std::abs(peer.state().V_WB[0][1] - k_h * 2.0 * 9.81 * l / (I + 2.0 * l * l)) < 1e-13);
  for (int i = 1; i < 2000; ++i) peer.step();
  const State end = peer.state();
  CHECK((end.V_WB[1].tail<3>() - 2000 * k_h * 9.81 * std::sin(slope) * down).norm() < 1e-9);
  CHECK(std::abs(end.X_WB[2].p.z() + 2.0 * 9.81 / k) < 1e-9);
  CHECK(std::abs(end.X_WB[0].p.norm() - l) < 1e-12);
}

TEST_CASE("mujoco peer: a thread keeps its length, a stop and a servo hold", "[truth][value]") {
  test::TestScene scene;
  const Body ball = test::sphere_of_mass(0.05, 2.0);
  for (const double y : {0.0, 1.0, 2.0}) scene.add(ball, test::pose_at({0.4, y, 0.0}));
  Joint& thread = test::add_joint(scene, JointKind::distance, -1, 0, scene.X_WB(0));
  thread.X_AJ = {};
  thread.length = 0.4;
  const auto hinge = [&](int b) -> Joint& {
    return test::add_joint(scene, JointKind::hinge, -1, b,
                           {Eigen::Quaterniond::FromTwoVectors(Vec3<double>(0, 0, 1), Vec3<double>(0, 1, 0)),
                            {0.0, 1.0 * b, 0.0}});
  };
  hinge(1).upper = 0.6;  // below: the axis is y, and the angle that gravity increases is positive
  Joint& servo = hinge(2);
  servo.motor.kind = MotorKind::position;
  servo.motor.stiffness = 2.0 * 9.81 * 0.4 * std::cos(0.3) / 0.3;
  servo.motor.damping = 0.1 * servo.motor.stiffness;
  test::MujocoPeer peer(scene.model, k_h, scene.state);
  peer.reset(scene.state);
  for (int k = 0; k < 2000; ++k) peer.step();
  const State end = peer.state();
  CHECK(std::abs(end.X_WB[0].p.norm() - 0.4) < 4e-3);  // MuJoCo's equalities are soft
  CHECK(std::abs(std::asin(-end.X_WB[1].p.z() / 0.4) - 0.6) < 1e-2);
  CHECK(std::abs(std::asin(-end.X_WB[2].p.z() / 0.4) - 0.3) < 1e-6);
}

TEST_CASE("mujoco peer: bodies of infinite mass move as in Abut, and carry what lies on them",
          "[truth][value]") {
  test::TestScene scene;
  Body table = make_box({0.5, 0.5, 0.1}, 0.0, 4, 1000.0);  // sharp edges: MuJoCo's own box
  table.fixed = true;
  table.oscillation = {{0.05, 0.0, 0.01}, Vec3<double>::Zero(), 0.7, 0.3};
  scene.add(table);
  scene.V_WB(0) = table.oscillation.twist(0.0);
  scene.V_WB(0)[4] += 0.2;
  Body turned = test::box_of_mass({0.2, 0.1, 0.1}, 1.0);
  turned.fixed = true;
  scene.add(turned, test::pose_at({3.0, 0.0, 0.0}),
            stack<double>(Vec3<double>(0.3, 0.5, 1.0), Vec3<double>(0.1, 0, 0)));
  scene.add(make_box({0.1, 0.1, 0.1}, 0.0, 4, 1000.0), test::pose_at({0.0, 0.0, 0.2}), scene.V_WB(0));
  scene.set_friction(0.8);
  StepConfig config;
  config.h = k_h;
  const Stepper stepper(scene.model, config);
  StepScratch scratch;
  State ours = scene.state, next = ours;
  test::MujocoPeer peer(scene.model, k_h, scene.state);
  peer.reset(scene.state);
  for (int k = 0; k < 500; ++k) {
    REQUIRE(stepper.step(ours, {}, next, scratch).status == StepStatus::ok);
    std::swap(ours, next);
    peer.step();
  }
  State theirs = peer.state();
  const Vec6<double> carried = difference(theirs.X_WB[2], ours.X_WB[2]);
  CAPTURE(carried.transpose());
  CHECK(carried.cwiseAbs().maxCoeff() < 5e-3);  // MuJoCo's friction creeps
  CHECK(theirs.X_WB[2].p.y() > 0.15);
  theirs.X_WB[2] = ours.X_WB[2];
  theirs.V_WB[2] = ours.V_WB[2];
  CHECK(state_difference(theirs, ours) < 1e-12);
}

TEST_CASE("mujoco peer: the friction of a pair is the harmonic mean of two bodies", "[truth][value]") {
  test::TestScene scene = test::floor_scene(0.2);
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0.0, 0.0, 0.0999}));
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({1.0, 0.0, 0.0999}));
  scene.body(1).material.friction = 0.6;
  scene.body(2).material.friction = 0.0;
  test::MujocoPeer peer(scene.model, k_h, scene.state);
  peer.reset(scene.state);
  peer.step();
  REQUIRE(peer.data()->ncon == 2);
  const mjContact *rough = peer.data()->contact, *smooth = rough + 1;
  if (rough->dim == 1) std::swap(rough, smooth);
  CHECK(std::abs(rough->friction[0] - 2.0 * 0.2 * 0.6 / 0.8) < 1e-15);
  CHECK(rough->dim == 3);
  CHECK(smooth->dim == 1);
}

TEST_CASE("mujoco peer: bodies of a joint touch where it says so", "[truth][value]") {
  const bool collide = GENERATE(false, true);
  test::TestScene scene;
  scene.model.gravity.setZero();
  for (const double x : {0.0, 0.19}) scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({x, 0.0, 0.0}));
  test::add_joint(scene, JointKind::slider, 0, 1, {}).collide = collide;
  test::MujocoPeer peer(scene.model, k_h, scene.state);
  peer.reset(scene.state);
  peer.step();
  CHECK(peer.data()->ncon == (collide ? 1 : 0));
}

TEST_CASE("mujoco peer: shapes have the kinds and extents of the model", "[truth][value]") {
  test::TestScene scene = test::floor_scene();
  const Vec3<double> half(0.1, 0.07, 0.03);
  scene.add(test::box_of_mass(half, 1.0), test::pose_at({0.0, 0.0, 1.0}));  // edges are rounded: a mesh
  Body sharp = scene.body(1);
  sharp.shape.primitives[0].parameters[3] = 0.0;
  scene.add(sharp, test::pose_at({0.0, 0.0, 2.0}));
  scene.add(test::sphere_of_mass(0.2, 1.0), test::pose_at({0.0, 0.0, 3.0}));
  scene.add(make_capsule(0.1, 0.3, 1000.0), test::pose_at({0.0, 0.0, 4.0}));
  Body round = test::superquadric_of_mass({0.3, 0.2, 0.1}, 1.0, 1.0, 1.0);
  scene.add(round, test::pose_at({0.0, 0.0, 5.0}));
  Body cylinder = test::superquadric_of_mass({0.2, 0.2, 0.1}, 0.05, 1.0, 1.0);
  scene.add(cylinder, test::pose_at({0.0, 0.0, 6.0}));
  const test::MujocoPeer peer(scene.model, k_h, scene.state);
  const mjModel* m = peer.model();
  const std::array<int, 7> kinds{mjGEOM_PLANE,   mjGEOM_MESH,      mjGEOM_BOX,     mjGEOM_SPHERE,
                                 mjGEOM_CAPSULE, mjGEOM_ELLIPSOID, mjGEOM_CYLINDER};
  REQUIRE(m->ngeom == 7);
  for (int g = 0; g < 7; ++g) CHECK(m->geom_type[g] == kinds[static_cast<std::size_t>(g)]);
  const auto size = [&](int g) {
    return Vec3<double>(m->geom_size[3 * g], m->geom_size[3 * g + 1], m->geom_size[3 * g + 2]);
  };
  CHECK(size(2) == half);
  CHECK(size(3)[0] == 0.2);
  CHECK(size(4).head<2>() == Vec2<double>(0.1, 0.3));
  CHECK(size(5) == Vec3<double>(0.3, 0.2, 0.1));
  CHECK(size(6).head<2>() == Vec2<double>(0.2, 0.1));
  const mjtNum *q = m->geom_quat + 4, *p = m->geom_pos + 3;  // the mesh has its own axes in MuJoCo
  const Pose<double> X_BG{Eigen::Quaterniond(q[0], q[1], q[2], q[3]), {p[0], p[1], p[2]}};
  Vec3<double> low = Vec3<double>::Zero(), high = low;
  for (int i = 0; i < m->mesh_vertnum[0]; ++i) {
    const float* x = m->mesh_vert + 3 * (m->mesh_vertadr[0] + i);
    const Vec3<double> x_B = X_BG * Vec3<double>(x[0], x[1], x[2]);
    low = low.cwiseMin(x_B);
    high = high.cwiseMax(x_B);
  }
  CHECK((high - half).cwiseAbs().maxCoeff() < 1e-6);
  CHECK((low + half).cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("mujoco peer: what MuJoCo has not is refused", "[truth][value]") {
  const auto refused = [](const test::TestScene& scene) {
    CHECK_THROWS_AS(test::MujocoPeer(scene.model, k_h, scene.state), std::invalid_argument);
  };
  const auto one = [](const Body& body) {
    test::TestScene scene = test::floor_scene();
    scene.add(body, test::pose_at({0.0, 0.0, 1.0}));
    return scene;
  };
  const Body ball = test::sphere_of_mass(0.1, 1.0);
  CHECK_NOTHROW(test::MujocoPeer(one(ball).model, k_h, one(ball).state));
  refused(one(test::cross_of_mass({0.1, 0.1, 0.1}, 1.0, 1.0, 1.0)));  // not convex
  Body hollow = ball;
  hollow.shape.primitives[0].operation = PrimitiveOperation::subtract;
  refused(one(hollow));
  Body bouncing = ball;
  bouncing.material.restitution = 0.5;
  refused(one(bouncing));
  Body soft = ball;
  soft.material.stiffness = 1e4;
  refused(one(soft));
  test::TestScene driven = one(ball);
  Joint& motor = test::add_joint(driven, JointKind::hinge, -1, 1, {});
  motor.motor.kind = MotorKind::velocity;
  refused(driven);
  test::TestScene ring = one(ball);
  ring.add(ball, test::pose_at({1.0, 0.0, 1.0}));
  test::add_joint(ring, JointKind::ball, 1, 2, {});
  test::add_joint(ring, JointKind::ball, -1, 2, {});
  refused(ring);
}
