#include "apps/planning/padded_outline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <spdlog/fmt/fmt.h>

#include "collision/convex/planar_hull.h"
#include "engine/check.h"

namespace abut {
namespace {

/// Relative to the extent of a polygon: how narrow it may be, and how far a corner may lie within the line of
/// its neighbours.
constexpr double k_narrowness = 4e-6, k_straightness = 1e-12;

double cross(const Vec2<double>& a, const Vec2<double>& b) { return a.x() * b.y() - a.y() * b.x(); }

/// Twice the greatest distance of a corner from the first one, at least.
double extent_of(std::span<const Vec2<double>> corners) {
  double extent = 0.0;
  for (const Vec2<double>& corner : corners) extent = std::max(extent, 2.0 * (corner - corners[0]).norm());
  return extent;
}

/// The greatest gap along outward normals of the edges of `one`: of two corners both sides of their line.
void separate(const PaddedOutline& one, const PaddedOutline& other, double sign, CoreSeparation& best) {
  const std::size_t n = one.corners.size();
  for (std::size_t i = 0; n > 1 && i < n; ++i) {
    const Vec2<double> edge = one.corners[(i + 1) % n] - one.corners[i];
    const Vec2<double> outward = Vec2<double>(edge.y(), -edge.x()).normalized();
    double gap = k_infinity;
    const Vec2<double>* point = nullptr;
    for (const Vec2<double>& corner : other.corners) {
      const double height = outward.dot(corner - one.corners[i]);
      if (height < gap) gap = height, point = &corner;
    }
    if (point != nullptr && gap > best.gap) best = {gap, sign * outward, *point};
  }
}

}  // namespace

std::string allowed_polygon_text() {
  return fmt::format("a convex polygon of 3 to {} corners, in order round it", PaddedOutline::k_most_corners);
}

std::string polygon_fault(std::span<const Vec2<double>> corners) {
  const std::size_t n = corners.size();
  if (n < 3 || n > PaddedOutline::k_most_corners) return fmt::format("it has {} corners", n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!corners[i].allFinite()) return fmt::format("corner {} is not finite", i + 1);
  }
  const double extent = extent_of(corners);
  for (std::size_t i = 0; i < n; ++i) {
    if ((corners[(i + 1) % n] - corners[i]).norm() <= k_straightness * extent)
      return fmt::format("corners {} and {} coincide", i + 1, (i + 1) % n + 1);
  }
  double width = extent;  // the least one: across the line of two corners
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = i + 1; k < n; ++k) {
      if (corners[i] == corners[k]) continue;
      const Vec2<double> line = (corners[k] - corners[i]).normalized();
      double least = 0.0, most = 0.0;
      for (const Vec2<double>& corner : corners) {
        least = std::min(least, cross(line, corner - corners[i]));
        most = std::max(most, cross(line, corner - corners[i]));
      }
      width = std::min(width, most - least);
    }
  }
  if (width <= k_narrowness * extent) return "its corners lie on a line";
  // Round a convex polygon all turns are to one side, and add up to one full turn.
  double area = 0.0, turns = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    area += cross(corners[i] - corners[0], corners[(i + 1) % n] - corners[0]);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2<double> before = corners[i] - corners[(i + n - 1) % n],
                       after = corners[(i + 1) % n] - corners[i];
    const double bend = std::copysign(1.0, area) * cross(before, after);
    if (bend < -k_straightness * extent * extent || (bend <= 0.0 && before.dot(after) < 0.0))
      return fmt::format("it is not convex at corner {}", i + 1);
    turns += std::atan2(std::max(bend, 0.0), before.dot(after));
  }
  if (turns > 7.0) return "its edges cross each other";
  return {};
}

PaddedOutline polygon_outline(std::span<const Vec2<double>> corners, double padding) {
  const std::string fault = polygon_fault(corners);
  require(fault.empty(), fmt::format("polygon: {}, allowed: {}", fault, allowed_polygon_text()));
  PaddedOutline outline;
  outline.padding = padding;
  for (const int i : planar_hull(corners, k_straightness * extent_of(corners)))
    outline.corners.push_back(corners[static_cast<std::size_t>(i)]);
  return outline;
}

PaddedOutline moved(const PaddedOutline& outline, const Vec2<double>& position, double heading) {
  const double c = std::cos(heading), s = std::sin(heading);
  PaddedOutline r = outline;
  for (Vec2<double>& corner : r.corners) {
    corner = Vec2<double>(position.x() + (c * corner.x() - s * corner.y()),
                          position.y() + (s * corner.x() + c * corner.y()));
  }
  return r;
}

CoreSeparation core_separation(const PaddedOutline& A, const PaddedOutline& B) {
  CoreSeparation best{-k_infinity, Vec2<double>::UnitX(), A.corners[0]};
  separate(A, B, 1.0, best);
  separate(B, A, -1.0, best);
  if (best.gap > -k_infinity) return best;
  const Vec2<double> between = B.corners[0] - A.corners[0];
  best.gap = between.norm();
  if (best.gap > 0.0) best.normal = between / best.gap;
  return best;
}

}  // namespace abut
