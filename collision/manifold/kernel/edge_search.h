/// Which pairs of edges of two bodies may be in contact: blocks of edges, quarters of blocks, edges whose
/// normal cones face each other, edges that cross.
///
/// In A's frame, and always in single precision, whatever that of the contacts: bounds leave a margin for
/// rounding, so that what is left out has no weight (convex_edges.h), and what is left is nearly all that
/// has. Branches are few, as hardly any can be predicted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "collision/manifold/kernel/edge_conditions.h"
#include "collision/manifold/kernel/pair_kernels.h"
#include "collision/manifold/kernel/solid_lanes.h"
#include "engine/chosen_lanes.h"
#include "engine/pack.h"
#include "engine/row_lanes.h"

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

/// An edge in another frame. (R, p) takes the one's coordinates to the other's.
template <typename T, typename P>
[[nodiscard]] ABUT_INLINE ConvexEdge<P> moved_edge(const Mat3<T>& R, const Vec3<T>& p,
                                                   const ConvexEdge<P>& edge) {
  return {moved(R, p, edge.start[0], edge.start[1], edge.start[2]),
          rotated(R, edge.direction),
          edge.length,
          {rotated(R, edge.face_normals[0]), rotated(R, edge.face_normals[1])}};
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
      farthest += static_cast<float>(body.contact_radius);
      rounding_ += body.edges.farthest;
    }
    X_AB_ = {X.in_other[1].R.template cast<float>(), X.in_other[1].p.template cast<float>()};
    rounding_ += X_AB_.p.cwiseAbs().sum();
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
    for (int side = 0; side < 2; ++side) place_near_edges(side);
    int pairs = 0;
    for (int block = 0; block < edges_[0]->blocks; ++block) {
      if (s_.near_blocks[0][block] == 0) continue;
      const int quarters_of_B = list_quarters(block);
      for (int part = 0; part < k_parts && quarters_of_B > 0; ++part) {
        const int quarter = k_parts * block + part;
        pairs = append_facing_edges(quarter, choose_quarters(quarter, quarters_of_B), pairs);
      }
      if (pairs < k_edge_pairs_at_once) continue;
      if (!found(crossing_pairs(pairs))) return false;
      pairs = 0;
    }
    return found(crossing_pairs(pairs));
  }

 private:
  using P = Lanes<float>;
  static constexpr int W = k_width<float>, k_parts = 4;
  using Bounds = P[k_edge_bound_columns];
  static_assert(W == k_parts * k_parts);
  // Of a lane: its place, and those of its edges of A and of B in their quarters.
  static constexpr LaneNumbers k_in_order{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
      k_rows{{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}},
      k_columns{{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}};

  [[nodiscard]] static ABUT_INLINE std::uint32_t first_lanes(int count) {
    return count >= W ? ~0u >> (32 - W) : (1u << count) - 1u;
  }
  [[nodiscard]] static ABUT_INLINE Vec3<P> loaded(const float* numbers, std::ptrdiff_t stride) {
    return {P::load(numbers), P::load(numbers + stride), P::load(numbers + 2 * stride)};
  }
  void place_near_edges(int side);
  void place_bounds(int side, int level, int first);
  void move_edges_of_B(int first);
  [[nodiscard]] ABUT_INLINE std::uint32_t may_touch(const Bounds& a, const Bounds& b) const;
  [[nodiscard]] int list_quarters(int block_of_A) const;
  [[nodiscard]] int choose_quarters(int quarter_of_A, int count) const;
  [[nodiscard]] int append_facing_edges(int quarter_of_A, int count, int pairs) const;
  [[nodiscard]] int crossing_pairs(int count) const;

  const EdgeBlocks* edges_[2];
  PairPoses<float>::Map X_AB_;
  ConvexEdgeSettings<float> settings_;
  float rounding_ = 0.0f;      ///< of coordinates in A [m]
  float farthest_, touching_;  ///< d_0 of contacts, and between the balls of edges, at most [m]
  float cone_cos_, cone_sin_;
  float cone_slack_;  ///< of facing_normals()
  EdgeSearchScratch& s_;
};

/// Into A: the bounds of all groups, and B's edges of near blocks.
inline void EdgeSearch::place_near_edges(int side) {
  const EdgeBlocks& edges = *edges_[side];
  for (int level = 0; level < k_edge_levels; ++level) {
    for (int first = 0; first < edges.bounds[level].stride; first += W) place_bounds(side, level, first);
  }
  float* const radii = s_.bounds[side][0] + k_ball_radius * edges.bounds[0].stride;
  for (int block = 0; block < edges.blocks; ++block) {
    if (s_.near_blocks[side][block] == 0) {
      radii[block] = static_cast<float>(k_no_edge);
    } else if (side == 1) {
      move_edges_of_B(block * k_block);
    }
  }
}

/// Cones are widened by the borders that normals may pass.
inline void EdgeSearch::place_bounds(int side, int level, int first) {
  const std::ptrdiff_t stride = edges_[side]->bounds[level].stride;
  const float* const from = edges_[side]->bounds[level].numbers.data() + first;
  float* const to = s_.bounds[side][level] + first;
  Vec3<P> center = loaded(from, stride), axis = loaded(from + k_cone_axis * stride, stride);
  if (side == 1) {
    center = moved(X_AB_.R, X_AB_.p, center[0], center[1], center[2]);
    axis = rotated(X_AB_.R, axis);
  }
  for (int i = 0; i < 3; ++i) {
    center[i].store(to + (k_ball_center + i) * stride);
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

inline void EdgeSearch::move_edges_of_B(int first) {
  const std::ptrdiff_t stride = edges_[1]->geometry.stride;
  const float* const from = edges_[1]->geometry.numbers.data() + first;
  for (const int c : {int(k_edge_direction), int(k_edge_face_normals), k_edge_face_normals + 3}) {
    const Vec3<P> in_A = rotated(X_AB_.R, loaded(from + c * stride, stride));
    for (int i = 0; i < 3; ++i) in_A[i].store(s_.edges_of_B + (c + i) * stride + first);
  }
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
  const P off_axis =
      max(outside(behind_A, a[k_cone_cos], a[k_cone_sin]), outside(behind_B, b[k_cone_cos], b[k_cone_sin]));
  return negative_lanes(max(max(too_far, not_opposed), off_axis));
}

/// Lists the quarters of B's blocks that a block of A may touch, with their bounds, and says how many.
inline int EdgeSearch::list_quarters(int block_of_A) const {
  const std::ptrdiff_t stride_A = edges_[0]->bounds[0].stride, stride_B = edges_[1]->bounds[0].stride,
                       stride = edges_[1]->bounds[1].stride;
  Bounds a, b;
  for (int c = 0; c < k_edge_bound_columns; ++c) a[c] = P(s_.bounds[0][0][c * stride_A + block_of_A]);
  int blocks = 0;
  for (int first = 0; first < edges_[1]->blocks; first += W) {
    for (int c = 0; c < k_edge_bound_columns; ++c) b[c] = P::load(s_.bounds[1][0] + c * stride_B + first);
    const std::uint32_t touching = may_touch(a, b);
    store_chosen_numbers(s_.chosen + blocks, k_in_order, first, touching);
    blocks += std::popcount(touching);
  }
  int count = 0;
  for (int i = 0; i < blocks; ++i, count += k_parts) {
    const int quarter = k_parts * s_.chosen[i];
    for (int c = 0; c < k_edge_bound_columns; ++c)
      std::memcpy(s_.listed_bounds + c * stride + count, s_.bounds[1][1] + c * stride + quarter,
                  k_parts * sizeof(float));
    for (int part = 0; part < k_parts; ++part) s_.listed[count + part] = quarter + part;
  }
  for (int i = count; i % W != 0; ++i) {
    for (int c = 0; c < k_edge_bound_columns; ++c)
      s_.listed_bounds[c * stride + i] = static_cast<float>(c == k_ball_radius ? k_no_edge : 0.0);
  }
  return count;
}

/// Of `count` quarters listed, leaves the places of those that a quarter of A may touch, and says how many.
inline int EdgeSearch::choose_quarters(int quarter_of_A, int count) const {
  const std::ptrdiff_t stride_A = edges_[0]->bounds[1].stride, stride = edges_[1]->bounds[1].stride;
  Bounds a, b;
  for (int c = 0; c < k_edge_bound_columns; ++c) a[c] = P(s_.bounds[0][1][c * stride_A + quarter_of_A]);
  int chosen = 0;
  for (int first = 0; first < count; first += W) {
    for (int c = 0; c < k_edge_bound_columns; ++c) b[c] = P::load(s_.listed_bounds + c * stride + first);
    const std::uint32_t touching = may_touch(a, b);
    store_chosen_numbers(s_.chosen + chosen, k_in_order, first, touching);
    chosen += std::popcount(touching);
  }
  return chosen;
}

/// Appends to as many pairs of edges as given those of a quarter of A and of `count` chosen ones of B whose
/// normal cones may face each other, and says how many pairs there are.
inline int EdgeSearch::append_facing_edges(int quarter_of_A, int count, int pairs) const {
  const std::ptrdiff_t stride_A = edges_[0]->geometry.stride, stride_B = edges_[1]->geometry.stride;
  const auto cone = [](const auto& vector) {
    return EdgeCone<P>{vector(k_edge_direction),
                       {vector(k_edge_face_normals), vector(k_edge_face_normals + 3)}};
  };
  const EdgeCone<P> A = cone([&](int c) {
    const float* const x = edges_[0]->geometry.numbers.data() + c * stride_A + k_parts * quarter_of_A;
    return Vec3<P>(P::spread(x), P::spread(x + stride_A), P::spread(x + 2 * stride_A));
  });
  for (int i = 0; i < count; ++i) {
    const int quarter_of_B = s_.listed[s_.chosen[i]];
    const EdgeCone<P> B = cone([&](int c) {
      const float* const x = s_.edges_of_B + c * stride_B + k_parts * quarter_of_B;
      return Vec3<P>(P::repeated(x), P::repeated(x + stride_B), P::repeated(x + 2 * stride_B));
    });
    const std::uint32_t facing = ~negative_lanes(facing_normals<P>(A, B, P(cone_slack_))) & first_lanes(W);
    store_chosen_numbers(s_.pairs[0] + pairs, k_rows, k_parts * quarter_of_A, facing);
    store_chosen_numbers(s_.pairs[1] + pairs, k_columns, k_parts * quarter_of_B, facing);
    pairs += std::popcount(facing);
  }
  return pairs;
}

/// Leaves those of `count` pairs of edges that cross, and says how many.
inline int EdgeSearch::crossing_pairs(int count) const {
  std::int32_t *const of_A = s_.pairs[0], *const of_B = s_.pairs[1];
  for (int i = count; i % W != 0; ++i) {
    for (std::int32_t* const of_side : s_.pairs) of_side[i] = of_side[count - 1];
  }
  const auto loaded_edge = [&](int side, const std::int32_t* which) {
    P columns[k_edge_area];
    load_rows(edges_[side]->rows.data(), which, columns);
    return edge_of_columns<P>([&](int c) { return columns[c]; });
  };
  int found = 0;
  for (int first = 0; first < count; first += W) {
    const P crossing = crossing_within<P>(loaded_edge(0, of_A + first),
                                          moved_edge(X_AB_.R, X_AB_.p, loaded_edge(1, of_B + first)),
                                          farthest_, rounding_, settings_);
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
