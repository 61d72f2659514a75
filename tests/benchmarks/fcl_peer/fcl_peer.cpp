#include "fcl_peer.h"

#include <exception>
#include <vector>

#include <fcl/geometry/shape/box.h>
#include <fcl/geometry/shape/capsule.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/geometry/shape/cylinder.h>
#include <fcl/geometry/shape/sphere.h>
#include <fcl/narrowphase/distance.h>

#include "engine/check.h"
#include "engine/convex_hull.h"

namespace abut::benchmarks {
namespace {

std::shared_ptr<fcl::CollisionGeometryd> fcl_shape(const ConvexPart<double>& part) {
  require(part.X_BP.p.isZero(0.0) && part.X_BP.q.vec().isZero(0.0), "parts in FCL lie in their body's frame");
  const Vec3<double>& e = part.extents;
  switch (part.core) {
    case ConvexCore::point:
      return std::make_shared<fcl::Sphered>(part.radius);
    case ConvexCore::segment:
      return std::make_shared<fcl::Capsuled>(part.radius, 2.0 * e[2]);
    case ConvexCore::box:
      require(part.radius == 0.0, "boxes in FCL have no radius");
      return std::make_shared<fcl::Boxd>(2.0 * e[0], 2.0 * e[1], 2.0 * e[2]);
    case ConvexCore::cone:
      require(e[0] == e[1], "cones in FCL are cylinders here");
      return std::make_shared<fcl::Cylinderd>(e[0], 2.0 * e[2]);
    case ConvexCore::polyhedron: {
      // Triangles: FCL follows edges only where its faces are watertight, which coplanar ones need not be
      // here.
      const auto& corners = part.polyhedron->vertices;
      Points points(3, static_cast<Eigen::Index>(corners.size()));
      for (std::size_t i = 0; i < corners.size(); ++i) points.col(static_cast<Eigen::Index>(i)) = corners[i];
      const ConvexHull hull = convex_hull(points);
      auto vertices = std::make_shared<std::vector<fcl::Vector3d>>();
      for (Eigen::Index i = 0; i < hull.vertices.cols(); ++i) vertices->emplace_back(hull.vertices.col(i));
      auto faces = std::make_shared<std::vector<int>>();
      for (const Eigen::Vector3i& triangle : hull.triangles) {
        faces->push_back(3);
        faces->insert(faces->end(), {triangle[0], triangle[1], triangle[2]});
      }
      const auto count = static_cast<int>(hull.triangles.size());
      return std::make_shared<fcl::Convexd>(vertices, count, faces);
    }
    case ConvexCore::superquadric:
    case ConvexCore::half_space:
      break;
  }
  require(false, "a kind of part that FCL is not asked for");
  return nullptr;
}

fcl::Transform3d fcl_pose(const Pose<double>& X) {
  fcl::Transform3d transform = fcl::Transform3d::Identity();
  transform.linear() = X.q.toRotationMatrix();
  transform.translation() = X.p;
  return transform;
}

}  // namespace

struct FclPair::Shapes {
  std::shared_ptr<fcl::CollisionGeometryd> A, B;
};

FclPair::FclPair(const ConvexPart<double>& A, const ConvexPart<double>& B)
    : shapes_(std::make_unique<Shapes>(Shapes{fcl_shape(A), fcl_shape(B)})) {}

FclPair::~FclPair() = default;

FclDistance FclPair::distance(const Pose<double>& X_WA, const Pose<double>& X_WB, double tolerance) const {
  const fcl::DistanceRequestd request(true, true, 0.0, 0.0, tolerance, fcl::GST_LIBCCD);
  fcl::DistanceResultd result;
  try {
    (void)fcl::distance(shapes_->A.get(), fcl_pose(X_WA), shapes_->B.get(), fcl_pose(X_WB), request, result);
  } catch (const std::exception&) {
    return {.failed = true};
  }
  return {false, result.min_distance, result.nearest_points[0], result.nearest_points[1]};
}

}  // namespace abut::benchmarks
