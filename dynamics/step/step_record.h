/// What the derivatives of a step need, besides the states before and after it.
#pragma once

#include <memory>
#include <vector>

#include "collision/manifold/candidate_pair.h"
#include "collision/manifold/contact_clustering.h"
#include "dynamics/step/step_report.h"
#include "engine/growable_vector.h"
#include "engine/state.h"

namespace abut {

struct SubstepTape;

/// What a step keeps for its derivatives.
///   lean  what decides on the rest, which is computed again: states, velocities, features of contacts
///   full  its contact problem, solved and linearized, too
enum class Tape { lean, full };

/// One solve.
struct SubstepRecord {
  double h = 0;                            ///< its length [s], a constant
  std::vector<ContactFeature> features;    ///< of the contacts with a weight > 0
  std::vector<ContactClusters> clusters;   ///< of each pair that has such, if any pair is reduced
  std::vector<CandidatePair> phase_pairs;  ///< of impacts, see ImpactPhases; empty: there are none
  GrowableVector velocity;                 ///< see ContactSolution, as the next two
  GrowableVector push_out;
  GrowableVector displacement;
  State end;                                ///< none of the last one: it is that of the step
  std::shared_ptr<const SubstepTape> tape;  ///< none: it is lean, as are all with impacts
};

/// Mostly a single substep.
struct StepRecord {
  std::vector<SubstepRecord> substeps;
  StepReport report;

  /// Memory that it takes, about [bytes].
  [[nodiscard]] std::size_t bytes() const;
};

}  // namespace abut
