/// Programs as a user meets them: arguments in, exit code and text out.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "engine/atomic_file.h"
#include "tests/support/temporary_folder.h"

namespace abut::test {

using Json = nlohmann::ordered_json;

struct ProgramResult {
  int exit_code = -1;  ///< -1 if it did not exit by itself
  std::string out, err;
};

/// Runs a program and waits for it. Its stdin is empty and no stream is a terminal.
///
/// @param environment  variables that are set for it, or removed where the value is empty
inline ProgramResult run_executable(const std::string& executable, const std::vector<std::string>& arguments,
                                    const std::map<std::string, std::string>& environment = {}) {
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "out", err = folder.path() / "err";
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), executable);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto redirect = [](const char* path, int flags, int to) { ::dup2(::open(path, flags, 0600), to); };
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    redirect(out.c_str(), O_WRONLY | O_CREAT, STDOUT_FILENO);
    redirect(err.c_str(), O_WRONLY | O_CREAT, STDERR_FILENO);
    for (const auto& [name, value] : environment)
      value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

#ifdef ABUT_EXECUTABLE
/// The same of `abut`.
inline ProgramResult run_program(const std::vector<std::string>& arguments) {
  return run_executable(ABUT_EXECUTABLE, arguments);
}
#endif

/// The whole of a text as one JSON value; discarded if it is not that.
inline Json parse_json(const std::string& text) { return Json::parse(text, nullptr, false); }

inline std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

inline int line_count(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

/// A ball and a tilted box in touch with a floor, a tenth of a millimetre deep. The origin of the ball's frame
/// is not its centre.
inline const std::string k_scene = R"(name = "ball and box"
[simulation]
time_step = 0.002
steps = 40
[[body]]
name = "floor"
[[body.primitive]]
kind = "half_space"
[[body]]
name = "box, tilted"
density = 500.0
position = [0.0, 0.0, 0.1062]
rotation_vector = [0.02, 0.03, 0.4]
linear_velocity = [0.5, 0.1, -0.2]
[[body.primitive]]
kind = "rounded_box"
half_extents = [0.15, 0.12, 0.1]
edge_radius = 0.01
[[body]]
name = "ball"
density = 700.0
position = [0.5, 0.0, 0.0599]
angular_velocity = [3.0, 0.0, 0.0]
[[body.primitive]]
kind = "sphere"
radius = 0.06
position = [0.1, 0.0, 0.0]
)";

/// The scene with a line more in its [simulation] table.
inline std::string scene_with(const std::string& simulation_line) {
  const std::string table = "[simulation]\n";
  std::string text = k_scene;
  return text.insert(text.find(table) + table.size(), simulation_line + "\n");
}

}  // namespace abut::test
