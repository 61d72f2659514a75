#include "dynamics/trees/joint_rates.h"

namespace abut {

void subtract_base_twists_vjp(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                              const TreeKinematics<double>& kinematics,
                              std::span<const Vec6<double>> V_WB_bar, TreeKinematicsBar& bar,
                              TreeParametersTangent& parameters_bar) {
  if (parameters.bases.empty()) return;
  for (std::size_t i = 0; i < trees.links.size(); ++i) {
    const int tree = trees.links[i].tree;
    const Vec3<double>&p = kinematics.p_OB[i], &p_WO = kinematics.origin[at(tree)];
    const Vec6<double> base_bar = -wrench_about_origin(p, V_WB_bar[i]);
    const Vec3<double> w = base_twist(parameters, tree, p_WO).head<3>(),
                       p_bar = w.cross(V_WB_bar[i].tail<3>());
    bar.link[i] += wrench_of_force(p, p_bar);
    base_twist_vjp(parameters, tree, p_WO, base_bar, parameters_bar);
  }
}

void joint_rates_vjp(const KinematicTrees& trees, const TreeKinematics<double>& kinematics,
                     std::span<const Vec6<double>> V_WB, const VecX<double>& u_bar,
                     std::span<Vec6<double>> V_WB_bar, TreeKinematicsBar& bar) {
  for (std::size_t i = 0; i < trees.links.size(); ++i) {
    const Link& link = trees.links[i];
    if (link.kind == LinkKind::free) {
      V_WB_bar[i] += u_bar.segment<6>(link.u);
      continue;
    }
    Vec6<double> V = V_WB[i], V_bar = Vec6<double>::Zero();
    Vec3<double> r = Vec3<double>::Zero();
    if (link.parent >= 0) {
      r = kinematics.p_OB[i] - kinematics.p_OB[at(link.parent)];
      V -= twist_at(r, V_WB[at(link.parent)]);
    }
    const bool slides = link.kind == LinkKind::slider;
    for (int k = 0; k < link.nv; ++k) {
      const double rate_bar = u_bar[link.u + k];
      const Vec3<double> axis = slides ? kinematics.axes.col(link.u).tail<3>().eval()
                                       : kinematics.axes.col(link.u + k).head<3>().eval();
      if (slides) {
        V_bar.tail<3>() += rate_bar * axis;
        bar.axes.col(link.u).tail<3>() += rate_bar * V.tail<3>();
      } else {
        V_bar.head<3>() += rate_bar * axis;
        bar.axes.col(link.u + k).head<3>() += rate_bar * V.head<3>();
      }
    }
    V_WB_bar[i] += V_bar;
    if (link.parent < 0) continue;
    // V = V_i - [w_P; v_P + w_P x r]
    const auto parent = at(link.parent);
    V_WB_bar[parent] -= wrench_about_origin(r, V_bar);
    const Vec3<double> w_P = V_WB[parent].head<3>(), v_bar = V_bar.tail<3>(), r_bar = -v_bar.cross(w_P);
    bar.link[i] += wrench_of_force(kinematics.p_OB[i], r_bar);
    bar.link[parent] -= wrench_of_force(kinematics.p_OB[parent], r_bar);
  }
}

}  // namespace abut
