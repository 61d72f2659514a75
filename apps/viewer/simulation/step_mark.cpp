#include "apps/viewer/simulation/step_mark.h"

#include <algorithm>

#include "apps/abut/report.h"
#include "apps/viewer/simulation/simulation_core.h"

namespace abut::viewer {
namespace {

/// As the gradient's own warning has it: GradientWarning::Kind::branch.
bool is_fallback(const StepReport& report) {
  return report.path >= SolutionPath::graduated_friction || report.has_negative_determinant;
}

}  // namespace

std::optional<StepMark> mark_of(std::int64_t number, const StepReport& report) {
  StepMark mark{number, -1, is_fallback(report), false};
  for (const StepWarning& warning : report.warnings) {
    if (!warning.is_given() || mark.has_warning) continue;
    mark.has_warning = true;
    mark.body = warning.body;
  }
  if (!mark.is_fallback && !mark.has_warning) return std::nullopt;
  return mark;
}

StepPreview preview_of(const SimulationCore& core, std::int64_t number) {
  const History& history = core.history();
  const SceneModel& model = *core.model();
  StepPreview preview;
  preview.number = std::clamp(number, history.first(), history.last());
  preview.geometry_version = model.geometry_version;
  const Moment& moment = history.at(preview.number);
  preview.time = moment.state.time;
  preview.energy = moment.energy;
  preview.contacts = moment.report.contacts;
  preview.X_WB = moment.state.X_WB;
  if (is_fallback(moment.report))
    preview.remarks.push_back("The step was hard to solve and may have other answers nearby.");
  for (const StepWarning::Kind kind : k_step_warnings) {
    const StepWarning& warning = moment.report.warnings[static_cast<std::size_t>(kind)];
    if (warning.is_given())
      preview.remarks.push_back(warning_text(model.model(), model.config(), kind, warning));
  }
  return preview;
}

}  // namespace abut::viewer
