#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/canvas.h"
#include "apps/abut/commands.h"
#include "apps/abut/picture_options.h"
#include "apps/abut/progress_bar.h"
#include "apps/abut/trajectory_file.h"
#include "apps/picture/body_surfaces.h"
#include "apps/picture/image.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "engine/check.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"

namespace abut {
namespace {

struct SnapshotArguments {
  std::filesystem::path scene, trajectory, out;
  std::string frame;  ///< empty: the last
  PictureOptions picture;
  std::string surface = "visual";
  bool quiet = false;
};

/// The frame that `text` means, of `count` there are; a negative number counts from the end.
std::size_t frame_index(const std::string& text, std::size_t count, const std::filesystem::path& file) {
  long long index = -1;
  if (!text.empty() && text != "last") {
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

/// What bodies are drawn as, by its name on the command line.
const std::map<std::string, BodySurface> k_surfaces{
    {"visual", BodySurface::visual}, {"mesh", BodySurface::mesh}, {"sdf", BodySurface::sdf}};

/// @param visuals_W  receives the positions of each visual mesh that is drawn
Picture picture_of(const Model& model, std::span<const Pose<double>> X_WB, const SnapshotArguments& arguments,
                   std::vector<Points>& visuals_W) {
  constexpr double k_patience = 1.0;  // [s]
  Picture picture;
  BodyDisplay display;
  display.surface = k_surfaces.at(arguments.surface);
  ProgressBar progress("bodies", model.body_count(), arguments.quiet, k_patience);
  int body = 0;
  BodySurfaces surfaces([&] { progress.update(body); });
  for (; body < model.body_count(); ++body) {
    surfaces.add_body(model, body, X_WB[at(body)], display, false, picture);
    if (display.surface == BodySurface::visual && !model.bodies[at(body)].appearance.visual_mesh.empty())
      visuals_W.push_back(positions_of(picture.surfaces.back()));
  }
  progress.update(body);
  return picture;
}

/// Returns the exit code.
int run(SnapshotArguments arguments) {
  require_output_path(arguments.out, {".png"});
  if (arguments.scene.extension() == ".npz") {
    if (!arguments.trajectory.empty())
      throw InputError(arguments.scene.string(), 0,
                       "is a trajectory; the scene of --trajectory is a .toml file");
    arguments.trajectory = arguments.scene;
    arguments.scene = scene_of_trajectory(arguments.trajectory);
  }
  require(arguments.frame.empty() || !arguments.trajectory.empty(),
          "--frame is that of a trajectory: name one, or add --trajectory");
  const Scene scene = read_scene(arguments.scene, surface_maker(user_cache_folder()));
  const std::vector<Pose<double>> X_WB = arguments.trajectory.empty()
                                             ? scene.initial.X_WB
                                             : read_frame(arguments.trajectory, arguments.frame, scene.model);
  (void)camera_of(arguments.picture, scene.model, X_WB);  // what is wrong with its options, before any work
  Image image;
  try {
    Canvas canvas(arguments.picture.width, arguments.picture.height);
    std::vector<Points> visuals_W;
    Picture picture = picture_of(scene.model, X_WB, arguments, visuals_W);
    picture.camera = camera_of(arguments.picture, scene.model, X_WB, {}, visuals_W);
    picture.look = {arguments.picture.quality.value_or(Quality::full), arguments.picture.outlines};
    image = canvas.draw({&picture, 1});
  } catch (const InputError&) {  // a visual mesh
    throw;
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
  command
      ->add_option("scene", arguments->scene, "scene file (.toml), or trajectory (.npz) that names its scene")
      ->required()
      ->type_name("SCENE");
  command
      ->add_option("--trajectory", arguments->trajectory,
                   "what `abut run SCENE --out` wrote, on this scene; default: the initial state")
      ->type_name("FILE.npz");
  command
      ->add_option("--frame", arguments->frame,
                   "which state of a trajectory, from 0, or -1 and less from the end; default: last")
      ->type_name("N");
  add_picture_options(*command, arguments->picture);
  command
      ->add_option(
          "--surface", arguments->surface,
          "what bodies are drawn as: visual (their visual meshes, else where their signed distance is zero, "
          "or "
          "their collision meshes if these have sharp edges), mesh (their collision meshes), or sdf (where "
          "their signed distance is zero)")
      ->check(CLI::IsMember(k_surfaces))
      ->type_name("KIND")
      ->capture_default_str();
  command->add_option("--out", arguments->out, "picture to write")->required()->type_name("FILE.png");
  command->add_flag("--quiet", arguments->quiet, "no progress bar");
  command->footer(
      "Draws what 'abut-view --headless' draws, without contacts and panels; without a display, by EGL and "
      "OpenGL 3.3.\n"
      "\n"
      "Examples:\n"
      "  abut snapshot assets/scenes/spot_on_pole.toml --out spot.png\n"
      "  abut snapshot out/drop.npz --frame 40 --out drop.png");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace abut
