#include "apps/viewer/pose_gizmo.h"

#include <cmath>
#include <numbers>

namespace abut::viewer {
namespace {

int axis_of(GizmoHandle handle) { return static_cast<int>(handle) % 3; }
bool turns(GizmoHandle handle) { return static_cast<int>(handle) >= 3; }

}  // namespace

std::vector<Vec3<double>> PoseGizmo::line(GizmoHandle handle, const Vec3<double>& centre, double size) {
  const int axis = axis_of(handle);
  if (!turns(handle)) return {centre, centre + size * Vec3<double>::Unit(axis)};
  constexpr int k_corners = 48;
  constexpr double k_ring = 0.75;  // of an arrow's length
  const Vec3<double> u = Vec3<double>::Unit((axis + 1) % 3), v = Vec3<double>::Unit((axis + 2) % 3);
  std::vector<Vec3<double>> points;
  for (int i = 0; i <= k_corners; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / k_corners;
    points.push_back(centre + k_ring * size * (std::cos(angle) * u + std::sin(angle) * v));
  }
  return points;
}

std::optional<double> PoseGizmo::place_of(const Ray& ray) const {
  constexpr double k_too_flat = 1e-3;
  const int axis = axis_of(*handle_);
  const Vec3<double> a = Vec3<double>::Unit(axis), from = ray.origin - X_WB_start_.p;
  const double along = a.dot(ray.direction);
  if (turns(*handle_)) {
    if (std::abs(along) < k_too_flat) return std::nullopt;
    const Vec3<double> hit = from - a.dot(from) / along * ray.direction;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    return std::atan2(hit[v], hit[u]);
  }
  // The point of the axis that is nearest to the ray.
  const double across = 1.0 - along * along;
  if (across < k_too_flat) return std::nullopt;
  return (a.dot(from) - along * ray.direction.dot(from)) / across;
}

void PoseGizmo::begin(GizmoHandle handle, const Pose<double>& X_WB, const Ray& ray) {
  handle_ = handle;
  X_WB_start_ = X_WB_ = X_WB;
  const std::optional<double> place = place_of(ray);
  if (!place) handle_.reset();
  start_ = place.value_or(0.0);
}

Pose<double> PoseGizmo::drag(const Ray& ray) {
  const std::optional<double> place = place_of(ray);
  if (!place) return X_WB_;
  const Vec3<double> change = (*place - start_) * Vec3<double>::Unit(axis_of(*handle_));
  const Vec3<double> nothing = Vec3<double>::Zero();
  X_WB_ =
      retract(X_WB_start_, turns(*handle_) ? stack<double>(change, nothing) : stack<double>(nothing, change));
  return X_WB_;
}

}  // namespace abut::viewer
