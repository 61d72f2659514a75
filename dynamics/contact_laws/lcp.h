/// The linear complementarity law: a mixed LCP with a polyhedral friction cone of 24 directions c_i in the
/// tangent plane, 15 degrees apart.
///
///     0 <= gamma_n  _|_  u_n - v_hat + R gamma_n >= 0
///     0 <= f_i      _|_  c_i.x + eta >= 0,   i = 1 ... 24,   y = sum f_i c_i
///     0 <= eta      _|_  mu gamma_n - sum f_i >= 0
///
/// eta is the sliding speed (against the nearest direction). The product of two sides that exclude each
/// other is kappa at the solution (complementarity.h) in the first line and kappa/3 in the others: a box that
/// sticks creeps by as much as with a cone of 8 directions and kappa. This takes the place of slacks clamped
/// from below, by which redundant directions and contacts are usually kept from making the derivative's
/// system singular: slacks of active conditions come out at kappa/impulse, and derivatives are exactly those
/// of the answer.
///
/// Friction between two of the directions is weaker, by up to 1 - cos(7.5 degrees) = 0.9 %. The directions
/// are those of a fixed frame turned to the normal by the least rotation: x and y for the normal +z. They
/// depend on nothing but the normal, smoothly except at k_seam, which no axis or diagonal comes near.
///
/// @see  de Avila Belbute-Peres, Smith, Allen, Tenenbaum and Kolter (2018), "End-to-end differentiable
/// physics for learning and control", NeurIPS. Ours: compliance, weights, the target by distance, the central
/// path.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "dynamics/contact_laws/complementarity.h"

namespace abut::lcp {

using complementarity::FrictionStep;
using complementarity::Settings;
using complementarity::Tangents;

inline constexpr int k_directions = 24;

/// Products of friction's conditions, by those of the normal row.
inline constexpr double k_product = 8.0 / k_directions;

/// c_i.
inline const std::array<Vec2<double>, k_directions>& directions() {
  static const std::array<Vec2<double>, k_directions> k_list = [] {
    constexpr double k_angle = 2.0 * std::numbers::pi / k_directions;
    std::array<Vec2<double>, k_directions> list;
    for (std::size_t i = 0; i < k_directions; ++i)
      list[i] = {std::cos(static_cast<double>(i) * k_angle), std::sin(static_cast<double>(i) * k_angle)};
    return list;
  }();
  return k_list;
}

/// Friction's share of a contact: f_i [N s] and eta [m/s]. Slacks follow from these.
struct Friction {
  std::array<double, k_directions> impulses{};
  double speed = 0;

  [[nodiscard]] Vec2<double> impulse() const {
    Vec2<double> y = Vec2<double>::Zero();
    for (std::size_t i = 0; i < k_directions; ++i) y += impulses[i] * directions()[i];
    return y;
  }

  [[nodiscard]] double slack(std::size_t i, const Vec2<double>& x) const {
    return directions()[i].dot(x) + speed;
  }

  [[nodiscard]] double bound_slack(double bound) const {
    double sum = 0.0;
    for (const double f : impulses) sum += f;
    return bound - sum;
  }

  /// The point of the central path at x and b > 0: eta is the root of sum_i kappa/(c_i.x + eta) + kappa/eta =
  /// b, found by Newton's method from the left, which nothing can throw off as the sum is convex.
  void centre(const Vec2<double>& x, double bound, double normal_product) {
    const double relaxation = k_product * normal_product;
    double least = 0.0;
    for (const Vec2<double>& c : directions()) least = std::max(least, -c.dot(x));
    double above = relaxation / bound;
    for (int iteration = 0; iteration < 60; ++iteration) {
      double sum = relaxation / (least + above), slope = sum / (least + above);
      for (const Vec2<double>& c : directions()) {
        const double s = c.dot(x) + least + above, f = relaxation / s;
        sum += f;
        slope += f / s;
      }
      const double change = (sum - bound) / slope;
      above += change;
      if (std::abs(change) <= 1e-15 * above) break;
    }
    speed = least + above;
    for (std::size_t i = 0; i < k_directions; ++i) impulses[i] = relaxation / slack(i, x);
  }

  /// Sum of the products of both sides, and the largest and least of them, over k_product.
  struct Products {
    double sum, largest, least;
    int count;
  };
  [[nodiscard]] Products products(const Vec2<double>& x, double bound) const {
    const double last = speed * bound_slack(bound) / k_product;
    Products p{last, last, last, 1 + k_directions};
    for (std::size_t i = 0; i < k_directions; ++i) {
      const double product = impulses[i] * slack(i, x) / k_product;
      p.sum += product;
      p.largest = std::max(p.largest, product);
      p.least = std::min(p.least, product);
    }
    return p;
  }

  /// The change of y that brings all products to `goal` times k_product, with the second-order terms of a
  /// step `d` that was tried before. Keeps what change() needs.
  FrictionStep linearize(const Vec2<double>& x, double bound, double goal, const Friction& d,
                         const Vec2<double>& dx, double d_bound) {
    const double target = k_product * goal;
    const double b_slack = bound_slack(bound);
    double total = 0.0, sum_c = 0.0, sum_w = 0.0;
    for (const double f : d.impulses) total += f;
    rhs_speed = target - speed * b_slack - d.speed * (d_bound - total);
    Vec2<double> q = Vec2<double>::Zero(), constant = Vec2<double>::Zero();
    Mat2<double> S = Mat2<double>::Zero();
    for (std::size_t i = 0; i < k_directions; ++i) {
      const Vec2<double>& c = directions()[i];
      const double s = slack(i, x), inverse = 1.0 / s;
      rhs[i] = (target - impulses[i] * s - d.impulses[i] * (c.dot(dx) + d.speed)) * inverse;
      ratio[i] = impulses[i] * inverse;
      sum_c += rhs[i];
      sum_w += ratio[i];
      constant += rhs[i] * c;
      q += ratio[i] * c;
      S += ratio[i] * c * c.transpose();
    }
    const double inverse = 1.0 / (b_slack + speed * sum_w);
    speed_constant = (rhs_speed + speed * sum_c) * inverse;
    speed_by_bound = speed * inverse;
    speed_by_velocity = speed * inverse * q;
    return {constant - speed_constant * q, speed_by_bound * q, S - q * speed_by_velocity.transpose()};
  }

  /// The change of everything for given dx and db, after linearize().
  [[nodiscard]] Friction change(const Vec2<double>& dx, double d_bound) const {
    Friction d;
    d.speed = speed_constant - speed_by_bound * d_bound - speed_by_velocity.dot(dx);
    for (std::size_t i = 0; i < k_directions; ++i)
      d.impulses[i] = rhs[i] - ratio[i] * (directions()[i].dot(dx) + d.speed);
    return d;
  }

  /// The largest a <= 1 at which nothing has become negative.
  [[nodiscard]] double longest_step(const Vec2<double>& x, double bound, const Friction& d,
                                    const Vec2<double>& dx, double d_bound) const {
    double a = 1.0;
    const auto limit = [&](double value, double change) {
      if (value + a * change < 0.0) a = -value / change;
    };
    double total = 0.0;
    for (std::size_t i = 0; i < k_directions; ++i) {
      limit(impulses[i], d.impulses[i]);
      limit(slack(i, x), directions()[i].dot(dx) + d.speed);
      total += d.impulses[i];
    }
    limit(speed, d.speed);
    limit(bound_slack(bound), d_bound - total);
    return a;
  }

  /// Whether a side of a condition changes with a velocity that changes by about `change`, as
  /// complementarity::is_near_kink() has it: between stick and slip, or from one direction of sliding to the
  /// next. In stick, directions share the impulse smoothly.
  [[nodiscard]] bool is_near_kink(const Vec2<double>& x, double bound, double change,
                                  double inverse_mass) const {
    if (inverse_mass * bound_slack(bound) > change) return false;
    if (speed <= change) return true;
    for (std::size_t i = 0; i < k_directions; ++i) {
      if (slack(i, x) <= change && inverse_mass * impulses[i] <= change) return true;
    }
    return false;
  }

  void add(double a, const Friction& d) {
    for (std::size_t i = 0; i < k_directions; ++i) impulses[i] += a * d.impulses[i];
    speed += a * d.speed;
  }

  std::array<double, k_directions> rhs{}, ratio{};  ///< what linearize() leaves
  double rhs_speed = 0, speed_constant = 0, speed_by_bound = 0;
  Vec2<double> speed_by_velocity = Vec2<double>::Zero();
};

/// The policy of InteriorPointSolver.
struct Law {
  using Friction = lcp::Friction;
  static constexpr bool k_has_impacts = true;  ///< it has a restitution

  static Tangents tangents(const Vec3<double>& n) { return complementarity::turned(frame(), -k_seam(), n); }
  static Vec3<double> tangents_vjp(const Vec3<double>& n, const Tangents& bar) {
    return complementarity::turned_vjp(frame(), -k_seam(), n, bar);
  }
  static Tangents tangents_jvp(const Vec3<double>& n, const Vec3<double>& n_dot) {
    return complementarity::turned_jvp(frame(), -k_seam(), n, n_dot);
  }

  /// The normal at which the directions of friction are not defined.
  static Vec3<double> k_seam() { return Vec3<double>(-1.0, -2.0, -3.0) / std::sqrt(14.0); }

 private:
  static const Tangents& frame() {
    static const Tangents k_frame = complementarity::turned({Vec3<double>::UnitX(), Vec3<double>::UnitY()},
                                                            Vec3<double>::UnitZ(), -k_seam());
    return k_frame;
  }
};

}  // namespace abut::lcp
