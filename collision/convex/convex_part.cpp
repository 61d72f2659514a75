#include "collision/convex/convex_part.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/check.h"
#include "engine/convex_hull.h"
#include "engine/padded_polygon.h"

namespace abut {
namespace {

/// Vertices farther than this times the size from the plane of a face are not its corners.
constexpr double k_on_face = 1e-7;

/// The corners of a face in their order around its normal, or none of fewer than three.
std::vector<int> ordered_corners(const Points& vertices, const Vec3<double>& normal, double offset,
                                 double tolerance) {
  std::vector<int> corners;
  Vec3<double> middle = Vec3<double>::Zero();
  for (Eigen::Index i = 0; i < vertices.cols(); ++i) {
    if (std::abs(normal.dot(vertices.col(i)) - offset) > tolerance) continue;
    corners.push_back(static_cast<int>(i));
    middle += vertices.col(i);
  }
  if (corners.size() < 3) return {};
  middle /= static_cast<double>(corners.size());
  const Vec3<double> x = (vertices.col(corners[0]) - middle).normalized(), y = normal.cross(x);
  const auto angle = [&](int i) {
    const Vec3<double> r = vertices.col(i) - middle;
    return std::atan2(y.dot(r), x.dot(r));
  };
  std::sort(corners.begin(), corners.end(), [&](int i, int j) { return angle(i) < angle(j); });
  return corners;
}

using VertexNeighbours = std::vector<std::set<int>>;

void join_vertices(int a, int b, VertexNeighbours& neighbours) {
  neighbours[at(a)].insert(b);
  neighbours[at(b)].insert(a);
}

int edge_count(const VertexNeighbours& neighbours) {
  std::size_t ends = 0;
  for (const std::set<int>& of_vertex : neighbours) ends += of_vertex.size();
  return static_cast<int>(ends / 2);
}

bool are_all_joined(const VertexNeighbours& neighbours) {
  return std::all_of(neighbours.begin(), neighbours.end(), [](const auto& of) { return of.size() >= 3; });
}

/// Fills in which faces each vertex is a corner of.
void find_faces_of_vertices(PolyhedronGraph<double>& graph) {
  graph.first_face.assign(graph.vertices.size() + 1, 0);
  for (const int vertex : graph.corners) ++graph.first_face[at(vertex + 1)];
  std::partial_sum(graph.first_face.begin(), graph.first_face.end(), graph.first_face.begin());
  graph.faces.resize(graph.corners.size());
  std::vector<int> next = graph.first_face;
  for (int f = 0; f < graph.face_count(); ++f)
    for (int k = graph.first_corner[at(f)]; k < graph.first_corner[at(f + 1)]; ++k)
      graph.faces[at(next[at(graph.corners[at(k)])]++)] = f;
}

[[noreturn]] void refuse(const std::string& kind) {
  throw std::invalid_argument(
      "a primitive of kind '" + kind +
      "' has no support function: convex detectors take spheres, capsules, rounded boxes, "
      "superquadrics, cones, convex polyhedra, padded polygons and half-spaces; the detector \"manifold\" "
      "takes all kinds");
}

/// Both sides of a polygon in the plane z = 0.
PolyhedronGraph<double> flat_graph(std::span<const Vec2<double>> polygon) {
  PolyhedronGraph<double> graph;
  const int n = static_cast<int>(polygon.size());
  graph.first_neighbour.push_back(0);
  for (int i = 0; i < n; ++i) {
    graph.vertices.emplace_back(polygon[at(i)].x(), polygon[at(i)].y(), 0.0);
    graph.neighbours.insert(graph.neighbours.end(), {(i + n - 1) % n, (i + 1) % n});
    graph.first_neighbour.push_back(2 * i + 2);
  }
  graph.face_normals = {Vec3<double>::UnitZ(), -Vec3<double>::UnitZ()};
  graph.first_corner = {0, n, 2 * n};
  for (int i = 0; i < n; ++i) graph.corners.push_back(i);
  for (int i = n - 1; i >= 0; --i) graph.corners.push_back(i);
  graph.is_complete = true;
  find_faces_of_vertices(graph);
  return graph;
}

ConvexPart<double> polyhedron_part(PolyhedronGraph<double> graph) {
  ConvexPart<double> part;
  part.core = ConvexCore::polyhedron;
  for (const Vec3<double>& x : graph.vertices) part.size = std::max(part.size, x.norm());
  part.polyhedron = std::make_shared<const PolyhedronGraph<double>>(std::move(graph));
  return part;
}

}  // namespace

PolyhedronGraph<double> make_polyhedron_graph(const Points& points) {
  const ConvexHull hull = convex_hull(points, 1e-7);
  PolyhedronGraph<double> graph;
  const auto count = hull.vertices.cols();
  const Vec3<double> middle = hull.vertices.rowwise().mean();
  const double size = (hull.vertices.colwise() - middle).colwise().norm().maxCoeff();
  for (Eigen::Index i = 0; i < count; ++i) graph.vertices.emplace_back(hull.vertices.col(i));
  VertexNeighbours of_faces(static_cast<std::size_t>(count)), of_triangles = of_faces;
  graph.first_corner.push_back(0);
  for (Eigen::Index f = 0; f < hull.normals.cols(); ++f) {
    const Vec3<double> normal = hull.normals.col(f);
    const auto corners =
        ordered_corners(hull.vertices, normal, hull.offsets[static_cast<std::size_t>(f)], k_on_face * size);
    if (corners.empty()) continue;
    graph.face_normals.push_back(normal);
    graph.corners.insert(graph.corners.end(), corners.begin(), corners.end());
    graph.first_corner.push_back(static_cast<int>(graph.corners.size()));
    for (std::size_t i = 0; i < corners.size(); ++i)
      join_vertices(corners[i], corners[(i + 1) % corners.size()], of_faces);
  }
  find_faces_of_vertices(graph);
  const int face_edges = edge_count(of_faces);
  graph.is_complete = are_all_joined(of_faces) &&
                      graph.vertex_count() - face_edges + graph.face_count() == 2 &&
                      static_cast<int>(graph.corners.size()) == 2 * face_edges;
  const bool has_faces_only_once = graph.is_complete;
  if (!has_faces_only_once) {  // faces that are coplanar but for rounding
    for (const Eigen::Vector3i& triangle : hull.triangles)
      for (int i = 0; i < 3; ++i) join_vertices(triangle[i], triangle[(i + 1) % 3], of_triangles);
    const int triangles = static_cast<int>(hull.triangles.size()), edges = edge_count(of_triangles);
    graph.is_complete = are_all_joined(of_triangles) && 2 * edges == 3 * triangles &&
                        graph.vertex_count() - edges + triangles == 2;
  }
  graph.first_neighbour.push_back(0);
  for (const std::set<int>& of_vertex : has_faces_only_once ? of_faces : of_triangles) {
    graph.neighbours.insert(graph.neighbours.end(), of_vertex.begin(), of_vertex.end());
    graph.first_neighbour.push_back(static_cast<int>(graph.neighbours.size()));
  }
  return graph;
}

ConvexPart<double> make_convex_part(const Primitive& primitive) {
  ConvexPart<double> part;
  part.X_BP = primitive.X_BP;
  const auto& p = primitive.parameters;
  switch (primitive.kind) {
    case PrimitiveKind::sphere:
      part.radius = p[0];
      break;
    case PrimitiveKind::capsule:
      part.core = ConvexCore::segment;
      part.radius = p[0];
      part.extents = {0.0, 0.0, p[1]};
      part.size = p[1];
      break;
    case PrimitiveKind::rounded_box:
      part.core = ConvexCore::box;
      part.radius = p[3];
      part.extents = {p[0] - p[3], p[1] - p[3], p[2] - p[3]};
      part.size = part.extents.norm();
      break;
    case PrimitiveKind::superquadric:
      require(p[3] > 0.0 && p[3] < 2.0 && p[4] > 0.0 && p[4] < 2.0,
              "the exponents of a convex superquadric must be above 0 and below 2");
      part.core = ConvexCore::superquadric;
      part.extents = {p[0], p[1], p[2]};
      part.eps1 = p[3];
      part.eps2 = p[4];
      part.size = part.extents.norm();
      break;
    case PrimitiveKind::cone:
      part.core = ConvexCore::cone;
      part.extents = {p[0], p[1], p[2]};
      part.size = std::hypot(std::max(p[0], p[1]), p[2]);
      break;
    case PrimitiveKind::convex_polyhedron: {
      part = make_convex_part(polyhedron_vertices(primitive.directions, primitive.values));
      part.X_BP = primitive.X_BP;
      break;
    }
    case PrimitiveKind::padded_polygon:
      part = polyhedron_part(flat_graph(polygon_corners(primitive)));
      part.X_BP = primitive.X_BP;
      part.radius = p[0];
      break;
    case PrimitiveKind::half_space:
      part.core = ConvexCore::half_space;
      break;
    case PrimitiveKind::oriented_point_cloud:
      refuse("oriented_point_cloud");
    case PrimitiveKind::extruded_superquadric:
      refuse("extruded_superquadric");
    case PrimitiveKind::torus:
      refuse("torus");
  }
  return part;
}

ConvexPart<double> make_convex_part(const Points& points) {
  return polyhedron_part(make_polyhedron_graph(points));
}

std::vector<ConvexPart<double>> make_convex_parts(const Shape& shape) {
  std::vector<ConvexPart<double>> parts;
  for (const Primitive& primitive : shape.primitives) {
    require(primitive.operation == PrimitiveOperation::add,
            "a shape with a subtracted primitive has no convex parts: the detector \"manifold\" takes it");
    parts.push_back(make_convex_part(primitive));
  }
  return parts;
}

}  // namespace abut
