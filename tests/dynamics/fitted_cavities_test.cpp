#include <cmath>
#include <utility>

#include <catch2/catch.hpp>

#include "collision/fitting/fit_mesh.h"
#include "collision/fitting/make_body.h"
#include "dynamics/simulator.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"
#include "tests/support/solids.h"

namespace abut::test {
namespace {

constexpr double k_scale = 0.1;  // of solids in the cube [-1, 1]^3 [m]

/// A body fitted to a solid; where its frame is in that of the solid.
std::pair<Body, Pose<double>> fitted_body(const Solid& solid, FitMethod method = FitMethod::automatic) {
  TriangleMesh mesh = mesh_of(solid);
  mesh.vertices *= k_scale;
  MeshFitOptions fit;
  fit.resolution = 40;
  fit.method = method;
  const FittedMesh fitted = fit_mesh(mesh, fit);
  MeshedBodyOptions options;
  options.union_smoothing = fitted.shape.union_smoothing;
  options.resolution = 64;
  MeshedBody made = make_meshed_body(fitted.shape, options);
  return {std::move(made.body), {Quat<double>::Identity(), made.origin}};
}

int add_fixed(TestScene& scene, std::pair<Body, Pose<double>> body) {
  body.first.fixed = true;
  return scene.add(std::move(body.first), body.second);
}

State state_after(const TestScene& scene, double seconds) {
  StepConfig config;
  config.h = 0.002;
  const Simulator simulator(scene.model, config);
  State state = scene.state;
  for (int i = 0; i < static_cast<int>(std::lround(seconds / config.h)); ++i) {
    const StepResult next = simulator.step(state);
    REQUIRE(next.ok());
    state = next.state;
  }
  return state;
}

TEST_CASE("fitted bodies: a ball dropped into a bowl or a mug rests inside",
          "[dynamics][property][nightly]") {
  const bool is_bowl = GENERATE(filter(is_drawn, range(std::size_t{0}, std::size_t{2}))) == 0;
  CAPTURE(is_bowl);
  constexpr double k_radius = 0.02;
  TestScene scene;
  add_fixed(scene, fitted_body(is_bowl ? Solid(bowl) : Solid(mug)));
  const Vec3<double> above(is_bowl ? 0.01 : -0.03, 0.003, 0.05);
  const int ball = scene.add(make_sphere(k_radius, 1000.0), pose_at(above));
  scene.set_friction(0.5);
  const State end = state_after(scene, 1.5);
  const Vec3<double> p = end.X_WB[at(ball)].p;
  CAPTURE(p.transpose());
  const double lowest = is_bowl ? -0.05 : -0.026;
  CHECK(std::abs(p.z() - lowest) < 0.006);
  CHECK((p - Vec3<double>(is_bowl ? 0.0 : -0.025, 0, lowest)).head<2>().norm() < 0.022);
}

TEST_CASE("fitted bodies: a ring fits over a peg", "[dynamics][property]") {
  constexpr double k_floor = -0.08;
  TestScene scene;
  scene.model.bodies.reserve(3);
  Body floor = make_half_space();
  floor.fixed = true;
  scene.add(std::move(floor), pose_at({0, 0, k_floor}));
  add_fixed(scene, fitted_body([](const Vec3<double>& p) { return cylinder(p, 0.3, -0.8, 0.8); }));
  auto [ring, in_ring] = fitted_body([](const Vec3<double>& p) { return torus(p, 0.65, 0.22); });
  const int moving = scene.add(std::move(ring), pose_at(Vec3<double>(0.004, 0.003, 0.12) + in_ring.p));
  scene.set_friction(0.3);
  const State end = state_after(scene, 1.0);
  const Vec3<double> p = end.X_WB[at(moving)].p;
  CAPTURE(p.transpose());
  CHECK(std::abs(p.z() - (k_floor + 0.022)) < 0.004);
  CHECK(p.head<2>().norm() < 0.013 + 0.003);  // 0.043 - 0.03, and what the fits may add
}

TEST_CASE("fitted bodies: convex parts hold a box on a table that stands on its legs, and one in a channel",
          "[dynamics][property]") {
  constexpr double k_half = 0.02;
  TestScene scene;
  scene.model.bodies.reserve(5);
  Body floor = make_half_space();
  floor.fixed = true;
  scene.add(std::move(floor), pose_at({0, 0, -0.085}));
  auto [table, in_table] = fitted_body(
      [](const Vec3<double>& p) {
        const Vec3<double> q(std::abs(p.x()), std::abs(p.y()), p.z());
        return std::min(block(q, {0, 0, 0.6}, {0.9, 0.9, 0.12}),
                        block(q, {0.7, 0.7, -0.1}, {0.12, 0.12, 0.75}));
      },
      FitMethod::convex);
  CHECK(table.shape.primitives.size() == 5);
  const int standing = scene.add(std::move(table), in_table);
  const int on_table =
      scene.add(make_box(Vec3<double>::Constant(k_half), 0.001, 500.0), pose_at({0.02, -0.03, 0.1}));
  auto [channel, in_channel] = fitted_body(
      [](const Vec3<double>& p) {
        return std::max(block(p, {0, 0, 0}, {0.9, 0.5, 0.4}), -block(p, {0, 0, 0.4}, {1.0, 0.3, 0.6}));
      },
      FitMethod::convex);
  CHECK(channel.shape.primitives.size() == 3);
  add_fixed(scene,
            {std::move(channel), {in_channel.q, Vec3<double>(in_channel.p + Vec3<double>(0.4, 0, 0))}});
  const int in_notch =
      scene.add(make_box(Vec3<double>::Constant(k_half), 0.001, 500.0), pose_at({0.4, 0.003, 0.02}));
  scene.set_friction(0.5);
  const State end = state_after(scene, 1.0);
  const auto position = [&](int body) -> Vec3<double> { return end.X_WB[at(body)].p; };
  CAPTURE(position(standing).transpose(), position(on_table).transpose(), position(in_notch).transpose());
  CHECK((position(standing) - in_table.p).norm() < 0.002);
  CHECK(std::abs(position(on_table).z() - (0.072 + k_half)) < 0.002);
  CHECK((position(on_table) - Vec3<double>(0.02, -0.03, 0)).head<2>().norm() < 0.002);
  CHECK(std::abs(position(in_notch).z() - (-0.02 + k_half)) < 0.002);
  CHECK(std::abs(position(in_notch).y()) < 0.011);
  for (const int body : {standing, on_table, in_notch})
    CHECK(end.X_WB[at(body)].q.vec().norm() < 0.01);  // upright
}

}  // namespace
}  // namespace abut::test
