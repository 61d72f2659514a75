/// Primitives of another kind that superquadrics and convex polyhedra are near to.
#pragma once

#include <vector>

#include "engine/model.h"

namespace abut {

/// What a superquadric could be taken for, by its exponents and axes:
///   rounded_box  exponents up to 0.6; edges as round as those of the superquadric are on the mean
///   sphere       three axes and exponents that are about equal, and 1
///   capsule      round about z, and longer than wide
///   cone         a cylinder: round about z, with eps1 up to 0.6
/// Several, if they are near to several of these; none of what is none. The operation is kept.
[[nodiscard]] std::vector<Primitive> exact_kinds_near(const Primitive& superquadric);

/// Superquadrics as large as a convex polyhedron along the axes of a box around it: a box, an ellipsoid, and
/// an upright elliptic cylinder along each axis. The box is the smallest with one axis along the normal of a
/// face, and another along that of another face, as far as these are perpendicular. The operation is kept;
/// of what is no convex polyhedron there are none.
[[nodiscard]] std::vector<Primitive> superquadrics_near(const Primitive& polyhedron);

}  // namespace abut
