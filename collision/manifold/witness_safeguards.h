/// What keeps a witness point of an edge sensible where the mesh and the signed distance function of its body
/// disagree.
///
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation",
///       supplement II-B and II-C.
#pragma once

#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "engine/smooth.h"
#include "engine/types.h"

namespace abut {

/// Whether a point that should lie on or in its own body does: a factor for the activity of its contact,
///   S(1/2 - (phi - margin)/(8 tau)),  S = smoothstep5:  1 up to phi = margin - 4 tau, 0 from margin + 4 tau
///   on.
/// An edge between averaged end points may leave the body it belongs to. With a margin of 4 tau points on the
/// surface keep their full weight.
///
/// @param phi     the own body's signed distance at the point [m]
/// @param tau     > 0 [m]
template <typename S>
[[nodiscard]] S inside_own_body(const S& phi, const same_t<S>& tau, const same_t<S>& margin) {
  return smoothstep5(S(S(0.5) - (phi - margin) / (S(8) * tau)));
}

/// d inside_own_body / d phi [1/m].
template <typename S>
[[nodiscard]] S inside_own_body_dphi(const S& phi, const same_t<S>& tau, const same_t<S>& margin) {
  return -smoothstep5_dx(S(S(0.5) - (phi - margin) / (S(8) * tau))) / (S(8) * tau);
}

/// The published form, sigmoid(-phi/tau): 1/2 on the surface.
template <typename S>
[[nodiscard]] S paper_inside_own_body(const S& phi, const same_t<S>& tau) {
  return sigmoid(S(-phi / tau));
}

/// Moves a point onto the surface phi = 0 of its own body by a fixed number of sphere tracing steps,
/// x <- x - phi(x) n(x). One step is exact where phi is metric and the surface flat; five do for
/// superquadrics from nearby. The number of steps does not depend on the point, so the result has the
/// derivatives of sdf.
///
/// @param sdf  Vec3<S> -> SdfNormal<S>
template <typename S, typename Sdf>
[[nodiscard]] Vec3<S> projected_to_surface(const Sdf& sdf, const Vec3<S>& point, int steps = 5) {
  Vec3<S> x = point;
  for (int step = 0; step < steps; ++step) {
    const SdfNormal<S> sample = sdf(x);
    for (int i = 0; i < 3; ++i) x[i] = x[i] - sample.distance * sample.normal[i];
  }
  return x;
}

}  // namespace abut
