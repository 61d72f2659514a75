/// What the viewer remembers from one run to the next, and the file that keeps it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/viewer/layout.h"

namespace abut::viewer {

inline constexpr std::size_t k_most_recent_files = 10;

struct RememberedState {
  Layout layout;                                        ///< its sizes alone
  std::optional<std::vector<std::string>> open_panels;  ///< by Panel::name(); none: those of a first start
  std::vector<std::filesystem::path> recent_files;      ///< absolute, the newest first
  bool hints_seen = false;

  friend bool operator==(const RememberedState&, const RememberedState&) = default;
};

/// Puts a file first, once; only k_most_recent_files are kept.
void add_recent_file(const std::filesystem::path& file, std::vector<std::filesystem::path>& recent);

/// $XDG_STATE_HOME/abut/viewer.toml, else that in ~/.local/state; empty where neither is known.
[[nodiscard]] std::filesystem::path default_state_file();

struct StateReading {
  RememberedState state;
  std::string problem;  ///< why a file that is there, or a value in it, is ignored, a line each; else empty
};
/// Never throws: a file that is missing, broken or of another program leaves everything at its default, and a
/// value that makes no sense that value alone.
[[nodiscard]] StateReading read_state(const std::filesystem::path& file);

/// Writes the file, whole or not at all, and the folder it is to lie in. What stands there and has
/// a problem is kept as FILE.old. Throws InputError.
void write_state(const std::filesystem::path& file, const RememberedState& state);

/// Writes what is remembered whenever it has changed.
class StateFile {
 public:
  /// @param file  may be empty: nothing is read or written
  explicit StateFile(std::filesystem::path file);
  [[nodiscard]] const StateReading& reading() const { return reading_; }
  /// Never throws: after a failure, which is logged, nothing more is written.
  void save(const RememberedState& state);

 private:
  std::filesystem::path file_;
  StateReading reading_;
  RememberedState written_;
};

}  // namespace abut::viewer
