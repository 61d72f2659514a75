/// Signed distances at many points, one compilation for each instruction set.
#pragma once

#include "collision/sdf/shape_sdf.h"

namespace abut {

/// What sample_points() writes: columns of numbers, one of each for every point.
enum SampleColumn {
  k_sample_distance = 0,         ///< [m]; the only one with SdfOrder::distance
  k_sample_normal = 1,           ///< 3
  k_sample_normal_columns = 4,   ///< so many with SdfOrder::normal
  k_sample_gradient = 4,         ///< 3
  k_sample_normal_jacobian = 7,  ///< 9, row by row [1/m]
  k_sample_columns = 16
};

/// One compilation of point_kernel.h.
struct PointKernels {
  /// The solid at points of its own frame, out[c * count + i] for SampleColumn c; order is distance,
  /// normal or jacobian.
  void (*sample_points)(const ShapeSdf&, SdfOrder order, const double* x, const double* y, const double* z,
                        int count, double* out);
  /// The same by ShapeSdf::sample_to_rims(); order is normal or jacobian.
  void (*sample_points_to_rims)(const ShapeSdf&, SdfOrder order, const double* x, const double* y,
                                const double* z, int count, double* out);

  [[nodiscard]] static PointKernels base();
  [[nodiscard]] static PointKernels avx2();
  [[nodiscard]] static PointKernels avx512();
};

}  // namespace abut
