/// Random scenes with contacts, joints, motors, stops and impacts.
#pragma once

#include <array>
#include <cstdint>

#include <spdlog/fmt/fmt.h>

#include "tests/support/scenes.h"

namespace abut::test {

/// Ties a third of the bodies to the one below: joints of every kind, motors on half of those that have an
/// axis, stops on a quarter. What a joint ties does not collide.
inline void add_joints(TestScene& scene, Random& random) {
  constexpr std::array kinds{JointKind::fixed, JointKind::ball, JointKind::hinge, JointKind::slider,
                             JointKind::distance};
  for (int b = 2; b < scene.model.body_count(); ++b) {
    if (random.uniform() > 1.0 / 3.0) continue;
    const Pose<double>&X_WA = scene.X_WB(b - 1), &X_WB = scene.X_WB(b);
    Joint joint;
    joint.name = fmt::format("joint {}", b);
    joint.kind = kinds[random.integer(kinds.size())];
    joint.body_A = b - 1;
    joint.body_B = b;
    const Vec3<double> middle = 0.5 * (X_WA.p + X_WB.p);
    joint.X_AJ = {X_WA.q.conjugate(), X_WA.inverse() * middle};
    joint.X_BJ = {X_WB.q.conjugate(), X_WB.inverse() * middle};
    if (joint.kind == JointKind::distance) {
      joint.X_AJ.p.setZero();
      joint.X_BJ.p.setZero();
      joint.length = (X_WB.p - X_WA.p).norm();
    }
    const bool has_axis = joint.kind == JointKind::hinge || joint.kind == JointKind::slider;
    if (has_axis && random.uniform() < 0.5) {
      joint.motor.kind = MotorKind::velocity;
      joint.motor.target = random.uniform(-2.0, 2.0);
      joint.motor.damping = random.uniform(0.01, 1.0);
      joint.motor.limit = random.uniform(0.1, 5.0);
    }
    if (has_axis && random.uniform() < 0.25) {
      joint.lower = random.uniform(-0.2, -0.01);
      joint.upper = random.uniform(0.01, 0.2);
    }
    scene.model.joints.push_back(joint);
  }
}

/// Two to ten bodies on a tilted floor; every second scene has impacts.
inline TestScene random_jointed_scene(int seed) {
  Random random(static_cast<std::uint64_t>(seed));
  TestScene scene = random_contact_scene(random, {.min_bodies = 2, .max_bodies = 10});
  const double restitution = seed % 2 == 0 ? random.uniform(0.0, 0.9) : 0.0;
  for (Body& body : scene.model.bodies) body.material.restitution = restitution;
  add_joints(scene, random);
  return scene;
}

}  // namespace abut::test
