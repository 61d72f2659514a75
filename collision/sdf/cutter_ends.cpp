#include "collision/sdf/cutter_ends.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/pose.h"

namespace abut {
namespace {

/// The change of radius of a cone by z.
double taper(const Primitive& cone) {
  const auto& p = cone.parameters;
  return (p[1] - p[0]) / (2.0 * p[2]);
}

/// A box in P, the part of it within `radius` of the z axis if that is finite.
struct Region {
  Vec3<double> centre, half;
  double radius = std::numeric_limits<double>::infinity();
};

/// A region that contains what an end gains by an extension, its rounding included.
Region region_of_end(const Primitive& longer, int axis, bool is_upper, double by) {
  const auto& p = longer.parameters;
  Region region;
  switch (longer.kind) {
    case PrimitiveKind::rounded_box:
      region.half = {p[0], p[1], p[2]};
      by += p[3];
      break;
    case PrimitiveKind::capsule:
      region.radius = p[0];
      region.half = {p[0], p[0], p[1] + p[0]};
      by += p[0];
      break;
    default: {
      const double end = p[is_upper ? 1 : 0];
      region.radius = std::max(end, end - by * (is_upper ? taper(longer) : -taper(longer)));
      region.half = {region.radius, region.radius, p[2]};
    }
  }
  const double end = region.half[axis];
  region.half[axis] = 0.5 * by;
  region.centre.setZero();
  region.centre[axis] = (is_upper ? 1.0 : -1.0) * (end - 0.5 * by);
  return region;
}

/// Checks that a region is clear of obstacles, by bisection.
class ClearanceCheck {
 public:
  ClearanceCheck(const Pose<double>& X_BP, double margin) : X_BP_(X_BP), margin_(margin) {}

  [[nodiscard]] bool is_clear(const Region& region, std::span<const Obstacle* const> obstacles) {
    if (std::hypot(beyond(region, 0), beyond(region, 1)) > region.radius) return true;
    if (--regions_left_ < 0) return false;
    const Vec3<double> centre = X_BP_ * region.centre, half = X_BP_.rotation().cwiseAbs() * region.half;
    const Eigen::AlignedBox3d box(centre - half, centre + half);
    const double radius = region.half.norm();
    std::vector<const Obstacle*> near;
    for (const Obstacle* obstacle : obstacles) {
      if (obstacle->box.exteriorDistance(box) > margin_ * obstacle->ratio) continue;
      const double d = obstacle->distance(centre);
      if (d <= margin_) return false;
      if (d <= margin_ + k_steepest * radius) near.push_back(obstacle);
    }
    if (near.empty()) return true;
    Region part = region;
    Eigen::Index longest = 0;
    region.half.maxCoeff(&longest);
    part.half[longest] *= 0.5;
    part.centre[longest] -= part.half[longest];
    if (!is_clear(part, near)) return false;
    part.centre[longest] += 2.0 * part.half[longest];
    return is_clear(part, near);
  }

 private:
  static constexpr double k_steepest = 2.0;  ///< slope of a distance

  static double beyond(const Region& region, int axis) {
    return std::max(std::abs(region.centre[axis]) - region.half[axis], 0.0);
  }

  Pose<double> X_BP_;
  double margin_;
  int regions_left_ = 4000;
};

}  // namespace

std::optional<std::size_t> half_length_parameter(PrimitiveKind kind, int axis) {
  switch (kind) {
    case PrimitiveKind::superquadric:
    case PrimitiveKind::rounded_box:
      return static_cast<std::size_t>(axis);
    case PrimitiveKind::capsule:
      return axis == 2 ? std::optional<std::size_t>(1) : std::nullopt;
    case PrimitiveKind::cone:
      return axis == 2 ? std::optional<std::size_t>(2) : std::nullopt;
    default:
      return std::nullopt;
  }
}

Primitive lengthened(const Primitive& primitive, const EndExtensions& by) {
  Primitive longer = primitive;
  if (primitive.kind == PrimitiveKind::cone) {
    const double slope = taper(primitive);
    longer.parameters[0] = std::max(primitive.parameters[0] - slope * by[2][0], 0.0);
    longer.parameters[1] = std::max(primitive.parameters[1] + slope * by[2][1], 0.0);
  }
  Vec3<double> shift = Vec3<double>::Zero();
  for (int axis = 0; axis < 3; ++axis) {
    const auto& [lower, upper] = by[static_cast<std::size_t>(axis)];
    if (lower == 0.0 && upper == 0.0) continue;
    longer.parameters[*half_length_parameter(primitive.kind, axis)] += 0.5 * (lower + upper);
    shift[axis] = 0.5 * (upper - lower);
  }
  longer.X_BP.p += primitive.X_BP.rotation() * shift;
  return longer;
}

std::array<double, 5> lengthened_vjp(const Primitive& primitive, const EndExtensions& by,
                                     const std::array<double, 5>& bar) {
  if (primitive.kind != PrimitiveKind::cone) return bar;
  const double by_taper = bar[1] * by[2][1] - bar[0] * by[2][0],
               by_radius = by_taper / (2.0 * primitive.parameters[2]);
  std::array<double, 5> result = bar;
  result[0] -= by_radius;
  result[1] += by_radius;
  result[2] -= by_taper * taper(primitive) / primitive.parameters[2];
  return result;
}

EndExtensions open_ends(const Primitive& cutter, std::span<const Obstacle> obstacles, double reach,
                        double margin) {
  EndExtensions by{};
  if (cutter.kind == PrimitiveKind::superquadric) return by;
  std::vector<const Obstacle*> all;
  for (const Obstacle& obstacle : obstacles) all.push_back(&obstacle);
  for (int axis = 0; axis < 3; ++axis) {
    if (!half_length_parameter(cutter.kind, axis)) continue;
    for (const bool is_upper : {false, true}) {
      double& end = by[static_cast<std::size_t>(axis)][is_upper ? 1 : 0];
      constexpr int k_halvings = 3;
      double length = reach;
      if (cutter.kind == PrimitiveKind::cone) {  // no farther than its apex
        const double narrows = is_upper ? -taper(cutter) : taper(cutter),
                     radius = cutter.parameters[is_upper ? 1 : 0];
        if (length * narrows > radius) length = radius / narrows;
      }
      for (int halving = 0; halving <= k_halvings; ++halving, length *= 0.5) {
        end = length;
        const Primitive longer = lengthened(cutter, by);
        ClearanceCheck check(longer.X_BP, margin);
        if (check.is_clear(region_of_end(longer, axis, is_upper, length), all)) break;
        end = 0.0;
      }
    }
  }
  return by;
}

}  // namespace abut
