#include "dynamics/trees/tree.h"

#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

#include "tests/support/mechanisms.h"

namespace {

using namespace abut;
using test::Mechanism;

std::string link_names(const Mechanism& m, const KinematicTrees& trees) {
  std::string names;
  for (const Link& link : trees.links) names += m.model.bodies[at(link.body)].name + " ";
  return names;
}

Mechanism boxes(int count) {
  Mechanism m;
  for (int b = 0; b < count; ++b) {
    m.add_body(std::string(1, static_cast<char>('a' + b)), {1.0 * b, 0, 0}, 1.0, Mat3<double>::Identity());
  }
  return m;
}

std::string refusal(const Mechanism& m) {
  try {
    (void)kinematic_trees(m.model);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("kinematic_trees: bodies without joints are free roots, bodies of infinite mass are none",
          "[trees][value]") {
  Mechanism m = boxes(3);
  m.model.bodies[1].fixed = true;
  const KinematicTrees trees = kinematic_trees(m.model);
  REQUIRE(trees.link_count() == 2);
  CHECK(trees.tree_count() == 2);
  CHECK(trees.nq == 14);
  CHECK(trees.nv == 12);
  CHECK(trees.link_of_body == std::vector<int>{0, -1, 1});
  CHECK(trees.links[1].kind == LinkKind::free);
  CHECK(trees.links[1].parent == -1);
  CHECK(trees.links[1].q == 7);
  CHECK(trees.links[1].u == 6);
  CHECK(trees.constraints.empty());
}

TEST_CASE("kinematic_trees: links stand depth first, children in the order of their joints",
          "[trees][value]") {
  Mechanism m = boxes(6);
  m.add_joint(JointKind::hinge, 3, 1, {0, 0, 0});   // d - b
  m.add_joint(JointKind::ball, 3, 0, {0, 0, 0});    // d - a
  m.add_joint(JointKind::slider, 1, 5, {0, 0, 0});  // b - f
  m.add_joint(JointKind::fixed, 5, 2, {0, 0, 0});   // f - c
  m.add_joint(JointKind::hinge, -1, 4, {0, 0, 0});  // e hangs from the world
  const KinematicTrees trees = kinematic_trees(m.model);
  CHECK(link_names(m, trees) == "d b f c a e ");  // d is body B of no joint
  CHECK(trees.subtree_end == std::vector<int>{5, 4, 4, 4, 5, 6});
  REQUIRE(trees.tree_count() == 2);
  CHECK(trees.trees[0].end_link == 5);
  CHECK(trees.trees[0].nv == 6 + 1 + 1 + 3);
  CHECK(trees.trees[1].u == 11);
  CHECK(trees.links[3].parent == 2);
  CHECK(trees.links[4].parent == 0);
  CHECK(trees.links[5].parent == -1);
  CHECK(trees.links[5].kind == LinkKind::hinge);
  for (const Link& link : trees.links) CHECK_FALSE(link.reversed);
}

TEST_CASE("kinematic_trees: a joint whose body A is the child is reversed", "[trees][value]") {
  Mechanism m = boxes(2);
  m.model.bodies[1].fixed = true;
  m.add_joint(JointKind::hinge, 0, 1, {0, 0, 0});
  const KinematicTrees trees = kinematic_trees(m.model);
  REQUIRE(trees.link_count() == 1);
  CHECK(trees.links[0].reversed);
  CHECK(trees.links[0].parent == -1);
  CHECK(trees.links[0].kind == LinkKind::hinge);
}

TEST_CASE("kinematic_trees: what does not fit into a tree is a constraint, with its reason",
          "[trees][value]") {
  Mechanism m = boxes(4);
  m.add_joint(JointKind::hinge, -1, 0, {0, 0, 0});
  m.add_joint(JointKind::hinge, 0, 1, {0, 0, 0});
  m.add_joint(JointKind::hinge, 1, 2, {0, 0, 0});
  m.add_joint(JointKind::ball, 2, -1, {0, 0, 0});  // a second time to the world
  m.model.joints.back().body_A = -1, m.model.joints.back().body_B = 2;
  m.add_joint(JointKind::hinge, 2, 3, {0, 0, 0});
  m.model.joints.back().stiffness = 1e5;
  m.add_joint(JointKind::distance, 0, 3, {0, 0, 0});
  m.add_joint(JointKind::fixed, 2, 0, {0, 0, 0});  // closes a loop
  const KinematicTrees trees = kinematic_trees(m.model);
  REQUIRE(trees.constraints.size() == 4);
  CHECK(trees.constraints[0].joint == 3);
  CHECK(trees.constraints[0].reason == ConstraintReason::closes_loop);
  CHECK(trees.constraints[1].reason == ConstraintReason::compliant);
  CHECK(trees.constraints[2].reason == ConstraintReason::distance);
  CHECK(trees.constraints[3].joint == 6);
  CHECK(constraint_text(m.model, trees.constraints[0]) == "joint 'joint3' closes a loop of rigid joints");
  CHECK(trees.links[3].kind == LinkKind::free);  // d: its joints are springs
  CHECK(trees.tree_count() == 2);
}

TEST_CASE("kinematic_trees: a ring of bodies has its root at the first one", "[trees][value]") {
  Mechanism m = boxes(3);
  m.add_joint(JointKind::hinge, 1, 2, {0, 0, 0});
  m.add_joint(JointKind::hinge, 2, 0, {0, 0, 0});
  m.add_joint(JointKind::hinge, 0, 1, {0, 0, 0});
  const KinematicTrees trees = kinematic_trees(m.model);
  CHECK(link_names(m, trees) == "b c a ");  // the last joint closes the ring, so b is body B of none
  CHECK(trees.constraints.size() == 1);
}

TEST_CASE("kinematic_trees: massless links are allowed only where a joint moves mass with them",
          "[trees][value]") {
  Mechanism m = boxes(4);
  m.add_joint(JointKind::hinge, -1, 0, {0, 0, 0});
  m.add_joint(JointKind::hinge, 0, 1, {0, 0, 0}, Vec3<double>::UnitX());
  m.add_joint(JointKind::fixed, 1, 2, {0, 0, 0});
  m.model.bodies[0].mass = 0.0;  // between two hinges
  m.model.bodies[2].mass = 0.0;  // fixed to b
  CHECK(refusal(m).empty());
  m.model.bodies[1].mass = 0.0;
  CHECK(refusal(m).find("joint 'joint1': it moves body 'b'") != std::string::npos);
  m.model.bodies[1].mass = 1.0, m.model.bodies[3].mass = 0.0;
  CHECK(refusal(m).find("body 'd' moves freely") != std::string::npos);
}

TEST_CASE("kinematic_trees: every body of finite mass is one link, parents first, for random trees",
          "[trees][property]") {
  const std::uint64_t seed = GENERATE(range(1, 21));
  CAPTURE(seed);
  Random random(seed);
  test::RandomTreeOptions options;
  options.bodies = 12, options.hangs = seed % 2 == 0;
  const Mechanism m = test::random_tree(random, options);
  const KinematicTrees trees = kinematic_trees(m.model);
  REQUIRE(trees.link_count() == 12);
  CHECK(trees.constraints.empty());
  int nq = 0, nv = 0;
  for (int i = 0; i < trees.link_count(); ++i) {
    const Link& link = trees.links[at(i)];
    CHECK(link.parent < i);
    CHECK(trees.link_of_body[at(link.body)] == i);
    CHECK(link.q == nq);
    CHECK(link.u == nv);
    nq += link.nq, nv += link.nv;
    for (int k = i + 1; k < trees.link_count(); ++k) {
      bool is_below = false;
      for (int a = k; a >= 0; a = trees.links[at(a)].parent) is_below = is_below || a == i;
      CHECK(is_below == (k < trees.subtree_end[at(i)]));
    }
  }
  CHECK(nq == trees.nq);
  CHECK(nv == trees.nv);
}
