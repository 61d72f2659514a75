#include "dynamics/trees/joint_coordinates.h"

#include <catch2/catch.hpp>

#include <numbers>

#include "dynamics/rows/joint_geometry.h"
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

TEST_CASE("coordinates_of_poses: reports the gap that a joint does not allow", "[trees][value]") {
  test::Mechanism m = test::arm7();
  const KinematicTrees trees = kinematic_trees(m.model);
  VecX<double> q;
  std::vector<JointGap> gaps = coordinates_of_poses(m.model, trees, m.X_WB, q);
  CHECK(test::close(q, neutral_coordinates(trees), 0, 1e-15));
  for (const JointGap& gap : gaps) CHECK(gap.position + gap.rotation < 1e-14);

  const int body = m.model.body("link4"), link = trees.link_of_body[at(body)];
  m.X_WB[at(body)].p.y() += 0.01;
  gaps = coordinates_of_poses(m.model, trees, m.X_WB, q);
  CHECK(test::close(gaps[at(link)].position, 0.01, 1e-12, 0));
  CHECK(test::close(gaps[at(link + 1)].position, 0.01, 1e-12, 0));
  CHECK(gaps[at(link - 1)].position < 1e-14);
}
