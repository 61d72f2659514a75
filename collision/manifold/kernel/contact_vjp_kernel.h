/// From dL/d(contacts) to poses, contact points and edges, by lanes; the solids' own part is solid_vjp().
#pragma once

#include "collision/manifold/convex_edges.h"
#include "collision/manifold/facing_area.h"
#include "collision/manifold/kernel/derivative_kernels.h"
#include "collision/manifold/kernel/solid_lanes.h"

namespace abut {
inline namespace ABUT_SIMD {

/// A pack of contacts' numbers.
class ColumnPack {
 public:
  using P = Lanes<double>;

  ColumnPack(double* numbers, int stride, int first) : numbers_(numbers + first), stride_(stride) {}
  [[nodiscard]] ABUT_INLINE P get(int c) const { return P::load(numbers_ + c * stride_); }
  [[nodiscard]] ABUT_INLINE Vec3<P> vector(int c) const { return {get(c), get(c + 1), get(c + 2)}; }
  ABUT_INLINE void set(int c, const P& x) const { x.store(numbers_ + c * stride_); }
  ABUT_INLINE void set(int c, const Vec3<P>& x) const {
    for (int k = 0; k < 3; ++k) set(c + k, x[k]);
  }

 private:
  double* numbers_;
  int stride_;
};

/// A pose at which all lanes are.
class LanePose {
 public:
  using P = Lanes<double>;

  explicit LanePose(const PlainPose& X) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) R_[i][j] = P(X.R[3 * i + j]);
      p_[i] = P(X.p[i]);
    }
  }
  [[nodiscard]] ABUT_INLINE Vec3<P> rotate(const Vec3<P>& x) const {
    const auto row = [&](int i) -> P { return R_[i][0] * x[0] + R_[i][1] * x[1] + R_[i][2] * x[2]; };
    return {row(0), row(1), row(2)};
  }
  [[nodiscard]] ABUT_INLINE Vec3<P> rotate_back(const Vec3<P>& x) const {
    const auto row = [&](int j) -> P { return R_[0][j] * x[0] + R_[1][j] * x[1] + R_[2][j] * x[2]; };
    return {row(0), row(1), row(2)};
  }
  [[nodiscard]] const Vec3<P>& p() const { return p_; }

 private:
  P R_[3][3];
  Vec3<P> p_;
};

/// Adds to dL/d(pose) of a body the wrench [torque; force] of forces at arms from its origin.
class WrenchSum {
 public:
  using P = Lanes<double>;

  WrenchSum() : torque_(P(0), P(0), P(0)), force_(P(0), P(0), P(0)) {}
  ABUT_INLINE void add(const Vec3<P>& arm, const Vec3<P>& force) {
    add_torque(convex_edges_detail::cross(arm, force));
    force_ = convex_edges_detail::plus(force_, P(1), force);
  }
  ABUT_INLINE void add_torque(const Vec3<P>& torque) {
    torque_ = convex_edges_detail::plus(torque_, P(1), torque);
  }
  void add_to(double* pose_bar) const {
    for (int k = 0; k < 3; ++k) {
      pose_bar[k] += reduce_sum(torque_[k]);
      pose_bar[3 + k] += reduce_sum(force_[k]);
    }
  }

 private:
  Vec3<P> torque_, force_;
};

/// -d(log of the facing area)/d(A.n): 0 where areas are constant.
[[nodiscard]] ABUT_INLINE Lanes<double> facing_slope(const Lanes<double>& area, const Lanes<double>& along) {
  using P = Lanes<double>;
  const P some_area = select(area > P(0), area, P(1)), width = P(k_facing_width) * some_area;
  const P slope = P(1) - clamped_metric_dx<P>(P(0) - along, P(0), width);
  return select(area > P(0), slope / facing_area<P>(some_area, along), P(0));
}

/// What both parts of the way back of a pack of contact points need.
struct VertexPack {
  using P = Lanes<double>;
  Vec3<P> arm_O, n, point_bar, normal_bar;
  Vec3<P> turned_bar;  ///< by n, of what turns with the owner against it: its area vector and its normal cone
  P along, phi_bar;

  VertexPack(const VertexVjp& in, const ColumnPack& of, const LanePose& X_WO) {
    using namespace convex_edges_detail;
    arm_O = X_WO.rotate(of.vector(vertex_columns::k_point));
    n = scaled(P(in.sign), of.vector(vertex_columns::k_normal));
    const Vec3<P> area_vector = X_WO.rotate(of.vector(vertex_columns::k_area_vector));
    point_bar = of.vector(vertex_columns::k_point_bar);
    const P slope_bar = facing_slope(of.get(vertex_columns::k_area), dot(area_vector, n)) *
                        of.get(vertex_columns::k_area_bar);  // -dL/d(A.n)
    turned_bar = plus(of.vector(vertex_columns::k_cone_bar), P(P(0) - slope_bar), area_vector);
    along = dot(point_bar, n);
    phi_bar = of.get(vertex_columns::k_distance_bar) - P(0.5) * along;
    const P lever = P(in.radius) + P(0.5) * of.get(vertex_columns::k_distance);
    normal_bar =
        plus(plus(scaled(P(in.sign), of.vector(vertex_columns::k_normal_bar)), P(P(0) - lever), point_bar),
             P(1), turned_bar);
  }
};

/// To the solid: fills in the columns from k_x_S to k_n_bar.
inline void vertices_to_solid_by_lanes(const VertexVjp& in, double* numbers, int count) {
  using namespace convex_edges_detail;
  using P = Lanes<double>;
  const LanePose X_WO(in.X_WO), X_WS(in.X_WS);
  const Vec3<P> between = plus(X_WO.p(), P(-1), X_WS.p());
  for (int first = 0; first < count; first += P::k_lanes) {
    const ColumnPack of(numbers, count, first);
    const VertexPack at(in, of, X_WO);
    of.set(vertex_columns::k_x_S, X_WS.rotate_back(plus(at.arm_O, P(1), between)));
    of.set(vertex_columns::k_phi, of.get(vertex_columns::k_distance) + P(in.radius));
    of.set(vertex_columns::k_phi_bar, at.phi_bar);
    of.set(vertex_columns::k_n_bar, X_WS.rotate_back(at.normal_bar));
  }
}

/// From the solid: adds to the poses and the radius, fills in the column k_by_point.
inline void vertices_from_solid_by_lanes(const VertexVjp& in, double* numbers, int count,
                                         VertexVjpSums& sums) {
  using namespace convex_edges_detail;
  using P = Lanes<double>;
  const LanePose X_WO(in.X_WO), X_WS(in.X_WS);
  const Vec3<P> between = plus(X_WO.p(), P(-1), X_WS.p());
  WrenchSum owner, solid;
  P radius_bar(0);
  for (int first = 0; first < count; first += P::k_lanes) {
    const ColumnPack of(numbers, count, first);
    const VertexPack at(in, of, X_WO);
    const Vec3<P> y_bar = X_WS.rotate(of.vector(vertex_columns::k_x_bar)),
                  x_bar = plus(at.point_bar, P(1), y_bar);
    owner.add(at.arm_O, x_bar);
    owner.add_torque(cross(at.turned_bar, at.n));
    solid.add(plus(at.arm_O, P(1), between), scaled(P(-1), y_bar));
    solid.add_torque(cross(at.n, at.normal_bar));
    of.set(vertex_columns::k_by_point, X_WO.rotate_back(x_bar));
    radius_bar = radius_bar - at.phi_bar - at.along;
  }
  owner.add_to(sums.pose_O);
  solid.add_to(sums.pose_S);
  sums.radius += reduce_sum(radius_bar);
}

/// The edges of a pack of pairs, in W.
struct EdgePack {
  using P = Lanes<double>;
  ConvexEdge<P> edges[2];

  EdgePack(const ColumnPack& of, const LanePose (&poses)[2]) {
    using namespace convex_edges_detail;
    for (int side = 0; side < 2; ++side) {
      const int c = edge_columns::k_geometry + 12 * side;
      const Vec3<P> start = of.vector(c), vector = plus(of.vector(c + 3), P(-1), start);
      const P length = sqrt(dot(vector, vector));
      ConvexEdge<P>& edge = edges[side];
      edge.start = plus(poses[side].rotate(start), P(1), poses[side].p());
      edge.direction = poses[side].rotate(scaled(P(P(1) / length), vector));
      edge.length = length;
      for (int face = 0; face < 2; ++face)
        edge.face_normals[face] = poses[side].rotate(of.vector(c + 6 + 3 * face));
    }
  }
};

/// Fills in the columns from k_point to k_probe.
inline void edge_pairs_by_lanes(const EdgeVjp& in, double* numbers, int count) {
  using namespace convex_edges_detail;
  using P = Lanes<double>;
  const LanePose poses[2] = {LanePose(in.X_W[0]), LanePose(in.X_W[1])};
  const P radii[2] = {P(in.radii[0]), P(in.radii[1])};
  for (int first = 0; first < count; first += P::k_lanes) {
    const ColumnPack of(numbers, count, first);
    const EdgePack at(of, poses);
    const EdgeEdge<P> pair = edge_edge<P>(at.edges[0], at.edges[1], radii, *in.settings);
    const GateInput<P> gates = gate_input(pair);
    of.set(edge_columns::k_point, pair.point);
    of.set(edge_columns::k_distance, pair.distance);
    of.set(edge_columns::k_normal, pair.normal);
    of.set(edge_columns::k_weight, pair.weight);
    of.set(edge_columns::k_gate_input, gates.middle);
    for (int side = 0; side < 2; ++side) {
      of.set(edge_columns::k_gate_input + 1 + side, gates.wedges[side]);
      of.set(edge_columns::k_probe + 3 * side,
             poses[side].rotate_back(plus(pair.probe, P(-1), poses[side].p())));
    }
  }
}

/// The gates, and with `has_bars` dL/d of what the solids say at the probes: k_gates and k_gate_bar.
inline void edge_gates_by_lanes(const EdgeVjp& in, double* numbers, int count, bool has_bars) {
  using P = Lanes<double>;
  for (int first = 0; first < count; first += P::k_lanes) {
    const ColumnPack of(numbers, count, first);
    const GateInput<P> input{
        of.get(edge_columns::k_gate_input),
        {of.get(edge_columns::k_gate_input + 1), of.get(edge_columns::k_gate_input + 2)}};
    const P distances[2] = {of.get(edge_columns::k_probe_distance) + P(in.radii[0]),
                            of.get(edge_columns::k_probe_distance + 1) + P(in.radii[1])};
    const EdgeGates<P> gates = edge_gates<P>(input, distances, *in.settings);
    of.set(edge_columns::k_gates, gates.both);
    if (!has_bars) continue;
    const P bar = of.get(edge_columns::k_weight_bar) * of.get(edge_columns::k_weight);
    for (int side = 0; side < 2; ++side)
      of.set(edge_columns::k_gate_bar + side, bar * gates.by_distance[side]);
  }
}

/// From the solids: adds to poses and radii, fills in the columns from k_start_bar on.
inline void edges_from_solids_by_lanes(const EdgeVjp& in, double* numbers, int count, EdgeVjpSums& sums) {
  using namespace convex_edges_detail;
  using P = Lanes<double>;
  const LanePose poses[2] = {LanePose(in.X_W[0]), LanePose(in.X_W[1])};
  const P radii[2] = {P(in.radii[0]), P(in.radii[1])};
  WrenchSum wrenches[2];
  P radii_sum[2] = {P(0), P(0)};
  for (int first = 0; first < count; first += P::k_lanes) {
    const ColumnPack of(numbers, count, first);
    const EdgePack at(of, poses);
    const EdgeEdge<P> pair = edge_edge<P>(at.edges[0], at.edges[1], radii, *in.settings);
    const P weight_bar = of.get(edge_columns::k_weight_bar);
    EdgeEdgeBar<P> bar{of.vector(edge_columns::k_normal_bar),
                       of.vector(edge_columns::k_point_bar),
                       of.get(edge_columns::k_distance_bar),
                       weight_bar * of.get(edge_columns::k_gates),
                       {of.get(edge_columns::k_gate_bar), of.get(edge_columns::k_gate_bar + 1)},
                       Vec3<P>(P(0), P(0), P(0))};
    for (int side = 0; side < 2; ++side) {
      const Vec3<P> force = poses[side].rotate(of.vector(edge_columns::k_probe_bar + 3 * side));
      bar.probe = plus(bar.probe, P(1), force);
      wrenches[side].add(plus(pair.probe, P(-1), poses[side].p()), scaled(P(-1), force));
    }
    ConvexEdge<P> bars[2];
    P radii_bar[2];
    edge_edge_vjp<P>(at.edges[0], at.edges[1], radii, pair, *in.settings, bar, bars[0], bars[1], radii_bar);
    for (int side = 0; side < 2; ++side) {
      const ConvexEdge<P>&edge = at.edges[side], &edge_bar = bars[side];
      wrenches[side].add(plus(edge.start, P(-1), poses[side].p()), edge_bar.start);
      wrenches[side].add_torque(cross(edge.direction, edge_bar.direction));
      radii_sum[side] = radii_sum[side] + radii_bar[side];
      // The vector from start to end: its direction, its length.
      const Vec3<P> across =
          plus(edge_bar.direction, P(P(0) - dot(edge.direction, edge_bar.direction)), edge.direction);
      const Vec3<P> vector_bar = plus(scaled(P(P(1) / edge.length), across), edge_bar.length, edge.direction);
      of.set(edge_columns::k_start_bar + 3 * side,
             poses[side].rotate_back(plus(edge_bar.start, P(-1), vector_bar)));
      of.set(edge_columns::k_end_bar + 3 * side, poses[side].rotate_back(vector_bar));
      for (int face = 0; face < 2; ++face) {
        wrenches[side].add_torque(cross(edge.face_normals[face], edge_bar.face_normals[face]));
        of.set(edge_columns::k_face_bar + 6 * side + 3 * face,
               poses[side].rotate_back(edge_bar.face_normals[face]));
      }
    }
  }
  for (int side = 0; side < 2; ++side) {
    wrenches[side].add_to(sums.poses[side]);
    sums.radii[side] += reduce_sum(radii_sum[side]);
  }
}

}  // namespace ABUT_SIMD
}  // namespace abut
