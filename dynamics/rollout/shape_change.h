/// What moves with a body's shape parameters: contact points and radius follow the surface of the SDF.
///
/// - A body that is one sphere, capsule or rounded box: its points keep their place relative to the
///   parameters (a sphere's radius is its contact radius, a capsule's points spread with its half length, a
///   box's with its inner extents).
/// - One padded polygon with the mesh made for it: each vertex keeps its place on the rounded corner
///   (padded_polygon_points.h).
/// - Any other body with contact points on its surface: each point v is carried along by the primitive whose
///   surface is nearest to it, and moves on a line of that primitive's frame to where the new surface crosses
///   it. With the direction u of the line (the normal of the body that the change started from) and the
///   rigid motion (dv)_P of the primitive,
///     dv = (dv)_P - u (d phi/d theta + grad phi . (dv)_P)/(u . grad phi).
/// Mass, inertia, areas and smoothing are held fixed: they have gradients of their own.
#pragma once

#include <optional>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "engine/model.h"

namespace abut {

/// The lines along which contact points move when the shape changes from that of a body.
struct ContactPointLines {
  std::vector<int> primitive;  ///< of each contact point; none where they move in another way, or not at all
  Points directions{3, 0};     ///< unit vectors in the frame of that primitive
};
[[nodiscard]] ContactPointLines contact_point_lines(const Body& body);

/// The body with new primitives (same number and kinds) and its contact points where they belong, with the
/// mesh where they are its vertices. Throws std::invalid_argument if a contact point's line does not meet the
/// new surface near it.
[[nodiscard]] Body with_primitives(const Body& body, const std::vector<Primitive>& primitives);

/// dL/d(primitives) including what moves with them, from the partial gradient at a body.
///
/// @param lines  contact_point_lines() of the body that it was changed from by with_primitives(); null for
///               changes that start from the body itself
[[nodiscard]] std::vector<PrimitiveGradient> total_shape_gradient(const Body& body, const ShapeSdf& sdf,
                                                                  const GeometryGradient& partial,
                                                                  const ContactPointLines* lines = nullptr);

/// The same for one partial gradient after another: keeps how each contact point moves once it is known.
class TotalShapeGradient {
 public:
  /// All must outlive it. Parameters as those of total_shape_gradient().
  TotalShapeGradient(const Body& body, const ShapeSdf& sdf, const ContactPointLines& lines);

  [[nodiscard]] std::vector<PrimitiveGradient> operator()(const GeometryGradient& partial);

 private:
  const Body& body_;
  const ShapeSdf& sdf_;
  const ContactPointLines& lines_;
  /// What a coordinate of a contact point adds to dL/d(a primitive) for each unit of its own bar.
  struct Share {
    int axis;
    std::size_t primitive;
    PrimitiveGradient gradient;
  };
  [[nodiscard]] std::vector<Share> shares_of(Eigen::Index point) const;
  std::vector<std::optional<std::vector<Share>>> shares_;  // of each contact point, once asked for
};

}  // namespace abut
