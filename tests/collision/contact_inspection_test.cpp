#include "collision/manifold/contact_inspection.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "collision/manifold/contact_detector.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

struct Inspected {
  ContactManifold manifold;
  ManifoldInspection inspection;

  Inspected(const TestScene& scene, const ContactConfig& config) {
    const ContactDetector detector(scene.model, config);
    DetectorScratch scratch;
    detector.detect(scene.state.X_WB, {}, scratch, manifold);
    manifold = reduced_manifold(manifold, scene.state.X_WB);
    ManifoldLinearization memory;
    detector.inspect(scene.state.X_WB, manifold, memory, inspection);
  }
};

double product(const ContactIndicators& of) {
  return of.penetration * of.window * of.cone * of.gate * of.share * of.selection;
}

}  // namespace

TEST_CASE(
    "inspect: the indicators of a contact multiply to its activity, its witness points are its distance "
    "apart",
    "[collision][property]") {
  Random random(5);
  int of_kind[4] = {}, of_unit_normal = 0, partial = 0, chosen = 0;
  for (int i = 0; i < 200; ++i) {
    TestScene scene = random_contact_scene(random);
    if (i % 3 == 0) {
      for (Body& body : scene.model.bodies) {
        body.selected_vertices = 5;
        body.selected_edges = 4;
      }
    }
    ContactConfig config;
    config.edge_sdf = i % 2 == 0;
    const Inspected found(scene, config);
    REQUIRE(found.inspection.contacts.size() == found.manifold.contacts.size());
    std::set<std::tuple<int, int, int, bool>> candidates;  // body, other, feature, edge
    for (const ContactCandidate& candidate : found.inspection.candidates) {
      CHECK((candidate.weight > 0.0 && candidate.weight <= 1.0));
      CHECK(candidates.emplace(candidate.body, candidate.other, candidate.feature, candidate.is_edge).second);
    }
    for (std::size_t c = 0; c < found.manifold.contacts.size(); ++c) {
      const Contact& contact = found.manifold.contacts[c];
      const ContactInspection& inspection = found.inspection.contacts[c];
      const ContactIndicators& indicators = inspection.indicators;
      CAPTURE(i, c, static_cast<int>(contact.feature.kind));
      REQUIRE(inspection.known);
      ++of_kind[static_cast<int>(contact.feature.kind)];
      for (const double x : {indicators.penetration, indicators.window, indicators.cone, indicators.gate,
                             indicators.share, indicators.selection})
        CHECK((x >= 0.0 && x <= 1.0 + 1e-12));
      CHECK(close(product(indicators), contact.activity, 1e-9, 1e-12));
      partial += indicators.selection > 0.0 && indicators.selection < 1.0;
      if (i % 3 == 0 && contact.feature.kind != ContactKind::edge_sdf) {
        const bool is_edge = contact.feature.kind == ContactKind::edge_edge;
        for (const auto& [body, other, feature] :
             {std::tuple(contact.feature.body_A, contact.feature.body_B, contact.feature.feature_A),
              std::tuple(contact.feature.body_B, contact.feature.body_A, contact.feature.feature_B)}) {
          const Body& owner = scene.body(body);
          if (feature < 0 || (is_edge ? contact_edges(owner).size() <= 4 : owner.contact_points.cols() <= 5))
            continue;
          ++chosen;
          CHECK(candidates.count({body, other, feature, is_edge}) == 1);
        }
      }
      if (std::abs(contact.normal_AB_W.norm() - 1.0) < 1e-12) {
        ++of_unit_normal;
        const Vec3<double> apart = inspection.witness_B_W - inspection.witness_A_W;
        CHECK(close(apart.dot(contact.normal_AB_W), contact.signed_distance, 0.0, 1e-12));
        CHECK(close(0.5 * (inspection.witness_A_W + inspection.witness_B_W), contact.point_W, 0.0, 1e-12));
      }
    }
  }
  CHECK(of_kind[static_cast<int>(ContactKind::vertex_sdf)] > 100);
  CHECK(of_kind[static_cast<int>(ContactKind::edge_edge)] > 100);
  CHECK(of_kind[static_cast<int>(ContactKind::edge_sdf)] > 100);
  CHECK(of_unit_normal > 100);
  CHECK(partial > 20);
  CHECK(chosen > 50);
}

TEST_CASE("inspect: candidates lie where the features of their bodies are", "[collision][value]") {
  TestScene scene = box_on_floor(box_of_mass({0.1, 0.1, 0.1}, 1.0, 1), {0.1, 0.1, 0.1}, 0.5);
  scene.body(1).selected_vertices = 4;
  const Inspected found(scene, {});
  const double weight = found.inspection.candidates.front().weight;
  CHECK(weight > 0.5);
  int vertices = 0;
  for (const ContactCandidate& candidate : found.inspection.candidates) {
    if (candidate.is_edge) continue;
    ++vertices;
    CHECK(candidate.body == 1);
    CHECK(candidate.other == 0);
    const Vec3<double> p_B = scene.body(1).contact_points.col(candidate.feature);
    CHECK(close(candidate.start_W, scene.X_WB(1) * p_B, 0.0, 1e-15));
    CHECK(candidate.end_W == candidate.start_W);
    CHECK(candidate.weight == Approx(weight).epsilon(1e-9));  // all four reach as deep
  }
  CHECK(vertices == 4);
}

TEST_CASE("inspect: nothing is made up of blended contacts", "[collision][value]") {
  Random random(9);
  const TestScene scene = random_contact_scene(random, {2, 3});
  ContactConfig blend;
  blend.reduction = Reduction::blend;
  const Inspected found(scene, blend);
  REQUIRE_FALSE(found.inspection.contacts.empty());
  CHECK(std::none_of(found.inspection.contacts.begin(), found.inspection.contacts.end(),
                     [](const ContactInspection& inspection) { return inspection.known; }));
}

}  // namespace abut::test
