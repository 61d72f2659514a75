#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <imgui.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/panels/actions.h"
#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/pending_edits.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/count_text.h"

namespace abut::viewer {
namespace {

/// Buttons are found by what they do, whatever they are called just now.
bool action_button(const char* label, Action action, PanelContext& context, int columns, const char* help) {
  const bool is_pressed = wide_button(label, columns);
  tooltip(fmt::format("{}\nKey: {}", help, key_text(action)));
  if (is_pressed) perform(action, context, {});
  return is_pressed;
}

class SimulationPanel : public Panel {
 public:
  SimulationPanel() : Panel("Simulation", GLFW_KEY_F2, Pane::left, false) {}

  void draw(PanelContext& context) override {
    draw_buttons(context);
    draw_speed(context);
    draw_future(context);
    draw_warnings(context);
    draw_numbers(context);
    draw_message(context);
    draw_file(context);
    edits_.post(context.simulation, ImGui::GetTime());
  }

 private:
  static void draw_buttons(PanelContext& context) {
    action_button("Reset###reset", Action::reset, context, 2,
                  "To the initial state; all since is forgotten.");
    ImGui::SameLine();
    action_button("Reload###reload", Action::reload, context, 2, "Read the scene's file again.");
  }

  void draw_speed(PanelContext& context) {
    constexpr double k_marks[] = {0.0625, 0.25, 1.0, 4.0, 16.0};
    const ImGuiID id = ImGui::GetID("speed");
    double speed = edits_.shown(id, context.frame.speed, ImGui::GetTime());
    SliderOptions options{"x", 1.0 / 16.0, 16.0, true, 1.0, "Simulated time per real time that is wanted."};
    options.marks = k_marks;
    if (slider("Speed", speed, options))
      edits_.change(id, speed, [](SimulationCore& core, double value) { core.set_speed(value); });
    if (context.frame.running) {
      const double reached = context.frame.real_time_factor;
      const bool is_slow = reached < 0.9 * context.frame.speed;
      if (reached == 0.0) {
        show_note("Runs; how fast is being measured");
      } else {
        show_text(
            is_slow ? k_doubtful_colour : ImGui::GetStyleColorVec4(ImGuiCol_Text),
            fmt::format("Reached: {:.3g} x real time{}", reached, is_slow ? " (steps take longer)" : ""));
      }
    } else {
      show_note("Paused");
    }
  }

  static void draw_future(PanelContext& context) {
    const Frame& frame = context.frame;
    ImGui::Separator();
    const bool has_future = frame.number < frame.last;
    ImGui::BeginDisabled(!has_future);
    action_button("Branch here###branch", Action::branch, context, 1,
                  "Forget what comes after this moment and simulate anew from here.");
    ImGui::EndDisabled();
    bool loops = frame.loops;
    if (ImGui::Checkbox("Begin again at the end", &loops)) perform(Action::loop, context, {});
    tooltip(fmt::format("Of {} steps.\nKey: {}", frame.end, key_text(Action::loop)));
    if (!frame.running && frame.number == frame.end && !frame.is_replay)
      show_note("The scene's steps are done; run to go on.");
    if (frame.is_replay) {
      show_text(k_doubtful_colour, "Replay of a trajectory: nothing is simulated until you branch.");
    } else if (has_future) {
      show_note(fmt::format("{} kept, to be shown again; branch to simulate anew.",
                            count_text(frame.last - frame.number, "later step")));
    }
  }

  static void draw_numbers(const PanelContext& context) {
    const Frame& frame = context.frame;
    if (!ImGui::BeginTable("numbers", 2, ImGuiTableFlags_SizingStretchProp)) return;
    const auto row = [](const char* name, const std::string& value) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(name);
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(value.c_str());
    };
    row("Time", fmt::format("{:.4f} s", frame.state.time));
    row("Step", fmt::format("{} of {} to {}", frame.number, frame.first, frame.last));
    row("Contacts", fmt::format("{}", frame.contacts.size()));
    double depth = 0.0;  // in the other solid: the distance of two edges may be the thickness of a limb
    for (const ContactView& view : frame.contacts) depth = std::max(depth, -view.contact.signed_distance);
    row("Deepest contact", fmt::format("{:.4g} mm", 1e3 * depth));
    row("Last step", fmt::format("{}, {}", to_string(frame.report.status),
                                 count_text(frame.report.iterations, "iteration")));
    row("took", with_prefix(frame.step_seconds, "s"));
    row("Pictures", fmt::format("{:.0f} per second", context.pictures_per_second));
    ImGui::EndTable();
  }

  static void draw_warnings(const PanelContext& context) {
    for (const std::string& warning : context.frame.warnings) show_text(k_doubtful_colour, warning);
  }

  static void draw_message(PanelContext& context) {
    if (context.frame.message.empty()) return;
    ImGui::Separator();
    show_text(k_bad_colour, context.frame.message);
    if (ImGui::Button("Dismiss"))
      context.simulation.post([](SimulationCore& core) { core.dismiss_message(); });
  }

  static void draw_file(PanelContext& context) {
    ImGui::Separator();
    show_note(context.frame.model->file.string());
    action_button("Open...###open", Action::open_dialog, context, 1,
                  "A scene (.toml), or a trajectory to replay (.npz).");
  }

  PendingEdits edits_;
};

}  // namespace

std::unique_ptr<Panel> make_simulation_panel() { return std::make_unique<SimulationPanel>(); }

}  // namespace abut::viewer
