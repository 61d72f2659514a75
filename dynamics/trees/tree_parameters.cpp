#include "dynamics/trees/tree_parameters.h"

#include <cmath>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"

namespace abut {
namespace {

/// The body from which a root link hangs; -1: the world.
[[nodiscard]] int base_body(const Model& model, const Link& link) {
  const Joint& joint = model.joints[at(link.joint)];
  return link.reversed ? joint.body_B : joint.body_A;
}

}  // namespace

int base_body(const Model& model, const KinematicTrees& trees, int tree) {
  const Link& root = trees.links[at(trees.trees[at(tree)].first_link)];
  return root.joint < 0 ? -1 : base_body(model, root);
}

void TreeParametersTangent::set_zero(const KinematicTrees& trees) {
  links.assign(trees.links.size(), {});
  bases.assign(trees.trees.size(), {});
  armature.setZero(trees.nv);
  gravity.setZero();
}

TreeParametersTangent& TreeParametersTangent::operator+=(const TreeParametersTangent& other) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    links[i].mass += other.links[i].mass;
    links[i].inertia += other.links[i].inertia;
    links[i].X_PJ += other.links[i].X_PJ;
    links[i].X_CJ += other.links[i].X_CJ;
  }
  for (std::size_t i = 0; i < bases.size(); ++i) {
    bases[i].p_WB += other.bases[i].p_WB;
    bases[i].V_WB += other.bases[i].V_WB;
  }
  armature += other.armature;
  gravity += other.gravity;
  return *this;
}

double inner_product(const TreeParametersTangent& bar, const TreeParametersTangent& dot) {
  double sum = bar.armature.dot(dot.armature) + bar.gravity.dot(dot.gravity);
  for (std::size_t i = 0; i < bar.links.size(); ++i) {
    const LinkTangent &a = bar.links[i], &b = dot.links[i];
    sum +=
        a.mass * b.mass + a.inertia.cwiseProduct(b.inertia).sum() + a.X_PJ.dot(b.X_PJ) + a.X_CJ.dot(b.X_CJ);
  }
  for (std::size_t i = 0; i < bar.bases.size(); ++i)
    sum += bar.bases[i].p_WB.dot(dot.bases[i].p_WB) + bar.bases[i].V_WB.dot(dot.bases[i].V_WB);
  return sum;
}

void set_tree_parameters(const Model& model, const KinematicTrees& trees,
                         const std::vector<Pose<double>>& X_WB, TreeParameters<double>& parameters) {
  parameters.gravity = model.gravity;
  parameters.armature.setZero(trees.nv);
  parameters.bases.clear();
  parameters.links.resize(trees.links.size());
  for (std::size_t i = 0; i < trees.links.size(); ++i) {
    const Link& link = trees.links[i];
    const Body& body = model.bodies[at(link.body)];
    LinkParameters<double>& numbers = parameters.links[i];
    numbers.mass = body.mass;
    numbers.inertia = body.inertia;
    if (link.joint < 0) {
      numbers.X_PJ = numbers.X_CJ = Pose<double>();
      continue;
    }
    const Joint& joint = model.joints[at(link.joint)];
    if (has_coordinate(joint.kind)) parameters.armature[link.u] = joint.armature;
    numbers.X_PJ = link.reversed ? joint.X_BJ : joint.X_AJ;
    numbers.X_CJ = link.reversed ? joint.X_AJ : joint.X_BJ;
    const int base = link.parent < 0 ? base_body(model, link) : -1;
    if (base >= 0) numbers.X_PJ = X_WB[at(base)] * numbers.X_PJ;
  }
}

TreeParameters<double> tree_parameters(const Model& model, const KinematicTrees& trees,
                                       const std::vector<Pose<double>>& X_WB, const VecX<double>& armature) {
  TreeParameters<double> parameters;
  set_tree_parameters(model, trees, X_WB, parameters);
  if (armature.size() == 0) return parameters;
  require(armature.size() == trees.nv,
          fmt::format("armature of {} rates, allowed: {}", armature.size(), trees.nv));
  for (int i = 0; i < trees.nv; ++i) {
    require(armature[i] >= 0.0 && std::isfinite(armature[i]),
            fmt::format("armature of rate {} = {}, allowed: >= 0, finite", i, armature[i]));
  }
  parameters.armature = armature;
  return parameters;
}

void tree_parameters_vjp(const Model& model, const KinematicTrees& trees,
                         const std::vector<Pose<double>>& X_WB, const TreeParametersTangent& bar,
                         std::vector<BodyTangent>& body_bar, std::vector<JointTangent>& joint_bar,
                         std::vector<Vec6<double>>& pose_bar) {
  for (std::size_t i = 0; i < trees.links.size(); ++i) {
    const Link& link = trees.links[i];
    const LinkTangent& link_bar = bar.links[i];
    body_bar[at(link.body)].mass += link_bar.mass;
    body_bar[at(link.body)].inertia += link_bar.inertia;
    if (link.joint < 0) continue;
    const Joint& joint = model.joints[at(link.joint)];
    JointTangent& own_bar = joint_bar[at(link.joint)];
    Vec6<double>& parent_bar = link.reversed ? own_bar.X_BJ : own_bar.X_AJ;
    Vec6<double>& child_bar = link.reversed ? own_bar.X_AJ : own_bar.X_BJ;
    if (has_coordinate(joint.kind)) own_bar.armature += bar.armature[link.u];
    child_bar += link_bar.X_CJ;
    const int base = link.parent < 0 ? base_body(model, link) : -1;
    if (base < 0) {
      parent_bar += link_bar.X_PJ;
    } else {
      const ComposeBar<double> composed =
          compose_vjp(X_WB[at(base)], link.reversed ? joint.X_BJ : joint.X_AJ, link_bar.X_PJ);
      pose_bar[at(base)] += composed.X_WB;
      parent_bar += composed.X_BC;
    }
  }
}

}  // namespace abut
