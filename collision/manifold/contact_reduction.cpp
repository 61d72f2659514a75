#include "collision/manifold/contact_reduction.h"

#include "collision/manifold/contact_manifold.h"
#include "engine/check.h"

namespace abut {

void reduce_contacts(std::span<const Contact> contacts, const Mat3<double>& R_WA,
                     const ContactReduction& reduction, ContactClusters& clusters,
                     std::vector<Contact>& reduced) {
  switch (reduction.kind) {
    case Reduction::none:
      reduced.assign(contacts.begin(), contacts.end());
      return;
    case Reduction::blend:
      blend_contacts(contacts, R_WA, reduction.blending, reduced);
      break;
    case Reduction::cluster:
      if (clusters.kept_of.size() != contacts.size())
        clusters = cluster_contacts(contacts, reduction.clustering);
      clustered_contacts(contacts, clusters, reduction.clustering, reduced);
      break;
  }
  for (Contact& contact : reduced) {
    contact.penetration = contact.signed_distance;
    contact.weight = 1.0;
  }
}

void reduce_contacts_vjp(std::span<const Contact> contacts, const Mat3<double>& R_WA,
                         const ContactReduction& reduction, const ContactClusters& clusters,
                         std::span<const ContactBar> reduced_bar, std::span<ContactBar> contact_bar,
                         Vec3<double>& rotation_A_bar) {
  switch (reduction.kind) {
    case Reduction::none:
      ABUT_ASSERT(reduced_bar.size() == contact_bar.size());
      for (std::size_t i = 0; i < contact_bar.size(); ++i) contact_bar[i] += reduced_bar[i];
      return;
    case Reduction::blend:
      blend_contacts_vjp(contacts, R_WA, reduction.blending, reduced_bar, contact_bar, rotation_A_bar);
      return;
    case Reduction::cluster:
      clustered_contacts_vjp(contacts, clusters, reduction.clustering, reduced_bar, contact_bar);
      return;
  }
}

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
