/// What changes during a simulation, its tangent, and what acts on it.
///
/// Tangents are left perturbations in the world frame, [rotation; translation]: R <- Exp(dtheta) R, p <- p +
/// dp. Twists are [w_WB; v_WB] [rad/s; m/s] of the centre of mass, wrenches [torque; force] about it, both in
/// W; so a tangent, a twist, a wrench and every adjoint `_bar` share one 6-vector layout.
#pragma once

#include <vector>

#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

struct State {
  std::vector<Pose<double>> X_WB;  ///< pose of each body (origin at its centre of mass)
  std::vector<Vec6<double>> V_WB;  ///< twist of each body; a fixed one keeps its own
  double time = 0.0;               ///< [s]
  /// Per joint, near which the coordinates of hinges are: poses tell them but for whole turns [rad]. Empty: near 0.
  std::vector<double> hinge_angles{};
  /// What each motor (motors_of()) gave on the mean of the step that led here [N m or N]; empty: there was none. Nothing
  /// that follows depends on it.
  std::vector<double> motor_forces{};
};

/// So many bodies at the origin of the world, unrotated and at rest, at time 0.
[[nodiscard]] State state_at_rest(int body_count);

/// A tangent of the state, or the gradient of a loss with respect to it.
struct StateTangent {
  std::vector<Vec6<double>> pose;   ///< [rad; m], or dL/d of these
  std::vector<Vec6<double>> twist;  ///< [rad/s; m/s], or dL/d of these

  StateTangent() = default;
  explicit StateTangent(int body_count) { set_zero(body_count); }
  void set_zero(int body_count);
};

[[nodiscard]] double norm(const StateTangent& tangent);
[[nodiscard]] double inner_product(const StateTangent& a, const StateTangent& b);

/// What acts during a step beside what the model has: wrenches on bodies and commands of motors. Or dL/d of it, or a
/// direction of it.
struct Control {
  std::vector<Vec6<double>> wrenches{};  ///< [torque; force] on each body, added to its own; empty: none
  std::vector<double> commands{};  ///< of each motor (motors_of()), added to its target; empty: none

  Control& operator+=(const Control& more);
};

}  // namespace abut
