/// Regularised Coulomb friction with a given bound, which every law shares.
///
///     gamma_t = -b P u_t/w,   u_t = P u,   w = sqrt(|u_t|^2 + v_s^2),   P = I - n n^T
///
/// u is the velocity of B's contact point relative to A's, gamma_t acts on B. It is minus the gradient of the
/// convex potential b (w - v_s). P is a projector where |n| = 1; nothing here relies on it.
#pragma once

#include <cmath>

#include "engine/types.h"

namespace abut {

struct Friction {
  Vec3<double> n, u_t, P_u_t;
  double w = 0;

  Friction(const Vec3<double>& u, const Vec3<double>& normal, double stiction_speed)
      : n(normal),
        u_t(u - n.dot(u) * n),
        P_u_t(u_t - n.dot(u_t) * n),
        w(std::sqrt(u_t.squaredNorm() + stiction_speed * stiction_speed)) {}

  [[nodiscard]] Vec3<double> impulse(double bound) const { return -(bound / w) * P_u_t; }

  /// -d impulse/du, symmetric positive semidefinite [kg].
  [[nodiscard]] Mat3<double> resistance(double bound) const {
    const Vec3<double> scaled = P_u_t / w;
    return (bound / w) * (Mat3<double>::Identity() + (n.squaredNorm() - 2.0) * (n * n.transpose()) -
                          scaled * scaled.transpose());
  }

  /// Derivatives of the scalar lambda . gamma_t.
  struct Bar {
    double bound;       ///< by b
    Vec3<double> u, n;  ///< by u, by n
  };
  [[nodiscard]] Bar vjp(double bound, const Vec3<double>& u, const Vec3<double>& lambda) const {
    const double lambda_n = n.dot(lambda);
    const Vec3<double> s = lambda - lambda_n * n;
    const double s_u_t = s.dot(u_t);
    const Vec3<double> alpha = u_t / w;
    const Vec3<double> beta = (s - s_u_t / (w * w) * u_t) / w;
    return {-s_u_t / w, -bound * (beta - n.dot(beta) * n),
            bound * (lambda_n * alpha + n.dot(alpha) * lambda + n.dot(u) * beta + n.dot(beta) * u)};
  }
};

}  // namespace abut
