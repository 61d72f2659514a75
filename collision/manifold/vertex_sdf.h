/// Vertex-SDF contacts: the contact points of one body at another's signed distance function, and their
/// derivatives.
///
/// The *owner* O touches with a ball of its contact radius r at each of its contact points v, the *solid* S
/// is touched at its signed distance function phi:
///   x_W = X_WO v,   x_S = X_WS^-1 x_W,   d = phi(x_S) - r,   n = R_WS n_S(x_S) (out of S),
///   point = x_W - (r + d/2) n,   activity = w S(1/2 - d/(8 tau_p)),   S = smoothstep5.
/// The point midway between the surfaces is shared by both bodies, so their impulses balance. w is the weight
/// of closest_features.h. Where the owner selects K < n of its vertices, it is multiplied by the soft choice
/// of the K deepest (soft_selection.h) by their clamped d, and where a face of the owner lies flush, by what
/// flush_faces.h leaves of its points.
///
/// The quadrature weight of a vertex of a mesh is the part of its area that faces the solid, so that a vertex
/// at the rim of a face does not count with its share of the next face too:
///   area = 0.03 a + r(-A.n),   r(x) = max(x, 0), rounded to C^3 within |x| < 0.1 a,
/// a being the area of its share of the triangles, A their vector area in W. A contact point that is no
/// vertex has the area a.
#pragma once

#include <span>
#include <vector>

#include "collision/manifold/closest_features.h"
#include "collision/manifold/contact_list.h"
#include "collision/manifold/feature_selection.h"
#include "collision/manifold/flush_faces.h"
#include "collision/manifold/geometry_gradient.h"
#include "collision/manifold/kernel/body_features.h"
#include "collision/manifold/kernel/contact_columns.h"
#include "collision/manifold/linearize_for.h"
#include "collision/manifold/solid_jacobians.h"
#include "collision/manifold/solid_vjp.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/contact_config.h"
#include "engine/model.h"
#include "engine/pose.h"

namespace abut {

/// Whether the vertices of A (side 0) or of B (side 1) of a pair carry contacts. Of VertexContacts::first, B
/// stands in for an A that has no contact points, as a floor.
[[nodiscard]] inline bool carries_vertices(const ContactConfig& config, const Body& A, int side) {
  const int first = A.contact_points.cols() > 0 ? 0 : 1;
  return config.vertex_contacts == VertexContacts::both ||
         (config.vertex_contacts == VertexContacts::first && side == first);
}

/// Contact points of one body at the solid of another, at given poses.
struct VertexSdfQuery {
  const Body* owner_body = nullptr;
  const ShapeSdf* sdf = nullptr;  ///< of the solid
  int owner = -1, solid = -1;     ///< bodies; A of the contacts is the lower one
  Pose<double> X_WO, X_WS;
  double tau = 0;                                  ///< tau_p [m]
  const PointEdges<double>* edges = nullptr;       ///< of the owner
  double cone_width = 0;                           ///< w_c [rad]
  const SlidingPoints<double>* sliding = nullptr;  ///< of the owner
  bool solid_is_round = false;                     ///< BodyFeatures::is_round, and its points carry contacts

  /// Whether a contact point can be a closest feature where it is.
  [[nodiscard]] bool is_feature(int point) const {
    return !solid_is_round || edges->is_feature[static_cast<std::size_t>(point)] != 0.0;
  }
};

/// Whether contact points are centres of balls, whose distances to the rims of the solid are measured.
[[nodiscard]] inline bool measures_to_rims(const VertexSdfQuery& query) {
  return query.owner_body->contact_radius > 0.0 && query.sdf->has_rims();
}

/// C(w_r) and C(w_p), and their derivatives with respect to the normal, in W.
struct PointCones {
  NormalCone<double> strict, wide;
};
/// @param n_W  normal of the solid
[[nodiscard]] PointCones point_cones(const VertexSdfQuery& query, int point, const Mat3<double>& R_WO,
                                     const Vec3<double>& n_W);
/// Adds to dL/d(contact points) what C(w_r) and C(w_p) of one of them contribute by the directions of its edges.
///
/// @param n_O         normal of the solid, in the owner's frame
/// @param points_bar  (3, n)
void cone_edges_vjp(const VertexSdfQuery& query, int point, const Vec3<double>& n_O, double strict_bar,
                    double wide_bar, Points& points_bar);

/// What the contact points of an owner weigh at a solid, and what their areas are multiplied by.
struct PointWeights {
  FeatureSelection selection;
  FlushFaces flush;
  double patch = 0.0;      ///< P of the pair
  double patch_bar = 0.0;  ///< dL/dP, until patch_vjp()

  /// All of the weight but that of closest_features.h.
  [[nodiscard]] double weight(int point) const { return selection.weight(point) * flush.weight(point); }
  [[nodiscard]] double area_factor(int point) const { return flush.area_factor(point); }
  /// Adds to dL/d of these, until select_features_vjp() and flush_faces_vjp().
  void add_bars(int point, double weight_bar, double area_factor_bar) {
    if (!selection.all) selection.weights_bar[at(point)] += flush.weight(point) * weight_bar;
    if (flush.none) return;
    flush.weights_bar[at(point)] += selection.weight(point) * weight_bar;
    flush.area_factors_bar[at(point)] += area_factor_bar;
  }
};

/// First derivatives of a contact: what its JVP and VJP need, all in W but for x_S.
struct VertexSdfLinearization {
  int owner = -1, solid = -1;
  int point = -1;
  int jacobian = -1;   ///< place in SolidJacobians; -1: there is none
  double sign = 1;     ///< normal_AB = sign * n: +1 if the owner is B
  double radius = 0;   ///< r [m]
  double tau = 0;      ///< tau_p [m]
  double weight = 1;   ///< w, with what selection and flush faces make of it
  double choice = 1;   ///< the part of these
  double closest = 1;  ///< w of closest_features.h
  double closest_by_distance = 0, closest_by_patch = 0;
  Vec3<double> closest_by_normal = Vec3<double>::Zero();
  Vec2<double> closest_by_cones = Vec2<double>::Zero();  ///< by C(w_r), C(w_p)
  double closest_by_arrival = 0;                         ///< by N of a seed
  double distance = 0;                                   ///< d [m]
  double area_factor = 1;
  double facing = 0;                                ///< 0.03 a + r(-A.n) [m^2]
  double area_by_facing = 0;                        ///< r'(-A.n)
  Vec3<double> area_vector = Vec3<double>::Zero();  ///< A
  Vec3<double> x_S = Vec3<double>::Zero();
  Vec3<double> arm_O = Vec3<double>::Zero(), arm_S = Vec3<double>::Zero();  ///< x_W - p_WO, x_W - p_WS
  Vec3<double> normal = Vec3<double>::Zero();                               ///< n
  Vec3<double> gradient = Vec3<double>::Zero();                             ///< dd/dx
  Mat3<double> normal_jacobian = Mat3<double>::Zero();                      ///< dn/dx
};

/// The contacts of features (kind vertex_sdf, of this owner and solid), from the place `begin` on, and their
/// first derivatives: both overwritten; a single VJP needs none (`linearizations` is empty then, and `memory`
/// used), many have rows of `jacobians` where the solid has them instead of gradient and normal_jacobian.
///
/// @return  whether a weight depends on P
bool linearize_vertex_sdf(const VertexSdfQuery& query, const BoundedSolid& solid, const PointWeights& weights,
                          LinearizeFor what_for, std::span<const ContactFeature> features,
                          ContactList& contacts, std::size_t begin,
                          std::span<VertexSdfLinearization> linearizations,
                          std::vector<VertexSdfLinearization>& memory, SolidJacobians& jacobians);

/// d(outputs of a contact) for left perturbations [rotation; translation] of the poses of owner and solid,
/// and for changes of its choice, of P and of its area factor.
[[nodiscard]] ContactBar vertex_sdf_jvp(const VertexSdfLinearization& at, const Vec6<double>& pose_O,
                                        const Vec6<double>& pose_S, double choice_dot = 0.0,
                                        double patch_dot = 0.0, double area_factor_dot = 0.0);

/// Memory of vertex_sdf_vjp(); allocates only while it grows.
struct VertexVjpMemory {
  ContactColumns columns;
  SolidVjpMemory solid;
};

/// Adds dL/d(poses) and, unless null, dL/d(geometry), given dL/d(outputs of the contacts of features), whose
/// numbers but for points and activities are those of `contacts` from the place `begin` on. What their
/// weights and areas depend on besides is only noted, in `weights`: patch_vjp(), select_features_vjp() and
/// flush_faces_vjp() go the rest of the way.
void vertex_sdf_vjp(const VertexSdfQuery& query, const BoundedSolid& solid,
                    std::span<const ContactFeature> features, const ContactList& contacts, std::size_t begin,
                    std::span<const ContactBar> bars, PointWeights& weights, VertexVjpMemory& memory,
                    Vec6<double>& pose_O_bar, Vec6<double>& pose_S_bar, GeometryGradient* geometry_O,
                    GeometryGradient* geometry_S);

/// The same from derivatives of the solid that many VJPs share (LinearizeFor::many_vjps).
void vertex_sdf_vjp(std::span<const VertexSdfLinearization> contacts, const VertexSdfQuery& query,
                    const SolidJacobians& jacobians, std::span<const ContactBar> bars, PointWeights& weights,
                    Vec6<double>& pose_O_bar, Vec6<double>& pose_S_bar, GeometryGradient* geometry_O,
                    GeometryGradient* geometry_S);

}  // namespace abut
