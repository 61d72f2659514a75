#include "collision/manifold/mesh_edges.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <tuple>
#include <utility>

#include "collision/sdf/shape_sdf.h"

namespace abut {
namespace {

constexpr double k_straight = 1e-5;  // [rad]: edges and planes that differ by less go on as one
constexpr double k_bend = 0.1;       // sine by which both sides of a single triangle are bent apart

/// Both sides of a single triangle with the unit normal n, at an edge along the unit vector u.
///
/// @param runs_along  whether the triangle has the edge from start to end
std::array<Vec3<double>, 2> both_sides(const Vec3<double>& n, const Vec3<double>& u, bool runs_along) {
  const Vec3<double> outward = (runs_along ? u.cross(n) : n.cross(u)) * k_bend;
  const Vec3<double> front = std::sqrt(1.0 - k_bend * k_bend) * n;
  const std::array<Vec3<double>, 2> sides{outward + front, outward - front};
  return runs_along ? sides : std::array<Vec3<double>, 2>{sides[1], sides[0]};
}

/// Puts one edge from end to end in the place of edges that continue each other between the same two planes.
class StraightEdges {
 public:
  StraightEdges(const TriangleMesh& mesh, std::vector<MeshEdge>& edges)
      : mesh_(mesh), edges_(edges), at_vertex_(static_cast<std::size_t>(mesh.vertex_count())) {
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
        }
      }
      if (whole.start > whole.end) {
        std::swap(whole.start, whole.end);
        std::swap(whole.triangles[0], whole.triangles[1]);
        std::swap(whole.face_normals[0], whole.face_normals[1]);
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
    return {{of.face_normals[first], of.face_normals[1 - first]}};
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
  std::vector<MeshEdge>& edges_;
  std::vector<std::vector<std::size_t>> at_vertex_;
};

}  // namespace

std::vector<MeshEdge> mesh_edges(const TriangleMesh& mesh) {
  std::map<std::pair<int, int>, std::array<int, 2>> found;  // triangles by the ends of edges
  std::vector<Vec3<double>> face_normals;
  for (int f = 0; f < mesh.triangle_count(); ++f) {
    const Eigen::Vector3i& t = mesh.triangles[at(f)];
    const Vec3<double> a = mesh.vertices.col(t[0]), b = mesh.vertices.col(t[1]), c = mesh.vertices.col(t[2]);
    face_normals.push_back((b - a).cross(c - a).normalized());
    for (int k = 0; k < 3; ++k) {
      const int from = t[k], to = t[(k + 1) % 3];
      found.try_emplace(std::minmax(from, to), std::array{-1, -1}).first->second[from < to ? 0 : 1] = f;
    }
  }
  std::vector<MeshEdge> edges;
  for (const auto& [ends, triangles] : found) {
    MeshEdge edge{ends.first, ends.second, triangles, {}, 0.0};
    const Vec3<double> vector = mesh.vertices.col(edge.end) - mesh.vertices.col(edge.start);
    if (!(vector.squaredNorm() > 0.0)) continue;
    const Vec3<double> along = vector.normalized();
    const auto normal = [&](std::size_t k) { return face_normals[at(edge.triangles[k])]; };
    if (edge.triangles[0] >= 0 && edge.triangles[1] >= 0) {
      edge.face_normals = {normal(0), normal(1)};
      const double sine = normal(0).cross(normal(1)).dot(along), cosine = normal(0).dot(normal(1));
      if (!(std::atan2(sine, cosine) > k_flat_angle)) continue;
    } else {
      const bool runs_along = edge.triangles[0] >= 0;
      edge.face_normals = both_sides(normal(runs_along ? 0 : 1), along, runs_along);
    }
    edges.push_back(edge);
  }
  StraightEdges(mesh, edges).join();
  return edges;
}

namespace {

/// Of a capsule whose contact points lie about on its axis from end to end, so that derivatives by points and
/// by the shape exist; else none.
std::vector<MeshEdge> axis_edges(const Body& body) {
  const Eigen::Index points = body.contact_points.cols();
  if (body.shape.primitives.size() != 1 || points < 2) return {};
  constexpr double k_near = 0.1;
  const Primitive& capsule = body.shape.primitives[0];
  const double radius = capsule.parameters[0];
  if (capsule.kind != PrimitiveKind::capsule || std::abs(body.contact_radius - radius) > k_near * radius)
    return {};
  const double half_length = capsule.parameters[1];
  for (const auto& [point, z] :
       {std::pair(Eigen::Index{0}, -half_length), std::pair(points - 1, half_length)}) {
    const Vec3<double> end = capsule.X_BP * Vec3<double>(0.0, 0.0, z);
    if ((body.contact_points.col(point) - end).norm() > k_near * radius) return {};
  }
  const Mat3<double> R = capsule.X_BP.rotation();
  const Vec3<double> sides[4] = {R.col(0), R.col(1), -R.col(0), -R.col(1)};
  std::vector<MeshEdge> edges;
  for (std::size_t k = 0; k < 4; ++k)
    edges.push_back({0, static_cast<int>(points) - 1, {-1, -1}, {sides[k], sides[(k + 1) % 4]}, 0.0});
  return edges;
}

/// Lets edges of a mesh go on beyond ends from where they enter the solid.
void continue_into_solid(const Body& body, std::vector<MeshEdge>& edges) {
  constexpr double k_reach = 4e-3, k_part = 0.25;  // of the size; of the edge
  constexpr double k_level = 0.01;                 // sine of the angle by which the surface may fall away
  const ShapeSdf sdf(body.shape);
  for (MeshEdge& edge : edges) {
    const Vec3<double> a = body.contact_points.col(edge.start), b = body.contact_points.col(edge.end);
    const double length = (b - a).norm(), reach = std::min(k_reach * body.size, k_part * length);
    const Vec3<double> along = (b - a) / length;
    const auto enters = [&](const Vec3<double>& end, const Vec3<double>& direction) {
      return sdf.distance<double>(end + reach * direction) - sdf.distance<double>(end) <= k_level * reach;
    };
    edge.beyond = {enters(a, -along) ? reach / length : 0.0, enters(b, along) ? reach / length : 0.0};
  }
}

/// Edges that follow each other.
class EdgeChains {
 public:
  EdgeChains(const Points& vertices, const std::vector<MeshEdge>& edges)
      : at_vertex_(static_cast<std::size_t>(vertices.cols())) {
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const Vec3<double> along = (vertices.col(edges[e].end) - vertices.col(edges[e].start)).normalized();
      at_vertex_[at(edges[e].start)].push_back({e, along});
      at_vertex_[at(edges[e].end)].push_back({e, -along});
    }
  }

  /// The least angle by which another edge turns off that goes on from the vertex at its end [rad]; pi: there is none.
  [[nodiscard]] double turn(std::size_t edge, int vertex) const {
    const std::vector<Leaving>& here = at_vertex_[at(vertex)];
    const auto own = std::find_if(here.begin(), here.end(), [&](const Leaving& x) { return x.edge == edge; });
    double least = std::numbers::pi;
    for (const Leaving& other : here) {
      if (other.edge == edge) continue;
      least = std::min(least, std::atan2(own->direction.cross(other.direction).norm(),
                                         -own->direction.dot(other.direction)));
    }
    return least;
  }

 private:
  struct Leaving {
    std::size_t edge;
    Vec3<double> direction;
  };
  std::vector<std::vector<Leaving>> at_vertex_;
};

/// The solid of a body around the edges of its mesh.
class SolidAtEdges {
 public:
  /// Heights [m] at the start of an edge, at a quarter, half and three quarters of it, and at its end.
  using Heights = std::array<double, 5>;

  explicit SolidAtEdges(const Body& body) : body_(body), sdf_(body.shape) {
    if (body.shape.primitives.size() < 2) return;
    Shape sharp = body.shape;
    sharp.union_smoothing = 0.0;
    sharp_sdf_.emplace(sharp);
  }

  [[nodiscard]] Heights heights(const MeshEdge& edge) const { return heights(sdf_, edge); }
  /// Without the smoothing of the union, which is no rounding.
  ///
  /// @param smooth  those with it
  [[nodiscard]] Heights sharp_heights(const MeshEdge& edge, const Heights& smooth) const {
    return sharp_sdf_ ? heights(*sharp_sdf_, edge) : smooth;
  }
  /// Mean distance of the triangles from the surface [m].
  [[nodiscard]] double mean_error() const {
    double mean = 0.0;
    for (const Eigen::Vector3i& t : body_.mesh.triangles) {
      const Vec3<double> sum =
          body_.contact_points.col(t[0]) + body_.contact_points.col(t[1]) + body_.contact_points.col(t[2]);
      mean += std::abs(sdf_.distance<double>(sum / 3.0) + body_.contact_radius) / body_.mesh.triangle_count();
    }
    return mean;
  }
  /// The angle by which the normals of the solid, without smoothing, turn outwards from one side of the edge's middle to
  /// the other [rad], each a third of the way through its triangle, and at least at `reach`; negative where it is hollow.
  [[nodiscard]] double turn_across(const MeshEdge& edge, double reach) const {
    const Vec3<double> a = body_.contact_points.col(edge.start), b = body_.contact_points.col(edge.end),
                       along = (b - a).normalized();
    const ShapeSdf& sdf = sharp_sdf_ ? *sharp_sdf_ : sdf_;
    const auto gradient = [&](int triangle, const Vec3<double>& side) {
      double height = 0.0, foot = 0.5;  // of the triangle on the edge
      for (const int v : body_.mesh.triangles[at(triangle)]) {
        const Vec3<double> x = body_.contact_points.col(v) - a;
        const double above = along.cross(x).norm();
        if (above > height) std::tie(height, foot) = std::pair(above, x.dot(along) / (b - a).norm());
      }
      const double through = 0.5 * height / std::max(foot, 1.0 - foot);
      return sdf.evaluate<double>(0.5 * (a + b) + std::max(through / 3.0, reach) * side).gradient;
    };
    const Vec3<double> left = gradient(edge.triangles[0], edge.face_normals[0].cross(along)),
                       right = gradient(edge.triangles[1], along.cross(edge.face_normals[1]));
    return std::atan2(left.cross(right).dot(along), left.dot(right));
  }

 private:
  [[nodiscard]] Heights heights(const ShapeSdf& sdf, const MeshEdge& edge) const {
    const Vec3<double> a = body_.contact_points.col(edge.start), b = body_.contact_points.col(edge.end);
    Heights result;
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = sdf.distance<double>(a + 0.25 * static_cast<double>(i) * (b - a)) + body_.contact_radius;
    return result;
  }

  const Body& body_;
  ShapeSdf sdf_;
  std::optional<ShapeSdf> sharp_sdf_;  // of several primitives
};

/// By how much the middle parts of an edge are higher than a straight line between its ends [m]; 0: nowhere.
double hollow_below(const SolidAtEdges::Heights& heights) {
  double deepest = 0.0;
  for (std::size_t i = 1; i < 4; ++i) {
    const double part = 0.25 * static_cast<double>(i);
    deepest = std::max(deepest, heights[i] - (1.0 - part) * heights[0] - part * heights[4]);
  }
  return deepest;
}

/// Leaves out edges of a mesh that the solid has not: in the air, above its surface, or between triangles across a
/// hollow.
void leave_out_bridges(const Body& body, std::vector<MeshEdge>& edges) {
  constexpr double k_sagittas = 2.5, k_errors = 3.0, k_hollows = 2.0;
  constexpr double k_least = 1e-3, k_least_hollow = 1e-6;  // by the size
  const SolidAtEdges solid(body);
  const double mean_error = solid.mean_error();
  const EdgeChains chains(body.contact_points, edges);
  const auto is_in_air = [&](std::size_t e, const SolidAtEdges::Heights& heights) {
    const MeshEdge& edge = edges[e];
    const double turn = std::min(chains.turn(e, edge.start), chains.turn(e, edge.end));
    const double length = (body.contact_points.col(edge.end) - body.contact_points.col(edge.start)).norm();
    const double sagitta = 0.5 * length * std::tan(turn / 4.0);
    const double error = std::max({std::abs(heights[0]), std::abs(heights[4]), mean_error});
    return std::max({heights[1], heights[2], heights[3]}) >
           k_sagittas * sagitta + k_errors * error + k_least * body.size;
  };
  const auto is_across_hollow = [&](const MeshEdge& edge, const SolidAtEdges::Heights& heights) {
    if (edge.triangles[0] < 0 || edge.triangles[1] < 0) return false;
    const double hollow = hollow_below(solid.sharp_heights(edge, heights));
    return hollow > k_least_hollow * body.size && solid.turn_across(edge, k_hollows * hollow) <= k_flat_angle;
  };
  std::vector<MeshEdge> kept;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const SolidAtEdges::Heights heights = solid.heights(edges[e]);
    if (!is_in_air(e, heights) && !is_across_hollow(edges[e], heights)) kept.push_back(edges[e]);
  }
  edges = std::move(kept);
}

}  // namespace

std::vector<MeshEdge> contact_edges(const Body& body) {
  std::vector<MeshEdge> edges = axis_edges(body);
  if (edges.empty()) {
    if (!has_mesh_edges(body) || body.shape.primitives.empty()) return {};
    edges = mesh_edges(contact_mesh(body));
    leave_out_bridges(body, edges);
    continue_into_solid(body, edges);
  }
  std::vector<int> valence(body.contact_areas.size(), 0);
  for (const MeshEdge& edge : edges) {
    for (const int end : {edge.start, edge.end}) ++valence[at(end)];
  }
  for (MeshEdge& edge : edges) {
    for (const int end : {edge.start, edge.end}) edge.area += body.contact_areas[at(end)] / valence[at(end)];
  }
  return edges;
}

void face_normals_vjp(const TriangleMesh& mesh, const MeshEdge& edge,
                      const std::array<Vec3<double>, 2>& normals_bar, Points& vertices_bar) {
  if (edge.triangles[0] < 0 && edge.triangles[1] < 0) return;
  const auto to_triangle = [&](int triangle, const Vec3<double>& normal_bar) {
    const Eigen::Vector3i& corners = mesh.triangles[at(triangle)];
    Vec3<double> sides[2];
    for (int k = 0; k < 2; ++k) sides[k] = mesh.vertices.col(corners[k + 1]) - mesh.vertices.col(corners[0]);
    const Vec3<double> product = sides[0].cross(sides[1]);
    const double doubled_area = product.norm();
    const Vec3<double> normal = product / doubled_area;
    const Vec3<double> product_bar = (normal_bar - normal * normal.dot(normal_bar)) / doubled_area;
    const Vec3<double> sides_bar[2] = {sides[1].cross(product_bar), product_bar.cross(sides[0])};
    for (int k = 0; k < 2; ++k) {
      vertices_bar.col(corners[k + 1]) += sides_bar[k];
      vertices_bar.col(corners[0]) -= sides_bar[k];
    }
  };
  if (edge.triangles[0] >= 0 && edge.triangles[1] >= 0) {
    for (std::size_t k = 0; k < 2; ++k) to_triangle(edge.triangles[k], normals_bar[k]);
    return;
  }
  // f = +-front + outward of both_sides().
  const bool runs_along = edge.triangles[0] >= 0;
  const int triangle = edge.triangles[runs_along ? 0 : 1];
  const Eigen::Vector3i& corners = mesh.triangles[at(triangle)];
  const Vec3<double> a = mesh.vertices.col(corners[0]);
  const Vec3<double> n =
      (mesh.vertices.col(corners[1]) - a).cross(Vec3<double>(mesh.vertices.col(corners[2]) - a)).normalized();
  const Vec3<double> vector = mesh.vertices.col(edge.end) - mesh.vertices.col(edge.start);
  const double length = vector.norm(), sign = runs_along ? 1.0 : -1.0;
  const Vec3<double> u = vector / length;
  const Vec3<double> front_bar = sign * std::sqrt(1.0 - k_bend * k_bend) * (normals_bar[0] - normals_bar[1]);
  const Vec3<double> outward_bar = sign * k_bend * (normals_bar[0] + normals_bar[1]);  // of u x n
  to_triangle(triangle, front_bar + outward_bar.cross(u));
  const Vec3<double> u_bar = n.cross(outward_bar);
  const Vec3<double> vector_bar = (u_bar - u * u.dot(u_bar)) / length;
  vertices_bar.col(edge.end) += vector_bar;
  vertices_bar.col(edge.start) -= vector_bar;
}

}  // namespace abut
