#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <imgui.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/panels/actions.h"
#include "apps/viewer/panels/experiment_section.h"
#include "apps/viewer/panels/gradient_health.h"
#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/parameter_sliders.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/count_text.h"

namespace abut::viewer {
namespace {

constexpr const char* k_loss_names[] = {
    "position", "distance to target", "distance of bodies", "kinetic energy", "energy", "measurements"};

// What a relative error of a derivative along a direction means: differences are good to about 1e-6.
constexpr double k_agrees = 1e-3, k_agrees_roughly = 1e-2;

struct Verdict {
  ImVec4 colour;
  const char* words;
  int rank;  ///< the higher, the worse
};

Verdict verdict_of(const GradientSample& sample) {
  if (sample.non_finite) return {k_bad_colour, "not finite", 3};
  if (sample.unresolved) return {k_doubtful_colour, "unresolved: differences disagree among themselves", 1};
  if (sample.relative_error <= k_agrees) return {k_good_colour, "agrees", 0};
  if (sample.relative_error <= k_agrees_roughly) return {k_doubtful_colour, "agrees roughly", 1};
  return {k_bad_colour, "differs", 2};
}

void vector_field(const char* label, Vec3<double>& v, const char* help) {
  ImGui::SetNextItemWidth(-1.0f);
  ImGui::PushID(label);
  Vec3<double> edited = v;
  ImGui::InputScalarN("##vector", ImGuiDataType_Double, edited.data(), 3, nullptr, nullptr, "%.4g");
  tooltip(help);
  ImGui::PopID();
  if (edited.allFinite()) v = edited;
}

class GradientPanel : public Panel {
 public:
  GradientPanel() : Panel("Gradients", GLFW_KEY_F7, Pane::right, false) {}

  void draw(PanelContext& context) override {
    draw_experiment(context);
    draw_loss(context);
    draw_buttons(context);
    draw_determinism(context.gradients);
    if (context.gradients.result) draw_result(context, *context.gradients.result);
  }

 private:
  static void draw_loss(PanelContext& context) {
    Loss& loss = context.gradients.loss;
    const Model& model = context.frame.model->model();
    loss.body = std::clamp(loss.body, 0, model.body_count() - 1);
    loss.other = std::clamp(loss.other, 0, model.body_count() - 1);
    int kind = static_cast<int>(loss.kind);
    // Measurements are those of an experiment.
    const std::span<const char* const> names =
        std::span(k_loss_names).first(std::size(k_loss_names) - (loss.motion ? 0 : 1));
    if (combo("Loss", kind, names, -1, "What is differentiated, at the end of the steps."))
      loss.kind = static_cast<LossKind>(kind);
    const bool has_body = loss.kind == LossKind::position || loss.kind == LossKind::distance_to_target ||
                          loss.kind == LossKind::distance_of_bodies;
    if (has_body) {
      (void)body_combo("of", model, loss.body, nullptr, "The body whose position it is.");
      const int selected = context.selection.body;
      ImGui::BeginDisabled(selected < 0 || selected == loss.body);
      if (wide_button("Of the selected body")) loss.body = selected;
      ImGui::EndDisabled();
      tooltip("Takes the body that is selected.");
    }
    if (loss.kind == LossKind::distance_of_bodies) {
      (void)body_combo("and", model, loss.other, nullptr, "The other body.");
      if (loss.other == loss.body) show_text(k_doubtful_colour, "Choose two different bodies.");
    }
    if (loss.kind == LossKind::position) {
      ImGui::AlignTextToFramePadding();
      ImGui::TextUnformatted("Direction");
      constexpr const char* k_help = "The position along it is the loss; its length does not count.";
      tooltip(k_help);
      constexpr const char* k_axes[] = {"x", "y", "z"};
      for (int i = 0; i < 3; ++i) {
        ImGui::SameLine();
        if (ImGui::Button(k_axes[i], {1.5f * ImGui::GetFrameHeight(), 0.0f}))
          loss.direction = Vec3<double>::Unit(i);
        tooltip("Along this axis of the world.");
      }
      vector_field("Direction", loss.direction, k_help);
      if (!(loss.direction.norm() > 0.0)) show_text(k_doubtful_colour, "A direction is needed.");
    }
    if (loss.kind == LossKind::distance_to_target) {
      ImGui::AlignTextToFramePadding();
      ImGui::TextUnformatted("Target [m]");
      tooltip("In the world.");
      ImGui::SameLine();
      if (ImGui::Button("Where the body is now"))
        loss.target = context.frame.state.X_WB[static_cast<std::size_t>(loss.body)].p;
      tooltip("Takes the body's place as the target.");
      vector_field("Target", loss.target, "In the world.");
    }
  }

  static void draw_buttons(PanelContext& context) {
    GradientState& state = context.gradients;
    const Frame& frame = context.frame;
    ImGui::Separator();
    (void)slider("Steps", state.steps, {"", 1.0, 1000.0, true, 100.0, "How many the gradient goes through."});
    state.steps = std::clamp(state.steps, 1, 1000000);
    if (ImGui::RadioButton("Steps that follow", !state.from_past)) state.from_past = false;
    tooltip("From this moment on, without anybody's pull.");
    ImGui::SameLine();
    if (ImGui::RadioButton("that led here", state.from_past)) state.from_past = true;
    tooltip("The steps that were made, with the pulls of the mouse, up to this moment.");
    const std::int64_t available = std::max<std::int64_t>(0, frame.number - frame.steps_since);
    if (state.from_past && available < state.steps) show_note(fmt::format("{} of them are kept.", available));

    const bool can_start = !is_busy(state) && !(state.from_past && available == 0);
    ImGui::BeginDisabled(!can_start);
    if (wide_button("Gradient", 2)) ask_for_gradient(context, false);
    tooltip("dL/d(where the steps start, the force in each).\nKey: " + key_text(Action::compute_gradient));
    ImGui::SameLine();
    if (wide_button("With a check", 2)) ask_for_gradient(context, true);
    tooltip("The same, and against differences along it.\nKey: " + key_text(Action::check_gradient));
    ImGui::EndDisabled();
    const bool is_repeating = state.determinism_on_its_way.valid();
    ImGui::BeginDisabled(is_repeating || frame.is_replay || frame.first == frame.last);
    if (wide_button("Check determinism")) ask_for_determinism(context);
    ImGui::EndDisabled();
    tooltip("The last steps that are kept, once more: is every bit the same?");
    if (is_busy(state)) show_note("The gradient is being computed.");
    if (is_repeating) show_note("Steps are being repeated.");
    if (!state.message.empty()) show_text(k_bad_colour, state.message);

    checkbox_with_key("Arrows", context.display.gradient_arrows, key_text(Action::gradient_arrows),
                      "Of the gradient with respect to initial positions, initial velocities and forces.");
    if (!context.display.gradient_arrows) return;
    (void)slider("Arrow length", context.display.gradient_scale,
                 {"x", 0.01, 100.0, true, 1.0, "Of the longest arrow of each kind."});
    context.display.gradient_scale = std::clamp(context.display.gradient_scale, 1e-6, 1e6);
  }

  static void draw_determinism(const GradientState& state) {
    if (!state.determinism) return;
    const DeterminismResult& result = *state.determinism;
    ImGui::Separator();
    if (!result.error.empty()) {
      show_text(k_bad_colour, "Determinism: " + result.error);
    } else if (result.first_difference < 0) {
      show_text(k_good_colour, fmt::format("Deterministic: {} again, every bit the same.",
                                           count_text(result.steps, "step")));
    } else {
      show_text(k_bad_colour,
                fmt::format("Not deterministic: step {} came out otherwise.", result.first_difference));
    }
  }

  void draw_result(PanelContext& context, const GradientResult& result) {
    ImGui::Separator();
    const Model& model = result.request.model->model();
    const GradientRequest& request = result.request;
    show_note(fmt::format("From step {}, {}, in {}", request.number, count_text(request.steps, "step"),
                          with_prefix(result.seconds, "s")));
    if (!result.error.empty()) return show_text(k_bad_colour, "No gradient: " + result.error);
    const std::string unit = loss_unit(request.loss.kind);
    show_text(fmt::format("L = {:.6g} {}", result.loss, unit));
    show_note(loss_name(model, request.loss));
    draw_check(result);
    draw_gradient_health(context, result);
    sliders_.draw(context, result);
    if (ImGui::CollapsingHeader("By body", ImGuiTreeNodeFlags_DefaultOpen)) draw_bodies(result, unit);
  }

  static void draw_check(const GradientResult& result) {
    if (!result.request.check) return;
    if (!ImGui::CollapsingHeader("Against differences", ImGuiTreeNodeFlags_DefaultOpen)) return;
    if (result.check.empty())
      return show_note("The gradient is zero: there is no direction to compare along.");
    Verdict worst = verdict_of(result.check.front());
    for (const GradientSample& sample : result.check) {
      const Verdict one = verdict_of(sample);
      if (one.rank > worst.rank) worst = one;
    }
    constexpr const char* k_conclusions[] = {
        "The gradient can be trusted.", "The gradient can be trusted in part.",
        "At least one derivative is not that of differences.", "The gradient is not finite."};
    show_text(worst.colour, k_conclusions[worst.rank]);
    if (ImGui::BeginTable("samples", 4, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp)) {
      ImGui::TableSetupColumn("along", ImGuiTableColumnFlags_WidthStretch, 1.5f);
      ImGui::TableSetupColumn("adjoint", ImGuiTableColumnFlags_WidthStretch, 1.0f);
      ImGui::TableSetupColumn("difference", ImGuiTableColumnFlags_WidthStretch, 1.0f);
      ImGui::TableSetupColumn("rel. error", ImGuiTableColumnFlags_WidthStretch, 0.9f);
      ImGui::TableHeadersRow();
      for (const GradientSample& sample : result.check) {
        const Verdict verdict = verdict_of(sample);
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        show_text(sample.group);
        show_text(verdict.colour, verdict.words);
        ImGui::TableNextColumn();
        show_text(fmt::format("{:.4g}", sample.adjoint));
        ImGui::TableNextColumn();
        show_text(fmt::format("{:.4g}", sample.difference));
        ImGui::TableNextColumn();
        show_text(verdict.colour, fmt::format("{:.1e}", sample.relative_error));
      }
      ImGui::EndTable();
    }
    show_note(
        "Along each group's own gradient; lengths in body sizes, speeds and forces in those of gravity.");
  }

  static void draw_bodies(const GradientResult& result, const std::string& unit) {
    const Model& model = result.request.model->model();
    const Gradient& gradient = result.gradient;
    // Three numbers beside a name: a column each is as wide as it has to be, and the table scrolls if they
    // are long.
    if (!ImGui::BeginTable("bodies", 4,
                           ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollX |
                               ImGuiTableFlags_ScrollY,
                           {0.0f, 14.0f * ImGui::GetTextLineHeightWithSpacing()}))
      return;
    ImGui::TableSetupScrollFreeze(1, 1);
    ImGui::TableSetupColumn("dL/d");
    ImGui::TableSetupColumn("x");
    ImGui::TableSetupColumn("y");
    ImGui::TableSetupColumn("z");
    ImGui::TableHeadersRow();
    const auto name = [](const std::string& text) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(text.c_str());
    };
    const auto number = [](double value) {
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(fmt::format("{:.4g}", value).c_str());
    };
    const auto vector = [&](const std::string& text, const Vec3<double>& v) {
      name(text);
      for (const double x : v) number(x);
    };
    for (std::size_t b = 0; b < model.bodies.size(); ++b) {
      const Body& body = model.bodies[b];
      const BodyGradient& of_body = gradient.model.bodies[b];
      name(body.name);
      if (!body.fixed) {
        const Vec6<double>&pose = gradient.initial.pose[b], &twist = gradient.initial.twist[b];
        vector(fmt::format("  position [{}]", derivative_unit(unit, "m")), pose.tail<3>());
        vector(fmt::format("  rotation [{}]", derivative_unit(unit, "rad")), pose.head<3>());
        vector(fmt::format("  velocity [{}]", derivative_unit(unit, "m/s")), twist.tail<3>());
        vector(fmt::format("  spin [{}]", derivative_unit(unit, "rad/s")), twist.head<3>());
        name(fmt::format("  mass [{}]", derivative_unit(unit, "kg")));
        number(of_body.mass +
               of_body.inertia.cwiseProduct(body.inertia).sum() / body.mass);  // inertia in proportion
      }
      name(fmt::format("  friction [{}]", unit.empty() ? "-" : unit));
      number(of_body.friction);
    }
    ImGui::EndTable();
  }

  ParameterSliders sliders_;
};

}  // namespace

std::unique_ptr<Panel> make_gradient_panel() { return std::make_unique<GradientPanel>(); }

}  // namespace abut::viewer
