/// Triangle surfaces made ready for drawing, and where they come from: meshes and SDFs of bodies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "apps/picture/colours.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/coloured_mesh.h"
#include "engine/model.h"

namespace abut {

/// A surface in the frame of its body. Immutable once it is shared: the renderer knows it by its address.
struct Surface {
  std::vector<Eigen::Vector3f> positions;  ///< [m]
  std::vector<Eigen::Vector3f> normals;    ///< of unit length, one per position
  /// One per position, or none: the colour of what is drawn, which a negative opacity stands for, too.
  std::vector<Colour> colours;
  std::vector<std::uint32_t> triangles;  ///< three each, counter-clockwise seen from outside
  bool two_sided = false;                ///< seen from both sides, as a surface that may be open
};
using SharedSurface = std::shared_ptr<const Surface>;

inline constexpr double k_crease = 0.6;  ///< [rad]

/// A mesh with sharp edges where neighbouring triangles turn by more than `crease` [rad], smooth elsewhere.
/// Null if it has no triangles.
[[nodiscard]] SharedSurface mesh_surface(const TriangleMesh& mesh, double crease = k_crease);

/// A visual mesh, in its colours and seen from both sides, moved by `displacement` [m]. Vertices at the
/// same place are smoothed over as if they were one: files have them where textures meet. Null if it has no
/// triangles.
[[nodiscard]] SharedSurface visual_surface(const ColouredMesh& mesh,
                                           const Vec3<double>& displacement = Vec3<double>::Zero());

/// The surface of a rounded box; its mesh is that of the box without its edge radius.
[[nodiscard]] SharedSurface rounded_box_surface(const Primitive& rounded_box);

/// The surface phi = `level` [m] of a bounded SDF, with `resolution` cubes along its longest side and the
/// SDF's own gradients as normals. Null where there is none (a half-space, a level inside of everything).
/// Computed by all cores, with the same result for any number of them.
///
/// @param pulse  called now and then meanwhile, by the calling thread; may be empty
[[nodiscard]] SharedSurface iso_surface(const ShapeSdf& sdf, double level, int resolution = 64,
                                        const std::function<void()>& pulse = {});

/// The shape without the half-spaces that are added, which have no closed surface.
[[nodiscard]] Shape bounded_part(const Shape& shape);

/// The zero surface of one primitive of a body alone (as if it were added); null for a half-space.
[[nodiscard]] SharedSurface primitive_surface(const Body& body, int primitive, int resolution = 40);

/// The mesh coloured by phi: blue inside of the SDF's surface, orange outside.
struct DiscrepancySurface {
  SharedSurface surface;  ///< null of a mesh without triangles
  double largest = 0;     ///< |phi| over all vertices [m]
  double mean = 0;        ///< of |phi| over the vertices [m]
  double between = 0;     ///< |phi| over points of the triangles, too [m]; full colour means this much
};
/// @param pieces  of each edge, > 0: phi is seen at so many corners of each triangle's parts. Those of one
///                piece are the triangles of the mesh
[[nodiscard]] DiscrepancySurface discrepancy_surface(const TriangleMesh& mesh, const ShapeSdf& sdf,
                                                     int pieces = 4);

}  // namespace abut
