/// What ManifoldOrder::complete adds to pair_kernel.h: derivatives of points and activities, forward through
/// all that the activity of a pair of edges depends on, by the motion (w; v) of B about A's origin.
///
///   metric     m_i = mean of the clamped distances of the edge's two ends
///   weight     w_i = S((c - m_i)/band):  dw_i = S'_i (dc - dm_i)/band,
///              dc = sum_i S'_i dm_i/(sum_i S'_i + K P')
///   nearness   E_ij = e^((D_0 - D_ij)/tau_d):  dE_ij = -E_ij dD_ij/tau_d
///   sums       R_i = e^-s + sum_j w_j E_ij:  dR_i = sum_j (dw_j E_ij + w_j dE_ij),  and so by column
///   activity   a = gamma_con gamma_cl (w_i w_j E_ij/R_i) S(1/2 - phi/(8 tau_p))
/// with phi at the witness point.
/// Weights and sums are differentiated for all selected edges, since each has a share in every activity;
/// the rest for the contacts that are left.
#pragma once

#include <cstdint>

#include "collision/manifold/kernel/pair_kernel.h"
#include "collision/manifold/soft_selection.h"
#include "engine/smooth.h"

namespace abut {
inline namespace ABUT_SIMD {

/// Weights, then the sums by rows and by columns.
template <typename T, ManifoldOrder order>
void PairKernel<T, order>::differentiate_shares() {
  // Nearness that no sum (each at least e^-s) notices, nor its derivative: it is 1/tau_d times that.
  const T k_unnoticed = T(0.01) * std::numeric_limits<T>::epsilon() * problem_.nearness_rest;
  for (int side = 0; side < 2; ++side) differentiate_weights(side);
  SelectedEdges<T>&A = b_.selected[0], &B = b_.selected[1];
  for (T* column : B.sum_by_motion) {
    for (int j = 0; j < B.padded; j += W) P(0).store(column + j);
  }
  const P per_distance(T(-1) / problem_.neighbour_smoothing);
  for (int i = 0; i < A.count; ++i) {
    Edge<P> edge_A;
    for (int k = 0; k < 3; ++k) {
      edge_A.start[k] = P(A.start[k][i]);
      edge_A.vector[k] = P(A.vector[k][i]);
      edge_A.normal[k] = P(A.normal[k][i]);
    }
    Vec6<P> sum;
    for (int k = 0; k < 6; ++k) sum[k] = P(0);
    for (int j = 0; j < B.padded; j += W) {
      const P near = P::load(b_.pair_nearness + static_cast<std::ptrdiff_t>(i) * B.count + j);
      if (bits(near > P(k_unnoticed)) == 0) continue;
      Edge<P> edge_B;
      for (int k = 0; k < 3; ++k) {
        edge_B.start[k] = P::load(B.start[k] + j);
        edge_B.vector[k] = P::load(B.vector[k] + j);
        edge_B.normal[k] = P::load(B.normal[k] + j);
      }
      const EdgeContact<P> contact = edge_contact<P>(edge_A, edge_B, problem_.edges);
      const Vec6<P> softened = edge_contact_jacobian<P>(edge_A, edge_B, contact, problem_.edges).softened;
      const P weight_A(A.weight[i]), weight_B = P::load(B.weight + j);
      for (int k = 0; k < 6; ++k) {
        const P near_by_motion = near * per_distance * softened[k];
        sum[k] += fma(P::load(B.weight_by_motion[k] + j), near, weight_B * near_by_motion);
        T* column = B.sum_by_motion[k] + j;
        fma(P(A.weight_by_motion[k][i]), near, fma(weight_A, near_by_motion, P::load(column))).store(column);
      }
    }
    for (int k = 0; k < 6; ++k) A.sum_by_motion[k][i] = reduce_sum(sum[k]);
  }
}

template <typename T, ManifoldOrder order>
void PairKernel<T, order>::differentiate_weights(int side) {
  const EdgeTable<T>& edges = body(side).edges;
  SelectedEdges<T>& s = b_.selected[side];
  for (T* column : s.weight_by_motion) {
    for (int i = 0; i < s.padded; i += W) P(0).store(column + i);
  }
  if (edges.selected >= edges.edges) return;  // no choice: weights are 1

  const T band = problem_.selection_band, range = problem_.largest_metric,
          wanted = static_cast<T>(edges.selected);
  const T* metric = b_.metric[side];
  std::int32_t start[W], end[W];
  // S' of a pack of edges, whose ends it finds.
  const auto slopes = [&](int first) {
    for (int lane = 0; lane < W; ++lane) {
      const auto edge = static_cast<std::size_t>(s.place[first + lane]);
      start[lane] = edges.start[edge];
      end[lane] = edges.end[edge];
    }
    const P m = P(T(0.5)) * (P::gather(metric, start) + P::gather(metric, end));
    const P slope = smoothstep5_dx<P>((P(s.threshold) - m) * P(T(1) / band));
    return select(P::load(s.weight + first) > P(0), slope, P(0));  // padding has weight 0
  };

  // weight_by_motion holds dm at first.
  P slope_sum = P(0);
  Vec6<P> weighted;
  for (int k = 0; k < 6; ++k) weighted[k] = P(0);
  for (int first = 0; first < s.padded; first += W) {
    const P slope = slopes(first);
    if (bits(slope > P(0)) == 0) continue;
    Vec6<P> by_motion;
    for (int k = 0; k < 6; ++k) by_motion[k] = P(0);
    add_metric_derivative(side, start, by_motion);
    add_metric_derivative(side, end, by_motion);
    slope_sum += slope;
    for (int k = 0; k < 6; ++k) {
      weighted[k] = fma(slope, by_motion[k], weighted[k]);
      by_motion[k].store(s.weight_by_motion[k] + first);
    }
  }
  const T phantom = wanted * smoothstep5_dx<T>((s.threshold - range) / band + T(1));
  const T total = reduce_sum(slope_sum) + phantom;
  if (!(total > T(0))) return;  // nothing is in its band
  T threshold_by_motion[6];
  for (int k = 0; k < 6; ++k) threshold_by_motion[k] = reduce_sum(weighted[k]) / total;
  for (int first = 0; first < s.padded; first += W) {
    const P rate = slopes(first) * P(T(1) / band);
    for (int k = 0; k < 6; ++k) {
      T* column = s.weight_by_motion[k] + first;
      (rate * (P(threshold_by_motion[k]) - P::load(column))).store(column);
    }
  }
}

/// Adds a half of the derivative of the clamped distances of points, by their places.
template <typename T, ManifoldOrder order>
void PairKernel<T, order>::add_metric_derivative(int side, const int (&point)[W],
                                                 Vec6<P>& metric_by_motion) const {
  const BodyFeatures<T>&owner = body(side), &solid = other(side);
  const Vec3<P> x_O(P::gather(owner.points.x.data(), point), P::gather(owner.points.y.data(), point),
                    P::gather(owner.points.z.data(), point));
  const Vec3<P> x_S =
      side == 0 ? moved(R_BA_, p_BA_, x_O[0], x_O[1], x_O[2]) : moved(R_AB_, p_AB_, x_O[0], x_O[1], x_O[2]);
  std::uint32_t near = ~0u >> (32 - W);
  const CullBuffers<T> cull{b_.kept, b_.nearby, b_.lower};
  const std::uint64_t mask =
      primitives_near(solid, x_S, problem_.metric_range + owner.contact_radius, cull, near);
  if (near == 0) return;
  const auto sample = sample_solid<SdfOrder::gradient, T>(solid, mask, x_S);
  const P slope = clamped_metric_dx<P>(sample.distance - P(owner.contact_radius), P(problem_.largest_metric),
                                       P(T(0.5) * problem_.largest_metric));
  // A point of A moves against B's motion in the eyes of B.
  const Vec3<P> g = side == 0 ? rotated(R_AB_, sample.gradient) : sample.gradient;
  const P scale = P(side == 0 ? T(-0.5) : T(0.5)) * slope;
  const Vec3<P> force(scale * g[0], scale * g[1], scale * g[2]);
  const Vec3<P> torque = crossed(side == 0 ? x_O : x_S, force);
  for (int k = 0; k < 3; ++k) {
    metric_by_motion[k] += torque[k];
    metric_by_motion[3 + k] += force[k];
  }
}

/// point = x - (r + d/2) n,  activity = S(1/2 - d/(8 tau_p)).
///
/// @param distance  to the solid, the radius not taken off
/// @param normal    normal_AB: n out of the solid if that is A, else -n
template <typename T, ManifoldOrder order>
template <typename Put>
void PairKernel<T, order>::store_vertex_point_and_activity(int side, const P& distance, const Vec3<P>& x_A,
                                                           const Vec3<P>& normal,
                                                           const MotionRow<P>& distance_row,
                                                           const MotionRow<P> (&normal_rows)[3],
                                                           const Put& put) {
  const P radius(body(side).contact_radius), d = distance - radius;
  const P half = radius + P(T(0.5)) * d;
  const P sign(side == 0 ? T(-1) : T(1));
  Vec3<P> point;
  MotionRow<P> rows[3];
  for (int i = 0; i < 3; ++i) {
    point[i] = x_A[i] - half * (sign * normal[i]);
    const P by_distance = P(T(-0.5)) * (sign * normal[i]), by_normal = -half * sign;
    for (int k = 0; k < 3; ++k) {
      rows[i].w[k] = by_distance * distance_row.w[k] + by_normal * normal_rows[i].w[k];
      rows[i].v[k] = by_distance * distance_row.v[k] + by_normal * normal_rows[i].v[k];
    }
    if (side == 1) {  // the point itself moves with B: w x x + v
      rows[i].w[(i + 1) % 3] += x_A[(i + 2) % 3];
      rows[i].w[(i + 2) % 3] -= x_A[(i + 1) % 3];
      rows[i].v[i] += P(1);
    }
  }
  store_point_derivative(rows, point, put);

  const P slope = indicator_slope(d, problem_.activity_smoothing);
  MotionRow<P> activity;
  for (int k = 0; k < 3; ++k) {
    activity.w[k] = slope * distance_row.w[k];
    activity.v[k] = slope * distance_row.v[k];
  }
  store_row(k_activity_by_poses, activity, Vec3<P>(P(0), P(0), P(0)), put);
}

template <typename T, ManifoldOrder order>
template <typename Put>
void PairKernel<T, order>::store_edge_point_derivative(const EdgeContact<P>& contact,
                                                       const EdgeContactJacobian<P>& J, const Put& put) {
  Vec3<P> point;
  MotionRow<P> rows[3];
  for (int i = 0; i < 3; ++i) {
    const P midway(problem_.midway);
    point[i] = fma(midway, contact.normal.n[i], P(T(0.5)) * (contact.witness.e1[i] + contact.witness.e2[i]));
    for (int k = 0; k < 3; ++k) {
      rows[i].w[k] = fma(midway, J.distance_normal(1 + i, k), P(T(0.5)) * (J.e1(i, k) + J.e2(i, k)));
      rows[i].v[k] =
          fma(midway, J.distance_normal(1 + i, 3 + k), P(T(0.5)) * (J.e1(i, 3 + k) + J.e2(i, 3 + k)));
    }
  }
  store_point_derivative(rows, point, put);
}

template <typename T, ManifoldOrder order>
template <typename Put>
void PairKernel<T, order>::store_edge_activity_derivative(int side, const EdgeContact<P>& contact,
                                                          const EdgeContactJacobian<P>& J,
                                                          const int (&pair)[W], const int (&in_A)[W],
                                                          const int (&in_B)[W], const Put& put) {
  // The distance of the witness point to the other solid. Beyond the indicator's range its slope is 0.
  const BodyFeatures<T>& solid = other(side);
  const Vec3<P>& e = side == 0 ? contact.witness.e1 : contact.witness.e2;
  const Vec3<P> x_S = side == 0 ? moved(R_BA_, p_BA_, e[0], e[1], e[2]) : e;
  std::uint32_t near = ~0u >> (32 - W);
  const CullBuffers<T> cull{b_.kept, b_.nearby, b_.lower};
  const T radius = body(side).contact_radius;
  const std::uint64_t mask =
      primitives_near(solid, x_S, T(4) * problem_.activity_smoothing + radius, cull, near);
  P inside = P(0), slope = P(0);
  Vec3<P> g(P(0), P(0), P(0));
  if (near != 0) {
    const auto sample = sample_solid<SdfOrder::gradient, T>(solid, mask, x_S);
    const P distance = sample.distance - P(radius);
    inside = indicator(distance, problem_.activity_smoothing);
    slope = indicator_slope(distance, problem_.activity_smoothing);
    g = side == 0 ? rotated(R_AB_, sample.gradient) : sample.gradient;
  }
  Vec6<P> penetration;
  const Vec3<P> torque = crossed(e, g);
  for (int k = 0; k < 6; ++k) {
    const Mat36<P>& e_by_motion = side == 0 ? J.e1 : J.e2;
    penetration[k] = g[0] * e_by_motion(0, k) + g[1] * e_by_motion(1, k) + g[2] * e_by_motion(2, k);
    if (side == 0) penetration[k] -= k < 3 ? torque[k] : g[k - 3];  // B moves away under the point
  }

  const SelectedEdges<T>&A = b_.selected[0], &B = b_.selected[1];
  const SelectedEdges<T>& owner = side == 0 ? A : B;
  const int(&in_owner)[W] = side == 0 ? in_A : in_B;
  const P interior = contact.witness.minimum.gamma, clash = contact.clash;
  const P weight_A = P::gather(A.weight, in_A), weight_B = P::gather(B.weight, in_B);
  const P inverse_sum = P::gather(owner.sum, in_owner);
  const P unweighted = P::gather(b_.pair_nearness, pair) * inverse_sum;
  const P share = unweighted * weight_A * weight_B;
  const P by_interior = clash * share * inside, by_clash = interior * share * inside,
          by_weights = interior * clash * inside * unweighted,
          by_penetration = interior * clash * share * slope, activity = by_interior * interior;
  const P per_distance(T(-1) / problem_.neighbour_smoothing);
  MotionRow<P> row;
  for (int k = 0; k < 6; ++k) {
    const P weights =
        P::gather(A.weight_by_motion[k], in_A) * weight_B + weight_A * P::gather(B.weight_by_motion[k], in_B);
    const P logarithm =
        per_distance * J.softened[k] - inverse_sum * P::gather(owner.sum_by_motion[k], in_owner);
    (k < 3 ? row.w[k] : row.v[k - 3]) = by_interior * J.gamma_con[k] + by_clash * J.clash[k] +
                                        by_weights * weights + by_penetration * penetration[k] +
                                        activity * logarithm;
  }
  store_row(k_activity_by_poses, row, Vec3<P>(P(0), P(0), P(0)), put);
}

/// Of a point fixed in the eyes of A, a tangent (w; v) of A is w x point + v.
template <typename T, ManifoldOrder order>
template <typename Put>
void PairKernel<T, order>::store_point_derivative(const MotionRow<P> (&rows)[3], const Vec3<P>& point,
                                                  const Put& put) {
  for (int i = 0; i < 3; ++i) {
    Vec3<P> turn{P(0), P(0), P(0)};
    turn[(i + 1) % 3] = point[(i + 2) % 3];
    turn[(i + 2) % 3] = -point[(i + 1) % 3];
    const int columns = k_point_by_poses + 12 * i;
    store_row(columns, rows[i], turn, put);
    put(columns + 3 + i, P(1) - rows[i].v[i]);
  }
}

}  // namespace ABUT_SIMD
}  // namespace abut
