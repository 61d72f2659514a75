#include "engine/primitive_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/convex_hull.h"
#include "engine/primitive_check.h"

namespace abut {
namespace {

Points unit_columns(const Points& normals) {
  Points result = normals;
  for (Eigen::Index i = 0; i < normals.cols(); ++i) {
    const double length = normals.col(i).norm();
    require(length > 0.0 && std::isfinite(length), fmt::format("normal {} has no direction", i));
    if (std::abs(length - 1.0) > 1e-15) result.col(i) /= length;  // what was written comes back as it was
  }
  return result;
}

}  // namespace

Primitive make_convex_polyhedron(const Points& normals, const std::vector<double>& offsets,
                                 std::optional<double> smoothing) {
  Primitive primitive;
  primitive.kind = PrimitiveKind::convex_polyhedron;
  primitive.directions = unit_columns(normals);
  primitive.values = offsets;
  if (smoothing) {
    primitive.parameters[0] = *smoothing;
  } else {
    const Points v = polyhedron_vertices(primitive.directions, offsets);
    const double least = *std::min_element(offsets.begin(), offsets.end());
    primitive.parameters[0] =
        std::min(k_edge_smoothing_per_size * (v.rowwise().maxCoeff() - v.rowwise().minCoeff()).maxCoeff(),
                 k_edge_smoothing_per_limit * least / std::log(static_cast<double>(offsets.size())));
  }
  require_valid(primitive, "primitive");
  return primitive;
}

Primitive make_convex_hull_polyhedron(const Points& points, std::optional<double> smoothing,
                                      double merge_angle) {
  const ConvexHull hull = convex_hull(points, merge_angle);
  const Vec3<double> center = hull.vertices.rowwise().mean();
  std::vector<double> offsets = hull.offsets;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] -= hull.normals.col(static_cast<Eigen::Index>(i)).dot(center);
  }
  Primitive primitive = make_convex_polyhedron(hull.normals, offsets, smoothing);
  primitive.X_BP.p = center;
  return primitive;
}

Primitive make_oriented_point_cloud(const Points& points, const Points& normals,
                                    std::optional<double> width) {
  require(points.cols() == normals.cols(),
          fmt::format("{} points have {} normals", points.cols(), normals.cols()));
  Primitive primitive;
  primitive.kind = PrimitiveKind::oriented_point_cloud;
  primitive.directions = unit_columns(normals);
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    for (Eigen::Index axis = 0; axis < 3; ++axis) primitive.values.push_back(points(axis, i));
  }
  primitive.parameters[0] = width ? *width : k_cloud_width_per_spacing * mean_spacing(points);
  require_valid(primitive, "primitive");
  return primitive;
}

Primitive make_oriented_point_cloud(const TriangleMesh& mesh, std::optional<double> width) {
  Points normals = Points::Zero(3, mesh.vertices.cols());
  for (const Eigen::Vector3i& triangle : mesh.triangles) {
    const Vec3<double> a = mesh.vertices.col(triangle[0]), b = mesh.vertices.col(triangle[1]),
                       c = mesh.vertices.col(triangle[2]);
    const Vec3<double> normal = (b - a).cross(c - a);
    for (int corner = 0; corner < 3; ++corner) normals.col(triangle[corner]) += normal;
  }
  return make_oriented_point_cloud(mesh.vertices, normals, width);
}

Primitive make_extruded_superquadric(const Vec3<double>& semi_axes, double eps1, double eps2,
                                     const std::vector<double>& angles, const std::vector<double>& offsets,
                                     double profile_power) {
  require(angles.size() == offsets.size(),
          fmt::format("{} cuts have {} offsets", angles.size(), offsets.size()));
  Primitive primitive;
  primitive.kind = PrimitiveKind::extruded_superquadric;
  primitive.parameters = {semi_axes.x(), semi_axes.y(), semi_axes.z(), eps1, eps2};
  primitive.values = {profile_power};
  for (std::size_t i = 0; i < angles.size(); ++i) {
    primitive.values.push_back(angles[i]);
    primitive.values.push_back(offsets[i]);
  }
  require_valid(primitive, "primitive");
  return primitive;
}

Primitive make_padded_polygon(std::span<const Vec2<double>> corners, double radius) {
  Primitive primitive;
  primitive.kind = PrimitiveKind::padded_polygon;
  primitive.parameters[0] = radius;
  for (const Vec2<double>& corner : corners)
    primitive.values.insert(primitive.values.end(), {corner.x(), corner.y()});
  require_valid(primitive, "primitive");
  return primitive;
}

double mean_spacing(const Points& points) {
  require(points.cols() >= 2, "points have a spacing if there are at least 2");
  require(points.allFinite(), "the points are not finite");
  // Along the longest side, neighbours are sought only as far as the nearest one found.
  Eigen::Index side = 0;
  (points.rowwise().maxCoeff() - points.rowwise().minCoeff()).maxCoeff(&side);
  std::vector<Eigen::Index> order(static_cast<std::size_t>(points.cols()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::sort(order.begin(), order.end(),
            [&](Eigen::Index a, Eigen::Index b) { return points(side, a) < points(side, b); });
  double sum = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Vec3<double> p = points.col(order[i]);
    double nearest = std::numeric_limits<double>::infinity();
    const auto is_done = [&](std::size_t k) {
      const double gap = points(side, order[k]) - p[side];
      if (gap * gap > nearest) return true;
      nearest = std::min(nearest, (points.col(order[k]) - p).squaredNorm());
      return false;
    };
    for (std::size_t k = i; k-- > 0;) {
      if (is_done(k)) break;
    }
    for (std::size_t k = i + 1; k < order.size(); ++k) {
      if (is_done(k)) break;
    }
    sum += std::sqrt(nearest);
  }
  return sum / static_cast<double>(order.size());
}

}  // namespace abut
