#include "collision/convex/planar_hull.h"

#include <algorithm>
#include <numeric>

namespace abut {

std::vector<int> planar_hull(std::span<const Vec2<double>> points, double tolerance) {
  std::vector<int> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  const auto point = [&](int i) -> const Vec2<double>& { return points[static_cast<std::size_t>(i)]; };
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    if (point(a).x() != point(b).x()) return point(a).x() < point(b).x();
    if (point(a).y() != point(b).y()) return point(a).y() < point(b).y();
    return a < b;
  });
  const auto are_equal = [&](int a, int b) { return (point(a) - point(b)).norm() <= tolerance; };
  order.erase(std::unique(order.begin(), order.end(), are_equal), order.end());
  if (order.size() < 2) return order;

  const auto is_corner = [&](int a, int b, int c) {  // b lies to the right of the line from a to c
    const Vec2<double> side = point(b) - point(a), to = point(c) - point(a);
    return side.x() * to.y() - side.y() * to.x() > tolerance * to.norm();
  };
  std::vector<int> corners;
  for (int half = 0; half < 2; ++half) {  // the lower half, then the upper one
    const std::size_t begin = corners.size();
    for (const int i : order) {
      while (corners.size() >= begin + 2 && !is_corner(corners[corners.size() - 2], corners.back(), i))
        corners.pop_back();
      corners.push_back(i);
    }
    corners.pop_back();
    std::reverse(order.begin(), order.end());
  }
  return corners;
}

}  // namespace abut
