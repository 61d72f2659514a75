/// Measured coordinates of joints from files, and back.
#pragma once

#include <string>
#include <vector>

#include "apps/identification/measurement_io.h"

namespace abut {

/// A measurement of a joint whose numbers are still to come.
[[nodiscard]] MeasuredJoint unmeasured(const MeasurementSource& source, const Model& model, int joint);

/// Measurements of a source of the kind `joints`, in the order of their times; see read_measurements().
[[nodiscard]] std::vector<Measurement> read_joint_measurements(const MeasurementSource& source,
                                                               const Model& model, double start_time);

/// The table of what is measured of joints, which read_joint_measurements() reads. All of them are measured alike and at
/// the same times.
[[nodiscard]] std::string joint_table(const Model& model, const std::vector<Measurement>& measurements);

}  // namespace abut
