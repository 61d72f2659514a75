/// What a source file compiled for one instruction set consists of; it defines ABUT_KERNELS, the function's
/// name.
#include "collision/manifold/kernel/detection_kernel.h"

namespace abut {

DetectionKernels ABUT_KERNELS();
DetectionKernels ABUT_KERNELS() {  // NOLINT(misc-definitions-in-headers)
  return {&list_points_by_lanes, &list_primitives_by_lanes, &sample_near_by_lanes, &find_edge_pairs_by_lanes,
          &edge_normals_by_lanes};
}

}  // namespace abut
