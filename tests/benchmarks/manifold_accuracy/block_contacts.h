/// Contacts of blocks by their features, so that those of two states can be compared.
#pragma once

#include <map>
#include <tuple>

#include "collision/manifold/contact_activity.h"
#include "collision/manifold/contact_block.h"

namespace abut::accuracy {

/// Activity below which tables leave out the point, distance and normal of a contact: it has no effect.
inline constexpr double k_least_activity = 1e-3;

/// Section, feature of A, feature of B.
using ContactKey = std::tuple<int, int, int>;

[[nodiscard]] inline bool is_edge_pair(const ContactKey& key) { return std::get<0>(key) == k_edge_pairs; }

template <typename T>
[[nodiscard]] ContactKey key_of(const ContactBlock<T>& block, int contact) {
  int section = 0;
  while (contact >= block.ends[section]) ++section;
  return {section, block.feature(0, contact), block.feature(1, contact)};
}

/// Where each contact stands.
template <typename T>
[[nodiscard]] std::map<ContactKey, int> places_of(const ContactBlock<T>& block) {
  std::map<ContactKey, int> places;
  for (int i = 0; i < block.count; ++i) places.emplace(key_of(block, i), i);
  return places;
}

/// @param tau  tau_p [m]
template <typename T>
[[nodiscard]] double block_activity(const ContactBlock<T>& block, int contact, T tau) {
  return static_cast<double>(block.number(k_contact_weight, contact)) *
         activity(static_cast<double>(block.number(k_contact_distance, contact)), static_cast<double>(tau));
}

}  // namespace abut::accuracy
