/// Contact search between the triangles of a mesh and a signed distance function, triangle by triangle.
///
///   1. candidates  triangles with phi(centroid) <= kappa rho + margin, rho the distance [m] from the
///                  centroid to the farthest corner and kappa >= 1 for distances that are not metric
///                  (ShapeSdf::distance_ratio()).
///   2. search      the point of each with the least phi, by 32 steps of Frank and Wolfe's method from its
///                  deepest corner (triangle_minimum.h), four triangles at a time; contacts have
///                  phi <= margin.
///   3. filter      contacts with normals within 0.01 rad of the deepest one's form a cluster, then those
///                  of the deepest one that is left, and so on. A cluster keeps its deepest contact, the
///                  corners of the convex hull of its points, seen along the normal (its support polygon),
///                  and those deeper than the others around them, the corners of the lower hull of points
///                  and distances.
///
/// The document tests candidates with the circumradius. That of a slender acute triangle is 3/4 of rho, so
/// that contacts are missed, and that of an obtuse one has no bound. It keeps the support polygon alone: that
/// of a flat face with a round rim is the rim, which lies higher than the face. Clusters depend on the order,
/// which here is by depth and, of equal depths, by index. They jump where normals of two contacts come within
/// the angle of each other: which contacts there are has no derivative.
///
/// phi [m] is > 0 outside. Normals point out of the solid. All is in the frame S of the distance function.
/// @see  Strecke, Stueckler (2021), "DiffSDFSim: differentiable rigid-body dynamics with implicit shapes";
///       Thompson (2024), "Advanced enhancements and optimization of the physics simulator diffsdfs".
#pragma once

#include <span>
#include <vector>

#include "collision/sdf/shape_sdf.h"
#include "engine/mesh.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

struct FrankWolfeSettings {
  double margin = 1e-3;          ///< [m]: contacts have phi <= it
  int iterations = 32;           ///< >= 0
  double normal_angle = 0.01;    ///< of clusters [rad], 0 to pi
  double hull_tolerance = 1e-9;  ///< of corners of a hull from its sides, by the size of the mesh
};

/// Throws std::invalid_argument naming the field and its value.
void validate(const FrankWolfeSettings& settings);

/// The deepest point of one triangle.
struct TriangleContact {
  int triangle = -1;                            ///< of the mesh
  Vec3<double> weights = Vec3<double>::Zero();  ///< barycentric coordinates
  Vec3<double> point = Vec3<double>::Zero();    ///< on the triangle [m]
  double distance = 0;                          ///< phi [m]
  Vec3<double> normal = Vec3<double>::Zero();  ///< of the signed distance function; shorter where it has none
};

/// The mesh made ready; const, hence safe to share between threads, afterwards.
class TriangleSearch {
 public:
  /// Throws std::invalid_argument for an index out of range or a coordinate that is not finite.
  explicit TriangleSearch(const TriangleMesh& mesh_M);

  /// Replaces `triangles` by the candidates.
  ///
  /// @param X_SM  pose of the mesh
  void candidates(const ShapeSdf& sdf, const Pose<double>& X_SM, double margin,
                  std::vector<int>& triangles) const;

  /// Replaces `contacts` by those of all candidates, in the order of triangles.
  void contacts(const ShapeSdf& sdf, const Pose<double>& X_SM, const FrankWolfeSettings& settings,
                std::vector<TriangleContact>& contacts) const;

  /// The deepest point of one triangle, as contacts() has it, wherever that is.
  [[nodiscard]] TriangleContact contact(const ShapeSdf& sdf, const Pose<double>& X_SM, int triangle,
                                        const FrankWolfeSettings& settings) const;

  /// Those of the contacts that the filter keeps, by cluster, the deepest first in each.
  [[nodiscard]] std::vector<TriangleContact> filtered(const std::vector<TriangleContact>& contacts,
                                                      const FrankWolfeSettings& settings) const;

  /// Whether a contact stays at its point of the mesh however the mesh turns by a thousandth: the point is a
  /// vertex, and of one of its triangles it is the lowest corner by more than that, so that each step of the
  /// search goes there. Any other contact jumps within its triangle, or to the next.
  ///
  /// @param gradient_M  of the signed distance at the contact
  [[nodiscard]] bool is_held(const TriangleContact& contact, const Vec3<double>& gradient_M) const;

  /// The longest side of the box around the mesh [m].
  [[nodiscard]] double size() const { return size_; }
  /// The corners of a triangle in M [m].
  void corners(int triangle, Vec3<double> (&corners_M)[3]) const;

 private:
  /// Appends the deepest points of triangles that are within the margin.
  void search(const ShapeSdf& sdf, const Pose<double>& X_SM, std::span<const int> triangles, int iterations,
              double margin, std::vector<TriangleContact>& contacts) const;

  TriangleMesh mesh_;
  std::vector<int> first_triangle_, triangles_at_;  // at vertex i: triangles_at_[first_triangle_[i]], ...
  Points centroids_;                                // (3, t) [m]
  std::vector<double> radii_;                       // rho (t) [m]
  double size_ = 0;
};

}  // namespace abut
