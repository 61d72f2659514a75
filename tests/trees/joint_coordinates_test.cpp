#include "dynamics/trees/joint_coordinates.h"

#include <catch2/catch.hpp>

#include <numbers>

#include "dynamics/trees/pose_coordinates.h"
#include "engine/joint_geometry.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/mechanisms.h"

namespace {

using namespace abut;
using test::TreeCase;

VecX<double> moved(const TreeCase& c, const VecX<double>& d) {
  VecX<double> q;
  integrate_coordinates(c.trees, c.q, d, 1.0, q);
  return q;
}

}  // namespace

TEST_CASE("integrate_coordinates: coordinate_difference undoes it", "[trees][value]") {
  Random random(3);
  for (const TreeCase& c : test::tree_cases(3)) {
    CAPTURE(c.name);
    const VecX<double> d = c.random_rates(random, 1.0);
    CHECK(test::close(coordinate_difference(c.trees, moved(c, d), c.q), d, 1e-13, 1e-14));
  }
}

TEST_CASE("integrate_coordinates: a hinge counts its turns", "[trees][value]") {
  TreeCase c("", test::chain(1, 0.1, 0.01, 0.1));
  const VecX<double> u = VecX<double>::Constant(1, 2.0 * std::numbers::pi);
  for (int k = 0; k < 3; ++k) {
    const VecX<double> q = c.q;
    integrate_coordinates(c.trees, q, u, 1.0, c.q);
  }
  CHECK(test::close(c.q[0], 6.0 * std::numbers::pi, 1e-15, 0));
}

TEST_CASE("integrate_coordinates: a ball turns on the left, in the frame on body A", "[trees][value]") {
  Random random(5);
  test::Mechanism m = test::chain(1, 0.1, 0.01, 0.1);
  m.model.joints[0].kind = JointKind::ball;
  TreeCase c("", std::move(m));
  c.scatter(random, 2.0, 1.0);
  const Mat3<double> R = quaternion_at(c.q, 0).toRotationMatrix();
  const Vec3<double> d(0.3, -0.7, 0.2);
  const VecX<double> q = moved(c, d);
  CHECK(test::close(quaternion_at(q, 0).toRotationMatrix(), exp_so3(d) * R, 0, 1e-15));
}

TEST_CASE("integrate_coordinates: JVP and VJP agree with differences and each other", "[trees][derivative]") {
  Random random(7);
  for (const TreeCase& c : test::tree_cases(7)) {
    CAPTURE(c.name);
    const double h = 0.3;
    const VecX<double> q_dot = c.random_rates(random, 1.0), u_dot = c.random_rates(random, 1.0),
                       bar = c.random_rates(random, 1.0);
    VecX<double> q_next, q_next_dot;
    integrate_coordinates(c.trees, c.q, c.u, h, q_next);
    integrate_coordinates_jvp(c.trees, c.u, h, q_dot, u_dot, q_next_dot);
    VecX<double> q_bar = VecX<double>::Zero(c.trees.nv), u_bar = q_bar;
    integrate_coordinates_vjp(c.trees, c.trees.all(), c.u, h, bar, q_bar, u_bar);
    CHECK(test::close(bar.dot(q_next_dot), q_bar.dot(q_dot) + u_bar.dot(u_dot), 1e-12, 1e-13));
    const auto loss = [&](double t) {
      const VecX<double> q = moved(c, t * q_dot), u = c.u + t * u_dot;
      VecX<double> end;
      integrate_coordinates(c.trees, q, u, h, end);
      return bar.dot(coordinate_difference(c.trees, end, q_next));
    };
    CHECK(test::close(test::fd_sweep(loss, 0.0, 0.1).value, bar.dot(q_next_dot), 1e-8, 1e-9));
  }
}

TEST_CASE("joint_gaps: what a joint does not allow", "[trees][value]") {
  test::Mechanism m = test::arm7();
  const KinematicTrees trees = kinematic_trees(m.model);
  VecX<double> q;
  coordinates_of_poses(m.model, trees, m.X_WB, q);
  std::vector<JointGap> gaps = joint_gaps(m.model, trees, m.X_WB);
  CHECK(test::close(q, neutral_coordinates(trees), 0, 1e-15));
  for (const JointGap& gap : gaps) CHECK(gap.position + gap.rotation < 1e-14);

  const int body = m.model.body("link4"), link = trees.link_of_body[at(body)];
  m.X_WB[at(body)].p.y() += 0.01;
  gaps = joint_gaps(m.model, trees, m.X_WB);
  CHECK(test::close(gaps[at(link)].position, 0.01, 1e-12, 0));
  CHECK(test::close(gaps[at(link + 1)].position, 0.01, 1e-12, 0));
  CHECK(gaps[at(link - 1)].position < 1e-14);
}

TEST_CASE("coordinates_of_poses: derivatives agree with differences, whether joints have gaps or not",
          "[trees][derivative]") {
  const bool has_gaps = GENERATE(false, true);
  for (const std::uint64_t seed : {1, 2}) {
    for (const test::TreeCase& c : test::tree_cases(seed)) {
      CAPTURE(seed, c.name, has_gaps);
      Random random(seed + 10);
      const Model& model = c.mechanism.model;
      TreeKinematics<double> kinematics;
      tree_kinematics(c.trees, c.parameters, c.q, kinematics);
      std::vector<Pose<double>> X_WB = c.mechanism.X_WB;
      for (std::size_t i = 0; i < c.trees.links.size(); ++i)
        X_WB[at(c.trees.links[i].body)] = kinematics.X_WB[i];
      std::vector<Vec6<double>> pose_dot;
      for (Pose<double>& X : X_WB) {
        if (has_gaps) X = retract<double>(X, 0.02 * test::random_vector<6>(random));
        pose_dot.push_back(test::random_vector<6>(random));
      }
      const VecX<double> bar = c.random_rates(random, 1.0);
      VecX<double> q, q_dot;
      coordinates_of_poses(model, c.trees, X_WB, q);
      coordinates_of_poses_jvp(model, c.trees, X_WB, pose_dot, q_dot);
      const auto loss = [&](double t) {
        std::vector<Pose<double>> moved = X_WB;
        for (std::size_t b = 0; b < moved.size(); ++b) moved[b] = retract<double>(X_WB[b], t * pose_dot[b]);
        VecX<double> there;
        coordinates_of_poses(model, c.trees, moved, there);
        return bar.dot(coordinate_difference(c.trees, there, q));
      };
      CHECK(test::close(test::fd_sweep(loss, 0.0, 0.1).value, bar.dot(q_dot), 1e-8, 1e-9));
      std::vector<Vec6<double>> pose_bar(X_WB.size(), Vec6<double>::Zero());
      std::vector<JointTangent> joint_bar(model.joints.size());
      coordinates_of_poses_vjp(model, c.trees, X_WB, bar, pose_bar, joint_bar);
      double by_vjp = 0.0;
      for (std::size_t b = 0; b < pose_bar.size(); ++b) by_vjp += pose_bar[b].dot(pose_dot[b]);
      CHECK(test::close(by_vjp, bar.dot(q_dot), 1e-11, 1e-12));
    }
  }
}
