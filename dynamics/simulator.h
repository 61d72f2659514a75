/// The way in for users of the library: a model, a config, rollouts and their gradients.
///
///     const abut::Scene scene = abut::read_scene("scene.toml");
///     const abut::Simulator simulator(scene.model, scene.config.step);
///     const abut::Trajectory trajectory = simulator.rollout(scene.initial, 500);
///     const abut::Gradient gradient = simulator.gradient(trajectory, loss);   // dL/d(everything)
#pragma once

#include <memory>

#include "collision/overlap.h"
#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/step/stepper.h"

namespace abut {

class Simulator {
 public:
  /// Throws std::invalid_argument for a model or config that makes no sense, contact points off their own
  /// body's surface included.
  ///
  /// @param prepared  of a similar model: what was prepared for the geometry of its bodies is shared where it
  ///                  is the same. It need not outlive this one
  Simulator(Model model, const StepConfig& config, const Simulator* prepared = nullptr);

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] const Stepper& stepper() const { return *stepper_; }

  /// The contacts of a state whose activity is not zero.
  [[nodiscard]] ContactManifold contacts(const State& state) const;

  /// The pairs of bodies that overlap in a state by more than contacts at rest do, measured by their
  /// surfaces: see collision/overlap.h.
  [[nodiscard]] std::vector<Overlap> overlaps(const State& state) const {
    return find_overlaps(stepper_->detector(), state.X_WB);
  }

  [[nodiscard]] Trajectory rollout(const State& initial, int steps, Controls controls = {},
                                   const StepObserver& observer = {}, std::size_t tape_bytes = 0) const {
    return abut::rollout(*stepper_, initial, steps, std::move(controls), observer, tape_bytes);
  }

  [[nodiscard]] Gradient gradient(const Trajectory& trajectory, const LossGradient& loss,
                                  const AdjointOptions& options = {}) const {
    return adjoint(*stepper_, trajectory, loss, options);
  }

 private:
  std::unique_ptr<const Model> model_;
  std::unique_ptr<const Stepper> stepper_;
};

}  // namespace abut
