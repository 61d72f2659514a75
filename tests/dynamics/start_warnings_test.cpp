#include "dynamics/start_warnings.h"

#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "dynamics/simulator.h"
#include "engine/scene_io.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

using Catch::Contains;
using JointKindOfWarning = JointStartWarning::Kind;

/// A rod from the origin along x, that a hinge along y at its end ties to the world.
TestScene hinged_rod(JointKind kind = JointKind::hinge) {
  TestScene scene;
  scene.add(box_of_mass({0.2, 0.02, 0.02}, 1.0), pose_at({0.2, 0.0, 0.0}));
  scene.body(0).name = "rod";
  Joint joint;
  joint.name = "pivot";
  joint.kind = kind;
  joint.body_B = 0;
  const Quat<double> axis = shortest_rotation(Vec3<double>::UnitZ(), Vec3<double>::UnitY());
  joint.X_AJ = {axis, Vec3<double>::Zero()};
  joint.X_BJ = {axis, {-0.2, 0.0, 0.0}};
  scene.model.joints.push_back(joint);
  return scene;
}

std::vector<JointStartWarning> joint_warnings(const TestScene& scene) {
  return find_start_warnings(Stepper(scene.model, StepConfig()), scene.state).joints;
}

Vec6<double> spinning(const Vec3<double>& w, const Vec3<double>& v) { return stack<double>(w, v); }

}  // namespace

TEST_CASE("start warnings: velocities that a joint allows are none, those that it forbids have its value",
          "[dynamics][value]") {
  TestScene scene = hinged_rod();
  CHECK(joint_warnings(scene).empty());
  scene.V_WB(0) = spinning({0.0, 3.0, 0.0}, {0.0, 0.0, -0.6});  // about the hinge: v = w x (0.2, 0, 0)
  CHECK(joint_warnings(scene).empty());

  scene.V_WB(0) = spinning({0.0, 3.0, 0.0}, {0.5, 0.0, -0.6});
  std::vector<JointStartWarning> found = joint_warnings(scene);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == JointKindOfWarning::parting);
  CHECK(found[0].joint == 0);
  CHECK(found[0].value == Approx(0.5).epsilon(1e-12));
  CHECK_THAT(warning_text(scene.model, found[0]),
             Contains("'pivot'") && Contains("'rod'") && Contains("the world") && Contains("0.5 m/s"));

  scene.V_WB(0) = spinning({0.3, 3.0, 0.4}, {0.0, 0.08, -0.6});  // the pivot stays, the axis does not
  found = joint_warnings(scene);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == JointKindOfWarning::turning);
  CHECK(found[0].value == Approx(0.5).epsilon(1e-12));
  CHECK_THAT(warning_text(scene.model, found[0]), Contains("0.5 rad/s"));

  scene.V_WB(0) = spinning({0.0, 3.0, 0.0}, {0.003, 0.0, -0.6});  // velocities as files have them, rounded
  CHECK(joint_warnings(scene).empty());
}

TEST_CASE("start warnings: what a joint holds together is told from what it leaves free",
          "[dynamics][value]") {
  struct Case {
    JointKind kind;
    Vec6<double> V_WB;
    std::vector<JointKindOfWarning> expected;
  };
  const Vec3<double> zero = Vec3<double>::Zero(), along_axis(0.0, 0.7, 0.0), across(0.7, 0.0, 0.0);
  const Case cases[] = {
      {JointKind::slider, spinning(zero, along_axis), {}},
      {JointKind::slider, spinning(zero, across), {JointKindOfWarning::parting}},
      {JointKind::ball,
       spinning({1.0, 2.0, 3.0}, Vec3<double>(1.0, 2.0, 3.0).cross(Vec3<double>(0.2, 0, 0))),
       {}},
      {JointKind::fixed,
       spinning({0.0, 3.0, 0.0}, {0.5, 0.0, -0.6}),
       {JointKindOfWarning::parting, JointKindOfWarning::turning}},
  };
  for (const Case& c : cases) {
    TestScene scene = hinged_rod(c.kind);
    scene.V_WB(0) = c.V_WB;
    const std::vector<JointStartWarning> found = joint_warnings(scene);
    CAPTURE(static_cast<int>(c.kind));
    REQUIRE(found.size() == c.expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i].kind == c.expected[i]);
  }
  TestScene rope = hinged_rod(JointKind::distance);
  rope.model.joints[0].X_AJ.p.x() = -0.3;
  rope.model.joints[0].length = 0.3;
  rope.V_WB(0) = moving_at({0.0, 2.0, 0.0});
  CHECK(joint_warnings(rope).empty());
  rope.V_WB(0) = moving_at({0.4, 2.0, 0.0});
  REQUIRE(joint_warnings(rope).size() == 1);
  CHECK(joint_warnings(rope)[0].value == Approx(0.4).epsilon(1e-9));
}

TEST_CASE("start warnings: joints that start apart or turned are named, springs are not",
          "[dynamics][value]") {
  TestScene scene = hinged_rod();
  scene.X_WB(0).p.x() += 1.0;
  std::vector<JointStartWarning> found = joint_warnings(scene);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == JointKindOfWarning::parted);
  CHECK(found[0].value == Approx(1.0).epsilon(1e-12));
  CHECK_THAT(warning_text(scene.model, found[0]), Contains("1 m apart"));
  scene.model.joints[0].stiffness = 100.0;
  CHECK(joint_warnings(scene).empty());

  TestScene turned = hinged_rod();
  turned.X_WB(0) =
      pose_at(exp_quaternion<double>({0.0, 0.0, 0.3}) * Vec3<double>(0.2, 0.0, 0.0), {0.0, 0.0, 0.3});
  found = joint_warnings(turned);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == JointKindOfWarning::turned);
  CHECK(found[0].value == Approx(0.3).epsilon(1e-2));
}

TEST_CASE("start warnings: states of a rod that settles below its hinge have none", "[dynamics][value]") {
  TestScene scene = hinged_rod();
  scene.X_WB(0) = pose_at({0.0, 0.0, -0.2}, {0.0, 0.5 * std::numbers::pi, 0.0});
  const Stepper stepper(scene.model, StepConfig());
  StepScratch scratch;
  State state = scene.state, next;
  for (int k = 0; k < 20; ++k) {
    REQUIRE(stepper.step(state, {}, next, scratch).status == StepStatus::ok);
    state = next;
    CAPTURE(k);
    CHECK(find_start_warnings(stepper, state).joints.empty());
  }
}

TEST_CASE("start warnings: bodies on a carriage that moves are given its velocity without a word",
          "[dynamics][value]") {
  TestScene scene;
  scene.add(box_of_mass({0.1, 0.1, 0.1}, 1.0), pose_at({0.0, 0.0, 0.0}), moving_at({2.0, 0.0, 0.0}));
  scene.add(sphere_of_mass(0.05, 1.0), pose_at({0.0, 0.0, -0.4}), moving_at({2.0, 0.0, 0.0}));
  scene.body(0).fixed = true;
  Joint joint;
  joint.kind = JointKind::ball;
  joint.body_A = 0;
  joint.body_B = 1;
  joint.X_BJ.p = {0.0, 0.0, 0.4};
  scene.model.joints.push_back(joint);
  CHECK(joint_warnings(scene).empty());
  scene.V_WB(1).setZero();
  REQUIRE(joint_warnings(scene).size() == 1);
  CHECK(joint_warnings(scene)[0].value == Approx(2.0));
}

TEST_CASE("start warnings: a joint beyond its limits", "[dynamics][value]") {
  TestScene scene = hinged_rod();
  Joint& joint = scene.model.joints[0];
  joint.lower = -0.3;
  joint.upper = 0.2;
  CHECK(joint_warnings(scene).empty());
  for (const bool is_lower : {true, false}) {
    (is_lower ? joint.lower : joint.upper) = is_lower ? 0.05 : -0.06;
    (is_lower ? joint.upper : joint.lower) = is_lower ? 0.2 : -0.3;
    const auto warnings = joint_warnings(scene);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].kind == JointStartWarning::Kind::outside);
    CHECK(warnings[0].value == Approx(is_lower ? 0.05 : 0.06));
  }
}

TEST_CASE("start warnings: overlaps come first, a line each", "[dynamics][value]") {
  TestScene scene = hinged_rod();
  scene.add(sphere_of_mass(0.1, 1.0), pose_at({0.3, 0.0, 0.1}));
  scene.body(1).name = "ball";
  scene.X_WB(0).p.x() += 0.1;
  const Simulator simulator(scene.model, StepConfig());
  const std::vector<std::string> texts =
      warning_texts(simulator.model(), find_start_warnings(simulator.stepper(), scene.state));
  REQUIRE(texts.size() == 2);
  CHECK_THAT(texts[0], Contains("'rod' and 'ball' overlap by 0.02 m"));
  CHECK_THAT(texts[1], Contains("0.1 m apart"));
}

TEST_CASE("start warnings: no bundled scene has one of its joints, nor after 200 steps",
          "[dynamics][property]") {
  int joints = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ABUT_SOURCE_DIR "/assets/scenes")) {
    const Scene scene = read_scene(entry.path());
    if (scene.model.joints.empty()) continue;
    joints += static_cast<int>(scene.model.joints.size());
    const Simulator simulator(scene.model, scene.config.step);
    State end;
    const StepReport report = simulate(simulator.stepper(), scene.initial, 200, {}, end);
    REQUIRE(report.status == StepStatus::ok);
    for (const State& state : {scene.initial, end}) {
      const StartWarnings found = find_start_warnings(simulator.stepper(), state);
      CAPTURE(entry.path().string(), warning_texts(simulator.model(), found));
      CHECK(found.joints.empty());
    }
  }
  CHECK(joints > 5);
}

}  // namespace abut::test
