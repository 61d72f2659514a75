/// One contact between two bodies, whichever routine found it.
#pragma once

#include "engine/types.h"

namespace abut {

/// The first three are those of the manifold, the next two of the other detectors (convex_contacts.h,
/// triangle_contacts.h). blended: a mean of others (contact_blending.h); those kept by clustering stay of
/// their kind.
enum class ContactKind { vertex_sdf, edge_edge, edge_sdf, convex_parts, triangle_sdf, blended };

/// Where a contact comes from. In vertex-SDF and edge-SDF contacts the body with a feature index (>= 0)
/// carries the contact point or the edge (edge_sdf_feature()), the other one, with -1, the signed distance
/// function; so do triangle-SDF contacts with a triangle of the mesh. Contacts of convex parts have the pair
/// of parts as feature_A, and as feature_B 0 for their witness points or the number of a point of their patch
/// (convex_contacts.h).
struct ContactFeature {
  ContactKind kind = ContactKind::vertex_sdf;
  int body_A = -1, body_B = -1;        ///< body_A < body_B
  int feature_A = -1, feature_B = -1;  ///< contact point (or edge) of each body, -1: its SDF
};

/// A contact. The normal points from A to B; |normal| = 1 but where primitives, or opposite faces of a box,
/// oppose each other (then it is shorter, and must not be renormalised: it fades where none is right).
struct Contact {
  ContactFeature feature;
  Vec3<double> point_W;        ///< midway between the two surfaces [m]
  double signed_distance = 0;  ///< [m], > 0 when apart
  Vec3<double> normal_AB_W;    ///< [-]
  double weight = 1;           ///< of all factors but that of the distance [-]
  double activity = 0;         ///< weight S(1/2 - d/(8 tau_p)) in [0, 1]
  double area = 0;             ///< quadrature weight [m^2]: of an edge, or of a vertex by its projected area
};

/// dL/d of a contact's outputs.
struct ContactBar {
  Vec3<double> point_W = Vec3<double>::Zero();
  double signed_distance = 0;
  Vec3<double> normal_AB_W = Vec3<double>::Zero();
  double activity = 0;
  double weight = 0;
  double area = 0;  ///< of vertices; edges have constant ones

  ContactBar& operator+=(const ContactBar& other) {
    point_W += other.point_W;
    signed_distance += other.signed_distance;
    normal_AB_W += other.normal_AB_W;
    activity += other.activity;
    weight += other.weight;
    area += other.area;
    return *this;
  }
};

// What both reductions of contacts (contact_reduction.h) go by.
inline constexpr double k_reduction_cosine =
    0.86602540378443865;  ///< of 30 degrees: normals that may be joined
inline constexpr double k_no_reduction_weight =
    1e-280;  ///< [m^2]; below, quotients would leave double precision

}  // namespace abut
