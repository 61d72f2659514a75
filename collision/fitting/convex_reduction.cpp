#include "collision/fitting/convex_reduction.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <stdexcept>
#include <utility>

#include "engine/convex_hull.h"

namespace abut {
namespace {

constexpr double k_margin = 1.5;         // of the box around a hull [spacings]
constexpr double k_inside_weight = 0.1;  // of points that another part may have
constexpr std::size_t k_most_points = 20'000;
constexpr double k_overlap = 0.4;  // of parts [spacings]
constexpr double k_slab = 1.5;     // beyond a plane, that must be inside for it: a layer of points or two
constexpr double k_outside = 0.5,
                 k_most_outside = 0.03;  // points of it that may be so far outside [spacings]
constexpr double k_least_mean_depth = 0.15;

struct WeightedPoint {
  Vec3<double> x;
  double weight;
};

Eigen::AlignedBox3d grown(Eigen::AlignedBox3d box, double by) {
  box.min().array() -= by;
  box.max().array() += by;
  return box;
}

/// The points of a box, or some of them if they are many, with larger weights.
std::vector<WeightedPoint> points_in(const Eigen::AlignedBox3d& box, const GridRows& rows) {
  std::vector<WeightedPoint> all;
  rows.for_each_point({}, box, [&](std::size_t index, const Vec3<double>& x) {
    const double d = rows.distance(index);
    all.push_back({x, d > 0.0 ? std::min(d, 1.0) : k_inside_weight});
  });
  const std::size_t stride = all.size() / k_most_points + 1;
  std::vector<WeightedPoint> some;
  for (std::size_t i = 0; i < all.size(); i += stride)
    some.push_back({all[i].x, all[i].weight * static_cast<double>(stride)});
  return some;
}

/// The box around a solid; none if it is unbounded.
std::optional<Eigen::AlignedBox3d> box_of(const HalfSpaces& solid, const Vec3<double>& inside) {
  if (solid.offsets.size() < 4) return std::nullopt;
  std::vector<double> offsets = solid.offsets;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    offsets[i] -= solid.normals.col(static_cast<Eigen::Index>(i)).dot(inside);
  try {
    const Points corners = polyhedron_vertices(solid.normals, offsets).colwise() + inside;
    return Eigen::AlignedBox3d(corners.rowwise().minCoeff(), corners.rowwise().maxCoeff());
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

/// The points of a grid with the number of solids that each is in, by which planes move.
class Settler {
 public:
  Settler(const std::vector<BoxedSolid>& solids, const GridRows& rows)
      : rows_(rows), cover_(rows.point_count(), 0) {
    for (const BoxedSolid& s : solids) count(s, 1);
  }

  void trim(BoxedSolid& s) {
    count(s, -1);
    for (std::size_t i = 0; i < s.solid.offsets.size(); ++i) {
      const Vec3<double> normal = s.solid.normals.col(static_cast<Eigen::Index>(i));
      std::vector<std::pair<double, double>> near;  // depth below the plane, gain of cutting the point off
      bool is_cut = false;                          // passes through the inside of the mesh
      rows_.for_each_point(s.solid, s.box, [&](std::size_t index, const Vec3<double>& x) {
        const double depth = s.solid.offsets[i] - normal.dot(x);
        if (depth > k_deepest) return;
        is_cut = is_cut || -rows_.distance(index) > depth + k_cut_depth;
        const double gain = std::clamp(2.0 * rows_.distance(index), -1.0, 1.0);
        near.emplace_back(depth, gain < 0.0 && cover_[index] > 0 ? 0.0 : gain);
      });
      if (is_cut) continue;
      std::sort(near.begin(), near.end());
      double sum = 0.0, best = k_least_trim, depth = 0.0;
      for (std::size_t p = 0; p + 1 < near.size(); ++p) {
        sum += near[p].second;
        if (!(sum > best && sum > k_least_mean_gain * static_cast<double>(p + 1))) continue;
        best = sum;
        depth = near[p].first + std::min(0.5 * (near[p + 1].first - near[p].first), k_most_gap);
      }
      s.solid.offsets[i] -= depth;
    }
    count(s, 1);
  }

  void overlap(BoxedSolid& s) {
    for (std::size_t i = 0; i < s.solid.offsets.size(); ++i) {
      const Eigen::AlignedBox3d box = grown(s.box, k_slab);
      HalfSpaces slab = s.solid;
      slab.offsets[i] += k_slab;
      slab.add(-s.solid.normals.col(static_cast<Eigen::Index>(i)), -s.solid.offsets[i]);
      double count = 0.0, outside = 0.0, depth = 0.0;
      rows_.for_each_point(slab, box, [&](std::size_t index, const Vec3<double>&) {
        const double d = rows_.distance(index);
        ++count;
        outside += d > k_outside ? 1.0 : 0.0;
        depth += std::clamp(-d, -1.0, 1.0);
      });
      if (!(depth > k_least_mean_depth * count && outside <= k_most_outside * count)) continue;
      s.solid.offsets[i] += k_overlap;
      const std::optional<Eigen::AlignedBox3d> larger = box_of(s.solid, s.inside);
      if (larger && box.contains(*larger)) {
        s.box = *larger;
      } else {  // the planes beside it leave a spike
        s.solid.offsets[i] -= k_overlap;
      }
    }
  }

 private:
  static constexpr double k_cut_depth = 0.5;  // of points nearer to a cut than to the surface [spacings]
  static constexpr double k_most_gap = 0.1;   // below the last point that is cut off [spacings]
  static constexpr double k_deepest = 2.0;    // that a plane moves [spacings]
  static constexpr double k_least_trim = 0.5, k_least_mean_gain = 0.1;  // points that it must be worth

  void count(const BoxedSolid& s, int by) {
    rows_.for_each_point(s.solid, s.box, [&](std::size_t index, const Vec3<double>&) {
      cover_[index] = static_cast<std::uint16_t>(cover_[index] + by);
    });
  }

  const GridRows& rows_;
  std::vector<std::uint16_t> cover_;  // solids that each point is in
};

}  // namespace

BoxedSolid reduced(const PieceHull& hull, const GridRows& rows, const PlaneReduction& options) {
  const Eigen::AlignedBox3d around = grown(hull.box, k_margin);
  const Vec3<double> inside = hull.corners.rowwise().mean();
  std::vector<WeightedPoint> points = points_in(around, rows);
  const auto gain_of = [&](Eigen::Index i) {
    double gain = 0.0;
    const Vec3<double> normal = hull.solid.normals.col(i);
    for (const WeightedPoint& p : points)
      gain += normal.dot(p.x) > hull.solid.offsets[static_cast<std::size_t>(i)] ? p.weight : 0.0;
    return gain;
  };
  // What a plane cuts off becomes less as others are added, so a gain of before is a bound.
  using Entry = std::pair<double, Eigen::Index>;  // gain, -plane
  std::priority_queue<Entry> queue;
  for (Eigen::Index i = 0; i < hull.solid.normals.cols(); ++i) queue.emplace(gain_of(i), -i);
  BoxedSolid result;
  while (!queue.empty()) {
    const Eigen::Index plane = -queue.top().second;
    queue.pop();
    const double gain = gain_of(plane);
    if (!queue.empty() && gain < queue.top().first) {
      queue.emplace(gain, -plane);
      continue;
    }
    const bool is_worth_it = gain >= options.least_gain && result.solid.offsets.size() < options.max_planes;
    if (!is_worth_it) {
      const std::optional<Eigen::AlignedBox3d> box = box_of(result.solid, inside);
      if (box && around.contains(*box)) break;
    }
    const Vec3<double> normal = hull.solid.normals.col(plane);
    const double offset = hull.solid.offsets[static_cast<std::size_t>(plane)];
    result.solid.add(normal, offset);
    std::erase_if(points, [&](const WeightedPoint& p) { return normal.dot(p.x) > offset; });
  }
  result.inside = inside;
  result.box = box_of(result.solid, inside).value_or(hull.box);
  return result;
}

void settle_planes(std::vector<BoxedSolid>& solids, const GridRows& rows) {
  Settler settler(solids, rows);
  for (BoxedSolid& solid : solids) settler.trim(solid);
  for (BoxedSolid& solid : solids) settler.overlap(solid);
}

}  // namespace abut
