#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "dynamics/simulator.h"
#include "dynamics/step/contact_force.h"
#include "tests/support/close.h"
#include "tests/support/jointed_scenes.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

constexpr std::size_t k_plenty = std::size_t{1} << 32;

/// Boxes on boxes, a ball that bounces and one that flies alone: islands, impacts, and a body that nothing
/// touches.
TestScene contact_scene() {
  TestScene scene = test::floor_scene();
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 2), test::pose_at({0, 0, 0.051}, {0.1, 0, 0}));
  scene.add(test::box_of_mass({0.04, 0.04, 0.04}, 0.5, 2), test::pose_at({0.02, 0, 0.15}, {0, 0.3, 0.2}));
  scene.add(test::sphere_of_mass(0.05, 0.3), test::pose_at({0.3, 0, 0.06}), test::moving_at({0.2, 0, -1}));
  scene.add(test::sphere_of_mass(0.05, 0.3), test::pose_at({0, 3, 2.0}), test::moving_at({0, 0, 1}));
  scene.body(3).material.restitution = 0.7;
  return scene;
}

StepConfig config_of(ContactLaw law) {
  StepConfig config;
  config.law = law;
  config.acceleration_scale = 9.81;
  return config;
}

void loss(int k, const State& state, StateTangent& bar) {
  if (k % 10 != 0) return;
  for (std::size_t b = 1; b < state.X_WB.size(); ++b) {
    bar.pose[b].tail<3>() += state.X_WB[b].p;
    bar.twist[b] += 0.1 * state.V_WB[b];
  }
}

double largest(const std::vector<Vec6<double>>& tangents) {
  double most = 0.0;
  for (const Vec6<double>& x : tangents) most = std::max(most, x.cwiseAbs().maxCoeff());
  return most;
}

/// Of all that a gradient says, relative to the largest number of its kind.
double difference(const Gradient& a, const Gradient& b) {
  double most = 0.0;
  const auto compare = [&](double x, double y, double scale) {
    if (scale > 0.0) most = std::max(most, std::abs(x - y) / scale);
  };
  const double pose = largest(a.initial.pose), twist = largest(a.initial.twist);
  for (std::size_t body = 0; body < a.initial.pose.size(); ++body) {
    for (int i = 0; i < 6; ++i) {
      compare(a.initial.pose[body][i], b.initial.pose[body][i], pose);
      compare(a.initial.twist[body][i], b.initial.twist[body][i], twist);
    }
    const BodyGradient &x = a.model.bodies[body], &y = b.model.bodies[body];
    double friction = 0.0, mass = 0.0;
    for (const BodyGradient& other : a.model.bodies) {
      friction = std::max(friction, std::abs(other.friction));
      mass = std::max(mass, std::abs(other.mass));
    }
    compare(x.friction, y.friction, friction);
    compare(x.mass, y.mass, mass);
    const double points =
        x.geometry.contact_points.size() > 0 ? x.geometry.contact_points.cwiseAbs().maxCoeff() : 0.0;
    for (Eigen::Index i = 0; i < x.geometry.contact_points.size(); ++i)
      compare(x.geometry.contact_points.data()[i], y.geometry.contact_points.data()[i], points);
  }
  return most;
}

void check_tapes(const TestScene& scene, const StepConfig& config, int steps) {
  const Simulator simulator(scene.model, config);
  const Trajectory lean = simulator.rollout(scene.state, steps),
                   full = simulator.rollout(scene.state, steps, {}, {}, k_plenty);
  REQUIRE(lean.ok());
  REQUIRE(full.ok());
  CHECK(full.states.back().X_WB.back().p == lean.states.back().X_WB.back().p);
  for (const StepRecord& record : lean.records) {
    for (const SubstepRecord& substep : record.substeps) CHECK(substep.tape == nullptr);
  }
  for (const StepRecord& record : full.records) {
    for (const SubstepRecord& substep : record.substeps)
      CHECK((substep.tape != nullptr || !substep.phase_pairs.empty()));
  }
  const Gradient of_lean = simulator.gradient(lean, loss), of_full = simulator.gradient(full, loss);
  CAPTURE(to_string(config.law), difference(of_lean, of_full));
  CHECK(difference(of_lean, of_full) <= 1e-8);
  // A linearization is not used up.
  CHECK(difference(simulator.gradient(full, loss), of_full) == 0.0);
  CHECK(of_lean.health.contacts == of_full.health.contacts);
  CHECK(of_lean.health.contacts_near_kink == of_full.health.contacts_near_kink);
}

}  // namespace

TEST_CASE("Tape: full records have the gradient of lean ones, under every law", "[dynamics][derivative]") {
  const ContactLaw law =
      GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty, ContactLaw::convex_cone,
               ContactLaw::impedance, ContactLaw::lcp, ContactLaw::relaxed_complementarity);
  TestScene scene = contact_scene();
  if (law != ContactLaw::smooth_coulomb && law != ContactLaw::lcp) scene.body(3).material.restitution = 0.0;
  check_tapes(scene, config_of(law), 60);
}

TEST_CASE("Tape: full records have the gradient of lean ones, however contacts are reduced and steps divided",
          "[dynamics][derivative]") {
  StepConfig config = config_of(ContactLaw::smooth_coulomb);
  SECTION("adaptive substeps") {
    config.adaptive_substeps = true;
    config.h = 4e-3;
  }
  SECTION("split push-out") { config.push_out = PushOut::split; }
  SECTION("blended contacts") { config.contact.reduction = Reduction::blend; }
  SECTION("clustered contacts") { config.contact.reduction = Reduction::cluster; }
  SECTION("edges through solids") { config.contact.edge_sdf = true; }
  check_tapes(contact_scene(), config, 60);
}

TEST_CASE("Tape: full records have the gradient of lean ones where faces lie flush, or are about to",
          "[dynamics][derivative]") {
  for (const double tilt : {0.0, 4e-4, 6e-4, 8e-4, 1e-3, 1.2e-3}) {  // [rad]; flush at 0, not at 2e-3
    CAPTURE(tilt);
    TestScene scene = test::floor_scene();
    scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 2),
              test::pose_at({0, 0, 0.0499}, {tilt, 0.3 * tilt, 0}));
    scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 2), test::pose_at({0, 0, 0.1498}, {0, tilt, 0}));
    check_tapes(scene, config_of(ContactLaw::smooth_coulomb), 10);
  }
}

TEST_CASE("Tape: full records have the gradient of lean ones, joints, motors and stops included",
          "[dynamics][derivative]") {
  for (int seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    check_tapes(test::random_jointed_scene(seed), config_of(ContactLaw::smooth_coulomb), 20);
  }
}

TEST_CASE("Tape: an impact of joined bodies beside one of a free body has the gradient of differences",
          "[dynamics][derivative]") {
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.05, 0.5), test::pose_at({0.0, 0.0, 0.0504}),
            test::moving_at({0.1, 0, -1}));
  scene.add(test::sphere_of_mass(0.05, 0.4), test::pose_at({0.12, 0.0, 0.0506}),
            test::moving_at({0.1, 0, -1}));
  scene.add(test::sphere_of_mass(0.05, 0.3), test::pose_at({1.0, 0.0, 0.0505}),
            test::moving_at({0.2, 0, -1}));
  for (int body = 1; body <= 3; ++body) scene.body(body).material.restitution = 0.6;
  Joint joint;
  joint.name = "bar";
  joint.kind = JointKind::fixed;
  joint.body_A = 1;
  joint.body_B = 2;
  joint.X_AJ = test::pose_at({0.06, 0.0, 0.0});
  joint.X_BJ = test::pose_at({-0.06, 0.0, -0.0002});
  scene.model.joints = {joint};
  StepConfig config = config_of(ContactLaw::smooth_coulomb);
  if (GENERATE(false, true)) config.push_out = PushOut::split;
  check_tapes(scene, config, 3);

  const Simulator simulator(scene.model, config);
  const auto value = [&](double t) {
    State moved = scene.state;
    for (std::size_t b = 1; b <= 3; ++b) moved.V_WB[b][5] += t * (1.0 + 0.3 * static_cast<double>(b));
    const Trajectory trajectory = simulator.rollout(moved, 3);
    double sum = 0.0;
    for (std::size_t b = 1; b <= 3; ++b)
      sum += trajectory.states.back().X_WB[b].p.z() * (1.0 + static_cast<double>(b));
    return sum;
  };
  const Gradient gradient =
      simulator.gradient(simulator.rollout(scene.state, 3), [](int k, const State&, StateTangent& bar) {
        for (std::size_t b = 1; k == 3 && b <= 3; ++b) bar.pose[b][5] += 1.0 + static_cast<double>(b);
      });
  double slope = 0.0;
  for (std::size_t b = 1; b <= 3; ++b)
    slope += gradient.initial.twist[b][5] * (1.0 + 0.3 * static_cast<double>(b));
  constexpr double k_step = 1e-6;
  const double difference_quotient = (value(k_step) - value(-k_step)) / (2.0 * k_step);
  CAPTURE(slope, difference_quotient);
  CHECK(test::close(slope, difference_quotient, 1e-6, 1e-12));
}

TEST_CASE("StepScratch: serves one law after another", "[dynamics][determinism]") {
  const TestScene elastic = contact_scene();
  StepScratch shared;
  for (int round = 0; round < 2; ++round) {
    for (const ContactLaw law : {ContactLaw::smooth_coulomb, ContactLaw::lcp, ContactLaw::penalty,
                                 ContactLaw::convex_cone, ContactLaw::relaxed_complementarity}) {
      TestScene scene = elastic;
      if (law != ContactLaw::smooth_coulomb && law != ContactLaw::lcp)
        scene.body(3).material.restitution = 0.0;
      StepConfig config = config_of(law);
      if (law == ContactLaw::smooth_coulomb && round == 1) config.push_out = PushOut::split;
      const Stepper stepper(scene.model, config);
      const auto bodies = static_cast<std::size_t>(scene.model.body_count());
      const auto run = [&](StepScratch& scratch) {
        State next;
        StepRecord record;
        REQUIRE(stepper.step(scene.state, {}, next, scratch, &record).status == StepStatus::ok);
        StateTangent next_bar(scene.model.body_count()), bar(scene.model.body_count());
        next_bar.pose[1].setOnes();
        std::vector<Vec6<double>> wrench(bodies, Vec6<double>::Zero());
        ModelGradient model;
        model.set_zero(scene.model);
        const StepBar step_bar{&next_bar, &bar, wrench, &model};
        stepper.step_vjp(scene.state, {}, next, record, {&step_bar, 1}, scratch);
        std::vector<ContactForce> forces;
        stepper.contact_forces(scene.state, {}, record, scratch, forces);
        CHECK(!forces.empty());
        if (stepper.has_jvp()) {
          const StateTangent state_dot(scene.model.body_count());
          StateTangent next_dot(scene.model.body_count());
          const std::vector<BodyDirection> change(bodies);
          const StepDirection direction{&state_dot, wrench, Vec3<double>(0, 0, 1), change, &next_dot};
          stepper.step_jvp(scene.state, {}, next, record, {&direction, 1}, scratch);
        }
        return std::pair(next, bar);
      };
      StepScratch fresh;
      const auto expected = run(fresh), found = run(shared);
      CAPTURE(to_string(law), round);
      for (std::size_t b = 0; b < bodies; ++b) {
        CHECK(found.first.X_WB[b].p == expected.first.X_WB[b].p);
        CHECK(found.first.V_WB[b] == expected.first.V_WB[b]);
        CHECK(found.second.pose[b] == expected.second.pose[b]);
        CHECK(found.second.twist[b] == expected.second.twist[b]);
      }
    }
  }
}

TEST_CASE("Tape: takes no more memory than it may", "[dynamics][value]") {
  const TestScene scene = contact_scene();
  const Simulator simulator(scene.model, config_of(ContactLaw::smooth_coulomb));
  const auto bytes_of = [](const Trajectory& trajectory) {
    std::size_t sum = 0;
    for (const StepRecord& record : trajectory.records) sum += record.bytes();
    return sum;
  };
  const std::size_t all = bytes_of(simulator.rollout(scene.state, 60, {}, {}, k_plenty)),
                    least = bytes_of(simulator.rollout(scene.state, 60));
  CHECK(all > 4 * least);
  const Gradient expected = simulator.gradient(simulator.rollout(scene.state, 60), loss);
  for (const double share : {0.2, 0.5, 0.8}) {
    const auto budget = static_cast<std::size_t>(share * static_cast<double>(all));
    const Trajectory mixed = simulator.rollout(scene.state, 60, {}, {}, budget);
    const auto full = std::count_if(mixed.records.begin(), mixed.records.end(), [](const StepRecord& record) {
      return record.substeps[0].tape != nullptr;
    });
    CAPTURE(share, full);
    CHECK(bytes_of(mixed) <= budget + least);
    CHECK(full > 0);
    CHECK(full < 60);
    CHECK(difference(expected, simulator.gradient(mixed, loss)) <= 1e-8);
  }
}

TEST_CASE("Tape: one that is written again says what a new one says, and outlives its simulator",
          "[dynamics][determinism]") {
  const TestScene scene = contact_scene();
  StepConfig config = config_of(ContactLaw::smooth_coulomb);
  SECTION("the default") {}
  SECTION("divided steps") {
    config.adaptive_substeps = true;
    config.h = 4e-3;
  }
  SECTION("another law") { config.law = ContactLaw::lcp; }
  State thrown = scene.state;  // other contacts and islands than those of the scene
  thrown.X_WB[2].p += Vec3<double>(0.3, 0, 0.4);
  thrown.V_WB[1] = test::moving_at({1, 0, 2});
  constexpr int k_steps = 60;
  const auto gradient_of = [&](const Simulator& simulator, const State& state) {
    return simulator.gradient(simulator.rollout(state, k_steps, {}, {}, k_plenty), loss);
  };
  const Simulator fresh(scene.model, config);
  const Gradient expected = gradient_of(fresh, scene.state);
  auto used = std::make_unique<Simulator>(scene.model, config);
  (void)gradient_of(*used, thrown);
  CHECK(difference(gradient_of(*used, scene.state), expected) == 0.0);
  const Trajectory trajectory = used->rollout(scene.state, k_steps, {}, {}, k_plenty);
  const Trajectory copy = trajectory;  // holds the same tapes
  CHECK(difference(used->gradient(trajectory, loss), expected) == 0.0);
  used.reset();
  CHECK(difference(fresh.gradient(copy, loss), expected) == 0.0);
}

TEST_CASE("Tape: JVPs, forces and many losses do with full records, too", "[dynamics][derivative]") {
  const TestScene scene = contact_scene();
  const Simulator simulator(scene.model, config_of(ContactLaw::smooth_coulomb));
  const Stepper& stepper = simulator.stepper();
  const Trajectory lean = simulator.rollout(scene.state, 40),
                   full = simulator.rollout(scene.state, 40, {}, {}, k_plenty);
  const auto bodies = static_cast<std::size_t>(scene.model.body_count());
  StepScratch scratch;
  std::vector<ContactForce> forces[2];
  int contacts = 0;
  for (std::size_t k = 0; k < 40; ++k) {
    StateTangent next_dot[2];
    std::vector<StateTangent> bars[2];
    for (int i = 0; i < 2; ++i) {
      const Trajectory& trajectory = i == 0 ? lean : full;
      const State &state = trajectory.states[k], &next = trajectory.states[k + 1];
      const StepRecord& record = trajectory.records[k];
      StateTangent state_dot(scene.model.body_count());
      for (std::size_t b = 0; b < bodies; ++b) state_dot.twist[b].setConstant(0.1 * static_cast<double>(b));
      next_dot[i] = state_dot;
      const std::vector<Vec6<double>> wrench(bodies, Vec6<double>::Zero());
      const std::vector<BodyDirection> change(bodies);
      const StepDirection direction{&state_dot, wrench, Vec3<double>::Zero(), change, &next_dot[i]};
      stepper.step_jvp(state, {}, next, record, {&direction, 1}, scratch);
      stepper.contact_forces(state, {}, record, scratch, forces[i]);

      constexpr std::size_t k_losses = 8;
      std::vector<StateTangent> next_bars(k_losses, StateTangent(scene.model.body_count()));
      bars[i].assign(k_losses, StateTangent(scene.model.body_count()));
      std::vector<std::vector<Vec6<double>>> wrenches(
          k_losses, std::vector<Vec6<double>>(bodies, Vec6<double>::Zero()));
      std::vector<ModelGradient> models(k_losses);
      std::vector<StepBar> losses;
      for (std::size_t l = 0; l < k_losses; ++l) {
        next_bars[l].pose[1 + l % 4][static_cast<Eigen::Index>(l % 6)] = 1.0;
        models[l].set_zero(scene.model);
        losses.push_back({&next_bars[l], &bars[i][l], wrenches[l], &models[l]});
      }
      stepper.step_vjp(state, {}, next, record, losses, scratch);
    }
    for (std::size_t b = 0; b < bodies; ++b) {
      CHECK(next_dot[0].pose[b] == next_dot[1].pose[b]);
      for (std::size_t l = 0; l < bars[0].size(); ++l) {
        CHECK(test::close(bars[0][l].pose[b], bars[1][l].pose[b], 1e-8, 1e-8 * largest(bars[0][l].pose)));
        CHECK(test::close(bars[0][l].twist[b], bars[1][l].twist[b], 1e-8, 1e-8 * largest(bars[0][l].twist)));
      }
    }
    REQUIRE(forces[0].size() == forces[1].size());
    for (std::size_t i = 0; i < forces[0].size(); ++i) {
      CHECK(forces[0][i].feature.feature_A == forces[1][i].feature.feature_A);
      CHECK(test::close(forces[0][i].force_B_W, forces[1][i].force_B_W, 1e-8, 1e-6));
    }
    contacts += static_cast<int>(forces[0].size());
  }
  CHECK(contacts > 100);
}

TEST_CASE("GradientMask: what is not asked for stays away and changes nothing else",
          "[dynamics][derivative]") {
  const TestScene scene = contact_scene();
  const Simulator simulator(scene.model, config_of(ContactLaw::smooth_coulomb));
  const Trajectory trajectory = simulator.rollout(scene.state, 60);
  const Gradient all = simulator.gradient(trajectory, loss);
  for (const GradientMask mask :
       {GradientMask{false, true, true}, GradientMask{true, false, true}, GradientMask{true, true, false}}) {
    CAPTURE(mask.shapes, mask.materials, mask.masses);
    AdjointOptions options;
    options.mask = mask;
    const Gradient some = simulator.gradient(trajectory, loss, options);
    CHECK(some.initial.pose == all.initial.pose);
    CHECK(some.initial.twist == all.initial.twist);
    for (std::size_t b = 0; b < all.model.bodies.size(); ++b) {
      const BodyGradient &x = some.model.bodies[b], &y = all.model.bodies[b];
      CHECK(x.friction == (mask.materials ? y.friction : 0.0));
      CHECK(x.stiffness == (mask.materials ? y.stiffness : 0.0));
      CHECK(x.mass == (mask.masses ? y.mass : 0.0));
      CHECK(x.density == (mask.masses ? y.density : 0.0));
      CHECK(x.inertia == (mask.masses ? y.inertia : Mat3<double>(Mat3<double>::Zero())));
      CHECK(x.shape.size() == (mask.shapes ? y.shape.size() : 0));
      if (mask.shapes) CHECK(x.geometry.contact_points == y.geometry.contact_points);
    }
    const BodyGradient& box = all.model.bodies[1];
    CHECK(box.friction != 0.0);
    CHECK(box.mass != 0.0);
    CHECK(box.geometry.contact_points.norm() > 0.0);
  }
}
