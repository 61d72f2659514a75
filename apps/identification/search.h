/// The whole search for the unknowns of an experiment: from several guesses, through several stages of
/// smoothing, with what was reached so far kept in a file.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "apps/identification/experiment_io.h"
#include "apps/identification/motion_fit.h"
#include "apps/identification/solve.h"

namespace abut {

/// The scene's settings with smoother contact: activity, friction and normal velocities smoothed over
/// `factor` times as much.
[[nodiscard]] StepConfig smoothed(const Scene& scene, double factor);

/// A guess to start from: the experiment's own for number 0, else drawn between the bounds, or from the
/// prior, or by factors around e^(1/2) (positive numbers), one unit or half the size (others), 30 degrees
/// (orientations) of the experiment's own.
[[nodiscard]] Eigen::VectorXd guess_of_start(const MotionFit& fit, std::uint64_t seed, int number);

struct StageIteration {
  int start = 0, stage = 0;
  Iteration iteration;
};

/// The experiment that a search ends with: motions in one piece, whatever the segments it began with.
[[nodiscard]] Experiment whole_motions(const Experiment& experiment);

/// What one start has come to.
struct StartState {
  int stage = 0;  ///< the one it is in, or that ended last
  bool is_done = false;
  Eigen::VectorXd x;                                       ///< the best of that stage, of its unknowns
  double cost = std::numeric_limits<double>::quiet_NaN();  ///< NaN until there is one
  double initial_cost = std::numeric_limits<double>::quiet_NaN();
  double trust_region = 0;
  int iterations = 0;
  Solution::Status status = Solution::Status::stopped;
  std::string message;
  std::vector<std::string> notes;  ///< of its solutions
};

struct SearchResult {
  std::vector<StartState> starts;
  int best = 0;                            ///< of the starts
  std::vector<StageIteration> iterations;  ///< in the order of starts and stages
  int evaluations = 0, jacobians = 0;
  double seconds = 0;
  bool is_whole = true;  ///< false: stopped before the end
};

struct SearchOptions {
  int threads = 1;                   ///< >= 1, for starts at a time, or for the motions of the only one
  std::filesystem::path checkpoint;  ///< rewritten after every iteration; none: nothing is kept
  bool resume = false;  ///< go on from the checkpoint. Throws InputError if it is of another experiment
  std::atomic<std::int64_t>* steps = nullptr;  ///< time steps that are simulated are added to it
  /// Called after every iteration of every start, one at a time; false stops the search.
  std::function<bool(const StageIteration&)> progress;
};

[[nodiscard]] SearchResult search(const ExperimentFile& file, const SearchOptions& options);

}  // namespace abut
