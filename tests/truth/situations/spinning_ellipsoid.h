/// The equations of motion of an ellipsoid on a rough plane, integrated without anything of Abut: the source of the
/// outcomes of spinning tops, eggs and celts.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/types.h"

namespace abut::truth {

/// Units: mass, gravity and the length that semi-axes are given in are 1.
struct SpinningEllipsoid {
  Vec3<double> semi_axes;
  double center_of_mass = 0.0;  ///< below the geometric centre, along -z of the body
  Mat3<double> inertia;         ///< about the centre of mass, in the body
  double friction = 0.5;

  Eigen::Quaterniond q = Eigen::Quaterniond::Identity();
  Vec3<double> p = Vec3<double>::Zero(), v = Vec3<double>::Zero(),
               w = Vec3<double>::Zero();  ///< in the world

  /// Integrates by the midpoint rule. The plane is a stiff damped spring, friction Coulomb's, regularised at a
  /// speed of 1e-3.
  void run(double seconds, double h = 2e-4) {
    for (double t = 0.0; t < seconds; t += h) {
      const SpinningEllipsoid start = *this;
      advance(start, 0.5 * h);
      const SpinningEllipsoid middle = *this;
      *this = start;
      advance(middle, h);
    }
  }

 private:
  void advance(const SpinningEllipsoid& at, double h) {
    constexpr double k_stiffness = 2e4, k_regularisation = 1e-3;
    const double damping = 1.4 * std::sqrt(k_stiffness);
    const Mat3<double> R = at.q.toRotationMatrix();
    // The lowest point: -A^2 n/sqrt(n A^2 n), n the vertical in the body.
    const Vec3<double> n = R.transpose() * Vec3<double>(0.0, 0.0, 1.0),
                       a2 = semi_axes.cwiseProduct(semi_axes);
    Vec3<double> r_B = -a2.cwiseProduct(n) / std::sqrt(n.dot(a2.cwiseProduct(n)));
    r_B.z() += center_of_mass;
    const Vec3<double> r = R * r_B, slip = at.v + at.w.cross(r);
    const double gap = at.p.z() + r.z(),
                 N = gap > 0.0 ? 0.0 : std::max(0.0, -k_stiffness * gap - damping * slip.z());
    Vec3<double> force(slip.x(), slip.y(), 0.0);
    force *= -friction * N / std::sqrt(force.squaredNorm() + k_regularisation * k_regularisation);
    force.z() = N;
    const Mat3<double> I = R * inertia * R.transpose();
    p += h * at.v;
    const double angle = h * at.w.norm();
    if (angle > 0.0) q = (Eigen::AngleAxisd(angle, at.w.normalized()) * q).normalized();
    v += h * (force - Vec3<double>(0.0, 0.0, 1.0));
    w += h * I.ldlt().solve(r.cross(force) - at.w.cross(I * at.w));
  }
};

/// Of a solid ellipsoid of mass 1, about its centre.
inline Mat3<double> ellipsoid_inertia(const Vec3<double>& semi_axes) {
  const Vec3<double> a2 = semi_axes.cwiseProduct(semi_axes);
  return 0.2 * Vec3<double>(a2.y() + a2.z(), a2.x() + a2.z(), a2.x() + a2.y()).asDiagonal().toDenseMatrix();
}

}  // namespace abut::truth
