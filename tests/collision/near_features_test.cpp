/// What the detector remembers from one state to the next changes nothing, and what it leaves out has no
/// weight.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "engine/body_builder.h"
#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/manifold_cases.h"
#include "tests/support/scenes.h"

using namespace abut;
using test::TestScene;

namespace {

/// A floor, and bodies of every kind of search: one primitive, many, some subtracted, edges and none.
TestScene mixed_scene() {
  TestScene scene;
  scene.add(make_half_space());
  scene.add(test::asset("armadillo"));
  scene.add(test::asset("armadillo"));
  scene.add(test::asset("ring"));
  scene.add(test::asset("spot"));
  scene.add(test::asset("hex_nut"));
  scene.add(test::dented_body());
  scene.add(test::box_of_mass({0.1, 0.06, 0.04}, 1.0));
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0));
  scene.add(make_sphere(0.05, 1000.0));
  scene.add(make_capsule(0.03, 0.06, 1000.0));
  set_selected_vertices(scene.body(6), 20);
  return scene;
}

void scatter(Random& random, std::vector<Pose<double>>& X_WB) {
  for (std::size_t b = 1; b < X_WB.size(); ++b) {
    X_WB[b].q = random.quaternion();
    X_WB[b].p = {random.uniform(-0.15, 0.15), random.uniform(-0.15, 0.15), random.uniform(0.0, 0.25)};
  }
}

std::size_t check_equal(const ContactManifold& a, const ContactManifold& b) {
  REQUIRE(a.contacts.size() == b.contacts.size());
  REQUIRE(a.pairs.size() == b.pairs.size());
  for (std::size_t i = 0; i < a.contacts.size(); ++i) {
    const Contact &x = a.contacts[i], &y = b.contacts[i];
    const auto key = [](const ContactFeature& f) {
      return std::tuple(f.kind, f.body_A, f.body_B, f.feature_A, f.feature_B, f.on_B);
    };
    REQUIRE(key(x.feature) == key(y.feature));
    REQUIRE(x.point_W == y.point_W);  // bit for bit, all of it
    REQUIRE(x.normal_AB_W == y.normal_AB_W);
    REQUIRE(std::tuple(x.signed_distance, x.penetration, x.weight, x.activity, x.area) ==
            std::tuple(y.signed_distance, y.penetration, y.weight, y.activity, y.area));
  }
  return a.contacts.size();
}

}  // namespace

TEST_CASE("detect: a scratch that remembers gives the contacts of a fresh one, bit for bit",
          "[collision][property]") {
  const TestScene scene = mixed_scene();
  const ContactDetector detector(scene.model, ContactConfig());
  DetectorScratch kept;
  ContactManifold remembered, fresh;
  std::size_t contacts = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    CAPTURE(seed);
    std::vector<Pose<double>> X_WB = scene.state.X_WB;
    std::vector<double> margins(X_WB.size(), 0.0);
    for (int step = 0; step < 40; ++step) {
      CAPTURE(step);
      // Rest, creeping, fast motion, and now and then everything somewhere else.
      const double speed = step % 10 == 0 ? 0.0 : std::pow(10.0, random.uniform(-7.0, -1.7));
      if (step % 13 == 0) scatter(random, X_WB);
      for (std::size_t b = 1; b < X_WB.size(); ++b) {
        X_WB[b].q = exp_quaternion<double>(Vec3<double>(5.0 * speed * random.unit_vector())) * X_WB[b].q;
        X_WB[b].p += speed * random.unit_vector();
        margins[b] = random.uniform(0.0, 3e-3);
      }
      DetectorScratch empty;
      detector.detect(X_WB, margins, empty, fresh);
      detector.detect(X_WB, margins, kept, remembered);
      contacts += check_equal(remembered, fresh);
    }
  }
  CHECK(contacts > 10000);
}

TEST_CASE("detect: a scratch that has served another model or other settings gives the same contacts",
          "[collision][property]") {
  Random random(3);
  TestScene one = mixed_scene(), other = mixed_scene();
  std::swap(other.model.bodies[1], other.model.bodies[7]);  // other bodies by the same numbers
  std::swap(other.model.bodies[2], other.model.bodies[5]);
  ContactConfig wide;
  wide.metric_range = 0.1;
  wide.activity_smoothing = 5e-3;
  scatter(random, one.state.X_WB);
  other.state = one.state;
  DetectorScratch kept;
  ContactManifold remembered, fresh;
  for (int round = 0; round < 3; ++round) {
    for (const TestScene* scene : {&one, &other}) {
      for (const ContactConfig& config : {ContactConfig(), wide}) {
        const ContactDetector detector(scene->model, config);  // possibly where the last one was
        for (int again = 0; again < 2; ++again) {
          DetectorScratch empty;
          detector.detect(scene->state.X_WB, {}, empty, fresh);
          detector.detect(scene->state.X_WB, {}, kept, remembered);
          CHECK(check_equal(remembered, fresh) > 100);
        }
      }
    }
  }
}

TEST_CASE("detect: has all contacts of edges with weight, as if every pair of edges were evaluated",
          "[collision][property]") {
  std::size_t found_in_all = 0, weightless = 0;
  for (std::uint64_t seed = 1; seed <= 96; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    TestScene scene;
    const bool is_flush = seed % 2 == 0;
    scene.add(seed % 3 != 1 ? test::box_of_mass({0.1, 0.06, 0.04}, 1.0) : test::dented_body());
    scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0));
    scene.X_WB(0).q = random.quaternion();
    scene.X_WB(1).q = is_flush ? scene.X_WB(0).q : random.quaternion();
    scene.X_WB(1).p = scene.X_WB(0).q * Vec3<double>(0.01, 0.02, is_flush ? 0.09 : 0.075);
    const ContactDetector detector(scene.model, ContactConfig());
    DetectorScratch scratch;
    ContactManifold manifold;
    detector.detect(scene.state.X_WB, {}, scratch, manifold);
    std::map<std::tuple<int, int, bool>, Contact> found;
    for (const Contact& c : manifold.contacts) {
      if (c.feature.kind == ContactKind::edge_edge)
        found.emplace(std::tuple(c.feature.feature_A, c.feature.feature_B, c.feature.on_B), c);
    }
    found_in_all += found.size();

    std::vector<ContactFeature> features;
    const auto edge_count = [&](int b) {
      const Body& body = scene.body(b);
      const FeatureColumns columns(body.contact_points, detector.sdf(b));
      return static_cast<int>(EdgeBody(body, detector.sdf(b), columns).edges.size());
    };
    const int edges_A = edge_count(0), edges_B = edge_count(1);
    for (int k = 0; k < edges_A; ++k) {
      for (int l = 0; l < edges_B; ++l) {
        for (const bool on_B : {false, true}) features.push_back({ContactKind::edge_edge, 0, 1, k, l, on_B});
      }
    }
    ManifoldLinearization all;
    detector.linearize(scene.state.X_WB, features, all);
    const double reach = 4.0 * detector.make_pair(0, 1).activity_smoothing;
    for (const Contact& c : all.contacts) {
      const auto it = found.find({c.feature.feature_A, c.feature.feature_B, c.feature.on_B});
      const bool counts = c.weight > 0.0 && c.penetration < reach;
      if (!counts) ++weightless;
      if (std::abs(c.penetration - reach) < 1e-12 || (c.weight > 0.0 && c.weight < 1e-30)) continue;
      CAPTURE(c.feature.feature_A, c.feature.feature_B, c.feature.on_B, c.weight, c.penetration);
      REQUIRE((it != found.end()) == counts);
      if (it == found.end()) continue;
      const Contact& d = it->second;
      REQUIRE(test::close(d.weight, c.weight, 1e-10, 1e-15));
      REQUIRE(test::close(d.penetration, c.penetration, 1e-10, 1e-13));
      REQUIRE(test::close(d.signed_distance, c.signed_distance, 1e-10, 1e-13));
      REQUIRE(test::close(d.normal_AB_W, c.normal_AB_W, 1e-10, 1e-12));
      REQUIRE(test::close(d.point_W, c.point_W, 1e-10, 1e-12));
      REQUIRE(d.area == c.area);
    }
  }
  CHECK(found_in_all > 100);
  CHECK(weightless > 1000);
}
