/// Signed distances of many points of a body to another's solid, and the way back.
#pragma once

#include <vector>

#include "collision/manifold/geometry_gradient.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// Points that may be near a solid. Allocates only while it grows.
struct NearPoints {
  std::vector<int> points;             ///< in ascending order
  std::vector<double> coordinates[3];  ///< of these, in the frame of the solid [m]
  std::vector<double> samples;         ///< memory for what the solid says of them
};

/// Those points that the solid's bounds leave nearer to it than `range` [m]; few others.
///
/// @param points  (3, n) in the owner's frame [m]
/// @param X_SO    pose of the owner in the solid's frame
void find_near_points(const Points& points, const ShapeSdf& solid, const Pose<double>& X_SO, double range,
                      NearPoints& near);

/// phi at each point that may be nearer than `range` [m], `far` [m] at the others.
///
/// @param distances  (n), overwritten
void point_distances(const Points& points, const ShapeSdf& solid, const Pose<double>& X_SO, double range,
                     double far, NearPoints& near, std::vector<double>& distances);

/// JVP of phi at a point of W that moves by x_W_dot, while the solid moves by a left perturbation of its
/// pose.
[[nodiscard]] double solid_distance_jvp(const ShapeSdf& solid, const Pose<double>& X_WS,
                                        const Vec3<double>& x_W, const Vec3<double>& x_W_dot,
                                        const Vec6<double>& pose_S);

/// VJP of phi at a point fixed to W: adds to the pose of the solid and its shape (unless null), returns dL/dx
/// in W.
///
/// @param x_W  [m]
Vec3<double> solid_distance_vjp(const ShapeSdf& solid, const Pose<double>& X_WS, const Vec3<double>& x_W,
                                double distance_bar, Vec6<double>& pose_S_bar, GeometryGradient* geometry_S);

/// VJP of point_distances() for points near the solid: adds dL/d(poses; left, in W) and, unless null,
/// dL/d(geometry of owner and of solid).
///
/// @param distances_bar  (n); entries that are 0 cost nothing
void point_distances_vjp(const Points& points, const ShapeSdf& solid, const Pose<double>& X_WO,
                         const Pose<double>& X_WS, const std::vector<double>& distances_bar,
                         Vec6<double>& pose_O_bar, Vec6<double>& pose_S_bar, GeometryGradient* geometry_O,
                         GeometryGradient* geometry_S);

}  // namespace abut
