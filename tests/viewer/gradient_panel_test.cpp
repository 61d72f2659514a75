/// The gradient panel, and gradients of what was simulated.
#include <catch2/catch.hpp>

#include "tests/viewer/panel_desk.h"

namespace abut::viewer {
namespace {

using Catch::Contains;

}  // namespace

TEST_CASE("gradient panel: shows gradients of the future and the past, their check, and determinism",
          "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  Panel& panel = desk.panel(GLFW_KEY_F7);
  desk.gradients.steps = 20;
  desk.gradients.from_past = GENERATE(false, true);
  const bool from_past = desk.gradients.from_past;
  CAPTURE(from_past);
  const auto wait = [&] {
    for (int i = 0; i < 2000 && (is_busy(desk.gradients) || desk.gradients.determinism_on_its_way.valid());
         ++i) {
      desk.turn(panel);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  desk.frame = desk.simulation.frame();
  PanelContext context = desk.context();
  if (from_past) {
    ask_for_gradient(context, false);
    wait();
    CHECK_FALSE(desk.gradients.result);
    CHECK_THAT(desk.gradients.message, Contains("step forward first"));
    desk.draw(panel);
  }
  run_steps(desk, 12);
  const auto button = desk.find(panel, [] { return ImGui::GetID("With a check"); });
  REQUIRE(button);
  desk.click(panel, *button);
  CHECK(is_busy(desk.gradients));
  wait();
  REQUIRE(desk.gradients.result);
  const GradientResult& result = *desk.gradients.result;
  CAPTURE(result.error);
  CHECK(result.error.empty());
  CHECK(result.request.number == (from_past ? 0 : 12));
  CHECK(result.request.steps == (from_past ? 12 : 20));
  CHECK(result.request.controls.empty());  // nobody pulled
  CHECK_FALSE(result.check.empty());
  CHECK(desk.gradients.message.empty());
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  CHECK(desk.beyond_the_edge == 0.0f);

  const auto repeat = desk.find(panel, [] { return ImGui::GetID("Check determinism"); });
  REQUIRE(repeat);
  desk.click(panel, *repeat);
  wait();
  REQUIRE(desk.gradients.determinism);
  CHECK(desk.gradients.determinism->error.empty());
  CHECK(desk.gradients.determinism->steps == 12);
  CHECK(desk.gradients.determinism->first_difference == -1);
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  CHECK(desk.beyond_the_edge == 0.0f);

  // Verdicts of every kind, and of a job that failed.
  GradientSample sample;
  sample.group = "initial angular velocity";
  sample.adjoint = -1.23456e-12;
  sample.difference = 1.23456e+12;
  desk.gradients.result->check.assign(5, sample);
  desk.gradients.result->check[1].unresolved = true;
  desk.gradients.result->check[2].non_finite = true;
  desk.gradients.result->check[2].relative_error = std::numeric_limits<double>::infinity();
  desk.gradients.result->check[3].relative_error = 0.5;
  desk.gradients.result->check[4].relative_error = 5e-3;
  desk.gradients.result->gradient.health.warnings.assign(9, {GradientWarning::Kind::chaos, 3, 1, 60.0});
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  CHECK(desk.beyond_the_edge == 0.0f);
  desk.gradients.result->error = "a step failed";
  for (int i = 0; i < 3; ++i) desk.draw(panel);
}

TEST_CASE("gradient of the past: has the forces of whoever pulled in each step", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 5);
  desk.simulation.call([](SimulationCore& core) {
    Pull pull;
    pull.body = 1;
    pull.target_W = core.state().X_WB[1].p + Vec3<double>(0.0, 0.0, 0.1);
    core.set_pull(pull);
    for (int i = 0; i < 3; ++i) core.step_forward();
    core.set_pull({});
  });
  desk.frame = desk.simulation.frame();
  desk.gradients.from_past = true;
  desk.gradients.steps = 6;
  PanelContext context = desk.context();
  ask_for_gradient(context, false);
  desk.simulation.update(0.0);
  for (int i = 0; i < 2000 && is_busy(desk.gradients); ++i) {
    poll_gradients(desk.gradients);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  REQUIRE(desk.gradients.result);
  const GradientResult& result = *desk.gradients.result;
  CHECK(result.error.empty());
  CHECK(result.request.number == 2);
  REQUIRE(result.request.controls.size() == 6);
  for (std::size_t k = 0; k < 6; ++k) {
    const std::vector<Vec6<double>>& wrenches = result.request.controls[k].wrenches;
    REQUIRE(wrenches.size() == (k >= 3 ? 2 : 0));
    if (wrenches.empty()) continue;
    CHECK(wrenches[1].norm() > 0.0);
    CHECK(wrenches[0].norm() == 0.0);
  }
}

}  // namespace abut::viewer
