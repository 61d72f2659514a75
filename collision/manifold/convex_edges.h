/// Contact of two convex edges: normal, signed distance, witness points and weight, with the VJP.
///
/// Edge b in {A, B} starts at a_b, runs along the unit vector t_b for the length L_b, and lies between two
/// faces with outward unit normals f_b1, f_b2, (f_b1 x f_b2).t_b > 0; all in one common frame. With c = t_A x
/// t_B, s = |c|:
///   normal     n = +-c/s, from A to B: the sign for which it points out of A
///   distance   d_0 = n.(a_B - a_A), exactly that of the two lines;
///              d = d_0 - r_A - r_B with the contact radii
///   cone       G_b = (S(1/2 + n_b.(t_b x f_b1)/w_c) - S(1/2 + n_b.(t_b x f_b2)/w_c)) S(8 n_b.b_b),
///              n_A = n, n_B = -n, b_b the bisector of both faces: whether n_b lies in the edge's normal cone
///   window     u_b0, u_b1: how far the two ends of the edge lie beyond the other edge's line, seen along n;
///              W_b = S(1/2 + u_b1/w) - S(1/2 + u_b0/w): whether that line passes between the ends
///   parallel   P = S((s^2 - s_0^2)/(s_1^2 - s_0^2)): parallel edges have no normal; vertices carry them
///   witness    x_b = a_b + alpha_b L_b t_b, alpha_b the mean of the window's slope over the edge:
///              the crossing, or, near an end, a point short of it
///   shallow    F = S((D_1 + d_0)/(D_1 - D_0)): overlaps deeper than D_1 are not of two edges
///   beside     E = S(2 - e^2/w^2), e: how far x_A and x_B lie beside each other, seen along n,
///              where lines cross beyond the ends
///   weight     G_A G_B W_A W_B P F E times both gates
/// Two edges of convex polyhedra are their closest features if and only if n lies in both cones and each line
/// passes between the other's ends (the Gauss maps of both edges cross), so that what is left out is not in
/// contact. Cones and windows are differences of the same step at both sides. Therefore they add up: an edge
/// that is divided, or bevelled, keeps the sum of its weights and their moment (divided edges where s > 1/2:
/// at smaller angles E fades parts that end near the crossing), and the edge of a flat face weighs exactly 0.
///
/// A gate is 1 where the body's solid agrees that the wedge of the edge is its surface nearby, and 0 where it
/// has another surface that is much nearer, as the far rim of a shelf has on which a book lies:
///   probe      p = (x_A + x_B)/2 - delta (b_A + b_B)/2, delta ~ max(-d_0, 0)
///   gate_b     S(1 - (phi_b(p) + r_b - (d_0 + delta)/2 - min(wedge_b, 0)/2)/(4 tau_p))
///   wedge_b    ~ max(f_b1.(p - x_b), f_b2.(p - x_b))
/// with the body's signed distance function phi_b. ~ stands for the smooth form.
#pragma once

#include <cmath>

#include "collision/sdf/sdf_sample.h"
#include "engine/contact_config.h"
#include "engine/scalar.h"
#include "engine/smooth.h"
#include "engine/types.h"

namespace abut {

/// A convex edge, or dL/d of one.
template <typename S>
struct ConvexEdge {
  Vec3<S> start;            ///< a [m]
  Vec3<S> direction;        ///< t, of unit length
  S length;                 ///< L [m]
  Vec3<S> face_normals[2];  ///< f_1, f_2, of unit length

  [[nodiscard]] static ConvexEdge zero() {
    const Vec3<S> none(S(0), S(0), S(0));
    return {none, none, S(0), {none, none}};
  }
};

/// ContactConfig, made ready for a scalar whose plain type is T.
template <typename T>
struct ConvexEdgeSettings {
  T inverse_window;           ///< 1/w [1/m]
  T inverse_cone;             ///< 1/w_c
  T parallel_squared;         ///< s_0^2
  T inverse_parallel;         ///< 1/(s_1^2 - s_0^2)
  T band;                     ///< 8 tau_p [m]
  T deepest;                  ///< D_1 [m]
  T inverse_deepening;        ///< 1/(D_1 - D_0) [1/m]
  T inverse_gate;             ///< 1/(4 tau_p) [1/m]
  T wedge_smoothing_squared;  ///< tau_p^2 [m^2]

  /// @param size      of the smaller body [m], the unit of lengths in `config`
  /// @param inradius  of the thinner body [m]: D_0 is half of it, D_1 three quarters
  ConvexEdgeSettings(const ContactConfig& config, double size, double inradius) {
    const double tau = config.activity_smoothing * size, s1 = config.parallel_sine, s0 = 0.25 * s1;
    inverse_window = static_cast<T>(1.0 / (config.edge_smoothing * size));
    inverse_cone = static_cast<T>(1.0 / config.cone_smoothing);
    parallel_squared = static_cast<T>(s0 * s0);
    inverse_parallel = static_cast<T>(1.0 / (s1 * s1 - s0 * s0));
    band = static_cast<T>(8.0 * tau);
    deepest = static_cast<T>(0.75 * inradius);
    inverse_deepening = static_cast<T>(4.0 / inradius);
    inverse_gate = static_cast<T>(0.25 / tau);
    wedge_smoothing_squared = static_cast<T>(tau * tau);
  }
};

namespace convex_edges_detail {

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S dot(const Vec3<S>& a, const Vec3<S>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> cross(const Vec3<S>& a, const Vec3<S>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// y + s x, element by element.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> plus(const Vec3<S>& y, const S& s, const Vec3<S>& x) {
  return {y[0] + s * x[0], y[1] + s * x[1], y[2] + s * x[2]};
}

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> scaled(const S& s, const Vec3<S>& x) {
  return {s * x[0], s * x[1], s * x[2]};
}

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S clamped(const S& x) {
  return select(x < S(0), S(0), select(x > S(1), S(1), x));
}

}  // namespace convex_edges_detail

// Window ----------------------------------------------------------------------------------------------------

/// Zeroth and first moment of the slope of S over [x0, x0 + h].
template <typename S>
struct EdgeWindow {
  S x0, h;                      ///< h >= 0
  S weight;                     ///< W = S(x0 + h) - S(x0)
  S mean;                       ///< of x under S', in [0, 1]
  S alpha;                      ///< (mean - x0)/h, in [0, 1]
  S inverse_h, inverse_weight;  ///< 0 where there is nothing to divide by
};

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART EdgeWindow<S> edge_window(const S& x0, const S& h) {
  using namespace convex_edges_detail;
  // Exact polynomials in the middle m and the width k of the part within [0, 1]: differences of S and of its
  // first moment would cancel for edges that are short, or nearly parallel.
  const S begin = clamped(x0), end = clamped(S(x0 + h));
  const S m = S(0.5) * (begin + end), k = end - begin, k2 = k * k, q = m * (S(1) - m);
  const S slope = S(30) * q * q + k2 * (S(2.5) - S(15) * q + S(0.375) * k2);  // W/k
  EdgeWindow<S> r{x0, h, k * slope, S(0), S(0), S(0), S(0)};
  const S tiny = S(1e-30);
  const auto has_weight = r.weight > tiny;
  r.inverse_weight = select(has_weight, S(1), S(0)) / select(has_weight, r.weight, S(1));
  const S ratio = k * k2 * r.inverse_weight;  // k^2/(W/k)
  r.mean = m + ratio * (S(1) - S(2) * m) * (S(5) * q - S(0.75) * k2);
  const auto has_length = h > S(1e-12);
  r.inverse_h = select(has_length, S(1), S(0)) / select(has_length, h, S(1));
  r.alpha = select(has_length, S((r.mean - x0) * r.inverse_h), S(0.5));
  return r;
}

/// VJP: dL/d(x0, h) given dL/d(W, alpha).
template <typename S>
ABUT_KERNEL_PART void edge_window_vjp(const EdgeWindow<S>& r, const S& weight_bar, const S& alpha_bar,
                                      S& x0_bar, S& h_bar) {
  const S x1 = r.x0 + r.h, slope0 = smoothstep5_dx<S>(r.x0), slope1 = smoothstep5_dx<S>(x1);
  const S mean_bar = alpha_bar * r.inverse_h, by_weight = mean_bar * r.inverse_weight;
  const S at1 = slope1 * (weight_bar + by_weight * (x1 - r.mean));
  const S at0 = slope0 * (by_weight * (r.mean - r.x0) - weight_bar);
  x0_bar = at0 + at1 - mean_bar;
  h_bar = at1 - mean_bar * r.alpha;
}

// Bisector, normal cone, wedge ------------------------------------------------------------------------------

template <typename S>
struct Bisector {
  Vec3<S> b;         ///< (f_1 + f_2)/|f_1 + f_2|
  S inverse_length;  ///< 1/|f_1 + f_2|
};

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Bisector<S> face_bisector(const ConvexEdge<S>& edge) {
  using namespace convex_edges_detail;
  const Vec3<S> sum = plus(edge.face_normals[0], S(1), edge.face_normals[1]);
  const S inverse = reciprocal_sqrt(dot(sum, sum));
  return {scaled(inverse, sum), inverse};
}

/// Cosine of the angle from the bisector at which a cone ends, however wide it is, as 1/k.
inline constexpr double k_inverse_cone_end = 8.0;

/// G.
///
/// @param outward  n_b, of unit length, perpendicular to the edge
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART S normal_cone(const ConvexEdge<S>& edge, const Vec3<S>& bisector,
                                             const Vec3<S>& outward, const ConvexEdgeSettings<T>& settings) {
  using namespace convex_edges_detail;
  const Vec3<S> across = cross(outward, edge.direction);  // x.(t x f) = (x x t).f
  const S y1 = dot(across, edge.face_normals[0]) * S(settings.inverse_cone),
          y2 = dot(across, edge.face_normals[1]) * S(settings.inverse_cone);
  return (smoothstep5<S>(S(0.5) + y1) - smoothstep5<S>(S(0.5) + y2)) *
         smoothstep5<S>(S(k_inverse_cone_end) * dot(outward, bisector));
}

/// VJP: adds dL/d(edge, bisector, outward) given dL/dG.
template <typename S, typename T>
ABUT_KERNEL_PART void normal_cone_vjp(const ConvexEdge<S>& edge, const Vec3<S>& bisector,
                                      const Vec3<S>& outward, const ConvexEdgeSettings<T>& settings,
                                      const S& cone_bar, ConvexEdge<S>& edge_bar, Vec3<S>& bisector_bar,
                                      Vec3<S>& outward_bar) {
  using namespace convex_edges_detail;
  const Vec3<S> across = cross(outward, edge.direction);
  const S inverse = S(settings.inverse_cone);
  const S x1 = S(0.5) + dot(across, edge.face_normals[0]) * inverse,
          x2 = S(0.5) + dot(across, edge.face_normals[1]) * inverse,
          out = S(k_inverse_cone_end) * dot(outward, bisector);
  const S open = smoothstep5<S>(out);
  const S y1_bar = inverse * cone_bar * open * smoothstep5_dx<S>(x1),
          y2_bar = -inverse * cone_bar * open * smoothstep5_dx<S>(x2);
  const S out_bar =
      S(k_inverse_cone_end) * cone_bar * (smoothstep5<S>(x1) - smoothstep5<S>(x2)) * smoothstep5_dx<S>(out);
  edge_bar.face_normals[0] = plus(edge_bar.face_normals[0], y1_bar, across);
  edge_bar.face_normals[1] = plus(edge_bar.face_normals[1], y2_bar, across);
  const Vec3<S> across_bar = plus(scaled(y1_bar, edge.face_normals[0]), y2_bar, edge.face_normals[1]);
  outward_bar = plus(plus(outward_bar, S(1), cross(edge.direction, across_bar)), out_bar, bisector);
  bisector_bar = plus(bisector_bar, out_bar, outward);
  edge_bar.direction = plus(edge_bar.direction, S(1), cross(across_bar, outward));
}

/// Smooth maximum of the distances from both faces, (y_1 + y_2 + sqrt((y_1 - y_2)^2 + tau_p^2))/2.
template <typename S>
struct Wedge {
  S distance;  ///< [m]
  S share;     ///< of face 1 in its slope
};

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART Wedge<S> wedge_distance(const ConvexEdge<S>& edge, const Vec3<S>& from_edge,
                                                       const ConvexEdgeSettings<T>& settings) {
  using namespace convex_edges_detail;
  const S y1 = dot(edge.face_normals[0], from_edge), y2 = dot(edge.face_normals[1], from_edge), y = y1 - y2;
  const S squared = y * y + S(settings.wedge_smoothing_squared), inverse = reciprocal_sqrt(squared);
  return {S(0.5) * (y1 + y2 + squared * inverse), S(0.5) * (S(1) + y * inverse)};
}

// The contact -----------------------------------------------------------------------------------------------

/// A pair of edges, but for the gates.
template <typename S>
struct EdgeEdge {
  Vec3<S> normal;      ///< n, from A to B
  S line_distance;     ///< n.(a_B - a_A) [m]
  S distance;          ///< d, less the radii [m]
  Vec3<S> point;       ///< midway between the surfaces [m]
  S weight;            ///< but for the gates
  Vec3<S> probe;       ///< p [m]
  Wedge<S> wedges[2];  ///< at the probe
  // What derivatives need.
  S sign, inverse_sine, sine;
  S cones[2], parallel, shallow, beside;
  EdgeWindow<S> windows[2];
  Vec3<S> witnesses[2];
  Bisector<S> bisectors[2];
  S depth;  ///< delta [m]
};

/// How far both witness points lie beside each other, seen along n, squared [m^2].
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S squared_offset(const EdgeEdge<S>& pair) {
  const Vec3<S> apart = convex_edges_detail::plus(pair.witnesses[1], S(-1), pair.witnesses[0]);
  return convex_edges_detail::dot(apart, apart) - pair.line_distance * pair.line_distance;
}

/// @param radii  r_A, r_B [m]
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART EdgeEdge<S> edge_edge(const ConvexEdge<S>& A, const ConvexEdge<S>& B,
                                                     const S (&radii)[2],
                                                     const ConvexEdgeSettings<T>& settings) {
  using namespace convex_edges_detail;
  EdgeEdge<S> r;
  const Vec3<S> c = cross(A.direction, B.direction);
  const S squared = dot(c, c), least = S(settings.parallel_squared);
  r.inverse_sine = reciprocal_sqrt(select(squared > least, squared, least));
  r.sine = squared * r.inverse_sine;
  r.parallel = smoothstep5<S>((squared - least) * S(settings.inverse_parallel));
  r.bisectors[0] = face_bisector(A);
  r.bisectors[1] = face_bisector(B);
  r.sign = select(dot(c, r.bisectors[0].b) > S(0), S(1), S(-1));
  r.normal = scaled(S(r.sign * r.inverse_sine), c);
  const Vec3<S> inward = scaled(S(-1), r.normal), between = plus(B.start, S(-1), A.start);
  r.cones[0] = normal_cone(A, r.bisectors[0].b, r.normal, settings);
  r.cones[1] = normal_cone(B, r.bisectors[1].b, inward, settings);
  r.line_distance = dot(r.normal, between);
  r.distance = r.line_distance - (radii[0] + radii[1]);

  // Seen along n: directions out of the other edge's line, along which this edge runs with the slope s > 0.
  const Vec3<S> unsigned_normal = scaled(r.inverse_sine, c);
  const S u_A = -dot(cross(B.direction, unsigned_normal), between),
          u_B = dot(cross(unsigned_normal, A.direction), between);
  const S inverse_window = S(settings.inverse_window);
  r.windows[0] = edge_window(S(S(0.5) + u_A * inverse_window), S(r.sine * A.length * inverse_window));
  r.windows[1] = edge_window(S(S(0.5) + u_B * inverse_window), S(r.sine * B.length * inverse_window));
  r.shallow = smoothstep5<S>((r.line_distance + S(settings.deepest)) * S(settings.inverse_deepening));
  r.witnesses[0] = plus(A.start, S(r.windows[0].alpha * A.length), A.direction);
  r.witnesses[1] = plus(B.start, S(r.windows[1].alpha * B.length), B.direction);
  r.beside = smoothstep5<S>(S(2) - squared_offset(r) * inverse_window * inverse_window);
  r.weight = (r.cones[0] * r.cones[1]) * (r.windows[0].weight * r.windows[1].weight) *
             (r.parallel * r.shallow * r.beside);  // the same whichever is A
  const Vec3<S> middle = scaled(S(0.5), plus(r.witnesses[0], S(1), r.witnesses[1]));
  r.point = plus(middle, S(S(0.5) * (radii[0] - radii[1])), r.normal);
  const S band = S(settings.band);
  r.depth = smooth_ramp<S>(-r.line_distance, S(0.5) * band);
  r.probe = plus(middle, S(S(-0.5) * r.depth), plus(r.bisectors[0].b, S(1), r.bisectors[1].b));
  r.wedges[0] = wedge_distance(A, plus(r.probe, S(-1), r.witnesses[0]), settings);
  r.wedges[1] = wedge_distance(B, plus(r.probe, S(-1), r.witnesses[1]), settings);
  return r;
}

/// What the gates need of a pair.
template <typename S>
struct GateInput {
  S middle;     ///< (d_0 + delta)/2 [m]
  S wedges[2];  ///< [m]
};

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART GateInput<S> gate_input(const EdgeEdge<S>& pair) {
  return {S(0.5) * (pair.line_distance + pair.depth), {pair.wedges[0].distance, pair.wedges[1].distance}};
}

/// Both gates and their derivatives by phi_b(p).
template <typename S>
struct EdgeGates {
  S both;            ///< their product
  S by_distance[2];  ///< its derivatives [1/m]
};

/// @param probe_distances  phi_b(p) + r_b: from what the radius is around [m]
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART EdgeGates<S> edge_gates(const GateInput<S>& pair,
                                                       const S (&probe_distances)[2],
                                                       const ConvexEdgeSettings<T>& settings) {
  using std::sqrt;
  const S inverse = S(settings.inverse_gate);
  S x[2];
  for (int b = 0; b < 2; ++b) {
    const S wedge = pair.wedges[b];
    const S inside = S(0.5) * (wedge - sqrt(wedge * wedge + S(settings.wedge_smoothing_squared)));
    x[b] = S(1) - inverse * (probe_distances[b] - pair.middle - S(0.5) * inside);
  }
  const S gates[2] = {smoothstep5<S>(x[0]), smoothstep5<S>(x[1])};
  return {gates[0] * gates[1],
          {-inverse * gates[1] * smoothstep5_dx<S>(x[0]), -inverse * gates[0] * smoothstep5_dx<S>(x[1])}};
}

/// dL/d of what a contact says.
template <typename S>
struct EdgeEdgeBar {
  Vec3<S> normal, point;
  S distance, weight;  ///< the weight without the gates
  S gates[2];          ///< dL/d(phi_b(p) + r_b): of weight and gates [1/m]
  Vec3<S> probe;       ///< dL/dp by phi_A and phi_B
};

/// VJP: overwrites dL/d(edges, radii), given dL/d(contact).
template <typename S, typename T>
ABUT_KERNEL_PART void edge_edge_vjp(const ConvexEdge<S>& A, const ConvexEdge<S>& B, const S (&radii)[2],
                                    const EdgeEdge<S>& r, const ConvexEdgeSettings<T>& settings,
                                    const EdgeEdgeBar<S>& bar, ConvexEdge<S>& A_bar, ConvexEdge<S>& B_bar,
                                    S (&radii_bar)[2]) {
  using std::sqrt;
  using namespace convex_edges_detail;
  const ConvexEdge<S>* const edges[2] = {&A, &B};
  ConvexEdge<S>* const edges_bar[2] = {&A_bar, &B_bar};
  A_bar = B_bar = ConvexEdge<S>::zero();
  const Vec3<S> none(S(0), S(0), S(0));

  // Gates.
  S line_bar = bar.distance, depth_bar = S(0);  // of the distance of the lines
  Vec3<S> probe_bar = bar.probe, witness_bar[2] = {none, none};
  for (int b = 0; b < 2; ++b) {
    const S half = S(-0.5) * bar.gates[b];
    line_bar = line_bar + half;
    depth_bar = depth_bar + half;
    const S wedge = r.wedges[b].distance;
    const S wedge_bar =
        half * S(0.5) * (S(1) - wedge / sqrt(wedge * wedge + S(settings.wedge_smoothing_squared)));
    const S y1_bar = wedge_bar * r.wedges[b].share, y2_bar = wedge_bar - y1_bar;
    const ConvexEdge<S>& edge = *edges[b];
    const Vec3<S> from_edge = plus(r.probe, S(-1), r.witnesses[b]);
    edges_bar[b]->face_normals[0] = scaled(y1_bar, from_edge);
    edges_bar[b]->face_normals[1] = scaled(y2_bar, from_edge);
    const Vec3<S> from_edge_bar = plus(scaled(y1_bar, edge.face_normals[0]), y2_bar, edge.face_normals[1]);
    witness_bar[b] = scaled(S(-1), from_edge_bar);
    probe_bar = plus(probe_bar, S(1), from_edge_bar);
  }

  // Probe, depth.
  const Vec3<S> bisectors = plus(r.bisectors[0].b, S(1), r.bisectors[1].b);
  depth_bar = depth_bar - S(0.5) * dot(probe_bar, bisectors);
  line_bar = line_bar - depth_bar * smooth_ramp_dx<S>(-r.line_distance, S(0.5) * S(settings.band));

  // Shallow, beside.
  const S inverse_window = S(settings.inverse_window), inverse_square = inverse_window * inverse_window;
  const S window_weight = r.windows[0].weight * r.windows[1].weight, cone_weight = r.cones[0] * r.cones[1];
  const S but_for_fades = bar.weight * cone_weight * window_weight;
  line_bar = line_bar +
             but_for_fades * r.parallel * r.beside * S(settings.inverse_deepening) *
                 smoothstep5_dx<S>((r.line_distance + S(settings.deepest)) * S(settings.inverse_deepening));
  const S offset_bar = but_for_fades * r.parallel * r.shallow * S(-2) *
                       inverse_square *  // 2 d(squared offset)
                       smoothstep5_dx<S>(S(2) - squared_offset(r) * inverse_square);
  const Vec3<S> apart = plus(r.witnesses[1], S(-1), r.witnesses[0]);
  witness_bar[0] = plus(witness_bar[0], S(-offset_bar), apart);
  witness_bar[1] = plus(witness_bar[1], offset_bar, apart);
  line_bar = line_bar - offset_bar * r.line_distance;

  // Point, witness points, distance.
  Vec3<S> normal_bar = plus(bar.normal, S(S(0.5) * (radii[0] - radii[1])), bar.point);
  const S midway_bar = S(0.5) * dot(bar.point, r.normal);
  radii_bar[0] = bar.gates[0] + midway_bar - bar.distance;
  radii_bar[1] = bar.gates[1] - midway_bar - bar.distance;
  const Vec3<S> middle_bar = plus(bar.point, S(1), probe_bar);
  const Vec3<S> between = plus(B.start, S(-1), A.start);
  normal_bar = plus(normal_bar, line_bar, between);
  Vec3<S> between_bar = scaled(line_bar, r.normal);

  // Windows.
  const S fade = r.parallel * r.shallow * r.beside;
  S sine_bar = S(0), u_bar[2];
  for (int b = 0; b < 2; ++b) {
    const ConvexEdge<S>& edge = *edges[b];
    ConvexEdge<S>& edge_bar = *edges_bar[b];
    const Vec3<S> x_bar = plus(witness_bar[b], S(0.5), middle_bar);
    edge_bar.start = plus(edge_bar.start, S(1), x_bar);
    edge_bar.direction = plus(edge_bar.direction, S(r.windows[b].alpha * edge.length), x_bar);
    const S along = dot(x_bar, edge.direction);
    S h_bar;
    edge_window_vjp(r.windows[b], S(bar.weight * cone_weight * fade * r.windows[1 - b].weight),
                    S(along * edge.length), u_bar[b], h_bar);
    u_bar[b] = u_bar[b] * inverse_window;
    h_bar = h_bar * inverse_window;
    edge_bar.length = along * r.windows[b].alpha + h_bar * r.sine;
    sine_bar = sine_bar + h_bar * edge.length;
  }
  // u_A = -(t_B x m).D, u_B = (m x t_A).D, with the unsigned normal m and D from A to B.
  const Vec3<S> m = scaled(r.sign, r.normal);
  between_bar = plus(plus(between_bar, S(-u_bar[0]), cross(B.direction, m)), u_bar[1], cross(m, A.direction));
  A_bar.start = plus(A_bar.start, S(-1), between_bar);
  B_bar.start = plus(B_bar.start, S(1), between_bar);
  const Vec3<S> m_bar =
      plus(scaled(S(-u_bar[0]), cross(between, B.direction)), u_bar[1], cross(A.direction, between));
  B_bar.direction = plus(B_bar.direction, S(-u_bar[0]), cross(m, between));
  A_bar.direction = plus(A_bar.direction, u_bar[1], cross(between, m));

  // Cones, bisectors, parallel, normal.
  const S by_cones = bar.weight * window_weight * fade;
  const Vec3<S> inward = scaled(S(-1), r.normal),
                probe_bisector_bar = scaled(S(S(-0.5) * r.depth), probe_bar);
  Vec3<S> inward_bar = none, bisector_bar[2] = {probe_bisector_bar, probe_bisector_bar};
  normal_cone_vjp(A, r.bisectors[0].b, r.normal, settings, S(by_cones * r.cones[1]), A_bar, bisector_bar[0],
                  normal_bar);
  normal_cone_vjp(B, r.bisectors[1].b, inward, settings, S(by_cones * r.cones[0]), B_bar, bisector_bar[1],
                  inward_bar);
  normal_bar = plus(plus(normal_bar, S(-1), inward_bar), r.sign, m_bar);
  for (int b = 0; b < 2; ++b) {
    const Vec3<S>& unit = r.bisectors[b].b;
    const Vec3<S> sum_bar =
        scaled(r.bisectors[b].inverse_length, plus(bisector_bar[b], S(-dot(unit, bisector_bar[b])), unit));
    for (Vec3<S>& face_bar : edges_bar[b]->face_normals) face_bar = plus(face_bar, S(1), sum_bar);
  }
  const S parallel_bar = but_for_fades * r.shallow * r.beside;
  const S squared = r.sine * r.sine;
  const S squared_bar =
      parallel_bar * S(settings.inverse_parallel) *
      smoothstep5_dx<S>((squared - S(settings.parallel_squared)) * S(settings.inverse_parallel));
  // c = t_A x t_B:  d|c| = m.dc,  dn = sign (dc - m (m.dc))/|c|
  const S along_c = S(2) * r.sine * squared_bar + sine_bar - r.sign * r.inverse_sine * dot(normal_bar, m);
  const Vec3<S> c_bar = plus(scaled(S(r.sign * r.inverse_sine), normal_bar), along_c, m);
  A_bar.direction = plus(A_bar.direction, S(1), cross(B.direction, c_bar));
  B_bar.direction = plus(B_bar.direction, S(1), cross(c_bar, A.direction));
}

}  // namespace abut
