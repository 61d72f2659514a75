#include "apps/viewer/panels/gradient_health.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <imgui.h>

#include "apps/abut/plot_axis.h"
#include "apps/viewer/panels/plot.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/check.h"
#include "engine/count_text.h"

namespace abut::viewer {
namespace {

/// What is marked above the strip. Shapes and colours tell kinds apart.
enum class Mark { chaos, branch };
struct MarkStyle {
  const char* word;
  Colour colour;
};
const std::array<MarkStyle, 2>& mark_styles() {
  static const std::array<MarkStyle, 2> k_styles{
      {{"chaos", rgb(204, 121, 167)}, {"other answers", rgb(0, 158, 115)}}};
  return k_styles;
}

struct StepMark {
  Mark mark;
  int step, body;
};

Mark mark_of(GradientWarning::Kind kind) {
  switch (kind) {
    case GradientWarning::Kind::chaos:
      return Mark::chaos;
    case GradientWarning::Kind::branch:
      break;
  }
  return Mark::branch;
}

std::vector<StepMark> marks_of(const GradientResult& result) {
  std::vector<StepMark> marks;
  for (const GradientWarning& warning : result.gradient.health.warnings)
    marks.push_back({mark_of(warning.kind), warning.step, warning.body});
  return marks;
}

void draw_mark_at(ImDrawList& list, Mark mark, ImVec2 centre, float size) {
  const ImU32 colour = packed(mark_styles()[static_cast<std::size_t>(mark)].colour);
  const float r = 0.5f * size, x = centre.x, y = centre.y;
  switch (mark) {
    case Mark::chaos:
      return list.AddCircleFilled(centre, r, colour);
    case Mark::branch:
      return list.AddRectFilled({x - r, y - r}, {x + r, y + r}, colour);
  }
}

void draw_mark_key(std::span<const StepMark> marks) {
  const float size = ImGui::GetFontSize();
  bool is_first = true;
  for (std::size_t m = 0; m < mark_styles().size(); ++m) {
    const auto count = std::count_if(marks.begin(), marks.end(), [&](const StepMark& mark) {
      return static_cast<std::size_t>(mark.mark) == m;
    });
    if (count == 0) continue;
    const std::string word = fmt::format("{} ({})", mark_styles()[m].word, count);
    const float wide = 1.2f * size + ImGui::CalcTextSize(word.c_str()).x;
    if (!is_first) {
      ImGui::SameLine();
      if (ImGui::GetContentRegionAvail().x < wide) ImGui::NewLine();
    }
    is_first = false;
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    draw_mark_at(*ImGui::GetWindowDrawList(), static_cast<Mark>(m),
                 {corner.x + 0.4f * size, corner.y + 0.55f * size}, 0.7f * size);
    ImGui::Dummy({0.8f * size, size});
    ImGui::SameLine(0.0f, 0.3f * size);
    ImGui::TextUnformatted(word.c_str());
  }
}

/// Steps across, the adjoint's norm upwards by powers of ten, marks above. Returns the step and the body that
/// were clicked on.
std::optional<std::pair<int, int>> draw_strip(const PanelContext& context, const GradientResult& result) {
  const std::vector<double>& norms = result.gradient.health.adjoint_norm;
  const int steps = static_cast<int>(norms.size()) - 1;
  if (steps < 1) return std::nullopt;
  const std::vector<StepMark> marks = marks_of(result);
  show_text("|dL/d(state)|, the adjoint, by step");

  const float line = ImGui::GetFontSize(), width = std::max(ImGui::GetContentRegionAvail().x, 8.0f * line);
  const float marks_height = 1.1f * line, curve_height = 5.0f * line,
              height = marks_height + curve_height + 1.2f * line;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("adjoint strip", {width, height});
  if (!ImGui::IsItemVisible()) return std::nullopt;
  const bool is_hovered = ImGui::IsItemHovered(), is_clicked = ImGui::IsItemClicked();

  double least = k_infinity, most = 0.0;
  for (const double norm : norms) {
    if (!(norm > 0.0) || !std::isfinite(norm)) continue;
    least = std::min(least, norm);
    most = std::max(most, norm);
  }
  if (!(most > 0.0)) least = most = 1.0;
  constexpr double k_least_bar = 0.2;  // [decades], so that the least is seen
  const double low = std::floor(std::log10(least)) - k_least_bar,
               high = std::max(std::ceil(low + 1.0), std::ceil(std::log10(most)));
  const float left = corner.x + 3.6f * line, right = corner.x + width, top = corner.y + marks_height,
              bottom = top + curve_height;
  const auto x_of = [&](double step) {
    return left + static_cast<float>((step + 0.5) / (steps + 1.0)) * (right - left);
  };
  const auto y_of = [&](double norm) {
    const double place = (std::log10(std::max(norm, 1e-300)) - low) / (high - low);
    return bottom - static_cast<float>(std::clamp(place, 0.0, 1.0)) * (bottom - top);
  };

  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 grid = ImGui::GetColorU32(ImGuiCol_Border), words = ImGui::GetColorU32(ImGuiCol_TextDisabled);
  list.AddRectFilled({left, corner.y}, {right, bottom}, ImGui::GetColorU32(ImGuiCol_FrameBg));
  float lowest_free = bottom + 0.5f * line;
  for (const double tick : axis_ticks(std::pow(10.0, low), std::pow(10.0, high), 4, true)) {
    const float y = y_of(tick);
    list.AddLine({left, y}, {right, y}, grid);
    const std::string text = tick_text(tick, 0.0);
    const float text_top = std::clamp(y - 0.5f * line, top, bottom - line);
    if (text_top + line > lowest_free) continue;
    list.AddText({left - 0.3f * line - ImGui::CalcTextSize(text.c_str()).x, text_top}, words, text.c_str());
    lowest_free = text_top;
  }
  // Columns of pixels with several steps show the largest of them.
  const int columns = std::max(1, std::min(steps + 1, static_cast<int>(right - left)));
  for (int c = 0; c < columns; ++c) {
    const auto first_of = [&](int column) {
      return static_cast<int>(static_cast<std::int64_t>(column) * (steps + 1) / columns);
    };
    const auto edge = [&](int step) { return std::floor(x_of(step - 0.5)); };
    const int from = first_of(c), to = first_of(c + 1);
    const double norm = *std::max_element(norms.begin() + from, norms.begin() + to);
    list.AddRectFilled({edge(from), y_of(norm)}, {std::max(edge(to), edge(from) + 1.0f), bottom},
                       packed(rgb(86, 180, 233)));
  }
  for (const StepMark& mark : marks) {
    const float x = x_of(mark.step);
    const ImU32 colour = packed(mark_styles()[static_cast<std::size_t>(mark.mark)].colour);
    list.AddLine({x, top}, {x, bottom}, (colour & 0x00ffffffU) | 0x60000000U);
    draw_mark_at(list, mark.mark, {x, corner.y + 0.5f * marks_height}, 0.65f * line);
  }
  const std::int64_t shown = context.frame.number - result.request.number;
  if (shown >= 0 && shown <= steps) {
    const float x = x_of(static_cast<double>(shown));
    list.AddLine({x, corner.y}, {x, bottom}, ImGui::GetColorU32(ImGuiCol_Text));
  }
  const std::string first = std::to_string(result.request.number),
                    last = "step " + std::to_string(result.request.number + steps);
  list.AddText({left, bottom + 0.1f * line}, words, first.c_str());
  list.AddText({right - ImGui::CalcTextSize(last.c_str()).x, bottom + 0.1f * line}, words, last.c_str());
  draw_mark_key(marks);

  if (!is_hovered) return std::nullopt;
  const float mouse = ImGui::GetMousePos().x;
  int step =
      std::clamp(static_cast<int>((mouse - left) / (right - left) * static_cast<float>(steps + 1)), 0, steps);
  int body = -1;
  float nearest = 5.0f;
  for (const StepMark& mark : marks) {
    const float distance = std::abs(x_of(mark.step) - mouse);
    if (distance > nearest || (distance == nearest && mark.body < 0)) continue;
    nearest = distance;
    step = mark.step;
    body = mark.body;
  }
  list.AddLine({x_of(step), corner.y}, {x_of(step), bottom}, words);
  tooltip(step_text(result, step) + "\nA click goes there.");
  return is_clicked ? std::optional(std::pair(step, body)) : std::nullopt;
}

void draw_warnings(PanelContext& context, const GradientResult& result) {
  const std::vector<GradientWarning>& warnings = result.gradient.health.warnings;
  if (warnings.empty()) return show_text(k_good_colour, "No warning.");
  constexpr std::size_t k_most_lines = 12;
  const float line = ImGui::GetTextLineHeightWithSpacing();
  show_text(k_doubtful_colour, count_text(warnings.size(), "warning"));
  ImGui::SameLine();
  show_note("a click goes to step and body");
  const auto lines = static_cast<float>(std::min(3 * warnings.size(), k_most_lines));
  if (ImGui::BeginChild("warnings", {0.0f, (lines + 0.5f) * line}, true)) {
    for (std::size_t i = 0; i < warnings.size(); ++i) {
      const GradientWarning& warning = warnings[i];
      ImGui::PushID(static_cast<int>(i));
      GradientWarning numbered = warning;  // as steps of the simulation are
      numbered.step += static_cast<int>(result.request.number);
      const std::string text = warning_text(result.request.model->model(), numbered);
      const float mark = ImGui::GetFontSize(), wrap = ImGui::GetContentRegionAvail().x - 1.2f * mark;
      const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap),
                   corner = ImGui::GetCursorScreenPos();
      if (ImGui::Selectable("##warning", false, 0, {0.0f, size.y}))
        go_to_step(context, result, warning.step, warning.body);
      if (ImGui::IsItemVisible()) {
        ImDrawList& list = *ImGui::GetWindowDrawList();
        draw_mark_at(list, mark_of(warning.kind), {corner.x + 0.4f * mark, corner.y + 0.55f * mark},
                     0.7f * mark);
        list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {corner.x + 1.2f * mark, corner.y},
                     ImGui::GetColorU32(ImGuiCol_Text), text.c_str(), nullptr, wrap);
      }
      ImGui::PopID();
    }
  }
  ImGui::EndChild();
}

/// Goes on to a moment in small pieces, so that other commands need not wait, unless somebody else moves in
/// time.
void go_on_to(SimulationThread& simulation, std::int64_t from, std::int64_t to) {
  simulation.post([&simulation, from, to](SimulationCore& core) {
    constexpr int k_steps_at_a_time = 8;
    if (core.number() != from || core.running()) return;
    for (int i = 0; i < k_steps_at_a_time && core.number() < to; ++i) {
      const std::int64_t before = core.number();
      core.step_forward();
      if (core.number() == before) return;  // it failed, or a replay is over
    }
    if (core.number() < to) go_on_to(simulation, core.number(), to);
  });
}

}  // namespace

void go_to_step(PanelContext& context, const GradientResult& result, int step, int body) {
  const std::int64_t number = result.request.number + step;
  SimulationThread& simulation = context.simulation;
  simulation.post([&simulation, number](SimulationCore& core) {
    core.set_running(false);
    if (number < core.history().first())
      return core.set_message(fmt::format("step {} is no longer kept", number));
    core.seek(number);
    if (core.number() < number) go_on_to(simulation, core.number(), number);
  });
  if (body < 0) return;
  context.selection.select_body(body);
  const auto k = static_cast<std::size_t>(step);
  if (k < result.states.size()) context.camera.target = result.states[k].X_WB[at(body)].p;
}

std::string step_text(const GradientResult& result, int step) {
  const Model& model = result.request.model->model();
  const auto k = static_cast<std::size_t>(step);
  const auto of_body = [&](int body) {
    return body < 0 ? std::string() : fmt::format(" (body '{}')", model.bodies[at(body)].name);
  };
  std::string text = fmt::format("step {}", result.request.number + step);
  if (k < result.states.size()) text += fmt::format(", t = {:.5g} s", result.states[k].time);
  text += fmt::format("\n|dL/d(state)| {:.4g}", result.gradient.health.adjoint_norm[k]);
  if (k >= result.steps.size()) return text + "\nwhere the loss is";
  const GradientStep& of = result.steps[k];
  if (of.growth > 0.0) text += fmt::format("\nthe step multiplies it by {:.4g}", of.growth);
  text += "\n" + count_text(of.contacts, "contact");
  if (of.share_near_kink > 0.0)
    text += fmt::format(", {:.0f} % of the solver's beside a kink", 100.0 * of.share_near_kink) +
            of_body(of.kink_body);
  text += "\n" + count_text(of.iterations, "iteration") + " of the solver";
  if (of.has_other_answers) text += "\nthe step may have other answers";
  return text;
}

void draw_gradient_health(PanelContext& context, const GradientResult& result) {
  if (!ImGui::CollapsingHeader("Health", ImGuiTreeNodeFlags_DefaultOpen)) return;
  const GradientHealth& health = result.gradient.health;
  if (const auto clicked = draw_strip(context, result))
    go_to_step(context, result, clicked->first, clicked->second);
  draw_warnings(context, result);
  show("Largest growth of one step: {:.3g}; of all, {:.3g} times free motion", health.largest_growth,
       health.growth_over_free);
  show("Beside a kink: {:.2g} % of {}", 100.0 * health.share_near_kink(),
       count_text(health.contacts, "contact"));

  std::vector<float> forces, numbers;
  for (const auto& step : result.gradient.controls) {
    double largest = 0.0;
    for (const Vec6<double>& wrench : step.wrenches) largest = std::max(largest, wrench.tail<3>().norm());
    numbers.push_back(static_cast<float>(result.request.number + static_cast<std::int64_t>(forces.size())));
    forces.push_back(static_cast<float>(largest));
  }
  const std::string unit = derivative_unit(loss_unit(result.request.loss.kind), "N");
  PlotOptions options;
  options.x_unit = "step";
  options.cursor = static_cast<double>(context.frame.number);
  options.from_zero = true;
  options.title = "|dL/d(force)|, largest of all bodies";
  options.unit = unit.c_str();
  options.colour = k_gradient_force_colour;
  if (const auto pressed = plot("forces", numbers, forces, options); pressed && ImGui::IsMouseClicked(0))
    go_to_step(context, result,
               static_cast<int>(std::lround(*pressed - static_cast<double>(result.request.number))), -1);
}

}  // namespace abut::viewer
