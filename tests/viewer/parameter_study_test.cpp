/// Sliders of parameters: what the gradient predicts, and what is simulated.
#include "apps/viewer/simulation/parameter_study.h"

#include "dynamics/parameters/scene_parameter_derivatives.h"
#include "tests/support/close.h"
#include "tests/viewer/panel_desk.h"

namespace abut::viewer {
namespace {

GradientResult gradient_of_slide(const Desk& desk, int steps) {
  GradientRequest request;
  request.model = desk.frame->model;
  request.initial = desk.frame->state;
  request.number = desk.frame->number;
  request.steps = steps;
  request.loss.direction = Vec3<double>::UnitX();
  return compute_gradient(request);
}

int index_of(const ParameterStudy& study, const std::string& name) {
  for (std::size_t i = 0; i < study.parameters().size(); ++i) {
    if (study.parameters()[i].parameter.name == name) return static_cast<int>(i);
  }
  FAIL("no parameter " << name);
  return -1;
}

void finish(ParameterStudy& study) {
  study.poll();
  for (int i = 0; i < 6000 && study.busy(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    study.poll();
  }
  REQUIRE_FALSE(study.busy());
}

}  // namespace

TEST_CASE("ParameterStudy: a small change is what the gradient predicts, a large one is simulated",
          "[viewer][derivative]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 20);
  const GradientResult result = gradient_of_slide(desk, 60);
  REQUIRE(result.error.empty());
  ParameterStudy study;
  study.begin(&result);
  REQUIRE(study.parameters().size() > 5);
  for (std::size_t i = 1; i < study.parameters().size(); ++i)
    CHECK(study.parameters()[i - 1].influence() >= study.parameters()[i].influence());
  CHECK_FALSE(study.is_changed());
  CHECK(study.predicted() == result.loss);
  for (const StudiedParameter& one : study.parameters())  // how a box slides does not depend on its mass
    CHECK(one.parameter.kind != ParameterKind::mass);

  const std::string body = "body." + desk.frame->model->body_name(1);
  for (const std::string& name : {body + ".linear_velocity.x", body + ".friction", body + ".force.x"}) {
    CAPTURE(name);
    const int i = index_of(study, name);
    const StudiedParameter before = study.parameters()[static_cast<std::size_t>(i)];
    CHECK(before.lowest < before.value);
    CHECK(before.highest > before.value);
    study.set(i, before.value + 1e-4 * (before.highest - before.lowest));
    finish(study);
    REQUIRE(study.simulated());
    REQUIRE(study.simulated()->error.empty());
    const double simulated = study.simulated()->loss - result.loss,
                 predicted = study.predicted() - result.loss;
    CHECK(predicted != 0.0);
    CHECK(test::close(simulated, predicted, 2e-2, 0.0));
    CHECK(study.simulated()->states->size() == 61);
    // The curve over all of the slider, whose tangent is the prediction.
    const LossCurve curve = study.curve();
    REQUIRE(curve.x.size() == 17);
    CHECK(curve.x.front() == before.lowest);
    CHECK(curve.x.back() == before.highest);
    CHECK(std::is_sorted(curve.x.begin(), curve.x.end()));
    CHECK(study.predicted_at(before.value) == Approx(result.loss));
    study.reset();
    CHECK_FALSE(study.is_changed());
  }
}

TEST_CASE("ParameterStudy: the last value that was set is the one that is simulated", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.frame = desk.simulation.frame();
  const GradientResult result = gradient_of_slide(desk, 100);
  ParameterStudy study;
  study.begin(&result);
  REQUIRE(study.parameters().size() > 1);
  GradientResult preferring = result;  // the unknowns of an experiment come first, however little they matter
  preferring.request.unknowns = {study.parameters().back().parameter.name};
  CHECK(studied_parameters(preferring)[0].parameter.name == preferring.request.unknowns[0]);
  CHECK(studied_parameters(preferring)[1].parameter.name == study.parameters()[0].parameter.name);
  const int i = index_of(study, "body." + desk.frame->model->body_name(1) + ".linear_velocity.x");
  const double value = study.parameters()[static_cast<std::size_t>(i)].value;
  for (int k = 1; k <= 50; ++k) study.set(i, value + 0.01 * k);
  finish(study);
  REQUIRE(study.simulated());
  CHECK(study.simulated()->states->front().V_WB[1][3] == Approx(value + 0.5));

  study.set(i, std::numeric_limits<double>::quiet_NaN());  // is not taken
  CHECK(study.parameters()[static_cast<std::size_t>(i)].wanted == Approx(value + 0.5));
  const int friction = index_of(study, "body." + desk.frame->model->body_name(1) + ".friction");
  study.set(friction, -1.0);
  finish(study);
  REQUIRE(study.simulated());
  CHECK_FALSE(study.simulated()->error.empty());

  study.begin(nullptr);
  CHECK(study.parameters().empty());
  CHECK_FALSE(study.simulated());
}

TEST_CASE("ParameterStudy: the end that is predicted is that of a small change, to first order",
          "[viewer][derivative]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 20);
  const GradientResult result = gradient_of_slide(desk, 60);
  REQUIRE(result.error.empty());
  ParameterStudy study;
  study.begin(&result);
  REQUIRE(study.predicted_end());
  CHECK((*study.predicted_end())[1].p == result.states.back().X_WB[1].p);
  const std::string body = "body." + desk.frame->model->body_name(1);
  for (const std::string& name : {body + ".linear_velocity.x", body + ".friction"}) {
    CAPTURE(name);
    const int i = index_of(study, name);
    const StudiedParameter before = study.parameters()[static_cast<std::size_t>(i)];
    const double change = 1e-4 * (before.highest - before.lowest);
    study.set(i, before.value + change);
    finish(study);
    REQUIRE(study.simulated());
    REQUIRE(study.predicted_end());
    const Vec3<double> start = result.states.back().X_WB[1].p,
                       simulated = study.simulated()->states->back().X_WB[1].p - start,
                       predicted = (*study.predicted_end())[1].p - start;
    CHECK(simulated.norm() > 0.0);
    CHECK((predicted - simulated).norm() < 2e-2 * simulated.norm());
    // The loss is the position along x.
    CHECK(predicted.x() == Approx(study.predicted() - result.loss).epsilon(1e-3));
    study.set(i, before.value + 1000.0 * change);  // known at once from then on
    CHECK(((*study.predicted_end())[1].p - start - 1000.0 * predicted).norm() < 1e-9);
    finish(study);
    study.reset();
  }
  // Both together.
  const int velocity = index_of(study, body + ".linear_velocity.x"),
            friction = index_of(study, body + ".friction");
  const auto moved = [&](int i) {
    const StudiedParameter& one = study.parameters()[static_cast<std::size_t>(i)];
    study.set(i, one.value + 1e-3 * (one.highest - one.lowest));
  };
  const auto end = [&] {
    return Vec3<double>((*study.predicted_end())[1].p - result.states.back().X_WB[1].p);
  };
  moved(velocity);
  const Vec3<double> by_velocity = end();
  study.reset();
  moved(friction);
  const Vec3<double> by_friction = end();
  moved(velocity);
  CHECK((end() - by_velocity - by_friction).norm() < 1e-9);
}

TEST_CASE("ParameterStudy: the end is predicted for parameters without a derivative forwards, too",
          "[viewer][derivative]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 20);
  const GradientResult result = gradient_of_slide(desk, 30);
  REQUIRE(result.error.empty());
  ParameterStudy study;
  study.begin(&result);
  const Pose<double>& end = result.states.back().X_WB[1];
  int shapes = 0;
  for (int i = 0; i < static_cast<int>(study.parameters().size()); ++i) {
    const StudiedParameter before = study.parameters()[static_cast<std::size_t>(i)];
    if (has_direction(before.parameter)) continue;
    CAPTURE(before.parameter.name);
    const double change = 1e-4 * (before.highest - before.lowest);
    study.set(i, before.value + change);
    finish(study);
    REQUIRE(study.simulated());
    REQUIRE(study.simulated()->error.empty());
    REQUIRE(study.predicted_end());
    const Vec3<double> simulated = study.simulated()->states->back().X_WB[1].p - end.p,
                       predicted = (*study.predicted_end())[1].p - end.p;
    CHECK((predicted - simulated).norm() < 2e-2 * simulated.norm() + 1e-12);
    CHECK(predicted.x() == Approx(study.predicted() - result.loss).epsilon(1e-6));
    ++shapes;
    study.reset();
  }
  CHECK(shapes > 0);
}

TEST_CASE("ParameterStudy: closing it does not wait for the end of the steps", "[viewer][value]") {
  Desk desk(scene_file("box_stack"));
  desk.frame = desk.simulation.frame();
  GradientResult result = gradient_of_slide(desk, 3);
  REQUIRE(result.error.empty());
  result.request.steps = 100'000'000;  // would take days
  ParameterStudy study;
  study.begin(&result);
  REQUIRE_FALSE(study.parameters().empty());
  study.set(0, study.parameters()[0].highest);
  CHECK(study.busy());
}

TEST_CASE("parameter sliders: show both losses, and the motion as ghosts until they are put back",
          "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.frame = desk.simulation.frame();
  Panel& panel = desk.panel(GLFW_KEY_F7);
  desk.gradients.result = gradient_of_slide(desk, 30);
  REQUIRE(desk.gradients.result->error.empty());
  ParameterStudy& study = desk.gradients.study;
  study.begin(&*desk.gradients.result);
  desk.turn(panel);
  CHECK(desk.frame->ghosts.empty());
  const int i = index_of(study, "body." + desk.frame->model->body_name(1) + ".position.x");
  study.set(i, study.parameters()[static_cast<std::size_t>(i)].highest);
  finish(study);
  desk.turn(panel);
  REQUIRE(desk.frame->ghosts.size() == 2);
  CHECK(desk.frame->ghosts_name.empty());
  CHECK(desk.frame->passing_ghosts_name == "the sliders' values");
  CHECK(desk.frame->ghosts[1].is_passing);
  CHECK(desk.frame->ghosts[1].X_WB.p.x() - desk.frame->state.X_WB[1].p.x() ==
        Approx(study.parameters()[static_cast<std::size_t>(i)].wanted -
               study.parameters()[static_cast<std::size_t>(i)].value));
  REQUIRE(desk.display.predicted_X_WB.size() == 2);
  CHECK(desk.display.predicted_X_WB[1].p.x() - desk.gradients.result->states.back().X_WB[1].p.x() ==
        Approx(study.parameters()[static_cast<std::size_t>(i)].wanted -
               study.parameters()[static_cast<std::size_t>(i)].value)
            .epsilon(1e-3));
  for (int k = 0; k < 3; ++k) desk.draw(panel);
  CHECK(desk.beyond_the_edge == 0.0f);
  // Neither a section that is folded nor a panel that is closed shows ghosts, and they come back with it.
  const auto header = desk.find(panel, [] { return ImGui::GetID("Other values"); });
  REQUIRE(header);
  desk.click(panel, *header);
  desk.turn(panel);
  CHECK(desk.frame->ghosts.empty());
  desk.click(panel, *header);
  desk.turn(panel);
  CHECK(desk.frame->ghosts.size() == 2);
  desk.turn(desk.panel(GLFW_KEY_F2));
  CHECK(desk.frame->ghosts.empty());
  desk.turn(panel);
  CHECK(desk.frame->ghosts.size() == 2);
  const auto back = desk.find(panel, [] { return ImGui::GetID("Back"); });
  REQUIRE(back);
  desk.click(panel, *back);
  CHECK_FALSE(study.is_changed());
  CHECK(desk.frame->ghosts.empty());
}

}  // namespace abut::viewer
