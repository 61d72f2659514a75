/// Panels without a window and without OpenGL.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <imgui.h>
#include <imgui_internal.h>  // what the mouse is over, by id; nothing public says so
#include <catch2/catch.hpp>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/panels/actions.h"
#include "apps/viewer/panels/key_table.h"
#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/pending_edits.h"
#include "apps/viewer/panels/plot.h"
#include "tests/viewer/scene_file.h"

namespace abut::viewer {

inline constexpr float k_width = 340.0f, k_height = 3000.0f;

/// All that the viewer has around a panel, but no window and no OpenGL: pictures end as lists of triangles.
class Desk {
 public:
  explicit Desk(const std::string& scene)
      : context_(ImGui::CreateContext()), simulation(options(scene), Threading::none) {
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;  // as the viewer's has it
    // The viewer's font where there is one: whether words fit depends on it.
    constexpr const char* k_font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
    if (std::filesystem::exists(k_font)) io.Fonts->AddFontFromFileTTF(k_font, 15.0f);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
    io.DisplaySize = {2.0f * k_width, k_height};
    io.DeltaTime = 1.0f / 60.0f;
    io.MousePos = {-1.0f, -1.0f};
    panels = make_panels();
  }
  ~Desk() { ImGui::DestroyContext(context_); }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  [[nodiscard]] Panel& panel(int key) const {
    for (const auto& one : panels) {
      if (one->key() == key) return *one;
    }
    throw std::logic_error("no such panel");
  }

  [[nodiscard]] PanelContext context() {
    return {*frame,    simulation, display, selection,    gradients,
            recording, requests,   camera,  camera_state, 60.0};
  }

  /// One picture of a panel in a window of its own; what stands inside the same window afterwards goes to
  /// `inside`.
  void draw(Panel& panel, const std::function<void()>& inside = {}) {
    frame = simulation.frame();
    poll_gradients(gradients);
    sample_pinned(*frame, selection);
    display.preview_X_WB.clear();
    display.predicted_X_WB.clear();
    gradients.motion.reset();
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0.0f, 0.0f});
    ImGui::SetNextWindowSize(window);
    ImGui::Begin(panel.title().c_str(), nullptr, ImGuiWindowFlags_AlwaysVerticalScrollbar);
    PanelContext now = context();
    panel.draw(now);
    beyond_the_edge = ImGui::GetScrollMaxX();
    content_height = ImGui::GetCursorPosY();
    if (inside) inside();
    ImGui::End();
    show_motion_of_sliders(now);
    ImGui::Render();
    triangles = ImGui::GetDrawData()->TotalIdxCount / 3;
  }

  /// A picture, and what it asked for is done.
  void turn(Panel& panel, double seconds = 0.0) {
    draw(panel);
    simulation.update(seconds);
    frame = simulation.frame();
  }

  /// The middle of the item that `id` says, found by the mouse as a user would find it.
  std::optional<ImVec2> find(Panel& panel, const std::function<ImGuiID()>& id) {
    ImGuiID wanted = 0;
    draw(panel, [&] { wanted = id(); });
    draw(panel);
    const auto is_over = [&](float x, float y) {
      ImGui::GetIO().MousePos = {x, y};
      draw(panel);
      return context_->HoveredId == wanted;
    };
    const float bottom = std::min(window.y, content_height + 10.0f);
    for (float y = 4.0f; y < bottom; y += 5.0f) {
      for (float x = 12.0f; x < window.x; x += 12.0f) {
        if (!is_over(x, y)) continue;
        float right = x, below = y;
        while (is_over(right + 2.0f, y)) right += 2.0f;
        while (is_over(x, below + 2.0f)) below += 2.0f;
        return ImVec2(0.5f * (x + right), 0.5f * (y + below));
      }
    }
    return std::nullopt;
  }

  /// Presses and lets go of a button of the mouse at a place, a picture for each.
  void click(Panel& panel, ImVec2 at, int button = 0) {
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = at;
    turn(panel);
    io.MouseDown[button] = true;
    turn(panel);
    io.MouseDown[button] = false;
    turn(panel);
    turn(panel);
  }

  /// What the mouse is over there.
  [[nodiscard]] ImGuiID item_at(Panel& panel, float x, float y) {
    ImGui::GetIO().MousePos = {x, y};
    draw(panel);
    return context_->HoveredId;
  }

  static SimulationOptions options(const std::string& scene) {
    SimulationOptions result;
    result.scene = scene;
    return result;
  }

 private:
  ImGuiContext* context_;

 public:
  SimulationThread simulation;
  std::vector<std::unique_ptr<Panel>> panels;
  SharedFrame frame;
  DisplayOptions display;
  Selection selection;
  GradientState gradients;
  RecordingState recording;
  ViewerRequests requests;
  OrbitCamera camera;
  CameraState camera_state;
  ImVec2 window{k_width, k_height};
  float beyond_the_edge = 0.0f, content_height = 0.0f;
  int triangles = 0;
};

inline void run_steps(Desk& desk, int count) {
  desk.simulation.call([count](SimulationCore& core) {
    for (int i = 0; i < count; ++i) core.step_forward();
  });
  desk.frame = desk.simulation.frame();
}

inline void require_all_draw(Desk& desk) {
  for (const auto& panel : desk.panels) {
    CAPTURE(panel->title());
    for (int i = 0; i < 4; ++i) desk.draw(*panel);  // sizes settle
    CHECK(desk.triangles > 50);
    CHECK(desk.content_height > 60.0f);
    CHECK(desk.beyond_the_edge == 0.0f);  // nothing is clipped at 340 pixels
  }
}

inline void pin_contacts(Desk& desk, std::size_t count) {
  for (std::size_t i = 0; i < std::min(count, desk.frame->contacts.size()); ++i)
    desk.selection.toggle_pin(desk.frame->contacts[i].contact.feature);
}

inline ImGuiID id_in(const char* outer, const char* inner) {
  ImGui::PushID(outer);
  const ImGuiID id = ImGui::GetID(inner);
  ImGui::PopID();
  return id;
}

}  // namespace abut::viewer
