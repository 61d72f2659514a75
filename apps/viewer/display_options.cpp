#include "apps/viewer/display_options.h"

#include <algorithm>

namespace abut::viewer {

bool ContactDisplay::shows(ContactKind kind) const {
  switch (kind) {
    case ContactKind::vertex_sdf:
      return vertex_sdf;
    case ContactKind::edge_edge:
      return edge_edge;
    case ContactKind::edge_sdf:
      return edge_sdf;
    case ContactKind::convex_parts:
      return convex_parts;
    case ContactKind::triangle_sdf:
      return triangle_sdf;
    case ContactKind::blended:
      return blended;
  }
  return false;
}

void Selection::select_body(int index) {
  body = index;
  joint = -1;
  pair.reset();
}

void Selection::select_joint(int index) {
  select_body(-1);
  joint = index;
}

void Selection::select_pair(const BodyPair& bodies) {
  select_body(-1);
  pair = bodies;
}

void Selection::clear() { *this = {}; }

bool Selection::same(const ContactFeature& a, const ContactFeature& b) {
  return a.kind == b.kind && a.body_A == b.body_A && a.body_B == b.body_B && a.feature_A == b.feature_A &&
         a.feature_B == b.feature_B;
}

bool Selection::is_pinned(const ContactFeature& feature) const {
  return std::any_of(pinned.begin(), pinned.end(), [&](const Pinned& p) { return same(p.feature, feature); });
}

void Selection::toggle_pin(const ContactFeature& feature) {
  const auto place =
      std::find_if(pinned.begin(), pinned.end(), [&](const Pinned& p) { return same(p.feature, feature); });
  if (place != pinned.end()) {
    pinned.erase(place);
  } else {
    pinned.push_back({feature, {}, {}, {}, {}});
  }
}

}  // namespace abut::viewer
