/// An experiment repeated on made-up data: how good its estimates and their intervals are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/abut/report.h"
#include "apps/identification/experiment_io.h"
#include "apps/identification/synthetic_data.h"

namespace abut {

/// Of one tangent entry, over all repetitions that did not fail.
struct RepetitionRow {
  std::string name, unit;
  double truth = 0, mean = 0;
  double mean_error = 0, largest_error = 0;  ///< of |estimate - truth|
  double initial_error = 0;                  ///< of the guess
  double deviation = 0;                      ///< mean of what each repetition says itself; of the told ones
  int inside = 0, told = 0;                  ///< truths in their own 95 % interval; intervals given
};

struct RepetitionReport {
  int repetitions = 0, failed = 0;
  std::vector<RepetitionRow> rows;
  double mean_chi_square = 0, mean_seconds = 0, mean_iterations = 0;
  std::string first_failure;
};

/// Makes data of the true unknowns (the guesses where none are given) with noise of its own for every
/// repetition, and searches again from the guesses. Repetitions do not depend on the number of threads.
///
/// @param progress  called after each, one at a time, with how many are done; false stops
[[nodiscard]] RepetitionReport repeat_experiment(const ExperimentFile& file, int repetitions,
                                                 const DataFlaws& flaws, std::uint64_t seed, int threads,
                                                 const std::function<bool(int)>& progress);

[[nodiscard]] std::string text_of(const RepetitionReport& report);
[[nodiscard]] Json json_of(const RepetitionReport& report);

}  // namespace abut
