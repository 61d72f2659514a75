/// Bodies, surfaces and directions that tables are measured with.
#pragma once

#include <string>

#include "collision/sdf/shape_sdf.h"
#include "engine/mesh.h"
#include "engine/model.h"
#include "engine/random.h"
#include "engine/types.h"

namespace abut::accuracy {

/// assets/bodies/<name>, all its lengths divided by its size: the size of the result is 1, so that lengths of
/// formulas that are not relative mean the same for all.
[[nodiscard]] Body unit_size_asset(const std::string& name);

/// A triangle mesh as a set of points.
class Surface {
 public:
  explicit Surface(const TriangleMesh& mesh);

  struct Place {
    Vec3<double> point, normal;  ///< [m], of unit length
  };
  /// Uniform by area.
  [[nodiscard]] Place random_place(Random& random) const;

  /// From the nearest point of the surface to x [m].
  [[nodiscard]] Vec3<double> offset_of(const Vec3<double>& x) const;

 private:
  struct Triangle {
    Vec3<double> a, b, c, normal;
    double area_so_far;  ///< of this one and those before it [m^2]
  };
  std::vector<Triangle> triangles_;
};

}  // namespace abut::accuracy
