/// A scene with a body of every kind of primitive, most of them without a mesh.
#pragma once

#include <string>

namespace abut::test {

/// A floor, and from left to right bodies 1 to 9: three that have a mesh made for them, a superquadric, a
/// polyhedron, an extrusion, a cloud of points, a thin plate and a cut ball, that have none.
inline const std::string k_every_kind = R"(name = "every kind"
[[body]]
name = "floor"
[[body.primitive]]
kind = "half_space"
[[body]]
name = "ball"
density = 500.0
position = [-0.8, 0.0, 0.15]
[[body.primitive]]
kind = "sphere"
radius = 0.08
[[body]]
name = "capsule"
density = 500.0
position = [-0.6, 0.0, 0.15]
[[body.primitive]]
kind = "capsule"
radius = 0.06
half_length = 0.04
[[body]]
name = "box"
density = 500.0
position = [-0.4, 0.0, 0.15]
[[body.primitive]]
kind = "rounded_box"
half_extents = [0.07, 0.07, 0.07]
edge_radius = 0.03
[[body]]
name = "superquadric"
fixed = true
position = [-0.2, 0.0, 0.15]
contact.points = []
[[body.primitive]]
kind = "superquadric"
semi_axes = [0.07, 0.07, 0.07]
exponents = [0.3, 0.6]
[[body]]
name = "polyhedron"
fixed = true
position = [0.0, 0.0, 0.15]
contact.points = []
[[body.primitive]]
kind = "convex_polyhedron"
normals = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
offsets = [0.07, 0.07, 0.07, 0.07, 0.07, 0.07]
[[body]]
name = "extrusion"
fixed = true
position = [0.2, 0.0, 0.15]
contact.points = []
[[body.primitive]]
kind = "extruded_superquadric"
semi_axes = [0.07, 0.07, 0.07]
exponents = [0.3, 1.0]
angles = [0.0]
offsets = [0.05]
[[body]]
name = "cloud"
fixed = true
position = [0.4, 0.0, 0.15]
contact.points = []
[[body.primitive]]
kind = "oriented_point_cloud"
width = 0.05
points = [[0.07, 0, 0], [-0.07, 0, 0], [0, 0.07, 0], [0, -0.07, 0], [0, 0, 0.07], [0, 0, -0.07]]
normals = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
[[body]]
name = "plate"
fixed = true
position = [0.6, 0.0, 0.15]
contact.points = []
[[body.primitive]]
kind = "superquadric"
semi_axes = [0.07, 0.0001, 0.07]
exponents = [0.1, 0.1]
[[body]]
name = "cut ball"
fixed = true
position = [0.8, 0.0, 0.15]
contact.points = []
[[body.primitive]]
kind = "sphere"
radius = 0.08
[[body.primitive]]
kind = "half_space"
operation = "subtract"
position = [0.0, 0.0, -0.04]
)";
inline constexpr int k_bodies_of_every_kind = 10;

}  // namespace abut::test
