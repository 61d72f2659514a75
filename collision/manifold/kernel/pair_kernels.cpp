#include "collision/manifold/kernel/pair_kernels.h"

#include "engine/instruction_set.h"

namespace abut {

// Each in a file of its own, compiled for its instruction set.
PairKernels pair_kernels_base();
#ifdef ABUT_MANY_INSTRUCTION_SETS
PairKernels pair_kernels_avx2();
PairKernels pair_kernels_avx512();
#endif

PairKernels pair_kernels_for([[maybe_unused]] std::string_view instruction_set) {
#ifdef ABUT_MANY_INSTRUCTION_SETS
  if (instruction_set == "avx2") return pair_kernels_avx2();
  if (instruction_set == "avx512") return pair_kernels_avx512();
#endif
  return pair_kernels_base();
}

const PairKernels& pair_kernels() {
  static const PairKernels chosen = pair_kernels_for(instruction_set());
  return chosen;
}

}  // namespace abut
