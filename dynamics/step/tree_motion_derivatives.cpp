#include "dynamics/step/tree_motion.h"

#include <algorithm>

#include "dynamics/trees/joint_rates.h"
#include "dynamics/trees/pose_coordinates.h"
#include "dynamics/trees/spatial.h"
#include "engine/lie.h"

namespace abut {
namespace {

/// d = Log(R1 R0') of rotations in coordinates: how it changes as R1 <- Exp(a) R1, R0 <- Exp(b) R0 is
/// J_l^-1(d) a - J_l^-1(-d) b.
template <typename F>
void each_rotation(const KinematicTrees& trees, const TreeStep& step, const F& f) {
  for (const Link& link : trees.links) {
    const bool turns = link.kind == LinkKind::ball || link.kind == LinkKind::free;
    if (turns && step.is_coarse[at(link.tree)] == 0) f(link.u);
  }
}

/// Calls f(first rate, rates) for each tree whose u is by a kick.
template <typename F>
void each_coarse_tree(const KinematicTrees& trees, const TreeStep& step, const F& f) {
  for (std::size_t tree = 0; tree < trees.trees.size(); ++tree) {
    if (step.is_coarse[tree] != 0) f(trees.trees[tree].u, trees.trees[tree].nv);
  }
}

/// VJP of v_free, into memory.bar.
void free_velocity_vjp(const KinematicTrees& trees, const MassMatrix& mass, double h, const TreeStep& step,
                       const GrowableVector& v_free_bar, TreeMotionMemory& memory) {
  const std::size_t links = trees.links.size();
  TreeMotionTangent free_bar(trees);
  // v_free = J(q) u
  moving_twists(trees, step.parameters, step.kinematics, step.u, memory.twists);
  std::vector<Vec6<double>> F(links);
  for (std::size_t i = 0; i < links; ++i) {
    const Vec3<double>& p = step.kinematics.p_OB[i];
    const Vec6<double> V_bar = v_free_bar.segment<6>(6 * mass.slot(trees.links[i].body));
    F[i] = wrench_about_origin(p, V_bar);
    const Vec3<double> w = memory.twists[i].head<3>(), v_bar = V_bar.tail<3>(), p_bar = v_bar.cross(w);
    memory.kinematics_bar.link[i] += wrench_of_force(p, p_bar);
  }
  VecX<double> by_end(trees.nv);
  tree_forces(trees, trees.all(), step.kinematics, F, by_end);
  for (std::size_t i = 0; i < links; ++i) {
    const Link& link = trees.links[i];
    for (int k = link.u; k < link.u + link.nv; ++k) memory.kinematics_bar.axes.col(k) += step.u[k] * F[i];
    if (link.parent < 0)
      base_twist_vjp(step.parameters, link.tree, step.kinematics.origin[at(link.tree)], F[i],
                     free_bar.parameters);
  }
  each_coarse_tree(trees, step, [&](int u, int count) {
    free_bar.state.u.segment(u, count) = by_end.segment(u, count);
    by_end.segment(u, count).setZero();
  });
  // u = (q1 - q)/h
  by_end /= h;
  VecX<double> by_start = -by_end;
  each_rotation(trees, step, [&](int u) {
    const Mat3<double> J_inverse = left_jacobian_inverse_so3<double>(h * step.u.segment<3>(u));
    const Vec3<double> d_bar = by_end.segment<3>(u);
    by_end.segment<3>(u) = J_inverse.transpose() * d_bar;
    by_start.segment<3>(u) = -(J_inverse * d_bar);
  });
  free_bar.state.q = by_end;
  memory.motion.step_vjp(trees, step.parameters, step.loads, step.record, free_bar);
  memory.bar += free_bar;
  memory.bar.state.q += by_start;
}

}  // namespace

void TreeMotion::advance_vjp(const MassMatrix& mass, double h, const FreeMotion& free, const EndMotion& end,
                             const State& next, std::span<const BodyMotionDerivative> derivatives,
                             const TreeStep& step, const StateTangent& next_bar, TreeMotionMemory& memory,
                             EndMotionBar& end_bar, GrowableVector& v_free_bar,
                             std::span<Mat3<double>> inertia_W_bar,
                             std::span<FreeMotionParameterBar> parameter_bar) const {
  const std::size_t links = trees_.links.size();
  memory.bar = TreeMotionTangent(trees_);
  memory.kinematics_bar.set_zero(trees_);
  TreeMotionTangent& bar = memory.bar;
  TreeKinematicsBar next_poses;
  next_poses.set_zero(trees_);
  for (std::size_t i = 0; i < links; ++i) {  // V+ = (I(R+)^-1 L+, l+/m)
    const auto b = at(trees_.links[i].body);
    const int s = mass.slot(trees_.links[i].body);
    const BodyMotionDerivative& d = derivatives[b];
    const Vec3<double> L_bar = d.end_inertia_inverse * next_bar.twist[b].head<3>(),
                       l_bar = next_bar.twist[b].tail<3>() / mass.mass(s);
    bar.state.momentum[i] = stack<double>(L_bar, l_bar);
    const Mat3<double> inertia_bar =
        -(d.R_end.transpose() * L_bar) * (d.R_end.transpose() * next.V_WB[b].head<3>()).transpose();
    parameter_bar[at(s)].inertia_B += 0.5 * (inertia_bar + inertia_bar.transpose());
    parameter_bar[at(s)].mass -= l_bar.dot(next.V_WB[b].tail<3>());
    const Vec6<double> pose_bar = stack<double>(
        next_bar.pose[b].head<3>() - d.end_by_theta.transpose() * L_bar, next_bar.pose[b].tail<3>());
    next_poses.link[i] = wrench_about_origin(step.kinematics_next.p_OB[i], pose_bar);
  }

  // Poses at q+
  VecX<double> q_next_bar = VecX<double>::Zero(trees_.nv);
  update_kinematics_vjp(trees_, trees_.all(), step.parameters, step.kinematics_next, next_poses, q_next_bar,
                        bar.parameters);
  if (step.displacement_rates.size() == 0) {
    bar.state.q = q_next_bar;
  } else {
    memory.rates_bar.setZero(trees_.nv);
    integrate_coordinates_vjp(trees_, trees_.all(), step.displacement_rates, h, q_next_bar, bar.state.q,
                              memory.rates_bar);
    std::vector<Vec6<double>> by_twist(links, Vec6<double>::Zero());
    memory.twists.resize(links);
    for (std::size_t i = 0; i < links; ++i) memory.twists[i] = of_link(mass, i, end.displacement) / h;
    joint_rates_vjp(trees_, step.kinematics, memory.twists, memory.rates_bar, by_twist,
                    memory.kinematics_bar);
    for (std::size_t i = 0; i < links; ++i)
      end_bar.displacement.segment<6>(6 * mass.slot(trees_.links[i].body)) = by_twist[i] / h;
  }

  // The motion with impulses M (v - v_free)
  memory.motion.step_vjp(trees_, step.parameters, step.end_loads, step.end_record, bar);
  for (std::size_t i = 0; i < links; ++i) {
    const int s = mass.slot(trees_.links[i].body);
    const Vec6<double> change = of_link(mass, i, end.velocity) - of_link(mass, i, free.v_free),
                       impulse_bar = bar.loads.wrenches[i] / h;
    const Vec3<double> L_bar = impulse_bar.head<3>(), l_bar = impulse_bar.tail<3>();
    const Vec6<double> change_bar = stack<double>(mass.inertia_W(s) * L_bar, mass.mass(s) * l_bar);
    end_bar.velocity.segment<6>(6 * s) = change_bar;
    v_free_bar.segment<6>(6 * s) -= change_bar;
    inertia_W_bar[at(s)] += L_bar * change.head<3>().transpose();
    parameter_bar[at(s)].mass += l_bar.dot(change.tail<3>());
  }
  if (!step.has_armature()) return;
  std::vector<Vec6<double>> change_bar(links, Vec6<double>::Zero());
  memory.twists.resize(links);
  for (std::size_t i = 0; i < links; ++i)
    memory.twists[i] = of_link(mass, i, end.velocity) - of_link(mass, i, free.v_free);
  joint_rates<double>(trees_, step.kinematics, memory.twists, memory.rates);
  const VecX<double> tau_bar = bar.loads.tau / h;
  bar.parameters.armature += memory.rates.cwiseProduct(tau_bar);
  memory.rates_bar = step.parameters.armature.cwiseProduct(tau_bar);
  joint_rates_vjp(trees_, step.kinematics, memory.twists, memory.rates_bar, change_bar,
                  memory.kinematics_bar);
  for (std::size_t i = 0; i < links; ++i) {
    const int s = mass.slot(trees_.links[i].body);
    end_bar.velocity.segment<6>(6 * s) += change_bar[i];
    v_free_bar.segment<6>(6 * s) -= change_bar[i];
  }
}

void TreeMotion::links_vjp(const TreeStep& step, std::span<const LinkMotionBar> bars,
                           TreeMotionMemory& memory) const {
  const TreeKinematics<double>& kinematics = step.kinematics;
  std::size_t next = 0;
  for (std::size_t i = 0; i < trees_.links.size(); ++i) {
    const Link& link = trees_.links[i];
    if (link.kind == LinkKind::free) continue;
    const LinkMotionBar& bar = bars[next++];
    const Vec3<double>& p = kinematics.p_OB[i];
    Vec3<double> p_bar = Vec3<double>::Zero();
    for (int k = 0; k < link.nv; ++k) {  // [a; v + a x p]
      const Vec6<double> S_bar = bar.S.col(k);
      const Vec3<double> a = kinematics.axes.col(link.u + k).head<3>(), v_bar = S_bar.tail<3>();
      memory.kinematics_bar.axes.col(link.u + k) += wrench_about_origin(p, S_bar);
      p_bar += v_bar.cross(a);
    }
    if (link.parent >= 0) {
      p_bar += bar.r;
      memory.kinematics_bar.link[at(link.parent)] -= wrench_of_force(kinematics.p_OB[at(link.parent)], bar.r);
    }
    memory.kinematics_bar.link[i] += wrench_of_force(p, p_bar);
  }
}

void TreeMotion::free_motion_vjp(const MassMatrix& mass, const State& state, double h,
                                 std::span<const BodyMotionDerivative> derivatives, const TreeStep& step,
                                 const GrowableVector& v_free_bar, TreeMotionMemory& memory,
                                 std::span<Mat3<double>> inertia_W_bar, StateTangent& state_bar,
                                 std::span<Vec6<double>> wrench_bar, Vec3<double>& gravity_bar,
                                 std::span<FreeMotionParameterBar> parameter_bar) const {
  const std::size_t links = trees_.links.size();
  // Where nothing acted on a tree, all goes back through its end.
  const bool is_felt = std::any_of(trees_.links.begin(), trees_.links.end(), [&](const Link& link) {
    return !v_free_bar.segment<6>(6 * mass.slot(link.body)).isZero(0.0);
  });
  if (is_felt) free_velocity_vjp(trees_, mass, h, step, v_free_bar, memory);

  TreeMotionTangent& bar = memory.bar;
  gravity_bar += bar.parameters.gravity;
  for (std::size_t i = 0; i < links; ++i) {
    const auto b = at(trees_.links[i].body);
    const int s = mass.slot(trees_.links[i].body);
    const BodyMotionDerivative& d = derivatives[b];
    FreeMotionParameterBar& parameters = parameter_bar[at(s)];
    wrench_bar[b] += bar.loads.wrenches[i];
    parameters.mass += bar.parameters.links[i].mass;
    parameters.inertia_B += bar.parameters.links[i].inertia;
    // P = (e^{-c_w h} I w, e^{-c_v h} m v)
    const Vec3<double> L_bar = bar.state.momentum[i].head<3>(), l_bar = bar.state.momentum[i].tail<3>(),
                       w = state.V_WB[b].head<3>(), v = state.V_WB[b].tail<3>();
    state_bar.twist[b] +=
        stack<double>(d.angular_decay * (mass.inertia_W(s) * L_bar), d.linear_decay * mass.mass(s) * l_bar);
    inertia_W_bar[at(s)] += d.angular_decay * L_bar * w.transpose();
    parameters.mass += d.linear_decay * l_bar.dot(v);
    parameters.angular_damping -= h * L_bar.dot(step.start.momentum[i].head<3>());
    parameters.linear_damping -= h * l_bar.dot(step.start.momentum[i].tail<3>());
  }
  if (!step.has_armature()) return;
  // The rates before, of twists relative to those of bases
  std::vector<Vec6<double>> twist_bar(links, Vec6<double>::Zero());
  for (std::size_t i = 0; i < links; ++i) memory.twists[i] = state.V_WB[at(trees_.links[i].body)];
  subtract_base_twists(trees_, step.parameters, step.kinematics, memory.twists);
  joint_rates_vjp(trees_, step.kinematics, memory.twists, bar.state.u, twist_bar, memory.kinematics_bar);
  subtract_base_twists_vjp(trees_, step.parameters, step.kinematics, twist_bar, memory.kinematics_bar,
                           bar.parameters);
  for (std::size_t i = 0; i < links; ++i) state_bar.twist[at(trees_.links[i].body)] += twist_bar[i];
}

void TreeMotion::motor_forces_vjp(const Control& control, const TreeMotionMemory& memory,
                                  std::span<JointTangent> joint_bar, std::span<JointTangent> coupling_bar,
                                  std::span<double> command_bar) const {
  for (const ForceMotor& of : force_motors_) {
    const double tau_bar = memory.bar.loads.tau[of.u];
    const Motor motor = motor_with_command(of, control);
    const MotorTangent bar = force_law_vjp(motor, of.slope * tau_bar);
    const bool is_of_joint = of.place.joint >= 0;
    JointTangent& own_bar = is_of_joint ? joint_bar[at(of.place.joint)] : coupling_bar[at(of.place.coupling)];
    if (!is_of_joint) {
      const double gear = gear_of(*model_, model_->couplings[at(of.place.coupling)]);
      gear_vjp(*model_, of.place.coupling, of.slope / gear * tau_bar * force_law(motor).force, coupling_bar);
    }
    const double command = control.commands.empty() ? 0.0 : control.commands[at(of.motor)];
    const DriveInputs inputs{0.0, command, 0.0, 0.0};
    const double by_command =
        motor_of_vjp(motor_at(*model_, of.place), Drive::motor, inputs, bar, own_bar).command;
    if (!command_bar.empty()) command_bar[at(of.motor)] += by_command;
  }
}

void TreeMotion::close_joints_vjp(const State& state, const TreeStep& step, TreeMotionMemory& memory,
                                  StateTangent& state_bar, std::vector<JointTangent>& joint_bar) const {
  for (std::size_t i = 0; i < trees_.links.size(); ++i) {
    Vec6<double>& pose_bar = state_bar.pose[at(trees_.links[i].body)];
    memory.kinematics_bar.link[i] += wrench_about_origin(step.kinematics.p_OB[i], pose_bar);
    pose_bar.setZero();
  }
  VecX<double>& q_bar = memory.bar.state.q;
  TreeParametersTangent& parameters_bar = memory.bar.parameters;
  update_kinematics_vjp(trees_, trees_.all(), step.parameters, step.kinematics, memory.kinematics_bar, q_bar,
                        parameters_bar);
  coordinates_of_poses_vjp(*model_, trees_, state.X_WB, q_bar, state_bar.pose, joint_bar);
  memory.body_bar.resize(model_->bodies.size());  // masses and inertias have been taken
  tree_parameters_vjp(*model_, trees_, state.X_WB, parameters_bar, memory.body_bar, joint_bar,
                      state_bar.pose);
  for (int tree = 0; tree < trees_.tree_count() && !step.parameters.bases.empty(); ++tree) {
    const int base = base_body(*model_, trees_, tree);
    if (base < 0) continue;
    state_bar.pose[at(base)].tail<3>() += parameters_bar.bases[at(tree)].p_WB;
    state_bar.twist[at(base)] += parameters_bar.bases[at(tree)].V_WB;
  }
}

// Along a direction ----------------------------------------------------------------------------------------

void TreeMotion::close_joints_jvp(const State& state, const StateTangent& state_dot, const TreeStep& step,
                                  TreeMotionMemory& memory, StateTangent& closed_dot) const {
  const Model& model = *model_;
  memory.dot = TreeMotionTangent(trees_);
  coordinates_of_poses_jvp(model, trees_, state.X_WB, state_dot.pose, memory.dot.state.q);
  for (int tree = 0; tree < trees_.tree_count(); ++tree) {
    const int base = base_body(model, trees_, tree), root = trees_.trees[at(tree)].first_link;
    if (base < 0) continue;
    const Link& link = trees_.links[at(root)];
    const Joint& joint = model.joints[at(link.joint)];
    memory.dot.parameters.links[at(root)].X_PJ =
        compose_jvp(state.X_WB[at(base)], link.reversed ? joint.X_BJ : joint.X_AJ, state_dot.pose[at(base)],
                    Vec6<double>(Vec6<double>::Zero()));
    memory.dot.parameters.bases[at(tree)] = {state_dot.pose[at(base)].tail<3>(), state_dot.twist[at(base)]};
  }
  memory.moved_parameters = along(step.parameters, memory.dot.parameters);
  memory.moved.resize(trees_);
  memory.moved.origin = step.kinematics.origin;
  memory.moved.time = 0.0;
  update_kinematics(trees_, trees_.all(), memory.moved_parameters,
                    coordinates_along(trees_, step.start.q, memory.dot.state.q), memory.moved);
  closed_dot = state_dot;
  for (std::size_t i = 0; i < trees_.links.size(); ++i)
    closed_dot.pose[at(trees_.links[i].body)] = derivative_of(memory.moved.X_WB[i]);
}

void TreeMotion::links_jvp(const TreeMotionMemory& memory, std::vector<LinkMotionBar>& dots) const {
  const TreeKinematics<Dual1>& moved = memory.moved;
  dots.clear();
  for (std::size_t i = 0; i < trees_.links.size(); ++i) {
    const Link& link = trees_.links[i];
    if (link.kind == LinkKind::free) continue;
    LinkMotionBar& dot = dots.emplace_back();
    for (int k = 0; k < link.nv; ++k)
      dot.S.col(k) = derivative_of(twist_at<Dual1>(moved.p_OB[i], moved.axes.col(link.u + k)));
    if (link.parent >= 0) dot.r = derivative_of(Vec3<Dual1>(moved.p_OB[i] - moved.p_OB[at(link.parent)]));
  }
}

void TreeMotion::free_motion_jvp(const MassMatrix& mass, const State& state, const Control& control, double h,
                                 std::span<const BodyMotionDerivative> derivatives, const TreeStep& step,
                                 const FreeMotionDirection& direction, std::span<const double> command_dot,
                                 TreeMotionMemory& memory, FreeMotionTangent& tangent) const {
  TreeMotionTangent& dot = memory.dot;
  for (const ForceMotor& of : force_motors_) {
    if (command_dot.empty()) break;
    const double command = control.commands.empty() ? 0.0 : control.commands[at(of.motor)];
    const double by_command = force_law(motor_with_command(of, control)).by_target *
                              command_slope(motor_at(*model_, of.place), command);
    dot.loads.tau[of.u] += of.slope * by_command * command_dot[at(of.motor)];
  }
  dot.parameters.gravity = direction.gravity;
  for (std::size_t i = 0; i < trees_.links.size(); ++i) {
    const auto b = at(trees_.links[i].body);
    const int s = mass.slot(trees_.links[i].body);
    const BodyMotionDerivative& d = derivatives[b];
    const FreeMotionParameterBar& parameters = direction.parameters[at(s)];
    const Vec6<double>&V = state.V_WB[b], &V_dot = direction.state.twist[b];
    dot.loads.wrenches[i] = direction.wrench[b];
    dot.parameters.links[i].mass = parameters.mass;
    dot.parameters.links[i].inertia = parameters.inertia_B;
    dot.state.momentum[i] = stack<double>(
        d.angular_decay * (tangent.inertia_W[at(s)] * V.head<3>() + mass.inertia_W(s) * V_dot.head<3>()) -
            h * parameters.angular_damping * step.start.momentum[i].head<3>(),
        d.linear_decay * (parameters.mass * V.tail<3>() + mass.mass(s) * V_dot.tail<3>()) -
            h * parameters.linear_damping * step.start.momentum[i].tail<3>());
  }
  if (step.has_armature()) {
    std::vector<Vec6<Dual1>> before;
    for (const Link& link : trees_.links)
      before.push_back(along<6>(state.V_WB[at(link.body)], direction.state.twist[at(link.body)]));
    subtract_base_twists(trees_, memory.moved_parameters, memory.moved, before);
    VecX<Dual1> rates;
    joint_rates<Dual1>(trees_, memory.moved, before, rates);
    dot.state.u = derivative_of(rates);
  }
  memory.free_dot = dot;
  memory.motion.step_jvp(trees_, step.parameters, step.loads, step.record, memory.free_dot);
  const VecX<double>&q_dot = dot.state.q, &end_dot = memory.free_dot.state.q;
  VecX<double> u_dot = (end_dot - q_dot) / h;
  each_rotation(trees_, step, [&](int u) {
    const Mat3<double> J_inverse = left_jacobian_inverse_so3<double>(h * step.u.segment<3>(u));
    u_dot.segment<3>(u) =
        (J_inverse * end_dot.segment<3>(u) - J_inverse.transpose() * q_dot.segment<3>(u)) / h;
  });
  each_coarse_tree(trees_, step, [&](int u, int count) {
    u_dot.segment(u, count) = memory.free_dot.state.u.segment(u, count);
  });
  std::vector<Vec6<Dual1>> V;
  moving_twists(trees_, memory.moved_parameters, memory.moved, along<Eigen::Dynamic>(step.u, u_dot), V);
  for (std::size_t i = 0; i < V.size(); ++i)
    tangent.v_free.segment<6>(6 * mass.slot(trees_.links[i].body)) =
        derivative_of(twist_at(memory.moved.p_OB[i], V[i]));
}

void TreeMotion::advance_jvp(const MassMatrix& mass, double h, const FreeMotion& free, const EndMotion& end,
                             const State& next, std::span<const BodyMotionDerivative> derivatives,
                             const TreeStep& step, const FreeMotionDirection& direction,
                             const FreeMotionTangent& tangent, const EndMotionBar& end_dot,
                             TreeMotionMemory& memory, StateTangent& next_dot) const {
  const std::size_t links = trees_.links.size();
  TreeMotionTangent& dot = memory.dot;
  for (std::size_t i = 0; i < links; ++i) {
    const int s = mass.slot(trees_.links[i].body);
    const Vec6<double> change = of_link(mass, i, end.velocity) - of_link(mass, i, free.v_free),
                       change_dot = of_link(mass, i, end_dot.velocity) - of_link(mass, i, tangent.v_free);
    dot.loads.wrenches[i] +=
        stack<double>(
            tangent.inertia_W[at(s)] * change.head<3>() + mass.inertia_W(s) * change_dot.head<3>(),
            direction.parameters[at(s)].mass * change.tail<3>() + mass.mass(s) * change_dot.tail<3>()) /
        h;
  }
  if (step.has_armature()) {
    std::vector<Vec6<Dual1>> change(links);
    for (std::size_t i = 0; i < links; ++i) {
      change[i] = along<6>(of_link(mass, i, end.velocity) - of_link(mass, i, free.v_free),
                           of_link(mass, i, end_dot.velocity) - of_link(mass, i, tangent.v_free));
    }
    VecX<Dual1> rates;
    joint_rates<Dual1>(trees_, memory.moved, change, rates);
    dot.loads.tau += step.parameters.armature.cwiseProduct(derivative_of(rates)) / h;
  }
  memory.motion.step_jvp(trees_, step.parameters, step.end_loads, step.end_record, dot);
  VecX<double> q_next_dot = dot.state.q;
  if (step.displacement_rates.size() > 0) {
    std::vector<Vec6<Dual1>> displacement(links);
    for (std::size_t i = 0; i < links; ++i)
      displacement[i] =
          along<6>(of_link(mass, i, end.displacement) / h, of_link(mass, i, end_dot.displacement) / h);
    VecX<Dual1> rates;
    joint_rates<Dual1>(trees_, memory.moved, displacement, rates);
    integrate_coordinates_jvp(trees_, step.displacement_rates, h, dot.state.q, derivative_of(rates),
                              q_next_dot);
  }
  TreeKinematics<Dual1>& poses = memory.moved;
  poses.time = h;
  update_kinematics(trees_, trees_.all(), memory.moved_parameters,
                    coordinates_along(trees_, step.q_next, q_next_dot), poses);
  for (std::size_t i = 0; i < links; ++i) {
    const auto b = at(trees_.links[i].body);
    const int s = mass.slot(trees_.links[i].body);
    const BodyMotionDerivative& d = derivatives[b];
    const FreeMotionParameterBar& parameters = direction.parameters[at(s)];
    next_dot.pose[b] = derivative_of(poses.X_WB[i]);
    const Vec3<double> L_dot =
        dot.state.momentum[i].head<3>() - d.end_by_theta * next_dot.pose[b].head<3>() -
        d.R_end * (parameters.inertia_B * Vec3<double>(d.R_end.transpose() * next.V_WB[b].head<3>()));
    const Vec3<double> l_dot = dot.state.momentum[i].tail<3>() - parameters.mass * next.V_WB[b].tail<3>();
    next_dot.twist[b] = stack<double>(d.end_inertia_inverse * L_dot, l_dot / mass.mass(s));
  }
}

}  // namespace abut
