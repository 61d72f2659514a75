/// PairKernel: contacts of pairs of edges.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "collision/manifold/kernel/edge_search.h"
#include "collision/manifold/kernel/pair_kernel.h"

namespace abut {
inline namespace ABUT_SIMD {

/// Columns of a pair of edges between edge_edge() and its gates.
enum CandidateColumn {
  k_candidate_value = 0,    ///< as in ContactColumn, the weight without the gates
  k_candidate_probe = 8,    ///< 3
  k_candidate_middle = 11,  ///< GateInput
  k_candidate_wedges = 12,  ///< 2
  k_candidate_columns = 14
};

/// An edge whose numbers are column(c), by ConvexEdgeColumn.
template <typename P, typename Column>
[[nodiscard]] ABUT_INLINE ConvexEdge<P> edge_of_columns(const Column& column) {
  const auto vector = [&](int c) { return Vec3<P>(column(c), column(c + 1), column(c + 2)); };
  return {vector(k_edge_start),
          vector(k_edge_direction),
          column(k_edge_length),
          {vector(k_edge_face_normals), vector(k_edge_face_normals + 3)}};
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

/// Marks the blocks of edges that may touch the other solid, and says how many there are.
template <typename T, ManifoldOrder order>
int PairKernel<T, order>::find_near_blocks(int side) {
  const BodyFeatures<T>&owner = body(side), &solid = body(1 - side);
  const EdgeBlocks& edges = owner.edges;
  const Columns<T>& balls = owner.edge_balls;
  // The probe lies, seen along n, midway between the witness points; within 1.25 times the depth of both. An
  // edge has its entry there, or next to it.
  const CullDistances<T> culled(solid, problem_.reach + owner.contact_radius +
                                           T(1.25) * problem_.edges.deepest + problem_.entry_shift[side] +
                                           T(4) * problem_.activity_smoothing);
  const auto& [R, p] = X_.in_other[side];
  int count = 0;
  for (int first = 0; first < edges.blocks; first += W) {
    const Vec3<P> in_owner = loaded(balls.column(k_ball_center) + first, balls.stride),
                  center = moved(R, p, in_owner[0], in_owner[1], in_owner[2]);
    const P radius = P::load(balls.column(k_ball_radius) + first);
    const std::uint32_t all = first_lanes(edges.blocks - first);
    std::uint32_t near = 0;
    for (int l = 0; l < solid.sdf->added() && near != all; ++l)
      near |= bits(lower_bound(solid.bounds[static_cast<std::size_t>(l)], center, radius) < P(culled.reach)) &
              all;
    for (int i = 0; i < W && first + i < edges.blocks; ++i)
      s_.search.near_blocks[side][first + i] = near >> i & 1u;
    count += std::popcount(near);
  }
  return count;
}

template <typename T, ManifoldOrder order>
bool PairKernel<T, order>::edge_contacts() {
  if (edges_left_ == T(0)) return true;
  if (find_near_blocks(0) == 0 || find_near_blocks(1) == 0) return true;
  int candidates = 0;
  const auto relate = [&](int pairs) { return relate_pairs(pairs, candidates); };
  return EdgeSearch(problem_, X_, s_.search).run(relate) && pass_gates(candidates);
}

template <typename T, ManifoldOrder order>
ABUT_INLINE ConvexEdge<Lanes<T>> PairKernel<T, order>::gathered_edge(int side,
                                                                     const std::int32_t* which) const {
  const Columns<T>& geometry = body(side).edge_geometry;
  const auto& [R, p] = X_.in_center[side];
  return moved_edge(R, p, edge_of_columns<P>([&](int c) { return P::gather(geometry.column(c), which); }));
}

/// Appends those of the pairs that have weight to the candidates.
template <typename T, ManifoldOrder order>
bool PairKernel<T, order>::relate_pairs(int count, int& candidates) {
  const P radii[2] = {P(body(0).contact_radius), P(body(1).contact_radius)};
  std::int32_t *const of_A = s_.search.edge_pairs.of[0], *const of_B = s_.search.edge_pairs.of[1];
  fill_up(s_.search.edge_pairs.of, count);
  for (int first = 0; first < count; first += W) {
    const EdgeEdge<P> pair =
        edge_edge<P>(gathered_edge(0, of_A + first), gathered_edge(1, of_B + first), radii, problem_.edges);
    const std::uint32_t chosen =
        first_lanes(count - first) & bits(pair.weight > P(0) && pair.distance < P(problem_.reach));
    if (chosen == 0) continue;
    s_.lacks_candidate_room = candidates + W > s_.candidate_room;
    if (s_.lacks_candidate_room) return false;
    const GateInput<P> gates = gate_input(pair);
    const auto put = [&](int c, const P& x) { x.store_chosen(s_.candidates[c] + candidates, chosen); };
    for (int i = 0; i < 3; ++i) {
      put(k_contact_point + i, pair.point[i]);
      put(k_contact_normal + i, pair.normal[i]);
      put(k_candidate_probe + i, pair.probe[i]);
    }
    put(k_contact_distance, pair.distance);
    put(k_contact_weight, pair.weight);
    put(k_candidate_middle, gates.middle);
    put(k_candidate_wedges, gates.wedges[0]);
    put(k_candidate_wedges + 1, gates.wedges[1]);
    for (std::uint32_t left = chosen; left != 0; left &= left - 1) {
      const int i = first + std::countr_zero(left);
      s_.candidate_edges[0][candidates] = of_A[i];
      s_.candidate_edges[1][candidates++] = of_B[i];
    }
  }
  return true;
}

template <typename T, ManifoldOrder order>
bool PairKernel<T, order>::pass_gates(int candidates) {
  if (candidates == 0) return true;
  for (int i = candidates; i % W != 0; ++i) {
    for (T* const numbers : s_.candidates) numbers[i] = numbers[candidates - 1];
  }
  const P radii[2] = {P(body(0).contact_radius), P(body(1).contact_radius)};
  const int begin = block_.count;
  for (int first = 0; first < candidates; first += W) {
    const auto of = [&](int c) { return P::load(s_.candidates[c] + first); };
    const std::uint32_t all = first_lanes(candidates - first);
    P distances[2];
    for (int side = 0; side < 2; ++side) {
      const Vec3<P> probe(of(k_candidate_probe), of(k_candidate_probe + 1), of(k_candidate_probe + 2));
      distances[side] = sample_at_probe<SdfOrder::distance>(side, probe, all).distance + radii[side];
    }
    const GateInput<P> input{of(k_candidate_middle), {of(k_candidate_wedges), of(k_candidate_wedges + 1)}};
    const P weight =
        of(k_contact_weight) * edge_gates<P>(input, distances, problem_.edges).both * P(edges_left_);
    const std::uint32_t chosen = all & bits(weight > P(0));
    if (chosen == 0) continue;
    if (block_.count + W > block_.capacity) return false;
    for (int c = 0; c < k_contact_weight; ++c) of(c).store_chosen(column(c), chosen);
    weight.store_chosen(column(k_contact_weight), chosen);
    (weight * activity(of(k_contact_distance))).store_chosen(column(k_contact_activity), chosen);
    int count = 0;
    for (std::uint32_t left = chosen; left != 0; left &= left - 1, ++count) {
      T areas = 0;
      for (int side = 0; side < 2; ++side) {
        const int edge = s_.candidate_edges[side][first + std::countr_zero(left)];
        features(side)[count] = body(side).edges.edge[static_cast<std::size_t>(edge)];
        s_.candidate_edges[side][block_.count - begin + count] = edge;  // moves up
        areas += body(side).edge_geometry.column(k_edge_area)[edge];
      }
      column(k_contact_area)[count] = T(0.5) * areas;
    }
    block_.count += count;
  }
  if constexpr (order != ManifoldOrder::value) {
    const int count = block_.count - begin;
    if (begin + count + W > block_.capacity) return false;
    fill_up(s_.candidate_edges, count);
    for (int first = 0; first < count; first += W)
      store_edge_derivatives(first, first_lanes(count - first), begin + first);
  }
  return true;
}

/// A body's solid at points of C near which it may be; far away elsewhere.
template <typename T, ManifoldOrder order>
template <SdfOrder sdf_order>
SdfAnswer<sdf_order, Lanes<T>> PairKernel<T, order>::sample_at_probe(int side, const Vec3<P>& probe,
                                                                     std::uint32_t lanes) const {
  const auto& [R, p] = X_.in_center[side];
  const Vec3<P> from_origin(probe[0] - P(p[0]), probe[1] - P(p[1]), probe[2] - P(p[2]));
  const Vec3<P> x = rotated(Mat3<T>(R.transpose()), from_origin);
  // Gates close by phi_b + r_b = (reach + r_A + r_B)/2 + 4.7 tau_p; the reach is at least 4 tau_p.
  const T thinner = T(0.5) * std::max(body(1 - side).contact_radius - body(side).contact_radius, T(0));
  const std::uint64_t primitives = primitives_near(
      body(side), x, problem_.reach + thinner + T(4) * problem_.activity_smoothing, culling(), lanes);
  if (lanes != 0) return sample_solid<sdf_order, T>(body(side), primitives, x);
  SdfAnswer<sdf_order, P> far;
  far.distance = P(T(1e9));
  if constexpr (sdf_order >= SdfOrder::normal) far.normal.setConstant(P(0));
  if constexpr (sdf_order >= SdfOrder::gradient) far.gradient.setConstant(P(0));
  return far;
}

/// Of the pack of pairs of edges from `first` on, which are contacts from `contact` on.
template <typename T, ManifoldOrder order>
void PairKernel<T, order>::store_edge_derivatives(int first, std::uint32_t lanes, int contact) {
  using namespace convex_edges_detail;
  const P radii[2] = {P(body(0).contact_radius), P(body(1).contact_radius)};
  const ConvexEdge<P> A = gathered_edge(0, s_.candidate_edges[0] + first),
                      B = gathered_edge(1, s_.candidate_edges[1] + first);
  const EdgeEdge<P> pair = edge_edge<P>(A, B, radii, problem_.edges);

  // n stays perpendicular to A and turns with B; the distance changes as where the line of B crosses that of
  // A moves.
  const Vec3<P> unsigned_normal = scaled(pair.sign, pair.normal), between = plus(B.start, P(-1), A.start);
  const P to_crossing = (P(0) - dot(cross(unsigned_normal, A.direction), between)) * pair.inverse_sine;
  const Vec3<P> crossing = plus(B.start, to_crossing, B.direction);
  const MotionRow<P> distance_row{cross(crossing, pair.normal), pair.normal};
  store_row(k_distance_by_motion, contact, distance_row);
  const P cosine = dot(A.direction, B.direction);
  const Vec3<P> turned =
      scaled(P(pair.inverse_sine * pair.inverse_sine), plus(B.direction, P(P(0) - cosine), A.direction));
  const Vec3<P> lever = cross(pair.normal, B.direction);  // dn = turned (w.(n x t_B))
  const Vec3<P> none(P(0), P(0), P(0));
  for (int i = 0; i < 3; ++i)
    store_row(k_normal_by_motion + 6 * i, contact, {scaled(turned[i], lever), none});

  if constexpr (order == ManifoldOrder::complete) {
    SdfSample<P> samples[2];
    Vec3<P> gradients[2];
    P distances[2];
    for (int side = 0; side < 2; ++side) {
      samples[side] = sample_at_probe<SdfOrder::gradient>(side, pair.probe, lanes);
      gradients[side] = rotated(X_.in_center[side].R, samples[side].gradient);
      distances[side] = samples[side].distance + radii[side];
    }
    const EdgeGates<P> gates = edge_gates<P>(gate_input(pair), distances, problem_.edges);
    const P by_weight = activity(pair.distance);
    for (int output = 0; output < 4; ++output) {  // point, activity
      EdgeEdgeBar<P> bar{none, none, P(0), P(0), {P(0), P(0)}, none};
      Vec3<P> force_of_B = none;
      if (output < 3) {
        bar.point[output] = P(1);
      } else {
        bar.distance = pair.weight * gates.both * activity_slope(pair.distance);
        bar.weight = by_weight * gates.both;
        for (int side = 0; side < 2; ++side) {
          bar.gates[side] = by_weight * pair.weight * gates.by_distance[side];
          bar.probe = plus(bar.probe, bar.gates[side], gradients[side]);
        }
        force_of_B = scaled(P(P(0) - bar.gates[1]), gradients[1]);  // the solid moves under the probe
      }
      ConvexEdge<P> A_bar, B_bar;
      P radii_bar[2];
      edge_edge_vjp<P>(A, B, radii, pair, problem_.edges, bar, A_bar, B_bar, radii_bar);
      MotionRow<P> row{cross(B.start, B_bar.start), plus(B_bar.start, P(1), force_of_B)};
      row.w = plus(row.w, P(1), cross(B.direction, B_bar.direction));
      for (int face = 0; face < 2; ++face)
        row.w = plus(row.w, P(1), cross(B.face_normals[face], B_bar.face_normals[face]));
      row.w = plus(row.w, P(1), cross(pair.probe, force_of_B));
      if (output < 3) {
        store_row(k_point_by_motion + 6 * output, contact, row);
        continue;
      }
      row = scaled_row(P(edges_left_), row);
      const P whole = P(edges_left_) * by_weight * pair.weight * gates.both;
      for (int k = 0; k < 3; ++k) {
        row.w[k] = row.w[k] + whole * P(edges_left_by_motion_[k]);
        row.v[k] = row.v[k] + whole * P(edges_left_by_motion_[3 + k]);
      }
      store_row(k_activity_by_motion, contact, row);
    }
  }
}

}  // namespace ABUT_SIMD
}  // namespace abut
