#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/commands.h"
#include "apps/abut/picture_options.h"
#include "apps/abut/progress_bar.h"
#include "apps/abut/trajectory_file.h"
#include "apps/picture/body_surfaces.h"
#include "apps/picture/image.h"
#ifdef ABUT_HAVE_RENDERER
#include "apps/render/headless_context.h"
#include "apps/render/renderer.h"
#endif
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"

namespace abut {
namespace {

struct SnapshotArguments {
  std::filesystem::path scene, trajectory, out;
  std::string frame = "last";
  PictureOptions picture;
  bool quiet = false;
};

/// The frame that `text` means, of `count` there are; a negative number counts from the end.
std::size_t frame_index(const std::string& text, std::size_t count, const std::filesystem::path& file) {
  long long index = -1;
  if (text != "last") {
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, index);
    if (error != std::errc() || stopped != end) {
      throw std::invalid_argument(fmt::format("--frame {}, allowed: a whole number, or last", text));
    }
  }
  const auto signed_count = static_cast<long long>(count);
  if (index < -signed_count || index >= signed_count) {
    throw InputError(file.string(), 0, fmt::format("there is no frame {}, it has {}", text, count));
  }
  return static_cast<std::size_t>(index < 0 ? index + signed_count : index);
}

/// Poses of the bodies at one time of a trajectory.
std::vector<Pose<double>> read_frame(const std::filesystem::path& file, const std::string& frame,
                                     const Model& model) {
  const RecordedTrajectory trajectory(file, model);
  return trajectory.poses(frame_index(frame, trajectory.size(), file));
}

#ifdef ABUT_HAVE_RENDERER
/// Pixels of a picture, drawn without a display.
class Canvas {
 public:
  /// Throws std::runtime_error saying what is missing where this machine cannot draw.
  Canvas(int width, int height) : context_(width, height) {}

  [[nodiscard]] Image draw(const Picture& picture) {
    renderer_.draw(picture, {0, 0, context_.width(), context_.height()}, context_.framebuffer());
    require_no_gl_error("the picture");
    return read_pixels(context_.width(), context_.height(), context_.framebuffer());
  }

 private:
  HeadlessContext context_;
  Renderer renderer_;
};
#else
struct Canvas {
  Canvas(int, int) {
    throw std::runtime_error("this build has no renderer: configure it with -D ABUT_BUILD_VIEWER=ON");
  }
  [[nodiscard]] Image draw(const Picture&) { return {}; }
};
#endif

Picture picture_of(const Model& model, std::span<const Pose<double>> X_WB, bool quiet) {
  constexpr double k_patience = 1.0;  // [s]
  Picture picture;
  ProgressBar progress("bodies", model.body_count(), quiet, k_patience);
  int body = 0;
  BodySurfaces surfaces([&] { progress.update(body); });
  for (; body < model.body_count(); ++body)
    surfaces.add_body(model, body, X_WB[static_cast<std::size_t>(body)], BodyDisplay(), false, picture);
  progress.update(body);
  return picture;
}

/// Returns the exit code.
int run(const SnapshotArguments& arguments) {
  require_output_path(arguments.out, {".png"});
  const Scene scene = read_scene(arguments.scene, surface_maker(user_cache_folder()));
  const std::vector<Pose<double>> X_WB = arguments.trajectory.empty()
                                             ? scene.initial.X_WB
                                             : read_frame(arguments.trajectory, arguments.frame, scene.model);
  const OrbitCamera camera = camera_of(arguments.picture, scene.model, X_WB);
  Image image;
  try {
    Canvas canvas(arguments.picture.width, arguments.picture.height);
    Picture picture = picture_of(scene.model, X_WB, arguments.quiet);
    picture.camera = camera;
    image = canvas.draw(picture);
  } catch (const std::runtime_error& error) {  // no EGL, no OpenGL 3.3, no memory for so many pixels
    fmt::print(stderr, "abut snapshot: {}\n", error.what());
    return 1;
  }
  write_png(arguments.out, image);
  return 0;
}

}  // namespace

void add_snapshot_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<SnapshotArguments>();
  CLI::App* command =
      app.add_subcommand("snapshot", "draw a picture of a scene, or of one time of a trajectory");
  command->add_option("scene", arguments->scene, "scene file")->required()->type_name("SCENE");
  CLI::Option* trajectory = command
                                ->add_option("--trajectory", arguments->trajectory,
                                             "what `abut run SCENE --out` wrote; default: the initial state")
                                ->type_name("FILE.npz");
  command
      ->add_option("--frame", arguments->frame,
                   "which of its states, from 0, or -1 and less from the end; last is the last")
      ->needs(trajectory)
      ->type_name("N")
      ->capture_default_str();
  add_picture_options(*command, arguments->picture);
  command->add_option("--out", arguments->out, "picture to write")->required()->type_name("FILE.png");
  command->add_flag("--quiet", arguments->quiet, "no progress bar");
  command->footer(
      "Draws what 'abut-view --headless' draws, without contacts and panels; without a display, by EGL and "
      "OpenGL 3.3.\n"
      "\n"
      "Example:\n"
      "  abut snapshot assets/scenes/spot_on_pole.toml --out spot.png");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace abut
