/// Convex parts of bodies, for detectors that need convex shapes: a core and a ball around each of its
/// points.
///
/// A part is the Minkowski sum of its core and a ball of `radius`. Sphere, capsule, rounded box and padded
/// polygon are a point, a segment, a box and a flat polyhedron with their radius; the distance of two parts
/// is that of their cores less both radii, and so is the depth of parts that overlap.
///
/// The added primitives of a shape are one part each. Parts are sharp where signed distance functions are
/// smooth: the smoothing of a union, of the edges of polyhedra and cones, and of the ridges of superquadrics
/// with an exponent above 1 is left out, so a part contains the solid {d <= 0} of a polyhedron, cone or
/// superquadric, and is within its smoothing length of it.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "engine/model.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// Meaning of ConvexPart::extents in the part's frame P [m]:
///   point         none
///   segment       half length along z, in [2]
///   box           half extents x, y, z
///   superquadric  semi-axes x, y, z; an ellipsoid has exponents of 1
///   cone          radius at z = -h, radius at z = h, half length h; a cylinder has equal radii
///   polyhedron    none; see ConvexPart::polyhedron, which may be a flat polygon
///   half_space    none: z <= 0, unbounded; distances only against bounded parts
enum class ConvexCore { point, segment, box, superquadric, cone, polyhedron, half_space };

/// Corners, edges and faces of a convex polyhedron.
template <typename T>
struct PolyhedronGraph {
  std::vector<Vec3<T>> vertices;     ///< in P [m]
  std::vector<int> first_neighbour;  ///< neighbours of vertex i: neighbours[first_neighbour[i]] up to [i + 1]
  std::vector<int> neighbours;       ///< vertices at the other ends of edges
  std::vector<Vec3<T>> face_normals;  ///< outward, of unit length
  std::vector<int> first_corner;      ///< corners of face f: corners[first_corner[f]] up to [f + 1]
  std::vector<int> corners;           ///< vertices, counter-clockwise seen from outside
  std::vector<int> first_face;        ///< faces at vertex i: faces[first_face[i]] up to [i + 1]
  std::vector<int> faces;             ///< ascending at each vertex
  /// Every edge of the hull is among the neighbours. They are the sides of the faces, or, where these overlap
  /// (faces that are coplanar but for rounding), of a triangulation. Otherwise no search may follow them.
  bool is_complete = false;

  [[nodiscard]] int vertex_count() const { return static_cast<int>(vertices.size()); }
  [[nodiscard]] int face_count() const { return static_cast<int>(face_normals.size()); }
  /// A polygon, whose two faces are its sides.
  [[nodiscard]] bool is_flat() const { return face_count() == 2; }

  template <typename U>
  [[nodiscard]] PolyhedronGraph<U> cast() const {
    PolyhedronGraph<U> other;
    for (const Vec3<T>& x : vertices) other.vertices.push_back(x.template cast<U>());
    for (const Vec3<T>& n : face_normals) other.face_normals.push_back(n.template cast<U>());
    other.first_neighbour = first_neighbour;
    other.neighbours = neighbours;
    other.first_corner = first_corner;
    other.corners = corners;
    other.first_face = first_face;
    other.faces = faces;
    other.is_complete = is_complete;
    return other;
  }
};

/// The convex hull of points (3, n) [m]. Throws std::invalid_argument if they are fewer than four, not finite
/// or (nearly) in one plane.
[[nodiscard]] PolyhedronGraph<double> make_polyhedron_graph(const Points& points);

template <typename T>
struct ConvexPart {
  ConvexCore core = ConvexCore::point;
  Vec3<T> extents = Vec3<T>::Zero();  ///< see ConvexCore [m]
  T eps1 = T(1), eps2 = T(1);         ///< exponents of a superquadric [-], in (0, 2)
  T radius = T(0);                    ///< of the ball [m], >= 0
  T size = T(0);                      ///< no point of the core is farther from the origin of P [m]
  std::shared_ptr<const PolyhedronGraph<T>> polyhedron;
  Pose<T> X_BP;

  template <typename U>
  [[nodiscard]] ConvexPart<U> cast() const {
    ConvexPart<U> other;
    other.core = core;
    other.extents = extents.template cast<U>();
    other.eps1 = U(eps1);
    other.eps2 = U(eps2);
    other.radius = U(radius);
    other.size = U(size);
    if (polyhedron) other.polyhedron = std::make_shared<PolyhedronGraph<U>>(polyhedron->template cast<U>());
    other.X_BP = X_BP.template cast<U>();
    return other;
  }
};

/// Throws std::invalid_argument for kinds without a support function (torus, oriented point cloud, extruded
/// superquadric), naming what there is instead.
[[nodiscard]] ConvexPart<double> make_convex_part(const Primitive& primitive);

/// A hull of points (3, n) in the frame of the body [m], such as the vertices of its mesh.
[[nodiscard]] ConvexPart<double> make_convex_part(const Points& points);

/// One part for each primitive, in their order. Throws as make_convex_part(), and where a primitive is
/// subtracted.
[[nodiscard]] std::vector<ConvexPart<double>> make_convex_parts(const Shape& shape);

}  // namespace abut
