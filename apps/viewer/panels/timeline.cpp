#include "apps/viewer/panels/timeline.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include "apps/abut/plot_axis.h"
#include "apps/viewer/panels/actions.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/count_text.h"

namespace abut::viewer {
namespace {

const Colour k_energy_curve = rgb(230, 159, 0), k_contacts_curve = rgb(86, 180, 233);

/// Shapes tell marks apart where colours do not.
const Colour& mark_colour(TimelineMark::Kind kind) {
  static const Colour k_colours[] = {rgb(240, 228, 66), rgb(230, 159, 0), k_gradient_velocity_colour,
                                     rgb(213, 94, 0)};
  return k_colours[static_cast<std::size_t>(kind)];
}

void draw_timeline_mark(ImDrawList& list, TimelineMark::Kind kind, ImVec2 at, float size) {
  const ImU32 colour = packed(mark_colour(kind));
  const float r = 0.5f * size;
  switch (kind) {
    case TimelineMark::Kind::warning:
      return list.AddTriangleFilled({at.x - r, at.y + r}, {at.x, at.y - r}, {at.x + r, at.y + r}, colour);
    case TimelineMark::Kind::fallback:
      return list.AddQuadFilled({at.x - r, at.y}, {at.x, at.y - r}, {at.x + r, at.y}, {at.x, at.y + r},
                                colour);
    case TimelineMark::Kind::gradient:
      return list.AddCircleFilled(at, r, colour);
    case TimelineMark::Kind::failure:
      list.AddLine({at.x - r, at.y - r}, {at.x + r, at.y + r}, colour, 0.3f * size);
      return list.AddLine({at.x - r, at.y + r}, {at.x + r, at.y - r}, colour, 0.3f * size);
  }
}

enum class TimeIcon { first, back, run, pause, forward, last };

/// Triangles and bars in the middle of the item before.
void draw_time_icon(TimeIcon icon, ImU32 colour) {
  const ImVec2 lower = ImGui::GetItemRectMin(), upper = ImGui::GetItemRectMax();
  const float x = 0.5f * (lower.x + upper.x), y = 0.5f * (lower.y + upper.y), r = 0.26f * (upper.y - lower.y);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto bar = [&](float at) {
    list.AddRectFilled({at - 0.25f * r, y - r}, {at + 0.25f * r, y + r}, colour);
  };
  const auto triangle = [&](float base, float tip) {
    list.AddTriangleFilled({base, y - r}, {tip, y}, {base, y + r}, colour);
  };
  switch (icon) {
    case TimeIcon::first:
      bar(x - r);
      return triangle(x + r, x - 0.6f * r);
    case TimeIcon::back:
      triangle(x + 0.3f * r, x - r);
      return bar(x + 0.75f * r);
    case TimeIcon::run:
      return triangle(x - 0.7f * r, x + r);
    case TimeIcon::pause:
      bar(x - 0.5f * r);
      return bar(x + 0.5f * r);
    case TimeIcon::forward:
      bar(x - 0.75f * r);
      return triangle(x - 0.3f * r, x + r);
    case TimeIcon::last:
      triangle(x - r, x + 0.6f * r);
      return bar(x + r);
  }
}

void time_button(const char* id, TimeIcon icon, Action action, PanelContext& context, const char* help) {
  const float height = ImGui::GetFrameHeight();
  const bool is_pressed = ImGui::Button(id, {1.15f * height, height});
  draw_time_icon(icon, ImGui::GetColorU32(ImGuiCol_Text));
  tooltip(fmt::format("{}\nKey: {}", help, key_text(action)));
  if (is_pressed) perform(action, context, {});
}

/// A curve over the moments, from the least to the largest value that there is.
template <typename ToX>
void draw_track_curve(std::span<const std::int64_t> numbers, std::span<const float> values, bool from_zero,
                      const Colour& colour, ToX to_x, float top, float bottom) {
  float least = from_zero ? 0.0f : std::numeric_limits<float>::infinity(),
        most = from_zero ? 1.0f : -std::numeric_limits<float>::infinity();
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  // Rounding and the drift of a time step are no curve.
  const float range = std::max(most - least, 0.02f * std::max(std::abs(most), std::abs(least)));
  std::vector<ImVec2> points;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    const float share = range > 0.0f ? (values[i] - least) / range : 0.0f;
    points.push_back({to_x(static_cast<double>(numbers[i])), bottom - share * (bottom - top)});
  }
  ImGui::GetWindowDrawList()->AddPolyline(points.data(), static_cast<int>(points.size()), packed(colour),
                                          ImDrawFlags_None, 0.1f * ImGui::GetFontSize());
}

}  // namespace

std::vector<TimelineMark> timeline_marks(const Frame& frame, const GradientResult* gradient) {
  std::vector<TimelineMark> marks;
  if (frame.marks) {
    for (const StepMark& mark : *frame.marks) {
      if (mark.has_warning) marks.push_back({TimelineMark::Kind::warning, mark.number, mark.body});
      if (mark.is_fallback) marks.push_back({TimelineMark::Kind::fallback, mark.number, mark.body});
    }
  }
  if (gradient && gradient->error.empty()) {
    const Model& model = gradient->request.model->model();
    for (const GradientWarning& warning : gradient->gradient.health.warnings) {
      if (warning.step < 0) continue;
      marks.push_back({TimelineMark::Kind::gradient, gradient->request.number + warning.step, warning.body,
                       warning_text(model, warning)});
    }
  }
  if (frame.failure.number >= 0)
    marks.push_back({TimelineMark::Kind::failure, frame.failure.number, -1, frame.failure.text});
  return marks;
}

/// Where moments are on the screen.
struct Timeline::Track {
  float left = 0, right = 1, top = 0, marks_end = 0, axis = 0, bottom = 0;
  std::int64_t first = 0, last = 1;  ///< that is shown

  [[nodiscard]] float x(double number) const {
    const double share = (number - static_cast<double>(first)) / static_cast<double>(last - first);
    return left + static_cast<float>(share) * (right - left);
  }
  [[nodiscard]] std::int64_t number(float at) const {
    const double share = std::clamp(static_cast<double>((at - left) / (right - left)), 0.0, 1.0);
    return first + std::llround(share * static_cast<double>(last - first));
  }
};

void Timeline::draw(PanelContext& context) {
  // As wide as the longest of its lines, so that the track does not move with the numbers.
  const float width = 5.0f * 1.15f * ImGui::GetFrameHeight() + 4.0f * ImGui::GetStyle().ItemInnerSpacing.x +
                      ImGui::CalcTextSize("  0000.000 s").x;
  ImGui::BeginGroup();
  draw_controls(context);
  ImGui::EndGroup();
  ImGui::SameLine(width + ImGui::GetStyle().WindowPadding.x);
  draw_track(context);
  edits_.post(context.simulation, ImGui::GetTime());
}

void Timeline::draw_controls(PanelContext& context) const {
  const Frame& frame = context.frame;
  const float gap = ImGui::GetStyle().ItemInnerSpacing.x;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(gap, 0.15f * ImGui::GetFontSize()));
  ImGui::BeginDisabled(frame.number <= frame.first);
  time_button("###first", TimeIcon::first, Action::first_moment, context,
              "To the first moment that is kept.");
  ImGui::SameLine();
  time_button("###back", TimeIcon::back, Action::step_back, context, "To the moment before, which is kept.");
  ImGui::EndDisabled();
  ImGui::SameLine();
  time_button("###run", frame.running ? TimeIcon::pause : TimeIcon::run, Action::run_or_pause, context,
              frame.running ? "Stop here." : "Simulate in real time, at the speed of the simulation panel.");
  ImGui::SameLine();
  ImGui::BeginDisabled(frame.is_replay && frame.number >= frame.last);
  time_button("###forward", TimeIcon::forward, Action::step_forward, context, "One time step.");
  ImGui::EndDisabled();
  ImGui::SameLine();
  ImGui::BeginDisabled(frame.number >= frame.last);
  time_button("###last", TimeIcon::last, Action::last_moment, context, "To the last moment that is kept.");
  ImGui::EndDisabled();
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  const std::string time = fmt::format("{:.3f} s", frame.state.time);
  if (frame.warnings.empty()) {
    ImGui::TextUnformatted(time.c_str());
  } else {
    ImGui::TextColored(k_doubtful_colour, "%s", time.c_str());
    std::string words;
    for (const std::string& warning : frame.warnings) words += (words.empty() ? "" : "\n") + warning;
    tooltip(words);
  }
  colour_key(k_energy_curve, ("energy  " + with_prefix(frame.energy, "J")).c_str());
  colour_key(k_contacts_curve, count_text(frame.contacts.size(), "contact").c_str());
  ImGui::PopStyleVar();
}

void Timeline::draw_track(PanelContext& context) {
  const Frame& frame = context.frame;
  const float em = ImGui::GetFontSize();
  const ImVec2 corner = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  if (room.x < 2.0f * em || room.y < 2.0f * em) return preview_.reset();
  ImGui::InvisibleButton("track", room);
  const bool is_hovered = ImGui::IsItemHovered(), is_held = ImGui::IsItemActive(),
             is_clicked = ImGui::IsItemActivated();

  Track track;
  track.left = corner.x + 0.5f * em;
  track.right = corner.x + room.x - 0.5f * em;
  track.top = corner.y;
  track.bottom = corner.y + room.y;
  track.marks_end = track.top + 0.75f * em;
  track.axis = track.bottom - 1.05f * em;
  track.first = frame.first;
  track.last = std::max({frame.last, frame.end, frame.first + 1});

  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 dim = ImGui::GetColorU32(ImGuiCol_TextDisabled), grid = ImGui::GetColorU32(ImGuiCol_Border);
  const float kept = track.x(static_cast<double>(frame.last));
  list.AddRectFilled({track.left, track.top}, {track.right, track.axis},
                     ImGui::GetColorU32(ImGuiCol_FrameBg, 0.35f));
  list.AddRectFilled({track.left, track.top}, {kept, track.axis}, ImGui::GetColorU32(ImGuiCol_FrameBg));
  const int most_ticks = std::max(2, static_cast<int>((track.right - track.left) / (6.0f * em)));
  const std::vector<double> ticks =
      axis_ticks(static_cast<double>(track.first), static_cast<double>(track.last), most_ticks);
  float free_from = corner.x;
  for (const double tick : ticks) {
    if (tick != std::round(tick)) continue;
    const float x = track.x(tick);
    list.AddLine({x, track.marks_end}, {x, track.axis}, grid);
    const std::string words = fmt::format("{}{:.0f}", tick == ticks.front() ? "step " : "", tick);
    const float half = 0.5f * ImGui::CalcTextSize(words.c_str()).x;
    const float at = std::clamp(x - half, corner.x, std::max(corner.x, corner.x + room.x - 2.0f * half));
    const float handle = track.x(static_cast<double>(frame.number));
    if (at < free_from || (at - 0.5f * em < handle && handle < at + 2.0f * half + 0.5f * em)) continue;
    list.AddText({at, track.axis}, dim, words.c_str());
    free_from = at + 2.0f * half + 0.5f * em;
  }

  const auto to_x = [&](double number) { return track.x(number); };
  draw_track_curve(frame.curves.number, frame.curves.of(Curve::contacts), true, k_contacts_curve, to_x,
                   track.marks_end, track.axis - 0.1f * em);
  draw_track_curve(frame.curves.number, frame.curves.of(Curve::energy), false, k_energy_curve, to_x,
                   track.marks_end, track.axis - 0.1f * em);

  const std::vector<TimelineMark> marks =
      timeline_marks(frame, context.gradients.result ? &*context.gradients.result : nullptr);
  const float mark_size = 0.6f * em, mark_y = 0.5f * (track.top + track.marks_end);
  float drawn_at[4] = {-1e9f, -1e9f, -1e9f,
                       -1e9f};  // of each kind, so that thousands are not drawn above each other
  for (const TimelineMark& mark : marks) {
    const float x = track.x(static_cast<double>(mark.number));
    float& before = drawn_at[static_cast<std::size_t>(mark.kind)];
    if (mark.number < track.first || mark.number > track.last || std::abs(x - before) < 1.0f) continue;
    before = x;
    if (mark.kind == TimelineMark::Kind::failure)
      list.AddLine({x, track.top}, {x, track.axis}, packed(mark_colour(mark.kind)), 0.12f * em);
    draw_timeline_mark(list, mark.kind, {x, mark_y}, mark_size);
  }

  // Near a mark, in their lane, the mark is meant.
  const ImVec2 mouse = ImGui::GetMousePos();
  std::int64_t under_mouse = track.number(mouse.x);
  int body = -1;
  if (is_hovered && mouse.y < track.marks_end) {
    float nearest = mark_size;
    for (const TimelineMark& mark : marks) {
      const float distance = std::abs(track.x(static_cast<double>(mark.number)) - mouse.x);
      if (distance >= nearest) continue;
      nearest = distance;
      under_mouse = mark.number;
      body = mark.body;
    }
  }
  if (is_held) {
    if (is_clicked && body >= 0) context.selection.select_body(body);
    if (is_clicked || ImGui::GetIO().MouseDelta.x != 0.0f) seek(std::min(under_mouse, frame.last));
    preview_.reset();
  } else if (is_hovered) {
    preview(context, under_mouse);
    const float x = track.x(static_cast<double>(under_mouse));
    list.AddLine({x, track.top}, {x, track.axis}, dim);
    draw_tooltip(context, under_mouse, marks);
  } else {
    preview_.reset();
  }

  const double shown =
      edits_.shown(ImGui::GetID("track"), static_cast<double>(frame.number), ImGui::GetTime());
  const float x = track.x(shown);
  const ImU32 white = ImGui::GetColorU32(ImGuiCol_Text);
  list.AddLine({x, track.top}, {x, track.axis}, white, 0.12f * em);
  list.AddTriangleFilled({x - 0.4f * em, track.axis + 0.6f * em}, {x, track.axis - 0.1f * em},
                         {x + 0.4f * em, track.axis + 0.6f * em}, white);
}

void Timeline::seek(std::int64_t number) {
  edits_.change(ImGui::GetID("track"), static_cast<double>(number), [](SimulationCore& core, double value) {
    core.set_running(false);  // it would run away from the hand
    core.seek(static_cast<std::int64_t>(value));
  });
}

void Timeline::preview(PanelContext& context, std::int64_t number) {
  const Frame& frame = context.frame;
  if (number > frame.last) return preview_.reset();
  if (on_its_way_.valid() && on_its_way_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    preview_ = on_its_way_.get();
  const bool is_it =
      preview_ && preview_->number == number && preview_->geometry_version == frame.model->geometry_version;
  if (is_it && number != frame.number) context.display.preview_X_WB = preview_->X_WB;
  if (on_its_way_.valid()) return;
  // Again for every picture: what is kept of a moment may be another after a reset or a branch.
  on_its_way_ = context.simulation.ask([number](SimulationCore& core) { return preview_of(core, number); });
}

void Timeline::draw_tooltip(const PanelContext& context, std::int64_t number,
                            std::span<const TimelineMark> marks) const {
  // Above the track, which it must not cover.
  const float gap = ImGui::GetStyle().WindowPadding.y;
  ImGui::SetNextWindowPos({ImGui::GetMousePos().x, ImGui::GetItemRectMin().y - gap}, ImGuiCond_Always,
                          {0.5f, 1.0f});
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(28.0f * ImGui::GetFontSize());
  const auto line = [](const ImVec4& colour, const std::string& words) {
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted(words.c_str());
    ImGui::PopStyleColor();
  };
  const ImVec4 plain = ImGui::GetStyleColorVec4(ImGuiCol_Text);
  if (preview_ && preview_->number == number) {
    line(plain, fmt::format("step {}, {:.4f} s", number, preview_->time));
    colour_key(k_energy_curve, ("energy  " + with_prefix(preview_->energy, "J")).c_str());
    colour_key(k_contacts_curve, count_text(preview_->contacts, "contact").c_str());
    for (const std::string& remark : preview_->remarks) line(k_doubtful_colour, remark);
  } else {
    line(plain, fmt::format("step {}", number));
    if (number > context.frame.last)
      line(ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled), "not simulated yet");
  }
  for (const TimelineMark& mark : marks) {
    if (mark.number != number || mark.text.empty()) continue;
    const Colour& c = mark_colour(mark.kind);
    line({c.x(), c.y(), c.z(), 1.0f}, mark.text);
  }
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace abut::viewer
