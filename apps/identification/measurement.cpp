#include "apps/identification/measurement.h"

#include "engine/lie.h"

namespace abut {

InterpolatedPose interpolate(const Pose<double>& earlier, const Pose<double>& later, double share) {
  InterpolatedPose between;
  const Vec6<double> way = difference(later, earlier);
  between.X_WB = retract(earlier, Vec6<double>(share * way)).normalized();
  const Vec3<double> phi = way.head<3>(), part = share * phi;
  const Mat3<double> by_later = share * left_jacobian_so3(part) * left_jacobian_inverse_so3(phi);
  between.by_later.setZero();
  between.by_later.topLeftCorner<3, 3>() = by_later;
  between.by_later.bottomRightCorner<3, 3>() = share * Mat3<double>::Identity();
  between.by_earlier.setZero();
  between.by_earlier.topLeftCorner<3, 3>() = exp_so3(part) - by_later * exp_so3(phi);
  between.by_earlier.bottomRightCorner<3, 3>() = (1.0 - share) * Mat3<double>::Identity();
  return between;
}

MeasurementResidual measurement_residual(const Body& body, const Measurement& measurement,
                                         const Pose<double>& X_WB) {
  MeasurementResidual out;
  const Vec3<double> arm = X_WB.q * body.p_BA;
  out.residual.head<3>() = (X_WB.p + arm - measurement.p_WA) / measurement.position_noise;
  out.by_pose.topLeftCorner<3, 3>() = -skew(arm) / measurement.position_noise;
  out.by_pose.topRightCorner<3, 3>() = Mat3<double>::Identity() / measurement.position_noise;
  if (!measurement.q_WA) return out;
  const Vec3<double> turn = log_quaternion(Quat<double>(X_WB.q * measurement.q_WA->conjugate()));
  out.residual.tail<3>() = turn / measurement.rotation_noise;
  out.by_pose.bottomLeftCorner<3, 3>() = left_jacobian_inverse_so3(turn) / measurement.rotation_noise;
  return out;
}

}  // namespace abut
