/// Which bodies, and contacts of which pairs of them, are left out of pictures and cannot be picked.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "apps/viewer/simulation/frame.h"

namespace abut::viewer {

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

  friend bool operator==(const Visibility&, const Visibility&) = default;

 private:
  std::set<int> hidden_bodies_;
  std::set<BodyPair> hidden_pairs_;
};

/// The contacts of a picture.
struct ContactSet {
  std::span<const ContactView> contacts;
  std::span<const ContactForce> other_forces{};  ///< of contacts that are not among them
  std::span<const ContactCandidate> candidates{};
};
[[nodiscard]] inline ContactSet contacts_of(const Frame& frame) {
  return {frame.contacts, frame.other_forces, frame.candidates};
}

/// The contacts of a frame without those of what is hidden. They are copied only where something is hidden,
/// and then once for each frame and each change of what is hidden.
class VisibleContacts {
 public:
  void update(const std::shared_ptr<const Frame>& frame, const Visibility& visibility);

  [[nodiscard]] const ContactSet& set() const { return set_; }
  /// If edges did not meet edges; empty unless the frame has them.
  [[nodiscard]] const ContactSet& without_edges() const { return without_edges_; }

 private:
  std::shared_ptr<const Frame> frame_;  // that the sets point into, or were copied from
  Visibility visibility_;
  std::vector<ContactView> contacts_, contacts_without_edges_;
  std::vector<ContactForce> other_forces_;
  std::vector<ContactCandidate> candidates_;
  ContactSet set_, without_edges_;
};

}  // namespace abut::viewer
