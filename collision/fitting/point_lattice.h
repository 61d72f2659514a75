/// The points of a grid in units of its spacing, from its lower corner, and those that a superquadric covers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "collision/fitting/marching_cubes.h"
#include "collision/fitting/superquadric_fit.h"
#include "engine/check.h"
#include "engine/types.h"

namespace abut {

/// From the units of a fit to metres, and back.
[[nodiscard]] inline FreeSuperquadric in_metres(FreeSuperquadric sq, const SampleGrid& grid) {
  sq.center = grid.lower + grid.cell_size * sq.center;
  sq.axes *= grid.cell_size;
  return sq;
}
[[nodiscard]] inline FreeSuperquadric in_spacings(FreeSuperquadric sq, const SampleGrid& grid) {
  sq.center = (sq.center - grid.lower) / grid.cell_size;
  sq.axes /= grid.cell_size;
  return sq;
}

class PointLattice {
 public:
  /// @param points  along each axis
  explicit PointLattice(const Eigen::Vector3i& points) : n_(points) {}

  [[nodiscard]] const Eigen::Vector3i& points() const { return n_; }
  [[nodiscard]] std::size_t index(int i, int j, int k) const {
    return (at(k) * at(n_.y()) + at(j)) * at(n_.x()) + at(i);
  }
  [[nodiscard]] Eigen::Vector3i point(int index) const {
    return {index % n_.x(), index / n_.x() % n_.y(), index / n_.x() / n_.y()};
  }
  /// The box, larger by so many points, within the grid.
  [[nodiscard]] IntBox padded(const IntBox& box, int by) const {
    return {(box.lower.array() - by).max(0), (box.upper.array() + by).min(n_.array() - 1)};
  }
  [[nodiscard]] IntBox box_around(const FreeSuperquadric& sq, double margin) const {
    const Vec3<double> half = sq.R.cwiseAbs() * sq.axes + Vec3<double>::Constant(margin);
    IntBox box;
    for (int k = 0; k < 3; ++k) {
      box.lower[k] = std::clamp(static_cast<int>(std::floor(sq.center[k] - half[k])), 0, n_[k] - 1);
      box.upper[k] = std::clamp(static_cast<int>(std::ceil(sq.center[k] + half[k])), 0, n_[k] - 1);
    }
    return box;
  }

  /// Calls visit(index, distance) for the points within 1 of the superquadric, by its radial distance.
  template <typename Visit>
  void for_each_inside(const FreeSuperquadric& sq, const Visit& visit) const {
    const IntBox box = box_around(sq, 2.0);
    const int count = box.upper.x() - box.lower.x() + 1,
              padded = (count + k_lanes_of_fit - 1) / k_lanes_of_fit * k_lanes_of_fit;
    std::vector<float> x(at(padded)), y(at(padded)), z(at(padded)), distances(at(padded));
    for (int i = 0; i < padded; ++i) x[at(i)] = static_cast<float>(box.lower.x() + i);
    for (int k = box.lower.z(); k <= box.upper.z(); ++k) {
      std::fill(z.begin(), z.end(), static_cast<float>(k));
      for (int j = box.lower.y(); j <= box.upper.y(); ++j) {
        std::fill(y.begin(), y.end(), static_cast<float>(j));
        distances_of(sq, x.data(), y.data(), z.data(), padded, distances.data());
        for (int i = 0; i < count; ++i) {
          if (distances[at(i)] < 1.0f) visit(index(box.lower.x() + i, j, k), distances[at(i)]);
        }
      }
    }
  }

 private:
  Eigen::Vector3i n_;
};

}  // namespace abut
