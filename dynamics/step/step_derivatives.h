/// What the derivatives of a step are taken along, and where they are put.
#pragma once

#include <span>

#include "dynamics/step/gradient.h"
#include "dynamics/step/rollout_direction.h"
#include "engine/state.h"

namespace abut {

/// How many contacts of a step's solves lie near a kink: of the law, see ContactSolver::contacts_near_kink(),
/// or of a shape, see is_near_kink().
struct KinkCount {
  int contacts = 0;  ///< rows of all solves
  int near_kink = 0;
  int body = -1;  ///< of finite mass, that has most of those near a kink; -1: there are none
  bool has_negative_determinant = false;  ///< of a solve, see SolutionLinearization
};

/// What of a model a loss is differentiated by. What is not asked for stays 0 or empty; shapes, which cost
/// most, are not even computed then.
struct GradientMask {
  bool shapes = true;     ///< geometry, shape
  bool materials = true;  ///< friction, stiffness, dissipation time, restitution
  bool masses = true;     ///< mass, inertia, density
};

/// A loss behind a step: dL/d(its end), and where what follows from that is put.
struct StepBar {
  const StateTangent* next = nullptr;
  StateTangent* state = nullptr;   ///< overwritten; may not be `next`
  std::span<Vec6<double>> wrench;  ///< of this step, one per body, added to
  ModelGradient* model = nullptr;  ///< added to
  GradientMask mask{};
  std::span<double> command{};  ///< of this step, one per motor, added to; empty: not asked for
};

/// A direction of what a step depends on, and where the change of its end is put.
struct StepDirection {
  const StateTangent* state = nullptr;
  std::span<const Vec6<double>> wrench;  ///< one per body
  Vec3<double> gravity = Vec3<double>::Zero();
  std::span<const BodyDirection> bodies;  ///< one per body
  StateTangent* next = nullptr;           ///< overwritten; may not be `state`
  std::span<const double> command{};      ///< one per motor; empty: all 0
};

}  // namespace abut
