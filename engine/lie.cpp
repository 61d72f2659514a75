#include "engine/lie.h"

namespace abut {

Quat<double> shortest_rotation(const Vec3<double>& from, const Vec3<double>& to) {
  const Vec3<double> a = from.stableNormalized(), b = to.stableNormalized(), sum = a + b;
  const double twice_cosine = sum.norm();  // of half the angle
  constexpr double k_opposite = 1e-8;
  const Vec3<double> sine_axis =
      twice_cosine < k_opposite ? a.unitOrthogonal() : Vec3<double>(a.cross(b) / twice_cosine);
  return Quat<double>(0.5 * twice_cosine, sine_axis.x(), sine_axis.y(), sine_axis.z()).normalized();
}

}  // namespace abut
