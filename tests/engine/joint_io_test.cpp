#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/joint_geometry.h"
#include "engine/scene_io.h"
#include "engine/scene_writer.h"
#include "tests/support/close.h"
#include "tests/support/malformed.h"
#include "tests/support/temporary_folder.h"

using namespace abut;

namespace {

/// Lines 1 to 14; joints begin at line 15.
const std::string k_bodies = R"([[body]]
name = "floor"
primitive = [{kind = "half_space"}]
[[body]]
name = "a"
density = 500
position = [0, 0, 1]
rotation_vector = [0, 0, 0.5]
primitive = [{kind = "sphere", radius = 0.1}]
[[body]]
name = "b"
density = 500
position = [1, 0, 1]
primitive = [{kind = "rounded_box", half_extents = [0.1, 0.2, 0.3], position = [0.05, 0, 0]}]
)";

const std::string k_hinge = "[[joint]]\nname = \"j\"\nkind = \"hinge\"\nbody_A = \"a\"\nbody_B = \"b\"\n";

struct File {
  test::TemporaryFolder folder;
  [[nodiscard]] Scene read(const std::string& joints) const {
    return read_scene(folder.write("scene.toml", k_bodies + joints));
  }
};

}  // namespace

TEST_CASE("read_scene: a joint's place in the world becomes one on each body", "[engine][value]") {
  const File file;
  const Scene scene =
      file.read(k_hinge +
                "position = [0.5, 0.1, 1]\naxis = [0, 2, 0]\nlower = -1\nupper = 2\n"
                "stiffness = 1e4\nangular_stiffness = 50\ndissipation_time = 0.01\n"
                "collide = true\ndamping = 0.5\nfriction = 0.25\narmature = 0.01\nspring_stiffness = "
                "3\nspring_position = -0.5\n[joint.motor]\nkind = \"position\"\ntarget = 0.3\n"
                "stiffness = 40\ndamping = 2\nlimit = 5\n");
  REQUIRE(scene.model.joints.size() == 1);
  const Joint& joint = scene.model.joints[0];
  CHECK(joint.name == "j");
  CHECK(joint.kind == JointKind::hinge);
  CHECK(joint.body_A == 1);
  CHECK(joint.body_B == 2);
  for (const auto& [body, X_BJ] : {std::pair(1, joint.X_AJ), std::pair(2, joint.X_BJ)}) {
    const Pose<double> X_WJ = scene.initial.X_WB[static_cast<std::size_t>(body)] * X_BJ;
    CHECK(test::close(X_WJ.p, Vec3<double>(0.5, 0.1, 1), 0, 1e-14));
    CHECK(test::close(X_WJ.rotation().col(2), Vec3<double>::UnitY(), 0, 1e-14));
  }
  CHECK(joint.lower == -1);
  CHECK(joint.upper == 2);
  CHECK(joint.stiffness == 1e4);
  CHECK(joint.angular_stiffness == 50);
  CHECK(joint.dissipation_time == 0.01);
  CHECK(joint.collide);
  CHECK(joint.damping == 0.5);
  CHECK(joint.friction == 0.25);
  CHECK(joint.armature == 0.01);
  CHECK(joint.spring_stiffness == 3);
  CHECK(joint.spring_position == -0.5);
  CHECK(joint.motor.kind == MotorKind::position);
  CHECK(joint.motor.target == 0.3);
  CHECK(joint.motor.stiffness == 40);
  CHECK(joint.motor.damping == 2);
  CHECK(joint.motor.limit == 5);
}

TEST_CASE("read_scene: joint frames are those of the assets, and a rod's length that at the start",
          "[engine][value]") {
  const File file;
  const Scene scene = file.read(
      "[[joint]]\nname = \"rod\"\nkind = \"distance\"\nbody_B = \"b\"\n"
      "frame_A = {position = [1, 0, 3]}\nframe_B = {position = [0, 0, 0.5]}\n"
      "[[joint]]\nname = \"motor\"\nkind = \"slider\"\nbody_B = \"a\"\n"
      "axis = [-1, 0, 0]\nmotor = {kind = \"velocity\", target = 2}\n");
  REQUIRE(scene.model.joints.size() == 2);
  const Joint &rod = scene.model.joints[0], &slider = scene.model.joints[1];
  CHECK(rod.body_A == -1);
  CHECK(rod.X_AJ.p == Vec3<double>(1, 0, 3));
  const Vec3<double> end =
      scene.initial.X_WB[2] * rod.X_BJ.p;  // b's centre of mass is not its asset's origin
  CHECK(test::close(end, Vec3<double>(1, 0, 1.5), 0, 1e-14));
  CHECK(test::close(rod.length, 1.5, 1e-14, 0));
  CHECK(std::isinf(rod.stiffness));
  CHECK(slider.motor.kind == MotorKind::velocity);
  CHECK(std::isinf(slider.motor.limit));
  CHECK(std::isinf(slider.motor.damping));
  CHECK(std::isinf(slider.upper));
  CHECK(test::close(slider.X_AJ.rotation().col(2), Vec3<double>(-1, 0, 0), 0, 1e-14));
}

TEST_CASE("read_scene: a force motor has a target and a limit, and targets are 0 where none is given",
          "[engine][value]") {
  const File file;
  const std::string turned = k_hinge + "axis = [0, 0, 1]\n";
  const auto motor = [&](const std::string& keys) {
    return file.read(turned + "motor = {" + keys + "}\n").model.joints.at(0).motor;
  };
  const Motor force = motor("kind = \"force\", target = -2, limit = 3");
  CHECK(force.kind == MotorKind::force);
  CHECK(force.target == -2);
  CHECK(force.limit == 3);
  CHECK(std::isinf(motor("kind = \"force\"").limit));
  for (const std::string keys :
       {"kind = \"force\"", "kind = \"velocity\"", "kind = \"position\", stiffness = 1"}) {
    CAPTURE(keys);
    CHECK(motor(keys).target == 0);
  }
}

TEST_CASE("validate(Joint): of a force motor only target and limit count", "[engine][value]") {
  const File file;
  const Scene scene = file.read(k_hinge + "axis = [0, 0, 1]\nmotor = {kind = \"force\"}\n");
  const auto refuses = [&](const Motor& motor, const std::string& why) {
    Joint joint = scene.model.joints.at(0);
    joint.motor = motor;
    CHECK_THROWS_WITH(validate(joint, scene.model), Catch::Contains("joint 'j': motor " + why));
  };
  Joint joint = scene.model.joints.at(0);
  joint.motor = {MotorKind::force, -1.0, -1.0, -1.0, 2.0};
  CHECK_NOTHROW(validate(joint, scene.model));
  refuses({MotorKind::force, k_infinity}, "target = inf, allowed: finite");
  refuses({MotorKind::force, 1.0, 0.0, 0.0, 0.0}, "limit = 0, allowed: > 0");
}

TEST_CASE("read_scene: a fixed body's velocity and oscillation are those of its first state",
          "[engine][value]") {
  const File file;
  const Scene scene = file.read(
      "[[body]]\nname = \"plate\"\nfixed = true\nposition = [0, 0, -1]\n"
      "linear_velocity = [0.5, 0, 0]\nangular_velocity = [0, 0, 2]\n"
      "primitive = [{kind = \"sphere\", radius = 0.1}]\n"
      "oscillation = {amplitude = [0, 0.1, 0], rotation_amplitude = [0, 0, 0.2], "
      "frequency = 3, phase = 0.4}\n");
  const Oscillation& oscillation = scene.model.bodies[3].oscillation;
  CHECK(oscillation.frequency == 3);
  CHECK(oscillation.phase == 0.4);
  const double rate = 2.0 * std::numbers::pi * 3.0, c = rate * std::cos(0.4);
  Vec6<double> V;
  V << 0, 0, 2 + 0.2 * c, 0.5, 0.1 * c, 0;
  CHECK(test::close(scene.initial.V_WB[3], V, 1e-14, 0));
}

TEST_CASE("read_scene: joints start at the coordinates and rates that are given, turns counted",
          "[engine][value]") {
  const File file;
  const std::string turned = k_hinge + "position = [0.5, 0, 1]\naxis = [0, 0, 1]\n";
  const Scene scene = file.read(turned + "coordinate = 8\nrate = 0.5\n");
  CHECK(joint_coordinate(scene.model, 0, scene.initial) == 8.0);
  CHECK(test::close(joint_rate(scene.model.joints[0], scene.initial), 0.5, 1e-14, 0));
  CHECK(scene.initial.X_WB[1].p == Vec3<double>(0, 0, 1));  // body b moves
  CHECK(joint_error(scene.model.joints[0], scene.initial).position < 1e-15);
  const Scene within = file.read(turned + "lower = 6\nupper = 7\n");
  CHECK(test::close(joint_coordinate(within.model, 0, within.initial), 2.0 * std::numbers::pi, 1e-15, 0));
}

TEST_CASE("write_scene_at: a hinge that has turned starts where it was", "[engine][value]") {
  const File file;
  for (const std::string& start : {std::string("coordinate = 8\nrate = 0.5\n"), std::string()}) {
    const Scene scene = file.read(k_hinge + "position = [0.5, 0, 1]\naxis = [0, 0, 1]\n" + start);
    for (const double q : {8.0, -20.0, 0.3}) {
      State state = scene.initial;
      set_joint_coordinate(scene.model, 0, q, state);
      set_joint_rate(scene.model, 0, -2.0, state);
      const auto later = file.folder.path() / "later.toml";
      write_scene_at(file.folder.path() / "scene.toml", {state, 2e-3}, later);
      const Scene read = read_scene(later);
      CAPTURE(start, q);
      CHECK(test::close(joint_coordinate(read.model, 0, read.initial), q, 1e-14, 0));
      CHECK(test::close(joint_rate(read.model.joints[0], read.initial), -2.0, 1e-14, 0));
      CHECK(test::close(read.initial.X_WB[2].p, state.X_WB[2].p, 0, 1e-14));
    }
  }
}

TEST_CASE("read_scene: a wrong joint is refused with its line, name and cause", "[engine][value]") {
  const File file;
  const std::string ball = "[[joint]]\nname = \"j\"\nkind = \"ball\"\nbody_B = \"b\"\n",
                    turned = k_hinge + "axis = [0, 0, 1]\n";
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"[[joint]]\nkind = \"ball\"\n", {"scene.toml:15: missing key 'name' in joint[0]"}},
      {"[[joint]]\nname = \"j\"\n", {"scene.toml:15: missing key 'kind' in joint[0]"}},
      {"[[joint]]\nname = \"j\"\nkind = \"hing\"\n",
       {"scene.toml:17: joint[0].kind", "did you mean 'hinge'?"}},
      {"[[joint]]\nname = \"j\"\nkind = \"ball\"\n", {"missing key 'body_B' in joint[0]"}},
      {"[[joint]]\nname = \"j\"\nkind = \"ball\"\nbody_B = \"flor\"\n",
       {"scene.toml:18: joint[0].body_B: there is no body 'flor'; did you mean 'floor'?"}},
      {ball + "body_A = \"c\"\n", {"scene.toml:19: joint[0].body_A: there is no body 'c'"}},
      {ball + "body_A = \"b\"\n", {"joint[0].body_B: 'b' cannot be joined to itself"}},
      {"[[joint]]\nname = \"j\"\nkind = \"ball\"\nbody_B = \"floor\"\n",
       {"scene.toml:15: joint[0]", "joint 'j': it joins two things of infinite mass"}},
      {ball + ball, {"scene.toml:20: joint[1].name: 'j' is the name of two joints"}},
      {k_hinge, {"joint[0]", "axis"}},
      {k_hinge + "axis = [0, 0, 0]\n", {"scene.toml:20: joint[0].axis: an axis of length 0"}},
      {turned + "orientation = [1, 0, 0, 0]\n", {"scene.toml:20: joint[0].axis: only one of"}},
      {turned + "frame_A = {}\n", {"joint[0].axis: give the joint's place in the world, or in frames"}},
      {turned + "lower = 1\nupper = 1\n", {"lower = 1 is not below upper = 1"}},
      {turned + "coordinate = inf\n",
       {"scene.toml:21: joint[0].coordinate = inf, allowed: any finite number"}},
      {ball + "coordinate = 1\n", {"scene.toml:19: joint[0].coordinate: only a hinge or a slider has any"}},
      {ball + "rate = 1\n", {"scene.toml:19: joint[0].rate: only a hinge or a slider has any"}},
      {turned + "coordinate = 1\n[[joint]]\nname = \"k\"\nkind = \"ball\"\nbody_A = \"a\"\nbody_B = \"b\"\n",
       {"scene.toml:21: joint[0].coordinate: joint 'j': neither side of it can move, it is part of a loop"}},
      {turned + "length = 1\n", {"unknown key 'length' in joint[0]"}},
      {turned + "stiffness = 0\n", {"scene.toml:21: joint[0].stiffness = 0, allowed: > 0"}},
      {turned + "damping = -1\n", {"scene.toml:21: joint[0].damping = -1, allowed: >= 0"}},
      {turned + "friction = inf\n", {"scene.toml:21: joint[0].friction = inf, allowed: >= 0"}},
      {turned + "armature = -1\n", {"scene.toml:21: joint[0].armature = -1, allowed: >= 0"}},
      {turned + "spring_stiffness = -1\n", {"joint[0].spring_stiffness = -1, allowed: >= 0"}},
      {ball + "damping = 1\n", {"unknown key 'damping' in joint[0]"}},
      {turned + "dissipation_time = -1\n", {"scene.toml:21: joint[0].dissipation_time = -1, allowed: >= 0"}},
      {ball + "motor = {kind = \"velocity\", target = 1}\n",
       {"scene.toml:19: joint[0].motor: only a hinge or a slider can have a motor"}},
      {ball + "upper = 1\n", {"unknown key 'upper' in joint[0]"}},
      {turned + "motor = {kind = \"torque\", target = 1}\n",
       {"joint[0].motor.kind = \"torque\", allowed: velocity, position, force"}},
      {turned + "motor = {kind = \"position\", target = 1}\n", {"missing key 'stiffness' in joint[0].motor"}},
      {turned + "motor = {kind = \"force\", target = inf}\n",
       {"joint[0].motor.target = inf, allowed: any finite number"}},
      {turned + "motor = {kind = \"force\", limit = 0}\n", {"joint[0].motor.limit = 0, allowed: > 0"}},
      {turned + "motor = {kind = \"force\", stiffness = 2}\n",
       {"unknown key 'stiffness' in joint[0].motor, allowed: kind, target, limit"}},
      {turned + "motor = {kind = \"force\", damping = 2}\n",
       {"unknown key 'damping' in joint[0].motor, allowed: kind, target, limit"}},
      {turned + "motor = {kind = \"velocity\", target = 1, limit = 0}\n",
       {"joint[0].motor.limit = 0, allowed: > 0"}},
      {turned + "motor = {kind = \"velocity\", target = 1, stiffness = 2}\n",
       {"unknown key 'stiffness' in joint[0].motor"}},
      {"[[joint]]\nname = \"j\"\nkind = \"distance\"\nbody_B = \"b\"\n",
       {"scene.toml:15: joint[0]: a distance joint needs 'frame_A' and 'frame_B'"}},
      {"[[joint]]\nname = \"j\"\nkind = \"distance\"\nbody_B = \"b\"\nframe_A = {position = [1, 0, 1]}\n"
       "frame_B = {position = [0, 0, 0]}\n",
       {"scene.toml:20: joint[0].frame_B: joint 'j': frame_A and frame_B are at the same place",
        "[1, 0, 1] m"}},
      {"[[joint]]\nname = \"j\"\nkind = \"distance\"\nbody_B = \"b\"\nframe_A = {position = [1, 0, 1]}\n"
       "frame_B = {position = [0, 0, 0]}\nlength = 0.5\n",
       {"scene.toml:20: joint[0].frame_B: joint 'j'"}},
      {ball + "angular_stiffness = 10\n", {"joint[0].angular_stiffness: a ball or distance joint"}},
  };
  for (const auto& [text, parts] : cases) {
    const std::string message = test::rejection([&, &text = text] { return file.read(text); });
    CAPTURE(text, message);
    CHECK(test::missing_part(message, parts) == "");
  }
}
