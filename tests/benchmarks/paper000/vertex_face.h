/// The point of a triangle that is nearest to a vertex, smooth in all four points.
///
/// Abut's manifold finds the contacts of vertices by signed distance functions. This is the published routine
/// for a triangle instead, with the same smooth active set as box_quadratic.h:
///   plane      x^p = projection of v on the plane, with barycentric coordinates (u_0, u_1, u_2)
///   sides      x_k = o_k + clip(s_k) t_k,  s_k = (v - o_k).t_k/|t_k|^2, for the three sides (o_k, t_k)
///   choice     x^c = sum_k p_k x_k,   p = softmax(-|v - x_k|/eps_min)
///   interior   gamma = prod_i sigma(u_i/eps) sigma((1 - u_i)/eps)
///   answer     x = gamma x^p + (1 - gamma) x^c
/// As gamma <= 0.9 even at the centroid with the published width 0.1, a tenth of the answer is always of the
/// sides.
///
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation",
///       supplement III-C. Mended: the clip is of the parameter s_k in [0, 1], not of the length along the
///       side.
#pragma once

#include <cmath>
#include <limits>

#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "engine/smooth.h"
#include "engine/types.h"
#include "quadratic_program.h"

namespace abut::paper000 {

struct VertexFaceSettings {
  double clip;      ///< eps of the parameter along a side at its ends [-], > 0
  double minimum;   ///< eps_min of the choice among the sides [m], > 0
  double interior;  ///< eps of whether the projection lies inside [-], > 0
};

template <typename S>
struct VertexFaceWitness {
  Vec3<S> point;  ///< x [m]
  S inside;       ///< gamma
};

namespace vertex_face_detail {

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> cross(const Vec3<S>& a, const Vec3<S>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Sides shorter than 0.1 um count as points: |t|^2 is taken to be this [m^2] where it divides.
inline constexpr double k_tiny_square = 1e-14;

/// A squared length that may be divided by.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S at_least_tiny(const S& squared_length) {
  const S tiny = S(k_tiny_square);
  return select(squared_length > tiny, squared_length, tiny);
}

/// Projection on the plane and on the lines of the sides.
template <typename S>
struct Projections {
  Vec3<S> in_plane;
  S barycentric[3];
  Vec3<S> origin[3], along[3];  ///< of the sides 01, 12, 20
  S parameter[3];
  S squares[3];
};

/// A triangle without an area gets barycentric coordinates far outside, so that a side answers.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Projections<S> project(const Vec3<S>& vertex, const Vec3<S> (&corners)[3]) {
  Projections<S> r;
  for (int k = 0; k < 3; ++k) {
    r.origin[k] = corners[k];
    r.along[k] = difference(corners[(k + 1) % 3], corners[k]);
    r.squares[k] = dot(r.along[k], r.along[k]);
    r.parameter[k] = dot(difference(vertex, corners[k]), r.along[k]) / at_least_tiny(r.squares[k]);
  }
  const Vec3<S> normal = cross(r.along[0], r.along[1]);
  const S square = dot(normal, normal);
  const S least = S(1e-24) * r.squares[0] * r.squares[1] + S(std::numeric_limits<scalar_value_t<S>>::min());
  const auto is_flat = !(square > least);
  const S inverse = S(1) / select(is_flat, S(1), square);
  for (int k = 0; k < 3; ++k) {  // of the corner opposite to side k
    const Vec3<S> around = cross(r.along[k], difference(vertex, corners[k]));
    r.barycentric[(k + 2) % 3] = select(is_flat, S(-1e3), S(dot(around, normal) * inverse));
  }
  const S height = dot(difference(vertex, corners[0]), normal) * inverse;
  for (int i = 0; i < 3; ++i) r.in_plane[i] = vertex[i] - height * normal[i];
  return r;
}

}  // namespace vertex_face_detail

template <typename S>
[[nodiscard]] VertexFaceWitness<S> vertex_face_witness(const Vec3<S>& vertex, const Vec3<S> (&corners)[3],
                                                       const VertexFaceSettings& settings) {
  using std::exp, std::sqrt;
  using namespace vertex_face_detail;
  const auto r = project(vertex, corners);
  Vec3<S> on_side[3];
  S distance[3];
  for (int k = 0; k < 3; ++k) {
    const S s = softclip(r.parameter[k], S(0), S(1), S(settings.clip));
    S square = S(k_tiny_square);
    for (int i = 0; i < 3; ++i) {
      on_side[k][i] = r.origin[k][i] + s * r.along[k][i];
      square = square + (vertex[i] - on_side[k][i]) * (vertex[i] - on_side[k][i]);
    }
    distance[k] = sqrt(square);
  }
  S least = distance[0];
  for (int k = 1; k < 3; ++k) least = select(distance[k] < least, distance[k], least);
  S share[3], sum = S(0);
  for (int k = 0; k < 3; ++k) {
    share[k] = exp((least - distance[k]) / S(settings.minimum));
    sum = sum + share[k];
  }
  VertexFaceWitness<S> w;
  w.inside = S(1);
  for (int k = 0; k < 3; ++k) {
    w.inside = w.inside * sigmoid(S(r.barycentric[k] / S(settings.interior))) *
               sigmoid(S((S(1) - r.barycentric[k]) / S(settings.interior)));
  }
  for (int i = 0; i < 3; ++i) {
    const S on_sides = (share[0] * on_side[0][i] + share[1] * on_side[1][i] + share[2] * on_side[2][i]) / sum;
    w.point[i] = on_sides + w.inside * (r.in_plane[i] - on_sides);
  }
  return w;
}

/// The nearest point itself; `inside` is 1 where it is the projection on the plane, else 0.
template <typename S>
[[nodiscard]] VertexFaceWitness<S> hard_vertex_face_witness(const Vec3<S>& vertex,
                                                            const Vec3<S> (&corners)[3]) {
  const auto r = vertex_face_detail::project(vertex, corners);
  VertexFaceWitness<S> w;
  S least = S(0);
  for (int k = 0; k < 3; ++k) {
    const S from_below = select(r.parameter[k] < S(0), S(0), r.parameter[k]);
    const S s = select(from_below > S(1), S(1), from_below);
    Vec3<S> on_side;
    S square = S(0);
    for (int i = 0; i < 3; ++i) {
      on_side[i] = r.origin[k][i] + s * r.along[k][i];
      square = square + (vertex[i] - on_side[i]) * (vertex[i] - on_side[i]);
    }
    if (k == 0) {
      w.point = on_side;
      least = square;
    } else {
      const auto is_less = square < least;
      least = select(is_less, square, least);
      for (int i = 0; i < 3; ++i) w.point[i] = select(is_less, on_side[i], w.point[i]);
    }
  }
  const auto inside = r.barycentric[0] >= S(0) && r.barycentric[1] >= S(0) && r.barycentric[2] >= S(0);
  for (int i = 0; i < 3; ++i) w.point[i] = select(inside, r.in_plane[i], w.point[i]);
  w.inside = select(inside, S(1), S(0));
  return w;
}

}  // namespace abut::paper000
