/// The steps of rollouts by how the contact problem was solved.
#pragma once

#include <array>
#include <cstdint>

#include "dynamics/step/step_report.h"

namespace abut {

struct SolutionCounts {
  std::array<std::int64_t, k_solution_paths.size()> steps{};  ///< in the order of k_solution_paths
  std::int64_t negative_determinants = 0;                     ///< steps, see ContactSolution

  [[nodiscard]] std::int64_t of(SolutionPath path) const { return steps[static_cast<std::size_t>(path)]; }

  /// Counts a step that ended well.
  void add(const StepReport& report) {
    ++steps[static_cast<std::size_t>(report.path)];
    negative_determinants += report.has_negative_determinant;
  }
  void add(const SolutionCounts& others) {
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i] += others.steps[i];
    negative_determinants += others.negative_determinants;
  }
};

}  // namespace abut
