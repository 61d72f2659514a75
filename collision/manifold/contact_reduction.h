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
  /// Whether B is the reference body, else A: contacts are reduced in the order of its features, with axes
  /// that are fixed in it. It is the body whose name comes first, so that results do not depend on which is
  /// A.
  bool reference_is_B = false;
  ContactBlendingSettings blending;
  ContactClusteringSettings clustering;

  ContactReduction() = default;
  /// @param size  of the smaller body of the pair [m]
  ContactReduction(const ContactConfig& config, double size, bool is_B)
      : kind(config.reduction),
        reference_is_B(is_B),
        blending(config, size),
        clustering(config, size) {}

  [[nodiscard]] int reference_body(int body_A, int body_B) const { return reference_is_B ? body_B : body_A; }
};

/// Other contacts in the place of a pair's: fewer where there are many (blending makes up to four for each of
/// 42 groups of normals, whatever there was). `activity` of the contacts is what counts of each; their
/// penetration and weight do not matter, and those of the results are their distance and 1.
///
/// @param R_WR      orientation of the reference body
/// @param clusters  for `cluster`: used if they speak of as many contacts, else overwritten. Decisions that
///                  are made once are kept by keeping them.
void reduce_contacts(std::span<const Contact> contacts, const Mat3<double>& R_WR,
                     const ContactReduction& reduction, ContactClusters& clusters,
                     std::vector<Contact>& reduced);

/// Adds dL/d(contacts) and dL/d(rotation of the reference body; left, in W), given dL/d(reduced contacts) in
/// their order and the clusters that were used.
void reduce_contacts_vjp(std::span<const Contact> contacts, const Mat3<double>& R_WR,
                         const ContactReduction& reduction, const ContactClusters& clusters,
                         std::span<const ContactBar> reduced_bar, std::span<ContactBar> contact_bar,
                         Vec3<double>& rotation_bar);

}  // namespace abut
