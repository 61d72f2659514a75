#include "dynamics/step/run_warnings.h"

#include <algorithm>

namespace abut {

void RunWarnings::add(int step, const StepReport& report) {
  for (const StepWarning::Kind kind : k_step_warnings) {
    const StepWarning& warning = report.warnings[static_cast<std::size_t>(kind)];
    if (!warning.is_given()) continue;
    const auto is_same = [&](const Entry& entry) {
      return entry.kind == kind && (kind == StepWarning::Kind::rounding ||
                                    (entry.worst.body == warning.body && entry.worst.other == warning.other));
    };
    const auto found = std::find_if(entries_.begin(), entries_.end(), is_same);
    if (found == entries_.end()) {
      entries_.push_back({kind, warning, step, 1});
      continue;
    }
    ++found->steps;
    if (warning.value > found->worst.value) found->worst = warning;
  }
}

}  // namespace abut
