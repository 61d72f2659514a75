/// A scene in MuJoCo's format MJCF.
///
/// Bodies have the frames of the model, their origins at the centres of mass. A body that is body B of a joint
/// is a child of body A in MuJoCo's tree, with the joint's coordinate; all others that move have a free joint.
#pragma once

#include <string>

#include "engine/model.h"
#include "engine/state.h"
#include "tests/support/mujoco_peer/mujoco_shapes.h"

namespace abut::test {

/// Settings of MuJoCo; what is empty keeps MuJoCo's defaults.
struct MujocoSettings {
  MujocoShapes shapes = MujocoShapes::equal;
  std::string option{};  ///< attributes of <option>, besides time step and gravity
  std::string flag{};    ///< attributes of <flag>
};

/// Whether a body of infinite mass moves: its twist is prescribed.
[[nodiscard]] bool is_kinematic(const Body& body, const Vec6<double>& V_WB);

/// Mass that a kinematic body has in MuJoCo, in masses of all moving bodies.
inline constexpr double k_kinematic_mass_ratio = 1e6;

/// The name of a body in the text.
[[nodiscard]] std::string mujoco_body_name(int body);

/// The text of a scene: masses, inertias, shapes, gravity, joints and time step of the model, poses of `state`.
///
/// Throws std::invalid_argument, saying why, for what is not translated: restitution, compliance, angular
/// damping, velocity motors and limits of motors, closed chains, springs other than those of ball joints, and
/// shapes (MujocoGeoms).
[[nodiscard]] std::string mujoco_text(const Model& model, double h, const State& state,
                                      const MujocoSettings& settings);

}  // namespace abut::test
