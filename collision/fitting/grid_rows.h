/// The inside of a distance grid along its rows, and how much convex polyhedra hold of what is outside.
///
/// Lengths here are in units of the grid's spacing, positions from its lower corner: a row is the line of all
/// x with y = j and z = k.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "collision/fitting/distance_grid.h"
#include "engine/types.h"

namespace abut {

/// The solid of all x with normals.col(i).x <= offsets[i].
struct HalfSpaces {
  Points normals{3, 0};  ///< (3, n) unit, outwards
  std::vector<double> offsets;

  void add(const Vec3<double>& normal, double offset) {
    normals.conservativeResize(3, normals.cols() + 1);
    normals.rightCols<1>() = normal;
    offsets.push_back(offset);
  }
};

/// An interval of a row.
struct RowRun {
  int j, k;
  double first, last;

  [[nodiscard]] double length() const { return last - first; }
  [[nodiscard]] Vec3<double> begin() const { return {first, double(j), double(k)}; }
  [[nodiscard]] Vec3<double> end() const { return {last, double(j), double(k)}; }
};

/// The part of a run that lies in a half-space normal.x <= offset; first > last if there is none.
[[nodiscard]] inline RowRun clipped(RowRun run, const Vec3<double>& normal, double offset) {
  constexpr double k_parallel = 1e-9;  // to the rows
  const double rest = offset - normal.y() * run.j - normal.z() * run.k;
  if (normal.x() > k_parallel) {
    run.last = std::min(run.last, rest / normal.x());
  } else if (normal.x() < -k_parallel) {
    run.first = std::max(run.first, rest / normal.x());
  } else if (rest < 0.0) {
    run.last = run.first - 1.0;
  }
  return run;
}

class GridRows {
 public:
  /// The grid must outlive the rows.
  explicit GridRows(const DistanceGrid& grid);

  /// The points inside, and as much more at both ends as the depth of the last point, but at most a spacing:
  /// a ball of that radius about it is inside, too. Sorted by k, j and x.
  [[nodiscard]] std::vector<RowRun> inside() const;

  /// Volume of a solid within a box that is outside of the mesh: the sum over its points of clamp(d - 1/4, 0,
  /// 1), d being their distance [spacings], so that a solid that is nearly flush with the mesh has none.
  [[nodiscard]] double excess(const HalfSpaces& solid, const Eigen::AlignedBox3d& box) const;

  /// Calls visit(index, point) for the points of the grid in a solid within a box.
  template <typename Visit>
  void for_each_point(const HalfSpaces& solid, const Eigen::AlignedBox3d& box, const Visit& visit) const;

  [[nodiscard]] double distance(std::size_t index) const {
    return grid_.values[index] / grid_.grid.cell_size;
  }
  /// From metres, and back.
  [[nodiscard]] Points in_spacings(const Points& x) const {
    return (x.colwise() - grid_.grid.lower) / grid_.grid.cell_size;
  }
  [[nodiscard]] Vec3<double> in_metres(const Vec3<double>& x) const {
    return grid_.grid.lower + grid_.grid.cell_size * x;
  }
  [[nodiscard]] std::size_t point_count() const { return grid_.values.size(); }
  [[nodiscard]] double spacing() const { return grid_.grid.cell_size; }

 private:
  /// Minus the distance; of a point on a face of the mesh the depth of two opposite neighbours, whichever is
  /// smaller: more than zero on a sheet within the solid.
  [[nodiscard]] double depth(int i, int j, int k) const;
  /// Calls visit(run) for each row of the grid that a solid meets within a box.
  template <typename Visit>
  void for_each_row(const HalfSpaces& solid, const Eigen::AlignedBox3d& box, const Visit& visit) const;
  [[nodiscard]] double outside(std::size_t index) const {
    return std::clamp(distance(index) - 0.25, 0.0, 1.0);
  }

  const DistanceGrid& grid_;
  Eigen::Vector3i n_;
  std::vector<float> before_;  // in each row, of each point: sum of outside() of the points before it
};

template <typename Visit>
void GridRows::for_each_row(const HalfSpaces& solid, const Eigen::AlignedBox3d& box,
                            const Visit& visit) const {
  const auto first = [&](int axis) {
    return std::max(0, static_cast<int>(std::ceil(std::max(box.min()[axis], 0.0))));
  };
  const auto last = [&](int axis) {
    return static_cast<int>(std::floor(std::min(box.max()[axis], double(n_[axis] - 1))));
  };
  const Eigen::Index planes = solid.normals.cols();
  for (int k = first(2); k <= last(2); ++k) {
    for (int j = first(1); j <= last(1); ++j) {
      RowRun run{j, k, std::max(box.min().x(), 0.0), std::min(box.max().x(), double(n_.x() - 1))};
      for (Eigen::Index i = 0; i < planes && run.first <= run.last; ++i)
        run = clipped(run, solid.normals.col(i), solid.offsets[at(i)]);
      if (run.first <= run.last) visit(run);
    }
  }
}

template <typename Visit>
void GridRows::for_each_point(const HalfSpaces& solid, const Eigen::AlignedBox3d& box,
                              const Visit& visit) const {
  for_each_row(solid, box, [&](const RowRun& run) {
    for (int i = static_cast<int>(std::ceil(run.first)); i <= run.last; ++i)
      visit(grid_.index(i, run.j, run.k), Vec3<double>(i, run.j, run.k));
  });
}

}  // namespace abut
