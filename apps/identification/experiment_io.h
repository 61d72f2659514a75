/// Experiments from files: every key is in docs/identification.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/identification/experiment.h"
#include "apps/identification/identifiability.h"
#include "apps/identification/measurement_io.h"
#include "apps/identification/solve.h"

namespace abut {

/// How to search.
struct SearchSettings {
  SearchMethod method = SearchMethod::least_squares;
  std::optional<JacobianMethod> jacobian;  ///< none: the cheapest
  int max_iterations = 100;
  double tolerance = 1e-8;
  double trust_region = 1.0;  ///< initial radius of least squares; smaller is more careful
  RobustLoss loss;
  IntervalBasis intervals = IntervalBasis::stated;
  int starts = 1;          ///< the first from the guesses, the rest from random ones
  std::uint64_t seed = 0;  ///< of the random ones
  /// Factors of the scene's smoothing, one search after another, each from where the last one ended; the last
  /// is 1.
  std::vector<double> continuation{1.0};
};

/// Where a motion's measurements come from, and when they are taken where they are made up.
struct MotionData {
  MeasurementSource source;  ///< no file: the motion has goals only
  struct Sampling {
    double from = 0, every = 0, until = 0;  ///< [s]
    int points = 0;                         ///< on the surface, at a time
  };
  std::optional<Sampling> sampling;
};

struct ExperimentFile {
  std::filesystem::path path, scene;
  Experiment experiment;
  SearchSettings search;
  std::vector<MotionData> data;  ///< of each motion
};

enum class DataUse {
  read,  ///< measurements are read from their files
  plan   ///< they are to be made up: at the times of `sampling`, zero until then
};

/// Throws InputError: "file:line: what is wrong, what is allowed", and as read_scene() and
/// read_measurements().
[[nodiscard]] ExperimentFile read_experiment(const std::filesystem::path& path, DataUse use = DataUse::read);

}  // namespace abut
