/// Flat faces of a mesh, and few of their points that can stand for all.
///
/// The *supports* of a face are the corners of its convex hull and, if it has more points, as few rings of
/// these about its middle as it takes. Their areas are multiplied by factors that keep the moments of the
/// areas of all of its points up to the second order:
///   sum_k f_k a_k m(x_k) = sum_i a_i m(x_i),   m = (1, x, y, x^2, xy, y^2) in the plane of the face,
/// a_i = 0.03 |A_i| + A_i.n being the area with which a point faces what the face lies on. So a pressure that
/// is linear over the face has the same force and torque; and sum a_i |x_i|, the torque of friction where the
/// face turns on the spot, is that of an even pressure on the face, to 2 %. Where no supports have that, as with few points on
/// long faces, it changes by 6 % at most.
#pragma once

#include <span>
#include <vector>

#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

/// So much of a contact point's area counts whichever way it faces.
inline constexpr double k_any_facing = 0.03;

struct FlatFace {
  std::vector<int> points;                      ///< contact points, the supports first
  std::vector<double> factors;                  ///< of the supports, > 0
  Vec3<double> normal{0.0, 0.0, 1.0};           ///< outwards, in the frame of the points
  double reach = 0.0;                           ///< of the body's points from the mean of the supports [m]

  /// Whether it has points that are no supports.
  [[nodiscard]] bool has_spare_points() const { return points.size() > factors.size(); }
  friend bool operator==(const FlatFace& a, const FlatFace& b);
};

/// Left out are faces that bend by less than 0.2 rad into a neighbour, and those of a radius of gyration
/// below 2 % of the largest extent. Where no few points can stand for all, all are supports of factor 1.
///
/// @param areas         of each vertex [m^2]
/// @param area_vectors  (3, n): A_i [m^2]
[[nodiscard]] std::vector<FlatFace> flat_faces(const TriangleMesh& mesh, std::span<const double> areas,
                                               const Points& area_vectors);

}  // namespace abut
