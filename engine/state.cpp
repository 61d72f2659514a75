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

double inner_product(const StateTangent& a, const StateTangent& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.pose.size(); ++i)
    sum += a.pose[i].dot(b.pose[i]) + a.twist[i].dot(b.twist[i]);
  return sum;
}

Control& Control::operator+=(const Control& more) {
  const auto add = [](const auto& from, auto& to) {
    if (to.empty()) {
      to = from;
      return;
    }
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
  };
  add(more.wrenches, wrenches);
  add(more.commands, commands);
  return *this;
}

}  // namespace abut
