/// Working memory of steps and of their derivatives.
#pragma once

#include <memory>

namespace abut {

struct StepMemory;

/// Of one thread, for steps of one model after another. What it holds changes no result.
class StepScratch {
 public:
  StepScratch();
  StepScratch(StepScratch&&) noexcept;
  StepScratch& operator=(StepScratch&&) noexcept;
  ~StepScratch();

  /// Its parts: dynamics/step/step_memory.h.
  [[nodiscard]] StepMemory& memory() { return *memory_; }
  [[nodiscard]] const StepMemory& memory() const { return *memory_; }

 private:
  std::unique_ptr<StepMemory> memory_;
};

}  // namespace abut
