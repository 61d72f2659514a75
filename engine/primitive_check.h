/// What a primitive is called, and which parameters it may have.
#pragma once

#include <string>
#include <string_view>

#include "engine/model.h"

namespace abut {

inline constexpr double k_min_exponent = 0.02;  ///< of a superquadric: sharper has no usable curvature
inline constexpr double k_max_exponent = 1.9;   ///< beyond 2 a superquadric is no longer convex

inline constexpr double k_least_length = 1e-9, k_largest_length = 1e9;  ///< of axes, radii, smoothings [m]

/// As files name it.
[[nodiscard]] std::string_view kind_name(PrimitiveKind kind);

/// Throws std::invalid_argument, starting with `name`, unless every parameter of the kind is finite and in
/// its range, the orientation is a unit quaternion and the position finite.
void require_valid(const Primitive& primitive, const std::string& name);

}  // namespace abut
