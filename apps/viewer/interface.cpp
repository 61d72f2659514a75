#include "apps/viewer/interface.h"

#include <filesystem>
#include <stdexcept>

#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>
#include <imgui.h>

namespace abut::viewer {
namespace {

constexpr float k_font_size = 15.0f;  // [pixels]

/// Latin letters, Greek ones and the few signs that units and arrows need.
constexpr ImWchar k_letters[] = {0x0020, 0x00ff, 0x0370, 0x03ff, 0x2010, 0x2044, 0x207a, 0x2094, 0x2190,
                                 0x2193, 0x221a, 0x221e, 0x2248, 0x2248, 0x2264, 0x2265, 0};

void set_font(ImGuiIO& io, float scale) {
  constexpr const char* k_font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
  std::error_code ignored;
  if (std::filesystem::exists(k_font, ignored) &&
      io.Fonts->AddFontFromFileTTF(k_font, k_font_size * scale, nullptr, k_letters) != nullptr) {
    return;
  }
  ImFontConfig config;
  config.SizePixels = 13.0f * scale;
  io.Fonts->AddFontDefault(&config);
}

void set_style(float scale) {
  ImGui::StyleColorsDark();
  ImGuiStyle& style = ImGui::GetStyle();
  style.WindowRounding = 4.0f;
  style.FrameRounding = 3.0f;
  style.GrabRounding = 3.0f;
  style.WindowBorderSize = 0.0f;
  style.Colors[ImGuiCol_WindowBg] = ImVec4(0.10f, 0.11f, 0.13f, 0.94f);
  style.Colors[ImGuiCol_PopupBg] = ImVec4(0.10f, 0.11f, 0.13f, 0.98f);
  style.ScaleAllSizes(scale);
}

}  // namespace

Interface::Interface(float scale) : context_(ImGui::CreateContext()) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // nothing is written where nobody asked for it
  io.LogFilename = nullptr;
  set_style(scale);
  set_font(io, scale);
  if (!ImGui_ImplOpenGL3_Init("#version 330 core")) {
    ImGui::DestroyContext(context_);
    throw std::runtime_error("Dear ImGui cannot use this OpenGL context");
  }
}

Interface::~Interface() {
  ImGui::SetCurrentContext(context_);
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

void Interface::begin() {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
}

void Interface::end(unsigned framebuffer) {
  ImGui::Render();
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void Interface::draw_over(unsigned framebuffer, const std::function<void(ImDrawList&)>& draw) {
  ImDrawList list(ImGui::GetDrawListSharedData());
  list._ResetForNewFrame();
  list.PushClipRectFullScreen();
  list.PushTextureID(ImGui::GetIO().Fonts->TexID);
  draw(list);
  ImDrawList* lists[] = {&list};
  const ImDrawData& ended = *ImGui::GetDrawData();
  ImDrawData data;
  data.Valid = true;
  data.CmdLists = lists;
  data.CmdListsCount = 1;
  data.TotalIdxCount = list.IdxBuffer.Size;
  data.TotalVtxCount = list.VtxBuffer.Size;
  data.DisplayPos = ended.DisplayPos;
  data.DisplaySize = ended.DisplaySize;
  data.FramebufferScale = ended.FramebufferScale;
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  ImGui_ImplOpenGL3_RenderDrawData(&data);
}

void Interface::discard() { ImGui::EndFrame(); }

}  // namespace abut::viewer
