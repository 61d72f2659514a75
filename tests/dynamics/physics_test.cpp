/// Motions with a closed form, at the default settings unless a test says otherwise.

#include <algorithm>
#include <cmath>
#include <numbers>

#include <catch2/catch.hpp>

#include "dynamics/rollout/rollout.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"
#include "tests/support/truths.h"

using namespace abut;
using namespace abut::test;

namespace {

/// The state after `seconds`; a failed step fails the test.
State state_after(const TestScene& scene, double seconds, const StepConfig& config = {},
                  const StepObserver& observer = {}) {
  const Stepper stepper(scene.model, config);
  State end;
  const int steps = static_cast<int>(std::lround(seconds / config.h));
  const StepReport report = simulate(stepper, scene.state, steps, {}, end, observer);
  REQUIRE(report.status == StepStatus::ok);
  return end;
}

double distance_moved(const TestScene& scene, const State& end, std::size_t body) {
  return (end.X_WB[body].p - scene.state.X_WB[body].p).norm();
}

}  // namespace

TEST_CASE("Stepper: a sliding box stops after v^2/(2 mu g)", "[dynamics][value]") {
  const double mu = GENERATE(0.2, 0.5, 0.9), size = GENERATE(0.01, 0.1, 10.0);
  const Vec3<double> half(0.5 * size, 0.5 * size, 0.1 * size);        // flat: it does not topple
  const double speed = std::sqrt(2.0 * mu * test::k_g * 5.0 * size);  // to slide 5 sizes
  const TestScene scene = box_on_floor(box_of_mass(half, size * size * size * 700.0), half, mu, 0.0, speed);
  StepConfig config;
  config.h = std::min(
      2e-3, speed / (mu * test::k_g) / 300.0);  // 300 steps or more: the step errs by h v/2, 1/300 of the way
  const State end = state_after(scene, 1.2 * speed / (mu * test::k_g), config);
  const double exact = speed * speed / (2.0 * mu * test::k_g);
  CAPTURE(mu, size, config.h, end.X_WB[1].p.x(), exact);
  CHECK(close(end.X_WB[1].p.x(), exact, 0.01, 0.0));
  CHECK(end.V_WB[1].norm() < 1e-3 * speed);
}

TEST_CASE("Stepper: below the friction angle a box creeps as the law predicts", "[dynamics][value]") {
  // b u/sqrt(u^2 + v_s^2) = m g sin(alpha) with b = mu m g cos(alpha): u = v_s r/sqrt(1 - r^2), r =
  // tan(alpha)/mu.
  const double mu = GENERATE(0.3, 1.0), r = GENERATE(0.3, 0.7, 0.9), size = GENERATE(0.01, 10.0);
  const Vec3<double> half(0.5 * size, 0.5 * size, 0.25 * size);
  TestScene scene = box_on_floor(box_of_mass(half, 1.0), half, mu, std::atan(r * mu));
  StepConfig config;
  scene.state = state_after(scene, 0.4, config);
  const State end = state_after(scene, 0.6, config);
  const double v_s = config.stiction_factor * test::k_g * config.h,
               expected = v_s * r / std::sqrt(1.0 - r * r);
  CAPTURE(mu, r, size);
  CHECK(close(distance_moved(scene, end, 1) / 0.6, expected, 0.02, 0.0));
}

TEST_CASE("Stepper: above the friction angle a box accelerates with g(sin - mu cos)", "[dynamics][value]") {
  const double mu = GENERATE(0.0, 0.1, 0.5), angle = std::atan(mu) + GENERATE(0.05, 0.2);
  const Vec3<double> half(0.05, 0.05, 0.02);
  const TestScene scene = box_on_floor(box_of_mass(half, 1.0), half, mu, angle);
  const State end = state_after(scene, 1.0);
  CAPTURE(mu, angle);
  CHECK(close(end.V_WB[1].tail<3>().norm(), test::k_g * (std::sin(angle) - mu * std::cos(angle)), 0.01, 0.0));
}

TEST_CASE("Stepper: a ladder on a rough floor and a smooth wall slips at the friction that statics gives",
          "[dynamics][value]") {
  const Ladder ladder{GENERATE(15.0, 20.0, 25.0, 30.0, 45.0, 60.0) * std::numbers::pi / 180.0};
  const double critical = ladder.least_friction();
  CAPTURE(ladder.angle, critical);
  CHECK_FALSE(test::moves(ladder.scene(1.015 * critical), 2, {}));
  CHECK(test::moves(ladder.scene(0.985 * critical), 2, {}));
}

TEST_CASE("Stepper: two plates that lean against each other slip at the friction that statics gives",
          "[dynamics][value]") {
  const test::LeaningPlates plates{GENERATE(25.0, 45.0) * std::numbers::pi / 180.0};
  const double critical = plates.least_friction();
  CAPTURE(plates.angle, critical);
  CHECK_FALSE(test::moves(plates.scene(1.015 * critical), 1, {}));
  CHECK(test::moves(plates.scene(0.985 * critical), 1, {}));
}

TEST_CASE("Stepper: a sliding sphere ends up rolling at 5/7 of its speed", "[dynamics][value]") {
  const double mu = GENERATE(0.1, 0.3), radius = GENERATE(0.02, 0.5), speed = 2.0;
  TestScene scene = floor_scene();
  scene.add(sphere_of_mass(radius, 3.0), pose_at({0.0, 0.0, radius}), moving_at({speed, 0.0, 0.0}));
  scene.set_friction(mu);
  StepConfig config;
  const State end = state_after(scene, 1.5 * (2.0 / 7.0) * speed / (mu * test::k_g), config);
  CAPTURE(mu, radius);
  CHECK(close(end.V_WB[1][3], 5.0 / 7.0 * speed, 1e-3, 0.0));
  // It rolls: the point of contact is at rest, but for a fraction of the speed at which friction is
  // regularised.
  CHECK(std::abs(end.V_WB[1][3] - radius * end.V_WB[1][1]) < config.stiction_factor * test::k_g * config.h);
}

TEST_CASE("PenaltySolver: a bouncing sphere follows the half period of its spring", "[dynamics][value]") {
  // In contact z'' = -(k/m) z: depth v sqrt(m/k), contact time pi sqrt(m/k), and it leaves as fast as it
  // came.
  constexpr double k_radius = 0.05, k_mass = 1.0, k_stiffness = 1e4, k_speed = 2.0;
  const double omega = std::sqrt(k_stiffness / k_mass);
  const auto bounce = [&](double h) {
    TestScene scene = floor_scene();
    scene.model.gravity.setZero();
    scene.add(sphere_of_mass(k_radius, k_mass), pose_at({0.0, 0.0, k_radius + 1e-3}),
              moving_at({0.0, 0.0, -k_speed}));
    scene.body(1).material.stiffness = k_stiffness;
    for (Body& body : scene.model.bodies) body.material.dissipation_time = 0.0;
    StepConfig config;
    config.h = h;
    config.law = ContactLaw::penalty;
    double depth = 0.0, time_in_contact = 0.0;
    const State end = state_after(scene, 0.05, config, [&](int, const State& state, const StepReport&) {
      const double penetration = k_radius - state.X_WB[1].p.z();
      depth = std::max(depth, penetration);
      if (penetration > 0.0) time_in_contact += h;
      return true;
    });
    return Vec3<double>(end.V_WB[1][5] / k_speed, depth / (k_speed / omega),
                        time_in_contact * omega / std::numbers::pi);
  };
  const Vec3<double> coarse = bounce(1e-3), fine = bounce(1.25e-4);
  CAPTURE(coarse.transpose(), fine.transpose());
  CHECK(close(fine[0], 1.0, 1e-3, 0.0));
  CHECK(close(fine[1], 1.0, 1e-3, 0.0));
  CHECK(close(fine[2], 1.0, 0.01, 0.0));  // to within a step or two of 251
  CHECK(std::abs(fine[0] - 1.0) < std::abs(coarse[0] - 1.0));
}

TEST_CASE("PenaltySolver: under gravity a sphere rises to where it fell from", "[dynamics][value]") {
  constexpr double k_radius = 0.05, k_drop = 0.2;
  TestScene scene = floor_scene();
  scene.add(sphere_of_mass(k_radius, 1.0), pose_at({0.0, 0.0, k_radius + k_drop}));
  scene.body(1).material.stiffness = 1e5;
  for (Body& body : scene.model.bodies) body.material.dissipation_time = 0.0;
  StepConfig config;
  config.h = 2e-5;
  config.law = ContactLaw::penalty;
  double apex = 0.0;
  const double fall = std::sqrt(2.0 * k_drop / test::k_g);
  state_after(scene, 2.2 * fall, config, [&](int step, const State& state, const StepReport&) {
    if (step * config.h > 1.1 * fall) apex = std::max(apex, state.X_WB[1].p.z() - k_radius);
    return true;
  });
  CHECK(close(apex, k_drop, 1e-3, 0.0));
}

TEST_CASE("PenaltySolver: light bodies on stiff springs come to rest at any time step",
          "[dynamics][property]") {
  // 1 g on 100 kN/m: the step could be 20 us for the spring alone, and less for its damper.
  const double h = GENERATE(1e-2, 2e-3, 1e-4), tau_d = GENERATE(0.0, 0.05);
  TestScene scene = floor_scene();
  for (int i = 0; i < 3; ++i) {
    scene.add(box_of_mass(Vec3<double>::Constant(0.01), 1e-3),
              pose_at({0.0, 0.0, 0.01 + 0.02 * i}, {0.0, 0.0, 0.3 * i}));
  }
  for (Body& body : scene.model.bodies) {
    body.material.stiffness = 2e5;
    body.material.dissipation_time = tau_d;
    body.linear_damping = body.angular_damping = 5.0;
  }
  StepConfig config;
  config.h = h;
  config.law = ContactLaw::penalty;
  double fastest = 0.0;
  const State end = state_after(scene, 2.0, config, [&](int, const State& state, const StepReport&) {
    for (const Vec6<double>& V : state.V_WB) fastest = std::max(fastest, V.tail<3>().norm());
    return true;
  });
  CAPTURE(h, tau_d);
  // Beyond the limit of stability speeds grow without bound; here gravity's in a few steps is the largest.
  CHECK(fastest < 0.1 + 10.0 * test::k_g * h);
  for (std::size_t b = 1; b <= 3; ++b) CHECK(end.V_WB[b].tail<3>().norm() < 0.5 * test::k_g * h);
}

TEST_CASE("Stepper: a stack of ten boxes stands for ten seconds", "[dynamics][value]") {
  const TestScene scene = stack_scene(10, 0.1, 1.0);
  const State end = state_after(scene, 10.0);
  double drift = 0.0, tilt = 0.0;
  for (std::size_t b = 1; b <= 10; ++b) {
    const Vec6<double> d = difference(end.X_WB[b], scene.state.X_WB[b]);
    tilt = std::max(tilt, d.head<3>().norm());
    drift = std::max(drift, d.tail<3>().norm());
  }
  CAPTURE(drift, tilt);
  CHECK(drift <
        1e-4);  // measured 1.6e-5 m: the boxes come to rest where the smoothed law balances their weight
  CHECK(tilt < 1e-4);
}

TEST_CASE("Stepper: boxes on each other stand at their height, however they are meshed",
          "[dynamics][value]") {
  const int subdivisions = GENERATE(1, 2, 4);
  const double edge_radius = GENERATE(0.0, 2e-3);
  constexpr int k_boxes = 5;
  TestScene scene = stack_scene(k_boxes, 0.1, 1.0, 0.5, subdivisions);
  for (std::size_t b = 1; b <= k_boxes; ++b) {
    Body box = make_box(Vec3<double>::Constant(0.05), edge_radius, subdivisions, 1000.0);
    box.material = scene.model.bodies[b].material;
    scene.model.bodies[b] = box;
  }
  const State end = state_after(scene, 1.0);
  const Vec6<double> d = difference(end.X_WB[k_boxes], scene.state.X_WB[k_boxes]);
  CAPTURE(subdivisions, edge_radius, d.transpose(), end.V_WB[k_boxes].transpose());
  CHECK(std::abs(d[5]) < 5e-6 * k_boxes);  // of the law, 0.1 g h^2 = 4e-6 m and less under load
  CHECK(d.segment<2>(3).norm() < 1e-4);
  CHECK(end.V_WB[k_boxes].norm() < 1e-4);  // creep of sharp corners that meet exactly
}

TEST_CASE("Stepper: a stack stands whatever its scale", "[dynamics][property]") {
  struct Scale {
    double edge, mass;
  };
  const Scale scale = GENERATE(Scale{0.01, 0.001}, Scale{0.1, 1.0}, Scale{1.0, 1e3}, Scale{10.0, 1e6});
  const double h = GENERATE(2e-3, 1e-2);
  const TestScene scene = stack_scene(5, scale.edge, scale.mass);
  StepConfig config;
  config.h = h;
  const State end = state_after(scene, 4.0, config);
  CAPTURE(scale.edge, scale.mass, h);
  for (std::size_t b = 1; b <= 5; ++b) {
    // The boxes settle by a fraction of g h^2, whatever their size, and stay where they are otherwise.
    const Vec6<double> d = difference(end.X_WB[b], scene.state.X_WB[b]);
    CHECK(d.segment<2>(3).norm() < 1e-3 * scale.edge);
    CHECK(std::abs(d[5]) < 5.0 * test::k_g * h * h + 1e-3 * scale.edge);
  }
}

TEST_CASE("Stepper: the sag under a load is m g/k, however the box is meshed", "[dynamics][value]") {
  const int subdivisions = GENERATE(2, 4, 8);
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  constexpr double k_stiffness = 1e4, k_mass = 1.0;
  const Vec3<double> half(0.1, 0.08, 0.05);
  TestScene scene = box_on_floor(box_of_mass(half, k_mass, subdivisions), half, 0.4);
  scene.body(1).material.stiffness = k_stiffness;
  for (Body& body : scene.model.bodies) body.material.dissipation_time = 0.05;
  StepConfig config;
  config.law = law;
  config.h = law == ContactLaw::penalty ? 2e-4 : 2e-3;
  const State end = state_after(scene, 2.0, config);
  CAPTURE(subdivisions, static_cast<int>(law));
  // The near-rigid regularisation adds beta^2/(4 pi^2) g h (h + tau_d) to the sag, 2.6e-4 of it here.
  CHECK(close(half.z() - end.X_WB[1].p.z(), k_mass * test::k_g / k_stiffness, 1e-3, 0.0));
}

TEST_CASE("Stepper: a box slides and lands the same however finely it is meshed", "[dynamics][property]") {
  const auto end_of = [](int subdivisions, double tilt) {
    const Vec3<double> half(0.1, 0.08, 0.05);
    TestScene scene = floor_scene();
    scene.add(box_of_mass(half, 1.0, subdivisions),
              pose_at({0.0, 0.0, 0.07 + 0.1 * tilt}, {tilt, 0.7 * tilt, 0.3}), moving_at({1.0, 0.3, -0.2}));
    scene.set_friction(0.4);
    return state_after(scene, 1.0).X_WB[1];
  };
  SECTION("flat: only the quadrature differs") {
    const Pose<double> reference = end_of(2, 0.0);
    for (const int n : {4, 8}) {
      const Vec6<double> d = difference(end_of(n, 0.0), reference);
      CAPTURE(n, d.transpose());
      CHECK(d.norm() < 1e-6);
    }
  }
  SECTION("on a corner: which of its points touch first differs as well") {
    const Pose<double> reference = end_of(2, 0.02);
    for (const int n : {4, 8}) {
      const Vec6<double> d = difference(end_of(n, 0.02), reference);
      CAPTURE(n, d.transpose());
      CHECK(d.head<3>().norm() < 5e-3);  // of a path of 0.12 m
      CHECK(d.tail<3>().norm() < 5e-5);
    }
  }
}

TEST_CASE("Stepper: a sphere rests on the floor of a channel, not on its convex hull", "[dynamics][value]") {
  const double radius = GENERATE(0.03, 0.05, 0.08);
  constexpr double k_wall_height = 0.15;
  TestScene scene;
  scene.add(fixed_channel(0.1, k_wall_height, 0.5, 0.03));
  scene.add(sphere_of_mass(radius, 0.5), pose_at({0.02, 0.0, 0.25}));
  scene.set_friction(0.5);
  const State end = state_after(scene, 3.0);
  CAPTURE(radius);
  CHECK(close(end.X_WB[1].p.z(), radius, 0.0, 1e-4));
  CHECK(end.X_WB[1].p.z() < k_wall_height);
  CHECK(std::abs(end.X_WB[1].p.x()) + radius < 0.1 + 1e-4);
}

TEST_CASE("Stepper: contact without gravity conserves momentum", "[dynamics][property]") {
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  Random random(11);
  for (int trial = 0; trial < 20; ++trial) {
    TestScene scene;
    scene.model.gravity.setZero();
    for (const double side : {-1.0, 1.0}) {
      const Vec3<double> half(random.uniform(0.05, 0.1), random.uniform(0.05, 0.1),
                              random.uniform(0.05, 0.1));
      const Body body = trial % 2 == 0 ? box_of_mass(half, random.uniform(0.5, 2.0))
                                       : cross_of_mass(half, 0.5, 0.7, random.uniform(0.5, 2.0));
      Vec6<double> V = moving_at({-side, random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2)});
      V.head<3>() = random.uniform(0.0, 3.0) * random.unit_vector();
      scene.add(body, {random.quaternion(), Vec3<double>(0.2 * side, 0.02 * random.uniform(-1.0, 1.0), 0.0)},
                V);
    }
    // Linear and angular momentum of velocities and orientations, with the centres of mass where `places` has
    // them.
    const auto momentum = [&](const State& state, const State& places) {
      Vec6<double> sum = Vec6<double>::Zero();
      for (std::size_t b = 0; b < 2; ++b) {
        const Body& body = scene.model.bodies[b];
        const Mat3<double> R = state.X_WB[b].rotation();
        const Vec3<double> p = body.mass * state.V_WB[b].tail<3>(), w = state.V_WB[b].head<3>();
        sum += stack<double>(R * body.inertia * R.transpose() * w + places.X_WB[b].p.cross(p), p);
      }
      return sum;
    };
    StepConfig config;
    config.h = 1e-3;
    config.law = law;
    config.tolerance = 1e-12;
    const Stepper stepper(scene.model, config);
    StepScratch scratch;
    State state = scene.state, next;
    int contacts = 0;
    double linear = 0.0, angular = 0.0;
    for (int k = 0; k < 200; ++k) {
      const StepReport report = stepper.step(state, {}, next, scratch);
      REQUIRE(report.status == StepStatus::ok);
      contacts += report.contacts;
      // An impulse acts at one point on both bodies, where they are when the step starts. (Moving on with the
      // new velocities changes no momentum: p + h v+ moves along the new linear momentum.)
      const Vec6<double> change = momentum(next, state) - momentum(state, state);
      angular = std::max(angular, change.head<3>().norm());
      linear = std::max(linear, change.tail<3>().norm());
      std::swap(state, next);
    }
    CAPTURE(trial, linear, angular);
    CHECK(contacts > 0);
    CHECK(linear < 1e-12);
    CHECK(angular < 1e-12);
  }
}

TEST_CASE("Stepper: moving the whole world moves the whole rollout", "[dynamics][property]") {
  Random random(5);
  for (int trial = 0; trial < 5; ++trial) {
    const TestScene scene = random_contact_scene(random);
    const Pose<double> X{random.quaternion(), {0.3, -2.0, 1.0}};
    TestScene moved = scene;
    moved.model.gravity = X.q * scene.model.gravity;
    for (std::size_t b = 0; b < scene.state.X_WB.size(); ++b) {
      moved.state.X_WB[b] = X * scene.state.X_WB[b];
      const Vec6<double>& V = scene.state.V_WB[b];
      moved.state.V_WB[b] = stack<double>(X.q * Vec3<double>(V.head<3>()), X.q * Vec3<double>(V.tail<3>()));
    }
    StepConfig config;
    config.tolerance = 1e-12;
    const State end = state_after(scene, 0.1, config), moved_end = state_after(moved, 0.1, config);
    CAPTURE(trial);
    for (std::size_t b = 1; b < end.X_WB.size(); ++b) {
      // Contact amplifies the rounding of the turned coordinates over 50 steps.
      CHECK(difference(moved_end.X_WB[b], X * end.X_WB[b]).norm() < 1e-8);
    }
  }
}
