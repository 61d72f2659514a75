#include "apps/viewer/panels/experiment_section.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <imgui.h>

#include "apps/viewer/panels/widgets.h"
#include "engine/count_text.h"

namespace abut::viewer {
namespace {

void open_again(PanelContext& context, const ExperimentChoice& choice) {
  context.simulation.post([choice](SimulationCore& core) { core.open_experiment(choice); });
}

/// A line for the name of each, as these are long, and one for its values.
void draw_unknowns(const ExperimentView& view) {
  constexpr float k_most_lines = 8.0f;
  const float lines = std::min(2.0f * static_cast<float>(view.unknowns.size()), k_most_lines);
  const auto value = [first = true](const char* name, const std::optional<double>& number) mutable {
    if (!number) return;
    if (!std::exchange(first, false)) ImGui::SameLine();
    show_note(name);
    ImGui::SameLine();
    show("{:.5g}", *number);
  };
  if (ImGui::BeginChild("unknowns", {0.0f, lines * ImGui::GetTextLineHeightWithSpacing()})) {
    for (const ExperimentView::Row& row : view.unknowns) {
      show_text(row.unit.empty() ? row.name : fmt::format("{} [{}]", row.name, row.unit));
      auto of_row = value;
      of_row("guess", row.guess);
      of_row("estimate", row.estimate);
      of_row("truth", row.truth);
    }
  }
  ImGui::EndChild();
}

}  // namespace

void draw_experiment(PanelContext& context) {
  if (!context.frame.experiment) return;
  const ExperimentView& view = *context.frame.experiment;
  if (!ImGui::CollapsingHeader("Experiment", ImGuiTreeNodeFlags_DefaultOpen)) return;
  show_text(view.name);
  ExperimentChoice choice = view.choice;
  std::vector<const char*> motions;
  for (const std::string& name : view.motions) motions.push_back(name.c_str());
  int motion = view.motion;
  if (combo("Motion", motion, motions, -1, "Each has its own start and its own measurements.")) {
    choice.motion = std::to_string(motion);
    open_again(context, choice);
  }
  std::vector<UnknownValues> values{UnknownValues::guesses};
  std::vector<const char*> names{"guesses"};
  if (!choice.result.empty()) {
    values.push_back(UnknownValues::estimates);
    names.push_back("estimates");
  }
  if (view.has_truth) {
    values.push_back(UnknownValues::truth);
    names.push_back("truth");
  }
  int shown = static_cast<int>(std::find(values.begin(), values.end(), choice.values) - values.begin());
  if (combo("Values", shown, names, -1,
            "Of the unknowns. Estimates are there where the experiment was opened with its result.json.")) {
    choice.motion = std::to_string(view.motion);
    choice.values = values[static_cast<std::size_t>(shown)];
    open_again(context, choice);
  }
  show_note(fmt::format("{} in {}", count_text(view.measured->measurements.size(), "measurement"),
                        count_text(view.steps, "step")));
  draw_unknowns(view);
}

}  // namespace abut::viewer
