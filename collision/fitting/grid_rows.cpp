#include "collision/fitting/grid_rows.h"

namespace abut {
namespace {

constexpr double k_on_surface = 1e-3;  // of points that are on a face of the mesh, perhaps within the solid

}  // namespace

GridRows::GridRows(const DistanceGrid& grid)
    : grid_(grid), n_(grid.points()), before_(grid.values.size(), 0.0f) {
  for (std::size_t i = 0; i + 1 < before_.size(); ++i) {
    if ((i + 1) % at(n_.x()) != 0) before_[i + 1] = before_[i] + static_cast<float>(outside(i));
  }
}

double GridRows::depth(int i, int j, int k) const {
  const double d = distance(grid_.index(i, j, k));
  if (std::abs(d) > k_on_surface) return -d;
  const auto depth_at = [&](const Eigen::Vector3i& p) {
    const bool is_in_grid = (p.array() >= 0).all() && (p.array() < n_.array()).all();
    return is_in_grid ? -distance(grid_.index(p.x(), p.y(), p.z())) : 0.0;
  };
  double deepest = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    const Eigen::Vector3i p(i, j, k), step = Eigen::Vector3i::Unit(axis);
    deepest = std::max(deepest, std::min(depth_at(p - step), depth_at(p + step)));
  }
  return deepest;
}

std::vector<RowRun> GridRows::inside() const {
  std::vector<RowRun> runs;
  for (int k = 0; k < n_.z(); ++k) {
    for (int j = 0; j < n_.y(); ++j) {
      double depth_before = 0.0;  // of the point before
      for (int i = 0; i < n_.x(); ++i) {
        const double here = depth(i, j, k);
        const bool was_inside = depth_before > k_on_surface, is_inside = here > k_on_surface;
        if (is_inside && !was_inside) runs.push_back({j, k, i - std::min(here, 1.0), double(i)});
        if (is_inside) runs.back().last = i + std::min(here, 1.0);
        depth_before = here;
      }
    }
  }
  return runs;
}

double GridRows::excess(const HalfSpaces& solid, const Eigen::AlignedBox3d& box) const {
  double sum = 0.0;
  for_each_row(solid, box, [&](const RowRun& run) {
    const int first = static_cast<int>(std::ceil(run.first)), last = static_cast<int>(std::floor(run.last));
    if (first > last) return;
    const std::size_t end = grid_.index(last, run.j, run.k);
    sum += static_cast<double>(before_[end]) + outside(end) -
           static_cast<double>(before_[grid_.index(first, run.j, run.k)]);
  });
  return sum;
}

}  // namespace abut
