/// What a file compiled for one instruction set consists of: abut_add_kernels() in cmake/AbutTargets.cmake.
#include "collision/manifold/kernel/contact_vjp_kernel.h"
#include "collision/manifold/kernel/derivative_kernel.h"

namespace abut {

DerivativeKernels DerivativeKernels::ABUT_COMPILATION() {  // NOLINT(misc-definitions-in-headers)
  return {&solid_vjp_by_lanes,           &solid_vjp_by_lanes_and_point, &vertices_to_solid_by_lanes,
          &vertices_from_solid_by_lanes, &edge_pairs_by_lanes,          &edge_gates_by_lanes,
          &edges_from_solids_by_lanes};
}

}  // namespace abut
