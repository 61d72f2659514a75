/// What a source file compiled for one instruction set consists of; it defines ABUT_KERNELS, the function's
/// name.
#include "collision/manifold/kernel/derivative_kernel.h"

namespace abut {

DerivativeKernels ABUT_KERNELS();
DerivativeKernels ABUT_KERNELS() {  // NOLINT(misc-definitions-in-headers)
  return {&solid_vjp_by_lanes, &solid_vjp_by_lanes_and_point};
}

}  // namespace abut
