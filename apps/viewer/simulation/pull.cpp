#include "apps/viewer/simulation/pull.h"

namespace abut::viewer {

Vec6<double> pull_wrench(const Model& model, const State& state, const Pull& pull) {
  constexpr double k_frequency = 8.0;                   // [rad/s]
  constexpr double k_largest_acceleration = 20 * 9.81;  // [m/s^2]
  if (pull.body < 0) return Vec6<double>::Zero();
  const auto b = static_cast<std::size_t>(pull.body);
  const Body& body = model.bodies[b];
  if (body.fixed) return Vec6<double>::Zero();
  const Vec3<double> arm = state.X_WB[b].q * pull.point_B, x = state.X_WB[b].p + arm;
  const Vec3<double> v = point_velocity(state.V_WB[b], arm);
  Vec3<double> acceleration = k_frequency * k_frequency * (pull.target_W - x) - 2.0 * k_frequency * v;
  const double size = acceleration.norm();
  if (size > k_largest_acceleration) acceleration *= k_largest_acceleration / size;
  const Vec3<double> force = body.mass * acceleration;
  return stack<double>(arm.cross(force), force);
}

}  // namespace abut::viewer
