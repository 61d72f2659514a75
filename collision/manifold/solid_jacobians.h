/// Derivatives of what a solid says at points, found once by lanes, for many ways back through the same
/// points.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "collision/manifold/kernel/derivative_kernels.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/instruction_set.h"
#include "engine/types.h"

namespace abut {

/// d(distance, normal)/d(point, primitives) at points of one solid or several. Allocates only while it grows.
class SolidJacobians {
 public:
  void clear();
  /// Returns the place of the first of these points; the others follow. The solid must have derivatives by
  /// lanes (ShapeSdf::has_vjp_by_lanes()).
  ///
  /// @param x_S       points in the frame of the solid [m]
  /// @param distance  phi at each of them [m]
  std::size_t add(const BoundedSolid& solid, std::span<const Vec3<double>> x_S,
                  std::span<const double> distance,
                  const DerivativeKernels& kernels = chosen_kernels<DerivativeKernels>());

  /// What solid_vjp() says of one point: returns dL/dx_S, and adds to dL/d(primitives) unless that is empty.
  Vec3<double> vjp(std::size_t place, double distance_bar, const Vec3<double>& normal_bar,
                   std::span<PrimitiveGradient> primitives) const;

 private:
  static constexpr int k_rows = 4;  // distance, normal
  using Rows = Eigen::Matrix<double, k_primitive_bars, k_rows>;
  struct OfPrimitive {
    std::size_t primitive;
    Rows rows;
  };
  struct OfPoint {
    Eigen::Matrix<double, 3, k_rows> by_point;
    std::size_t begin, end;  // in primitives_
  };
  std::vector<OfPoint> points_;
  std::vector<OfPrimitive> primitives_;  // that matter to their point
  // memory
  std::vector<double> x_[3], distance_, bars_[k_rows], x_bar_[3], kernel_memory_, primitives_bar_;
};

}  // namespace abut
