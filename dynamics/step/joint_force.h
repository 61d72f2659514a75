/// What joints do to bodies.
#pragma once

#include "engine/types.h"

namespace abut {

/// What a joint, its motor and its limits did to body B during a step: the mean over the step. The opposite
/// acts on A.
struct JointForce {
  Vec3<double> force_B_W = Vec3<double>::Zero();   ///< [N]
  Vec3<double> torque_B_W = Vec3<double>::Zero();  ///< about the origin of the joint's frame on B [N m]
};

}  // namespace abut
