#include "collision/manifold/solid_vjp.h"

#include "collision/sdf/parameter_vjp.h"

namespace abut {

void solid_vjp(const BoundedSolid& solid, const SolidBarColumns& columns, std::size_t count,
               SolidVjpMemory& memory, std::span<PrimitiveGradient> primitives, bool to_rims,
               const DerivativeKernels& kernels) {
  const ShapeSdf& sdf = *solid.sdf;
  if (!sdf.has_vjp_by_lanes()) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto vector = [&](const double* const(&column)[3]) {
        return column[0] == nullptr ? Vec3<double>(Vec3<double>::Zero())
                                    : Vec3<double>(column[0][i], column[1][i], column[2][i]);
      };
      const Vec3<double> x = vector(columns.x), normal_bar = vector(columns.normal_bar);
      const double distance_bar = columns.distance_bar[i];
      const auto sample = to_rims ? sdf.sample_to_rims<SdfOrder::jacobian, double>(x)
                                  : sdf.sample<SdfOrder::jacobian, double>(x);
      const Vec3<double> x_bar = sample_vjp(sample, distance_bar, normal_bar);
      for (int axis = 0; axis < 3; ++axis) columns.x_bar[axis][i] = x_bar[axis];
      if (primitives.empty()) continue;
      if (to_rims) {
        sdf.parameter_vjp_to_rims(x, distance_bar, normal_bar, primitives);
      } else {
        sdf.parameter_vjp(x, distance_bar, normal_bar, primitives);
      }
    }
    return;
  }
  const auto added = static_cast<std::size_t>(sdf.added());
  memory.of_primitives.resize(added * k_solid_vjp_memory);
  memory.primitives_bar.assign(primitives.empty() ? 0 : added * k_primitive_bars, 0.0);
  kernels.solid_vjp(solid, columns, memory.of_primitives.data(),
                    primitives.empty() ? nullptr : memory.primitives_bar.data());
  if (primitives.empty()) return;
  for (std::size_t l = 0; l < added; ++l) {
    const double* const bar = memory.primitives_bar.data() + k_primitive_bars * l;
    PrimitiveGradient& to = primitives[static_cast<std::size_t>(sdf.primitive_of_shape(l))];
    for (std::size_t k = 0; k < 5; ++k) to.parameters[k] += bar[k];
    for (int k = 0; k < 6; ++k) to.pose[k] += bar[5 + k];
  }
}

}  // namespace abut
