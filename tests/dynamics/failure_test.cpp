#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <spdlog/fmt/fmt.h>
#include <catch2/catch.hpp>

#include "dynamics/rollout/rollout.h"
#include "dynamics/simulator.h"
#include "dynamics/step/step_failure.h"
#include "engine/atomic_file.h"
#include "engine/input_error.h"
#include "engine/mesh_io.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "engine/scene_io.h"
#include "engine/scene_writer.h"
#include "tests/support/impacts.h"
#include "tests/support/jointed_scenes.h"
#include "tests/support/scenes.h"
#include "tests/support/temporary_folder.h"

using namespace abut;
using test::TestScene;

namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

bool same_bits(const State& a, const State& b) { return state_hash(a) == state_hash(b); }

/// A floor (0), a ball at rest on it (1), and a tower of boxes far away (2 ...), the top one spinning.
TestScene ball_and_tower() {
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({5.0, 0.0, 0.0999}));  // deeper than any box
  for (int i = 0; i < 3; ++i)
    scene.add(test::box_of_mass(Vec3<double>::Constant(0.05), 1.0),
              test::pose_at({0.0, 0.0, 0.1 * i + 0.05}));
  scene.V_WB(4) << 1.0, 2.0, 30.0, 0.5, 0.2, -3.0;
  return scene;
}

}  // namespace

// Each status ----------------------------------------------------------------------------------------------

TEST_CASE("too_fast: the first step that leaves a body above the limit fails, and names it",
          "[dynamics][value]") {
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0}), test::moving_at({4.9, 0, 0}));
  scene.add(test::sphere_of_mass(0.1, 2.0), test::pose_at({9, 0, 0}));
  scene.body(1).external_wrench[3] = 200.0;  // 1 m/s more every step
  StepConfig config;
  config.h = 0.01;
  config.speed_limit = 5.5;
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, 20);
  CHECK(trajectory.failed_step == 5);
  CHECK(trajectory.failure.status == StepStatus::too_fast);
  CHECK(trajectory.failure.step == 5);
  CHECK(trajectory.failure.body == 1);
  CHECK(trajectory.failure.contact.body_A == -1);
  CHECK(trajectory.failure.max_speed == Approx(6.0).epsilon(1e-12));
  CHECK(trajectory.states.size() == 6);
  CHECK_THROWS_AS(adjoint(stepper, trajectory, [](int, const State&, StateTangent&) {}), std::logic_error);

  config.speed_limit = 6.5;
  CHECK(rollout(Stepper(scene.model, config), scene.state, 20).failed_step == 6);
}

TEST_CASE("too_fast: the points of a body that spins count, and its contact is named", "[dynamics][value]") {
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({3.0, 0, 0.1}));
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0.099}));
  scene.V_WB(2)[2] = 80.0;  // 8 m/s at its equator; about the normal, so that friction hardly slows it
  StepConfig config;
  config.speed_limit = 7.0;
  const StepReport report = rollout(Stepper(scene.model, config), scene.state, 5).failure;
  CHECK(report.status == StepStatus::too_fast);
  CHECK(report.step == 0);
  CHECK(report.body == 2);
  CHECK(report.contact.body_A == 0);
  CHECK(report.contact.body_B == 2);
  config.speed_limit = 8.0 * std::sqrt(3.0) + 0.1;  // the bound takes the corners of the box around the ball
  CHECK(rollout(Stepper(scene.model, config), scene.state, 5).ok());
}

TEST_CASE("too_deep: fails where a ball has sunk by more than the limit in its own sizes",
          "[dynamics][value]") {
  constexpr double k_radius = 0.1, k_limit = 0.3;  // [m], [diameters]
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.05, 1.0), test::pose_at({3.0, 0, 0.05}));
  scene.add(test::sphere_of_mass(k_radius, 1.0), test::pose_at({0, 0, k_radius}));
  scene.body(2).material.stiffness = 20.0;  // it sinks nearly as it falls
  StepConfig config;
  const Trajectory whole = rollout(Stepper(scene.model, config), scene.state, 100);
  REQUIRE(whole.ok());
  int expected = 0;  // the first step that starts too deep
  while ((k_radius - whole.states[static_cast<std::size_t>(expected)].X_WB[2].p.z()) / (2.0 * k_radius) <=
         k_limit)
    ++expected;
  REQUIRE(expected > 5);

  config.penetration_limit = k_limit;
  const Trajectory trajectory = rollout(Stepper(scene.model, config), scene.state, 100);
  CHECK(trajectory.failure.status == StepStatus::too_deep);
  CHECK(trajectory.failed_step == expected);
  CHECK(trajectory.failure.step == expected);
  CHECK(trajectory.failure.body == 2);
  CHECK(trajectory.failure.contact.kind == ContactKind::vertex_sdf);
  CHECK(trajectory.failure.contact.body_A == 0);
  CHECK(trajectory.failure.contact.body_B == 2);
  CHECK(trajectory.failure.contact.feature_B == 0);
  CHECK(trajectory.failure.penetration > k_limit);
}

TEST_CASE("too_deep: is relative to the smaller of two bodies, and names that one", "[dynamics][value]") {
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0}));
  scene.add(test::sphere_of_mass(1.0, 1.0), test::pose_at({1.05, 0, 0}));  // 0.05 m deep
  StepConfig config;
  config.penetration_limit = 0.2;
  const StepReport report = rollout(Stepper(scene.model, config), scene.state, 2).failure;
  CHECK(report.status == StepStatus::too_deep);
  CHECK(report.body == 0);
  CHECK(report.penetration == Approx(0.25).epsilon(1e-9));
  config.penetration_limit = 0.3;
  CHECK(rollout(Stepper(scene.model, config), scene.state, 2).ok());
}

TEST_CASE("jumped: a body that moves or turns farther than its velocities explain is named",
          "[dynamics][value]") {
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0}));
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({3, 0, 0}),
            stack<double>(Vec3<double>(0, 2, 0), Vec3<double>(1, 0, 0)));
  StepConfig config;
  config.h = 0.01;
  const Stepper stepper(scene.model, config);
  StepScratch scratch;
  State end;
  REQUIRE(stepper.step(scene.state, {}, end, scratch).status == StepStatus::ok);
  const auto judged = [&](const State& next) {
    StepReport report;
    judge_step(scene.model, config, stepper.detector(), config.h, MotionLag(), scene.state, next, {},
               scratch.memory(), report);
    return report;
  };
  const auto moved = [&](std::size_t body, const Vec3<double>& turn, const Vec3<double>& way) {
    State next = end;
    next.X_WB[body] = retract<double>(next.X_WB[body], stack<double>(turn, way));
    return judged(next);
  };
  const Vec3<double> none = Vec3<double>::Zero();
  CHECK(judged(end).status == StepStatus::ok);
  CHECK(moved(1, none, {-0.015, 0, 0}).status == StepStatus::ok);  // by 5 mm: no farther than 1 m/s
  CHECK(moved(1, {0, -0.03, 0}, none).status == StepStatus::ok);   // by -0.01 rad at 2 rad/s
  for (const std::size_t body : {0u, 1u}) {
    CAPTURE(body);
    const StepReport way = moved(body, none, {1e-6, 0, 0}), turn = moved(body, {0, 1e-6, 0}, none);
    CHECK(way.status == StepStatus::jumped);
    CHECK(way.body == static_cast<int>(body));
    CHECK(way.jump == Approx(1e-6).epsilon(1e-4));
    CHECK(turn.status == StepStatus::jumped);
    CHECK(turn.body == static_cast<int>(body));
    CHECK(turn.jump == Approx(1e-6 * stepper.detector().reach(0)).epsilon(1e-4));
  }
  // A phase of the step in which body 0 moves at 2 mm/s explains 20 um.
  GrowableVector& speeds = scratch.memory().solved.solution.phase_speeds;
  speeds.setZero(4);
  speeds[1] = 2e-3;
  CHECK(moved(0, none, {1.9e-5, 0, 0}).status == StepStatus::ok);
  CHECK(moved(0, none, {2.1e-5, 0, 0}).status == StepStatus::jumped);
}

TEST_CASE("jumped: no step with joints, split push-out, substeps or the impact of two bodies ends with it",
          "[dynamics][property]") {
  const bool has_substeps = GENERATE(false, true), splits_push_out = GENERATE(false, true);
  const double h = GENERATE(1e-3, 1e-2);
  StepConfig config;
  config.h = h;
  config.adaptive_substeps = has_substeps;
  config.penetration_growth = 1e-5;
  config.push_out = splits_push_out ? PushOut::split : PushOut::bias;
  int impacts = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(has_substeps, splits_push_out, h, seed);
    State end;
    TestScene jointed = test::random_jointed_scene(static_cast<int>(2 * seed + 1));  // without restitution
    for (Pose<double>& X : jointed.state.X_WB) X.p += Vec3<double>(1e3, 0, 0);       // coarse coordinates
    CHECK(simulate(Stepper(jointed.model, config), jointed.state, 20, {}, end).status != StepStatus::jumped);
    Random random(seed);
    TestScene thrown =
        test::thrown_bodies(test::ThrownKind::box, test::ThrownKind::capsule, 0.8, 0.5, random);
    thrown.model.gravity = {1.0, -2.0, -9.81};
    const auto steps = static_cast<int>(0.12 / h);
    const StepReport report = simulate(Stepper(thrown.model, config), thrown.state, steps, {}, end,
                                       [&](int, const State&, const StepReport& step) {
                                         impacts += step.contacts > 0;
                                         return true;
                                       });
    CHECK(report.status == StepStatus::ok);
  }
  CHECK(impacts > 10);
}

TEST_CASE("turns_too_far: names the body whose free rotation is not solved", "[dynamics][value]") {
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({9, 0, 0}));
  scene.add(test::box_of_mass({0.01, 0.1, 0.3}, 1.0), test::pose_at({0, 0, 0}));
  StepConfig config;
  config.h = 1.0;
  Random random(1);
  int failed = 0;
  for (int i = 0; i < 200; ++i) {
    scene.V_WB(1).head<3>() = 30.0 * random.unit_vector();
    const Trajectory trajectory = rollout(Stepper(scene.model, config), scene.state, 1);
    if (trajectory.ok()) continue;
    ++failed;
    REQUIRE(trajectory.failure.status == StepStatus::turns_too_far);
    REQUIRE(trajectory.failure.body == 1);
  }
  CHECK(failed > 0);
  CHECK(failed < 100);
}

TEST_CASE("not_converged: names a body of the island that did not converge", "[dynamics][value]") {
  const TestScene scene = ball_and_tower();
  TestScene ball = scene;
  for (int i = 2; i < 5; ++i) ball.X_WB(i).p.z() += 10.0 * i;  // nothing but the ball touches
  StepConfig config;
  config.contact.flush_faces = false;  // many contacts: more iterations than the ball takes
  config.max_iterations = 1;
  while (!rollout(Stepper(ball.model, config), ball.state, 1).ok()) {
    ++config.max_iterations;
    REQUIRE(config.max_iterations < 30);
  }
  const StepReport report = rollout(Stepper(scene.model, config), scene.state, 1).failure;
  CHECK(report.status == StepStatus::not_converged);
  CHECK(report.step == 0);
  CHECK(report.body >= 2);
  CHECK(report.contact.body_B >= 2);
  CHECK(report.iterations >= config.max_iterations);
}

TEST_CASE("not_converged, non_finite: without a contact, a body of the joint is named", "[dynamics][value]") {
  TestScene scene;
  scene.add(make_sphere(0.05, 1000.0), test::pose_at({1, 0, 0}));
  scene.add(make_sphere(0.05, 1000.0), test::pose_at({0, 0, 1}));
  const bool is_motor = GENERATE(true, false), is_alone = GENERATE(true, false);
  if (is_alone) {
    scene.model.bodies.erase(scene.model.bodies.begin());
    scene.state.X_WB.erase(scene.state.X_WB.begin());
    scene.state.V_WB.erase(scene.state.V_WB.begin());
  }
  Joint joint;
  joint.body_B = is_alone ? 0 : 1;
  if (is_motor) {
    joint.kind = JointKind::hinge;
    joint.X_AJ = test::pose_at({0, 0.3, 1}, {0.0, 1.0, 0.0});
    joint.X_BJ = test::pose_at({0, 0.3, 0}, {0.0, 1.0, 0.0});
    joint.motor = {MotorKind::velocity, 1e6, 0.0, k_infinity, 0.5};
  } else {  // its direction is none
    joint.kind = JointKind::distance;
    joint.X_AJ = test::pose_at({0, 0, 1});
    joint.length = 0.5;
  }
  scene.model.joints.push_back(joint);
  StepConfig config;
  config.max_iterations = 1;
  config.tolerance = 1e-30;
  const StepReport report = rollout(Stepper(scene.model, config), scene.state, 60).failure;
  CAPTURE(is_motor, is_alone, to_string(report.status));
  CHECK(report.status != StepStatus::ok);
  CHECK(report.body == joint.body_B);
}

TEST_CASE("non_finite: names the step and the body", "[dynamics][value]") {
  const TestScene scene = ball_and_tower();
  Controls controls(10, test::zero_wrenches(5));
  controls[7].wrenches[1][3] = k_nan;
  const Stepper stepper(scene.model, {});
  const StepReport report = rollout(stepper, scene.state, 10, controls).failure;
  CHECK(report.status == StepStatus::non_finite);
  CHECK(report.step == 7);
  CHECK(report.body == 1);
  CHECK(report.contact.body_B == 1);
  State end;
  CHECK(simulate(stepper, scene.state, 10, controls, end).step == 7);
}

TEST_CASE("StepReport: names the law", "[dynamics][value]") {
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 1}));
  StepConfig config;
  config.law = law;
  config.speed_limit = 0.1;
  const StepReport report = rollout(Stepper(scene.model, config), scene.state, 100).failure;
  CHECK(report.status == StepStatus::too_fast);
  CHECK(report.law == law);
}

// After a failure ------------------------------------------------------------------------------------------

TEST_CASE("simulate: keeps the last state that was good", "[dynamics][value]") {
  const TestScene scene = ball_and_tower();
  Controls controls(10, test::zero_wrenches(5));
  controls[7].wrenches[1][3] = k_nan;
  const Stepper stepper(scene.model, {});
  State end;
  REQUIRE(simulate(stepper, scene.state, 10, controls, end).status == StepStatus::non_finite);
  CHECK(same_bits(end, rollout(stepper, scene.state, 10, controls).states.back()));
  CHECK(end.time == Approx(7 * 0.002));
}

TEST_CASE("StepScratch: changes no bit of a result, whatever failure or model it comes from",
          "[dynamics][determinism]") {
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  StepConfig config;
  config.law = law;
  if (law == ContactLaw::penalty) config.h = 2e-4;
  const TestScene tower = ball_and_tower(), stack = test::stack_scene(2, 0.1, 1.0);
  const Stepper stepper(tower.model, config), other(stack.model, config);
  State expected, expected_other;
  REQUIRE(simulate(stepper, tower.state, 60, {}, expected).status == StepStatus::ok);
  REQUIRE(simulate(other, stack.state, 60, {}, expected_other).status == StepStatus::ok);

  StepConfig hopeless = config;
  hopeless.max_iterations = 1;
  hopeless.tolerance = 1e-15;
  hopeless.speed_limit = 10.0;
  Controls broken(60, test::zero_wrenches(5));
  broken[40].wrenches[3][4] = k_nan;
  const Stepper failing(tower.model, hopeless);
  StepScratch scratch;
  State end;
  for (int repeat = 0; repeat < 2; ++repeat) {
    REQUIRE(simulate(stepper, tower.state, 60, broken, end, scratch).status == StepStatus::non_finite);
    REQUIRE(simulate(stepper, tower.state, 60, {}, end, scratch).status == StepStatus::ok);
    CHECK(same_bits(end, expected));
    if (law == ContactLaw::smooth_coulomb) {
      REQUIRE(simulate(failing, tower.state, 60, {}, end, scratch).status == StepStatus::not_converged);
    }
    REQUIRE(simulate(other, stack.state, 60, {}, end, scratch).status == StepStatus::ok);
    CHECK(same_bits(end, expected_other));
  }

  // Step by step, as a viewer does.
  State first, next;
  StepScratch fresh;
  REQUIRE(stepper.step(tower.state, {}, first, fresh).status == StepStatus::ok);
  REQUIRE(simulate(stepper, tower.state, 60, broken, end, scratch).status == StepStatus::non_finite);
  CHECK(stepper.step(tower.state, {}, next, scratch).status == StepStatus::ok);
  CHECK(same_bits(next, first));
}

// Scenes that repeat a failure -----------------------------------------------------------------------------

namespace {

/// Bodies given in every way there is: an asset off its centre of mass, a mesh of the scene's own, a hull of
/// a mesh, positions by rotation vector and by quaternion.
std::string write_zoo(const test::TemporaryFolder& folder) {
  write_obj(folder.write("meshes/ball.obj", ""), sphere_mesh(0.1, 2));
  write_obj(folder.write("bodies/stone/mesh.obj", ""), sphere_mesh(0.08, 2));
  folder.write("bodies/stone/body.toml", R"(density = 700
mesh = "mesh.obj"
[[primitive]]
kind = "sphere"
radius = 0.08
position = [0.0, 0.0, 0.0]
[[primitive]]
kind = "sphere"
radius = 0.03
position = [0.02, 0.03, 0.01]
)");
  return folder.write("scenes/zoo.toml", R"(
[simulation]
steps = 500
gravity = [0.0, 0.3, -9.81]
speed_limit = 3.1
[simulation.contact]
edge_edge = false
[[body]]
name = "floor"
rotation_vector = [0.02, 0.01, 0.0]
[[body.primitive]]
kind = "half_space"
[[body]]
name = "stone"
asset = "../bodies/stone"
mass = 1.25
friction = 0.31
position = [0.4, 0.1, 0.081]
rotation_vector = [0.3, -0.7, 1.1]
angular_velocity = [1.0, 2.0, -0.5]
[[body]]
name = "egg"
density = 800
mesh = "../meshes/ball.obj"
position = [0.01, -0.3, 0.11]
orientation = [0.5, 0.5, 0.5, 0.5]
linear_velocity = [0.2, 0.0, 0.0]
[[body.primitive]]
kind = "convex_polyhedron"
mesh = "../meshes/ball.obj"
smoothing = 1e-5
[[body]]
name = "pebble"
density = 900
position = [-0.5, 0.7, 0.6]
[[body.primitive]]
kind = "sphere"
radius = 0.04
position = [0.3, 0.1, 0.2]
[[pair]]
bodies = ["stone", "floor"]
restitution = 0.25
[pair.contact]
activity_smoothing = 0.003
)");
}

std::string text_of(const Vec3<double>& v) { return fmt::format("[{}, {}, {}]", v.x(), v.y(), v.z()); }

/// A shaking plate and a shaking, travelling table, boxes off the origins of their assets that fall on them,
/// and between the boxes (or them and the world) a joint of every kind, given in the world or by frames.
std::string random_jointed_text(int seed) {
  Random random(static_cast<std::uint64_t>(seed));
  const auto vector = [&](double size) {
    const double x = random.uniform(-size, size), y = random.uniform(-size, size);
    return Vec3<double>(x, y, random.uniform(-size, size));
  };
  std::string text = fmt::format(
      "[simulation]\ntime_step = 0.002\nstart_time = {}\n[[body]]\nname = \"plate\"\nfixed = true\n"
      "primitive = [{{kind = \"half_space\"}}]\noscillation = {{amplitude = {}, rotation_amplitude = {}, "
      "frequency = {}, phase = {}}}\n",
      seed % 3 == 0 ? 0.0 : random.uniform(-3.0, 3.0), text_of(vector(0.01)), text_of(vector(0.02)),
      random.uniform(1.0, 9.0), random.uniform(-3.0, 3.0));
  text += fmt::format(
      "[[body]]\nname = \"table\"\nfixed = true\nposition = [3, 0, 0.1]\nlinear_velocity = {}\n"
      "primitive = [{{kind = \"rounded_box\", half_extents = [0.3, 0.3, 0.05], position = [0.1, 0, 0]}}]\n"
      "oscillation = {{amplitude = {}, frequency = 5}}\n",
      text_of(vector(0.1)), text_of(vector(0.02)));
  constexpr int k_boxes = 8;
  for (int i = 0; i < k_boxes; ++i) {
    text += fmt::format(
        "[[body]]\nname = \"box {}\"\ndensity = 600\nposition = {}\nrotation_vector = {}\n"
        "linear_velocity = {}\nangular_velocity = {}\n"
        "primitive = [{{kind = \"rounded_box\", half_extents = [0.1, 0.08, 0.06], edge_radius = 0.01, "
        "position = {}}}]\n",
        i, text_of(Vec3<double>(0.35 * i, 0.0, 0.2) + vector(0.02)), text_of(vector(2.0)),
        text_of(vector(0.3)), text_of(vector(1.0)), text_of(vector(0.05)));
  }
  constexpr std::array k_kinds{"fixed", "ball", "hinge", "slider", "distance"};
  for (int i = 1; i < k_boxes; ++i) {
    const std::string kind = k_kinds[static_cast<std::size_t>(i + seed) % k_kinds.size()];
    const std::string body_A = i % 3 == 0 ? "" : fmt::format("body_A = \"box {}\"\n", i - 1);
    text +=
        fmt::format("[[joint]]\nname = \"{}\"\nkind = \"{}\"\n{}body_B = \"box {}\"\n", i, kind, body_A, i);
    if (kind == "distance") {
      text += fmt::format("frame_A = {{position = {}}}\nframe_B = {{position = {}}}\n", text_of(vector(0.1)),
                          text_of(vector(0.1)));
    } else if (random.uniform() < 0.7) {
      if (random.uniform() < 0.7)
        text += fmt::format("position = {}\n", text_of(Vec3<double>(0.35 * i - 0.2, 0, 0.2) + vector(0.05)));
      text += fmt::format("axis = {}\n", text_of(vector(1.0)));
    } else {
      const Vec3<double> p(0.35 * i, 0.0, 0.2);
      text += fmt::format("frame_A = {{position = {}, axis = {}}}\nframe_B = {{position = {}, axis = {}}}\n",
                          text_of(i % 3 == 0 ? p : Vec3<double>(0.2, 0, 0)), text_of(vector(1.0)),
                          text_of(vector(0.1)), text_of(vector(1.0)));
    }
    if (kind == "hinge" || kind == "slider")
      text += "upper = 0.3\nmotor = {kind = \"position\", target = 0.1, stiffness = 20, damping = 0.5}\n";
  }
  return text + "[[push]]\nbody = \"box 3\"\nuntil = 50\nforce = [1, 0, 2]\n";
}

double difference_of_poses(const State& a, const State& b) {
  double difference = 0.0;
  for (std::size_t i = 0; i < a.X_WB.size(); ++i) {
    difference = std::max({difference, (a.X_WB[i].p - b.X_WB[i].p).norm(),
                           (a.X_WB[i].q.coeffs() - b.X_WB[i].q.coeffs()).norm()});
  }
  return difference;
}

double relative_difference(const State& a, const State& b) {
  double difference = std::abs(a.time - b.time), size = 1.0;
  for (std::size_t i = 0; i < a.X_WB.size(); ++i) {
    difference =
        std::max({difference, (a.X_WB[i].p - b.X_WB[i].p).norm(),
                  (a.X_WB[i].q.coeffs() - b.X_WB[i].q.coeffs()).norm(), (a.V_WB[i] - b.V_WB[i]).norm()});
    size = std::max({size, a.X_WB[i].p.norm(), a.V_WB[i].norm()});
  }
  return difference / size;
}

}  // namespace

TEST_CASE("write_scene_at: joints, oscillations and pushes go on from any state as they did",
          "[dynamics][property]") {
  int compared = 0, joints_in_world = 0;
  for (int seed = 1; seed <= 13; ++seed) {
    if (seed == 7) continue;  // its joints, which are open at the start, close into the plate
    const test::TemporaryFolder folder;
    const std::string text = random_jointed_text(seed), path = folder.write("scene.toml", text);
    CAPTURE(seed, text);
    const Scene scene = read_scene(path);
    constexpr int k_before = 37, k_after = 10;
    const Simulator simulator(scene.model, scene.config.step);
    const Trajectory whole =
        simulator.rollout(scene.initial, k_before + k_after, controls_of(scene, k_before + k_after));
    REQUIRE(whole.states.size() > k_before);
    const std::filesystem::path to = folder.path() / "later.toml";
    write_scene_at(path, {whole.states[k_before], scene.config.step.h, k_after}, to);
    const Scene again = read_scene(to);
    CAPTURE(read_file(to));
    CHECK(relative_difference(again.initial, whole.states[k_before]) < 1e-14);
    for (std::size_t j = 0; j < scene.model.joints.size(); ++j) {
      const Joint &joint = scene.model.joints[j], &same = again.model.joints[j];
      CHECK((joint.X_AJ.p - same.X_AJ.p).norm() + (joint.X_BJ.p - same.X_BJ.p).norm() < 1e-15);
      CHECK(joint.length == same.length);
    }
    joints_in_world += text.find("]\naxis") != std::string::npos;
    const Simulator later(again.model, again.config.step);
    State on_its_own = again.initial;
    const Controls controls = controls_of(again, k_after);
    for (int k = 0; k < k_after && k_before + k + 1 < static_cast<int>(whole.states.size());
         ++k, ++compared) {
      // From the states of the whole run on, so that steps do not magnify the rounding of those before.
      const State& start = k == 0 ? again.initial : whole.states[static_cast<std::size_t>(k_before + k)];
      const Trajectory one = later.rollout(start, 1, {controls[static_cast<std::size_t>(k)]});
      REQUIRE(one.ok());
      const State &state = one.states.back(),
                  &expected = whole.states[static_cast<std::size_t>(k_before + k + 1)];
      CAPTURE(k);
      CHECK(difference_of_poses(state, expected) < 1e-12);
      // Twists of links are differences of positions over h, 2 ms: rounding of poses comes back 500-fold, and more in contact.
      CHECK(relative_difference(state, expected) < 1e-10);
      // On its own it goes the same way, but for rounding that ten steps magnify.
      on_its_own = later.rollout(on_its_own, 1, {controls[static_cast<std::size_t>(k)]}).states.back();
      CHECK(relative_difference(on_its_own, expected) < 1e-9);
    }
  }
  CHECK(compared > 100);
  CHECK(joints_in_world > 0);
}

TEST_CASE("write_scene_at: the scene at the state before a failure fails in its first step",
          "[dynamics][value]") {
  const test::TemporaryFolder folder;
  const std::string path = write_zoo(folder);
  const Scene scene = read_scene(path);
  const Simulator simulator(scene.model, scene.config.step);
  const Trajectory trajectory = simulator.rollout(scene.initial, 500);
  REQUIRE(trajectory.failure.status == StepStatus::too_fast);
  REQUIRE(trajectory.failed_step > 50);

  const std::filesystem::path dump = folder.path() / "elsewhere" / "deeper" / "dump.toml";
  std::filesystem::create_directories(dump.parent_path());
  write_scene_at(path, {trajectory.states.back(), scene.config.step.h, 1, "two\nlines"}, dump);
  const Scene again = read_scene(dump);
  CHECK(again.name == "zoo");
  CHECK(again.config.steps == 1);
  CHECK(again.initial.time == trajectory.states.back().time);
  CHECK(again.config.step.speed_limit == 3.1);
  CHECK(again.config.step.contact.edge_edge == false);
  CHECK(again.model.gravity == scene.model.gravity);
  REQUIRE(again.model.bodies.size() == 4);
  CHECK(again.model.bodies[1].mass == scene.model.bodies[1].mass);
  CHECK(again.model.bodies[1].material.friction == 0.31);
  REQUIRE(again.model.pair_overrides.size() == 1);
  CHECK(again.model.pair_overrides[0].restitution == 0.25);
  CHECK(again.model.pair_overrides[0].contact.activity_smoothing == 0.003);
  for (std::size_t b = 0; b < 4; ++b) {
    CAPTURE(b);
    CHECK(again.initial.X_WB[b].p == trajectory.states.back().X_WB[b].p);
    CHECK(again.initial.X_WB[b].q.coeffs() == trajectory.states.back().X_WB[b].q.coeffs());
    CHECK(again.initial.V_WB[b] == trajectory.states.back().V_WB[b]);
  }
  const StepReport report = Simulator(again.model, again.config.step).rollout(again.initial, 1).failure;
  CHECK(report.status == StepStatus::too_fast);
  CHECK(report.step == 0);
  CHECK(report.body == trajectory.failure.body);
  CHECK(report.max_speed == trajectory.failure.max_speed);
}

TEST_CASE("write_scene_at: the initial state gives the same rollout, in the same folder or another",
          "[dynamics][determinism]") {
  const test::TemporaryFolder folder;
  const std::string path = write_zoo(folder);
  const Scene scene = read_scene(path);
  const Simulator simulator(scene.model, scene.config.step);
  const State expected = simulator.rollout(scene.initial, 40).states.back();
  for (const char* name : {"scenes/copy.toml", "copy.toml"}) {
    write_scene_at(path, {scene.initial, scene.config.step.h, 40}, folder.path() / name);
    const Scene again = read_scene(folder.path() / name);
    CHECK(same_bits(Simulator(again.model, again.config.step).rollout(again.initial, 40).states.back(),
                    expected));
  }
}

TEST_CASE("write_scene_at: never overwrites the scene, and refuses a state of other bodies",
          "[dynamics][value]") {
  const test::TemporaryFolder folder;
  const std::string path = write_zoo(folder);
  const Scene scene = read_scene(path);
  const std::filesystem::path link = folder.path() / "link.toml";
  std::filesystem::create_symlink(path, link);
  for (const std::filesystem::path& to : {std::filesystem::path(path), link}) {
    CHECK_THROWS_AS(write_scene_at(path, {scene.initial, 0.001, 1}, to), InputError);
  }
  CHECK(read_scene(path).config.steps == 500);
  State other = scene.initial;
  other.X_WB.pop_back();
  CHECK_THROWS_AS(scene_text_at(path, {other, 0.001, 1}, folder.path()), std::invalid_argument);
}

TEST_CASE("scene_files: every file of a scene, once", "[dynamics][value]") {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = write_zoo(folder), root = std::filesystem::canonical(folder.path());
  CHECK(scene_files(path) ==
        std::vector<std::filesystem::path>{root / "scenes/zoo.toml", root / "bodies/stone/body.toml",
                                           root / "meshes/ball.obj", root / "bodies/stone/mesh.obj"});
}
