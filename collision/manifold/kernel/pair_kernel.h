/// The smooth contact manifold of two bodies at one relative pose, lanes at a time.
///
/// Everything is in A's frame. The stages, for both directions where there are two:
///   near points    of one body to the other's solid, blocks and primitives culled by bounds
///   vertex-SDF     contacts of those with weight
///   edge metric    mean of the two ends' distances, clamped; soft-K weights (soft threshold)
///   witness points of all pairs of selected edges; neighbour sums of rows and columns
///   edge-edge      contacts of those with weight: distance to the other solid, normal, signed distance
///   derivatives    of what is left, by the relative motion (of activities: activity_derivatives.h)
/// @see  Beker et al., sections IV-C and IV-D; contact_config.h says what each setting does.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "collision/manifold/box_quadratic.h"
#include "collision/manifold/kernel/body_features.h"
#include "collision/manifold/kernel/pair_buffers.h"
#include "collision/manifold/kernel/solid_lanes.h"
#include "collision/manifold/soft_selection.h"
#include "engine/pack.h"
#include "engine/smooth.h"

namespace abut {
inline namespace ABUT_SIMD {

/// A derivative by the motion (w; v) of B about A's origin.
template <typename P>
struct MotionRow {
  Vec3<P> w, v;
};

template <typename T, ManifoldOrder order>
class PairKernel {
 public:
  using P = Lanes<T>;
  static constexpr int W = k_width<T>;

  PairKernel(const PairProblem<T>& problem, PairBuffers<T>& buffers) : problem_(problem), b_(buffers) {}

  /// Whether there was room for all pairs of selected edges; if not, b.selected says how many there are.
  [[nodiscard]] bool run(const RelativePose<T>& X_AB) {
    set_pose(X_AB);
    for (int& count : b_.count) count = 0;
    b_.contacts = 0;
    for (int side = 0; side < 2; ++side) vertex_contacts(side);
    if (!problem_.edge_edge) return true;
    for (int side = 0; side < 2; ++side) select_edges(side);
    if (b_.selected[0].count * b_.selected[1].padded > b_.pair_capacity) return false;
    edge_contacts();
    return true;
  }

 private:
  void set_pose(const RelativePose<T>& X_AB);
  void vertex_contacts(int side);
  void select_edges(int side);
  void edge_contacts();
  void edge_penetrations(int side);
  void store_edge_contacts();
  template <typename Sample, typename Put>
  void store_vertex_geometry(int side, const Sample& sample, const Vec3<P>& x_S, const Put& put);
  template <typename Sample, typename Put>
  void store_vertex_derivatives(int side, const Sample& sample, const Vec3<P>& x_S, const Put& put);
  template <typename Put>
  void store_distance_derivative(const MotionRow<P>& row, const Put& put);
  template <typename Put>
  void store_normal_derivative(const MotionRow<P> (&rows)[3], const Vec3<P>& normal, const Put& put);
  template <typename Put>
  void store_row(int columns, const MotionRow<P>& row, const Vec3<P>& turn_of_A, const Put& put);
  [[nodiscard]] Edge<P> gathered_edge(int side, const int (&index)[W]) const;

  // activity_derivatives.h, for ManifoldOrder::complete
  void differentiate_shares();
  void differentiate_weights(int side);
  void add_metric_derivative(int side, const int (&point)[W], Vec6<P>& metric_by_motion) const;
  template <typename Put>
  void store_vertex_point_and_activity(int side, const P& distance, const Vec3<P>& x_A, const Vec3<P>& normal,
                                       const MotionRow<P>& distance_row, const MotionRow<P> (&normal_rows)[3],
                                       const Put& put);
  template <typename Put>
  void store_edge_point_derivative(const EdgeContact<P>& contact, const EdgeContactJacobian<P>& J,
                                   const Put& put);
  template <typename Put>
  void store_edge_activity_derivative(int side, const EdgeContact<P>& contact,
                                      const EdgeContactJacobian<P>& J, const int (&pair)[W],
                                      const int (&in_A)[W], const int (&in_B)[W], const Put& put);
  template <typename Put>
  void store_point_derivative(const MotionRow<P> (&rows)[3], const Vec3<P>& point, const Put& put);

  [[nodiscard]] const BodyFeatures<T>& body(int side) const { return *(side == 0 ? problem_.A : problem_.B); }
  [[nodiscard]] const BodyFeatures<T>& other(int side) const {
    return *(side == 0 ? problem_.B : problem_.A);
  }

  [[nodiscard]] static ABUT_INLINE P indicator(const P& distance, T tau) {
    return smoothstep5<P>(fma(distance, P(T(-0.125) / tau), P(T(0.5))));
  }
  /// d indicator / d distance.
  [[nodiscard]] static ABUT_INLINE P indicator_slope(const P& distance, T tau) {
    const T per_distance = T(-0.125) / tau;
    return P(per_distance) * smoothstep5_dx<P>(fma(distance, P(per_distance), P(T(0.5))));
  }
  /// Of all lanes, in pairs.
  template <int width>
  [[nodiscard]] static ABUT_INLINE T lane_sum(const Pack<T, width>& x) {
    constexpr int k_least = 16 / static_cast<int>(sizeof(T));
    using Least = Pack<T, k_least>;
    T lanes[width];
    x.store(lanes);
    Least part[width / k_least];
    for (int i = 0; i < width / k_least; ++i) part[i] = Least::load(lanes + i * k_least);
    for (int n = width / k_least / 2; n > 0; n /= 2) {
      for (int i = 0; i < n; ++i) part[i] += part[i + n];
    }
    return reduce_sum(part[0]);
  }
  ABUT_INLINE T* column(int c) const {
    return b_.columns + static_cast<std::ptrdiff_t>(c) * b_.capacity + b_.contacts;
  }

  [[nodiscard]] static ABUT_INLINE Vec3<P> rotated(const Mat3<T>& R, const Vec3<P>& v) {
    Vec3<P> r;
    for (int i = 0; i < 3; ++i) r[i] = fma(P(R(i, 0)), v[0], fma(P(R(i, 1)), v[1], P(R(i, 2)) * v[2]));
    return r;
  }
  [[nodiscard]] static ABUT_INLINE Vec3<P> crossed(const Vec3<P>& a, const Vec3<P>& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  }

  const PairProblem<T>& problem_;
  PairBuffers<T>& b_;
  Mat3<T> R_AB_, R_BA_;  ///< R_BA takes A's frame to B's
  Vec3<T> p_AB_, p_BA_;
};

template <typename T, ManifoldOrder order>
void PairKernel<T, order>::set_pose(const RelativePose<T>& X_AB) {
  R_AB_ = X_AB.R_AB;
  p_AB_ = X_AB.p_AB;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) R_BA_(i, j) = R_AB_(j, i);
  }
  for (int i = 0; i < 3; ++i)
    p_BA_[i] = -(R_BA_(i, 0) * p_AB_[0] + R_BA_(i, 1) * p_AB_[1] + R_BA_(i, 2) * p_AB_[2]);
}

template <typename T, ManifoldOrder order>
void PairKernel<T, order>::vertex_contacts(int side) {
  const BodyFeatures<T>&owner = body(side), &solid = other(side);
  b_.near_blocks[side] = 0;
  if (owner.points.points == 0 || solid.bounds.empty()) return;
  T* metric = b_.metric[side];
  if (problem_.edge_edge) {
    const P far(problem_.largest_metric);
    for (int k = 0; k < owner.points.blocks * k_block_points; k += W) far.store(metric + k);
  }
  const bool carries = problem_.vertices[side];
  if (!carries && !problem_.edge_edge) return;

  // Into the solid's frame.
  const Mat3<T>& R = side == 0 ? R_BA_ : R_AB_;
  const Vec3<T>& p = side == 0 ? p_BA_ : p_AB_;
  T farthest = problem_.edge_edge ? problem_.metric_range : T(0);
  if (carries) farthest = std::max(farthest, T(4) * problem_.activity_smoothing);
  const T cut = problem_.everything ? T(1e9) : farthest + owner.contact_radius;
  PointList<T> list{b_.list_numbers[0], b_.list_numbers[1], b_.list_numbers[2], b_.list_numbers[3],
                    b_.list_primitives};
  list.clear();
  const CullBuffers<T> cull{b_.kept, b_.nearby, b_.lower};
  const CullDistances<T> culling(solid, cut);
  append_near_points(owner, solid, R, p, culling, cull, list, b_.near_blocks[side]);
  list.finish();
  PointList<T> touching{b_.survivor[0], b_.survivor[1], b_.survivor[2], b_.survivor[3],
                        b_.survivor_primitives};
  touching.clear();
  const int begin = b_.contacts;

  // Derivatives bring the normal with them.
  constexpr SdfOrder k_sdf_order = order == ManifoldOrder::value ? SdfOrder::normal : SdfOrder::distance;
  for (int group = 0; group < list.groups(); ++group) {
    const int first = group * W, lanes = std::min(W, list.count - first);
    const Vec3<P> x(P::load(list.x + first), P::load(list.y + first), P::load(list.z + first));
    const auto sample = sample_solid<k_sdf_order, T>(solid, list.primitives[group], x,
                                                     order == ManifoldOrder::value ? nullptr : b_.lower);
    if (problem_.edge_edge) {
      const P clamped = clamped_metric<P>(sample.distance - P(owner.contact_radius),
                                          P(problem_.largest_metric), P(T(0.5) * problem_.largest_metric));
      for (int lane = 0; lane < lanes; ++lane)
        metric[static_cast<int>(list.id[first + lane])] = clamped[lane];
    }
    if (!carries) continue;
    const P distance = sample.distance - P(owner.contact_radius);
    std::uint32_t chosen = lanes < W ? (1u << lanes) - 1u : ~0u >> (32 - W);
    if (!problem_.everything) chosen &= bits(distance < P(T(4) * problem_.activity_smoothing));
    for (std::uint32_t left = chosen; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (owner.points.point[static_cast<std::size_t>(list.id[first + lane])] < 0) chosen &= ~(1u << lane);
    }
    if (chosen == 0) continue;

    if constexpr (order == ManifoldOrder::value) {
      store_vertex_geometry(side, sample, x,
                            [&](int c, const P& value) { value.store_chosen(column(c), chosen); });
    }
    distance.store_chosen(column(k_distance), chosen);
    indicator(distance, problem_.activity_smoothing).store_chosen(column(k_activity), chosen);
    P::load(list.id + first).store_chosen(column(side == 0 ? k_place_A : k_place_B), chosen);
    P(-1).store_chosen(column(side == 0 ? k_place_B : k_place_A), chosen);
    if constexpr (order != ManifoldOrder::value)
      touching.append(x, P::load(list.id + first), chosen,
                      primitives_that_weigh(solid, list.primitives[group], sample.distance, culling.margin,
                                            b_.lower, chosen));
    b_.contacts += std::popcount(chosen);
  }
  b_.count[side == 0 ? k_vertex_of_A : k_vertex_of_B] = b_.contacts - begin;
  if constexpr (order != ManifoldOrder::value) {
    touching.finish();
    for (int group = 0; group < touching.groups(); ++group) {
      const int first = group * W;
      const Vec3<P> x(P::load(touching.x + first), P::load(touching.y + first), P::load(touching.z + first));
      constexpr SdfOrder k_derivatives =
          order == ManifoldOrder::distance_gradient ? SdfOrder::gradient : SdfOrder::jacobian;
      const auto sample = sample_solid<k_derivatives, T>(solid, touching.primitives[group], x);
      const auto put = [&](int c, const P& value) {
        value.store(b_.columns + static_cast<std::ptrdiff_t>(c) * b_.capacity + begin + first);
      };
      store_vertex_geometry(side, sample, x, put);
      store_vertex_derivatives(side, sample, x, put);
    }
  }
}

/// Point and normal in A's frame. put(column, number) is told all of them.
template <typename T, ManifoldOrder order>
template <typename Sample, typename Put>
ABUT_INLINE void PairKernel<T, order>::store_vertex_geometry(int side, const Sample& sample,
                                                             const Vec3<P>& x_S, const Put& put) {
  const P radius(body(side).contact_radius);
  const P half = radius + P(T(0.5)) * (sample.distance - radius);
  const bool solid_is_B = side == 0;
  const Vec3<P> x_A = solid_is_B ? moved(R_AB_, p_AB_, x_S[0], x_S[1], x_S[2]) : x_S;
  const Vec3<P> n = solid_is_B ? rotated(R_AB_, sample.normal) : sample.normal;  // out of the solid
  const P sign = P(solid_is_B ? T(-1) : T(1));
  for (int i = 0; i < 3; ++i) {
    put(k_point + i, x_A[i] - half * n[i]);
    put(k_normal + i, sign * n[i]);
  }
}

/// By the motion (w; v) of B about A's origin. A point of B moves by w x x + v in A's frame; a point of A by
/// the opposite in the eyes of B, whose normals turn by w.
template <typename T, ManifoldOrder order>
template <typename Sample, typename Put>
void PairKernel<T, order>::store_vertex_derivatives(int side, const Sample& sample, const Vec3<P>& x_S,
                                                    const Put& put) {
  const bool solid_is_B = side == 0;
  const Vec3<P> x_A = solid_is_B ? moved(R_AB_, p_AB_, x_S[0], x_S[1], x_S[2]) : x_S;
  const Vec3<P> g = solid_is_B ? rotated(R_AB_, sample.gradient) : sample.gradient;
  const P sign = P(solid_is_B ? T(-1) : T(1));  // of the point's motion in the solid's eyes, and of n
  const auto row = [&](const Vec3<P>& by_point, const Vec3<P>& turn) {
    const Vec3<P> torque = crossed(x_A, by_point);
    return MotionRow<P>{{torque[0] + turn[0], torque[1] + turn[1], torque[2] + turn[2]}, by_point};
  };
  const Vec3<P> none{P(0), P(0), P(0)};
  const MotionRow<P> distance_row = row(Vec3<P>(sign * g[0], sign * g[1], sign * g[2]), none);
  store_distance_derivative(distance_row, put);
  if constexpr (order >= ManifoldOrder::jacobian) {
    const Vec3<P> n = solid_is_B ? rotated(R_AB_, sample.normal) : sample.normal;
    Mat3<P> N = sample.normal_jacobian;
    if (solid_is_B) {  // R N R^T
      Mat3<P> RN;
      for (int j = 0; j < 3; ++j) {
        const Vec3<P> c = rotated(R_AB_, Vec3<P>(N(0, j), N(1, j), N(2, j)));
        for (int i = 0; i < 3; ++i) RN(i, j) = c[i];
      }
      for (int i = 0; i < 3; ++i) {
        const Vec3<P> r = rotated(R_AB_, Vec3<P>(RN(i, 0), RN(i, 1), RN(i, 2)));
        for (int j = 0; j < 3; ++j) N(i, j) = r[j];
      }
    }
    MotionRow<P> rows[3];
    for (int i = 0; i < 3; ++i) {
      // normal_AB = sign n and the point moves by sign of B's motion: the two signs cancel.
      Vec3<P> turn = none;
      if (solid_is_B) {  // d(-n)_i/dw = -(w x n)_i = -(n x e_i).w
        turn[(i + 1) % 3] = -n[(i + 2) % 3];
        turn[(i + 2) % 3] = n[(i + 1) % 3];
      }
      rows[i] = row(Vec3<P>(N(i, 0), N(i, 1), N(i, 2)), turn);
    }
    const Vec3<P> normal(sign * n[0], sign * n[1], sign * n[2]);
    store_normal_derivative(rows, normal, put);
    if constexpr (order == ManifoldOrder::complete)
      store_vertex_point_and_activity(side, sample.distance, x_A, normal, distance_row, rows, put);
  }
}

/// A motion (w; v) of B about A's origin is a tangent (w; v + w x p_B) of B about its own, and for a number
/// the opposite of a tangent of A, whose origin it is.
/// put(column, number) is told all of them.
template <typename T, ManifoldOrder order>
template <typename Put>
ABUT_INLINE void PairKernel<T, order>::store_distance_derivative(const MotionRow<P>& row, const Put& put) {
  store_row(k_distance_by_poses, row, Vec3<P>(P(0), P(0), P(0)), put);
}

/// Of a vector fixed in the eyes of A, a turn of A is a turn.
template <typename T, ManifoldOrder order>
template <typename Put>
ABUT_INLINE void PairKernel<T, order>::store_normal_derivative(const MotionRow<P> (&rows)[3],
                                                               const Vec3<P>& normal, const Put& put) {
  for (int i = 0; i < 3; ++i) {
    Vec3<P> turn{P(0), P(0), P(0)};  // (w x n)_i
    turn[(i + 1) % 3] = normal[(i + 2) % 3];
    turn[(i + 2) % 3] = -normal[(i + 1) % 3];
    store_row(k_normal_by_poses + 12 * i, rows[i], turn, put);
  }
}

template <typename T, ManifoldOrder order>
template <typename Put>
ABUT_INLINE void PairKernel<T, order>::store_row(int columns, const MotionRow<P>& row,
                                                 const Vec3<P>& turn_of_A, const Put& put) {
  const Vec3<P> p_B{P(p_AB_[0]), P(p_AB_[1]), P(p_AB_[2])}, lever = crossed(p_B, row.v);
  for (int k = 0; k < 3; ++k) {
    put(columns + k, turn_of_A[k] - row.w[k]);
    put(columns + 3 + k, -row.v[k]);
    put(columns + 6 + k, row.w[k] - lever[k]);
    put(columns + 9 + k, row.v[k]);
  }
}

/// Soft K: weights w_i = S((c - m_i)/band) of the edges, c such that sum w_i + K S((c - range)/band + 1) = K.
/// The second term keeps c below `range`, the largest of the clamped metrics, so edges that are far weigh
/// exactly 0.
template <typename T, ManifoldOrder order>
void PairKernel<T, order>::select_edges(int side) {
  const BodyFeatures<T>& owner = body(side);
  const EdgeTable<T>& edges = owner.edges;
  const T* metric = b_.metric[side];
  const T range = problem_.largest_metric, band = problem_.selection_band,
          wanted = static_cast<T>(edges.selected);
  const bool takes_all = edges.selected >= edges.edges;
  SelectedEdges<T>& out = b_.selected[side];

  int candidates = 0;
  constexpr int k_group = 16;
  T lane_numbers[W];
  for (int i = 0; i < W; ++i) lane_numbers[i] = static_cast<T>(i);
  for (int group = 0; group * k_group < edges.edges; ++group) {
    if (!takes_all && (edges.group_mask[static_cast<std::size_t>(group)] & b_.near_blocks[side]) == 0)
      continue;
    for (int first = group * k_group; first < (group + 1) * k_group && first < edges.edges; first += W) {
      const auto at = static_cast<std::size_t>(first);
      const P m = P(T(0.5)) * (P::gather(metric, &edges.start[at]) + P::gather(metric, &edges.end[at]));
      std::uint32_t chosen = takes_all ? ~0u >> (32 - W) : bits(m < P(range));
      if (edges.edges - first < W) chosen &= (1u << (edges.edges - first)) - 1u;
      m.store_chosen(b_.candidate_metric + candidates, chosen);
      (P::load(lane_numbers) + P(static_cast<T>(first))).store_chosen(b_.candidate_edge + candidates, chosen);
      candidates += std::popcount(chosen);
    }
  }
  const int packs = (candidates + W - 1) / W;
  for (int i = candidates; i < packs * W; ++i) b_.candidate_metric[i] = T(1e9);

  T threshold = T(1e9);
  if (!takes_all && candidates > 0) {
    T low = T(1e9), high = range;
    P least = P(low);
    for (int i = 0; i < packs; ++i) least = min(least, P::load(b_.candidate_metric + i * W));
    low = reduce_min(least);
    threshold = T(0.5) * (low + high);
    for (int iteration = 0; iteration < 60; ++iteration) {
      P sum = P(0), slope = P(0);
      for (int i = 0; i < packs; ++i) {
        const P x = (P(threshold) - P::load(b_.candidate_metric + i * W)) * P(T(1) / band);
        sum += smoothstep5<P>(x);
        slope += smoothstep5_dx<P>(x);
      }
      const T phantom = (threshold - range) / band + T(1);
      const T excess = lane_sum(sum) + wanted * smoothstep5<T>(phantom) - wanted;
      const T rate = (lane_sum(slope) + wanted * smoothstep5_dx<T>(phantom)) / band;
      (excess > T(0) ? high : low) = threshold;
      const T newton = threshold - excess / rate;
      const T next = newton > low && newton < high ? newton : T(0.5) * (low + high);
      const bool is_settled = std::abs(next - threshold) <= T(8) * std::numeric_limits<T>::epsilon() * range;
      threshold = next;
      if (is_settled) break;
    }
  }

  out.threshold = threshold;
  out.count = 0;
  for (int i = 0; i < candidates; i += W) {
    const P weight =
        takes_all ? P(1) : smoothstep5<P>((P(threshold) - P::load(b_.candidate_metric + i)) * P(T(1) / band));
    std::uint32_t chosen = bits(weight > P(0));
    if (candidates - i < W) chosen &= (1u << (candidates - i)) - 1u;
    weight.store_chosen(out.weight + out.count, chosen);
    P::load(b_.candidate_edge + i).store_chosen(out.place + out.count, chosen);
    out.count += std::popcount(chosen);
  }
  constexpr int k_wide = WideLanes<T>::k_lanes;
  out.padded = (out.count + k_wide - 1) / k_wide * k_wide;
  for (int i = out.count; i < out.padded; ++i) {
    out.weight[i] = T(0);
    out.place[i] = out.place[out.count - 1];
  }
  for (int first = 0; first < out.count; first += W) {
    std::int32_t edge[W], start[W];
    for (int lane = 0; lane < W; ++lane) edge[lane] = static_cast<std::int32_t>(out.place[first + lane]);
    for (int lane = 0; lane < W; ++lane) start[lane] = edges.start[static_cast<std::size_t>(edge[lane])];
    const auto gathered = [](const std::vector<T>& x, const std::vector<T>& y, const std::vector<T>& z,
                             const std::int32_t(&index)[W]) {
      return Vec3<P>(P::gather(x.data(), index), P::gather(y.data(), index), P::gather(z.data(), index));
    };
    Vec3<P> x = gathered(owner.points.x, owner.points.y, owner.points.z, start);
    Vec3<P> t = gathered(edges.vector_x, edges.vector_y, edges.vector_z, edge);
    Vec3<P> n = gathered(edges.normal_x, edges.normal_y, edges.normal_z, edge);
    if (side == 1) {
      x = moved(R_AB_, p_AB_, x[0], x[1], x[2]);
      t = rotated(R_AB_, t);
      n = rotated(R_AB_, n);
    }
    for (int k = 0; k < 3; ++k) {
      x[k].store(out.start[k] + first);
      t[k].store(out.vector[k] + first);
      n[k].store(out.normal[k] + first);
    }
  }
  // After the last edge comes the first one again.
  for (int k = 0; k < 3 && out.count > 0; ++k) {
    for (T* numbers : {out.start[k], out.vector[k], out.normal[k]}) {
      for (int i = out.count; i < std::max(out.padded, out.count + W); ++i)
        numbers[i] = numbers[i - out.count];
    }
  }
}

/// All pairs of selected edges: witness points, indicators, and how near they are to each other.
template <typename T, ManifoldOrder order>
void PairKernel<T, order>::edge_contacts() {
  SelectedEdges<T>&A = b_.selected[0], &B = b_.selected[1];
  if (A.count == 0 || B.count == 0) return;
  for (int j = 0; j < B.padded; j += W) P(0).store(B.sum + j);
  const T inverse_smoothing = T(1) / problem_.neighbour_smoothing;
  const WideLanes<T> nearest = WideLanes<T>(problem_.nearest);
  using Q = WideLanes<T>;
  T lane_numbers[W];
  for (int i = 0; i < W; ++i) lane_numbers[i] = static_cast<T>(i);
  const P lane_number = P::load(lane_numbers);
  const int pairs = A.count * B.count;
  int i = 0, j = 0;  // of the first pair of a pack
  const auto next_pack = [&](Edge<P>& edge_A, Edge<P>& edge_B) {
    for (int k = 0; k < 3; ++k) {
      edge_B.start[k] = P::load(B.start[k] + j);
      edge_B.vector[k] = P::load(B.vector[k] + j);
      edge_B.normal[k] = P::load(B.normal[k] + j);
      edge_A.start[k] = P(A.start[k][i]);
      edge_A.vector[k] = P(A.vector[k][i]);
      edge_A.normal[k] = P(A.normal[k][i]);
    }
    j += W;
    while (j >= B.count) {
      j -= B.count;
      i = std::min(i + 1, A.count - 1);
      const auto is_next = lane_number >= P(static_cast<T>(W - j));
      for (int k = 0; k < 3; ++k) {
        edge_A.start[k] = select(is_next, P(A.start[k][i]), edge_A.start[k]);
        edge_A.vector[k] = select(is_next, P(A.vector[k][i]), edge_A.vector[k]);
        edge_A.normal[k] = select(is_next, P(A.normal[k][i]), edge_A.normal[k]);
      }
    }
  };
  int at = 0;
  for (; at < pairs; at += Q::k_lanes) {
    Edge<P> halves_A[2], halves_B[2];
    for (int half = 0; half < 2; ++half) next_pack(halves_A[half], halves_B[half]);
    Edge<Q> edge_A, edge_B;
    for (int k = 0; k < 3; ++k) {
      edge_A.start[k] = Q::joined(halves_A[0].start[k], halves_A[1].start[k]);
      edge_A.vector[k] = Q::joined(halves_A[0].vector[k], halves_A[1].vector[k]);
      edge_A.normal[k] = Q::joined(halves_A[0].normal[k], halves_A[1].normal[k]);
      edge_B.start[k] = Q::joined(halves_B[0].start[k], halves_B[1].start[k]);
      edge_B.vector[k] = Q::joined(halves_B[0].vector[k], halves_B[1].vector[k]);
      edge_B.normal[k] = Q::joined(halves_B[0].normal[k], halves_B[1].normal[k]);
    }
    edge_clash<Q>(edge_A, edge_B, problem_.edges).store(b_.pair_clash + at);
    const EdgeWitness<Q> w = edge_witness<Q>(edge_A, edge_B, problem_.edges);
    exp_normal(nearest - w.softened * Q(inverse_smoothing)).store(b_.pair_nearness + at);
    w.minimum.alpha[0].store(b_.pair_alpha[0] + at);
    w.minimum.alpha[1].store(b_.pair_alpha[1] + at);
    w.minimum.gamma.store(b_.pair_interior + at);
  }
  Q(0).store(b_.pair_nearness + at);  // what is read there with weight 0
  for (int row = 0; row < A.count; ++row) {
    const T* nearness = b_.pair_nearness + static_cast<std::ptrdiff_t>(row) * B.count;
    P sum = P(0);
    for (int column = 0; column < B.padded; column += W) {
      const P near = P::load(nearness + column);
      sum += P::load(B.weight + column) * near;
      fma(P(A.weight[row]), near, P::load(B.sum + column)).store(B.sum + column);
    }
    A.sum[row] = T(1) / (problem_.nearness_rest + lane_sum(sum));
  }
  for (int column = 0; column < B.padded; column += W)
    (P(1) / (P(problem_.nearness_rest) + P::load(B.sum + column))).store(B.sum + column);
  if constexpr (order == ManifoldOrder::complete) differentiate_shares();
  for (int side = 0; side < 2; ++side) edge_penetrations(side);
  store_edge_contacts();
}

template <typename T, ManifoldOrder order>
Edge<Lanes<T>> PairKernel<T, order>::gathered_edge(int side, const int (&index)[W]) const {
  const SelectedEdges<T>& edges = b_.selected[side];
  Edge<P> edge;
  for (int k = 0; k < 3; ++k) {
    edge.start[k] = P::gather(edges.start[k], index);
    edge.vector[k] = P::gather(edges.vector[k], index);
    edge.normal[k] = P::gather(edges.normal[k], index);
  }
  return edge;
}

/// The activities of contacts at the witness points on one body's edges, where these enter the other body's
/// solid; -1 of pairs that have none.
template <typename T, ManifoldOrder order>
void PairKernel<T, order>::edge_penetrations(int side) {
  constexpr T k_negligible_activity = T(1e-7);
  const SelectedEdges<T>&A = b_.selected[0], &B = b_.selected[1];
  const BodyFeatures<T>& solid = other(side);
  const Mat3<T>& R = side == 0 ? R_BA_ : R_AB_;  // into the solid's frame
  const Vec3<T>& p = side == 0 ? p_BA_ : p_AB_;
  T lane_numbers[W];
  for (int i = 0; i < W; ++i) lane_numbers[i] = static_cast<T>(i);

  // Those with weight, penetration not known yet: place of the pair, activity so far, point.
  int survivors = 0;
  for (int i = 0; i < A.count; ++i) {
    const T row = side == 0 ? A.sum[i] : T(1);
    for (int j = 0; j < B.padded; j += W) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * B.count + j;
      P(-1).store(b_.pair_activity[side] + at);
      P activity = P::load(b_.pair_interior + at) * P::load(b_.pair_clash + at) *
                   P::load(b_.pair_nearness + at) * P::load(B.weight + j) * P(A.weight[i] * row);
      if (side == 1) activity = activity * P::load(B.sum + j);
      std::uint32_t chosen = problem_.everything ? bits(P::load(B.weight + j) > P(0))
                                                 : bits(activity > P(k_negligible_activity));
      if (chosen == 0) continue;
      const P alpha = P::load(b_.pair_alpha[side] + at);
      Vec3<P> x;
      for (int k = 0; k < 3; ++k) {
        x[k] = side == 0 ? fma(alpha, P(A.vector[k][i]), P(A.start[k][i]))
                         : fma(alpha, P::load(B.vector[k] + j), P::load(B.start[k] + j));
      }
      if (side == 0) {
        x = moved(R, p, x[0], x[1], x[2]);
      }
      (P::load(lane_numbers) + P(static_cast<T>(at))).store_chosen(b_.survivor[0] + survivors, chosen);
      activity.store_chosen(b_.survivor[1] + survivors, chosen);
      for (int k = 0; k < 3; ++k) x[k].store_chosen(b_.survivor[2 + k] + survivors, chosen);
      survivors += std::popcount(chosen);
    }
  }
  if (survivors == 0) return;
  for (int i = survivors; i % W != 0; ++i) {
    for (T* numbers : b_.survivor) numbers[i] = numbers[survivors - 1];
  }

  const T radius = body(side).contact_radius;
  const T cut = problem_.everything ? T(1e9) : T(4) * problem_.activity_smoothing + radius;
  const CullBuffers<T> cull{b_.kept, b_.nearby, b_.lower};
  int found = 0;
  const CullDistances<T> culling(solid, cut);
  Vec3<T> low, high;  // of all points
  for (int k = 0; k < 3; ++k) {
    P least = P::load(b_.survivor[2 + k]), most = least;
    for (int first = W; first < survivors; first += W) {
      const P x = P::load(b_.survivor[2 + k] + first);
      least = min(least, x);
      most = max(most, x);
    }
    low[k] = reduce_min(least);
    high[k] = reduce_max(most);
  }
  const int candidates = primitives_near_box(solid, low, high, culling, cull);
  const auto note = [&](std::uint32_t chosen, const P& place, const P& activity) {
    if (!problem_.everything) chosen &= bits(activity > P(k_negligible_activity));
    for (; chosen != 0; chosen &= chosen - 1) {
      const int lane = std::countr_zero(chosen);
      b_.pair_activity[side][static_cast<int>(place[lane])] = activity[lane];
      ++found;
    }
  };
  // Points too deep for their distance to count need none; the others move up in the lists.
  PointList<T> list{b_.survivor[2], b_.survivor[3], b_.survivor[4], b_.survivor[0], b_.survivor_primitives};
  list.clear();
  for (int first = 0; first < survivors; first += W) {
    const int lanes = std::min(W, survivors - first);
    const Vec3<P> x(P::load(b_.survivor[2] + first), P::load(b_.survivor[3] + first),
                    P::load(b_.survivor[4] + first));
    const P place = P::load(b_.survivor[0] + first), activity = P::load(b_.survivor[1] + first);
    std::uint32_t chosen = lanes < W ? (1u << lanes) - 1u : ~0u >> (32 - W);
    DeepLanes<T> deep{radius - T(4) * problem_.activity_smoothing};
    const std::uint64_t mask = primitives_near(solid, x, culling, candidates, cull, chosen, &deep);
    if (deep.lanes != 0) note(deep.lanes, place, activity);
    if (chosen == 0) continue;
    activity.store_chosen(b_.survivor[1] + list.count, chosen);
    list.append(x, place, chosen, mask);
  }
  list.finish();
  for (int group = 0; group < list.groups(); ++group) {
    const int first = group * W, lanes = std::min(W, list.count - first);
    const Vec3<P> x(P::load(list.x + first), P::load(list.y + first), P::load(list.z + first));
    const P distance =
        sample_solid<SdfOrder::distance, T>(solid, list.primitives[group], x).distance - P(radius);
    note(lanes < W ? (1u << lanes) - 1u : ~0u >> (32 - W), P::load(list.id + first),
         P::load(b_.survivor[1] + first) * indicator(distance, problem_.activity_smoothing));
  }
  b_.count[side == 0 ? k_edge_on_A : k_edge_on_B] = found;
}

/// Point, normal and distance of a pair are those of both its contacts, on A's edge and on B's.
template <typename T, ManifoldOrder order>
void PairKernel<T, order>::store_edge_contacts() {
  const SelectedEdges<T>&A = b_.selected[0], &B = b_.selected[1];
  T lane_numbers[W];
  for (int i = 0; i < W; ++i) lane_numbers[i] = static_cast<T>(i);
  int found = 0;
  const int pairs = A.count * B.count;
  for (int at = 0; at < pairs; at += W) {
    const P activity[2] = {P::load(b_.pair_activity[0] + at), P::load(b_.pair_activity[1] + at)};
    std::uint32_t chosen = bits(max(activity[0], activity[1]) >= P(0));
    if (pairs - at < W) chosen &= (1u << (pairs - at)) - 1u;
    if (chosen == 0) continue;
    (P::load(lane_numbers) + P(static_cast<T>(at))).store_chosen(b_.survivor[0] + found, chosen);
    for (int side = 0; side < 2; ++side) activity[side].store_chosen(b_.survivor[1 + side] + found, chosen);
    found += std::popcount(chosen);
  }
  if (found == 0) return;
  for (int i = found; i % W != 0; ++i) {
    b_.survivor[0][i] = b_.survivor[0][found - 1];
    b_.survivor[1][i] = b_.survivor[2][i] = T(-1);
  }

  int place[2] = {b_.contacts, b_.contacts + b_.count[k_edge_on_A]};
  const int end_of_A = place[1];
  const T inverse_count = T(1) / static_cast<T>(B.count);
  std::uint32_t chosen[2];
  const auto put_each = [&](int c, const P& of_A, const P& of_B) {
    T* column = b_.columns + static_cast<std::ptrdiff_t>(c) * b_.capacity;
    if (place[0] + W > end_of_A) {
      const P first_of_B = P::load(column + end_of_A);  // is overrun
      of_A.store_chosen(column + place[0], chosen[0]);
      first_of_B.store(column + end_of_A);
    } else {
      of_A.store_chosen(column + place[0], chosen[0]);
    }
    of_B.store_chosen(column + place[1], chosen[1]);
  };
  const auto put = [&](int c, const P& value) { put_each(c, value, value); };
  for (int first = 0; first < found; first += W) {
    std::int32_t pair[W], in_A[W], in_B[W];
    for (int lane = 0; lane < W; ++lane) {
      pair[lane] = static_cast<std::int32_t>(b_.survivor[0][first + lane]);
      const auto row =
          static_cast<std::int32_t>(static_cast<T>(pair[lane]) * inverse_count);  // or a neighbour
      const std::int32_t rest = pair[lane] - row * B.count;
      in_A[lane] = row + (rest >= B.count ? 1 : 0) - (rest < 0 ? 1 : 0);
      in_B[lane] = pair[lane] - in_A[lane] * B.count;
    }
    const Edge<P> edge_A = gathered_edge(0, in_A), edge_B = gathered_edge(1, in_B);
    const P activity[2] = {P::load(b_.survivor[1] + first), P::load(b_.survivor[2] + first)};
    for (int side = 0; side < 2; ++side) chosen[side] = bits(activity[side] >= P(0));
    put_each(k_activity, activity[0], activity[1]);
    put(k_place_A, P::gather(A.place, in_A));
    put(k_place_B, P::gather(B.place, in_B));
    const auto put_contact = [&](const Vec3<P>& e1, const Vec3<P>& e2, const Vec3<P>& n, const P& distance) {
      for (int k = 0; k < 3; ++k) {
        put(k_point + k, fma(P(problem_.midway), n[k], P(T(0.5)) * (e1[k] + e2[k])));
        put(k_normal + k, -n[k]);
      }
      const P square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
      put(k_distance, problem_.radii > T(0) ? P(distance - P(problem_.radii) * sqrt(square)) : distance);
    };
    if constexpr (order == ManifoldOrder::value) {  // witness points are known
      const Vec3<P> e1 = point_on<P>(edge_A, P::gather(b_.pair_alpha[0], pair)),
                    e2 = point_on<P>(edge_B, P::gather(b_.pair_alpha[1], pair));
      const EdgeNormal<P> normal = edge_normal<P>(edge_A, edge_B, problem_.edges);
      P distance = P(0);
      for (int k = 0; k < 3; ++k) distance = fma(normal.n[k], e1[k] - e2[k], distance);
      put_contact(e1, e2, normal.n, distance);
    } else {
      const EdgeContact<P> contact = edge_contact<P>(edge_A, edge_B, problem_.edges);
      const Vec3<P>& n = contact.normal.n;
      put_contact(contact.witness.e1, contact.witness.e2, n, contact.distance);
      const EdgeContactJacobian<P> J = edge_contact_jacobian(edge_A, edge_B, contact, problem_.edges);
      const auto row = [&](int r, const P& sign) {
        MotionRow<P> motion;
        for (int k = 0; k < 3; ++k) {
          motion.w[k] = sign * J.distance_normal(r, k);
          motion.v[k] = sign * J.distance_normal(r, 3 + k);
        }
        return motion;
      };
      MotionRow<P> distance_row = row(0, P(1));
      const MotionRow<P> rows[3] = {row(1, P(-1)), row(2, P(-1)), row(3, P(-1))};
      if (problem_.radii > T(0)) {  // -radii |n|
        const P square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        const P scale = select(square > P(0), P(problem_.radii) / sqrt(square), P(0));
        for (int i = 0; i < 3; ++i) {
          for (int k = 0; k < 3; ++k) {
            distance_row.w[k] += scale * n[i] * rows[i].w[k];
            distance_row.v[k] += scale * n[i] * rows[i].v[k];
          }
        }
      }
      store_distance_derivative(distance_row, put);
      if constexpr (order >= ManifoldOrder::jacobian) {
        store_normal_derivative(rows, Vec3<P>(-n[0], -n[1], -n[2]), put);
      }
      if constexpr (order == ManifoldOrder::complete) {
        store_edge_point_derivative(contact, J, put);
        P by_A[12];  // of the activity on A's edge, by all coordinates
        store_edge_activity_derivative(0, contact, J, pair, in_A, in_B,
                                       [&](int c, const P& value) { by_A[c - k_activity_by_poses] = value; });
        store_edge_activity_derivative(1, contact, J, pair, in_A, in_B, [&](int c, const P& value) {
          put_each(c, by_A[c - k_activity_by_poses], value);
        });
      }
    }
    for (int side = 0; side < 2; ++side) place[side] += std::popcount(chosen[side]);
  }
  b_.contacts += b_.count[k_edge_on_A] + b_.count[k_edge_on_B];
}

}  // namespace ABUT_SIMD
}  // namespace abut
