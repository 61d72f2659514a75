#include "collision/fitting/shape_on_grid.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "collision/fitting/parallel_chunks.h"
#include "engine/check.h"

namespace abut {
namespace {

/// Whether a primitive is for sure further than `limit` > 0 from a point [m]. Of superquadrics by the lower
/// bound of distance_bounds(), without its roots and divisions.
bool is_beyond(const ShapeSdf& sdf, std::size_t l, const Vec3<double>& p, double limit) {
  const PreparedPrimitive<double>& primitive = sdf.primitives<double>()[l];
  const auto* sq = std::get_if<Superquadric<double>>(&primitive.solid);
  if (sq == nullptr || sdf.distance_mode() != DistanceMode::taubin)
    return primitive_bounds<double>(primitive, sdf.distance_mode(), p).lower > limit;
  const Vec3<double> t = sq->to_scaled * (p - sq->centre);
  const double m = t.cwiseAbs().maxCoeff(), rise = (m - 1.0) * m;
  if (sq->has_ridges) return (m - 1.0) * sq->shortest_axis > limit * sq->norm_bound;
  return m > 1.0 && rise * rise > limit * limit * t.cwiseProduct(sq->inverse_axes).squaredNorm();
}

}  // namespace

ScalarField field_near(const ShapeSdf& sdf, double band) {
  // d >= d_l - tau log L of the least d_l, and d_l >= D/kappa at a distance D from its box: d <= band only in
  // boxes grown by so much, and only where a cheap bound of some d_l allows it.
  const double least = band + sdf.smoothing() * std::log(std::max(sdf.added(), 1));
  std::vector<Eigen::AlignedBox3d> boxes;
  for (int i = 0; i < sdf.added(); ++i) {
    boxes.push_back(sdf.box_of_primitive(at(i)));
    boxes.back().min().array() -= sdf.distance_ratio() * least;
    boxes.back().max().array() += sdf.distance_ratio() * least;
  }
  return [&sdf, least, boxes = std::move(boxes), field = field_of(sdf)](const Points& points,
                                                                        std::span<double> values) {
    constexpr Eigen::Index k_chunk = 16;  // points that follow each other are near each other
    std::vector<Eigen::Index> near;
    std::vector<std::size_t> candidates;
    for (Eigen::Index first = 0; first < points.cols(); first += k_chunk) {
      const auto chunk = points.middleCols(first, std::min(k_chunk, points.cols() - first));
      const Eigen::AlignedBox3d around(chunk.rowwise().minCoeff(), chunk.rowwise().maxCoeff());
      candidates.clear();
      for (std::size_t l = 0; l < boxes.size(); ++l) {
        if (boxes[l].intersects(around)) candidates.push_back(l);
      }
      if (candidates.empty()) continue;
      for (Eigen::Index i = 0; i < chunk.cols(); ++i) {
        const Vec3<double> p = chunk.col(i);
        const bool is_near = std::any_of(candidates.begin(), candidates.end(), [&](std::size_t l) {
          return boxes[l].contains(p) && !is_beyond(sdf, l, p, least);
        });
        if (is_near) near.push_back(first + i);
      }
    }
    std::fill(values.begin(), values.end(), k_infinity);
    if (near.empty()) return;
    std::vector<double> values_near(near.size());
    field(Points(points(Eigen::all, near)), values_near);
    for (std::size_t i = 0; i < near.size(); ++i) values[at(near[i])] = values_near[i];
  };
}

std::vector<double> distances_on_grid(const ShapeSdf& sdf, const DistanceGrid& grid, double band,
                                      int threads) {
  const ScalarField field = field_near(sdf, band);
  const Eigen::Vector3i n = grid.points();
  std::vector<double> distances(grid.values.size());
  for_each_chunk(n.z(), threads, [&](int k) {
    Points points(3, n.x() * n.y());
    for (int j = 0; j < n.y(); ++j) {
      for (int i = 0; i < n.x(); ++i) points.col(j * n.x() + i) = grid.point(i, j, k);
    }
    field(points, std::span(distances).subspan(grid.index(0, 0, k), at(points.cols())));
  });
  return distances;
}

double volumetric_iou(const DistanceGrid& grid, const std::vector<double>& distances) {
  std::size_t both = 0, either = 0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const bool in_grid = grid.values[i] < 0.0, in_shape = distances[i] < 0.0;
    both += in_grid && in_shape ? 1 : 0;
    either += in_grid || in_shape ? 1 : 0;
  }
  return either > 0 ? static_cast<double>(both) / static_cast<double>(either) : 1.0;
}

double occupancy_iou(const DistanceGrid& grid, const std::vector<double>& distances) {
  const auto occupancy = [&](double d) { return std::clamp(0.5 - d / grid.grid.cell_size, 0.0, 1.0); };
  double both = 0.0, either = 0.0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const double in_grid = occupancy(grid.values[i]), in_shape = occupancy(distances[i]);
    both += std::min(in_grid, in_shape);
    either += std::max(in_grid, in_shape);
  }
  return either > 0.0 ? both / either : 1.0;
}

double volumetric_iou(const DistanceGrid& grid, const ShapeSdf& sdf, int threads) {
  return volumetric_iou(grid, distances_on_grid(sdf, grid, 0.0, threads));
}

}  // namespace abut
