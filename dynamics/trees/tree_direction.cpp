#include "dynamics/trees/tree_direction.h"

namespace abut {

VecX<Dual1> coordinates_along(const KinematicTrees& trees, const VecX<double>& q, const VecX<double>& q_dot) {
  VecX<Dual1> moved;
  integrate_coordinates(trees, VecX<Dual1>(q.cast<Dual1>()),
                        along<Eigen::Dynamic>(VecX<double>::Zero(trees.nv), q_dot), 1.0, moved);
  return moved;
}

TreeParameters<Dual1> along(const TreeParameters<double>& parameters,
                            const TreeParametersTangent& direction) {
  TreeParameters<Dual1> moved = parameters.cast<Dual1>();
  for (std::size_t i = 0; i < moved.links.size(); ++i) {
    LinkParameters<Dual1>& link = moved.links[i];
    const LinkTangent& dot = direction.links[i];
    link.mass.d[0] = dot.mass;
    for (int k = 0; k < 9; ++k) link.inertia(k / 3, k % 3).d[0] = dot.inertia(k / 3, k % 3);
    link.X_PJ = retract(link.X_PJ, along<6>(Vec6<double>::Zero(), dot.X_PJ));
    link.X_CJ = retract(link.X_CJ, along<6>(Vec6<double>::Zero(), dot.X_CJ));
  }
  for (std::size_t i = 0; i < moved.bases.size(); ++i) {
    moved.bases[i] = {along<3>(parameters.bases[i].p_WB, direction.bases[i].p_WB),
                      along<6>(parameters.bases[i].V_WB, direction.bases[i].V_WB)};
  }
  moved.armature = along<Eigen::Dynamic>(parameters.armature, direction.armature);
  moved.gravity = along<3>(parameters.gravity, direction.gravity);
  return moved;
}

void coordinate_derivative(const KinematicTrees& trees, const Tree& part, const VecX<Dual1>& q,
                           VecX<double>& q_dot) {
  for (int i = part.first_link; i < part.end_link; ++i) {
    const Link& link = trees.links[at(i)];
    int qi = link.q, ui = link.u;
    if (link.kind == LinkKind::ball || link.kind == LinkKind::free) {
      const Pose<Dual1> turned{quaternion_at(q, qi), {}};
      q_dot.segment<3>(ui) = derivative_of(turned).head<3>();
      qi += 4, ui += 3;
    }
    for (; ui < link.u + link.nv; ++qi, ++ui) q_dot[ui] = q[qi].d[0];
  }
}

}  // namespace abut
