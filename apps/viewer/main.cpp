/// The program `abut-view`. Exit codes: 0 well, 1 it cannot draw, 2 bad usage or input.

#include <csignal>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <imgui.h>
#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/batch_command.h"
#include "apps/abut/options.h"
#include "apps/abut/trajectory_file.h"
#include "apps/render/headless_context.h"
#include "apps/viewer/viewer.h"
#include "apps/viewer/viewer_options.h"
#include "apps/viewer/window.h"
#include "engine/input_error.h"

namespace {

using namespace abut;
using namespace abut::viewer;

constexpr int k_well = 0, k_failed = 1, k_bad_input = 2;

int complain(int exit_code, std::string_view what) {
  std::fflush(stdout);
  fmt::print(stderr, "abut-view: {}\n", what);
  return exit_code;
}

void start(const ViewerOptions& options, SimulationThread& simulation, const InterruptRequest& interrupt) {
  simulation.call([&](SimulationCore& core) {
    for (int i = 0; i < options.steps && !interrupt.received(); ++i) {
      const std::int64_t before = core.number();
      core.step_forward();
      if (core.number() == before) break;  // it failed, or a replay is over
    }
    if (!core.message().empty()) throw std::invalid_argument(core.message());
    core.set_speed(options.speed);
    core.set_loops(options.loop);
    core.set_running(!options.paused);
  });
}

void write_screenshot(const ViewerOptions& options, const Viewer& viewer, unsigned framebuffer) {
  if (options.screenshot.empty()) return;
  make_folder_of(options.screenshot);
  write_png(options.screenshot, viewer.capture(framebuffer));
  fmt::print("written to {}\n", options.screenshot.string());
}

/// Before what the command line says.
void restore(const ViewerOptions& options, const StateFile& state_file, Viewer& viewer) {
  if (state_file_of(options).empty()) return;
  viewer.restore(state_file.reading().state);
  viewer.recording.message = state_file.reading().problem;
  viewer.remember_file(options.scene);
}

/// Pictures that are counted wait for all that is to be in them.
void show_ghosts(const ViewerOptions& options, Viewer& viewer, const InterruptRequest& interrupt) {
  if (const auto file = ghosts_file(options); !file.empty()) viewer.show_ghosts(file);
  if (options.headless || options.frames) viewer.wait_for_ghosts([&] { return !interrupt.received(); });
}

void begin_video(const ViewerOptions& options, Viewer& viewer) {
  if (options.video.empty()) return;
  viewer.recording.video = options.video.string();
  viewer.recording.recording_video = true;
}

/// Throws std::invalid_argument saying why if it could not be written.
void finish_video(Viewer& viewer, unsigned framebuffer) {
  if (!viewer.recording.recording_video) throw std::invalid_argument(viewer.recording.message);
  viewer.recording.recording_video = false;
  viewer.draw(framebuffer);
  fmt::print("{}\n", viewer.recording.message);
}

void run_headless(const ViewerOptions& options) {
  const float picture_seconds = 1.0f / (options.video.empty() ? 60.0f : static_cast<float>(k_video_rate));
  HeadlessContext context(options.picture.width, options.picture.height);
  SimulationThread simulation(simulation_options(options), Threading::none);
  const InterruptRequest interrupt;
  start(options, simulation, interrupt);
  StateFile state_file(state_file_of(options));
  Viewer viewer(simulation, options.text_scale > 0.0 ? options.text_scale : 1.0);
  restore(options, state_file, viewer);
  apply(options, viewer);
  show_ghosts(options, viewer, interrupt);
  const bool until_the_end = !options.video.empty() && !options.frames && !options.paused && !options.loop;
  const std::int64_t frames =
      until_the_end ? std::numeric_limits<std::int64_t>::max() : options.frames.value_or(1);
  begin_video(options, viewer);
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(options.picture.width), static_cast<float>(options.picture.height)};
  io.DeltaTime = picture_seconds;
  for (std::int64_t i = 0; i < frames && !viewer.wants_to_close() && !interrupt.received(); ++i) {
    simulation.update(i > 0 ? picture_seconds : 0.0);
    viewer.draw(context.framebuffer());
    require_no_gl_error("a picture");
    const Frame& shown = *viewer.frame();
    if (until_the_end && (!shown.running || shown.number >= shown.end)) break;
  }
  if (!options.video.empty()) finish_video(viewer, context.framebuffer());
  do {
    // Dear ImGui learns how large windows are while it draws them for the first time.
    simulation.update(0.0);
    viewer.draw(context.framebuffer());
  } while (viewer.makes_thumbnails() && !interrupt.received());
  state_file.save(viewer.remembered());
  write_screenshot(options, viewer, context.framebuffer());
}

void run_in_window(const ViewerOptions& options) {
  Window window(options.picture.width, options.picture.height, "abut-view");
  SimulationThread simulation(simulation_options(options));
  const InterruptRequest interrupt;  // ends as the close button does: a video is finished
  start(options, simulation, interrupt);
  StateFile state_file(state_file_of(options));
  Viewer viewer(simulation, options.text_scale > 0.0 ? options.text_scale : window.content_scale());
  window.connect_input();
  viewer.can_capture_pointer = true;
  restore(options, state_file, viewer);
  apply(options, viewer);
  show_ghosts(options, viewer, interrupt);
  begin_video(options, viewer);
  std::string title;
  for (std::int64_t i = 0; !window.close_requested() && !viewer.wants_to_close() && !interrupt.received();
       ++i) {
    if (options.frames && i >= *options.frames) {
      write_screenshot(options, viewer, 0);
      break;
    }
    window.begin_picture();
    viewer.offer(window.take_dropped_files());
    viewer.draw(0);
    window.capture_pointer(viewer.wants_pointer());
    if (viewer.frame()->model->scene->name != title) {
      title = viewer.frame()->model->scene->name;
      window.set_title("abut-view: " + title);
    }
    if (!ImGui::IsAnyMouseDown()) state_file.save(viewer.remembered());
    if (!(options.frames && i + 1 == *options.frames)) window.end_picture();
  }
  if (viewer.recording.recording_video) finish_video(viewer, 0);
  window.disconnect_input();
}

int run(const ViewerOptions& options) {
  try {
    if (!options.screenshot.empty()) {
      require_output_path(options.screenshot, {".png"});
      if (!options.headless && !options.frames)
        return complain(k_bad_input, "--screenshot needs --headless or --frames");
    }
    options.headless ? run_headless(options) : run_in_window(options);
    return k_well;
  } catch (const InputError& error) {
    return complain(k_bad_input, error.what());
  } catch (const std::invalid_argument& error) {
    return complain(k_bad_input, error.what());
  } catch (const std::exception& error) {
    return complain(k_failed, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  // A file that reaches the limit of its size (ulimit -f) is an error to report, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app{"abut-view shows how and why bodies touch, live.", "abut-view"};
  app.set_help_flag("-h,--help", "show this help");
  app.set_version_flag("--version", "abut-view " ABUT_VERSION);
  app.footer(
      "F1 in the window lists keys and mouse. Scene files: docs/scene_format.md.\n"
      "Exit codes: 0 well, 1 it cannot draw (no display, no OpenGL 3.3), 2 bad usage or input.\n"
      "\n"
      "Examples:\n"
      "  abut-view assets/scenes/armadillo_drop.toml\n"
      "  abut-view out/armadillo_drop.npz\n"
      "  abut-view assets/experiments/box_friction.toml out/box_friction/result.json --values estimates\n"
      "  abut-view assets/scenes/drill_mustard.toml --headless --steps 100 --screenshot drill.png");
  ViewerOptions options;
  add_options(app, options);
  refuse_empty_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error) == 0 ? k_well : k_bad_input;
    return complain(k_bad_input, fmt::format("{}; see 'abut-view --help'", error.what()));
  }
  return run(options);
}
