#include "collision/detectors/other_detectors.h"

#include "engine/detector_choice.h"
#include "engine/number_range.h"

namespace abut {

OtherDetectors::OtherDetectors(const Model& model, const ContactConfig& defaults)
    : prepared_(model.bodies.size()) {
  require_detectable(model, defaults);
  for (int A = 0; A < model.body_count(); ++A) {
    for (int B = A + 1; B < model.body_count(); ++B) {
      const ContactConfig config = contact_config_of(model, defaults, A, B);
      if (config.detector == DetectorKind::manifold || !may_touch(model, A, B)) continue;
      for (const int body : {A, B}) prepare(model.bodies[at(body)], config, prepared_[at(body)]);
    }
  }
}

void OtherDetectors::prepare(const Body& body, const ContactConfig& config, Prepared& out) const {
  switch (config.detector) {
    case DetectorKind::manifold:
      break;
    case DetectorKind::gjk:
      if (out.parts.empty()) out.parts = make_convex_parts(body.shape);
      break;
    case DetectorKind::proximity_qp: {
      std::vector<PaddedPart>& padded = out.padded[config.qp_padding];
      if (!padded.empty()) break;
      for (const ConvexPart<double>& part : make_convex_parts(body.shape))
        padded.push_back(make_padded_part(part, config.qp_padding));
      break;
    }
    case DetectorKind::frank_wolfe:
      if (out.triangles || body.mesh.triangle_count() == 0) break;
      out.triangles = std::make_unique<const TriangleSearch>(body.mesh);
      if (body.contact_area_vectors.cols() > 0) out.triangle_radius = body.contact_radius;
      break;
  }
}

ConvexContacts OtherDetectors::convex_contacts(const PairQuery& query) const {
  const Prepared &A = prepared(query.body_A), &B = prepared(query.body_B);
  if (query.config.detector == DetectorKind::gjk) return {A.parts, B.parts, query.config};
  return {A.padded.at(query.config.qp_padding), B.padded.at(query.config.qp_padding), query.config};
}

TriangleQuery OtherDetectors::triangle_query(const PairQuery& query, bool owner_is_A, double margin) const {
  TriangleQuery r;
  const Prepared& owner = prepared(owner_is_A ? query.body_A : query.body_B);
  r.triangles = owner.triangles.get();
  r.radius = owner.triangle_radius;
  r.sdf = owner_is_A ? query.sdf_B : query.sdf_A;
  r.owner_is_A = owner_is_A;
  r.X_WO = owner_is_A ? *query.X_WA : *query.X_WB;
  r.X_WS = owner_is_A ? *query.X_WB : *query.X_WA;
  r.settings = frank_wolfe_settings(query.config, margin + r.radius);
  return r;
}

void OtherDetectors::find(const PairQuery& query, double reach, OtherDetectorScratch& scratch,
                          std::vector<PointContact>& contacts) const {
  if (query.config.detector != DetectorKind::frank_wolfe) {
    convex_contacts(query).find(*query.X_WA, *query.X_WB, reach, scratch.convex, contacts);
    return;
  }
  for (const bool owner_is_A : {true, false}) {
    const TriangleQuery triangles = triangle_query(query, owner_is_A, reach);
    if (triangles.triangles != nullptr && triangles.sdf->added() > 0)
      find_triangle_contacts(triangles, scratch.triangles, contacts);
  }
}

void OtherDetectors::linearize(const PairQuery& query, std::span<const ContactFeature> features,
                               OtherDetectorScratch& scratch, std::vector<PointContact>& contacts) const {
  if (query.config.detector != DetectorKind::frank_wolfe) {
    convex_contacts(query).linearize(*query.X_WA, *query.X_WB, features, scratch.convex, contacts);
    return;
  }
  for (const ContactFeature& feature : features) {
    const bool owner_is_A = feature.feature_A >= 0;
    contacts.push_back(linearize_triangle_contact(triangle_query(query, owner_is_A, k_infinity),
                                                  owner_is_A ? feature.feature_A : feature.feature_B));
  }
}

}  // namespace abut
