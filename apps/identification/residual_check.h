/// Whether residuals look like noise: how large they are, how they follow each other, which stick out.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "apps/identification/experiment_io.h"
#include "apps/identification/motion_fit.h"

namespace abut {

/// A measurement far from what is simulated.
struct OutlyingMeasurement {
  std::string place;      ///< "motion_00.csv:17", or the motion's name where it is of no table
  std::string what;       ///< "position.x of 'box' at 0.32 s"
  double deviations = 0;  ///< its residual, in standard deviations of the noise stated
};

struct ResidualCheck {
  /// Size of a typical residual in standard deviations of the noise stated: 1 where the noise is as stated,
  /// hardly moved by outliers. The root of the median over measurements of |r|^2 by the median of chi square.
  double typical_size = std::numeric_limits<double>::quiet_NaN();
  /// Correlation of a residual with the next one of the same component of the same body's pose, or of the same joint:
  /// near 0 of noise, near 1 of a motion that the scene does not have. NaN without two in a row.
  double serial_correlation = std::numeric_limits<double>::quiet_NaN();
  int serial_pairs = 0;  ///< of which that is
  /// The farthest first, at most five: beyond six typical sizes (at least six standard deviations).
  std::vector<OutlyingMeasurement> outliers;
  int outlier_count = 0, measurement_count = 0;  ///< of measurements: poses, joints and points each
};

/// Of the residuals at a point; `fit` is of the file's experiment, its motions whole.
[[nodiscard]] ResidualCheck check_residuals(const ExperimentFile& file, const MotionFit& fit,
                                            const Eigen::VectorXd& residuals);

}  // namespace abut
