#include "collision/fitting/fit_quality.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <vector>

#include "collision/fitting/parallel_chunks.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/fitting/surface_samples.h"
#include "collision/fitting/wall_thickness.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr std::size_t k_surface_samples = 20000;
constexpr int k_timed_queries = 20000;
constexpr double k_least_lost = 0.02;  // distance of a lost point, by the size

/// Of samples, displaced by `shift`, from the nearest triangle.
DistanceStatistics distances_from(const TriangleBvh& bvh, const Points& samples, const Vec3<double>& shift,
                                  std::vector<double>& distances, Points* nearest_points = nullptr) {
  distances.clear();
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
  result.percentile_95 = quantile(distances, 0.95);
  return result;
}

/// int dV, int x dV and int x x^T dV of a solid.
struct Moments {
  double volume = 0.0;
  Vec3<double> first = Vec3<double>::Zero();
  Mat3<double> second = Mat3<double>::Zero();

  void add(const Moments& other) {
    volume += other.volume;
    first += other.first;
    second += other.second;
  }
  /// A segment between two points.
  void add(const Vec3<double>& a, const Vec3<double>& b) {
    const double length = (b - a).norm();
    const Vec3<double> middle = 0.5 * (a + b);
    volume += length;
    first += length * middle;
    second += length * (middle * middle.transpose() + (b - a) * (b - a).transpose() / 12.0);
  }
  void scale(double factor) {
    volume *= factor;
    first *= factor;
    second *= factor;
  }
};

/// Adds the segments of a line that are inside a mesh, about the middle of its box.
void add_inside(const RepairedMesh& mesh, const Vec3<double>& origin, const Vec3<double>& direction,
                double length, Moments& moments) {
  constexpr double k_step = 1e-9;  // beyond a crossing, by the length
  constexpr int k_halvings = 24;
  const Vec3<double> middle = mesh.bvh.bounds().center();
  const auto is_inside = [&](double t) { return mesh.bvh.winding_number(origin + t * direction) > 0.5; };
  const auto add_segment = [&](double from, double to) {
    moments.add(origin + from * direction - middle, origin + to * direction - middle);
  };
  double from = 0.0;
  while (from < length) {
    const double first = mesh.bvh.crossings(origin + from * direction, direction).first;
    const double to = std::min(from + first, length);
    if (mesh.report.closed) {
      if (is_inside(0.5 * (from + to))) add_segment(from, to);
    } else {
      // With holes the winding number changes between crossings as well, but smoothly.
      double a = from + 0.01 * (to - from), b = to - 0.01 * (to - from);
      const bool begins_inside = is_inside(a), ends_inside = is_inside(b);
      for (int i = 0; i < k_halvings && begins_inside != ends_inside; ++i)
        (is_inside(0.5 * (a + b)) == begins_inside ? a : b) = 0.5 * (a + b);
      if (begins_inside) add_segment(from, ends_inside ? to : a);
      if (!begins_inside && ends_inside) add_segment(b, to);
    }
    from = to + k_step * length;
  }
}

/// Of what is inside a mesh, by lines along a direction; they follow Roberts' R2 sequence.
Moments moments_along(const RepairedMesh& mesh, const Vec3<double>& direction, int lines, int threads) {
  const Eigen::AlignedBox3d& box = mesh.bvh.bounds();
  const Vec3<double> u = direction.unitOrthogonal(), v = direction.cross(u);
  const Mat3<double> axes = (Mat3<double>() << u, v, direction).finished();
  const Vec3<double> half = axes.transpose().cwiseAbs() * (0.5 * box.sizes() * (1.0 + 1e-6));
  constexpr int k_lines_of_chunk = 256;
  const int chunks = (lines + k_lines_of_chunk - 1) / k_lines_of_chunk;
  std::vector<Moments> parts(at(chunks));
  for_each_chunk(chunks, threads, [&](int chunk) {
    for (int i = chunk * k_lines_of_chunk; i < std::min(lines, (chunk + 1) * k_lines_of_chunk); ++i) {
      const Eigen::Vector2d p = roberts_point(i + 1);
      const Vec3<double> origin =
          box.center() +
          axes * Vec3<double>((2.0 * p.x() - 1.0) * half.x(), (2.0 * p.y() - 1.0) * half.y(), -half.z());
      add_inside(mesh, origin, direction, 2.0 * half.z(), parts[at(chunk)]);
    }
  });
  Moments sum;
  for (const Moments& part : parts) sum.add(part);
  sum.scale(4.0 * half.x() * half.y() / lines);
  return sum;
}

/// Lost points among samples of a mesh with these distances from the zero set. A sample is one of a lost part
/// where `is_part` (it is outside of the body), else of a filled gap.
LostSurface lost_surface(const RepairedMesh& mesh, const SurfaceSamples& samples,
                         const std::vector<double>& distances, bool is_part,
                         const std::vector<bool>& is_outside) {
  const double size = mesh.report.size;
  LostSurface lost;
  std::vector<double> widths;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (distances[i] < k_least_lost * size || is_outside[i] != is_part) continue;
    const auto column = static_cast<Eigen::Index>(i);
    const Vec3<double> normal = samples.normals.col(column);
    const double width =
        opposite_side(mesh, samples.points.col(column), is_part ? Vec3<double>(-normal) : normal).distance;
    if (!(distances[i] > width)) continue;
    widths.push_back(width);
    if (distances[i] <= lost.distance) continue;
    lost.distance = distances[i];
    lost.farthest = samples.points.col(column);
  }
  if (widths.empty()) return lost;
  lost.share = static_cast<double>(widths.size()) / static_cast<double>(distances.size());
  lost.width = quantile(widths, 0.5);
  return lost;
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

InsideProperties mass_properties_of_inside(const RepairedMesh& mesh, int threads) {
  const RepairReport& r = mesh.report;
  if (r.closed && r.inner_triangles == 0 && r.non_manifold_edges == 0 && r.intersecting_triangles == 0)
    return {mass_properties(mesh.mesh, 1.0), 0.0};
  constexpr int k_fewest_lines = 2048, k_most_lines = 16384;
  constexpr double k_agreement = 2e-3;
  constexpr int k_directions = 4;
  const std::array<Vec3<double>, k_directions> directions = {
      Vec3<double>(0.83, 0.47, 0.31).normalized(), Vec3<double>(-0.37, 0.79, 0.53).normalized(),
      Vec3<double>(0.29, -0.41, 0.87).normalized(), Vec3<double>(0.59, 0.67, -0.43).normalized()};
  InsideProperties result;
  for (int lines = k_fewest_lines; lines <= k_most_lines; lines *= 2) {
    Moments mean;
    std::vector<double> volumes;
    for (const Vec3<double>& direction : directions) {
      const Moments moments = moments_along(mesh, direction, lines, threads);
      volumes.push_back(moments.volume);
      mean.add(moments);
    }
    mean.scale(1.0 / k_directions);
    double squares = 0.0;
    for (const double volume : volumes) squares += (volume - mean.volume) * (volume - mean.volume);
    MassProperties& p = result.properties;
    p.volume = p.mass = mean.volume;
    const Vec3<double> center = mean.first / mean.volume;
    p.center_of_mass = mesh.bvh.bounds().center() + center;
    const Mat3<double> central = mean.second - mean.volume * center * center.transpose();
    p.inertia = central.trace() * Mat3<double>::Identity() - central;
    result.volume_deviation = std::sqrt(squares / (k_directions * (k_directions - 1))) / mean.volume;
    if (result.volume_deviation < k_agreement) break;
  }
  return result;
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
  std::vector<double> from_mesh, from_collision_mesh;
  quality.mesh_to_zero_set =
      distances_from(TriangleBvh(made.surface), on_mesh.points, -made.origin, from_mesh, &nearest);
  std::vector<bool> is_outside;
  for (Eigen::Index i = 0; i < nearest.cols(); ++i)
    is_outside.push_back(sdf.distance<double>(on_mesh.points.col(i) - made.origin) > 0.0);
  quality.lost_parts = lost_surface(mesh, on_mesh, from_mesh, true, is_outside);
  quality.filled_gaps = lost_surface(mesh, on_mesh, from_mesh, false, is_outside);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < nearest.cols(); ++i) {
    const Vec3<double> gradient = sdf.evaluate<double>(nearest.col(i)).gradient;
    const Vec3<double> normal = on_mesh.normals.col(i);
    sum += std::atan2(gradient.cross(normal).norm(), gradient.dot(normal));
  }
  quality.mean_normal_angle = sum / static_cast<double>(std::max<Eigen::Index>(nearest.cols(), 1));
  report(2);
  quality.collision_mesh_to_mesh =
      distances_from(mesh.surface_bvh(), surface_samples(body.mesh, k_surface_samples).points, made.origin,
                     from_collision_mesh);
  report(3);

  const InsideProperties inside = mass_properties_of_inside(mesh, threads);
  const MassProperties& of_mesh = inside.properties;
  const double density = body.mass / body.volume;
  quality.mesh_volume = of_mesh.volume;
  quality.mesh_volume_deviation = inside.volume_deviation;
  quality.volume_error = body.volume / of_mesh.volume - 1.0;
  quality.center_error = (made.origin - of_mesh.center_of_mass).norm();
  quality.inertia_error = (body.inertia / density - of_mesh.inertia).norm() / of_mesh.inertia.norm();
  quality.query_time = time_of_query(sdf, nearest);
  report(k_stages);
  return quality;
}

}  // namespace abut
