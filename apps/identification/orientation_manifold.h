/// Quaternions, and what stands behind one, as Ceres moves them.
#pragma once

#include <ceres/manifold.h>

#include "engine/lie.h"

namespace abut {

/// A unit quaternion (w, x, y, z) followed by `rest` plain numbers. Tangents are a rotation [rad] from the
/// left, then changes of the numbers: q <- Exp(turn) q.
class OrientationManifold : public ceres::Manifold {
 public:
  explicit OrientationManifold(int rest = 0) : rest_(rest) {}
  [[nodiscard]] int AmbientSize() const override { return 4 + rest_; }
  [[nodiscard]] int TangentSize() const override { return 3 + rest_; }

  bool Plus(const double* x, const double* delta, double* x_plus_delta) const override {
    const Quat<double> q =
        exp_quaternion(Vec3<double>(delta[0], delta[1], delta[2])) * Quat<double>(x[0], x[1], x[2], x[3]);
    const double scale = 1.0 / q.norm();
    x_plus_delta[0] = scale * q.w();
    x_plus_delta[1] = scale * q.x();
    x_plus_delta[2] = scale * q.y();
    x_plus_delta[3] = scale * q.z();
    for (int i = 0; i < rest_; ++i) x_plus_delta[4 + i] = x[4 + i] + delta[3 + i];
    return true;
  }
  bool PlusJacobian(const double* x, double* jacobian) const override {
    RowMajorMap J(jacobian, 4 + rest_, 3 + rest_);
    J.setZero();
    J.topLeftCorner<4, 3>() = turn_jacobian(x);
    J.bottomRightCorner(rest_, rest_).setIdentity();
    return true;
  }
  bool Minus(const double* y, const double* x, double* y_minus_x) const override {
    const Vec3<double> turn = log_quaternion(Quat<double>(Quat<double>(y[0], y[1], y[2], y[3]) *
                                                          Quat<double>(x[0], x[1], x[2], x[3]).conjugate()));
    for (int i = 0; i < 3; ++i) y_minus_x[i] = turn[i];
    for (int i = 0; i < rest_; ++i) y_minus_x[3 + i] = y[4 + i] - x[4 + i];
    return true;
  }
  /// The columns of turn_jacobian() are orthogonal, of length 1/2.
  bool MinusJacobian(const double* x, double* jacobian) const override {
    RowMajorMap J(jacobian, 3 + rest_, 4 + rest_);
    J.setZero();
    J.topLeftCorner<3, 4>() = 4.0 * turn_jacobian(x).transpose();
    J.bottomRightCorner(rest_, rest_).setIdentity();
    return true;
  }

 private:
  using RowMajorMap = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  /// d(Exp(turn) q) at turn = 0: half the products of the units i, j, k with q.
  static Eigen::Matrix<double, 4, 3> turn_jacobian(const double* q) {
    Eigen::Matrix<double, 4, 3> J;
    J << -q[1], -q[2], -q[3],  //
        q[0], q[3], -q[2],     //
        -q[3], q[0], q[1],     //
        q[2], -q[1], q[0];
    return 0.5 * J;
  }

  int rest_;
};

}  // namespace abut
