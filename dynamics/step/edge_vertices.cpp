#include "dynamics/step/edge_vertices.h"

#include <algorithm>
#include <cmath>

#include "collision/manifold/mesh_edges.h"
#include "engine/smooth.h"

namespace abut {
namespace {

constexpr double k_least_facing = 0.1, k_facing_range = 0.2;  // of -N.n
constexpr double k_edge_angle = 1.0;  // between faces at a vertex that lies on an edge [rad]
constexpr double k_face_angle = 0.3;  // up to which triangles are of one face [rad]

/// Normals of the faces at each contact point of a body; none where they differ by less than an edge.
std::vector<std::vector<Vec3<double>>> normals_at_edges(const Body& body) {
  std::vector<std::vector<Vec3<double>>> normals;
  if (body.contact_radius == 0.0 && !has_mesh_edges(body)) return normals;
  if (body.mesh.vertex_count() != body.contact_points.cols()) return normals;
  normals.resize(at(static_cast<int>(body.contact_points.cols())));
  const auto all_within = [](const std::vector<Vec3<double>>& some, const Vec3<double>& n, double angle) {
    return std::all_of(some.begin(), some.end(),
                       [&](const Vec3<double>& other) { return n.dot(other) > std::cos(angle); });
  };
  for (const Eigen::Vector3i& corners : body.mesh.triangles) {
    const Vec3<double> x = body.mesh.vertices.col(corners[0]), a = body.mesh.vertices.col(corners[1]) - x,
                       b = body.mesh.vertices.col(corners[2]) - x, area = a.cross(b);
    if (!(area.squaredNorm() > 0.0)) continue;
    const Vec3<double> n = area.normalized();
    for (const int i : corners) {
      std::vector<Vec3<double>>& of_point = normals[at(i)];
      const bool is_known = std::any_of(of_point.begin(), of_point.end(), [&](const Vec3<double>& other) {
        return n.dot(other) > std::cos(k_face_angle);
      });
      if (!is_known) of_point.push_back(n);
    }
  }
  for (std::vector<Vec3<double>>& of_point : normals) {
    if (std::all_of(of_point.begin(), of_point.end(),
                    [&](const Vec3<double>& n) { return all_within(of_point, n, k_edge_angle); }))
      of_point.clear();
  }
  return normals;
}

}  // namespace

EdgeVertices::EdgeVertices(const Model& model) {
  for (const Body& body : model.bodies) normals_.push_back(normals_at_edges(body));
}

std::span<const Vec3<double>> EdgeVertices::normals(const ContactFeature& feature) const {
  if (feature.kind != ContactKind::vertex_sdf) return {};
  const auto& of_owner = normals_[at(feature.feature_A >= 0 ? feature.body_A : feature.body_B)];
  if (of_owner.empty()) return {};
  // A vertex that has slid has those of its seed.
  return of_owner[at(std::max(feature.feature_A, feature.feature_B)) % of_owner.size()];
}

VertexFacing EdgeVertices::facing(const ContactFeature& feature, const Vec3<double>& normal_AB,
                                  std::span<const Pose<double>> X_WB) const {
  const bool owner_is_A = feature.feature_A >= 0;
  const Pose<double>& X = X_WB[at(owner_is_A ? feature.body_A : feature.body_B)];
  double none = 1.0;  // of the faces
  Vec3<double> none_by_normal = Vec3<double>::Zero();
  for (const Vec3<double>& face : normals(feature)) {
    const Vec3<double> N = (owner_is_A ? 1.0 : -1.0) * (X.q * face);
    const double x = (N.dot(normal_AB) - k_least_facing) / k_facing_range, faces = smoothstep5(x);
    none_by_normal = (1.0 - faces) * none_by_normal - none * smoothstep5_dx(x) / k_facing_range * N;
    none *= 1.0 - faces;
  }
  return {1.0 - none, -none_by_normal};
}

}  // namespace abut
