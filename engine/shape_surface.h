/// Surfaces of shapes, for bodies that come without one.
#pragma once

#include <functional>

#include "engine/mass_properties.h"
#include "engine/mesh.h"
#include "engine/model.h"

namespace abut {

/// What a body needs to know of a shape beyond its primitives; all in their frame.
struct ShapeSurface {
  TriangleMesh mesh;               ///< collision mesh: closed, its vertices on the surface
  MassProperties of_unit_density;  ///< of the solid, more exactly than of the mesh
  double union_smoothing = 0;      ///< [m] that both were made with
};

/// Makes the surface of a bounded shape, whose union smoothing may be 0: the default. Throws
/// std::invalid_argument with the reason where it cannot. surface_maker() of
/// collision/fitting/shape_surface.h is one; the engine has none of its own.
using SurfaceMaker = std::function<ShapeSurface(const Shape&)>;

}  // namespace abut
