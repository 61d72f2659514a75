#include "collision/manifold/edge_normals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

namespace abut {
namespace {

constexpr int k_samples = 9;
constexpr double k_shortest_mean = 0.1;

}  // namespace

Vec3<double> mesh_edge_normal(const ShapeSdf& sdf, const Vec3<double>& a, const Vec3<double>& b,
                              const Vec3<double>& face_normals, const Vec3<double>& outward) {
  const Vec3<double> along = (b - a).normalized();
  const auto perpendicular = [&](const Vec3<double>& x) { return Vec3<double>(x - along * along.dot(x)); };
  Vec3<double> sum = Vec3<double>::Zero();
  for (int k = 0; k < k_samples; ++k) {
    const double t = (k + 0.5) / k_samples;
    sum += sdf.evaluate_normal<double>(Vec3<double>(a + t * (b - a))).normal;
  }
  const Vec3<double> mean = perpendicular(sum / k_samples);
  if (mean.norm() >= k_shortest_mean) return mean.normalized();
  const Vec3<double> of_faces = perpendicular(face_normals);
  if (of_faces.norm() >= k_shortest_mean) return of_faces.normalized();
  return perpendicular(outward).normalized();
}

std::vector<MeshEdge> mesh_edges(const TriangleMesh& mesh, const ShapeSdf& sdf,
                                 const MeshEdgeOptions& options) {
  struct Found {
    std::array<int, 2> triangles{-1, -1};
    Vec3<double> outward = Vec3<double>::Zero();
    double area = 0.0;
  };
  std::map<std::pair<int, int>, Found> found;
  std::vector<Vec3<double>> face_normals;
  for (int f = 0; f < mesh.triangle_count(); ++f) {
    const Eigen::Vector3i& t = mesh.triangles[static_cast<std::size_t>(f)];
    const Vec3<double> corners[3] = {mesh.vertices.col(t[0]), mesh.vertices.col(t[1]),
                                     mesh.vertices.col(t[2])};
    const Vec3<double> doubled_area = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
    face_normals.push_back(doubled_area.normalized());
    for (int k = 0; k < 3; ++k) {
      const int from = t[k], to = t[(k + 1) % 3];
      Found& edge = found[std::minmax(from, to)];
      edge.triangles[from < to ? 0 : 1] = f;
      edge.area += doubled_area.norm() / 6.0;
      const Vec3<double> along = (corners[(k + 1) % 3] - corners[k]).normalized();
      const Vec3<double> inward = corners[(k + 2) % 3] - corners[k];
      edge.outward -= (inward - along * along.dot(inward)).normalized();
    }
  }
  std::vector<MeshEdge> edges;
  for (const auto& [ends, of_edge] : found) {
    MeshEdge edge{ends.first, ends.second, of_edge.triangles, {}, std::numbers::pi, of_edge.area};
    const Vec3<double> a = mesh.vertices.col(edge.start), b = mesh.vertices.col(edge.end);
    if (!((b - a).squaredNorm() > 0.0)) continue;
    Vec3<double> sum = Vec3<double>::Zero();
    for (const int f : edge.triangles) {
      if (f >= 0) sum += face_normals[static_cast<std::size_t>(f)];
    }
    if (edge.triangles[0] >= 0 && edge.triangles[1] >= 0) {
      const Vec3<double>&n0 = face_normals[static_cast<std::size_t>(edge.triangles[0])],
            &n1 = face_normals[static_cast<std::size_t>(edge.triangles[1])];
      edge.angle = std::atan2(n0.cross(n1).norm(), n0.dot(n1));
    }
    if (edge.angle < options.flat_angle) continue;
    edge.normal = mesh_edge_normal(sdf, a, b, sum, of_edge.outward);
    edges.push_back(edge);
  }
  return edges;
}

}  // namespace abut
