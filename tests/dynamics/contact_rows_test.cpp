#include "dynamics/rows/contact_rows.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/rollout/shape_change.h"
#include "dynamics/step/gradient.h"
#include "engine/body_builder.h"
#include "engine/smooth.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

constexpr RowSettings k_settings{2e-3, 4e-6, 0.02};

struct Rows {
  MassMatrix mass;
  ContactManifold manifold;
  ContactRows rows;

  explicit Rows(const TestScene& scene, const RowSettings& settings = k_settings,
                const ContactConfig& config = {}) {
    DetectorScratch scratch;
    const ContactDetector detector(scene.model, config);
    const std::vector<double> margins(scene.model.bodies.size(), 0.02);
    detector.detect(scene.state.X_WB, margins, scratch, manifold);
    mass.update(scene.model, scene.state);
    make_rows(scene.model, mass, scene.state, manifold.contacts, manifold.pairs, settings, rows);
  }
  [[nodiscard]] double sum() const {
    double total = 0.0;
    for (const ContactRow& row : rows.rows) total += row.weight;
    return total;
  }
};

TestScene box_at(double height, int subdivisions = 4, double tilt = 0.0) {
  const Vec3<double> half(0.1, 0.08, 0.05);
  TestScene scene = test::floor_scene();
  scene.add(test::box_of_mass(half, 1.0, subdivisions),
            test::pose_at({0, 0, half.z() + height}, {tilt, 0.7 * tilt, 0}));
  return scene;
}

}  // namespace

TEST_CASE("make_rows: the shares of a touching pair add up to 1, however it is meshed",
          "[dynamics][property]") {
  const int subdivisions = GENERATE(1, 2, 4, 8, 16);
  const double height = GENERATE(0.0, -1e-4, -5e-4, 1e-4);
  ContactConfig config;
  config.flush_faces = GENERATE(true, false);
  const Rows rows(box_at(height, subdivisions), k_settings, config);
  CAPTURE(subdivisions, height);
  REQUIRE(rows.rows.pairs.size() == 1);
  const int points = (subdivisions + 1) * (subdivisions + 1), count = static_cast<int>(rows.rows.rows.size());
  CHECK((config.flush_faces ? count <= points : count == points));
  CHECK(test::close(rows.sum(), 1.0, 1e-12, 0));
}

TEST_CASE("make_rows: a lone corner carries the whole pair", "[dynamics][value]") {
  const double tilt = 0.4;
  TestScene scene = box_at(0.0, 4, tilt);
  double lowest = 1.0;
  const Body& box = scene.model.bodies[1];
  for (Eigen::Index i = 0; i < box.contact_points.cols(); ++i) {
    lowest = std::min(
        lowest, (scene.state.X_WB[1] * Vec3<double>(box.contact_points.col(i))).z() - box.contact_radius);
  }
  scene.X_WB(1).p.z() -= lowest;  // now it just touches, half active
  const Rows rows(scene);
  REQUIRE(rows.rows.rows.size() == 1);
  const ContactRow& row = rows.rows.rows[0];
  const Contact& contact = rows.manifold.contacts[static_cast<std::size_t>(row.contact)];
  CHECK(contact.activity == Approx(0.5).epsilon(1e-12));
  CHECK(test::close(row.share, 0.5 * contact.area, 1e-12, 0));
  CHECK(row.weight > 0.9);
  CHECK(row.weight <= 1.0);
}

TEST_CASE("make_rows: weights set in smoothly as a body arrives, and stay in 0 to 1",
          "[dynamics][property]") {
  // Gamma(g) = gamma/D(gamma) of a lone contact: C^2, from 0 to 1. Differences of the weight may not jump.
  const auto weight_at = [](double height) {
    TestScene scene = test::floor_scene();
    scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0.1 + height}));
    const Rows rows(scene);
    return rows.rows.rows.empty() ? 0.0 : rows.rows.rows[0].weight;
  };
  const double tau = 2e-3 * 0.2 + k_settings.resting_band;
  CHECK(weight_at(4.001 * tau) == 0.0);
  CHECK(weight_at(-4.0 * tau) == 1.0);
  CHECK(weight_at(0.0) == 1.0);  // half active is the floor a_0 of the denominator
  const double step = 1e-3 * tau;
  double previous = 0.0, previous_slope = 0.0;
  for (double height = 4.1 * tau; height > -1.0 * tau; height -= step) {
    const double weight = weight_at(height), slope = (weight - previous) / step;
    REQUIRE(weight >= previous);
    REQUIRE(weight <= 1.0);
    REQUIRE(slope <= 1.0 / tau);
    REQUIRE(std::abs(slope - previous_slope) <= 2.0 * step / (tau * tau));
    previous = weight;
    previous_slope = slope;
  }
}

TEST_CASE("make_rows: a body on its way counts with the gap it will have", "[dynamics][value]") {
  TestScene scene = test::floor_scene();
  const double r = 0.1, speed = 3.0, gap = 1e-4;
  scene.add(test::sphere_of_mass(r, 1.0), test::pose_at({0, 0, r + gap + speed * k_settings.h}),
            test::moving_at({0.5, 0, -speed}));
  const Rows rows(scene);
  REQUIRE(rows.rows.rows.size() == 1);
  const ContactRow& row = rows.rows.rows[0];
  const double tau = 2e-3 * 2.0 * r + k_settings.resting_band;
  CHECK(test::close(row.distance, gap + speed * k_settings.h, 1e-12, 0));
  CHECK(
      test::close(row.share / rows.manifold.contacts[0].area, smoothstep5(0.5 - gap / (8.0 * tau)), 1e-9, 0));
  CHECK(test::close(row.inverse_mass, 1.0, 1e-14, 0));
  scene.V_WB(1)[5] = 0.0;  // at rest up there it has none
  CHECK(Rows(scene).rows.rows.empty());
}

TEST_CASE("pair_material: two bodies make one pair, and an override any part of it", "[dynamics][value]") {
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.1, 1.0));
  scene.body(0).material = {0.2, 1e4, 0.01, 0.3};
  scene.body(1).material = {0.6, 3e4, -1.0, 0.8};
  const PairMaterial pair = pair_material(scene.model, 0, 1, 0.05);
  CHECK(test::close(pair.friction, 2.0 * 0.2 * 0.6 / 0.8, 1e-15, 0));
  CHECK(test::close(pair.compliance, 1e-4 + 1.0 / 3e4, 1e-15, 0));
  CHECK(test::close(pair.dissipation_time, 0.5 * (0.01 + 0.05), 1e-15, 0));
  CHECK(test::close(pair.restitution, 0.55, 1e-15, 0));
  scene.model.pair_overrides.push_back({.body_A = 0, .body_B = 1, .friction = 0.9, .restitution = 0.25});
  scene.model.pair_overrides.push_back(
      {.body_A = 0, .body_B = 1, .stiffness = 500.0, .dissipation_time = -1.0});
  const PairMaterial overridden = pair_material(scene.model, 0, 1, 0.05);
  CHECK(overridden.friction == 0.9);
  CHECK(overridden.compliance == 1.0 / 500.0);
  CHECK(overridden.dissipation_time == 0.05);
  CHECK(overridden.restitution == 0.25);
  scene.body(0).material.friction = scene.body(1).material.friction = 0.0;
  CHECK(pair_material(scene.model, 0, 1, 0.05).friction == 0.9);
  scene.model.pair_overrides.clear();
  CHECK(pair_material(scene.model, 0, 1, 0.05).friction == 0.0);
  scene.body(0).material.stiffness = scene.body(1).material.stiffness = k_infinity;
  CHECK(pair_material(scene.model, 0, 1, 0.05).compliance == 0.0);
}

TEST_CASE("pair_material: VJP agrees with differences, overridden parts belong to the override",
          "[dynamics][derivative]") {
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    TestScene scene = test::floor_scene();
    scene.add(test::sphere_of_mass(0.1, 1.0));
    for (Body& body : scene.model.bodies) {
      body.material = {random.uniform(0.01, 1.0), std::pow(10.0, random.uniform(3.0, 5.0)),
                       random.uniform(0.001, 0.1), random.uniform(0.1, 0.9)};
    }
    if (i % 2 == 0) {
      PairOverride pair;
      pair.body_A = 0;
      pair.body_B = 1;
      if (i % 4 == 0) pair.friction = random.uniform();
      pair.stiffness = 2e4;
      scene.model.pair_overrides.push_back(pair);
    }
    const PairMaterialBar bar{random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0) * 1e4,
                              random.uniform(-1.0, 1.0) * 10.0, random.uniform(-1.0, 1.0)};
    ModelGradient gradient;
    gradient.set_zero(scene.model);
    pair_material_vjp(scene.model, 0, 1, bar, gradient);
    const auto loss = [&](const Model& model) {
      const PairMaterial pair = pair_material(model, 0, 1, 0.05);
      return bar.friction * pair.friction + bar.compliance * pair.compliance +
             bar.dissipation_time * pair.dissipation_time + bar.restitution * pair.restitution;
    };
    for (std::size_t b = 0; b < 2; ++b) {
      const Material& at = scene.model.bodies[b].material;
      const auto with = [&](Material material) {
        Model model = scene.model;
        model.bodies[b].material = material;
        return loss(model);
      };
      const double by_friction = test::fd_derivative(
          [&](double x) {
            return with({x, at.stiffness, at.dissipation_time, at.restitution});
          },
          at.friction, 1e-6);
      const double by_compliance = test::fd_derivative(
          [&](double x) {
            return with({at.friction, 1.0 / x, at.dissipation_time, at.restitution});
          },
          1.0 / at.stiffness, 1e-3 / at.stiffness);
      const double by_time = test::fd_derivative(
          [&](double x) {
            return with({at.friction, at.stiffness, x, at.restitution});
          },
          at.dissipation_time, 1e-6);
      const double by_restitution = test::fd_derivative(
          [&](double x) {
            return with({at.friction, at.stiffness, at.dissipation_time, x});
          },
          at.restitution, 1e-6);
      REQUIRE(test::close(gradient.bodies[b].restitution, by_restitution, 1e-6, 1e-7));
      REQUIRE(test::close(gradient.bodies[b].friction, by_friction, 1e-6, 1e-7));
      REQUIRE(test::close(gradient.bodies[b].compliance, by_compliance, 1e-6, 1e-6));
      REQUIRE(test::close(gradient.bodies[b].dissipation_time, by_time, 1e-6, 1e-7));
    }
    if (scene.model.pair_overrides.empty()) continue;
    REQUIRE(gradient.pairs[0].compliance == bar.compliance);
    REQUIRE(gradient.pairs[0].friction == (i % 4 == 0 ? bar.friction : 0.0));
    REQUIRE(gradient.pairs[0].dissipation_time == 0.0);
  }
}

TEST_CASE("rows_vjp: agrees with differences by contacts, poses and velocities, reduced or not",
          "[dynamics][derivative]") {
  const Reduction reduction = GENERATE(Reduction::none, Reduction::blend, Reduction::cluster);
  CAPTURE(static_cast<int>(reduction));
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 70; ++seed) {
    Random random(seed);
    TestScene scene = test::random_contact_scene(random, {1, 3});
    Random of_floor(seed);  // which moves, though no force can change that
    scene.V_WB(0) = test::random_vector<6>(of_floor, 0.3);
    const Vec6<double> d_twist = test::random_vector<6>(of_floor);
    const Vec3<double> c_drift = test::random_vector(of_floor);
    ContactConfig config;
    config.reduction = reduction;
    Rows at(scene, k_settings, config);
    if (at.rows.rows.empty()) continue;
    GrowableVector velocity(at.mass.size()), d_velocity(at.mass.size());
    for (int s = 0; s < at.mass.slot_count(); ++s) {
      velocity.segment<6>(6 * s) = scene.state.V_WB[static_cast<std::size_t>(at.mass.body(s))];
      d_velocity.segment<6>(6 * s) = test::random_vector<6>(random);
    }
    // A sum over rows in which a row that fades out loses its say: rows need no names.
    const double c = random.uniform(-1.0, 1.0), c_distance = random.uniform(-10.0, 10.0);
    const Vec3<double> c_normal = test::random_vector(random), c_A = test::random_vector(random),
                       c_B = test::random_vector(random);
    const auto say = [&](const ContactRow& row) {
      return c + c_distance * row.distance + c_normal.dot(row.n) + c_A.dot(row.r_A) + c_B.dot(row.r_B) +
             c_drift.dot(row.drift);
    };
    std::vector<ContactRowBar> bars;
    for (const ContactRow& row : at.rows.rows) {
      ContactRowBar& bar = bars.emplace_back();
      bar.weight = say(row);
      bar.distance = row.weight * c_distance;
      bar.n = row.weight * c_normal;
      bar.r_A = row.weight * c_A;
      bar.r_B = row.weight * c_B;
      bar.drift = row.weight * c_drift;
    }
    std::vector<ContactBar> contact_bars(at.manifold.contacts.size());
    std::vector<Vec6<double>> pose_bar(scene.model.bodies.size(), Vec6<double>::Zero());
    std::vector<Vec6<double>> twist_bar(scene.model.bodies.size(), Vec6<double>::Zero());
    GrowableVector velocity_bar = GrowableVector::Zero(at.mass.size());
    rows_vjp(at.rows, k_settings.h, velocity, bars, {contact_bars, pose_bar, &velocity_bar, twist_bar});

    // Along one direction of all contacts, poses and velocities at once.
    ContactManifold moved = at.manifold;
    std::vector<ContactBar> way(moved.contacts.size());
    double slope = velocity_bar.dot(d_velocity) + twist_bar[0].dot(d_twist);
    for (std::size_t k = 0; k < moved.contacts.size(); ++k) {
      way[k].point_W = test::random_vector(random, 0.01);
      way[k].normal_AB_W = test::random_vector(random, 0.1);
      way[k].signed_distance = random.uniform(-1e-3, 1e-3);
      way[k].weight = random.uniform(-0.1, 0.1);
      const ContactBar& bar = contact_bars[k];
      slope += bar.point_W.dot(way[k].point_W) + bar.normal_AB_W.dot(way[k].normal_AB_W) +
               bar.signed_distance * way[k].signed_distance + bar.weight * way[k].weight;
    }
    std::vector<Vec6<double>> d_pose;
    for (const Vec6<double>& bar : pose_bar) {
      d_pose.push_back(test::random_vector<6>(random) * 0.01);
      slope += bar.dot(d_pose.back());
    }
    std::vector<ContactClusters> clusters;
    for (const RowPair& pair : at.rows.pairs) clusters.push_back(pair.clusters);
    const auto loss = [&](double t) {
      State state = scene.state;
      state.V_WB[0] += t * d_twist;
      for (int s = 0; s < at.mass.slot_count(); ++s)
        state.V_WB[static_cast<std::size_t>(at.mass.body(s))] += t * d_velocity.segment<6>(6 * s);
      for (std::size_t b = 0; b < d_pose.size(); ++b)
        state.X_WB[b] = retract<double>(state.X_WB[b], t * d_pose[b]);
      for (std::size_t k = 0; k < moved.contacts.size(); ++k) {
        Contact contact = at.manifold.contacts[k];
        contact.point_W += t * way[k].point_W;
        contact.normal_AB_W += t * way[k].normal_AB_W;
        contact.signed_distance += t * way[k].signed_distance;
        contact.weight += t * way[k].weight;
        moved.contacts.set(k, contact);
      }
      ContactRows rows;
      make_rows(scene.model, at.mass, state, moved.contacts, moved.pairs, k_settings, rows, clusters);
      double sum = 0.0;
      for (const ContactRow& row : rows.rows) sum += row.weight * say(row);
      return sum;
    };
    const auto fd = test::fd_sweep(loss, 0.0, 0.02, 1e-6, 1e-8);
    CAPTURE(seed, slope, fd.value, fd.error, at.rows.rows.size());
    if (fd.disagrees_with_itself) continue;
    ++compared;
    REQUIRE(test::close(slope, fd.value, 1e-5, 1e-6));
  }
  CHECK(compared >= 35);
}

// Numbers of a shape decide on no formula -------------------------------------------------------------------

namespace {

/// The height after 40 steps of the penalty law of a capsule that falls on a floor askew.
struct CapsuleFall {
  TestScene scene;
  StepConfig config;

  CapsuleFall(const Body& capsule, DetectorKind detector) : scene(test::floor_scene(0.3)) {
    scene.add(capsule, test::pose_at({0, 0, 0.049}, {0.5, 0.2, 0.0}), test::moving_at({0.3, 0.0, -0.5}));
    for (Body& body : scene.model.bodies) body.material.dissipation_time = 0.0;
    config.law = ContactLaw::penalty;
    config.h = 5e-4;
    config.contact.detector = detector;
  }
  [[nodiscard]] double height() const {
    State end;
    REQUIRE(simulate(Stepper(scene.model, config), scene.state, k_steps, {}, end).status == StepStatus::ok);
    return end.X_WB[1].p.z();
  }
  [[nodiscard]] double by_half_length() const {
    const Stepper stepper(scene.model, config);
    const Trajectory trajectory = rollout(stepper, scene.state, k_steps);
    REQUIRE(trajectory.ok());
    const Gradient gradient = adjoint(stepper, trajectory, [](int k, const State&, StateTangent& bar) {
      if (k == k_steps) bar.pose[1][5] += 1.0;
    });
    return gradient.model.bodies[1].shape[0].parameters[1];
  }
  static constexpr int k_steps = 40;
};

Body with_half_length(const Body& capsule, double half_length) {
  std::vector<Primitive> primitives = capsule.shape.primitives;
  primitives[0].parameters[1] = half_length;
  return with_primitives(capsule, primitives);
}

}  // namespace

TEST_CASE("make_rows: a capsule of length 0 acts as one of next to none", "[dynamics][property]") {
  const DetectorKind detector = GENERATE(DetectorKind::manifold, DetectorKind::gjk);
  const Body point = make_capsule(0.05, 0.0, 1000.0);
  const double height = CapsuleFall(point, detector).height(),
               beside = CapsuleFall(with_half_length(point, 1e-9), detector).height();
  CAPTURE(static_cast<int>(detector), height, beside);
  CHECK(test::close(beside, height, 0, 1e-8));
}

TEST_CASE("make_rows: the derivative with respect to a capsule's length is right at and beside 0",
          "[dynamics][derivative]") {
  const double half_length = GENERATE(0.0, 1e-3, 2e-2);
  const Body capsule = make_capsule(0.05, half_length, 1000.0);
  const auto height = [&](double length) {
    return CapsuleFall(with_half_length(capsule, length), DetectorKind::manifold).height();
  };
  const double step = half_length == 0.0 ? 1e-6 : 1e-4 * half_length;
  const double difference = half_length == 0.0  // no length is negative
                                ? (height(step) - height(0.0)) / step
                                : (height(half_length + step) - height(half_length - step)) / (2.0 * step);
  const double slope = CapsuleFall(capsule, DetectorKind::manifold).by_half_length();
  CAPTURE(half_length, slope, difference);
  CHECK((half_length == 0.0 || slope != 0.0));
  CHECK(test::close(slope, difference, 1e-5, 1e-7));
}
