/// Bodies that rigid joints tie together: their free motion, and the poses and twists that follow a solve.
///
/// The contact problem knows twists of bodies, also where these are links of a tree, and how links move with each
/// other at the start of a step (motion/link_motion.h). A step of a tree is
///     q        coordinates of the poses at its start; from here on the poses are the tree's at q
///     P        momenta of the links, M(q) V for the twists V of the state, damped
///     v_free   J(q) u,  u = (q1 - q)/h,  q1 being where the tree moves to freely (trees/tree_substep.h), motors of
///              given force included: what enters the contact problem. Of a step that is halved u is by a kick
///     v        v_free + J d, what that makes of it with contacts, other motors and stops
///     q+, P+   where it moves to with  M(q) (v - v_free)  as impulses besides its loads: those of contacts, other motors
///              and stops, and reactions of joints, which do no work in the tree. Where joints have armature a, which
///              is a row of the contact problem, the rest of these impulses is a (s - s_free) at the coordinates
/// and the twists of the state at the end are those of the momenta P+ at q+, as they are of free bodies: of a link
/// that turns, v belongs to the chord of the step. A displacement of the contact problem moves q+ on by its joint
/// rates. So joints hold exactly whatever acts, momentum and angular momentum of free trees change by impulses alone,
/// and where nothing touches it a tree moves as its variational integrator says.
#pragma once

#include <span>
#include <vector>

#include "dynamics/motion/free_motion.h"
#include "dynamics/motion/mass_matrix.h"
#include "dynamics/rows/contact_rows.h"
#include "dynamics/rows/joint_drives.h"
#include "dynamics/trees/free_tree_motion.h"
#include "dynamics/trees/tree.h"
#include "dynamics/trees/tree_direction.h"
#include "dynamics/trees/tree_kinematics.h"
#include "dynamics/trees/tree_parameters.h"
#include "engine/control.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// A step of all trees, with what its derivatives need.
struct TreeStep {
  TreeParameters<double> parameters;
  TreeLoads<double> loads;
  TreeState<double> start;  ///< q, P; u is where Newton's method starts
  TreeState<double> free;   ///< where it moves to freely
  TreeMotionRecord record;  ///< of the free motion, where asked for
  std::vector<char>
      is_coarse;   ///< per tree, whether its free motion is more than one step can take: u is by a kick
  VecX<double> u;  ///< (nv)
  TreeLoads<double> end_loads;  ///< with the impulses of the contact problem
  TreeState<double> end;        ///< q+ but for a displacement, P+
  TreeMotionRecord end_record;
  VecX<double> displacement_rates;         ///< joint rates of displacement/h (nv); empty: there is none
  VecX<double> q_next;                     ///< q+ (nq)
  TreeKinematics<double> kinematics;       ///< at q
  TreeKinematics<double> kinematics_free;  ///< where it moves to freely
  TreeKinematics<double> kinematics_next;  ///< at q+

  [[nodiscard]] bool has_armature() const { return !parameters.armature.isZero(0.0); }
};

/// What joints do in a step, summed from the base of a tree to a link.
struct TreePath {
  double turn = 0.0;    ///< of hinges and balls [rad]
  double length = 0.0;  ///< [m]
  double travel = 0.0;  ///< of sliders [m]
};

/// Working memory of one thread, and what the way back through a step has collected.
struct TreeMotionMemory {
  FreeTreeMotion motion;
  std::vector<Vec6<double>> twists;  ///< per link
  VecX<double> rates;                ///< (nv)
  TreeStep trial;                    ///< of a solve that may not be the last
  std::vector<TreePath> paths;       ///< per link
  std::vector<Vec2<double>> slack;   ///< see TreeMotion::find_slack()

  TreeMotionTangent bar, dot, free_dot;
  TreeKinematicsBar kinematics_bar;
  VecX<double> rates_bar;
  std::vector<BodyTangent> body_bar;
  TreeParameters<Dual1> moved_parameters;
  TreeKinematics<Dual1> moved;
};

class TreeMotion {
 public:
  /// The model must outlive it.
  explicit TreeMotion(const Model& model);

  /// No rigid joint holds any body: there is nothing to do, and nothing below may be called.
  [[nodiscard]] bool is_empty() const { return trees_.links.empty(); }
  [[nodiscard]] const KinematicTrees& trees() const { return trees_; }
  /// Per joint of the model, whether a tree holds it.
  [[nodiscard]] std::span<const char> is_link() const { return is_link_; }
  /// Links that fixed joints hold together.
  [[nodiscard]] const RigidGroups& rigid_groups() const { return rigid_groups_; }

  /// Begins a step of h seconds: `closed` is the state with all joints closed, as are those of trees.
  void close_joints(const State& state, double h, TreeStep& step, State& closed) const;
  /// Sets FreeMotion::is_link and the links of the mass matrix, as they move at the start of the step.
  void set_links(const TreeStep& step, MassMatrix& mass, FreeMotion& free) const;
  /// Sets v_free of links, and the converged flag where a tree's motion was not found.
  ///
  /// @param state    with joints closed, as below
  /// @param records  for derivatives
  void free_motion(const MassMatrix& mass, const State& state, const Control& control, double h, bool records,
                   TreeMotionMemory& memory, TreeStep& step, FreeMotion& free) const;
  /// Where a solve leads the trees. Returns the slot of the root of a tree whose motion was not found, or -1.
  int end_step(const MassMatrix& mass, const FreeMotion& free, const EndMotion& end, double h, bool records,
               TreeMotionMemory& memory, TreeStep& step) const;
  /// Poses and twists of links and angles of hinges after end_step(), into `next`, which has the angles of the start.
  void advance(const TreeStep& step, State& next) const;

  /// Adds the impulses of motors that are loads of trees in h seconds, one for each motor of the model [N s or N m s].
  void add_motor_impulses(const Control& control, double h, std::span<double> impulses) const;

  /// The impulses [N m s about the origin of W; N s] by which joints, without the impulses of the contact problem,
  /// kept each link and all that hangs from it on its way; of a step whose end was recorded, by link.
  void joint_impulses(const TreeStep& step, std::vector<Vec6<double>>& impulses) const;

  /// Adds reactions of joints in the contact problem.
  ///
  /// @param reaction  net joint impulse on each moving body
  void add_reactions(const MassMatrix& mass, const TreeStep& step, const GrowableVector& reaction,
                     std::vector<Vec6<double>>& impulses) const;

  // Ways back, in this order, with everything else between the first and the others. Each adds to what it is
  // given; `state_bar` is that of the closed state. Links have entries in `inertia_W_bar` (not symmetrised) and
  // `parameter_bar` by slot.
  void advance_vjp(const MassMatrix& mass, double h, const FreeMotion& free, const EndMotion& end,
                   const State& next, std::span<const BodyMotionDerivative> derivatives, const TreeStep& step,
                   const StateTangent& next_bar, TreeMotionMemory& memory, EndMotionBar& end_bar,
                   GrowableVector& v_free_bar, std::span<Mat3<double>> inertia_W_bar,
                   std::span<FreeMotionParameterBar> parameter_bar) const;
  /// VJP of set_links(), from dL/d(links of the mass matrix).
  void links_vjp(const TreeStep& step, std::span<const LinkMotionBar> bars, TreeMotionMemory& memory) const;
  void free_motion_vjp(const MassMatrix& mass, const State& state, double h,
                       std::span<const BodyMotionDerivative> derivatives, const TreeStep& step,
                       const GrowableVector& v_free_bar, TreeMotionMemory& memory,
                       std::span<Mat3<double>> inertia_W_bar, StateTangent& state_bar,
                       std::span<Vec6<double>> wrench_bar, Vec3<double>& gravity_bar,
                       std::span<FreeMotionParameterBar> parameter_bar) const;
  /// Of the forces of motors, right after it.
  ///
  /// @param command_bar  one per motor, or none
  void motor_forces_vjp(const Control& control, const TreeMotionMemory& memory,
                        std::span<JointTangent> joint_bar, std::span<JointTangent> coupling_bar,
                        std::span<double> command_bar) const;
  /// From dL/d(closed state), in `state_bar`, to dL/d(state) in its place.
  ///
  /// @param state  as close_joints() took it
  void close_joints_vjp(const State& state, const TreeStep& step, TreeMotionMemory& memory,
                        StateTangent& state_bar, std::vector<JointTangent>& joint_bar) const;

  /// Overwrites `closed_dot`.
  void close_joints_jvp(const State& state, const StateTangent& state_dot, const TreeStep& step,
                        TreeMotionMemory& memory, StateTangent& closed_dot) const;
  /// The JVP of set_links(), right after that of close_joints(). Overwrites `dots`.
  void links_jvp(const TreeMotionMemory& memory, std::vector<LinkMotionBar>& dots) const;
  /// Sets links' entries of the tangent's v_free.
  ///
  /// @param command_dot  one per motor; empty: all 0
  void free_motion_jvp(const MassMatrix& mass, const State& state, const Control& control, double h,
                       std::span<const BodyMotionDerivative> derivatives, const TreeStep& step,
                       const FreeMotionDirection& direction, std::span<const double> command_dot,
                       TreeMotionMemory& memory, FreeMotionTangent& tangent) const;
  /// Sets links' entries of `next_dot`.
  void advance_jvp(const MassMatrix& mass, double h, const FreeMotion& free, const EndMotion& end,
                   const State& next, std::span<const BodyMotionDerivative> derivatives, const TreeStep& step,
                   const FreeMotionDirection& direction, const FreeMotionTangent& tangent,
                   const EndMotionBar& end_dot, TreeMotionMemory& memory, StateTangent& next_dot) const;

  /// The body of a link whose turn in a step, of which both motions were recorded, is within 1 % of where the step is
  /// divided (trees/free_tree_motion.h): its motion jumps there. -1: there is none.
  [[nodiscard]] int near_division(const TreeStep& step, double h) const;

  /// How far the way of a body may be from that of the twists that a solve leaves, [rotation; translation] per
  /// moving body, 0 of those that are no links: by how much arcs differ from chords. Into memory.slack.
  void find_slack(const MassMatrix& mass, const EndMotion& end, double h, const TreeStep& step,
                  TreeMotionMemory& memory) const;

 private:
  /// The force of a motor on a rate of the trees. A motor of a coupling acts on several, one after another.
  struct ForceMotor {
    MotorPlace place;
    int motor = -1;      ///< index among motors_of()
    int u = -1;          ///< rate
    double slope = 1.0;  ///< of the motor's coordinate by the tree's
  };
  void add_force_motor(const MotorPlace& place, int motor);
  [[nodiscard]] Motor motor_with_command(const ForceMotor& of, const Control& control) const;

  /// Entries of a link, out of those of all moving bodies.
  [[nodiscard]] Vec6<double> of_link(const MassMatrix& mass, std::size_t link,
                                     const GrowableVector& v) const {
    return v.segment<6>(6 * mass.slot(trees_.links[link].body));
  }
  [[nodiscard]] int root_slot(const MassMatrix& mass, int tree) const {
    return mass.slot(trees_.links[at(trees_.trees[at(tree)].first_link)].body);
  }
  [[nodiscard]] TreePath path_of(const TreeStep& step, std::size_t link, double h, const VecX<double>& rates,
                                 const std::vector<TreePath>& paths) const;

  const Model* model_;
  KinematicTrees trees_;
  std::vector<char> is_link_;  ///< per joint
  RigidGroups rigid_groups_;
  std::vector<ForceMotor> force_motors_;
};

}  // namespace abut
