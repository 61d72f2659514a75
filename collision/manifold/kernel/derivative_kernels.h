/// The kernels of the VJP of solids at points, one compilation for each instruction set.
#pragma once

#include "collision/manifold/kernel/solid_bound.h"

namespace abut {

/// Points in the frame of a solid with dL/d(distance, normal) there. Columns are of whole packs of 8; what
/// fills the last one up has bars of 0 and a point of the list.
struct SolidBarColumns {
  const double* x[3];  ///< [m]
  int count;
  const double* distance;  ///< [m], to rounding: says which primitives matter
  const double* distance_bar;
  const double* normal_bar[3];  ///< null: all are 0
  double* x_bar[3];             ///< written
};

/// dL/d of a primitive: parameters (5), then its pose (6), left, in B.
inline constexpr int k_primitive_bars = 11;
/// Numbers of memory for each primitive.
inline constexpr int k_solid_vjp_memory = 16 * 8 + 1;

/// One compilation of derivative_kernel.h.
struct DerivativeKernels {
  /// For solids that have it (ShapeSdf::has_vjp_by_lanes()): writes dL/dx and, unless null, adds dL/d(each
  /// primitive) to k_primitive_bars numbers each. `memory` has k_solid_vjp_memory numbers for each primitive.
  void (*solid_vjp)(const BoundedSolid&, const SolidBarColumns&, double* memory, double* primitives_bar);

  /// The same with bars of normals, each point by itself: k_primitive_bars columns of numbers for each
  /// primitive, as long as those of points. Written where a primitive matters to a pack of points.
  void (*solid_vjp_by_point)(const BoundedSolid&, const SolidBarColumns&, double* memory,
                             double* primitives_bar);

  [[nodiscard]] static DerivativeKernels base();
  [[nodiscard]] static DerivativeKernels avx2();
  [[nodiscard]] static DerivativeKernels avx512();
};

}  // namespace abut
