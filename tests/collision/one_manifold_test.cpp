/// One manifold: a pair of bodies alone has the contacts that it has in a simulation, and what depends on the
/// order of both bodies is the sign of normals alone, in every setting.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "collision/manifold/edge_sdf.h"
#include "collision/manifold/pair_manifold.h"
#include "engine/random.h"
#include "tests/collision/complete_contacts.h"
#include "tests/support/convex_bodies.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

/// Settings that PairManifold takes, at random.
ContactConfig random_pair_settings(Random& random) {
  const auto power_of_ten = [&](double low, double high) {
    return std::pow(10.0, random.uniform(low, high));
  };
  ContactConfig config;
  config.activity_smoothing = power_of_ten(-4.0, -1.5);
  config.edge_smoothing = power_of_ten(-3.0, -0.5);
  config.cone_smoothing = power_of_ten(-2.0, 0.0);
  config.parallel_sine = power_of_ten(-3.0, -0.1);
  config.vertex_contacts =
      std::array{VertexContacts::both, VertexContacts::first, VertexContacts::none}[random.integer(3)];
  config.edge_edge = random.uniform() < 0.8;
  config.flush_faces = random.uniform() < 0.5;
  return config;
}

/// The contacts that a simulation finds.
ContactManifold found_by_detector(const ContactDetector& detector, const std::vector<Pose<double>>& X_WB) {
  DetectorScratch scratch;
  ContactManifold manifold;
  detector.detect(X_WB, {}, scratch, manifold);
  return manifold;
}
ContactManifold found_by_detector(const TestScene& scene, const ContactConfig& config) {
  return found_by_detector(ContactDetector(scene.model, config), scene.state.X_WB);
}

void require_equal(const ContactManifold& simulated, const ContactBlock<double>& alone) {
  REQUIRE(simulated.contacts.size() == static_cast<std::size_t>(alone.count));
  for (int i = 0; i < alone.count; ++i) {
    const Contact contact = simulated.contacts[static_cast<std::size_t>(i)];
    REQUIRE(contact.feature.kind ==
            (i < alone.ends[k_vertices_of_B] ? ContactKind::vertex_sdf : ContactKind::edge_edge));
    REQUIRE(contact.feature.feature_A == alone.feature(0, i));
    REQUIRE(contact.feature.feature_B == alone.feature(1, i));
    REQUIRE(contact.point_W == Vec3<double>(alone.origin_W + alone.vector(k_contact_point, i)));
    REQUIRE(contact.normal_AB_W == alone.vector(k_contact_normal, i));
    REQUIRE(contact.signed_distance == alone.number(k_contact_distance, i));
    REQUIRE(contact.weight == alone.number(k_contact_weight, i));
    REQUIRE(contact.activity == alone.number(k_contact_activity, i));
    REQUIRE(contact.area == alone.number(k_contact_area, i));
  }
}

/// The key of a contact's feature with A and B exchanged.
FeatureKey exchanged_key(const ContactFeature& f) { return {f.kind, f.feature_B, f.feature_A}; }

/// Compares contacts of a scene with those of the exchanged one. `tolerance` 0: bit for bit.
void require_mirrored(const ContactList& contacts, const ContactList& exchanged, double tolerance) {
  REQUIRE(contacts.size() == exchanged.size());
  std::map<FeatureKey, Contact> by_feature;
  for (const Contact& c : exchanged) REQUIRE(by_feature.emplace(feature_key(c.feature), c).second);
  for (const Contact& c : contacts) {
    const auto it = by_feature.find(exchanged_key(c.feature));
    REQUIRE(it != by_feature.end());
    const Contact& d = it->second;
    CAPTURE(c.weight, d.weight, c.signed_distance, d.signed_distance);
    REQUIRE(close(d.point_W, c.point_W, tolerance, tolerance));
    REQUIRE(close(d.normal_AB_W, Vec3<double>(-c.normal_AB_W), tolerance, tolerance));
    REQUIRE(close(d.signed_distance, c.signed_distance, tolerance, tolerance));
    REQUIRE(close(d.weight, c.weight, tolerance, tolerance));
    REQUIRE(close(d.activity, c.activity, tolerance, tolerance));
    REQUIRE(close(d.area, c.area, tolerance, tolerance));
  }
}

/// f(scene, poses, seed) of the pairs of pairs_of_bodies() and of random convex bodies, edges of which cross;
/// each at as many states.
template <typename F>
void for_each_placed_pair(std::uint64_t placings, const F& f) {
  for (const NamedPair& pair : pairs_of_bodies()) {
    CAPTURE(pair.name);
    TestScene scene;
    std::vector<std::vector<Pose<double>>> poses;
    for (std::uint64_t seed = 1; seed <= placings; ++seed) {
      scene = placed_pair(pair, seed, seed % 4 == 0);
      poses.push_back(scene.state.X_WB);
    }
    f(scene, poses, 1);
  }
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    TestScene scene;
    scene.add(random_convex_body("A", random).body);
    scene.add(random_convex_body("B", random).body);
    std::vector<MeshEdge> edges[2] = {contact_edges(scene.body(0)), contact_edges(scene.body(1))};
    std::vector<std::vector<Pose<double>>> poses;
    for (std::uint64_t i = 0; i < placings; ++i) {
      Vec3<double> points[2];
      for (int b = 0; b < 2; ++b) {
        const MeshEdge& edge = edges[b][random.integer(edges[b].size())];
        const double along = random.uniform();
        points[b] = (1.0 - along) * scene.body(b).contact_points.col(edge.start) +
                    along * scene.body(b).contact_points.col(edge.end);
      }
      const Quat<double> q_A = random.quaternion(), q_B = random.quaternion();
      const double size = std::min(scene.body(0).size, scene.body(1).size);
      const Vec3<double> p_A = random.unit_vector();
      poses.push_back(
          {{q_A, p_A}, {q_B, p_A + q_A * points[0] - q_B * points[1] + 0.005 * size * random.unit_vector()}});
    }
    f(scene, poses, seed);
  }
}

}  // namespace

TEST_CASE("detect: has the contacts of PairManifold<double>, bit for bit, in all settings that it takes",
          "[collision][property]") {
  int vertices = 0, edges = 0;
  for_each_placed_pair(12, [&](const TestScene& scene, const auto& poses, std::uint64_t seed) {
    Random random(seed);
    const ContactDetector prepared(scene.model, {});
    for (int settings = 0; settings < 3; ++settings) {
      CAPTURE(settings);
      const ContactConfig config = settings == 0 ? ContactConfig() : random_pair_settings(random);
      const ContactDetector detector(scene.model, config, &prepared);
      const PairManifold<double> pair(scene.model.bodies[0], scene.model.bodies[1], config);
      PairScratch<double> scratch;
      ContactBlock<double> alone;
      for (const std::vector<Pose<double>>& X_WB : poses) {
        pair.find({X_WB[0], X_WB[1]}, ManifoldOrder::value, scratch, alone);
        require_equal(found_by_detector(detector, X_WB), alone);
        vertices += alone.ends[k_vertices_of_B];
        edges += alone.count - alone.ends[k_vertices_of_B];
      }
    }
  });
  CHECK(vertices > 4000);
  CHECK(edges > 400);
}

TEST_CASE("detect: derivatives asked for change no value, bit for bit", "[collision][property]") {
  int contacts = 0;
  for_each_placed_pair(5, [&](const TestScene& scene, const auto& poses, std::uint64_t) {
    const ContactDetector detector(scene.model, {});
    const PairManifold<double> pair(scene.model.bodies[0], scene.model.bodies[1], {});
    PairScratch<double> scratch;
    ContactBlock<double> block;
    for (const std::vector<Pose<double>>& X_WB : poses) {
      for (const ManifoldOrder order : {ManifoldOrder::jacobian, ManifoldOrder::complete}) {
        pair.find({X_WB[0], X_WB[1]}, order, scratch, block);
        require_equal(found_by_detector(detector, X_WB), block);
        contacts += block.count;
      }
    }
  });
  CHECK(contacts > 1000);
}

TEST_CASE("detect: with edges against solids, exchanging both bodies changes the sign of normals alone",
          "[collision][property]") {
  ContactConfig config;
  config.edge_sdf = true;
  int of_solids = 0;
  for_each_placed_pair(5, [&](const TestScene& scene, const auto& poses, std::uint64_t) {
    const TestScene exchanged = exchanged_pair(scene);
    const ContactDetector detector(scene.model, config), other_way(exchanged.model, config);
    for (const std::vector<Pose<double>>& X_WB : poses) {
      const ContactManifold one = found_by_detector(detector, X_WB),
                            other = found_by_detector(other_way, {X_WB[1], X_WB[0]});
      require_mirrored(one.contacts, other.contacts, 0.0);
      for (const Contact& c : one.contacts) of_solids += c.feature.kind == ContactKind::edge_sdf;
    }
  });
  CHECK(of_solids > 200);
}

TEST_CASE(
    "detect: with selected vertices and edges, exchanging both bodies changes the sign of normals alone",
    "[collision][property]") {
  int contacts = 0, faded = 0;
  double left_out = 0.0;
  for_each_placed_pair(5, [&](TestScene scene, const auto& poses, std::uint64_t seed) {
    Random random(seed);
    for (int b = 0; b < 2; ++b) {
      scene.body(b).selected_vertices = static_cast<int>(random.integer(20));
      scene.body(b).selected_edges = static_cast<int>(random.integer(20));
    }
    const TestScene exchanged = exchanged_pair(scene);
    const ContactDetector detector(scene.model, {}), other_way(exchanged.model, {});
    for (const std::vector<Pose<double>>& X_WB : poses) {
      const ContactManifold one = found_by_detector(detector, X_WB),
                            other = found_by_detector(other_way, {X_WB[1], X_WB[0]});
      require_mirrored(one.contacts, other.contacts, 0.0);
      REQUIRE(one.pairs.size() == other.pairs.size());
      for (std::size_t p = 0; p < one.pairs.size(); ++p) {
        REQUIRE(one.pairs[p].left_out == other.pairs[p].left_out);
        left_out = std::max(left_out, one.pairs[p].left_out);
      }
      for (const Contact& c : one.contacts) faded += c.weight < 0.9;
      contacts += static_cast<int>(one.contacts.size());
    }
  });
  CHECK(contacts > 200);
  CHECK(faded > 50);
  CHECK(left_out > 0.5);
}

TEST_CASE("reduced_manifold: exchanging both bodies changes the sign of normals alone",
          "[collision][property]") {
  const Reduction reduction = GENERATE(Reduction::blend, Reduction::cluster);
  ContactConfig config;
  config.reduction = reduction;
  std::size_t before = 0, after = 0;
  for_each_placed_pair(3, [&](TestScene scene, const auto& poses, std::uint64_t) {
    for (int b = 0; b < 2; ++b) scene.body(b).name = b == 0 ? "second by name" : "first by name";
    const TestScene exchanged = exchanged_pair(scene);
    const ContactDetector detector(scene.model, config), other_way(exchanged.model, config);
    for (const std::vector<Pose<double>>& X_WB : poses) {
      const std::vector<Pose<double>> X_WB_exchanged{X_WB[1], X_WB[0]};
      const ContactManifold one = found_by_detector(detector, X_WB),
                            other = found_by_detector(other_way, X_WB_exchanged);
      const ContactManifold reduced = reduced_manifold(one, X_WB);
      require_mirrored(reduced.contacts, reduced_manifold(other, X_WB_exchanged).contacts, 0.0);
      before += one.contacts.size();
      after += reduced.contacts.size();
    }
  });
  CHECK(after > 100);
  CHECK(before > 100);
  if (reduction == Reduction::cluster) CHECK(after < before);
}

TEST_CASE("PairManifold: two prisms of 5001 edges at equal poses have a contact of every vertex",
          "[collision][value]") {
  constexpr int k_sides = 1667;
  const Body prism = test::prism("prism", k_sides, 0.3, 0.6).body;
  REQUIRE(contact_edges(prism).size() == 3u * k_sides);
  REQUIRE(prism.contact_points.cols() == 2 * k_sides);
  ContactConfig config;
  config.cone_smoothing = 10.0;  // [rad]: no cone leaves a vertex out
  const PairManifold<double> pair(prism, prism, config);
  PairScratch<double> scratch;
  ContactBlock<double> block;
  pair.find({Pose<double>(), Pose<double>()}, ManifoldOrder::value, scratch, block);
  CHECK(block.count == 4 * k_sides);
  std::set<std::pair<int, int>> features;
  for (int i = 0; i < block.count; ++i) features.emplace(block.feature(0, i), block.feature(1, i));
  for (int i = 0; i < 2 * k_sides; ++i) {
    REQUIRE(features.contains({i, -1}));
    REQUIRE(features.contains({-1, i}));
  }
  TestScene scene;
  for (int b = 0; b < 2; ++b) scene.add(prism);
  require_equal(found_by_detector(scene, config), block);
}

}  // namespace abut::test
