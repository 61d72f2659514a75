#include "dynamics/parameters/scene_parameter_derivatives.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/gradient_check/gradient_sample.h"
#include "dynamics/rollout/rollout_jvp.h"
#include "dynamics/rollout/shape_change.h"
#include "dynamics/simulator.h"
#include "engine/body_builder.h"
#include "engine/inertia_coordinates.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

using Catch::Contains;

/// A box and a ball that push each other over a floor, so that everything matters: compliant contacts,
/// damping, constant wrenches, an asset's frame that is not at the centre of mass, and an override of one
/// pair.
Scene busy_scene() {
  TestScene made = floor_scene();
  made.add(box_of_mass({0.06, 0.05, 0.04}, 0.8), pose_at({0.0, 0.0, 0.0405}, {0.02, 0.01, 0.3}),
           moving_at({0.8, 0.1, 0}));
  made.add(sphere_of_mass(0.05, 0.5), pose_at({0.118, 0.01, 0.0495}, {0.1, -0.2, 0.4}),
           moving_at({-0.6, 0, 0}));
  const char* names[] = {"floor", "box", "ball"};
  for (int b = 0; b < 3; ++b) {
    Body& body = made.body(b);
    body.name = names[b];
    body.material.stiffness = 3e3 * (1.0 + b);
    body.material.friction = 0.3 + 0.1 * b;
    body.material.dissipation_time = 0.01;
    if (b == 0) continue;
    body.p_BA = Vec3<double>(0.03, -0.02, 0.01);
    body.linear_damping = 0.3;
    body.angular_damping = 0.5;
    body.external_wrench << 0.01, 0.02, -0.01, 0.3, 0.2, 0.1;
  }
  PairOverride pair;
  pair.body_A = 1;
  pair.body_B = 2;
  pair.friction = 0.25;
  pair.stiffness = 2e3;
  pair.dissipation_time = 0.02;
  made.model.pair_overrides.push_back(pair);
  Scene scene;
  scene.name = "busy";
  scene.model = made.model;
  scene.initial = made.state;
  StepConfig& config = scene.config.step;
  config.acceleration_scale = 9.81;
  config.tolerance = k_gradient_check_tolerance;
  return scene;
}

constexpr int k_steps = 60;

double loss_of(const Scene& scene) {
  const Simulator simulator(scene.model, scene.config.step);
  const Trajectory trajectory = simulator.rollout(scene.initial, k_steps);
  REQUIRE(trajectory.ok());
  double loss = 0.0;
  for (std::size_t b = 1; b < 3; ++b) {
    const State& end = trajectory.states.back();
    const auto c = static_cast<double>(b);
    loss += Vec3<double>(1.0, -0.7, 0.4 * c).dot(end.X_WB[b].p) +
            Vec3<double>(0.2, 0.1 * c, -0.3).dot(end.V_WB[b].tail<3>());
  }
  return loss;
}

void add_loss(int k, const State&, StateTangent& bar) {
  if (k != k_steps) return;
  for (std::size_t b = 1; b < 3; ++b) {
    const auto c = static_cast<double>(b);
    bar.pose[b].tail<3>() += Vec3<double>(1.0, -0.7, 0.4 * c);
    bar.twist[b].tail<3>() += Vec3<double>(0.2, 0.1 * c, -0.3);
  }
}

/// What a parameter is now, and how far to move it for differences.
struct Setting {
  std::string name;
  double value, step;
};

std::vector<Setting> settings_of(const Scene& scene) {
  std::vector<Setting> settings{{"simulation.gravity.x", 0.0, 0.1}, {"simulation.gravity.z", -9.81, 0.1}};
  for (int b = 0; b < 3; ++b) {
    const Body& body = scene.model.bodies[static_cast<std::size_t>(b)];
    const std::string of = "body." + body.name + ".";
    settings.push_back({of + "friction", body.material.friction, 0.01});
    // The loss hardly depends on some of these: differences over small steps are rounding.
    settings.push_back({of + "stiffness", body.material.stiffness, 0.3 * body.material.stiffness});
    settings.push_back({of + "dissipation_time", body.material.dissipation_time, 1e-4});
    if (b == 0) continue;
    const Pose<double>& X_WB = scene.initial.X_WB[static_cast<std::size_t>(b)];
    const Vec6<double>& V = scene.initial.V_WB[static_cast<std::size_t>(b)];
    settings.push_back({of + "linear_damping", body.linear_damping, 0.01});
    settings.push_back({of + "angular_damping", body.angular_damping, 1.0});
    settings.push_back({of + "mass", body.mass, 0.01});
    settings.push_back({of + "density", body.mass / body.volume, 10.0});
    const Vec3<double> p_WA = X_WB * body.p_BA, turn = log_quaternion(X_WB.q);
    for (int i = 0; i < 3; ++i) {
      const std::string component = std::string(".") + "xyz"[i];
      settings.push_back({of + "position" + component, p_WA[i], 1e-4});
      // A ball hardly feels its turn: differences of small ones are rounding.
      settings.push_back({of + "rotation_vector" + component, turn[i], b == 1 ? 1e-4 : 1e-1});
      settings.push_back({of + "linear_velocity" + component, V[3 + i], 1e-3});
      settings.push_back({of + "angular_velocity" + component, V[i], 1.0});
      settings.push_back({of + "force" + component, body.external_wrench[3 + i], 1e-2});
      settings.push_back({of + "torque" + component, body.external_wrench[i], 1e-3});
      settings.push_back({of + "center_of_mass" + component, -body.p_BA[i], 1e-4});
      settings.push_back({of + "primitive.0.position" + component, -body.p_BA[i], 1e-4});
      // A ball looks the same from all sides.
      if (b == 1) settings.push_back({of + "primitive.0.rotation_vector" + component, 0.0, 1e-3});
    }
    const Vec6<double> inertia = inertia_coordinates(body.mass, body.inertia);
    const char* components[] = {"log_x", "log_y", "log_z", "xy", "yz", "xz"};
    for (int i = 0; i < 6; ++i)
      settings.push_back({of + "inertia." + components[i], inertia[i], i < 3 ? 1e-1 : 5e-2});
  }
  const auto& half_extents = scene.model.bodies[1].shape.primitives[0].parameters;
  settings.push_back({"body.box.primitive.0.half_extents.x", half_extents[0], 1e-4});
  settings.push_back({"body.box.primitive.0.half_extents.z", half_extents[2], 1e-4});
  settings.push_back({"body.box.primitive.0.edge_radius", half_extents[3], 1e-4});
  settings.push_back({"body.ball.primitive.0.radius", 0.05, 1e-4});
  const PairOverride& pair = scene.model.pair_overrides.front();
  settings.push_back({"pair.box.ball.friction", pair.friction, 0.01});
  settings.push_back({"pair.ball.box.stiffness", pair.stiffness, 30.0});
  settings.push_back({"pair.box.ball.dissipation_time", pair.dissipation_time, 1e-4});
  return settings;
}

}  // namespace

TEST_CASE("scene parameters: derivatives by each of them are those of differences, backwards and forwards",
          "[apps][derivative]") {
  const Scene scene = busy_scene();
  const Simulator simulator(scene.model, scene.config.step);
  const Trajectory trajectory = simulator.rollout(scene.initial, k_steps);
  REQUIRE(trajectory.ok());
  const Gradient gradient = simulator.gradient(trajectory, add_loss);
  const double nominal = loss_of(scene);
  int forwards = 0, not_zero = 0;
  double largest_by_inertia = 0.0;
  for (const Setting& setting : settings_of(scene)) {
    const SceneParameter parameter = find_parameter(scene, setting.name);
    CHECK(value_of(scene, parameter) == Approx(setting.value).margin(1e-12));
    GradientSample sample;
    sample.adjoint = setting.step * derivative_by(scene, parameter, gradient);
    sample.largest = std::abs(sample.adjoint);
    if (parameter.kind == SceneParameter::Kind::inertia) {
      // A ball that hardly turns hardly feels shears: the extents are the measure.
      largest_by_inertia = std::max(largest_by_inertia, sample.largest);
      sample.largest = largest_by_inertia;
    }
    score_by_differences(
        [&](double h) {
          Scene moved = scene;
          const double value = setting.value + h * setting.step;
          set_parameters({parameter}, {&value, 1}, moved);
          return loss_of(moved) - nominal;
        },
        sample);
    CAPTURE(setting.name, sample.adjoint, sample.difference);
    CHECK_FALSE(sample.unresolved);
    CHECK(sample.relative_error < 1e-5);
    not_zero += sample.adjoint != 0.0;
    if (!has_direction(parameter)) continue;
    ++forwards;
    const StateTangents tangents =
        rollout_jvp(simulator.stepper(), trajectory, rollout_direction_of(scene, parameter));
    StateTangent bar(3);
    add_loss(k_steps, trajectory.states.back(), bar);
    double along = 0.0;
    for (std::size_t b = 0; b < 3; ++b)
      along += bar.pose[b].dot(tangents.back().pose[b]) + bar.twist[b].dot(tangents.back().twist[b]);
    CHECK(close(setting.step * along, sample.adjoint, 1e-8, 1e-12));
  }
  CHECK(forwards > 50);
  CHECK(not_zero > 50);
}

TEST_CASE("scene parameters: what has no derivative says so", "[apps][value]") {
  Scene scene = busy_scene();
  const Simulator simulator(scene.model, scene.config.step);
  const Gradient gradient = simulator.gradient(simulator.rollout(scene.initial, 2), add_loss);
  const SceneParameter step = find_parameter(scene, "simulation.time_step"),
                       other_pair = find_parameter(scene, "pair.floor.box.friction"),
                       pair = find_parameter(scene, "pair.box.ball.friction");
  CHECK_FALSE(is_differentiable(step));
  CHECK_THROWS_WITH(derivative_by(scene, step, gradient), Contains("simulation.time_step"));
  CHECK_THROWS_WITH(rollout_direction_of(scene, step), Contains("simulation.time_step"));
  CHECK_THROWS_WITH(derivative_by(scene, other_pair, gradient), Contains("no value of its own"));
  CHECK_FALSE(has_direction(pair));
  CHECK_THROWS_WITH(rollout_direction_of(scene, pair), Contains("backwards"));
  CHECK_THROWS_WITH(require_allowed(pair, -1.0), Contains("pair.box.ball.friction") && Contains(">= 0"));

  scene.model.bodies[1].material.stiffness = std::numeric_limits<double>::infinity();
  CHECK(derivative_by(scene, find_parameter(scene, "body.box.stiffness"), gradient) == 0.0);
}

TEST_CASE("scene parameters: a superquadric far from where it began has the derivatives of differences",
          "[apps][derivative]") {
  Scene scene = busy_scene();
  Body& body = scene.model.bodies[1];
  const TriangleMesh mesh = make_box({0.06, 0.05, 0.04}, 0.0, 6, 1000.0).mesh;
  BodyDescription description;
  description.name = "box";
  Primitive primitive;
  primitive.parameters = {0.06, 0.05, 0.04, 0.5, 0.6};
  description.shape.primitives = {primitive};
  description.mesh = mesh;
  description.mass_or_density = Mass{0.8};
  const ShapeSdf sdf(description.shape);
  for (Eigen::Index i = 0; i < mesh.vertices.cols(); ++i) {
    Vec3<double> v = description.mesh.vertices.col(i);
    for (int k = 0; k < 50; ++k) v -= sdf.distance<double>(v) * sdf.evaluate<double>(v).gradient.normalized();
    description.mesh.vertices.col(i) = v;
  }
  const Material material = body.material;
  body = make_body(description);
  body.material = material;

  const std::vector<SceneParameter> parameters{find_parameter(scene, "body.box.primitive.0.semi_axes.x"),
                                               find_parameter(scene, "body.box.primitive.0.semi_axes.z"),
                                               find_parameter(scene, "body.box.primitive.0.exponents.2"),
                                               find_parameter(scene, "body.box.primitive.0.position.z")};
  const std::vector<double> values{0.07, 0.036, 0.8, -0.002};
  const ContactPointLines lines = contact_point_lines(body);
  Scene changed = scene;
  set_parameters(parameters, values, changed);
  const Simulator simulator(changed.model, changed.config.step);
  const Trajectory trajectory = simulator.rollout(changed.initial, k_steps);
  REQUIRE(trajectory.ok());
  const Gradient gradient = simulator.gradient(trajectory, add_loss);
  const std::vector<PrimitiveGradient> shape =
      total_shape_gradient(changed.model.bodies[1], simulator.stepper().detector().sdf(1),
                           gradient.model.bodies[1].geometry, &lines);
  const double nominal = loss_of(changed);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double step = i == 2 ? 1e-2 : 1e-4;
    GradientSample sample;
    sample.adjoint = step * derivative_by_shape(changed.model.bodies[1], parameters[i], shape.front());
    sample.largest = std::abs(sample.adjoint);
    score_by_differences(
        [&](double h) {
          Scene moved = scene;
          std::vector<double> there = values;
          there[i] += h * step;
          set_parameters(parameters, there, moved);
          return loss_of(moved) - nominal;
        },
        sample);
    CAPTURE(parameters[i].name, sample.adjoint, sample.difference);
    CHECK_FALSE(sample.unresolved);
    CHECK(sample.relative_error < 1e-5);
    CHECK(sample.adjoint != 0.0);
  }
}

TEST_CASE("scene parameters: a shape has the parameters of its kind, and vectors stand for their components",
          "[apps][value]") {
  const Scene scene = busy_scene();
  CHECK(component_names(scene, "body.ball.position") ==
        std::vector<std::string>{"body.ball.position.x", "body.ball.position.y", "body.ball.position.z"});
  CHECK(component_names(scene, "body.ball.inertia").size() == 6);
  CHECK(component_names(scene, "body.box.primitive.0.half_extents").size() == 3);
  CHECK(component_names(scene, "body.ball.mass").size() == 1);
  CHECK_THROWS_WITH(find_parameter(scene, "body.ball.primitive.0.half_length"),
                    Contains("body.ball.primitive.0.half_length"));
  CHECK_THROWS_WITH(find_parameter(scene, "body.ball.primitive.1.radius"), Contains("primitive.0.radius"));
  CHECK_THROWS_WITH(find_parameter(scene, "body.floor.inertia.xy"), Contains("no mass"));

  // The surface stays where it is when the centre of mass moves in it.
  Scene moved = scene;
  const std::vector<SceneParameter> center{find_parameter(scene, "body.ball.center_of_mass.x")};
  const double value = 0.01;
  set_parameters(center, {&value, 1}, moved);
  const Body &before = scene.model.bodies[2], &after = moved.model.bodies[2];
  CHECK(value_of(moved, center.front()) == Approx(0.01));
  CHECK(close(Vec3<double>(scene.initial.X_WB[2] * Vec3<double>(before.contact_points.col(0))),
              Vec3<double>(moved.initial.X_WB[2] * Vec3<double>(after.contact_points.col(0))), 1e-12, 1e-15));
  CHECK((scene.initial.X_WB[2].p - moved.initial.X_WB[2].p).norm() == Approx(0.01 + 0.03));
}

}  // namespace abut::test
