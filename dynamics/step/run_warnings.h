/// The warnings of the steps of a run (step_warnings.h), collected.
#pragma once

#include <vector>

#include "dynamics/step/step_report.h"

namespace abut {

/// The warnings of all steps of a run: each pair of bodies once for each kind, and `rounding`, which is of the
/// solver rather than of bodies, once in all. Allocates only for a pair that is new.
class RunWarnings {
 public:
  struct Entry {
    StepWarning::Kind kind;
    StepWarning worst;
    int first_step = 0;  ///< from 0
    int steps = 0;       ///< with the warning
  };
  void add(int step, const StepReport& report);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }  ///< in order of first steps

 private:
  std::vector<Entry> entries_;
};

}  // namespace abut
