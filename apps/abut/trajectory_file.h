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
///
/// A table has one row per time and body: time, body, position_x, ..., energy, contacts.
#pragma once

#include <cstdint>
#include <filesystem>
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

/// Collects the rows of a trajectory. The model must outlive it.
class TrajectoryFile {
 public:
  explicit TrajectoryFile(const Model& model) : model_(&model) {}

  void add(const State& state, double energy, int contacts);

  /// Writes the file, whole or not at all, and the folder it is to lie in if there is none. Throws
  /// InputError.
  void write(const std::filesystem::path& path) const;

 private:
  void write_npz(const std::filesystem::path& path) const;
  void write_csv(const std::filesystem::path& path) const;

  const Model* model_;
  std::vector<double> time_, position_, orientation_, linear_velocity_, angular_velocity_, energy_;
  std::vector<std::int64_t> contacts_;
};

}  // namespace abut
