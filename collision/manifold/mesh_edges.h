/// Convex edges of a body's mesh, and the axis of a capsule: those that can touch another body's.
#pragma once

#include <array>
#include <vector>

#include "engine/mesh.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// An edge between two triangles of a mesh, or between two planes of more, start < end.
struct MeshEdge {
  int start = -1, end = -1;              ///< vertices
  std::array<int, 2> triangles{-1, -1};  ///< the one that runs from start to end, then the other, at some
                                         ///< part of the edge; -1: none; both -1: normals are constant
  /// f_1, f_2 of convex_edges.h in the body: of these triangles. Where there is one triangle only, its two
  /// sides, bent apart a little at the edge.
  std::array<Vec3<double>, 2> face_normals{Vec3<double>::Zero(), Vec3<double>::Zero()};
  double area =
      0.0;  ///< of the contact points at its ends, shared out among their edges [m^2]: contact_edges()
  /// Parts of its length by which it goes on beyond its start and its end as an edge of contacts: contact_edges()
  std::array<double, 2> beyond{0.0, 0.0};

  /// Where it ends as an edge of contacts.
  [[nodiscard]] std::array<Vec3<double>, 2> ends(const Points& vertices) const {
    const Vec3<double> a = vertices.col(start), b = vertices.col(end);
    return {a + beyond[0] * (a - b), b + beyond[1] * (b - a)};
  }
  /// VJP of ends(): adds dL/d(vertices), (3, n).
  void ends_vjp(const Vec3<double>& start_bar, const Vec3<double>& end_bar, Points& vertices_bar) const {
    const Vec3<double> along_bar =
        beyond[1] * end_bar - beyond[0] * start_bar;  // dL/d(b - a), but for a and b
    vertices_bar.col(start) += start_bar - along_bar;
    vertices_bar.col(end) += end_bar + along_bar;
  }
};

/// Angle between the normals of two triangles up to which they count as one face [rad]. Its edges would weigh
/// at most 2 % (convex_edges.h).
inline constexpr double k_flat_angle = 2e-3;

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

/// The convex edges of a mesh, ordered by (start, end), each once. Those of flat faces are left out, and
/// edges that continue each other between the same two planes (to 1e-5 rad) are one edge, so that the number
/// of triangles that a face is divided into changes no edge. An edge of length 0 is left out.
[[nodiscard]] std::vector<MeshEdge> mesh_edges(const TriangleMesh& mesh);

/// Those at which a body can touch another: of its mesh, if it has a solid. Of a capsule four that coincide,
/// its axis as the core of a rounded box without width: each has a quarter of the normals, so that their
/// weights add up to 1.
///
/// Edges in the air, as those of triangles across an inner corner, are left out: where the SDF at a quarter, half or
/// three quarters of the edge exceeds 2.5 times the sagitta of an arc that turns as much as the edges do at its ends (by
/// pi, where none goes on), and 3 times the error of its ends or the mean one of the mesh, and 0.1 % of the size.
/// So are edges across a hollow, as those between triangles of the wall of a round hole: the SDF without smoothing of the
/// union is hollow along them, and its normals do not turn outwards from one side of them to the other. The chords of
/// the hole's rim stay.
///
/// Where an edge that goes on in its direction enters the solid or stays on its surface, as in the inner corner of a
/// frame, no vertex is the closest feature: edges go on beyond such ends by 0.4 % of the body's size, a quarter
/// of their length at most. A contact there is never nearer than the surface.
[[nodiscard]] std::vector<MeshEdge> contact_edges(const Body& body);

/// VJP of the face normals of an edge: adds dL/d(vertices).
///
/// @param vertices_bar  (3, n)
void face_normals_vjp(const TriangleMesh& mesh, const MeshEdge& edge,
                      const std::array<Vec3<double>, 2>& normals_bar, Points& vertices_bar);

}  // namespace abut
