/// Measured motions from files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/identification/measurement.h"

namespace abut {

/// What the experiment says of a file of measurements.
struct MeasurementSource {
  enum class Kind { poses, positions, surface_points };
  std::filesystem::path file;       ///< .csv or .npz
  std::vector<std::string> bodies;  ///< of the file that count; none: all that move in the scene
  Kind kind = Kind::poses;
  double position_noise = 1e-3;  ///< [m], > 0
  double rotation_noise = 1e-2;  ///< [rad], > 0
};

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
///   .npz  time (T), position (T, n, 3), orientation_wxyz (T, n, 4), body_names; no surface points
///
/// Throws InputError naming file, row and column for: a missing column, a number that is none or not finite,
/// a body that the scene has not, an orientation that is not of unit length, a rotation vector of more than a
/// turn (degrees?), times of a body that do not increase or lie before `start_time`, no measurement, or a
/// body whose pose is measured but once.
[[nodiscard]] std::vector<Measurement> read_measurements(const MeasurementSource& source, const Model& model,
                                                         double start_time);

}  // namespace abut
