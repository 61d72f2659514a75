/// The gradient of a loss over a rollout: its steps backwards. With it comes what tells whether it can be
/// trusted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dynamics/rollout/adjoint_growth.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/step/gradient.h"
#include "dynamics/step/step_derivatives.h"
#include "dynamics/step/step_scratch.h"
#include "dynamics/step/stepper.h"

namespace abut {

/// A loss, seen by the adjoint: adds dL/d(state k) to `bar`, for k = 0 ... steps.
using LossGradient = std::function<void(int k, const State& state, StateTangent& bar)>;

/// Something about a gradient that its user should know.
struct GradientWarning {
  enum class Kind {
    chaos,  ///< from this step to the end the adjoint grows `value` times as much as in free motion
    branch  ///< a step was hard to solve and may have other answers nearby: SolutionPath `value`
  } kind = Kind::chaos;
  int step = -1;  ///< from 0
  int body = -1;  ///< of which the adjoint is largest; -1: none in particular
  double value = 0;
};

/// One sentence that names step and body.
[[nodiscard]] std::string warning_text(const Model& model, const GradientWarning& warning);

/// How a gradient came about.
struct GradientHealth {
  bool smoother_backward =
      false;  ///< AdjointOptions::backward was used: not the gradient of the forward pass
  /// False: a pair has another detector than the manifold, and derivatives by shapes that were asked for are
  /// NaN.
  bool has_shape_derivatives = true;
  int contacts = 0;                   ///< rows of all solves of all steps
  int contacts_near_kink = 0;         ///< of these: see KinkCount
  std::vector<KinkCount> kinks;       ///< of each step
  int steps_on_branches = 0;          ///< that may have other answers nearby
  int steps_lacking_restitution = 0;  ///< with StepWarning::Kind::lost_restitution
  std::vector<double> adjoint_norm;   ///< |dL/d(state k)|, k = 0 ... steps
  double largest_growth = 0;    ///< max over the steps k of |dL/d(state k)| / |dL/d(state k + 1)|, without
                                ///< what the loss itself adds at k
  double growth_over_free = 0;  ///< max over the steps of the adjoint's growth relative to free motion:
                                ///< AdjointGrowth
  std::vector<GradientWarning> warnings;

  [[nodiscard]] double share_near_kink() const {
    return contacts > 0 ? static_cast<double>(contacts_near_kink) / contacts : 0.0;
  }
};

struct Gradient {
  StateTangent initial;  ///< dL/d(initial poses, twists)
  Controls controls;     ///< dL/d(wrench of step k on body b), dL/d(command of motor m)
  ModelGradient model;
  GradientHealth health;
};

struct AdjointOptions {
  /// Of the same model, with smoother contact: differentiates every step of the forward pass, from its own
  /// state, as if this one had taken it. See contacts_from_distance().
  const Stepper* backward = nullptr;
  GradientMask mask{};  ///< of the gradient's model
  double chaos_warning =
      50.0;  ///< GradientHealth::growth_over_free; how often it is right: docs/gradients.md
};

/// The VJP of what makes the control of step k of the state at its start: from dL/d(control), complete, to
/// dL/d(state k), added. See closed_loop.h.
using ControlVjp =
    std::function<void(int k, const State& state, const Control& control_bar, StateTangent& state_bar)>;

/// Exact gradient of the loss over a rollout. Throws std::logic_error if the trajectory failed: a step that
/// did not converge or is not finite has no gradient.
///
/// @param feedback  empty: controls do not depend on the states
[[nodiscard]] Gradient adjoint(const Stepper& stepper, const Trajectory& trajectory, const LossGradient& loss,
                               const AdjointOptions& options = {}, const ControlVjp& feedback = {});

/// The steps of a rollout backwards, one at a time, for those who do not keep all of them.
class AdjointSweep {
 public:
  /// Everything must outlive it. `controls` as those of the rollout.
  AdjointSweep(const Stepper& stepper, int steps, const Controls& controls, const LossGradient& loss,
               const AdjointOptions& options, const ControlVjp* feedback = nullptr);

  /// The state at the end comes first ...
  void start(const State& last);
  /// ... then steps - 1, ..., 0, each between its two states.
  void step_back(int k, const State& state, const State& next, const StepRecord& record);
  [[nodiscard]] Gradient finish();

 private:
  void add_loss(int k, const State& state);
  void note(int k, const StepRecord& record, const KinkCount& kinks, double norm_before);
  void note_growth(int k);

  const Stepper& stepper_;
  int steps_;
  const Controls& controls_;
  const LossGradient& loss_;
  const AdjointOptions& options_;
  const ControlVjp* feedback_;
  Gradient gradient_;
  AdjointGrowth growth_;
  StateTangent bar_, before_;
  StepScratch scratch_;
  State backward_next_;
  StepRecord backward_record_;
};

/// Settings for AdjointOptions::backward in which bodies feel each other from about `distance` [m] on, so
/// that a gradient tells the way to a contact that the forward pass did not have: forces as of the weight of
/// a body at the surface, that fade over the distance.
/// @see  Paulus et al. (2025), "Hard contacts with soft gradients", arXiv 2506.14186, whose idea this is; the
///       force law is ours.
[[nodiscard]] StepConfig contacts_from_distance(const Model& model, const StepConfig& config,
                                                double distance);

}  // namespace abut
