/// Surfaces for bodies that are given by their primitives alone.
#pragma once

#include <filesystem>

#include "engine/shape_surface.h"

namespace abut {

/// Meshes the zero set of ShapeSdf at the union smoothing of the shape (0: default_union_smoothing() of
/// the extent of its primitives): a coarse mesh with its vertices on it, and the integrals over a fine one. Of several
/// primitives with no more than that default, the surface is that without smoothing, with its sharp creases and corners.
/// One convex polyhedron or cone has the structured mesh and the mass of the sharp solid (engine/edged_solids.h).
/// The same shape gives the same surface, bit for bit. Throws std::invalid_argument if the shape is
/// unbounded, has no inside, is thinner than a fine grid can see, or has more than one closed surface.
[[nodiscard]] ShapeSurface make_shape_surface(const Shape& shape);

/// make_shape_surface() for read_scene() and read_body(). Surfaces are remembered as long as the program
/// runs, so that a shape is meshed once however many bodies and readings have it, and from one run to the
/// next in a folder. Safe with several threads.
///
/// @param cache_folder  of surface_cache.h, as user_cache_folder(); empty: nothing is kept on disk
[[nodiscard]] SurfaceMaker surface_maker(const std::filesystem::path& cache_folder = {});

}  // namespace abut
