#include "collision/manifold/kernel/derivative_kernels.h"

#include "engine/instruction_set.h"

namespace abut {

// Each in a file of its own, compiled for its instruction set.
DerivativeKernels derivative_kernels_base();
#ifdef ABUT_MANY_INSTRUCTION_SETS
DerivativeKernels derivative_kernels_avx2();
DerivativeKernels derivative_kernels_avx512();
#endif

DerivativeKernels derivative_kernels_for([[maybe_unused]] std::string_view instruction_set) {
#ifdef ABUT_MANY_INSTRUCTION_SETS
  if (instruction_set == "avx2") return derivative_kernels_avx2();
  if (instruction_set == "avx512") return derivative_kernels_avx512();
#endif
  return derivative_kernels_base();
}

const DerivativeKernels& derivative_kernels() {
  static const DerivativeKernels chosen = derivative_kernels_for(instruction_set());
  return chosen;
}

}  // namespace abut
