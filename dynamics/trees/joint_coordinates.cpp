#include "dynamics/trees/joint_coordinates.h"

namespace abut {

VecX<double> neutral_coordinates(const KinematicTrees& trees) {
  VecX<double> q = VecX<double>::Zero(trees.nq);
  for (const Link& link : trees.links) {
    if (link.kind == LinkKind::ball || link.kind == LinkKind::free) q[link.q] = 1.0;
  }
  return q;
}

void integrate_coordinates_jvp(const KinematicTrees& trees, const VecX<double>& u, double h,
                               const VecX<double>& q_dot, const VecX<double>& u_dot,
                               VecX<double>& q_next_dot) {
  q_next_dot = q_dot + h * u_dot;
  for (const Link& link : trees.links) {
    if (link.kind != LinkKind::ball && link.kind != LinkKind::free) continue;
    const Vec3<double> rotation = h * u.segment<3>(link.u);
    q_next_dot.segment<3>(link.u) = exp_so3(rotation) * q_dot.segment<3>(link.u) +
                                    h * (left_jacobian_so3(rotation) * u_dot.segment<3>(link.u));
  }
}

void integrate_coordinates_vjp(const KinematicTrees& trees, const Tree& part, const VecX<double>& u, double h,
                               const VecX<double>& q_next_bar, VecX<double>& q_bar, VecX<double>& u_bar) {
  for (int k = part.first_link; k < part.end_link; ++k) {
    const Link& link = trees.links[at(k)];
    int first = link.u;
    if (link.kind == LinkKind::ball || link.kind == LinkKind::free) {
      const Vec3<double> rotation = h * u.segment<3>(link.u), bar = q_next_bar.segment<3>(link.u);
      q_bar.segment<3>(link.u) += exp_so3(rotation).transpose() * bar;
      u_bar.segment<3>(link.u) += h * (left_jacobian_so3(rotation).transpose() * bar);
      first += 3;
    }
    for (int i = first; i < link.u + link.nv; ++i) {
      q_bar[i] += q_next_bar[i];
      u_bar[i] += h * q_next_bar[i];
    }
  }
}

void coordinate_difference(const KinematicTrees& trees, const VecX<double>& q1, const VecX<double>& q0,
                           VecX<double>& d) {
  if (d.size() != trees.nv) d.resize(trees.nv);
  for (const Link& link : trees.links) {
    int qi = link.q, ui = link.u;
    if (link.kind == LinkKind::ball || link.kind == LinkKind::free) {
      const Quat<double> turn = quaternion_at(q1, qi) * quaternion_at(q0, qi).conjugate();
      d.segment<3>(ui) = log_quaternion(turn);
      qi += 4, ui += 3;
    }
    for (; ui < link.u + link.nv; ++qi, ++ui) d[ui] = q1[qi] - q0[qi];
  }
}

}  // namespace abut
