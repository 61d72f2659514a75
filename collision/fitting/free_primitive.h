/// A primitive as a joint fit moves it: eleven numbers, whatever its kind.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Geometry>

#include "collision/fitting/free_superquadric.h"
#include "engine/check.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// [displacement along its axes; rotation vector about them; change of each of its parameters], lengths by
/// their logarithms; or a derivative by that. Of a superquadric it is a SuperquadricTangent.
using PrimitiveTangent = SuperquadricTangent;

/// What a fit does with a parameter.
enum class FreeParameter { fixed, length, exponent };

/// Of kinds that a fit does not move, none is free.
[[nodiscard]] inline std::array<FreeParameter, 5> free_parameters(PrimitiveKind kind) {
  constexpr auto k_fixed = FreeParameter::fixed, k_length = FreeParameter::length,
                 k_exponent = FreeParameter::exponent;
  switch (kind) {
    case PrimitiveKind::superquadric:
      return {k_length, k_length, k_length, k_exponent, k_exponent};
    case PrimitiveKind::sphere:
      return {k_length, k_fixed, k_fixed, k_fixed, k_fixed};
    case PrimitiveKind::capsule:
      return {k_length, k_length, k_fixed, k_fixed, k_fixed};
    case PrimitiveKind::rounded_box:
      return {k_length, k_length, k_length, k_length, k_fixed};
    case PrimitiveKind::cone:
      return {k_length, k_length, k_length, k_fixed, k_fixed};
    default:
      return {k_fixed, k_fixed, k_fixed, k_fixed, k_fixed};
  }
}

[[nodiscard]] inline bool is_free(const Primitive& primitive) {
  return free_parameters(primitive.kind)[0] != FreeParameter::fixed;
}

/// Throws std::invalid_argument unless all primitives of a shape are free, or convex polyhedra, which a fit
/// leaves where they are.
inline void require_refinable(const Shape& shape) {
  for (const Primitive& primitive : shape.primitives) {
    require(
        is_free(primitive) || primitive.kind == PrimitiveKind::convex_polyhedron,
        "only superquadrics, spheres, capsules, rounded boxes, cones and convex polyhedra can be refined");
  }
}

[[nodiscard]] inline bool is_added(const Primitive& primitive) {
  return primitive.operation == PrimitiveOperation::add;
}

/// Where parameters have to stay.
struct FreePrimitiveBounds {
  double least_length, most_length;  ///< semi-axes, radii, half lengths [m]
  double least_exponent, most_exponent;
};

/// Moves a primitive along a tangent, to a solid within the bounds.
[[nodiscard]] inline Primitive moved(Primitive primitive, const PrimitiveTangent& by,
                                     const FreePrimitiveBounds& bounds) {
  const Mat3<double> R = primitive.X_BP.rotation();
  primitive.X_BP.p += R * by.segment<3>(0);
  if (const double angle = by.segment<3>(3).norm(); angle > 0.0) {
    const Eigen::AngleAxisd turn(angle, by.segment<3>(3) / angle);
    primitive.X_BP.q = Quat<double>(Mat3<double>(R * turn.toRotationMatrix())).normalized();
  }
  std::array<double, 5>& parameters = primitive.parameters;
  const std::array<FreeParameter, 5> free = free_parameters(primitive.kind);
  for (std::size_t k = 0; k < 5; ++k) {
    const double change = by[6 + static_cast<int>(k)];
    if (free[k] == FreeParameter::length)
      parameters[k] = std::clamp(parameters[k] * std::exp(change), bounds.least_length, bounds.most_length);
    if (free[k] == FreeParameter::exponent)
      parameters[k] = std::clamp(parameters[k] + change, bounds.least_exponent, bounds.most_exponent);
  }
  if (primitive.kind == PrimitiveKind::rounded_box) {
    constexpr double k_most_rounded =
        0.95;  // edge radius by the smallest half extent, 1 of which is too much
    parameters[3] =
        std::min(parameters[3], k_most_rounded * std::min({parameters[0], parameters[1], parameters[2]}));
  }
  return primitive;
}

/// Derivative of a distance by that tangent, of that by its parameters and by a left perturbation of its
/// pose.
///
/// @param by_parameters  (5)
/// @param by_pose        [rotation; translation] of X_BP
[[nodiscard]] inline PrimitiveTangent tangent_of(const Primitive& primitive, const Mat3<double>& R,
                                                 const Eigen::Matrix<double, 5, 1>& by_parameters,
                                                 const Vec6<double>& by_pose) {
  PrimitiveTangent slope;
  slope.segment<3>(0) = R.transpose() * by_pose.tail<3>();
  slope.segment<3>(3) = R.transpose() * by_pose.head<3>();
  const std::array<FreeParameter, 5> free = free_parameters(primitive.kind);
  for (std::size_t k = 0; k < 5; ++k) {
    const auto i = static_cast<int>(k);
    slope[6 + i] = 0.0;
    if (free[k] == FreeParameter::length) slope[6 + i] = primitive.parameters[k] * by_parameters[i];
    if (free[k] == FreeParameter::exponent) slope[6 + i] = by_parameters[i];
  }
  return slope;
}

/// Where the centre of a primitive may go in one step, fitted to distances truncated at T [m].
[[nodiscard]] inline double reach_of(const Primitive& primitive, double T) {
  double longest = 0.0;
  const std::array<FreeParameter, 5> free = free_parameters(primitive.kind);
  for (std::size_t k = 0; k < 5; ++k) {
    if (free[k] == FreeParameter::length) longest = std::max(longest, primitive.parameters[k]);
  }
  return std::max(2.0 * T, 0.3 * longest);
}

}  // namespace abut
