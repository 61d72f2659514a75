/// The JVP of the impulse of regularised friction (friction.h), by everything it depends on.
#pragma once

#include "dynamics/contact_laws/friction.h"
#include "engine/dual.h"

namespace abut {

/// d gamma_t along changes of the relative velocity u, the normal n and the bound b [N s].
inline Vec3<double> friction_impulse_jvp(const Vec3<double>& u, const Vec3<double>& u_dot,
                                         const Vec3<double>& n, const Vec3<double>& n_dot, double bound,
                                         double bound_dot, double stiction_speed) {
  using D = Dual<double, 1>;
  const auto dual = [](const Vec3<double>& x, const Vec3<double>& x_dot) {
    return Vec3<D>(D(x[0], {x_dot[0]}), D(x[1], {x_dot[1]}), D(x[2], {x_dot[2]}));
  };
  const Vec3<D> impulse =
      FrictionOf<D>(dual(u, u_dot), dual(n, n_dot), stiction_speed).impulse(D(bound, {bound_dot}));
  return {impulse[0].d[0], impulse[1].d[0], impulse[2].d[0]};
}

}  // namespace abut
