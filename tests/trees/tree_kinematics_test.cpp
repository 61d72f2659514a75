#include "dynamics/trees/tree_kinematics.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "dynamics/trees/pose_coordinates.h"
#include "tests/support/close.h"
#include "tests/trees/tree_directions.h"

namespace {

using namespace abut;
using test::TreeCase;
using test::TreeInputs;

std::vector<Pose<double>> poses_by_body(const TreeCase& c, const TreeKinematics<double>& kinematics) {
  std::vector<Pose<double>> X_WB = c.mechanism.X_WB;
  for (std::size_t i = 0; i < c.trees.links.size(); ++i) X_WB[at(c.trees.links[i].body)] = kinematics.X_WB[i];
  return X_WB;
}

/// Weights of a loss, by link: of poses and of twists.
struct LinkWeights {
  std::vector<Vec6<double>> pose, twist;
  std::vector<Vec3<double>> direction;

  LinkWeights(Random& random, int links) {
    for (int i = 0; i < links; ++i) {
      pose.push_back(test::random_vector<6>(random));
      twist.push_back(test::random_vector<6>(random));
      direction.push_back(random.unit_vector());
    }
  }
};

}  // namespace

TEST_CASE("tree_kinematics: no joint has a gap, and coordinates follow from the poses", "[trees][value]") {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    for (const TreeCase& c : test::tree_cases(seed)) {
      CAPTURE(seed, c.name);
      TreeKinematics<double> kinematics;
      tree_kinematics(c.trees, c.parameters, c.q, kinematics);
      VecX<double> q;
      const std::vector<Pose<double>> X_WB = poses_by_body(c, kinematics);
      coordinates_of_poses(c.mechanism.model, c.trees, X_WB, q);
      const std::vector<JointGap> gaps = joint_gaps(c.mechanism.model, c.trees, X_WB);
      double position = 0.0, rotation = 0.0;
      for (const JointGap& gap : gaps) {
        position = std::max(position, gap.position);
        rotation = std::max(rotation, gap.rotation);
      }
      CHECK(position < 1e-13);
      CHECK(rotation < 1e-14);
      CHECK(test::close(coordinate_difference(c.trees, q, c.q), VecX<double>::Zero(c.trees.nv), 0, 1e-12));
    }
  }
}

TEST_CASE("tree_kinematics: links hang from bodies of infinite mass where those stand", "[trees][value]") {
  test::Mechanism m;
  const int base = m.add_body("base", {1, 2, 3}, 1.0, Mat3<double>::Identity(), true);
  const int link = m.add_capsule("link", {1, 2, 3}, {1, 2, 4}, 0.1, 1.0);
  m.add_joint(JointKind::hinge, base, link, {1, 2, 3}, Vec3<double>::UnitX());
  m.X_WB[at(base)].p.z() += 0.5;  // lifted, and turned about z by half a turn
  m.X_WB[at(base)].q = Quat<double>(0, 0, 0, 1);
  TreeCase c("", std::move(m));
  c.q[0] = 0.3;
  TreeKinematics<double> kinematics;
  tree_kinematics(c.trees, c.parameters, c.q, kinematics);
  CHECK(test::close(kinematics.X_WB[0].p, Vec3<double>(1, 2 + 0.5 * std::sin(0.3), 3.5 + 0.5 * std::cos(0.3)),
                    0, 1e-14));
  CHECK(test::close(kinematics.axes.col(0).head<3>(), Vec3<double>(-1, 0, 0), 0, 1e-15));
}

TEST_CASE("link_twists: are the rates of poses, and its transpose gives generalized forces",
          "[trees][derivative]") {
  Random random(11);
  for (const TreeCase& c : test::tree_cases(11)) {
    CAPTURE(c.name);
    TreeKinematics<double> kinematics;
    tree_kinematics(c.trees, c.parameters, c.q, kinematics);
    std::vector<Vec6<double>> V_WB, F;
    link_twists(c.trees, kinematics, c.u, V_WB);
    double power = 0.0;
    for (std::size_t i = 0; i < V_WB.size(); ++i) {
      F.push_back(test::random_vector<6>(random));
      power += F[i].dot(V_WB[i]);
      const auto moved_by = [&](double t) {
        VecX<double> q;
        integrate_coordinates(c.trees, c.q, c.u, t, q);
        TreeKinematics<double> moved;
        tree_kinematics(c.trees, c.parameters, q, moved);
        return F[i].dot(difference(moved.X_WB[i], kinematics.X_WB[i]));
      };
      CHECK(test::close(test::fd_sweep(moved_by, 0.0, 0.02).value, F[i].dot(V_WB[i]), 1e-8, 1e-9));
    }
    const VecX<double> tau = generalized_forces<double>(c.trees, kinematics, F);
    CHECK(test::close(tau.dot(c.u), power, 1e-12, 1e-12));

    const int last = c.trees.link_count() - 1;
    const Vec3<double> p_BF = test::random_vector(random);
    const Vec6<double> V_WF = frame_jacobian(c.trees, kinematics, last, p_BF) * c.u;
    const Vec3<double> r_W = kinematics.X_WB[at(last)].q * p_BF;
    CHECK(test::close(V_WF.tail<3>(), point_velocity(V_WB[at(last)], r_W), 1e-12, 1e-12));
    CHECK(test::close(V_WF.head<3>(), V_WB[at(last)].head<3>(), 1e-12, 1e-12));
  }
}

TEST_CASE(
    "update_kinematics: reverse pass of poses, twists, forces and Jacobians agrees with Jet and differences",
    "[trees][derivative]") {
  Random random(13);
  for (const std::uint64_t seed : {13, 14}) {
    for (const TreeCase& c : test::tree_cases(seed)) {
      const TreeInputs<double> inputs = test::random_inputs(random, c);
      const LinkWeights weights(random, c.trees.link_count());
      const VecX<double> tau_bar = c.random_rates(random, 1.0);
      const int last = c.trees.link_count() - 1;
      const Vec3<double> p_BF = test::random_vector(random);
      Eigen::Matrix<double, 6, Eigen::Dynamic> J_bar(6, c.trees.nv);
      for (int k = 0; k < c.trees.nv; ++k) J_bar.col(k) = test::random_vector<6>(random);

      // Of poses a point and a direction; of forces all wrenches of the inputs.
      const auto loss = [&](const auto& x) {
        using S = typename std::decay_t<decltype(x.q)>::Scalar;
        TreeKinematics<S> kinematics;
        tree_kinematics(c.trees, x.parameters, x.q, kinematics);
        std::vector<Vec6<S>> V_WB;
        link_twists(c.trees, kinematics, x.u, V_WB);
        S sum = S(0);
        for (std::size_t i = 0; i < V_WB.size(); ++i) {
          const Vec3<S> arrow = kinematics.X_WB[i].q * weights.direction[i].template cast<S>();
          sum += kinematics.X_WB[i].p.dot(weights.pose[i].template tail<3>().template cast<S>()) +
                 arrow.dot(weights.pose[i].template head<3>().template cast<S>()) +
                 V_WB[i].dot(weights.twist[i].template cast<S>());
        }
        sum += generalized_forces<S>(c.trees, kinematics, x.wrenches).dot(tau_bar.template cast<S>());
        const Vec3<S> p = p_BF.template cast<S>();
        return S(sum +
                 frame_jacobian(c.trees, kinematics, last, p).cwiseProduct(J_bar.template cast<S>()).sum());
      };

      TreeKinematics<double> kinematics;
      tree_kinematics(c.trees, inputs.parameters, inputs.q, kinematics);
      TreeKinematicsBar bar;
      bar.set_zero(c.trees);
      for (int i = 0; i < c.trees.link_count(); ++i) {
        const Vec3<double> arrow = kinematics.X_WB[at(i)].q * weights.direction[at(i)];
        bar.link[at(i)] = wrench_of_force<double>(kinematics.p_OB[at(i)], weights.pose[at(i)].tail<3>());
        bar.link[at(i)].head<3>() += arrow.cross(weights.pose[at(i)].head<3>());
      }
      TreeParametersTangent parameters_bar(c.trees);
      VecX<double> q_bar = VecX<double>::Zero(c.trees.nv), u_bar = q_bar;
      std::vector<Vec6<double>> wrenches_bar(c.trees.links.size(), Vec6<double>::Zero());
      Vec3<double> p_BF_bar = Vec3<double>::Zero();
      link_twists_vjp(c.trees, kinematics, inputs.u, weights.twist, bar, u_bar);
      generalized_forces_vjp(c.trees, kinematics, inputs.wrenches, tau_bar, bar, wrenches_bar);
      frame_jacobian_vjp(c.trees, kinematics, last, p_BF, J_bar, bar, p_BF_bar);
      update_kinematics_vjp(c.trees, c.trees.all(), inputs.parameters, kinematics, bar, q_bar,
                            parameters_bar);

      const auto frame_loss = [&](const Vec3<double>& p) {
        return frame_jacobian(c.trees, kinematics, last, p).cwiseProduct(J_bar).sum();
      };
      CHECK(test::close(test::fd_gradient(frame_loss, p_BF, 1e-3), p_BF_bar, 1e-8, 1e-9));
      for (int direction = 0; direction < 3; ++direction) {
        const test::TreeInputsTangent dot = test::random_direction(random, c);
        double slope = q_bar.dot(dot.q) + u_bar.dot(dot.u) + inner_product(parameters_bar, dot.parameters);
        for (std::size_t i = 0; i < wrenches_bar.size(); ++i) slope += wrenches_bar[i].dot(dot.wrenches[i]);
        const test::Slopes others = test::slopes(c, inputs, dot, loss);
        CAPTURE(seed, c.name, direction, others.differences.error);
        CHECK(slope != 0.0);
        CHECK(test::close(slope, others.jet, 1e-11, 1e-11));
        CHECK(test::close(slope, others.dual, 1e-11, 1e-11));
        CHECK(test::close(slope, others.differences.value, 1e-7, 1e-7));
      }
    }
  }
}
