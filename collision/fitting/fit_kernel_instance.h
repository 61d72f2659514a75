/// What a file compiled for one instruction set consists of: abut_add_kernels() in cmake/AbutTargets.cmake.
#include "collision/fitting/fit_kernel.h"

namespace abut {

FitKernels FitKernels::ABUT_COMPILATION() {  // NOLINT(misc-definitions-in-headers)
  return {&fit_distances, &fit_normal_equations};
}

}  // namespace abut
