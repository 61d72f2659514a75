#include "dynamics/step/tree_motion.h"

#include <algorithm>
#include <cmath>

#include "dynamics/motion/fixed_motion.h"
#include "dynamics/trees/joint_rates.h"
#include "dynamics/trees/pose_coordinates.h"
#include "dynamics/trees/spatial.h"
#include "engine/control.h"
#include "engine/joint_geometry.h"

namespace abut {

TreeMotion::TreeMotion(const Model& model)
    : model_(&model),
      trees_(kinematic_trees(model, TreesOf::jointed_bodies)),
      is_link_(model.joints.size(), 0) {
  for (const Link& link : trees_.links) {
    if (link.joint >= 0) is_link_[at(link.joint)] = 1;
  }
  rigid_groups_.group_of_body.assign(model.bodies.size(), -1);
  for (const Link& link : trees_.links) {
    if (link.kind != LinkKind::fixed || link.parent < 0) continue;
    const int parent = trees_.links[at(link.parent)].body;
    int& group = rigid_groups_.group_of_body[at(parent)];
    if (group < 0) {
      group = static_cast<int>(rigid_groups_.bodies.size());
      rigid_groups_.bodies.push_back({parent});
    }
    rigid_groups_.group_of_body[at(link.body)] = group;
    rigid_groups_.bodies[at(group)].push_back(link.body);
  }
  const std::vector<MotorPlace> motors = motors_of(model);
  for (std::size_t m = 0; m < motors.size(); ++m) {
    if (is_force(motor_at(model, motors[m]))) add_force_motor(motors[m], static_cast<int>(m));
  }
}

void TreeMotion::add_force_motor(const MotorPlace& place, int motor) {
  std::vector<std::pair<int, double>> slopes;  // joints, and by how much they move it
  if (place.joint >= 0) {
    slopes.emplace_back(place.joint, 1.0);
  } else {
    const Coupling& coupling = model_->couplings[at(place.coupling)];
    if (!coupling.is_linear()) return;
    for (const CouplingTerm& term : coupling.terms)
      slopes.emplace_back(term.joint, gear_of(*model_, coupling) * term.coefficients.front());
  }
  for (const auto& [joint, slope] : slopes) {
    if (is_link_[at(joint)] == 0) return;
  }
  for (const auto& [joint, slope] : slopes) {
    const auto link = std::find_if(trees_.links.begin(), trees_.links.end(),
                                   [j = joint](const Link& of) { return of.joint == j; });
    force_motors_.push_back({place, motor, link->u, slope});
  }
}

Motor TreeMotion::motor_with_command(const ForceMotor& of, const Control& control) const {
  const double command = control.commands.empty() ? 0.0 : control.commands[at(of.motor)];
  return commanded_motor(motor_at(*model_, of.place), command);
}

void TreeMotion::add_motor_impulses(const Control& control, double h, std::span<double> impulses) const {
  int last = -1;
  for (const ForceMotor& of : force_motors_) {
    if (of.motor == last) continue;  // of a coupling, whose joints follow one another
    last = of.motor;
    impulses[at(of.motor)] += h * force_law(motor_with_command(of, control)).force;
  }
}

void TreeMotion::close_joints(const State& state, double h, TreeStep& step, State& closed) const {
  const Model& model = *model_;
  set_tree_parameters(model, trees_, state.X_WB, step.parameters);
  for (int tree = 0; tree < trees_.tree_count(); ++tree) {
    const int base = base_body(model, trees_, tree);
    if (base < 0) continue;
    step.parameters.bases.resize(trees_.trees.size());
    step.parameters.bases[at(tree)] = {state.X_WB[at(base)].p, fixed_twist(model, state, h, base)};
  }
  coordinates_of_poses(model, trees_, state.X_WB, step.start.q);
  closed = state;
  closed.hinge_angles.resize(model.joints.size(), 0.0);
  for (const Link& link : trees_.links) {
    if (link.kind != LinkKind::hinge) continue;
    double& q = step.start.q[link.q];
    constexpr double k_near_half_turn = 3.14;  // where rounding decides on which side an angle is
    if (std::abs(q) > k_near_half_turn) q = joint_angle(model.joints[at(link.joint)], state);
    closed.hinge_angles[at(link.joint)] = q + turns_beyond(state, link.joint, q);
  }
  tree_kinematics(trees_, step.parameters, step.start.q, step.kinematics);
  for (std::size_t i = 0; i < trees_.links.size(); ++i)
    closed.X_WB[at(trees_.links[i].body)] = step.kinematics.X_WB[i].normalized();
}

void TreeMotion::set_links(const TreeStep& step, MassMatrix& mass, FreeMotion& free) const {
  free.is_link.assign(at(mass.slot_count()), 0);
  mass.links().clear();
  const TreeKinematics<double>& kinematics = step.kinematics;
  const LinkMotion still;
  for (std::size_t i = 0; i < trees_.links.size(); ++i) {
    const Link& link = trees_.links[i];
    const int slot = mass.slot(link.body);
    free.is_link[at(slot)] = 1;
    if (link.kind == LinkKind::free) continue;
    LinkMotion& motion = mass.links().emplace_back(still);
    motion.slot = slot;
    motion.rates = link.nv;
    motion.slides = link.kind == LinkKind::slider;
    const Vec3<double>& p = kinematics.p_OB[i];
    if (link.parent >= 0) {
      motion.parent = mass.slot(trees_.links[at(link.parent)].body);
      motion.r = p - kinematics.p_OB[at(link.parent)];
    } else {
      motion.base_moves =
          !step.parameters.bases.empty() && !step.parameters.bases[at(link.tree)].V_WB.isZero(0.0);
    }
    for (int k = 0; k < link.nv; ++k) {
      const Vec3<double> w = kinematics.axes.col(link.u + k).head<3>();
      motion.S.col(k).head<3>() = w;
      motion.S.col(k).tail<3>() = kinematics.axes.col(link.u + k).tail<3>() + w.cross(p);
    }
  }
}

void TreeMotion::free_motion(const MassMatrix& mass, const State& state, const Control& control, double h,
                             bool records, TreeMotionMemory& memory, TreeStep& step, FreeMotion& free) const {
  const Model& model = *model_;
  const std::size_t links = trees_.links.size();
  step.loads.wrenches.resize(links);
  step.loads.tau.setZero(trees_.nv);
  for (const ForceMotor& of : force_motors_)
    step.loads.tau[of.u] += of.slope * force_law(motor_with_command(of, control)).force;
  step.start.momentum.resize(links);
  memory.twists.resize(links);
  for (std::size_t i = 0; i < links; ++i) {
    const int b = trees_.links[i].body, s = mass.slot(b);
    const Body& body = model.bodies[at(b)];
    const Vec6<double>& V = state.V_WB[at(b)];
    step.loads.wrenches[i] = applied_wrench(model, control, b);
    step.start.momentum[i].head<3>() =
        std::exp(-body.angular_damping * h) * (mass.inertia_W(s) * V.head<3>());
    step.start.momentum[i].tail<3>() = std::exp(-body.linear_damping * h) * body.mass * V.tail<3>();
    memory.twists[i] = V;
  }
  if (step.has_armature()) subtract_base_twists(trees_, step.parameters, step.kinematics, memory.twists);
  joint_rates<double>(trees_, step.kinematics, memory.twists, step.start.u);
  step.free = step.start;
  step.record.substeps.clear();
  step.is_coarse.assign(trees_.trees.size(), 0);
  step.kinematics_free.resize(trees_);
  step.kinematics_free.time = h;
  memory.rates.resize(trees_.nv);
  TreeMotionRecord* const record = records ? &step.record : nullptr;
  int unsolved = -1;
  for (int tree = 0; tree < trees_.tree_count(); ++tree) {
    const std::size_t recorded = step.record.substeps.size();
    const TreeMotionReport report = memory.motion.step_tree(trees_, step.parameters, step.loads, tree, h,
                                                            step.free, record, &step.kinematics);
    step.kinematics_free.copy_tree(trees_.trees[at(tree)], tree, memory.motion.end());
    if (report.unsolved_tree >= 0) unsolved = tree;
    if (report.substeps < 2) continue;
    TreeMotionRecord kick;
    if (!memory.motion.kick(trees_, step.parameters, step.loads, tree, h, step.start, memory.rates, &kick))
      continue;
    step.is_coarse[at(tree)] = 1;
    step.record.substeps.resize(recorded);
    if (records) step.record.substeps.push_back(kick.substeps.front());
  }
  if (unsolved >= 0) {
    // Its end is not where it stays.
    update_kinematics(trees_, trees_.all(), step.parameters, step.free.q, step.kinematics_free);
    free.converged = false;
    free.unconverged_slot = root_slot(mass, unsolved);
  }
  coordinate_difference(trees_, step.free.q, step.start.q, step.u);
  step.u /= h;
  for (std::size_t tree = 0; tree < trees_.trees.size(); ++tree) {
    const Tree& part = trees_.trees[tree];
    if (step.is_coarse[tree] != 0) step.u.segment(part.u, part.nv) = memory.rates.segment(part.u, part.nv);
  }
  moving_twists(trees_, step.parameters, step.kinematics, step.u, memory.twists);
  for (std::size_t i = 0; i < links; ++i) {
    const int first = 6 * mass.slot(trees_.links[i].body);
    free.v_free.segment<3>(first) = memory.twists[i].head<3>();
    free.v_free.segment<3>(first + 3) = point_velocity(memory.twists[i], step.kinematics.p_OB[i]);
  }
}

int TreeMotion::end_step(const MassMatrix& mass, const FreeMotion& free, const EndMotion& end, double h,
                         bool records, TreeMotionMemory& memory, TreeStep& step) const {
  const std::size_t links = trees_.links.size();
  step.end_loads = step.loads;
  bool all_are_free = true;
  for (std::size_t i = 0; i < links; ++i) {
    memory.twists[i] = of_link(mass, i, end.velocity) - of_link(mass, i, free.v_free);
    all_are_free = all_are_free && memory.twists[i].isZero(0.0);
  }
  const bool has_armature = step.has_armature();
  if (!all_are_free) {
    for (std::size_t i = 0; i < links; ++i) {
      const int s = mass.slot(trees_.links[i].body);
      step.end_loads.wrenches[i] += stack<double>(mass.inertia_W(s) * memory.twists[i].head<3>(),
                                                  mass.mass(s) * memory.twists[i].tail<3>()) /
                                    h;
    }
    joint_rates<double>(trees_, step.kinematics, memory.twists, memory.rates);
    if (has_armature) step.end_loads.tau += step.parameters.armature.cwiseProduct(memory.rates) / h;
    memory.rates += step.u;
  }
  step.end = step.free;
  step.end_record.substeps.clear();
  step.kinematics_next = step.kinematics_free;
  int unsolved = -1;
  for (int tree = 0; tree < trees_.tree_count(); ++tree) {
    const Tree& part = trees_.trees[at(tree)];
    const bool is_free =
        all_are_free ||
        std::all_of(memory.twists.begin() + part.first_link, memory.twists.begin() + part.end_link,
                    [](const Vec6<double>& change) { return change.isZero(0.0); });
    if (is_free && step.is_coarse[at(tree)] == 0) {
      for (const TreeMotionRecord::Substep& substep : step.record.substeps) {
        if (records && substep.tree == tree) step.end_record.substeps.push_back(substep);
      }
      continue;
    }
    step.end.q.segment(part.q, part.nq) = step.start.q.segment(part.q, part.nq);
    // Armature counts from the rates before; without it any start of Newton's method will do.
    step.end.u.segment(part.u, part.nv) =
        (has_armature || all_are_free ? step.start.u : memory.rates).segment(part.u, part.nv);
    std::copy(step.start.momentum.begin() + part.first_link, step.start.momentum.begin() + part.end_link,
              step.end.momentum.begin() + part.first_link);
    const TreeMotionReport report =
        memory.motion.step_tree(trees_, step.parameters, step.end_loads, tree, h, step.end,
                                records ? &step.end_record : nullptr, &step.kinematics);
    step.kinematics_next.copy_tree(part, tree, memory.motion.end());
    if (report.unsolved_tree < 0) continue;
    unsolved = root_slot(mass, tree);
    update_kinematics(trees_, part, step.parameters, step.end.q, step.kinematics_next);
  }
  step.displacement_rates.resize(0);
  step.q_next = step.end.q;
  if (end.displacement.size() > 0) {
    for (std::size_t i = 0; i < links; ++i) memory.twists[i] = of_link(mass, i, end.displacement) / h;
    joint_rates<double>(trees_, step.kinematics, memory.twists, step.displacement_rates);
    integrate_coordinates(trees_, step.end.q, step.displacement_rates, h, step.q_next);
    step.kinematics_next.time = h;
    update_kinematics(trees_, trees_.all(), step.parameters, step.q_next, step.kinematics_next);
  }
  return unsolved;
}

void TreeMotion::advance(const TreeStep& step, State& next) const {
  for (std::size_t i = 0; i < trees_.links.size(); ++i) {
    const auto b = at(trees_.links[i].body);
    const Body& body = model_->bodies[b];
    const Vec6<double>& P = step.end.momentum[i];
    next.X_WB[b] = step.kinematics_next.X_WB[i].normalized();
    next.V_WB[b] =
        stack<double>(angular_velocity(next.X_WB[b], body.inertia, P.head<3>()), P.tail<3>() / body.mass);
    const Link& link = trees_.links[i];
    if (link.kind != LinkKind::hinge) continue;
    next.hinge_angles[at(link.joint)] =
        step.q_next[link.q] + turns_beyond(next, link.joint, step.start.q[link.q]);
  }
}

void TreeMotion::joint_impulses(const TreeStep& step, std::vector<Vec6<double>>& impulses) const {
  impulses.assign(trees_.links.size(), Vec6<double>::Zero());
  TreeSubstep<double> at_end;
  at_end.resize(trees_);
  TreeState<double> before = step.start;
  for (const TreeMotionRecord::Substep& part : step.end_record.substeps) {
    const Tree& tree = trees_.trees[at(part.tree)];
    before.q.segment(tree.q, tree.nq) = part.q;
    std::copy(part.momentum.begin(), part.momentum.end(), before.momentum.begin() + tree.first_link);
    VecX<double> u = VecX<double>::Zero(trees_.nv);
    u.segment(tree.u, tree.nv) = part.u;
    at_end.prepare(trees_, tree, step.parameters, before, step.end_loads, part.time, part.h, part.h_load);
    at_end.evaluate(trees_, tree, step.parameters, before, step.end_loads, part.h, part.h_load, u);
    const Vec3<double>& p_WO = at_end.start.origin[at(part.tree)];
    for (int i = tree.first_link; i < tree.end_link; ++i)
      impulses[at(i)] += wrench_about_origin<double>(p_WO, at_end.net[at(i)]);
  }
}

void TreeMotion::add_reactions(const MassMatrix& mass, const TreeStep& step, const GrowableVector& reaction,
                               std::vector<Vec6<double>>& impulses) const {
  std::vector<Vec6<double>> sums(trees_.links.size());
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = wrench_about_origin<double>(step.kinematics.X_WB[i].p, of_link(mass, i, reaction));
  for (std::size_t i = sums.size(); i-- > 0;) {
    impulses[i] += sums[i];
    const int parent = trees_.links[i].parent;
    if (parent >= 0) sums[at(parent)] += sums[i];
  }
}

int TreeMotion::near_division(const TreeStep& step, double h) const {
  constexpr double k_near = 0.01;
  std::vector<Vec3<double>> turn(trees_.links.size());
  for (const TreeMotionRecord* record : {&step.record, &step.end_record}) {
    for (const TreeMotionRecord::Substep& part : record->substeps) {
      const Tree& tree = trees_.trees[at(part.tree)];
      double most = 0.0;  // of what divides it
      int body = -1;
      for (int i = tree.first_link; i < tree.end_link; ++i) {
        const Link& link = trees_.links[at(i)];
        turn[at(i)] = link.parent < 0 ? Vec3<double>(Vec3<double>::Zero()) : turn[at(link.parent)];
        for (int k = 0; k < link.nv; ++k) {
          const Vec3<double> axis = step.kinematics.axes.col(link.u + k).head<3>();
          turn[at(i)] += part.h_load * part.u[link.u - tree.u + k] * axis;
        }
        double share = turn[at(i)].norm() / k_largest_link_turn;
        if (link.kind == LinkKind::hinge || link.kind == LinkKind::ball) {
          const double of_joint = part.h_load * part.u.segment(link.u - tree.u, link.nv).norm();
          share = std::max(share, of_joint / k_largest_joint_turn);
        }
        if (share > most) {
          most = share;
          body = link.body;
        }
      }
      // A little more and it is divided; twice as much, and it is the half of one that just was. A kick is of one that was.
      const bool is_kick = part.h < part.h_load;
      if (is_kick ? most < 1.0 + k_near : most > 1.0 - k_near || (part.h < h && 2.0 * most < 1.0 + k_near))
        return body;
    }
  }
  return -1;
}

TreePath TreeMotion::path_of(const TreeStep& step, std::size_t i, double h, const VecX<double>& rates,
                             const std::vector<TreePath>& paths) const {
  const Link& link = trees_.links[i];
  const LinkParameters<double>& numbers = step.parameters.links[i];
  TreePath path;
  if (link.parent >= 0) {
    path = paths[at(link.parent)];
    path.length += numbers.X_PJ.p.norm();
  } else if (!step.parameters.bases.empty()) {
    const BaseMotion<double>& base = step.parameters.bases[at(link.tree)];
    path.turn = h * base.V_WB.head<3>().norm();
    path.length = (numbers.X_PJ.p - base.p_WB).norm();
  }
  path.length += numbers.X_CJ.p.norm();
  if (link.kind == LinkKind::slider) {
    path.length += std::abs(step.start.q[link.q]);
    path.travel += h * std::abs(rates[link.u]);
  } else {
    for (int k = 0; k < std::min(link.nv, 3); ++k) path.turn += h * std::abs(rates[link.u + k]);
  }
  return path;
}

void TreeMotion::find_slack(const MassMatrix& mass, const EndMotion& end, double h, const TreeStep& step,
                            TreeMotionMemory& memory) const {
  VecX<double>& rates = memory.rates;
  coordinate_difference(trees_, step.q_next, step.start.q, rates);
  rates /= h;
  moving_twists(trees_, step.parameters, step.kinematics, rates, memory.twists);
  memory.slack.assign(at(mass.slot_count()), Vec2<double>(0.0, 0.0));
  memory.paths.clear();
  for (std::size_t i = 0; i < trees_.links.size(); ++i) {
    memory.paths.push_back(path_of(step, i, h, rates, memory.paths));
    const TreePath& path = memory.paths[i];
    const int slot = mass.slot(trees_.links[i].body);
    Vec3<double> w_left = memory.twists[i].head<3>() - end.velocity.segment<3>(6 * slot);
    Vec3<double> v_left =
        point_velocity(memory.twists[i], step.kinematics.p_OB[i]) - end.velocity.segment<3>(6 * slot + 3);
    if (end.displacement.size() > 0) {
      w_left -= end.displacement.segment<3>(6 * slot) / h;
      v_left -= end.displacement.segment<3>(6 * slot + 3) / h;
    }
    memory.slack[at(slot)] =
        Vec2<double>(h * w_left.norm() + path.turn * path.turn,
                     h * v_left.norm() + path.turn * (path.turn * path.length + path.travel));
  }
}

}  // namespace abut
