#include "dynamics/step/step_memory.h"

namespace abut {

StepScratch::StepScratch() : memory_(std::make_unique<StepMemory>()) {}
StepScratch::StepScratch(StepScratch&&) noexcept = default;
StepScratch& StepScratch::operator=(StepScratch&&) noexcept = default;
StepScratch::~StepScratch() = default;

}  // namespace abut
