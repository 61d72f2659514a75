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
/// | joint_coordinate | (T, m)    | of the m hinges and sliders, if there are any [rad or m]           |
/// | joint_rate       | (T, m)    | [rad/s or m/s]                                                     |
/// | motor_force      | (T, u)    | of the u motors, if there are any, on the mean of the step that    |
/// |                  |           | ended then, 0 in the first row [N m or N]                          |
/// | energy           | (T)       | kinetic and potential [J]                                          |
/// | contacts         | (T)       | integers: of the step that ended then, 0 in the first row          |
/// | body_names       | (n)       | strings                                                            |
/// | joint_names      | (m)       | strings                                                            |
/// | motor_names      | (u)       | strings                                                            |
/// | scene            | ()        | string: the scene file's absolute path                             |
///
/// A table has one row per time and body: time, body, position_x, ..., energy, contacts, and of every hinge and slider
/// joint.NAME.coordinate and joint.NAME.rate, of every motor motor.NAME.force.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/control.h"
#include "engine/joint_geometry.h"
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

/// The same for a folder that files are to be written to.
void require_output_folder(const std::filesystem::path& path);

/// Makes the folder that a file is to lie in, if there is none. Throws InputError.
void make_folder_of(const std::filesystem::path& path);

/// The strings of an array; InputError naming the file if it holds others than strings.
[[nodiscard]] const std::vector<std::string>& texts_of(const std::filesystem::path& path,
                                                       std::string_view name, const NpzArray& array);

/// A number to so many significant decimal digits.
[[nodiscard]] double rounded_to_digits(double x, int digits);

/// The time after a number of steps as files have it [s]: start + steps h, to the 15 digits that a double
/// holds of a decimal number. State::time is the sum of all steps, whose rounding errors add up.
[[nodiscard]] double time_after(double start_time, double time_step, std::size_t steps);

/// Collects the rows of a trajectory. The model must outlive it.
class TrajectoryFile {
 public:
  /// @param scene  its file
  TrajectoryFile(const Model& model, const std::filesystem::path& scene)
      : model_(&model),
        joints_(joints_with_coordinate(model)),
        motors_(motor_names(model)),
        scene_(std::filesystem::absolute(scene).lexically_normal()) {}

  /// @param time  instead of the state's, see time_after() [s]
  void add(const State& state, double time, double energy, int contacts);

  /// Writes the file, whole or not at all, and the folder it is to lie in if there is none. Throws
  /// InputError.
  void write(const std::filesystem::path& path) const;

  /// Throws InputError if the rows of so many steps are too large for a file of that name.
  void require_room(const std::filesystem::path& path, int steps) const;

 private:
  void write_npz(const std::filesystem::path& path) const;
  void write_csv(const std::filesystem::path& path) const;

  const Model* model_;
  std::vector<int> joints_;
  std::vector<std::string> motors_;
  std::filesystem::path scene_;
  std::vector<double> time_, position_, orientation_, linear_velocity_, angular_velocity_, joint_coordinate_,
      joint_rate_, motor_force_, energy_;
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
  /// Poses, velocities (0 where the archive has none), time (0 likewise) and turns of hinges (none likewise). Throws
  /// InputError as poses().
  [[nodiscard]] State state(std::size_t frame) const;
  [[nodiscard]] int contacts(std::size_t frame) const;  ///< 0 where the archive does not say

 private:
  void require_names() const;
  /// Sets the hinge angles of a state, where the archive has coordinates of joints.
  void read_turns(std::size_t frame, State& state) const;
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
