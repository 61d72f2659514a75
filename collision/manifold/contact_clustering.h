/// Clustering: contacts close to each other become a few that speak for the rest.
///
/// Greedy, deepest contact first: a contact joins the first cluster whose centroid is within the radius and
/// whose every normal is within 30 degrees of its own, else it opens one. Each cluster keeps up to `points`
/// of its contacts: the deepest, then whichever is farthest from those kept, the corners of its support
/// polygon. Every contact is counted with the nearest kept one, r, of its cluster:
///   point p_r,   distance sum w d,   m = sum w n,   normal m sqrt(1 + eta^2)/sqrt(|m|^2 + eta^2),
///   activity sum area activity/sum area,   area sum area,
///   w_i = area_i activity_i exp(-d_i/(4 tau_p)) / sum
/// so area times activity adds up to what it was, and contacts without activity do not matter.
///
/// Not differentiable where the assignment changes: a contact that passes from one cluster to another makes
/// the outputs jump, and there is no smooth version of that. Between such poses the VJP is exact. For
/// gradients over longer motions take blending.
///
/// The published form (mean point, normalised sum of normals, greatest depth) shrinks the support polygon to
/// one point under the centre and lets opposite normals cancel; hence the kept contacts, and the limit on
/// angles.
/// @see  "Enhancing diffsdfsim", section on contact clustering.
#pragma once

#include <span>
#include <vector>

#include "collision/manifold/contact.h"
#include "engine/contact_config.h"

namespace abut {

struct ContactClusteringSettings {
  double radius = 0;  ///< [m]
  double depth = 0;   ///< 4 tau_p [m]
  double fade = 0;    ///< eta [-]
  int points = 4;     ///< kept of a cluster, >= 1

  ContactClusteringSettings() = default;
  /// @param size  of the smaller body of the pair [m]
  ContactClusteringSettings(const ContactConfig& config, double size)
      : radius(config.cluster_radius * size),
        depth(4.0 * config.activity_smoothing * size),
        fade(config.normal_fade),
        points(config.cluster_points) {}
};

/// Which contacts are kept, and which of these each contact is counted with.
struct ContactClusters {
  std::vector<int> kept;     ///< indices of contacts, grouped by cluster
  std::vector<int> kept_of;  ///< for each contact an index into `kept`
};

[[nodiscard]] ContactClusters cluster_contacts(std::span<const Contact> contacts,
                                               const ContactClusteringSettings& settings);

/// Replaces `clustered` by one contact for each kept one, with its feature and the kind of that.
void clustered_contacts(std::span<const Contact> contacts, const ContactClusters& clusters,
                        const ContactClusteringSettings& settings, std::vector<Contact>& clustered);

/// Adds dL/d(contacts) given dL/d(clustered contacts), for these clusters.
void clustered_contacts_vjp(std::span<const Contact> contacts, const ContactClusters& clusters,
                            const ContactClusteringSettings& settings,
                            std::span<const ContactBar> clustered_bar, std::span<ContactBar> contact_bar);

}  // namespace abut
