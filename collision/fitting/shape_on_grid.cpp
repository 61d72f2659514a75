#include "collision/fitting/shape_on_grid.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "collision/fitting/parallel_chunks.h"
#include "engine/check.h"

namespace abut {

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
    const std::vector<PreparedPrimitive<double>>& primitives = sdf.primitives<double>();
    std::vector<Eigen::Index> near;
    for (Eigen::Index i = 0; i < points.cols(); ++i) {
      const Vec3<double> p = points.col(i);
      for (std::size_t l = 0; l < boxes.size(); ++l) {
        if (!boxes[l].contains(p) ||
            primitive_bounds<double>(primitives[l], sdf.distance_mode(), p).lower > least)
          continue;
        near.push_back(i);
        break;
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
