#include "collision/manifold/solid_bars.h"

#include "collision/sdf/parameter_vjp.h"

namespace abut {

void SolidBars::clear() {
  count_ = 0;
  has_normals_ = false;
  for (auto* numbers : {&distance_, &distance_bar_}) numbers->clear();
  for (auto& numbers : x_) numbers.clear();
  for (auto& numbers : normal_bar_) numbers.clear();
}

std::size_t SolidBars::add(const Vec3<double>& x_S, double distance, double distance_bar,
                           const Vec3<double>& normal_bar) {
  for (int i = 0; i < 3; ++i) {
    x_[i].push_back(x_S[i]);
    normal_bar_[i].push_back(normal_bar[i]);
  }
  distance_.push_back(distance);
  distance_bar_.push_back(distance_bar);
  has_normals_ = has_normals_ || !normal_bar.isZero(0.0);
  return count_++;
}

void SolidBars::vjp(const BoundedSolid& solid, std::span<PrimitiveGradient> primitives,
                    const DerivativeKernels& kernels) {
  if (count_ == 0) return;
  constexpr std::size_t k_pack = 8;
  const std::size_t padded = (count_ + k_pack - 1) / k_pack * k_pack;
  const auto fill_up = [&](std::vector<double>& numbers, double x) { numbers.resize(padded, x); };
  for (auto& numbers : x_) fill_up(numbers, numbers[count_ - 1]);
  for (auto& numbers : normal_bar_) fill_up(numbers, 0.0);
  for (auto& numbers : x_bar_) numbers.resize(padded);
  fill_up(distance_, distance_[count_ - 1]);
  fill_up(distance_bar_, 0.0);
  SolidBarColumns columns{{x_[0].data(), x_[1].data(), x_[2].data()},
                          static_cast<int>(padded),
                          distance_.data(),
                          distance_bar_.data(),
                          {nullptr, nullptr, nullptr},
                          {x_bar_[0].data(), x_bar_[1].data(), x_bar_[2].data()}};
  for (int i = 0; i < 3 && has_normals_; ++i) columns.normal_bar[i] = normal_bar_[i].data();
  solid_vjp(solid, columns, count_, memory_, primitives, kernels);
}

void solid_vjp(const BoundedSolid& solid, const SolidBarColumns& columns, std::size_t count,
               SolidVjpMemory& memory, std::span<PrimitiveGradient> primitives,
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
      const Vec3<double> x_bar = sample_vjp(sdf.evaluate_jacobian<double>(x), distance_bar, normal_bar);
      for (int axis = 0; axis < 3; ++axis) columns.x_bar[axis][i] = x_bar[axis];
      if (!primitives.empty()) sdf.parameter_vjp(x, distance_bar, normal_bar, primitives);
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
