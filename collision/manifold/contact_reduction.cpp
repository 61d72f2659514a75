#include "collision/manifold/contact_reduction.h"

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

}  // namespace abut
