#include "dynamics/kernel/row_kernels.h"

#include "engine/instruction_set.h"

namespace abut {

// Each in a file of its own, compiled for its instruction set.
RowKernels row_kernels_base();
#ifdef ABUT_MANY_INSTRUCTION_SETS
RowKernels row_kernels_avx2();
RowKernels row_kernels_avx512();
#endif

RowKernels row_kernels_for([[maybe_unused]] std::string_view instruction_set) {
#ifdef ABUT_MANY_INSTRUCTION_SETS
  if (instruction_set == "avx2") return row_kernels_avx2();
  if (instruction_set == "avx512") return row_kernels_avx512();
#endif
  return row_kernels_base();
}

const RowKernels& row_kernels() {
  static const RowKernels chosen = row_kernels_for(instruction_set());
  return chosen;
}

}  // namespace abut
