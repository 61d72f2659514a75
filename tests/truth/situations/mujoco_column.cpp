#include "tests/truth/situations/mujoco_column.h"

#include <optional>
#include <stdexcept>

#include "tests/support/mujoco_peer/mujoco_peer.h"

namespace abut::truth {

#ifdef ABUT_HAVE_MUJOCO

namespace {

Recording record_mujoco(const Setup& setup, double h, int steps, const test::MujocoSettings& settings) {
  Recording recording;
  std::optional<test::MujocoPeer> peer;
  try {
    peer.emplace(setup.scene.model, h, setup.scene.state, settings);
  } catch (const std::invalid_argument& refusal) {
    recording.refusal = refusal.what();
    return recording;
  }
  peer->reset(setup.scene.state);
  recording.motion.h = h;
  recording.motion.states.push_back(setup.scene.state);
  for (int k = 0; k < steps; ++k) {
    peer->step();
    recording.motion.states.push_back(peer->state());
  }
  if (peer->has_warned()) recording.failure = "MuJoCo warned";
  return recording;
}

Column mujoco_column(const std::string& name, const test::MujocoSettings& settings) {
  Column column;
  column.name = name;
  column.scales = columns().back().scales;
  column.record = [settings](const Setup& setup, double h, int steps) {
    return record_mujoco(setup, h, steps, settings);
  };
  return column;
}

}  // namespace

const std::vector<Column>& peer_columns() {
  static const std::vector<Column> all = [] {
    test::MujocoSettings defaults, tuned;
    defaults.option = "cone=\"elliptic\"";
    tuned.option = "cone=\"elliptic\" impratio=\"10\" integrator=\"implicit\"";
    tuned.flag = "multiccd=\"enable\"";
    return std::vector<Column>{mujoco_column("mujoco", defaults), mujoco_column("mujoco (tuned)", tuned)};
  }();
  return all;
}

#else

const std::vector<Column>& peer_columns() {
  static const std::vector<Column> none;
  return none;
}

#endif

}  // namespace abut::truth
