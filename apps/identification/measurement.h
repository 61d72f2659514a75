/// What was seen, or is wanted, of a motion at a time; and what a simulated motion is off by.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <Eigen/Core>

#include "collision/sdf/shape_sdf.h"
#include "engine/model.h"
#include "engine/pose.h"
#include "engine/state.h"
#include "engine/types.h"

namespace abut {

/// Where the asset's frame A of a body is. Residual:
///   [(p_WA - measured)/position_noise; Log(R_WA R_measured^T)/rotation_noise],
/// without the components of the position that were not measured, such as those across a planar track, and
/// with the latter only where a rotation was measured.
struct MeasuredPose {
  int body = -1;
  Vec3<double> p_WA = Vec3<double>::Zero();       ///< [m]; 0 where it was not measured
  std::optional<Quat<double>> q_WA;               ///< of unit length; none where only the position is known
  double position_noise = 1, rotation_noise = 1;  ///< standard deviations of each component [m], [rad]
  std::array<bool, 3> is_measured{true, true, true};  ///< of the components of the position

  /// The components of the position that were measured, in the order of their residuals.
  [[nodiscard]] std::vector<int> components() const {
    std::vector<int> found;
    for (int i = 0; i < 3; ++i) {
      if (is_measured[static_cast<std::size_t>(i)]) found.push_back(i);
    }
    return found;
  }
};

/// The twist of a body's centre of mass. Residual: [(w - measured)/angular_noise; (v -
/// measured)/linear_noise].
struct MeasuredTwist {
  int body = -1;
  Vec6<double> V_WB = Vec6<double>::Zero();    ///< [rad/s; m/s]
  double angular_noise = 1, linear_noise = 1;  ///< infinite: that part does not count
};

/// The coordinate of a hinge (its angle, turns counted) or slider, its rate, or both, as an encoder tells them.
/// Residual: [(q - measured)/coordinate_noise; (u - measured)/rate_noise], of what was measured.
struct MeasuredJoint {
  int joint = -1;
  std::optional<double> coordinate, rate;       ///< [rad or m], [rad/s or m/s]
  double coordinate_noise = 1, rate_noise = 1;  ///< standard deviations
};

/// Points seen on the surface of a body. Residual of each: phi(X_WB^-1 p)/noise, phi being the body's signed
/// distance.
struct SurfacePoints {
  int body = -1;
  Points p_W;        ///< (3, n) [m]
  double noise = 1;  ///< standard deviation along the normal [m]
};

/// A point of one body is to lie on a point of another, their surfaces against each other. Residual:
///   [(X_WA p_A - X_WB p_B)/position_noise; (n_A + n_B)/normal_noise],   n: outward normals in W there.
struct ContactPlace {
  int body_A = -1, body_B = -1;
  Vec3<double> p_A = Vec3<double>::Zero(), p_B = Vec3<double>::Zero();  ///< in the assets' frames [m]
  double position_noise = 1, normal_noise = 1;                          ///< [m], [-]
};

/// Two bodies are not to overlap. Residual of each contact point of one by the solid of the other:
///   max(0, contact radius - distance)/noise,   whose square has a continuous derivative.
struct Clearance {
  int body_A = -1, body_B = -1;
  double noise = 1;  ///< overlap that counts as one standard deviation [m]
};

struct Measurement {
  double time = 0;  ///< [s]
  std::variant<MeasuredPose, MeasuredTwist, MeasuredJoint, SurfacePoints, ContactPlace, Clearance> what;
  std::vector<int> lines{};  ///< of its file: one, or one for each point; none where it is of no table
  bool is_goal = false;      ///< wanted, not seen
};

/// The first body that a measurement is of; -1 of a joint.
[[nodiscard]] int body_of(const Measurement& measurement);
/// "'box'", or "joint 'elbow'".
[[nodiscard]] std::string subject_text(const Model& model, const Measurement& measurement);
/// How many residuals it has.
[[nodiscard]] int residual_count(const Model& model, const Measurement& measurement);

/// The two states around a time, and how far it is from the earlier (share 0) to the later (share 1). Beyond
/// the last state: that one.
struct Moment {
  int earlier = 0, later = 0;
  double share = 0;
};
[[nodiscard]] Moment moment_of(double time, double start_time, double time_step, int step_count);

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

/// The state between two others, its poses with how they move.
struct InterpolatedState {
  State state;
  std::vector<InterpolatedPose> poses;
};

/// Velocities and angles of hinges between are on the straight line.
[[nodiscard]] InterpolatedState interpolate(const State& earlier, const State& later, double share);

/// What a residual depends on but through the motion: the geometry of a body.
struct GeometryDependence {
  int row = 0;  ///< of the measurement
  int body = -1;
  Vec3<double> p_BA = Vec3<double>::Zero();   ///< dr/d(origin of the asset's frame in B)
  std::vector<PrimitiveGradient> primitives;  ///< none: 0
};

/// Residuals in standard deviations, with first derivatives.
struct MeasurementResidual {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, 6>;
  struct OfBody {
    int body = -1;
    Rows by_pose, by_twist;  ///< no rows: 0
  };
  Eigen::VectorXd residual;
  std::vector<OfBody> bodies;
  std::vector<GeometryDependence> geometry;
};

/// At a state at the time of the measurement.
///
/// @param sdfs  of all bodies
[[nodiscard]] MeasurementResidual measurement_residual(const Model& model,
                                                       std::span<const ShapeSdf* const> sdfs,
                                                       const Measurement& measurement, const State& state);

}  // namespace abut
