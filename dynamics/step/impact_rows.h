/// Contact rows at the poses of their impacts.
///
/// The impulses of the impacts of a pair act at one time t (contact_laws/impact.h), where the bodies are
/// then. The contact of a row of share s is evaluated again at the poses
///     p + s t v*,   Exp(s t w_m) R
/// of its two bodies (free_motion.h), at one point x for both, with the lever arms x - p - s t v*. The
/// displacement -s t gamma/m (smooth_coulomb_solver.h) is consistent with exactly these: the angular momentum
///     sum_b p_b+ x m_b v_b+ + I_b w_b
/// does not change. Arms about the poses at the start would lose s t gamma x (v_B - v_A), a fifth of that of
/// two balls that meet off centre at 6 m/s with steps of 10 ms.
///
/// Distances, weights, shares and times are those of the start. Rows that stay as they are: those that hit
/// nothing or at once, those of reduced pairs, and those of islands with joints, whose impulses act from the
/// start on.
#pragma once

#include <vector>

#include "collision/manifold/contact_detector.h"
#include "dynamics/contact_laws/impact.h"
#include "dynamics/rows/contact_rows.h"
#include "dynamics/solver/island_solver.h"

namespace abut {

struct ImpactRows {
  struct Moved {
    int row = -1;
    impact::Impact impact;  ///< of its own, but for `time`
    ContactFeature feature;
    [[nodiscard]] double time() const { return impact.share * impact.time; }  ///< s t
  };
  std::vector<Moved> moved;
  /// All rows, in their order; none if no row is moved. In a pair the distance of the centres is the same for
  /// all rows, so that moved rows are pairs of their own.
  ContactRows rows;
  std::vector<int> pair_at_start;  ///< of each pair

  [[nodiscard]] bool empty() const { return moved.empty(); }
  void clear();
};

/// Working memory of one thread.
struct ImpactRowsMemory {
  ManifoldLinearization contact;
  std::vector<Pose<double>> X_WB;
  std::vector<Vec6<double>> pose;
  std::vector<ContactBar> contact_dot;
  std::vector<impact::PairImpact> impacts, impacts_bar;  ///< of one pair
  std::vector<double> share_bar;
  std::vector<PairMaterialBar> pairs;  ///< of all pairs
  Islands islands;
};

}  // namespace abut
