/// Bodies of the truth suite, of every primitive kind, by the name that a scene file calls it.
///
/// Density 1000 kg/m^3. Collision meshes are those that a scene without a mesh gets (surface_maker()).
#pragma once

#include <string>
#include <vector>

#include "engine/model.h"
#include "tests/truth/situations/situation.h"

namespace abut::truth {

/// A body and what its part in a situation needs.
struct Actor {
  Body body;
  Eigen::Quaterniond q = Eigen::Quaterniond::Identity();  ///< orientation in which it plays the part
  double height = 0.0;                                    ///< of its centre of mass above what it lies on [m]
  double half_width = 0.0;                                ///< of what it lies on, along x [m]

  /// I/(m r^2) of a roller about y, r = height.
  [[nodiscard]] double inertia_ratio() const;
};

/// Kinds that lie on a flat face (or, a torus, on a circle).
[[nodiscard]] const std::vector<std::string>& flat_kinds();
/// Those with a rectangular face and sharp or slightly rounded edges.
[[nodiscard]] const std::vector<std::string>& box_kinds();
/// Kinds that roll along x, about y.
[[nodiscard]] const std::vector<std::string>& rolling_kinds();
/// Kinds that can be a ball.
[[nodiscard]] const std::vector<std::string>& ball_kinds();
/// Those of box_kinds() whose face is flat up to a sharp edge, or to one rounded by foot_radius(): the others are a
/// little convex, and tip and spin as that.
[[nodiscard]] const std::vector<std::string>& plane_kinds();

/// A body of one of flat_kinds(): half extents (1, 0.8, 0.6) L, or a radius of 0.8 L.
[[nodiscard]] Actor flat_actor(const std::string& kind, double L);
/// A body of one of rolling_kinds(), of radius L but for an ellipsoid (0.7 L), with its axis along y.
[[nodiscard]] Actor rolling_actor(const std::string& kind, double L);
/// A ball of one of ball_kinds().
[[nodiscard]] Body ball_body(const std::string& kind, double radius);

/// A box of one of box_kinds() with any half extents [m].
[[nodiscard]] Body box_body(const std::string& kind, const Vec3<double>& half);
/// The edge radius of such a box [m].
[[nodiscard]] double foot_radius(const std::string& kind, const Vec3<double>& half);
/// A "cylinder" (a superquadric) or "drum" (a cone with equal ends) about z.
[[nodiscard]] Body cylinder_body(const std::string& kind, double radius, double half_length);
[[nodiscard]] Body sphere_body(double radius);
/// About z.
[[nodiscard]] Body capsule_body(double radius, double half_length);
[[nodiscard]] Body torus_body(double radius, double tube_radius);

/// A body of any primitives; those that are scaled by the same length share one mesh.
///
/// @param unit  at unit length
[[nodiscard]] Body scaled_body(const std::string& name, const std::vector<Primitive>& unit, double length);
[[nodiscard]] Primitive primitive(PrimitiveKind kind, const std::array<double, 5>& parameters,
                                  const Vec3<double>& at = Vec3<double>::Zero(),
                                  PrimitiveOperation operation = PrimitiveOperation::add);

[[nodiscard]] Body fixed(Body body);
/// The orientation that turns z into y.
[[nodiscard]] Eigen::Quaterniond along_y();
[[nodiscard]] Eigen::Quaterniond along_x();

// Grounds --------------------------------------------------------------------------------------------------

/// Adds fixed ground to a scene.
struct Ground {
  double friction = 0.5;
  double angle = 0.0;  ///< slope [rad]

  [[nodiscard]] Vec3<double> down() const { return {std::cos(angle), 0.0, -std::sin(angle)}; }
  [[nodiscard]] Vec3<double> normal() const { return {std::sin(angle), 0.0, std::cos(angle)}; }
  [[nodiscard]] Eigen::Quaterniond turn() const {
    return exp_quaternion<double>(Vec3<double>(0.0, angle, 0.0));
  }
  /// The pose of something that lies at a distance along the slope.
  [[nodiscard]] Pose<double> pose(double along, double height,
                                  const Eigen::Quaterniond& q = Eigen::Quaterniond::Identity()) const {
    return {turn() * q, Vec3<double>(along * down() + height * normal())};
  }
};

/// Kinds of ground: "half_space", "box" (one wide table), "polyhedron" (the same), "seam" (boxes side by side,
/// seams across the way every 2.3 L).
void add_ground(test::TestScene& scene, const std::string& kind, const Ground& ground, double L);

}  // namespace abut::truth
