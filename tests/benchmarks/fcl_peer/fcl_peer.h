/// Convex pairs in FCL, the Flexible Collision Library (with libccd's GJK and EPA): for comparison.
#pragma once

#include <memory>

#include "collision/convex/convex_part.h"
#include "engine/pose.h"

namespace abut::benchmarks {

struct FclDistance {
  bool failed = false;    ///< FCL threw: the rest is not set
  double distance = 0.0;  ///< [m], < 0: minus the depth
  Vec3<double> point_A_W = Vec3<double>::Zero(), point_B_W = Vec3<double>::Zero();
};

/// Spheres, capsules, boxes, cylinders and polyhedra in the middle of their bodies' frames.
class FclPair {
 public:
  /// Throws std::invalid_argument for other kinds, boxes with a radius, and parts with a pose of their own.
  FclPair(const ConvexPart<double>& A, const ConvexPart<double>& B);
  ~FclPair();
  FclPair(const FclPair&) = delete;
  FclPair& operator=(const FclPair&) = delete;

  /// Signed distance and closest points.
  ///
  /// @param tolerance  of FCL's solver; its default is 1e-6
  [[nodiscard]] FclDistance distance(const Pose<double>& X_WA, const Pose<double>& X_WB,
                                     double tolerance) const;

 private:
  struct Shapes;
  std::unique_ptr<Shapes> shapes_;
};

}  // namespace abut::benchmarks
