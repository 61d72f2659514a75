#include "apps/viewer/panels/pending_edits.h"

#include <utility>

namespace abut::viewer {

double PendingEdits::shown(std::uint32_t id, double simulated, double now) {
  const auto place = edits_.find(id);
  if (place == edits_.end()) return simulated;
  const Pending& pending = place->second;
  const double value = pending.value;
  if (pending.is_due || !pending.done || !*pending.done) return value;
  const bool has_arrived = simulated == value;
  const bool was_refused = pending.done_since >= 0.0 && now - pending.done_since > k_patience;
  if (has_arrived || was_refused) {
    edits_.erase(place);
    return simulated;
  }
  return value;
}

void PendingEdits::change(std::uint32_t id, double value, Edit edit) {
  Pending& pending = edits_[id];
  pending.value = value;
  pending.edit = std::move(edit);
  pending.is_due = !pending.done || pending.posted != value;
}

void PendingEdits::post(SimulationThread& simulation, double now) {
  for (auto& [id, pending] : edits_) {
    const bool is_on_its_way = pending.done && !*pending.done;
    if (!is_on_its_way && pending.done && pending.done_since < 0.0) pending.done_since = now;
    if (!pending.is_due || is_on_its_way) continue;
    pending.is_due = false;
    pending.posted = pending.value;
    pending.done_since = -1.0;
    pending.done = std::make_shared<std::atomic<bool>>(false);
    simulation.post([edit = pending.edit, value = pending.value, done = pending.done](SimulationCore& core) {
      // Done whatever comes of it: the core says what was wrong.
      const struct Done {
        std::atomic<bool>& flag;
        ~Done() { flag = true; }
      } when_left{*done};
      edit(core, value);
    });
  }
}

}  // namespace abut::viewer
