#include "collision/manifold/kernel/point_kernels.h"

#include "engine/instruction_set.h"

namespace abut {

// Each in a file of its own, compiled for its instruction set.
PointKernels point_kernels_base();
#ifdef ABUT_MANY_INSTRUCTION_SETS
PointKernels point_kernels_avx2();
PointKernels point_kernels_avx512();
#endif

PointKernels point_kernels_for([[maybe_unused]] std::string_view instruction_set) {
#ifdef ABUT_MANY_INSTRUCTION_SETS
  if (instruction_set == "avx2") return point_kernels_avx2();
  if (instruction_set == "avx512") return point_kernels_avx512();
#endif
  return point_kernels_base();
}

const PointKernels& point_kernels() {
  static const PointKernels chosen = point_kernels_for(instruction_set());
  return chosen;
}

}  // namespace abut
