/// Forces of joints, for those who want to see them.
#pragma once

#include <vector>

#include "dynamics/step/stepper.h"

namespace abut::viewer {

/// What a joint, its motor and its limits did to body B during a step: the mean over the step. The opposite
/// acts on A.
struct JointForce {
  Vec3<double> force_B_W = Vec3<double>::Zero();   ///< [N]
  Vec3<double> torque_B_W = Vec3<double>::Zero();  ///< about the origin of the joint's frame on B [N m]
};

/// One per joint of the model, of a step from `state` that was recorded and ended well.
[[nodiscard]] std::vector<JointForce> joint_forces(const Stepper& stepper, const State& state,
                                                   const StepRecord& record);

}  // namespace abut::viewer
