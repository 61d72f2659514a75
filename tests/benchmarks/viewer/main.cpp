/// Pictures of the viewer: two armadillos that overlap, every glyph of every contact, 1280 x 720, on whatever
/// OpenGL there is without a display (the label says which).
#include <benchmark/benchmark.h>

#include <string>

#include <epoxy/gl.h>
#include <imgui.h>

#include "apps/render/headless_context.h"
#include "apps/viewer/viewer.h"

namespace abut::viewer {
namespace {

constexpr int k_width = 1280, k_height = 720;

SimulationOptions options() {
  SimulationOptions result;
  result.scene = ABUT_SOURCE_DIR "/assets/scenes/armadillo_armadillo.toml";
  return result;
}

void show_every_glyph(ContactDisplay& contacts) {
  contacts.points = contacts.normals = contacts.witness_points = contacts.forces = contacts.friction_discs =
      contacts.candidates = true;
  contacts.least = 0.0;
}

void picture(benchmark::State& state, bool panels, Quality quality) {
  HeadlessContext context(k_width, k_height);
  SimulationThread simulation(options(), Threading::none);
  Viewer viewer(simulation, 1.0);
  show_every_glyph(viewer.display.contacts);
  viewer.display.panels = panels;
  viewer.display.look.quality = quality;
  for (const auto& panel : viewer.panels()) panel->set_open(panels);
  const auto draw = [&] {
    ImGui::GetIO().DisplaySize = {k_width, k_height};
    ImGui::GetIO().DeltaTime = 1.0f / 60.0f;
    viewer.draw(context.framebuffer());
    glFinish();
  };
  draw();
  draw();
  for (auto _ : state) draw();
  state.counters["contacts"] = static_cast<double>(viewer.frame()->contacts.size());
  state.counters["pictures_per_second"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.SetLabel(reinterpret_cast<const char*>(glGetString(GL_RENDERER)));
}

/// What the simulation's thread does for a picture.
void frame(benchmark::State& state) {
  SimulationCore core(options());
  for (auto _ : state) benchmark::DoNotOptimize(core.make_frame(0.0));
}

BENCHMARK_CAPTURE(picture, two_armadillos_plain, false, Quality::plain)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(picture, two_armadillos_full, false, Quality::full)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(picture, two_armadillos_all_panels, true, Quality::plain)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK(frame)->Name("frame/two_armadillos")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace abut::viewer

BENCHMARK_MAIN();
