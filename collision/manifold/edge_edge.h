/// Contact of two edges: witness points, normal, signed distance and indicators, with first and second
/// derivatives.
///
/// Edge b = 1, 2 starts at p_b, has the vector t_b and the unit normal n_b, constant in its body and pointing
/// out of it (edge_normals.h); all in one common frame. With the parameters a of box_quadratic.h:
///   witness    e_b = p_b + a_b t_b,   De = e_1 - e_2,   D = sqrt(|De|^2 + tau_d^2)
///   normal     g = (n_2 - n_1)/2,   c = t_1 x t_2/(|t_1||t_2|),   P = I - (u_1 u_1^T + u_2 u_2^T)/2,
///              m = (c (c.g) + kappa eta_c^2 P g)/(|c|^2 + eta_c^2),   n = m/sqrt(|m|^2 + eta^2),
///              u_b = t_b/|t_b|
///   distance   d = n.De
///   clash      gamma_cl = S((threshold - n_1.n_2)/(8 tau_n)),   S = smoothstep5
/// n points from edge 2 to edge 1; d > 0 when the bodies are apart. Swapping the edges turns n over and keeps
/// everything else. |n| < 1 where the edges are parallel or their normals do not oppose each other: do not
/// renormalise it. n does not depend on where the edges are, and hardly has a component along them, since the
/// share of g fades as the edges cross: errors of the smooth witness points along the edges do not reach d.
///
/// A rigid motion is a tangent [rotation; translation] about a point: x moves by w x (x - o) + v, and n_b and
/// t_b turn by w.
///
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation",
///       IV-D. Theirs is paper_edge_contact(). Ours takes the normal from the directions alone, since that of
///       De is lost to the smoothing where edges touch.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "collision/manifold/box_quadratic.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/contact_config.h"
#include "engine/scalar.h"
#include "engine/smooth.h"
#include "engine/types.h"

namespace abut {

/// An edge of a body, or dL/d of one.
template <typename S>
struct Edge {
  Vec3<S> start;   ///< p [m]
  Vec3<S> vector;  ///< t, from start to end [m]
  Vec3<S> normal;  ///< n_e, of unit length [-]
};

/// ContactConfig, made ready for a scalar whose plain type is T.
template <typename T>
struct EdgeEdgeSettings {
  BoxSmoothing<T> box;
  T regularization;         ///< lambda, relative to L^2, or where that is not used [m^2]
  bool relative;            ///< L^2 is the mean of the squared lengths, else 1 m^2
  T softening_squared;      ///< tau_d^2 [m^2]
  T cross_squared;          ///< eta_c^2
  T blend;                  ///< kappa
  T fade_squared;           ///< eta^2
  T clash_threshold;        ///< n_1.n_2 at and above which gamma_cl is 0
  T inverse_clash;          ///< 1/(8 tau_n)
  T inverse_sigmoid_clash;  ///< 1/tau_n, of the paper's form

  /// @param size  of the smaller body [m], the unit of lengths in `config`
  EdgeEdgeSettings(const ContactConfig& config, double size)
      : box(config),
        regularization(static_cast<T>(config.edge_regularization)),
        relative(config.fidelity == Fidelity::corrected),
        softening_squared(static_cast<T>(square(config.neighbour_smoothing * size))),
        cross_squared(static_cast<T>(square(config.cross_smoothing))),
        blend(static_cast<T>(config.parallel_blend)),
        fade_squared(static_cast<T>(square(config.normal_fade))),
        clash_threshold(static_cast<T>(config.clash_threshold)),
        inverse_clash(static_cast<T>(0.125 / config.clash_smoothing)),
        inverse_sigmoid_clash(static_cast<T>(1.0 / config.clash_smoothing)) {}

 private:
  static double square(double x) { return x * x; }
};

namespace edge_edge_detail {

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S dot3(const Vec3<S>& a, const Vec3<S>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> cross3(const Vec3<S>& a, const Vec3<S>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Edges shorter than 0.1 um count as points: |t|^2 is taken to be this [m^2] where it divides.
inline constexpr double k_tiny_square = 1e-14;

/// A squared length that may be divided by.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S at_least_tiny(const S& squared_length) {
  const S tiny = S(k_tiny_square);
  return select(squared_length > tiny, squared_length, tiny);
}

}  // namespace edge_edge_detail

// Witness points --------------------------------------------------------------------------------------------

/// |A a + p_1 - p_2|^2 + lambda |a - 1/2|^2 of two edges, halved and without its constant, A = (t_1, -t_2).
///
/// lambda and the scale are a share of (|t_1|^2 + |t_2|^2)/2 and this, or (not `relative`) lambda m^2 and
/// 1 m^2. An edge may be as short as 0.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART BoxQuadratic<S> edge_problem(const Edge<S>& edge1, const Edge<S>& edge2,
                                                            const EdgeEdgeSettings<T>& settings) {
  using namespace edge_edge_detail;
  const Vec3<S>&t1 = edge1.vector, &t2 = edge2.vector;
  const Vec3<S> b(edge1.start[0] - edge2.start[0], edge1.start[1] - edge2.start[1],
                  edge1.start[2] - edge2.start[2]);
  const S square1 = dot3(t1, t1), square2 = dot3(t2, t2);
  BoxQuadratic<S> problem;
  problem.scale = settings.relative ? at_least_tiny(S(S(0.5) * (square1 + square2))) : S(1);
  const S lambda = S(settings.regularization) * problem.scale, half_lambda = S(0.5) * lambda;
  problem.Q11 = square1 + lambda;
  problem.Q22 = square2 + lambda;
  problem.Q12 = -dot3(t1, t2);
  problem.c1 = dot3(t1, b) - half_lambda;
  problem.c2 = -dot3(t2, b) - half_lambda;
  return problem;
}

/// e_1, e_2 and what follows from them.
template <typename S>
struct EdgeWitness {
  BoxMinimum<S> minimum;  ///< a_1, a_2 and gamma_con: whether the edges pass each other inside both
  Vec3<S> e1, e2;         ///< [m]
  Vec3<S> difference;     ///< De [m]
  S softened;             ///< D [m]
};

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> point_on(const Edge<S>& edge, const S& parameter) {
  return {edge.start[0] + parameter * edge.vector[0], edge.start[1] + parameter * edge.vector[1],
          edge.start[2] + parameter * edge.vector[2]};
}

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART EdgeWitness<S> edge_witness(const Edge<S>& edge1, const Edge<S>& edge2,
                                                           const EdgeEdgeSettings<T>& settings) {
  // Made in its place: copies of so much would cost as much as a third of it.
  EdgeWitness<S> w{box_minimum(edge_problem(edge1, edge2, settings), settings.box), {}, {}, {}, S(0)};
  w.e1 = point_on(edge1, w.minimum.alpha[0]);
  w.e2 = point_on(edge2, w.minimum.alpha[1]);
  for (int i = 0; i < 3; ++i) w.difference[i] = w.e1[i] - w.e2[i];
  const S square = edge_edge_detail::dot3(w.difference, w.difference) + S(settings.softening_squared);
  w.softened = square * reciprocal_sqrt(square);
  return w;
}

// Normal and distance ---------------------------------------------------------------------------------------

/// n, and what its derivatives are made of.
template <typename S>
struct EdgeNormal {
  Vec3<S> n;
  Vec3<S> g;                           ///< (n_2 - n_1)/2
  Vec3<S> cross;                       ///< X = t_1 x t_2 [m^2]
  S cross_g;                           ///< X.g [m^2]
  S inverse_square1, inverse_square2;  ///< 1/|t_b|^2 [1/m^2]
  S inverse_cross;                     ///< A = 1/(|X|^2 + eta_c^2 |t_1|^2 |t_2|^2) [1/m^4]
  S along1, along2;                    ///< t_b.g [m]
  S parallel;                          ///< eta_c^2/(|c|^2 + eta_c^2), in (0, 1]
  S inverse_length;                    ///< 1/sqrt(|m|^2 + eta^2)
};

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART EdgeNormal<S> edge_normal(const Edge<S>& edge1, const Edge<S>& edge2,
                                                         const EdgeEdgeSettings<T>& settings) {
  using namespace edge_edge_detail;
  const Vec3<S>&t1 = edge1.vector, &t2 = edge2.vector;
  EdgeNormal<S> r;
  for (int i = 0; i < 3; ++i) r.g[i] = S(0.5) * (edge2.normal[i] - edge1.normal[i]);
  r.cross = cross3(t1, t2);
  r.cross_g = dot3(r.cross, r.g);
  const S square1 = at_least_tiny(dot3(t1, t1)), square2 = at_least_tiny(dot3(t2, t2));
  r.inverse_square1 = S(1) / square1;
  r.inverse_square2 = S(1) / square2;
  const S inverse_product = r.inverse_square1 * r.inverse_square2;
  const S inverse_sum = S(1) / (dot3(r.cross, r.cross) * inverse_product + S(settings.cross_squared));
  r.inverse_cross = inverse_product * inverse_sum;
  r.parallel = S(settings.cross_squared) * inverse_sum;
  r.along1 = dot3(t1, r.g);
  r.along2 = dot3(t2, r.g);
  const S crossing = r.cross_g * r.inverse_cross;
  const S blend = S(settings.blend) * r.parallel, half_blend = S(0.5) * blend;
  const S share1 = half_blend * r.along1 * r.inverse_square1,
          share2 = half_blend * r.along2 * r.inverse_square2;
  for (int i = 0; i < 3; ++i)
    r.n[i] = r.cross[i] * crossing + blend * r.g[i] - share1 * t1[i] - share2 * t2[i];
  r.inverse_length = reciprocal_sqrt(S(dot3(r.n, r.n) + S(settings.fade_squared)));
  for (int i = 0; i < 3; ++i) r.n[i] = r.n[i] * r.inverse_length;
  return r;
}

/// (3, 3) dn/dw of a turn w of edge 2.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART Mat3<S> edge_normal_dw2(const Edge<S>& edge1, const Edge<S>& edge2,
                                                       const EdgeNormal<S>& r,
                                                       const EdgeEdgeSettings<T>& settings) {
  using namespace edge_edge_detail;
  const Vec3<S>&t1 = edge1.vector, &t2 = edge2.vector;
  const S A = r.inverse_cross, crossing = r.cross_g * A;
  const S blend = S(settings.blend) * r.parallel, half_blend = S(0.5) * blend;
  const S share1 = half_blend * r.along1 * r.inverse_square1,
          share2 = half_blend * r.along2 * r.inverse_square2;
  Mat3<S> J;
  for (int axis = 0; axis < 3; ++axis) {
    Vec3<S> w(S(0), S(0), S(0));
    w[axis] = S(1);
    const Vec3<S> dt2 = cross3(w, t2), dn2 = cross3(w, edge2.normal);
    const Vec3<S> dg(S(0.5) * dn2[0], S(0.5) * dn2[1], S(0.5) * dn2[2]);
    const Vec3<S> dX = cross3(t1, dt2);
    const S dlog_A = S(-2) * (A * dot3(r.cross, dX));  // also that of `parallel`, as |t_2| stays
    const S dcrossing = (dot3(dX, r.g) + dot3(r.cross, dg)) * A + crossing * dlog_A;
    const S dblend = blend * dlog_A;
    const S dshare1 = half_blend * dot3(t1, dg) * r.inverse_square1 + share1 * dlog_A;
    const S dshare2 = half_blend * (dot3(dt2, r.g) + dot3(t2, dg)) * r.inverse_square2 + share2 * dlog_A;
    Vec3<S> dm;
    for (int i = 0; i < 3; ++i) {
      dm[i] = dX[i] * crossing + r.cross[i] * dcrossing + blend * dg[i] + dblend * r.g[i] - dshare1 * t1[i] -
              dshare2 * t2[i] - share2 * dt2[i];
    }
    const S along = dot3(r.n, dm);
    for (int i = 0; i < 3; ++i) J(i, axis) = r.inverse_length * (dm[i] - r.n[i] * along);
  }
  return J;
}

/// VJP: adds dL/d(t_b, n_b) to the bars, given dL/dn.
template <typename S, typename T>
ABUT_KERNEL_PART void edge_normal_vjp(const Edge<S>& edge1, const Edge<S>& edge2, const EdgeNormal<S>& r,
                                      const EdgeEdgeSettings<T>& settings, const Vec3<S>& n_bar,
                                      Edge<S>& edge1_bar, Edge<S>& edge2_bar) {
  using namespace edge_edge_detail;
  const Vec3<S>&t1 = edge1.vector, &t2 = edge2.vector;
  const S square1 = dot3(t1, t1), square2 = dot3(t2, t2);
  const S A = r.inverse_cross, crossing = r.cross_g * A;
  const S blend = S(settings.blend) * r.parallel, half_blend = S(0.5) * blend;
  const S share1 = half_blend * r.along1 * r.inverse_square1,
          share2 = half_blend * r.along2 * r.inverse_square2;
  const S along = dot3(r.n, n_bar);
  Vec3<S> m_bar;
  for (int i = 0; i < 3; ++i) m_bar[i] = r.inverse_length * (n_bar[i] - r.n[i] * along);

  const S crossing_bar = dot3(r.cross, m_bar);
  const S share1_bar = -dot3(t1, m_bar), share2_bar = -dot3(t2, m_bar);
  // kappa parallel (P g).m_bar, and what follows: dL/d log(parallel), and dL/d(1/A)
  const S log_parallel_bar = blend * dot3(r.g, m_bar) + share1 * share1_bar + share2 * share2_bar;
  const S cross_g_bar = crossing_bar * A, denominator_bar = -A * (crossing * crossing_bar + log_parallel_bar);
  const S along1_bar = half_blend * r.inverse_square1 * share1_bar,
          along2_bar = half_blend * r.inverse_square2 * share2_bar;
  const S tiny = S(k_tiny_square);
  const S square1_bar = select(square1 > tiny,
                               S(denominator_bar * S(settings.cross_squared) * at_least_tiny(square2) +
                                 r.inverse_square1 * (log_parallel_bar - share1 * share1_bar)),
                               S(0));
  const S square2_bar = select(square2 > tiny,
                               S(denominator_bar * S(settings.cross_squared) * at_least_tiny(square1) +
                                 r.inverse_square2 * (log_parallel_bar - share2 * share2_bar)),
                               S(0));
  Vec3<S> X_bar;
  for (int i = 0; i < 3; ++i) {
    X_bar[i] = crossing * m_bar[i] + cross_g_bar * r.g[i] + S(2) * denominator_bar * r.cross[i];
  }
  const Vec3<S> t1_of_cross = cross3(t2, X_bar), t2_of_cross = cross3(X_bar, t1);
  for (int i = 0; i < 3; ++i) {
    const S half_g_bar =
        S(0.5) * (blend * m_bar[i] + cross_g_bar * r.cross[i] + along1_bar * t1[i] + along2_bar * t2[i]);
    edge1_bar.normal[i] = edge1_bar.normal[i] - half_g_bar;
    edge2_bar.normal[i] = edge2_bar.normal[i] + half_g_bar;
    edge1_bar.vector[i] = edge1_bar.vector[i] + t1_of_cross[i] + S(2) * square1_bar * t1[i] +
                          along1_bar * r.g[i] - share1 * m_bar[i];
    edge2_bar.vector[i] = edge2_bar.vector[i] + t2_of_cross[i] + S(2) * square2_bar * t2[i] +
                          along2_bar * r.g[i] - share2 * m_bar[i];
  }
}

// The contact -----------------------------------------------------------------------------------------------

template <typename S>
struct EdgeContact {
  EdgeWitness<S> witness;
  EdgeNormal<S> normal;
  S distance;  ///< d [m]
  S clash;     ///< gamma_cl in [0, 1]
};

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART S edge_clash(const Edge<S>& edge1, const Edge<S>& edge2,
                                            const EdgeEdgeSettings<T>& settings) {
  const S opposed = edge_edge_detail::dot3(edge1.normal, edge2.normal);
  return smoothstep5(S((S(settings.clash_threshold) - opposed) * S(settings.inverse_clash)));
}

/// d gamma_cl / d(n_1.n_2).
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART S edge_clash_dx(const Edge<S>& edge1, const Edge<S>& edge2,
                                               const EdgeEdgeSettings<T>& settings) {
  const S opposed = edge_edge_detail::dot3(edge1.normal, edge2.normal);
  return -S(settings.inverse_clash) *
         smoothstep5_dx(S((S(settings.clash_threshold) - opposed) * S(settings.inverse_clash)));
}

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART EdgeContact<S> edge_contact(const Edge<S>& edge1, const Edge<S>& edge2,
                                                           const EdgeEdgeSettings<T>& settings) {
  EdgeContact<S> r{edge_witness(edge1, edge2, settings), edge_normal(edge1, edge2, settings), S(0), S(0)};
  r.distance = edge_edge_detail::dot3(r.normal.n, r.witness.difference);
  r.clash = edge_clash(edge1, edge2, settings);
  return r;
}

/// Derivatives by a tangent [rotation; translation] of edge 2 about the origin of the common frame.
///
/// A tangent of edge 1 has the opposite effect on what is a number, as only their relative motion counts; on
/// a vector y (n, De) it is [y]x-wards: dy = w x y - (dy of edge 2).
template <typename S>
struct EdgeContactJacobian {
  Eigen::Matrix<S, 4, 6> distance_normal;  ///< rows: d, n_x, n_y, n_z
  Mat36<S> e1, e2;
  Vec6<S> softened;
  Vec6<S> gamma_con;
  Vec6<S> clash;
};

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART EdgeContactJacobian<S> edge_contact_jacobian(
    const Edge<S>& edge1, const Edge<S>& edge2, const EdgeContact<S>& contact,
    const EdgeEdgeSettings<T>& settings) {
  using namespace edge_edge_detail;
  const Vec3<S>&t1 = edge1.vector, &t2 = edge2.vector;
  const EdgeWitness<S>& w = contact.witness;
  const BoxMinimumDerivative<S> minimum = box_minimum_dx(w.minimum, settings.box);

  // The rotation halves of d(Q12, c1, c2); the translation halves are 0, -t_1 and t_2.
  const Vec3<S>& Q12_w = contact.normal.cross;
  const Vec3<S> c1_w = cross3(t1, edge2.start), c2_w = cross3(edge1.start, t2);
  const auto by_tangent = [&](const S(&by)[3], int i, S& rotation, S& translation) {
    rotation = by[0] * Q12_w[i] + by[1] * c1_w[i] + by[2] * c2_w[i];
    translation = by[2] * t2[i] - by[1] * t1[i];
  };
  const Mat3<S> n_w = edge_normal_dw2(edge1, edge2, contact.normal, settings);
  const Vec3<S> normals = cross3(edge2.normal, edge1.normal);  // d(n_1.n_2)/dw
  const S clash_slope = edge_clash_dx(edge1, edge2, settings);
  const S n_t1 = dot3(contact.normal.n, t1), n_t2 = dot3(contact.normal.n, t2);
  const S inverse_softened = S(1) / w.softened;
  const S De_t1 = dot3(w.difference, t1) * inverse_softened,
          De_t2 = dot3(w.difference, t2) * inverse_softened;
  const Vec3<S> n_moment = cross3(w.e2, contact.normal.n), De_moment = cross3(w.e2, w.difference);

  EdgeContactJacobian<S> J;
  for (int i = 0; i < 3; ++i) {
    S alpha1[2], alpha2[2];  // rotation, translation
    by_tangent(minimum.alpha[0], i, alpha1[0], alpha1[1]);
    by_tangent(minimum.alpha[1], i, alpha2[0], alpha2[1]);
    by_tangent(minimum.gamma, i, J.gamma_con[i], J.gamma_con[3 + i]);
    for (int half = 0; half < 2; ++half) {
      const int column = 3 * half + i;
      for (int row = 0; row < 3; ++row) {
        J.e1(row, column) = t1[row] * alpha1[half];
        J.e2(row, column) = t2[row] * alpha2[half];
        J.distance_normal(1 + row, column) = half == 0 ? n_w(row, i) : S(0);
      }
      const S n_part = half == 0 ? n_moment[i] : contact.normal.n[i];
      const S De_part = (half == 0 ? De_moment[i] : w.difference[i]) * inverse_softened;
      J.distance_normal(0, column) = n_t1 * alpha1[half] - n_t2 * alpha2[half] - n_part;
      J.softened[column] = De_t1 * alpha1[half] - De_t2 * alpha2[half] - De_part;
    }
    J.distance_normal(0, i) = J.distance_normal(0, i) + w.difference[0] * n_w(0, i) +
                              w.difference[1] * n_w(1, i) + w.difference[2] * n_w(2, i);
    J.e2(i, 3 + i) = J.e2(i, 3 + i) + S(1);
    const int j = (i + 1) % 3, k = (i + 2) % 3;  // w x e_2: column i holds e_i x e_2
    J.e2(j, i) = J.e2(j, i) - w.e2[k];
    J.e2(k, i) = J.e2(k, i) + w.e2[j];
    J.clash[i] = clash_slope * normals[i];
    J.clash[3 + i] = S(0);
  }
  return J;
}

/// dL/d of everything that an EdgeContact says.
template <typename S>
struct EdgeContactBar {
  Vec3<S> e1 = zero(), e2 = zero();
  S softened = S(0);
  S gamma_con = S(0);
  Vec3<S> n = zero();
  S distance = S(0);
  S clash = S(0);

  [[nodiscard]] static Vec3<S> zero() { return {S(0), S(0), S(0)}; }
};

/// dL/d of both edges, all 18 numbers.
template <typename S>
struct EdgePairBar {
  Edge<S> edge1, edge2;
};

/// VJP by the geometry: every number of both edges is a variable of its own.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART EdgePairBar<S> edge_contact_vjp(const Edge<S>& edge1, const Edge<S>& edge2,
                                                               const EdgeContact<S>& contact,
                                                               const EdgeEdgeSettings<T>& settings,
                                                               const EdgeContactBar<S>& bar) {
  using namespace edge_edge_detail;
  const Vec3<S>&t1 = edge1.vector, &t2 = edge2.vector;
  const EdgeWitness<S>& w = contact.witness;
  const S clash_bar = bar.clash * edge_clash_dx(edge1, edge2, settings);
  const S along_difference = bar.softened / w.softened;
  Vec3<S> n_bar, e1_bar, e2_bar;
  for (int i = 0; i < 3; ++i) {
    n_bar[i] = bar.n[i] + bar.distance * w.difference[i];
    const S difference_bar = bar.distance * contact.normal.n[i] + along_difference * w.difference[i];
    e1_bar[i] = bar.e1[i] + difference_bar;
    e2_bar[i] = bar.e2[i] - difference_bar;
  }
  const S alpha_bar[2] = {dot3(t1, e1_bar), dot3(t2, e2_bar)};
  const BoxQuadratic<S> problem = box_minimum_vjp(w.minimum, settings.box, alpha_bar, bar.gamma_con);
  S square1_bar = problem.Q11, square2_bar = problem.Q22;
  if (settings.relative) {
    const S scale_bar = problem.scale + S(settings.regularization) *
                                            (problem.Q11 + problem.Q22 - S(0.5) * (problem.c1 + problem.c2));
    const S mean_square = S(0.5) * (dot3(t1, t1) + dot3(t2, t2));
    const S half_bar = select(mean_square > S(k_tiny_square), S(S(0.5) * scale_bar), S(0));
    square1_bar = square1_bar + half_bar;
    square2_bar = square2_bar + half_bar;
  }
  EdgePairBar<S> r;
  for (int i = 0; i < 3; ++i) {
    const S b = edge1.start[i] - edge2.start[i];
    const S b_bar = problem.c1 * t1[i] - problem.c2 * t2[i];
    r.edge1.start[i] = e1_bar[i] + b_bar;
    r.edge2.start[i] = e2_bar[i] - b_bar;
    r.edge1.vector[i] =
        w.minimum.alpha[0] * e1_bar[i] + S(2) * square1_bar * t1[i] - problem.Q12 * t2[i] + problem.c1 * b;
    r.edge2.vector[i] =
        w.minimum.alpha[1] * e2_bar[i] + S(2) * square2_bar * t2[i] - problem.Q12 * t1[i] - problem.c2 * b;
    r.edge1.normal[i] = clash_bar * edge2.normal[i];
    r.edge2.normal[i] = clash_bar * edge1.normal[i];
  }
  edge_normal_vjp(edge1, edge2, contact.normal, settings, n_bar, r.edge1, r.edge2);
  return r;
}

/// dL/d of a tangent [rotation; translation] about `origin` of the body that carries an edge, from dL/d of
/// the edge.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec6<S> edge_tangent_bar(const Edge<S>& edge, const Edge<S>& edge_bar,
                                                        const Vec3<S>& origin) {
  using namespace edge_edge_detail;
  const Vec3<S> arm(edge.start[0] - origin[0], edge.start[1] - origin[1], edge.start[2] - origin[2]);
  const Vec3<S> of_start = cross3(arm, edge_bar.start), of_vector = cross3(edge.vector, edge_bar.vector),
                of_normal = cross3(edge.normal, edge_bar.normal);
  Vec6<S> r;
  for (int i = 0; i < 3; ++i) {
    r[i] = of_start[i] + of_vector[i] + of_normal[i];
    r[3 + i] = edge_bar.start[i];
  }
  return r;
}

// Second derivatives ----------------------------------------------------------------------------------------

/// The signed distance of a contact with its first and second derivatives by the poses of both bodies.
struct DistanceHessian {
  double distance;                        ///< [m]
  Eigen::Matrix<double, 12, 1> gradient;  ///< by (theta_1, v_1, theta_2, v_2)
  Eigen::Matrix<double, 12, 12> hessian;  ///< symmetric
};

/// The chart, for each body b with origin o_b:  x -> o_b + v_b + Exp(theta_b)(x - o_b), directions by
/// Exp(theta_b). The Hessian is that of d in these coordinates at 0: theta is a rotation vector, not a
/// sequence of small turns, and translation is added after the turn and not turned.
///
/// @param radii  sum of the radii of capsules around the edges, |n| times which is taken off d [m]
[[nodiscard]] DistanceHessian edge_distance_hessian(const Edge<double>& edge1, const Edge<double>& edge2,
                                                    const Vec3<double>& origin1, const Vec3<double>& origin2,
                                                    const EdgeEdgeSettings<double>& settings,
                                                    double radii = 0.0);

// As published ----------------------------------------------------------------------------------------------

/// Two one-sided contacts: body b is pushed along n_b at e_b where d_b < 0.
template <typename S>
struct PaperEdgeContact {
  S distance1, distance2;    ///< d_b [m]
  Vec3<S> normal1, normal2;  ///< n_b [-]
  S clash;                   ///< gamma_cl, sigmoid(-n_1.n_2/tau)
};

/// Normals along De:  n_bar = De/sqrt(|De|^2 + eps),  s_1 = tanh(n_2.n_bar/width), d_1 = s_1 |De|, n_1 = s_1
/// n_bar; body 2 sees -De: s_2 = tanh(-n_1.n_bar/width), d_2 = s_2 |De|, n_2 = -s_2 n_bar.
///
/// Mended: without the reversal body 2's distance has the wrong sign; eps is 1e-12 m^2, not the smoothing.
/// |De| is sqrt(|De|^2 + eps) - sqrt(eps), so that it has derivatives at 0.
///
/// @param normal1  grad phi_1 at e_1, and normal2 grad phi_2 at e_2
/// @see  IV-D3 of the paper, equations 11 and 15
template <typename S, typename T>
[[nodiscard]] PaperEdgeContact<S> paper_edge_contact(const EdgeWitness<S>& witness, const Vec3<S>& normal1,
                                                     const Vec3<S>& normal2,
                                                     const EdgeEdgeSettings<T>& settings) {
  using std::sqrt;
  using namespace edge_edge_detail;
  constexpr double k_sign_width = 0.1;
  constexpr double k_length = 1e-6;
  const Vec3<S>& De = witness.difference;
  const S length = sqrt(dot3(De, De) + S(k_length * k_length));
  const S distance = length - S(k_length);
  const S sign1 = tanh_sign(S(dot3(normal2, De) / length), S(k_sign_width));
  const S sign2 = tanh_sign(S(-dot3(normal1, De) / length), S(k_sign_width));
  PaperEdgeContact<S> r;
  r.distance1 = sign1 * distance;
  r.distance2 = sign2 * distance;
  for (int i = 0; i < 3; ++i) {
    r.normal1[i] = sign1 * De[i] / length;
    r.normal2[i] = -sign2 * De[i] / length;
  }
  r.clash = sigmoid(S(-dot3(normal1, normal2) * S(settings.inverse_sigmoid_clash)));
  return r;
}

}  // namespace abut
