/// Which contacts the detector gives for which settings: selected vertices, edges of rounded bodies, edges
/// against solids, reductions, and those as published.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "engine/body_io.h"
#include "engine/smooth.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

using Catch::Matchers::Contains;

ContactManifold detect(const TestScene& scene, const ContactConfig& config, double margin = 0.0) {
  const ContactDetector detector(scene.model, config);
  DetectorScratch scratch;
  ContactManifold manifold;
  const std::vector<double> margins(scene.model.bodies.size(), margin);
  detector.detect(scene.state.X_WB, margins, scratch, manifold);
  return manifold;
}

std::vector<Contact> of_kind(const ContactManifold& manifold, ContactKind kind) {
  std::vector<Contact> found;
  for (const Contact& contact : manifold.contacts) {
    if (contact.feature.kind == kind) found.push_back(contact);
  }
  return found;
}

/// A box tilted on a floor, its lowest corner `depth` deep.
TestScene tilted_box(double depth, int selected_vertices) {
  TestScene scene = floor_scene();
  const Vec3<double> half(0.1, 0.08, 0.05);
  Body box = box_of_mass(half, 1.0, 8);
  box.selected_vertices = selected_vertices;
  double lowest = 0.0;
  const Pose<double> X = pose_at({0, 0, 0}, {0.05, 0.08, 0.0});
  for (Eigen::Index i = 0; i < box.contact_points.cols(); ++i)
    lowest = std::min(lowest, (X.q * Vec3<double>(box.contact_points.col(i))).z() - box.contact_radius);
  scene.add(box, {X.q, {0.0, 0.0, -lowest - depth}});
  return scene;
}

/// Two long rounded boxes turned by 45 degrees about their axes, which cross at right angles: an edge of each
/// meets the other's at a gap [m].
TestScene crossing_beams(double gap, double radius_A, double radius_B) {
  const double half = 0.05;
  TestScene scene;
  Body lower = make_box({0.4, half, half}, radius_A, 1, 1000.0),
       upper = make_box({half, 0.4, half}, radius_B, 1, 1000.0);
  const auto top = [&](double radius) { return std::numbers::sqrt2 * (half - radius) + radius; };
  scene.add(lower, pose_at({0.03, 0, 0}, {std::numbers::pi / 4, 0, 0}));
  scene.add(upper, pose_at({0, -0.02, top(radius_A) + top(radius_B) + gap}, {0, std::numbers::pi / 4, 0}));
  return scene;
}

}  // namespace

TEST_CASE("selected vertices: the deepest keep their weight, others lose it, K in all",
          "[collision][value]") {
  const int K = 6;
  const ContactManifold all = detect(tilted_box(2e-3, 0), {}, 0.05),
                        some = detect(tilted_box(2e-3, K), {}, 0.05);
  REQUIRE(all.contacts.size() > some.contacts.size());
  double sum = 0.0, least = 1.0, deepest = 1.0, weight_of_deepest = 0.0;
  for (const Contact& contact : some.contacts) {
    const auto found = std::find_if(all.contacts.begin(), all.contacts.end(), [&](const Contact& other) {
      return other.feature.feature_B == contact.feature.feature_B;
    });
    REQUIRE(found != all.contacts.end());
    const Contact same = *found;
    CHECK(contact.signed_distance == same.signed_distance);
    CHECK(contact.point_W == same.point_W);
    CHECK(same.weight == 1.0);
    CHECK(close(contact.activity, contact.weight * same.activity, 1e-14, 0));
    CHECK(contact.weight > 0.0);
    sum += contact.weight;
    least = std::min(least, contact.weight);
    if (contact.signed_distance < deepest) {
      deepest = contact.signed_distance;
      weight_of_deepest = contact.weight;
    }
  }
  CHECK(sum <= K + 1e-12);  // the rest is kept back for vertices that are not near yet
  CHECK(sum > 0.5 * K);
  CHECK(least < 0.3);
  for (const Contact& contact : some.contacts) CHECK(contact.weight <= weight_of_deepest);
  CHECK(detect(tilted_box(2e-3, 386), {}, 0.05).contacts.size() == all.contacts.size());  // K = |V|
}

TEST_CASE("edges of rounded boxes: crossing beams touch at their crossing, whatever their radii",
          "[collision][value]") {
  const double gap = GENERATE(-1e-3, -2e-4, 3e-4), radius_A = GENERATE(0.0025, 0.01),
               radius_B = GENERATE(0.0025, 0.006);
  const TestScene scene = crossing_beams(gap, radius_A, radius_B);
  const std::vector<Contact> contacts = of_kind(detect(scene, {}, 1e-3), ContactKind::edge_edge);
  REQUIRE(!contacts.empty());
  const Contact& best =
      *std::max_element(contacts.begin(), contacts.end(),
                        [](const Contact& a, const Contact& b) { return a.weight < b.weight; });
  const double surface_A = std::numbers::sqrt2 * (0.05 - radius_A) + radius_A;
  CAPTURE(gap, radius_A, radius_B, contacts.size());
  CHECK(best.weight > 0.3);
  CHECK(close(best.signed_distance, gap, 0, 2e-5));
  CHECK(close(best.normal_AB_W, Vec3<double>(0, 0, 1), 0, 1e-12));
  CHECK(close(best.point_W.z(), surface_A + 0.5 * gap, 0, 2e-5));
  CHECK(close(best.point_W.head<2>(), Vec2<double>(0, 0), 0, 1e-12));
}

TEST_CASE("reduced_manifold: fewer contacts with the same area times activity", "[collision][property]") {
  const Reduction reduction = GENERATE(Reduction::blend, Reduction::cluster);
  ContactConfig config;
  config.reduction = reduction;
  config.cluster_radius = 0.5;
  TestScene scene = tilted_box(2e-3, 0);
  scene.X_WB(1) = pose_at({0, 0, 0.049});
  const ContactManifold manifold = detect(scene, config),
                        reduced = reduced_manifold(manifold, scene.state.X_WB);
  REQUIRE(reduced.pairs.size() == 1);
  CHECK(reduced.pairs[0].end == static_cast<int>(reduced.contacts.size()));
  CHECK(reduced.contacts.size() < manifold.contacts.size() / 3);
  const auto activity = [](const ContactManifold& m) {
    double sum = 0.0;
    for (const Contact& contact : m.contacts) sum += contact.area * contact.activity;
    return sum;
  };
  CHECK(close(activity(reduced), activity(manifold), 1e-12, 0));
  for (const Contact& contact : reduced.contacts) {
    CHECK(close(contact.signed_distance, -1e-3, 1e-9, 0));
    CHECK(close(contact.normal_AB_W, Vec3<double>(0, 0, 1), 0, 1e-6));
  }
}

TEST_CASE("edges against solids: the detector adds them for both bodies", "[collision][value]") {
  const Body armadillo = read_body(std::string(ABUT_SOURCE_DIR) + "/assets/bodies/armadillo/body.toml");
  TestScene scene;
  scene.add(armadillo);
  scene.add(armadillo, pose_at({0.004, 0.003, 0.145}, {0.03, 3.1, 0.05}));
  ContactConfig config;
  config.vertex_contacts = VertexContacts::none;
  config.edge_edge = false;
  CHECK(detect(scene, config).contacts.empty());
  config.edge_sdf = true;
  const ContactManifold manifold = detect(scene, config);
  int of_A = 0, of_B = 0;
  for (const Contact& contact : manifold.contacts) {
    CHECK(contact.feature.kind == ContactKind::edge_sdf);
    (contact.feature.feature_A >= 0 ? of_A : of_B) += 1;
    CHECK(close(contact.activity,
                contact.weight *
                    smoothstep5(0.5 - contact.signed_distance / (8.0 * manifold.pairs[0].activity_smoothing)),
                1e-12, 0));
  }
  CHECK(of_A > 5);
  CHECK(of_B > 5);
}

TEST_CASE("vertices of the first body alone: a floor that comes first has none, so the other's count",
          "[collision][value]") {
  ContactConfig config;
  config.vertex_contacts = VertexContacts::first;
  const TestScene scene = tilted_box(2e-3, 0);
  CHECK(!detect(scene, config).contacts.empty());
  CHECK(detect(scene, config).contacts.size() == detect(scene, {}).contacts.size());
}

}  // namespace abut::test
