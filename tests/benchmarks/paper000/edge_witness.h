/// Witness points of two edges, smooth in all four ends, as published.
///
/// Edge b = 1, 2 starts at p_b and has the vector t_b, in one common frame. The parameters a of the points
/// e_b = p_b + a_b t_b are the smooth minimiser (box_quadratic.h) over the unit square of
///   1/2 |e_1 - e_2|^2 + 1/2 lambda |a - 1/2|^2
/// where lambda > 0 makes the points of parallel edges unique. An edge may be as short as 0.
///
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation",
///       IV-D2 and supplement III-B.
#pragma once

#include "box_quadratic.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/types.h"
#include "quadratic_program.h"

namespace abut::paper000 {

template <typename S>
struct Edge {
  Vec3<S> start;   ///< p [m]
  Vec3<S> vector;  ///< t, from start to end [m]
};

/// Settings, made ready for a scalar whose plain type is T.
template <typename T>
struct EdgeWitnessSettings {
  BoxSmoothing<T> box;
  T regularization;  ///< lambda [m^2]

  /// @param widths  `minimum` in m^2
  /// @param lambda  [m^2], > 0
  EdgeWitnessSettings(const BoxWidths& widths, double lambda)
      : box(widths), regularization(static_cast<T>(lambda)) {}
};

template <typename S>
struct EdgeWitness {
  BoxMinimum<S> minimum;  ///< a and gamma_con: whether the edges pass each other inside both
  Vec3<S> e1, e2;         ///< [m]
};

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> point_on(const Edge<S>& edge, const S& parameter) {
  return {edge.start[0] + parameter * edge.vector[0], edge.start[1] + parameter * edge.vector[1],
          edge.start[2] + parameter * edge.vector[2]};
}

/// What the parameters minimise.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART QuadraticProgram<S> edge_problem(const Edge<S>& edge1, const Edge<S>& edge2,
                                                                const EdgeWitnessSettings<T>& settings) {
  return edge_edge_program<S>(edge1.start, edge1.vector, edge2.start, edge2.vector,
                              S(settings.regularization));
}

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART EdgeWitness<S> edge_witness(const Edge<S>& edge1, const Edge<S>& edge2,
                                                           const EdgeWitnessSettings<T>& settings) {
  EdgeWitness<S> w{box_minimum(edge_problem(edge1, edge2, settings), settings.box), {}, {}};
  w.e1 = point_on(edge1, w.minimum.alpha[0]);
  w.e2 = point_on(edge2, w.minimum.alpha[1]);
  return w;
}

}  // namespace abut::paper000
