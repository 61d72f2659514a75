/// Poses, mass matrices and bias forces of trees against MuJoCo's, where it is installed.
#ifdef ABUT_HAVE_MUJOCO

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "dynamics/trees/tree_dynamics.h"
#include "tests/support/close.h"
#include "tests/support/mechanisms.h"
#include "tests/support/mujoco_tree.h"

namespace {

using namespace abut;
using test::TreeCase;

/// Sets MuJoCo's coordinates and rates, and returns the matrix (nv, nv) that takes its rates to ours: its balls turn
/// in the axes of the child, its free bodies in their own and after they move.
MatX<double> set_coordinates(const TreeCase& c, mjData& data) {
  MatX<double> T = MatX<double>::Identity(c.trees.nv, c.trees.nv);
  for (std::size_t i = 0; i < c.trees.links.size(); ++i) {
    const Link& link = c.trees.links[i];
    for (int k = 0; k < link.nq; ++k) data.qpos[link.q + k] = c.q[link.q + k];
    if (link.kind == LinkKind::ball) {
      const Quat<double> turn = quaternion_at(c.q, link.q), q_CJ = c.parameters.links[i].X_CJ.q;
      const Quat<double> of_child = q_CJ * (link.reversed ? turn.conjugate() : turn) * q_CJ.conjugate();
      const double wxyz[] = {of_child.w(), of_child.x(), of_child.y(), of_child.z()};
      std::copy(wxyz, wxyz + 4, data.qpos + link.q);
      T.block<3, 3>(link.u, link.u) = link.reversed ? Mat3<double>(-q_CJ.conjugate().toRotationMatrix())
                                                    : (turn * q_CJ.conjugate()).toRotationMatrix();
    } else if (link.kind == LinkKind::free) {
      for (int k = 0; k < 3; ++k) data.qpos[link.q + k] = c.q[link.q + 4 + k];
      for (int k = 0; k < 4; ++k) data.qpos[link.q + 3 + k] = c.q[link.q + k];
      T.block<6, 6>(link.u, link.u).setZero();
      T.block<3, 3>(link.u, link.u + 3) = quaternion_at(c.q, link.q).toRotationMatrix();
      T.block<3, 3>(link.u + 3, link.u).setIdentity();
    }
  }
  Eigen::Map<VecX<double>>(data.qvel, c.trees.nv) = T.transpose() * c.u;  // T is orthogonal
  return T;
}

std::vector<TreeCase> mujoco_cases() {
  std::vector<TreeCase> cases;
  Random random(51);
  for (const bool hangs : {true, false}) {
    for (const int bodies : {2, 5, 9}) {
      test::RandomTreeOptions options;
      options.bodies = bodies, options.hangs = hangs, options.has_fixed_joints = false;
      cases.emplace_back("random", test::random_tree(random, options), 0.02);
    }
  }
  cases.emplace_back("arm", test::arm7());
  cases.emplace_back("chain", test::chain(30, 0.1, 0.01, 0.1, false));
  cases.emplace_back("humanoid", test::humanoid());
  cases.emplace_back("hanging humanoid", test::humanoid(true), 0.01);
  for (TreeCase& c : cases) c.scatter(random, 0.8, 2.0);
  return cases;
}

}  // namespace

TEST_CASE("trees: poses, mass matrix and bias forces of ten mechanisms are MuJoCo's", "[trees][value]") {
  for (TreeCase& c : mujoco_cases()) {
    CAPTURE(c.name);
    const test::MujocoTree mujoco(c);
    REQUIRE(mujoco.model->nv == c.trees.nv);
    REQUIRE(mujoco.model->nq == c.trees.nq);
    mjData& data = *mujoco.data;
    const MatX<double> T = set_coordinates(c, data);
    mj_forward(mujoco.model.get(), &data);

    TreeKinematics<double> kinematics;
    tree_kinematics(c.trees, c.parameters, c.q, kinematics);
    for (std::size_t i = 0; i < c.trees.links.size(); ++i) {
      const double *p = data.xpos + 3 * (i + 1), *R = data.xmat + 9 * (i + 1);
      CHECK(test::close(kinematics.X_WB[i].p, Eigen::Map<const Vec3<double>>(p), 0, 1e-9));
      CHECK(
          test::close(kinematics.X_WB[i].rotation().transpose(), Eigen::Map<const Mat3<double>>(R), 0, 1e-9));
    }

    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> M(c.trees.nv, c.trees.nv);
    mj_fullM(mujoco.model.get(), M.data(), data.qM);
    const MatX<double> ours = T.transpose() * tree_mass_matrix(c.trees, c.parameters, kinematics) * T;
    CHECK(test::close(ours, M, 0, 1e-9 * M.cwiseAbs().maxCoeff()));

    NewtonEulerPass<double> motion;
    const VecX<double> bias =
        T.transpose() * bias_forces<double>(c.trees, c.parameters, kinematics, c.u, {}, motion);
    const Eigen::Map<const VecX<double>> theirs(data.qfrc_bias, c.trees.nv);
    CHECK(test::close(bias, theirs, 0, 1e-9 * theirs.cwiseAbs().maxCoeff()));
  }
}

#endif
