/// Regularised Coulomb friction with a given bound, which every law shares.
///
///     gamma_t = -b P u_t/w,   u_t = P u,   w = sqrt(|u_t|^2 + v_s^2),   P = I - n n^T
///
/// u is the velocity of B's contact point relative to A's, gamma_t acts on B. It is minus the gradient of the
/// convex potential b (w - v_s). P is a projector where |n| = 1; nothing here relies on it.
#pragma once

#include <cmath>

#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

template <typename S>
struct FrictionOf {
  Vec3<S> n, u_t, P_u_t;
  S w, inverse_w;

  FrictionOf(const Vec3<S>& u, const Vec3<S>& normal, double stiction_speed)
      : n(normal), u_t(u - n.dot(u) * n), P_u_t(u_t - n.dot(u_t) * n) {
    const S square = u_t.dot(u_t) + S(stiction_speed * stiction_speed);
    inverse_w = reciprocal_sqrt(square);
    w = square * inverse_w;
  }

  [[nodiscard]] Vec3<S> impulse(const S& bound) const { return -(bound * inverse_w) * P_u_t; }

  /// d impulse/d v_s.
  [[nodiscard]] Vec3<S> impulse_by_stiction_speed(const S& bound, double stiction_speed) const {
    return (bound * S(stiction_speed) * inverse_w * inverse_w * inverse_w) * P_u_t;
  }

  /// -d impulse/du, symmetric positive semidefinite [kg].
  [[nodiscard]] Mat3<S> resistance(const S& bound) const {
    const S unit = bound * inverse_w, along_n = n.dot(n) - S(2);
    const Vec3<S> scaled = inverse_w * P_u_t;
    Mat3<S> K;
    for (int j = 0; j < 3; ++j) {
      for (int i = j; i < 3; ++i) {
        K(i, j) = unit * (S(i == j ? 1 : 0) + along_n * (n[i] * n[j]) - scaled[i] * scaled[j]);
        K(j, i) = K(i, j);
      }
    }
    return K;
  }

  /// Derivatives of the scalar lambda . gamma_t.
  struct Bar {
    S bound;       ///< by b
    Vec3<S> u, n;  ///< by u, by n
  };
  [[nodiscard]] Bar vjp(const S& bound, const Vec3<S>& u, const Vec3<S>& lambda) const {
    const S lambda_n = n.dot(lambda);
    const Vec3<S> s = lambda - lambda_n * n;
    const S s_u_t = s.dot(u_t);
    const Vec3<S> alpha = u_t / w;
    const Vec3<S> beta = (s - s_u_t / (w * w) * u_t) / w;
    return {-s_u_t / w, -bound * (beta - n.dot(beta) * n),
            bound * (lambda_n * alpha + n.dot(alpha) * lambda + n.dot(u) * beta + n.dot(beta) * u)};
  }

  /// The change of the impulse along changes of u, n and b.
  [[nodiscard]] Vec3<S> jvp(const S& bound, const Vec3<S>& u, const Vec3<S>& u_dot, const Vec3<S>& n_dot,
                            const S& bound_dot) const {
    const auto project_dot = [&](const Vec3<S>& x, const Vec3<S>& x_dot) -> Vec3<S> {
      return x_dot - (n_dot.dot(x) + n.dot(x_dot)) * n - n.dot(x) * n_dot;
    };
    const Vec3<S> u_t_dot = project_dot(u, u_dot);
    const S inverse_w_dot = -(inverse_w * inverse_w * inverse_w) * u_t.dot(u_t_dot);
    return -(bound_dot * inverse_w + bound * inverse_w_dot) * P_u_t -
           bound * inverse_w * project_dot(u_t, u_t_dot);
  }
};

using Friction = FrictionOf<double>;

}  // namespace abut
