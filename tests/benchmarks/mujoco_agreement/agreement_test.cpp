/// The impedance law against MuJoCo itself, of whatever version is installed.

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include <spdlog/fmt/fmt.h>
#include <catch2/catch.hpp>

#include "dynamics/step/stepper.h"
#include "tests/support/mujoco_peer/mujoco_peer.h"
#include "tests/support/scenes.h"

using namespace abut;

TEST_CASE("impedance: a sphere falls, hops, slides and comes to roll as in MuJoCo", "[dynamics][value]") {
  const double radius = 0.1, mass = 2.0, mu = 0.3, height = 0.05, speed = 1.0;
  const double d_0 = GENERATE(0.0, 0.9), impratio = GENERATE(1.0, 10.0);
  StepConfig config;
  config.law = ContactLaw::impedance;
  config.h = 2e-3;
  config.tolerance = 1e-13;
  config.impedance.solimp[0] = d_0;
  config.impedance.impratio = impratio;

  test::TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(radius, mass), test::pose_at({0.0, 0.0, radius + height}),
            test::moving_at({speed, 0.0, 0.0}));
  scene.set_friction(mu);
  const Stepper stepper(scene.model, config);

  const auto& [solref, solimp, ratio] = config.impedance;
  const std::string parameters =
      fmt::format("friction=\"{}\" solref=\"{} {}\" solimp=\"{} {} {} {} {}\"", mu, solref[0], solref[1],
                  solimp[0], solimp[1], solimp[2], solimp[3], solimp[4]);
  const auto model = test::load_mujoco(fmt::format(
      "<mujoco><option timestep=\"{}\" gravity=\"0 0 -9.81\" cone=\"elliptic\" impratio=\"{}\" "
      "solver=\"Newton\" "
      "tolerance=\"0\" iterations=\"100\"/><worldbody><geom type=\"plane\" size=\"0 0 1\" {}/><body pos=\"0 "
      "0 "
      "{}\"><freejoint/><geom type=\"sphere\" size=\"{}\" mass=\"{}\" {}/></body></worldbody></mujoco>",
      config.h, impratio, parameters, radius + height, radius, mass, parameters));
  const std::unique_ptr<mjData, test::DeleteMujoco> data(mj_makeData(model.get()));
  data->qvel[0] = speed;

  StepScratch scratch;
  State state = scene.state, next = state;
  double position = 0.0, velocity = 0.0, deepest = 0.0, spin = 0.0;
  for (int k = 0; k < 500; ++k) {
    REQUIRE(stepper.step(state, {}, next, scratch).status == StepStatus::ok);
    std::swap(state, next);
    mj_step(model.get(), data.get());
    const Vec3<double> p = state.X_WB[1].p, v = state.V_WB[1].tail<3>();
    for (int i = 0; i < 3; ++i) {
      position = std::max(position, std::abs(p[i] - data->qpos[i]));
      velocity = std::max(velocity, std::abs(v[i] - data->qvel[i]));
    }
    deepest = std::max(deepest, radius - p.z());
    spin = std::max(spin, std::abs(state.V_WB[1][1]));
  }
  CAPTURE(mj_versionString(), d_0, impratio, position, velocity, deepest, spin);
  CHECK(deepest > 1e-4);
  CHECK(spin > 1.0);
  // Rounding, except that MuJoCo's impedance is never below 1e-4.
  CHECK(position < (d_0 > 0.0 ? 1e-12 : 1e-6));
  CHECK(velocity < (d_0 > 0.0 ? 1e-11 : 1e-4));
}
