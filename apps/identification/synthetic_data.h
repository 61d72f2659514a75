/// Measurements as they would have been, had the unknowns been known.
#pragma once

#include <Eigen/Core>

#include "apps/identification/motion_fit.h"
#include "engine/random.h"

namespace abut {

/// How made-up data are worse than they are said to be.
struct DataFlaws {
  double noise_factor = 1.0;  ///< all noise is so many times as large as stated, > 0
  double outliers = 0.0;      ///< share of measurements (of points on surfaces: each by itself), 0 to 1 ...
  double outlier_factor = 20.0;  ///< ... whose noise is so many times larger still
};

/// The experiment of a fit with what would have been measured at x, at the same times: poses, positions and
/// twists of the simulated bodies, and points drawn from the vertices of their meshes, on the surface. With
/// `noise`, each is off by its standard deviation, normally distributed (points along the normal). What is
/// wanted and not measured (ContactPlace, Clearance) stays. Throws std::invalid_argument if a motion cannot
/// be simulated.
[[nodiscard]] Experiment with_simulated_data(const MotionFit& fit, const Eigen::VectorXd& x, Random* noise,
                                             const DataFlaws& flaws = {});

}  // namespace abut
