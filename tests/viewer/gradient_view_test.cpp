/// What is shown of a gradient: arrows with numbers, the strip of the adjoint, warnings that lead somewhere.
#include "apps/viewer/gradient_arrows.h"
#include "apps/viewer/panels/gradient_health.h"
#include "apps/viewer/picture_maker.h"
#include "tests/support/close.h"
#include "tests/viewer/panel_desk.h"

namespace abut::viewer {
namespace {

using Catch::Contains;

GradientResult gradient_of(const Desk& desk, const Loss& loss, int steps) {
  GradientRequest request;
  request.model = desk.frame->model;
  request.initial = desk.frame->state;
  request.number = desk.frame->number;
  request.steps = steps;
  request.loss = loss;
  return compute_gradient(request);
}

Loss height_of(int body) {
  Loss loss;
  loss.body = body;
  return loss;
}

void do_what_was_asked(Desk& desk) {
  for (int i = 0; i < 100; ++i) desk.simulation.update(0.0);
  desk.frame = desk.simulation.frame();
}

}  // namespace

TEST_CASE("gradient arrows: each has its number and its unit, the selected body's come first",
          "[viewer][value]") {
  Desk desk(scene_file("sphere_bounce"));
  desk.frame = desk.simulation.frame();
  const GradientResult result = gradient_of(desk, height_of(1), 50);
  REQUIRE(result.error.empty());
  const GlyphScale scale{desk.camera, 720};
  const std::vector<GradientArrow> arrows = gradient_arrows(*desk.frame, result, 1.0, scale);
  REQUIRE(arrows.size() == 3);
  const double h = desk.frame->model->config().h, m = desk.frame->model->model().bodies[1].mass;
  CHECK(arrows[0].label == "dL/dx 1 m/m");
  CHECK(arrows[1].label == fmt::format("dL/dv {:.3g} m/(m/s)", 50 * h));
  CHECK(arrows[2].label == fmt::format("dL/dF {:.3g} m/N", 50 * h * h / m));
  for (const GradientArrow& arrow : arrows) {
    CHECK((arrow.to_W - arrow.from_W).normalized().z() == Approx(1.0));
    CHECK(arrow.share == 1.0);
  }

  std::vector<GradientArrow> many(20, arrows[0]);
  for (std::size_t i = 0; i < many.size(); ++i) {
    many[i].body = static_cast<int>(i);
    many[i].share = 1.0 / static_cast<double>(i + 1);
  }
  const std::vector<const GradientArrow*> shown = labelled_arrows(many, 17);
  REQUIRE(shown.size() < many.size());
  CHECK(shown[0]->body == 17);
  CHECK(shown[1]->body == 0);
}

TEST_CASE("gradient arrows: the legend says how long an arrow of a round value of each kind is",
          "[viewer][value]") {
  Desk desk(scene_file("sphere_bounce"));
  desk.frame = desk.simulation.frame();
  const GradientResult result = gradient_of(desk, height_of(1), 50);
  REQUIRE(result.error.empty());
  const GlyphScale scale{desk.camera, 720};
  const double derivatives[] = {1.0, 50 * desk.frame->model->config().h};  // by position and velocity
  for (const double size : {0.3, 1.0, 4.0}) {
    PictureNotes notes;
    GlyphList glyphs;
    add_gradient_glyphs(*desk.frame, result, size, -1, scale, glyphs, notes);
    const auto& entries = notes.legend.entries;
    REQUIRE(entries.size() == 4);
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(entries[i].text);
      const double value = std::stod(entries[i].text);
      CHECK(round_down(value * (1.0 + 1e-9)) == Approx(value));
      CHECK(entries[i].length > 0.2 * k_legend_length);
      CHECK(entries[i].length <= k_legend_length);
      if (i < 2) CHECK(entries[i].length == Approx(value / derivatives[i] * k_largest_length * size));
    }
    CHECK_THAT(entries[0].text, Catch::Contains(" m/m: dL/dx by initial position"));
    for (std::size_t i = 0; i < 3; ++i) CHECK_THAT(entries[i].text, !Catch::Contains("L: "));  // said once
    CHECK(entries[3].mark == LegendMark::none);
    CHECK(entries[3].text == "L: " + loss_name(desk.frame->model->model(), result.request.loss));
  }
}

TEST_CASE("derivative_unit: quotients that can be read in one way", "[viewer][value]") {
  CHECK(derivative_unit("m", "kg") == "m/kg");
  CHECK(derivative_unit("J", "m/s") == "J/(m/s)");
  CHECK(derivative_unit("m", "") == "m");
  CHECK(derivative_unit("", "N") == "1/N");
}

TEST_CASE("gradient steps: growth leads from norm to norm, and tells bodies and contacts",
          "[viewer][value]") {
  Desk desk(scene_file("drill_mustard"));
  run_steps(desk, 100);
  const GradientResult result = gradient_of(desk, height_of(2), 60);
  REQUIRE(result.error.empty());
  const std::vector<double>& norms = result.gradient.health.adjoint_norm;
  REQUIRE(result.steps.size() == 60);
  REQUIRE(result.states.size() == 61);
  CHECK(result.states.back().time == Approx(desk.frame->state.time + 60 * desk.frame->model->config().h));
  double largest = 0.0;
  for (std::size_t k = 0; k < 60; ++k) {
    CAPTURE(k);
    CHECK(test::close(result.steps[k].growth, norms[k] / norms[k + 1], 1e-9, 0.0));
    CHECK(result.steps[k].contacts > 0);
    largest = std::max(largest, result.steps[k].growth);
  }
  CHECK(largest == Approx(result.gradient.health.largest_growth));
  const std::string text = step_text(result, 8);
  CHECK_THAT(text, Contains("step 108") && Contains("t = ") && Contains("multiplies it by") &&
                       Contains("contacts") && Contains("iteration"));
  CHECK_THAT(step_text(result, 60), Contains("where the loss is"));
}

TEST_CASE("gradient warnings: a click goes to the step, selects the body and looks at it",
          "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 10);
  Panel& panel = desk.panel(GLFW_KEY_F7);
  desk.gradients.result = gradient_of(desk, height_of(1), 40);
  GradientResult& result = *desk.gradients.result;
  REQUIRE(result.error.empty());
  result.gradient.health.warnings = {{GradientWarning::Kind::chaos, 30, 1, 60.0}};
  const auto warning = desk.find(panel, [&] {
    ImGui::BeginChild("warnings");
    ImGui::PushID(0);
    const ImGuiID id = ImGui::GetID("##warning");
    ImGui::PopID();
    ImGui::EndChild();
    return id;
  });
  REQUIRE(warning);
  desk.click(panel, *warning);
  do_what_was_asked(desk);
  CHECK(desk.frame->number == 40);  // that were not simulated before
  CHECK(desk.selection.body == 1);
  CHECK(desk.camera.target == result.states[30].X_WB[1].p);
  CHECK(state_hash(desk.frame->state) == state_hash(result.states[30]));

  // Somebody who moves in time meanwhile has the last word.
  PanelContext context = desk.context();
  go_to_step(context, result, 40, -1);
  desk.simulation.update(0.0);
  desk.simulation.call([](SimulationCore& core) { core.seek(2); });
  do_what_was_asked(desk);
  CHECK(desk.frame->number == 2);
}

TEST_CASE("adjoint strip: a click goes to the step under the mouse", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  Panel& panel = desk.panel(GLFW_KEY_F7);
  desk.frame = desk.simulation.frame();
  desk.gradients.result = gradient_of(desk, height_of(1), 40);
  desk.gradients.result->gradient.health.warnings = {{GradientWarning::Kind::chaos, 0, 1, 20.0}};
  const auto strip = desk.find(panel, [] { return ImGui::GetID("adjoint strip"); });
  REQUIRE(strip);
  desk.click(panel, *strip);
  do_what_was_asked(desk);
  CHECK(desk.frame->number > 10);
  CHECK(desk.frame->number < 30);
  CHECK(desk.selection.body == -1);
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  CHECK(desk.beyond_the_edge == 0.0f);
}

TEST_CASE("gradient of the steps that follow: the scene's pushes act in them", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.simulation.call([](SimulationCore& core) {
    core.edit([](Scene& scene) {
      Push push;
      push.body = 1;
      push.from = 0.0;
      push.until = 1e3;
      push.wrench[3] = 0.5;
      scene.pushes = {push};
    });
  });
  desk.frame = desk.simulation.frame();
  desk.gradients.steps = 10;
  PanelContext context = desk.context();
  ask_for_gradient(context, false);
  const GradientResult result = desk.gradients.job.wait();
  REQUIRE(result.error.empty());
  run_steps(desk, 10);
  CHECK(state_hash(desk.frame->state) == state_hash(result.states.back()));
}

TEST_CASE("GradientJob: ends within a step where it is cancelled or destroyed", "[viewer][value]") {
  Desk desk(scene_file("box_stack"));
  desk.frame = desk.simulation.frame();
  GradientRequest request;
  request.model = desk.frame->model;
  request.initial = desk.frame->state;
  request.steps = 200'000;  // would take minutes
  {
    GradientJob job;
    job.start(request);
    job.cancel();
    CHECK(job.wait().error == "cancelled");
    job.start(request);
  }
  GradientJob again;
  request.steps = 3;
  again.start(request);
  CHECK(again.wait().error.empty());
}

}  // namespace abut::viewer
