/// Motion of trees without contact over one step, halved where it is too coarse, and its derivatives.
///
/// Newton's method solves the equation of tree_substep.h with the exact Jacobian, eliminated in time linear in the
/// links. A step of a tree that Newton's method does not solve, that turns a joint by more than
/// k_largest_joint_turn, or a link by more than k_largest_link_turn, is taken as two half steps, and so on: coarse
/// steps would create energy. Each tree is halved on its own.
///
/// A kick says what the loads of a step do to the rates of a tree that hardly moves meanwhile: what holds it has to take
/// these rates away, not those at which the halves of a coarse step move on.
#pragma once

#include <vector>

#include "dynamics/trees/tree.h"
#include "dynamics/trees/tree_elimination.h"
#include "dynamics/trees/tree_parameters.h"
#include "dynamics/trees/tree_substep.h"
#include "engine/types.h"

namespace abut {

inline constexpr double k_largest_joint_turn = 0.2;  ///< [rad]
inline constexpr double k_largest_link_turn = 2.0;   ///< [rad]; Log of a chord is unique below half a turn
inline constexpr int k_most_tree_halvings = 8;

/// Result of a step.
struct TreeMotionReport {
  int unsolved_tree = -1;  ///< the last tree whose smallest steps were not solved; -1: none, all went well
  int substeps = 0;        ///< equations solved, one per tree where no step was halved
  int iterations = 0;      ///< of Newton's method, all trees and halves together
};

/// The equations that a step solved, for its derivatives: per substep the state of its tree before, and rates.
struct TreeMotionRecord {
  struct Substep {
    int tree = 0;
    double time = 0.0, h = 0.0;          ///< its start, since that of the step, and its length [s]
    double h_load = 0.0;                 ///< for how long loads act [s]
    VecX<double> q, u_before, u;         ///< of the tree only
    std::vector<Vec6<double>> momentum;  ///< of its links
  };
  std::vector<Substep> substeps;  ///< trees one after the other, in the order of time
};

/// dL/d of what a step depends on, or of its result; tangents have the same layout.
struct TreeStateTangent {
  VecX<double> q, u;                   ///< (nv) both
  std::vector<Vec6<double>> momentum;  ///< per link

  TreeStateTangent() = default;
  explicit TreeStateTangent(const KinematicTrees& trees)
      : q(VecX<double>::Zero(trees.nv)), u(q), momentum(trees.links.size(), Vec6<double>::Zero()) {}
};

/// A direction of a step's inputs.
struct TreeMotionTangent {
  TreeStateTangent state;
  TreeLoads<double> loads;
  TreeParametersTangent parameters;

  TreeMotionTangent() = default;
  explicit TreeMotionTangent(const KinematicTrees& trees)
      : state(trees),
        loads{std::vector<Vec6<double>>(trees.links.size(), Vec6<double>::Zero()),
              VecX<double>::Zero(trees.nv)},
        parameters(trees) {}

  TreeMotionTangent& operator+=(const TreeMotionTangent& other);
};

/// Solver of steps with its memory: one per thread. Nothing is allocated in step() once it has seen the trees,
/// unless it records.
class FreeTreeMotion {
 public:
  /// Takes the state h seconds on. An unsolved tree keeps the state that it reached.
  ///
  /// @param record  overwritten unless null
  /// @param start   kinematics at the start, if known
  TreeMotionReport step(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                        const TreeLoads<double>& loads, double h, TreeState<double>& state,
                        TreeMotionRecord* record = nullptr, const TreeKinematics<double>* start = nullptr);

  /// The same of one tree; others stay. Adds to the record.
  TreeMotionReport step_tree(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                             const TreeLoads<double>& loads, int tree, double h, TreeState<double>& state,
                             TreeMotionRecord* record, const TreeKinematics<double>* start = nullptr);

  /// Sets the rates u (nv) of one tree after h seconds of loads that act at once. Adds to the record. Whether they were
  /// found.
  bool kick(const KinematicTrees& trees, const TreeParameters<double>& parameters,
            const TreeLoads<double>& loads, int tree, double h, const TreeState<double>& state,
            VecX<double>& u, TreeMotionRecord* record);

  /// Kinematics at the end of the last step of each tree that was solved.
  [[nodiscard]] const TreeKinematics<double>& end() const { return substep_.end; }

  /// JVP of a recorded step of which every tree was solved: takes the tangent of the state h seconds on. Those of
  /// loads and parameters stay.
  void step_jvp(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                const TreeLoads<double>& loads, const TreeMotionRecord& record, TreeMotionTangent& dot);

  /// Cotangents of a recorded step of which every tree was solved: replaces dL/d(state after) in `bar.state` by
  /// dL/d(state before) and adds to those of loads and parameters.
  void step_vjp(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                const TreeLoads<double>& loads, const TreeMotionRecord& record, TreeMotionTangent& bar);

 private:
  struct Inputs {
    const KinematicTrees& trees;
    const TreeParameters<double>& parameters;
    const TreeLoads<double>& loads;
    const TreeKinematics<double>* start = nullptr;  ///< of the step
  };

  void resize(const KinematicTrees& trees);
  bool advance(const Inputs& in, int tree, double time, double h, int halvings, TreeState<double>& state,
               TreeMotionReport& report, TreeMotionRecord* record);
  bool solve(const Inputs& in, const Tree& part, double time, double h, double h_load,
             const TreeState<double>& state, TreeMotionReport& report);
  /// The substep that was solved, from `state` on.
  [[nodiscard]] TreeMotionRecord::Substep recorded(const Tree& part, int tree, double time, double h,
                                                   double h_load, const TreeState<double>& state) const;
  void factor(const Inputs& in, const Tree& part, double h, const VecX<double>& u);
  /// @param error  by how much a displacement in h seconds may be off [rad]; too far is what surely is
  [[nodiscard]] bool joint_turns_too_far(const Inputs& in, const Tree& part, double h, double error) const;
  [[nodiscard]] bool link_turns_too_far(const Inputs& in, const Tree& part, double h);
  void linearize(const Inputs& in, const TreeMotionRecord::Substep& substep);
  void substep_vjp(const Inputs& in, const TreeMotionRecord::Substep& substep, TreeMotionTangent& bar);

  TreeSubstep<double> substep_;
  TreeElimination<double> elimination_;
  Eigen::Matrix<double, 6, Eigen::Dynamic> right_;  ///< (6, nv): twist of the end pose per h du
  VecX<double> u_, correction_;
  std::vector<Vec3<double>> link_rate_;
  TreeState<double> before_;  ///< of a recorded substep
  TreeKinematicsBar start_bar_, end_bar_;
  std::vector<Vec6<double>> twist_;
  VecX<double> q_bar_, q_end_bar_, u_bar_;
};

}  // namespace abut
