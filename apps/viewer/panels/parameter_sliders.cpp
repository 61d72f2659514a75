#include "apps/viewer/panels/parameter_sliders.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <imgui.h>

#include "apps/viewer/panels/plot.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/check.h"
#include "engine/count_text.h"

namespace abut::viewer {
namespace {

const Colour k_simulated_colour = rgb(86, 180, 233), k_predicted_colour = rgb(230, 159, 0);

/// "ball.mass", as bodies go without saying.
std::string short_name(const SceneParameter& parameter) {
  constexpr std::string_view k_body = "body.";
  return parameter.name.substr(parameter.name.starts_with(k_body) ? k_body.size() : 0);
}

std::string change_text(double change, double from, const std::string& unit) {
  std::string text = fmt::format("{:+.4g}{}", change, unit);
  if (std::abs(from) > 0.0) text += fmt::format(", {:+.3g} %", 100.0 * change / std::abs(from));
  return text;
}

/// @param unit  with a blank before it, or empty
void draw_comparison(const ParameterStudy& study, const std::string& unit) {
  const double predicted = study.predicted();
  const std::optional<SimulatedChange> simulated = study.simulated();
  colour_key(k_predicted_colour, "predicted");
  show("L = {:.6g}{} ({})", predicted, unit, change_text(predicted - study.loss(), study.loss(), unit));
  colour_key(k_simulated_colour, "simulated");
  if (!study.is_changed()) return show("L = {:.6g}{}", study.loss(), unit);
  if (!simulated) return show_note("is being simulated");
  if (!simulated->error.empty()) return show_text(k_bad_colour, simulated->error);
  show("L = {:.6g}{} ({})", simulated->loss, unit,
       change_text(simulated->loss - study.loss(), study.loss(), unit));
}

/// Returns the value of the active parameter that the user points at, if so.
std::optional<double> draw_loss_plot(const ParameterStudy& study, const std::string& unit) {
  const StudiedParameter& active = study.parameters()[at(study.active())];
  LossCurve curve = study.curve();
  // The tangent needs its ends even while nothing has been simulated yet.
  for (const double end : {active.lowest, active.highest}) {
    const auto place = std::lower_bound(curve.x.begin(), curve.x.end(), end) - curve.x.begin();
    if (static_cast<std::size_t>(place) < curve.x.size() && curve.x[static_cast<std::size_t>(place)] == end)
      continue;
    curve.x.insert(curve.x.begin() + place, end);
    curve.loss.insert(curve.loss.begin() + place, std::numeric_limits<double>::quiet_NaN());
  }
  std::vector<float> x, simulated, predicted;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    x.push_back(static_cast<float>(curve.x[i]));
    simulated.push_back(static_cast<float>(curve.loss[i]));
    predicted.push_back(static_cast<float>(study.predicted_at(curve.x[i])));
  }
  const std::string title = "L over " + short_name(active.parameter), x_unit(active.parameter.unit);
  PlotOptions options;
  options.title = title.c_str();
  options.unit = unit.c_str();
  options.x_unit = x_unit.c_str();
  options.colour = k_simulated_colour;
  options.second = predicted;
  options.second_colour = k_predicted_colour;
  options.cursor = active.wanted;
  return plot("loss over parameter", x, simulated, options);
}

}  // namespace

void ParameterSliders::draw(PanelContext& context, const GradientResult& result) {
  if (!ImGui::CollapsingHeader("Other values", ImGuiTreeNodeFlags_DefaultOpen)) return;
  ParameterStudy& study = context.gradients.study;
  if (study.parameters().empty()) return show_note("The loss depends on no parameter of the scene.");
  const std::string unit = loss_unit(result.request.loss.kind);
  draw_comparison(study, unit.empty() ? unit : " " + unit);
  if (study.active() >= 0) {
    if (const std::optional<double> pointed = draw_loss_plot(study, unit))
      study.set(study.active(), *pointed);
  }
  checkbox_with_key(
      "Motion as ghosts", shows_motion_, {},
      "The bodies as the sliders' values would have them, seen through: simulated in yellow at the "
      "moment that is shown, and in orange where the gradient predicts that they end.");
  ImGui::SameLine();
  ImGui::BeginDisabled(!study.is_changed());
  if (ImGui::Button("Back")) study.reset();
  ImGui::EndDisabled();
  tooltip("All sliders to where the gradient was taken.");
  draw_list(study, result);
  show_motion(context);
}

void ParameterSliders::draw_list(ParameterStudy& study, const GradientResult& result) {
  (void)body_combo("Parameters of", result.request.model->model(), body_, "all",
                   "Whose parameters are listed, the most influential first.");
  const std::string unit = loss_unit(result.request.loss.kind);
  int shown = 0, hidden = 0;
  for (std::size_t i = 0; i < study.parameters().size(); ++i) {
    const StudiedParameter& one = study.parameters()[i];
    const SceneParameter& parameter = one.parameter;
    if (body_ >= 0 && parameter.body_A != body_ && parameter.body_B != body_) continue;
    if (shown >= rows_) {
      ++hidden;
      continue;
    }
    ++shown;
    const std::string name = short_name(parameter), own_unit(parameter.unit);
    const std::string help = fmt::format("{}\ndL/d(it) = {:.4g} {}", parameter.name, one.derivative,
                                         derivative_unit(unit, own_unit));
    SliderOptions options;
    options.unit = own_unit.c_str();
    options.lowest = one.lowest;
    options.highest = one.highest;
    options.standard = one.value;
    options.help = help.c_str();
    options.id = parameter.name.c_str();
    double value = one.wanted;
    if (slider(name.c_str(), value, options)) study.set(static_cast<int>(i), value);
  }
  if (shown == 0) show_note("The loss depends on none of its parameters.");
  constexpr int k_at_a_time = 8;
  if (hidden == 0) return;
  if (wide_button(fmt::format("{} more###more", hidden).c_str())) rows_ += k_at_a_time;
  tooltip("Lists the next most influential ones, too.");
}

void ParameterSliders::show_motion(PanelContext& context) const {
  GradientState& gradients = context.gradients;
  if (!shows_motion_ || !gradients.study.is_changed()) return;
  if (auto end = gradients.study.predicted_end()) context.display.predicted_X_WB = std::move(*end);
  const std::optional<SimulatedChange> simulated = gradients.study.simulated();
  // While the next is on its way, the last one stays.
  gradients.motion = simulated ? simulated->states : gradients.shown_motion;
}

}  // namespace abut::viewer
