/// The rows of a report: numbers that were found, and what follows from them.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/identification/identifiability.h"
#include "apps/identification/identification_report.h"

namespace abut {

/// The unit of a tangent entry: "kg", "" for a number without one.
[[nodiscard]] std::string unit_of(const UnknownSpace& unknowns, int tangent_entry);

/// A tangent entry at a solution x.
///
/// @param first  where the search began
[[nodiscard]] EstimateRow estimate_of(const UnknownSpace& unknowns, int entry, const Eigen::VectorXd& x,
                                      const Eigen::VectorXd& first, const Identifiability& told);

/// Adds the six elements of each inertia that is unknown, with deviations to first order.
void add_inertias(const MotionFit& fit, const Eigen::VectorXd& x, const Identifiability& told,
                  std::vector<EstimateRow>& derived);

/// Adds the friction that acts where the friction of a body is unknown: that of each pair that touched, to be
/// shown beside the body's, with deviations to first order.
///
/// @param touching  pairs of bodies, the lower number first
void add_pair_frictions(const MotionFit& fit, const Eigen::VectorXd& x, const Identifiability& told,
                        const std::set<std::pair<int, int>>& touching, std::vector<EstimateRow>& derived);

}  // namespace abut
