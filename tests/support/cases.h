/// Random cases. Every function takes the generator, so that one seed, put into CAPTURE, makes a whole test.
#pragma once

#include "engine/pose.h"
#include "engine/random.h"
#include "engine/types.h"

namespace abut::test {

/// Elements uniform in [-scale, scale].
template <int n = 3>
Eigen::Matrix<double, n, 1> random_vector(Random& random, double scale = 1.0) {
  Eigen::Matrix<double, n, 1> x;
  for (int i = 0; i < n; ++i) x[i] = random.uniform(-scale, scale);
  return x;
}

/// A random axis times the given angle [rad].
inline Vec3<double> random_rotation_vector(Random& random, double angle) {
  return angle * random.unit_vector();
}

/// A uniform rotation, and an origin in the cube [-scale, scale]^3 [m].
inline Pose<double> random_pose(Random& random, double scale = 1.0) {
  const Quat<double> q = random.quaternion();
  return {q, random_vector(random, scale)};
}

/// A number of magnitude 10^lo to 10^hi, uniform in its logarithm, of either sign.
inline double random_magnitude(Random& random, double lo, double hi) {
  const double magnitude = std::pow(10.0, random.uniform(lo, hi));
  return random.uniform() < 0.5 ? -magnitude : magnitude;
}

}  // namespace abut::test
