#include <algorithm>

#include "dynamics/trees/chord_momentum.h"
#include "dynamics/trees/free_tree_motion.h"
#include "dynamics/trees/tree_direction.h"

namespace abut {

TreeMotionTangent& TreeMotionTangent::operator+=(const TreeMotionTangent& other) {
  state.q += other.state.q;
  state.u += other.state.u;
  for (std::size_t i = 0; i < state.momentum.size(); ++i) {
    state.momentum[i] += other.state.momentum[i];
    loads.wrenches[i] += other.loads.wrenches[i];
  }
  loads.tau += other.loads.tau;
  parameters += other.parameters;
  return *this;
}

/// Evaluates a recorded substep at its solution, and factors its equation.
void FreeTreeMotion::linearize(const Inputs& in, const TreeMotionRecord::Substep& substep) {
  const Tree& part = in.trees.trees[at(substep.tree)];
  before_.q.resize(in.trees.nq);
  before_.u.resize(in.trees.nv);
  before_.momentum.resize(in.trees.links.size());
  before_.q.segment(part.q, part.nq) = substep.q;
  before_.u.segment(part.u, part.nv) = substep.u_before;
  std::copy(substep.momentum.begin(), substep.momentum.end(), before_.momentum.begin() + part.first_link);
  u_.segment(part.u, part.nv) = substep.u;
  substep_.prepare(in.trees, part, in.parameters, before_, in.loads, substep.time, substep.h, substep.h_load);
  substep_.evaluate(in.trees, part, in.parameters, before_, in.loads, substep.h, substep.h_load, u_);
  factor(in, part, substep.h, u_);
}

void FreeTreeMotion::step_jvp(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                              const TreeLoads<double>& loads, const TreeMotionRecord& record,
                              TreeMotionTangent& dot) {
  resize(trees);
  const TreeParameters<Dual1> moved_parameters = along(parameters, dot.parameters);
  TreeLoads<Dual1> moved_loads{{}, along<Eigen::Dynamic>(loads.tau, dot.loads.tau)};
  for (std::size_t i = 0; i < trees.links.size(); ++i) {
    moved_loads.wrenches.push_back(along(loads.wrenches[i], dot.loads.wrenches[i]));
  }
  TreeSubstep<Dual1> moved;
  moved.resize(trees);
  TreeState<Dual1> state{VecX<Dual1>(trees.nq), VecX<Dual1>(trees.nv),
                         std::vector<Vec6<Dual1>>(trees.links.size())};
  VecX<Dual1> u(trees.nv);
  for (const TreeMotionRecord::Substep& substep : record.substeps) {
    const Tree& part = trees.trees[at(substep.tree)];
    linearize({trees, parameters, loads}, substep);
    integrate_coordinates(trees, part, VecX<Dual1>(before_.q.cast<Dual1>()),
                          along<Eigen::Dynamic>(VecX<double>::Zero(trees.nv), dot.state.q), 1.0, state.q);
    for (int k = part.u; k < part.u + part.nv; ++k) {
      state.u[k] = Dual1(before_.u[k], {dot.state.u[k]});
      u[k] = Dual1(u_[k]);
    }
    for (int i = part.first_link; i < part.end_link; ++i) {
      state.momentum[at(i)] = along(before_.momentum[at(i)], dot.state.momentum[at(i)]);
    }
    // dr + (dr/du) du = 0
    moved.prepare(trees, part, moved_parameters, state, moved_loads, substep.time, substep.h, substep.h_load);
    moved.evaluate(trees, part, moved_parameters, state, moved_loads, substep.h, substep.h_load, u);
    for (int k = part.u; k < part.u + part.nv; ++k) correction_[k] = -moved.residual[k].d[0];
    elimination_.solve(trees, part, substep_.start.axes, right_, correction_);
    for (int k = part.u; k < part.u + part.nv; ++k) u[k].d[0] = dot.state.u[k] = correction_[k];
    moved.evaluate(trees, part, moved_parameters, state, moved_loads, substep.h, substep.h_load, u);
    coordinate_derivative(trees, part, moved.q_end, dot.state.q);
    for (int i = part.first_link; i < part.end_link; ++i) {
      dot.state.momentum[at(i)] = derivative_of(moved.chords[at(i)].momentum);
    }
  }
}

void FreeTreeMotion::step_vjp(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                              const TreeLoads<double>& loads, const TreeMotionRecord& record,
                              TreeMotionTangent& bar) {
  resize(trees);
  twist_.resize(trees.links.size());
  for (VecX<double>* x : {&q_bar_, &q_end_bar_, &u_bar_}) x->setZero(trees.nv);
  start_bar_.set_zero(trees);
  end_bar_.set_zero(trees);
  for (auto substep = record.substeps.rbegin(); substep != record.substeps.rend(); ++substep) {
    substep_vjp({trees, parameters, loads}, *substep, bar);
  }
}

/// With x = (q, P, ...), r(x, u) = 0 and results y(x, u): lambda = (dr/du)^-T (dy/du)' y_bar, and
/// x_bar = (dy/dx)' y_bar - (dr/dx)' lambda.
void FreeTreeMotion::substep_vjp(const Inputs& in, const TreeMotionRecord::Substep& substep,
                                 TreeMotionTangent& bar) {
  const KinematicTrees& trees = in.trees;
  const TreeParameters<double>& parameters = in.parameters;
  const Tree& part = trees.trees[at(substep.tree)];
  const double h = substep.h, h_load = substep.h_load;
  linearize(in, substep);
  const auto chord_bar = [&](int i, const Vec6<double>& momentum_bar, LinkTangent& link_bar) {
    return chord_momentum_vjp(substep_.chords[at(i)], parameters.links[at(i)].mass,
                              substep_.start.X_WB[at(i)].rotation(), substep_.inertia_W[at(i)], h,
                              momentum_bar, link_bar);
  };

  // (dy/du)' y_bar: by q+ and, through the end poses, by the momenta
  for (int i = part.first_link; i < part.end_link; ++i) {
    LinkTangent unused;
    const Vec6<double> end = chord_bar(i, bar.state.momentum[at(i)], unused).end;
    end_bar_.link[at(i)] = wrench_about_origin(substep_.end.p_OB[at(i)], end);
  }
  tree_forces(trees, part, substep_.end, end_bar_.link, q_end_bar_);
  q_bar_.segment(part.u, part.nv).setZero();  // not used
  q_end_bar_.segment(part.u, part.nv) += bar.state.q.segment(part.u, part.nv);
  u_bar_.segment(part.u, part.nv) = bar.state.u.segment(part.u, part.nv);
  integrate_coordinates_vjp(trees, part, u_, h, q_end_bar_, q_bar_, u_bar_);
  elimination_.solve_transposed(trees, part, substep_.start.axes, right_, u_bar_);
  VecX<double>& residual_bar = u_bar_;
  residual_bar.segment(part.u, part.nv) *= -1.0;

  // r = J' net + armature (u - u_before) - h tau
  tree_twists(trees, part, substep_.start, residual_bar, twist_);
  for (int k = part.u; k < part.u + part.nv; ++k) {
    bar.parameters.armature[k] += residual_bar[k] * (u_[k] - before_.u[k]);
    bar.state.u[k] = -parameters.armature[k] * residual_bar[k];
    bar.loads.tau[k] -= h_load * residual_bar[k];
  }
  for (int i = part.first_link; i < part.end_link; ++i) {
    const Link& link = trees.links[at(i)];
    for (int k = link.u; k < link.u + link.nv; ++k) {
      start_bar_.axes.col(k) = residual_bar[k] * substep_.net[at(i)];
      end_bar_.axes.col(k).setZero();
    }
    const Vec3<double>&p = substep_.start.p_OB[at(i)], &p_end = substep_.end.p_OB[at(i)];
    const Vec6<double> net_bar = twist_at(p, twist_[at(i)]);  // about the centre of mass
    const Vec3<double> force = (substep_.chords[at(i)].momentum - substep_.before[at(i)]).tail<3>();
    const Vec3<double> w = net_bar.head<3>(), v = net_bar.tail<3>(), p_bar = force.cross(w);  // w . (p x f)
    LinkTangent& link_bar = bar.parameters.links[at(i)];
    link_bar.mass -= h_load * v.dot(parameters.gravity);
    bar.parameters.gravity -= h_load * parameters.links[at(i)].mass * v;
    bar.loads.wrenches[at(i)] -= h_load * net_bar;
    const ChordPosesBar poses = chord_bar(i, net_bar + bar.state.momentum[at(i)], link_bar);
    bar.state.momentum[at(i)] = -net_bar;
    start_bar_.link[at(i)] = wrench_about_origin(p, poses.start) + wrench_of_force(p, p_bar);
    end_bar_.link[at(i)] = wrench_about_origin(p_end, poses.end);
  }

  // Poses at q+ = q (+) h u and at q
  q_end_bar_.segment(part.u, part.nv) = bar.state.q.segment(part.u, part.nv);
  update_kinematics_vjp(trees, part, parameters, substep_.end, end_bar_, q_end_bar_, bar.parameters);
  q_bar_.segment(part.u, part.nv).setZero();
  integrate_coordinates_vjp(trees, part, u_, h, q_end_bar_, q_bar_, residual_bar);
  update_kinematics_vjp(trees, part, parameters, substep_.start, start_bar_, q_bar_, bar.parameters);
  bar.state.q.segment(part.u, part.nv) = q_bar_.segment(part.u, part.nv);
}

}  // namespace abut
