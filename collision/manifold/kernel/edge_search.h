/// Which pairs of edges of two bodies may be in contact: blocks of edges, quarters of blocks, edges whose
/// normal cones face each other, edges that cross.
///
/// In A's frame, and always in single precision, whatever that of the contacts: bounds leave a margin for
/// rounding, so that what is left out has no weight (convex_edges.h), and what is left is nearly all that
/// has. Branches are few, as hardly any can be predicted.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "collision/manifold/kernel/edge_conditions.h"
#include "collision/manifold/kernel/pair_kernels.h"
#include "collision/manifold/kernel/solid_lanes.h"
#include "engine/chosen_lanes.h"
#include "engine/pack.h"
#include "engine/row_lanes.h"

namespace abut {
inline namespace ABUT_SIMD {

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
    cone_cos_ = static_cast<float>(problem.cone_cos);
    cone_sin_ = static_cast<float>(problem.cone_sin);
    const float slack = 0.5f / settings_.inverse_cone + k_edge_rounding<float> + k_whole_rounding;
    cone_slack_ = std::ceil(std::min(slack, 1.9f) * k_whole_unit);
  }

  /// Calls found(n) with n pairs of edges in the scratch, again and again until there are no more, or it
  /// returns false. Says whether it always returned true.
  template <typename Found>
  [[nodiscard]] bool run(const Found& found) {
    for (int side = 0; side < 2; ++side) place_near_edges(side);
    for (EdgePairList* const pairs : {&s_.block_pairs, &s_.quarter_pairs, &s_.edge_pairs}) pairs->count = 0;
    for (int block = 0; block < edges_[0]->blocks; ++block) {
      if (s_.near_blocks[0][block] == 0) continue;
      for (int first = 0; first < edges_[1]->blocks; first += W) {
        const std::uint32_t touching = touching_blocks(block, first);
        EdgePairList& pairs = s_.block_pairs;
        store_chosen_numbers(pairs.of[0] + pairs.count, k_all_zero, block, touching);
        store_chosen_numbers(pairs.of[1] + pairs.count, k_in_order, first, touching);
        pairs.count += std::popcount(touching);
        if (pairs.count >= k_edge_pairs_at_once && !divide_blocks(found)) return false;
      }
    }
    return divide_blocks(found) && divide_quarters(found) && found(crossing_pairs());
  }

 private:
  static constexpr int k_parts = 4, W = k_parts * k_parts;
  // A register at a time: of W numbers, AVX2 would have to keep most in memory.
  static constexpr int k_lanes = simd::k_register_lanes;
  using P = Pack<float, k_lanes>;
  using Bounds = P[k_edge_bound_columns];
  static constexpr int k_aside =
      k_narrowest;  ///< once placed: shift along an edge of another body, at most [m]
  static_assert(k_edge_group[0] == k_parts * k_edge_group[1] && k_edge_group[1] == k_parts);
  // Of a lane: its place; and of its pair of parts, that of A and that of B.
  static constexpr LaneNumbers k_all_zero{{}},
      k_in_order{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
      k_part_of_A{{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}},
      k_part_of_B{{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}};

  [[nodiscard]] static ABUT_INLINE std::uint32_t first_lanes(int count) {
    return count >= k_lanes ? ~0u >> (32 - k_lanes) : (1u << count) - 1u;
  }
  /// lanes(first) of the registers from `first` on, as the bits of W lanes.
  template <typename LanesFrom>
  [[nodiscard]] static ABUT_INLINE std::uint32_t each_register(const LanesFrom& lanes) {
    std::uint32_t all = 0;
    for (int first = 0; first < W; first += k_lanes) all |= lanes(first) << first;
    return all;
  }
  [[nodiscard]] static ABUT_INLINE Vec3<P> loaded(const float* numbers, std::ptrdiff_t stride) {
    return {P::load(numbers), P::load(numbers + stride), P::load(numbers + 2 * stride)};
  }
  void place_near_edges(int side);
  void place_bounds(int side, int level, int first);
  void place_cones(int side, int first);
  [[nodiscard]] ABUT_INLINE std::uint32_t may_touch(const Bounds& a, const Bounds& b) const;
  [[nodiscard]] ABUT_INLINE std::uint32_t touching_blocks(int block_of_A, int first_of_B) const;
  [[nodiscard]] int crossing_pairs();
  /// Where the columns of a thing begin, W from one to the next, if packs of things follow each other.
  template <typename Number>
  [[nodiscard]] static ABUT_INLINE Number* in_packs(Number* numbers, int columns, int thing) {
    return numbers + static_cast<std::ptrdiff_t>(thing / W) * columns * W + thing % W;
  }
  /// Divides pairs in parts: chosen_parts(of_A, of_B) says which lanes of parts are left, and
  /// when_full() makes room where these are many. Says whether it always could.
  template <typename ChosenParts, typename WhenFull>
  [[nodiscard]] static bool divide(EdgePairList& pairs, EdgePairList& parts, const ChosenParts& chosen_parts,
                                   const WhenFull& when_full) {
    std::int32_t *const of_A = parts.of[0], *const of_B = parts.of[1];
    const int pairs_to_divide = std::exchange(pairs.count, 0);
    int count = parts.count;
    for (int i = 0; i < pairs_to_divide; ++i) {
      const int A = pairs.of[0][i], B = pairs.of[1][i];
      const std::uint32_t chosen = chosen_parts(A, B);
      store_chosen_numbers(of_A + count, k_part_of_A, k_parts * A, chosen);
      store_chosen_numbers(of_B + count, k_part_of_B, k_parts * B, chosen);
      count += std::popcount(chosen);
      if (count < k_edge_pairs_at_once) continue;
      parts.count = count;
      if (!when_full()) return false;
      count = parts.count;
    }
    parts.count = count;
    return true;
  }
  template <typename Found>
  [[nodiscard]] bool divide_blocks(const Found& found) {
    const float *const bounds_of_A = s_.bounds[0][1], *const bounds_of_B = s_.bounds[1][1];
    return divide(
        s_.block_pairs, s_.quarter_pairs,
        [&](int block_of_A, int block_of_B) {
          const float *const of_A = in_packs(bounds_of_A, k_edge_bound_columns, k_parts * block_of_A),
                             *const of_B = in_packs(bounds_of_B, k_edge_bound_columns, k_parts * block_of_B);
          return each_register([&](int lane) {
            Bounds a, b;
            for (int c = 0; c < k_edge_bound_columns; ++c) {
              a[c] = P::spread(of_A + c * W + lane / k_parts);
              b[c] = P::repeated(of_B + c * W);
            }
            return may_touch(a, b);
          });
        },
        [&] { return divide_quarters(found); });
  }
  template <typename Found>
  [[nodiscard]] bool divide_quarters(const Found& found) {
    const float *const cones_of_A = s_.cones[0], *const cones_of_B = s_.cones[1];
    const WholeLanes<k_lanes> slack(static_cast<std::int32_t>(cone_slack_) * k_whole_unit);
    return divide(
        s_.quarter_pairs, s_.edge_pairs,
        [&](int quarter_of_A, int quarter_of_B) {
          const float *const of_A = in_packs(cones_of_A, k_edge_cone_columns, k_parts * quarter_of_A),
                             *const of_B = in_packs(cones_of_B, k_edge_cone_columns, k_parts * quarter_of_B);
          return each_register([&](int lane) {
            using Whole = WholeLanes<k_lanes>;
            const auto a = [&](int c) { return Whole::of_bits(P::spread(of_A + c * W + lane / k_parts)); },
                       b = [&](int c) { return Whole::of_bits(P::repeated(of_B + c * W)); };
            return facing_normals<k_lanes>({{a(0), a(1)}, {{a(2), a(3)}, {a(4), a(5)}}},
                                           {{b(0), b(1)}, {{b(2), b(3)}, {b(4), b(5)}}}, slack);
          });
        },
        [&] { return found(crossing_pairs()); });
  }

  const EdgeBlocks* edges_[2];
  PairPoses<float>::Map X_AB_;
  ConvexEdgeSettings<float> settings_;
  float rounding_ = 0.0f;  ///< of coordinates in A [m]
  float farthest_;         ///< d_0 of contacts, at most [m]
  float cone_cos_, cone_sin_;
  float cone_slack_;  ///< w of the normals in EdgeCone
  EdgeSearchScratch& s_;
};

/// Into A: the bounds of all groups, and the edges of near blocks.
inline void EdgeSearch::place_near_edges(int side) {
  const EdgeBlocks& edges = *edges_[side];
  for (int level = 0; level < k_edge_levels; ++level) {
    for (int first = 0; first < edges.bounds[level].stride; first += k_lanes)
      place_bounds(side, level, first);
  }
  for (int block = 0; block < edges.blocks; ++block) {
    if (s_.near_blocks[side][block] == 0) {
      in_packs(s_.bounds[side][0], k_edge_bound_columns, block)[k_ball_radius * W] =
          static_cast<float>(k_no_edge);
    } else {
      for (int lane = 0; lane < k_block; lane += k_lanes) place_cones(side, block * k_block + lane);
    }
  }
}

/// Cones are widened by the borders that normals may pass. k_narrowest becomes k_aside.
inline void EdgeSearch::place_bounds(int side, int level, int first) {
  const std::ptrdiff_t stride = edges_[side]->bounds[level].stride;
  const float* const from = edges_[side]->bounds[level].numbers.data() + first;
  float* const to = in_packs(s_.bounds[side][level], k_edge_bound_columns, first);
  Vec3<P> center = loaded(from, stride), axis = loaded(from + k_cone_axis * stride, stride);
  if (side == 1) {
    center = moved(X_AB_.R, X_AB_.p, center[0], center[1], center[2]);
    axis = rotated(X_AB_.R, axis);
  }
  for (int i = 0; i < 3; ++i) {
    center[i].store(to + (k_ball_center + i) * W);
    axis[i].store(to + (k_cone_axis + i) * W);
  }
  P::load(from + k_ball_radius * stride).store(to + k_ball_radius * W);
  const P widened_cos(cone_cos_), widened_sin(cone_sin_),
      cosine = P::load(from + k_cone_cos * stride), sine = P::load(from + k_cone_sin * stride),
      wide_cos = cosine * widened_cos - sine * widened_sin;
  const auto is_open = wide_cos <= P(0);
  select(is_open, P(0), wide_cos).store(to + k_cone_cos * W);
  select(is_open, P(0), sine * widened_cos + cosine * widened_sin).store(to + k_cone_sin * W);
  select(is_open, P(2), P::load(from + k_cone_open * stride)).store(to + k_cone_open * W);
  const P entry_ratio =
      largest_entry_ratio<P>(P::load(from + k_narrowest * stride), widened_cos, widened_sin);
  select(entry_ratio > P(0), P(static_cast<float>(k_farthest_entry) * settings_.deepest), P(0))
      .store(to + k_aside * W);
}

/// The numbers of an EdgeCone, pair by pair.
inline void EdgeSearch::place_cones(int side, int first) {
  const std::ptrdiff_t stride = edges_[side]->geometry.stride;
  const float* const from = edges_[side]->geometry.numbers.data() + first;
  float* to = in_packs(s_.cones[side], k_edge_cone_columns, first);
  const P unit(k_whole_unit);
  const auto place = [&](int c, const P& scale, const P& w) {
    Vec3<P> vector = loaded(from + c * stride, stride);
    if (side == 1) vector = rotated(X_AB_.R, vector);
    WholeLanes<k_lanes>::pairs(scale * vector[0], scale * vector[1]).bits().store(to);
    WholeLanes<k_lanes>::pairs(scale * vector[2], w).bits().store(to + W);
    to += 2 * W;
  };
  place(k_edge_direction, unit, unit);
  place(k_edge_face_normals, unit, P(cone_slack_));
  place(k_edge_face_normals + 3, P(0) - unit, P(cone_slack_));
}

/// Lanes of groups of A and of B between whose edges there may be contacts. Where A enters B's wedge lies
/// behind where B enters A's, along the normal n by the depth, at most D_1, and next to it by the shifts of
/// both entries; n lies in A's cone, and -n in B's.
ABUT_INLINE std::uint32_t EdgeSearch::may_touch(const Bounds& a, const Bounds& b) const {
  const P dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2], squared = fma(dx, dx, fma(dy, dy, dz * dz));
  const P radii = a[k_ball_radius] + b[k_ball_radius],
          touching = radii + (a[k_aside] + b[k_aside]) + P(farthest_),
          deepest = touching + P(settings_.deepest);
  const P open_A = a[k_cone_open], open_B = b[k_cone_open];  // whose normals may point anywhere
  const P along = fma(a[4], b[4], fma(a[5], b[5], a[6] * b[6]));
  const P not_opposed =
      along + fma(a[k_cone_cos], b[k_cone_cos], P(0) - a[k_cone_sin] * b[k_cone_sin]) - (open_A + open_B);
  const P too_far = max(squared - deepest * deepest, P(0) - radii);
  const P behind_A = fma(a[4], dx, fma(a[5], dy, a[6] * dz)),
          behind_B = P(0) - fma(b[4], dx, fma(b[5], dy, b[6] * dz));
  // |next to it| cos <= behind sin + touching: within a cone around the axis, widened by balls and reach.
  const auto outside = [&](const P& behind, const P& cosine, const P& sine) {
    const P width = fma(behind, sine, touching);
    return fma(squared - behind * behind, cosine * cosine, P(0) - width * abs(width));
  };
  const P off_axis =
      max(outside(behind_A, a[k_cone_cos], a[k_cone_sin]), outside(behind_B, b[k_cone_cos], b[k_cone_sin]));
  return negative_lanes(max(max(too_far, not_opposed), off_axis));
}

/// Lanes of W blocks of B that one of A may touch.
ABUT_INLINE std::uint32_t EdgeSearch::touching_blocks(int block_of_A, int first_of_B) const {
  const float *const of_A = in_packs(s_.bounds[0][0], k_edge_bound_columns, block_of_A),
                     *const of_B = in_packs(s_.bounds[1][0], k_edge_bound_columns, first_of_B);
  return each_register([&](int lane) {
    Bounds a, b;
    for (int c = 0; c < k_edge_bound_columns; ++c) {
      a[c] = P(of_A[c * W]);
      b[c] = P::load(of_B + c * W + lane);
    }
    return may_touch(a, b);
  });
}

/// Leaves those pairs of edges that cross, and says how many.
inline int EdgeSearch::crossing_pairs() {
  const int count = std::exchange(s_.edge_pairs.count, 0);
  std::int32_t *const of_A = s_.edge_pairs.of[0], *const of_B = s_.edge_pairs.of[1];
  for (int i = count; i % k_lanes != 0; ++i) {
    of_A[i] = of_A[count - 1];
    of_B[i] = of_B[count - 1];
  }
  const auto line = [&](const auto& columns) {
    return EdgeLine<P>{{columns[k_row_start], columns[k_row_start + 1], columns[k_row_start + 2]},
                       {columns[k_row_direction], columns[k_row_direction + 1], columns[k_row_direction + 2]},
                       columns[k_row_length],
                       largest_entry_ratio<P>(columns[k_row_cosine] - P(k_edge_rounding<float>), P(cone_cos_),
                                              P(cone_sin_))};
  };
  int found = 0;
  for (int first = 0; first < count; first += k_lanes) {
    P A[k_edge_row_numbers], B[k_row_outward];
    load_rows(edges_[0]->rows.data(), of_A + first, A);
    load_rows(edges_[1]->rows.data(), of_B + first, B);
    EdgeLine<P> line_B = line(B);
    line_B.start = moved(X_AB_.R, X_AB_.p, line_B.start[0], line_B.start[1], line_B.start[2]);
    line_B.direction = rotated(X_AB_.R, line_B.direction);
    const P crossing =
        crossing_within<P>(line(A), {A[k_row_outward], A[k_row_outward + 1], A[k_row_outward + 2]}, line_B,
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
