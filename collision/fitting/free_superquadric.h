/// A superquadric as a fit moves it: eleven numbers, their steps, and the primitive that they make.
#pragma once

#include <algorithm>

#include <Eigen/Geometry>

#include "engine/check.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// A superquadric in the units of whoever fits it: pose, semi-axes, exponents.
struct FreeSuperquadric {
  Mat3<double> R = Mat3<double>::Identity();  ///< its axes, as columns
  Vec3<double> center = Vec3<double>::Zero();
  Vec3<double> axes = Vec3<double>::Ones();
  double eps1 = 1.0, eps2 = 1.0;
};

inline constexpr int k_superquadric_numbers = 11;
/// [displacement along its axes; rotation vector about them; change of log axes; change of eps1, eps2], or a
/// derivative by that.
using SuperquadricTangent = Eigen::Matrix<double, k_superquadric_numbers, 1>;
using SuperquadricMatrix = Eigen::Matrix<double, k_superquadric_numbers, k_superquadric_numbers>;

/// Moves it along a tangent.
[[nodiscard]] inline FreeSuperquadric moved(const FreeSuperquadric& sq, const SuperquadricTangent& by) {
  FreeSuperquadric result = sq;
  result.center += sq.R * by.segment<3>(0);
  const double angle = by.segment<3>(3).norm();
  if (angle > 0.0) result.R = sq.R * Eigen::AngleAxisd(angle, by.segment<3>(3) / angle).toRotationMatrix();
  result.axes = sq.axes.cwiseProduct(by.segment<3>(6).array().exp().matrix());
  result.eps1 += by[9];
  result.eps2 += by[10];
  return result;
}

/// A step no longer than a linearization is good for: each kind of number is scaled down by itself.
///
/// @param reach  of the centre: the largest component of its displacement
[[nodiscard]] inline SuperquadricTangent limited(SuperquadricTangent step, double reach) {
  const auto limit = [&](int first, int count, double most) {
    const double largest = step.segment(first, count).cwiseAbs().maxCoeff();
    if (largest > most) step.segment(first, count) *= most / largest;
  };
  limit(0, 3, reach);
  limit(3, 3, 0.4);
  limit(6, 3, 0.5);
  limit(9, 2, 0.3);
  return step;
}

/// Where the centre may go in one step, of a superquadric fitted to distances truncated at T.
[[nodiscard]] inline double reach_of(const FreeSuperquadric& sq, double T) {
  return std::max(2.0 * T, 0.3 * sq.axes.maxCoeff());
}

/// The damping of Levenberg-Marquardt steps, relative to the diagonal.
struct LevenbergMarquardtDamping {
  double value = 1e-3;
  void accept() { value = std::max(0.1 * value, 1e-6); }
  void reject() { value *= 10.0; }
};

/// [m]
[[nodiscard]] inline FreeSuperquadric free_superquadric(const Primitive& primitive) {
  FreeSuperquadric sq;
  sq.R = primitive.X_BP.rotation();
  sq.center = primitive.X_BP.p;
  sq.axes = Vec3<double>(primitive.parameters[0], primitive.parameters[1], primitive.parameters[2]);
  sq.eps1 = primitive.parameters[3];
  sq.eps2 = primitive.parameters[4];
  return sq;
}

[[nodiscard]] inline Primitive primitive_of(const FreeSuperquadric& sq) {
  Primitive primitive;
  primitive.parameters = {sq.axes.x(), sq.axes.y(), sq.axes.z(), sq.eps1, sq.eps2};
  primitive.X_BP = {Quat<double>(sq.R).normalized(), sq.center};
  return primitive;
}

}  // namespace abut
