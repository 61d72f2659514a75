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
///              W_b = S(k_b0 + (v_b - u_b0)/w_b) S(k_b1 + (u_b1 - v_b)/w_b), 1/w_b = 1.025 (1/w + 2/(u_b1 - u_b0)):
///              whether edge b enters the other wedge between its ends; exactly 0 from k w_b beyond an end on,
///              k = 0.1 to -0.025, see WindowReach
///   entry      v_b, how far beyond the other edge's line: 0 but for wedges narrower than a right angle, see
///              wedge_entry()
///   parallel   P = S((s^2 - s_0^2)/(s_1^2 - s_0^2)): parallel edges have no normal; vertices carry them
///   witness    x_b = a_b - u_b0/s t_b: the crossing, seen along n
///   shallow    F = S((D_1 + d_0)/(D_1 - D_0)): overlaps deeper than D_1 are not of two edges
///   weight     G_A G_B W_A W_B P F times both gates
/// Two edges of convex polyhedra are their closest features if and only if n lies in both cones and each line
/// passes between the other's ends (the Gauss maps of both edges cross), so that what is left out is not in
/// contact. Cones are differences of the same step at both sides. Therefore they add up: edges that an edge is
/// bevelled into have its weight in sum, and the edge of a flat face weighs exactly 0. Windows do not: within
/// 0.1 w of a bend, where one edge ends and the next begins, the vertex carries.
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
  T inverse_deepest;          ///< 1/D_1 [1/m]
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
    inverse_deepest = static_cast<T>(1.0 / (0.75 * inradius));
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

}  // namespace convex_edges_detail

// Window ----------------------------------------------------------------------------------------------------

/// Where an edge crosses the other line, and how far inside of its ends it enters the other wedge.
template <typename S>
struct EdgeWindow {
  S alpha;                 ///< of the crossing: 0 at the start of the edge, 1 at its end
  S entry;                 ///< of the entry
  S from_start, from_end;  ///< of the entry, seen along n, as a multiple of the fade w_b
  S weight;                ///< W = S(from_start) S(from_end)
  S inverse_length;        ///< 1/l; 0 where there is nothing to divide by
};

/// How far beyond its end an edge has weight, as a multiple of the fade. Bodies whose sides are aligned touch at
/// the ends of edges, where vertices do not push them apart: k = 0 would let them sink into each other.
inline constexpr double k_window_reach = 0.1;
/// How far before its end an edge loses its weight where the other body ends on the other side of the crossing: what
/// overlaps by less, as the bottom of a box that slides on a table with the top of the next one, is no step.
inline constexpr double k_least_step = 0.025;
/// Slopes f.t of faces of the other edge from which on, and at which, the other body ends at the crossing.
inline constexpr double k_end_begin = 0.1, k_end_full = 0.5;

/// k_b0 and k_b1 of an edge of direction t. Its start lies in the direction -t of the crossing. The other body ends in
/// the direction t if one of the faces f_1, f_2 of its edge does, that is with
///   o = 1 - (1 - S(x_1)) (1 - S(x_2)),   x_k = (f_k.t - 0.1)/0.4,
/// and k = 0.1 - 0.125 o; at the end of the edge with -t.
template <typename S>
struct WindowReach {
  S at_end[2];     ///< k_b0, k_b1
  S by_slopes[2];  ///< dk_b0/d(f_1.t), dk_b0/d(f_2.t)
  S by_slopes_at_end[2];

  WindowReach(const ConvexEdge<S>& edge, const ConvexEdge<S>& other) {
    const S slopes[2] = {convex_edges_detail::dot(other.face_normals[0], edge.direction),
                         convex_edges_detail::dot(other.face_normals[1], edge.direction)};
    find(slopes[0], slopes[1], at_end[0], by_slopes);
    find(S(0) - slopes[0], S(0) - slopes[1], at_end[1], by_slopes_at_end);
    for (S& by_slope : by_slopes_at_end) by_slope = S(0) - by_slope;
  }

 private:
  static ABUT_KERNEL_PART void find(const S& first, const S& second, S& reach, S (&by_slopes)[2]) {
    constexpr double k_range = k_window_reach + k_least_step, k_inverse = 1.0 / (k_end_full - k_end_begin);
    const S x = S(k_inverse) * (first - S(k_end_begin)), y = S(k_inverse) * (second - S(k_end_begin));
    const S not_first = S(1) - smoothstep5<S>(x), not_second = S(1) - smoothstep5<S>(y);
    reach = S(k_range) * not_first * not_second - S(k_least_step);
    by_slopes[0] = S(-k_range * k_inverse) * smoothstep5_dx<S>(x) * not_second;
    by_slopes[1] = S(-k_range * k_inverse) * smoothstep5_dx<S>(y) * not_first;
  }
};

/// What makes 1/w_b of 1/w + 2/l: so that a window is whole a w inside of an end, or half of the edge.
inline constexpr double k_window_rate = 1.0 + k_least_step;

/// The fade is never longer than half of the edge, so that at least one of the two factors is 1.
///
/// @param start   u_0: how far the start lies beyond the other line [m]
/// @param length  l = u_1 - u_0: of the edge, across the other line [m]
/// @param shift   v: how far beyond the other line the edge enters the other wedge [m]
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART EdgeWindow<S> edge_window(const S& start, const S& length, const S& shift,
                                                         const WindowReach<S>& reach,
                                                         const S& inverse_window) {
  EdgeWindow<S> r;
  const auto has_length = length > S(1e-12);
  r.inverse_length = select(has_length, S(1), S(0)) / select(has_length, length, S(1));
  r.alpha = select(has_length, S(S(0) - start * r.inverse_length), S(0.5));
  r.entry = r.alpha + shift * r.inverse_length;
  r.from_start = reach.at_end[0] + S(k_window_rate) * (S(2) * r.entry + (shift - start) * inverse_window);
  r.from_end = reach.at_end[1] +
               S(k_window_rate) * (S(2) * (S(1) - r.entry) + (length + start - shift) * inverse_window);
  r.weight = smoothstep5<S>(r.from_start) * smoothstep5<S>(r.from_end);
  return r;
}

/// VJP: dL/d(start, length, shift, k_b0, k_b1) given dL/d(W, alpha).
template <typename S>
ABUT_KERNEL_PART void edge_window_vjp(const EdgeWindow<S>& r, const S& inverse_window, const S& weight_bar,
                                      const S& alpha_bar, S& start_bar, S& length_bar, S& shift_bar,
                                      S (&reach_bar)[2]) {
  reach_bar[0] = weight_bar * smoothstep5_dx<S>(r.from_start) * smoothstep5<S>(r.from_end);
  reach_bar[1] = weight_bar * smoothstep5_dx<S>(r.from_end) * smoothstep5<S>(r.from_start);
  const S from_start_bar = S(k_window_rate) * reach_bar[0], from_end_bar = S(k_window_rate) * reach_bar[1];
  const S entry_bar = S(2) * (from_start_bar - from_end_bar) * r.inverse_length,
          crossing_bar = alpha_bar * r.inverse_length;
  shift_bar = entry_bar + (from_start_bar - from_end_bar) * inverse_window;
  start_bar = S(0) - shift_bar - crossing_bar;
  length_bar = from_end_bar * inverse_window - entry_bar * r.entry - crossing_bar * r.alpha;
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

// Entry into a narrow wedge ---------------------------------------------------------------------------------

/// The wedge of edge b, seen along t_b, lies at the depth 1 below its edge between r_2 and -r_1 along
/// n_b x t_b, r_k = -c_k/sqrt(1 - c_k^2), c_k = f_bk.n_b. If both r_k <= 0 that includes 0, where the other line
/// crosses it. Otherwise the place next to 0 is max(r_2, 0) - max(r_1, 0), here with the smooth form
///   r(c) = ramp(-c)/sqrt(1 + 0.01 - c^2)
inline constexpr double k_entry_ramp = 0.05, k_entry_sharpest = 1.01;

/// r and its slope.
template <typename S>
struct EntryRatio {
  S value, slope;

  explicit EntryRatio(const S& c) {
    const S inverse = reciprocal_sqrt(S(S(k_entry_sharpest) - c * c));
    const SmoothRamp<S> ramp(S(0) - c, S(k_entry_ramp), S(1.0 / k_entry_ramp));
    value = ramp.value * inverse;
    slope = inverse * (c * inverse * value - ramp.slope);
  }
};

/// Place of the entry along n_b x t_b, at the depth 1.
template <typename S>
struct WedgeEntry {
  S ratio;
  S slopes[2];  ///< with respect to c_1, c_2
};

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART WedgeEntry<S> wedge_entry(const ConvexEdge<S>& edge, const Vec3<S>& outward) {
  using convex_edges_detail::dot;
  const EntryRatio<S> first(dot(edge.face_normals[0], outward)), second(dot(edge.face_normals[1], outward));
  return {second.value - first.value, {S(0) - first.slope, second.slope}};
}

/// r of the face normals of an edge at any n_b that its cone lets pass, at most.
///
/// @param cosine             f_1.f_2
/// @param wide_cos, wide_sin  of the angle by which n_b may leave the normal cone
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S largest_entry_ratio(const S& cosine, const S& wide_cos, const S& wide_sin) {
  using std::sqrt;
  const S squared = S(1) - cosine * cosine;
  const S widened = cosine * wide_cos - sqrt(select(squared > S(0), squared, S(0))) * wide_sin;
  return EntryRatio<S>(select(cosine < S(0) - wide_cos, S(-1), widened)).value;
}

/// How far along an edge its entry may be from its crossing, at most, as a multiple of D_1.
inline constexpr double k_farthest_entry = 0.25;

/// How far beyond the other line an edge enters the other wedge, v = s M cap(x), x = ratio depth/(s M), M =
/// k_farthest_entry D_1: exact up to 3/4 M along the edge, and never beyond M, which bounds the search for
/// edges. cap(x) = x - ramp(x - 1) + ramp(-x - 1).
template <typename S>
struct EntryShift {
  S value;     ///< v [m]
  S by_place;  ///< dv/d(ratio depth) = cap'
  S by_sine;   ///< dv/ds = M (cap - x cap') [m]

  /// @param place         ratio times depth [m]
  /// @param inverse_sine  1/s
  template <typename T>
  EntryShift(const S& place, const S& sine, const S& inverse_sine, const ConvexEdgeSettings<T>& settings) {
    constexpr double k_ramp = 0.25;
    const S farthest = S(k_farthest_entry) * S(settings.deepest),
            x = place * inverse_sine * S(1.0 / k_farthest_entry) * S(settings.inverse_deepest);
    const SmoothRamp<S> above(x - S(1), S(k_ramp), S(1.0 / k_ramp)),
        below(S(-1) - x, S(k_ramp), S(1.0 / k_ramp));
    const S cap = x - above.value + below.value;
    by_place = S(1) - above.slope - below.slope;
    value = farthest * sine * cap;
    by_sine = farthest * (cap - x * by_place);
  }
};

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
  S cones[2], parallel, shallow;
  EdgeWindow<S> windows[2];
  Vec3<S> witnesses[2];
  Bisector<S> bisectors[2];
  S depth;                   ///< delta [m]
  WedgeEntry<S> entries[2];  ///< into the wedge of each edge
};

/// The shift v_b of edge b. It enters the wedge of the other edge.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART EntryShift<S> entry_shift(const EdgeEdge<S>& pair, int b,
                                                         const ConvexEdgeSettings<T>& settings) {
  return EntryShift<S>(S(pair.sign * pair.depth * pair.entries[1 - b].ratio), pair.sine, pair.inverse_sine,
                       settings);
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
  r.depth = smooth_ramp<S>(-r.line_distance, S(0.5) * S(settings.band));
  r.entries[0] = wedge_entry(A, r.normal);
  r.entries[1] = wedge_entry(B, inward);
  r.windows[0] = edge_window(u_A, S(r.sine * A.length), entry_shift(r, 0, settings).value,
                             WindowReach<S>(A, B), inverse_window);
  r.windows[1] = edge_window(u_B, S(r.sine * B.length), entry_shift(r, 1, settings).value,
                             WindowReach<S>(B, A), inverse_window);
  r.shallow = smoothstep5<S>((r.line_distance + S(settings.deepest)) * S(settings.inverse_deepening));
  r.witnesses[0] = plus(A.start, S(r.windows[0].alpha * A.length), A.direction);
  r.witnesses[1] = plus(B.start, S(r.windows[1].alpha * B.length), B.direction);
  r.weight = (r.cones[0] * r.cones[1]) * (r.windows[0].weight * r.windows[1].weight) *
             (r.parallel * r.shallow);  // the same whichever is A
  const Vec3<S> middle = scaled(S(0.5), plus(r.witnesses[0], S(1), r.witnesses[1]));
  r.point = plus(middle, S(S(0.5) * (radii[0] - radii[1])), r.normal);
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

  // Windows, entries.
  const S cone_weight = r.cones[0] * r.cones[1], window_weight = r.windows[0].weight * r.windows[1].weight,
          fade = r.parallel * r.shallow, inverse_window = S(settings.inverse_window);
  const Vec3<S> middle_bar = plus(bar.point, S(1), probe_bar);
  Vec3<S> normal_bar = plus(bar.normal, S(S(0.5) * (radii[0] - radii[1])), bar.point);
  S sine_bar = S(0), u_bar[2];
  for (int b = 0; b < 2; ++b) {
    const ConvexEdge<S>& edge = *edges[b];
    ConvexEdge<S>& edge_bar = *edges_bar[b];
    const Vec3<S> x_bar = plus(witness_bar[b], S(0.5), middle_bar);
    edge_bar.start = plus(edge_bar.start, S(1), x_bar);
    edge_bar.direction = plus(edge_bar.direction, S(r.windows[b].alpha * edge.length), x_bar);
    const S along = dot(x_bar, edge.direction);
    S length_bar, shift_bar, reach_bar[2];
    edge_window_vjp(r.windows[b], inverse_window,
                    S(bar.weight * cone_weight * fade * r.windows[1 - b].weight), S(along * edge.length),
                    u_bar[b], length_bar, shift_bar, reach_bar);
    edge_bar.length = along * r.windows[b].alpha + length_bar * r.sine;
    const EntryShift<S> shift = entry_shift(r, b, settings);
    sine_bar = sine_bar + length_bar * edge.length + shift_bar * shift.by_sine;
    const int other = 1 - b;
    const WindowReach<S> reach(edge, *edges[other]);
    for (int k = 0; k < 2; ++k) {
      const S slope_bar = reach_bar[0] * reach.by_slopes[k] + reach_bar[1] * reach.by_slopes_at_end[k];
      Vec3<S>& face_bar = edges_bar[other]->face_normals[k];
      face_bar = plus(face_bar, slope_bar, edge.direction);
      edge_bar.direction = plus(edge_bar.direction, slope_bar, edges[other]->face_normals[k]);
    }
    const S place_bar = r.sign * shift_bar * shift.by_place, ratio_bar = place_bar * r.depth;
    depth_bar = depth_bar + place_bar * r.entries[other].ratio;
    const S out = other == 0 ? ratio_bar : S(0) - ratio_bar;  // n_b = +-n
    for (int k = 0; k < 2; ++k) {
      const S cosine_bar = out * r.entries[other].slopes[k];
      Vec3<S>& face_bar = edges_bar[other]->face_normals[k];
      face_bar = plus(face_bar, cosine_bar, r.normal);
      normal_bar = plus(normal_bar, cosine_bar, edges[other]->face_normals[k]);
    }
  }

  // Probe, depth, shallow.
  depth_bar = depth_bar - S(0.5) * dot(probe_bar, plus(r.bisectors[0].b, S(1), r.bisectors[1].b));
  line_bar = line_bar - depth_bar * smooth_ramp_dx<S>(-r.line_distance, S(0.5) * S(settings.band));
  const S but_for_fades = bar.weight * cone_weight * window_weight;
  line_bar = line_bar +
             but_for_fades * r.parallel * S(settings.inverse_deepening) *
                 smoothstep5_dx<S>((r.line_distance + S(settings.deepest)) * S(settings.inverse_deepening));

  // Distance, point.
  const S midway_bar = S(0.5) * dot(bar.point, r.normal);
  radii_bar[0] = bar.gates[0] + midway_bar - bar.distance;
  radii_bar[1] = bar.gates[1] - midway_bar - bar.distance;
  const Vec3<S> between = plus(B.start, S(-1), A.start);
  normal_bar = plus(normal_bar, line_bar, between);
  Vec3<S> between_bar = scaled(line_bar, r.normal);

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
  const S parallel_bar = but_for_fades * r.shallow;
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
