#include "dynamics/step/step_warnings.h"

#include <algorithm>
#include <filesystem>
#include <numbers>
#include <vector>

#include <catch2/catch.hpp>

#include "dynamics/rollout/rollout.h"
#include "dynamics/simulator.h"
#include "engine/body_builder.h"
#include "engine/scene_io.h"
#include "tests/support/scenes.h"

using namespace abut;
using test::TestScene;

namespace {

using Kind = StepWarning::Kind;

/// The worst warning of a kind in some steps; the end state, if asked for.
StepWarning worst(const TestScene& scene, const StepConfig& config, int steps, Kind kind) {
  StepWarnings warnings{};
  State end;
  const StepReport report = simulate(Stepper(scene.model, config), scene.state, steps, {}, end,
                                     [&](int, const State&, const StepReport& step) {
                                       keep_worse(step.warnings, warnings);
                                       return true;
                                     });
  REQUIRE(report.status == StepStatus::ok);
  return warnings[static_cast<std::size_t>(kind)];
}

/// A floor, a light ball (1) on it and a heavy box (2) on that.
TestScene heavy_on_light(double ratio) {
  TestScene scene = test::floor_scene();
  scene.add(test::box_of_mass({0.1, 0.1, 0.05}, 0.1), test::pose_at({0, 0, 0.05}));
  scene.add(test::box_of_mass({0.1, 0.1, 0.1}, 0.1 * ratio), test::pose_at({0, 0, 0.2}));
  return scene;
}

/// Two boxes, one on the other, on a floor.
TestScene two_boxes() { return test::stack_scene(2, 0.1, 1.0); }

}  // namespace

TEST_CASE("step warnings: a tolerance that rounding keeps out of reach is named, with its residual",
          "[dynamics][value]") {
  StepConfig config;
  config.law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::convex_cone, ContactLaw::lcp);
  TestScene scene = two_boxes();
  scene.V_WB(2)[3] = 1.0;  // it slides
  config.tolerance = 1e-17;
  const StepWarning warning = worst(scene, config, 20, Kind::rounding);
  CAPTURE(to_string(config.law), warning.value);
  CHECK((warning.body == 1 || warning.body == 2));
  CHECK(warning.other == -1);
  CHECK(warning.value > config.tolerance);
  CHECK(warning.value < 1e-10);
  config.tolerance = 1e-9;
  CHECK_FALSE(worst(scene, config, 20, Kind::rounding).is_given());
}

TEST_CASE("step warnings: a body that sinks into one 10^4 times lighter is named, and how deep it lies",
          "[dynamics][value]") {
  StepConfig config;
  config.law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::convex_cone, ContactLaw::lcp);
  const TestScene scene = heavy_on_light(1e4);
  const StepWarning warning = worst(scene, config, 400, Kind::heavy_on_light);
  CHECK(warning.body == 2);
  CHECK(warning.other == 1);
  State end;
  REQUIRE(simulate(Stepper(scene.model, config), scene.state, 400, {}, end).status == StepStatus::ok);
  const double sunken = 0.15 - (end.X_WB[2].p.z() - end.X_WB[1].p.z());
  CAPTURE(to_string(config.law), warning.value, sunken);
  CHECK(sunken > 5e-4);
  CHECK(warning.value == Approx(sunken).epsilon(0.2));

  // The remedy: with a tenth of the factor it sinks a hundredth, which is not worth a warning.
  config.near_rigid_factor *= 0.1;
  CHECK_FALSE(worst(scene, config, 400, Kind::heavy_on_light).is_given());
}

TEST_CASE("step warnings: neither a lighter load nor a heavy body beside warns", "[dynamics][value]") {
  CHECK_FALSE(worst(heavy_on_light(1e3), StepConfig(), 200, Kind::heavy_on_light).is_given());
  TestScene beside = heavy_on_light(1e4);
  beside.X_WB(2).p = {0.21, 0.0, 0.1};
  CHECK_FALSE(worst(beside, StepConfig(), 200, Kind::heavy_on_light).is_given());
}

TEST_CASE("step warnings: what the springs of the materials give way does not count", "[dynamics][value]") {
  TestScene scene = heavy_on_light(1e4);
  scene.model.pair_overrides.push_back({.body_A = 1, .body_B = 2, .stiffness = 5e5});  // m g/k = 19.6 mm
  const StepWarning warning = worst(scene, StepConfig(), 400, Kind::heavy_on_light);
  const StepWarning rigid = worst(heavy_on_light(1e4), StepConfig(), 400, Kind::heavy_on_light);
  CAPTURE(warning.value, rigid.value);
  CHECK(warning.value > 0.5 * rigid.value);
  CHECK(warning.value < 2.0 * rigid.value);  // it swings into the spring before it rests
}

namespace {

/// Two balls of 1 kg that come together at 1 m/s each, with restitution 1, and one of `mass` [kg] at rest between
/// them, `aside` [m] from the middle.
TestScene light_between_heavy(double mass, double aside) {
  TestScene scene;
  scene.model.gravity.setZero();
  for (const double side : {-1.0, 1.0}) {
    scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0.2 * side, 0, 0}),
              test::moving_at({-side, 0, 0}));
  }
  scene.add(test::sphere_of_mass(0.05, mass), test::pose_at({aside, 0, 0}));
  for (Body& body : scene.model.bodies) body.material.restitution = 1.0;
  return scene;
}

}  // namespace

TEST_CASE("step warnings: impacts that leave out restitution are named with the speed that is lost",
          "[dynamics][value]") {
  // Off the middle the impacts of a step are cut short; in the middle both act at once and are too soft.
  const double aside = GENERATE(0.0, 0.013);
  StepConfig config;
  const TestScene lost = light_between_heavy(1e-5, aside);
  int cut_short = 0;
  State end;
  REQUIRE(simulate(Stepper(lost.model, config), lost.state, 100, {}, end,
                   [&](int, const State&, const StepReport& step) {
                     cut_short += step.are_impacts_cut_short;
                     CHECK((step.are_impacts_cut_short == false ||
                            step.warning(Kind::lost_restitution).is_given()));
                     return true;
                   })
              .status == StepStatus::ok);
  CHECK((cut_short > 0) == (aside > 0.0));
  CHECK(mechanical_energy(lost.model, end) < 0.1 * mechanical_energy(lost.model, lost.state));
  const StepWarning warning = worst(lost, config, 100, Kind::lost_restitution);
  CHECK((warning.body == 2 || warning.other == 2));
  CHECK(warning.value > 0.5);

  const double kept = aside == 0.0 ? 1e-2 : 1e-4;
  CHECK_FALSE(worst(light_between_heavy(kept, aside), config, 100, Kind::lost_restitution).is_given());
}

TEST_CASE("step warnings: impacts that are resolved without restitution lest energy rises are named",
          "[dynamics][value]") {
  int named = 0, bounced = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {  // spinning bars on a floor
    Random random(seed);
    TestScene scene = test::floor_scene(0.3);
    const Vec3<double> turn = random.uniform(0.0, 3.0) * random.unit_vector(),
                       spin = 50.0 * random.unit_vector();
    scene.add(test::box_of_mass({0.3, 0.02, 0.02}, 1.0, 1), test::pose_at({0, 0, 0.35}, turn),
              stack<double>(spin, Vec3<double>(0, 0, -2.0)));
    for (Body& body : scene.model.bodies) body.material.restitution = 1.0;
    StepConfig config;
    config.h = 1e-2;
    bool is_named = false;
    State end;
    (void)simulate(Stepper(scene.model, config), scene.state, 10, {}, end,
                   [&](int, const State& state, const StepReport& step) {
                     const StepWarning& warning = step.warning(Kind::lost_restitution);
                     CHECK_FALSE(step.are_impacts_cut_short);
                     if (step.impacts > 0 && !warning.is_given()) ++bounced;
                     if (!warning.is_given()) return true;
                     is_named = true;
                     CHECK(warning.value > 1.0);
                     CHECK(warning.body == 0);
                     CHECK(warning.other == 1);
                     return state.time < 0.1;
                   });
    named += is_named;
  }
  CHECK(named >= 5);
  CHECK(bounced >= 1);
}

TEST_CASE("step warnings: contacts that are too slow to bounce lose no restitution", "[dynamics][value]") {
  Random random(1);
  TestScene scene = test::floor_scene(0.3);
  for (int i = 0; i < 8; ++i) {
    const Vec3<double> at(0.2 * (i % 2) - 0.1, 0.02 * random.uniform(0.0, 1.0), 0.2 + 0.19 * (i / 2));
    scene.add(test::box_of_mass({0.2, 0.2, 0.2}, 1.0, 2), test::pose_at(at, 3.0 * random.unit_vector()));
  }
  for (Body& body : scene.model.bodies) body.material.restitution = 0.3;
  const StepConfig config;
  const double slowest = 0.625 * std::max(config.impact_speed, 3.0 * 9.81 * config.h);
  int impacts = 0, given = 0;
  State end;
  (void)simulate(Stepper(scene.model, config), scene.state, 600, {}, end,
                 [&](int, const State&, const StepReport& step) {
                   impacts += step.impacts;
                   const StepWarning& warning = step.warning(Kind::lost_restitution);
                   if (warning.is_given()) CHECK(warning.value > k_lost_restitution * slowest);
                   given += warning.is_given();
                   return true;
                 });
  CAPTURE(given);
  CHECK(impacts > 100);
}

TEST_CASE("step warnings: steps of 0.3 s are too long for two boxes, those of 20 ms are not",
          "[dynamics][value]") {
  StepConfig config;
  config.h = 0.3;
  const StepWarning warning = worst(two_boxes(), config, 20, Kind::long_step);
  CHECK(warning.is_given());
  CHECK(warning.value ==
        Approx(9.81 * 0.3 * 0.3 / test::stack_scene(2, 0.1, 1.0).body(1).size).epsilon(1e-6));
  config.h = 0.02;
  CHECK_FALSE(worst(two_boxes(), config, 100, Kind::long_step).is_given());
}

TEST_CASE("step warnings: a joint that comes apart under too heavy a load is named", "[dynamics][value]") {
  const auto chain = [](double light) {  // two balls on rods of 0.3 m
    TestScene scene;
    scene.add(test::sphere_of_mass(0.05, light), test::pose_at({0.0, 0.0, 0.0}));
    scene.add(test::sphere_of_mass(0.05, 1000.0), test::pose_at({0.3, 0.0, 0.0}));
    for (const int body : {0, 1}) {
      Joint joint;
      joint.kind = JointKind::distance;
      joint.length = 0.3;
      joint.body_A = body - 1;
      joint.body_B = body;
      if (body == 0) joint.X_AJ.p = {-0.3, 0.0, 0.0};
      scene.model.joints.push_back(joint);
    }
    return scene;
  };
  const StepWarning warning = worst(chain(1e-3), StepConfig(), 250, Kind::parted_joint);
  REQUIRE(warning.is_given());
  CHECK(warning.body == 1);
  CHECK(warning.other == 0);
  CHECK(warning.value > 1.0);
  CHECK_FALSE(worst(chain(100.0), StepConfig(), 250, Kind::parted_joint).is_given());
}

TEST_CASE("step warnings: where boxes hover by more than a hundredth of their size, they are named",
          "[dynamics][property]") {
  for (const double h : {0.02, 0.05, 0.1, 0.15, 0.2, 0.3}) {
    StepConfig config;
    config.h = h;
    const TestScene scene = two_boxes();
    const Stepper stepper(scene.model, config);
    const double first = mechanical_energy(scene.model, scene.state);
    double highest = first;
    bool warned = false;
    State end;
    const StepReport report =
        simulate(stepper, scene.state, 40, {}, end, [&](int, const State& state, const StepReport& step) {
          highest = std::max(highest, mechanical_energy(scene.model, state));
          warned |= step.warnings[1].is_given();
          return true;
        });
    CAPTURE(h, highest - first, first, to_string(report.status));
    CHECK(report.status == StepStatus::ok);
    CHECK((highest - first < 0.01 * first || warned));
  }
}

TEST_CASE("step warnings: a bullet in free flight, past a wall and into it, does not warn",
          "[dynamics][value]") {
  TestScene scene;
  Body wall = test::box_of_mass({0.05, 1.0, 1.0}, 1.0);
  wall.fixed = true;
  scene.add(std::move(wall));
  scene.add(test::sphere_of_mass(0.005, 0.01), test::pose_at({-3.0, 0, 0}), test::moving_at({300, 0, 0}));
  scene.add(test::sphere_of_mass(0.005, 0.01), test::pose_at({-3.0, 0, 2.0}), test::moving_at({300, 0, 0}));
  for (const Kind kind : k_step_warnings) CHECK_FALSE(worst(scene, StepConfig(), 20, kind).is_given());
}

TEST_CASE("step warnings: vertices that a limit leaves out are reported with both bodies",
          "[dynamics][value]") {
  const Vec3<double> half(0.1, 0.08, 0.05);
  const auto warning_with = [&](int selected_vertices) {
    TestScene scene = test::box_on_floor(test::box_of_mass(half, 1.0), half, 0.5);
    scene.body(1).selected_vertices = selected_vertices;
    return worst(scene, StepConfig(), 20, Kind::left_out);
  };
  // 25 points at equal depth share four weights.
  const StepWarning warning = warning_with(4);
  REQUIRE(warning.is_given());
  CHECK(warning.body == 0);
  CHECK(warning.other == 1);
  CHECK(warning.value >= k_left_out);
  CHECK(warning.value <= 1.0);
  CHECK_FALSE(warning_with(60).is_given());  // more than touch, fewer than there are
  CHECK_FALSE(warning_with(0).is_given());
}

TEST_CASE("step warnings: an edge that a limit leaves out is reported with both bodies",
          "[dynamics][value]") {
  const auto warning_with = [](int selected_edges) {
    TestScene scene;
    for (const double sign : {-1.0, 1.0}) {  // two bars on edge across each other
      Body bar = sign < 0.0 ? make_box({0.4, 0.05, 0.05}, 0.0, 1, 1000.0)
                            : make_box({0.05, 0.4, 0.05}, 0.0, 1, 1000.0);
      bar.fixed = sign < 0.0;
      bar.selected_edges = selected_edges;
      const double eighth = 0.25 * std::numbers::pi;
      scene.add(std::move(bar),
                test::pose_at({0.0, 0.0, sign * (0.05 * std::numbers::sqrt2 - 1e-4)},
                              sign < 0.0 ? Vec3<double>(eighth, 0.0, 0.0) : Vec3<double>(0.0, eighth, 0.0)));
    }
    return worst(scene, StepConfig(), 5, Kind::left_out);
  };
  const StepWarning warning = warning_with(1);
  REQUIRE(warning.is_given());
  CHECK(warning.body == 0);
  CHECK(warning.other == 1);
  CHECK(warning.value >= k_left_out);
  CHECK_FALSE(warning_with(12).is_given());  // all that a box has
  CHECK_FALSE(warning_with(0).is_given());
}

TEST_CASE("step warnings: substeps take over the worst of a step", "[dynamics][value]") {
  StepConfig config;
  config.adaptive_substeps = true;
  config.h = 0.3;
  CHECK(worst(two_boxes(), config, 3, Kind::long_step).is_given());
}

TEST_CASE("step warnings: no bundled scene has one in its first 200 steps", "[dynamics][value]") {
  for (const auto& entry : std::filesystem::directory_iterator(ABUT_SOURCE_DIR "/assets/scenes")) {
    const Scene scene = read_scene(entry.path());
    int warnings = 0;
    State end;
    const StepReport report = simulate(Stepper(scene.model, scene.config.step), scene.initial, 200, {}, end,
                                       [&](int, const State&, const StepReport& step) {
                                         for (const StepWarning& w : step.warnings) warnings += w.is_given();
                                         return true;
                                       });
    CAPTURE(entry.path().string(), to_string(report.status));
    CHECK(warnings == 0);
  }
}
