/// What is done with the contacts of a pair before anyone sees them: nothing, blending or clustering.
#pragma once

#include <span>
#include <vector>

#include "collision/manifold/contact.h"
#include "collision/manifold/contact_blending.h"
#include "collision/manifold/contact_clustering.h"
#include "engine/contact_config.h"

namespace abut {

/// How a pair's contacts are reduced.
struct ContactReduction {
  Reduction kind = Reduction::none;
  ContactBlendingSettings blending;
  ContactClusteringSettings clustering;

  ContactReduction() = default;
  /// @param size  of the smaller body of the pair [m]
  ContactReduction(const ContactConfig& config, double size)
      : kind(config.reduction), blending(config, size), clustering(config, size) {}
};

/// Other contacts in the place of a pair's: fewer where there are many (blending makes up to four for each of
/// 42 groups of normals, whatever there was). `activity` of the contacts is what counts of each; their
/// penetration and weight do not matter, and those of the results are their distance and 1.
///
/// @param clusters  for `cluster`: used if they speak of as many contacts, else overwritten. Decisions that
///                  are made once are kept by keeping them.
void reduce_contacts(std::span<const Contact> contacts, const Mat3<double>& R_WA,
                     const ContactReduction& reduction, ContactClusters& clusters,
                     std::vector<Contact>& reduced);

/// Adds dL/d(contacts) and dL/d(rotation of A; left, in W), given dL/d(reduced contacts) in their order and
/// the clusters that were used.
void reduce_contacts_vjp(std::span<const Contact> contacts, const Mat3<double>& R_WA,
                         const ContactReduction& reduction, const ContactClusters& clusters,
                         std::span<const ContactBar> reduced_bar, std::span<ContactBar> contact_bar,
                         Vec3<double>& rotation_A_bar);

}  // namespace abut
