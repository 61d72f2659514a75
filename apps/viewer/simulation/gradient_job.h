/// A gradient computed beside the simulation: of a loss after some steps, with respect to where they start
/// and to the force in each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "apps/viewer/simulation/loss.h"
#include "apps/viewer/simulation/simulation_core.h"
#include "dynamics/gradient_check/gradient_sample.h"
#include "dynamics/rollout/adjoint.h"

namespace abut::viewer {

/// A piece of the past, or what would follow from a moment.
struct GradientRequest {
  SharedModel model;
  State initial;
  std::int64_t number = 0;  ///< moment of `initial`
  int steps = 100;
  Controls controls;  ///< one per step, or none
  Loss loss;
  bool check = false;                   ///< against differences, too
  std::vector<std::string> unknowns{};  ///< parameters that ParameterStudy lists before others
};

/// One step of the rollout, and of the adjoint through it.
struct GradientStep {
  double growth = 0;           ///< of the adjoint's norm in this step, without what the loss adds; 0: unknown
  double share_near_kink = 0;  ///< of its contacts
  int kink_body = -1;          ///< that has such a contact
  int contacts = 0;            ///< with a weight > 0
  int iterations = 0;          ///< of the solver
  bool has_other_answers = false;  ///< GradientWarning::Kind::branch
};

struct GradientResult {
  GradientRequest request;
  std::string error;  ///< why there is none: a step that failed, say; else empty
  double loss = 0;
  Gradient gradient;
  std::vector<GradientStep> steps;
  std::vector<State> states;  ///< of the rollout, steps + 1
  /// Of the initial poses, the initial twists and the forces, each along its own gradient, if asked for.
  std::vector<GradientSample> check;
  double seconds = 0;
};

/// Does it at once. Never throws.
///
/// @param stop  between steps: the result then has an error
[[nodiscard]] GradientResult compute_gradient(const GradientRequest& request,
                                              const std::stop_token& stop = {});

/// A rollout of the same steps, once more: whether every bit is the same.
struct DeterminismResult {
  int steps = 0;
  std::int64_t first_difference = -1;  ///< moment of the first state that is not the same, -1: all are
  std::string error;
};

/// Repeats the steps that are kept after a moment, with what they were made with.
[[nodiscard]] DeterminismResult check_determinism(const SceneModel& model, const History& history,
                                                  std::int64_t from);
/// Not those of other settings, nor where the user has moved a body.
[[nodiscard]] inline DeterminismResult check_determinism(const SimulationCore& core, std::int64_t from) {
  return check_determinism(*core.model(), core.history(), std::max(from, core.steps_since()));
}

/// One job at a time on a thread of its own, which ends with the step under way where the job is destroyed.
class GradientJob {
 public:
  ~GradientJob();
  [[nodiscard]] bool busy() const { return future_.valid(); }
  /// Does nothing while busy.
  void start(GradientRequest request);
  /// The result, once, when it is there.
  [[nodiscard]] std::optional<GradientResult> poll();
  [[nodiscard]] GradientResult wait();  ///< of a job that was started
  /// The result then is what there is after the step under way: an error.
  void cancel() { stop_.request_stop(); }

 private:
  std::stop_source stop_;
  std::future<GradientResult> future_;
};

}  // namespace abut::viewer
