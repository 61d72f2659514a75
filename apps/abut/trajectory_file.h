/// Trajectories as files: NumPy archives (.npz) and tables (.csv).
///
/// Rows are the initial state and the state after every step. Poses are those of the asset frames A, as in
/// scene files; velocities are of the centre of mass, in the world.
///
/// | array            | shape     |                                                                    |
/// | ---------------- | --------- | ------------------------------------------------------------------ |
/// | time             | (T)       | [s]                                                                |
/// | position         | (T, n, 3) | [m]                                                                |
/// | orientation_wxyz | (T, n, 4) | unit quaternions                                                   |
/// | linear_velocity  | (T, n, 3) | [m/s]                                                              |
/// | angular_velocity | (T, n, 3) | [rad/s]                                                            |
/// | energy           | (T)       | kinetic and potential [J]                                          |
/// | contacts         | (T)       | integers: of the step that ended then, 0 in the first row          |
/// | body_names       | (n, w)    | integers: the bytes of each name in UTF-8, filled up with zeros    |
/// | scene            | (1, w)    | integers: the bytes of the scene file's absolute path              |
///
/// A table has one row per time and body: time, body, position_x, ..., energy, contacts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model.h"
#include "engine/npz.h"
#include "engine/state.h"

namespace abut {

/// Throws InputError unless the name ends in one of the extensions and a file of that name could be written;
/// writes nothing.
void require_output_path(const std::filesystem::path& path, const std::vector<std::string>& extensions);
inline void require_trajectory_path(const std::filesystem::path& path) {
  require_output_path(path, {".npz", ".csv"});
}

/// Makes the folder that a file is to lie in, if there is none. Throws InputError.
void make_folder_of(const std::filesystem::path& path);

/// Adds names as a matrix of integers: the bytes of each in UTF-8, a row each, filled up with zeros.
void add_names(NpzWriter& writer, std::string_view array, const std::vector<std::string>& names);

/// Names that add_names() wrote.
[[nodiscard]] std::vector<std::string> names_in(const NpzArray& array);

/// Collects the rows of a trajectory. The model must outlive it.
class TrajectoryFile {
 public:
  /// @param scene  its file
  TrajectoryFile(const Model& model, const std::filesystem::path& scene)
      : model_(&model), scene_(std::filesystem::absolute(scene).lexically_normal()) {}

  void add(const State& state, double energy, int contacts);

  /// Writes the file, whole or not at all, and the folder it is to lie in if there is none. Throws
  /// InputError.
  void write(const std::filesystem::path& path) const;

 private:
  void write_npz(const std::filesystem::path& path) const;
  void write_csv(const std::filesystem::path& path) const;

  const Model* model_;
  std::filesystem::path scene_;
  std::vector<double> time_, position_, orientation_, linear_velocity_, angular_velocity_, energy_;
  std::vector<std::int64_t> contacts_;
};

/// The states in an archive that TrajectoryFile wrote.
class RecordedTrajectory {
 public:
  /// Throws InputError if it cannot be read or is not of this model: of another number of bodies, or of
  /// bodies with other names, if it has names. The model must outlive it.
  RecordedTrajectory(std::filesystem::path path, const Model& model);

  [[nodiscard]] std::size_t size() const { return times_; }  ///< > 0
  /// Throws InputError naming body and frame if a pose is none.
  [[nodiscard]] std::vector<Pose<double>> poses(std::size_t frame) const;
  /// Poses, velocities (0 where the archive has none) and time (0 likewise). Throws InputError as poses().
  [[nodiscard]] State state(std::size_t frame) const;
  [[nodiscard]] int contacts(std::size_t frame) const;  ///< 0 where the archive does not say

 private:
  void require_names() const;
  /// (times, bodies, width); null if there is none and `needed` is false.
  [[nodiscard]] const NpzArray* find(const std::string& name, std::size_t width, bool needed) const;

  std::filesystem::path path_;
  const Model* model_;
  std::map<std::string, NpzArray> arrays_;
  std::size_t times_ = 0;
};

/// The scene of which an archive is a trajectory. Throws InputError if it does not say.
[[nodiscard]] std::filesystem::path scene_of_trajectory(const std::filesystem::path& path);

}  // namespace abut
