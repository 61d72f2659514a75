/// The gradient of an experiment's loss against differences.
#pragma once

#include <string>
#include <vector>

#include "apps/abut/report.h"
#include "apps/identification/experiment_io.h"
#include "dynamics/gradient_check/gradient_sample.h"

namespace abut {

struct LossCheck {
  std::vector<std::string> names;       ///< of the tangent entries
  std::vector<GradientSample> samples;  ///< one for each
  GradientCheckSummary summary;
  std::string failure;  ///< of motions that cannot be simulated
};

/// At a point near the guesses: the adjoint of the loss (search.loss, all motions) by every tangent entry,
/// scaled by the size of the entry and of the loss, against central differences. Rollouts are solved to
/// k_gradient_check_tolerance.
///
/// @param seed  of the point, a per cent of each entry's size off the guess
[[nodiscard]] LossCheck check_loss(const ExperimentFile& file, std::uint64_t seed, int threads);

[[nodiscard]] std::string text_of(const LossCheck& check);
[[nodiscard]] Json json_of(const LossCheck& check);

}  // namespace abut
