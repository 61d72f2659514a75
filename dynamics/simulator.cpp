#include "dynamics/simulator.h"

#include <utility>

namespace abut {

Simulator::Simulator(Model model, const StepConfig& config)
    : model_(std::make_unique<const Model>(std::move(model))) {
  for (const Body& body : model_->bodies) require_points_on_surface(body);
  stepper_ = std::make_unique<const Stepper>(*model_, config);
}

ContactManifold Simulator::contacts(const State& state) const {
  StepScratch scratch;
  ContactManifold manifold;
  stepper_->contacts(state, scratch, manifold);
  return manifold;
}

}  // namespace abut
