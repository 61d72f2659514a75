#include "apps/viewer/visibility.h"

#include <algorithm>
#include <iterator>

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

void VisibleContacts::update(const std::shared_ptr<const Frame>& frame, const Visibility& visibility) {
  if (frame == frame_ && visibility == visibility_) return;
  frame_ = frame;
  visibility_ = visibility;
  if (visibility.shows_all()) {
    set_ = contacts_of(*frame);
    without_edges_ = {frame->without_edges, {}, frame->candidates};
    return;
  }
  const auto copy = [](const auto& all, auto& visible, auto is_visible) {
    visible.clear();
    std::copy_if(all.begin(), all.end(), std::back_inserter(visible), is_visible);
  };
  const auto shows = [&](const ContactFeature& feature) {
    return visibility.shows_pair(body_pair(feature.body_A, feature.body_B));
  };
  const auto shows_view = [&](const ContactView& view) { return shows(view.contact.feature); };
  copy(frame->contacts, contacts_, shows_view);
  copy(frame->without_edges, contacts_without_edges_, shows_view);
  copy(frame->other_forces, other_forces_, [&](const ContactForce& force) { return shows(force.feature); });
  copy(frame->candidates, candidates_, [&](const ContactCandidate& candidate) {
    return visibility.shows_pair(body_pair(candidate.body, candidate.other));
  });
  set_ = {contacts_, other_forces_, candidates_};
  without_edges_ = {contacts_without_edges_, {}, candidates_};
}

}  // namespace abut::viewer
