/// Joints between bodies that are where they are to be.
#pragma once

#include <string>

#include "tests/support/scenes.h"

namespace abut::test {

/// Adds a joint with the given frame in the world where the bodies are now; body A of -1 is the world.
inline Joint& add_joint(TestScene& scene, JointKind kind, int A, int B, const Pose<double>& X_WJ) {
  Joint joint;
  joint.name = "joint " + std::to_string(scene.model.joints.size());
  joint.kind = kind;
  joint.body_A = A;
  joint.body_B = B;
  joint.X_AJ = A < 0 ? X_WJ : scene.X_WB(A).inverse() * X_WJ;
  joint.X_BJ = scene.X_WB(B).inverse() * X_WJ;
  scene.model.joints.push_back(joint);
  return scene.model.joints.back();
}

}  // namespace abut::test
