#include "apps/viewer/visibility.h"

#include "apps/viewer/simulation/frame.h"

namespace abut::viewer {

void Visibility::toggle_body(int body) {
  if (hidden_bodies_.erase(body) == 0) hidden_bodies_.insert(body);
}

void Visibility::toggle_pair(const BodyPair& pair) {
  if (shows_pair(pair)) {
    hidden_pairs_.insert(pair);
    return;
  }
  hidden_pairs_.erase(pair);
  hidden_bodies_.erase(pair.first);
  hidden_bodies_.erase(pair.second);
}

void Visibility::toggle_only(int body, int body_count) {
  std::set<int> others;
  for (int b = 0; b < body_count; ++b) {
    if (b != body) others.insert(others.end(), b);
  }
  if (hidden_bodies_ == others) return show_all();
  hidden_bodies_ = std::move(others);
}

std::shared_ptr<const Frame> visible_part(const std::shared_ptr<const Frame>& frame,
                                          const Visibility& visibility) {
  if (visibility.shows_all()) return frame;
  auto part = std::make_shared<Frame>(*frame);
  const auto is_hidden = [&](const ContactFeature& feature) {
    return !visibility.shows_pair(body_pair(feature.body_A, feature.body_B));
  };
  const auto is_hidden_view = [&](const ContactView& view) { return is_hidden(view.contact.feature); };
  std::erase_if(part->contacts, is_hidden_view);
  std::erase_if(part->without_edges, is_hidden_view);
  std::erase_if(part->other_forces, [&](const ContactForce& force) { return is_hidden(force.feature); });
  std::erase_if(part->candidates, [&](const ContactCandidate& candidate) {
    return !visibility.shows_pair(body_pair(candidate.body, candidate.other));
  });
  return part;
}

}  // namespace abut::viewer
