/// Convex polyhedra, and how two of them lie when they have just come into contact.
#pragma once

#include <span>

#include "engine/model.h"
#include "engine/random.h"
#include "engine/types.h"

namespace abut::accuracy {

/// A convex polyhedron whose mesh has no vertices but its corners, and as its shape a convex_polyhedron with
/// tau_c = 0.0005 of the size.
struct ConvexBody {
  Body body;
  Points face_normals;     ///< (3, f) outward unit normals, in B
  Points edge_directions;  ///< (3, e) unit vectors along the edges, in B
};

/// A prism about the z axis.
///
/// @param polygon  corners in counter-clockwise order, convex, the origin inside [m]
[[nodiscard]] ConvexBody make_prism(std::span<const Vec2<double>> polygon, double half_height);

/// A box of the given half extents [m].
[[nodiscard]] ConvexBody make_sharp_box(const Vec3<double>& half_extents);

/// Half extents 0.1 to 0.5.
[[nodiscard]] ConvexBody random_box(Random& random);

/// 3 to 8 corners on an ellipse of semi-axes 0.2 to 0.5, half height 0.1 to 0.5.
[[nodiscard]] ConvexBody random_prism(Random& random);

/// B moved out of A along a direction until both overlap by a given depth only.
struct ConvexTouch {
  Vec3<double> p_AB;      ///< from the origin of A to that of B, in W [m]
  Vec3<double> normal_W;  ///< from A to B: the direction of the shortest translation that parts them
  double sine = 0.0;  ///< of the angle between the two edges that touch; 0 if a face of either body touches
};

/// The smallest overlap over all separating axes, the normals of faces and the common normals of two edges,
/// is the penetration depth. All are linear in the translation, so that it is found in closed form.
///
/// @param direction  in W, of unit length
/// @param depth      [m], less than the bodies are thick
[[nodiscard]] ConvexTouch touch(const ConvexBody& A, const Quat<double>& q_WA, const ConvexBody& B,
                                const Quat<double>& q_WB, const Vec3<double>& direction, double depth);

}  // namespace abut::accuracy
