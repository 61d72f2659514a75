/// Conditions that every pair of edges with weight meets (convex_edges.h), lanes at a time and without a
/// division: with the common normal n = +-c/s, those of cones, windows and depth are linear in s. A condition
/// holds where its number is > 0.
#pragma once

#include <limits>

#include "collision/manifold/convex_edges.h"
#include "engine/pack.h"

namespace abut {
inline namespace ABUT_SIMD {

/// What rounding adds to products of unit vectors, at most.
template <typename T>
inline constexpr T k_edge_rounding = T(64) * std::numeric_limits<T>::epsilon();

template <typename P>
[[nodiscard]] ABUT_INLINE P fused_dot(const Vec3<P>& a, const Vec3<P>& b) {
  return fma(a[0], b[0], fma(a[1], b[1], a[2] * b[2]));
}

/// What facing_normals() needs of an edge.
template <typename P>
struct EdgeCone {
  Vec3<P> direction, face_normals[2];
};

/// > 0 wherever G_A G_B > 0: whether normal cones may have a common normal. With the sign of n,
/// s (n x t_A).f_A = +-t_B.f_A and -s (n x t_B).f_B = +-t_A.f_B; s is at most 1.
///
/// @param slack  by how much s (n x t).f may be on the wrong side, with s = 1
template <typename P>
[[nodiscard]] ABUT_INLINE P facing_normals(const EdgeCone<P>& A, const EdgeCone<P>& B, const P& slack) {
  const P in_A[2] = {fused_dot(B.direction, A.face_normals[0]),
                     P(0) - fused_dot(B.direction, A.face_normals[1])},
          in_B[2] = {fused_dot(A.direction, B.face_normals[0]),
                     P(0) - fused_dot(A.direction, B.face_normals[1])};
  const P least = min(min(in_A[0], in_A[1]), min(in_B[0], in_B[1])),
          most = max(max(in_A[0], in_A[1]), max(in_B[0], in_B[1]));
  return max(least, P(0) - most) + slack;
}

/// > 0 wherever W_A W_B F P > 0 and d_0 < farthest: whether the lines cross within both windows, at an angle
/// and a distance that count. With D = a_B - a_A, s u_A = (t_A.t_B)(t_B.D) - t_A.D and s u_B = t_B.D -
/// (t_A.t_B)(t_A.D).
///
/// @param farthest, rounding  [m]; the latter of coordinates
template <typename P, typename T>
[[nodiscard]] ABUT_INLINE P crossing_within(const ConvexEdge<P>& A, const ConvexEdge<P>& B, T farthest,
                                            T rounding, const ConvexEdgeSettings<T>& settings) {
  using namespace convex_edges_detail;
  const Vec3<P> c = cross(A.direction, B.direction), between = plus(B.start, P(-1), A.start);
  const P squared = dot(c, c), sine = sqrt(squared);
  const P outward = dot(c, plus(A.face_normals[0], P(1), A.face_normals[1]));
  const P along_A = dot(A.direction, between), along_B = dot(B.direction, between),
          cosine = dot(A.direction, B.direction), unsigned_distance = dot(c, between);
  const P u_A = cosine * along_B - along_A, u_B = along_B - cosine * along_A;
  const P windows =
      min(min(P(0) - u_A, fma(squared, A.length, u_A)), min(P(0) - u_B, fma(squared, B.length, u_B))) +
      P(T(0.5) / settings.inverse_window) * sine;
  const P deepest = P(settings.deepest) * sine, reach = P(farthest) * sine;
  const P distance = select(outward > P(0), unsigned_distance, P(0) - unsigned_distance);
  const P depth = select(abs(outward) < P(k_edge_rounding<T>), deepest + reach - abs(unsigned_distance),
                         min(distance + deepest, reach - distance));
  return min(min(windows, depth) + P(rounding), squared + P(k_edge_rounding<T> - settings.parallel_squared));
}

}  // namespace ABUT_SIMD
}  // namespace abut
