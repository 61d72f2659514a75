#include "collision/manifold/edge_normals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

namespace abut {
namespace {

constexpr int k_samples = 9;
constexpr double k_shortest_mean = 0.1;
constexpr double k_blunt = 0.5;  // [rad]: triangles whose normals differ by less are alike to is_sharp()
constexpr double k_one_sided =
    0.8;  // of the angle between bisector and faces: what lies beyond is one face's
constexpr double k_straight = 1e-5;  // [rad]: edges and planes that differ by less go on as one
constexpr double k_thin = 1e-4;  // of the size: a radius at which points may pass for those of the surface

Vec3<double> face_edge_normal(const Vec3<double>& a, const Vec3<double>& b, const Vec3<double>& face_normals,
                              const Vec3<double>& outward) {
  const Vec3<double> along = (b - a).normalized();
  for (const Vec3<double>& candidate : {face_normals, outward}) {
    const Vec3<double> across = candidate - along * along.dot(candidate);
    if (across.norm() >= k_shortest_mean) return across.normalized();
  }
  return Vec3<double>::Zero();
}

/// Within the planes of its triangles, away from them.
Vec3<double> outward_of(const TriangleMesh& mesh, const MeshEdge& edge) {
  const Vec3<double> a = mesh.vertices.col(edge.start);
  const Vec3<double> along = (mesh.vertices.col(edge.end) - a).normalized();
  Vec3<double> outward = Vec3<double>::Zero();
  for (const int f : edge.triangles) {
    if (f < 0) continue;
    Vec3<double> inward = Vec3<double>::Zero();  // of its corners one alone is off the edge
    for (const int corner : mesh.triangles[static_cast<std::size_t>(f)])
      inward += mesh.vertices.col(corner) - a;
    outward -= (inward - along * along.dot(inward)).normalized();
  }
  return outward;
}

/// Whether the function is as sharp as the edge: its normal along it is that of one triangle or of the other,
/// and which of them is a matter of rounding.
bool is_sharp(const ShapeSdf& sdf, const Vec3<double>& a, const Vec3<double>& b, const Vec3<double>& n0,
              const Vec3<double>& n1) {
  constexpr double k_alike = 1e-2;
  for (int k = 0; k < k_samples; ++k) {
    const double t = (k + 0.5) / k_samples;
    const Vec3<double> n = sdf.evaluate_normal<double>(Vec3<double>(a + t * (b - a))).normal;
    if (std::min((n - n0).norm(), (n - n1).norm()) > k_alike) return false;
  }
  return true;
}

/// Puts one edge from end to end in the place of edges that continue each other between the same two planes.
class StraightEdges {
 public:
  StraightEdges(const TriangleMesh& mesh, const std::vector<Vec3<double>>& face_normals,
                std::vector<MeshEdge>& edges)
      : mesh_(mesh),
        face_normals_(face_normals),
        edges_(edges),
        at_vertex_(static_cast<std::size_t>(mesh.vertex_count())) {
    for (std::size_t e = 0; e < edges.size(); ++e) {
      for (const int v : {edges[e].start, edges[e].end}) at_vertex_[static_cast<std::size_t>(v)].push_back(e);
    }
  }

  void join() {
    std::vector<bool> is_joined(edges_.size(), false);
    std::map<std::pair<int, int>, MeshEdge> joined;
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      if (is_joined[e]) continue;
      MeshEdge whole = edges_[e];
      is_joined[e] = true;
      for (int* const end : {&whole.start, &whole.end}) {
        for (auto next = continued(e, *end); next && !is_joined[*next]; next = continued(*next, *end)) {
          is_joined[*next] = true;
          *end = other_end(*next, *end);
          whole.area += edges_[*next].area;
        }
      }
      if (whole.start > whole.end) {
        std::swap(whole.start, whole.end);
        std::swap(whole.triangles[0], whole.triangles[1]);
      }
      joined.emplace(std::pair(whole.start, whole.end), whole);
    }
    edges_.clear();
    for (const auto& [ends, edge] : joined) edges_.push_back(edge);
  }

 private:
  [[nodiscard]] int other_end(std::size_t edge, int vertex) const {
    return edges_[edge].start == vertex ? edges_[edge].end : edges_[edge].start;
  }
  [[nodiscard]] Vec3<double> away_from(std::size_t edge, int vertex) const {
    return (mesh_.vertices.col(other_end(edge, vertex)) - mesh_.vertices.col(vertex)).normalized();
  }
  /// The normals of its triangles, first of the one that goes towards the vertex, or away from it.
  [[nodiscard]] std::optional<std::array<Vec3<double>, 2>> planes(std::size_t edge, bool towards,
                                                                  int vertex) const {
    const MeshEdge& of = edges_[edge];
    if (of.triangles[0] < 0 || of.triangles[1] < 0) return std::nullopt;
    const std::size_t first = (of.end == vertex) == towards ? 0 : 1;
    return {{face_normals_[static_cast<std::size_t>(of.triangles[first])],
             face_normals_[static_cast<std::size_t>(of.triangles[1 - first])]}};
  }
  /// The edge that goes on from this one beyond the vertex, if there is just one.
  [[nodiscard]] std::optional<std::size_t> continued(std::size_t edge, int vertex) const {
    const std::vector<std::size_t>& here = at_vertex_[static_cast<std::size_t>(vertex)];
    if (here.size() != 2) return std::nullopt;
    const std::size_t next = here[0] == edge ? here[1] : here[0];
    if ((away_from(edge, vertex) + away_from(next, vertex)).norm() > k_straight) return std::nullopt;
    const auto before = planes(edge, true, vertex), after = planes(next, false, vertex);
    if (!before || !after) return std::nullopt;
    for (std::size_t k = 0; k < 2; ++k) {
      if (((*before)[k] - (*after)[k]).norm() > k_straight) return std::nullopt;
    }
    return next;
  }

  const TriangleMesh& mesh_;
  const std::vector<Vec3<double>>& face_normals_;
  std::vector<MeshEdge>& edges_;
  std::vector<std::vector<std::size_t>> at_vertex_;
};

}  // namespace

MeshEdgeOptions mesh_edge_options(const Body& body) {
  MeshEdgeOptions options;
  options.normals_of_faces = body.contact_radius > k_thin * body.size;
  return options;
}

Vec3<double> mesh_edge_normal(const ShapeSdf& sdf, const Vec3<double>& a, const Vec3<double>& b,
                              const Vec3<double>& face_normals, const Vec3<double>& outward) {
  const Vec3<double> along = (b - a).normalized();
  Vec3<double> sum = Vec3<double>::Zero();
  for (int k = 0; k < k_samples; ++k) {
    const double t = (k + 0.5) / k_samples;
    sum += sdf.evaluate_normal<double>(Vec3<double>(a + t * (b - a))).normal;
  }
  const Vec3<double> mean = (sum - along * along.dot(sum)) / k_samples;
  return mean.norm() >= k_shortest_mean ? mean.normalized() : face_edge_normal(a, b, face_normals, outward);
}

std::vector<MeshEdge> mesh_edges(const TriangleMesh& mesh, const ShapeSdf& sdf,
                                 const MeshEdgeOptions& options) {
  struct Found {
    std::array<int, 2> triangles{-1, -1};
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
    }
  }
  std::vector<MeshEdge> edges;
  for (const auto& [ends, of_edge] : found) {
    MeshEdge edge{ends.first,           ends.second,      of_edge.triangles,
                  Vec3<double>::Zero(), std::numbers::pi, of_edge.area};
    const Vec3<double> a = mesh.vertices.col(edge.start), b = mesh.vertices.col(edge.end);
    if (!((b - a).squaredNorm() > 0.0)) continue;
    if (edge.triangles[0] >= 0 && edge.triangles[1] >= 0) {
      const Vec3<double>&n0 = face_normals[static_cast<std::size_t>(edge.triangles[0])],
            &n1 = face_normals[static_cast<std::size_t>(edge.triangles[1])];
      edge.angle = std::atan2(n0.cross(n1).norm(), n0.dot(n1));
      if (edge.angle < options.flat_angle) continue;
    }
    edges.push_back(edge);
  }
  if (options.flat_angle > 0.0) StraightEdges(mesh, face_normals, edges).join();
  for (MeshEdge& edge : edges) {
    const Vec3<double> a = mesh.vertices.col(edge.start), b = mesh.vertices.col(edge.end);
    Vec3<double> sum = Vec3<double>::Zero();
    for (const int f : edge.triangles) {
      if (f >= 0) sum += face_normals[static_cast<std::size_t>(f)];
    }
    edge.of_faces = options.normals_of_faces;
    if (edge.triangles[0] >= 0 && edge.triangles[1] >= 0) {
      const Vec3<double>&n0 = face_normals[static_cast<std::size_t>(edge.triangles[0])],
            &n1 = face_normals[static_cast<std::size_t>(edge.triangles[1])];
      edge.of_faces = edge.of_faces || (edge.angle > k_blunt && is_sharp(sdf, a, b, n0, n1));
    }
    edge.normal = edge.of_faces ? face_edge_normal(a, b, sum, outward_of(mesh, edge))
                                : mesh_edge_normal(sdf, a, b, sum, outward_of(mesh, edge));
  }
  return edges;
}

void mesh_edge_normal_vjp(const ShapeSdf& sdf, const Vec3<double>& a, const Vec3<double>& b,
                          const MeshEdge& edge, const Vec3<double>& normal_bar, Vec3<double>& a_bar,
                          Vec3<double>& b_bar, std::span<PrimitiveGradient> primitives_bar) {
  if (normal_bar.isZero(0.0)) return;
  const double length = (b - a).norm();
  const Vec3<double> along = (b - a) / length;
  SdfSampleJacobian<double> samples[k_samples];
  Vec3<double> mean = Vec3<double>::Zero();
  for (int k = 0; k < k_samples; ++k) {
    const double t = (k + 0.5) / k_samples;
    samples[k] = sdf.evaluate_jacobian<double>(Vec3<double>(a + t * (b - a)));
    mean += samples[k].normal / k_samples;
  }
  // n = m/|m|,  m = mean - u (u.mean),  u = (b - a)/|b - a|
  const double mean_along = along.dot(mean);
  const Vec3<double> m = mean - along * mean_along;
  if (m.norm() < k_shortest_mean || !m.normalized().isApprox(edge.normal, 1e-9)) return;
  const Vec3<double> n = m.normalized();
  const Vec3<double> m_bar = (normal_bar - n * n.dot(normal_bar)) / m.norm();
  const double m_bar_along = along.dot(m_bar);
  const Vec3<double> mean_bar = m_bar - along * m_bar_along;
  const Vec3<double> along_bar = -(m_bar * mean_along + mean * m_bar_along);
  const Vec3<double> vector_bar = (along_bar - along * along.dot(along_bar)) / length;
  a_bar -= vector_bar;
  b_bar += vector_bar;
  for (int k = 0; k < k_samples; ++k) {
    const double t = (k + 0.5) / k_samples;
    const Vec3<double> sample_bar = mean_bar / k_samples;
    const Vec3<double> x_bar = samples[k].normal_jacobian.transpose() * sample_bar;
    a_bar += (1.0 - t) * x_bar;
    b_bar += t * x_bar;
    sdf.parameter_vjp(Vec3<double>(a + t * (b - a)), 0.0, sample_bar, primitives_bar);
  }
}

/// n = m/|m|,  m = N - u (u.N),  u = (b - a)/|b - a|,  N = sum of the unit normals of the triangles.
void face_edge_normal_vjp(const TriangleMesh& mesh, const MeshEdge& edge, const Vec3<double>& normal_bar,
                          Points& vertices_bar) {
  if (normal_bar.isZero(0.0)) return;
  struct Face {
    Eigen::Vector3i corners;
    Vec3<double> sides[2], normal;
    double doubled_area;
  };
  std::vector<Face> faces;
  Vec3<double> sum = Vec3<double>::Zero();
  for (const int f : edge.triangles) {
    if (f < 0) continue;
    Face& face = faces.emplace_back();
    face.corners = mesh.triangles[static_cast<std::size_t>(f)];
    for (int k = 0; k < 2; ++k)
      face.sides[k] = mesh.vertices.col(face.corners[k + 1]) - mesh.vertices.col(face.corners[0]);
    const Vec3<double> product = face.sides[0].cross(face.sides[1]);
    face.doubled_area = product.norm();
    face.normal = product / face.doubled_area;
    sum += face.normal;
  }
  const Vec3<double> vector = mesh.vertices.col(edge.end) - mesh.vertices.col(edge.start);
  const double length = vector.norm();
  const Vec3<double> along = vector / length, m = sum - along * along.dot(sum);
  if (m.norm() < k_shortest_mean) return;  // from where the triangles point: constant
  const Vec3<double> n = m.normalized();
  const Vec3<double> m_bar = (normal_bar - n * n.dot(normal_bar)) / m.norm();
  const Vec3<double> along_bar = -(m_bar * along.dot(sum) + sum * along.dot(m_bar));
  const Vec3<double> vector_bar = (along_bar - along * along.dot(along_bar)) / length;
  vertices_bar.col(edge.start) -= vector_bar;
  vertices_bar.col(edge.end) += vector_bar;
  const Vec3<double> sum_bar = m_bar - along * along.dot(m_bar);
  for (const Face& face : faces) {
    const Vec3<double> product_bar = (sum_bar - face.normal * face.normal.dot(sum_bar)) / face.doubled_area;
    const Vec3<double> bars[2] = {face.sides[1].cross(product_bar), product_bar.cross(face.sides[0])};
    for (int k = 0; k < 2; ++k) {
      vertices_bar.col(face.corners[k + 1]) += bars[k];
      vertices_bar.col(face.corners[0]) -= bars[k];
    }
  }
}

}  // namespace abut
