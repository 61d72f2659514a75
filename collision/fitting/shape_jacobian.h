/// The signed distance of a shape at many points, with its derivatives by all numbers of its primitives.
#pragma once

#include <cstddef>
#include <vector>

#include "collision/fitting/free_primitive.h"
#include "collision/manifold/kernel/solid_bound.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// Derivative of a distance by the tangent of one primitive (free_primitive.h).
struct DistanceSlope {
  int primitive;  ///< of the shape
  PrimitiveTangent slope;
};

/// Distances at points that are near the zero set, with those of their derivatives by free primitives
/// (is_free) that are not negligible: of entry i, the slopes begin[i] ... begin[i + 1] - 1, those of added
/// primitives first.
struct DistanceJacobian {
  std::vector<Eigen::Index> points;  ///< which of those given
  Eigen::VectorXd distance;          ///< [m]
  std::vector<std::size_t> begin;
  std::vector<DistanceSlope> slopes;
};

/// Evaluates the distances of ShapeSdf and their derivatives, by lanes:
///
///   d = tau log(exp(d_+/tau) + exp(-d_-/tau)),
///   dd = w dd_+ - (1 - w) dd_-,   w = 1/(1 + exp(-(d_+ + d_-)/tau))
///
/// with the unions d_+ of the added and d_- of the subtracted superquadrics; d = d_+ without any of the
/// latter. Const once made, hence safe to share between threads.
class ShapeJacobian {
 public:
  /// @param shape  of free primitives and convex polyhedra, one of them added, with Taubin's distance
  explicit ShapeJacobian(const Shape& shape);

  /// @param points  (3, n) [m]
  /// @param band    of |d|: points at which it is not below are left out [m]
  [[nodiscard]] DistanceJacobian evaluate(const Points& points, double band) const;

 private:
  /// The union of the added primitives, or of the subtracted ones.
  struct Side {
    ShapeSdf sdf;
    std::vector<PrimitiveBound<double>> bounds;
    std::vector<int> primitives;  // of the shape
  };
  [[nodiscard]] static Side side_of(const Shape& shape, PrimitiveOperation operation);

  std::vector<Primitive> primitives_;
  std::vector<Mat3<double>> rotations_;
  std::vector<Side> sides_;  // added; subtracted, if there are any
};

}  // namespace abut
