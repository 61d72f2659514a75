#include "apps/viewer/file_listing.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace abut::viewer {
namespace {

namespace fs = std::filesystem;

std::string home_folder() {
  const char* const home = std::getenv("HOME");
  return home != nullptr ? home : "";
}

}  // namespace

fs::path path_of(const std::string& text) {
  return text.starts_with("~/") && !home_folder().empty() ? home_folder() + text.substr(1) : text;
}

std::vector<std::string> completions_of(const std::string& text, std::size_t most) {
  const std::size_t slash = text.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : text.substr(0, slash + 1),
                    begin = text.substr(folder.size());
  std::vector<std::pair<bool, std::string>> found;  // files after folders
  std::error_code error;
  fs::directory_iterator entry(folder.empty() ? fs::path(".") : path_of(folder), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin) || (name.starts_with('.') && begin.empty())) continue;
    std::error_code ignored;
    const bool is_folder = entry->is_directory(ignored);
    const fs::path extension = entry->path().extension();
    if (!is_folder && extension != ".toml" && extension != ".npz" && !is_measurements(name)) continue;
    found.emplace_back(!is_folder, folder + name + (is_folder ? "/" : ""));
  }
  std::sort(found.begin(), found.end());
  if (found.size() > most) found.resize(most);
  std::vector<std::string> paths;
  for (auto& path : found) paths.push_back(std::move(path.second));
  return paths;
}

std::string completed(const std::string& text) {
  const std::vector<std::string> all = completions_of(text);
  if (all.empty()) return text;
  std::size_t common = all.front().size();
  for (const std::string& path : all) {
    const auto end = std::mismatch(path.begin(), path.end(), all.front().begin(), all.front().end()).first;
    common = std::min(common, static_cast<std::size_t>(end - path.begin()));
  }
  return all.front().substr(0, common);
}

fs::path bundled_scenes_folder(const fs::path& program) {
  for (fs::path folder = program.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    for (const char* scenes : {"share/abut/assets/scenes", "assets/scenes"}) {
      std::error_code ignored;
      if (fs::is_directory(folder / scenes, ignored)) return folder / scenes;
    }
  }
  return {};
}

fs::path bundled_scenes_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : bundled_scenes_folder(program);
}

std::vector<fs::path> scenes_in(const fs::path& folder) {
  std::vector<fs::path> scenes;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".toml") scenes.push_back(entry->path());
  }
  std::sort(scenes.begin(), scenes.end());
  return scenes;
}

std::string description_of(const fs::path& scene) {
  std::ifstream file(scene);
  std::string line;
  std::getline(file, line);
  return line.starts_with("# ") ? line.substr(2) : "";
}

}  // namespace abut::viewer
