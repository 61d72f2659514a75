/// The facade users meet first: a model, a config, steps, rollouts and their gradients.
///
///     const abut::Scene scene = abut::read_scene("scene.toml");
///     const abut::Simulator simulator(scene.model, scene.config.step);
///     const int ball = simulator.model().body("ball");
///
///     abut::StepResult next = simulator.step(scene.initial);             // one step: state and report
///     const abut::Trajectory trajectory = simulator.rollout(scene.initial, 500);
///
///     // A loss is written once, on a state of any scalar; value and gradient come together.
///     const auto loss =
///         abut::final_loss(500, [=](const auto& x) { return x.position(ball).squaredNorm(); });
///     const auto result = simulator.value_and_gradient(scene.initial, 500, {}, loss);
///     result.gradient.initial.twist[ball];                               // dL/d(everything)
///
/// A model never changes, a State is the caller's: that of a scene to start from is Scene::initial, that of a
/// model made by a program starts as state_at_rest(). A simulator is const: any number of threads may use it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "collision/manifold/contact_manifold.h"
#include "collision/overlap.h"
#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/closed_loop.h"
#include "dynamics/rollout/loss.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/step/step_scratch.h"
#include "dynamics/step/stepper.h"

namespace abut {

/// What a step leads to.
struct StepResult {
  State state;  ///< at its end, as far as it got; not to be used unless the report is ok
  StepReport report;

  [[nodiscard]] bool ok() const { return report.status == StepStatus::ok; }
};

class Simulator {
 public:
  /// Throws std::invalid_argument for a model or config that makes no sense, contact points off their own
  /// body's surface included.
  ///
  /// @param prepared  of a similar model: what was prepared for the geometry of its bodies is shared where it
  ///                  is the same. It need not outlive this one
  Simulator(const Model& model, const StepConfig& config, const Simulator* prepared = nullptr);
  Simulator(Model&& model, const StepConfig& config, const Simulator* prepared = nullptr);
  /// Of a model that others have, too: it is not copied. May not be null.
  Simulator(std::shared_ptr<const Model> model, const StepConfig& config,
            const Simulator* prepared = nullptr);

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] const Stepper& stepper() const { return *stepper_; }

  /// The contacts of a state whose activity is not zero.
  [[nodiscard]] ContactManifold contacts(const State& state) const;

  /// The pairs of bodies that overlap in a state by more than contacts at rest do, measured by their
  /// surfaces: see collision/overlap.h.
  [[nodiscard]] std::vector<Overlap> overlaps(const State& state) const;

  /// One time step under `control`. A function of its
  /// arguments alone. A step that fails says so in its report; std::invalid_argument for a state or control
  /// of another number of bodies.
  [[nodiscard]] StepResult step(const State& state, const Control& control = {}) const;

  /// The same in a scratch of the caller's, one per thread: equal to the last bit, and without an allocation
  /// once scratch and `next` have grown. `next` is overwritten and may not be `state`.
  StepReport step(const State& state, const Control& control, StepScratch& scratch, State& next) const;

  [[nodiscard]] Trajectory rollout(const State& initial, int steps, Controls controls = {},
                                   const StepObserver& observer = {}, std::size_t tape_bytes = 0) const {
    return abut::rollout(*stepper_, initial, steps, std::move(controls), observer, tape_bytes);
  }

  [[nodiscard]] Gradient gradient(const Trajectory& trajectory, const LossGradient& loss,
                                  const AdjointOptions& options = {}) const {
    return adjoint(*stepper_, trajectory, loss, options);
  }

  /// A rollout with the value of a loss and its gradient: see loss.h.
  [[nodiscard]] LossAndGradient value_and_gradient(const State& initial, int steps, Controls controls,
                                                   const RolloutLoss& loss,
                                                   const AdjointOptions& options = {}) const {
    return abut::value_and_gradient(*stepper_, initial, steps, std::move(controls), loss, options);
  }

  /// The same three under a feedback policy u_k = pi(k, x_k, parameters): see closed_loop.h.
  [[nodiscard]] Trajectory closed_loop_rollout(const State& initial, int steps, const Policy& policy,
                                               std::span<const double> parameters,
                                               const StepObserver& observer = {},
                                               std::size_t tape_bytes = 0) const {
    return abut::closed_loop_rollout(*stepper_, initial, steps, policy, parameters, observer, tape_bytes);
  }
  [[nodiscard]] PolicyGradient closed_loop_gradient(const Trajectory& trajectory, const Policy& policy,
                                                    std::span<const double> parameters,
                                                    const LossGradient& loss,
                                                    const AdjointOptions& options = {}) const {
    return closed_loop_adjoint(*stepper_, trajectory, policy, parameters, loss, options);
  }
  [[nodiscard]] LossAndPolicyGradient closed_loop_value_and_gradient(
      const State& initial, int steps, const Policy& policy, std::span<const double> parameters,
      const RolloutLoss& loss, const AdjointOptions& options = {}) const {
    return abut::closed_loop_value_and_gradient(*stepper_, initial, steps, policy, parameters, loss, options);
  }

 private:
  std::shared_ptr<const Model> model_;
  std::unique_ptr<const Stepper> stepper_;
};

}  // namespace abut
