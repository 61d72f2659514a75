/// Numbers that are on their way to the simulation: settings, its speed, the moment it shows.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "apps/viewer/simulation/simulation_thread.h"

namespace abut::viewer {

/// What the user has set is shown until the simulation has it, or has refused it; so a slider neither jumps
/// back while it is dragged nor stays at a value that nothing is simulated with. Of each setting one change
/// is on its way at a time: a model may take longer to make than a picture.
class PendingEdits {
 public:
  using Edit = std::function<void(SimulationCore& core, double value)>;

  /// What to show of a setting that a frame says has the value `simulated`.
  ///
  /// @param id   of the setting
  /// @param now  [s]
  [[nodiscard]] double shown(std::uint32_t id, double simulated, double now);
  /// The user has changed it.
  void change(std::uint32_t id, double value, Edit edit);
  /// Posts what is due; once per picture.
  void post(SimulationThread& simulation, double now);
  /// Another scene: nothing of what was set belongs to it.
  void forget() { edits_.clear(); }

 private:
  static constexpr double k_patience = 0.3;  // that a frame may take to come after its edit was done [s]

  struct Pending {
    double value = 0, posted = 0;
    bool is_due = false;
    std::shared_ptr<std::atomic<bool>> done;  // of the one that is on its way; null before
    double done_since = -1.0;
    Edit edit;
  };
  std::map<std::uint32_t, Pending> edits_;
};

}  // namespace abut::viewer
