// Padded polygons as bodies: their meshes, and what the detectors find between two of them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "collision/convex/convex_distance.h"
#include "collision/convex/support.h"
#include "collision/detectors/padded_part.h"
#include "collision/manifold/contact_detector.h"
#include "collision/sdf/shape_sdf.h"
#include "collision/segment_distance.h"
#include "engine/detector_choice.h"
#include "engine/padded_polygon.h"
#include "engine/padded_polygon_mesh.h"
#include "tests/support/close.h"
#include "tests/support/convex_polygon.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

using test::close;
using test::TestScene;

constexpr double k_padding = 0.03;

Body random_plate(Random& random) {
  const int corners = 3 + static_cast<int>(random.integer(6));
  return test::polygon_body(test::random_convex_polygon(random, corners, 0.1), k_padding);
}

std::vector<Vec3<double>> corners_in_world(const Body& body, const Pose<double>& X_WB) {
  std::vector<Vec3<double>> corners;
  const Primitive& polygon = body.shape.primitives.front();
  for (const Vec2<double>& corner : polygon_corners(polygon))
    corners.push_back(X_WB * (polygon.X_BP * Vec3<double>(corner.x(), corner.y(), 0.0)));
  return corners;
}

/// The distance of two polygons that do not cross: of corners from polygons, and of edges from edges.
double distance_of_polygons(const Body& A, const Pose<double>& X_WA, const Body& B,
                            const Pose<double>& X_WB) {
  const auto a = corners_in_world(A, X_WA), b = corners_in_world(B, X_WB);
  double least = k_infinity;
  const auto from = [&](const Body& solid, const Pose<double>& X_WS,
                        const std::vector<Vec3<double>>& points) {
    const ShapeSdf sdf(solid.shape);
    for (const Vec3<double>& x : points)
      least = std::min(least, sdf.distance<double>(inverse_point<double>(X_WS, x)) + k_padding);
  };
  from(A, X_WA, b);
  from(B, X_WB, a);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      const auto between = segment_distance<double>(a[i], a[(i + 1) % a.size()], b[k], b[(k + 1) % b.size()]);
      least = std::min(least, std::sqrt(between.squared_distance));
    }
  }
  return least;
}

/// Two plates whose polygons are the given distance apart, B on a random side of A.
TestScene plates_apart(Random& random, double distance) {
  TestScene scene;
  scene.add(random_plate(random), test::random_pose(random));
  scene.add(random_plate(random), test::random_pose(random));
  const Vec3<double> way = random.unit_vector();
  const auto is_near = [&](double along) {
    scene.X_WB(1).p = scene.X_WB(0).p + along * way;
    return distance_of_polygons(scene.body(0), scene.X_WB(0), scene.body(1), scene.X_WB(1)) < distance;
  };
  double far = 0.6, near = far;
  while (!is_near(near)) near = (far = near) - 0.1 * k_padding;  // they must not cross on the way
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (near + far);
    (is_near(middle) ? near : far) = middle;
  }
  scene.X_WB(1).p = scene.X_WB(0).p + far * way;
  return scene;
}

ContactConfig plate_config(DetectorKind detector) {
  ContactConfig config;
  config.detector = detector;
  return config;
}

ContactManifold detect(const TestScene& scene, DetectorKind kind) {
  DetectorScratch scratch;
  ContactManifold manifold;
  ContactDetector(scene.model, plate_config(kind)).detect(scene.state.X_WB, {}, scratch, manifold);
  return manifold;
}

double least_distance(const ContactManifold& manifold) {
  double least = k_infinity;
  for (const Contact contact : manifold.contacts) least = std::min(least, contact.signed_distance);
  return least;
}

TEST_CASE("padded_polygon_mesh: is closed and convex, with all vertices on the zero set",
          "[collision][value]") {
  Random random(11);
  for (int i = 0; i < 30; ++i) {
    const auto corners = test::random_convex_polygon(random, 3 + i % 6, 0.1);
    const int segments = 2 * (1 + i % 6);
    const TriangleMesh mesh = padded_polygon_mesh(corners, k_padding, segments);
    CAPTURE(i, segments, mesh.vertex_count());
    CHECK_NOTHROW(require_closed_surface(mesh, "mesh"));
    Shape shape;
    shape.primitives = {make_padded_polygon(corners, k_padding)};
    const ShapeSdf sdf(shape);
    for (int v = 0; v < mesh.vertex_count(); ++v)
      CHECK(close(sdf.distance<double>(mesh.vertices.col(v)), 0.0, 0, 1e-16));
    int flat = 0;
    for (const Eigen::Vector3i& t : mesh.triangles) {
      const Vec3<double> a = mesh.vertices.col(t[0]), b = mesh.vertices.col(t[1]),
                         c = mesh.vertices.col(t[2]);
      const Vec3<double> normal = (b - a).cross(c - a).normalized();
      CHECK((mesh.vertices.transpose() * normal).maxCoeff() <= normal.dot(a) + 1e-15);
      flat += std::abs(normal.z()) > 1.0 - 1e-12;
    }
    CHECK(flat ==
          2 * (static_cast<int>(corners.size()) - 2));  // the faces have no vertices but their corners
    // Inscribed, the closer the finer: a half circle cut into n has 1 - O(1/n^2) of its area.
    const double volume = mass_properties(mesh, 1.0).volume,
                 exact = padded_polygon_mass_properties(corners, k_padding, 1.0).volume;
    CHECK(volume < exact);
    CHECK(volume > exact * (1.0 - 2.5 / (segments * segments)));
  }
  const std::vector<Vec2<double>> triangle{{0, 0}, {1, 0}, {0, 1}};
  for (const int segments : {0, 1, 3, 1002})
    CHECK_THROWS_AS(padded_polygon_mesh(triangle, 0.1, segments), std::invalid_argument);
  CHECK_THROWS_AS(padded_polygon_mesh(triangle, 0.0), std::invalid_argument);
}

TEST_CASE("convex_distance: support points of padded polygons are those of their corners",
          "[collision][property]") {
  Random random(12);
  for (int i = 0; i < 200; ++i) {
    const Body body = random_plate(random);
    const ConvexPart<double> part = make_convex_part(body.shape.primitives.front());
    const Vec3<double> n = i % 10 == 0 ? Vec3<double>(Vec3<double>::UnitZ()) : random.unit_vector();
    int vertex = -1;
    const Vec3<double> found = core_support<double>(part, n, vertex);
    double most = -k_infinity;
    for (const Vec2<double>& c : polygon_corners(body.shape.primitives.front()))
      most = std::max(most, n.x() * c.x() + n.y() * c.y());
    CHECK(close(found.dot(n), most, 0, 1e-16));
    CHECK(part.radius == k_padding);
  }
}

TEST_CASE("detectors: agree about the distance of padded polygons at random poses", "[collision][property]") {
  Random random(13);
  for (int i = 0; i < 60; ++i) {
    const double apart = k_padding * random.uniform(0.2, 1.9), exact = apart - 2.0 * k_padding;
    const TestScene scene = plates_apart(random, apart);
    CAPTURE(i, exact);
    for (const DetectorKind kind : {DetectorKind::gjk, DetectorKind::proximity_qp}) {
      const ContactManifold found = detect(scene, kind);
      REQUIRE(found.contacts.size() > 0);
      CHECK(close(found.contacts[0].signed_distance, exact, 0, kind == DetectorKind::gjk ? 1e-14 : 1e-7));
    }
    // Between meshes inscribed within 2 % of the padding, or a mesh and the solid, which no point of the
    // other is deeper in than the padding.
    if (exact < -0.9 * k_padding) continue;
    for (const DetectorKind kind : {DetectorKind::manifold, DetectorKind::frank_wolfe}) {
      const double least = least_distance(detect(scene, kind));
      CAPTURE(static_cast<int>(kind));
      CHECK(close(least, exact, 0, 0.05 * k_padding));
    }
  }
}

TEST_CASE("detectors: contacts of padded polygons move with the frame", "[collision][property]") {
  Random random(14);
  for (int i = 0; i < 40; ++i) {
    const TestScene scene = plates_apart(random, k_padding * random.uniform(0.2, 1.9));
    TestScene moved = scene;
    const Pose<double> X = test::random_pose(random);
    for (Pose<double>& X_WB : moved.state.X_WB) X_WB = X * X_WB;
    for (const DetectorKind kind : {DetectorKind::manifold, DetectorKind::gjk, DetectorKind::proximity_qp}) {
      const ContactManifold at = detect(scene, kind), after = detect(moved, kind);
      const double tolerance = kind == DetectorKind::proximity_qp ? 1e-6 : 1e-10;
      CAPTURE(i, static_cast<int>(kind));
      REQUIRE(at.contacts.size() == after.contacts.size());
      for (std::size_t k = 0; k < at.contacts.size(); ++k) {
        const Contact a = at.contacts[k], b = after.contacts[k];
        CHECK(close(b.signed_distance, a.signed_distance, 0, tolerance));
        CHECK(close(b.normal_AB_W, Vec3<double>(X.q * a.normal_AB_W), 0, 10.0 * tolerance));
        CHECK(close(b.point_W, X * a.point_W, 0, 10.0 * tolerance));
        CHECK(close(b.weight, a.weight, 0, 10.0 * tolerance));
      }
    }
  }
}

TEST_CASE("detectors: flush plates touch by the polygon that both have in common", "[collision][value]") {
  TestScene scene;
  scene.add(test::polygon_body(test::rectangle_corners(0.1, 0.1), 0.01));
  scene.add(test::polygon_body(test::rectangle_corners(0.05, 0.02), 0.02), test::pose_at({0.01, 0.0, 0.03}));
  for (const DetectorKind kind : {DetectorKind::gjk, DetectorKind::proximity_qp}) {
    const ContactManifold found = detect(scene, kind);
    double weight = 0.0;
    Vec3<double> middle = Vec3<double>::Zero();
    double inertia = 0.0;  // of the weights about y
    for (const Contact contact : found.contacts) {
      CHECK(close(contact.signed_distance, 0.0, 0, 1e-9));
      CHECK(close(contact.normal_AB_W, Vec3<double>(0, 0, 1), 0, 1e-9));
      CHECK(close(contact.point_W.z(), 0.01, 0, 1e-9));
      weight += contact.weight;
      middle += contact.weight * contact.point_W;
      inertia += contact.weight * std::pow(contact.point_W.x() - 0.01, 2);
    }
    CAPTURE(static_cast<int>(kind), found.contacts.size());
    CHECK(found.contacts.size() >= 5);
    CHECK(close(weight, 1.0, 1e-12, 0));
    CHECK(close(middle, Vec3<double>(0.01, 0.0, 0.01), 0, 1e-8));
    CHECK(inertia > 0.05 * 0.05 / 3.0);
  }
}

TEST_CASE("detectors: plates that cross have a depth, which is the way out, and finite numbers",
          "[collision][property]") {
  Random random(15);
  for (int i = 0; i < 100; ++i) {
    TestScene scene;
    scene.add(test::polygon_body(test::rectangle_corners(0.1, 0.08), k_padding));
    scene.add(test::polygon_body(test::rectangle_corners(0.1, 0.08), k_padding));
    // One through the other, or both in one plane, or one on the other.
    if (i > 0) scene.X_WB(1).q = random.quaternion();
    if (i % 3 == 0) scene.X_WB(1).q = exp_quaternion<double>(Vec3<double>(0.0, 0.0, 0.1 * i));
    scene.X_WB(1).p = 0.02 * Vec3<double>(random.uniform(), random.uniform(), 0.0);
    for (const DetectorKind kind : {DetectorKind::manifold, DetectorKind::gjk, DetectorKind::proximity_qp}) {
      const ContactManifold found = detect(scene, kind);
      CAPTURE(i, static_cast<int>(kind));
      for (const Contact contact : found.contacts) {
        CHECK(std::isfinite(contact.signed_distance));
        CHECK(contact.normal_AB_W.allFinite());
        CHECK(contact.point_W.allFinite());
      }
      if (kind == DetectorKind::manifold) continue;  // vertices and edges may all lie outside
      REQUIRE(found.contacts.size() > 0);
      CHECK(least_distance(found) <= -2.0 * k_padding + 1e-7);
    }
    const auto part = [&](int b) { return make_convex_part(scene.body(b).shape.primitives.front()); };
    ConvexScratch scratch;
    const auto distance = [&](const Pose<double>& X_WB) {
      return convex_distance<double>(part(0), scene.X_WB(0), part(1), X_WB, {}, scratch);
    };
    const ConvexDistance<double> found = distance(scene.X_WB(1));
    Pose<double> parted = scene.X_WB(1);
    parted.p -= found.distance * found.normal_AB_W;
    CAPTURE(i, found.distance);
    CHECK(close(distance(parted).distance, 0.0, 0, 1e-9));
    const bool are_parallel = i % 3 == 0;
    CHECK((found.distance > -2.0 * k_padding - 1e-9) == are_parallel);
  }
}

TEST_CASE("detectors: a polygon of more corners than a program has room for is refused by name",
          "[collision][errors]") {
  Random random(16);
  TestScene scene;
  scene.add(make_half_space());
  scene.add(test::polygon_body(test::random_convex_polygon(random, k_most_qp_faces, 0.1), k_padding));
  CHECK_FALSE(first_refused_pair(scene.model, plate_config(DetectorKind::proximity_qp)));
  scene.body(1) =
      test::polygon_body(test::random_convex_polygon(random, k_most_qp_faces + 1, 0.1), k_padding);
  CHECK_FALSE(first_refused_pair(scene.model, plate_config(DetectorKind::gjk)));
  const auto refused = first_refused_pair(scene.model, plate_config(DetectorKind::proximity_qp));
  REQUIRE(refused);
  CHECK_THAT(refused->why, Catch::Contains("primitive 0 has 17 corners, and 16 are the most"));
  CHECK_THROWS_AS(make_padded_part(make_convex_part(scene.body(1).shape.primitives.front()), 0.1),
                  std::invalid_argument);
}

}  // namespace
}  // namespace abut
