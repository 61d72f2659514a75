/// What moves with a body's shape parameters: contact points and radius follow the surface of the SDF.
///
/// - A body that is one sphere, capsule or rounded box: its points keep their place relative to the
/// parameters (a sphere's
///   radius is its contact radius, a capsule's points spread with its half length, a box's with its inner
///   extents).
/// - Any other body with contact points on its surface: each point v moves along the normal onto the new zero
/// set,
///   dv = -grad phi (d phi/d theta)/|grad phi|^2.
/// Mass, inertia, areas and smoothing are held fixed: they have gradients of their own.
#pragma once

#include "collision/manifold/contact_detector.h"
#include "engine/model.h"

namespace abut {

/// The body with new primitives (same number and kinds) and its contact points where they belong.
[[nodiscard]] Body with_primitives(const Body& body, const std::vector<Primitive>& primitives);

/// dL/d(primitives) including what moves with them, from the partial gradient.
[[nodiscard]] std::vector<PrimitiveGradient> total_shape_gradient(const Body& body, const ShapeSdf& sdf,
                                                                  const GeometryGradient& partial);

}  // namespace abut
