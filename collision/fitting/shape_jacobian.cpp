#include "collision/fitting/shape_jacobian.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collision/fitting/marching_cubes.h"
#include "collision/manifold/kernel/derivative_kernels.h"
#include "engine/check.h"
#include "engine/instruction_set.h"
#include "engine/smooth.h"

namespace abut {
namespace {

constexpr double k_least_slope = 1e-6;  // by a displacement: what is below is negligible

constexpr std::size_t k_pack = 8;

/// With copies of the last one.
std::vector<Eigen::Index> filled_up_to_packs(std::vector<Eigen::Index> points) {
  points.resize((points.size() + k_pack - 1) / k_pack * k_pack, points.back());
  return points;
}

Eigen::VectorXd distances_at(const ShapeSdf& sdf, const Points& points) {
  Eigen::VectorXd distances(points.cols());
  field_of(sdf)(points, {distances.data(), static_cast<std::size_t>(distances.size())});
  return distances;
}

/// Derivatives of a union's distance by the numbers of its primitives (k_primitive_bars each), times a weight
/// for each point: entry (point, k_primitive_bars l + k).
Eigen::MatrixXd weighted_derivatives(const BoundedSolid& solid, const Points& points,
                                     const Eigen::VectorXd& distance, const Eigen::VectorXd& weight) {
  const auto added = static_cast<std::size_t>(solid.sdf->added());
  Eigen::MatrixXd result =
      Eigen::MatrixXd::Zero(points.cols(), static_cast<Eigen::Index>(added) * k_primitive_bars);
  const Eigen::VectorXd no_normal_bar = Eigen::VectorXd::Zero(points.cols());
  Points x_bar(3, points.cols());
  std::vector<double> memory(added * k_solid_vjp_memory);
  const double* const zero = no_normal_bar.data();
  chosen_kernels<DerivativeKernels>().solid_vjp_by_point(
      solid,
      {{points.row(0).data(), points.row(1).data(), points.row(2).data()},
       static_cast<int>(points.cols()),
       distance.data(),
       weight.data(),
       {zero, zero, zero},
       {x_bar.row(0).data(), x_bar.row(1).data(), x_bar.row(2).data()}},
      memory.data(), result.data());
  return result;
}

}  // namespace

ShapeJacobian::Side ShapeJacobian::side_of(const Shape& shape, PrimitiveOperation operation) {
  Shape side = shape;
  side.primitives.clear();
  std::vector<int> primitives;
  for (std::size_t l = 0; l < shape.primitives.size(); ++l) {
    if (shape.primitives[l].operation != operation) continue;
    side.primitives.push_back(shape.primitives[l]);
    side.primitives.back().operation = PrimitiveOperation::add;
    primitives.push_back(static_cast<int>(l));
  }
  ShapeSdf sdf(side);
  std::vector<PrimitiveBound<double>> bounds = bounds_of_primitives<double>(sdf);
  return {std::move(sdf), std::move(bounds), std::move(primitives)};
}

ShapeJacobian::ShapeJacobian(const Shape& shape) : primitives_(shape.primitives) {
  for (const Primitive& primitive : primitives_) rotations_.push_back(primitive.X_BP.rotation());
  for (const PrimitiveOperation operation : {PrimitiveOperation::add, PrimitiveOperation::subtract}) {
    Side side = side_of(shape, operation);
    if (!side.primitives.empty()) sides_.push_back(std::move(side));
  }
  ABUT_ASSERT(!sides_.empty() &&
              primitives_[at(sides_[0].primitives[0])].operation == PrimitiveOperation::add);
}

DistanceJacobian ShapeJacobian::evaluate(const Points& points, double band) const {
  std::vector<Eigen::VectorXd> distance, weight;
  for (const Side& side : sides_) distance.push_back(distances_at(side.sdf, points));
  Eigen::VectorXd d = distance[0], w = Eigen::VectorXd::Ones(points.cols());
  const double tau = sides_[0].sdf.smoothing();
  if (sides_.size() > 1) {
    for (Eigen::Index i = 0; i < points.cols(); ++i) {
      const double added = distance[0][i], cut = -distance[1][i];
      d[i] = smooth_max(added, cut, tau);
      w[i] = smooth_max_da(added, cut, tau);
    }
  }
  DistanceJacobian result;
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    if (std::abs(d[i]) < band) result.points.push_back(i);
  }
  result.distance = d(result.points);
  result.begin.push_back(0);
  if (result.points.empty()) return result;
  const std::vector<Eigen::Index> lanes = filled_up_to_packs(result.points);
  const Points near = points(Eigen::all, lanes);
  const auto count = static_cast<Eigen::Index>(result.points.size());
  std::vector<Eigen::MatrixXd> derivatives;
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    Eigen::VectorXd weights = w(lanes);
    if (s == 1) weights.array() -= 1.0;
    weights.tail(weights.size() - count).setZero();
    derivatives.push_back(
        weighted_derivatives({&sides_[s].sdf, sides_[s].bounds.data()}, near, distance[s](lanes), weights));
  }
  for (Eigen::Index i = 0; i < count; ++i) {
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      for (std::size_t k = 0; k < sides_[s].primitives.size(); ++k) {
        const int l = sides_[s].primitives[k];
        if (!is_free(primitives_[at(l)])) continue;
        // The order in a side's SDF is that of its shape, of which all primitives are added.
        const auto bar =
            derivatives[s].block<1, k_primitive_bars>(i, static_cast<Eigen::Index>(k) * k_primitive_bars);
        if (bar.segment<3>(8).squaredNorm() <= k_least_slope * k_least_slope) continue;
        result.slopes.push_back({l, tangent_of(primitives_[at(l)], rotations_[at(l)],
                                               bar.head<5>().transpose(), bar.tail<6>().transpose())});
      }
    }
    result.begin.push_back(result.slopes.size());
  }
  return result;
}

}  // namespace abut
