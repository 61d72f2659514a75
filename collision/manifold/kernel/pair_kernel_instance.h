/// What a file compiled for one instruction set consists of: abut_add_kernels() in cmake/AbutTargets.cmake.
#include "collision/manifold/kernel/pair_kernel.h"

namespace abut {

PairKernels PairKernels::ABUT_COMPILATION() {  // NOLINT(misc-definitions-in-headers)
  return {&find_contacts_by_lanes<float>, &find_contacts_by_lanes<double>};
}

}  // namespace abut
