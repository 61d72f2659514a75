#include "collision/manifold/contact_detector.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "collision/fitting/shape_surface.h"
#include "engine/body_builder.h"
#include "engine/primitive_builder.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

using Key = std::tuple<int, int, int, int>;
Key key_of(const ContactFeature& f) { return {f.body_A, f.body_B, f.feature_A, f.feature_B}; }

/// Vertices alone; for edges there is edge_contacts_test.cpp.
ContactConfig vertices_only() {
  ContactConfig config;
  config.edge_edge = false;
  return config;
}

ContactManifold detect(const TestScene& scene, const std::vector<double>& margins = {},
                       bool flush_faces = true) {
  ContactConfig config = vertices_only();
  config.flush_faces = flush_faces;
  const ContactDetector detector(scene.model, config);
  DetectorScratch scratch;
  ContactManifold manifold;
  detector.detect(scene.state.X_WB, margins, scratch, manifold);
  return manifold;
}

/// A body of a random kind, 5 to 20 cm.
Body random_body(Random& random) {
  const Vec3<double> half =
      0.1 * Vec3<double>(random.uniform(0.5, 1.0), random.uniform(0.5, 1.0), random.uniform(0.25, 1.0));
  switch (random.integer(5)) {
    case 0:
      return test::sphere_of_mass(half.x(), 1.0);
    case 1:
      return make_capsule(half.z(), half.x(), 1000.0);
    case 2:
      return test::box_of_mass(half, 1.0);
    case 3:
      return test::superquadric_of_mass(half, random.uniform(0.1, 1.8), random.uniform(0.1, 1.8), 1.0);
    default:
      return test::cross_of_mass(half, random.uniform(0.2, 0.8), random.uniform(0.3, 1.0), 1.0);
  }
}

/// `count` such bodies close together, with a floor below (body 0) unless `count` is all there is to be.
TestScene random_cluster(Random& random, int count, bool with_floor = true) {
  TestScene scene;
  if (with_floor) {
    const Vec3<double> tilt(random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), 0.0);
    scene.add(make_half_space(), test::pose_at({0.0, 0.0, -0.1}, tilt));
  }
  for (int i = 0; i < count; ++i) scene.add(random_body(random), test::random_pose(random, 0.12));
  return scene;
}

/// Every contact feature of every pair.
std::vector<ContactFeature> all_features(const Model& model) {
  std::vector<ContactFeature> features;
  for (int A = 0; A < model.body_count(); ++A) {
    for (int B = A + 1; B < model.body_count(); ++B) {
      const auto a = static_cast<std::size_t>(A), b = static_cast<std::size_t>(B);
      for (int i = 0; i < model.bodies[a].contact_points.cols(); ++i) {
        features.push_back({ContactKind::vertex_sdf, A, B, i, -1});
      }
      for (int i = 0; i < model.bodies[b].contact_points.cols(); ++i) {
        features.push_back({ContactKind::vertex_sdf, A, B, -1, i});
      }
    }
  }
  return features;
}

double closest_to_kink(const Body& solid, const Vec3<double>& x_S) {
  // A rounded box's normal has a kink where |x| passes its core, a capsule's where it passes the ends of the
  // segment.
  const Primitive& p = solid.shape.primitives.front();
  if (solid.shape.primitives.size() > 1) return 1.0;
  double closest = 1.0;
  if (p.kind == PrimitiveKind::rounded_box) {
    for (std::size_t i = 0; i < 3; ++i) {
      closest =
          std::min(closest, std::abs(std::abs(x_S[static_cast<int>(i)]) - p.parameters[i] + p.parameters[3]));
      closest = std::min(closest, std::abs(x_S[static_cast<int>(i)]) +
                                      (std::abs(x_S[static_cast<int>(i)]) > 0.01 ? 1.0 : 0.0));
    }
    // Inside the core the deepest coordinate decides.
    Vec3<double> q;
    for (std::size_t i = 0; i < 3; ++i)
      q[static_cast<int>(i)] = std::abs(x_S[static_cast<int>(i)]) - p.parameters[i] + p.parameters[3];
    if (q.maxCoeff() < 0.0) {
      std::sort(q.data(), q.data() + 3);
      closest = std::min(closest, q[2] - q[1]);
    }
  }
  if (p.kind == PrimitiveKind::capsule)
    closest = std::min(closest, std::abs(std::abs(x_S.z()) - p.parameters[1]));
  return closest;
}

/// Contacts to differentiate: near the surface of their solid, not deep inside where it has its skeleton, nor
/// within 3 mm of a kink, across which differences would reach.
std::vector<ContactFeature> smooth_features(const TestScene& scene, const ContactDetector& detector,
                                            Random& random, std::size_t count) {
  std::vector<ContactFeature> features;
  const std::vector<ContactFeature> all = all_features(scene.model);
  for (int attempt = 0; attempt < 20000 && features.size() < count; ++attempt) {
    const ContactFeature& f = all[random.integer(all.size())];
    ManifoldLinearization linearization;
    detector.linearize(scene.state.X_WB, {&f, 1}, linearization);
    const VertexSdfLinearization& at = linearization.vertices[0];
    const double distance = linearization.contacts[0].signed_distance;
    if (distance < -0.02 || distance > 0.1) continue;
    if (closest_to_kink(scene.model.bodies[static_cast<std::size_t>(at.solid)], at.x_S) < 3e-3) continue;
    features.push_back(f);
  }
  return features;
}

/// A scalar of a contact with random weights.
double weighted(const ContactBar& w, const Contact& c) {
  return w.point_W.dot(c.point_W) + w.signed_distance * c.signed_distance + w.normal_AB_W.dot(c.normal_AB_W) +
         w.activity * c.activity;
}

ContactBar random_bar(Random& random) {
  ContactBar bar;
  bar.point_W = test::random_vector(random);
  bar.signed_distance = random.uniform(-1.0, 1.0);
  bar.normal_AB_W = test::random_vector(random, 0.1);
  bar.activity = random.uniform(-1e-3, 1e-3);
  return bar;
}

}  // namespace

// Values ---------------------------------------------------------------------------------------------------

TEST_CASE("contacts: a sphere above a half-space", "[collision][value]") {
  const double r = 0.3, height = GENERATE(0.3004, 0.3, 0.2995);
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(r, 1.0), test::pose_at({1.0, 2.0, height}, {0.3, 0.2, 0.1}));
  const ContactManifold manifold = detect(scene);
  REQUIRE(manifold.contacts.size() == 1);  // the floor has no points of its own
  REQUIRE(manifold.pairs.size() == 1);
  const Contact& c = manifold.contacts[0];
  CHECK(key_of(c.feature) == Key{0, 1, -1, 0});
  CHECK(test::close(c.signed_distance, height - r, 0, 1e-15));
  CHECK(test::close(c.normal_AB_W, Vec3<double>(0, 0, 1), 0, 1e-15));
  CHECK(test::close(c.point_W, Vec3<double>(1.0, 2.0, 0.5 * (height - r)), 1e-15, 1e-15));
  const double tau = 2e-3 * 2.0 * r, x = 0.5 - (height - r) / (8.0 * tau);
  CHECK(test::close(manifold.pairs[0].activity_smoothing, tau, 1e-15, 0));
  CHECK(test::close(c.activity, x * x * x * (10.0 - 15.0 * x + 6.0 * x * x), 1e-12, 0));
}

TEST_CASE("contacts: two spheres meet midway between their surfaces, twice", "[collision][value]") {
  TestScene scene;
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0}));
  const Vec3<double> direction = Vec3<double>(1, 2, -2) / 3.0;
  const double gap = GENERATE(-0.004, -0.0002, 0.0005);
  scene.add(test::sphere_of_mass(0.2, 1.0), test::pose_at((0.3 + gap) * direction));
  const ContactManifold manifold = detect(scene);
  REQUIRE(manifold.contacts.size() == 2);  // either one's centre against the other's SDF
  CHECK(key_of(manifold.contacts[0].feature) == Key{0, 1, 0, -1});
  CHECK(key_of(manifold.contacts[1].feature) == Key{0, 1, -1, 0});
  for (const Contact& c : manifold.contacts) {
    CHECK(test::close(c.signed_distance, gap, 0, 1e-15));
    CHECK(test::close(c.normal_AB_W, direction, 1e-14, 0));
    CHECK(test::close(c.point_W, (0.1 + 0.5 * gap) * direction, 1e-14, 0));
  }
}

TEST_CASE("contacts: a box flat on the floor touches with its lower face, corners included",
          "[collision][value]") {
  const Vec3<double> half(0.1, 0.08, 0.05);
  const TestScene scene = test::box_on_floor(test::box_of_mass(half, 1.0, 4), half, 0.5);
  const bool flush_faces = GENERATE(true, false);
  const ContactManifold manifold = detect(scene, {}, flush_faces);
  CHECK(manifold.contacts.size() == (flush_faces ? 8 : 25));
  double area = 0.0;
  Vec3<double> low = Vec3<double>::Constant(1.0), high = -low;
  for (const Contact& c : manifold.contacts) {
    CHECK(test::close(c.signed_distance, 0.0, 0, 1e-16));
    CHECK(test::close(c.normal_AB_W, Vec3<double>(0, 0, 1), 0, 1e-16));
    low = low.cwiseMin(c.point_W);
    high = high.cwiseMax(c.point_W);
    area += c.area;
  }
  const double edge = 0.05 * 0.05;  // radius: balls of it roll on the inner box's vertices
  CHECK(test::close(high, Vec3<double>(0.1 - edge, 0.08 - edge, 0.0), 1e-14, 1e-15));
  CHECK(test::close(low, Vec3<double>(edge - 0.1, edge - 0.08, 0.0), 1e-14, 1e-15));
  // The areas of the inner box: its face, and a strip of half an interval of each face beside it.
  const double x = 0.1 - edge, y = 0.08 - edge, z = 0.05 - edge;
  // What faces the floor, and 0.03 of all that these vertices have.
  CHECK(test::close(area, 4 * x * y + 0.03 * (4 * x * y + 2 * (2 * x + 2 * y) * z / 4), 1e-12, 0));
}

TEST_CASE("contacts: a sphere against the face, edge and corner of a rounded box", "[collision][value]") {
  const Vec3<double> half(0.1, 0.2, 0.3);
  const double edge = 0.02, r = 0.05;
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    TestScene scene;
    const Pose<double> X = test::random_pose(random);
    scene.add(make_box(half, edge, 1, 1000.0), X);
    // A point of the core's surface, and a direction of its normal cone there.
    const Vec3<double> core = half.array() - edge;
    const std::uint64_t dimensions = random.integer(3);  // of the normal cone, less one: face, edge, corner
    Vec3<double> on_core, n = Vec3<double>::Zero();
    for (int k = 0; k < 3; ++k) {
      const bool at_end = k <= static_cast<int>(dimensions);
      const double sign = random.uniform() < 0.5 ? -1.0 : 1.0;
      on_core[k] = at_end ? sign * core[k] : random.uniform(-0.9, 0.9) * core[k];
      if (at_end) n[k] = sign * random.uniform(0.2, 1.0);
    }
    n.normalize();
    const double gap = random.uniform(-5e-4, 5e-4);
    scene.add(test::sphere_of_mass(r, 1.0),
              Pose<double>{random.quaternion(), X * Vec3<double>(on_core + (edge + r + gap) * n)});
    const ContactFeature sphere_on_box{ContactKind::vertex_sdf, 0, 1, -1, 0};
    const Contact c = ContactDetector(scene.model, vertices_only()).contact(scene.state.X_WB, sphere_on_box);
    CAPTURE(i, dimensions, gap);
    REQUIRE(test::close(c.signed_distance, gap, 0, 1e-14));
    REQUIRE(test::close(c.normal_AB_W, X.q * n, 1e-12, 1e-13));
    REQUIRE(test::close(c.point_W, X * Vec3<double>(on_core + (edge + 0.5 * gap) * n), 1e-13, 1e-14));
  }
}

TEST_CASE("contacts: activities lie between 0 and 1, with both ends reached", "[collision][property]") {
  int zeros = 0, ones = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const TestScene scene = random_cluster(random, 3);
    const ContactDetector detector(scene.model, vertices_only());
    for (const ContactFeature& feature : all_features(scene.model)) {
      const Contact c = detector.contact(scene.state.X_WB, feature);
      const double tau = detector.make_pair(feature.body_A, feature.body_B).activity_smoothing;
      CAPTURE(seed, c.signed_distance, tau);
      REQUIRE(c.activity >= 0.0);
      REQUIRE(c.activity <= 1.0);
      REQUIRE((c.activity == 0.0) == (c.signed_distance >= 4.0 * tau || c.weight == 0.0));
      if (c.signed_distance <= -4.0 * tau) REQUIRE(c.activity == c.weight);
      if (c.signed_distance <= -12.0 * tau) REQUIRE(c.activity == 1.0);  // pushed out, whatever its cone
      REQUIRE(c.normal_AB_W.norm() <= 1.0 + 1e-12);
      REQUIRE(c.area > 0.0);
      zeros += c.activity == 0.0;
      ones += c.activity == 1.0;
    }
  }
  CHECK(zeros > 0);
  CHECK(ones > 0);
}

// Which contacts -------------------------------------------------------------------------------------------

TEST_CASE("detect: finds every contact within reach, and no other", "[collision][property]") {
  std::size_t found_in_all = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    TestScene scene = random_cluster(random, 4);
    if (seed % 5 == 0)
      scene.state.X_WB[0].p.z() = seed % 2 == 0 ? 3.0 : -3.0;  // all deep below, or far above
    if (seed % 3 == 0) {
      // Thin plates: beside their edges the distance of a superquadric is several times too small.
      for (int i = 0; i < 3; ++i) {
        scene.add(test::superquadric_of_mass({0.1, 0.07, 0.005}, random.uniform(0.1, 1.0),
                                             random.uniform(0.1, 1.8), 1.0),
                  test::random_pose(random, 0.15));
      }
    }
    std::vector<double> margins;
    for (int b = 0; b < scene.model.body_count(); ++b)
      margins.push_back(seed % 2 == 0 ? random.uniform(0.0, 0.05) : 0.0);
    const ContactManifold manifold = detect(scene, margins);
    std::map<Key, Contact> found;
    for (const Contact& c : manifold.contacts) REQUIRE(found.emplace(key_of(c.feature), c).second);
    found_in_all += found.size();

    const ContactDetector detector(scene.model, vertices_only());
    for (const ContactFeature& feature : all_features(scene.model)) {
      const Contact c = detector.contact(scene.state.X_WB, feature);
      const auto A = static_cast<std::size_t>(feature.body_A), B = static_cast<std::size_t>(feature.body_B);
      const double reach = 4.0 * detector.make_pair(feature.body_A, feature.body_B).activity_smoothing +
                           margins[A] + margins[B];
      CAPTURE(seed, feature.body_A, feature.body_B, feature.feature_A, feature.feature_B, c.signed_distance,
              reach);
      const auto it = found.find(key_of(feature));
      constexpr double k_rounding = 1e-12;
      if (std::abs(c.signed_distance - reach) < k_rounding) continue;  // the same to rounding only
      if (c.weight > 0.0 && c.weight < k_rounding) continue;
      REQUIRE((it != found.end()) == (c.signed_distance < reach && c.weight > 0.0));
      if (it == found.end()) continue;
      // The two evaluate the point by other roundings: a few ulp of a metre, magnified by the curvature of a
      // ridge.
      REQUIRE(test::close(it->second.signed_distance, c.signed_distance, 1e-9, 1e-13));
      REQUIRE(test::close(it->second.normal_AB_W, c.normal_AB_W, 1e-9, 1e-9));
      REQUIRE(test::close(it->second.point_W, c.point_W, 1e-9, 1e-10));
      REQUIRE(test::close(it->second.area, c.area, 1e-12, 0));  // of the normal, from other lanes
    }
  }
  CHECK(found_in_all > 1000);
}

TEST_CASE("detect: contacts are grouped by pair, pairs in ascending order", "[collision][property]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const TestScene scene = random_cluster(random, 5);
    const ContactManifold manifold = detect(scene);
    int end = 0;
    std::pair<int, int> previous(-1, -1);
    for (const ContactPair& pair : manifold.pairs) {
      REQUIRE(pair.body_A < pair.body_B);
      REQUIRE(previous < std::pair(pair.body_A, pair.body_B));
      previous = {pair.body_A, pair.body_B};
      REQUIRE(pair.begin == end);
      REQUIRE(pair.end > pair.begin);
      end = pair.end;
      for (int i = pair.begin; i < pair.end; ++i) {
        const ContactFeature& f = manifold.contacts[static_cast<std::size_t>(i)].feature;
        REQUIRE(f.body_A == pair.body_A);
        REQUIRE(f.body_B == pair.body_B);
        REQUIRE((f.feature_A >= 0) != (f.feature_B >= 0));
      }
    }
    REQUIRE(end == static_cast<int>(manifold.contacts.size()));
  }
}

TEST_CASE("detect: two fixed bodies and pairs that may not collide have no contacts", "[collision][value]") {
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0.1}));
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0.2, 0, 0.1}));
  REQUIRE(detect(scene).pairs.size() == 3);
  scene.model.pair_overrides.push_back({.body_A = 1, .body_B = 2, .collide = false});
  CHECK(detect(scene).pairs.size() == 2);
  scene.body(1).fixed = true;
  CHECK(detect(scene).pairs.size() == 1);
}

// Symmetries -----------------------------------------------------------------------------------------------

TEST_CASE("contacts: moving the whole world moves them along", "[collision][property]") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    const TestScene scene = random_cluster(random, 3);
    TestScene moved = scene;
    const Pose<double> X = test::random_pose(random, 2.0);
    for (Pose<double>& X_WB : moved.state.X_WB) X_WB = X * X_WB;
    const ContactDetector detector(scene.model, vertices_only());
    ManifoldLinearization linearization;
    const auto features = all_features(scene.model);
    detector.linearize(scene.state.X_WB, features, linearization);
    const ContactList before = linearization.contacts;
    detector.linearize(moved.state.X_WB, features, linearization);
    const ContactList& after = linearization.contacts;
    for (std::size_t i = 0; i < features.size(); ++i) {
      if (before[i].signed_distance < -0.02) continue;  // near a skeleton rounding decides the normal
      CAPTURE(seed, i, before[i].signed_distance);
      // 1e-15 m of rounding in a frame 2 m away; on a ridge of 0.1 mm radius the normal turns 1e4 times that.
      REQUIRE(test::close(after[i].signed_distance, before[i].signed_distance, 0, 1e-13));
      REQUIRE(test::close(after[i].normal_AB_W, X.q * before[i].normal_AB_W, 0, 1e-9));
      REQUIRE(test::close(after[i].point_W, X * before[i].point_W, 0, 1e-10));
      REQUIRE(test::close(after[i].activity, before[i].activity, 0, 1e-9));
    }
  }
}

TEST_CASE("contacts: swapping the bodies of a pair turns the normals round and nothing else",
          "[collision][property]") {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    const TestScene scene = random_cluster(random, 2, false);
    TestScene swapped;
    swapped.add(scene.model.bodies[1], scene.state.X_WB[1]);
    swapped.add(scene.model.bodies[0], scene.state.X_WB[0]);
    const ContactManifold one = detect(scene), other = detect(swapped);
    REQUIRE(one.contacts.size() == other.contacts.size());
    std::map<Key, Contact> by_feature;
    for (const Contact& c : other.contacts) by_feature.emplace(key_of(c.feature), c);
    for (const Contact& c : one.contacts) {
      const auto it = by_feature.find(Key{0, 1, c.feature.feature_B, c.feature.feature_A});
      REQUIRE(it != by_feature.end());
      CAPTURE(seed);
      REQUIRE(it->second.signed_distance == c.signed_distance);  // the same code on the same numbers
      REQUIRE(it->second.normal_AB_W == -c.normal_AB_W);
      REQUIRE(it->second.point_W == c.point_W);
      REQUIRE(it->second.activity == c.activity);
      REQUIRE(it->second.area == c.area);
      ++compared;
    }
  }
  CHECK(compared > 200);
}

// Derivatives ----------------------------------------------------------------------------------------------

TEST_CASE("contacts: JVP agrees with differences, VJP is its transpose", "[collision][derivative]") {
  int compared = 0, disagreements = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const TestScene scene = random_cluster(random, 3);
    const ContactDetector detector(scene.model, vertices_only());
    for (const ContactFeature& feature : smooth_features(scene, detector, random, 25)) {
      ManifoldLinearization linearization;
      detector.linearize(scene.state.X_WB, {&feature, 1}, linearization);
      const VertexSdfLinearization& at = linearization.vertices[0];
      const Vec6<double> d_owner = test::random_vector<6>(random), d_solid = test::random_vector<6>(random);
      const ContactBar bar = random_bar(random);
      const auto o = static_cast<std::size_t>(at.owner), s = static_cast<std::size_t>(at.solid);
      std::vector<Vec6<double>> pose_dot(scene.model.bodies.size(), Vec6<double>::Zero());
      pose_dot[o] = d_owner;
      pose_dot[s] = d_solid;
      ContactBar jvp;
      detector.jvp(scene.state.X_WB, pose_dot, linearization, {&jvp, 1});
      const double slope = bar.point_W.dot(jvp.point_W) + bar.signed_distance * jvp.signed_distance +
                           bar.normal_AB_W.dot(jvp.normal_AB_W) + bar.activity * jvp.activity;
      const auto loss = [&](double t) {
        auto X_WB = scene.state.X_WB;
        X_WB[o] = retract<double>(X_WB[o], t * d_owner);
        X_WB[s] = retract<double>(X_WB[s], t * d_solid);
        return weighted(bar, detector.contact(X_WB, feature));
      };
      const auto fd = test::fd_sweep(loss, 0.0, 1e-3, 1e-6, 1e-8);
      CAPTURE(seed, feature.body_A, feature.body_B, linearization.contacts[0].signed_distance, fd.error);
      ++compared;
      if (fd.disagrees_with_itself) {  // a ridge sharper than the smallest useful step
        ++disagreements;
      } else {
        REQUIRE(test::close(slope, fd.value, 1e-5, 1e-6));
      }

      std::vector<Vec6<double>> pose_bar(scene.model.bodies.size(), Vec6<double>::Zero());
      detector.vjp(scene.state.X_WB, {&bar, 1}, linearization, pose_bar);
      REQUIRE(test::close(pose_bar[o].dot(d_owner) + pose_bar[s].dot(d_solid), slope, 1e-11,
                          1e-12 * (1.0 + at.normal_jacobian.norm())));
      for (std::size_t b = 0; b < pose_bar.size(); ++b) {
        if (b != o && b != s) REQUIRE(pose_bar[b].isZero(0.0));
      }
    }
  }
  CAPTURE(disagreements);
  CHECK(compared >= 900);
  CHECK(disagreements <= compared / 50);
}

TEST_CASE("contacts: gradients of quantities that the frame does not matter to balance",
          "[collision][property]") {
  // Distance and activity stay when the whole world moves: forces and torques about the origin add up to
  // nothing, as those of an impulse along the normal must.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const TestScene scene = random_cluster(random, 3);
    const ContactDetector detector(scene.model, vertices_only());
    for (const ContactFeature& feature : smooth_features(scene, detector, random, 20)) {
      ManifoldLinearization linearization;
      detector.linearize(scene.state.X_WB, {&feature, 1}, linearization);
      const VertexSdfLinearization& at = linearization.vertices[0];
      ContactBar bar;
      bar.signed_distance = 1.0;
      bar.activity = 1e-3;
      std::vector<Vec6<double>> pose_bar(scene.model.bodies.size(), Vec6<double>::Zero());
      detector.vjp(scene.state.X_WB, {&bar, 1}, linearization, pose_bar);
      Vec3<double> force = Vec3<double>::Zero(), torque = Vec3<double>::Zero();
      for (std::size_t b = 0; b < pose_bar.size(); ++b) {
        force += pose_bar[b].tail<3>();
        torque += pose_bar[b].head<3>() + scene.state.X_WB[b].p.cross(pose_bar[b].tail<3>());
      }
      CAPTURE(seed, feature.body_A, feature.body_B);
      REQUIRE(force.norm() <= 1e-13 * pose_bar[static_cast<std::size_t>(at.owner)].norm());
      REQUIRE(torque.norm() <= 1e-13 * pose_bar[static_cast<std::size_t>(at.owner)].norm());
    }
  }
}

TEST_CASE("contacts: values alone are those of linearizations, of one feature or of all",
          "[collision][value]") {
  Random random(5);
  int patches = 0, without_patch = 0;
  for (const double depth : {-1e-4, 0.0, 1e-4, 1e-3, 5e-3}) {
    for (int k = 0; k < 20; ++k) {
      CAPTURE(depth, k);
      TestScene scene;
      scene.add(make_half_space());
      Vec6<double> turn = Vec6<double>::Zero();
      turn.head<3>() = test::random_vector(random, 0.02 * k);
      scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 4),
                retract<double>(test::pose_at({0.0, 0.0, 0.05 - depth}), turn));
      const ContactDetector detector(scene.model, vertices_only());
      const std::vector<ContactFeature> features = all_features(scene.model);
      ManifoldLinearization at, values, alone;
      detector.linearize(scene.state.X_WB, features, at, LinearizeFor::vjp);
      detector.linearize(scene.state.X_WB, features, values, LinearizeFor::values);
      (at.pairs[0].patch.share.value > 0.0 ? patches : without_patch) += 1;
      for (std::size_t i = 0; i < features.size(); ++i) {
        detector.linearize(scene.state.X_WB, {&features[i], 1}, alone, LinearizeFor::values);
        const Contact expected = at.contacts[i];
        for (const Contact& contact : {Contact(values.contacts[i]), Contact(alone.contacts[0])}) {
          REQUIRE(contact.signed_distance == expected.signed_distance);
          REQUIRE(contact.normal_AB_W == expected.normal_AB_W);
          REQUIRE(contact.point_W == expected.point_W);
          REQUIRE(contact.weight == expected.weight);
          REQUIRE(contact.area == expected.area);
          REQUIRE(contact.activity == expected.activity);
        }
      }
    }
  }
  CHECK(patches > 10);
  CHECK(without_patch > 0);
}

TEST_CASE("contacts: the VJP of points deep in a union with a half-space knows the half-space",
          "[collision][derivative]") {
  Body floor = make_half_space();
  floor.shape.primitives.push_back({});
  floor.shape.primitives.back().kind = PrimitiveKind::sphere;
  floor.shape.primitives.back().parameters = {0.1};
  floor.shape.primitives.back().X_BP.p.x() = 1.0;
  floor.shape.union_smoothing = 1e-6;
  for (const double depth : {1e-4, 1e-2, 0.1}) {
    CAPTURE(depth);
    TestScene scene;
    scene.add(floor);
    scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 4), test::pose_at({0.0, 0.0, 0.05 - depth}));
    const ContactDetector detector(scene.model, vertices_only());
    std::vector<ContactFeature> features;
    for (const ContactFeature& feature : all_features(scene.model)) {
      if (detector.contact(scene.state.X_WB, feature).signed_distance < 0.0) features.push_back(feature);
    }
    REQUIRE(features.size() >= 25);
    ContactBar bar;
    bar.signed_distance = 1.0;
    const std::vector<ContactBar> bars(features.size(), bar);
    ManifoldLinearization at;
    detector.linearize(scene.state.X_WB, features, at, LinearizeFor::vjp);
    std::vector<Vec6<double>> pose_bar(2, Vec6<double>::Zero());
    detector.vjp(scene.state.X_WB, bars, at, pose_bar);
    const Vec3<double> up(0.0, 0.0, static_cast<double>(features.size()));
    CHECK(test::close(Vec3<double>(pose_bar[1].tail<3>()), up, 1e-9, 1e-9));
    CHECK(test::close(Vec3<double>(pose_bar[0].tail<3>()), Vec3<double>(-up), 1e-9, 1e-9));
  }
}

TEST_CASE("contacts: VJP of shape parameters, poses of primitives, points and radius agrees with differences",
          "[collision][derivative]") {
  int compared = 0, disagreements = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const TestScene scene = random_cluster(random, 2);
    const ContactDetector detector(scene.model, vertices_only());
    for (const ContactFeature& feature : smooth_features(scene, detector, random, 10)) {
      ManifoldLinearization linearization;
      detector.linearize(scene.state.X_WB, {&feature, 1}, linearization);
      const VertexSdfLinearization& at = linearization.vertices[0];
      const auto o = static_cast<std::size_t>(at.owner), s = static_cast<std::size_t>(at.solid);
      const ContactBar bar = random_bar(random);
      std::vector<Vec6<double>> pose_bar(scene.model.bodies.size(), Vec6<double>::Zero());
      std::vector<GeometryGradient> geometry(scene.model.bodies.size());
      for (std::size_t b = 0; b < geometry.size(); ++b) geometry[b].set_zero(scene.model.bodies[b]);
      detector.vjp(scene.state.X_WB, {&bar, 1}, linearization, pose_bar, geometry);

      // One direction through everything that the gradient speaks of.
      const int point = std::max(feature.feature_A, feature.feature_B);
      const Vec3<double> d_point = test::random_vector(random, 0.1);
      const double d_radius = random.uniform(-0.1, 0.1);
      double slope =
          geometry[o].contact_points.col(point).dot(d_point) + geometry[o].contact_radius * d_radius;
      std::vector<PrimitiveGradient> d_primitives;
      for (const Primitive& primitive : scene.model.bodies[s].shape.primitives) {
        PrimitiveGradient d;
        for (std::size_t k = 0; k < static_cast<std::size_t>(parameter_count(primitive.kind)); ++k) {
          d.parameters[k] = random.uniform(-1.0, 1.0) *
                            (k >= 3 && primitive.kind == PrimitiveKind::superquadric ? 1.0 : 0.1);
        }
        d.pose = test::random_vector<6>(random, 0.1);
        const PrimitiveGradient& g = geometry[s].primitives[d_primitives.size()];
        for (std::size_t k = 0; k < 5; ++k) slope += g.parameters[k] * d.parameters[k];
        slope += g.pose.dot(d.pose);
        d_primitives.push_back(d);
      }
      const auto loss = [&](double t) {
        Model model = scene.model;
        model.bodies[o].contact_points.col(point) += t * d_point;
        model.bodies[o].contact_radius += t * d_radius;
        for (std::size_t l = 0; l < d_primitives.size(); ++l) {
          Primitive& p = model.bodies[s].shape.primitives[l];
          for (std::size_t k = 0; k < 5; ++k) p.parameters[k] += t * d_primitives[l].parameters[k];
          p.X_BP = retract<double>(p.X_BP, t * d_primitives[l].pose);
        }
        return weighted(bar, ContactDetector(model, {}).contact(scene.state.X_WB, feature));
      };
      const auto fd = test::fd_sweep(loss, 0.0, 3e-3, 1e-6, 1e-7);
      CAPTURE(seed, feature.body_A, feature.body_B,
              static_cast<int>(scene.model.bodies[s].shape.primitives[0].kind), fd.error);
      ++compared;
      if (fd.disagrees_with_itself) {
        ++disagreements;
      } else {
        REQUIRE(test::close(slope, fd.value, 1e-5, 1e-6));
      }
      for (std::size_t b = 0; b < geometry.size(); ++b) {  // nothing anywhere else
        if (b != o) REQUIRE(geometry[b].contact_points.isZero(0.0));
        if (b == s) continue;
        for (const PrimitiveGradient& g : geometry[b].primitives) REQUIRE(g.pose.isZero(0.0));
      }
    }
  }
  CAPTURE(disagreements);
  CHECK(compared >= 350);
  CHECK(disagreements <= compared / 50);
}

// Set-up ---------------------------------------------------------------------------------------------------

TEST_CASE("require_points_on_surface: names the point that lies off", "[collision][value]") {
  Body body = test::cross_of_mass({0.1, 0.08, 0.06}, 0.5, 0.8, 1.0);
  CHECK_NOTHROW(require_points_on_surface(body));
  CHECK_NOTHROW(require_points_on_surface(test::box_of_mass({0.1, 0.2, 0.3}, 1.0)));
  CHECK_NOTHROW(require_points_on_surface(make_half_space()));
  // Meshes that a program makes reach the sharp edges that these primitives round.
  for (const PrimitiveKind kind : {PrimitiveKind::cone, PrimitiveKind::convex_polyhedron}) {
    BodyDescription made;
    made.shape.primitives.resize(1);
    Primitive& primitive = made.shape.primitives.front();
    primitive.kind = kind;
    primitive.parameters = {0.06, 0.0, 0.08, 5e-4};
    if (kind == PrimitiveKind::convex_polyhedron) {
      Points normals(3, 4);
      normals << 1, 1, -1, -1, 1, -1, 1, -1, 1, -1, -1, 1;
      primitive = make_convex_polyhedron(normals, {0.1, 0.1, 0.1, 0.1}, 5e-4);
    }
    made.mesh = make_shape_surface(made.shape).mesh;
    made.mass_or_density = Mass{1.0};
    CHECK_NOTHROW(require_points_on_surface(make_body(made)));
    made.mesh.vertices *= 1.02;
    CHECK_THROWS_WITH(require_points_on_surface(make_body(made)), Catch::Contains("contact point"));
  }
  body.name = "crooked";
  body.contact_points.col(17) *= 1.05;
  CHECK_THROWS_WITH(require_points_on_surface(body),
                    Catch::Contains("'crooked'") && Catch::Contains("contact point 17"));
}
