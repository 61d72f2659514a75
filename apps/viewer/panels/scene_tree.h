/// The rows of the tree of a scene: bodies, joints, and pairs of bodies in contact.
#pragma once

#include <array>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "apps/viewer/force_sums.h"

namespace abut::viewer {

/// The contacts of two bodies at one moment.
struct PairContacts {
  BodyPair bodies;
  int contacts = 0;
  double depth = 0;  ///< of the deepest contact [m]; negative: they are apart
  ForceArrow force;  ///< on the second body, in the step that follows
};

/// In the order of the bodies.
[[nodiscard]] std::vector<PairContacts> touching_pairs(const Frame& frame);

enum class TreeNode { heading, body, joint, pair };
enum class TreeHeading { bodies, joints, pairs };
inline constexpr std::size_t k_tree_headings = 3;

struct TreeRow {
  TreeNode node = TreeNode::heading;
  int index = 0;  ///< TreeHeading, body, joint, or place among the pairs
  int depth = 0;  ///< of indentation
  bool has_children = false;
  int count = 0;  ///< of a heading: what stands below it, whether it is open or not
};

[[nodiscard]] const char* to_string(JointKind kind);

/// Bodies hang below the body that a joint ties them to, if there is one.
class SceneTree {
 public:
  explicit SceneTree(const Model& model);

  /// Of all that has `filter` in its name, whatever case; pairs by the names of their bodies. With a filter
  /// bodies do not hang below each other, and headings are open.
  [[nodiscard]] std::vector<TreeRow> rows(const Model& model, std::span<const PairContacts> pairs,
                                          std::string_view filter = {}) const;
  [[nodiscard]] bool is_open(const TreeRow& row) const;
  void set_open(const TreeRow& row, bool open);

 private:
  void add_body(int body, int depth, std::vector<TreeRow>& rows) const;

  std::vector<int> roots_;                  // bodies that hang below none
  std::vector<std::vector<int>> children_;  // of each body
  std::set<int> closed_;                    // bodies
  std::array<bool, k_tree_headings> closed_headings_{};
};

}  // namespace abut::viewer
