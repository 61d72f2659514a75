/// Bodies made by a program: mass properties, contact points and defaults, from shapes and meshes.
///
/// A body touches others with balls of `contact_radius` about its `contact_points`:
///   sphere       one point, its centre, with its radius
///   capsule      points along its segment, both ends included and at most a radius apart, with its radius
///   rounded box  the vertices of the subdivided inner box (half extents less edge radius), with that radius
///   any other    the vertices of its mesh, with radius 0: they lie on the surface
///   half-space   none: others touch it with theirs
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "engine/mass_properties.h"
#include "engine/model.h"

namespace abut {

inline constexpr double k_union_smoothing_per_size = 0.002;  ///< default union_smoothing / size
inline constexpr double k_union_smoothing_per_part = 0.02;   ///< at most, / half the thinnest primitive

struct Density {
  double value;  ///< [kg/m^3], > 0
};
struct Mass {
  double value;  ///< [kg], > 0
};
using MassOrDensity = std::variant<Density, Mass>;

/// What a body is made from, in the frame A of its asset: the axes of B, any origin. What is left out follows
/// from the rest.
struct BodyDescription {
  std::string name;
  Shape shape;  ///< X_BP is the pose of P in A; union_smoothing 0 stands for default_union_smoothing()
  /// Closed surface; may be empty for one sphere, capsule or rounded box (there it is the inner box), for a
  /// half-space, and where nothing has to be computed from it.
  TriangleMesh mesh;
  std::optional<MassOrDensity> mass_or_density;  ///< left out only where there is a half-space, or `fixed`
  std::optional<double> volume;                  ///< [m^3]
  /// In A, of unit density: taken instead of the integrals over the mesh.
  std::optional<MassProperties> of_unit_density;
  std::optional<Vec3<double>> center_of_mass;        ///< [m]; comes with `inertia`
  std::optional<Mat3<double>> inertia;               ///< about it [kg m^2]; comes with `center_of_mass`
  std::optional<Points> contact_points;              ///< (3, n) [m]; default: see above
  std::optional<std::vector<double>> contact_areas;  ///< n values [m^2], >= 0
  std::optional<double> contact_radius;              ///< [m], >= 0
  int box_subdivisions = 4;                          ///< of the mesh made for a rounded box without one
  bool fixed = false;
  Material material;
};

/// The body: recentred so that B has its origin at the centre of mass, `p_BA` telling where A's went.
///
/// Mass, volume, centre and inertia are, in this order: those given; the closed forms of a single sphere,
/// capsule or rounded box; `of_unit_density`; the integrals over the mesh. Given a density and an inertia,
/// the mass is density times volume. Throws std::invalid_argument, starting with the name, for whatever is
/// missing or makes no sense.
[[nodiscard]] Body make_body(const BodyDescription& description);

/// A body with the given signed distance function (primitives in the frame of the mesh) and surface.
[[nodiscard]] Body make_body(std::string name, Shape shape, TriangleMesh mesh, MassOrDensity mass_or_density);

/// Sizes in [m], density in [kg/m^3]. The frames A and B are the same here: p_BA = 0.
[[nodiscard]] Body make_sphere(double radius, double density);
[[nodiscard]] Body make_capsule(double radius, double half_length, double density);
[[nodiscard]] Body make_box(const Vec3<double>& half_extents, double edge_radius, int subdivisions,
                            double density);
[[nodiscard]] inline Body make_box(const Vec3<double>& half_extents, double edge_radius, double density) {
  return make_box(half_extents, edge_radius, 4, density);
}
/// The solid z <= 0, fixed. Its mass, volume and inertia mean nothing.
[[nodiscard]] Body make_half_space();

/// Changes the mass [kg] of a body, and its inertia in proportion.
void set_mass(Body& body, double mass);
void set_density(Body& body, double density);

/// How many contact points and edges of the mesh may touch at a time; 0: all. Both throw
/// std::invalid_argument if there are not that many, or if `count` is negative.
void set_selected_vertices(Body& body, int count);
void set_selected_edges(Body& body, int count);

/// Whether the shape is one sphere, capsule or rounded box: these have closed forms and meshes of their own.
[[nodiscard]] bool has_closed_form(const Shape& shape);

/// The union smoothing of a bounded shape that is given none [m]: 0.002 of its size [m], but of several
/// primitives no more than 0.02 of half the thickness of the thinnest. Where k of them meet or overlap the
/// surface bulges by at most tau log k: by 1.4 % of that half thickness where two do.
[[nodiscard]] double default_union_smoothing(const Shape& shape, double size);

/// Whether a half-space is among the added primitives.
[[nodiscard]] bool is_unbounded(const Shape& shape);

}  // namespace abut
