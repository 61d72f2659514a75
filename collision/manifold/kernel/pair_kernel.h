/// All contacts of a pair of bodies at one state, lanes at a time.
///
///   vertices  which flat faces lie flush on the other's solid (flush_faces.h); their supports: contacts
///             -> other points with weight near it, by blocks and bounds -> the solid at these
///             -> those whose normal cones allow it: contacts -> how deep the pair is; weights
///   edges     blocks of edges near the other's solid
///             -> pairs that may be in contact (edge_search.h) -> pairs with weight (convex_edges.h)
///             -> both solids at their probes, gates; contacts
/// Bounds leave out nothing that has weight. For instruction sets see engine/pack.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collision/manifold/kernel/cone_lanes.h"
#include "collision/manifold/kernel/flush_lanes.h"
#include "collision/manifold/kernel/pair_kernels.h"
#include "collision/manifold/kernel/slide_lanes.h"
#include "collision/manifold/kernel/solid_lanes.h"
#include "engine/pack.h"
#include "engine/smooth.h"

namespace abut {
inline namespace ABUT_SIMD {

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
      : problem_(problem),
        X_(X),
        s_(scratch),
        block_(block),
        touching_{{touching_points(scratch, 0, 0), touching_points(scratch, 0, 1)},
                  {touching_points(scratch, 1, 0), touching_points(scratch, 1, 1)}} {}

  /// Appends the contacts to the block, if there is room; says whether there was.
  [[nodiscard]] bool run() {
    const int begin = block_.count;
    s_.faces_change = s_.lacks_candidate_room = false;
    const bool has_room = append_all();
    if (!has_room) block_.count = begin;
    return has_room;
  }

 private:
  [[nodiscard]] static PointList<T> touching_points(PairScratch<T>& scratch, int side, int slid) {
    T* const(&columns)[4] = scratch.touching[side][slid];
    PointList<T> points{columns[0], columns[1], columns[2], columns[3],
                        scratch.touching_primitives[side][slid]};
    points.clear();
    return points;
  }
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
    const int begin = block_.count;
    PatchSums<T> sums;
    if (!append_vertices(sums)) return false;
    if (leaves_out_ && PatchShare<T>(sums).value > T(0)) {
      block_.count = begin;
      takes_all_ = true;
      if (!append_vertices(sums)) return false;
    }
    const PatchShare<T> patch(sums);
    s_.patch = patch.value;
    for (int side = 0; side < 2; ++side) weigh_vertices(side);
    if constexpr (order != ManifoldOrder::value) {
      if (!vertex_derivatives(patch)) return false;
    }
    if (problem_.edge_edge && !edge_contacts()) return false;
    block_.ends[k_edge_pairs] = block_.count;
    return true;
  }
  /// Appends contacts of vertices of both sides, but for their weights; unless it takes all, without those that have none
  /// outside of a patch.
  [[nodiscard]] bool append_vertices(PatchSums<T>& sums) {
    PatchSums<T> of_sides[2];
    edges_left_ = T(1);
    for (int side = 0; side < 2; ++side) {
      for (PointList<T>& touching : touching_[side]) touching.clear();
      first_vertex_[side] = block_.count;
      if (problem_.vertices[side] && !vertex_contacts(side, of_sides[side])) return false;
      first_slid_[side] = block_.count;
      if (problem_.vertices[side] && !slid_contacts(side)) return false;
      block_.ends[side] = block_.count;
    }
    sums = {of_sides[0].fourths + of_sides[1].fourths, of_sides[0].cubes + of_sides[1].cubes};
    return true;
  }
  [[nodiscard]] bool vertex_contacts(int side, PatchSums<T>& sums);
  void weigh_vertices(int side);
  template <typename F>
  void weigh_vertices(int begin, int end, const F& closest);
  [[nodiscard]] bool slid_contacts(int side);
  [[nodiscard]] SlideLanes<T> slide_lanes(int side) const {
    return {body(side), body(1 - side), X_.in_other[side], problem_.reach, culling()};
  }
  /// For each contact point of a pack 1 if it may be the closest feature of its body, else 0.
  [[nodiscard]] ABUT_INLINE P is_feature(int side, const std::int32_t* points) const {
    if (!problem_.vertices[1 - side] || !body(1 - side).is_round) return P(1);
    return P::gather(body(side).point_edges.is_feature.data(), points);
  }
  /// f of contact points, of seeds before they have arrived.
  [[nodiscard]] ABUT_INLINE P patch_floor(int side, const std::int32_t* points) const {
    return P::gather(body(side).point_edges.floor.data(), points);
  }
  [[nodiscard]] bool vertex_derivatives(const PatchShare<T>& patch);
  /// Contact points near a solid.
  struct PointPack {
    Vec3<P> x;                   ///< in the solid's frame [m]
    const std::int32_t* places;  ///< in PointBlocks
    std::uint32_t lanes;
    std::uint64_t primitives;  ///< that matter
  };
  [[nodiscard]] bool append_vertices(int side, const PointPack& pack,
                                     const SdfAnswer<SdfOrder::normal, P>& sample, PatchSums<T>& sums);
  /// Contact points, normals and distances of a pack of contacts; vectors are in the solid's frame.
  struct VertexPoints {
    const std::int32_t *points, *places;
    Vec3<P> x;
    P distance;
    Vec3<P> normal;  ///< of the solid
    P along;         ///< A.n, with the area vector turned as the surface is [m^2]
    ConePair<P> cones;
    P floor;
    bool slid;
  };
  /// b of the patch's sums, but for C(w_p).
  [[nodiscard]] ABUT_INLINE P share_of(int side, const std::int32_t* places, bool slid) const {
    if (slid) return P(0);
    const P area = P::gather(body(side).points.area.data(), places) * P(problem_.inverse_area);
    return has_flush_[side] ? P::gather(s_.weights, places) * area : area;
  }
  /// For a pack more, and for the packs in which weigh_vertices() stores, which begin at any of its contacts.
  [[nodiscard]] bool has_room_for_vertices() const { return block_.count + 2 * W <= block_.capacity; }
  void store_vertices(int side, const VertexPoints& at, std::uint32_t chosen);
  [[nodiscard]] bool append_slid(int side, const SlideLanes<T>& slide, const PointPack& pack,
                                 const SdfAnswer<SdfOrder::normal, P>& sample);
  void store_slid_derivatives(int side, const SlideLanes<T>& slide, const PointPack& pack,
                              const PatchShare<T>& patch, int contact);
  [[nodiscard]] SolidAtPoints<P> linearized(int side, const SdfSampleJacobian<P>& sample,
                                            const Vec3<P>& x_S) const;
  void store_vertex_derivatives(int side, const SdfSampleJacobian<P>& sample, const Vec3<P>& x_S,
                                const PatchShare<T>& patch, int contact);
  [[nodiscard]] MotionRow<P> cone_by_motion(int side, const SolidAtPoints<P>& at,
                                            const Vec3<P>& by_normal) const;
  void add_flush_derivatives(int side, const PatchShare<T>& patch);
  [[nodiscard]] bool edge_contacts();
  int find_near_blocks(int side);
  [[nodiscard]] bool relate_pairs(int count, int& candidates);
  [[nodiscard]] bool pass_gates(int candidates);
  void store_edge_derivatives(int first, std::uint32_t lanes, int contact);
  template <SdfOrder sdf_order>
  [[nodiscard]] SdfAnswer<sdf_order, P> sample_at_probe(int side, const Vec3<P>& probe,
                                                        std::uint32_t lanes) const;
  [[nodiscard]] ABUT_INLINE ConvexEdge<P> gathered_edge(int side, const std::int32_t* which) const;
  /// A number of a vertex contact, from a place of the block on.
  [[nodiscard]] ABUT_INLINE T* vertex_number(VertexNumber number, int contact) const {
    return s_.vertices[number] + (contact - first_vertex_[0]);
  }
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
  PointList<T> touching_[2][2];     // points of A, of B that are contacts; those that slide
  int first_slid_[2] = {};          // contacts of A, of B that slide
  int first_vertex_[2] = {};        // contacts of A, of B
  bool has_flush_[2] = {};          // whether faces of A, of B lie flush
  bool takes_all_ = false;          // of contacts that have no weight outside of a patch
  bool leaves_out_ = false;         // whether there are such
  T patch_by_motion_[6] = {};       // dP/d(motion)
  T edges_left_ = 1;                // of the weights of edges, by flush faces
  T edges_left_by_motion_[6] = {};  // d(log of it)/d(motion)
};

}  // namespace ABUT_SIMD
}  // namespace abut
