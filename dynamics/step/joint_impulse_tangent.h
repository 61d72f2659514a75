/// How the impulses of joints change along a direction.
#pragma once

#include "dynamics/motion/free_motion.h"
#include "dynamics/motion/mass_matrix.h"
#include "dynamics/rows/joint_constraints.h"
#include "dynamics/rows/joint_rows.h"
#include "dynamics/solver/contact_problem.h"
#include "dynamics/step/step_derivatives.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// The change of the joints' impulses J^T lambda at velocities that are held fixed. Component by component
/// of the bodies of each joint or coupling, by the way back of its rows. What it is given must outlive it.
class JointImpulseTangent {
 public:
  /// @param problem_dot  changes of the mass matrix and of the free motion
  JointImpulseTangent(const Model& model, const State& state, const JointSettings& settings,
                      const MassMatrix& mass, const FreeMotion& free, const JointRows& joints,
                      const StepDirection& direction, const ContactProblemDot& problem_dot)
      : model_(model),
        state_(state),
        settings_(settings),
        mass_(mass),
        free_(free),
        joints_(joints),
        direction_(direction),
        problem_dot_(problem_dot) {}

  /// Of rows some of whose impulses have acted before, at velocities v that change by v_dot.
  void set_borne(const GrowableVector& v, const GrowableVector& v_dot) {
    v_borne_ = &v;
    v_borne_dot_ = &v_dot;
  }

  /// out += d(J^T lambda(v))
  void add(const GrowableVector& v, GrowableVector& out) const;

 private:
  /// d(w^T J^T lambda)
  [[nodiscard]] double slope(const JointRows& rows, const GrowableVector& v, const GrowableVector& w) const;

  const Model& model_;
  const State& state_;
  JointSettings settings_;
  const MassMatrix& mass_;
  const FreeMotion& free_;
  const JointRows& joints_;
  const StepDirection& direction_;
  const ContactProblemDot& problem_dot_;
  const GrowableVector *v_borne_ = nullptr, *v_borne_dot_ = nullptr;
};

}  // namespace abut
