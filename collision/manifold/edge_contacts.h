/// Edge-edge contacts, one by one, and their derivatives by poses and shapes: of one for each pair of convex
/// edges that cross (convex_edges.h).
///
/// A body has edges if its contact points are the vertices of its mesh. With a contact radius r they are
/// capsules: distances are less by r, and the contact point lies midway between the capsules' surfaces.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "collision/manifold/contact_list.h"
#include "collision/manifold/convex_edges.h"
#include "collision/manifold/feature_selection.h"
#include "collision/manifold/geometry_gradient.h"
#include "collision/manifold/kernel/derivative_kernels.h"
#include "collision/manifold/mesh_edges.h"
#include "collision/manifold/solid_vjp.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/contact_config.h"
#include "engine/model.h"

namespace abut {

/// Convex edges of a body, and the solid at which they touch: views.
struct EdgeBody {
  const Body* body;
  BoundedSolid solid;
  std::span<const MeshEdge> edges;  ///< contact_edges(); none if the body has no edge contacts

  [[nodiscard]] ConvexEdge<double> edge_in_body(int edge) const;
};

/// Adds to dL/d(contact points) what dL/d(face normals) contributes, and sets that to 0. Face normals do not
/// depend on the pose, so that this is done once for sums over many poses.
void finish_face_normals(const EdgeBody& body, GeometryGradient& geometry);

/// What one contact is made of, in W.
struct EdgeContactDetails {
  EdgeEdge<double> pair;
  EdgeGates<double> gates;
  double chosen[2] = {1.0, 1.0};  ///< weights of both edges by Body::selected_edges
};

/// Memory of EdgeContacts. Allocates only while it grows.
struct EdgeContactMemory {
  ContactColumns columns;
  SolidVjpMemory solid;
};

class EdgeContacts {
 public:
  EdgeContacts(const EdgeBody& A, const EdgeBody& B, const ContactConfig& config);

  /// The contacts of features, from the place `begin` on: overwritten.
  void evaluate(const Pose<double>& X_WA, const Pose<double>& X_WB, std::span<const ContactFeature> features,
                const FeatureSelection (&selection)[2], EdgeContactMemory& memory, ContactList& contacts,
                std::size_t begin) const;

  /// Adds dL/d(poses), and dL/d(shapes) if there is a `geometry`, given dL/d(outputs of contacts), one for
  /// each feature; of face normals only GeometryGradient::face_normals, of the selection only
  /// FeatureSelection::weights_bar.
  void vjp(const Pose<double>& X_WA, const Pose<double>& X_WB, std::span<const ContactFeature> features,
           std::span<const ContactBar> bars, FeatureSelection (&selection)[2], EdgeContactMemory& memory,
           Vec6<double>& pose_A_bar, Vec6<double>& pose_B_bar, GeometryGradient* geometry_A,
           GeometryGradient* geometry_B) const;

  /// JVP of a contact by both poses: as many VJPs as it has outputs.
  ///
  /// @param chosen_dot  of the weights of both edges
  [[nodiscard]] ContactBar jvp(const Pose<double>& X_WA, const Pose<double>& X_WB,
                               const ContactFeature& feature, const FeatureSelection (&selection)[2],
                               EdgeContactMemory& memory, const Vec6<double>& pose_A,
                               const Vec6<double>& pose_B, const std::array<double, 2>& chosen_dot) const;

  /// Of one contact, for those who want to see them.
  [[nodiscard]] EdgeContactDetails details(const Pose<double>& X_WA, const Pose<double>& X_WB,
                                           const ContactFeature& feature,
                                           const FeatureSelection (&selection)[2]) const;

 private:
  [[nodiscard]] const EdgeBody& body(int side) const { return side == 0 ? A_ : B_; }
  [[nodiscard]] double radius(int side) const { return body(side).body->contact_radius; }
  [[nodiscard]] EdgeVjp problem(const Pose<double>& X_WA, const Pose<double>& X_WB) const {
    return {{PlainPose(X_WA), PlainPose(X_WB)}, {radius(0), radius(1)}, &settings_};
  }
  /// Fills in the columns of pairs of edges from their geometry to what the solids say at their probes.
  void find_pairs(const EdgeVjp& problem, std::span<const ContactFeature> features,
                  EdgeContactMemory& memory) const;

  const EdgeBody A_, B_;
  double activity_smoothing_;  ///< [m]
  ConvexEdgeSettings<double> settings_;
};

}  // namespace abut
