/// The contacts of a model at one state.
#pragma once

#include <span>
#include <vector>

#include "collision/manifold/contact_list.h"
#include "collision/manifold/contact_reduction.h"
#include "engine/pose.h"

namespace abut {

/// What the weights of a pair's vertices depend on.
struct KnownWeights {
  bool faces_change = true;  ///< whether a flat face may lie between flush and not (flush_faces.h)
  double patch = 0.5;        ///< P of closest_features.h; it is constant where it is 0 or 1

  [[nodiscard]] bool patch_changes() const { return patch > 0.0 && patch < 1.0; }
};

/// The contacts of one pair: `contacts[begin, end)` of its manifold.
struct ContactPair {
  int body_A = -1, body_B = -1;
  int begin = 0, end = 0;
  double activity_smoothing = 0;  ///< tau_p of the pair [m]
  ContactReduction reduction;     ///< that the pair asks for
  double smallest_area = 0;       ///< of the contact points of both [m^2]
  KnownWeights known;
  double left_out = 0;  ///< the largest activity that Body::selected_vertices or selected_edges takes away
};

/// All contacts at one state, grouped by pair, pairs in ascending order.
struct ContactManifold {
  ContactList contacts;
  std::vector<ContactPair> pairs;

  void clear() {
    contacts.clear();
    pairs.clear();
  }
};

/// The manifold with the contacts of each pair reduced as it asks for, by their activity.
[[nodiscard]] ContactManifold reduced_manifold(const ContactManifold& manifold,
                                               std::span<const Pose<double>> X_WB);

}  // namespace abut
