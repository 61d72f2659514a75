/// Signed distances of a mesh at the points of a regular grid.
#pragma once

#include <vector>

#include "collision/fitting/marching_cubes.h"
#include "collision/fitting/mesh_repair.h"
#include "engine/types.h"

namespace abut {

struct DistanceGridOptions {
  double exact_band = 4.0;        ///< distances below so many spacings are exact, >= 0; infinite: all are
  double far_tolerance = 0.02;    ///< the others are 1 to 1 + far_tolerance times the exact ones, in [0, 1]
  double opening = 2.0;           ///< of winding numbers (TriangleBvh), >= 1
  int threads = 0;                ///< 0: as many as the machine has; changes no result
  MeshingProgress progress = {};  ///< called from one thread at a time
};

/// A signed distance [m] at each corner of a grid of cubes, negative inside.
struct DistanceGrid {
  SampleGrid grid;
  std::vector<double> values;  ///< of the corner (i, j, k) at index(i, j, k)

  /// Number of corners along each axis.
  [[nodiscard]] Eigen::Vector3i points() const { return grid.cells + Eigen::Vector3i::Ones(); }
  [[nodiscard]] std::size_t index(int i, int j, int k) const {
    const Eigen::Vector3i n = points();
    return (at(k) * at(n.y()) + at(j)) * at(n.x()) + at(i);
  }
  [[nodiscard]] double value(int i, int j, int k) const { return values[index(i, j, k)]; }
  [[nodiscard]] Vec3<double> point(int i, int j, int k) const {
    return grid.lower + grid.cell_size * Vec3<double>(i, j, k);
  }
};

/// A grid about the middle of a box, of `points` (>= 2) corners along its longest side, which takes `fill`,
/// in (0, 1], of that side of the grid. Along the other sides there is the same margin, or up to a spacing
/// more: the points are some of those of a cube. Throws std::invalid_argument for a box without extent or
/// with infinite corners.
[[nodiscard]] SampleGrid padded_grid(const Eigen::AlignedBox3d& box, int points, double fill = 0.8);

/// Signed distances of a repaired mesh: the distance from its nearest point, with the sign of its winding
/// number (inside above 1/2).
///
/// Where the mesh is closed, a point has the sign of a neighbour that lies in the ball without surface around
/// it; elsewhere each point has the sign of its own winding number. The result depends on the mesh, the grid
/// and the options alone, to the last bit.
///
/// Throws std::invalid_argument for a grid without points or with more than 2^31 - 1, or bad options.
[[nodiscard]] DistanceGrid signed_distance_grid(const RepairedMesh& mesh, const SampleGrid& grid,
                                                const DistanceGridOptions& options = {});

/// The exact signed distance of a repaired mesh, for marching_cubes(). The mesh must outlive its field. Not
/// continuous at holes.
[[nodiscard]] ScalarField field_of(const RepairedMesh& mesh);
ScalarField field_of(RepairedMesh&&) = delete;

}  // namespace abut
