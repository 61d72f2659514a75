/// Convex polygons with padding in random and in awkward poses, and their distance by closed forms.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "engine/pose.h"
#include "engine/random.h"
#include "engine/types.h"
#include "tests/support/cases.h"

namespace abut::test {

using PolygonCorners = std::vector<Vec3<double>>;

/// In the plane z = 0 on an ellipse of half axes 1 and 0.6, anticlockwise.
inline PolygonCorners random_corners(Random& random, int count) {
  PolygonCorners corners;
  for (int i = 0; i < count; ++i) {
    const double angle = 2.0 * std::numbers::pi * (i + 0.8 * random.uniform()) / count;
    corners.emplace_back(std::cos(angle), 0.6 * std::sin(angle), 0.0);
  }
  return corners;
}

inline PolygonCorners rectangle(double half_x, double half_y) {
  return {{-half_x, -half_y, 0}, {half_x, -half_y, 0}, {half_x, half_y, 0}, {-half_x, half_y, 0}};
}

inline PolygonCorners moved(const Pose<double>& X, PolygonCorners corners) {
  for (Vec3<double>& corner : corners) corner = X * corner;
  return corners;
}

struct CornersPair {
  PolygonCorners A, B;  ///< of three corners or more, or two: a segment
  const char* kind;
};

/// Every kind in turn.
inline CornersPair corners_pair(Random& random, int trial) {
  CornersPair r{random_corners(random, 3 + int(random.integer(6))),
                random_corners(random, 3 + int(random.integer(6))), "apart or crossing"};
  r.A = moved(random_pose(random, 1.5), r.A);
  const Pose<double> X_B = random_pose(random, 1.5);
  const Vec3<double> normal = (r.A[1] - r.A[0]).cross(r.A[2] - r.A[0]).normalized();
  const auto into_plane = [&](double height) {
    for (Vec3<double>& x : r.B) x += (height - normal.dot(x - r.A[0])) * normal;
  };
  switch (trial % 8) {
    case 1:
      r.kind = "parallel, above each other or beside";
      r.B = moved(X_B, r.B);
      into_plane(random.uniform(0.01, 0.5));
      return r;
    case 2:
      r.kind = "in one plane";
      r.B = moved(X_B, r.B);
      into_plane(0.0);
      return r;
    case 3:
      r.kind = "coincident";
      r.B = r.A;
      return r;
    case 4:
      r.kind = "flush, shifted along an edge";
      r.B = r.A;
      for (Vec3<double>& x : r.B) x += 0.3 * (r.A[1] - r.A[0]) + 0.2 * normal;
      return r;
    case 5: {
      r.kind = "a corner on a face";
      r.B = moved(X_B, r.B);
      const Vec3<double> shift = (r.A[0] + r.A[1] + r.A[2]) / 3.0 - r.B[0];
      for (Vec3<double>& x : r.B) x += shift;
      return r;
    }
    case 6: {
      r.kind = "corner on corner";
      r.B = moved(X_B, r.B);
      const Vec3<double> shift = r.A[0] - r.B[0];
      for (Vec3<double>& x : r.B) x += shift;
      return r;
    }
    case 7:
      r.kind = "far apart";
      r.B = moved({X_B.q, 1000.0 * X_B.p}, r.B);
      return r;
    default:
      r.B = moved(X_B, r.B);
      return r;
  }
}

/// Least distance of two segments, by which of their points are closest.
inline double distance_of_segments(const Vec3<double>& a, const Vec3<double>& b, const Vec3<double>& c,
                                   const Vec3<double>& d) {
  const auto from_point = [](const Vec3<double>& p, const Vec3<double>& start, const Vec3<double>& end) {
    const Vec3<double> along = end - start;
    return (start + std::clamp((p - start).dot(along) / along.squaredNorm(), 0.0, 1.0) * along - p).norm();
  };
  double least =
      std::min({from_point(a, c, d), from_point(b, c, d), from_point(c, a, b), from_point(d, a, b)});
  const Vec3<double> u = b - a, v = d - c, w = c - a, normal = u.cross(v);
  const double squared = normal.squaredNorm();
  if (squared > 1e-24 * u.squaredNorm() * v.squaredNorm()) {
    const double s = w.cross(v).dot(normal) / squared, t = w.cross(u).dot(normal) / squared;
    if (s >= 0.0 && s <= 1.0 && t >= 0.0 && t <= 1.0)
      least = std::min(least, std::abs(w.dot(normal)) / std::sqrt(squared));
  }
  return least;
}

/// Least distance of two convex polygons or segments: of their edges, of corners from faces, or 0 where an
/// edge passes through a face.
inline double distance_of_polygons(const PolygonCorners& A, const PolygonCorners& B) {
  const auto edge = [](const PolygonCorners& corners, std::size_t i) -> const Vec3<double>& {
    return corners[i % corners.size()];
  };
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < A.size(); ++i) {
    for (std::size_t k = 0; k < B.size(); ++k)
      least = std::min(least, distance_of_segments(A[i], edge(A, i + 1), B[k], edge(B, k + 1)));
  }
  const auto by_face = [&](const PolygonCorners& face, const PolygonCorners& other) {
    if (face.size() < 3) return;
    const Vec3<double> normal = (face[1] - face[0]).cross(face[2] - face[0]).normalized();
    const auto is_inside = [&](const Vec3<double>& x) {
      for (std::size_t i = 0; i < face.size(); ++i) {
        if (normal.dot((edge(face, i + 1) - face[i]).cross(x - face[i])) < 0.0) return false;
      }
      return true;
    };
    for (std::size_t i = 0; i < other.size(); ++i) {
      const Vec3<double>&x = other[i], &y = edge(other, i + 1);
      const double at_x = normal.dot(x - face[0]), at_y = normal.dot(y - face[0]);
      if (is_inside(x - at_x * normal)) least = std::min(least, std::abs(at_x));
      if (at_x * at_y < 0.0 && is_inside(x + at_x / (at_x - at_y) * (y - x))) least = 0.0;
    }
  };
  by_face(A, B);
  by_face(B, A);
  return least;
}

}  // namespace abut::test
