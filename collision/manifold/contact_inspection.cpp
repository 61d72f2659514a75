#include "collision/manifold/contact_inspection.h"

#include <algorithm>

#include "collision/manifold/contact_activity.h"
#include "collision/manifold/contact_detector.h"

namespace abut {
namespace {

void append_candidates(const SelectionQuery& query, const FeatureSelection& selection, int owner, int solid,
                       std::vector<ContactCandidate>& candidates) {
  if (selection.all) return;
  const auto place = [&](int point) {
    return Vec3<double>(query.X_WO * Vec3<double>(query.owner->contact_points.col(point)));
  };
  for (std::size_t i = 0; i < query.feature_count(); ++i) {
    const int feature = static_cast<int>(i);
    const double weight = selection.weight(feature);
    if (!(weight > 0.0)) continue;
    const bool is_edge = !query.edges.empty();
    const int start = is_edge ? query.edges[i].start : feature, end = is_edge ? query.edges[i].end : feature;
    candidates.push_back({owner, solid, feature, is_edge, weight, place(start), place(end)});
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
  if (memory.pairs.empty()) memory.pairs.emplace_back();
  PairContacts& prepared = memory.pairs.front();
  for (const ContactPair& pair : manifold.pairs) {
    const int A = pair.body_A, B = pair.body_B;
    const ContactConfig config = pair_config(A, B);
    const bool is_manifold = config.detector == DetectorKind::manifold;
    prepared.body_A = A;
    prepared.body_B = B;
    if (is_manifold) prepare(X_WB, config, memory, prepared);
    const EdgeContacts edges(edge_body(A), edge_body(B), config);
    for (int side = 0; side < 2 && is_manifold; ++side) {
      const int owner = side == 0 ? A : B, other = side == 0 ? B : A;
      if (carries_vertices(config, model_body(A), side)) {
        append_candidates(selection_query(owner, other, false, config, X_WB),
                          prepared.vertices[side].selection, owner, other, out.candidates);
      }
      append_candidates(selection_query(owner, other, true, config, X_WB), prepared.edges[side], owner, other,
                        out.candidates);
    }
    for (int i = pair.begin; i < pair.end; ++i) {
      const Contact contact = manifold.contacts[static_cast<std::size_t>(i)];
      ContactInspection& inspection = out.contacts[static_cast<std::size_t>(i)];
      if (contact.feature.kind == ContactKind::blended) continue;
      inspection.known = true;
      ContactIndicators& indicators = inspection.indicators;
      indicators.penetration = activity(contact.signed_distance, pair.activity_smoothing);
      set_witnesses_along_normal(contact, inspection);
      if (contact.feature.kind == ContactKind::vertex_sdf) {
        const int side = contact.feature.feature_A >= 0 ? 0 : 1;
        const int point = std::max(contact.feature.feature_A, contact.feature.feature_B);
        if (point < model_body(side == 0 ? A : B).contact_points.cols())
          indicators.selection = prepared.vertices[side].weight(point);
        indicators.cone = contact.weight / indicators.selection;
        continue;
      }
      if (!is_manifold) {
        indicators.share = contact.weight;
        continue;
      }
      if (contact.feature.kind == ContactKind::edge_sdf) {
        indicators.share = contact.weight;
        continue;
      }
      const EdgeContactDetails details =
          edges.details(X_WB[at(A)], X_WB[at(B)], contact.feature, prepared.edges);
      const EdgeEdge<double>& of = details.pair;
      indicators.window = of.windows[0].weight * of.windows[1].weight * of.parallel;
      indicators.cone = of.cones[0] * of.cones[1];
      indicators.gate = of.shallow * details.gates.both;
      indicators.selection = details.chosen[0] * details.chosen[1] * prepared.edges_left();
      inspection.witness_A_W = of.witnesses[0] + model_body(A).contact_radius * of.normal;
      inspection.witness_B_W = of.witnesses[1] - model_body(B).contact_radius * of.normal;
    }
  }
}

}  // namespace abut
