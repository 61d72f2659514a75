/// Volume, mass, centre of mass and inertia of solids of uniform density.
#pragma once

#include <string>

#include "engine/mesh.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// Of a solid in some frame A. The inertia is the symmetric matrix  int rho (|x|^2 I - x x^T) dV  about the
/// centre of mass: its off-diagonal entries are minus the products of inertia.
struct MassProperties {
  double volume = 0.0;                                 ///< [m^3]
  double mass = 0.0;                                   ///< [kg]
  Vec3<double> center_of_mass = Vec3<double>::Zero();  ///< in A [m]
  Mat3<double> inertia = Mat3<double>::Zero();         ///< about the centre of mass, axes of A [kg m^2]
};

/// Of the inside of a closed mesh, by exact integrals over the tetrahedra between its triangles (a, b, c) and
/// one point:
///   int dV = det/6,   int x dV = det/24 s,   int x x^T dV = det/120 (a a^T + b b^T + c c^T + s s^T)
/// with det = a . (b x c) and s = a + b + c.
///
/// @param density  [kg/m^3], > 0
/// Throws std::invalid_argument if the volume is not positive: the triangles face inwards, or the mesh is
/// flat. That it is closed is a matter for require_closed_surface.
[[nodiscard]] MassProperties mass_properties(const TriangleMesh& mesh, double density);

/// Closed forms, centred at the origin; sizes in [m], density in [kg/m^3], all > 0 (or
/// std::invalid_argument).
[[nodiscard]] MassProperties sphere_mass_properties(double radius, double density);
/// Along z; `half_length` is that of the segment between the centres of the half spheres, >= 0.
[[nodiscard]] MassProperties capsule_mass_properties(double radius, double half_length, double density);
/// `half_extents` are the outer ones; 0 <= edge_radius < every half extent. The sum of the inner box, six
/// slabs, four quarter cylinders along each axis, and eight octants of a sphere.
[[nodiscard]] MassProperties rounded_box_mass_properties(const Vec3<double>& half_extents, double edge_radius,
                                                         double density);

/// m (|d|^2 I - d d^T) [kg m^2]: what an inertia about the centre of mass gains about a point at offset d [m]
/// from it.
[[nodiscard]] Mat3<double> parallel_axis(double mass, const Vec3<double>& d);

/// Inertia about `point` [kg m^2], in the frame of the properties.
[[nodiscard]] Mat3<double> inertia_about(const MassProperties& properties, const Vec3<double>& point);

/// The same solid seen from frame A, where its own frame P has the pose X_AP.
[[nodiscard]] MassProperties transformed(const Pose<double>& X_AP, const MassProperties& properties);

/// Two solids, of one frame, that do not overlap, as one.
[[nodiscard]] MassProperties combined(const MassProperties& a, const MassProperties& b);

/// The same solid with its mass, and in proportion its inertia, changed.
[[nodiscard]] MassProperties with_mass(const MassProperties& properties, double mass);

/// Throws std::invalid_argument, starting with `name`, unless some body can have this mass and inertia about
/// its centre of mass: both finite, the mass positive, the inertia symmetric and positive definite, and no
/// principal moment larger than the sum of the other two (all to 1e-9 of the largest).
void require_physical(double mass, const Mat3<double>& inertia, const std::string& name);

}  // namespace abut
