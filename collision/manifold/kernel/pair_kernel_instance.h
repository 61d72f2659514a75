/// What a source file compiled for one instruction set consists of; it defines ABUT_KERNELS, the function's
/// name.
#include "collision/manifold/kernel/pair_kernel.h"

namespace abut {

PairKernels ABUT_KERNELS();
PairKernels ABUT_KERNELS() {  // NOLINT(misc-definitions-in-headers)
  return {&find_contacts_by_lanes<float>, &find_contacts_by_lanes<double>};
}

}  // namespace abut
