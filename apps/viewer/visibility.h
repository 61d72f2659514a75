/// Which bodies, and contacts of which pairs of them, are left out of pictures and cannot be picked.
#pragma once

#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace abut::viewer {

struct Frame;

/// Two bodies, the lower index first.
using BodyPair = std::pair<int, int>;
[[nodiscard]] inline BodyPair body_pair(int a, int b) { return {a < b ? a : b, a < b ? b : a}; }

class Visibility {
 public:
  [[nodiscard]] bool shows_body(int body) const { return !hidden_bodies_.contains(body); }
  /// Whether contacts of the pair are shown: not those of a hidden body.
  [[nodiscard]] bool shows_pair(const BodyPair& pair) const {
    return shows_body(pair.first) && shows_body(pair.second) && !hidden_pairs_.contains(pair);
  }
  [[nodiscard]] bool shows_all() const { return hidden_bodies_.empty() && hidden_pairs_.empty(); }

  void toggle_body(int body);
  /// Shows the pair's contacts, and its bodies, or hides the contacts alone.
  void toggle_pair(const BodyPair& pair);
  /// Hides all bodies but one; shows all again if that is so already.
  void toggle_only(int body, int body_count);
  void show_all() { *this = {}; }

 private:
  std::set<int> hidden_bodies_;
  std::set<BodyPair> hidden_pairs_;
};

/// The frame without contacts, forces and candidates of what is hidden; the frame itself if nothing is.
[[nodiscard]] std::shared_ptr<const Frame> visible_part(const std::shared_ptr<const Frame>& frame,
                                                        const Visibility& visibility);

}  // namespace abut::viewer
