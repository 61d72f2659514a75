/// Surfaces for bodies that are given by their primitives alone.
#pragma once

#include "engine/shape_surface.h"

namespace abut {

/// Meshes the zero set of ShapeSdf at the union smoothing of the shape (0: k_union_smoothing_per_size times
/// the extent of its primitives): a coarse mesh with its vertices on it, and the integrals over a fine one.
/// The same shape gives the same surface, bit for bit. Throws std::invalid_argument if the shape is
/// unbounded, has no inside, is thinner than a fine grid can see, or has more than one closed surface.
[[nodiscard]] ShapeSurface make_shape_surface(const Shape& shape);

/// make_shape_surface() for read_scene() and read_body(). Surfaces are remembered as long as the program
/// runs, so that a shape is meshed once however many bodies and readings have it. Safe with several threads.
[[nodiscard]] SurfaceMaker surface_maker();

}  // namespace abut
