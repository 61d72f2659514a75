#include "collision/manifold/contact_manifold.h"

namespace abut {

ContactManifold reduced_manifold(const ContactManifold& manifold, std::span<const Pose<double>> X_WB) {
  ContactManifold result;
  std::vector<Contact> reduced;
  for (ContactPair pair : manifold.pairs) {
    const auto contacts =
        std::span(manifold.contacts)
            .subspan(static_cast<std::size_t>(pair.begin), static_cast<std::size_t>(pair.end - pair.begin));
    ContactClusters clusters;
    reduce_contacts(contacts, X_WB[static_cast<std::size_t>(pair.body_A)].rotation(), pair.reduction,
                    clusters, reduced);
    pair.begin = static_cast<int>(result.contacts.size());
    result.contacts.insert(result.contacts.end(), reduced.begin(), reduced.end());
    pair.end = static_cast<int>(result.contacts.size());
    result.pairs.push_back(pair);
  }
  return result;
}

}  // namespace abut
