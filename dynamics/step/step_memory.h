/// The parts of a StepScratch.
#pragma once

#include <memory>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "dynamics/motion/free_motion.h"
#include "dynamics/motion/mass_matrix.h"
#include "dynamics/rows/contact_rows.h"
#include "dynamics/rows/joint_rows.h"
#include "dynamics/rows/row_inputs.h"
#include "dynamics/solver/island_solver.h"
#include "dynamics/step/gap_following.h"
#include "dynamics/step/gradient.h"
#include "dynamics/step/impact_phases.h"
#include "dynamics/step/pair_jacobian.h"
#include "dynamics/step/step_scratch.h"
#include "dynamics/step/tree_motion.h"
#include "engine/growable_vector.h"
#include "engine/state.h"

namespace abut {

/// The contact problem of a substep, and its answer.
struct SolvedSubstep {
  MassMatrix mass;
  FreeMotion free;
  TreeStep trees;  ///< where there are any
  ContactRows rows;
  std::vector<FollowedGap> followed;  ///< of the contacts of rows and others
  JointRows joints;
  ContactSolution solution;                       ///< v_0, where there are impacts
  bool has_impacts = false;                       ///< see ImpactPhases
  GrowableVector end_velocity, end_displacement;  ///< after them

  /// @param lag  of the problem
  [[nodiscard]] EndMotion end_motion(const MotionLag& lag) const {
    if (!has_impacts) return solution.end_motion(lag);
    return {end_velocity, end_displacement, lag};
  }
};

/// What a full tape keeps of a substep.
struct SubstepTape {
  SolvedSubstep solved;
  IslandLinearization islands;

  [[nodiscard]] std::size_t bytes() const;
};

/// A substep with the first derivatives of all it is made of: as far as there is a tape, by that.
struct LinearizedSubstep {
  std::shared_ptr<const SubstepTape> tape;
  SubstepTape own;  ///< where there is none
  ManifoldLinearization contacts;
  std::vector<BodyMotionDerivative> motion;

  [[nodiscard]] const SolvedSubstep& solved() const { return tape != nullptr ? tape->solved : own.solved; }
  [[nodiscard]] const IslandLinearization& islands() const {
    return tape != nullptr ? tape->islands : own.islands;
  }
};

struct StepVjpScratch {
  std::vector<ContactBar> contacts;
  ContactProblemBar problem;
  EndMotionBar end;
  std::vector<Vec3<double>> momentum;
  std::vector<FreeMotionParameterBar> parameters;
  std::vector<GeometryGradient> geometry;
  std::vector<bool> near_kink;
  std::vector<int> kinks_of_body;
  // Of many losses, see pair_jacobian.h.
  std::vector<PairJacobian> pairs;
  ManifoldLinearization pair_contacts;
  StateTangent of_pair;
  GrowableVector multiplier;
};

struct StepJvpScratch {
  std::vector<ContactBar> contacts;
  FreeMotionTangent free;
  std::vector<FreeMotionParameterBar> parameters;
  ContactProblemDot problem;
  EndMotionBar end;
  StateTangent closed;
};

/// See StepScratch.
struct StepMemory {
  DetectorScratch detector;
  std::vector<double> margins;
  ContactManifold manifold;
  FollowingMemory following;
  SolvedSubstep solved;
  PhasesMemory phases;
  std::vector<CandidatePair> phase_pairs;
  std::vector<PhaseLoad> loads;
  std::vector<Vec3<double>> impulses;
  IslandMemory solver;
  std::vector<double> motor_impulses;  ///< of the substeps until now, one for each motor [N s or N m s]
  State start;                         ///< of a substep
  State closed;  ///< the same with the joints of trees closed
  TreeMotionMemory trees;
  RowScratch row_memory;

  LinearizedSubstep linearized;
  StepVjpScratch vjp;
  StepJvpScratch jvp;
  std::vector<StateTangent> between;  ///< at the ends of substeps, of each loss or direction
};

}  // namespace abut
