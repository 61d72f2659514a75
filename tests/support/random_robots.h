/// Random robots: trees of links with motors of all kinds, loops and a floor, and what their motors are told.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "engine/control.h"
#include "engine/joint_geometry.h"
#include "tests/support/joint_scenes.h"

namespace abut::test {

/// Motors, stops, springs and the like of a hinge or slider.
inline void add_random_drive(Joint& joint, Random& random) {
  const auto chance = [&](double share) { return random.uniform() < share; };
  const double scale = joint.kind == JointKind::hinge ? 1.0 : 20.0;
  switch (random.integer(4)) {
    case 0:
      joint.motor = {MotorKind::force, 0.0, 0.0, k_infinity, scale * random.uniform(0.5, 5.0)};
      break;
    case 1:
      joint.motor = {MotorKind::position, 0.0, scale * random.uniform(1.0, 30.0),
                     scale * random.uniform(0.05, 0.5), scale * random.uniform(0.5, 5.0)};
      break;
    case 2:
      joint.motor = {MotorKind::velocity, 0.0, 0.0, scale * random.uniform(0.05, 0.5),
                     scale * random.uniform(0.5, 5.0)};
      break;
    default:
      break;
  }
  if (chance(0.25)) {
    joint.lower = random.uniform(-0.2, -0.01);
    joint.upper = random.uniform(0.01, 0.2);
  }
  if (chance(0.5)) joint.damping = scale * random.uniform(0.001, 0.1);
  if (chance(0.2)) joint.friction = scale * random.uniform(0.01, 0.2);
  if (chance(0.3)) joint.armature = random.uniform(1e-4, 1e-2);
  if (chance(0.2)) {
    joint.spring_stiffness = scale * random.uniform(0.5, 10.0);
    joint.spring_position = random.uniform(-0.1, 0.1);
  }
}

/// Two to eight bars of 0.2 m, each on a joint at the end of one before; the first is free in half of the robots and on
/// the world in the others. A third of them is about to meet a floor, a quarter has a rod that closes a loop. Links
/// touch the floor alone.
inline TestScene random_robot(int seed) {
  Random random(static_cast<std::uint64_t>(seed));
  const bool has_floor = seed % 3 == 0, is_free = seed % 2 == 0, has_loop = seed % 4 == 1;
  TestScene scene = has_floor ? floor_scene(random.uniform(0.2, 0.9)) : TestScene();
  const int first = scene.model.body_count(), links = 2 + static_cast<int>(random.integer(7));
  const Vec3<double> end(0.1, 0.0, 0.0);
  double lowest = 0.0;
  for (int i = 0; i < links; ++i) {
    const int parent = i == 0 ? -1 : first + std::max(0, i - 1 - static_cast<int>(random.integer(2)));
    const Pose<double> X_WP = parent < 0 ? Pose<double>() : scene.X_WB(parent);
    Pose<double> X_WL;
    X_WL.q = exp_quaternion<double>(random_vector(random, 0.8)) * X_WP.q;
    const Vec3<double> anchor = parent < 0 ? Vec3<double>::Zero().eval() : Vec3<double>(X_WP * end);
    X_WL.p = anchor + X_WL.q * end;
    const int link = scene.add(box_of_mass({0.1, 0.02, 0.02}, random.uniform(0.1, 2.0), 1), X_WL,
                               random_vector<6>(random, 0.3));
    lowest = std::min(lowest, X_WL.p.z() - 0.11);
    if (i == 0 && is_free) continue;
    constexpr std::array kinds{JointKind::hinge, JointKind::hinge, JointKind::hinge, JointKind::slider,
                               JointKind::ball};
    const Pose<double> X_WJ{exp_quaternion<double>(random_vector(random, 3.0)), anchor};
    Joint& joint = add_joint(scene, kinds[random.integer(kinds.size())], parent, link, X_WJ);
    if (has_coordinate(joint.kind)) add_random_drive(joint, random);
  }
  const int last = scene.model.body_count() - 1;
  if (has_loop && links > 2) {
    Joint& rod = add_joint(scene, JointKind::distance, first, last, Pose<double>());
    rod.X_AJ.p = end;
    rod.X_BJ.p = end;
    rod.length = (scene.X_WB(first) * end - scene.X_WB(last) * end).norm();
  }
  for (int a = first; a <= last; ++a) {
    scene.X_WB(a).p.z() += 0.02 - lowest;
    for (int b = a + 1; b <= last; ++b)
      scene.model.pair_overrides.push_back({.body_A = a, .body_B = b, .collide = false});
  }
  for (Joint& joint : scene.model.joints) {
    if (joint.body_A < 0) joint.X_AJ.p.z() += 0.02 - lowest;
  }
  return scene;
}

/// Ties some of the coordinates of a model together: a gear, a tendon with all that acts on one, and an actuator.
inline void add_random_couplings(Model& model, Random& random) {
  const std::vector<int> joints = joints_with_coordinate(model);
  if (joints.size() < 2) return;
  const auto any = [&] { return joints[random.integer(joints.size())]; };
  const auto add = [&](const char* name, int first, int second, std::vector<double> of_second) -> Coupling& {
    Coupling& coupling = model.couplings.emplace_back();
    coupling.name = name;
    coupling.terms = {{first, {1.0}}};
    if (second != first) coupling.terms.push_back({second, std::move(of_second)});
    return coupling;
  };
  Coupling& gear = add("gear", joints.front(), joints.back(), {random.uniform(-2.0, 2.0), 0.5});
  gear.held_at = 0.0;
  Coupling& tendon = add("tendon", any(), any(), {random.uniform(0.2, 2.0)});
  tendon.gear = random.uniform(0.5, 3.0);
  tendon.damping = random.uniform(0.001, 0.05);
  tendon.friction = random.uniform(0.01, 0.1);
  tendon.spring_stiffness = random.uniform(0.1, 3.0);
  tendon.lower = random.uniform(-0.3, -0.05);
  tendon.upper = random.uniform(0.05, 0.3);
  Coupling& actuator = add("actuator", any(), any(), {random.uniform(-1.0, 1.0)});
  actuator.gear = random.uniform(-3.0, -0.5);
  actuator.motor = {MotorKind::affine, random.uniform(-0.2, 0.2), random.uniform(0.0, 2.0),
                    random.uniform(0.0, 0.1), random.uniform(0.2, 2.0)};
  actuator.motor.gain = random.uniform(-1.0, 1.0);
  actuator.motor.bias = random.uniform(-0.1, 0.1);
}

/// Commands of all motors of so many steps.
inline std::vector<Control> random_commands(const Model& model, int steps, double size, Random& random) {
  Control none;
  none.commands.assign(motor_count(model), 0.0);
  std::vector<Control> controls(static_cast<std::size_t>(steps), none);
  for (Control& control : controls) {
    for (double& command : control.commands) command = random.uniform(-size, size);
  }
  return controls;
}

}  // namespace abut::test
