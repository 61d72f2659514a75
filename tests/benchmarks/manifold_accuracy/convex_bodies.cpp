#include "convex_bodies.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "collision/manifold/mesh_edges.h"
#include "engine/body_builder.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"

namespace abut::accuracy {
namespace {

constexpr double k_sharpness = 5e-4;   ///< tau_c by the size
constexpr double k_least_sine = 1e-9;  ///< edges count as parallel below
constexpr double k_least_rate = 1e-9;  ///< of an overlap by the translation: axes across it never change

TriangleMesh prism_mesh(std::span<const Vec2<double>> polygon, double half_height) {
  const auto n = static_cast<int>(polygon.size());
  TriangleMesh mesh;
  mesh.vertices.resize(3, 2 * n);
  for (int k = 0; k < n; ++k) {
    const Vec2<double>& corner = polygon[at(k)];
    mesh.vertices.col(k) << corner.x(), corner.y(), -half_height;
    mesh.vertices.col(n + k) << corner.x(), corner.y(), half_height;
  }
  for (int k = 1; k + 1 < n; ++k) {
    mesh.triangles.emplace_back(0, k + 1, k);
    mesh.triangles.emplace_back(n, n + k, n + k + 1);
  }
  for (int k = 0; k < n; ++k) {
    const int next = (k + 1) % n;
    mesh.triangles.emplace_back(k, next, n + next);
    mesh.triangles.emplace_back(k, n + next, n + k);
  }
  return mesh;
}

Points rotated(const Quat<double>& q, const Points& vectors) { return q.toRotationMatrix() * vectors; }

}  // namespace

ConvexBody make_prism(std::span<const Vec2<double>> polygon, double half_height) {
  ConvexBody result;
  const auto n = static_cast<int>(polygon.size());
  result.face_normals.resize(3, n + 2);
  std::vector<double> offsets;
  for (int k = 0; k < n; ++k) {
    const Vec2<double>&corner = polygon[at(k)], &next = polygon[at((k + 1) % n)];
    const Vec2<double> along = (next - corner).normalized(), outward(along.y(), -along.x());
    result.face_normals.col(k) << outward.x(), outward.y(), 0.0;
    offsets.push_back(outward.dot(corner));
  }
  result.face_normals.col(n) << 0.0, 0.0, 1.0;
  result.face_normals.col(n + 1) << 0.0, 0.0, -1.0;
  offsets.insert(offsets.end(), 2, half_height);

  TriangleMesh mesh = prism_mesh(polygon, half_height);
  Shape shape;
  shape.primitives = {
      make_convex_polyhedron(result.face_normals, offsets, k_sharpness * largest_extent(mesh))};
  result.body = make_body("prism", std::move(shape), std::move(mesh), Mass{1.0});

  const std::vector<MeshEdge> edges = contact_edges(result.body);
  result.edge_directions.resize(3, static_cast<Eigen::Index>(edges.size()));
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Points& corners = result.body.contact_points;
    const Vec3<double> vector = corners.col(edges[i].end) - corners.col(edges[i].start);
    result.edge_directions.col(static_cast<Eigen::Index>(i)) = vector.normalized();
  }
  return result;
}

ConvexBody make_sharp_box(const Vec3<double>& half_extents) {
  const double x = half_extents.x(), y = half_extents.y();
  const std::array<Vec2<double>, 4> corners{Vec2<double>(-x, -y), Vec2<double>(x, -y), Vec2<double>(x, y),
                                            Vec2<double>(-x, y)};
  return make_prism(corners, half_extents.z());
}

ConvexBody random_box(Random& random) {
  Vec3<double> half_extents;
  for (double& extent : half_extents) extent = random.uniform(0.1, 0.5);
  return make_sharp_box(half_extents);
}

ConvexBody random_prism(Random& random) {
  const auto count = 3 + static_cast<int>(random.integer(6));
  const double a = random.uniform(0.2, 0.5), b = random.uniform(0.2, 0.5);
  std::vector<Vec2<double>> polygon;
  for (int k = 0; k < count; ++k) {
    const double angle = (k + random.uniform(-0.2, 0.2)) * 2.0 * std::numbers::pi / count;
    polygon.emplace_back(a * std::cos(angle), b * std::sin(angle));
  }
  return make_prism(polygon, random.uniform(0.1, 0.5));
}

ConvexTouch touch(const ConvexBody& A, const Quat<double>& q_WA, const ConvexBody& B,
                  const Quat<double>& q_WB, const Vec3<double>& direction, double depth) {
  const Points corners_A = rotated(q_WA, A.body.contact_points),
               corners_B = rotated(q_WB, B.body.contact_points);
  ConvexTouch found;
  double least = k_infinity;
  const auto consider = [&](const Vec3<double>& axis, double sine) {
    const Vec3<double> n = axis.dot(direction) < 0.0 ? Vec3<double>(-axis) : axis;
    const double rate = n.dot(direction);
    if (rate < k_least_rate) return;
    const double overlap = (n.transpose() * corners_A).maxCoeff() - (n.transpose() * corners_B).minCoeff();
    const double translation = (overlap - depth) / rate;
    if (!(translation < least)) return;
    least = translation;
    found.normal_W = n;
    found.sine = sine;
  };
  for (const Points& normals : {rotated(q_WA, A.face_normals), rotated(q_WB, B.face_normals)}) {
    for (Eigen::Index i = 0; i < normals.cols(); ++i) consider(normals.col(i), 0.0);
  }
  const Points edges_A = rotated(q_WA, A.edge_directions), edges_B = rotated(q_WB, B.edge_directions);
  for (Eigen::Index i = 0; i < edges_A.cols(); ++i) {
    for (Eigen::Index k = 0; k < edges_B.cols(); ++k) {
      const Vec3<double> common = Vec3<double>(edges_A.col(i)).cross(Vec3<double>(edges_B.col(k)));
      const double sine = common.norm();
      if (sine > k_least_sine) consider(common / sine, sine);
    }
  }
  found.p_AB = least * direction;
  return found;
}

}  // namespace abut::accuracy
