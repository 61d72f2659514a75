/// The whole viewer without a display, with a user that is a program.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include "apps/render/headless_context.h"
#include "apps/viewer/viewer.h"
#include "tests/viewer/scene_file.h"

namespace abut::viewer {

inline SimulationOptions options_of(const std::string& scene) {
  SimulationOptions options;
  options.scene = scene;
  return options;
}

struct HeadlessViewer {
  static constexpr float k_seconds = 1.0f / 60.0f;  ///< of a picture

  HeadlessContext context;
  SimulationThread simulation;
  Viewer viewer;

  explicit HeadlessViewer(const std::string& scene, int width = 320, int height = 200)
      : context(width, height), simulation(options_of(scene), Threading::none), viewer(simulation, 1.0) {
    viewer.display.panels = false;
    viewer.display.look.quality = Quality::plain;  // for speed
    // As the window has them: keys of text fields.
    ImGuiIO& io = ImGui::GetIO();
    for (const auto& [meaning, key] : {std::pair(ImGuiKey_Tab, GLFW_KEY_TAB),
                                       {ImGuiKey_Enter, GLFW_KEY_ENTER},
                                       {ImGuiKey_Escape, GLFW_KEY_ESCAPE},
                                       {ImGuiKey_Backspace, GLFW_KEY_BACKSPACE}})
      io.KeyMap[meaning] = key;
    mouse_to(-1.0f, -1.0f);
    draw();
  }

  /// A picture, and the time until the next.
  void draw() {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(context.width()), static_cast<float>(context.height())};
    io.DeltaTime = k_seconds;
    simulation.update(k_seconds);
    viewer.draw(context.framebuffer());
    require_no_gl_error("a picture of a test");
  }
  void draw(int pictures) {
    for (int i = 0; i < pictures; ++i) draw();
  }
  void steps(int count) {
    simulation.call([&](SimulationCore& core) {
      for (int i = 0; i < count; ++i) core.step_forward();
    });
  }

  void mouse_to(float x, float y) { ImGui::GetIO().MousePos = {x, y}; }
  void set_modifiers(KeyModifier modifier) {
    ImGui::GetIO().KeyCtrl = modifier == KeyModifier::control;
    ImGui::GetIO().KeyShift = modifier == KeyModifier::shift;
  }
  void press(int key, KeyModifier modifier = KeyModifier::none) {
    set_modifiers(modifier);
    ImGui::GetIO().KeysDown[key] = true;
    draw();
    ImGui::GetIO().KeysDown[key] = false;
    set_modifiers(KeyModifier::none);
    draw();
  }
  void type(const std::string& text) {
    for (const char c : text) ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(c));
    draw(2);
  }
  /// Down at one place, up at another.
  void drag(int button, float x0, float y0, float x1, float y1, KeyModifier modifier = KeyModifier::none) {
    set_modifiers(modifier);
    mouse_to(x0, y0);
    draw();
    ImGui::GetIO().MouseDown[button] = true;
    draw();
    mouse_to(x1, y1);
    draw(2);
    ImGui::GetIO().MouseDown[button] = false;
    draw();
    set_modifiers(KeyModifier::none);
    mouse_to(-1.0f, -1.0f);
    draw();
  }
  void click(float x, float y) { drag(0, x, y, x, y); }
  /// Where a point is in the picture.
  [[nodiscard]] std::array<float, 2> on_screen(const Vec3<double>& p_W) const {
    const Vec3<double> p =
        viewer.camera.project(p_W, static_cast<double>(context.width()) / context.height());
    return {static_cast<float>(0.5 * (1.0 + p.x()) * context.width()),
            static_cast<float>(0.5 * (1.0 - p.y()) * context.height())};
  }

  [[nodiscard]] Image image() const { return viewer.capture(context.framebuffer()); }
  [[nodiscard]] const Frame& frame() const { return *viewer.frame(); }
};

inline std::array<int, 3> pixel(const Image& image, int x, int y) {
  const std::size_t i =
      3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
  return {image.pixels[i], image.pixels[i + 1], image.pixels[i + 2]};
}

/// Pixels that differ by more than rounding.
inline int difference(const Image& a, const Image& b) {
  int count = 0;
  for (std::size_t i = 0; i + 2 < a.pixels.size(); i += 3) {
    int largest = 0;
    for (std::size_t c = i; c < i + 3; ++c)
      largest = std::max(largest, std::abs(static_cast<int>(a.pixels[c]) - static_cast<int>(b.pixels[c])));
    count += largest > 12;
  }
  return count;
}

/// After so many steps, drawn.
inline HeadlessViewer& at_rest(HeadlessViewer& user, int steps) {
  user.steps(steps);
  user.draw();
  return user;
}

}  // namespace abut::viewer
