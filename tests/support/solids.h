/// Solids made of blocks, cylinders and tori by min, max and minus, and their meshes.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "collision/fitting/marching_cubes.h"
#include "engine/mesh.h"
#include "engine/types.h"

namespace abut::test {

/// Solids as functions that are negative inside, in the cube [-1, 1]^3; made of these with min, max and
/// minus.
using Solid = std::function<double(const Vec3<double>&)>;

inline double block(const Vec3<double>& p, const Vec3<double>& center, const Vec3<double>& half) {
  return ((p - center).cwiseAbs() - half).maxCoeff();
}
inline double cylinder(const Vec3<double>& p, double radius, double lower, double upper) {
  return std::max({p.head<2>().norm() - radius, lower - p.z(), p.z() - upper});
}
inline double torus(const Vec3<double>& p, double radius, double tube) {
  return std::hypot(p.head<2>().norm() - radius, p.z()) - tube;
}

inline double bowl(const Vec3<double>& p) { return std::max({p.norm() - 0.9, 0.7 - p.norm(), p.z()}); }
/// Upright, open at the top.
inline double mug(const Vec3<double>& p) {
  const Vec3<double> q = p + Vec3<double>(0.25, 0, 0);
  const double wall = std::max(cylinder(q, 0.5, -0.6, 0.6), -cylinder(q, 0.38, -0.46, 1.0));
  return std::min(wall, std::max(torus({p.x() - 0.3, p.z(), p.y()}, 0.4, 0.11), 0.44 - q.head<2>().norm()));
}

inline TriangleMesh mesh_of(const Solid& solid, int cells = 60) {
  const Eigen::AlignedBox3d box(Vec3<double>::Constant(-1.0), Vec3<double>::Constant(1.0));
  return marching_cubes(field_of(solid), grid_around(box, cells));
}

}  // namespace abut::test
