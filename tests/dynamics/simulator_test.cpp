/// Simulators that share what is prepared for the geometry of bodies.
#include "dynamics/simulator.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

test::TestScene box_and_ball() {
  test::TestScene scene = test::floor_scene(0.5, 0.0);
  scene.add(test::box_of_mass({0.09, 0.06, 0.04}, 0.7, 2), test::pose_at({0, 0, 0.039}, {0.01, 0.02, 0.5}));
  scene.add(test::sphere_of_mass(0.05, 0.3), test::pose_at({0, 0, 0.13}));
  return scene;
}

}  // namespace

TEST_CASE("Simulator: with shared geometry does the same to the last bit, whoever lives longer",
          "[dynamics][property]") {
  const test::TestScene scene = box_and_ball();
  StepConfig config;
  config.contact.edge_edge = true;
  auto prepared = std::make_unique<Simulator>(scene.model, config);
  Model heavier = scene.model;
  heavier.bodies[1].mass *= 2.0;
  heavier.bodies[2].material.friction = 0.1;
  const Simulator alone(heavier, config), shared(heavier, config, prepared.get());
  for (int b = 0; b < 3; ++b) {
    CHECK(shared.stepper().detector().shares(b, prepared->stepper().detector()));
    CHECK_FALSE(alone.stepper().detector().shares(b, prepared->stepper().detector()));
  }
  prepared.reset();
  const Trajectory a = alone.rollout(scene.state, 40), b = shared.rollout(scene.state, 40);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(state_hash(a.states.back()) == state_hash(b.states.back()));
  const auto loss = [](int, const State&, StateTangent& bar) { bar.pose[1][5] += 1.0; };
  const Gradient by_a = alone.gradient(a, loss), by_b = shared.gradient(b, loss);
  CHECK(by_a.model.bodies[1].mass == by_b.model.bodies[1].mass);
  CHECK(by_a.model.bodies[1].geometry.contact_points == by_b.model.bodies[1].geometry.contact_points);
}

TEST_CASE("Simulator: of a shared model has that very one, keeps it, and does as with a copy",
          "[dynamics][property]") {
  const test::TestScene scene = box_and_ball();
  const StepConfig config;
  auto model = std::make_shared<const Model>(scene.model);
  const Model* const place = model.get();
  const Simulator copied(scene.model, config), shared(model, config);
  CHECK(&shared.model() == place);
  CHECK(&copied.model() != place);
  model.reset();
  const Trajectory a = copied.rollout(scene.state, 40), b = shared.rollout(scene.state, 40);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(state_hash(a.states.back()) == state_hash(b.states.back()));
}

TEST_CASE("Simulator: does not share a geometry that is another", "[dynamics][value]") {
  const test::TestScene scene = box_and_ball();
  const Simulator prepared(scene.model, {});
  const std::vector<std::pair<std::string, std::function<void(Body&)>>> changes{
      {"size", [](Body& body) { body.size *= 1.01; }},
      {"primitive", [](Body& body) { body.shape.primitives[0].parameters[0] *= 1.0 + 1e-12; }},
      {"pose of a primitive", [](Body& body) { body.shape.primitives[0].X_BP.p.x() += 1e-12; }},
      {"smoothing", [](Body& body) { body.shape.union_smoothing = 1e-6; }},
      {"contact points", [](Body& body) { body.contact_points(0, 0) += 1e-12; }},
      {"fewer contact points",
       [](Body& body) {
         body.contact_points.conservativeResize(3, body.contact_points.cols() - 1);
         body.contact_areas.pop_back();
         body.contact_area_vectors.resize(3, 0);
         body.flat_faces.clear();
       }},
      {"areas", [](Body& body) { body.contact_areas[0] *= 1.1; }},
      {"selection", [](Body& body) { body.selected_vertices = 5; }},
      {"selected edges", [](Body& body) { body.selected_edges = 5; }},
      {"mesh", [](Body& body) { body.mesh.vertices(0, 0) += 1e-12; }},
      {"triangles", [](Body& body) { body.mesh.triangles.pop_back(); }}};
  for (const auto& [name, change] : changes) {
    Model model = scene.model;
    change(model.bodies[1]);
    CAPTURE(name);
    const Stepper stepper(model, {}, &prepared.stepper());
    CHECK_FALSE(stepper.detector().shares(1, prepared.stepper().detector()));
    CHECK(stepper.detector().shares(2, prepared.stepper().detector()));
  }
  Model off = scene.model;
  off.bodies[2].contact_radius *= 0.9;
  CHECK_THROWS_WITH(Simulator(off, {}, &prepared), Catch::Matchers::Contains("off the surface"));
}

TEST_CASE("Simulator: bodies of one geometry share what is prepared for it, and step as if they did not",
          "[dynamics][property]") {
  test::TestScene scene = box_and_ball();
  for (int i = 1; i < 4; ++i) {
    scene.add(test::sphere_of_mass(0.05, 0.1 * i), test::pose_at({0.3 * i, 0, 0.049}));
    scene.add(test::box_of_mass({0.09, 0.06, 0.04}, 0.7, 2), test::pose_at({0.3 * i, 0.3, 0.039}));
  }
  const Simulator simulator(scene.model, {});
  const ContactDetector& detector = simulator.stepper().detector();
  CHECK(&detector.sdf(1) != &detector.sdf(2));
  for (const int ball : {3, 5, 7}) CHECK(&detector.sdf(ball) == &detector.sdf(2));
  for (const int box : {4, 6, 8}) CHECK(&detector.sdf(box) == &detector.sdf(1));

  // Shapes that differ by less than a step can tell are prepared each for itself.
  Model apart = scene.model;
  for (std::size_t b = 3; b < apart.bodies.size(); ++b)
    apart.bodies[b].size *= 1.0 + 1e-15 * static_cast<double>(b);
  const Simulator alone(apart, {});
  CHECK(&alone.stepper().detector().sdf(3) != &alone.stepper().detector().sdf(2));
  const Trajectory a = simulator.rollout(scene.state, 20), b = alone.rollout(scene.state, 20);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  for (std::size_t i = 0; i < apart.bodies.size(); ++i)
    CHECK((a.states.back().X_WB[i].p - b.states.back().X_WB[i].p).norm() < 1e-9);

  // With a prepared simulator of which one body has changed: that one alone is prepared anew.
  Model grown = scene.model;
  grown.bodies[5].shape.primitives[0].parameters[0] *= 1.0 + 1e-12;
  const Stepper changed(grown, {}, &simulator.stepper());
  CHECK(&changed.detector().sdf(3) == &detector.sdf(3));
  CHECK(&changed.detector().sdf(5) != &detector.sdf(5));
}

TEST_CASE("Simulator: steps are those of a rollout to the last bit, in a scratch of the caller's or none",
          "[dynamics][determinism]") {
  const test::TestScene scene = box_and_ball();
  const Simulator simulator(scene.model, {});
  Control control = test::zero_wrenches(3);
  control.wrenches[1][3] = 2.0;
  const Trajectory trajectory = simulator.rollout(scene.state, 30, Controls(30, control));
  StepScratch scratch;
  State state = scene.state, next;
  for (std::size_t k = 0; k < 30; ++k) {
    const StepResult result = simulator.step(state, control);
    CHECK(result.ok());
    CHECK(result.report.contacts == trajectory.records[k].report.contacts);
    CHECK(simulator.step(state, control, scratch, next).status == StepStatus::ok);
    CHECK(state_hash(result.state) == state_hash(trajectory.states[k + 1]));
    CHECK(state_hash(next) == state_hash(trajectory.states[k + 1]));
    CHECK(next.time == trajectory.states[k + 1].time);
    std::swap(state, next);
  }
}

TEST_CASE("Simulator: a step of other bodies, or onto its own start, is refused; one that fails is a report",
          "[dynamics][value]") {
  test::TestScene scene = box_and_ball();
  const Simulator simulator(scene.model, {});
  CHECK_THROWS_WITH(simulator.step(state_at_rest(2)),
                    Catch::Contains("2 poses") && Catch::Contains("3 bodies"));
  CHECK_THROWS_AS(simulator.step(scene.state, test::zero_wrenches(2)), std::invalid_argument);
  StepScratch scratch;
  CHECK_THROWS_AS(simulator.step(scene.state, {}, scratch, scene.state), std::invalid_argument);
  scene.V_WB(1)[3] = std::nan("");
  const StepResult result = simulator.step(scene.state);
  CHECK_FALSE(result.ok());
  CHECK(result.report.status == StepStatus::non_finite);
  CHECK(result.report.body == 1);
}

}  // namespace abut
