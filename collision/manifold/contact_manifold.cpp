#include "collision/manifold/contact_manifold.h"

namespace abut {

ContactManifold reduced_manifold(const ContactManifold& manifold, std::span<const Pose<double>> X_WB) {
  ContactManifold result;
  std::vector<Contact> contacts, reduced;
  for (ContactPair pair : manifold.pairs) {
    contacts.clear();
    for (int i = pair.begin; i < pair.end; ++i)
      contacts.push_back(manifold.contacts[static_cast<std::size_t>(i)]);
    ContactClusters clusters;
    const auto reference = static_cast<std::size_t>(pair.reduction.reference_body(pair.body_A, pair.body_B));
    reduce_contacts(contacts, X_WB[reference].rotation(), pair.reduction, clusters, reduced);
    pair.begin = static_cast<int>(result.contacts.size());
    for (const Contact& contact : reduced) result.contacts.push_back(contact);
    pair.end = static_cast<int>(result.contacts.size());
    result.pairs.push_back(pair);
  }
  return result;
}

}  // namespace abut
