#include "collision/manifold/contact_reduction.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "engine/check.h"

namespace abut {
namespace {

/// The contacts of a pair as they are whichever body is A: in the order of their features, normals out of the
/// reference body.
struct OrderedContacts {
  std::vector<std::size_t> places;  ///< of each among the pair's
  std::vector<Contact> contacts;

  OrderedContacts(std::span<const Contact> of_pair, bool reference_is_B) : places(of_pair.size()) {
    const auto key = [&](std::size_t i) {
      const ContactFeature& f = of_pair[i].feature;
      return reference_is_B ? std::tuple(f.kind, f.feature_B, f.feature_A)
                            : std::tuple(f.kind, f.feature_A, f.feature_B);
    };
    std::iota(places.begin(), places.end(), 0u);
    std::stable_sort(places.begin(), places.end(),
                     [&](std::size_t i, std::size_t k) { return key(i) < key(k); });
    for (const std::size_t i : places) {
      contacts.push_back(of_pair[i]);
      if (reference_is_B) contacts.back().normal_AB_W *= -1.0;
    }
  }
};

}  // namespace

void reduce_contacts(std::span<const Contact> contacts, const Mat3<double>& R_WR,
                     const ContactReduction& reduction, ContactClusters& clusters,
                     std::vector<Contact>& reduced) {
  if (reduction.kind == Reduction::none) {
    reduced.assign(contacts.begin(), contacts.end());
    return;
  }
  const OrderedContacts ordered(contacts, reduction.reference_is_B);
  if (reduction.kind == Reduction::blend) {
    blend_contacts(ordered.contacts, R_WR, reduction.blending, reduced);
  } else {
    if (clusters.kept_of.size() != contacts.size())
      clusters = cluster_contacts(ordered.contacts, reduction.clustering);
    clustered_contacts(ordered.contacts, clusters, reduction.clustering, reduced);
  }
  for (Contact& contact : reduced) {
    contact.weight = 1.0;
    if (reduction.reference_is_B) contact.normal_AB_W *= -1.0;
  }
}

void reduce_contacts_vjp(std::span<const Contact> contacts, const Mat3<double>& R_WR,
                         const ContactReduction& reduction, const ContactClusters& clusters,
                         std::span<const ContactBar> reduced_bar, std::span<ContactBar> contact_bar,
                         Vec3<double>& rotation_bar) {
  if (reduction.kind == Reduction::none) {
    ABUT_ASSERT(reduced_bar.size() == contact_bar.size());
    for (std::size_t i = 0; i < contact_bar.size(); ++i) contact_bar[i] += reduced_bar[i];
    return;
  }
  const double sign = reduction.reference_is_B ? -1.0 : 1.0;
  const OrderedContacts ordered(contacts, reduction.reference_is_B);
  std::vector<ContactBar> bars(reduced_bar.begin(), reduced_bar.end()), ordered_bar(contacts.size());
  for (ContactBar& bar : bars) bar.normal_AB_W *= sign;
  if (reduction.kind == Reduction::blend) {
    blend_contacts_vjp(ordered.contacts, R_WR, reduction.blending, bars, ordered_bar, rotation_bar);
  } else {
    clustered_contacts_vjp(ordered.contacts, clusters, reduction.clustering, bars, ordered_bar);
  }
  for (std::size_t i = 0; i < ordered_bar.size(); ++i) {
    ordered_bar[i].normal_AB_W *= sign;
    contact_bar[ordered.places[i]] += ordered_bar[i];
  }
}

}  // namespace abut
