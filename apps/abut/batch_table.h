/// A table of rollouts: a scene and the numbers in it that differ from one rollout to the next. What stands
/// in the file: docs/scene_format.md, "Batches".
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dynamics/batch_rollout.h"
#include "dynamics/parameterized_scene.h"
#include "engine/scene_io.h"
#include "engine/toml_table.h"

namespace abut {

class BatchTable {
 public:
  /// Throws InputError, "file:line: ...", for whatever does not make sense in the table or the scene.
  explicit BatchTable(const std::filesystem::path& file);

  [[nodiscard]] const std::filesystem::path& scene_file() const { return scene_file_; }
  [[nodiscard]] const Scene& scene() const { return scene_.scene(); }
  [[nodiscard]] int rollouts() const { return rollouts_; }
  [[nodiscard]] int steps() const { return steps_; }
  [[nodiscard]] const std::vector<SceneParameter>& parameters() const { return scene_.parameters(); }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }  ///< (rollouts, parameters)

  /// The time step of one rollout [s].
  [[nodiscard]] double time_step(int rollout) const;
  /// The scene of one rollout.
  [[nodiscard]] Scene scene_of(int rollout) const;
  /// The same, ready to run. May be called by several threads at the same time.
  [[nodiscard]] BatchTask task_of(int rollout) const;

 private:
  [[nodiscard]] std::span<const double> values_of(int rollout) const;
  /// Adds a parameter and returns it.
  const SceneParameter& add_parameter(const TomlTable& table, int line, const std::string& name);

  std::filesystem::path scene_file_;
  ParameterizedScene scene_;
  int rollouts_ = 0, steps_ = 0;
  std::vector<double> values_;
};

}  // namespace abut
