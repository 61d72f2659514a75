#include <algorithm>
#include <array>
#include <cmath>

#include <imgui.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/plot.h"
#include "apps/viewer/panels/widgets.h"

namespace abut::viewer {
namespace {

struct CurveStyle {
  Curve curve;
  const char *name, *unit, *help;
  double scale;  ///< from SI units
  bool from_zero, shown;
};
constexpr CurveStyle k_styles[] = {
    {Curve::energy, "Energy", "J", "Kinetic and potential energy of the moving bodies.", 1.0, false, true},
    {Curve::momentum, "Momentum", "N s", "Length of the sum of m v.", 1.0, true, false},
    {Curve::angular_momentum, "Angular momentum", "N m s", "Length of the sum about the world's origin.", 1.0,
     true, false},
    {Curve::penetration, "Penetration", "mm", "Of the deepest contact.", 1e3, true, true},
    {Curve::contacts, "Contacts", "", "With a weight in the contact problem.", 1.0, true, true},
    {Curve::iterations, "Solver iterations", "",
     "Newton iterations of all passes, of the island that took most.", 1.0, true, false},
    {Curve::step_time, "Step time", "ms", "That a step took to compute.", 1e3, true, false},
};
static_assert(std::size(k_styles) == k_curves);

/// The moment nearest to a time: times may be unevenly apart where the time step was changed.
void seek_time(SimulationCore& core, double time) {
  const History& history = core.history();
  std::int64_t low = history.first(), high = history.last();
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (history.at(middle).state.time < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low > history.first() && time - history.at(low - 1).state.time < history.at(low).state.time - time)
    --low;
  core.set_running(false);
  core.seek(low);
}

class PlotsPanel : public Panel {
 public:
  PlotsPanel() : Panel("Time plots", GLFW_KEY_F8, Pane::bottom, false) {
    for (std::size_t i = 0; i < k_curves; ++i) shown_[i] = k_styles[i].shown;
  }

  void draw(PanelContext& context) override {
    if (ImGui::BeginTable("shown", 2)) {
      for (std::size_t i = 0; i < k_curves; ++i) {
        ImGui::TableNextColumn();
        ImGui::Checkbox(k_styles[i].name, &shown_[i]);
        tooltip(k_styles[i].help);
      }
      ImGui::EndTable();
    }
    const Curves& curves = context.frame.curves;
    std::optional<double> wanted;
    for (std::size_t i = 0; i < k_curves; ++i) {
      if (!shown_[i]) continue;
      const CurveStyle& style = k_styles[i];
      PlotOptions options{style.name, style.unit};
      options.scale = style.scale;
      options.from_zero = style.from_zero;
      options.cursor = context.frame.state.time;
      options.colour = body_colour(static_cast<int>(i));
      ImGui::Spacing();
      if (const auto time = plot(style.name, curves.time, curves.of(style.curve), options)) wanted = time;
    }
    if (!wanted) {
      asked_for_ = -1.0;
    } else if (*wanted != asked_for_) {
      asked_for_ = *wanted;
      context.simulation.post([time = *wanted](SimulationCore& core) { seek_time(core, time); });
    }
    show_note("Drag in a plot to move in time.");
  }

 private:
  std::array<bool, k_curves> shown_{};
  double asked_for_ = -1.0;  // [s]
};

}  // namespace

std::unique_ptr<Panel> make_plots_panel() { return std::make_unique<PlotsPanel>(); }

}  // namespace abut::viewer
