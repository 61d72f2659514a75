#include "apps/viewer/window.h"

#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include <epoxy/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

namespace abut::viewer {
namespace {

/// What GLFW complained of last.
std::string& last_error() {
  static std::string text;
  return text;
}

}  // namespace

struct Window::Resources {
  GLFWwindow* window = nullptr;
  std::vector<std::filesystem::path> dropped;
  bool has_input = false;
  std::vector<int> pressed;        // keys, since the last picture
  std::vector<int> late_releases;  // keys that were pressed and released between two pictures
  int modifiers = 0;               // of the last of them
};

Window::Window(int width, int height, const std::string& title) : resources_(std::make_unique<Resources>()) {
  glfwSetErrorCallback([](int, const char* text) { last_error() = text; });
  if (glfwInit() != GLFW_TRUE) {
    throw std::runtime_error(fmt::format(
        "there is no display to open a window on ({}); --headless draws pictures without one", last_error()));
  }
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  GLFWwindow* window = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
  if (window == nullptr) {
    glfwTerminate();
    throw std::runtime_error(fmt::format("cannot open a window with OpenGL 3.3: {}", last_error()));
  }
  resources_->window = window;
  glfwMakeContextCurrent(window);
  glfwSwapInterval(1);
  glfwSetWindowUserPointer(window, resources_.get());
  glfwSetDropCallback(window, [](GLFWwindow* onto, int count, const char** paths) {
    auto* resources = static_cast<Resources*>(glfwGetWindowUserPointer(onto));
    for (int i = 0; i < count; ++i) resources->dropped.emplace_back(paths[i]);
  });
}

Window::~Window() {
  disconnect_input();
  glfwDestroyWindow(resources_->window);
  glfwTerminate();
}

void Window::connect_input() {
  // Called before those of Dear ImGui, which keep only what is held at the time of a picture.
  glfwSetKeyCallback(resources_->window, [](GLFWwindow* of, int key, int, int action, int modifiers) {
    auto* resources = static_cast<Resources*>(glfwGetWindowUserPointer(of));
    if (action != GLFW_PRESS || key < 0) return;
    resources->pressed.push_back(key);
    resources->modifiers = modifiers;
  });
  ImGui_ImplGlfw_InitForOpenGL(resources_->window, true);
  resources_->has_input = true;
}

void Window::disconnect_input() {
  if (resources_->has_input) ImGui_ImplGlfw_Shutdown();
  resources_->has_input = false;
}

void Window::begin_picture() {
  constexpr double k_asleep = 0.1;  // [s]
  for (const int key : std::exchange(resources_->late_releases, {})) ImGui::GetIO().KeysDown[key] = false;
  if (glfwGetWindowAttrib(resources_->window, GLFW_ICONIFIED) == GLFW_TRUE) {
    glfwWaitEventsTimeout(k_asleep);
  } else {
    glfwPollEvents();
  }
  ImGui_ImplGlfw_NewFrame();
  // A tap that is over already counts in this picture.
  ImGuiIO& io = ImGui::GetIO();
  for (const int key : std::exchange(resources_->pressed, {})) {
    if (io.KeysDown[key]) continue;
    io.KeysDown[key] = true;
    io.KeyCtrl = io.KeyCtrl || (resources_->modifiers & GLFW_MOD_CONTROL) != 0;
    io.KeyShift = io.KeyShift || (resources_->modifiers & GLFW_MOD_SHIFT) != 0;
    resources_->late_releases.push_back(key);
  }
}

void Window::end_picture() { glfwSwapBuffers(resources_->window); }

void Window::capture_pointer(bool captured) {
  const int wanted = captured ? GLFW_CURSOR_DISABLED : GLFW_CURSOR_NORMAL;
  const bool is_captured = glfwGetInputMode(resources_->window, GLFW_CURSOR) == GLFW_CURSOR_DISABLED;
  if (is_captured == captured) return;
  glfwSetInputMode(resources_->window, GLFW_CURSOR, wanted);
  if (glfwRawMouseMotionSupported() == GLFW_TRUE)
    glfwSetInputMode(resources_->window, GLFW_RAW_MOUSE_MOTION, captured ? GLFW_TRUE : GLFW_FALSE);
}

bool Window::close_requested() const { return glfwWindowShouldClose(resources_->window) == GLFW_TRUE; }

double Window::content_scale() const {
  float x = 1.0f, y = 1.0f;
  glfwGetWindowContentScale(resources_->window, &x, &y);
  return static_cast<double>(y);
}

std::vector<std::filesystem::path> Window::take_dropped_files() {
  return std::exchange(resources_->dropped, {});
}

void Window::set_title(const std::string& title) { glfwSetWindowTitle(resources_->window, title.c_str()); }

}  // namespace abut::viewer
