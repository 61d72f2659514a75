/// Memory for full records of a rollout.
#pragma once

#include <cstddef>

#include "dynamics/step/step_record.h"

namespace abut {

/// Chooses which records are full: the first ones, as long as the memory lasts (and one beyond it).
class TapeBudget {
 public:
  explicit TapeBudget(std::size_t bytes = 0) : bytes_(bytes) {}

  [[nodiscard]] Tape next() const { return used_ + last_ < bytes_ ? Tape::full : Tape::lean; }

  /// Takes account of a step that was recorded as next() says.
  void add(const StepRecord& record) {
    if (next() == Tape::full) used_ += last_ = record.bytes();
  }

 private:
  std::size_t bytes_, used_ = 0, last_ = 0;
};

}  // namespace abut
