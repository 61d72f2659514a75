#include "dynamics/trees/tree_kinematics.h"

namespace abut {
namespace {

/// Cotangent of a tangent [dtheta; dp], in a frame of orientation R at r = p - p_WO, of which the twist about O
/// is [R dtheta; R dp + r x R dtheta]: from that of the twist.
Vec6<double> local_tangent_vjp(const Quat<double>& q, const Vec3<double>& r, const Vec6<double>& F) {
  const Vec3<double> torque = F.head<3>(), force = F.tail<3>();
  return stack<double>(q.conjugate() * Vec3<double>(torque - r.cross(force)), q.conjugate() * force);
}

/// dL/d(twist about O of a frame) from dL/d(axes) of the axes k that the frame carries along.
Vec6<double> carried_axes_vjp(const TreeKinematics<double>& kinematics, const TreeKinematicsBar& bar,
                              const Link& link) {
  Vec6<double> F = Vec6<double>::Zero();
  for (int k = link.u; k < link.u + link.nv; ++k) {
    F += force_cross<double>(kinematics.axes.col(k), bar.axes.col(k));
  }
  return F;
}

/// The cotangents of root_frame(), from that of its twist about O.
void root_frame_vjp(const TreeParameters<double>& parameters, int link, int tree,
                    const TreeKinematics<double>& kinematics, const Vec6<double>& F,
                    TreeParametersTangent& parameters_bar) {
  const double t = kinematics.time;
  const Pose<double> X_WJ = root_frame(parameters, link, tree, t);
  const Vec6<double> tangent_bar =
      local_tangent_vjp(Quat<double>(1, 0, 0, 0), X_WJ.p - kinematics.origin[at(tree)], F);
  if (parameters.bases.empty()) {
    parameters_bar.links[at(link)].X_PJ += tangent_bar;
    return;
  }
  const BaseMotion<double>& base = parameters.bases[at(tree)];
  BaseMotion<double>& base_bar = parameters_bar.bases[at(tree)];
  const Vec3<double> turn = t * base.V_WB.head<3>(), theta_bar = tangent_bar.head<3>(),
                     p_bar = tangent_bar.tail<3>(), turned = X_WJ.p - base.p_WB - t * base.V_WB.tail<3>();
  const Mat3<double> back = exp_so3(turn).transpose();
  parameters_bar.links[at(link)].X_PJ += stack<double>(back * theta_bar, back * p_bar);
  base_bar.p_WB += p_bar - back * p_bar;
  base_bar.V_WB.head<3>() += t * (left_jacobian_so3(turn).transpose() * (theta_bar + turned.cross(p_bar)));
  base_bar.V_WB.tail<3>() += t * p_bar;
}

}  // namespace

void update_kinematics_vjp(const KinematicTrees& trees, const Tree& part,
                           const TreeParameters<double>& parameters, const TreeKinematics<double>& kinematics,
                           TreeKinematicsBar& bar, VecX<double>& q_bar,
                           TreeParametersTangent& parameters_bar) {
  for (int i = part.end_link - 1; i >= part.first_link; --i) {
    const Link& link = trees.links[at(i)];
    Vec6<double>& F = bar.link[at(i)];
    if (link.kind == LinkKind::free) {  // d(axes) = [0; dp x e] of its own dp
      for (int k = 0; k < 3; ++k) {
        const Vec3<double> e = Vec3<double>::Unit(k), lower = bar.axes.block<3, 1>(3, link.u + k);
        q_bar.segment<3>(link.u + 3) += e.cross(lower);
      }
    }
    for (int k = link.u; k < link.u + link.nv; ++k) q_bar[k] += kinematics.axes.col(k).dot(F);
    if (link.kind == LinkKind::free) continue;

    // xi = xi_P + zeta_P + axes dq - zeta_C; the axes are carried along by JP, or by JC if they are that one's.
    const Vec6<double> axes_F = carried_axes_vjp(kinematics, bar, link);
    if (link.kind == LinkKind::ball && link.reversed) {
      q_bar.segment<3>(link.u) += kinematics.axes.middleCols<3>(link.u).transpose() * axes_F;
    }
    const LinkParameters<double>& numbers = parameters.links[at(i)];
    LinkTangent& numbers_bar = parameters_bar.links[at(i)];
    const Pose<double>& X_WB = kinematics.X_WB[at(i)];
    const Vec3<double>& p_WO = kinematics.origin[at(link.tree)];
    numbers_bar.X_CJ -= local_tangent_vjp(X_WB.q, X_WB * numbers.X_CJ.p - p_WO, F);
    const Vec6<double> F_parent = F + axes_F;
    if (link.parent < 0) {
      root_frame_vjp(parameters, i, link.tree, kinematics, F_parent, parameters_bar);
      continue;
    }
    const Pose<double>& X_WP = kinematics.X_WB[at(link.parent)];
    numbers_bar.X_PJ += local_tangent_vjp(X_WP.q, X_WP * numbers.X_PJ.p - p_WO, F_parent);
    bar.link[at(link.parent)] += F_parent;
  }
}

void base_twist_vjp(const TreeParameters<double>& parameters, int tree, const Vec3<double>& p_WO,
                    const Vec6<double>& V_bar, TreeParametersTangent& parameters_bar) {
  if (parameters.bases.empty()) return;
  const BaseMotion<double>& base = parameters.bases[at(tree)];
  BaseMotion<double>& base_bar = parameters_bar.bases[at(tree)];
  base_bar.V_WB += wrench_about_origin<double>(p_WO - base.p_WB, V_bar);
  const Vec3<double> w = base.V_WB.head<3>(), v_bar = V_bar.tail<3>();
  base_bar.p_WB -= v_bar.cross(w);  // v + w x (O - p)
}

void link_twists_vjp(const KinematicTrees& trees, const TreeKinematics<double>& kinematics,
                     const VecX<double>& u, std::span<const Vec6<double>> V_WB_bar, TreeKinematicsBar& bar,
                     VecX<double>& u_bar) {
  std::vector<Vec6<double>> V(trees.links.size()), F(trees.links.size());
  tree_twists(trees, trees.all(), kinematics, u, V);
  for (std::size_t i = 0; i < F.size(); ++i) {  // v = v_O + w x p
    const Vec3<double>& p = kinematics.p_OB[i];
    F[i] = wrench_about_origin(p, V_WB_bar[i]);
    const Vec3<double> w = V[i].head<3>(), v_bar = V_WB_bar[i].tail<3>(), p_bar = v_bar.cross(w);
    bar.link[i] += wrench_of_force(p, p_bar);
  }
  VecX<double> by_u(trees.nv);
  tree_forces(trees, trees.all(), kinematics, F, by_u);
  u_bar += by_u;
  for (std::size_t i = 0; i < F.size(); ++i) {
    const Link& link = trees.links[i];
    for (int k = link.u; k < link.u + link.nv; ++k) bar.axes.col(k) += u[k] * F[i];
  }
}

void generalized_forces_vjp(const KinematicTrees& trees, const TreeKinematics<double>& kinematics,
                            std::span<const Vec6<double>> wrenches, const VecX<double>& tau_bar,
                            TreeKinematicsBar& bar, std::span<Vec6<double>> wrenches_bar) {
  std::vector<Vec6<double>> F(wrenches.size()), V(wrenches.size());
  for (std::size_t i = 0; i < F.size(); ++i) F[i] = wrench_about_origin(kinematics.p_OB[i], wrenches[i]);
  VecX<double> tau(trees.nv);
  tree_forces(trees, trees.all(), kinematics, F, tau);
  tree_twists(trees, trees.all(), kinematics, tau_bar, V);
  for (std::size_t i = 0; i < F.size(); ++i) {
    const Link& link = trees.links[i];
    for (int k = link.u; k < link.u + link.nv; ++k) bar.axes.col(k) += tau_bar[k] * F[i];
    const Vec3<double>& p = kinematics.p_OB[i];
    wrenches_bar[i] += twist_at(p, V[i]);
    const Vec3<double> f = wrenches[i].tail<3>(), w = V[i].head<3>(), p_bar = f.cross(w);  // w . (p x f)
    bar.link[i] += wrench_of_force(p, p_bar);
  }
}

void frame_jacobian_vjp(const KinematicTrees& trees, const TreeKinematics<double>& kinematics, int link,
                        const Vec3<double>& p_BF, const Eigen::Matrix<double, 6, Eigen::Dynamic>& J_bar,
                        TreeKinematicsBar& bar, Vec3<double>& p_BF_bar) {
  const Pose<double>& X_WB = kinematics.X_WB[at(link)];
  const Vec3<double> p_OF = kinematics.p_OB[at(link)] + X_WB.q * p_BF;
  Vec3<double> p_bar = Vec3<double>::Zero();
  for (int i = link; i >= 0; i = trees.links[at(i)].parent) {
    const Link& above = trees.links[at(i)];
    for (int k = above.u; k < above.u + above.nv; ++k) {
      const Vec6<double> column_bar = J_bar.col(k);
      bar.axes.col(k) += wrench_about_origin(p_OF, column_bar);
      const Vec3<double> w = kinematics.axes.col(k).head<3>(), v_bar = column_bar.tail<3>();
      p_bar += v_bar.cross(w);
    }
  }
  bar.link[at(link)] += wrench_of_force(p_OF, p_bar);
  p_BF_bar += X_WB.q.conjugate() * p_bar;
}

}  // namespace abut
