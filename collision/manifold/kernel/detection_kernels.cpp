#include "collision/manifold/kernel/detection_kernels.h"

#include "engine/instruction_set.h"

namespace abut {

// Each in a file of its own, compiled for its instruction set.
DetectionKernels detection_kernels_base();
#ifdef ABUT_MANY_INSTRUCTION_SETS
DetectionKernels detection_kernels_avx2();
DetectionKernels detection_kernels_avx512();
#endif

DetectionKernels detection_kernels_for([[maybe_unused]] std::string_view instruction_set) {
#ifdef ABUT_MANY_INSTRUCTION_SETS
  if (instruction_set == "avx2") return detection_kernels_avx2();
  if (instruction_set == "avx512") return detection_kernels_avx512();
#endif
  return detection_kernels_base();
}

const DetectionKernels& detection_kernels() {
  static const DetectionKernels chosen = detection_kernels_for(instruction_set());
  return chosen;
}

}  // namespace abut
