#include "collision/manifold/point_distances.h"

#include <algorithm>
#include <cmath>

#include "collision/manifold/kernel/point_kernels.h"
#include "engine/instruction_set.h"

namespace abut {

void find_near_points(const Points& points, const ShapeSdf& solid, const Pose<double>& X_SO, double range,
                      NearPoints& near) {
  // A smooth union reaches farther than its parts.
  const double union_depth = solid.smoothing() * std::log(static_cast<double>(std::max(1, solid.added())));
  const Vec3<double> grown = Vec3<double>::Constant(solid.distance_ratio() * (range + union_depth));
  const Vec3<double> low = solid.bounds().min() - grown, high = solid.bounds().max() + grown;
  const Mat3<double> R_SO = X_SO.rotation();
  near.points.clear();
  for (auto& numbers : near.coordinates) numbers.clear();
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    const Vec3<double> x = R_SO * points.col(i) + X_SO.p;
    if ((x.array() < low.array()).any() || (x.array() > high.array()).any()) continue;
    near.points.push_back(static_cast<int>(i));
    for (int axis = 0; axis < 3; ++axis) near.coordinates[axis].push_back(x[axis]);
  }
}

void point_distances(const Points& points, const ShapeSdf& solid, const Pose<double>& X_SO, double range,
                     double far, NearPoints& near, std::vector<double>& distances) {
  distances.assign(static_cast<std::size_t>(points.cols()), far);
  find_near_points(points, solid, X_SO, range, near);
  near.samples.resize(near.points.size());
  chosen_kernels<PointKernels>().sample_points(solid, SdfOrder::distance, near.coordinates[0].data(),
                                               near.coordinates[1].data(), near.coordinates[2].data(),
                                               static_cast<int>(near.points.size()), near.samples.data());
  for (std::size_t i = 0; i < near.points.size(); ++i)
    distances[static_cast<std::size_t>(near.points[i])] = near.samples[i];
}

double solid_distance_jvp(const ShapeSdf& solid, const Pose<double>& X_WS, const Vec3<double>& x_W,
                          const Vec3<double>& x_W_dot, const Vec6<double>& pose_S) {
  const Vec3<double> gradient = X_WS.q * solid.evaluate<double>(inverse_point<double>(X_WS, x_W)).gradient;
  return gradient.dot(x_W_dot - point_velocity(pose_S, Vec3<double>(x_W - X_WS.p)));
}

Vec3<double> solid_distance_vjp(const ShapeSdf& solid, const Pose<double>& X_WS, const Vec3<double>& x_W,
                                double distance_bar, Vec6<double>& pose_S_bar, GeometryGradient* geometry_S) {
  const Vec3<double> x_S = inverse_point<double>(X_WS, x_W);
  const Vec3<double> x_bar = distance_bar * (X_WS.q * solid.evaluate<double>(x_S).gradient);
  pose_S_bar -= stack<double>((x_W - X_WS.p).cross(x_bar), x_bar);
  if (geometry_S != nullptr)
    solid.parameter_vjp(x_S, distance_bar, Vec3<double>::Zero(), geometry_S->primitives);
  return x_bar;
}

void point_distances_vjp(const Points& points, const ShapeSdf& solid, const Pose<double>& X_WO,
                         const Pose<double>& X_WS, const std::vector<double>& distances_bar,
                         Vec6<double>& pose_O_bar, Vec6<double>& pose_S_bar, GeometryGradient* geometry_O,
                         GeometryGradient* geometry_S) {
  for (std::size_t p = 0; p < distances_bar.size(); ++p) {
    if (distances_bar[p] == 0.0) continue;
    const auto column = static_cast<Eigen::Index>(p);
    const Vec3<double> arm = X_WO.q * Vec3<double>(points.col(column));
    const Vec3<double> x_bar =
        solid_distance_vjp(solid, X_WS, arm + X_WO.p, distances_bar[p], pose_S_bar, geometry_S);
    pose_O_bar += stack<double>(arm.cross(x_bar), x_bar);
    if (geometry_O != nullptr) geometry_O->contact_points.col(column) += X_WO.q.conjugate() * x_bar;
  }
}

}  // namespace abut
