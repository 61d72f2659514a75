/// What rows of joints and couplings are made of, and what they contribute to on the way back.
#pragma once

#include <span>
#include <vector>

#include "dynamics/contact_laws/smooth_coulomb.h"
#include "dynamics/motion/free_motion.h"
#include "dynamics/motion/mass_matrix.h"
#include "dynamics/rows/coordinate_scales.h"
#include "dynamics/rows/joint_place.h"
#include "engine/model.h"
#include "engine/model_tangent.h"
#include "engine/state.h"

namespace abut {

/// What all rows of a step share.
struct JointSettings {
  smooth_coulomb::Settings law;         ///< h, c, and what stops need
  double default_dissipation_time = 0;  ///< tau of joints that give none [s]
  double substep = 0;                   ///< for how long motors and springs act [s]
  std::span<const char> is_link{};      ///< per joint, whether a tree holds it; empty: none is
  std::span<const double> commands{};   ///< added to the targets of motors, one for each; empty: none
};

/// What rows contribute to; everything is added to.
struct JointRowsGradient {
  std::span<Vec6<double>> pose;         ///< one per body
  std::span<Vec6<double>> fixed_twist;  ///< one per body, of the step; those of moving bodies stay
  std::span<double> mass;               ///< one per slot
  std::span<Mat3<double>> inertia_W;    ///< one per slot, not symmetrised
  std::span<JointGradient> joints;      ///< one per joint
  std::span<JointGradient> couplings;   ///< one per coupling
  GrowableVector* v_start = nullptr;    ///< of the free motion, if there is one
  GrowableVector* v_free = nullptr;
  std::span<double> commands{};  ///< one per motor, or none
};

/// One of the joints that a coordinate is made of.
struct CoordinatePart {
  int joint;
  JointPlace place;
  double radius;                        ///< r_i
  double value = 0.0;                   ///< q_i
  double slope = 1.0, curvature = 0.0;  ///< dq/dq_i and its derivative by q_i
};

struct RowScratch {
  std::vector<CoordinatePart> parts;
  std::vector<int> slots;
  std::vector<Vec6<double>> directions, scaled;
  std::vector<JointPlaceBar> place_bars;
  CompositeInertias composites;
};

/// Where rows are made, and what they are made of.
struct RowInputs {
  const Model& model;
  const MassMatrix& mass;
  const State& state;
  const JointSettings& settings;
  RowScratch& scratch;
  const FreeMotion* free = nullptr;

  /// Of the links of the mass matrix, found when first asked for.
  [[nodiscard]] CompositeInertias& composites() const {
    if (!scratch.composites.is_reset()) scratch.composites.reset(mass);
    return scratch.composites;
  }
  /// Whether a tree holds a joint.
  [[nodiscard]] bool holds(int joint) const {
    return !settings.is_link.empty() && settings.is_link[at(joint)] != 0;
  }
};

}  // namespace abut
