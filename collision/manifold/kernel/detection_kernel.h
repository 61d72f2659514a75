/// What the simulation's detector does with lanes: which points of a body are near a solid and which of its
/// primitives matter to them, distances of these, and pairs of edges that are near each other.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <variant>

#include "collision/manifold/kernel/detection_kernels.h"
#include "collision/manifold/kernel/solid_lanes.h"
#include "engine/smooth.h"

namespace abut {
inline namespace ABUT_SIMD {

/// Of one primitive, for all points within r of x: d >= this where this is positive.
ABUT_INLINE Lanes<double> lower_within(const PreparedPrimitive<double>& primitive,
                                       const PrimitiveBound<double>& bound, const Vec3<Lanes<double>>& x,
                                       double r) {
  using P = Lanes<double>;
  return std::visit(
      [&](const auto& solid) -> P {
        if constexpr (k_is_exact<std::remove_cvref_t<decltype(solid)>>) {
          return exact_sample<SdfOrder::distance, P>(solid, x).distance - P(r);
        } else {
          return lower_bound(bound, x, P(r));
        }
      },
      primitive.solid);
}

/// How near a primitive must be for its union to be nearer than `range` [m].
inline double nearest_range(const ShapeSdf& sdf, double range) {
  return range + sdf.smoothing() * std::log(static_cast<double>(std::max(1, sdf.added())));
}

/// How near a primitive must be to have a weight where the union is nearer than `range` [m].
inline double primitive_range(const ShapeSdf& sdf, double range) {
  constexpr double k_rounding = 1e-12;
  return nearest_range(sdf, range) * (1.0 + k_rounding) + k_negligible<double> * sdf.smoothing();
}

inline Vec3<Lanes<double>> points_in_solid(const RigidMap& map, const PointColumns& points, int first) {
  using P = Lanes<double>;
  return moved(map.R, map.p, P::load(points.x + first), P::load(points.y + first), P::load(points.z + first));
}

inline int list_points_by_lanes(const BoundedSolid& solid, const RigidMap& map, const PointColumns& points,
                                double range, double slack, const ListedPoints& out) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  const auto& primitives = solid.sdf->primitives<double>();
  const double cut = nearest_range(*solid.sdf, range);
  int count = 0;
  for (int first = 0; first < points.count; first += W) {
    const Vec3<P> x = points_in_solid(map, points, first);
    const std::uint32_t valid =
        points.count - first < W ? (1u << (points.count - first)) - 1u : (1u << W) - 1u;
    std::uint32_t near = 0;
    for (int l = 0; l < solid.sdf->added() && near != valid; ++l) {
      const auto i = static_cast<std::size_t>(l);
      near |= bits(lower_within(primitives[i], solid.bounds[i], x, slack) < P(cut)) & valid;
    }
    if (near == 0) continue;
    P::load(points.x + first).store_chosen(out.x + count, near);
    P::load(points.y + first).store_chosen(out.y + count, near);
    P::load(points.z + first).store_chosen(out.z + count, near);
    for (; near != 0; near &= near - 1) out.point[count++] = first + std::countr_zero(near);
  }
  return count;
}

inline void list_primitives_by_lanes(const BoundedSolid& solid, const RigidMap& map,
                                     const PointColumns& points, double range, double slack,
                                     const ListedPrimitives& out) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  const auto& primitives = solid.sdf->primitives<double>();
  const double cut = primitive_range(*solid.sdf, range);
  int count = 0, pack = 0;
  for (int first = 0; first < points.count; first += W) {
    const Vec3<P> x = points_in_solid(map, points, first);
    out.first[pack++] = count;
    for (int l = 0; l < solid.sdf->added(); ++l) {
      const auto i = static_cast<std::size_t>(l);
      if (bits(lower_within(primitives[i], solid.bounds[i], x, slack) < P(cut)) != 0)
        out.primitive[count++] = l;
    }
  }
  out.first[pack] = count;
}

/// The union of some of the added primitives; a lane leaves out those that are farther than `cut` from it or
/// negligible, so that it does not depend on which others are in the list.
inline SdfNormal<Lanes<double>> sample_listed(const BoundedSolid& solid, const Vec3<Lanes<double>>& x,
                                              std::span<const int> list, double cut, double* lower) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  const auto& primitives = solid.sdf->primitives<double>();
  const DistanceMode mode = solid.sdf->distance_mode();
  constexpr double k_epsilon = std::numeric_limits<double>::epsilon();
  P least(1e30);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto l = static_cast<std::size_t>(list[i]);
    const auto is_far = lower_within(primitives[l], solid.bounds[l], x, 0.0) >= P(cut);
    const DistanceBounds<P> bounds = primitive_bounds<P>(primitives[l], mode, x);
    select(is_far, P(1e30), bounds.lower).store(lower + i * W);
    least = min(least, select(is_far, P(1e30), bounds.upper));
  }
  const double tau = solid.sdf->smoothing();
  const P slack = P(k_negligible<double> * tau + 64.0 * k_epsilon * cut) + P(64.0 * k_epsilon) * abs(least);
  P limit = min(least + slack, P(1e29));
  std::optional<UnionSum<SdfOrder::normal, P>> sum;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto is_negligible = P::load(lower + i * W) > limit;
    if (all(is_negligible)) continue;
    const PreparedPrimitive<double>& primitive = primitives[static_cast<std::size_t>(list[i])];
    const auto* superquadric =
        mode == DistanceMode::taubin ? std::get_if<Superquadric<double>>(&primitive.solid) : nullptr;
    SdfNormal<P> sample = superquadric != nullptr ? taubin_sample<SdfOrder::normal, P>(*superquadric, x)
                                                  : primitive_sample<SdfOrder::normal, P>(primitive, mode, x);
    sample.distance = select(is_negligible, P(1e30), sample.distance);
    limit = min(limit, sample.distance + slack);
    if (sum) {
      sum->add(sample);
    } else {
      sum.emplace(sample, P(tau));
    }
  }
  SdfNormal<P> result;
  if (sum) {
    result = sum->result();
    scale_normal<SdfOrder::normal, P>(result);
  } else {
    result.distance = P(1e30);
    result.normal.setConstant(P(0));
  }
  return result;
}

inline void sample_near_by_lanes(const BoundedSolid& solid, const RigidMap& map, const PointColumns& points,
                                 double range, const ListedPrimitives& listed, double* lower, double* out) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  const auto& primitives = solid.sdf->primitives<double>();
  const bool subtracts = solid.sdf->added() < static_cast<int>(primitives.size());
  const double cut = primitive_range(*solid.sdf, range);
  const std::ptrdiff_t stride = (points.count + W - 1) / W * W;
  for (int first = 0; first < points.count; first += W) {
    const Vec3<P> x = points_in_solid(map, points, first);
    SdfNormal<P> sample;
    if (primitives.size() == 1 && !subtracts) {
      sample = primitive_sample<SdfOrder::normal, P>(primitives[0], solid.sdf->distance_mode(), x);
    } else if (subtracts) {
      sample = solid.sdf->sample<SdfOrder::normal, P>(x);
    } else {
      const int begin = listed.first[first / W], end = listed.first[first / W + 1];
      sample = sample_listed(solid, x, {listed.primitive + begin, static_cast<std::size_t>(end - begin)}, cut,
                             lower);
    }
    sample.distance.store(out + first);
    for (int i = 0; i < 3; ++i) sample.normal[i].store(out + (1 + i) * stride + first);
  }
}

inline Edge<Lanes<double>> edge_of_columns(const double* numbers, std::ptrdiff_t stride) {
  using P = Lanes<double>;
  Edge<P> edge;
  for (int c = 0; c < 3; ++c) {
    edge.start[c] = P::load(numbers + c * stride);
    edge.vector[c] = P::load(numbers + (3 + c) * stride);
    edge.normal[c] = P::load(numbers + (6 + c) * stride);
  }
  return edge;
}

/// Pairs of edges that may be neighbours, row by row, and what witness points say of them.
inline int relate_near_edges(const EdgePairProblem& problem, const EdgeColumns& A, const EdgeColumns& B,
                             const EdgePairColumns& out) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  const EdgeEdgeSettings<double>& settings = *problem.edges;
  const double cut = problem.neighbours.end() + problem.radii;  // E = 0 beyond
  // Along the line m between the middles the edges are |m| - share (|t_1.m| + |t_2.m|)/|m| apart at least.
  // Witness points lie on the edges but for gamma (a^u - a^c): beyond an end by 0.28 of the smoothing at
  // most.
  const double share = 0.5 + 0.3 / settings.box.inverse_interior;

  // Pairs wait until there are whole packs of them.
  const std::ptrdiff_t stride = edge_pairs_waiting(B.count);
  double* const waiting = out.memory;            // 18 columns: the edges of A, of B
  double* const middle = waiting + 18 * stride;  // 3 columns
  double* const whole = middle + 3 * stride;     // 9 columns: the edges of B, filled up to whole packs
  int related = 0, wait = 0;
  const auto relate_all_but = [&](int left) {
    int first = 0;
    for (; wait - first > left; first += W) {
      const Edge<P> edge_A = edge_of_columns(waiting + first, stride),
                    edge_B = edge_of_columns(waiting + 9 * stride + first, stride);
      const EdgeWitness<P> w = edge_witness<P>(edge_A, edge_B, settings);
      const int at = related + first;
      (w.softened - P(problem.radii)).store(out.softened + at);
      w.minimum.gamma.store(out.interior + at);
      edge_clash<P>(edge_A, edge_B, settings).store(out.clash + at);
      for (int i = 0; i < 3; ++i) {
        w.e1[i].store(out.points[0][i] + at);
        w.e2[i].store(out.points[1][i] + at);
      }
    }
    first = std::min(first, wait);
    related += first;
    wait -= first;
    for (int c = 0; c < 18 && first > 0; ++c)
      P::load(waiting + c * stride + first).store(waiting + c * stride);
  };

  for (int l = 0; l < B.count; l += W) {
    for (int c = 0; c < 9; ++c) {
      const double* from = B.numbers + c * B.count + l;
      (B.count - l >= W ? P::load(from) : P::load(from, B.count - l)).store(whole + c * stride + l);
    }
    for (int c = 0; c < 3; ++c) {
      (P::load(whole + c * stride + l) + P(0.5) * P::load(whole + (3 + c) * stride + l))
          .store(middle + c * stride + l);
    }
  }
  for (int k = 0; k < A.count; ++k) {
    P of_A[9];
    for (int c = 0; c < 9; ++c) of_A[c] = P(A.numbers[c * A.count + k]);
    for (int l = 0; l < B.count; l += W) {
      P square(0), along_A(0), along_B(0);
      for (int c = 0; c < 3; ++c) {
        const P difference = P::load(middle + c * stride + l) - (of_A[c] + P(0.5) * of_A[3 + c]);
        square = square + difference * difference;
        along_A = along_A + difference * of_A[3 + c];
        along_B = along_B + difference * P::load(whole + (3 + c) * stride + l);
      }
      std::uint32_t chosen = bits(square - P(share) * (abs(along_A) + abs(along_B)) <= P(cut) * sqrt(square));
      if (B.count - l < W) chosen &= (1u << (B.count - l)) - 1u;
      if (chosen == 0) continue;
      for (int c = 0; c < 9; ++c) {
        of_A[c].store(waiting + c * stride + wait);
        P::load(whole + c * stride + l).store_chosen(waiting + (9 + c) * stride + wait, chosen);
      }
      for (; chosen != 0; chosen &= chosen - 1) {
        out.row[related + wait] = k;
        out.column[related + wait] = l + std::countr_zero(chosen);
        ++wait;
      }
    }
    if (wait >= k_edge_pairs_at_once) relate_all_but(W - 1);
  }
  const int last = wait;
  for (int c = 0; c < 18 && last > 0; ++c) {
    P(waiting[c * stride + last - 1]).store(waiting + c * stride + last);
  }
  relate_all_but(0);
  return related;
}

/// neighbour_weights() of a list of pairs, and the other factors of their weights.
inline int find_edge_pairs_by_lanes(const EdgePairProblem& problem, const EdgeColumns& A,
                                    const EdgeColumns& B, const EdgePairColumns& out) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  const int count = relate_near_edges(problem, A, B, out);
  const double smoothing = problem.neighbours.smoothing, cutoff = problem.neighbours.cutoff;
  double least = 0.0;
  for (int at = 0; at < count; ++at) least = std::min(least, out.softened[at]);
  const NeighbourShift<double> shift(cutoff - least / smoothing);
  for (int at = 0; at < count; at += W) {
    const P softened = P::load(out.softened + at);
    const P E = exp(P(cutoff) - softened / P(smoothing) - P(shift.exponent));
    (E * smoothstep5<P>(problem.neighbours.tail_argument(softened))).store(out.nearness + at);
    (P::load(out.interior + at) * P::load(out.clash + at)).store(out.clash + at);
  }
  double *const row_sums = out.memory, *const column_sums = out.memory + A.count;
  std::fill(row_sums, row_sums + A.count + B.count, shift.rest);
  for (int at = 0; at < count; ++at) {
    const int k = out.row[at], l = out.column[at];
    row_sums[k] += problem.weights[1][l] * out.nearness[at];
    column_sums[l] += problem.weights[0][k] * out.nearness[at];
  }
  int weighing = 0;
  for (int at = 0; at < count; ++at) {
    const double factors = out.clash[at];
    if (!(factors > 0.0)) continue;
    const int k = out.row[at], l = out.column[at];
    const double share = problem.weights[0][k] * problem.weights[1][l] * out.nearness[at];
    const double weights[2] = {factors * (share / row_sums[k]), factors * (share / column_sums[l])};
    if (!(weights[0] > 0.0 || weights[1] > 0.0)) continue;
    out.row[weighing] = k;
    out.column[weighing] = l;
    for (int side = 0; side < 2; ++side) {
      out.weights[side][weighing] = weights[side];
      for (int i = 0; i < 3; ++i) out.points[side][i][weighing] = out.points[side][i][at];
    }
    ++weighing;
  }
  return weighing;
}

/// n of pairs of edges.
inline void edge_normals_by_lanes(const EdgeEdgeSettings<double>& settings, const EdgeColumns& A,
                                  const EdgeColumns& B, const int* row, const int* column, int count,
                                  double* out) {
  using P = Lanes<double>;
  constexpr int W = P::k_lanes;
  const std::ptrdiff_t stride = (count + W - 1) / W * W;
  for (int first = 0; first < count; first += W) {
    std::int32_t in_A[W], in_B[W];
    for (int i = 0; i < W; ++i) {
      in_A[i] = row[std::min(first + i, count - 1)];
      in_B[i] = column[std::min(first + i, count - 1)];
    }
    const auto gathered = [](const EdgeColumns& of, const std::int32_t* index) {
      Edge<P> edge;
      for (int c = 0; c < 3; ++c) {
        edge.start[c] = P(0);
        edge.vector[c] = P::gather(of.numbers + (3 + c) * of.count, index);
        edge.normal[c] = P::gather(of.numbers + (6 + c) * of.count, index);
      }
      return edge;
    };
    const EdgeNormal<P> normal = edge_normal<P>(gathered(A, in_A), gathered(B, in_B), settings);
    for (int i = 0; i < 3; ++i) normal.n[i].store(out + i * stride + first);
  }
}

}  // namespace ABUT_SIMD
}  // namespace abut
