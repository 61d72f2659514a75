/// What `abut-view` is asked for on its command line.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/abut/picture_options.h"
#include "apps/viewer/viewer.h"

namespace abut::viewer {

struct ViewerOptions {
  std::filesystem::path scene, trajectory;
  std::filesystem::path ghosts;  ///< another motion of the scene, shown beside it; may be empty
  std::string motion, values;    ///< of an experiment; may be empty
  PictureOptions picture;
  double text_scale = 0;  ///< 0: as the desktop asks for
  bool headless = false, paused = false, loop = false;
  double speed = 1.0;                  ///< of real time
  std::optional<std::int64_t> frames;  ///< that are drawn before the program ends
  int steps = 0;                       ///< simulated before the first picture
  std::filesystem::path screenshot;    ///< of the last picture, may be empty
  std::filesystem::path video;         ///< of all pictures, may be empty
  std::filesystem::path state;         ///< what is remembered between runs; empty: see state_file_of()
  std::vector<std::string> show, hide, open_panels;
  std::string indicator, forces_of, select, loss;
  double glyph_size = 1.0;
  int pin = 0;  ///< contacts of the largest forces
  int gradient_steps = 100;
  std::optional<double> slice_azimuth;
  bool check_gradient = false;
};

void add_options(CLI::App& app, ViewerOptions& options);

/// Finds out which of the two files is what: a lone trajectory names its scene. Throws InputError.
[[nodiscard]] SimulationOptions simulation_options(const ViewerOptions& options);

/// Where the viewer remembers its layout; empty if this run neither reads nor writes it: without a display,
/// or with a given number of pictures, that takes --state.
[[nodiscard]] std::filesystem::path state_file_of(const ViewerOptions& options);
/// Of --ghosts, or measurements given in place of a trajectory; may be empty.
[[nodiscard]] std::filesystem::path ghosts_file(const ViewerOptions& options);

/// Applies what concerns the picture. Throws std::invalid_argument naming what it does not know.
void apply(const ViewerOptions& options, Viewer& viewer);

}  // namespace abut::viewer
