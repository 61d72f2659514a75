#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

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
    draw_switches();
    const std::optional<double> wanted = draw_plots(context.frame);
    if (!wanted) {
      asked_for_ = -1.0;
    } else if (*wanted != asked_for_) {
      asked_for_ = *wanted;
      context.simulation.post([time = *wanted](SimulationCore& core) { seek_time(core, time); });
    }
  }

 private:
  /// Beside each other as far as there is room.
  void draw_switches() {
    const ImGuiStyle& style = ImGui::GetStyle();
    const float right = ImGui::GetWindowContentRegionMax().x;
    for (std::size_t i = 0; i < k_curves; ++i) {
      const float width =
          ImGui::GetFrameHeight() + style.ItemInnerSpacing.x + ImGui::CalcTextSize(k_styles[i].name).x;
      if (i > 0) {
        ImGui::SameLine();
        if (ImGui::GetCursorPosX() + width > right) ImGui::NewLine();
      }
      ImGui::Checkbox(k_styles[i].name, &shown_[i]);
      tooltip(std::string(k_styles[i].help) + "\nDrag in its plot to move in time.");
    }
  }

  /// As many beside each other as can be read, and so high that they fill the panel. The time that the mouse
  /// asks for, if it does.
  std::optional<double> draw_plots(const Frame& frame) const {
    constexpr float k_narrowest = 20.0f, k_lowest = 4.0f, k_highest = 12.0f;  // [sizes of the font]
    const auto count = static_cast<int>(std::count(shown_.begin(), shown_.end(), true));
    if (count == 0) return std::nullopt;
    const float em = ImGui::GetFontSize();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const int columns = std::clamp(static_cast<int>(room.x / (k_narrowest * em)), 1, count);
    const int rows = (count + columns - 1) / columns;
    // Of a row: the title, the axis of time and gaps take what is no plot.
    const float gaps = ImGui::GetTextLineHeightWithSpacing() + 1.2f * em +
                       2.0f * ImGui::GetStyle().CellPadding.y + ImGui::GetStyle().ItemSpacing.y;
    const float height = std::clamp((room.y / static_cast<float>(rows) - gaps) / em, k_lowest, k_highest);
    std::optional<double> wanted;
    if (!ImGui::BeginTable("plots", columns)) return wanted;
    for (std::size_t i = 0; i < k_curves; ++i) {
      if (!shown_[i]) continue;
      const CurveStyle& style = k_styles[i];
      PlotOptions options{style.name, style.unit};
      options.scale = style.scale;
      options.from_zero = style.from_zero;
      options.height = height;
      options.cursor = frame.state.time;
      options.colour = body_colour(static_cast<int>(i));
      ImGui::TableNextColumn();
      if (const auto time = plot(style.name, frame.curves.time, frame.curves.of(style.curve), options))
        wanted = time;
    }
    ImGui::EndTable();
    return wanted;
  }

  std::array<bool, k_curves> shown_{};
  double asked_for_ = -1.0;  // [s]
};

}  // namespace

std::unique_ptr<Panel> make_plots_panel() { return std::make_unique<PlotsPanel>(); }

}  // namespace abut::viewer
