#include "engine/state.h"

#include <cmath>

namespace abut {

State state_at_rest(int body_count) {
  const auto n = static_cast<std::size_t>(body_count);
  return {std::vector<Pose<double>>(n), std::vector<Vec6<double>>(n, Vec6<double>::Zero()), 0.0};
}

void StateTangent::set_zero(int body_count) {
  pose.assign(static_cast<std::size_t>(body_count), Vec6<double>::Zero());
  twist.assign(static_cast<std::size_t>(body_count), Vec6<double>::Zero());
}

double norm(const StateTangent& tangent) {
  double sum = 0.0;
  for (const Vec6<double>& x : tangent.pose) sum += x.squaredNorm();
  for (const Vec6<double>& x : tangent.twist) sum += x.squaredNorm();
  return std::sqrt(sum);
}

}  // namespace abut
