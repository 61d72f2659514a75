/// Marching cubes: a closed triangle mesh of the surface where a function is zero.
#pragma once

#include <functional>
#include <span>

#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

class ShapeSdf;

/// A continuous function of a point [m], negative inside a solid and positive outside, such as a signed
/// distance [m]: sets values[i] for each column i of points (3, n).
using ScalarField = std::function<void(const Points& points, std::span<double> values)>;

/// The field of a function of one point; that of an SDF, computed on packs. The SDF must outlive its field.
[[nodiscard]] ScalarField field_of(std::function<double(const Vec3<double>&)> function);
[[nodiscard]] ScalarField field_of(const ShapeSdf& sdf);

/// A grid of cubes: the corner (i, j, k), 0 <= i <= cells.x() etc., lies at lower + cell_size (i, j, k).
struct SampleGrid {
  Vec3<double> lower = Vec3<double>::Zero();        ///< [m]
  double cell_size = 1.0;                           ///< [m], > 0
  Eigen::Vector3i cells = Eigen::Vector3i::Zero();  ///< number of cubes along each axis, > 0
};

/// A grid around a box: `resolution` (>= 4) cubes along its longest side, and a margin of one to two cubes on
/// every side. Its corners keep clear of the planes of symmetry and the faces of the box, where a field likes
/// to be exactly zero. Throws std::invalid_argument for a box without volume or with infinite corners.
[[nodiscard]] SampleGrid grid_around(const Eigen::AlignedBox3d& box, int resolution);

/// Called as long work goes on: what is counted, in the plural; how many of it are done, and of how many.
using MeshingProgress = std::function<void(const char* what, int done, int total)>;

/// The surface field = 0, oriented towards positive values.
///
/// Each vertex is the root of the field on an edge of the grid, found to 1e-12 of its length. On a face of a
/// cube whose corners alternate in sign, the negative corners are kept apart; the rule looks at nothing but
/// that face, so both of its cubes obey it alike, and the mesh is always a closed, consistently oriented
/// manifold. It may have any number of components; it is empty if the field has one sign. Vertices and
/// triangles come in the order of the grid.
///
/// Throws std::invalid_argument if the field is negative on the border of the grid (the mesh would be open
/// there), or NaN anywhere.
[[nodiscard]] TriangleMesh marching_cubes(const ScalarField& field, const SampleGrid& grid,
                                          const MeshingProgress& progress = {});

}  // namespace abut
