/// What a source file compiled for one instruction set consists of; it defines ABUT_KERNELS, the function's
/// name.
#include "collision/manifold/kernel/point_kernel.h"

namespace abut {

ABUT_SDF_SAMPLES_OF_KERNELS()

PointKernels ABUT_KERNELS();
PointKernels ABUT_KERNELS() { return {&sample_points_by_lanes}; }  // NOLINT(misc-definitions-in-headers)

}  // namespace abut
