// Impacts as a user sees them: velocities after a bounce, and gradients through it, against closed forms.
#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

StepConfig config_of(double h) {
  StepConfig config;
  config.h = h;
  config.acceleration_scale = 9.81;
  config.tolerance = 1e-12;
  return config;
}

void set_restitution(TestScene& scene, double e) {
  for (Body& body : scene.model.bodies) body.material.restitution = e;
}

/// A ball of radius 0.1 m over a floor, its surface at `gap`, with vertical velocity `v`.
TestScene ball_scene(double e, double gap, double v, double gravity) {
  TestScene scene = test::floor_scene();
  scene.model.gravity = {0, 0, -gravity};
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0.1 + gap}), test::moving_at({0, 0, v}));
  set_restitution(scene, e);
  return scene;
}

/// A tilted box of rubber, its centre at `height` [m] over a floor, that falls at 2 m/s.
TestScene soft_box_scene(double height) {
  TestScene scene = test::floor_scene();
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 1), test::pose_at({0, 0, height}, {0.2, 0.1, 0}),
            test::moving_at({0.3, 0, -2.0}));
  for (Body& body : scene.model.bodies) {
    body.material.stiffness = 2e4;
    body.material.dissipation_time = 1e-3;
  }
  return scene;
}

/// Gradient of the height of body 1 after some steps by its initial height and vertical velocity.
struct HeightGradient {
  double height = 0, by_height = 0, by_velocity = 0, by_restitution = 0;
};
HeightGradient height_gradient(const TestScene& scene, const StepConfig& config, int steps) {
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, steps);
  REQUIRE(trajectory.ok());
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    if (k == steps) bar.pose[1][5] += 1.0;
  });
  return {trajectory.states.back().X_WB[1].p.z(), gradient.initial.pose[1][5], gradient.initial.twist[1][5],
          gradient.model.bodies[0].restitution + gradient.model.bodies[1].restitution};
}

}  // namespace

TEST_CASE("impact: a ball leaves the floor with e times its speed", "[dynamics][value]") {
  const double e = GENERATE(0.3, 0.5, 0.9, 1.0);
  const double h = GENERATE(2e-3, 1e-3, 5e-4);
  TestScene scene = ball_scene(e, 0.3, 0.0, 9.81);
  const Stepper stepper(scene.model, config_of(h));
  double before = 0.0, after = 0.0;
  State end;
  (void)simulate(stepper, scene.state, static_cast<int>(0.45 / h), {}, end,
                 [&](int, const State& state, const StepReport&) {
                   const double v = state.V_WB[1][5];
                   before = std::min(before, v);
                   after = std::max(after, v);
                   return true;
                 });
  CAPTURE(e, h, before, after);
  // Both speeds are seen up to a step after or before the impact.
  CHECK(std::abs(after + e * before) <= (1.0 + e) * 9.81 * h);
}

TEST_CASE("impact: a bounce, and its gradient, are the same far from the origin", "[dynamics][property]") {
  const double far = GENERATE(1e3, 1e5);
  const auto gradient_at = [](double x) {
    TestScene scene = ball_scene(0.8, 0.1037, -1.5, 9.81);
    scene.X_WB(1).p.x() += x;
    return height_gradient(scene, config_of(1e-2), 20);
  };
  const HeightGradient here = gradient_at(0.0), there = gradient_at(far);
  CAPTURE(far, here.height, there.height);
  CHECK(test::close(there.height, here.height, 1e-16 * far + 1e-12, 0));
  CHECK(test::close(there.by_height, here.by_height, 1e-8, 0));
  CHECK(test::close(there.by_velocity, here.by_velocity, 1e-8, 0));
}

TEST_CASE("impact: without gravity the height after a bounce, and its gradient, are those of the closed form",
          "[dynamics][derivative]") {
  const double e = GENERATE(0.5, 0.8, 1.0);
  const double h = GENERATE(1e-2, 2e-3);
  CAPTURE(e, h);
  const double gap = 0.1037, v = -1.5, T = 0.2;
  const HeightGradient got =
      height_gradient(ball_scene(e, gap, v, 0.0), config_of(h), static_cast<int>(std::lround(T / h)));
  // z = 0.1 + e (-gap - v T), the impact being at -gap/v
  CHECK(test::close(got.height, 0.1 + e * (-gap - v * T), 2e-5, 0));  // compliant: R = 1e-5 W
  CHECK(test::close(got.by_height, -e, 2e-3, 0));
  CHECK(test::close(got.by_velocity, -e * T, 2e-3, 0));
  CHECK(test::close(got.by_restitution, -gap - v * T, 2e-3, 0));
}

TEST_CASE("impact: under gravity an elastic ball's gradient is within 1 %", "[dynamics][derivative]") {
  const double h = GENERATE(5e-3, 2e-3, 1e-3);
  CAPTURE(h);
  const double e = 0.8, gap = 0.2, v = -0.5, g = 9.81, T = 0.4;
  const double v0 = v - 0.5 * g * h;  // velocities of a simulation are those of the middles of its steps
  const double v1 = -std::sqrt(v0 * v0 + 2.0 * g * gap), t = (v0 - v1) / g, s = T - t;
  // z = e |v1| s - g s^2/2 with dt/dgap = 1/|v1|, d|v1|/dgap = g/|v1|; dt/dv = -(1 - v0/v1)/g ...
  const double speed = -v1;
  const double by_gap = e * (g / speed) * s - (e * speed - g * s) / speed;
  const double d_speed = v0 / speed, d_time = (1.0 + d_speed) / g;
  const double by_velocity = e * d_speed * s - (e * speed - g * s) * d_time;
  const HeightGradient got =
      height_gradient(ball_scene(e, gap, v, g), config_of(h), static_cast<int>(std::lround(T / h)));
  CHECK(test::close(got.height - 0.1, e * speed * s - 0.5 * g * s * s, 0, 1e-3));
  CHECK(test::close(got.by_height, by_gap, 0, 0.01 * std::abs(by_gap)));
  CHECK(test::close(got.by_velocity, by_velocity, 0, 0.01 * T));
}

TEST_CASE("impact: of two equal elastic balls one takes over the other's velocity, and so do gradients",
          "[dynamics][derivative]") {
  const double h = GENERATE(1e-2, 2e-3);
  TestScene scene;
  scene.model.gravity.setZero();
  for (const double x : {0.0, 0.25}) scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({x, 0, 0}));
  scene.V_WB(0)[3] = 1.0;
  set_restitution(scene, 1.0);
  const Stepper stepper(scene.model, config_of(h));
  const int steps = static_cast<int>(0.2 / h);
  const Trajectory trajectory = rollout(stepper, scene.state, steps);
  REQUIRE(trajectory.ok());
  CAPTURE(h);
  CHECK(test::close(trajectory.states.back().V_WB[0][3], 0.0, 0, 2e-3));
  CHECK(test::close(trajectory.states.back().V_WB[1][3], 1.0, 0, 2e-3));
  for (const std::size_t of : {0u, 1u}) {
    const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
      if (k == steps) bar.twist[of][3] += 1.0;
    });
    CHECK(test::close(gradient.initial.twist[0][3], of == 0 ? 0.0 : 1.0, 0, 2e-3));
    CHECK(test::close(gradient.initial.twist[1][3], of == 0 ? 1.0 : 0.0, 0, 2e-3));
  }
}

TEST_CASE("impact: the adjoint agrees with differences of rollouts with impacts", "[dynamics][derivative]") {
  int compared = 0, unresolved = 0;
  std::vector<double> errors;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    Random random(seed);
    TestScene scene = test::floor_scene();
    for (int i = 0; i < 2; ++i) {
      const Vec3<double> p(0.3 * i, 0.1 * random.uniform(-1, 1), random.uniform(0.12, 0.2));
      Body body = random.uniform() < 0.5 ? test::box_of_mass({0.05, 0.04, 0.06}, 1.0, 1)
                                         : test::sphere_of_mass(0.07, 0.8);
      scene.add(
          std::move(body), test::pose_at(p, test::random_vector(random, 0.5)),
          stack<double>(test::random_vector(random, 2.0), Vec3<double>(random.uniform(-1, 1), 0, -1.5)));
    }
    set_restitution(scene, random.uniform(0.2, 0.8));
    StepConfig config = config_of(2e-3);
    config.contact.edge_edge = false;
    constexpr int k_steps = 60;
    const auto run = [&](const TestScene& s) {
      const Stepper stepper(s.model, config);
      return rollout(stepper, s.state, k_steps);
    };
    const Trajectory trajectory = run(scene);
    REQUIRE(trajectory.ok());
    const Vec6<double> c_pose = test::random_vector<6>(random), c_twist = test::random_vector<6>(random);
    const Stepper stepper(scene.model, config);
    const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
      if (k != k_steps) return;
      for (const std::size_t b : {1u, 2u}) {
        bar.pose[b] += c_pose;
        bar.twist[b] += c_twist;
      }
    });
    const Vec6<double> d_pose = test::random_vector<6>(random), d_twist = test::random_vector<6>(random);
    double slope = 0.0;
    for (const std::size_t b : {1u, 2u})
      slope += gradient.initial.pose[b].dot(0.05 * d_pose) + gradient.initial.twist[b].dot(d_twist);
    const auto loss = [&](double t) {
      TestScene moved = scene;
      for (const int b : {1, 2}) {
        moved.X_WB(b) = retract<double>(moved.X_WB(b), 0.05 * t * d_pose);
        moved.V_WB(b) += t * d_twist;
      }
      const Trajectory at = run(moved);
      double sum = 0.0;
      for (const std::size_t b : {1u, 2u}) {
        sum += c_pose.dot(difference(at.states.back().X_WB[b], trajectory.states.back().X_WB[b])) +
               c_twist.dot(at.states.back().V_WB[b]);
      }
      return sum;
    };
    const auto fd = test::fd_sweep(loss, 0.0, 1e-4, 1e-6, 1e-9);
    ++compared;
    if (fd.disagrees_with_itself) {
      ++unresolved;
      continue;
    }
    CAPTURE(seed, slope, fd.value, fd.error);
    errors.push_back(std::abs(slope - fd.value) / std::abs(fd.value));
    CHECK(test::close(slope, fd.value, 1e-4, 1e-5));
  }
  CAPTURE(compared, unresolved);
  CHECK(unresolved <= compared / 4);
}

TEST_CASE("adaptive substeps: steps are halved where penetration grows, and their gradient holds",
          "[dynamics][derivative]") {
  TestScene scene = soft_box_scene(0.06);
  StepConfig config = config_of(1e-2);
  config.contact.edge_edge = false;
  config.adaptive_substeps = true;
  config.penetration_growth = 2e-4;
  constexpr int k_steps = 10;
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, k_steps);
  REQUIRE(trajectory.ok());
  std::size_t most = 0;
  for (const StepRecord& record : trajectory.records) {
    double sum = 0.0;
    for (const SubstepRecord& substep : record.substeps) sum += substep.h;
    CHECK(test::close(sum, config.h, 1e-14, 0));
    most = std::max(most, record.substeps.size());
  }
  CHECK(most > 2);
  CHECK(test::close(trajectory.states.back().time, k_steps * config.h, 1e-14, 0));
  const auto z_of = [&](double v) {
    TestScene moved = scene;
    moved.V_WB(1)[5] = v;
    return rollout(stepper, moved.state, k_steps).states.back().X_WB[1].p.z();
  };
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    if (k == k_steps) bar.pose[1][5] += 1.0;
  });
  const auto fd = test::fd_sweep(z_of, -2.0, 1e-5, 1e-6, 1e-10);
  CAPTURE(gradient.initial.twist[1][5], fd.value, fd.error);
  REQUIRE_FALSE(fd.disagrees_with_itself);
  CHECK(test::close(gradient.initial.twist[1][5], fd.value, 1e-5, 1e-9));
}

TEST_CASE("impact: the gradient holds through bounces off a floor that shakes", "[dynamics][derivative]") {
  TestScene scene = ball_scene(0.7, 0.1, -0.5, 9.81);
  Oscillation& shaking = scene.body(0).oscillation;
  shaking.amplitude = {0, 0, 0.005};
  shaking.frequency = 4.0;
  scene.V_WB(0) = shaking.twist(0.0);
  constexpr int k_steps = 150;
  const StepConfig config = config_of(2e-3);
  const HeightGradient got = height_gradient(scene, config, k_steps);
  const auto height = [&](double z, double v) {
    TestScene moved = scene;
    moved.X_WB(1).p.z() += z;
    moved.V_WB(1)[5] += v;
    const Stepper stepper(moved.model, config);
    return rollout(stepper, moved.state, k_steps).states.back().X_WB[1].p.z();
  };
  const auto by_height = test::fd_sweep([&](double z) { return height(z, 0.0); }, 0.0, 1e-5, 1e-6, 1e-9);
  const auto by_velocity = test::fd_sweep([&](double v) { return height(0.0, v); }, 0.0, 1e-4, 1e-6, 1e-9);
  REQUIRE_FALSE(by_height.disagrees_with_itself);
  REQUIRE_FALSE(by_velocity.disagrees_with_itself);
  CHECK(test::close(got.by_height, by_height.value, 1e-5, 1e-8));
  CHECK(test::close(got.by_velocity, by_velocity.value, 1e-5, 1e-8));
}

TEST_CASE("impact: a joint holds through it, and nothing sinks in", "[dynamics][property]") {
  // One ball of a stiff dumbbell hits the floor: the other one answers through the joint.
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.05, 1.0), test::pose_at({0, 0, 0.151}));
  scene.add(test::sphere_of_mass(0.05, 5.0), test::pose_at({0.2, 0, 0.2}));
  for (const int b : {1, 2}) scene.V_WB(b) = test::moving_at({0, 0, -3.0});
  set_restitution(scene, 0.5);
  Joint joint;
  joint.name = "bar";
  joint.kind = JointKind::fixed;
  joint.body_A = 1;
  joint.body_B = 2;
  joint.X_AJ.p = {0.2, 0, 0.049};
  scene.model.joints.push_back(joint);
  const Stepper stepper(scene.model, config_of(2e-3));
  const double length = (scene.state.X_WB[2].p - scene.state.X_WB[1].p).norm();
  double stretched = 0.0, deepest = 0.0, fastest = 0.0;
  State end;
  (void)simulate(stepper, scene.state, 150, {}, end, [&](int, const State& state, const StepReport& report) {
    REQUIRE(report.status == StepStatus::ok);
    stretched = std::max(stretched, std::abs((state.X_WB[2].p - state.X_WB[1].p).norm() - length));
    deepest = std::max(deepest, report.max_penetration);
    fastest = std::max(fastest, state.V_WB[1][5]);
    return true;
  });
  CHECK(stretched < 2e-3);
  CHECK(deepest < 1e-3);
  CHECK(fastest > 1.0);  // it bounced: 0.5 of 3 m/s and some fall
}
