#include "dynamics/simulator.h"

#include <utility>

namespace abut {

Simulator::Simulator(Model model, const StepConfig& config, const Simulator* prepared)
    : model_(std::make_unique<const Model>(std::move(model))) {
  stepper_ =
      std::make_unique<const Stepper>(*model_, config, prepared == nullptr ? nullptr : &prepared->stepper());
  for (int b = 0; b < model_->body_count(); ++b) {
    if (prepared != nullptr && stepper_->detector().shares(b, prepared->stepper().detector())) continue;
    require_points_on_surface(model_->bodies[static_cast<std::size_t>(b)]);
  }
}

ContactManifold Simulator::contacts(const State& state) const {
  StepScratch scratch;
  ContactManifold manifold;
  stepper_->contacts(state, scratch, manifold);
  return manifold;
}

}  // namespace abut
