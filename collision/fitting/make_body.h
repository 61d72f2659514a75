/// A body from its signed distance function alone: collision mesh, mass properties, frame.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collision/fitting/surface_mesh.h"
#include "engine/body_builder.h"
#include "engine/model.h"

namespace abut {

struct MeshedBodyOptions {
  std::string name = "body";
  std::optional<double> size;  ///< largest extent [m] to scale the shape to; default: it stays as it is
  MassOrDensity mass_or_density = Density{1000.0};
  std::optional<double> union_smoothing;  ///< [m], after scaling; default: default_union_smoothing()
  int resolution = 128;                   ///< cubes of the fine grid along the longest side, >= 16
  SurfaceMeshOptions mesh;
  Material material;
};

struct MeshedBody {
  Body body;
  double scale = 1.0;                          ///< that the shape was scaled by, to have its size
  Vec3<double> origin = Vec3<double>::Zero();  ///< of the body's frame, in that of the scaled shape [m]
  TriangleMesh surface;                        ///< the fine mesh of the zero set, in the body's frame
  SurfaceReport report;    ///< of the collision mesh, against the SDF and the fine mesh of marching cubes
  int floating_parts = 0;  ///< closed surfaces apart from the body's, of primitives or parts of some left out
  double floating_share = 0.0;  ///< of the volume of the body and of those parts, what is in the parts
  int cavities = 0;             ///< closed ones within it, which its mesh and mass leave out
  /// Largest distance of the fine mesh's vertices, on the smooth zero set, from the unsmoothed one [m].
  double bulge = 0.0;
  std::vector<std::string> notes;  ///< what had to be changed about the shape, a sentence each
};

/// Makes a body of a shape given in any frame and unit.
///
/// The shape is scaled to `size`, exponents are brought into the range of the simulator, primitives that are
/// next to nothing (some extent below 1e-4 of the size) or that float apart from the rest are left out; each
/// such change is a note. The surface is that of ShapeSdf at the union smoothing that the body will have, so
/// that run time sees the same one. Volume, mass, centre of mass and inertia come from a fine mesh of
/// marching cubes, contact points from a coarse one made of it (make_surface_mesh). The body's frame has its
/// origin at the centre of mass, and so has the asset's.
///
/// A single sphere, capsule or rounded box keeps its regular mesh and closed forms (engine/body_builder.h),
/// whatever `resolution` and `mesh` say.
///
/// Throws std::invalid_argument if the shape is empty, unbounded, not valid, or its surface cannot be meshed.
[[nodiscard]] MeshedBody make_meshed_body(const Shape& shape, const MeshedBodyOptions& options);

}  // namespace abut
