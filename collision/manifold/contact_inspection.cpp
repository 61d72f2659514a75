#include "collision/manifold/contact_inspection.h"

#include <algorithm>

#include "collision/manifold/contact_activity.h"
#include "collision/manifold/contact_detector.h"

namespace abut {
namespace {

void append_vertex_candidates(const VertexSdfQuery& query, const VertexSelection& selection,
                              std::vector<ContactCandidate>& candidates) {
  if (selection.all) return;
  for (Eigen::Index i = 0; i < query.owner_body->contact_points.cols(); ++i) {
    const double weight = selection.weight(static_cast<int>(i));
    if (!(weight > 0.0)) continue;
    const Vec3<double> p_W = query.X_WO * Vec3<double>(query.owner_body->contact_points.col(i));
    candidates.push_back({query.owner, query.solid, static_cast<int>(i), false, weight, p_W, p_W});
  }
}

void append_edge_candidates(int body, int other, const EdgeSelection& selection,
                            std::vector<ContactCandidate>& candidates) {
  for (std::size_t i = 0; i < selection.edges.size(); ++i) {
    const Edge<double> edge = selection.edge(i);
    candidates.push_back(
        {body, other, selection.edges[i], true, selection.weights[i], edge.start, edge.start + edge.vector});
  }
}

/// Surfaces along the normal, half the distance to either side.
void set_witnesses_along_normal(const Contact& contact, ContactInspection& inspection) {
  const Vec3<double> half_way = 0.5 * contact.signed_distance * contact.normal_AB_W.normalized();
  inspection.witness_A_W = contact.point_W - half_way;
  inspection.witness_B_W = contact.point_W + half_way;
}

}  // namespace

void ContactDetector::inspect(std::span<const Pose<double>> X_WB, const ContactManifold& manifold,
                              ManifoldLinearization& memory, ManifoldInspection& out) const {
  out.contacts.assign(manifold.contacts.size(), {});
  out.candidates.clear();
  memory.memory.begin(number_);
  if (memory.pairs.empty()) memory.pairs.emplace_back();
  PairContacts& prepared = memory.pairs.front();
  for (const ContactPair& pair : manifold.pairs) {
    const int A = pair.body_A, B = pair.body_B;
    const ContactConfig config = pair_config(A, B);
    if (config.fidelity != Fidelity::corrected) continue;
    prepared.body_A = A;
    prepared.body_B = B;
    const bool has_edges = config.edge_edge && edge_body(A).edges.size() > 0 && edge_body(B).edges.size() > 0;
    prepare(X_WB, config, true, has_edges, memory, prepared);
    for (int side = 0; side < 2; ++side) {
      const int owner = side == 0 ? A : B, other = side == 0 ? B : A;
      if (carries_vertices(config, model_body(A), side)) {
        append_vertex_candidates(vertex_query(owner, other, config, X_WB), prepared.vertices[side],
                                 out.candidates);
      }
      if (has_edges) append_edge_candidates(owner, other, prepared.edges.sides[side], out.candidates);
    }
    for (int i = pair.begin; i < pair.end; ++i) {
      const Contact& contact = manifold.contacts[static_cast<std::size_t>(i)];
      ContactInspection& inspection = out.contacts[static_cast<std::size_t>(i)];
      if (contact.feature.kind == ContactKind::blended) continue;
      inspection.known = true;
      ContactIndicators& indicators = inspection.indicators;
      indicators.penetration = activity(contact.penetration, pair.activity_smoothing);
      set_witnesses_along_normal(contact, inspection);
      if (contact.feature.kind == ContactKind::vertex_sdf) {
        indicators.selection = contact.weight;
        continue;
      }
      if (contact.feature.kind == ContactKind::edge_sdf) {
        indicators.share = contact.weight;
        continue;
      }
      const EdgePair& edges = prepared.edges;
      const auto [k, l] = edges.place_of(contact.feature);
      if (k < 0 || l < 0) continue;
      const auto row = static_cast<std::size_t>(k), column = static_cast<std::size_t>(l),
                 at = row * edges.columns + column;
      indicators.interior = edges.interior[at];
      indicators.clash = edges.clash[at];
      indicators.share = (contact.feature.on_B ? edges.by_column : edges.by_row)[at];
      indicators.selection = edges.sides[0].weights[row] * edges.sides[1].weights[column];
      const Vec3<double> n = contact.normal_AB_W.normalized();
      inspection.witness_A_W = edges.point(0, at) + model_body(A).contact_radius * n;
      inspection.witness_B_W = edges.point(1, at) - model_body(B).contact_radius * n;
    }
  }
  memory.memory.end();
}

}  // namespace abut
