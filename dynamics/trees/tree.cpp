#include "dynamics/trees/tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"

namespace abut {
namespace {

/// Sets of connected nodes: node 0 is the world with all bodies of infinite mass, node b + 1 a moving body.
class ConnectedNodes {
 public:
  explicit ConnectedNodes(int count) : parent_(static_cast<std::size_t>(count)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  [[nodiscard]] int root(int node) {
    while (parent_[at(node)] != node) node = parent_[at(node)] = parent_[at(parent_[at(node)])];
    return node;
  }
  /// Whether the two were not connected before. The smaller node stays the root.
  bool connect(int a, int b) {
    a = root(a), b = root(b);
    if (a == b) return false;
    parent_[at(std::max(a, b))] = std::min(a, b);
    return true;
  }

 private:
  std::vector<int> parent_;
};

[[nodiscard]] int node_of(const Model& model, int body) {
  return body < 0 || model.bodies[at(body)].fixed ? 0 : body + 1;
}

[[nodiscard]] bool is_rigid(const Joint& joint) {
  return joint.kind != JointKind::distance && std::isinf(joint.stiffness) &&
         (joint.kind == JointKind::ball || std::isinf(joint.angular_stiffness));
}

[[nodiscard]] LinkKind link_kind(JointKind kind) {
  switch (kind) {
    case JointKind::hinge:
      return LinkKind::hinge;
    case JointKind::slider:
      return LinkKind::slider;
    case JointKind::ball:
      return LinkKind::ball;
    default:
      return LinkKind::fixed;
  }
}

/// Builds the links of one tree after the other, depth first, children in the order of their joints.
class TreeBuilder {
 public:
  explicit TreeBuilder(const Model& model)
      : model_(model), connected_(model.body_count() + 1), joints_at_(model.bodies.size() + 1) {
    trees_.link_of_body.assign(model.bodies.size(), -1);
    for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) sort_joint(j);
  }

  [[nodiscard]] KinematicTrees build(TreesOf bodies) {
    std::vector<int> root_joint(model_.bodies.size(), -1);  // by which a body hangs from the world
    for (const int j : joints_at_[0]) root_joint[at(moving_body(model_.joints[at(j)]))] = j;
    for (int body = 0; body < model_.body_count(); ++body) {
      if (node_of(model_, body) == 0 || trees_.link_of_body[at(body)] >= 0) continue;
      if (bodies == TreesOf::jointed_bodies && joints_at_[at(body + 1)].empty()) continue;
      // The first body of a tree that is not built yet: find its root.
      if (connected_.root(body + 1) == 0) {
        add_tree(hanging_root(body, root_joint), root_joint);
      } else {
        add_tree(free_root(body), root_joint);
      }
    }
    end_subtrees();
    refuse_massless();
    return std::move(trees_);
  }

 private:
  void sort_joint(int j) {
    const Joint& joint = model_.joints[at(j)];
    if (joint.kind == JointKind::distance) {
      trees_.constraints.push_back({j, ConstraintReason::distance});
    } else if (!is_rigid(joint)) {
      trees_.constraints.push_back({j, ConstraintReason::compliant});
    } else {
      const int a = node_of(model_, joint.body_A), b = node_of(model_, joint.body_B);
      if (!connected_.connect(a, b)) {
        trees_.constraints.push_back({j, ConstraintReason::closes_loop});
      } else {
        joints_at_[at(a)].push_back(j);
        joints_at_[at(b)].push_back(j);
      }
    }
  }

  /// The body of a joint with the world that moves.
  [[nodiscard]] int moving_body(const Joint& joint) const {
    return node_of(model_, joint.body_A) == 0 ? joint.body_B : joint.body_A;
  }

  /// Visits the bodies that joints connect to `body` without passing through the world.
  template <typename Visit>
  void visit_connected(int body, const Visit& visit) const {
    std::vector<std::pair<int, int>> ahead{{body, -1}};  // body, joint by which it was reached
    while (!ahead.empty()) {
      const auto [b, from] = ahead.back();
      ahead.pop_back();
      visit(b);
      for (const int j : joints_at_[at(b + 1)]) {
        const Joint& joint = model_.joints[at(j)];
        const int other = joint.body_A == b ? joint.body_B : joint.body_A;
        if (j != from && node_of(model_, other) != 0) ahead.emplace_back(other, j);
      }
    }
  }

  [[nodiscard]] int hanging_root(int body, const std::vector<int>& root_joint) const {
    int root = body;
    visit_connected(body, [&](int b) {
      if (root_joint[at(b)] >= 0) root = b;
    });
    return root;
  }

  /// The first body that no joint has as its body B, as chains are described from their base on; else the
  /// first body.
  [[nodiscard]] int free_root(int body) const {
    int root = model_.body_count();
    visit_connected(body, [&](int b) {
      bool is_base = true;
      for (const int j : joints_at_[at(b + 1)]) is_base = is_base && model_.joints[at(j)].body_B != b;
      if (is_base) root = std::min(root, b);
    });
    return root < model_.body_count() ? root : body;
  }

  void add_tree(int root, const std::vector<int>& root_joint) {
    Tree tree{trees_.link_count(), 0, trees_.nq, 0, trees_.nv, 0};
    struct Ahead {
      int body, parent, joint;
    };
    std::vector<Ahead> ahead{{root, -1, root_joint[at(root)]}};
    while (!ahead.empty()) {
      const Ahead next = ahead.back();
      ahead.pop_back();
      const int index = add_link(next.body, next.parent, next.joint);
      const std::vector<int>& joints = joints_at_[at(next.body + 1)];
      for (auto j = joints.rbegin(); j != joints.rend(); ++j) {  // the first one is on top
        const Joint& joint = model_.joints[at(*j)];
        const int other = joint.body_A == next.body ? joint.body_B : joint.body_A;
        if (*j != next.joint && node_of(model_, other) != 0) ahead.push_back({other, index, *j});
      }
    }
    tree.end_link = trees_.link_count();
    tree.nq = trees_.nq - tree.q;
    tree.nv = trees_.nv - tree.u;
    trees_.trees.push_back(tree);
  }

  int add_link(int body, int parent, int joint) {
    const int index = trees_.link_count();
    Link link;
    link.body = body, link.parent = parent, link.joint = joint;
    if (joint >= 0) {
      link.kind = link_kind(model_.joints[at(joint)].kind);
      link.reversed = model_.joints[at(joint)].body_A == body;
    }
    link.tree = trees_.tree_count();
    link.q = trees_.nq, link.nq = coordinate_count(link.kind);
    link.u = trees_.nv, link.nv = rate_count(link.kind);
    trees_.nq += link.nq;
    trees_.nv += link.nv;
    trees_.links.push_back(link);
    trees_.subtree_end.push_back(index + 1);
    trees_.link_of_body[at(body)] = index;
    return index;
  }

  void end_subtrees() {
    for (int i = trees_.link_count() - 1; i >= 0; --i) {
      const int parent = trees_.links[at(i)].parent;
      if (parent < 0) continue;
      int& end = trees_.subtree_end[at(parent)];
      end = std::max(end, trees_.subtree_end[at(i)]);
    }
  }

  void refuse_massless() const {
    std::vector<double> mass(trees_.links.size(), 0.0);  // of the subtree
    for (int i = trees_.link_count() - 1; i >= 0; --i) {
      const Link& link = trees_.links[at(i)];
      mass[at(i)] += model_.bodies[at(link.body)].mass;
      if (link.parent >= 0) mass[at(link.parent)] += mass[at(i)];
      if (link.nv == 0) continue;
      const std::string& name = model_.bodies[at(link.body)].name;
      require(mass[at(i)] > 0.0,
              link.joint < 0
                  ? fmt::format("body '{}' moves freely and has no mass, allowed: mass > 0 [kg]", name)
                  : fmt::format("joint '{}': it moves body '{}', which has no mass and bears none, allowed: "
                                "mass > 0 [kg] of it or of a body that hangs from it",
                                model_.joints[at(link.joint)].name, name));
    }
  }

  const Model& model_;
  ConnectedNodes connected_;
  std::vector<std::vector<int>> joints_at_;  ///< per node: rigid joints of the forest, in the model's order
  KinematicTrees trees_;
};

}  // namespace

KinematicTrees kinematic_trees(const Model& model, TreesOf bodies) {
  return TreeBuilder(model).build(bodies);
}

std::string constraint_text(const Model& model, const JointConstraint& constraint) {
  const std::string& name = model.joints[at(constraint.joint)].name;
  switch (constraint.reason) {
    case ConstraintReason::closes_loop:
      return fmt::format("joint '{}' closes a loop of rigid joints", name);
    case ConstraintReason::compliant:
      return fmt::format("joint '{}' has a finite stiffness", name);
    case ConstraintReason::distance:
      return fmt::format("joint '{}' holds a distance", name);
  }
  return {};
}

}  // namespace abut
