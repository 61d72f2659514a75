/// Conditions that every pair of edges with weight meets (convex_edges.h), lanes at a time and without a
/// division: with the common normal n = +-c/s, those of cones, windows and depth are linear in s.
/// They leave a margin for rounding.
#pragma once

#include <cstdint>
#include <limits>

#include "collision/manifold/convex_edges.h"
#include "engine/pack.h"
#include "engine/whole_lanes.h"

namespace abut {
inline namespace ABUT_SIMD {

/// What rounding adds to products of unit vectors, at most.
template <typename T>
inline constexpr T k_edge_rounding = T(64) * std::numeric_limits<T>::epsilon();

/// What unit vectors are rounded to, as 16-bit numbers; and what that adds to their products, at most.
inline constexpr int k_whole_unit = 1 << 14;
inline constexpr float k_whole_rounding = 2e-4f;

/// What facing_normals() needs of an edge: vectors (x, y), (z, w) in units of 1/k_whole_unit.
inline constexpr int k_edge_cone_columns = 6;
template <int W>
struct EdgeCone {
  WholeLanes<W> direction[2];        ///< w: 1
  WholeLanes<W> face_normals[2][2];  ///< f_1 and -f_2; w: the slack
};

/// Lanes where G_A G_B > 0 is possible: whether normal cones may have a common normal. With the sign of n,
/// s (n x t_A).f_A = +-t_B.f_A and -s (n x t_B).f_B = +-t_A.f_B; s is at most 1.
///
/// @param slack  by how much s (n x t).f may be on the wrong side, with s = 1; in units of 1/k_whole_unit^2
template <int W>
[[nodiscard]] ABUT_INLINE std::uint32_t facing_normals(const EdgeCone<W>& A, const EdgeCone<W>& B,
                                                       const WholeLanes<W>& slack) {
  const auto dot = [](const WholeLanes<W>(&a)[2], const WholeLanes<W>(&b)[2]) {
    return products_added(a[0], b[0]) + products_added(a[1], b[1]);
  };
  const WholeLanes<W> sides[4] = {dot(B.direction, A.face_normals[0]), dot(B.direction, A.face_normals[1]),
                                  dot(A.direction, B.face_normals[0]), dot(A.direction, B.face_normals[1])},
                      twice = slack + slack;
  const WholeLanes<W> some_below = sides[0] | sides[1] | sides[2] | sides[3],
                      some_above =
                          (twice - sides[0]) | (twice - sides[1]) | (twice - sides[2]) | (twice - sides[3]);
  return ~(some_below & some_above).negative() & ((1u << W) - 1u);
}

/// The line of an edge, between its ends.
template <typename P>
struct EdgeLine {
  Vec3<P> start, direction;
  P length;
  P entry_ratio;  ///< of its wedge, at most: largest_entry_ratio()
};

/// > 0 wherever W_A W_B F P > 0 and d_0 < farthest: whether both edges enter the other's wedge between their
/// ends, at an angle and a distance that count. With D = a_B - a_A, s u_A = (t_A.t_B)(t_B.D) - t_A.D and
/// s u_B = t_B.D - (t_A.t_B)(t_A.D).
///
/// @param out_of_A            f_A1 + f_A2
/// @param farthest, rounding  [m]; the latter of coordinates
template <typename P, typename T>
[[nodiscard]] ABUT_INLINE P crossing_within(const EdgeLine<P>& A, const Vec3<P>& out_of_A,
                                            const EdgeLine<P>& B, T farthest, T rounding,
                                            const ConvexEdgeSettings<T>& settings) {
  using namespace convex_edges_detail;
  const Vec3<P> c = cross(A.direction, B.direction), between = plus(B.start, P(-1), A.start);
  const P squared = dot(c, c), sine = sqrt(squared);
  const P outward = dot(c, out_of_A);
  const P along_A = dot(A.direction, between), along_B = dot(B.direction, between),
          cosine = dot(A.direction, B.direction), unsigned_distance = dot(c, between);
  const P u_A = cosine * along_B - along_A, u_B = along_B - cosine * along_A;
  const P deepest = P(settings.deepest) * sine, reach = P(farthest) * sine;
  const P distance = select(outward > P(0), unsigned_distance, P(0) - unsigned_distance);
  const auto is_sideways = abs(outward) < P(k_edge_rounding<T>);
  const P depth = select(is_sideways, deepest + reach - abs(unsigned_distance),
                         min(distance + deepest, reach - distance));
  // s delta, smooth_ramp(x; w) being at most 5/32 w more than x; and s |v_A|, s |v_B|.
  const P delta = fma(P(T(0.08) * settings.band), sine,
                      select(is_sideways, abs(unsigned_distance), max(P(0) - distance, P(0)))),
          farthest_shift = P(T(k_farthest_entry) * settings.deepest) * squared;
  const P shift_A = min(B.entry_ratio * delta, farthest_shift),
          shift_B = min(A.entry_ratio * delta, farthest_shift);
  // How far windows reach beyond ends, times s.
  const P fade = P(T(k_window_reach) / settings.inverse_window) * sine,
          half = P(T(0.5 * k_window_reach)) * squared;
  const P windows =
      min(min(P(0) - u_A, fma(squared, A.length, u_A)) + (shift_A + min(fade, half * abs(A.length))),
          min(P(0) - u_B, fma(squared, B.length, u_B)) + (shift_B + min(fade, half * abs(B.length))));
  return min(min(windows, depth) + P(rounding), squared + P(k_edge_rounding<T> - settings.parallel_squared));
}

}  // namespace ABUT_SIMD
}  // namespace abut
