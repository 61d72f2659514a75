/// What never changes during a simulation: bodies, their geometry, mass and material, joints, and gravity.
///
/// Frames: W world; B body, with its origin at the centre of mass and the axes of the body asset; P
/// primitive.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/appearance.h"
#include "engine/contact_config.h"
#include "engine/coupling.h"
#include "engine/flat_faces.h"
#include "engine/joint.h"
#include "engine/mesh.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

enum class PrimitiveKind {
  superquadric,
  half_space,
  sphere,
  capsule,
  rounded_box,
  convex_polyhedron,
  oriented_point_cloud,
  extruded_superquadric,
  cone,
  torus,
  padded_polygon
};
enum class PrimitiveOperation { add, subtract };

/// How a superquadric turns its gauge F into a distance.
///   taubin     (F - 1)/|grad F|: first-order metric, the default
///   radial     |x|(1 - 1/F): distance along the ray from the centre, as published
///   projected  exact distance to the closest point, by Newton's method near the surface, blended into taubin
enum class DistanceMode { taubin, radial, projected };

/// An analytic signed distance function with shape parameters and a pose in its body.
///
/// | kind                  | parameters [0..4]                                                       |
/// | --------------------- | ----------------------------------------------------------------------- |
/// | superquadric          | semi-axes a, b, c [m], exponents eps1, eps2 [-] in [0.02, 1.9]          |
/// | half_space            | none: the solid is z <= 0 of the primitive's frame                      |
/// | sphere                | radius [m]                                                              |
/// | capsule               | radius [m], half length of the segment along z [m]                      |
/// | rounded_box           | outer half extents x, y, z [m], edge radius [m] (0 <= r < every extent) |
/// | cone                  | radius [m] at z = -h, radius [m] at z = h, either may be 0,             |
/// |                       | half length h [m], smoothing tau_c [m] > 0 of its edges                 |
/// | torus                 | radius [m] of the circle in the plane z = 0, radius [m] of the tube,    |
/// |                       | smaller than that                                                       |
/// | convex_polyhedron     | smoothing tau_c [m] > 0 of its edges                                    |
/// | oriented_point_cloud  | width h [m] > 0 of the radial basis along the surface                   |
/// | extruded_superquadric | those of a superquadric                                                 |
/// | padded_polygon        | radius [m] > 0 of the ball that is swept over a polygon in the plane    |
/// |                       | z = 0                                                                   |
///
/// Four kinds have more, as many as there are planes, points or corners:
///
/// | kind                  | directions (3, n), unit | values, which are parameters like those above       |
/// | --------------------- | ----------------------- | --------------------------------------------------- |
/// | convex_polyhedron     | outward normals n_i     | o_i > 0 [m] of the half-spaces n_i.x <= o_i         |
/// | oriented_point_cloud  | outward normals n_i     | x, y, z [m] of each point in turn                   |
/// | extruded_superquadric | none                    | p3 [-] in [3, 100], then angle [rad] and            |
/// |                       |                         | offset > 0 [m] of each cut:                         |
/// |                       |                         | cos(angle) x + sin(angle) y <= offset               |
/// | padded_polygon        | none                    | x, y [m] of each corner in turn, anticlockwise      |
struct Primitive {
  PrimitiveKind kind = PrimitiveKind::superquadric;
  PrimitiveOperation operation = PrimitiveOperation::add;
  std::array<double, 5> parameters{};
  Pose<double> X_BP;
  std::vector<double> values{};
  Points directions{};  ///< constants, in P
};

/// How many of `parameters` a kind uses (superquadric 5, half_space 0, ...).
[[nodiscard]] constexpr int parameter_count(PrimitiveKind kind) {
  switch (kind) {
    case PrimitiveKind::superquadric:
    case PrimitiveKind::extruded_superquadric:
      return 5;
    case PrimitiveKind::half_space:
      return 0;
    case PrimitiveKind::sphere:
    case PrimitiveKind::convex_polyhedron:
    case PrimitiveKind::oriented_point_cloud:
    case PrimitiveKind::padded_polygon:
      return 1;
    case PrimitiveKind::capsule:
    case PrimitiveKind::torus:
      return 2;
    case PrimitiveKind::rounded_box:
    case PrimitiveKind::cone:
      return 4;
  }
  return 0;
}

/// How many shape parameters a primitive has: those of `parameters`, then all `values`.
[[nodiscard]] inline std::size_t parameter_count(const Primitive& primitive) {
  return static_cast<std::size_t>(parameter_count(primitive.kind)) + primitive.values.size();
}

/// The i-th of them all, of a Primitive or of what has a number for each (PrimitiveGradient).
template <typename HasParameters>
[[nodiscard]] auto& shape_parameter(HasParameters& of, PrimitiveKind kind, std::size_t i) {
  const auto fixed = static_cast<std::size_t>(parameter_count(kind));
  return i < fixed ? of.parameters[i] : of.values[i - fixed];
}

/// Whether the i-th of them all is a length [m], and not an exponent or an angle.
[[nodiscard]] constexpr bool is_length(PrimitiveKind kind, std::size_t i) {
  if (kind == PrimitiveKind::superquadric) return i < 3;
  if (kind == PrimitiveKind::extruded_superquadric) return i < 3 || (i >= 7 && i % 2 == 1);
  return true;
}

/// The smooth signed distance function of a body: the smooth union of the added primitives, minus the smooth
/// union of the subtracted ones.
struct Shape {
  std::vector<Primitive> primitives;
  double union_smoothing = 0.0;  ///< tau of the union [m], > 0; the collision mesh belongs to this value
  DistanceMode distance_mode = DistanceMode::taubin;
};

/// What a pair of touching bodies makes of its two materials is said in PairMaterial.
struct Material {
  double friction = 0.5;                                       ///< Coulomb coefficient mu [-], >= 0
  double stiffness = std::numeric_limits<double>::infinity();  ///< of the whole contact of a pair [N/m], > 0
  double dissipation_time = -1.0;                              ///< tau_d [s]; negative: 10 time steps
  double restitution = 0.0;                                    ///< coefficient e [-], 0 to 1
};

/// The material of a contact between two bodies.
///   friction          harmonic mean 2 mu_A mu_B/(mu_A + mu_B), 0 if both are 0
///   compliance        1/k_A + 1/k_B: two springs in series
///   dissipation_time  the mean of the two
///   restitution       the mean of the two
/// A `[[pair]]` of the scene overrides any of them.
struct PairMaterial {
  double friction = 0.5;          ///< [-]
  double compliance = 0.0;        ///< [m/N], 0 when rigid
  double dissipation_time = 0.0;  ///< [s]
  double restitution = 0.0;       ///< [-]
};

/// What is different between two bodies; a NaN keeps what the materials of the two give.
struct PairOverride {
  int body_A = -1, body_B = -1;  ///< body_A < body_B
  double friction = std::numeric_limits<double>::quiet_NaN();
  double stiffness = std::numeric_limits<double>::quiet_NaN();
  double dissipation_time = std::numeric_limits<double>::quiet_NaN();
  double restitution = std::numeric_limits<double>::quiet_NaN();
  bool collide = true;         ///< false: the pair never touches
  ContactOverrides contact{};  ///< in place of the scene's settings, see contact_config_of()
};

/// Shaking of a body of infinite mass: its twist has the part  2 pi f [a_w; a_v] cos(2 pi f t + phase),  that
/// of a displacement [a_w; a_v] sin(2 pi f t + phase).
struct Oscillation {
  Vec3<double> amplitude = Vec3<double>::Zero();           ///< a_v in W [m]
  Vec3<double> rotation_amplitude = Vec3<double>::Zero();  ///< a_w in W, about the origin of B [rad]
  double frequency = 0.0;                                  ///< f [Hz]; 0 is none
  double phase = 0.0;                                      ///< [rad]

  /// Its part of the twist at a time [s].
  [[nodiscard]] Vec6<double> twist(double time) const;
  /// Its mean over the h seconds from a time on: how far it moves the body, over h.
  [[nodiscard]] Vec6<double> mean_twist(double time, double h) const;
};

/// The seeds of a body (surface_seeds.h), a column for each contact point of a round one; none of others.
struct SurfaceSeeds {
  Points normals{3, 0};  ///< outwards, of length 1, in the frame of the primitive; in B of a patch
  Eigen::Matrix2Xd cells{2,
                         0};  ///< along the parallel and the meridian, by seed_lengths() [-]; [m] of a patch
  /// The primitive that each seed is on, k_seed_on_patch or k_no_seed. Empty: all are on the only one.
  std::vector<int> primitives;
  // Of patches.
  Points directions{3, 0};  ///< of the first principal curvature, in B
  Eigen::Matrix2Xd radii{2,
                         0};  ///< both principal radii [m]; 0 in the second place: it does not slide that way
};
inline constexpr int k_no_seed = -1, k_seed_on_patch = -2;

struct Body {
  std::string name;
  Shape shape;
  TriangleMesh mesh;      ///< surface in B, for pictures and mass; empty for a half-space
  Points contact_points;  ///< (3, n) in B: centres of balls of `contact_radius`, on the surface if it is 0
  std::vector<double> contact_areas;  ///< quadrature weight of each contact point [m^2]
  /// (3, n) in B: the areas along the outward normals of a mesh's triangles, summed up at each contact point
  /// [m^2]; no columns where contact points are no vertices of the mesh.
  Points contact_area_vectors{3, 0};
  std::vector<FlatFace> flat_faces;  ///< of the mesh, where contact points are its vertices
  SurfaceSeeds seeds;
  double contact_radius = 0.0;  ///< [m]
  /// |V_b|: so many contact points, those that reach deepest, may touch at a time; 0 is all of them.
  int selected_vertices = 0;
  /// |E_b|: so many convex edges of the mesh, those whose ends reach deepest, may touch at a time; 0 is all
  /// of them.
  int selected_edges = 0;
  bool contact_points_on_surface = true;  ///< they follow the surface when shape parameters change
  /// Of infinite mass: no force changes its twist. At rest unless its state has a twist.
  bool fixed = false;
  Oscillation oscillation;                          ///< of a fixed body
  double mass = 1.0;                                ///< [kg]
  Mat3<double> inertia = Mat3<double>::Identity();  ///< about the centre of mass, in B [kg m^2]
  double volume = 0.0;                              ///< [m^3]; density = mass/volume
  Vec3<double> p_BA = Vec3<double>::Zero();         ///< origin of the asset's frame A (axes as B) [m]
  double size = 1.0;  ///< largest extent of the shape [m]; infinite for a half-space
  /// 3 V/A of the mesh, grown by `contact_radius` [m]: the radius of the inscribed ball where that touches
  /// all faces, up to three times as much of thin plates. Of a capsule its radius; infinite where contact
  /// points are not the vertices of the mesh.
  double inradius = std::numeric_limits<double>::infinity();
  Material material;
  double linear_damping = 0.0;   ///< c_v [1/s]: dv/dt = -c_v v
  double angular_damping = 0.0;  ///< c_w [1/s]: dL/dt = -c_w L
  Vec6<double> external_wrench =
      Vec6<double>::Zero();  ///< [torque; force] in W at the centre of mass [N m; N]
  Appearance appearance{};
};

struct Model {
  std::vector<Body> bodies;
  std::vector<PairOverride> pair_overrides;
  std::vector<Joint> joints;
  std::vector<Coupling> couplings;  ///< of joints
  Vec3<double> gravity{0.0, 0.0, -9.81};  ///< [m/s^2]

  [[nodiscard]] int body_count() const { return static_cast<int>(bodies.size()); }

  /// The index of the body, or of the joint, of a name. Throws std::invalid_argument naming what is unknown,
  /// the closest name and those that there are.
  [[nodiscard]] int body(std::string_view name) const;
  [[nodiscard]] int joint(std::string_view name) const;
};

/// The contact settings of a pair (in either order): those of its PairOverride, else the defaults.
[[nodiscard]] ContactConfig contact_config_of(const Model& model, const ContactConfig& defaults, int body_A,
                                              int body_B);

}  // namespace abut
