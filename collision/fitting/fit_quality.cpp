#include "collision/fitting/fit_quality.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "collision/fitting/marching_cubes.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr std::size_t k_surface_samples = 20000;
constexpr int k_timed_queries = 20000;

/// Of samples, displaced by `shift`, from the nearest triangle.
DistanceStatistics distances_from(const TriangleBvh& bvh, const Points& samples, const Vec3<double>& shift,
                                  Points* nearest_points = nullptr) {
  std::vector<double> distances;
  double sum = 0.0;
  if (nearest_points != nullptr) nearest_points->resize(3, samples.cols());
  for (Eigen::Index i = 0; i < samples.cols(); ++i) {
    const TriangleBvh::Nearest nearest = bvh.nearest(samples.col(i) + shift);
    distances.push_back(nearest.distance);
    sum += nearest.distance;
    if (nearest_points != nullptr) nearest_points->col(i) = nearest.point;
  }
  DistanceStatistics result;
  if (distances.empty()) return result;
  result.mean = sum / static_cast<double>(distances.size());
  result.max = *std::max_element(distances.begin(), distances.end());
  const auto at_95 =
      distances.begin() + static_cast<std::ptrdiff_t>(0.95 * static_cast<double>(distances.size()));
  std::nth_element(distances.begin(), at_95, distances.end());
  result.percentile_95 = *at_95;
  return result;
}

/// Trilinear between the points of a grid; beyond it, that of the nearest point of its border.
ScalarField interpolated(const DistanceGrid& grid) {
  return field_of([&grid](const Vec3<double>& p) {
    const Vec3<double> u =
        ((p - grid.grid.lower) / grid.grid.cell_size).cwiseMax(0.0).cwiseMin(grid.grid.cells.cast<double>());
    const Eigen::Vector3i cell =
        u.cast<int>().cwiseMin(grid.grid.cells - Eigen::Vector3i::Ones());  // truncates
    const Vec3<double> t = u - cell.cast<double>();
    double value = 0.0;
    for (int corner = 0; corner < 8; ++corner) {
      const int i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
      value += (i != 0 ? t.x() : 1.0 - t.x()) * (j != 0 ? t.y() : 1.0 - t.y()) *
               (k != 0 ? t.z() : 1.0 - t.z()) * grid.value(cell.x() + i, cell.y() + j, cell.z() + k);
    }
    return value;
  });
}

double time_of_query(const ShapeSdf& sdf, const Points& points) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  double sum = 0.0;
  for (int i = 0; i < k_timed_queries; ++i) {
    const SdfNormal<double> sample =
        sdf.evaluate_normal<double>(points.col(i % static_cast<int>(points.cols())));
    sum += sample.distance + sample.normal.x();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return std::isfinite(sum) ? seconds / k_timed_queries : 0.0;  // the sum keeps the loop alive
}

}  // namespace

SurfaceSamples surface_samples(const TriangleMesh& mesh, std::size_t count) {
  std::vector<double> areas;
  double total = 0.0;
  const auto corner = [&](const Eigen::Vector3i& t, int i) { return Vec3<double>(mesh.vertices.col(t[i])); };
  for (const Eigen::Vector3i& t : mesh.triangles) {
    areas.push_back(0.5 * (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0)).norm());
    total += areas.back();
  }
  // The shares of the area add up triangle by triangle; a point is due whenever the sum passes a whole
  // number. Points of one triangle follow a low-discrepancy sequence (Roberts' R2), folded into it.
  SurfaceSamples samples;
  if (!(total > 0.0)) return samples;
  std::vector<Vec3<double>> points, normals;
  double due = 0.5;
  for (std::size_t f = 0; f < areas.size(); ++f) {
    if (!(areas[f] > 0.0)) continue;
    due += areas[f] / total * static_cast<double>(count);
    const Eigen::Vector3i& t = mesh.triangles[f];
    const Vec3<double> a = corner(t, 0), ab = corner(t, 1) - a, ac = corner(t, 2) - a;
    for (int i = 1; due >= 1.0; ++i, due -= 1.0) {
      double u = std::fmod(0.5 + 0.7548776662466927 * i, 1.0),
             v = std::fmod(0.5 + 0.5698402909980532 * i, 1.0);
      if (u + v > 1.0) u = 1.0 - u, v = 1.0 - v;
      points.emplace_back(a + u * ab + v * ac);
      normals.emplace_back(ab.cross(ac).normalized());
    }
  }
  samples.points.resize(3, static_cast<Eigen::Index>(points.size()));
  samples.normals.resize(3, samples.points.cols());
  for (Eigen::Index i = 0; i < samples.points.cols(); ++i) {
    samples.points.col(i) = points[static_cast<std::size_t>(i)];
    samples.normals.col(i) = normals[static_cast<std::size_t>(i)];
  }
  return samples;
}

MassProperties mass_properties_of_inside(const RepairedMesh& mesh, const DistanceGrid& grid) {
  const RepairReport& r = mesh.report;
  const bool is_simple =
      r.closed && r.shells == 1 && r.non_manifold_edges == 0 && r.intersecting_triangles == 0;
  return mass_properties(is_simple ? mesh.mesh : marching_cubes(interpolated(grid), grid.grid), 1.0);
}

FitQuality fit_quality(const MeshedBody& made, const RepairedMesh& mesh, const DistanceGrid& grid,
                       int threads, const MeshingProgress& progress) {
  constexpr int k_stages = 4;
  const auto report = [&](int done) {
    if (progress) progress("comparisons", done, k_stages);
  };
  report(0);
  FitQuality quality;
  const Body& body = made.body;
  Shape shape = body.shape;  // in the frame of the mesh
  for (Primitive& primitive : shape.primitives) primitive.X_BP.p += made.origin;
  const std::vector<double> distances =
      distances_on_grid(ShapeSdf(shape), grid, grid.grid.cell_size, threads);
  quality.iou = volumetric_iou(grid, distances);
  quality.occupancy_iou = occupancy_iou(grid, distances);
  report(1);

  const ShapeSdf sdf(body.shape);
  const SurfaceSamples on_mesh = surface_samples(mesh.surface(), k_surface_samples);
  Points nearest;
  quality.mesh_to_zero_set =
      distances_from(TriangleBvh(made.surface), on_mesh.points, -made.origin, &nearest);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < nearest.cols(); ++i) {
    const Vec3<double> gradient = sdf.evaluate<double>(nearest.col(i)).gradient;
    const Vec3<double> normal = on_mesh.normals.col(i);
    sum += std::atan2(gradient.cross(normal).norm(), gradient.dot(normal));
  }
  quality.mean_normal_angle = sum / static_cast<double>(std::max<Eigen::Index>(nearest.cols(), 1));
  report(2);
  quality.collision_mesh_to_mesh =
      distances_from(mesh.surface_bvh(), surface_samples(body.mesh, k_surface_samples).points, made.origin);
  report(3);

  const MassProperties of_mesh = mass_properties_of_inside(mesh, grid);
  const double density = body.mass / body.volume;
  quality.mesh_volume = of_mesh.volume;
  quality.volume_error = body.volume / of_mesh.volume - 1.0;
  quality.center_error = (made.origin - of_mesh.center_of_mass).norm();
  quality.inertia_error = (body.inertia / density - of_mesh.inertia).norm() / of_mesh.inertia.norm();
  quality.query_time = time_of_query(sdf, nearest);
  report(k_stages);
  return quality;
}

}  // namespace abut
