/// Padded polygons: planar convex polygons with a ball swept over them. Exact signed distance and its
/// derivatives.
///
/// The polygon lies in the plane z = 0 of the frame P, its corners c_i anticlockwise seen from +z; the solid
/// is all points within the padding r of it. With the closest point c(x) of the polygon and R = x - c(x),
///   d(x) = |R| - r,   n = grad d = R/|R|,   grad n = (I - n n^T - U)/|R|,
/// where U projects onto the directions in which c slides along with x: none at a corner, u u^T along an edge
/// of direction u, and the plane of the polygon before a face, where grad n = 0. d is exact outside and
/// inside of the solid. On the polygon itself d = -r, n = z and grad n = 0, though -z is as good.
///
/// grad n jumps at seams, where c passes from a face to an edge or from an edge to a corner; there it is that
/// of one side. (The solids of exact_primitives.h round seams off; this one is exact.)
///
/// @see  Tracy, Howell, Manchester (2022), "DiffPills", IV, for the solid; Schneider, Weil (2008),
///       "Stochastic and integral geometry", 14.2, for Steiner's formula.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "collision/sdf/exact_primitives.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/model.h"
#include "engine/padded_polygon.h"
#include "engine/pose.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

template <typename T>
struct PaddedPolygonSolid {
  struct Edge {
    Vec2<T> start;  ///< in P [m]
    Vec2<T> along;  ///< unit, to the next corner
    T length;       ///< [m]
  };
  std::vector<Edge> edges;  ///< anticlockwise
  Mat3<T> R_BP;
  Vec3<T> centre;  ///< p_BP [m]
  T padding;       ///< r [m]

  /// @param primitive   of kind padded_polygon, as require_valid() accepts it
  /// @param parameters  those of the primitive, in T
  PaddedPolygonSolid(const Primitive& primitive, const std::array<T, 5>& parameters)
      : R_BP(primitive.X_BP.rotation().template cast<T>()),
        centre(primitive.X_BP.p.template cast<T>()),
        padding(parameters[0]) {
    const std::vector<Vec2<double>> corners = polygon_corners(primitive);
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Vec2<double> along = corners[(i + 1) % corners.size()] - corners[i];
      edges.push_back(
          {corners[i].template cast<T>(), along.normalized().template cast<T>(), T(along.norm())});
    }
  }
};

template <typename T>
inline constexpr bool k_is_exact<PaddedPolygonSolid<T>> = true;

/// A point and the closest one of an edge, in P.
template <typename S>
struct EdgePlace {
  S along;         ///< of the closest point from the start of the edge [m]
  S is_between;    ///< 1 if that is the foot of the perpendicular, 0 at an end
  Vec2<S> offset;  ///< from the closest point [m]
  S height;        ///< beyond the line of the edge [m]
};

/// Calls use(i, is_nearest, place) for each edge; the last one for which is_nearest holds is the nearest.
template <typename S, typename T, typename Use>
ABUT_KERNEL_PART void for_each_edge(const PaddedPolygonSolid<T>& solid, const Vec3<S>& x_P, const Use& use) {
  auto least = plain_value(S(std::numeric_limits<scalar_value_t<S>>::max()));
  for (std::size_t i = 0; i < solid.edges.size(); ++i) {
    const auto& edge = solid.edges[i];
    const S ux(edge.along[0]), uy(edge.along[1]), length(edge.length);
    const S x = x_P[0] - S(edge.start[0]), y = x_P[1] - S(edge.start[1]), foot = x * ux + y * uy;
    const auto is_before = foot < S(0);
    const auto is_beyond = foot > length;
    EdgePlace<S> place;
    place.along = select(is_before, S(0), S(select(is_beyond, length, foot)));
    place.is_between = select(is_before || is_beyond, S(0), S(1));
    place.offset = {x - place.along * ux, y - place.along * uy};
    place.height = x * uy - y * ux;
    const auto squared =
        plain_value(S(place.offset[0] * place.offset[0] + place.offset[1] * place.offset[1]));
    const auto is_nearest = squared < least;
    least = select(is_nearest, squared, least);
    use(i, is_nearest, place);
  }
}

/// What the closest point c of the polygon is to x, in P.
template <typename S>
struct ClosestOnPolygon {
  Vec3<S> offset;  ///< R = x - c(x) [m]
  Vec2<S> along;   ///< direction of the edge that c slides on, 0 at a corner and before a face
  S is_face;       ///< 1 before a face, else 0
};

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART ClosestOnPolygon<S> closest_on_polygon(const PaddedPolygonSolid<T>& solid,
                                                                      const Vec3<S>& x_P) {
  ClosestOnPolygon<S> at;
  at.offset = x_P;
  at.along = {S(0), S(0)};
  S highest(-std::numeric_limits<scalar_value_t<S>>::max());
  for_each_edge(solid, x_P, [&](std::size_t i, const auto& is_nearest, const EdgePlace<S>& place) {
    highest = select(place.height > highest, place.height, highest);
    for (int k = 0; k < 2; ++k) {
      at.offset[k] = select(is_nearest, place.offset[k], at.offset[k]);
      at.along[k] = select(is_nearest, S(place.is_between * S(solid.edges[i].along[k])), at.along[k]);
    }
  });
  const auto is_face = highest <= S(0);
  at.is_face = select(is_face, S(1), S(0));
  for (int k = 0; k < 2; ++k) {
    at.offset[k] = select(is_face, S(0), at.offset[k]);
    at.along[k] = select(is_face, S(0), at.along[k]);
  }
  return at;
}

/// d, n = grad d and grad n. Never throws.
template <SdfOrder order, typename S, typename T>
[[nodiscard]] ABUT_KERNEL SdfAnswer<order, S> exact_sample(const PaddedPolygonSolid<T>& solid,
                                                           const Vec3<S>& x_B) {
  const ClosestOnPolygon<S> at =
      closest_on_polygon<S>(solid, transform_transposed<S>(solid.R_BP, relative(x_B, solid.centre)));
  const SdfAnswer<order, S> in_P =
      distance_to_point<order, S>(at.offset, S(solid.padding), Vec3<S>(S(0), S(0), S(1)));
  SdfAnswer<order, S> out;
  out.distance = in_P.distance;
  if constexpr (order >= SdfOrder::normal) {
    out.normal = transform<S>(solid.R_BP, in_P.normal);
    if constexpr (order >= SdfOrder::gradient) out.gradient = out.normal;
    if constexpr (order >= SdfOrder::jacobian) {
      const S length = in_P.distance + S(solid.padding);
      const auto is_off = length > S(0);
      const S curvature = select(is_off, S(1), S(0)) / select(is_off, length, S(1)), bend = S(1) - at.is_face;
      Mat3<S> N, half;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          N(i, j) = bend * in_P.normal_jacobian(i, j);
          if (i < 2 && j < 2) N(i, j) = N(i, j) - curvature * at.along[i] * at.along[j];
        }
      }
      for (int j = 0; j < 3; ++j) half.col(j) = transform<S>(solid.R_BP, Vec3<S>(N.col(j)));  // R N R^T
      for (int i = 0; i < 3; ++i) {
        out.normal_jacobian.row(i) = transform<S>(solid.R_BP, Vec3<S>(half.row(i).transpose())).transpose();
      }
    }
  }
  return out;
}

/// Calls use(i, d d/d(parameter i)): 0 is r, 1 + 2 k and 2 + 2 k are x and y of corner k in P. With the share
/// s of the edge at which c lies (the envelope theorem),
///   by r                        -1
///   by the corners of the edge  -(1 - s) n_xy and -s n_xy,   n in P; 0 before a face
template <typename S, typename Use>
void for_each_parameter_derivative(const PaddedPolygonSolid<double>& solid, const Vec3<S>& x_B,
                                   const Use& use) {
  const Vec3<S> x_P = transform_transposed<S>(solid.R_BP, relative(x_B, solid.centre));
  const ClosestOnPolygon<S> at = closest_on_polygon<S>(solid, x_P);
  const Vec3<S> n = distance_to_point<SdfOrder::normal, S>(at.offset, S(0), Vec3<S>(S(0), S(0), S(1))).normal;
  const std::size_t count = solid.edges.size();
  std::vector<S> weights(count, S(0));
  for_each_edge(solid, x_P, [&](std::size_t i, const auto& is_nearest, const EdgePlace<S>& place) {
    const S share = place.along * S(1.0 / solid.edges[i].length);
    for (std::size_t k = 0; k < count; ++k) {
      const S of_edge = k == i ? S(S(1) - share) : k == (i + 1) % count ? share : S(0);
      weights[k] = select(is_nearest, of_edge, weights[k]);
    }
  });
  use(std::size_t{0}, S(-1));
  for (std::size_t k = 0; k < count; ++k) {
    const S w = weights[k] * (S(1) - at.is_face);
    for (std::size_t axis = 0; axis < 2; ++axis)
      use(1 + 2 * k + axis, S(S(0) - w * n[static_cast<Eigen::Index>(axis)]));
  }
}

/// The corner of the core that is farthest along a direction, in B [m]; r n/|n| more is the support point of
/// the solid. The first one where several are.
///
/// @param direction_B  of any length but 0
template <typename T>
[[nodiscard]] Vec3<T> core_support(const PaddedPolygonSolid<T>& solid, const Vec3<T>& direction_B) {
  const Vec3<T> n = transform_transposed<T>(solid.R_BP, direction_B);
  Vec2<T> best = solid.edges[0].start;
  for (const auto& edge : solid.edges) {
    if (n[0] * edge.start[0] + n[1] * edge.start[1] > n[0] * best[0] + n[1] * best[1]) best = edge.start;
  }
  const Vec3<T> corner_P(best[0], best[1], T(0));
  return transform<T>(solid.R_BP, corner_P) + solid.centre;
}

}  // namespace abut
