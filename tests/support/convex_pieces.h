/// Convex polyhedra, sharp or rounded, and how deep two of them overlap, by brute force.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "engine/pose.h"
#include "engine/types.h"

namespace abut::test {

/// The convex hull of balls about its vertices, all in the frame of its body.
struct ConvexPiece {
  std::vector<Vec3<double>> vertices;         ///< [m]
  std::vector<Vec3<double>> face_normals;     ///< outward, of unit length
  std::vector<Vec3<double>> edge_directions;  ///< of unit length, no two parallel
  double radius = 0.0;                        ///< of the balls [m]
  double inradius = 0.0;                      ///< that of the balls included [m]

  /// Adds an edge direction unless it is parallel to one that is there.
  void add_edge_direction(const Vec3<double>& direction) {
    for (const Vec3<double>& t : edge_directions)
      if (t.cross(direction).norm() < 1e-9) return;
    edge_directions.push_back(direction);
  }
};

/// A box with edges rounded by `radius`; its axes are those of the pose, and so is its centre.
inline ConvexPiece box_piece(const Pose<double>& X, const Vec3<double>& half, double radius = 0.0) {
  ConvexPiece piece;
  piece.radius = radius;
  piece.inradius = half.minCoeff();
  const Vec3<double> inner = half.array() - radius;
  for (int i = 0; i < 8; ++i) {
    const Vec3<double> signs(i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0);
    piece.vertices.push_back(X * Vec3<double>(inner.cwiseProduct(signs)));
  }
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3<double> direction = X.rotation().col(axis);
    piece.edge_directions.push_back(direction);
    piece.face_normals.push_back(direction);
    piece.face_normals.emplace_back(-direction);
  }
  return piece;
}

inline ConvexPiece capsule_piece(const Vec3<double>& from, const Vec3<double>& to, double radius) {
  ConvexPiece piece;
  piece.vertices = {from, to};
  piece.edge_directions = {(to - from).normalized()};
  piece.radius = piece.inradius = radius;
  return piece;
}

inline ConvexPiece moved(const ConvexPiece& piece, const Pose<double>& X) {
  ConvexPiece result = piece;
  const Mat3<double> R = X.rotation();
  for (Vec3<double>& x : result.vertices) x = R * x + X.p;
  for (Vec3<double>& n : result.face_normals) n = R * n;
  for (Vec3<double>& t : result.edge_directions) t = R * t;
  return result;
}

/// The shortest translation that parts them [m], < 0 if they are apart: by every axis that can separate them.
/// Both are in the same frame.
inline double overlap_depth(const ConvexPiece& A, const ConvexPiece& B) {
  const auto range = [](const std::vector<Vec3<double>>& points, const Vec3<double>& axis) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Vec3<double>& x : points) {
      low = std::min(low, axis.dot(x));
      high = std::max(high, axis.dot(x));
    }
    return std::pair(low, high);
  };
  const double radii = A.radius + B.radius;
  double depth = std::numeric_limits<double>::infinity();  // of the polyhedra without the balls
  const auto try_axis = [&](const Vec3<double>& axis) {
    const auto [low_A, high_A] = range(A.vertices, axis);
    const auto [low_B, high_B] = range(B.vertices, axis);
    depth = std::min({depth, high_A - low_B, high_B - low_A});
  };
  const auto try_direction = [&](const Vec3<double>& direction) {
    if (direction.squaredNorm() > 1e-12) try_axis(direction.normalized());
  };
  for (const Vec3<double>& n : A.face_normals) try_axis(n);
  for (const Vec3<double>& n : B.face_normals) try_axis(n);
  if (depth + radii < 0.0) return depth + radii;
  for (const Vec3<double>& a : A.edge_directions)
    for (const Vec3<double>& b : B.edge_directions) try_direction(a.cross(b));
  if (radii == 0.0 || depth + radii < 0.0 ||
      (depth > 0.0 && !A.face_normals.empty() && !B.face_normals.empty()))
    return depth + radii;
  // Balls touch along the shortest line between the polyhedra: it may start or end at a vertex.
  for (const Vec3<double>& a : A.vertices) {
    for (const Vec3<double>& b : B.vertices) {
      const Vec3<double> between = b - a;
      try_direction(between);
      for (const ConvexPiece* piece : {&A, &B})
        for (const Vec3<double>& t : piece->edge_directions) try_direction(between - t * t.dot(between));
    }
  }
  return depth + radii;
}

}  // namespace abut::test
