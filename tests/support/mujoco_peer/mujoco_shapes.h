/// Shapes of bodies as geoms of MuJoCo's format MJCF.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/model.h"

namespace abut::test {

/// Shapes that MuJoCo is given.
///   equal   those of the model: planes, spheres, capsules, boxes with sharp edges, ellipsoids and cylinders are
///           MuJoCo's own, a polyhedron is the convex hull of its corners, any other body that of its mesh, and
///           refused unless that is the body
///   coarse  boxes lose the rounding of their edges, a superquadric is the convex hull of 30 points of its
///           surface, and of a body with more than 18 of them the smallest are left out
enum class MujocoShapes { equal, coarse };

/// "x y z".
[[nodiscard]] std::string vector_text(const Vec3<double>& v);
/// The attributes pos and quat.
[[nodiscard]] std::string pose_text(const Pose<double>& X);

/// Writes the geoms of bodies; equal meshes are written once.
class MujocoGeoms {
 public:
  explicit MujocoGeoms(MujocoShapes shapes) : shapes_(shapes) {}

  /// The attributes of each geom of a body that say its shape and pose in the body.
  ///
  /// @param plane_box  half extent [m] of the box, its top at z = 0, that stands for a half-space; 0: a plane
  /// Throws std::invalid_argument, starting with the body's name, for a shape that is not translated.
  [[nodiscard]] std::vector<std::string> of(const Body& body, double plane_box);

  /// The elements <mesh> of all geoms so far.
  [[nodiscard]] const std::string& meshes() const { return meshes_; }

 private:
  [[nodiscard]] std::string hull_of_points(const Points& points);
  [[nodiscard]] std::vector<std::string> coarse_geoms(const Body& body);

  MujocoShapes shapes_;
  std::map<std::string, std::string> mesh_names_;  // by their vertices
  std::string meshes_;
};

}  // namespace abut::test
