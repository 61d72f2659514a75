#include "collision/manifold/solid_jacobians.h"

#include <algorithm>

#include "engine/check.h"

namespace abut {

void SolidJacobians::clear() {
  points_.clear();
  primitives_.clear();
}

std::size_t SolidJacobians::add(const BoundedSolid& solid, std::span<const Vec3<double>> x_S,
                                std::span<const double> distance, const DerivativeKernels& kernels) {
  const ShapeSdf& sdf = *solid.sdf;
  ABUT_ASSERT(sdf.has_vjp_by_lanes() && distance.size() == x_S.size());
  const std::size_t first_place = points_.size();
  if (x_S.empty()) return first_place;

  // A lane for each row of each point; those that fill up the last pack have bars of 0.
  constexpr std::size_t k_pack = 8;
  const std::size_t lanes = k_rows * x_S.size(), padded = (lanes + k_pack - 1) / k_pack * k_pack;
  for (auto& numbers : x_) numbers.resize(padded);
  for (auto& numbers : x_bar_) numbers.resize(padded);
  distance_.resize(padded);
  for (auto& numbers : bars_) numbers.assign(padded, 0.0);
  for (std::size_t lane = 0; lane < padded; ++lane) {
    const std::size_t i = std::min(lane / k_rows, x_S.size() - 1);
    for (int axis = 0; axis < 3; ++axis) x_[axis][lane] = x_S[i][axis];
    distance_[lane] = distance[i];
    if (lane < lanes) bars_[lane % k_rows][lane] = 1.0;
  }
  const auto added = static_cast<std::size_t>(sdf.added());
  kernel_memory_.resize(added * k_solid_vjp_memory);
  primitives_bar_.assign(added * k_primitive_bars * padded, 0.0);
  kernels.solid_vjp_by_point(solid,
                             {{x_[0].data(), x_[1].data(), x_[2].data()},
                              static_cast<int>(padded),
                              distance_.data(),
                              bars_[0].data(),
                              {bars_[1].data(), bars_[2].data(), bars_[3].data()},
                              {x_bar_[0].data(), x_bar_[1].data(), x_bar_[2].data()}},
                             kernel_memory_.data(), primitives_bar_.data());

  for (std::size_t i = 0; i < x_S.size(); ++i) {
    OfPoint& point = points_.emplace_back();
    const std::size_t lane = k_rows * i;
    for (int axis = 0; axis < 3; ++axis)
      point.by_point.row(axis) = Eigen::Map<const Eigen::RowVector4d>(x_bar_[axis].data() + lane);
    point.begin = primitives_.size();
    for (std::size_t l = 0; l < added; ++l) {
      Rows rows;
      for (int k = 0; k < k_primitive_bars; ++k) {
        const double* const numbers =
            primitives_bar_.data() + (l * k_primitive_bars + static_cast<std::size_t>(k)) * padded + lane;
        rows.row(k) = Eigen::Map<const Eigen::RowVector4d>(numbers);
      }
      if (!rows.isZero(0.0))
        primitives_.push_back({static_cast<std::size_t>(sdf.primitive_of_shape(l)), rows});
    }
    point.end = primitives_.size();
  }
  return first_place;
}

Vec3<double> SolidJacobians::vjp(std::size_t place, double distance_bar, const Vec3<double>& normal_bar,
                                 std::span<PrimitiveGradient> primitives) const {
  const OfPoint& point = points_[place];
  const Eigen::Vector4d bars(distance_bar, normal_bar[0], normal_bar[1], normal_bar[2]);
  for (std::size_t i = point.begin; i < point.end && !primitives.empty(); ++i) {
    const Eigen::Matrix<double, k_primitive_bars, 1> bar = primitives_[i].rows * bars;
    PrimitiveGradient& to = primitives[primitives_[i].primitive];
    for (int k = 0; k < 5; ++k) to.parameters[static_cast<std::size_t>(k)] += bar[k];
    to.pose += bar.tail<6>();
  }
  return point.by_point * bars;
}

}  // namespace abut
