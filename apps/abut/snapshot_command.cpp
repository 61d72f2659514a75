#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/commands.h"
#include "apps/abut/image.h"
#include "apps/abut/options.h"
#include "apps/abut/ray_tracer.h"
#include "apps/abut/trajectory_file.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"

namespace abut {
namespace {

struct SnapshotArguments {
  std::filesystem::path scene, trajectory, out;
  std::string frame = "last";
  std::vector<double> from, to;
  int width = PictureOptions().width, height = PictureOptions().height;
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

std::optional<Vec3<double>> point(const std::vector<double>& numbers) {
  if (numbers.empty()) return std::nullopt;
  const Vec3<double> p(numbers[0], numbers[1], numbers[2]);
  if (!p.allFinite()) throw std::invalid_argument("a camera position must be finite");
  return p;
}

void run(const SnapshotArguments& arguments) {
  require_output_path(arguments.out, {".png"});
  const Scene scene = read_scene(arguments.scene);
  const std::vector<Pose<double>> X_WB = arguments.trajectory.empty()
                                             ? scene.initial.X_WB
                                             : read_frame(arguments.trajectory, arguments.frame, scene.model);
  PictureOptions options;
  options.width = arguments.width;
  options.height = arguments.height;
  options.from = point(arguments.from);
  options.to = point(arguments.to);
  if (options.from && options.to && *options.from == *options.to) {
    throw std::invalid_argument("--camera-from and --camera-to are the same point");
  }
  write_png(arguments.out, draw_picture(scene.model, X_WB, options));
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
  command->add_option("--width", arguments->width, "[pixels]")
      ->check(whole_number(1, 16384))
      ->capture_default_str();
  command->add_option("--height", arguments->height, "[pixels]")
      ->check(whole_number(1, 16384))
      ->capture_default_str();
  command->add_option("--camera-from", arguments->from, "where the camera is [m]; default: all is in view")
      ->expected(3)
      ->delimiter(',')
      ->type_name("X,Y,Z");
  command->add_option("--camera-to", arguments->to, "where it looks [m]; default: the middle")
      ->expected(3)
      ->delimiter(',')
      ->type_name("X,Y,Z");
  command->add_option("--out", arguments->out, "picture to write")->required()->type_name("FILE.png");
  command->callback([arguments, &exit_code] {
    run(*arguments);
    exit_code = 0;
  });
}

}  // namespace abut
