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
void solid_vjp(const BoundedSolid& solid, const SolidBarColumns& columns, std::size_t count,
               SolidVjpMemory& memory, std::span<PrimitiveGradient> primitives,
               const DerivativeKernels& kernels = chosen_kernels<DerivativeKernels>());

/// Points of a solid with dL/d of what it says there: collected with add(), gone back through by vjp().
/// Allocates only while it grows.
class SolidBars {
 public:
  void clear();
  /// Returns the place of the point in the list.
  /// @param x_S       point in the frame of the solid [m]
  /// @param distance  phi(x_S) [m]
  std::size_t add(const Vec3<double>& x_S, double distance, double distance_bar,
                  const Vec3<double>& normal_bar = Vec3<double>::Zero());
  void add_to(std::size_t place, double distance_bar) { distance_bar_[place] += distance_bar; }
  [[nodiscard]] std::size_t size() const { return count_; }

  /// To x_bar(), and to dL/d(primitives) unless that is empty.
  void vjp(const BoundedSolid& solid, std::span<PrimitiveGradient> primitives,
           const DerivativeKernels& kernels = chosen_kernels<DerivativeKernels>());
  /// dL/dx_S
  [[nodiscard]] Vec3<double> x_bar(std::size_t place) const {
    return {x_bar_[0][place], x_bar_[1][place], x_bar_[2][place]};
  }

 private:
  std::size_t count_ = 0;
  bool has_normals_ = false;
  std::vector<double> x_[3], distance_, distance_bar_, normal_bar_[3], x_bar_[3];
  SolidVjpMemory memory_;
};

}  // namespace abut
