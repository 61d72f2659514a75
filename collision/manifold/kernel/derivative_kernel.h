/// The way back through the simulation's contacts, by lanes: signed distances and normals to points and
/// primitives, weights of pairs of edges to distances, pairs of edges to edges.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

#include "collision/manifold/kernel/derivative_kernels.h"
#include "collision/manifold/kernel/detection_kernel.h"
#include "collision/manifold/kernel/solid_lanes.h"
#include "collision/sdf/parameter_vjp.h"
#include "engine/smooth.h"

namespace abut {
inline namespace ABUT_SIMD {

// Solids ----------------------------------------------------------------------------------------------------

using LaneSample = SdfSampleJacobian<Lanes<double>>;
using LaneBar = SampleBar<Lanes<double>>;

/// Adds dL/d(primitive) of a pack of points.
__attribute__((noinline)) ABUT_KERNEL inline void add_superquadric_bar(const Superquadric<double>& solid,
                                                                       const LaneBar& at,
                                                                       std::array<Lanes<double>, 5>& bar) {
  parameter_vjp(solid, at, bar);
}

/// Adds the numbers k of dL/d(primitive) of a pack of points: `add(k, pack)`.
template <typename Add>
void add_primitive_bar(const PreparedPrimitive<double>& primitive, const LaneBar& at, const Add& add) {
  using P = Lanes<double>;
  std::array<P, 5> parameters;
  parameters.fill(P(0));
  Vec3<P> centre(P(0), P(0), P(0));
  std::visit(
      [&](const auto& solid) {
        using Solid = std::remove_cvref_t<decltype(solid)>;
        if constexpr (std::is_same_v<Solid, Superquadric<double>>) {
          add_superquadric_bar(solid, at, parameters);
        } else if constexpr (k_is_exact<Solid>) {
          parameter_vjp(solid, at, parameters);
        }
        if constexpr (std::is_same_v<Solid, HalfSpace<double>>) {
          for (int i = 0; i < 3; ++i) centre[i] = P(solid.point[i]);
        } else if constexpr (std::is_same_v<Solid, Superquadric<double>> || k_is_exact<Solid>) {
          for (int i = 0; i < 3; ++i) centre[i] = P(solid.centre[i]);
        }
      },
      primitive.solid);
  // Moving the primitive by (theta, t) moves the point in it by -t - theta x (x - p), and turns n.
  const Vec3<P> turned = edge_edge_detail::cross3(at.normal, at.normal_bar),
                arm(at.x[0] - centre[0], at.x[1] - centre[1], at.x[2] - centre[2]),
                moved_by = edge_edge_detail::cross3(arm, at.x_bar);
  for (int k = 0; k < 5; ++k) add(k, parameters[static_cast<std::size_t>(k)]);
  for (int i = 0; i < 3; ++i) {
    add(5 + i, turned[i] - moved_by[i]);
    add(8 + i, -at.x_bar[i]);
  }
}

/// Distance, normal and their derivatives by the point; without normals only the gradient of the distance.
template <bool with_normals>
[[nodiscard]] LaneSample derivative_sample(const PreparedPrimitive<double>& primitive, DistanceMode mode,
                                           const Vec3<Lanes<double>>& x) {
  using P = Lanes<double>;
  constexpr SdfOrder order = with_normals ? SdfOrder::jacobian : SdfOrder::gradient;
  const auto* superquadric = std::get_if<Superquadric<double>>(&primitive.solid);
  const SdfAnswer<order, P> sample = superquadric != nullptr ? taubin_sample<order, P>(*superquadric, x)
                                                             : primitive_sample<order, P>(primitive, mode, x);
  LaneSample r;
  r.distance = sample.distance;
  r.gradient = sample.gradient;
  r.normal = sample.normal;
  if constexpr (with_normals) {
    r.normal_jacobian = sample.normal_jacobian;
  } else {
    r.normal_jacobian.setConstant(P(0));
  }
  return r;
}

inline void store_sample(const LaneSample& sample, double* to) {
  constexpr int W = Lanes<double>::k_lanes;
  sample.distance.store(to);
  for (int i = 0; i < 3; ++i) {
    sample.normal[i].store(to + (1 + i) * W);
    sample.gradient[i].store(to + (4 + i) * W);
    for (int j = 0; j < 3; ++j) sample.normal_jacobian(i, j).store(to + (7 + 3 * i + j) * W);
  }
}

[[nodiscard]] inline LaneSample load_sample(const double* from) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  LaneSample sample;
  sample.distance = P::load(from);
  for (int i = 0; i < 3; ++i) {
    sample.normal[i] = P::load(from + (1 + i) * W);
    sample.gradient[i] = P::load(from + (4 + i) * W);
    for (int j = 0; j < 3; ++j) sample.normal_jacobian(i, j) = P::load(from + (7 + 3 * i + j) * W);
  }
  return sample;
}

/// As ShapeSdf::parameter_vjp(), of a union: the sum over points, or each by itself.
template <bool with_normals, bool by_point = false>
void solid_vjp_of(const BoundedSolid& solid, const SolidBarColumns& columns, double* memory,
                  double* primitives_bar) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  constexpr double k_epsilon = std::numeric_limits<double>::epsilon();
  const auto& primitives = solid.sdf->primitives<double>();
  const DistanceMode mode = solid.sdf->distance_mode();
  const int added = solid.sdf->added();
  const P tau(solid.sdf->smoothing()), inverse_tau(1.0 / solid.sdf->smoothing());
  double* const numbers = memory + 16 * W * added;  // of the primitives that matter
  for (int first = 0; first < columns.points.count; first += W) {
    const Vec3<P> x(P::load(columns.points.x + first), P::load(columns.points.y + first),
                    P::load(columns.points.z + first));
    const P distance_bar = P::load(columns.distance_bar + first);
    Vec3<P> normal_bar(P(0), P(0), P(0)), x_bar = normal_bar;
    if constexpr (with_normals) {
      for (int i = 0; i < 3; ++i) normal_bar[i] = P::load(columns.normal_bar[i] + first);
    }
    const auto go_back = [&](int l, const LaneSample& sample, const P& d_bar, const Vec3<P>& n_bar) {
      const LaneBar at{x, sample.distance, sample.normal, d_bar, n_bar, sample_vjp(sample, d_bar, n_bar)};
      for (int i = 0; i < 3; ++i) x_bar[i] = x_bar[i] + at.x_bar[i];
      if (primitives_bar == nullptr) return;
      add_primitive_bar(primitives[static_cast<std::size_t>(l)], at, [&](int k, const P& bar) {
        if constexpr (by_point) {
          bar.store(primitives_bar + (k_primitive_bars * l + k) * columns.points.count + first);
        } else {
          primitives_bar[k_primitive_bars * l + k] += reduce_sum(bar);
        }
      });
    };
    if (added == 1) {
      go_back(0, derivative_sample<with_normals>(primitives[0], mode, x), distance_bar, normal_bar);
    } else {
      const P given = P::load(columns.distance + first);
      const P cut = given + P(k_negligible<double>) * tau + P(64.0 * k_epsilon) * (abs(given) + tau);
      UnionSum<SdfOrder::normal, P> sum(tau);
      int count = 0;
      for (int l = 0; l < added; ++l) {
        const auto i = static_cast<std::size_t>(l);
        if (all(lower_within(primitives[i], solid.bounds[i], x, 0.0) >= max(cut, P(0))) ||
            all(primitive_bounds<P>(primitives[i], mode, x).lower >= cut))
          continue;
        const LaneSample sample = derivative_sample<with_normals>(primitives[i], mode, x);
        store_sample(sample, memory + 16 * W * count);
        numbers[count++] = l;
        sum.add(SdfNormal<P>{sample.distance, sample.normal});
      }
      const SdfNormal<P> all_of_them = sum.result();
      const Vec3<P>& m = all_of_them.normal;
      // n = m sqrt(1.01)/sqrt(|m|^2 + 0.01)
      constexpr double k_fade = k_normal_fade * k_normal_fade;
      const P inverse_square = P(1) / (edge_edge_detail::dot3(m, m) + P(k_fade)),
              scale = sqrt(P(1.0 + k_fade) * inverse_square),
              along = edge_edge_detail::dot3(m, normal_bar) * inverse_square;
      Vec3<P> m_bar;
      for (int i = 0; i < 3; ++i) m_bar[i] = scale * (normal_bar[i] - m[i] * along);
      for (int k = 0; k < count; ++k) {
        const LaneSample sample = load_sample(memory + 16 * W * k);
        const P weight = exp((all_of_them.distance - sample.distance) * inverse_tau);
        const Vec3<P> off(sample.normal[0] - m[0], sample.normal[1] - m[1], sample.normal[2] - m[2]);
        const P spread = edge_edge_detail::dot3(m_bar, off) * inverse_tau;
        go_back(static_cast<int>(numbers[k]), sample, weight * (distance_bar - spread),
                Vec3<P>(weight * m_bar[0], weight * m_bar[1], weight * m_bar[2]));
      }
    }
    for (int i = 0; i < 3; ++i) x_bar[i].store(columns.x_bar[i] + first);
  }
}

inline void solid_vjp_by_lanes(const BoundedSolid& solid, const SolidBarColumns& columns, double* memory,
                               double* primitives_bar) {
  if (columns.normal_bar[0] != nullptr) {
    solid_vjp_of<true>(solid, columns, memory, primitives_bar);
  } else {
    solid_vjp_of<false>(solid, columns, memory, primitives_bar);
  }
}

inline void solid_vjp_by_lanes_and_point(const BoundedSolid& solid, const SolidBarColumns& columns,
                                         double* memory, double* primitives_bar) {
  solid_vjp_of<true, true>(solid, columns, memory, primitives_bar);
}

// Weights of pairs of edges ---------------------------------------------------------------------------------

/// neighbour_weights()
inline void relate_neighbours_by_lanes(const EdgePairMatrices& of) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  const int count = of.rows * of.columns;
  const NeighbourSettings<double>& settings = of.neighbours;
  P least(0);
  for (int at = 0; at < count; at += W) {
    const P softened = P::load(of.softened + at) - P(of.radii);
    softened.store(of.softened + at);
    least = min(least, softened);
  }
  const NeighbourShift<double> shift(settings.cutoff - reduce_min(least) / settings.smoothing);
  const P per_distance(-1.0 / settings.smoothing),
      tail_slope(-1.0 / (settings.k_tail_width * settings.smoothing));
  for (int at = 0; at < count; at += W) {
    const P softened = P::load(of.softened + at);
    P E = exp(P(settings.cutoff) - softened / P(settings.smoothing) - P(shift.exponent));
    P slope = E * per_distance;
    if (settings.tail == NeighbourTail::ends) {
      const P x = settings.tail_argument(softened), fade = smoothstep5<P>(x);
      slope = fade * slope + E * smoothstep5_dx<P>(x) * tail_slope;
      E = E * fade;
    }
    E.store(of.nearness + at);
    slope.store(of.slopes + at);
  }
  std::fill(of.column_sums, of.column_sums + of.columns, shift.rest);
  for (int k = 0; k < of.rows; ++k) {
    const P weight(of.weights[0][k]);
    P sum(0);
    for (int l = 0; l < of.columns; l += W) {
      const P near = P::load(of.nearness + k * of.columns + l);
      sum += P::load(of.weights[1] + l) * near;
      (P::load(of.column_sums + l) + weight * near).store(of.column_sums + l);
    }
    of.row_sums[k] = shift.rest + reduce_sum(sum);
  }
  for (int k = 0; k < of.rows; ++k) {
    const P weight(of.weights[0][k]), inverse_sum(1.0 / of.row_sums[k]);
    for (int l = 0; l < of.columns; l += W) {
      const int at = k * of.columns + l;
      const P share = weight * P::load(of.weights[1] + l) * P::load(of.nearness + at);
      (share * inverse_sum).store(of.by_row + at);
      (share / P::load(of.column_sums + l)).store(of.by_column + at);
    }
  }
}

/// The weight of a contact is interior clash share; the shares' part is neighbour_weights_vjp().
inline void edge_weights_vjp_by_lanes(const EdgePairMatrices& of, const EdgeWeightBars& bars) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  double *const row_sums_bar = bars.sums[0], *const column_sums_bar = bars.sums[1],
                *const of_columns = bars.of_edges[1];
  std::fill(column_sums_bar, column_sums_bar + of.columns, 0.0);
  std::fill(of_columns, of_columns + of.columns, 0.0);
  for (int k = 0; k < of.rows; ++k) {
    P sum(0);
    for (int l = 0; l < of.columns; l += W) {
      const int at = k * of.columns + l;
      const auto load = [&](const double* numbers) { return P::load(numbers + at); };
      const P interior = load(of.interior), clash = load(of.clash), both = interior * clash;
      const P by_A = load(bars.of_contacts[0]) * load(of.by_row),
              by_B = load(bars.of_contacts[1]) * load(of.by_column);
      sum = sum - by_A * both;
      (P::load(column_sums_bar + l) - by_B * both).store(column_sums_bar + l);
      ((by_A + by_B) * clash).store(bars.interior + at);
      ((by_A + by_B) * interior).store(bars.clash + at);
    }
    row_sums_bar[k] = reduce_sum(sum) / of.row_sums[k];
  }
  for (int l = 0; l < of.columns; l += W)
    (P::load(column_sums_bar + l) / P::load(of.column_sums + l)).store(column_sums_bar + l);

  for (int k = 0; k < of.rows; ++k) {
    const P weight_A(of.weights[0][k]), inverse_row_sum(1.0 / of.row_sums[k]), row_bar(row_sums_bar[k]);
    P of_row(0);
    for (int l = 0; l < of.columns; l += W) {
      const int at = k * of.columns + l;
      const auto load = [&](const double* numbers) { return P::load(numbers + at); };
      const P near = load(of.nearness), weight_B = P::load(of.weights[1] + l),
              column_bar = P::load(column_sums_bar + l);
      const P numerator_bar = load(of.interior) * load(of.clash) *
                              (load(bars.of_contacts[0]) * inverse_row_sum +
                               load(bars.of_contacts[1]) / P::load(of.column_sums + l));
      const P by_A = numerator_bar * weight_B + column_bar, by_B = numerator_bar * weight_A + row_bar;
      (load(of.slopes) * (by_A * weight_A + row_bar * weight_B)).store(bars.softened + at);
      of_row = of_row + near * by_A;
      (P::load(of_columns + l) + near * by_B).store(of_columns + l);
    }
    bars.of_edges[0][k] = reduce_sum(of_row);
  }
}

// Pairs of edges --------------------------------------------------------------------------------------------

inline Edge<Lanes<double>> gathered_edge(const EdgeColumns& of, const std::int32_t* index) {
  using P = Lanes<double>;
  Edge<P> edge;
  for (int c = 0; c < 3; ++c) {
    edge.start[c] = P::gather(of.numbers + c * of.count, index);
    edge.vector[c] = P::gather(of.numbers + (3 + c) * of.count, index);
    edge.normal[c] = P::gather(of.numbers + (6 + c) * of.count, index);
  }
  return edge;
}

/// edge_contact_vjp() of a pack of pairs, out of line to be inlined into itself.
__attribute__((noinline)) ABUT_KERNEL inline void edge_pack_vjp(
    const Edge<Lanes<double>>& edge_A, const Edge<Lanes<double>>& edge_B,
    const EdgeEdgeSettings<double>& settings, const double (&radii)[2], const EdgePairBarColumns& columns,
    int first, double* edges_bar, Lanes<double> (&radii_bar)[2]) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  const auto load = [&](const double* numbers) { return P::load(numbers + first); };
  const EdgeContact<P> contact = edge_contact<P>(edge_A, edge_B, settings);
  const Vec3<P>& n = contact.normal.n;
  const Vec3<P> point_bar(load(columns.point[0]), load(columns.point[1]), load(columns.point[2]));
  EdgeContactBar<P> bar;
  bar.distance = load(columns.distance);
  bar.softened = load(columns.softened);
  bar.gamma_con = load(columns.interior);
  bar.clash = load(columns.clash);
  // The capsules' surfaces are off the edges by their radii along n.
  const P square = edge_edge_detail::dot3(n, n), along = edge_edge_detail::dot3(point_bar, n);
  const P length = sqrt(square), sum(radii[0] + radii[1]), midway(0.5 * (radii[1] - radii[0]));
  const P shortened = select(length > P(0), bar.distance * sum / select(length > P(0), length, P(1)), P(0));
  for (int i = 0; i < 3; ++i) {
    bar.n[i] = load(columns.normal[i]) + midway * point_bar[i] - n[i] * shortened;
    bar.e1[i] = P(0.5) * point_bar[i] + load(columns.witness[0][i]);
    bar.e2[i] = P(0.5) * point_bar[i] + load(columns.witness[1][i]);
  }
  const P both = length * bar.distance + bar.softened;
  radii_bar[0] = radii_bar[0] - (P(0.5) * along + both);
  radii_bar[1] = radii_bar[1] + (P(0.5) * along - both);
  const EdgePairBar<P> r = edge_contact_vjp<P>(edge_A, edge_B, contact, settings, bar);
  for (int i = 0; i < 3; ++i) {
    r.edge1.start[i].store(edges_bar + i * W);
    r.edge1.vector[i].store(edges_bar + (3 + i) * W);
    r.edge1.normal[i].store(edges_bar + (6 + i) * W);
    r.edge2.start[i].store(edges_bar + (9 + i) * W);
    r.edge2.vector[i].store(edges_bar + (12 + i) * W);
    r.edge2.normal[i].store(edges_bar + (15 + i) * W);
  }
}

inline void edge_pairs_vjp_by_lanes(const EdgeEdgeSettings<double>& settings, const EdgeColumns& A,
                                    const EdgeColumns& B, const double (&radii)[2],
                                    const EdgePairBarColumns& columns, double* edges_A_bar,
                                    double* edges_B_bar, double (&radii_bar)[2]) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  alignas(64) double of_pack[18 * W];
  P radii_sums[2] = {P(0), P(0)};
  for (int first = 0; first < columns.count; first += W) {
    edge_pack_vjp(gathered_edge(A, columns.row + first), gathered_edge(B, columns.column + first), settings,
                  radii, columns, first, of_pack, radii_sums);
    for (int lane = 0; lane < std::min(W, columns.count - first); ++lane) {
      double *const to_A = edges_A_bar + 9 * columns.row[first + lane], *const to_B =
                                                                            edges_B_bar +
                                                                            9 * columns.column[first + lane];
      for (int c = 0; c < 9; ++c) {
        to_A[c] += of_pack[c * W + lane];
        to_B[c] += of_pack[(9 + c) * W + lane];
      }
    }
  }
  for (int side = 0; side < 2; ++side) radii_bar[side] += reduce_sum(radii_sums[side]);
}

}  // namespace ABUT_SIMD
}  // namespace abut
