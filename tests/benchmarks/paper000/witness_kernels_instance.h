/// What a file compiled for one instruction set consists of: abut_add_kernels() in cmake/AbutTargets.cmake.
#include "tests/benchmarks/paper000/witness_kernels.h"

namespace abut::paper000 {

WitnessKernels WitnessKernels::ABUT_COMPILATION() {  // NOLINT(misc-definitions-in-headers)
  return {&solve_on_packs<float>, &solve_on_packs<double>, 8 * simd::k_register_bytes};
}

}  // namespace abut::paper000
