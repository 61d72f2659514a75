#include "apps/picture/camera.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "apps/picture/surface.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr double k_near = 0.01, k_far = 1000.0;  // planes in front and behind, in distances
constexpr double k_least_distance = 1e-6, k_largest_distance = 1e6;  // [m]
constexpr double k_zoom_per_notch = 0.88;
constexpr double k_orthographic_setback = 20.0;  // of a camera with parallel rays, in distances
constexpr double k_filled = 0.88;                // how much of the picture camera_around fills

Points corners_of(const Eigen::AlignedBox3d& box) {
  Points corners(3, 8);
  for (int c = 0; c < 8; ++c) corners.col(c) = box.corner(static_cast<Eigen::AlignedBox3d::CornerType>(c));
  return corners;
}

/// Points in B whose convex hull the body is in, or nearly so; half-spaces take no part.
Points outline(const Body& body) {
  if (body.mesh.vertex_count() > 0) return body.mesh.vertices;
  Eigen::AlignedBox3d box;
  if (!body.shape.primitives.empty()) box = ShapeSdf(bounded_part(body.shape)).bounds();
  if (box.isEmpty()) {
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
      const Vec3<double> p = body.contact_points.col(i);
      box.extend((p.array() - body.contact_radius).matrix());
      box.extend((p.array() + body.contact_radius).matrix());
    }
  }
  if (box.isEmpty() || !box.sizes().allFinite()) return Points(3, 0);
  return corners_of(box);
}

Points in_world(const Pose<double>& X_WB, const Points& points_B) {
  Points points_W = X_WB.rotation() * points_B;
  points_W.colwise() += X_WB.p;
  return points_W;
}

}  // namespace

Vec3<double> OrbitCamera::position() const {
  return target - (orthographic ? k_orthographic_setback : 1.0) * distance * forward();
}

Vec3<double> OrbitCamera::forward() const {
  return {-std::cos(elevation) * std::cos(azimuth), -std::cos(elevation) * std::sin(azimuth),
          -std::sin(elevation)};
}

Vec3<double> OrbitCamera::right() const { return {-std::sin(azimuth), std::cos(azimuth), 0.0}; }

// Not by a product with z, which vanishes where the camera looks straight down.
Vec3<double> OrbitCamera::up() const {
  return {-std::sin(elevation) * std::cos(azimuth), -std::sin(elevation) * std::sin(azimuth),
          std::cos(elevation)};
}

Mat4<double> OrbitCamera::view() const {
  Mat3<double> R_CW;
  R_CW << right().transpose(), up().transpose(), -forward().transpose();
  Mat4<double> view = Mat4<double>::Identity();
  view.topLeftCorner<3, 3>() = R_CW;
  view.topRightCorner<3, 1>() = -R_CW * position();
  return view;
}

Mat4<double> OrbitCamera::projection(double aspect) const {
  const double slope = std::tan(0.5 * vertical_angle);
  Mat4<double> projection = Mat4<double>::Zero();
  if (orthographic) {
    const double half_height = distance * slope, reach = k_orthographic_setback * distance;
    projection.diagonal() << 1.0 / (half_height * aspect), 1.0 / half_height, -1.0 / reach, 1.0;
    projection(2, 3) = -1.0;  // from the camera to as far behind the target
    return projection;
  }
  projection(0, 0) = 1.0 / (slope * aspect);
  projection(1, 1) = 1.0 / slope;
  projection(2, 2) = -(k_far + k_near) / (k_far - k_near);
  projection(2, 3) = -2.0 * k_far * k_near / (k_far - k_near) * distance;
  projection(3, 2) = -1.0;
  return projection;
}

Ray OrbitCamera::ray(double x, double y, double aspect) const {
  const double slope = std::tan(0.5 * vertical_angle);
  if (orthographic) return {position() + distance * slope * (x * aspect * right() + y * up()), forward()};
  return {position(), (forward() + slope * (x * aspect * right() + y * up())).normalized()};
}

Vec3<double> OrbitCamera::project(const Vec3<double>& p_W, double aspect) const {
  const Vec3<double> r = p_W - position();
  const double depth = r.dot(forward());
  if (!(depth > 0.0)) return {0.0, 0.0, depth};
  const double height = (orthographic ? distance : depth) * std::tan(0.5 * vertical_angle);
  return {r.dot(right()) / (height * aspect), r.dot(up()) / height, depth};
}

double OrbitCamera::pixel_size(double depth, int height_pixels) const {
  return 2.0 * (orthographic ? distance : depth) * std::tan(0.5 * vertical_angle) /
         std::max(height_pixels, 1);
}

// What is seen follows the hand: the camera goes the other way.
void OrbitCamera::turn(double dx, double dy) {
  constexpr double pi = std::numbers::pi;
  azimuth = std::remainder(azimuth - pi * dx, 2.0 * pi);
  elevation = std::clamp(elevation - pi * dy, -0.5 * pi, 0.5 * pi);
}

void OrbitCamera::look(double dx, double dy) {
  constexpr double k_slower = 0.5;
  const Vec3<double> here = position();
  turn(k_slower * dx, k_slower * dy);
  stand_at(here);
}

void OrbitCamera::pan(double dx, double dy) {
  target -= pixel_size(distance, 1) * (dx * right() + dy * up());
}

void OrbitCamera::zoom(double notches) {
  distance = std::clamp(distance * std::pow(k_zoom_per_notch, notches), k_least_distance, k_largest_distance);
}

OrbitCamera camera_around(const Model& model, std::span<const Pose<double>> X_WB, double aspect,
                          const OrbitCamera& like, const std::optional<Vec3<double>>& target,
                          std::span<const Points> others_W) {
  OrbitCamera camera = like;
  if (target) camera.target = *target;
  Mat3<double> R_CW;
  R_CW << camera.right().transpose(), camera.up().transpose(), -camera.forward().transpose();

  std::vector<Points> outlines_C;  // in axes of the camera, from the world's origin
  Eigen::AlignedBox3d box_C;
  const auto add = [&](Points points_C) {
    if (!points_C.allFinite()) return;  // a simulation that has blown up
    for (Eigen::Index i = 0; i < points_C.cols(); ++i) box_C.extend(Vec3<double>(points_C.col(i)));
    outlines_C.push_back(std::move(points_C));
  };
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Points points_B = outline(model.bodies[b]);
    if (points_B.cols() == 0) continue;
    add(R_CW * in_world(X_WB[b], points_B));
  }
  for (const Points& points_W : others_W) add(R_CW * points_W);
  if (box_C.isEmpty()) return camera;

  const Vec3<double> centre_C = target ? Vec3<double>(R_CW * *target) : Vec3<double>(box_C.center());
  const double slope_y = k_filled * std::tan(0.5 * camera.vertical_angle), slope_x = slope_y * aspect;
  double distance = 0.0;
  for (const Points& points_C : outlines_C) {
    for (Eigen::Index i = 0; i < points_C.cols(); ++i) {
      const Vec3<double> r = points_C.col(i) - centre_C;  // its depth is distance - r.z
      const double nearer = camera.orthographic ? 0.0 : r.z();
      distance = std::max({distance, nearer + std::abs(r.x()) / slope_x, nearer + std::abs(r.y()) / slope_y});
    }
  }
  // Nothing is nearer than a tenth of the way, hence behind the plane in front, even if all is in one line.
  distance = std::max(distance, (box_C.max().z() - centre_C.z()) / 0.9);
  if (!target) camera.target = R_CW.transpose() * centre_C;
  camera.distance =
      distance > 0.0 ? std::clamp(distance, k_least_distance, k_largest_distance) : like.distance;
  return camera;
}

Points box_corners_W(const Model& model, std::span<const Pose<double>> X_WB) {
  std::vector<Points> boxes;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Points points_B = outline(model.bodies[b]);
    if (points_B.cols() == 0) continue;
    const Eigen::AlignedBox3d box(points_B.rowwise().minCoeff(), points_B.rowwise().maxCoeff());
    boxes.push_back(in_world(X_WB[b], corners_of(box)));
  }
  Points all(3, 8 * static_cast<Eigen::Index>(boxes.size()));
  for (std::size_t i = 0; i < boxes.size(); ++i)
    all.middleCols<8>(8 * static_cast<Eigen::Index>(i)) = boxes[i];
  return all;
}

OrbitCamera camera_between(const Vec3<double>& from, const Vec3<double>& to, OrbitCamera like) {
  const Vec3<double> back = from - to;
  const double distance = back.stableNorm();  // of points whose squares are infinite, too
  ABUT_ASSERT(distance > 0.0);
  like.target = to;
  like.distance = distance;
  like.azimuth = std::atan2(back.y(), back.x());
  like.elevation = std::asin(std::clamp(back.z() / distance, -1.0, 1.0));
  return like;
}

}  // namespace abut
