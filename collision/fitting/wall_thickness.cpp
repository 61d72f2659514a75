#include "collision/fitting/wall_thickness.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "collision/fitting/surface_samples.h"

namespace abut {
namespace {

constexpr double k_wanted = 1.5;  // spacings across a wall
constexpr double k_fewest = 1.0;  // of the smallest ones: what is thinner is lost
constexpr std::size_t k_samples = 5000;
constexpr double k_share = 0.02;              // of the surface
constexpr double k_least_cosine = 0.9396926;  // of the angle between opposite sides: 20 degrees

Vec3<double> normal_of(const TriangleMesh& mesh, int triangle) {
  const Eigen::Vector3i& t = mesh.triangles[at(triangle)];
  const Vec3<double> a = mesh.vertices.col(t[0]), b = mesh.vertices.col(t[1]), c = mesh.vertices.col(t[2]);
  return (b - a).cross(c - a).normalized();
}

/// That the share of the surface has at most, of walls (gaps) that some grid resolves [m].
double least_width(const RepairedMesh& mesh, const SurfaceSamples& samples, bool is_gap) {
  const double least = k_fewest * mesh.report.size / k_finest_resolution.spacings;
  std::vector<double> widths;
  for (Eigen::Index i = 0; i < samples.points.cols(); ++i) {
    const Vec3<double> normal = samples.normals.col(i);
    const OppositeSide side =
        opposite_side(mesh, samples.points.col(i), is_gap ? normal : Vec3<double>(-normal));
    const bool counts = side.triangle >= 0 && side.distance >= least &&
                        -normal.dot(normal_of(mesh.surface(), side.triangle)) >= k_least_cosine;
    widths.push_back(counts ? side.distance : k_infinity);
  }
  return widths.empty() ? k_infinity : quantile(std::move(widths), k_share);
}

}  // namespace

OppositeSide opposite_side(const RepairedMesh& mesh, const Vec3<double>& point,
                           const Vec3<double>& direction) {
  constexpr double k_start = 1e-7;  // of the ray, off the surface, by the size
  const Vec3<double> origin = point + k_start * mesh.report.size * direction;
  const TriangleBvh::Crossings crossings = mesh.surface_bvh().crossings(origin, direction);
  return {crossings.first, crossings.triangle};
}

GridResolution resolution_for(const RepairedMesh& mesh) {
  const SurfaceSamples samples = surface_samples(mesh.surface(), k_samples);
  const double wall = least_width(mesh, samples, false), gap = least_width(mesh, samples, true);
  GridResolution resolution;
  const double wanted = k_wanted * mesh.report.size / std::min(wall, gap);
  if (!(wanted > resolution.spacings)) return resolution;
  resolution.spacings = static_cast<int>(std::lround(std::min<double>(wanted, k_finest_resolution.spacings)));
  resolution.width = std::min(wall, gap);
  resolution.is_for_gaps = gap < wall;
  return resolution;
}

}  // namespace abut
