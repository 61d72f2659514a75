/// The soft choice of the K vertices, or K edges, of a body that reach deepest into another's solid, and its
/// derivatives.
///
/// A feature goes by its metric: a vertex by its distance d = phi(x) - r, clamped (clamped_metric()), an edge
/// by the mean of its ends'. Weights: soft_selection.h. Without a limit every feature has the weight 1.
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation",
/// III.
#pragma once

#include <span>
#include <vector>

#include "collision/manifold/geometry_gradient.h"
#include "collision/manifold/mesh_edges.h"
#include "collision/manifold/point_distances.h"
#include "collision/manifold/soft_selection.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/contact_config.h"
#include "engine/model.h"
#include "engine/pose.h"

namespace abut {

/// Vertices or edges of an owner O at the solid S of another body, at given poses.
struct SelectionQuery {
  const Body* owner = nullptr;
  const ShapeSdf* solid = nullptr;
  Pose<double> X_WO, X_WS;
  std::span<const MeshEdge> edges;  ///< to choose from; none: the contact points
  int most = 0;                     ///< K; 0: no limit
  double band = 0;                  ///< [m]
  double range = 0;                 ///< from which on a vertex is far; metrics end at two thirds of it [m]

  [[nodiscard]] std::size_t feature_count() const {
    return edges.empty() ? static_cast<std::size_t>(owner->contact_points.cols()) : edges.size();
  }
};

/// Weights of an owner's features. Keeps its memory from one use to the next.
struct FeatureSelection {
  bool all = true;                ///< every weight is 1; the rest is not used
  std::vector<double> distances;  ///< d of each contact point [m]
  std::vector<double> metrics;    ///< of each feature [m]
  SoftSelection<double> soft;
  std::vector<double> weights_bar;  ///< dL/dw, until select_features_vjp()

  [[nodiscard]] double weight(int feature) const {
    return all ? 1.0 : soft.weight(metrics[static_cast<std::size_t>(feature)]);
  }
};

void select_features(const SelectionQuery& query, NearPoints& near, FeatureSelection& selection);

/// Changes of all weights along left perturbations of both poses; empty where every weight is 1.
[[nodiscard]] std::vector<double> select_features_jvp(const SelectionQuery& query,
                                                      const FeatureSelection& selection,
                                                      const Vec6<double>& pose_O, const Vec6<double>& pose_S);

/// Adds what the weights contribute to dL/d(poses) and, unless null, dL/d(geometry), and sets dL/dw to 0.
void select_features_vjp(const SelectionQuery& query, FeatureSelection& selection, Vec6<double>& pose_O_bar,
                         Vec6<double>& pose_S_bar, GeometryGradient* geometry_O,
                         GeometryGradient* geometry_S);

}  // namespace abut
