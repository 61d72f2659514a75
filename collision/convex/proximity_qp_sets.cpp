#include "collision/convex/proximity_qp_sets.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "collision/convex/planar_hull.h"
#include "engine/check.h"
#include "engine/convex_hull.h"

namespace abut {
namespace {

/// Relative to the extent of the points: how far out of a plane they may be, and how narrow.
constexpr double k_flatness = 1e-9, k_narrowness = 1e-6;

Vec2<double> centre_of_area(const std::vector<Vec2<double>>& corners) {
  Vec2<double> sum = Vec2<double>::Zero();
  double area = 0.0;
  for (std::size_t i = 1; i + 1 < corners.size(); ++i) {
    const Vec2<double> a = corners[i] - corners[0], b = corners[i + 1] - corners[0];
    const double part = a.x() * b.y() - a.y() * b.x();
    area += part;
    sum += part / 3.0 * (a + b);
  }
  return corners[0] + sum / area;
}

}  // namespace

CoreConstraints segment_core(const Vec3<double>& start, const Vec3<double>& end) {
  require(start.allFinite() && end.allFinite(), "the ends of a segment must be finite");
  CoreConstraints r;
  r.dim = 1;
  r.size = 0.5 * (end - start).norm();
  require(r.size > 0.0, "the ends of a segment must differ");
  r.centre = 0.5 * (start + end);
  r.axes.col(0) = 0.5 / r.size * (end - start);
  r.normals = Points::Zero(3, 2);
  r.normals(0, 0) = 1.0 / r.size;
  r.normals(0, 1) = -1.0 / r.size;
  return r;
}

CoreConstraints polygon_core(std::span<const Vec3<double>> vertices) {
  require(vertices.size() >= 3, "a polygon needs three vertices or more");
  Vec3<double> mean = Vec3<double>::Zero();
  for (const Vec3<double>& v : vertices) {
    require(v.allFinite(), "the vertices of a polygon must be finite");
    mean += v / static_cast<double>(vertices.size());
  }
  // The plane of the mean, the vertex farthest from it, and the one farthest from the line of both.
  double extent = 0.0;
  Vec3<double> along = Vec3<double>::UnitX(), aside = Vec3<double>::Zero();
  for (const Vec3<double>& v : vertices) {
    if ((v - mean).norm() > extent) extent = (v - mean).norm(), along = (v - mean).normalized();
  }
  for (const Vec3<double>& v : vertices) {
    const Vec3<double> offset = (v - mean) - along.dot(v - mean) * along;
    if (offset.norm() > aside.norm()) aside = offset;
  }
  require(aside.norm() > k_narrowness * extent, "the vertices of a polygon must not lie on a line");
  CoreConstraints r;
  r.dim = 2;
  r.axes.col(0) = along;
  r.axes.col(1) = (aside - along.dot(aside) * along).normalized();
  const Vec3<double> normal = along.cross(r.axes.col(1));
  std::vector<Vec2<double>> points;
  for (const Vec3<double>& v : vertices) {
    require(std::abs(normal.dot(v - mean)) <= k_flatness * extent,
            "the vertices of a polygon must lie in a plane");
    points.emplace_back(r.axes.col(0).dot(v - mean), r.axes.col(1).dot(v - mean));
  }
  std::vector<Vec2<double>> corners;
  for (const int i : planar_hull(points, 1e-12 * extent))
    corners.push_back(points[static_cast<std::size_t>(i)]);

  const Vec2<double> centre = centre_of_area(corners);
  r.centre = mean + r.axes.leftCols<2>() * centre;
  r.normals = Points::Zero(3, static_cast<Eigen::Index>(corners.size()));
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Vec2<double> a = corners[i] - centre, b = corners[(i + 1) % corners.size()] - centre;
    const Vec2<double> outward = Vec2<double>(b.y() - a.y(), a.x() - b.x());
    r.normals.col(static_cast<Eigen::Index>(i)).head<2>() = outward / outward.dot(a);
    r.size = std::max(r.size, a.norm());
  }
  return r;
}

CoreConstraints polytope_core(const Points& vertices) {
  const ConvexHull hull = convex_hull(vertices);
  CoreConstraints r;
  r.dim = 3;
  r.axes.setIdentity();
  r.centre = hull.vertices.rowwise().mean();
  r.normals = hull.normals;
  for (Eigen::Index i = 0; i < hull.normals.cols(); ++i) {
    r.normals.col(i) /=
        hull.offsets[static_cast<std::size_t>(i)] - hull.normals.col(i).dot(r.centre.matrix());
  }
  r.size = (hull.vertices.colwise() - r.centre).colwise().norm().maxCoeff();
  return r;
}

CoreConstraints polytope_core(const Points& normals, std::span<const double> offsets) {
  require(normals.cols() == static_cast<Eigen::Index>(offsets.size()),
          "a polytope needs an offset for each normal");
  CoreConstraints r;
  r.dim = 3;
  r.axes.setIdentity();
  r.normals = normals;
  r.size = polyhedron_vertices(normals, offsets).colwise().norm().maxCoeff();
  for (Eigen::Index i = 0; i < normals.cols(); ++i) r.normals.col(i) /= offsets[static_cast<std::size_t>(i)];
  return r;
}

}  // namespace abut
