/// A state in any scalar: losses and policies are written on it once, for their values and their derivatives.
///
///     const auto loss = [goal](const auto& x) { return (x.position(1) - goal).squaredNorm(); };
///
/// Derivatives are forward mode, by the tangent [rotation; translation; angular velocity; velocity] of one
/// body at a time, and of those bodies alone that the function reads: their cost is that of about 13
/// evaluations for each of these.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "engine/check.h"
#include "engine/dual.h"
#include "engine/joint_geometry.h"
#include "engine/state.h"

namespace abut {

/// A number with its derivatives by the pose [rad; m] and the twist [rad/s; m/s] of one body.
using StateDual = Dual<double, 12>;

/// Which bodies of a state a function reads.
using BodiesRead = std::vector<bool>;

/// A state as numbers S: double or StateDual.
template <typename S>
class StateView {
 public:
  /// The state must outlive it.
  ///
  /// @param seed  of a StateDual: the body by whose tangent derivatives are taken; -1: none
  /// @param read  marks the bodies that are read; of size body_count()
  explicit StateView(const State& state, int seed = -1, BodiesRead* read = nullptr)
      : state_(&state), seed_(seed), read_(read) {}

  [[nodiscard]] int body_count() const { return static_cast<int>(state_->X_WB.size()); }
  [[nodiscard]] double time() const { return state_->time; }  ///< [s]

  /// The coordinate of a hinge, turns counted [rad], or of a slider [m].
  [[nodiscard]] S joint_coordinate(const Model& model, int joint) const {
    const Joint& of = model.joints[at(joint)];
    const JointPose<S> pose((of.body_A < 0 ? Pose<S>() : this->pose(of.body_A)) * of.X_AJ.template cast<S>(),
                            this->pose(of.body_B) * of.X_BJ.template cast<S>());
    if (of.kind == JointKind::slider) return pose.d.z();
    const S angle = pose.angle();
    return angle + S(turns_beyond(*state_, joint, plain(angle)));
  }
  /// Its rate [rad/s or m/s].
  [[nodiscard]] S joint_rate(const Model& model, int joint) const {
    const Joint& of = model.joints[at(joint)];
    const bool is_of_world = of.body_A < 0;
    return abut::joint_rate<S>(of, is_of_world ? Pose<S>() : pose(of.body_A),
                               is_of_world ? Vec6<S>(Vec6<S>::Constant(S(0))) : twist(of.body_A),
                               pose(of.body_B), twist(of.body_B));
  }

  /// Of the centre of mass [m].
  [[nodiscard]] Vec3<S> position(int body) const {
    const Vec3<double>& p = state_->X_WB[place(body)].p;
    return {coordinate(p[0], body, 3), coordinate(p[1], body, 4), coordinate(p[2], body, 5)};
  }

  /// X_WB, whose rotation is a unit quaternion:  dq = (0, dtheta/2) q.
  [[nodiscard]] Pose<S> pose(int body) const {
    const Quat<double>& q = state_->X_WB[place(body)].q;
    Quat<S> turned(S(q.w()), S(q.x()), S(q.y()), S(q.z()));
    if constexpr (k_has_derivatives) {
      for (int i = 0; body == seed_ && i < 3; ++i) {
        const Vec3<double> half = 0.5 * Vec3<double>::Unit(i);
        const Quat<double> dq = Quat<double>(0.0, half.x(), half.y(), half.z()) * q;
        for (int c = 0; c < 4; ++c) turned.coeffs()[c].d[at(i)] = dq.coeffs()[c];
      }
    }
    return {turned, position(body)};
  }

  [[nodiscard]] Mat3<S> rotation(int body) const { return pose(body).rotation(); }  ///< R_WB

  /// Where a point given in the body's frame is [m].
  [[nodiscard]] Vec3<S> point(int body, const Vec3<double>& p_B) const {
    return pose(body) * Vec3<S>(S(p_B.x()), S(p_B.y()), S(p_B.z()));
  }

  /// Of the centre of mass [m/s].
  [[nodiscard]] Vec3<S> velocity(int body) const { return twist(body).template tail<3>(); }
  [[nodiscard]] Vec3<S> angular_velocity(int body) const {
    return twist(body).template head<3>();
  }  ///< [rad/s]

  /// V_WB = [w; v].
  [[nodiscard]] Vec6<S> twist(int body) const {
    const Vec6<double>& V = state_->V_WB[place(body)];
    Vec6<S> seeded;
    for (int i = 0; i < 6; ++i) seeded[i] = coordinate(V[i], body, 6 + i);
    return seeded;
  }

 private:
  static constexpr bool k_has_derivatives = !std::is_arithmetic_v<S>;

  [[nodiscard]] static double plain(const S& x) {
    if constexpr (k_has_derivatives) {
      return x.value;
    } else {
      return x;
    }
  }

  [[nodiscard]] std::size_t place(int body) const {
    ABUT_ASSERT(body >= 0 && body < body_count());
    if (read_ != nullptr) (*read_)[at(body)] = true;
    return at(body);
  }
  [[nodiscard]] S coordinate(double x, int body, int entry) const {
    if constexpr (k_has_derivatives) {
      if (body == seed_) return S::variable(x, entry);
    } else {
      (void)body, (void)entry;
    }
    return S(x);
  }

  const State* state_;
  int seed_;
  BodiesRead* read_;
};

/// Adds the derivatives of a number by the tangent of a body.
inline void add_derivatives(const StateDual& x, double weight, int body, StateTangent& bar) {
  for (int i = 0; i < 6; ++i) {
    bar.pose[at(body)][i] += weight * x.d[at(i)];
    bar.twist[at(body)][i] += weight * x.d[at(6 + i)];
  }
}

}  // namespace abut
