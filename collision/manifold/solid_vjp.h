/// The way back through signed distances and normals of one solid at many points, by lanes.
#pragma once

#include <span>
#include <vector>

#include "collision/manifold/kernel/derivative_kernels.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/instruction_set.h"
#include "engine/types.h"

namespace abut {

/// Memory of solid_vjp(); allocates only while it grows.
struct SolidVjpMemory {
  std::vector<double> of_primitives, primitives_bar;
};

/// Fills in x_bar of the first `count` points, and adds to dL/d(primitives) unless that is empty. For any
/// solid: by lanes where it has that.
///
/// @param to_rims  distances and normals are those of ShapeSdf::sample_to_rims()
void solid_vjp(const BoundedSolid& solid, const SolidBarColumns& columns, std::size_t count,
               SolidVjpMemory& memory, std::span<PrimitiveGradient> primitives, bool to_rims = false,
               const DerivativeKernels& kernels = chosen_kernels<DerivativeKernels>());

}  // namespace abut
