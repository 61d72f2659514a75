/// Random contacts for tests of contact laws, and a softplus to check them by.
#pragma once

#include <cmath>

#include "dynamics/contact_laws/smooth_coulomb.h"
#include "engine/random.h"
#include "engine/types.h"
#include "tests/support/cases.h"

namespace abut::test {

/// tau log(1 + exp(x/tau)), once more and for any scalar, so that the laws below are not checked by
/// themselves.
template <typename S>
[[nodiscard]] S ramp(const S& x, const S& tau) {
  using std::exp, std::log1p;
  return x > S(0) ? S(x + tau * log1p(exp(-x / tau))) : S(tau * log1p(exp(x / tau)));
}

inline smooth_coulomb::Settings random_law_settings(Random& random) {
  smooth_coulomb::Settings s;
  s.h = std::pow(10.0, random.uniform(-4.0, -1.5));
  s.near_rigid = 2.5e-4 * std::pow(10.0, random.uniform(-1.0, 1.0));
  s.velocity_smoothing = 0.02 * 9.81 * s.h;
  s.stiction_speed = 0.01 * 9.81 * s.h;
  s.push_out_speed = 50.0 * 9.81 * s.h;
  return s;
}

/// A number of the order of `scale`, in one case of four far out in a tail of either side.
inline double around(Random& random, double scale) {
  const double x = random.uniform() < 0.25 ? random_magnitude(random, 0.0, 3.0) : random.uniform(-3.0, 3.0);
  return scale * x;
}

/// A unit normal, or in one case of four a shorter one, as where primitives oppose each other.
inline Vec3<double> random_normal(Random& random) {
  return (random.uniform() < 0.25 ? random.uniform(0.0, 1.0) : 1.0) * random.unit_vector();
}

}  // namespace abut::test
