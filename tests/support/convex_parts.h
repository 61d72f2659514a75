/// Convex parts of every kind, and distances of polyhedra by brute force.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "collision/convex/convex_part.h"
#include "collision/segment_distance.h"
#include "engine/model.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/convex_polygon.h"

namespace abut::test {

inline Primitive primitive_of(PrimitiveKind kind, const std::array<double, 5>& parameters) {
  Primitive primitive;
  primitive.kind = kind;
  primitive.parameters = parameters;
  return primitive;
}

inline ConvexPart<double> sphere_part(double radius) {
  return make_convex_part(primitive_of(PrimitiveKind::sphere, {radius}));
}
inline ConvexPart<double> capsule_part(double radius, double half_length) {
  return make_convex_part(primitive_of(PrimitiveKind::capsule, {radius, half_length}));
}
inline ConvexPart<double> box_part(const Vec3<double>& half, double radius = 0.0) {
  return make_convex_part(primitive_of(PrimitiveKind::rounded_box, {half[0], half[1], half[2], radius}));
}
inline ConvexPart<double> superquadric_part(const Vec3<double>& axes, double eps1 = 1.0, double eps2 = 1.0) {
  return make_convex_part(primitive_of(PrimitiveKind::superquadric, {axes[0], axes[1], axes[2], eps1, eps2}));
}
inline ConvexPart<double> cone_part(double base, double top, double half_length) {
  return make_convex_part(primitive_of(PrimitiveKind::cone, {base, top, half_length, 1e-3 * half_length}));
}
inline ConvexPart<double> half_space_part() {
  return make_convex_part(primitive_of(PrimitiveKind::half_space, {}));
}

/// The hull of points on an ellipsoid of random axes, about 1 m.
inline Points random_hull_points(Random& random, int count) {
  const Vec3<double> axes(random.uniform(0.1, 1.0), random.uniform(0.1, 1.0), random.uniform(0.1, 1.0));
  Points points(3, count);
  for (int i = 0; i < count; ++i) points.col(i) = axes.cwiseProduct(random.unit_vector());
  return points;
}

inline ConvexPart<double> make_hull_part(Random& random, int count) {
  return make_convex_part(random_hull_points(random, count));
}

/// A padded polygon, about 1 m in size.
inline ConvexPart<double> random_polygon_part(Random& random) {
  const int corners = 3 + static_cast<int>(random.integer(6));
  const double size = random.uniform(0.2, 0.8), padding = random.uniform(0.1, 0.4);
  ConvexPart<double> part =
      make_convex_part(make_padded_polygon(random_convex_polygon(random, corners, size), padding));
  part.X_BP = random_pose(random, 0.2);
  return part;
}

/// Any bounded kind with a volume of its core, or a sphere or capsule, about 1 m in size.
inline ConvexPart<double> random_part(Random& random) {
  const auto length = [&] { return random.uniform(0.2, 0.8); };
  ConvexPart<double> part;
  switch (random.integer(7)) {
    case 0:
      part = sphere_part(length());
      break;
    case 1:
      part = capsule_part(0.5 * length(), length());
      break;
    case 2:
      part = box_part({length(), length(), length()}, random.uniform() < 0.5 ? 0.0 : 0.1);
      break;
    case 3:
      part = superquadric_part({length(), length(), length()});
      break;
    case 4:
      part = superquadric_part({length(), length(), length()}, random.uniform(0.3, 1.7),
                               random.uniform(0.3, 1.7));
      break;
    case 5:
      part = cone_part(length(), random.uniform() < 0.3 ? 0.0 : length(), length());
      break;
    default:
      part = make_hull_part(random, random.uniform() < 0.5 ? 12 : 80);
  }
  part.X_BP = random_pose(random, 0.2);
  return part;
}

/// Corners of a part without volume or curvature, at a pose of its body.
inline std::vector<Vec3<double>> core_corners(const ConvexPart<double>& part, const Pose<double>& X_WB) {
  const Pose<double> X = X_WB * part.X_BP;
  const Vec3<double>& e = part.extents;
  std::vector<Vec3<double>> corners;
  if (part.core == ConvexCore::polyhedron) {
    for (const Vec3<double>& x : part.polyhedron->vertices) corners.push_back(X * x);
  } else {
    const int axes = part.core == ConvexCore::box ? 3 : part.core == ConvexCore::segment ? 1 : 0;
    for (int i = 0; i < 1 << axes; ++i) {
      if (axes == 1) corners.push_back(X * Vec3<double>(0.0, 0.0, i ? e[2] : -e[2]));
      if (axes == 0) corners.push_back(X.p);
      if (axes == 3)
        corners.push_back(X * Vec3<double>(i & 1 ? e[0] : -e[0], i & 2 ? e[1] : -e[1], i & 4 ? e[2] : -e[2]));
    }
  }
  return corners;
}

/// The distance of two hulls that are apart [m], by all pairs of a vertex and a triangle of vertices, and of
/// two segments between vertices. All of these lie in the hulls, and the closest pair is among them.
inline double hull_distance(const std::vector<Vec3<double>>& A, const std::vector<Vec3<double>>& B) {
  double squared = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t j = A.size() > 1 ? i + 1 : i; j < A.size(); ++j)
      for (std::size_t k = 0; k < B.size(); ++k)
        for (std::size_t l = B.size() > 1 ? k + 1 : k; l < B.size(); ++l)
          squared = std::min(squared, segment_distance<double>(A[i], A[j], B[k], B[l]).squared_distance);
  const auto vertices_at_triangles = [&](const std::vector<Vec3<double>>& points,
                                         const std::vector<Vec3<double>>& corners) {
    for (std::size_t i = 0; i < corners.size(); ++i)
      for (std::size_t j = i + 1; j < corners.size(); ++j)
        for (std::size_t k = j + 1; k < corners.size(); ++k) {
          const Vec3<double> u = corners[j] - corners[i], v = corners[k] - corners[i], n = u.cross(v);
          const double area = n.squaredNorm();
          if (area < 1e-20) continue;
          for (const Vec3<double>& x : points) {
            const Vec3<double> r = x - corners[i];
            const double s = r.cross(v).dot(n) / area, t = u.cross(r).dot(n) / area;
            if (s < 0.0 || t < 0.0 || s + t > 1.0) continue;
            squared = std::min(squared, r.dot(n) * r.dot(n) / area);
          }
        }
  };
  vertices_at_triangles(A, B);
  vertices_at_triangles(B, A);
  return std::sqrt(squared);
}

/// The depth of two hulls that overlap [m]: the least support of their Minkowski difference over the normals
/// of all planes through three of its points that may be a face, by faces and pairs of edges.
inline double hull_depth(const std::vector<Vec3<double>>& A, const std::vector<Vec3<double>>& B) {
  double depth = std::numeric_limits<double>::infinity();
  const auto try_axis = [&](const Vec3<double>& axis) {
    if (axis.squaredNorm() < 1e-18) return;
    const Vec3<double> n = axis.normalized();
    double high_A = -1e300, low_A = 1e300, high_B = -1e300, low_B = 1e300;
    for (const Vec3<double>& x : A) high_A = std::max(high_A, n.dot(x)), low_A = std::min(low_A, n.dot(x));
    for (const Vec3<double>& x : B) high_B = std::max(high_B, n.dot(x)), low_B = std::min(low_B, n.dot(x));
    depth = std::min({depth, high_A - low_B, high_B - low_A});
  };
  for (const auto* points : {&A, &B})
    for (std::size_t i = 0; i < points->size(); ++i)
      for (std::size_t j = i + 1; j < points->size(); ++j)
        for (std::size_t k = j + 1; k < points->size(); ++k)
          try_axis(((*points)[j] - (*points)[i]).cross((*points)[k] - (*points)[i]));
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t j = i + 1; j < A.size(); ++j)
      for (std::size_t k = 0; k < B.size(); ++k)
        for (std::size_t l = k + 1; l < B.size(); ++l) try_axis((A[j] - A[i]).cross(B[l] - B[k]));
  return depth;
}

}  // namespace abut::test
