/// The edges of a body's mesh that can touch another's, each with the constant normal that its contacts use.
///
/// The normal of an edge is the mean of nine normals of the signed distance function along it, made
/// perpendicular to the edge and of unit length. It does not change as the witness point slides along the
/// edge, where the function's own normal turns quickly, and costs nothing per step. The edges of a body with
/// a contact radius lie inside of it, where its function may have its skeleton: they take the mean of their
/// triangles' normals. So do sharp edges along which the function's normal jumps between those of the two.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "collision/sdf/shape_sdf.h"
#include "engine/mesh.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// An edge between two triangles of a mesh, or between the planes of more, start < end.
struct MeshEdge {
  int start = -1, end = -1;              ///< vertices
  std::array<int, 2> triangles{-1, -1};  ///< the one that goes from start to end, then the other, at some
                                         ///< part of the edge; -1: none
  Vec3<double> normal{0.0, 0.0, 0.0};  ///< n_e in the body, of unit length, perpendicular to the edge
  double angle = 0.0;                  ///< between the normals of the two triangles [rad], in [0, pi]
  double area = 0.0;                   ///< a third of all triangles along it [m^2]
  bool of_faces = false;               ///< its normal is the mean of its triangles', not of the function's
};

struct MeshEdgeOptions {
  /// Edges whose triangles' normals differ by less than this [rad] are left out: the diagonal of a flat face
  /// carries no contact that a vertex or an edge of its rim does not. 0 keeps all edges, those too whose
  /// triangles are exactly coplanar.
  /// Otherwise edges that go on straight between the same two planes (to 1e-5 rad) are one edge: how finely a
  /// face is cut up changes no edge of the solid.
  double flat_angle = 0.0175;

  /// Normals from the triangles alone.
  bool normals_of_faces = false;
};

/// Whether a body has edges: its contact points are the vertices of its mesh, moved with its shape or not.
[[nodiscard]] inline bool has_mesh_edges(const Body& body) {
  return body.contact_area_vectors.cols() > 0 &&
         body.contact_area_vectors.cols() == body.contact_points.cols() &&
         body.mesh.vertex_count() == body.contact_points.cols();
}

/// The mesh whose edges these are: with the contact points for vertices.
[[nodiscard]] inline TriangleMesh contact_mesh(const Body& body) {
  return {body.contact_points, body.mesh.triangles};
}

/// Of the edges of a body that has_mesh_edges().
[[nodiscard]] MeshEdgeOptions mesh_edge_options(const Body& body);

/// Ordered by (start, end), each once. Where an edge has one triangle only, its angle is pi.
///
/// Where the nine normals cancel (their perpendicular mean is shorter than 0.1, as in a wall as thin as the
/// smoothing), the mean of the triangles' normals stands in; where that cancels too (both triangles folded
/// onto each other), the direction in which they point with the edge. An edge of length 0 is left out.
[[nodiscard]] std::vector<MeshEdge> mesh_edges(const TriangleMesh& mesh, const ShapeSdf& sdf,
                                               const MeshEdgeOptions& options = {});

/// The normal alone, of the edge from a to b.
///
/// @param face_normals  sum of the unit normals of the triangles at the edge
/// @param outward       away from the triangles, within their planes: minus the sum of the directions from
///                      the edge to their third corners
[[nodiscard]] Vec3<double> mesh_edge_normal(const ShapeSdf& sdf, const Vec3<double>& a, const Vec3<double>& b,
                                            const Vec3<double>& face_normals, const Vec3<double>& outward);

/// VJP of an edge's normal from the signed distance function: adds dL/d(ends, primitives of its own body),
/// given dL/dn_e. A normal that had to be taken from the triangles counts as constant.
void mesh_edge_normal_vjp(const ShapeSdf& sdf, const Vec3<double>& a, const Vec3<double>& b,
                          const MeshEdge& edge, const Vec3<double>& normal_bar, Vec3<double>& a_bar,
                          Vec3<double>& b_bar, std::span<PrimitiveGradient> primitives_bar);

/// VJP of an edge's normal from its triangles: adds dL/d(vertices).
///
/// @param vertices_bar  (3, n)
void face_edge_normal_vjp(const TriangleMesh& mesh, const MeshEdge& edge, const Vec3<double>& normal_bar,
                          Points& vertices_bar);

}  // namespace abut
