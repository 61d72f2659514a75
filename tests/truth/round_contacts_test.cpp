// Distances of balls, capsules and rounded boxes from rims, edges and each other, against elementary geometry.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

Primitive part(PrimitiveKind kind, const std::array<double, 5>& parameters, const Pose<double>& X_BP = {},
               PrimitiveOperation operation = PrimitiveOperation::add) {
  Primitive primitive;
  primitive.kind = kind;
  primitive.operation = operation;
  primitive.parameters = parameters;
  primitive.X_BP = X_BP;
  return primitive;
}

/// A fixed body that is felt by its solid only: its own contact point lies far below.
Body solid_of(std::vector<Primitive> primitives) {
  BodyDescription description;
  description.name = "solid";
  description.fixed = true;
  description.shape.primitives = std::move(primitives);
  description.contact_points = Points(Vec3<double>(0.0, 0.0, -0.05));
  return make_body(description);
}

constexpr double k_half_width = 0.008;

/// A plate, its top at z = 0.
Primitive plate() {
  return part(PrimitiveKind::rounded_box, {0.06, 0.06, 0.025, 0.0, 0.0}, test::pose_at({0, 0, -0.025}));
}
/// With a slot of that half width along y.
Body slotted() {
  return solid_of({plate(), part(PrimitiveKind::rounded_box, {k_half_width, 0.2, 0.1, 0.0, 0.0}, {},
                                 PrimitiveOperation::subtract)});
}
/// With a round hole of that radius along z.
Body holed() {
  return solid_of({plate(), part(PrimitiveKind::capsule, {k_half_width, 0.2, 0.0, 0.0, 0.0}, {},
                                 PrimitiveOperation::subtract)});
}

/// The least distance of a contact of bodies 0 and 1 that counts.
double least_distance(const TestScene& scene, double margin = 0.02) {
  const ContactDetector detector(scene.model, ContactConfig());
  DetectorScratch scratch;
  ContactManifold manifold;
  const std::vector<double> margins{0.0, margin};
  detector.detect(scene.state.X_WB, margins, scratch, manifold);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < manifold.contacts.size(); ++i) {
    const Contact contact = manifold.contacts[i];
    if (contact.weight > 1e-3) least = std::min(least, contact.signed_distance);
  }
  return least;
}

TestScene scene_of(Body solid, Body body, const Pose<double>& X_WB) {
  TestScene scene;
  scene.add(std::move(solid));
  scene.add(std::move(body), X_WB);
  return scene;
}

/// From the edges of the opening, or from the top beside it [m].
double distance_from_opening(double aside, double height) {
  return aside >= k_half_width ? height : std::hypot(k_half_width - aside, height);
}

}  // namespace

TEST_CASE("ball: its distance from a slot and from a round hole is that from the rim", "[truth][value]") {
  const double radius = GENERATE(0.009, 0.01, 0.03);
  Random random(1);
  const TestScene slot = scene_of(slotted(), make_sphere(radius, 1000.0), {}),
                  hole = scene_of(holed(), make_sphere(radius, 1000.0), {});
  int over = 0;
  for (int i = 0; i < 200; ++i) {
    const double aside = random.uniform(0.0, 1.5) * k_half_width, height = random.uniform(0.2, 1.2) * radius,
                 turn = random.uniform(-3.0, 3.0),
                 true_distance = distance_from_opening(aside, height) - radius;
    if (true_distance > 5e-3) continue;
    TestScene at = slot;
    at.X_WB(1).p = {i % 2 == 0 ? aside : -aside, random.uniform(-0.02, 0.02), height};
    CAPTURE(radius, aside, height, true_distance);
    REQUIRE(test::close(least_distance(at), true_distance, 0, 1e-6 * radius));
    at = hole;
    at.X_WB(1).p = {aside * std::cos(turn), aside * std::sin(turn), height};
    REQUIRE(test::close(least_distance(at), true_distance, 0, 1e-6 * radius));
    over += aside < k_half_width;
  }
  CHECK(over > 50);
}

TEST_CASE("ball: comes to rest in a slot and in a hole at the height of its rims", "[truth][value]") {
  const bool is_slot = GENERATE(true, false);
  const double radius = GENERATE(0.01, 0.015),
               expected = std::sqrt(radius * radius - k_half_width * k_half_width);
  TestScene scene = scene_of(is_slot ? slotted() : holed(), make_sphere(radius, 1000.0),
                             test::pose_at({5e-4, 0, expected + 5e-4}));
  StepConfig config;
  config.h = 1e-3;
  State end;
  const StepReport report = simulate(Stepper(scene.model, config), scene.state, 1500, {}, end);
  REQUIRE(report.status == StepStatus::ok);
  CAPTURE(is_slot, radius, expected, end.X_WB[1].p.transpose());
  CHECK(test::close(end.X_WB[1].p.z(), expected, 0, 2e-2 * radius));
  CHECK(std::abs(end.X_WB[1].p.x()) <= 1e-3);
}

TEST_CASE("ball: its distance from edges and corners of a box and of a union is exact", "[truth][value]") {
  const double radius = 0.01;
  const Vec3<double> half(0.03, 0.02, 0.025);
  const auto box = [&](const Vec3<double>& p) {
    return part(PrimitiveKind::rounded_box, {half.x(), half.y(), half.z(), 0.0, 0.0}, test::pose_at(p));
  };
  const Vec3<double> other(0.05, 0.01, -0.02);
  const auto from_box = [&](const Vec3<double>& x) { return (x.cwiseAbs() - half).cwiseMax(0.0).norm(); };
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const bool is_union = i % 2 == 1;
    const Vec3<double> x = 0.06 * random.unit_vector();
    const double exact = is_union ? std::min(from_box(x), from_box(x - other)) : from_box(x);
    if (exact < 2e-3 || exact > 0.02) continue;
    const TestScene scene =
        scene_of(solid_of(is_union ? std::vector{box({0, 0, 0}), box(other)} : std::vector{box({0, 0, 0})}),
                 make_sphere(radius, 1000.0), test::pose_at(x));
    CAPTURE(is_union, x.transpose(), exact);
    // Where two boxes are equally near, the union is lower by its rounding.
    const double tau = scene.model.bodies[0].shape.union_smoothing;
    REQUIRE(test::close(least_distance(scene), exact - radius, 0, 1e-6 * radius + (is_union ? tau : 0.0)));
  }
}

TEST_CASE("capsule: crossed capsules touch at the distance of their axes, wherever they cross",
          "[truth][value]") {
  const double radius = 0.1, half = 0.25;
  Random random(3);
  int compared = 0;
  for (int i = 0; i < 300; ++i) {
    TestScene scene;
    for (const double z : {0.0, 2.0 * radius + random.uniform(-0.02, 0.02)}) {
      const double turn = random.uniform(0.0, 3.1);
      scene.add(make_capsule(radius, half, 500.0),
                test::pose_at({random.uniform(-0.15, 0.15), random.uniform(-0.15, 0.15), z}));
      scene.X_WB(scene.model.body_count() - 1).q =
          exp_quaternion<double>(Vec3<double>(0.0, 0.0, turn)) *
          exp_quaternion<double>(Vec3<double>(0.0, 0.5 * std::numbers::pi + random.uniform(-0.1, 0.1), 0.0));
    }
    Vec3<double> a[2], t[2];
    for (int b = 0; b < 2; ++b) {
      a[b] = scene.X_WB(b).p;
      t[b] = scene.X_WB(b).q * Vec3<double>(0, 0, 1);
    }
    // The closest points of both lines, if they lie well within.
    const double c = t[0].dot(t[1]), square = 1.0 - c * c;
    if (square < 0.1) continue;  // along each other
    const Vec3<double> between = a[1] - a[0];
    const double s_0 = (between.dot(t[0]) - c * between.dot(t[1])) / square,
                 s_1 = (c * between.dot(t[0]) - between.dot(t[1])) / square;
    if (std::max(std::abs(s_0), std::abs(s_1)) > 0.8 * half) continue;
    const double exact = (between + s_1 * t[1] - s_0 * t[0]).norm() - 2.0 * radius;
    CAPTURE(i, s_0, s_1, exact);
    REQUIRE(test::close(least_distance(scene, 0.05), exact, 0, 1e-6));
    ++compared;
  }
  CHECK(compared > 100);
}

TEST_CASE("capsule: across an edge of a box it touches at the distance of its axis from the edge",
          "[truth][value]") {
  const double radius = 0.02, half = 0.06;
  Random random(4);
  for (int i = 0; i < 50; ++i) {
    TestScene scene;
    scene.add(make_box({0.1, 0.1, 0.1}, 0.0, 2, 1000.0));
    scene.body(0).fixed = true;
    // Over the edge x = z = 0.1 along y: a line in the plane across (1, 0, 1), at an angle to the edge.
    const double angle = random.uniform(0.5, 2.6), along = random.uniform(-0.04, 0.04),
                 gap = random.uniform(-1e-3, 1e-3), shift = random.uniform(-0.3, 0.3) * half;
    const Vec3<double> n = Vec3<double>(1, 0, 1).normalized(), u(0, 1, 0), v = n.cross(u),
                       t = std::cos(angle) * u + std::sin(angle) * v;
    scene.add(make_capsule(radius, half, 1000.0),
              {Eigen::Quaterniond::FromTwoVectors(Vec3<double>(0, 0, 1), t),
               Vec3<double>(0.1, along, 0.1) + (radius + gap) * n + shift * t});
    CAPTURE(i, angle, along, gap, shift);
    REQUIRE(test::close(least_distance(scene), gap, 0, 1e-6));
  }
}

TEST_CASE("rounded box: its corners touch the rim of a hole where they are as far from it as their radius",
          "[truth][value]") {
  const double edge = 0.004;
  const Vec3<double> half(0.03, 0.03, 0.03);
  Random random(5);
  int compared = 0;
  for (int i = 0; i < 400; ++i) {
    TestScene scene = scene_of(holed(), make_box(half, edge, 1, 1000.0), test::pose_at({0, 0, 0}));
    scene.X_WB(1).q = Eigen::Quaterniond::FromTwoVectors(Vec3<double>(1, 1, 1), Vec3<double>(0, 0, -1)) *
                      exp_quaternion<double>(Vec3<double>(0.1 * random.unit_vector()));
    // The lowest corner, without its radius, over the opening.
    const Vec3<double> core = half.array() - edge, corner = scene.X_WB(1).q * core;
    const double aside = random.uniform(0.7, 1.2) * k_half_width, height = random.uniform(0.6, 1.2) * edge,
                 turn = random.uniform(-3.0, 3.0);
    scene.X_WB(1).p = Vec3<double>(aside * std::cos(turn), aside * std::sin(turn), height) - corner;
    const double exact = distance_from_opening(aside, height) - edge;
    if (exact > 1e-3) continue;
    CAPTURE(i, aside, height, exact);
    REQUIRE(test::close(least_distance(scene, 5e-3), exact, 0, 1e-6));
    ++compared;
  }
  CHECK(compared > 50);
}

TEST_CASE("ball: forces of a rim have the derivatives of differences", "[truth][derivative]") {
  const bool is_slot = GENERATE(true, false);
  const auto end_of = [&](double x, double radius_of_cutter) {
    TestScene scene =
        scene_of(is_slot ? slotted() : holed(), make_sphere(0.01, 1000.0), test::pose_at({x, 1e-3, 8e-3}));
    scene.body(0).shape.primitives[1].parameters[0] = radius_of_cutter;
    return scene;
  };
  const double x = 1.5e-3;
  StepConfig config;
  config.h = 1e-3;
  config.tolerance = 1e-12;
  const int steps = 30;
  const auto value = [&](double at, double cutter) {
    const TestScene scene = end_of(at, cutter);
    State end;
    (void)simulate(Stepper(scene.model, config), scene.state, steps, {}, end);
    return end.X_WB[1].p.z() + 0.5 * end.X_WB[1].p.x();
  };
  const TestScene scene = end_of(x, k_half_width);
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, steps);
  REQUIRE(trajectory.ok());
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    if (k == steps) bar.pose[1][5] = 1.0, bar.pose[1][3] = 0.5;
  });
  const auto by_x = test::fd_sweep([&](double at) { return value(at, k_half_width); }, x, 1e-5, 1e-6, 1e-9);
  const auto by_cutter =
      test::fd_sweep([&](double at) { return value(x, at); }, k_half_width, 1e-5, 1e-6, 1e-9);
  CAPTURE(is_slot, by_x.value, by_cutter.value);
  REQUIRE_FALSE(by_x.disagrees_with_itself);
  CHECK(std::abs(by_x.value) > 1e-3);
  CHECK(test::close(gradient.initial.pose[1][3], by_x.value, 1e-4, 1e-7));
  REQUIRE_FALSE(by_cutter.disagrees_with_itself);
  CHECK(std::abs(by_cutter.value) > 1e-3);
  CHECK(test::close(gradient.model.bodies[0].shape[1].parameters[0], by_cutter.value, 1e-4, 1e-7));
}
