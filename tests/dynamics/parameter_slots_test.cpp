#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/gradient_check/gradient_sample.h"
#include "dynamics/parameters/scene_parameter_derivatives.h"
#include "dynamics/rollout/rollout_jvp.h"
#include "dynamics/simulator.h"
#include "engine/joint_geometry.h"
#include "tests/support/all_parameters_scene.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

constexpr int k_slot_steps = 60;

/// Weights of the state at the end, other ones for each body.
Vec6<double> pose_weight(std::size_t b) {
  const auto c = 0.1 * static_cast<double>(b);
  return (Vec6<double>() << 0.0, 0.0, 0.0, 1.0 - c, c - 0.7, 0.4 + c).finished();
}
Vec6<double> twist_weight(std::size_t b) {
  const auto c = 0.01 * static_cast<double>(b);
  return (Vec6<double>() << 0.02, 0.03 - c, 0.01 + c, 0.2, 0.1 + c, -0.3).finished();
}

double slot_loss(const Scene& scene) {
  const Simulator simulator(scene.model, scene.config.step);
  const Trajectory trajectory = simulator.rollout(scene.initial, k_slot_steps);
  REQUIRE(trajectory.ok());
  const State& end = trajectory.states.back();
  double loss = 0.0;
  for (std::size_t b = 1; b < end.X_WB.size(); ++b)
    loss += pose_weight(b).tail<3>().dot(end.X_WB[b].p) + twist_weight(b).dot(end.V_WB[b]);
  return loss;
}

void add_slot_loss(int k, const State& state, StateTangent& bar) {
  if (k != k_slot_steps) return;
  for (std::size_t b = 1; b < state.X_WB.size(); ++b) {
    bar.pose[b] += pose_weight(b);
    bar.twist[b] += twist_weight(b);
  }
}

/// A number of a scene that is moved, and the derivative of the loss by it.
struct Moved {
  std::string name;
  ParameterKind kind;
  double step = 0, derivative = 0;
  std::function<void(Scene& scene, double change)> move;
};

std::vector<Moved> all_moved(const Scene& scene, const Gradient& gradient) {
  std::vector<Moved> all;
  for (const SceneParameter& parameter : differentiable_parameters(scene)) {
    const double value = value_of(scene, parameter);
    if (parameter.kind == ParameterKind::restitution && value == 0.0) continue;  // at its bound
    all.push_back({parameter.name, parameter.kind, step_of_parameter(parameter.kind, value),
                   derivative_by(scene, parameter, gradient),
                   [parameter, value](Scene& moved, double change) {
                     const double there = value + change;
                     set_parameters({parameter}, {&there, 1}, moved);
                   }});
  }
  return all;
}

}  // namespace

TEST_CASE(
    "parameters: the slot of each in a gradient has the derivative that differences through the table have",
    "[dynamics][derivative]") {
  Scene scene = all_parameters_scene(k_gradient_check_tolerance);
  // The servo moves: at rest, held by its dry friction, it would hardly feel the damping of its link.
  set_joint_rate(scene.model, 2, -1.0, scene.initial);
  const Simulator simulator(scene.model, scene.config.step);
  const Trajectory trajectory = simulator.rollout(scene.initial, k_slot_steps);
  REQUIRE(trajectory.ok());
  const Gradient gradient = simulator.gradient(trajectory, add_slot_loss);
  const double nominal = slot_loss(scene);
  const std::vector<Moved> all = all_moved(scene, gradient);
  double largest = 0.0;
  for (const Moved& moved : all) largest = std::max(largest, std::abs(moved.step * moved.derivative));
  std::set<ParameterKind> felt;
  for (const Moved& moved : all) {
    GradientSample sample;
    sample.adjoint = moved.step * moved.derivative;
    sample.largest = largest;
    score_by_differences(
        [&](double h) {
          Scene there = scene;
          moved.move(there, h * moved.step);
          return slot_loss(there) - nominal;
        },
        sample);
    CAPTURE(moved.name, sample.adjoint, sample.difference, largest);
    CHECK_FALSE(sample.unresolved);
    CHECK(sample.relative_error < 1e-4);
    if (std::abs(sample.adjoint) > 1e-6 * largest) felt.insert(moved.kind);
  }
  CHECK(felt.count(ParameterKind::shape) == 1);
  for (const ParameterInfo* const parameter : all_parameters()) {
    CAPTURE(parameter->key, static_cast<int>(parameter->kind));
    CHECK(felt.count(parameter->kind) == 1);  // else the scene above needs something that feels it
  }
}

TEST_CASE("parameters: the slot of each in a direction is that of its gradient", "[dynamics][derivative]") {
  const Scene scene = all_parameters_scene(k_gradient_check_tolerance);
  const Simulator simulator(scene.model, scene.config.step);
  const Trajectory trajectory = simulator.rollout(scene.initial, k_slot_steps);
  REQUIRE(trajectory.ok());
  const Gradient gradient = simulator.gradient(trajectory, add_slot_loss);
  StateTangent bar(scene.model.body_count());
  add_slot_loss(k_slot_steps, trajectory.states.back(), bar);
  int directions = 0;
  for (const SceneParameter& parameter : differentiable_parameters(scene)) {
    if (!has_direction(parameter)) continue;
    const StateTangents tangents =
        rollout_jvp(simulator.stepper(), trajectory, rollout_direction_of(scene, parameter));
    double along = 0.0;
    for (std::size_t b = 0; b < bar.pose.size(); ++b)
      along += bar.pose[b].dot(tangents.back().pose[b]) + bar.twist[b].dot(tangents.back().twist[b]);
    CAPTURE(parameter.name);
    CHECK(close(along, derivative_by(scene, parameter, gradient), 1e-7, 1e-9));
    ++directions;
  }
  CHECK(directions > 150);
}

TEST_CASE("parameters: each has a name that finds it, and a value that it takes", "[dynamics][value]") {
  const Scene scene = all_parameters_scene(k_gradient_check_tolerance);
  int changed = 0;
  for (const SceneParameter& parameter : differentiable_parameters(scene)) {
    CAPTURE(parameter.name);
    const SceneParameter found = find_parameter(scene, parameter.name);
    CHECK(found.name == parameter.name);
    CHECK(is_same(found, parameter));
    CHECK(found.unit == parameter.unit);
    CHECK(component_names(scene, parameter.name) == std::vector<std::string>{parameter.name});
    const double value = value_of(scene, parameter),
                 there = value + 1e-2 * step_of_parameter(parameter.kind, value);
    CHECK(parameter.range.contains(value));
    Scene moved = scene;
    set_parameters({parameter}, {&there, 1}, moved);
    CHECK(value_of(moved, parameter) == Approx(there).epsilon(1e-12).margin(1e-12));
    changed += value_of(moved, parameter) != value;
  }
  CHECK(changed > 200);
}

TEST_CASE("parameters: of joints, each has those of its kind and of its motor", "[dynamics][value]") {
  const Scene scene = all_parameters_scene(k_gradient_check_tolerance);
  const auto refuses = [&](const std::string& name, const std::string& why) {
    CAPTURE(name);
    CHECK_THROWS_WITH(find_parameter(scene, name), Catch::Contains(name) && Catch::Contains(why));
  };
  refuses("joint.rope.angular_stiffness", "turn freely");
  refuses("joint.rope.upper", "only a hinge or a slider");
  refuses("joint.rope.motor.target", "no motor");
  refuses("joint.hinge 3.length", "only a distance joint");
  refuses("joint.hinge 4.motor.stiffness", "only a position or affine motor");
  refuses("joint.hinge 3.motor.targte", "did you mean 'joint.hinge 3.motor.target'?");
  CHECK(find_parameter(scene, "joint.hinge 3.motor.target").unit == "rad");
  CHECK(find_parameter(scene, "joint.hinge 4.motor.target").unit == "rad/s");
  CHECK(find_parameter(scene, "joint.hinge 4.motor.damping").unit == "N m s/rad");
  CHECK(find_parameter(scene, "joint.hinge 4.lower").unit == "rad");
  CHECK(find_parameter(scene, "joint.rope.length").unit == "m");
  CHECK_FALSE(
      is_same(find_parameter(scene, "joint.hinge 3.lower"), find_parameter(scene, "joint.hinge 4.lower")));
  CHECK_NOTHROW(require_allowed(find_parameter(scene, "joint.hinge 3.motor.damping"), 0.0));
  CHECK_THROWS_WITH(require_allowed(find_parameter(scene, "joint.hinge 4.motor.damping"), 0.0),
                    Catch::Contains("> 0"));

  refuses("joint.hinge 4.spring_position", "no spring");
  // There is no derivative with respect to a damping, say, that the joint does not have.
  for (const std::string key : {"damping", "friction", "armature", "spring_stiffness"}) {
    const SceneParameter none = find_parameter(scene, "joint.hinge 4." + key);
    CHECK(value_of(scene, none) == 0.0);
    CHECK_FALSE(is_differentiable_at(scene, none));
    CHECK_THROWS_WITH(derivative_by(scene, none, Gradient()), Catch::Contains("'" + none.name + "' = 0"));
    CHECK_NOTHROW(require_allowed(none, 0.0));
    for (const SceneParameter& parameter : differentiable_parameters(scene))
      CHECK(parameter.name != none.name);
    CHECK(is_differentiable_at(scene, find_parameter(scene, "joint.hinge 5." + key)));
    refuses("joint.rope." + key, "only a hinge or a slider");
  }

  Scene sliding = scene;
  sliding.model.joints[1].kind = JointKind::slider;
  CHECK(find_parameter(sliding, "joint.hinge 4.motor.target").unit == "m/s");
  CHECK(find_parameter(sliding, "joint.hinge 4.upper").unit == "m");

  Scene forced = scene;
  for (std::size_t j = 0; j < 2; ++j) forced.model.joints[j].motor = {MotorKind::force, 0.5};
  forced.model.joints[1].kind = JointKind::slider;
  CHECK(find_parameter(forced, "joint.hinge 3.motor.target").unit == "N m");
  CHECK(find_parameter(forced, "joint.hinge 4.motor.target").unit == "N");
  CHECK(find_parameter(forced, "joint.hinge 4.motor.limit").unit == "N");
  for (const auto& [key, why] : {std::pair("stiffness", "only a position or affine motor has a stiffness"),
                                 std::pair("damping", "a force motor has no damping")}) {
    const std::string name = std::string("joint.hinge 3.motor.") + key;
    CAPTURE(name);
    CHECK_THROWS_WITH(find_parameter(forced, name), Catch::Contains(name) && Catch::Contains(why));
    for (const SceneParameter& parameter : differentiable_parameters(forced)) CHECK(parameter.name != name);
  }

  Scene moved = scene;
  const double above = 0.07;  // the upper end of the travel is at 0.05
  CHECK_THROWS_WITH(set_parameters({find_parameter(scene, "joint.hinge 3.lower")}, {&above, 1}, moved),
                    Catch::Contains("joint 'hinge 3'") && Catch::Contains("not below upper"));
}

}  // namespace abut::test
