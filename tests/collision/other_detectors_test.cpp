#include "collision/detectors/other_detectors.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "engine/detector_choice.h"
#include "engine/lie.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/convex_parts.h"
#include "tests/support/convex_polygon.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

using test::close;
using test::TestScene;

constexpr DetectorKind k_other_detectors[] = {DetectorKind::gjk, DetectorKind::proximity_qp,
                                              DetectorKind::frank_wolfe};

const char* name_of(DetectorKind detector) {
  return detector == DetectorKind::gjk            ? "gjk"
         : detector == DetectorKind::proximity_qp ? "proximity_qp"
                                                  : "frank_wolfe";
}

ContactConfig config_of(DetectorKind detector) {
  ContactConfig config;
  config.detector = detector;
  return config;
}

ContactManifold detect(const ContactDetector& detector, const std::vector<Pose<double>>& X_WB) {
  DetectorScratch scratch;
  ContactManifold manifold;
  detector.detect(X_WB, {}, scratch, manifold);
  return manifold;
}

Body random_body(Random& random) {
  const Vec3<double> half =
      0.1 * Vec3<double>(random.uniform(0.5, 1.0), random.uniform(0.5, 1.0), random.uniform(0.25, 1.0));
  switch (random.integer(5)) {
    case 0:
      return test::sphere_of_mass(half.x(), 1.0);
    case 1:
      return make_capsule(half.z(), half.x(), 1000.0);
    case 3:
      return test::polygon_body(test::random_convex_polygon(random, 5, half.x()), half.z());
    case 2:
      return make_box(half, 0.2 * half.minCoeff(), 2, 1000.0);
    default:
      return test::box_of_mass(half, 1.0);
  }
}

/// Two bodies that touch lightly: B comes from a random side, or stands flush on top.
TestScene touching_pair(Random& random, DetectorKind detector, bool is_flush) {
  TestScene scene;
  scene.add(random_body(random), {});
  scene.add(random_body(random), {});
  const auto size = [&](int b) { return scene.body(b).size; };
  Vec3<double> way = is_flush ? Vec3<double>::UnitZ() : random.unit_vector();
  if (!is_flush) scene.X_WB(1).q = test::random_pose(random).q;
  ContactConfig config = config_of(detector);
  const double start = size(0) + size(1);
  const Vec3<double> aside =
      is_flush ? Vec3<double>(0.03 * random.uniform(-1.0, 1.0), 0.03 * random.uniform(-1.0, 1.0), 0.0)
               : Vec3<double>::Zero();
  if (is_flush) scene.X_WB(1).q = exp_quaternion<double>(Vec3<double>(0.0, 0.0, random.uniform(0.1, 0.7)));
  // Down to a depth of tau_p, by bisection
  const ContactDetector detects(scene.model, config);
  const double depth = config.activity_smoothing * std::min(size(0), size(1));
  double apart = start, deep = 0.0;
  for (int i = 0; i < 50; ++i) {
    const double s = 0.5 * (apart + deep);
    scene.X_WB(1).p = aside + s * way;
    bool is_deep = false;
    for (const Contact contact : detect(detects, scene.state.X_WB).contacts)
      is_deep |= contact.signed_distance < -depth;
    (is_deep ? deep : apart) = s;
  }
  scene.X_WB(1).p = aside + apart * way;
  const Pose<double> X = test::random_pose(random);
  for (Pose<double>& X_WB : scene.state.X_WB) X_WB = X * X_WB;
  return scene;
}

Eigen::Matrix<double, 8, 1> numbers(const Contact& contact) {
  Eigen::Matrix<double, 8, 1> x;
  x << contact.point_W, contact.signed_distance, contact.normal_AB_W, contact.weight;
  return x;
}
Eigen::Matrix<double, 8, 1> numbers(const ContactBar& dot) {
  Eigen::Matrix<double, 8, 1> x;
  x << dot.point_W, dot.signed_distance, dot.normal_AB_W, dot.weight;
  return x;
}

std::vector<ContactFeature> features_of(const ContactManifold& manifold) {
  std::vector<ContactFeature> features;
  for (const Contact contact : manifold.contacts) features.push_back(contact.feature);
  return features;
}

std::vector<Pose<double>> moved(const std::vector<Pose<double>>& X_WB, const std::vector<Vec6<double>>& dot,
                                double step) {
  std::vector<Pose<double>> r;
  for (std::size_t b = 0; b < X_WB.size(); ++b)
    r.push_back(retract<double>(X_WB[b], step * dot[b]).normalized());
  return r;
}

TEST_CASE("other_detectors: JVPs are differences, and VJPs their transposes", "[collision][derivatives]") {
  for (const DetectorKind kind : k_other_detectors) {
    int checked = 0, unresolved = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Random random(seed);
      const bool is_flush = kind != DetectorKind::frank_wolfe && seed % 3 == 0;  // there its points jump
      const TestScene scene = touching_pair(random, kind, is_flush);
      const ContactDetector detector(scene.model, config_of(kind));
      const ContactManifold manifold = detect(detector, scene.state.X_WB);
      const std::vector<ContactFeature> features = features_of(manifold);
      CAPTURE(name_of(kind), seed, features.size());
      REQUIRE(!features.empty());
      ManifoldLinearization at;
      detector.linearize(scene.state.X_WB, features, at);
      std::vector<Vec6<double>> pose_dot;
      for (int b = 0; b < 2; ++b)
        pose_dot.push_back(stack<double>(random.unit_vector(), 0.1 * random.unit_vector()));
      std::vector<ContactBar> dots(features.size()), bars(features.size());
      detector.jvp(scene.state.X_WB, pose_dot, at, dots);
      double forward = 0.0;
      for (std::size_t i = 0; i < features.size(); ++i) {
        const Contact contact = manifold.contacts[i];
        CHECK(close(numbers(contact), numbers(at.contacts[i]), 1e-12, 1e-12));
        CHECK(contact.activity == Approx(at.contacts[i].activity).epsilon(1e-9));
        ContactBar& bar = bars[i];
        bar.point_W = random.unit_vector();
        bar.normal_AB_W = random.unit_vector();
        bar.signed_distance = random.uniform(-1.0, 1.0);
        bar.weight = random.uniform(-1.0, 1.0);
        bar.activity = random.uniform(-1.0, 1.0);
        forward += bar.point_W.dot(dots[i].point_W) + bar.normal_AB_W.dot(dots[i].normal_AB_W) +
                   bar.signed_distance * dots[i].signed_distance + bar.weight * dots[i].weight +
                   bar.activity * dots[i].activity;
        // The best of several steps; where two of them disagree there is a kink nearby.
        double best = k_infinity;
        for (const double step : {1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7}) {
          const Contact ahead = detector.contact(moved(scene.state.X_WB, pose_dot, step), features[i]),
                        behind = detector.contact(moved(scene.state.X_WB, pose_dot, -step), features[i]);
          const Eigen::Matrix<double, 8, 1> slope = (numbers(ahead) - numbers(behind)) / (2.0 * step);
          best = std::min(best, (slope - numbers(dots[i])).norm() / (1.0 + slope.norm()));
        }
        ++checked;
        unresolved += best > 1e-5;
      }
      std::vector<Vec6<double>> pose_bar(2, Vec6<double>::Zero());
      detector.vjp(scene.state.X_WB, bars, at, pose_bar);
      CHECK(pose_bar[0].dot(pose_dot[0]) + pose_bar[1].dot(pose_dot[1]) ==
            Approx(forward).epsilon(1e-9).margin(1e-9));
    }
    CAPTURE(name_of(kind), checked, unresolved);
    CHECK(checked > 60);
    CHECK(unresolved <= 0.03 * checked);
  }
}

/// Force and torque about the origin of a smooth law at all contacts, and its change.
Vec6<double> wrench_of(const ContactList& contacts) {
  Vec6<double> wrench = Vec6<double>::Zero();
  for (const Contact c : contacts) {
    const Vec3<double> force = -c.weight * c.signed_distance * c.normal_AB_W;
    wrench += stack<double>(c.point_W.cross(force), force);
  }
  return wrench;
}
Vec6<double> wrench_change(const ContactList& contacts, const std::vector<ContactBar>& dots) {
  Vec6<double> change = Vec6<double>::Zero();
  for (std::size_t i = 0; i < dots.size(); ++i) {
    const Contact c = contacts[i];
    const ContactBar& dot = dots[i];
    const Vec3<double> force = -c.weight * c.signed_distance * c.normal_AB_W;
    const Vec3<double> force_dot = -dot.weight * c.signed_distance * c.normal_AB_W -
                                   c.weight * dot.signed_distance * c.normal_AB_W -
                                   c.weight * c.signed_distance * dot.normal_AB_W;
    change += stack<double>(dot.point_W.cross(force) + c.point_W.cross(force_dot), force_dot);
  }
  return change;
}

TEST_CASE("other_detectors: the net wrench of aligned bodies has its two-sided derivative",
          "[collision][derivatives]") {
  const Vec3<double> half(0.05, 0.05, 0.05);
  struct Case {
    const char* name;
    Body A, B;
    Pose<double> X_WB;
  };
  const Quat<double> lying = exp_quaternion<double>(Vec3<double>(0.5 * std::numbers::pi, 0.0, 0.0));
  const std::vector<Case> cases{
      {"equal boxes", make_box(half, 0.005, 2, 1000.0), make_box(half, 0.005, 2, 1000.0),
       test::pose_at({0.0, 0.0, 0.0998})},
      {"sharp equal boxes", make_box(half, 0.0, 2, 1000.0), make_box(half, 0.0, 2, 1000.0),
       test::pose_at({0.0, 0.0, 0.0998})},
      {"a small box in the middle", make_box(half, 0.005, 2, 1000.0), make_box(0.5 * half, 0.005, 2, 1000.0),
       test::pose_at({0.0, 0.0, 0.0748})},
      {"a quarter turn", make_box(half, 0.005, 2, 1000.0), make_box(half, 0.005, 2, 1000.0),
       test::pose_at({0.0, 0.0, 0.0998}, {0.0, 0.0, 0.5 * std::numbers::pi})},
      {"a ball on the middle of a box", make_box(half, 0.0, 2, 1000.0), make_sphere(0.03, 1000.0),
       test::pose_at({0.0, 0.0, 0.0798})},
      {"a ball on the diagonal of a face", make_box(half, 0.0, 2, 1000.0), make_sphere(0.03, 1000.0),
       test::pose_at({0.02, 0.02, 0.0798})},
      {"equal plates", test::polygon_body(test::rectangle_corners(0.05, 0.05), 0.01),
       test::polygon_body(test::rectangle_corners(0.05, 0.05), 0.01), test::pose_at({0.0, 0.0, 0.0198})},
      {"a plate on a box", make_box(half, 0.005, 2, 1000.0),
       test::polygon_body(test::rectangle_corners(0.05, 0.03), 0.01), test::pose_at({0.0, 0.0, 0.0598})},
      {"parallel capsules", make_capsule(0.02, 0.05, 1000.0), make_capsule(0.02, 0.05, 1000.0),
       test::pose_at({0.0398, 0.0, 0.0})},
      {"a capsule on a box",
       make_box(half, 0.005, 2, 1000.0),
       make_capsule(0.02, 0.045, 1000.0),
       {lying, {0.0, 0.0, 0.0698}}}};
  for (const DetectorKind kind : {DetectorKind::gjk, DetectorKind::proximity_qp}) {
    for (const Case& c : cases) {
      TestScene scene;
      scene.add(c.A);
      scene.add(c.B, c.X_WB);
      const ContactDetector detector(scene.model, config_of(kind));
      const ContactManifold manifold = detect(detector, scene.state.X_WB);
      ManifoldLinearization at;
      detector.linearize(scene.state.X_WB, features_of(manifold), at);
      for (int component = 0; component < 6; ++component) {
        const std::vector<Vec6<double>> pose_dot{Vec6<double>::Zero(), Vec6<double>::Unit(component)};
        std::vector<ContactBar> dots(manifold.contacts.size());
        detector.jvp(scene.state.X_WB, pose_dot, at, dots);
        const Vec6<double> exact = wrench_change(at.contacts, dots);
        double best = k_infinity;
        Vec6<double> nearest = Vec6<double>::Zero();
        for (const double step : {1e-5, 1e-6}) {
          const auto wrench = [&](double s) {
            return wrench_of(detect(detector, moved(scene.state.X_WB, pose_dot, s)).contacts);
          };
          const Vec6<double> slope = (wrench(step) - wrench(-step)) / (2.0 * step);
          if ((slope - exact).norm() < best) nearest = slope;
          best = std::min(best, (slope - exact).norm());
        }
        CAPTURE(name_of(kind), c.name, component, exact.transpose(), nearest.transpose());
        CHECK(best <= 1e-4 * (1.0 + exact.norm()));
      }
    }
  }
}

TEST_CASE("other_detectors: proximity QPs find every contact of a tetrahedron with the ground",
          "[collision][property]") {
  Points corners(3, 4);
  corners << 0.05, -0.05, 0.0, 0.0, 0.0, 0.0, 0.05, -0.05, -0.03, -0.03, 0.03, 0.03;
  const std::vector<PaddedPart> ground{make_padded_part(test::half_space_part(), 0.1)},
      tetrahedron{make_padded_part(make_convex_part(corners), 0.1)};
  const ContactConfig config = config_of(DetectorKind::proximity_qp);
  const ConvexContacts pair(ground, tetrahedron, config);
  ConvexContactScratch scratch;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Pose<double> X_WB = test::random_pose(random);
    if (seed % 3 == 0) X_WB.q = exp_quaternion<double>(Vec3<double>(0.0, 0.0, random.uniform(-3.0, 3.0)));
    double lowest = k_infinity;
    for (int i = 0; i < 4; ++i) lowest = std::min(lowest, (X_WB.q * Vec3<double>(corners.col(i))).z());
    X_WB.p.z() = -lowest - 1e-3;
    std::vector<PointContact> contacts;
    pair.find({}, X_WB, 0.02, scratch, contacts);
    CAPTURE(seed);
    REQUIRE(!contacts.empty());
    double deepest = 0.0;
    for (const PointContact& contact : contacts) deepest = std::min(deepest, contact.signed_distance);
    CHECK(deepest > -1e-3 - 1e-9);
    CHECK(deepest < 0.01);
  }
}

TEST_CASE("other_detectors: witness derivatives can be smoothed, the same for a seed",
          "[collision][derivatives]") {
  Random random(5);
  const TestScene scene = touching_pair(random, DetectorKind::gjk, false);
  for (const WitnessDerivative how :
       {WitnessDerivative::finite_differences, WitnessDerivative::zeroth_gaussian,
        WitnessDerivative::first_gaussian, WitnessDerivative::first_gumbel}) {
    ContactConfig config = config_of(DetectorKind::gjk);
    config.witness_derivative = how;
    config.witness_epsilon = how == WitnessDerivative::finite_differences ? 1e-6 : 1e-2;
    const auto slopes = [&](int seed) {
      config.witness_seed = seed;
      const ContactDetector detector(scene.model, config);
      const ContactManifold manifold = detect(detector, scene.state.X_WB);
      ManifoldLinearization at;
      detector.linearize(scene.state.X_WB, features_of(manifold), at);
      const std::vector<Vec6<double>> pose_dot{Vec6<double>::Zero(), Vec6<double>::Unit(1)};
      std::vector<ContactBar> dots(manifold.contacts.size());
      detector.jvp(scene.state.X_WB, pose_dot, at, dots);
      Eigen::Matrix<double, 8, 1> sum = Eigen::Matrix<double, 8, 1>::Zero();
      for (const ContactBar& dot : dots) sum += numbers(dot);
      return sum;
    };
    CAPTURE(static_cast<int>(how));
    CHECK(slopes(3) == slopes(3));
    CHECK(slopes(3).allFinite());
    const bool is_sampled =
        how == WitnessDerivative::zeroth_gaussian || how == WitnessDerivative::first_gaussian;
    if (is_sampled) CHECK(slopes(3) != slopes(4));
  }
}

TEST_CASE("other_detectors: what a detector cannot take is refused by name", "[collision][errors]") {
  TestScene scene;
  scene.add(make_half_space());
  scene.add(test::box_of_mass({0.1, 0.1, 0.1}, 1.0));
  const auto refusal = [&](DetectorKind detector) {
    const auto refused = first_refused_pair(scene.model, config_of(detector));
    return refused ? refused->why : std::string();
  };
  CHECK(refusal(DetectorKind::gjk).empty());
  CHECK(refusal(DetectorKind::frank_wolfe).empty());
  CHECK(refusal(DetectorKind::proximity_qp).empty());

  scene.body(1).shape.primitives[0].kind = PrimitiveKind::cone;
  CHECK(refusal(DetectorKind::proximity_qp).find("primitive 0 is a cone") != std::string::npos);
  CHECK(refusal(DetectorKind::proximity_qp).find("\"gjk\"") != std::string::npos);
  CHECK_THROWS_AS(ContactDetector(scene.model, config_of(DetectorKind::proximity_qp)), std::invalid_argument);

  // A pair of its own may have another one.
  scene.model.pair_overrides.push_back({0, 1});
  scene.model.pair_overrides[0].contact.detector = DetectorKind::gjk;
  CHECK(refusal(DetectorKind::proximity_qp).empty());

  scene.body(1).shape.primitives[0].kind = PrimitiveKind::torus;
  CHECK(refusal(DetectorKind::gjk).find("primitive 0 is a torus") != std::string::npos);
  scene.model.pair_overrides[0].collide = false;
  CHECK(refusal(DetectorKind::gjk).empty());
}

TEST_CASE("Frank-Wolfe: triangles that stick out of their body's solid touch floors and boxes",
          "[collision][value]") {
  constexpr double k_depth = 5e-4;
  const bool is_half_space = GENERATE(true, false);
  TestScene scene;
  scene.add(is_half_space ? make_half_space() : test::box_of_mass({0.5, 0.5, 0.05}, 1.0),
            test::pose_at({0.0, 0.0, is_half_space ? 0.0 : -0.05}));
  Body ball = test::sphere_of_mass(0.05, 1.0);
  ball.mesh = test::box_of_mass({0.1, 0.1, 0.1}, 1.0).mesh;
  ball.contact_radius = 0.0;  // with that, a single point would be the ball itself
  ball.contact_points.resize(3, 2);
  ball.contact_points << 0.0, 0.0, 0.0, 0.0, -0.05, 0.05;
  ball.contact_areas = {0.01, 0.01};
  scene.add(ball, test::pose_at({0.0, 0.0, -ball.mesh.vertices.row(2).minCoeff() - k_depth}));
  const ContactDetector detector(scene.model, config_of(DetectorKind::frank_wolfe));
  const ContactManifold manifold = detect(detector, scene.state.X_WB);
  double deepest = 0.0;
  for (std::size_t i = 0; i < manifold.contacts.size(); ++i)
    deepest = std::min(deepest, manifold.contacts[i].signed_distance);
  CHECK(deepest < -0.5 * k_depth);
}

}  // namespace
}  // namespace abut
