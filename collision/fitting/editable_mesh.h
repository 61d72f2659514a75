/// A closed triangle mesh whose edges can be collapsed, flipped and split, and which stays a closed manifold.
/// Some of its edges can be marked as creases, which go on as such.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

/// A closed triangle mesh and its edges along sharp creases of the surface, as (smaller, larger), ascending.
struct CreasedMesh {
  TriangleMesh mesh;
  std::vector<std::pair<int, int>> creases;
};

/// Vertices and triangles keep their numbers while others go; mesh() closes the gaps. The directed edge a ->
/// b has the triangle (a, b, c) on its left.
class EditableMesh {
 public:
  using Triangle = std::array<int, 3>;

  /// The mesh must be a closed surface (require_closed_surface).
  explicit EditableMesh(const TriangleMesh& mesh);
  explicit EditableMesh(const CreasedMesh& creased);

  /// The vertices and triangles that are left, in order.
  [[nodiscard]] TriangleMesh mesh() const;
  [[nodiscard]] CreasedMesh creased_mesh() const;

  [[nodiscard]] int vertex_count() const { return vertex_count_; }  ///< of those that are left
  [[nodiscard]] int vertex_slots() const { return static_cast<int>(positions_.size()); }
  [[nodiscard]] bool has_vertex(int v) const { return !triangles_of(v).empty(); }
  [[nodiscard]] const Vec3<double>& position(int v) const { return positions_[static_cast<std::size_t>(v)]; }
  void set_position(int v, const Vec3<double>& p) { positions_[static_cast<std::size_t>(v)] = p; }
  [[nodiscard]] int triangle_slots() const { return static_cast<int>(triangles_.size()); }
  /// {-1, -1, -1} if it is gone.
  [[nodiscard]] const Triangle& triangle(int t) const { return triangles_[static_cast<std::size_t>(t)]; }
  [[nodiscard]] const std::vector<int>& triangles_of(int v) const {
    return incident_[static_cast<std::size_t>(v)];
  }

  /// The vertices that share an edge with v, ascending.
  [[nodiscard]] std::vector<int> neighbors(int v) const;
  /// Every edge once, as (smaller, larger), ascending.
  [[nodiscard]] std::vector<std::pair<int, int>> edges() const;
  /// The triangles left and right of a -> b; -1 if a and b share no edge.
  [[nodiscard]] std::array<int, 2> triangles_of_edge(int a, int b) const;
  /// The third vertices of these two.
  [[nodiscard]] std::array<int, 2> opposite(int a, int b) const;

  /// The edge becomes a crease.
  void mark_crease(int a, int b);
  [[nodiscard]] bool is_crease(int a, int b) const;
  /// The vertices at the other ends of v's creases, ascending: none where the surface is smooth, one at
  /// the end of a crease, two along it, more at a corner.
  [[nodiscard]] const std::vector<int>& creases_of(int v) const {
    return creases_[static_cast<std::size_t>(v)];
  }
  [[nodiscard]] bool is_on_crease(int v) const { return !creases_of(v).empty(); }
  [[nodiscard]] bool is_corner(int v) const { return creases_of(v).size() > 2; }

  /// Where the vertex may be to which the edge collapses, so that creases and corners stay.
  enum class Survivor { any, first, second, along_crease, none };
  [[nodiscard]] Survivor survivor(int a, int b) const;

  /// Whether merging b into a leaves a manifold: their common neighbours are the two opposite vertices and no
  /// others (the link condition), both of which keep at least three edges.
  [[nodiscard]] bool can_collapse(int a, int b) const;
  void collapse(int a, int b);  ///< a stays where it is, b goes; creases of both are a's

  /// Whether an edge may be flipped: it is no crease, and the other diagonal of its triangles is no edge yet.
  [[nodiscard]] bool can_flip(int a, int b) const;
  void flip(int a, int b);

  /// Puts a new vertex on the edge and returns its number. Both parts of a crease are creases.
  int split(int a, int b, const Vec3<double>& position);

 private:
  [[nodiscard]] int third(int t, int a, int b) const;
  /// The vertex after v. In a closed manifold each neighbour of v comes after it in one of its triangles.
  [[nodiscard]] int next(int t, int v) const;
  void remove_incidence(int v, int t);

  std::vector<Vec3<double>> positions_;
  std::vector<Triangle> triangles_;         // of a triangle that is gone: {-1, -1, -1}
  std::vector<std::vector<int>> incident_;  // triangles around each vertex, ascending; empty when it is gone
  std::vector<std::vector<int>> creases_;
  int vertex_count_ = 0;
};

}  // namespace abut
