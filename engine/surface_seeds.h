/// Vertices of meshes as seeds on the surfaces of round bodies: on a superquadric, torus, cone or sphere that is the body
/// or a part of a union, or else on osculating patches (osculating_patches.h).
///
/// Seeds slide to where the surface touches (collision/manifold/surface_slide.h). Where a seed starts follows
/// from its contact point and the shape of its primitive; its normal, its cell of the mesh, and its patch if it is on one
/// are data of the body, made with it as its mesh is: they stay as they are while shape parameters change.
#pragma once

#include <array>
#include <cmath>

#include "engine/model.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// Beyond 1 ridges are rounded (gauge.h), which the map leaves out; a little beyond, that is next to nothing.
inline constexpr double k_largest_seed_exponent = 1.05;

/// Whether a body of this one primitive has seeds at all vertices.
[[nodiscard]] inline bool has_seeds(PrimitiveKind kind) {
  return kind == PrimitiveKind::superquadric || kind == PrimitiveKind::torus || kind == PrimitiveKind::cone;
}

/// The surface that seeds of a primitive are on: a superquadric, torus or cone with its parameters.
template <typename S>
struct SeedSurface {
  PrimitiveKind kind;
  std::array<S, 5> parameters;
};

/// @param q  parameters of the primitive: a sphere, an extruded superquadric, whose cuts are left out, or one of the above
template <typename S>
[[nodiscard]] SeedSurface<S> seed_surface(PrimitiveKind kind, const std::array<S, 5>& q) {
  if (kind == PrimitiveKind::sphere) return {PrimitiveKind::superquadric, {q[0], q[0], q[0], S(1), S(1)}};
  return {kind == PrimitiveKind::extruded_superquadric ? PrimitiveKind::superquadric : kind, q};
}

/// Whether there are seeds on this primitive.
[[nodiscard]] bool is_seed_surface(const Primitive& primitive);

/// Where a seed lies on its surface: (x, y) = r (c_x, c_y) and z in units of the semi-axes of a superquadric, and of 1 m
/// otherwise, (r, z) being on a circle of radius `scale` about (ring_r, ring_z), or at its middle where that is 0.
template <typename S>
struct SeedPlace {
  S r, z, c_x, c_y;
  S ring_r, ring_z, scale;
};

/// Lengths of a primitive along its parallels and its meridians, by which cells are measured [m].
template <typename S>
struct SeedLengths {
  S parallel, meridian;
};

/// @param q  parameters of the primitive
template <typename S>
[[nodiscard]] SeedLengths<S> seed_lengths(PrimitiveKind kind, const std::array<S, 5>& q) {
  using std::sqrt;
  switch (kind) {
    case PrimitiveKind::superquadric: {
      const S across = sqrt(q[0] * q[1]);
      return {across, sqrt(across * q[2])};
    }
    case PrimitiveKind::torus:
      return {q[0], q[1]};
    default:
      return {q[0] + q[1], q[2]};
  }
}

namespace seed_place_detail {

/// (|x|^p + |y|^p)^(1/p).
template <typename S>
[[nodiscard]] S norm_of(const S& x, const S& y, const S& p) {
  using std::exp, std::log;
  constexpr double k_least = 1e-30;
  const S log_x = S(0.5) * log(x * x + S(k_least)), log_y = S(0.5) * log(y * y + S(k_least)),
          larger = select(log_x > log_y, log_x, log_y);
  return exp(larger + log(exp(p * (log_x - larger)) + exp(p * (log_y - larger))) / p);
}

}  // namespace seed_place_detail

/// @param q  parameters of the primitive
/// @param v  the vertex in the frame of the primitive [m]
template <typename S>
[[nodiscard]] SeedPlace<S> seed_place(PrimitiveKind kind, const std::array<S, 5>& q, const Vec3<S>& v) {
  using seed_place_detail::norm_of;
  using std::sqrt;
  constexpr double k_on_axis = 1e-9;  // no direction of a parallel
  const bool is_superquadric = kind == PrimitiveKind::superquadric;
  const S x = is_superquadric ? v[0] / q[0] : v[0], y = is_superquadric ? v[1] / q[1] : v[1],
          r = norm_of<S>(x, y, is_superquadric ? S(2) / q[4] : S(2));
  SeedPlace<S> place{S(0), v[2], S(1), S(0), S(0), S(0), S(1)};
  if (r > S(k_on_axis)) {
    place.r = r;
    place.c_x = x / r;
    place.c_y = y / r;
  }
  if (is_superquadric) {
    const S gauge = norm_of<S>(place.r, v[2] / q[2], S(2) / q[3]);
    place.r = place.r / gauge;
    place.z = v[2] / (q[2] * gauge);
  } else if (kind == PrimitiveKind::torus) {  // (R, rho)
    const S off = place.r - q[0], to_surface = q[1] / sqrt(off * off + v[2] * v[2]);
    place.r = q[0] + to_surface * off;
    place.z = to_surface * v[2];
    place.ring_r = q[0];
    place.scale = q[1];
  } else {
    place.ring_r = place.r;
    place.ring_z = place.z;
    place.scale = S(0);
  }
  return place;
}

/// The seeds of a body whose contact points are the vertices of its mesh; none if it is not round.
[[nodiscard]] SurfaceSeeds surface_seeds(const Body& body);

}  // namespace abut
