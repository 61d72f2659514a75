/// What a source file compiled for one instruction set consists of; it defines ABUT_KERNELS, the function's
/// name.
#include "collision/manifold/kernel/point_kernel.h"

namespace abut {

// shape_sdf_packs.cpp has those of the instruction set of the rest of the library.
ABUT_SDF_SAMPLE(, normal, SdfDouble8)
ABUT_SDF_SAMPLE(, jacobian, SdfDouble8)

PointKernels ABUT_KERNELS();
PointKernels ABUT_KERNELS() { return {&sample_points_by_lanes, &relate_edges_by_lanes}; }

}  // namespace abut
