#include "engine/state_arrays.h"

#include <cmath>
#include <initializer_list>
#include <limits>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/joint_geometry.h"
#include "engine/state_view.h"

namespace abut {
namespace {

using ConstRow3 = Eigen::Map<const Vec3<double>>;
using Row3 = Eigen::Map<Vec3<double>>;

/// The quaternion of four numbers wxyz, as they are.
Quat<double> quaternion_of(const double* wxyz) { return {wxyz[0], wxyz[1], wxyz[2], wxyz[3]}; }

/// (0, theta) q, whose half is the rate of q that turns at theta:  dq = (0, dtheta/2) q.
Quat<double> turned_by(const Vec3<double>& theta, const Quat<double>& q) {
  return Quat<double>(0.0, theta.x(), theta.y(), theta.z()) * q;
}

}  // namespace

void write_state(const Model& model, const State& state, const StateNumbers<double>& to) {
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Pose<double>& X_WB = state.X_WB[b];
    if (to.position != nullptr) Row3(to.position + 3 * b) = X_WB * model.bodies[b].p_BA;
    if (to.orientation_wxyz != nullptr) {
      double* const wxyz = to.orientation_wxyz + 4 * b;
      wxyz[0] = X_WB.q.w();
      Row3(wxyz + 1) = X_WB.q.vec();
    }
    if (to.linear_velocity != nullptr) Row3(to.linear_velocity + 3 * b) = state.V_WB[b].tail<3>();
    if (to.angular_velocity != nullptr) Row3(to.angular_velocity + 3 * b) = state.V_WB[b].head<3>();
  }
  if (to.joint_coordinate == nullptr && to.joint_rate == nullptr) return;
  const std::vector<int> joints = joints_with_coordinate(model);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    if (to.joint_coordinate != nullptr) to.joint_coordinate[i] = joint_coordinate(model, joints[i], state);
    if (to.joint_rate != nullptr) to.joint_rate[i] = joint_rate(model.joints[at(joints[i])], state);
  }
}

void write_state_vjp(const Model& model, const State& state, const StateNumbers<const double>& numbers_bar,
                     StateTangent& bar, std::span<Vec3<double>> p_BA_bar) {
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Quat<double>& q = state.X_WB[b].q;
    if (numbers_bar.position != nullptr) {
      const ConstRow3 p_bar(numbers_bar.position + 3 * b);
      const Vec3<double> arm = q * model.bodies[b].p_BA;
      bar.pose[b].head<3>() += arm.cross(p_bar);
      bar.pose[b].tail<3>() += p_bar;
      if (!p_BA_bar.empty()) p_BA_bar[b] += q.conjugate() * p_bar;
    }
    if (numbers_bar.orientation_wxyz != nullptr) {
      const double w_bar = numbers_bar.orientation_wxyz[4 * b];
      const ConstRow3 v_bar(numbers_bar.orientation_wxyz + 4 * b + 1);
      bar.pose[b].head<3>() += 0.5 * (q.w() * v_bar - w_bar * q.vec() + q.vec().cross(v_bar));
    }
    if (numbers_bar.linear_velocity != nullptr)
      bar.twist[b].tail<3>() += ConstRow3(numbers_bar.linear_velocity + 3 * b);
    if (numbers_bar.angular_velocity != nullptr)
      bar.twist[b].head<3>() += ConstRow3(numbers_bar.angular_velocity + 3 * b);
  }
  if (numbers_bar.joint_coordinate == nullptr && numbers_bar.joint_rate == nullptr) return;
  const std::vector<int> joints = joints_with_coordinate(model);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const double q_bar = numbers_bar.joint_coordinate == nullptr ? 0.0 : numbers_bar.joint_coordinate[i],
                 u_bar = numbers_bar.joint_rate == nullptr ? 0.0 : numbers_bar.joint_rate[i];
    for (const int body : {model.joints[at(joints[i])].body_A, model.joints[at(joints[i])].body_B}) {
      if (body < 0 || (q_bar == 0.0 && u_bar == 0.0)) continue;
      const StateView<StateDual> x(state, body);
      add_derivatives(x.joint_coordinate(model, joints[i]), q_bar, body, bar);
      add_derivatives(x.joint_rate(model, joints[i]), u_bar, body, bar);
    }
  }
}

void read_state(const Model& model, const StateNumbers<const double>& from, State& state) {
  constexpr double k_shortest = 1e-3;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    const auto vector3 = [&](const double* numbers, const char* what) {
      const Vec3<double> v = ConstRow3(numbers + 3 * b);
      require(v.allFinite(), fmt::format("body '{}': {} = [{}, {}, {}], allowed: finite numbers", body.name,
                                         what, v.x(), v.y(), v.z()));
      return v;
    };
    Pose<double>& X_WB = state.X_WB[b];
    Vec3<double> p_WA = X_WB * body.p_BA;
    if (from.orientation_wxyz != nullptr) {
      const Quat<double> q = quaternion_of(from.orientation_wxyz + 4 * b);
      require(q.norm() >= k_shortest && std::isfinite(q.norm()),
              fmt::format("body '{}': orientation_wxyz = [{}, {}, {}, {}], allowed: a quaternion", body.name,
                          q.w(), q.x(), q.y(), q.z()));
      X_WB.q = q.normalized();
    }
    if (from.position != nullptr) p_WA = vector3(from.position, "position");
    if (from.position != nullptr || from.orientation_wxyz != nullptr) X_WB.p = p_WA - X_WB.q * body.p_BA;
    if (from.linear_velocity != nullptr)
      state.V_WB[b].tail<3>() = vector3(from.linear_velocity, "linear_velocity");
    if (from.angular_velocity != nullptr)
      state.V_WB[b].head<3>() = vector3(from.angular_velocity, "angular_velocity");
  }
  set_joints(model, from.joint_coordinate, from.joint_rate, state);
}

void read_state_vjp(const Model& model, const State& state, const double* orientation,
                    const StateTangent& bar, const StateNumbers<double>& numbers_bar) {
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Quat<double>& q = state.X_WB[b].q;
    const Vec3<double> p_bar = bar.pose[b].tail<3>();
    if (numbers_bar.position != nullptr) Row3(numbers_bar.position + 3 * b) = p_bar;
    if (numbers_bar.orientation_wxyz != nullptr) {
      const Vec3<double> arm = q * model.bodies[b].p_BA;
      const Vec3<double> theta_bar = bar.pose[b].head<3>() + p_bar.cross(arm);
      const double length = orientation == nullptr ? 1.0 : quaternion_of(orientation + 4 * b).norm();
      const Quat<double> turned = turned_by(2.0 / length * theta_bar, q);
      double* const wxyz = numbers_bar.orientation_wxyz + 4 * b;
      wxyz[0] = turned.w();
      Row3(wxyz + 1) = turned.vec();
    }
    if (numbers_bar.linear_velocity != nullptr)
      Row3(numbers_bar.linear_velocity + 3 * b) = bar.twist[b].tail<3>();
    if (numbers_bar.angular_velocity != nullptr)
      Row3(numbers_bar.angular_velocity + 3 * b) = bar.twist[b].head<3>();
  }
  const std::vector<int> joints = joints_with_coordinate(model);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const auto write = [&](double* numbers, auto direction) {
      if (numbers == nullptr) return;
      numbers[i] = can_move(model, joints[i]) ? inner_product(bar, direction(model, joints[i], state))
                                              : std::numeric_limits<double>::quiet_NaN();
    };
    write(numbers_bar.joint_coordinate, joint_coordinate_direction);
    write(numbers_bar.joint_rate, joint_rate_direction);
  }
}

StateArrays::StateArrays(const std::vector<std::size_t>& leading, std::size_t bodies, std::size_t joints) {
  const auto array = [&](std::initializer_list<std::size_t> last) {
    std::vector<std::size_t> shape = leading;
    shape.insert(shape.end(), last);
    return SharedArray<double>(std::move(shape));
  };
  position = array({bodies, 3});
  orientation_wxyz = array({bodies, 4});
  linear_velocity = array({bodies, 3});
  angular_velocity = array({bodies, 3});
  joint_coordinate = array({joints});
  joint_rate = array({joints});
}

Control control_of(std::span<const double> wrenches, std::span<const double> commands) {
  Control control;
  control.wrenches.resize(wrenches.size() / 6);
  for (std::size_t b = 0; b < control.wrenches.size(); ++b)
    control.wrenches[b] = Eigen::Map<const Vec6<double>>(wrenches.data() + 6 * b);
  control.commands.assign(commands.begin(), commands.end());
  return control;
}

}  // namespace abut
