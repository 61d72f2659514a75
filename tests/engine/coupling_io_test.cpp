/// Couplings and actuators in scene files.
#include "engine/coupling.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "engine/control.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"
#include "engine/scene_writer.h"
#include "tests/support/temporary_folder.h"

namespace {

using namespace abut;

/// Two bodies, on a hinge (line 10), a slider (line 17) and, between them, a ball joint (line 24).
const std::string k_mechanism = R"([[body]]
name = "crank"
density = 500
primitive = [{kind = "sphere", radius = 0.1}]
[[body]]
name = "rod"
density = 500
position = [1, 0, 0]
primitive = [{kind = "sphere", radius = 0.1}]
[[joint]]
name = "turn"
kind = "hinge"
body_B = "crank"
axis = [0, 0, 1]
[joint.motor]
kind = "force"
[[joint]]
name = "push"
kind = "slider"
body_B = "rod"
axis = [1, 0, 0]


[[joint]]
name = "tie"
kind = "ball"
body_A = "crank"
body_B = "rod"
)";

struct Mechanism {
  test::TemporaryFolder folder;

  [[nodiscard]] std::string path() const { return folder.path() / "scene.toml"; }
  [[nodiscard]] Scene read(const std::string& couplings) const {
    return read_scene(folder.write("scene.toml", k_mechanism + couplings));
  }
  [[nodiscard]] std::string refusal(const std::string& couplings) const {
    try {
      (void)read(couplings);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing is refused";
  }
};

const std::string k_couplings = R"([[coupling]]
name = "rack"
joints = ["push", "turn"]
coefficients = [1, -0.04]
held_at = 0.01
stiffness = 5000
dissipation_time = 0.003
gear = 2
[[coupling]]
name = "bent"
joints = ["turn", "push"]
coefficients = [[1, 0.5], [0.2]]
lower = -1
upper = 2
damping = 0.3
friction = 0.2
spring_stiffness = 7
spring_position = 0.1
motor = {kind = "position", stiffness = 10, damping = 1, target = 0.5}
[[actuator]]
name = "drive"
coupling = "rack"
kind = "affine"
gear = 3
gain = 4
bias = 0.5
stiffness = 6
damping = 0.7
limit = 8
command_limits = [-1, 2]
[[actuator]]
name = "push drive"
joint = "push"
kind = "velocity"
[[command]]
actuator = "drive"
times = [0]
values = [0.25]
)";

}  // namespace

TEST_CASE("read_scene: couplings and actuators", "[engine][value]") {
  const Mechanism mechanism;
  const Scene scene = mechanism.read(k_couplings);
  const std::vector<Coupling>& couplings = scene.model.couplings;
  REQUIRE(couplings.size() == 4);

  const Coupling& rack = couplings[0];
  REQUIRE(rack.terms.size() == 2);
  CHECK(rack.terms[0].joint == 1);
  CHECK(rack.terms[0].coefficients == std::vector<double>{1.0});
  CHECK(rack.terms[1].joint == 0);
  CHECK(rack.terms[1].coefficients == std::vector<double>{-0.04});
  CHECK(rack.held_at == 0.01);
  CHECK(rack.stiffness == 5000.0);
  CHECK(rack.dissipation_time == 0.003);
  CHECK(rack.gear == 2.0);
  CHECK_FALSE(rack.is_actuator);
  CHECK_FALSE(turns(scene.model, rack));

  const Coupling& bent = couplings[1];
  CHECK(bent.terms[0].coefficients == std::vector<double>{1.0, 0.5});
  CHECK_FALSE(bent.is_held());
  CHECK(bent.lower == -1.0);
  CHECK(bent.upper == 2.0);
  CHECK(bent.damping == 0.3);
  CHECK(bent.friction == 0.2);
  CHECK(bent.spring_stiffness == 7.0);
  CHECK(bent.spring_position == 0.1);
  CHECK(bent.motor.kind == MotorKind::position);

  const Coupling& drive = couplings[2];
  CHECK(drive.is_actuator);
  CHECK(drive.gear == 3.0);
  CHECK(drive.on == 0);
  CHECK(gear_of(scene.model, drive) == 6.0);  // with that of the rack
  CHECK(drive.motor.kind == MotorKind::affine);
  CHECK(drive.motor.gain == 4.0);
  CHECK(drive.motor.bias == 0.5);
  CHECK(drive.motor.stiffness == 6.0);
  CHECK(drive.motor.damping == 0.7);
  CHECK(drive.motor.limit == 8.0);
  CHECK(drive.motor.lowest == -1.0);
  CHECK(drive.motor.highest == 2.0);

  CHECK(motor_names(scene.model) == std::vector<std::string>{"turn", "bent", "drive", "push drive"});
  CHECK(control_at(scene, 0.0, 1e-3).commands == std::vector<double>{0.0, 0.0, 0.25, 0.0});
}

TEST_CASE("read_scene: a wrong coupling or actuator is refused with its line and cause", "[engine][value]") {
  struct Case {
    const char *tables, *message;
  };
  const Mechanism mechanism;
  const Case wrong = GENERATE(
      Case{"[[coupling]]\nname = \"c\"\njoints = [\"trun\"]\n",
           "scene.toml:31: coupling[0].joints: there is no joint 'trun', allowed: turn, push, tie; did you "
           "mean "
           "'turn'?"},
      Case{"[[coupling]]\nname = \"c\"\njoints = [\"tie\"]\n",
           "scene.toml:31: coupling[0].joints: joint 'tie' has no coordinate, only a hinge or a slider has "
           "one"},
      Case{"[[coupling]]\nname = \"c\"\njoints = []\n", "scene.toml:31: coupling[0].joints: is empty"},
      Case{"[[coupling]]\nname = \"c\"\njoints = [\"turn\", \"turn\"]\n",
           "scene.toml:31: coupling[0].joints: has 'turn' twice"},
      Case{"[[coupling]]\nname = \"turn\"\njoints = [\"turn\"]\n",
           "scene.toml:30: coupling[0].name: 'turn' is the name of a joint"},
      Case{"[[coupling]]\nname = \"c\"\njoints = [\"turn\"]\n[[actuator]]\nname = \"c\"\n",
           "scene.toml:33: actuator[0].name: 'c' is the name of two couplings or actuators"},
      Case{"[[coupling]]\nname = \"c\"\njoints = [\"turn\", \"push\"]\ncoefficients = [1]\n",
           "scene.toml:32: coupling[0].coefficients: 1 coefficient, expected 2, one for each of 'joints'"},
      Case{"[[coupling]]\nname = \"c\"\njoints = [\"turn\", \"push\"]\ncoefficients = [1, 0]\n",
           "coefficients of joint 'push' are [0], allowed: finite numbers, not all of them 0"},
      Case{"[[coupling]]\nname = \"c\"\njoints = [\"turn\"]\ncoefficients = [[0, 1]]\nfriction = 1\n",
           "with friction or limits the first coefficient of joint 'turn' cannot be 0"},
      Case{"[[coupling]]\nname = \"c\"\njoints = [\"turn\"]\nstiffness = 10\n",
           "scene.toml:32: coupling[0].stiffness: is of a coupling that is held; give 'held_at', too"},
      Case{"[[coupling]]\nname = \"c\"\njoints = [\"turn\"]\nlower = 1\nupper = 1\n",
           "scene.toml:33: coupling[0].upper: lower = 1 is not below upper = 1"},
      Case{"[[coupling]]\nname = \"c\"\njoints = [\"turn\"]\narmature = 1\n",
           "scene.toml:32: unknown key 'armature' in coupling[0]"},
      Case{"[[coupling]]\nname = \"c\"\njoints = [\"turn\"]\nspring_position = 1\n",
           "scene.toml:29: coupling[0]: nothing acts on it"},
      Case{"[[actuator]]\nname = \"a\"\nkind = \"force\"\n", "actuator[0]"},
      Case{"[[actuator]]\nname = \"a\"\nkind = \"force\"\ncoupling = \"turn\"\n",
           "there is no coupling 'turn', it is a joint: 'joint' takes it"},
      Case{"[[actuator]]\nname = \"a\"\nkind = \"force\"\ncoupling = \"c\"\n",
           "scene.toml:32: actuator[0].coupling: there is no coupling 'c'"},
      Case{"[[actuator]]\nname = \"a\"\nkind = \"force\"\njoint = \"turn\"\ngear = 0\n",
           "scene.toml:33: actuator[0].gear: 0, allowed: any finite number but 0"},
      Case{"[[actuator]]\nname = \"a\"\nkind = \"force\"\njoint = \"turn\"\ncommand_limits = [1, 1]\n",
           "scene.toml:33: actuator[0].command_limits: [1, 1], the first is not below the second"},
      Case{"[[actuator]]\nname = \"a\"\nkind = \"muscle\"\njoint = \"turn\"\n",
           "scene.toml:31: actuator[0].kind"},
      Case{"[[actuator]]\nname = \"a\"\nkind = \"force\"\njoint = \"turn\"\n[[command]]\nactuator = \"b\"\n",
           "scene.toml:34: command[0].actuator: there is no joint or actuator 'b', allowed: turn, a"});
  CAPTURE(wrong.tables);
  CHECK_THAT(mechanism.refusal(wrong.tables), Catch::Contains(wrong.message));
}

TEST_CASE("write_scene_at: numbers of joints, couplings and actuators are kept", "[engine][value]") {
  const Mechanism mechanism;
  const Scene scene = mechanism.read(k_couplings);
  Scene changed = scene;
  changed.model.joints[0].damping = 0.125;
  changed.model.joints[0].motor.target = 1.5;
  changed.model.couplings[0].held_at = 0.02;
  changed.model.couplings[1].motor.stiffness = 11.0;
  changed.model.couplings[2].gear = 3.5;
  changed.model.couplings[3].motor.target = -2.0;
  const std::string to = mechanism.folder.path() / "changed.toml";
  write_scene_at(mechanism.path(), {scene.initial, 0.001, 3, "", &changed}, to);
  const Scene again = read_scene(to);
  CHECK(again.model.joints[0].damping == 0.125);
  CHECK(again.model.joints[0].motor.target == 1.5);
  CHECK(again.model.couplings[0].held_at == 0.02);
  CHECK(again.model.couplings[0].gear == 2.0);
  CHECK(again.model.couplings[1].motor.stiffness == 11.0);
  CHECK(again.model.couplings[2].gear == 3.5);
  CHECK(gear_of(again.model, again.model.couplings[2]) == 7.0);
  CHECK(again.model.couplings[3].motor.target == -2.0);
}
