/// Measured motions from files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/identification/experiment.h"

namespace abut {

/// What the experiment says of a file of measurements.
struct MeasurementSource {
  enum class Kind { poses, positions, surface_points, joints };
  std::filesystem::path file;       ///< .csv or .npz
  std::vector<std::string> bodies;  ///< of the file that count; none: all that move in the scene
  std::vector<std::string> joints;  ///< of the file that count; none: all of them
  Kind kind = Kind::poses;
  bool has_rates = false;        ///< of joints: their rates count, too
  double position_noise = 1e-3;  ///< [m], > 0; of sliders, too
  double rotation_noise = 1e-2;  ///< [rad], > 0; of hinges, too
  double linear_noise = 1e-2;    ///< of rates of sliders [m/s], > 0
  double angular_noise = 1e-1;   ///< of rates of hinges [rad/s], > 0
};

/// Times [s], lengths [m] and the like beyond this are mistakes, and their squares may overflow.
inline constexpr double k_largest_measured = 1e12;

/// Measurements in the order of their times. Files are those that `abut run --out` writes, or have the same
/// columns:
///
///   .csv  a header of names, then a row for a body at a time: time, body, position_x, _y, _z and, for
///         rotations, orientation_w, _x, _y, _z or rotation_vector_x, _y, _z [rad]; other columns do not
///         count
///         of surface points: a row for a point, as many as one likes at a time
///         A column position_x, _y or _z that is not there was not measured, as of a planar track (of
///         surface points all three are needed); without the column body, all rows are of the only body that
///         counts
///         of joints: a row for a time, with a column for each of them, named "elbow" or "joint.elbow.coordinate", and
///         "joint.elbow.rate"; where there is a column body, the rows of the first body count
///   .npz  time (T), position (T, n, 3), orientation_wxyz (T, n, 4), body_names; no surface points
///         of joints: time (T), joint_coordinate (T, m), joint_rate (T, m), joint_names
///
/// Throws InputError naming file, row and column for: a missing column, a number that is none or not finite,
/// a body that the scene has not, an orientation that is not of unit length, a rotation vector of more than a
/// turn (degrees?), times of a body that do not increase or lie before `start_time`, no measurement, or a
/// body or joint that is measured but once.
[[nodiscard]] std::vector<Measurement> read_measurements(const MeasurementSource& source, const Model& model,
                                                         double start_time);

/// Writes the measurements of a motion, not its goals, as the .csv file that read_measurements() reads.
void write_measurements(const std::filesystem::path& path, const Model& model, const MeasuredMotion& motion);

}  // namespace abut
