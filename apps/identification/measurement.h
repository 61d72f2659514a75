/// What was measured of a motion: poses or positions of bodies at times, with their noise; and what a
/// simulated motion is off by.
#pragma once

#include <optional>
#include <vector>

#include "engine/model.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// Where the asset's frame A of a body was at a time.
struct Measurement {
  int body = -1;
  double time = 0;                           ///< [s]
  Vec3<double> p_WA = Vec3<double>::Zero();  ///< [m]
  std::optional<Quat<double>> q_WA;          ///< of unit length; none where only the position was measured
  double position_noise = 1, rotation_noise = 1;  ///< standard deviations of each component [m], [rad]

  [[nodiscard]] int residual_count() const { return q_WA ? 6 : 3; }
};

/// A pose between two others, and how it moves with them.
struct InterpolatedPose {
  Pose<double> X_WB;
  /// Its tangent by those of the earlier and of the later pose, [rotation; translation] each.
  Mat6<double> by_earlier, by_later;
};

/// Along the straight line and the shortest turn from the earlier pose (share = 0) to the later (share = 1):
///   p = (1 - s) p_0 + s p_1,   R = Exp(s phi) R_0,   phi = Log(R_1 R_0^T).
[[nodiscard]] InterpolatedPose interpolate(const Pose<double>& earlier, const Pose<double>& later,
                                           double share);

/// How far a body at X_WB is off a measurement, in standard deviations:
///   [(p_WA - measured)/position_noise; Log(R_WA R_measured^T)/rotation_noise],
/// the latter only where a rotation was measured.
struct MeasurementResidual {
  Vec6<double> residual = Vec6<double>::Zero();  ///< the first residual_count()
  Mat6<double> by_pose = Mat6<double>::Zero();   ///< by the tangent of X_WB
};
[[nodiscard]] MeasurementResidual measurement_residual(const Body& body, const Measurement& measurement,
                                                       const Pose<double>& X_WB);

}  // namespace abut
