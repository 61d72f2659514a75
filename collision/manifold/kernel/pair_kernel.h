/// All contacts of a pair of bodies at one state, lanes at a time.
///
///   vertices  which flat faces lie flush on the other's solid (flush_faces.h); their supports: contacts
///             -> other points with weight near it, by blocks and bounds -> the solid at these; contacts
///   edges     blocks of edges near the other's solid
///             -> pairs that may be in contact (edge_search.h) -> pairs with weight (convex_edges.h)
///             -> both solids at their probes, gates; contacts
/// Bounds leave out nothing that has weight. For instruction sets see engine/pack.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "collision/manifold/facing_area.h"
#include "collision/manifold/kernel/edge_search.h"
#include "collision/manifold/kernel/flush_lanes.h"
#include "collision/manifold/kernel/pair_kernels.h"
#include "collision/manifold/kernel/solid_lanes.h"
#include "engine/pack.h"
#include "engine/smooth.h"

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

/// A derivative by the motion (w; v) of B about C's origin.
template <typename P>
struct MotionRow {
  Vec3<P> w, v;
};

/// A solid at contact points of the other body: what both bodies' motion makes of it.
template <typename P>
struct SolidAtPoints {
  Vec3<P> x;                 ///< the points, in C [m]
  Vec3<P> normal;            ///< from A to B
  MotionRow<P> by_distance;  ///< of the signed distance
  MotionRow<P> by_normal[3];
};

template <typename T, ManifoldOrder order>
class PairKernel {
 public:
  using P = Lanes<T>;
  static constexpr int W = k_width<T>;

  PairKernel(const PairProblem<T>& problem, const PairPoses<T>& X, PairScratch<T>& scratch,
             ContactBlock<T>& block)
      : problem_(problem), X_(X), s_(scratch), block_(block) {}

  /// Appends the contacts to the block, if there is room; says whether there was.
  [[nodiscard]] bool run() {
    const int begin = block_.count;
    s_.faces_change = false;
    const bool has_room = append_all();
    if (!has_room) block_.count = begin;
    return has_room;
  }

 private:
  [[nodiscard]] const BodyFeatures<T>& body(int side) const { return *problem_.bodies[side]; }
  [[nodiscard]] CullBuffers<T> culling() const { return {s_.kept, s_.nearby, s_.lower}; }
  [[nodiscard]] static ABUT_INLINE std::uint32_t first_lanes(int count) {
    return count >= W ? ~0u >> (32 - W) : (1u << count) - 1u;
  }
  [[nodiscard]] ABUT_INLINE T* column(int c) const {
    return block_.numbers.data() + static_cast<std::ptrdiff_t>(c) * block_.capacity + block_.count;
  }
  [[nodiscard]] ABUT_INLINE int* features(int side) const {
    return block_.features.data() + static_cast<std::ptrdiff_t>(side) * block_.capacity + block_.count;
  }
  [[nodiscard]] static ABUT_INLINE Vec3<P> loaded(const T* numbers, std::ptrdiff_t stride) {
    return {P::load(numbers), P::load(numbers + stride), P::load(numbers + 2 * stride)};
  }

  /// d activity / d distance of weight 1.
  [[nodiscard]] ABUT_INLINE P activity_slope(const P& distance) const {
    const T per_distance = T(-0.125) / problem_.activity_smoothing;
    return P(per_distance) * smoothstep5_dx<P>(fma(distance, P(per_distance), P(T(0.5))));
  }
  [[nodiscard]] ABUT_INLINE P activity(const P& distance) const {
    return smoothstep5<P>(fma(distance, P(T(-0.125) / problem_.activity_smoothing), P(T(0.5))));
  }
  [[nodiscard]] static ABUT_INLINE MotionRow<P> scaled_row(const P& s, const MotionRow<P>& row) {
    return {{s * row.w[0], s * row.w[1], s * row.w[2]}, {s * row.v[0], s * row.v[1], s * row.v[2]}};
  }
  /// Adds (w x x + v)_i.
  static ABUT_INLINE void add_motion_of_point(int i, const Vec3<P>& x, MotionRow<P>& row) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    row.w[j] = row.w[j] + x[k];
    row.w[k] = row.w[k] - x[j];
    row.v[i] = row.v[i] + P(1);
  }
  ABUT_INLINE void store_row(int columns, int contact, const MotionRow<P>& row) const {
    T* const to = block_.numbers.data() + contact;
    for (int i = 0; i < 3; ++i) {
      row.w[i].store(to + static_cast<std::ptrdiff_t>(columns + i) * block_.capacity);
      row.v[i].store(to + static_cast<std::ptrdiff_t>(columns + 3 + i) * block_.capacity);
    }
  }

  [[nodiscard]] bool append_all() {
    for (int side = 0; side < 2; ++side) {
      if (problem_.vertices[side] && !vertex_contacts(side)) return false;
      block_.ends[side] = block_.count;
    }
    if (problem_.edge_edge && !edge_contacts()) return false;
    block_.ends[k_edge_pairs] = block_.count;
    return true;
  }
  [[nodiscard]] bool vertex_contacts(int side);
  /// Contact points near a solid.
  struct PointPack {
    Vec3<P> x;                   ///< in the solid's frame [m]
    const std::int32_t* places;  ///< in PointBlocks
    std::uint32_t lanes;
    std::uint64_t primitives;  ///< that matter
  };
  [[nodiscard]] bool append_vertices(int side, bool has_flush, const PointPack& pack,
                                     const SdfAnswer<SdfOrder::normal, P>& sample, PointList<T>& touching);
  [[nodiscard]] SolidAtPoints<P> linearized(int side, const SdfSampleJacobian<P>& sample,
                                            const Vec3<P>& x_S) const;
  void store_vertex_derivatives(int side, const SdfSampleJacobian<P>& sample, const Vec3<P>& x_S,
                                const P& weight, int contact);
  void add_flush_derivatives(int side, const FlushLanes<T>& faces);
  [[nodiscard]] bool edge_contacts();
  int find_near_blocks(int side);
  [[nodiscard]] bool relate_pairs(int count, int& candidates);
  [[nodiscard]] bool pass_gates(int candidates);
  void store_edge_derivatives(int first, std::uint32_t lanes, int contact);
  template <SdfOrder sdf_order>
  [[nodiscard]] SdfAnswer<sdf_order, P> sample_at_probe(int side, const Vec3<P>& probe,
                                                        std::uint32_t lanes) const;
  [[nodiscard]] ABUT_INLINE ConvexEdge<P> gathered_edge(int side, const std::int32_t* which) const;
  /// Up to a whole pack, with copies of the last one.
  static void fill_up(std::int32_t* const (&edges)[2], int count) {
    for (int i = count; i % W != 0; ++i) {
      for (std::int32_t* const of_side : edges) of_side[i] = of_side[count - 1];
    }
  }

  const PairProblem<T>& problem_;
  const PairPoses<T>& X_;
  PairScratch<T>& s_;
  ContactBlock<T>& block_;
  T edges_left_ = 1;                // of the weights of edges, by flush faces
  T edges_left_by_motion_[6] = {};  // d(log of it)/d(motion)
};

// Vertices --------------------------------------------------------------------------------------------------

template <typename T, ManifoldOrder order>
bool PairKernel<T, order>::vertex_contacts(int side) {
  const BodyFeatures<T>&owner = body(side), &solid = body(1 - side);
  if (owner.points.points == 0 || solid.bounds.empty()) return true;
  const auto& [R, p] = X_.in_other[side];
  const FlushLanes<T> faces(problem_, X_, side, s_);
  const int flush_faces = faces.find(edges_left_);
  const bool has_flush = flush_faces > 0;
  PointList<T> touching{s_.touching[0], s_.touching[1], s_.touching[2], s_.touching[3],
                        s_.touching_primitives};
  touching.clear();
  const int begin = block_.count;
  if constexpr (order == ManifoldOrder::complete) {
    if (has_flush) std::fill_n(s_.contact_of_point, std::ptrdiff_t{owner.points.blocks} * k_block, -1);
  }

  for (int i = 0; i < flush_faces; ++i) {
    const auto& face = owner.flat_faces.faces[at(s_.flush_faces[i])];
    for (int k = 0; k < face.supports; k += W) {
      const int first = face.first_support + k;
      const std::int32_t* const places = owner.flat_faces.place.data() + first;
      const std::uint32_t lanes = first_lanes(face.supports - k) & bits(P::gather(s_.weights, places) > P(0));
      if (!append_vertices(side, has_flush, {faces.supports(first), places, lanes, 1},
                           faces.at_supports(first), touching))
        return false;
      for (int lane = 0; lane < std::min(W, face.supports - k); ++lane) s_.weights[places[lane]] = T(0);
    }
  }
  PointList<T> list{s_.list[0], s_.list[1], s_.list[2], s_.list[3], s_.list_primitives};
  list.clear();
  append_near_points(owner, solid, R, p, has_flush ? s_.weights : nullptr,
                     CullDistances<T>(solid, problem_.reach + owner.contact_radius), culling(), list);
  list.finish();
  for (int group = 0; group < list.groups(); ++group) {
    const int first = group * W;
    std::int32_t places[W];
    for (int i = 0; i < W; ++i) places[i] = static_cast<std::int32_t>(list.id[first + i]);
    const PointPack pack{loaded(list.x + first, list.y - list.x), places, first_lanes(list.count - first),
                         list.primitives[group]};
    if (!append_vertices(side, has_flush, pack,
                         sample_solid<SdfOrder::normal, T>(solid, pack.primitives, pack.x), touching))
      return false;
  }

  if constexpr (order != ManifoldOrder::value) {
    touching.finish();
    if (begin + touching.groups() * W > block_.capacity) return false;
    for (int group = 0; group < touching.groups(); ++group) {
      const int first = begin + group * W;
      const Vec3<P> x = loaded(touching.x + group * W, touching.y - touching.x);
      const auto sample = sample_solid<SdfOrder::jacobian, T>(solid, touching.primitives[group], x);
      const P weight = P::load(block_.numbers.data() +
                               static_cast<std::ptrdiff_t>(k_contact_weight) * block_.capacity + first);
      store_vertex_derivatives(side, sample, x, weight, first);
    }
    if constexpr (order == ManifoldOrder::complete) {
      if (has_flush) add_flush_derivatives(side, faces);
    }
  }
  return true;
}

/// Appends those of a pack of contact points that touch the solid, given what it answers there.
template <typename T, ManifoldOrder order>
ABUT_INLINE bool PairKernel<T, order>::append_vertices(int side, bool has_flush, const PointPack& pack,
                                                       const SdfAnswer<SdfOrder::normal, P>& sample,
                                                       PointList<T>& touching) {
  const BodyFeatures<T>& owner = body(side);
  const P radius(owner.contact_radius), sign(side == 0 ? T(-1) : T(1));  // out of the solid, from A to B
  const P distance = sample.distance - radius;
  const std::uint32_t chosen = pack.lanes & bits(distance < P(problem_.reach));
  if (chosen == 0) return true;
  if (block_.count + W > block_.capacity) return false;
  const auto& [R_CS, p_CS] = X_.in_center[1 - side];
  const Vec3<P> n = rotated(R_CS, sample.normal), x_C = moved(R_CS, p_CS, pack.x[0], pack.x[1], pack.x[2]);
  const P inward = radius + P(T(0.5)) * distance;
  for (int i = 0; i < 3; ++i) {
    (x_C[i] - inward * n[i]).store_chosen(column(k_contact_point + i), chosen);
    (sign * n[i]).store_chosen(column(k_contact_normal + i), chosen);
  }
  const P weight = has_flush ? P::gather(s_.weights, pack.places) : P(1);
  distance.store_chosen(column(k_contact_distance), chosen);
  weight.store_chosen(column(k_contact_weight), chosen);
  (weight * activity(distance)).store_chosen(column(k_contact_activity), chosen);
  P area = P::gather(owner.points.area.data(), pack.places);
  if (!owner.points.area_x.empty()) {
    const Vec3<P> vector =
        rotated(X_.in_other[side].R, Vec3<P>(P::gather(owner.points.area_x.data(), pack.places),
                                             P::gather(owner.points.area_y.data(), pack.places),
                                             P::gather(owner.points.area_z.data(), pack.places)));
    area = facing_area<P>(area, convex_edges_detail::dot(vector, sample.normal));
  }
  if (has_flush) area = area * P::gather(s_.area_factors, pack.places);
  area.store_chosen(column(k_contact_area), chosen);
  int *const of_owner = features(side), *const of_solid = features(1 - side);
  int count = 0;
  for (std::uint32_t left = chosen; left != 0; left &= left - 1) {
    const std::int32_t place = pack.places[std::countr_zero(left)];
    if constexpr (order == ManifoldOrder::complete) {
      if (has_flush) s_.contact_of_point[place] = block_.count + count;
    }
    of_owner[count] = owner.points.point[static_cast<std::size_t>(place)];
    of_solid[count++] = -1;
  }
  block_.count += count;
  if constexpr (order != ManifoldOrder::value) touching.append(pack.x, P(0), chosen, pack.primitives);
  return true;
}

/// A point of B moves by w x x + v; one of A, in the eyes of B, by the opposite, and B's normals turn.
template <typename T, ManifoldOrder order>
SolidAtPoints<Lanes<T>> PairKernel<T, order>::linearized(int side, const SdfSampleJacobian<P>& sample,
                                                         const Vec3<P>& x_S) const {
  using convex_edges_detail::cross;
  const bool is_point_of_B = side == 1;
  const auto& [R, p] = X_.in_center[1 - side];
  const Vec3<P> x = moved(R, p, x_S[0], x_S[1], x_S[2]), n = rotated(R, sample.normal),
                g = rotated(R, sample.gradient);
  Vec3<P> columns[3], rows[3];  // of dn/dx: R J R^T
  for (int j = 0; j < 3; ++j)
    columns[j] = rotated(
        R, Vec3<P>(sample.normal_jacobian(0, j), sample.normal_jacobian(1, j), sample.normal_jacobian(2, j)));
  for (int i = 0; i < 3; ++i) rows[i] = rotated(R, Vec3<P>(columns[0][i], columns[1][i], columns[2][i]));
  const P sign(is_point_of_B ? T(1) : T(-1));
  const Vec3<P> by_point(sign * g[0], sign * g[1], sign * g[2]);
  SolidAtPoints<P> at{x, convex_edges_detail::scaled(sign, n), {cross(x, by_point), by_point}, {}};
  for (int i = 0; i < 3; ++i) {  // of the normal from A to B, the sign of which is that of the motion
    at.by_normal[i] = {cross(x, rows[i]), rows[i]};
    if (!is_point_of_B) {  // -(w x n)_i
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      at.by_normal[i].w[j] = at.by_normal[i].w[j] - n[k];
      at.by_normal[i].w[k] = at.by_normal[i].w[k] + n[j];
    }
  }
  return at;
}

template <typename T, ManifoldOrder order>
void PairKernel<T, order>::store_vertex_derivatives(int side, const SdfSampleJacobian<P>& sample,
                                                    const Vec3<P>& x_S, const P& weight, int contact) {
  const SolidAtPoints<P> at = linearized(side, sample, x_S);
  store_row(k_distance_by_motion, contact, at.by_distance);
  for (int i = 0; i < 3; ++i) store_row(k_normal_by_motion + 6 * i, contact, at.by_normal[i]);
  if constexpr (order == ManifoldOrder::complete) {
    const P sign(side == 1 ? T(1) : T(-1)), radius(body(side).contact_radius),
        distance = sample.distance - radius, inward = radius + P(T(0.5)) * distance;
    for (int i = 0; i < 3; ++i) {  // x - (r + d/2) n
      const P by_distance = P(T(-0.5)) * (sign * at.normal[i]), by_normal = P(0) - inward * sign;
      MotionRow<P> row;
      for (int k = 0; k < 3; ++k) {
        row.w[k] = by_distance * at.by_distance.w[k] + by_normal * at.by_normal[i].w[k];
        row.v[k] = by_distance * at.by_distance.v[k] + by_normal * at.by_normal[i].v[k];
      }
      if (side == 1) add_motion_of_point(i, at.x, row);
      store_row(k_point_by_motion + 6 * i, contact, row);
    }
    store_row(k_activity_by_motion, contact, scaled_row(weight * activity_slope(distance), at.by_distance));
  }
}

/// Adds to the derivatives of activities what changes with how flush the faces of a body lie: the weights
/// 1 - psi of points that are no supports, and what is left of edges.
template <typename T, ManifoldOrder order>
void PairKernel<T, order>::add_flush_derivatives(int side, const FlushLanes<T>& faces) {
  const BodyFeatures<T>&owner = body(side), &solid = body(1 - side);
  faces.each([&](int which, T flush, T slope) {
    if (slope == T(0) || flush >= T(1)) return;
    const auto& face = owner.flat_faces.faces[at(which)];
    T means[4] = {}, row[6] = {};  // of distances and normals; dQ/d(motion)
    const auto add = [&](T by_number, const MotionRow<P>& by_motion, int lane) {
      for (int k = 0; k < 3; ++k) {
        row[k] += by_number * by_motion.w[k][lane];
        row[3 + k] += by_number * by_motion.v[k][lane];
      }
    };
    const Vec3<P> middle = faces.middle_of(which);
    const auto in_middle = sample_solid<SdfOrder::jacobian, T>(solid, 1, middle);
    const T share = T(1) / static_cast<T>(face.supports);
    T gap = 0;                                   // by its band, squared
    for (const bool is_known : {false, true}) {  // the means
      for (int first = 0; first < face.supports; first += W) {
        const Vec3<P> x = faces.supports(face.first_support + first);
        const auto sample = sample_solid<SdfOrder::jacobian, T>(solid, 1, x);
        const SolidAtPoints<P> there = linearized(side, sample, x);
        const P numbers[4] = {sample.distance, there.normal[0], there.normal[1], there.normal[2]};
        const MotionRow<P>* const rows[4] = {&there.by_distance, &there.by_normal[0], &there.by_normal[1],
                                             &there.by_normal[2]};
        const int lanes = std::min(W, face.supports - first);
        for (int i = 0; i < 4; ++i) {
          const T scale = T(1) / (i == 0 ? problem_.flush_distance : problem_.flush_normal);
          for (int lane = 0; lane < lanes; ++lane) {
            if (!is_known) {
              means[i] += share * numbers[i][lane];
              continue;
            }
            T by_number = T(2) * share * scale * scale * (numbers[i][lane] - means[i]);
            if (i == 0)
              by_number +=
                  T(2) * share *
                  ((means[0] - owner.contact_radius) / (problem_.flush_away * problem_.flush_away) + gap);
            add(by_number, *rows[i], lane);
          }
        }
      }
      gap = (means[0] - in_middle.distance[0]) / (problem_.flush_gap * problem_.flush_gap);
    }
    const SolidAtPoints<P> there = linearized(side, in_middle, middle);
    add(T(-2) * gap, there.by_distance, 0);
    const T turn = owner.flat_faces.reach[at(which)] / problem_.flush_distance,
            out = side == 1 ? T(1) : T(-1);  // of the solid, along the normal from A to B
    const Vec3<T> normal = out * (X_.in_center[side].R * faces.normal_of(which));
    for (int i = 0; i < 3; ++i) {
      const T by_off = T(2) * turn * turn * (there.normal[i][0] + normal[i]);
      add(by_off, there.by_normal[i], 0);
      if (side == 0) continue;
      const int j = (i + 1) % 3, k = (i + 2) % 3;  // the face turns with B: (w x f)_i
      row[j] += by_off * normal[k];
      row[k] -= by_off * normal[j];
    }
    for (int c = 0; c < 6 && owner.is_convex; ++c)
      edges_left_by_motion_[c] -= slope / (T(1) - flush) * row[c];
    for (int k = face.first_point; k < face.first_point + face.points; ++k) {
      const auto [place, factor] = owner.flat_faces.points[static_cast<std::size_t>(k)];
      const int contact = s_.contact_of_point[place];
      if (factor > T(0) || contact < 0) continue;
      const P distance(block_.number(k_contact_distance, contact));
      const T by_row = T(0) - activity(distance)[0] * slope;
      for (int c = 0; c < 6; ++c)
        block_.set_number(k_activity_by_motion + c, contact,
                          block_.number(k_activity_by_motion + c, contact) + by_row * row[c]);
    }
  });
}

// Edges ----------------------------------------------------------------------------------------

/// Marks the blocks of edges that may touch the other solid, and says how many there are.
template <typename T, ManifoldOrder order>
int PairKernel<T, order>::find_near_blocks(int side) {
  const BodyFeatures<T>&owner = body(side), &solid = body(1 - side);
  const EdgeBlocks& edges = owner.edges;
  const Columns<T>& balls = owner.edge_balls;
  // The probe lies, seen along n, midway between the witness points; within 1.25 times the depth of both.
  const CullDistances<T> culled(solid, problem_.reach + owner.contact_radius +
                                           T(1.25) * problem_.edges.deepest + T(0.5) * problem_.beside +
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

// Edges: contacts -------------------------------------------------------------------------------------------

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
  std::int32_t *const of_A = s_.search.pairs[0], *const of_B = s_.search.pairs[1];
  fill_up(s_.search.pairs, count);
  for (int first = 0; first < count; first += W) {
    const EdgeEdge<P> pair =
        edge_edge<P>(gathered_edge(0, of_A + first), gathered_edge(1, of_B + first), radii, problem_.edges);
    const std::uint32_t chosen =
        first_lanes(count - first) & bits(pair.weight > P(0) && pair.distance < P(problem_.reach));
    if (chosen == 0) continue;
    if (candidates + W > s_.candidate_room) return false;
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

template <typename T>
bool find_contacts_by_lanes(const PairProblem<T>& problem, const PairPoses<T>& X, PairScratch<T>& scratch,
                            ContactBlock<T>& block) {
  switch (block.order) {
    case ManifoldOrder::value:
      return PairKernel<T, ManifoldOrder::value>(problem, X, scratch, block).run();
    case ManifoldOrder::jacobian:
      return PairKernel<T, ManifoldOrder::jacobian>(problem, X, scratch, block).run();
    case ManifoldOrder::complete:
      break;
  }
  return PairKernel<T, ManifoldOrder::complete>(problem, X, scratch, block).run();
}

}  // namespace ABUT_SIMD
}  // namespace abut
