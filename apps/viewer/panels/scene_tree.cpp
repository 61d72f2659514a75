#include "apps/viewer/panels/scene_tree.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <string>

namespace abut::viewer {
namespace {

bool contains_word(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

/// The body above each, -1: the world. Of several joints the first one that closes no loop counts.
std::vector<int> parents_of(const Model& model) {
  std::vector<int> parents(model.bodies.size(), -1);
  const auto hangs_below = [&](int body, int above) {
    for (int b = above; b >= 0; b = parents[static_cast<std::size_t>(b)]) {
      if (b == body) return true;
    }
    return false;
  };
  for (const Joint& joint : model.joints) {
    if (joint.body_A < 0 || joint.body_B < 0) continue;
    int& parent = parents[static_cast<std::size_t>(joint.body_B)];
    if (parent < 0 && !hangs_below(joint.body_B, joint.body_A)) parent = joint.body_A;
  }
  return parents;
}

}  // namespace

std::vector<PairContacts> touching_pairs(const Frame& frame) {
  std::map<BodyPair, PairContacts> pairs;
  for (const ContactView& view : frame.contacts) {
    const BodyPair bodies = body_pair(view.contact.feature.body_A, view.contact.feature.body_B);
    PairContacts& pair =
        pairs.try_emplace(bodies, PairContacts{bodies, 0, -std::numeric_limits<double>::infinity(), {}})
            .first->second;
    ++pair.contacts;
    pair.depth = std::max(pair.depth, -view.contact.signed_distance);
  }
  for (const auto& [bodies, force] : forces_of_pairs(frame)) {
    const auto place = pairs.find(bodies);
    if (place != pairs.end()) place->second.force = force;
  }
  std::vector<PairContacts> in_order;
  for (const auto& [bodies, pair] : pairs) in_order.push_back(pair);
  return in_order;
}

const char* to_string(JointKind kind) {
  constexpr const char* k_names[] = {"fixed", "ball", "hinge", "slider", "distance"};
  return k_names[static_cast<std::size_t>(kind)];
}

SceneTree::SceneTree(const Model& model) : children_(model.bodies.size()) {
  const std::vector<int> parents = parents_of(model);
  for (int body = 0; body < model.body_count(); ++body) {
    const int parent = parents[static_cast<std::size_t>(body)];
    (parent < 0 ? roots_ : children_[static_cast<std::size_t>(parent)]).push_back(body);
  }
}

std::vector<TreeRow> SceneTree::rows(const Model& model, std::span<const PairContacts> pairs,
                                     std::string_view filter) const {
  std::vector<TreeRow> rows;
  const auto add_heading = [&](TreeHeading heading, int count) {
    rows.push_back({TreeNode::heading, static_cast<int>(heading), 0, true, count});
    return !filter.empty() || is_open(rows.back());
  };
  const auto add_matching = [&](TreeHeading heading, TreeNode node, int count, auto has_name) {
    std::vector<TreeRow> matching;
    for (int i = 0; i < count; ++i) {
      if (filter.empty() || has_name(i)) matching.push_back({node, i, 1, false, 0});
    }
    if (matching.empty()) return;
    if (add_heading(heading, static_cast<int>(matching.size())))
      rows.insert(rows.end(), matching.begin(), matching.end());
  };
  const auto body_has_name = [&](int b) {
    return contains_word(model.bodies[static_cast<std::size_t>(b)].name, filter);
  };
  if (!filter.empty()) {
    add_matching(TreeHeading::bodies, TreeNode::body, model.body_count(), body_has_name);
  } else if (add_heading(TreeHeading::bodies, model.body_count())) {
    for (const int body : roots_) add_body(body, 1, rows);
  }
  add_matching(TreeHeading::joints, TreeNode::joint, static_cast<int>(model.joints.size()),
               [&](int j) { return contains_word(model.joints[static_cast<std::size_t>(j)].name, filter); });
  add_matching(TreeHeading::pairs, TreeNode::pair, static_cast<int>(pairs.size()), [&](int p) {
    const BodyPair& bodies = pairs[static_cast<std::size_t>(p)].bodies;
    return body_has_name(bodies.first) || body_has_name(bodies.second);
  });
  return rows;
}

void SceneTree::add_body(int body, int depth, std::vector<TreeRow>& rows) const {
  // Down one branch after the other, without recursion: a chain may have a thousand links.
  std::vector<std::pair<int, int>> ahead{{body, depth}};
  while (!ahead.empty()) {
    const auto [b, d] = ahead.back();
    ahead.pop_back();
    const std::vector<int>& children = children_[static_cast<std::size_t>(b)];
    rows.push_back({TreeNode::body, b, d, !children.empty(), 0});
    if (closed_.contains(b)) continue;
    for (auto child = children.rbegin(); child != children.rend(); ++child) ahead.emplace_back(*child, d + 1);
  }
}

bool SceneTree::is_open(const TreeRow& row) const {
  return row.node == TreeNode::heading ? !closed_headings_[static_cast<std::size_t>(row.index)]
                                       : !closed_.contains(row.index);
}

void SceneTree::set_open(const TreeRow& row, bool open) {
  if (row.node == TreeNode::heading) {
    closed_headings_[static_cast<std::size_t>(row.index)] = !open;
  } else if (open) {
    closed_.erase(row.index);
  } else {
    closed_.insert(row.index);
  }
}

}  // namespace abut::viewer
