#include "dynamics/simulator.h"

#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "collision/manifold/contact_detector.h"
#include "engine/check.h"
#include "engine/control.h"

namespace abut {

Simulator::Simulator(const Model& model, const StepConfig& config, const Simulator* prepared)
    : Simulator(std::make_shared<const Model>(model), config, prepared) {}

Simulator::Simulator(Model&& model, const StepConfig& config, const Simulator* prepared)
    : Simulator(std::make_shared<const Model>(std::move(model)), config, prepared) {}

Simulator::Simulator(std::shared_ptr<const Model> model, const StepConfig& config, const Simulator* prepared)
    : model_(std::move(model)) {
  ABUT_ASSERT(model_ != nullptr);
  stepper_ =
      std::make_unique<const Stepper>(*model_, config, prepared == nullptr ? nullptr : &prepared->stepper());
  for (int b = 0; b < model_->body_count(); ++b) {
    if (prepared != nullptr && stepper_->detector().shares(b, prepared->stepper().detector())) continue;
    require_points_on_surface(model_->bodies[static_cast<std::size_t>(b)]);
  }
}

StepResult Simulator::step(const State& state, const Control& control) const {
  StepResult result;
  StepScratch scratch;
  result.report = step(state, control, scratch, result.state);
  return result;
}

StepReport Simulator::step(const State& state, const Control& control, StepScratch& scratch,
                           State& next) const {
  const auto bodies = static_cast<std::size_t>(model_->body_count());
  if (state.X_WB.size() != bodies || state.V_WB.size() != bodies) {
    throw std::invalid_argument(fmt::format("a step of {} poses and {} twists for {} bodies",
                                            state.X_WB.size(), state.V_WB.size(), bodies));
  }
  require_control(*model_, control, "step", 0);
  if (&next == &state) throw std::invalid_argument("a step may not write to the state that it starts from");
  return stepper_->step(state, control, next, scratch);
}

std::vector<Overlap> Simulator::overlaps(const State& state) const {
  return find_overlaps(stepper_->detector(), state.X_WB);
}

ContactManifold Simulator::contacts(const State& state) const {
  StepScratch scratch;
  ContactManifold manifold;
  stepper_->contacts(state, scratch, manifold);
  return manifold;
}

}  // namespace abut
