/// Derivatives of a batch's contacts that its kernels do not compute, in double precision: by the shapes of
/// both bodies, and second ones of signed distances.
///
/// The formulas are those of the simulation (contact_detector.h, edge_contacts.h), which has the way back to
/// shapes, with the settings of batches. Poses are X_WA = 1, X_WB = X_AB, as in ManifoldView.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "collision/manifold/edge_contacts.h"
#include "collision/manifold/geometry_gradient.h"
#include "collision/manifold/manifold_batch.h"
#include "engine/contact_config.h"
#include "engine/model.h"
#include "engine/pose.h"

namespace abut {

/// A pair of bodies made ready; keeps copies of them. Const and safe to share between threads.
class PairDerivatives {
 public:
  /// Throws std::invalid_argument if the configuration is not one of batches.
  PairDerivatives(const Body& A, const Body& B, const ContactConfig& config);
  PairDerivatives(const PairDerivatives&) = delete;
  PairDerivatives& operator=(const PairDerivatives&) = delete;

  /// VJP of a manifold at X_AB by poses and shapes: adds dL/d(poses of A, of B) to `pose_bar` and dL/d(shape
  /// of A, of B) to `geometry`, which was set_zero() for its body or added to before.
  ///
  /// Contact points are variables of their own, those of edges being the vertices of the mesh; primitives
  /// count by distances, normals and the normals of their own body's edges. What depends on the selection of
  /// edges is included. `bars` (n, 8) as for manifold_vjp(). The view may be of any order, in float too; an
  /// edge whose weight is 0 in double precision has no share.
  ///
  /// Cost: a vertex contact takes one evaluation of its solid with derivatives and the parameter VJP of each
  /// primitive near it; edges take, for the whole pair once, the relations of all selected pairs of edges and
  /// the VJP of each, a parameter VJP for each witness point and vertex that counts, and nine for each
  /// selected edge (its normal). Allocates.
  template <typename T>
  void shape_vjp(const Pose<double>& X_AB, const ManifoldView<T>& manifold,
                 const Eigen::Ref<const ContactNumbers<double>>& bars, PosePairTangent<double>& pose_bar,
                 std::span<GeometryGradient, 2> geometry) const {
    shape_vjp(X_AB, features(manifold), bars, pose_bar, geometry);
  }
  /// @param features  (n), vertices before edges
  void shape_vjp(const Pose<double>& X_AB, const std::vector<ContactFeature>& features,
                 const Eigen::Ref<const ContactNumbers<double>>& bars, PosePairTangent<double>& pose_bar,
                 std::span<GeometryGradient, 2> geometry) const;

  /// JVP by shapes alone: how the contacts change along changes of both geometries, poses fixed.
  ///
  /// Cost: a parameter VJP more for each of the distance and the three components of a normal, of vertices,
  /// witness points and selected edges; rather four times that of shape_vjp(). Allocates.
  ///
  /// @param dots  (n, 8), overwritten
  template <typename T>
  void shape_jvp(const Pose<double>& X_AB, const ManifoldView<T>& manifold,
                 std::span<const GeometryGradient, 2> geometry_dot,
                 Eigen::Ref<ContactNumbers<double>> dots) const {
    shape_jvp(X_AB, features(manifold), geometry_dot, dots);
  }
  void shape_jvp(const Pose<double>& X_AB, const std::vector<ContactFeature>& features,
                 std::span<const GeometryGradient, 2> geometry_dot,
                 Eigen::Ref<ContactNumbers<double>> dots) const;

  /// The signed distance of a contact at X_AB with first and second derivatives by both poses, in the chart
  /// of edge_distance_hessian(). Forward over the analytic gradient; for a vertex it is the Hessian of the
  /// distance itself, whose gradient is not the contact's normal.
  [[nodiscard]] DistanceHessian distance_hessian(const Pose<double>& X_AB,
                                                 const ContactFeature& feature) const;
  template <typename T>
  [[nodiscard]] DistanceHessian distance_hessian(const Pose<double>& X_AB, const ManifoldView<T>& manifold,
                                                 int i) const {
    return distance_hessian(X_AB, feature(manifold, i));
  }

  /// The feature of contact i, with A as body 0 and B as body 1.
  template <typename T>
  [[nodiscard]] static ContactFeature feature(const ManifoldView<T>& manifold, int i) {
    return {manifold.kind(i),
            0,
            1,
            manifold.feature_A(i),
            manifold.feature_B(i),
            manifold.kind(i) == ContactKind::edge_edge && manifold.on_B(i)};
  }
  template <typename T>
  [[nodiscard]] static std::vector<ContactFeature> features(const ManifoldView<T>& manifold) {
    std::vector<ContactFeature> list;
    for (int i = 0; i < manifold.size(); ++i) list.push_back(feature(manifold, i));
    return list;
  }

 private:
  [[nodiscard]] EdgePair prepared_edges(std::span<const Pose<double>, 2> X_WB) const;

  Model model_;  ///< of the two bodies, without edges: these are below
  ContactDetector detector_;
  std::array<EdgeBody, 2> edge_bodies_;
  EdgeContacts edges_;
};

}  // namespace abut
