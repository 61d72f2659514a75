/// Pairs of bodies of every kind of search and of primitive, and what detect() finds of a pair against every
/// vertex and every pair of edges, one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "collision/manifold/contact_detector.h"
#include "engine/body_builder.h"
#include "engine/random.h"
#include "tests/support/bodies_of_kinds.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"
#include "tests/support/test_bodies.h"

namespace abut::test {

struct NamedPair {
  std::string name;
  Body A, B;
  double apart;              ///< of the centres, at most [m]
  bool is_of_kinds = false;  ///< whether A is one of bodies_of_all_kinds()
};

inline const std::vector<NamedPair>& pairs_of_bodies() {
  static const std::vector<NamedPair> pairs = [] {
    const Body box = box_of_mass({0.1, 0.06, 0.04}, 1.0), cube = box_of_mass({0.05, 0.05, 0.05}, 1.0);
    std::vector<NamedPair> all{{"boxes", box, cube, 0.07},
                               {"dent and cube", dented_body(), cube, 0.09},
                               {"armadillos", asset("armadillo"), asset("armadillo"), 0.15},
                               {"nut and ring", asset("hex_nut"), asset("ring"), 0.03},
                               {"many primitives", many_primitives(), box, 0.12}};
    const Body probe = box_of_mass(0.8 * k_half, 1.0, 2);
    for (NamedBody& of_kind : bodies_of_all_kinds())
      all.push_back({of_kind.name, std::move(of_kind.body), probe, 0.15, true});
    return all;
  }();
  return pairs;
}

/// The bodies of a pair at random poses.
///
/// @param is_flush  with parallel axes
inline TestScene placed_pair(const NamedPair& pair, std::uint64_t seed, bool is_flush = false) {
  Random random(seed);
  TestScene scene;
  scene.add(pair.A);
  scene.add(pair.B);
  scene.X_WB(0).q = random.quaternion();
  scene.X_WB(1).q = is_flush ? scene.X_WB(0).q : random.quaternion();
  scene.X_WB(0).p = random.unit_vector();
  scene.X_WB(1).p = scene.X_WB(0).p + pair.apart * random.uniform(0.3, 1.0) * random.unit_vector();
  return scene;
}

/// The same with both bodies exchanged.
inline TestScene exchanged_pair(const TestScene& scene) {
  TestScene exchanged;
  for (const std::size_t body : {1u, 0u}) exchanged.add(scene.model.bodies[body], scene.state.X_WB[body]);
  return exchanged;
}

/// Every vertex and every pair of edges of a scene of two bodies.
inline std::vector<ContactFeature> pair_features(TestScene& scene) {
  std::vector<ContactFeature> features;
  for (int i = 0; i < scene.body(0).contact_points.cols(); ++i)
    features.push_back({ContactKind::vertex_sdf, 0, 1, i, -1});
  for (int i = 0; i < scene.body(1).contact_points.cols(); ++i)
    features.push_back({ContactKind::vertex_sdf, 0, 1, -1, i});
  const auto edges_A = static_cast<int>(contact_edges(scene.body(0)).size()),
             edges_B = static_cast<int>(contact_edges(scene.body(1)).size());
  for (int k = 0; k < edges_A; ++k) {
    for (int l = 0; l < edges_B; ++l) features.push_back({ContactKind::edge_edge, 0, 1, k, l});
  }
  return features;
}

using FeatureKey = std::tuple<ContactKind, int, int>;
inline FeatureKey feature_key(const ContactFeature& f) { return {f.kind, f.feature_A, f.feature_B}; }

/// Of what check_complete() has compared.
struct ContactCounts {
  int vertices = 0, edges = 0, weightless = 0;
};

/// Compares all that detect() finds between two bodies with every vertex and every pair of edges, one by one.
inline void check_complete(TestScene& scene, ContactCounts& found, const ContactConfig& config = {}) {
  const ContactDetector detector(scene.model, config);
  DetectorScratch scratch;
  ContactManifold manifold;
  detector.detect(scene.state.X_WB, {}, scratch, manifold);
  std::map<FeatureKey, Contact> in_list;
  for (const Contact& c : manifold.contacts) in_list.emplace(feature_key(c.feature), c);
  REQUIRE(in_list.size() == manifold.contacts.size());

  ManifoldLinearization all;
  detector.linearize(scene.state.X_WB, pair_features(scene), all);
  const double reach = 4.0 * detector.make_pair(0, 1).activity_smoothing;
  for (const Contact& c : all.contacts) {
    const auto it = in_list.find(feature_key(c.feature));
    const bool counts = c.weight > 0.0 && c.signed_distance < reach;
    if (!counts && it == in_list.end()) {
      ++found.weightless;
      continue;
    }
    if (std::abs(c.signed_distance - reach) < 1e-12 || (c.weight > 0.0 && c.weight < 1e-12)) continue;
    CAPTURE(c.feature.feature_A, c.feature.feature_B, c.weight, c.signed_distance);
    REQUIRE((it != in_list.end()) == counts);
    if (it == in_list.end()) continue;
    ++(c.feature.kind == ContactKind::vertex_sdf ? found.vertices : found.edges);
    const Contact& d = it->second;
    REQUIRE(close(d.weight, c.weight, 1e-9, 1e-14));
    REQUIRE(close(d.activity, c.activity, 1e-9, 1e-14));
    REQUIRE(close(d.signed_distance, c.signed_distance, 1e-9, 1e-13));
    REQUIRE(close(d.normal_AB_W, c.normal_AB_W, 1e-9, 1e-12));
    REQUIRE(close(d.point_W, c.point_W, 1e-9, 1e-12));
    REQUIRE(close(d.area, c.area, 1e-9, 1e-15));
  }
}

}  // namespace abut::test
