#include <iostream>

#include "dynamics/simulator.h"
#include "engine/body_builder.h"

int main() {
  abut::Model model;
  model.bodies = {abut::make_half_space(), abut::make_sphere(0.05, 1000.0)};
  abut::State state = abut::state_at_rest(2);
  state.X_WB[1].p.z() = 0.06;
  const abut::Simulator simulator(model, {});
  const abut::Trajectory trajectory = simulator.rollout(state, 100);
  std::cout << "abut " << ABUT_VERSION << ": the sphere rests at " << trajectory.states.back().X_WB[1].p.z()
            << " m\n";
}
