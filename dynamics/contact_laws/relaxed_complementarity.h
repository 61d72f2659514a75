/// The hard-contact reference: unilateral contact and Coulomb's cone, both as complementarity relaxed by
/// kappa.
///
///     s gamma_n = kappa,   s = u_n - v_hat + R gamma_n                           (complementarity.h)
///     (b, y) o (eta, x) = (kappa, 0):   b eta + y.x = kappa,   b x + eta y = 0,   b = mu gamma_n,
///
/// o being the product of second-order cones, so that |y| < b and |x| < eta. Both have closed forms,
///     gamma_n = 2 kappa/(a + sqrt(a^2 + 4 R kappa)),   a = u_n - v_hat,
///     y = -b^2 x/p,   eta = p/b,   p = (kappa + sqrt(kappa^2 + 4 b^2 |x|^2))/2,
/// the second from eta^2 - (kappa/b) eta - |x|^2 = 0. Friction so opposes sliding exactly, is short of mu
/// gamma_n by about kappa/(2 |x|), and sticks with a creep of 2 r/(1 - r^2) kappa/(2 b) at the share r of its
/// bound.
///
/// @see  Howell, Le Cleac'h, Bruedigam, Chen, Sun, Kolter, Schwager and Manchester (2022), "Dojo: a
/// differentiable physics engine for robotics". Ours: gaps linearised over the step, compliance, weights.
#pragma once

#include <algorithm>

#include "dynamics/contact_laws/complementarity.h"

namespace abut::relaxed_complementarity {

using complementarity::FrictionStep;
using complementarity::Settings;
using complementarity::Tangents;

/// Friction's share of a contact: y [N s] and eta [m/s].
struct Friction {
  Vec2<double> y = Vec2<double>::Zero();
  double speed = 0;

  [[nodiscard]] Vec2<double> impulse() const { return y; }

  /// The point of the central path at x and b > 0.
  void centre(const Vec2<double>& x, double bound, double relaxation) {
    const double p = 0.5 * (relaxation + std::hypot(relaxation, 2.0 * bound * x.norm()));
    y = -(bound * bound / p) * x;
    speed = p / bound;
  }

  struct Products {
    double sum, largest, least;
    int count;
  };
  /// The products' eigenvalues in the cone's algebra, b eta + y.x +- |b x + eta y|, and their sum.
  [[nodiscard]] Products products(const Vec2<double>& x, double bound) const {
    const double mean = bound * speed + y.dot(x), spread = (bound * x + speed * y).norm();
    return {2.0 * mean, mean + spread, mean - spread, 2};
  }

  /// As that of lcp::Friction.
  FrictionStep linearize(const Vec2<double>& x, double bound, double target, const Friction& d,
                         const Vec2<double>& dx, double d_bound) {
    const double r_0 = target - (bound * speed + y.dot(x)) - (d_bound * d.speed + d.y.dot(dx));
    const Vec2<double> r = -(bound * x + speed * y) - (d_bound * dx + d.speed * d.y);
    inverse = 1.0 / speed;
    const double determinant = 1.0 / (bound - x.dot(y) * inverse);
    speed_constant = (r_0 - x.dot(r) * inverse) * determinant;
    speed_by_bound = (speed - x.squaredNorm() * inverse) * determinant;
    speed_by_velocity = determinant * (y - (bound * inverse) * x);
    y_constant = inverse * (r - speed_constant * y);
    y_by_bound = -inverse * (x - speed_by_bound * y);
    y_by_velocity = inverse * (bound * Mat2<double>::Identity() - y * speed_by_velocity.transpose());
    return {y_constant, y_by_bound, y_by_velocity};
  }

  [[nodiscard]] Friction change(const Vec2<double>& dx, double d_bound) const {
    Friction d;
    d.speed = speed_constant - speed_by_bound * d_bound - speed_by_velocity.dot(dx);
    d.y = y_constant - y_by_velocity * dx + y_by_bound * d_bound;
    return d;
  }

  /// The largest a <= 1 that leaves neither cone.
  [[nodiscard]] double longest_step(const Vec2<double>& x, double bound, const Friction& d,
                                    const Vec2<double>& dx, double d_bound) const {
    return std::min(longest_in_cone(bound, y, d_bound, d.y), longest_in_cone(speed, x, d.speed, dx));
  }

  /// Whether it changes between stick and slip with a velocity that changes by about `change`, as
  /// complementarity::is_near_kink() has it.
  [[nodiscard]] bool is_near_kink(const Vec2<double>& x, double bound, double change,
                                  double inverse_mass) const {
    return x.norm() <= change && inverse_mass * (bound - y.norm()) <= change;
  }

  void add(double a, const Friction& d) {
    y += a * d.y;
    speed += a * d.speed;
  }

  /// The largest a <= 1 with t + a dt >= |z + a dz|, given t > |z|.
  static double longest_in_cone(double t, const Vec2<double>& z, double dt, const Vec2<double>& dz) {
    const double z_norm = z.norm();
    const double c = (t - z_norm) * (t + z_norm), b = t * dt - z.dot(dz),
                 a = dt * dt - dz.squaredNorm();  // c + 2 b s + a s^2 >= 0
    const double discriminant = b * b - a * c;
    if (discriminant < 0.0 || (b >= 0.0 && a >= 0.0)) return 1.0;
    return std::clamp(c / (std::sqrt(discriminant) - b), 0.0, 1.0);  // the lesser positive root
  }

  double inverse = 0, speed_constant = 0, speed_by_bound = 0;  ///< what linearize() leaves
  Vec2<double> speed_by_velocity = Vec2<double>::Zero(), y_constant = Vec2<double>::Zero(),
               y_by_bound = Vec2<double>::Zero();
  Mat2<double> y_by_velocity = Mat2<double>::Zero();
};

/// The policy of InteriorPointSolver.
struct Law {
  using Friction = relaxed_complementarity::Friction;
  static constexpr bool k_has_impacts = false;  ///< it has no restitution

  /// Any will do for a law that knows no direction; these never meet their seam.
  static Tangents tangents(const Vec3<double>& n) {
    return complementarity::turned({Vec3<double>::UnitX(), Vec3<double>::UnitY()}, pole(n), n);
  }
  static Vec3<double> tangents_vjp(const Vec3<double>& n, const Tangents& bar) {
    return complementarity::turned_vjp({Vec3<double>::UnitX(), Vec3<double>::UnitY()}, pole(n), n, bar);
  }
  static Tangents tangents_jvp(const Vec3<double>& n, const Vec3<double>& n_dot) {
    return complementarity::turned_jvp({Vec3<double>::UnitX(), Vec3<double>::UnitY()}, pole(n), n, n_dot);
  }

 private:
  static Vec3<double> pole(const Vec3<double>& n) { return {0.0, 0.0, n.z() < 0.0 ? -1.0 : 1.0}; }
};

}  // namespace abut::relaxed_complementarity
