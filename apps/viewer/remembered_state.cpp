#include "apps/viewer/remembered_state.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/trajectory_file.h"
#include "engine/atomic_file.h"
#include "engine/input_error.h"
#include "engine/log.h"
#include "engine/toml_table.h"
#include "engine/toml_text.h"

namespace abut::viewer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_state_format = "abut-view state 1";

std::string toml_texts(const std::vector<std::string>& texts) {
  std::string array = "[";
  for (const std::string& text : texts) array += (array.size() > 1 ? ", " : "") + toml_string(text);
  return array + "]";
}

/// What reads the value of one key; a value that makes no sense stays at its default, and is a problem to
/// tell.
template <typename Read>
void keep_valid(std::string& problems, Read read) {
  try {
    read();
  } catch (const InputError& error) {
    problems += fmt::format("{}{}; it is ignored", problems.empty() ? "" : "\n", error.what());
  }
}

StateReading read_state_or_throw(const fs::path& file) {
  const TomlTable top = TomlTable::read(file);
  if (top.text("format", "none") != k_state_format)
    top.fail("format", fmt::format("this is no state of abut-view: \"{}\" is expected", k_state_format));
  StateReading reading;
  RememberedState& state = reading.state;
  const auto keep = [&](auto read) { keep_valid(reading.problem, read); };
  keep([&] {
    const TomlTable layout = top.table("layout");
    for (const auto& [key, size] : {std::pair("left", &state.layout.left),
                                    {"right", &state.layout.right},
                                    {"bottom", &state.layout.bottom}}) {
      constexpr NumberRange k_size{1.0, 1e5};
      keep([&, key = key, size = size] { *size = static_cast<float>(layout.number(key, *size, k_size)); });
    }
    keep([&] {
      if (layout.has("open")) state.open_panels = layout.required_texts("open");
    });
  });
  keep([&] {
    const TomlTable files = top.table("files");
    if (!files.has("recent")) return;
    for (const std::string& path : files.required_texts("recent")) state.recent_files.emplace_back(path);
  });
  keep([&] { state.hints_seen = top.table("hints").boolean("seen", false); });
  return reading;
}

}  // namespace

void add_recent_file(const fs::path& file, std::vector<fs::path>& recent) {
  const fs::path absolute = fs::absolute(file).lexically_normal();
  std::erase(recent, absolute);
  recent.insert(recent.begin(), absolute);
  if (recent.size() > k_most_recent_files) recent.resize(k_most_recent_files);
}

fs::path default_state_file() {
  const auto folder = [](const char* variable) -> fs::path {
    const char* const value = std::getenv(variable);
    return value != nullptr && *value == '/' ? value : "";  // relative ones are to be ignored, says XDG
  };
  if (const fs::path state = folder("XDG_STATE_HOME"); !state.empty()) return state / "abut/viewer.toml";
  if (const fs::path home = folder("HOME"); !home.empty()) return home / ".local/state/abut/viewer.toml";
  return {};
}

StateReading read_state(const fs::path& file) {
  std::error_code ignored;
  if (file.empty() || fs::status(file, ignored).type() == fs::file_type::not_found) return {};
  try {
    return read_state_or_throw(file);
  } catch (const std::exception& error) {
    return {{}, fmt::format("{}; it is ignored", error.what())};
  }
}

void write_state(const fs::path& file, const RememberedState& state) {
  std::vector<std::string> recent;
  for (const fs::path& path : state.recent_files) recent.push_back(path.string());
  std::string text = fmt::format(
      "# What abut-view remembers. It is written by the program; without it everything is as at first.\n"
      "format = {}\n\n[layout]  # sizes in points\nleft = {}\nright = {}\nbottom = {}\n",
      toml_string(k_state_format), toml_number(state.layout.left), toml_number(state.layout.right),
      toml_number(state.layout.bottom));
  if (state.open_panels) text += fmt::format("open = {}\n", toml_texts(*state.open_panels));
  text += fmt::format("\n[files]\nrecent = {}\n\n[hints]\nseen = {}\n", toml_texts(recent), state.hints_seen);
  make_folder_of(file);
  if (!read_state(file).problem.empty()) {
    std::error_code ignored;
    fs::rename(file, file.string() + ".old", ignored);
  }
  write_file(file, text);
}

StateFile::StateFile(fs::path file)
    : file_(std::move(file)), reading_(read_state(file_)), written_(reading_.state) {
  if (!reading_.problem.empty()) log().warn("{}", reading_.problem);
}

void StateFile::save(const RememberedState& state) {
  if (file_.empty() || state == written_) return;
  written_ = state;
  try {
    write_state(file_, state);
  } catch (const std::exception& error) {
    log().warn("the layout is not remembered: {}", error.what());
    file_.clear();
  }
}

}  // namespace abut::viewer
