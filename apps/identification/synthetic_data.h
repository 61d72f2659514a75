/// Measurements as they would have been, had the unknowns been known.
#pragma once

#include <Eigen/Core>

#include "apps/identification/motion_fit.h"
#include "engine/random.h"

namespace abut {

/// The experiment of a fit with what would have been measured at x, at the same times: poses, positions and
/// twists of the simulated bodies, and points drawn from the vertices of their meshes, on the surface. With
/// `noise`, each is off by its standard deviation, normally distributed (points along the normal). What is
/// wanted and not measured (ContactPlace, Clearance) stays. Throws std::invalid_argument if a motion cannot
/// be simulated.
[[nodiscard]] Experiment with_simulated_data(const MotionFit& fit, const Eigen::VectorXd& x, Random* noise);

}  // namespace abut
