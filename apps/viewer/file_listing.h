/// Files that the viewer can open: completions of a path, and the scenes that come with the program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace abut::viewer {

/// Whether a file is a table of measurements (.csv), which is shown in the scene that is open; any other
/// takes the place of that.
[[nodiscard]] inline bool is_measurements(const std::filesystem::path& file) {
  return file.extension() == ".csv";
}

/// Paths that begin like `text`, as a user would type them: scenes (.toml), trajectories (.npz),
/// measurements (.csv), and folders, which end in '/' and come first; each in the order of its name. Relative
/// ones are those of the current folder, "~/" is the home folder. Hidden files take a dot to be listed; of
/// long lists, the first `most`.
[[nodiscard]] std::vector<std::string> completions_of(const std::string& text, std::size_t most = 500);

/// The longest beginning of all completions, at least `text` itself.
[[nodiscard]] std::string completed(const std::string& text);

/// The path that is meant by a text with "~/".
[[nodiscard]] std::filesystem::path path_of(const std::string& text);

/// The folder of scenes of the installation, or of the source tree, that a program belongs to; empty if there
/// is none.
[[nodiscard]] std::filesystem::path bundled_scenes_folder(const std::filesystem::path& program);
/// Of this program.
[[nodiscard]] std::filesystem::path bundled_scenes_folder();

/// Its scenes in the order of their names.
[[nodiscard]] std::vector<std::filesystem::path> scenes_in(const std::filesystem::path& folder);

/// What a scene's file says of itself: the comment on its first line; empty if there is none.
[[nodiscard]] std::string description_of(const std::filesystem::path& scene);

}  // namespace abut::viewer
