#include "apps/viewer/simulation/frame.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

#include "dynamics/step/step_memory.h"

namespace abut::viewer {
namespace {

auto key_of(const ContactFeature& f) {
  return std::tuple(f.body_A, f.body_B, static_cast<int>(f.kind), f.feature_A, f.feature_B);
}

/// Of the step from here; none if it fails.
void find_forces(const SceneModel& model, const State& state, const Control& control, FrameScratch& scratch,
                 Frame& frame) {
  scratch.forces.clear();
  frame.joint_forces.clear();
  const Stepper& stepper = model.simulator.stepper();
  const StepReport report = stepper.step(state, control, scratch.next, scratch.step, &scratch.record);
  if (report.status != StepStatus::ok) return;
  stepper.contact_forces(state, control, scratch.record, scratch.step, scratch.forces);
  stepper.joint_forces(state, control, scratch.record, scratch.step, frame.joint_forces);
}

}  // namespace

void look_at_contacts(const SceneModel& model, const State& state, const Control& control,
                      FrameScratch& scratch, Frame& frame) {
  const Stepper& stepper = model.simulator.stepper();
  stepper.contacts(state, scratch.step, scratch.manifold);
  stepper.detector().inspect(state.X_WB, scratch.manifold, scratch.step.memory().linearized.contacts,
                             scratch.inspection);
  find_forces(model, state, control, scratch, frame);

  frame.candidates = scratch.inspection.candidates;
  frame.contacts.clear();
  frame.other_forces.clear();
  std::map<decltype(key_of({})), std::size_t> places;
  for (std::size_t i = 0; i < scratch.manifold.contacts.size(); ++i) {
    frame.contacts.push_back({scratch.manifold.contacts[i], scratch.inspection.contacts[i], false, {}});
    if (scratch.inspection.contacts[i].known) places.emplace(key_of(scratch.manifold.contacts[i].feature), i);
  }
  for (const ContactForce& force : scratch.forces) {
    const auto place = places.find(key_of(force.feature));
    if (place == places.end()) {
      frame.other_forces.push_back(force);
      continue;
    }
    frame.contacts[place->second].has_force = true;
    frame.contacts[place->second].force = force;
  }
}

}  // namespace abut::viewer
