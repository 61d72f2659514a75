#include "dynamics/trees/tree_dynamics.h"

namespace abut {
namespace {

/// The cotangents of spatial_inertias(): adds those of poses (wrenches about O), masses and inertias.
void spatial_inertias_vjp(const TreeParameters<double>& parameters, const TreeKinematics<double>& kinematics,
                          std::span<const SpatialInertiaBar> inertias_bar, TreeKinematicsBar& pose_bar,
                          TreeParametersTangent& parameters_bar) {
  for (std::size_t i = 0; i < inertias_bar.size(); ++i) {
    const SpatialInertiaBar& bar = inertias_bar[i];
    const LinkParameters<double>& link = parameters.links[i];
    LinkTangent& link_bar = parameters_bar.links[i];
    const Vec3<double>& p = kinematics.p_OB[i];
    const Mat3<double>& A = bar.inertia;
    link_bar.mass += bar.mass + bar.moment.dot(p) + A.trace() * p.dot(p) - p.dot(A * p);
    const Vec3<double> p_bar = link.mass * (bar.moment + 2.0 * A.trace() * p - (A + A.transpose()) * p);
    const Mat3<double> R = kinematics.X_WB[i].rotation(), I = R * link.inertia * R.transpose();
    const Mat3<double> inertia_bar = R.transpose() * A * R;
    link_bar.inertia += 0.5 * (inertia_bar + inertia_bar.transpose());
    Vec6<double>& F = pose_bar.link[i];
    F += wrench_of_force(p, p_bar);
    F.head<3>() += rotated_inertia_vjp(I, A);
  }
}

}  // namespace

TreeDynamicsBar::TreeDynamicsBar(const KinematicTrees& trees)
    : q(VecX<double>::Zero(trees.nv)),
      u(q),
      a(q),
      tau(q),
      wrenches(trees.links.size(), Vec6<double>::Zero()),
      parameters(trees) {}

void tree_mass_matrix_vjp(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                          const TreeKinematics<double>& kinematics, const MatX<double>& M_bar,
                          TreeDynamicsBar& bar) {
  std::vector<SpatialInertia<double>> composite;
  spatial_inertias(parameters, kinematics, composite);
  for (int i = trees.link_count() - 1; i >= 0; --i) {
    const int parent = trees.links[at(i)].parent;
    if (parent >= 0) composite[at(parent)] += composite[at(i)];
  }
  TreeKinematicsBar kinematics_bar;
  kinematics_bar.set_zero(trees);
  std::vector<SpatialInertiaBar> inertia_bar(trees.links.size());
  for (int i = 0; i < trees.link_count(); ++i) {
    const Link& link = trees.links[at(i)];
    SpatialInertiaBar& I_bar = inertia_bar[at(i)];
    if (link.parent >= 0) I_bar = inertia_bar[at(link.parent)];  // it is a part of all composites above
    for (int k = link.u; k < link.u + link.nv; ++k) {
      const Vec6<double> S = kinematics.axes.col(k), F = composite[at(i)] * S;
      Vec6<double> F_bar = Vec6<double>::Zero();
      for (int j = i; j >= 0; j = trees.links[at(j)].parent) {
        const Link& above = trees.links[at(j)];
        for (int l = above.u; l < above.u + above.nv && l <= k; ++l) {
          const double entry_bar = M_bar(l, k) + (l != k ? M_bar(k, l) : 0.0);
          F_bar += entry_bar * kinematics.axes.col(l);
          kinematics_bar.axes.col(l) += entry_bar * F;
        }
      }
      kinematics_bar.axes.col(k) += composite[at(i)] * F_bar;
      I_bar.add_product(F_bar, S);
    }
  }
  bar.parameters.armature += M_bar.diagonal();
  spatial_inertias_vjp(parameters, kinematics, inertia_bar, kinematics_bar, bar.parameters);
  update_kinematics_vjp(trees, trees.all(), parameters, kinematics, kinematics_bar, bar.q, bar.parameters);
}

void inverse_dynamics_vjp(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                          const TreeKinematics<double>& kinematics, const VecX<double>& u,
                          const VecX<double>& a, std::span<const Vec6<double>> wrenches,
                          const VecX<double>& tau_bar, TreeDynamicsBar& bar) {
  NewtonEulerPass<double> motion;
  (void)inverse_dynamics(trees, parameters, kinematics, u, a, wrenches, motion);
  const std::size_t n = trees.links.size();
  TreeKinematicsBar kinematics_bar;
  kinematics_bar.set_zero(trees);
  std::vector<SpatialInertiaBar> inertia_bar(n);
  std::vector<Vec6<double>> F_bar(n), V_bar(n), A_bar(n);
  bar.a += parameters.armature.cwiseProduct(tau_bar);
  bar.parameters.armature += a.cwiseProduct(tau_bar);

  // tau = S' sum F
  tree_twists(trees, trees.all(), kinematics, tau_bar, F_bar);
  for (std::size_t i = 0; i < n; ++i) {
    const Link& link = trees.links[i];
    for (int k = link.u; k < link.u + link.nv; ++k)
      kinematics_bar.axes.col(k) += tau_bar[k] * motion.force[i];

    // F = I A + V x* H - external,  H = I V
    const Vec6<double>&X = F_bar[i], &V = motion.twist[i], &A = motion.acceleration[i];
    const SpatialInertia<double>& I = motion.inertia[i];
    const Vec6<double> H = I * V, H_bar = -motion_cross<double>(V, X);
    A_bar[i] = I * X;
    V_bar[i] = I * H_bar - force_cross<double>(X, H);
    inertia_bar[i].add_product(X, A);
    inertia_bar[i].add_product(H_bar, V);
    if (!wrenches.empty()) {
      const Vec3<double>& p = kinematics.p_OB[i];
      bar.wrenches[i] -= twist_at(p, X);
      const Vec3<double> f = wrenches[i].tail<3>(), w = X.head<3>(), p_bar = w.cross(f);  // -w . (p x f)
      kinematics_bar.link[i] += wrench_of_force(p, p_bar);
    }
  }

  // A = A_P + S a + V_P x (S u),  V = V_P + S u
  for (int i = trees.link_count() - 1; i >= 0; --i) {
    const Link& link = trees.links[at(i)];
    const Vec6<double>& dA = A_bar[at(i)];
    Vec6<double> joint_bar = V_bar[at(i)];  // of S u
    if (link.kind == LinkKind::free) {
      const Vec3<double> w = u.segment<3>(link.u), v = u.segment<3>(link.u + 3), v_O_bar = dA.tail<3>();
      bar.u.segment<3>(link.u) += v_O_bar.cross(v);
      bar.u.segment<3>(link.u + 3) += w.cross(v_O_bar);
    } else if (link.parent >= 0) {
      const Vec6<double>& V_P = motion.twist[at(link.parent)];
      const Vec6<double> joint_twist = motion.twist[at(i)] - V_P;
      V_bar[at(link.parent)] += force_cross<double>(joint_twist, dA);
      joint_bar -= force_cross<double>(V_P, dA);
    }
    for (int k = link.u; k < link.u + link.nv; ++k) {
      const Vec6<double> S = kinematics.axes.col(k);
      bar.a[k] += S.dot(dA);
      bar.u[k] += S.dot(joint_bar);
      kinematics_bar.axes.col(k) += a[k] * dA + u[k] * joint_bar;
    }
    if (link.parent >= 0) {
      A_bar[at(link.parent)] += dA;
      V_bar[at(link.parent)] += V_bar[at(i)];
    } else {
      bar.parameters.gravity -= dA.tail<3>();
    }
  }
  spatial_inertias_vjp(parameters, kinematics, inertia_bar, kinematics_bar, bar.parameters);
  update_kinematics_vjp(trees, trees.all(), parameters, kinematics, kinematics_bar, bar.q, bar.parameters);
}

void forward_dynamics_vjp(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                          const TreeKinematics<double>& kinematics, const VecX<double>& u,
                          const VecX<double>& a, std::span<const Vec6<double>> wrenches,
                          TreeElimination<double>& elimination, const VecX<double>& a_bar,
                          TreeDynamicsBar& bar) {
  VecX<double> multiplier = a_bar;
  elimination.solve(trees, trees.all(), kinematics.axes, kinematics.axes, multiplier);
  bar.tau += multiplier;
  const VecX<double> a_bar_before = bar.a;
  inverse_dynamics_vjp(trees, parameters, kinematics, u, a, wrenches, -multiplier, bar);
  bar.a = a_bar_before;  // a is the result
}

}  // namespace abut
