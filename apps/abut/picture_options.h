/// The options of a picture that `abut snapshot` and `abut-view` have in common: its size, its camera and its
/// look.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/picture/camera.h"
#include "apps/picture/picture.h"

namespace abut {

struct PictureOptions {
  int width = 1280, height = 720;              ///< [pixels]
  std::vector<double> camera;                  ///< position and target [m], or empty
  std::vector<double> camera_from, camera_to;  ///< the same one by one
  std::optional<Quality> quality;
  bool outlines = false;

  [[nodiscard]] double aspect() const { return static_cast<double>(width) / height; }
  [[nodiscard]] bool place_camera() const {
    return !(camera.empty() && camera_from.empty() && camera_to.empty());
  }
};

/// --width, --height, --camera-from, --camera-to, --camera, --quality and --outlines.
void add_picture_options(CLI::App& app, PictureOptions& options);

/// The camera that is asked for. Where it looks is the middle of all bodies unless given; where it is, as far
/// in the direction of `like` that all bodies, and other points (3, n) [m], are in view. Throws
/// std::invalid_argument naming the options.
[[nodiscard]] OrbitCamera camera_of(const PictureOptions& options, const Model& model,
                                    std::span<const Pose<double>> X_WB, const OrbitCamera& like = {},
                                    std::span<const Points> others_W = {});

}  // namespace abut
