/// What a file compiled for one instruction set consists of: abut_add_kernels() in cmake/AbutTargets.cmake.
#include "collision/manifold/kernel/derivative_kernel.h"

namespace abut {

DerivativeKernels DerivativeKernels::ABUT_COMPILATION() {  // NOLINT(misc-definitions-in-headers)
  return {&solid_vjp_by_lanes, &solid_vjp_by_lanes_and_point};
}

}  // namespace abut
