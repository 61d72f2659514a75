/// Weights of vertices by how nearly they are the closest feature of their body.
///
/// A vertex is the closest feature where no edge of its mesh leads down into the other body. With the normal
/// n of that body's SDF at the vertex, and unit vectors e_j along the edges of the mesh at it,
///   C(w) = prod_j S((w + n.e_j)/(w/2)),   S = smoothstep5:
/// 1 while no edge leads down by more than w/2, exactly 0 from w on. The normal cones of the vertices of a
/// convex polyhedron tile the sphere, so one of them always has C = 1. A saddle or a concave fold has none,
/// as it is no body's closest feature. Sharp corners have C = 1 always: where corner meets corner, the normal of
/// an SDF is that of neither face. The weight of a vertex is
///   w = 1 - (1 - C(w_r)) (1 - P' C(w_p)) (1 - D(d)),   P' = f + (1 - f) P,   D = S((-d - 4 tau_p)/(8 tau_p)):
/// exact contact, patch, and the push-out of what lies so deep that no normal there is the right one.
/// With w_c = ContactConfig::cone_smoothing, w_r = w_c/10 and w_p = 2 w_c; f = 1e-3 is a floor for pairs of curved
/// bodies whose contact lies between vertices, and 0 of vertices within flat faces of their meshes.
///
/// P says how deep a pair is, 0 where it hardly overlaps and 1 where a patch of vertices is the quadrature of
/// the overlap. It belongs to the pair: a P of each contact would take their share from the shallow contacts
/// of a tilted face. With the depths t_i = max(-d_i, 0)/tau_p of all vertices of both bodies and their areas
/// b_i, relative to the smallest contact area of the pair, times C(w_p) and what flush faces leave of them,
///   q = sum b t^4/(sum b t^3 + 1e-3),   P = S((q - 1/4)/(5/4)).
#pragma once

#include "collision/manifold/convex_edges.h"
#include "engine/smooth.h"
#include "engine/types.h"

namespace abut {

inline constexpr double k_strict_cone = 0.1;   ///< w_r by w_c
inline constexpr double k_patch_cone = 2.0;    ///< w_p by w_c
inline constexpr double k_patch_floor = 1e-3;  ///< f
/// Below it, sums b t^3 are small: those of a single vertex of the smallest area, 0.1 tau_p deep.
inline constexpr double k_patch_rest = 1e-3;
inline constexpr double k_patch_begin = 0.25;  ///< q up to which P is 0
inline constexpr double k_patch_band = 1.25;   ///< from there to where P is 1

/// The factor of C(w) of an edge that rises by n.e_j.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S cone_factor(const S& rise, const S& inverse_width) {
  return smoothstep5<S>(S(2) + S(2) * rise * inverse_width);
}
/// d cone_factor/d rise.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S cone_factor_slope(const S& rise, const S& inverse_width) {
  return S(2) * inverse_width * smoothstep5_dx<S>(S(2) + S(2) * rise * inverse_width);
}

/// C(w) and, of each factor added, its derivative with respect to n.
template <typename S>
struct NormalCone {
  S value = S(1);
  Vec3<S> by_normal{S(0), S(0), S(0)};

  ABUT_KERNEL_PART void add(const Vec3<S>& edge, const S& rise, const S& inverse_width) {
    const S factor = cone_factor<S>(rise, inverse_width),
            slope = value * cone_factor_slope<S>(rise, inverse_width);
    for (int i = 0; i < 3; ++i) by_normal[i] = factor * by_normal[i] + slope * edge[i];
    value = value * factor;
  }
  ABUT_KERNEL_PART void scale(const S& factor) {
    value = factor * value;
    for (int i = 0; i < 3; ++i) by_normal[i] = factor * by_normal[i];
  }
};

inline constexpr double k_push_out_begin = -4.0;  ///< d by tau_p below which D > 0

/// D and its derivative with respect to d.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S push_out(const S& distance, const S& inverse_tau) {
  return smoothstep5<S>(S(-0.125) * distance * inverse_tau - S(0.5));
}
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S push_out_slope(const S& distance, const S& inverse_tau) {
  return S(-0.125) * inverse_tau * smoothstep5_dx<S>(S(-0.125) * distance * inverse_tau - S(0.5));
}

/// w and its derivatives with respect to what it is made of.
template <typename S>
struct VertexWeight {
  S value, by_strict, by_wide, by_patch, by_push_out, by_floor;

  /// @param strict  C(w_r)
  /// @param wide    C(w_p)
  /// @param patch   P
  /// @param floor   f
  ABUT_KERNEL_PART VertexWeight(const S& strict, const S& wide, const S& patch, const S& push_out,
                                const S& floor) {
    const S floored = floor + (S(1) - floor) * patch, not_strict = S(1) - strict,
            not_patch = S(1) - floored * wide, not_deep = S(1) - push_out;
    value = S(1) - not_strict * not_patch * not_deep;
    by_strict = not_patch * not_deep;
    by_wide = not_strict * not_deep * floored;
    by_patch = not_strict * not_deep * (S(1) - floor) * wide;
    by_push_out = not_strict * not_patch;
    by_floor = not_strict * not_deep * (S(1) - patch) * wide;
  }
};

/// The sums of a pair whose quotient is q.
template <typename S>
struct PatchSums {
  S fourths = S(0), cubes = S(0);

  /// @param area   b, times C(w_p)
  /// @param depth  t >= 0
  ABUT_KERNEL_PART void add(const S& area, const S& depth) {
    const S cube = area * depth * depth * depth;
    cubes = cubes + cube;
    fourths = fourths + cube * depth;
  }
};

/// P of a pair, and its derivatives with respect to each vertex.
template <typename S>
struct PatchShare {
  S value, q, by_q_over_cubes;

  explicit PatchShare(const PatchSums<S>& sums) {
    const S cubes = sums.cubes + S(k_patch_rest), x = S(1.0 / k_patch_band);
    q = sums.fourths / cubes;
    value = smoothstep5<S>((q - S(k_patch_begin)) * x);
    by_q_over_cubes = x * smoothstep5_dx<S>((q - S(k_patch_begin)) * x) / cubes;
  }
  [[nodiscard]] bool changes() const { return by_q_over_cubes != S(0); }

  template <typename P>
  [[nodiscard]] ABUT_KERNEL_PART P by_area(const P& depth) const {
    return P(by_q_over_cubes) * depth * depth * depth * (depth - P(q));
  }
  /// @param area  b, times C(w_p)
  template <typename P>
  [[nodiscard]] ABUT_KERNEL_PART P by_depth(const P& area, const P& depth) const {
    return P(by_q_over_cubes) * area * depth * depth * (P(4) * depth - P(3) * P(q));
  }
};

}  // namespace abut
