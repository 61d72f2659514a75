#include "collision/fitting/distance_grid.h"

#include <array>
#include <cmath>
#include <mutex>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/parallel_chunks.h"

namespace abut {
namespace {

constexpr int k_side_of_block = 8;  // points along each side of a block, which one thread fills

/// Fills one block of a grid after the other; blocks share nothing.
class BlockFiller {
 public:
  BlockFiller(const RepairedMesh& mesh, const DistanceGridOptions& options, DistanceGrid& result)
      : mesh_(mesh),
        options_(options),
        accuracy_{options.exact_band * result.grid.cell_size, options.far_tolerance},
        result_(result),
        points_(result.points()),
        blocks_((points_.array() + (k_side_of_block - 1)) / k_side_of_block) {}

  [[nodiscard]] int block_count() const { return blocks_.prod(); }

  void fill(int block) const {
    const Eigen::Vector3i first =
        k_side_of_block * Eigen::Vector3i(block % blocks_.x(), block / blocks_.x() % blocks_.y(),
                                          block / blocks_.x() / blocks_.y());
    const Eigen::Vector3i last = (first.array() + k_side_of_block).min(points_.array());
    std::array<int, at(k_side_of_block * k_side_of_block * k_side_of_block)>
        slots;  // of the nearest triangles
    const auto local = [&](int i, int j, int k) {
      return at(((k - first.z()) * k_side_of_block + (j - first.y())) * k_side_of_block + (i - first.x()));
    };
    for (int k = first.z(); k < last.z(); ++k) {
      for (int j = first.y(); j < last.y(); ++j) {
        for (int i = first.x(); i < last.x(); ++i) {
          // The neighbours that are ready: their triangles are near, and often their sign is the same.
          std::array<int, 3> hints{-1, -1, -1};
          std::array<double, 3> neighbours{};
          if (i > first.x()) hints[0] = slots[local(i - 1, j, k)], neighbours[0] = result_.value(i - 1, j, k);
          if (j > first.y()) hints[1] = slots[local(i, j - 1, k)], neighbours[1] = result_.value(i, j - 1, k);
          if (k > first.z()) hints[2] = slots[local(i, j, k - 1)], neighbours[2] = result_.value(i, j, k - 1);
          const Vec3<double> p = result_.point(i, j, k);
          const TriangleBvh::Nearest nearest = mesh_.surface_bvh().nearest(p, accuracy_, hints);
          slots[local(i, j, k)] = nearest.slot;
          result_.values[result_.index(i, j, k)] =
              is_inside(p, nearest.distance, neighbours) ? -nearest.distance : nearest.distance;
        }
      }
    }
  }

 private:
  /// A ball around a point that no triangle enters is all inside or all outside a closed mesh. (Not so where
  /// the surface is trimmed, which leaves slits where pieces cross.)
  [[nodiscard]] bool is_inside(const Vec3<double>& p, double distance,
                               const std::array<double, 3>& neighbours) const {
    if (mesh_.report.closed && !mesh_.trimmed) {
      const double reach = 1.001 * (1.0 + options_.far_tolerance) * result_.grid.cell_size;
      for (const double neighbour : neighbours) {
        if (neighbour != 0.0 && std::max(distance, std::abs(neighbour)) > reach) return neighbour < 0.0;
      }
    }
    return mesh_.bvh.winding_number(p, options_.opening) > 0.5;
  }

  const RepairedMesh& mesh_;
  const DistanceGridOptions& options_;
  TriangleBvh::Accuracy accuracy_;
  DistanceGrid& result_;
  Eigen::Vector3i points_, blocks_;
};

}  // namespace

SampleGrid padded_grid(const Eigen::AlignedBox3d& box, int points, double fill) {
  require(points >= 2, fmt::format("a grid of {} points a side, at least 2 are needed", points));
  require(fill > 0.0 && fill <= 1.0, fmt::format("a box that fills {} of its grid, allowed: (0, 1]", fill));
  const double extent = box.isEmpty() ? 0.0 : box.sizes().maxCoeff();
  require(extent > 0.0 && std::isfinite(extent), "a box without extent, or an infinite one");
  SampleGrid grid;
  grid.cell_size = extent / fill / (points - 1);
  for (int axis = 0; axis < 3; ++axis) {
    const double spared = (extent - box.sizes()[axis]) / grid.cell_size;
    grid.cells[axis] = points - 1 - 2 * static_cast<int>(0.5 * spared);
  }
  grid.lower = box.center() - 0.5 * grid.cell_size * grid.cells.cast<double>();
  return grid;
}

DistanceGrid signed_distance_grid(const RepairedMesh& mesh, const SampleGrid& grid,
                                  const DistanceGridOptions& options) {
  require(grid.cells.minCoeff() >= 0 && grid.cell_size > 0.0 && std::isfinite(grid.cell_size) &&
              grid.lower.allFinite(),
          "a grid without points or spacing");
  require((grid.cells.cast<double>() + Vec3<double>::Ones()).prod() < 2147483648.0,
          "a grid of more than 2^31 - 1 points");
  require(options.exact_band >= 0.0, "exact_band must be >= 0");
  require(options.far_tolerance >= 0.0 && options.far_tolerance <= 1.0, "far_tolerance must be in [0, 1]");
  require(options.opening >= 1.0, "opening must be >= 1");
  DistanceGrid result;
  result.grid = grid;
  result.values.resize(at(result.points().x()) * at(result.points().y()) * at(result.points().z()));
  const BlockFiller filler(mesh, options, result);
  int blocks_done = 0;
  std::mutex progress_mutex;
  for_each_chunk(filler.block_count(), options.threads, [&](int block) {
    filler.fill(block);
    if (!options.progress) return;
    const std::lock_guard lock(progress_mutex);
    options.progress("blocks", ++blocks_done, filler.block_count());
  });
  return result;
}

ScalarField field_of(const RepairedMesh& mesh) {
  return field_of([&mesh](const Vec3<double>& p) {
    const double distance = mesh.surface_bvh().nearest(p).distance;
    return mesh.bvh.winding_number(p) > 0.5 ? -distance : distance;
  });
}

}  // namespace abut
