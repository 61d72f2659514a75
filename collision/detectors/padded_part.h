/// Witness points of padded convex parts by proximity QPs: spheres, capsules, boxes, polyhedra, padded
/// polygons and half-spaces.
///
/// A part without a ball of its own gets one, carved out of it: the core is what is farther than the padding
/// from each of its faces, so faces stay where they are while edges and corners are rounded. A half-space is
/// a plane without bounds, as far below its surface as the other part is large, and its padding is that
/// depth.
#pragma once

#include <span>
#include <variant>

#include "collision/convex/convex_part.h"
#include "collision/convex/face_patch.h"
#include "collision/convex/proximity_qp_core.h"
#include "collision/convex/witness_derivatives.h"
#include "engine/detector_choice.h"

namespace abut {

/// A plane without bounds; centre, size and padding are those that the other part makes it.
using PaddedPlane = PaddedPolygon<double, 1>;

struct PaddedPart {
  ConvexPart<double> part;  ///< core and padding, as its radius
  /// In the frame of the body; a sphere is a segment whose axis is 0.
  std::variant<PaddedPlane, PaddedSegment<double>, PaddedPolytope<double, 6>,
               PaddedPolytope<double, k_most_qp_faces>, PaddedPolygon<double, k_most_qp_faces>>
      core;
};

/// @param padding  of a part without a ball, by the radius of the ball about its centre that touches the
///                 nearest face, in (0, 1)
/// Throws std::invalid_argument for superquadrics and cones, and for a polyhedron of more than
/// k_most_qp_faces faces or a polygon of more edges.
[[nodiscard]] PaddedPart make_padded_part(const ConvexPart<double>& part, double padding);

/// How witness points move with the pose of B, tangents [rotation; translation], while A rests.
struct WitnessByB {
  Vec6<double> distance;           ///< [m/rad; -]
  Mat36<double> normal;            ///< [1/rad; 1/m]
  Mat36<double> point_A, point_B;  ///< [m/rad; -]
};

/// Witness points by one program, and their derivatives for each of the relaxations: none, one or several.
///
/// @param relaxations  kappa of the derivatives, see proximity_qp_vjp.h
/// @param by_B         as many, overwritten
/// Returns false if the program could not be solved, as that of two half-spaces.
[[nodiscard]] bool padded_witness(const PaddedPart& A, const Pose<double>& X_WA, const PaddedPart& B,
                                  const Pose<double>& X_WB, std::span<const double> relaxations,
                                  Witness<double>& witness, std::span<WitnessByB> by_B);

}  // namespace abut
