#include "dynamics/trees/free_tree_motion.h"

#include <algorithm>
#include <cmath>

#include "dynamics/trees/chord_momentum.h"
#include "engine/check.h"
#include "engine/lie.h"

namespace abut {
namespace {

constexpr int k_iterations = 12;
/// The error [rad or m] that Newton's method may leave. It is about the last correction times the displacement
/// since the Jacobian was factored, which the rate of convergence is in proportion to.
constexpr double k_largest_error = 1e-16;
/// The displacement [rad or m] beyond which the Jacobian is factored again.
constexpr double k_factored_again = 1e-5;

}  // namespace

void FreeTreeMotion::resize(const KinematicTrees& trees) {
  substep_.resize(trees);
  elimination_.resize(trees);
  link_rate_.resize(trees.links.size());
  if (right_.cols() == trees.nv) return;
  right_.resize(6, trees.nv);
  u_.resize(trees.nv);
  correction_.resize(trees.nv);
}

TreeMotionReport FreeTreeMotion::step(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                                      const TreeLoads<double>& loads, double h, TreeState<double>& state,
                                      TreeMotionRecord* record, const TreeKinematics<double>* start) {
  if (record) record->substeps.clear();
  TreeMotionReport report;
  for (int tree = 0; tree < trees.tree_count(); ++tree) {
    const TreeMotionReport of_tree = step_tree(trees, parameters, loads, tree, h, state, record, start);
    if (of_tree.unsolved_tree >= 0) report.unsolved_tree = tree;
    report.substeps += of_tree.substeps;
    report.iterations += of_tree.iterations;
  }
  return report;
}

TreeMotionReport FreeTreeMotion::step_tree(const KinematicTrees& trees,
                                           const TreeParameters<double>& parameters,
                                           const TreeLoads<double>& loads, int tree, double h,
                                           TreeState<double>& state, TreeMotionRecord* record,
                                           const TreeKinematics<double>* start) {
  ABUT_ASSERT(loads.wrenches.size() == trees.links.size() && loads.tau.size() == trees.nv);
  resize(trees);
  TreeMotionReport report;
  if (!advance({trees, parameters, loads, start}, tree, 0.0, h, 0, state, report, record))
    report.unsolved_tree = tree;
  return report;
}

bool FreeTreeMotion::advance(const Inputs& in, int tree, double time, double h, int halvings,
                             TreeState<double>& state, TreeMotionReport& report, TreeMotionRecord* record) {
  const Tree& part = in.trees.trees[at(tree)];
  if (!solve(in, part, time, h, h, state, report)) {
    if (halvings >= k_most_tree_halvings) return false;
    const double half = 0.5 * h;
    return advance(in, tree, time, half, halvings + 1, state, report, record) &&
           advance(in, tree, time + half, half, halvings + 1, state, report, record);
  }
  ++report.substeps;
  if (record) record->substeps.push_back(recorded(part, tree, time, h, h, state));
  state.q.segment(part.q, part.nq) = substep_.q_end.segment(part.q, part.nq);
  state.u.segment(part.u, part.nv) = u_.segment(part.u, part.nv);
  for (int i = part.first_link; i < part.end_link; ++i)
    state.momentum[at(i)] = substep_.chords[at(i)].momentum;
  // What Newton's method leaves is no change of the total momentum: it is made up for in the next step.
  const Link& root = in.trees.links[at(part.first_link)];
  if (root.kind == LinkKind::free)
    state.momentum[at(part.first_link)] -= substep_.residual.segment<6>(root.u);
  return true;
}

bool FreeTreeMotion::kick(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                          const TreeLoads<double>& loads, int tree, double h, const TreeState<double>& state,
                          VecX<double>& u, TreeMotionRecord* record) {
  constexpr double k_part = 1e-3;  // of the step, in which it turns by too little to matter
  resize(trees);
  const Tree& part = trees.trees[at(tree)];
  TreeMotionReport report;
  if (!solve({trees, parameters, loads}, part, 0.0, k_part * h, h, state, report)) return false;
  if (record) record->substeps.push_back(recorded(part, tree, 0.0, k_part * h, h, state));
  u.segment(part.u, part.nv) = u_.segment(part.u, part.nv);
  return true;
}

TreeMotionRecord::Substep FreeTreeMotion::recorded(const Tree& part, int tree, double time, double h,
                                                   double h_load, const TreeState<double>& state) const {
  return {tree,
          time,
          h,
          h_load,
          state.q.segment(part.q, part.nq),
          state.u.segment(part.u, part.nv),
          u_.segment(part.u, part.nv),
          {state.momentum.begin() + part.first_link, state.momentum.begin() + part.end_link}};
}

/// Leaves rates in u_ and the end of the step in substep_.
bool FreeTreeMotion::solve(const Inputs& in, const Tree& part, double time, double h, double h_load,
                           const TreeState<double>& state, TreeMotionReport& report) {
  const auto [trees, parameters, loads, start] = in;
  substep_.prepare(trees, part, parameters, state, loads, time, h, h_load, time == 0.0 ? start : nullptr);
  u_.segment(part.u, part.nv) = state.u.segment(part.u, part.nv);
  bool is_last = part.nv == 0;
  double since_factored = k_infinity;
  for (int iteration = 0; iteration <= k_iterations; ++iteration) {
    substep_.evaluate(trees, part, parameters, state, loads, h, h_load, u_);
    if (is_last) return !joint_turns_too_far(in, part, h, 0.0) && !link_turns_too_far(in, part, h);
    ++report.iterations;
    if (since_factored > k_factored_again) {
      factor(in, part, h, u_);
      since_factored = 0.0;
    }
    correction_.segment(part.u, part.nv) = substep_.residual.segment(part.u, part.nv);
    elimination_.solve(trees, part, substep_.start.axes, right_, correction_);
    double largest = 0.0;  // displacement by the correction
    for (int k = part.u; k < part.u + part.nv; ++k) {
      u_[k] -= correction_[k];
      largest = std::max(largest, h * std::abs(correction_[k]));
      if (!std::isfinite(correction_[k])) return false;
    }
    // Where the method converges what is left is less than the correction.
    if (iteration == 0 && joint_turns_too_far(in, part, h, largest)) return false;
    since_factored += largest;
    is_last = since_factored * largest <= k_largest_error;
  }
  return false;
}

/// Factors dr/du = J(q)' (h dP/d(end)) (twist of the end per h du) + armature.
void FreeTreeMotion::factor(const Inputs& in, const Tree& part, double h, const VecX<double>& u) {
  for (int i = part.first_link; i < part.end_link; ++i) {
    const Link& link = in.trees.links[at(i)];
    chord_block(substep_.chords[at(i)], in.parameters.links[at(i)].mass, substep_.inertia_W[at(i)], h,
                substep_.start.p_OB[at(i)], substep_.end.p_OB[at(i)], elimination_.block[at(i)]);
    right_.middleCols(link.u, link.nv) = substep_.end.axes.middleCols(link.u, link.nv);
    if (link.kind == LinkKind::ball || link.kind == LinkKind::free) {
      const Vec3<double> rotation = h * u.segment<3>(link.u);
      right_.middleCols<3>(link.u) = substep_.end.axes.middleCols<3>(link.u) * left_jacobian_so3(rotation);
    }
  }
  elimination_.factor(in.trees, part, substep_.start.axes, right_, in.parameters.armature);
}

bool FreeTreeMotion::joint_turns_too_far(const Inputs& in, const Tree& part, double h, double error) const {
  for (int i = part.first_link; i < part.end_link; ++i) {
    const Link& link = in.trees.links[at(i)];
    if (link.kind == LinkKind::hinge && h * std::abs(u_[link.u]) > k_largest_joint_turn + error) return true;
    if (link.kind == LinkKind::ball &&
        h * u_.segment<3>(link.u).norm() > k_largest_joint_turn + std::sqrt(3.0) * error) {
      return true;
    }
  }
  return false;
}

bool FreeTreeMotion::link_turns_too_far(const Inputs& in, const Tree& part, double h) {
  for (int i = part.first_link; i < part.end_link; ++i) {
    const Link& link = in.trees.links[at(i)];
    Vec3<double>& rate = link_rate_[at(i)];
    rate = link.parent < 0 ? Vec3<double>(Vec3<double>::Zero()) : link_rate_[at(link.parent)];
    for (int k = link.u; k < link.u + link.nv; ++k) rate += u_[k] * substep_.start.axes.col(k).head<3>();
    if (h * rate.norm() > k_largest_link_turn) return true;
  }
  return false;
}

}  // namespace abut
