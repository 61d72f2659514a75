/// Contacts of edges in the detector: crossing edges in closed form, symmetry, frames, and VJP against
/// differences.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "engine/body_builder.h"
#include "engine/body_io.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

using namespace abut;
using test::TestScene;

namespace {

/// A prism-like superquadric with a coarse mesh of its own surface: long edges, no vertices near their
/// middles.
Body coarse_box(double eps = 0.1) {
  Body body = test::superquadric_of_mass({0.1, 0.1, 0.1}, eps, eps, 1.0);
  const ShapeSdf sdf(body.shape);
  TriangleMesh mesh;
  mesh.vertices.resize(3, 8);
  for (int i = 0; i < 8; ++i) {
    Vec3<double> x(i & 1 ? 0.1 : -0.1, i & 2 ? 0.1 : -0.1, i & 4 ? 0.1 : -0.1);
    double low = 0.1, high = 2.0;  // along the ray to the corner
    for (int k = 0; k < 200; ++k) {
      const double middle = 0.5 * (low + high);
      (sdf.distance<double>(Vec3<double>(middle * x)) < 0.0 ? low : high) = middle;
    }
    mesh.vertices.col(i) = low * x;
  }
  for (const auto& [a, b, c, d] : {std::array{0, 2, 3, 1}, std::array{4, 5, 7, 6}, std::array{0, 1, 5, 4},
                                   std::array{2, 6, 7, 3}, std::array{0, 4, 6, 2}, std::array{1, 3, 7, 5}}) {
    mesh.triangles.emplace_back(a, b, c);
    mesh.triangles.emplace_back(a, c, d);
  }
  body.mesh = mesh;
  body.contact_points = mesh.vertices;
  body.contact_radius = 0.0;
  body.contact_areas = vertex_areas(mesh);
  body.contact_area_vectors = vertex_area_vectors(mesh);
  body.flat_faces.clear();
  body.seeds = {};
  return body;
}

/// Two boxes turned by 45 degrees about different axes, so that an edge of each crosses the other's at `gap`.
TestScene crossing_boxes(double gap) {
  TestScene scene;
  const Body box = coarse_box();
  const double edge = std::abs(box.contact_points(0, 0)) * std::numbers::sqrt2;  // from the axis to an edge
  Pose<double> X_A, X_B;
  X_A.q = Quat<double>(Eigen::AngleAxisd(std::numbers::pi / 4, Vec3<double>::UnitX()));
  X_B.q = Quat<double>(Eigen::AngleAxisd(std::numbers::pi / 4, Vec3<double>::UnitY()));
  X_A.p = {0.013, 0, 0};
  X_B.p = {0, -0.021, 2.0 * edge + gap};
  scene.add(box, X_A);
  scene.add(box, X_B);
  return scene;
}

std::vector<Contact> edge_contacts(const TestScene& scene, const ContactConfig& config) {
  const ContactDetector detector(scene.model, config);
  DetectorScratch scratch;
  ContactManifold manifold;
  const std::vector<double> margins(scene.model.bodies.size(), 0.002);
  detector.detect(scene.state.X_WB, margins, scratch, manifold);
  std::vector<Contact> contacts;
  for (const Contact& c : manifold.contacts) {
    if (c.feature.kind == ContactKind::edge_edge) contacts.push_back(c);
  }
  return contacts;
}

/// Numbers that a loss is made of: each contact's, times weights of its own.
template <typename Contacts>
double loss_of(const Contacts& contacts, const std::map<std::pair<int, int>, Eigen::VectorXd>& weights) {
  double loss = 0.0;
  for (const Contact& c : contacts) {
    const auto found = weights.find({c.feature.feature_A, c.feature.feature_B});
    if (found == weights.end()) continue;
    const Eigen::VectorXd& w = found->second;
    loss += w[0] * c.signed_distance + w[1] * c.activity + w[2] * c.weight + w.segment<3>(3).dot(c.point_W) +
            w.segment<3>(6).dot(c.normal_AB_W);
  }
  return loss;
}

TestScene armadillos(Random& random) {
  static const Body armadillo =
      read_body(std::string(ABUT_SOURCE_DIR) + "/assets/bodies/armadillo/body.toml");
  TestScene scene;
  scene.add(armadillo, test::random_pose(random, 0.1 * armadillo.size));
  scene.add(armadillo, test::random_pose(random, 0.1 * armadillo.size));
  scene.state.X_WB[1].p += 0.4 * armadillo.size * random.unit_vector();
  return scene;
}

}  // namespace

TEST_CASE("edge contacts: crossing edges of boxes touch at their crossing", "[collision][value]") {
  for (const double gap : {-2e-3, -5e-4, 5e-4}) {
    const TestScene scene = crossing_boxes(gap);
    const std::vector<Contact> contacts = edge_contacts(scene, {});
    CAPTURE(gap, contacts.size());
    const auto best =
        std::max_element(contacts.begin(), contacts.end(),
                         [](const Contact& a, const Contact& b) { return a.weight < b.weight; });
    REQUIRE(best != contacts.end());
    CHECK(best->weight > 0.5);
    // The meshes' edges are straight.
    const double edge = std::abs(scene.model.bodies[0].contact_points(0, 0)) * std::numbers::sqrt2;
    CHECK(test::close(best->signed_distance, gap, 1e-9, 1e-12));
    CHECK(test::close(best->normal_AB_W, Vec3<double>(0, 0, 1), 0, 1e-12));
    CHECK(test::close(best->point_W, Vec3<double>(0, 0, edge + 0.5 * gap), 0, 1e-12));
    double others = 0.0;
    for (const Contact& c : contacts) {
      if (c.feature.feature_A != best->feature.feature_A || c.feature.feature_B != best->feature.feature_B)
        others = std::max(others, c.weight);
    }
    CHECK(others < 0.01);
    // Vertices alone see nothing of it.
    ContactConfig vertices;
    vertices.edge_edge = false;
    const ContactDetector detector(scene.model, vertices);
    DetectorScratch scratch;
    ContactManifold manifold;
    detector.detect(scene.state.X_WB, {}, scratch, manifold);
    CHECK(manifold.contacts.empty());
  }
}

TEST_CASE("edge contacts: swapping the bodies turns the normals round and nothing else",
          "[collision][property]") {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    const TestScene scene = armadillos(random);
    TestScene swapped;
    swapped.add(scene.model.bodies[1], scene.state.X_WB[1]);
    swapped.add(scene.model.bodies[0], scene.state.X_WB[0]);
    const std::vector<Contact> one = edge_contacts(scene, {}), other = edge_contacts(swapped, {});
    std::map<std::pair<int, int>, Contact> by_feature;
    for (const Contact& c : other) by_feature[{c.feature.feature_B, c.feature.feature_A}] = c;
    for (const Contact& c : one) {
      if (c.weight < 1e-9) continue;
      CAPTURE(seed, c.weight);
      const auto it = by_feature.find({c.feature.feature_A, c.feature.feature_B});
      REQUIRE(it != by_feature.end());
      REQUIRE(test::close(it->second.signed_distance, c.signed_distance, 1e-9, 1e-12));
      REQUIRE(test::close(it->second.weight, c.weight, 1e-8, 1e-13));
      REQUIRE(test::close(it->second.normal_AB_W, Vec3<double>(-c.normal_AB_W), 1e-9, 1e-11));
      REQUIRE(test::close(it->second.point_W, c.point_W, 1e-9, 1e-11));
      ++compared;
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("edge contacts: a common motion of both bodies moves them along", "[collision][property]") {
  Random random(5);
  std::size_t compared = 0;
  for (int i = 0; i < 12; ++i) {
    const TestScene scene = armadillos(random);
    TestScene moved = scene;
    const Pose<double> X = test::random_pose(random, 1.0);
    for (Pose<double>& X_WB : moved.state.X_WB) X_WB = X * X_WB;
    const std::vector<Contact> one = edge_contacts(scene, {}), other = edge_contacts(moved, {});
    std::map<std::pair<int, int>, Contact> by_feature;
    for (const Contact& c : other) by_feature[{c.feature.feature_A, c.feature.feature_B}] = c;
    for (const Contact& c : one) {
      if (c.weight < 1e-9) continue;
      const auto it = by_feature.find({c.feature.feature_A, c.feature.feature_B});
      REQUIRE(it != by_feature.end());
      REQUIRE(test::close(it->second.signed_distance, c.signed_distance, 1e-8, 1e-12));
      REQUIRE(test::close(it->second.weight, c.weight, 1e-7, 1e-12));
      REQUIRE(test::close(it->second.point_W, Vec3<double>(X * c.point_W), 1e-9, 1e-11));
      REQUIRE(test::close(it->second.normal_AB_W, Vec3<double>(X.q * c.normal_AB_W), 1e-9, 1e-11));
      ++compared;
    }
  }
  CHECK(compared > 50);
}

TEST_CASE("edge contacts: VJP by poses agrees with differences and JVP, also where edges are selected",
          "[collision][derivative]") {
  std::vector<double> errors;
  int partly_selected = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(100 + seed);
    TestScene scene = seed % 2 == 0 ? crossing_boxes(-1e-3) : armadillos(random);
    if (seed % 2 == 0) scene.state.X_WB[1] = test::random_pose(random, 0.01) * scene.state.X_WB[1];
    if (seed > 8) {
      for (Body& body : scene.model.bodies) body.selected_edges = seed % 2 == 0 ? 2 : 8;
    }
    const ContactConfig config = ContactConfig();
    const std::vector<Contact> contacts = edge_contacts(scene, config);
    std::map<std::pair<int, int>, Eigen::VectorXd> weights;
    std::vector<ContactFeature> features;
    for (const Contact& c : contacts) {
      Eigen::VectorXd w(9);
      for (int i = 0; i < 9; ++i) w[i] = random.uniform(-1.0, 1.0);
      w.head<2>() *= c.weight;  // what has no weight has no say
      w.tail<6>() *= c.weight;
      weights[{c.feature.feature_A, c.feature.feature_B}] = w;
      features.push_back(c.feature);
    }
    if (features.empty()) continue;

    const ContactDetector detector(scene.model, config);
    ManifoldLinearization linearization;
    detector.linearize(scene.state.X_WB, features, linearization);
    REQUIRE(linearization.pair_count == 1);
    std::vector<ContactBar> bars;
    for (std::size_t i = 0; i < features.size(); ++i) {
      const Eigen::VectorXd& w = weights[{features[i].feature_A, features[i].feature_B}];
      ContactBar& bar = bars.emplace_back();
      bar.signed_distance = w[0];
      bar.activity = w[1];
      bar.weight = w[2];
      bar.point_W = w.segment<3>(3);
      bar.normal_AB_W = w.segment<3>(6);
    }
    std::vector<Vec6<double>> pose_bar(2, Vec6<double>::Zero());
    detector.vjp(scene.state.X_WB, bars, linearization, pose_bar);
    const FeatureSelection(&chosen)[2] = linearization.pairs[0].edges;
    for (const ContactFeature& feature : features)
      partly_selected += chosen[0].weight(feature.feature_A) * chosen[1].weight(feature.feature_B) < 1.0;
    std::vector<Vec6<double>> pose_dot;
    for (int body = 0; body < 2; ++body) pose_dot.push_back(test::random_vector<6>(random));
    std::vector<ContactBar> dots(features.size());
    detector.jvp(scene.state.X_WB, pose_dot, linearization, dots);
    double forward = 0.0, backward = 0.0;
    for (std::size_t i = 0; i < dots.size(); ++i) {
      forward += bars[i].signed_distance * dots[i].signed_distance + bars[i].activity * dots[i].activity +
                 bars[i].weight * dots[i].weight + bars[i].point_W.dot(dots[i].point_W) +
                 bars[i].normal_AB_W.dot(dots[i].normal_AB_W);
    }
    for (std::size_t body = 0; body < 2; ++body) backward += pose_bar[body].dot(pose_dot[body]);
    CHECK(test::close(forward, backward, 1e-10, 1e-10));

    const auto loss_at = [&](std::size_t body, const Vec6<double>& tangent) {
      std::vector<Pose<double>> X_WB = scene.state.X_WB;
      X_WB[body].q = exp_quaternion<double>(tangent.head<3>()) * X_WB[body].q;
      X_WB[body].p += tangent.tail<3>();
      ManifoldLinearization moved;
      detector.linearize(X_WB, features, moved);
      return loss_of(moved.contacts, weights);
    };
    for (std::size_t body = 0; body < 2; ++body) {
      for (int i = 0; i < 6; ++i) {
        double best = 1e9;
        for (const double step : {1e-5, 1e-6, 1e-7}) {
          const Vec6<double> t = step * Vec6<double>::Unit(i);
          const double difference = (loss_at(body, t) - loss_at(body, -t)) / (2.0 * step);
          best = std::min(best, std::abs(difference - pose_bar[body][i]) / (1.0 + std::abs(difference)));
        }
        CAPTURE(seed, body, i, pose_bar[body][i]);
        CHECK(best < 1e-5);
        errors.push_back(best);
      }
    }
  }
  REQUIRE(errors.size() >= 72);
  CHECK(partly_selected > 5);
  std::sort(errors.begin(), errors.end());
  CHECK(errors[errors.size() / 2] < 1e-7);
}
