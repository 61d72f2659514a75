/// Edges of two bodies at poses that are numbers with derivatives, and contacts of them in both forms.
#pragma once

#include <vector>

#include "collision/manifold/edge_edge.h"
#include "collision/manifold/edge_normals.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/contact_config.h"
#include "engine/model.h"
#include "engine/pose.h"

namespace abut::accuracy {

/// The number K of edges that the tables select of a body.
inline constexpr int k_selected_edges = 18;

/// Which formulas a table is about, and with which settings.
struct EdgeForm {
  const char* name;
  ContactConfig config;
};

/// paper_edge_contact(), then the default form with parallel_blend (kappa) 0.05 and 0.1.
[[nodiscard]] std::vector<EdgeForm> edge_forms();

/// A body with its edges.
struct EdgedBody {
  explicit EdgedBody(Body of);

  Body body;
  ShapeSdf sdf;
  std::vector<MeshEdge> edges;

  template <typename S>
  [[nodiscard]] Edge<S> edge_at(int edge, const Pose<S>& X) const {
    const MeshEdge& e = edges[static_cast<std::size_t>(edge)];
    const Vec3<double> a = body.mesh.vertices.col(e.start), b = body.mesh.vertices.col(e.end);
    return {X * Vec3<S>(a.cast<S>()), X.q * Vec3<S>((b - a).cast<S>()), X.q * Vec3<S>(e.normal.cast<S>())};
  }
};

/// Means of the distances [m] of the ends of each edge of `owner` from the other solid, S its frame.
[[nodiscard]] std::vector<double> edge_metrics(const EdgedBody& owner, const ShapeSdf& solid,
                                               const Pose<double>& X_SO);

/// The `count` least of them, in rising order.
[[nodiscard]] std::vector<int> deepest_edges(const std::vector<double>& metrics, int count);

/// d and n of one side: body 1 of the paper's form has (distance1, normal1), both sides of the default form
/// have the same.
template <typename S>
struct DistanceNormal {
  S distance;
  Vec3<S> normal;
};

/// The paper's form at edges A and B at X_WA and X_WB.
template <typename S>
[[nodiscard]] PaperEdgeContact<S> paper_contact(const EdgedBody& A, const EdgedBody& B, const Pose<S>& X_WA,
                                                const Pose<S>& X_WB, const EdgeWitness<S>& witness,
                                                const EdgeEdgeSettings<double>& settings) {
  const Vec3<S> n_A = X_WA.q * A.sdf.evaluate_normal<S>(inverse_point<S>(X_WA, witness.e1)).normal,
                n_B = X_WB.q * B.sdf.evaluate_normal<S>(inverse_point<S>(X_WB, witness.e2)).normal;
  return paper_edge_contact<S>(witness, n_A, n_B, settings);
}

/// d and n of the contact of an edge of A with one of B, as A sees it.
template <typename S>
[[nodiscard]] DistanceNormal<S> distance_normal(const EdgedBody& A, const EdgedBody& B, const Pose<S>& X_WA,
                                                const Pose<S>& X_WB, const Edge<S>& edge_A,
                                                const Edge<S>& edge_B, const ContactConfig& config,
                                                const EdgeEdgeSettings<double>& settings) {
  if (config.fidelity == Fidelity::paper) {
    const PaperEdgeContact<S> contact =
        paper_contact<S>(A, B, X_WA, X_WB, edge_witness<S>(edge_A, edge_B, settings), settings);
    return {contact.distance1, contact.normal1};
  }
  const EdgeContact<S> contact = edge_contact<S>(edge_A, edge_B, settings);
  return {contact.distance, contact.normal.n};
}

}  // namespace abut::accuracy
