#include "collision/fitting/cavity_filling.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/check.h"
#include "engine/types.h"

namespace abut {
namespace {

constexpr int k_least_directions = 17;
constexpr int k_most_passes = 10;
constexpr double k_far = 1e15;  // squared distance where there is nothing [spacings^2]

using Mask = std::vector<std::uint8_t>;

/// Of each point, in how many of the 26 directions there is a point of the mask.
std::vector<std::uint8_t> directions_with(const Mask& mask, const Eigen::Vector3i& n) {
  std::vector<std::uint8_t> count(mask.size(), 0), seen(mask.size());
  for (int direction = 0; direction < 27; ++direction) {
    const Eigen::Vector3i step(direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1);
    if (step.isZero()) continue;
    const std::ptrdiff_t offset =
        step.x() + std::ptrdiff_t{n.x()} * (step.y() + std::ptrdiff_t{n.y()} * step.z());
    // A point comes after the next one along the step.
    const auto place = [&](int t, int axis) { return step[axis] > 0 ? n[axis] - 1 - t : t; };
    for (int c = 0; c < n.z(); ++c) {
      for (int b = 0; b < n.y(); ++b) {
        for (int a = 0; a < n.x(); ++a) {
          const Eigen::Vector3i p(place(a, 0), place(b, 1), place(c, 2)), next = p + step;
          const std::size_t i = at(p.x()) + at(n.x()) * (at(p.y()) + at(n.y()) * at(p.z()));
          const bool is_in_grid = (next.array() >= 0).all() && (next.array() < n.array()).all();
          const std::size_t j = is_in_grid ? i + static_cast<std::size_t>(offset) : i;
          seen[i] = is_in_grid ? mask[j] | seen[j] : 0;
          count[i] = static_cast<std::uint8_t>(count[i] + seen[i]);
        }
      }
    }
  }
  return count;
}

/// min_j (i - j)^2 + f(j) along one line: the lower envelope of parabolas.
class LineTransform {
 public:
  explicit LineTransform(int n) : f_(at(n)), place_(at(n)), from_(at(n) + 1) {}

  void apply(double* line, std::ptrdiff_t stride) {
    const int n = static_cast<int>(f_.size());
    int last = -1;
    for (int i = 0; i < n; ++i) {
      f_[at(i)] = line[i * stride];
      double s = -k_infinity;
      for (; last >= 0; --last) {
        const int j = place_[at(last)];
        s = 0.5 * ((f_[at(i)] - f_[at(j)]) / (i - j) + i + j);
        if (s > from_[at(last)]) break;
      }
      place_[at(++last)] = i;
      from_[at(last)] = last > 0 ? s : -k_infinity;
    }
    for (int i = 0, k = 0; i < n; ++i) {
      while (k < last && from_[at(k + 1)] < i) ++k;
      const double apart = i - place_[at(k)];
      line[i * stride] = apart * apart + f_[at(place_[at(k)])];
    }
  }

 private:
  std::vector<double> f_;
  std::vector<int> place_;    // of the parabolas of the envelope
  std::vector<double> from_;  // where each begins
};

/// Squared distance of each point from the nearest with mask == value [spacings^2].
std::vector<double> squared_distances(const Mask& mask, std::uint8_t value, const Eigen::Vector3i& n) {
  std::vector<double> result(mask.size());
  for (std::size_t i = 0; i < mask.size(); ++i) result[i] = mask[i] == value ? 0.0 : k_far;
  const Vec3<std::ptrdiff_t> stride(1, n.x(), std::ptrdiff_t{n.x()} * n.y());
  for (int axis = 0; axis < 3; ++axis) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    LineTransform transform(n[axis]);
    for (int j = 0; j < n[v]; ++j) {
      for (int i = 0; i < n[u]; ++i)
        transform.apply(&result[0] + i * stride[u] + j * stride[v], stride[axis]);
    }
  }
  return result;
}

}  // namespace

FilledGrid fill_cavities(const DistanceGrid& grid, double least_part) {
  const Eigen::Vector3i n = grid.points();
  const double h = grid.grid.cell_size;
  FilledGrid result{grid, 0, 0};
  Mask inside(grid.values.size());
  for (std::size_t i = 0; i < inside.size(); ++i) inside[i] = grid.values[i] < 0.0 ? 1 : 0;
  result.inside = static_cast<std::size_t>(std::count(inside.begin(), inside.end(), 1));
  for (int pass = 0; pass < k_most_passes; ++pass) {
    const std::vector<std::uint8_t> directions = directions_with(inside, n);
    const std::size_t before = result.filled;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (inside[i] != 0 || directions[i] < k_least_directions) continue;
      inside[i] = 1;
      ++result.filled;
    }
    if (static_cast<double>(result.filled) <= least_part * static_cast<double>(result.inside)) {
      result.filled = 0;
      return result;
    }
    if (result.filled == before) break;
  }
  const std::vector<double> to_outside = squared_distances(inside, 0, n),
                            to_inside = squared_distances(inside, 1, n);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const double d =
        inside[i] != 0 ? (0.5 - std::sqrt(to_outside[i])) * h : (std::sqrt(to_inside[i]) - 0.5) * h;
    double& value = result.grid.values[i];
    if (!((value < 0.0) == (d < 0.0) && std::abs(value - d) <= h)) value = d;
  }
  return result;
}

}  // namespace abut
