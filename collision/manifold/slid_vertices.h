/// Contacts of vertices that slide to the true contact point of their round body, and their derivatives.
///
/// A vertex of a body whose vertices slide (surface_slide.h) may touch twice: where it is, as a point of the
/// quadrature of a patch, with the weight 1 - (1 - P C(w_p))(1 - D) (closest_features.h, without strict cone and floor),
/// and where it has slid to, with
///   weight = T C(w_p) (1 - P),
/// edges and areas turned with the surface. The first is the feature number of the contact point, the second that and
/// the number of all contact points of the body.
///
/// The kernel has the same in kernel/pair_slides.h.
#pragma once

#include <algorithm>

#include "collision/manifold/vertex_sdf.h"

namespace abut {

/// Whether a feature is a slid vertex of its owner, not one at its own place.
[[nodiscard]] inline bool is_slid_vertex(const Body& owner, const ContactFeature& feature) {
  return feature.kind == ContactKind::vertex_sdf &&
         std::max(feature.feature_A, feature.feature_B) >= owner.contact_points.cols();
}

/// A contact at given poses, with what its derivatives are made of. Vectors are in the frame P of the primitive.
struct SlidVertexLinearization {
  /// The solid where the seed is, where it slides to first, and where it slides to.
  struct Place {
    Vec3<double> x = Vec3<double>::Zero();       ///< in P [m]
    Vec3<double> x_S = Vec3<double>::Zero();     ///< in S [m]
    Vec3<double> normal = Vec3<double>::Zero();  ///< of the solid
    SdfSampleJacobian<double> sample{};          ///< in S
  };
  Place places[3];
  int point = -1;
  double sign = 1;               ///< normal_AB = sign times that of the solid
  double patch = 0;              ///< P
  double radius = 0;             ///< r [m]
  double distance = 0;           ///< [m]
  double reaches = 0, cone = 0;  ///< T, C(w_p)
  double area_by_facing = 0;     ///< of facing_area.h
  Vec3<double> area_vector = Vec3<double>::Zero();
  Vec3<double> seed_normal = Vec3<double>::Zero(), turn = Vec3<double>::Zero();
  Vec3<double> cone_by_facing = Vec3<double>::Zero();
  Mat3<double> x_by_direction[2];  ///< of the first step, of the last one
  Mat3<double> turn_by_direction;  ///< of the last one
  Vec3<double> reaches_by_direction = Vec3<double>::Zero();
  Mat3<double> direction_by_first, direction_by_normal;  ///< of slide_direction(), by m_0 and n_1

  [[nodiscard]] double strict() const { return reaches * cone; }
};

[[nodiscard]] SlidVertexLinearization linearize_slid_vertex(const VertexSdfQuery& query, int point,
                                                            double patch);

/// The contact itself.
[[nodiscard]] Contact slid_contact(const VertexSdfQuery& query, const SlidVertexLinearization& at);

/// As vertex_sdf_jvp().
[[nodiscard]] ContactBar slid_vertex_jvp(const VertexSdfQuery& query, const SlidVertexLinearization& at,
                                         const Vec6<double>& pose_O, const Vec6<double>& pose_S,
                                         double patch_dot);

/// As vertex_sdf_vjp(), of one contact; adds to `patch_bar`, too.
void slid_vertex_vjp(const VertexSdfQuery& query, const SlidVertexLinearization& at, const ContactBar& bar,
                     double& patch_bar, Vec6<double>& pose_O_bar, Vec6<double>& pose_S_bar,
                     GeometryGradient* geometry_O, GeometryGradient* geometry_S);

}  // namespace abut
