#include "engine/inertia_coordinates.h"

#include <cmath>

namespace abut {

Vec6<double> inertia_coordinates(double mass, const Mat3<double>& inertia) {
  const Mat3<double> moments = (0.5 * inertia.trace() * Mat3<double>::Identity() - inertia) / mass;
  // S S^T from the last row up, as S is upper triangular.
  Vec6<double> c;
  const double s22 = std::sqrt(moments(2, 2));
  c[2] = std::log(s22);
  c[5] = moments(0, 2) / s22;
  c[4] = moments(1, 2) / s22;
  const double s11 = std::sqrt(moments(1, 1) - c[4] * c[4]);
  c[1] = std::log(s11);
  c[3] = (moments(0, 1) - c[4] * c[5]) / s11;
  c[0] = 0.5 * std::log(moments(0, 0) - c[3] * c[3] - c[5] * c[5]);
  return c;
}

}  // namespace abut
