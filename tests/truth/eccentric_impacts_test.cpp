// Impacts beside the centre of mass, in closed form: rods, plates, a rocking block, chains of links.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <Eigen/LU>

#include "engine/joint_geometry.h"
#include "tests/support/impacts.h"
#include "tests/support/watched_run.h"

namespace {

using namespace abut;
using test::TestScene;

TestScene smooth_floor(double restitution) {
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(make_half_space());
  scene.body(0).material.friction = 0.0;
  scene.body(0).material.restitution = restitution;
  return scene;
}

/// A body that falls at `speed` on a smooth floor without gravity, its lowest points, at the lever arm x about
/// the y axis, `gap` above it; the state two steps after the impact, which is 0.4 of the third step after its
/// start.
constexpr double k_closing_steps = 2.4;
constexpr int k_steps = 4;

/// By Newton's law for the normal velocity of a point at the horizontal distance x from the centre,
///     P = (1 + e) v/(1/m + x^2/I),   v' = -v + P/m,   w' = P x/I.
struct EccentricBounce {
  double speed, spin;
  EccentricBounce(const Body& body, double e, double v, double x) {
    const double I = body.inertia(1, 1), P = (1.0 + e) * v / (1.0 / body.mass + x * x / I);
    speed = -v + P / body.mass;
    spin = P * x / I;
  }
};

void check_bounce(Body body, double angle, double lowest, double arm, double e, double h) {
  const double v = 2.0;
  const EccentricBounce exact(body, e, v, arm);
  TestScene scene = smooth_floor(e);
  body.material.friction = 0.0;
  body.material.restitution = e;
  scene.add(std::move(body), test::pose_at({0, 0, lowest + k_closing_steps * h * v}, {0, angle, 0}),
            test::moving_at({0, 0, -v}));
  const test::WatchedRun run = test::watch(scene, test::config_with_step(h), k_steps);
  REQUIRE(run.status == StepStatus::ok);
  const Vec6<double>& V = run.end.V_WB[1];
  CAPTURE(V.transpose(), exact.speed, exact.spin);
  CHECK(std::abs(V[5] - exact.speed) <= 2e-3 * v);
  // Vertices have shares by area, which those of a triangulated plate have unequal ones of.
  CHECK(std::abs(V[1] - exact.spin) <= 2e-3 * std::abs(exact.spin) + 1e-4);
  CHECK(V.segment<2>(3).norm() <= 1e-9 * v);  // no friction: no force along the floor
  CHECK(run.highest_energy <= (1.0 + 1e-9) * run.start_energy);
}

}  // namespace

TEST_CASE("eccentric impact: a thin rod that falls on its end turns, in closed form", "[truth][value]") {
  const double e = GENERATE(0.3, 0.8, 1.0), degrees = GENERATE(10.0, 30.0, 45.0, 60.0, 80.0),
               h = GENERATE(5e-4, 2e-3);
  CAPTURE(e, degrees, h);
  if (degrees > 70.0 && h > 1e-3) return;  // the next contact points close in the same step
  constexpr double k_rod_radius = 0.01, k_half_length = 0.25;
  Body rod = make_capsule(k_rod_radius, k_half_length, 1000.0);
  set_mass(rod, 0.7);
  const double angle = degrees * std::numbers::pi / 180.0;  // of its axis, z, from the vertical
  check_bounce(rod, angle, k_rod_radius + k_half_length * std::cos(angle), k_half_length * std::sin(angle), e,
               h);
}

TEST_CASE("eccentric impact: a plate that falls on its edge turns, in closed form", "[truth][value]") {
  const double e = GENERATE(0.3, 0.8, 1.0), degrees = GENERATE(10.0, 30.0, 60.0), h = GENERATE(5e-4, 2e-3);
  CAPTURE(e, degrees, h);
  const Vec3<double> half(0.1, 0.15, 0.02);
  const Body plate = test::box_of_mass(half, 0.7, 1);
  const double angle = degrees * std::numbers::pi / 180.0, radius = 0.05 * half.minCoeff(),
               along = half.x() - radius, across = half.z() - radius;  // of the core inside the rounded box
  check_bounce(plate, angle, radius + along * std::sin(angle) + across * std::cos(angle),
               -(along * std::cos(angle) - across * std::sin(angle)), e, h);
}

TEST_CASE("eccentric impact: a plate that falls flat leaves flat, with e times its speed", "[truth][value]") {
  const double e = GENERATE(0.3, 0.8, 1.0), h = GENERATE(5e-4, 2e-3, 1e-2);
  const int subdivisions = GENERATE(1, 4);
  CAPTURE(e, h, subdivisions);
  check_bounce(test::box_of_mass({0.1, 0.15, 0.02}, 0.7, subdivisions), 0.0, 0.02, 0.0, e, h);
}

TEST_CASE("eccentric impact: a block that rocks from one edge to the other slows down as Housner says",
          "[truth][value]") {
  // Plastic impact on the other edge, the first one lifting: moments about the new edge give
  //     w' = w (I + m (c^2 - b^2))/(I + m (c^2 + b^2)),   b, c: half width and half height (1 - 3/2 sin^2).
  const double slenderness = GENERATE(2.0, 3.0, 5.0), h = GENERATE(5e-4, 2e-3);
  const double radius = 1e-3, b = 0.05 - radius, c = 0.05 * slenderness;
  Body block = make_box({0.05, 0.1, c}, radius, 1, 1000.0);
  set_mass(block, 2.0);
  const double w = 1.0, I = block.inertia(1, 1), m = block.mass;
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(make_half_space());
  const double angle = 1.4 * w * h;  // left to turn about y, on the edge at -x, until that at +x hits
  const Vec3<double> pivot(-b, 0.0, 0.0), from_pivot(b, 0.0, c);
  const Mat3<double> R = exp_quaternion<double>(Vec3<double>(0, -angle, 0)).toRotationMatrix();
  const Vec3<double> spin(0, w, 0), arm = R * from_pivot;
  scene.add(block, {exp_quaternion<double>(Vec3<double>(0, -angle, 0)), pivot + arm},
            stack<double>(spin, Vec3<double>(spin.cross(arm))));
  scene.set_friction(2.0);
  const test::WatchedRun run = test::watch(scene, test::config_with_step(h), 4);
  REQUIRE(run.status == StepStatus::ok);
  const double exact = w * (I + m * (c * c - b * b)) / (I + m * (c * c + b * b));
  CAPTURE(slenderness, h, run.end.V_WB[1].transpose(), exact);
  CHECK(std::abs(run.end.V_WB[1][1] - exact) <= 0.01 * w);
}

namespace {

/// Links of 1 kg in a line along x, with hinges about z between them, and a ball that hits the first one from
/// the side, along y, beyond its centre.
struct StruckChain {
  int links = 4;
  double ball_mass = 0.5, restitution = 1.0, speed = 2.0;

  static constexpr double k_half_length = 0.1, k_half_width = 0.02, k_hinge = 0.11, k_off_centre = -0.07,
                          k_ball = 0.02;

  [[nodiscard]] Body link() const {
    return test::box_of_mass({k_half_length, k_half_width, k_half_width}, 1.0, 1);
  }

  [[nodiscard]] TestScene scene(double h) const {
    TestScene scene;
    scene.model.gravity.setZero();
    for (int i = 0; i < links; ++i) scene.add(link(), test::pose_at({2.0 * k_hinge * i, 0, 0}));
    scene.add(test::sphere_of_mass(k_ball, ball_mass),
              test::pose_at({k_off_centre, -k_half_width - k_ball - k_closing_steps * h * speed, 0}),
              test::moving_at({0, speed, 0}));
    for (int i = 0; i + 1 < links; ++i) {
      Joint hinge;
      hinge.name = "hinge " + std::to_string(i);
      hinge.kind = JointKind::hinge;
      hinge.body_A = i;
      hinge.body_B = i + 1;
      hinge.X_AJ.p = {k_hinge, 0, 0};
      hinge.X_BJ.p = {-k_hinge, 0, 0};
      scene.model.joints.push_back(hinge);
    }
    scene.set_friction(0.0);
    test::set_restitution(scene, restitution);
    return scene;
  }

  /// [v_y, w_z] of each link, then v_y of the ball, after the blow. With impulses K_i of the hinges along y and
  /// P of the blow,
  ///     m v_i = K_i - K_{i-1} + P d_i0,  I w_i = a (K_i + K_{i-1}) + P x d_i0,  M (v - v_b) = P,
  ///     v_i + a w_i = v_{i+1} - a w_{i+1},  v_0 + x w_0 - v_b = e v.
  [[nodiscard]] Eigen::VectorXd velocities() const {
    const Eigen::Index n = links, K = 2 * n, P = K + n - 1, ball = P + 1, size = ball + 1;
    const double m = link().mass, I = link().inertia(2, 2), a = k_hinge, x = k_off_centre;
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(size, size);
    Eigen::VectorXd b = Eigen::VectorXd::Zero(size);
    for (Eigen::Index i = 0; i < n; ++i) {
      A(2 * i, 2 * i) = m;
      A(2 * i + 1, 2 * i + 1) = I;
      if (i + 1 < n) {
        A(2 * i, K + i) = -1.0;
        A(2 * i + 1, K + i) = -a;
        A(K + i, 2 * i) = 1.0;
        A(K + i, 2 * i + 1) = a;
        A(K + i, 2 * i + 2) = -1.0;
        A(K + i, 2 * i + 3) = a;
      }
      if (i > 0) {
        A(2 * i, K + i - 1) = 1.0;
        A(2 * i + 1, K + i - 1) = -a;
      }
    }
    A(0, P) = -1.0;
    A(1, P) = -x;
    A(P, 0) = 1.0;
    A(P, 1) = x;
    A(P, ball) = -1.0;
    b[P] = restitution * speed;
    A(ball, ball) = ball_mass;
    A(ball, P) = 1.0;
    b[ball] = ball_mass * speed;
    const Eigen::VectorXd all = A.partialPivLu().solve(b);
    Eigen::VectorXd result(2 * n + 1);
    result << all.head(2 * n), all[ball];
    return result;
  }
};

}  // namespace

TEST_CASE("eccentric impact: a blow on a chain of links moves all of them, in closed form",
          "[truth][value]") {
  const int links = GENERATE(1, 2, 4, 8);
  const double e = GENERATE(0.3, 1.0), ball_mass = GENERATE(0.1, 1.0, 5.0), h = GENERATE(5e-4, 2e-3);
  const StruckChain chain{links, ball_mass, e};
  const Eigen::VectorXd exact = chain.velocities();
  const test::WatchedRun run = test::watch(chain.scene(h), test::config_with_step(h), 3);
  REQUIRE(run.status == StepStatus::ok);
  for (int i = 0; i < links; ++i) {
    const Vec6<double>& V = run.end.V_WB[static_cast<std::size_t>(i)];
    CAPTURE(links, e, ball_mass, h, i, V.transpose(), exact.transpose());
    CHECK(std::abs(V[4] - exact[2 * i]) <= 0.01 * chain.speed);
    CHECK(std::abs(V[2] - exact[2 * i + 1]) <= 0.01 * chain.speed / StruckChain::k_half_length);
  }
  CAPTURE(links, e, ball_mass, h);
  CHECK(std::abs(run.end.V_WB.back()[4] - exact[2 * links]) <= 0.01 * chain.speed);
}

TEST_CASE("eccentric impact: a blow on a chain keeps momentum, gains no energy, and its joints hold",
          "[truth][property]") {
  const double e = GENERATE(0.3, 1.0), ball_mass = GENERATE(0.1, 1.0, 5.0), h = GENERATE(5e-4, 2e-3, 1e-2);
  const StruckChain chain{4, ball_mass, e};
  const TestScene scene = chain.scene(h);
  double apart = 0.0;
  const int steps = static_cast<int>(std::lround(0.06 / h));
  const test::WatchedRun run = test::watch(scene, test::config_with_step(h), steps, [&](const State& state) {
    for (const Joint& joint : scene.model.joints) apart = std::max(apart, joint_error(joint, state).position);
  });
  REQUIRE(run.status == StepStatus::ok);
  const test::Totals start(scene.model, scene.state), end(scene.model, run.end);
  CAPTURE(e, ball_mass, h, apart, run.start_energy, run.energy_gain());
  CHECK((end.momentum - start.momentum).norm() <= 1e-9 * start.momentum.norm());
  // The energy of links that turn oscillates about its mean by O((h w)^2), as that of every variational integrator.
  CHECK(run.highest_energy <= (1.0 + 5e-4) * run.start_energy);
  CHECK(apart <= 1e-12);
}
