/// Scenes written by the program: a scene of the user's at another moment, and what files it is made of.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/scene_io.h"

namespace abut {

/// What a scene is to start from and how far it is to run.
struct SceneStart {
  State state;            ///< as many bodies as the scene has
  double time_step = 0;   ///< [s]
  int steps = 1;          ///< >= 1
  std::string comment{};  ///< put on top of the text, of any number of lines
  /// The same scene with other numbers: materials, masses, shapes, damping, constant wrenches, pushes, commands, pairs,
  /// gravity, settings of the time step. They are written in place of the file's; null: the file's stay.
  const Scene* changed = nullptr;
  SurfaceMaker make_surface{};  ///< that the scene is read with
};

/// The scene `scene`, as text for a file in `folder`, that starts at another state: its `start_time`,
/// `steps`, `time_step` and the poses and velocities that differ are replaced, relative paths (the keys
/// `asset`, `mesh`, `visual` and `file`) are made to lead from `folder` to the same files, and every other key stays,
/// whatever it is. Comments and the order of keys do not. Numbers are exact: it reads back as the same state,
/// but for a rounding error where the frame of an asset is off the centre of mass and no position gives that
/// state. A joint of bodies whose poses differ is given by its frames on them. Throws InputError if the scene
/// cannot be read, std::invalid_argument if the state has another number of bodies, or a body of `changed`
/// another shape, inertia or centre of mass, which take an asset: write_scene_at() writes one.
[[nodiscard]] std::string scene_text_at(const std::filesystem::path& scene, const SceneStart& start,
                                        const std::filesystem::path& folder);

/// Writes that text, whole or not at all. Bodies of `changed` with another shape, inertia or centre of mass
/// are written as assets first, to a folder of their own beside it: NAME_bodies/ for NAME.toml. Throws
/// InputError also where `to` is the scene itself.
void write_scene_at(const std::filesystem::path& scene, const SceneStart& start,
                    const std::filesystem::path& to);

/// Every file that a scene is made of: itself, the body.toml of its assets, the meshes of both, the files of its
/// commands; each once, in a fixed order. Throws InputError.
[[nodiscard]] std::vector<std::filesystem::path> scene_files(const std::filesystem::path& scene);

}  // namespace abut
