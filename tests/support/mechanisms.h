/// Mechanisms of capsules, described in the pose in which all joint coordinates are zero and all bodies have the
/// axes of the world; and random trees.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dynamics/trees/joint_coordinates.h"
#include "dynamics/trees/tree.h"
#include "dynamics/trees/tree_parameters.h"
#include "engine/lie.h"
#include "engine/mass_properties.h"
#include "engine/model.h"
#include "tests/support/cases.h"

namespace abut::test {

struct Mechanism {
  Model model;
  std::vector<Pose<double>> X_WB;  ///< at coordinates zero

  /// A capsule between p0 and p1 in W [m]; the index of its body.
  int add_capsule(const std::string& name, const Vec3<double>& p0, const Vec3<double>& p1, double radius,
                  double mass) {
    const Vec3<double> along = p1 - p0;
    const MassProperties unit = capsule_mass_properties(radius, 0.5 * along.norm(), 1.0);
    const double axial = unit.inertia(2, 2), across = unit.inertia(0, 0);
    const Mat3<double> shape = across * Mat3<double>::Identity() +
                               (axial - across) / along.squaredNorm() * (along * along.transpose());
    const Mat3<double> inertia = (mass / unit.mass) * shape;
    return add_body(name, 0.5 * (p0 + p1), mass, inertia);
  }

  int add_body(const std::string& name, const Vec3<double>& p_WB, double mass, const Mat3<double>& inertia,
               bool fixed = false) {
    Body body;
    body.name = name;
    body.mass = mass;
    body.inertia = inertia;
    body.fixed = fixed;
    model.bodies.push_back(body);
    X_WB.push_back({Quat<double>::Identity(), p_WB});
    return model.body_count() - 1;
  }

  /// A joint at `anchor`, its z axis along `axis`, both in W; its index.
  int add_joint(JointKind kind, int body_A, int body_B, const Vec3<double>& anchor,
                const Vec3<double>& axis = Vec3<double>::UnitZ()) {
    Joint joint;
    joint.name = "joint" + std::to_string(model.joints.size());
    joint.kind = kind;
    joint.body_A = body_A, joint.body_B = body_B;
    const Pose<double> X_WJ{shortest_rotation(Vec3<double>::UnitZ(), axis), anchor};
    const auto frame_on = [&](int body) { return body < 0 ? X_WJ : X_WB[at(body)].inverse() * X_WJ; };
    joint.X_AJ = frame_on(body_A), joint.X_BJ = frame_on(body_B);
    model.joints.push_back(joint);
    return static_cast<int>(model.joints.size()) - 1;
  }
};

/// An arm of seven hinges that hangs from the world, stretched out along x at height 1 m; 14.3 kg.
[[nodiscard]] inline Mechanism arm7() {
  Mechanism arm;
  const double lengths[] = {0.12, 0.28, 0.12, 0.28, 0.12, 0.2, 0.12},
               masses[] = {3, 3, 2.5, 2.5, 1.5, 1.2, 0.6};
  const Vec3<double> axes[] = {Vec3<double>::UnitZ(), Vec3<double>::UnitY(), Vec3<double>::UnitX()};
  const int axis_of[] = {0, 1, 2, 1, 2, 1, 2};
  Vec3<double> p(0, 0, 1);
  int parent = -1;
  for (std::size_t i = 0; i < 7; ++i) {
    const Vec3<double> end = p + Vec3<double>(lengths[i], 0, 0);
    const int link = arm.add_capsule("link" + std::to_string(i + 1), p, end, 0.03, masses[i]);
    arm.add_joint(JointKind::hinge, parent, link, p, axes[axis_of[i]]);
    parent = link, p = end;
  }
  return arm;
}

/// Five links of 3 g that carry one of 20 kg, hung up at height 3 m and a little out of the vertical; hinges about y and x.
[[nodiscard]] inline Mechanism light_chain_with_load() {
  Mechanism chain;
  const Vec3<double> along = 0.1 * Vec3<double>(0.1, 0, -1).normalized();
  Vec3<double> p(0, 0, 3);
  int parent = -1;
  for (int i = 0; i < 6; ++i, p += along) {
    const bool is_load = i == 5;
    const int link = chain.add_capsule("link" + std::to_string(i), p, p + along, is_load ? 0.03 : 0.01,
                                       is_load ? 20.0 : 0.003);
    chain.add_joint(JointKind::hinge, parent, link, p,
                    i % 2 == 0 ? Vec3<double>::UnitY() : Vec3<double>::UnitX());
    parent = link;
  }
  return chain;
}

/// A horizontal chain of n capsules, hung up at one end at height 3 m. Hinges about y, or about y and z in turn.
[[nodiscard]] inline Mechanism chain(int n, double length, double radius, double mass,
                                     bool is_planar = true) {
  Mechanism chain;
  int parent = -1;
  for (int i = 0; i < n; ++i) {
    const Vec3<double> p0(i * length, 0, 3), p1((i + 1) * length, 0, 3);
    const int link = chain.add_capsule("link" + std::to_string(i + 1), p0, p1, radius, mass);
    const bool is_about_y = is_planar || i % 2 == 0;
    chain.add_joint(JointKind::hinge, parent, link, p0,
                    is_about_y ? Vec3<double>::UnitY() : Vec3<double>::UnitZ());
    parent = link;
  }
  return chain;
}

/// A humanoid of 15 bodies and 14 hinges; its torso is free, or fixed to the world.
[[nodiscard]] inline Mechanism humanoid(bool is_fixed = false) {
  Mechanism m;
  const double z = 0.93;
  const Vec3<double> X = Vec3<double>::UnitX(), Y = Vec3<double>::UnitY();
  const auto hinge = [&](int parent, int link, double x, double y, double height, const Vec3<double>& axis) {
    m.add_joint(JointKind::hinge, parent, link, {x, y, z + height}, axis);
    return link;
  };
  const auto limb = [&](const std::string& name, double y, double top, double bottom, double radius,
                        double mass) {
    return m.add_capsule(name, {0, y, z + top}, {0, y, z + bottom}, radius, mass);
  };
  const int torso = limb("torso", 0, 0.12, 0.42, 0.09, 15.0);
  if (is_fixed) m.add_joint(JointKind::fixed, -1, torso, {0, 0, z + 0.42});
  const int pelvis = m.add_capsule("pelvis", {0, -0.07, z}, {0, 0.07, z}, 0.08, 8.0);
  hinge(torso, pelvis, 0, 0, 0.1, Y);
  hinge(torso, limb("head", 0, 0.58, 0.62, 0.09, 4.0), 0, 0, 0.5, Y);
  for (const double side : {1.0, -1.0}) {
    const std::string s = side > 0 ? "left_" : "right_";
    const double arm = 0.19 * side, leg = 0.1 * side;
    const int upper = hinge(torso, limb(s + "upper_arm", arm, 0.4, 0.14, 0.04, 2.0), 0, arm, 0.4, Y);
    const int lower = hinge(upper, limb(s + "lower_arm", arm, 0.1, -0.12, 0.035, 1.3), 0, arm, 0.12, Y);
    hinge(lower, limb(s + "hand", arm, -0.16, -0.22, 0.03, 0.5), 0, arm, -0.14, X);
    const int thigh = hinge(pelvis, limb(s + "thigh", leg, -0.05, -0.38, 0.06, 5.0), 0, leg, 0, Y);
    const int shin = hinge(thigh, limb(s + "shin", leg, -0.44, -0.76, 0.05, 3.0), 0, leg, -0.41, Y);
    hinge(shin, m.add_capsule(s + "foot", {-0.06, leg, z - 0.89}, {0.16, leg, z - 0.89}, 0.04, 1.0), 0, leg,
          -0.83, Y);
  }
  return m;
}

/// A random inertia of a body of a size [m].
[[nodiscard]] inline Mat3<double> random_body_inertia(Random& random, double mass, double size) {
  const Mat3<double> R = random.quaternion().toRotationMatrix();
  Vec3<double> moments;
  for (int i = 0; i < 3; ++i) moments[i] = random.uniform(0.1, 1.0) * mass * size * size;
  const Mat3<double> I =
      R * Mat3<double>((moments.sum() - moments.array()).matrix().asDiagonal()) * R.transpose();
  return 0.5 * (I + I.transpose());
}

struct RandomTreeOptions {
  int bodies = 6;
  bool hangs = true;             ///< the first body, from the world
  double branching = 0.4;        ///< probability that a body hangs from another one than the last
  double reversed = 0.3;         ///< probability that a joint's body A is the child
  bool has_fixed_joints = true;  ///< with, now and then, a massless link behind one
};

/// Random bodies with random frames, joined into one tree by joints of all kinds.
[[nodiscard]] inline Mechanism random_tree(Random& random, const RandomTreeOptions& options) {
  Mechanism m;
  for (int b = 0; b < options.bodies; ++b) {
    const double mass = random.uniform(0.2, 2.0);
    m.add_body("body" + std::to_string(b), random_vector(random), mass,
               random_body_inertia(random, mass, 0.3));
    m.X_WB[at(b)].q = random.quaternion();
    if (b == 0 && !options.hangs) continue;
    const bool branches = random.uniform() < options.branching;
    const int parent = b == 0     ? -1
                       : branches ? static_cast<int>(random.integer(static_cast<std::uint64_t>(b)))
                                  : b - 1;
    constexpr JointKind kinds[] = {JointKind::hinge, JointKind::slider, JointKind::ball, JointKind::hinge,
                                   JointKind::fixed};
    const JointKind kind = kinds[random.integer(options.has_fixed_joints ? 5 : 4)];
    const int joint = m.add_joint(kind, parent, b, random_vector(random), random.unit_vector());
    if (kind == JointKind::fixed && b > 0 && random.uniform() < 0.5) {
      m.model.bodies[at(b)].mass = 0.0;
      m.model.bodies[at(b)].inertia.setZero();
    }
    if (random.uniform() < options.reversed) {
      Joint& reversed = m.model.joints[at(joint)];
      std::swap(reversed.body_A, reversed.body_B);
      std::swap(reversed.X_AJ, reversed.X_BJ);
      if (reversed.body_B < 0) {  // the world stays body A
        std::swap(reversed.body_A, reversed.body_B);
        std::swap(reversed.X_AJ, reversed.X_BJ);
      }
    }
  }
  return m;
}

/// Trees with coordinates, rates and numbers at which functions of them are tried.
struct TreeCase {
  std::string name;
  Mechanism mechanism;
  KinematicTrees trees;
  TreeParameters<double> parameters;
  VecX<double> q, u;

  TreeCase(std::string case_name, Mechanism m, double armature = 0.0)
      : name(std::move(case_name)),
        mechanism(std::move(m)),
        trees(kinematic_trees(mechanism.model)),
        parameters(tree_parameters(mechanism.model, trees, mechanism.X_WB,
                                   VecX<double>::Constant(trees.nv, armature))),
        q(neutral_coordinates(trees)),
        u(VecX<double>::Zero(trees.nv)) {}

  /// Coordinates at a random displacement from neutral ones, and random rates.
  void scatter(Random& random, double displacement, double rate) {
    const VecX<double> at_neutral = neutral_coordinates(trees), d = random_rates(random, displacement);
    integrate_coordinates(trees, at_neutral, d, 1.0, q);
    u = random_rates(random, rate);
  }
  [[nodiscard]] VecX<double> random_rates(Random& random, double scale) const {
    VecX<double> x(trees.nv);
    for (int i = 0; i < trees.nv; ++i) x[i] = random.uniform(-scale, scale);
    return x;
  }
};

/// Random trees, and those that people build: a stretched arm, aligned axes, a ball at half a turn, a long
/// chain, a humanoid.
[[nodiscard]] inline std::vector<TreeCase> tree_cases(std::uint64_t seed) {
  Random random(seed);
  std::vector<TreeCase> cases;
  for (const bool hangs : {true, false}) {
    for (const int bodies : {1, 4, 8}) {
      RandomTreeOptions options;
      options.bodies = bodies, options.hangs = hangs;
      Mechanism m = random_tree(random, options);
      if (bodies == 1 && hangs) m.model.joints[0].kind = JointKind::ball;
      cases.emplace_back("random", std::move(m), random.uniform(0.0, 0.1));
      cases.back().scatter(random, 1.5, 2.0);
    }
  }
  cases.emplace_back("stretched arm", arm7());
  cases.back().u = cases.back().random_rates(random, 2.0);
  cases.emplace_back("arm at rest at zero", arm7());
  cases.emplace_back("aligned axes", chain(5, 0.2, 0.02, 0.3), 0.01);
  cases.back().scatter(random, 1.0, 3.0);
  Mechanism ball = chain(3, 0.2, 0.02, 0.3);
  for (Joint& joint : ball.model.joints) joint.kind = JointKind::ball;
  cases.emplace_back("balls at half a turn", std::move(ball));
  const VecX<double> half_turns =
      3.14159265358979 * VecX<double>::Unit(9, 1) + 3.1415926 * VecX<double>::Unit(9, 3);
  const VecX<double> neutral = cases.back().q;
  integrate_coordinates(cases.back().trees, neutral, half_turns, 1.0, cases.back().q);
  cases.back().u = cases.back().random_rates(random, 2.0);
  cases.emplace_back("long chain", chain(30, 0.1, 0.01, 0.1, false));
  cases.back().scatter(random, 0.5, 1.0);
  cases.emplace_back("humanoid", humanoid());
  cases.back().scatter(random, 0.7, 2.0);
  return cases;
}

}  // namespace abut::test
