#include "engine/mass_properties.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <spdlog/fmt/fmt.h>
#include <Eigen/Eigenvalues>

#include "engine/check.h"

namespace abut {
namespace {

using std::numbers::pi;

/// Of a solid with second moments int x_i^2 dV (about its centre of mass, mixed ones zero).
MassProperties from_second_moments(double volume, const Vec3<double>& second_moments, double density) {
  MassProperties result;
  result.volume = volume;
  result.mass = density * volume;
  const Vec3<double> others = Vec3<double>::Constant(second_moments.sum()) - second_moments;
  result.inertia = (density * others).asDiagonal();
  return result;
}

}  // namespace

MassProperties mass_properties(const TriangleMesh& mesh, double density) {
  require_positive(density, "density");
  require(mesh.triangle_count() > 0, "the mesh has no triangles");

  // About the middle of the mesh: far from the world's origin, the tetrahedra would be large and nearly
  // cancel.
  const Vec3<double> origin = 0.5 * (mesh.vertices.rowwise().minCoeff() + mesh.vertices.rowwise().maxCoeff());
  double volume = 0.0, absolute_volume = 0.0;
  Vec3<double> first_moment = Vec3<double>::Zero();
  Mat3<double> second_moment = Mat3<double>::Zero();
  for (const Eigen::Vector3i& triangle : mesh.triangles) {
    const Vec3<double> a = mesh.vertices.col(triangle[0]) - origin,
                       b = mesh.vertices.col(triangle[1]) - origin,
                       c = mesh.vertices.col(triangle[2]) - origin, s = a + b + c;
    const double det = a.dot(b.cross(c));
    volume += det / 6.0;
    absolute_volume += std::abs(det) / 6.0;
    first_moment += det / 24.0 * s;
    second_moment +=
        det / 120.0 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
  }
  require(volume > 1e-12 * absolute_volume,
          fmt::format("the mesh encloses a volume of {} m^3, allowed: > 0; {}", volume,
                      volume < -1e-12 * absolute_volume ? "its triangles face inwards" : "it is flat"));

  MassProperties result;
  result.volume = volume;
  result.mass = density * volume;
  const Vec3<double> center = first_moment / volume;
  result.center_of_mass = origin + center;
  const Mat3<double> central = density * (second_moment - volume * center * center.transpose());
  result.inertia = central.trace() * Mat3<double>::Identity() - central;
  return result;
}

MassProperties sphere_mass_properties(double radius, double density) {
  require_positive(radius, "radius");
  require_positive(density, "density");
  const double volume = 4.0 / 3.0 * pi * radius * radius * radius;
  return from_second_moments(volume, Vec3<double>::Constant(volume * radius * radius / 5.0), density);
}

// The pieces of the two shapes below are parts of a disc or ball moved outwards by a length l, whose
// integrals are
//   disc: int 1 = pi r^2,     int |u| = 4/3 r^3,    int u^2 = pi r^4 / 4
//   ball: int 1 = 4/3 pi r^3, int |u| = pi r^4 / 2, int u^2 = 4/15 pi r^5
// so that int (l + |u|)^2 = l^2 int 1 + 2 l int |u| + int u^2.

MassProperties capsule_mass_properties(double radius, double half_length, double density) {
  require_positive(radius, "radius");
  require(half_length >= 0.0 && std::isfinite(half_length),
          fmt::format("half_length = {}, allowed: >= 0 and finite", half_length));
  require_positive(density, "density");
  const double r = radius, l = half_length, r2 = r * r;
  const double cylinder = 2.0 * l * pi * r2, ball = 4.0 / 3.0 * pi * r2 * r;
  const double xx = cylinder * r2 / 4.0 + ball * r2 / 5.0;
  const double zz = cylinder * l * l / 3.0 + l * l * ball + l * pi * r2 * r2 + ball * r2 / 5.0;
  return from_second_moments(cylinder + ball, {xx, xx, zz}, density);
}

MassProperties rounded_box_mass_properties(const Vec3<double>& half_extents, double edge_radius,
                                           double density) {
  for (int i = 0; i < 3; ++i) require_positive(half_extents[i], "half_extents");
  require(edge_radius >= 0.0 && edge_radius < half_extents.minCoeff(),
          fmt::format("edge_radius = {}, allowed: >= 0 and < {}, the smallest half extent", edge_radius,
                      half_extents.minCoeff()));
  require_positive(density, "density");
  const double r = edge_radius, r2 = r * r;
  const Vec3<double> inner = half_extents.array() - r;

  double volume = 8.0 * inner.prod() + 4.0 / 3.0 * pi * r2 * r;
  Vec3<double> moments;
  for (int i = 0; i < 3; ++i) {
    const double a = inner[i], b = inner[(i + 1) % 3], c = inner[(i + 2) % 3];  // a along x_i
    volume += 8.0 * r * a * b + 2.0 * a * pi * r2;  // two slabs, four quarter cylinders
    const double disc = a * a * pi * r2 + 2.0 * a * 4.0 / 3.0 * r2 * r + pi * r2 * r2 / 4.0;
    moments[i] = 8.0 * a * b * c * a * a / 3.0                               // inner box
                 + 8.0 * b * c * r * (3.0 * a * a + 3.0 * a * r + r2) / 3.0  // slabs at both ends of x_i
                 + 8.0 * r * a * (b + c) * a * a / 3.0                       // the other four slabs
                 + 2.0 * a * pi * r2 * a * a / 3.0                           // quarter cylinders along x_i
                 + 2.0 * (b + c) * disc                                      // quarter cylinders across it
                 + a * a * 4.0 / 3.0 * pi * r2 * r + a * pi * r2 * r2 +
                 4.0 / 15.0 * pi * r2 * r2 * r;  // octants
  }
  return from_second_moments(volume, moments, density);
}

Mat3<double> parallel_axis(double mass, const Vec3<double>& d) {
  return mass * (d.squaredNorm() * Mat3<double>::Identity() - d * d.transpose());
}

Mat3<double> inertia_about(const MassProperties& properties, const Vec3<double>& point) {
  return properties.inertia + parallel_axis(properties.mass, point - properties.center_of_mass);
}

MassProperties transformed(const Pose<double>& X_AP, const MassProperties& properties) {
  MassProperties result = properties;
  const Mat3<double> R_AP = X_AP.rotation();
  result.center_of_mass = X_AP * properties.center_of_mass;
  const Mat3<double> inertia = R_AP * properties.inertia * R_AP.transpose();
  result.inertia = 0.5 * (inertia + inertia.transpose());
  return result;
}

MassProperties combined(const MassProperties& a, const MassProperties& b) {
  MassProperties result;
  result.volume = a.volume + b.volume;
  result.mass = a.mass + b.mass;
  result.center_of_mass = (a.mass * a.center_of_mass + b.mass * b.center_of_mass) / result.mass;
  result.inertia = inertia_about(a, result.center_of_mass) + inertia_about(b, result.center_of_mass);
  return result;
}

MassProperties with_mass(const MassProperties& properties, double mass) {
  require_positive(mass, "mass");
  MassProperties result = properties;
  result.mass = mass;
  result.inertia *= mass / properties.mass;
  return result;
}

void require_physical(double mass, const Mat3<double>& inertia, const std::string& name) {
  require(mass > 0.0 && std::isfinite(mass),
          fmt::format("{}: mass = {}, allowed: > 0 and finite", name, mass));
  require(inertia.allFinite(), fmt::format("{}: the inertia is not finite", name));
  const double scale = inertia.cwiseAbs().maxCoeff();
  require((inertia - inertia.transpose()).cwiseAbs().maxCoeff() <= 1e-9 * scale,
          fmt::format("{}: the inertia is not symmetric", name));
  const Eigen::SelfAdjointEigenSolver<Mat3<double>> solver(inertia, Eigen::EigenvaluesOnly);
  const Vec3<double>& principal = solver.eigenvalues();  // in increasing order
  const auto says = [&](std::string_view cause) {
    return fmt::format("{}: the inertia with principal moments {}, {}, {} {}", name, principal[0],
                       principal[1], principal[2], cause);
  };
  require(principal[0] > 0.0, says("is not positive definite"));
  require(principal[2] <= principal[0] + principal[1] + 1e-9 * principal[2],
          says("belongs to no body: the largest exceeds the sum of the others"));
}

}  // namespace abut
