#include <iostream>

#include "dynamics/simulator.h"
#include "engine/body_builder.h"

int main() {
  abut::Model model;
  model.bodies = {abut::make_half_space(), abut::make_sphere(0.05, 1000.0)};
  abut::State state;
  state.X_WB = {{}, {abut::Quat<double>::Identity(), {0.0, 0.0, 0.06}}};
  state.V_WB.assign(2, abut::Vec6<double>::Zero());
  const abut::Simulator simulator(model, {});
  const abut::Trajectory trajectory = simulator.rollout(state, 100);
  std::cout << "abut " << ABUT_VERSION << ": the sphere rests at " << trajectory.states.back().X_WB[1].p.z()
            << " m\n";
}
