#include "apps/viewer/panels/timeline.h"

#include <catch2/catch.hpp>

#include "tests/viewer/headless_viewer.h"
#include "tests/viewer/panel_desk.h"

namespace abut::viewer {
namespace {

/// The timeline as a panel of a desk, in a window as high as the viewer's.
class TimelinePanel : public Panel {
 public:
  explicit TimelinePanel(Desk& desk) : Panel("timeline", 0, Pane::bottom, true) {
    desk.window = {2.0f * k_width, 74.0f};
    for (int i = 0; i < 3; ++i) desk.draw(*this);
  }
  void draw(PanelContext& context) override { timeline_.draw(context); }

 private:
  Timeline timeline_;
};

/// Where the track begins and ends, found by the mouse.
std::pair<float, float> track_of(Desk& desk, Panel& panel) {
  ImGuiID wanted = 0;
  desk.draw(panel, [&] { wanted = ImGui::GetID("track"); });
  float left = 1e9f, right = -1e9f;
  for (float x = 1.0f; x < desk.window.x; x += 1.0f) {
    if (desk.item_at(panel, x, 30.0f) != wanted) continue;
    left = std::min(left, x);
    right = std::max(right, x);
  }
  const float margin = 0.5f * ImGui::GetFontSize();
  return {left + margin, right - margin};
}

Moment marked_moment(bool is_fallback, int warned_body) {
  Moment moment;
  if (is_fallback) moment.report.path = SolutionPath::other_start;
  if (warned_body >= 0) {
    StepWarning& warning = moment.report.warning(StepWarning::Kind::long_step);
    warning.body = warned_body;
    warning.value = 1.0;
  }
  return moment;
}

}  // namespace

TEST_CASE("History: marks belong to the moments that are kept", "[viewer][value]") {
  CHECK_FALSE(mark_of(3, StepReport()));
  History history(5);
  history.restart(Moment());
  for (int n = 1; n <= 7; ++n) history.push(marked_moment(n % 2 == 0, n == 5 ? 1 : -1));
  const auto numbers = [&] {
    std::vector<std::int64_t> all;
    for (const StepMark& mark : history.marks()) all.push_back(mark.number);
    return all;
  };
  CHECK(history.first() == 3);
  CHECK(numbers() == std::vector<std::int64_t>{4, 5, 6});
  CHECK(history.marks()[0].is_fallback);
  CHECK_FALSE(history.marks()[0].has_warning);
  CHECK(history.marks()[1].has_warning);
  CHECK(history.marks()[1].body == 1);
  const std::uint64_t version = history.marks_version();
  history.truncate_after(6);
  CHECK(history.marks_version() == version);
  history.replace_last(Moment());
  CHECK(numbers() == std::vector<std::int64_t>{4, 5});
  CHECK(history.marks_version() != version);
  history.replace_last(marked_moment(true, -1));
  CHECK(numbers() == std::vector<std::int64_t>{4, 5, 6});
  history.truncate_after(4);
  CHECK(numbers() == std::vector<std::int64_t>{4});
  history.restart(Moment());
  CHECK(history.marks().empty());
}

TEST_CASE("timeline_marks: steps, the gradient's warnings and a failure", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 3);
  CHECK(timeline_marks(*desk.frame, nullptr).empty());
  desk.simulation.call([](SimulationCore& core) {
    core.edit([](Scene& scene) { scene.config.step.speed_limit = 1e-9; });
    core.step_forward();
  });
  desk.frame = desk.simulation.frame();
  GradientResult result;
  result.request.model = desk.frame->model;
  result.request.number = 1;
  result.gradient.health.warnings = {{GradientWarning::Kind::branch, 1, 1, 0.5},
                                     {GradientWarning::Kind::chaos, -1, -1, 0.5}};
  const std::vector<TimelineMark> marks = timeline_marks(*desk.frame, &result);
  REQUIRE(marks.size() == 2);
  CHECK(marks[0].kind == TimelineMark::Kind::gradient);
  CHECK(marks[0].number == 2);
  CHECK(marks[0].body == 1);
  CHECK(marks[1].kind == TimelineMark::Kind::failure);
  CHECK(marks[1].number == 3);
  CHECK(marks[1].text == desk.frame->message);
  // Gone with what failed.
  desk.simulation.call(
      [](SimulationCore& core) { core.edit([](Scene& scene) { scene.config.step.speed_limit = 1e3; }); });
  CHECK(timeline_marks(*desk.simulation.frame(), nullptr).empty());
}

TEST_CASE("timeline: buttons run, pause and step", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  TimelinePanel panel(desk);
  const auto button = desk.find(panel, [] { return ImGui::GetID("###run"); });
  REQUIRE(button);
  CHECK_FALSE(desk.frame->running);
  desk.click(panel, *button);
  CHECK(desk.frame->running);
  desk.turn(panel, 0.1);
  CHECK(desk.frame->number > 5);
  desk.click(panel, *button);
  CHECK_FALSE(desk.frame->running);
  const std::int64_t there = desk.frame->number;
  desk.turn(panel, 0.1);
  CHECK(desk.frame->number == there);
  const std::pair<const char*, std::int64_t> others[] = {
      {"###forward", there + 1}, {"###back", there}, {"###first", 0}, {"###last", there + 1}};
  for (const auto& [id, number] : others) {
    CAPTURE(id);
    const auto other = desk.find(panel, [id = id] { return ImGui::GetID(id); });
    REQUIRE(other);
    desk.click(panel, *other);
    CHECK(desk.frame->number == number);
  }
}

TEST_CASE("timeline: is as long as the scene's steps, and a drag moves in what is kept", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 100);
  const auto steps = static_cast<float>(desk.frame->end);
  REQUIRE(steps > 200.0f);
  TimelinePanel panel(desk);
  const auto [left, right] = track_of(desk, panel);
  const float per_step = (right - left) / steps;
  const auto x_of = [left = left, per_step](int number) {
    return left + static_cast<float>(number) * per_step;
  };
  desk.click(panel, {x_of(50), 40.0f});
  CHECK(std::abs(desk.frame->number - 50) <= 1 + std::lround(1.0f / per_step));
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = {x_of(20), 40.0f};
  desk.turn(panel);
  io.MouseDown[0] = true;
  desk.turn(panel);
  io.MousePos = {x_of(200), 40.0f};  // not simulated yet: the last moment
  desk.turn(panel);
  desk.turn(panel);
  io.MouseDown[0] = false;
  desk.turn(panel);
  CHECK(desk.frame->number == 100);
  CHECK(desk.frame->last == 100);
}

TEST_CASE("timeline: the moment under the mouse is previewed in the scene, and nothing else moves",
          "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 200);
  TimelinePanel panel(desk);
  const auto [left, right] = track_of(desk, panel);
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = {-1.0f, -1.0f};
  desk.turn(panel);
  CHECK(desk.display.preview_X_WB.empty());
  io.MousePos = {left + 0.1f * (right - left), 40.0f};
  for (int i = 0; i < 3; ++i) desk.turn(panel);
  REQUIRE(desk.display.preview_X_WB.size() == 2);
  CHECK(desk.frame->number == 200);
  const std::int64_t wanted = std::llround(0.1 * static_cast<double>(desk.frame->end));
  bool is_near = false;
  desk.simulation.call([&](SimulationCore& core) {
    for (std::int64_t n = wanted - 3; n <= wanted + 3; ++n)
      is_near = is_near || core.history().at(n).state.X_WB[1].p == desk.display.preview_X_WB[1].p;
  });
  CHECK(is_near);
  io.MousePos = {left + 0.95f * (right - left), 40.0f};  // not simulated yet
  for (int i = 0; i < 3; ++i) desk.turn(panel);
  CHECK(desk.display.preview_X_WB.empty());
  io.MousePos = {-1.0f, -1.0f};
  desk.turn(panel);
  CHECK(desk.display.preview_X_WB.empty());
}

TEST_CASE("timeline: a click on a mark goes to its moment and selects the body that it is about",
          "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 100);
  TimelinePanel panel(desk);
  const auto [left, right] = track_of(desk, panel);
  GradientResult result;
  result.request.model = desk.frame->model;
  result.gradient.health.warnings = {{GradientWarning::Kind::chaos, 60, 1, 60.0}};
  desk.gradients.result = result;
  const float x = left + 60.0f / static_cast<float>(desk.frame->end) * (right - left);
  desk.click(panel, {x + 2.0f, ImGui::GetStyle().WindowPadding.y + 28.0f});  // below the title
  CHECK(desk.frame->number == 60);
  CHECK(desk.selection.body == 1);
}

TEST_CASE("Viewer: ghosts show the moment that the timeline previews", "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"), 1280, 720);
  user.viewer.display.panels = true;
  user.steps(200);
  user.draw(3);
  const Image before = user.image();
  const LayoutAreas& areas = user.viewer.areas();
  CHECK(areas.timeline.height > 40.0f);
  user.mouse_to(areas.timeline.x + 0.3f * areas.timeline.width, areas.timeline.y + 40.0f);
  user.draw(4);
  CHECK(user.viewer.display.preview_X_WB.size() == 2);
  const Image with = user.image();
  int changed = 0;
  for (int y = static_cast<int>(areas.scene.y); y < static_cast<int>(areas.scene.y + areas.scene.height);
       ++y) {
    for (int x = static_cast<int>(areas.scene.x); x < static_cast<int>(areas.scene.x + areas.scene.width);
         ++x)
      changed += pixel(before, x, y) != pixel(with, x, y);
  }
  CHECK(changed > 200);
  CHECK(user.frame().number == 200);
  user.press(GLFW_KEY_TAB);  // nobody is over a timeline that is hidden
  CHECK_FALSE(user.viewer.display.panels);
  CHECK(user.viewer.display.preview_X_WB.empty());
}

}  // namespace abut::viewer
