/// Signed distances at many points, one compilation for each instruction set.
#pragma once

#include <string_view>

#include "collision/sdf/shape_sdf.h"

namespace abut {

/// What sample_points() writes: columns of numbers, one of each for every point.
enum SampleColumn {
  k_sample_distance = 0,         ///< [m]
  k_sample_normal = 1,           ///< 3
  k_sample_normal_columns = 4,   ///< so many with SdfOrder::normal
  k_sample_gradient = 4,         ///< 3
  k_sample_normal_jacobian = 7,  ///< 9, row by row [1/m]
  k_sample_columns = 16
};

/// One compilation of point_kernel.h.
struct PointKernels {
  /// The solid at points of its own frame, out[c * count + i] for SampleColumn c; order is normal or
  /// jacobian.
  void (*sample_points)(const ShapeSdf&, SdfOrder order, const double* x, const double* y, const double* z,
                        int count, double* out);
};

/// Those for one of available_instruction_sets().
[[nodiscard]] PointKernels point_kernels_for(std::string_view instruction_set);

/// Those for instruction_set().
[[nodiscard]] const PointKernels& point_kernels();

}  // namespace abut
