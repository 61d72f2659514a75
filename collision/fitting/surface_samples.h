/// Points spread evenly over a mesh, and quantiles over them.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

/// Points spread over a surface by area, with the normal of their triangles.
struct SurfaceSamples {
  Points points{3, 0};   ///< (3, n) [m]
  Points normals{3, 0};  ///< (3, n), outwards
};

/// Points of a mesh, one for every count-th part of its area. They depend on the mesh and the count alone.
[[nodiscard]] SurfaceSamples surface_samples(const TriangleMesh& mesh, std::size_t count);

/// The i-th of a low-discrepancy sequence in the unit square (Roberts' R2).
[[nodiscard]] Eigen::Vector2d roberts_point(int i);

/// The value that the given part of the values, in [0, 1), is below. There must be one at least.
[[nodiscard]] double quantile(std::vector<double> values, double part);

}  // namespace abut
