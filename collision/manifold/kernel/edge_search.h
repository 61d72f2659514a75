/// Which pairs of edges of two bodies may be in contact: blocks of edges, quarters of blocks, edges whose
/// normal cones face each other, edges that cross.
///
/// Always in single precision, whatever that of the contacts: bounds leave a margin for rounding, so that
/// what is left out has no weight (convex_edges.h), and what is left is nearly all that has.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "collision/manifold/kernel/edge_conditions.h"
#include "collision/manifold/kernel/pair_kernels.h"
#include "collision/manifold/kernel/solid_lanes.h"
#include "engine/chosen_lanes.h"
#include "engine/pack.h"

namespace abut {
inline namespace ABUT_SIMD {

/// An edge whose numbers are column(c), by ConvexEdgeColumn.
template <typename P, typename Column>
[[nodiscard]] ABUT_INLINE ConvexEdge<P> edge_of_columns(const Column& column) {
  const auto vector = [&](int c) { return Vec3<P>(column(c), column(c + 1), column(c + 2)); };
  return {vector(k_edge_start),
          vector(k_edge_direction),
          column(k_edge_length),
          {vector(k_edge_face_normals), vector(k_edge_face_normals + 3)}};
}

template <typename T, typename P>
[[nodiscard]] ABUT_INLINE Vec3<P> rotated(const Mat3<T>& R, const Vec3<P>& v) {
  Vec3<P> r;
  for (int i = 0; i < 3; ++i) r[i] = fma(P(R(i, 0)), v[0], fma(P(R(i, 1)), v[1], P(R(i, 2)) * v[2]));
  return r;
}

class EdgeSearch {
 public:
  /// @param X  poses in the frame C
  template <typename T>
  EdgeSearch(const PairProblem<T>& problem, const PairPoses<T>& X, EdgeSearchScratch& scratch)
      : settings_(problem.edge_search), s_(scratch) {
    float farthest = 0.0f;
    for (int side = 0; side < 2; ++side) {
      const BodyFeatures<T>& body = *problem.bodies[side];
      edges_[side] = &body.edges;
      X_[side] = {X.in_center[side].R.template cast<float>(), X.in_center[side].p.template cast<float>()};
      farthest += static_cast<float>(body.contact_radius);
      rounding_ += body.edges.farthest + X_[side].p.cwiseAbs().sum();
    }
    rounding_ *= 64.0f * std::numeric_limits<float>::epsilon();
    farthest += static_cast<float>(problem.reach) + rounding_;
    farthest_ = farthest;
    touching_ = farthest + static_cast<float>(problem.beside);
    cone_cos_ = static_cast<float>(problem.cone_cos);
    cone_sin_ = static_cast<float>(problem.cone_sin);
    cone_slack_ = 0.5f / settings_.inverse_cone + k_edge_rounding<float>;
  }

  /// Calls found(n) with n pairs of edges of near blocks in the scratch, again and again until there are no
  /// more, or it returns false. Says whether it always returned true.
  template <typename Found>
  [[nodiscard]] bool run(const Found& found) {
    for (int side = 0; side < 2; ++side) move_near_edges(side);
    const int blocks[2] = {edges_[0]->blocks, edges_[1]->blocks};
    const std::ptrdiff_t strides[2] = {edges_[0]->bounds[0].stride, edges_[1]->bounds[0].stride};
    int count = 0;
    for (int block = 0; block < blocks[0]; ++block) {
      if (s_.near_blocks[0][block] == 0) continue;
      Bounds a, b;
      for (int c = 0; c < k_edge_bound_columns; ++c) a[c] = P(s_.bounds[0][0][c * strides[0] + block]);
      for (int first = 0; first < blocks[1]; first += W) {
        for (int c = 0; c < k_edge_bound_columns; ++c)
          b[c] = P::load(s_.bounds[1][0] + c * strides[1] + first);
        const std::uint32_t touching = may_touch(a, b);
        store_chosen_numbers(s_.groups[0][0] + count, k_zeros, block, touching);
        store_chosen_numbers(s_.groups[0][1] + count, k_in_order, first, touching);
        count += std::popcount(touching);
      }
      if (count < k_block_pairs) continue;
      if (!found(pairs_of_edges(pairs_of_quarters(count)))) return false;
      count = 0;
    }
    return found(pairs_of_edges(pairs_of_quarters(count)));
  }

 private:
  using P = Lanes<float>;
  static constexpr int W = k_width<float>, k_parts = 4;
  using Bounds = P[k_edge_bound_columns];
  static_assert(W == k_parts * k_parts);
  // Of a lane: its place, and that of its parts of A and of B in their groups.
  static constexpr LaneNumbers k_zeros{{}},
      k_in_order{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
      k_rows{{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}},
      k_columns{{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}};

  [[nodiscard]] static ABUT_INLINE std::uint32_t first_lanes(int count) {
    return count >= W ? ~0u >> (32 - W) : (1u << count) - 1u;
  }
  [[nodiscard]] static ABUT_INLINE Vec3<P> loaded(const float* numbers, std::ptrdiff_t stride) {
    return {P::load(numbers), P::load(numbers + stride), P::load(numbers + 2 * stride)};
  }
  void move_near_edges(int side);
  void move_bounds(int side, int level, int first);
  void move_edges(int side, int first);
  [[nodiscard]] ABUT_INLINE std::uint32_t may_touch(const Bounds& a, const Bounds& b) const;
  [[nodiscard]] ABUT_INLINE std::uint32_t may_face(int quarter_of_A, int quarter_of_B) const;
  [[nodiscard]] ABUT_INLINE std::uint32_t may_cross(int quarter_of_A, int quarter_of_B) const;
  [[nodiscard]] int chosen_parts(const std::int32_t* const (&groups)[2], int count,
                                 std::int32_t* const (&parts)[2]) const;
  [[nodiscard]] int pairs_of_quarters(int count) const;
  [[nodiscard]] int pairs_of_edges(int count) const;
  [[nodiscard]] int crossing_pairs(int count) const;

  const EdgeBlocks* edges_[2];
  PairPoses<float>::Map X_[2];
  ConvexEdgeSettings<float> settings_;
  float rounding_ = 0.0f;      ///< of coordinates in C [m]
  float farthest_, touching_;  ///< d_0 of contacts, and between the balls of edges, at most [m]
  float cone_cos_, cone_sin_;
  float cone_slack_;  ///< of facing_normals()
  EdgeSearchScratch& s_;
};

/// Into C: the bounds of all groups, and the edges of near blocks.
inline void EdgeSearch::move_near_edges(int side) {
  const EdgeBlocks& edges = *edges_[side];
  for (int level = 0; level < k_edge_levels; ++level) {
    for (int first = 0; first < edges.bounds[level].stride; first += W) move_bounds(side, level, first);
  }
  float* const radii = s_.bounds[side][0] + k_ball_radius * edges.bounds[0].stride;
  for (int block = 0; block < edges.blocks; ++block) {
    if (s_.near_blocks[side][block] != 0) {
      move_edges(side, block * k_block);
    } else {
      radii[block] = static_cast<float>(k_no_edge);
    }
  }
}

inline void EdgeSearch::move_bounds(int side, int level, int first) {
  const auto& [R, p] = X_[side];
  const std::ptrdiff_t stride = edges_[side]->bounds[level].stride;
  const float* const from = edges_[side]->bounds[level].numbers.data() + first;
  float* const to = s_.bounds[side][level] + first;
  const Vec3<P> center = loaded(from, stride), in_C = moved(R, p, center[0], center[1], center[2]),
                axis = rotated(R, loaded(from + k_cone_axis * stride, stride));
  for (int i = 0; i < 3; ++i) {
    in_C[i].store(to + (k_ball_center + i) * stride);
    axis[i].store(to + (k_cone_axis + i) * stride);
  }
  P::load(from + k_ball_radius * stride).store(to + k_ball_radius * stride);
  const P widened_cos(cone_cos_), widened_sin(cone_sin_),
      cosine = P::load(from + k_cone_cos * stride), sine = P::load(from + k_cone_sin * stride),
      wide_cos = cosine * widened_cos - sine * widened_sin;
  const auto is_open = wide_cos <= P(0);
  select(is_open, P(0), wide_cos).store(to + k_cone_cos * stride);
  select(is_open, P(0), sine * widened_cos + cosine * widened_sin).store(to + k_cone_sin * stride);
  select(is_open, P(2), P::load(from + k_cone_open * stride)).store(to + k_cone_open * stride);
}

inline void EdgeSearch::move_edges(int side, int first) {
  const auto& [R, p] = X_[side];
  const std::ptrdiff_t stride = edges_[side]->geometry.stride;
  const float* const from = edges_[side]->geometry.numbers.data() + first;
  float* const to = s_.edges[side] + first;
  const auto put = [&](int c, const Vec3<P>& x) {
    for (int i = 0; i < 3; ++i) x[i].store(to + (c + i) * stride);
  };
  const Vec3<P> start = loaded(from + k_edge_start * stride, stride);
  put(k_edge_start, moved(R, p, start[0], start[1], start[2]));
  for (const int c : {int(k_edge_direction), int(k_edge_face_normals), k_edge_face_normals + 3})
    put(c, rotated(R, loaded(from + c * stride, stride)));
  P::load(from + k_edge_length * stride).store(to + k_edge_length * stride);
}

/// Lanes of groups of A and of B between whose edges there may be contacts. A's witness point
/// lies behind B's along the normal n by the depth, at most D_1, and at most `beside` next to it; n lies in
/// A's cone, and -n in B's.
ABUT_INLINE std::uint32_t EdgeSearch::may_touch(const Bounds& a, const Bounds& b) const {
  const P dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2], squared = fma(dx, dx, fma(dy, dy, dz * dz));
  const P radii = a[k_ball_radius] + b[k_ball_radius], touching = radii + P(touching_),
          deepest = touching + P(settings_.deepest);
  const P open_A = a[k_cone_open], open_B = b[k_cone_open];  // whose normals may point anywhere
  const P along = fma(a[4], b[4], fma(a[5], b[5], a[6] * b[6]));
  const P not_opposed =
      along + fma(a[k_cone_cos], b[k_cone_cos], P(0) - a[k_cone_sin] * b[k_cone_sin]) - (open_A + open_B);
  const P too_far = max(squared - deepest * deepest, P(0) - radii);
  const P behind_A = fma(a[4], dx, fma(a[5], dy, a[6] * dz)),
          behind_B = P(0) - fma(b[4], dx, fma(b[5], dy, b[6] * dz));
  // |beside| cos <= behind sin + touching: within a cone around the axis, widened by balls and reach.
  const auto outside = [&](const P& behind, const P& cosine, const P& sine) {
    const P width = fma(behind, sine, touching);
    return fma(squared - behind * behind, cosine * cosine, P(0) - width * abs(width));
  };
  const P in_front = P(0) - min(fma(open_A, deepest, behind_A), fma(open_B, deepest, behind_B)) - touching;
  const P not_behind = max(max(behind_A, behind_B) - deepest, in_front);
  const P off_axis =
      max(outside(behind_A, a[k_cone_cos], a[k_cone_sin]), outside(behind_B, b[k_cone_cos], b[k_cone_sin]));
  return bits(max(max(too_far, not_opposed), max(not_behind, off_axis)) <= P(0));
}

/// Lanes of the edges of a quarter of A and of one of B whose normal cones may face each other.
ABUT_INLINE std::uint32_t EdgeSearch::may_face(int quarter_of_A, int quarter_of_B) const {
  const std::ptrdiff_t stride_A = edges_[0]->geometry.stride, stride_B = edges_[1]->geometry.stride;
  const float* const of_A = s_.edges[0] + k_parts * quarter_of_A;
  const float* const of_B = s_.edges[1] + k_parts * quarter_of_B;
  const auto spread = [&](int c) {
    const float* const x = of_A + c * stride_A;
    return Vec3<P>(P::spread(x), P::spread(x + stride_A), P::spread(x + 2 * stride_A));
  };
  const auto repeated = [&](int c) {
    const float* const x = of_B + c * stride_B;
    return Vec3<P>(P::repeated(x), P::repeated(x + stride_B), P::repeated(x + 2 * stride_B));
  };
  const EdgeCone<P> A{spread(k_edge_direction),
                      {spread(k_edge_face_normals), spread(k_edge_face_normals + 3)}},
      B{repeated(k_edge_direction), {repeated(k_edge_face_normals), repeated(k_edge_face_normals + 3)}};
  return bits(facing_normals<P>(A, B, P(cone_slack_)) > P(0));
}

/// Lanes of those of the quarters that may cross, whichever way their cones lie.
ABUT_INLINE std::uint32_t EdgeSearch::may_cross(int quarter_of_A, int quarter_of_B) const {
  const std::ptrdiff_t stride_A = edges_[0]->geometry.stride, stride_B = edges_[1]->geometry.stride;
  const float* const of_A = s_.edges[0] + k_parts * quarter_of_A;
  const float* const of_B = s_.edges[1] + k_parts * quarter_of_B;
  const auto A = edge_of_columns<P>([&](int c) { return P::spread(of_A + c * stride_A); }),
             B = edge_of_columns<P>([&](int c) { return P::repeated(of_B + c * stride_B); });
  return bits(crossing_within<P>(A, B, farthest_, rounding_, settings_) > P(0));
}

/// The chosen pairs of parts, four to a group, of `count` pairs of groups. Says how many.
inline int EdgeSearch::chosen_parts(const std::int32_t* const (&groups)[2], int count,
                                    std::int32_t* const (&parts)[2]) const {
  int found = 0;
  for (int i = 0; i < count; ++i) {
    store_chosen_numbers(parts[0] + found, k_rows, k_parts * groups[0][i], s_.chosen[i]);
    store_chosen_numbers(parts[1] + found, k_columns, k_parts * groups[1][i], s_.chosen[i]);
    found += std::popcount(s_.chosen[i]);
  }
  return found;
}

/// Pairs of quarters of pairs of blocks.
inline int EdgeSearch::pairs_of_quarters(int count) const {
  const std::int32_t* const blocks[2] = {s_.groups[0][0], s_.groups[0][1]};
  const std::ptrdiff_t stride_A = edges_[0]->bounds[1].stride, stride_B = edges_[1]->bounds[1].stride;
  for (int i = 0; i < count; ++i) {
    const float* const of_A = s_.bounds[0][1] + k_parts * blocks[0][i];
    const float* const of_B = s_.bounds[1][1] + k_parts * blocks[1][i];
    Bounds a, b;
    for (int c = 0; c < k_edge_bound_columns; ++c) {
      a[c] = P::spread(of_A + c * stride_A);
      b[c] = P::repeated(of_B + c * stride_B);
    }
    s_.chosen[i] = may_touch(a, b);
  }
  return chosen_parts(blocks, count, s_.groups[1]);
}

/// Pairs of edges of pairs of quarters.
inline int EdgeSearch::pairs_of_edges(int count) const {
  constexpr int k_many = 4;  // lanes that are better asked in their places than collected
  const std::int32_t* const quarters[2] = {s_.groups[1][0], s_.groups[1][1]};
  for (int i = 0; i < count; ++i) {
    s_.chosen[i] = may_face(quarters[0][i], quarters[1][i]);
    if (std::popcount(s_.chosen[i]) >= k_many) s_.chosen[i] &= may_cross(quarters[0][i], quarters[1][i]);
  }
  return crossing_pairs(chosen_parts(quarters, count, s_.pairs));
}

/// Leaves those of `count` pairs of edges that cross, and says how many.
inline int EdgeSearch::crossing_pairs(int count) const {
  std::int32_t *const of_A = s_.pairs[0], *const of_B = s_.pairs[1];
  for (int i = count; i % W != 0; ++i) {
    for (std::int32_t* const of_side : s_.pairs) of_side[i] = of_side[count - 1];
  }
  const auto gathered = [&](int side, const std::int32_t* which) {
    return edge_of_columns<P>(
        [&](int c) { return P::gather(s_.edges[side] + c * edges_[side]->geometry.stride, which); });
  };
  int found = 0;
  for (int first = 0; first < count; first += W) {
    const P crossing = crossing_within<P>(gathered(0, of_A + first), gathered(1, of_B + first), farthest_,
                                          rounding_, settings_);
    for (std::uint32_t left = bits(crossing > P(0)) & first_lanes(count - first); left != 0;
         left &= left - 1) {
      const int i = first + std::countr_zero(left);
      of_A[found] = of_A[i];
      of_B[found++] = of_B[i];
    }
  }
  return found;
}

}  // namespace ABUT_SIMD
}  // namespace abut
