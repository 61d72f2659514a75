/// What a file compiled for one instruction set consists of: abut_add_kernels() in cmake/AbutTargets.cmake.
#include "collision/manifold/kernel/point_kernel.h"

namespace abut {

PointKernels PointKernels::ABUT_COMPILATION() {  // NOLINT(misc-definitions-in-headers)
  return {&sample_points_by_lanes, &sample_points_to_rims_by_lanes};
}

}  // namespace abut
