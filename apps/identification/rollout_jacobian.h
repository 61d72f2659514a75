/// How what was measured of a segment changes with the unknowns: two exact ways to the same matrix.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "apps/identification/measurement.h"
#include "apps/identification/unknown_space.h"
#include "dynamics/simulator.h"

namespace abut {

/// Which way derivatives go.
///   forward     tangents of all unknowns through all steps: JVPs of every step, which share its
///               linearization; where a step knows an unknown backwards only (a shape that touches, the time
///               of an impact), 12 VJPs of it for each moving body instead
///   adjoint     every residual back through all steps (adjoint.h): a VJP of every step for each
///   differences forward differences, not exact: a rollout for each unknown, to compare with
enum class JacobianMethod { forward, adjoint, differences };
[[nodiscard]] const char* to_string(JacobianMethod method);

/// Residuals of one measurement, linear in the states around it.
struct LinearizedResidual {
  using Rows = MeasurementResidual::Rows;
  struct OfState {
    int step = 0, body = 0;  ///< state `step` of the segment
    Rows by_pose, by_twist;  ///< no rows: 0
  };
  Eigen::VectorXd residual;
  std::vector<OfState> states;
  std::vector<GeometryDependence> geometry;
};

/// A measurement of a segment from its states.
[[nodiscard]] LinearizedResidual linearize(const Simulator& simulator, const Measurement& measurement,
                                           const std::vector<State>& states);

/// What Jacobians are taken of: a rollout that ended well, at inputs of an UnknownSpace.
struct SegmentRollout {
  const UnknownSpace& unknowns;
  const Segment& segment;
  const UnknownSpace::Inputs& inputs;
  const Simulator& simulator;
  const Trajectory& trajectory;
};

/// (residuals, tangent entries), by numbers (see UnknownSpace::slope()); columns that do not concern the
/// segment are 0.
[[nodiscard]] Eigen::MatrixXd rollout_jacobian(const SegmentRollout& rollout,
                                               const std::vector<LinearizedResidual>& rows,
                                               JacobianMethod method);

/// The gradient of 1/2 sum_i w_i r_i^2 (tangent entries), by one adjoint.
///
/// @param weights  one for each residual of each of `rows`
/// @param health   of that adjoint
[[nodiscard]] Eigen::VectorXd rollout_gradient(const SegmentRollout& rollout,
                                               const std::vector<LinearizedResidual>& rows,
                                               const std::vector<Eigen::VectorXd>& weights,
                                               GradientHealth& health);

}  // namespace abut
