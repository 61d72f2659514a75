/// Topology of kinematic trees: which bodies hang from which by rigid joints, and their coordinates.
///
/// A link is a moving body together with the joint by which it hangs from its parent. Rigid joints (fixed,
/// hinge, slider and ball with infinite stiffnesses) span a forest over the world, which stands for all
/// bodies of infinite mass as well, and the moving bodies. They are taken in the order of the model; one whose
/// two bodies are connected already closes a loop. A body that no rigid joint connects to the world is, with
/// what hangs from it, a tree whose root is free. Everything is a function of the model alone: the same model
/// gives the same trees.
///
/// | link    | q (nq)                                                 | u (nv)                                   |
/// | ------- | ------------------------------------------------------ | ---------------------------------------- |
/// | fixed   | none                                                   | none                                     |
/// | hinge   | angle of JB about z of JA [rad]; counts turns (1)      | its rate [rad/s] (1)                     |
/// | slider  | travel of JB along z of JA [m] (1)                     | its rate [m/s] (1)                       |
/// | ball    | R_JA_JB as unit quaternion (w, x, y, z) (4)            | angular velocity of JB to JA, in JA (3)  |
/// | free    | R_WB (w, x, y, z), then p_WB [m] (7)                   | twist V_WB [w; v] [rad/s; m/s] (6)       |
///
/// JA and JB are the frames of the joint on its bodies A and B (engine/joint.h), whichever of the two is the
/// parent. Perturbations of q are written as vectors (nv) laid out as u: rotations on the left, as those of
/// poses are.
#pragma once

#include <string>
#include <vector>

#include "engine/model.h"

namespace abut {

enum class LinkKind { fixed, hinge, slider, ball, free };

/// Numbers of a link's coordinates, and of its rates.
[[nodiscard]] constexpr int coordinate_count(LinkKind kind) {
  constexpr int counts[] = {0, 1, 1, 4, 7};
  return counts[static_cast<int>(kind)];
}
[[nodiscard]] constexpr int rate_count(LinkKind kind) {
  constexpr int counts[] = {0, 1, 1, 3, 6};
  return counts[static_cast<int>(kind)];
}

struct Link {
  int body = -1;    ///< of the model
  int parent = -1;  ///< index of a link, less than its own; -1: the world or a body of infinite mass
  int joint = -1;   ///< of the model; -1: a free root
  LinkKind kind = LinkKind::free;
  bool reversed = false;  ///< the parent is body B of the joint, and the link is its body A
  int tree = 0;           ///< index of its tree
  int q = 0, nq = 7;      ///< range of its coordinates: first and count
  int u = 0, nv = 6;      ///< range of its rates
};

/// Reason why a joint is imposed as a constraint and not by coordinates.
enum class ConstraintReason {
  closes_loop,  ///< its bodies are connected by the rigid joints before it
  compliant,    ///< a stiffness is finite
  distance      ///< of a kind that coordinates of bodies cannot satisfy for every value
};

struct JointConstraint {
  int joint = -1;
  ConstraintReason reason = ConstraintReason::closes_loop;
};

/// A tree: a root that is free or hangs from the world, and all links that hang from it.
struct Tree {
  int first_link = 0, end_link = 0;  ///< its links follow each other: [first, end)
  int q = 0, nq = 0;                 ///< so do its coordinates: first and count
  int u = 0, nv = 0;                 ///< and its rates
};

struct KinematicTrees {
  std::vector<Link> links;  ///< parents before children, every subtree a range; trees by their first body
  std::vector<int> subtree_end;  ///< per link: index after the last link of its subtree
  std::vector<Tree> trees;
  std::vector<int> link_of_body;             ///< -1: of infinite mass, or in no tree
  std::vector<JointConstraint> constraints;  ///< joints that are not links, in the order of the model
  int nq = 0, nv = 0;                        ///< lengths of q and u

  [[nodiscard]] int link_count() const { return static_cast<int>(links.size()); }
  [[nodiscard]] int tree_count() const { return static_cast<int>(trees.size()); }
  /// All trees as if they were one: for functions that take a range of links.
  [[nodiscard]] Tree all() const { return {0, link_count(), 0, nq, 0, nv}; }
};

enum class TreesOf {
  all_bodies,
  jointed_bodies  ///< without bodies that no rigid joint holds, whose link_of_body is -1 then
};

/// The trees of a model with valid joints.
///
/// Throws std::invalid_argument naming the body where a joint moves links without mass (the last ones of a
/// chain, together with what is fixed to them): no torque could accelerate them by a finite amount.
[[nodiscard]] KinematicTrees kinematic_trees(const Model& model, TreesOf bodies = TreesOf::all_bodies);

/// "joint 'x' closes a loop of rigid joints", or what else makes it a constraint.
[[nodiscard]] std::string constraint_text(const Model& model, const JointConstraint& constraint);

}  // namespace abut
