/// Which pairs of edges are neighbours: every edge shares its contact among the edges nearest to it.
///
/// For edges k = 1 ... n_1 of body 1 with selection weights w_k, and l = 1 ... n_2 of body 2, at softened
/// distances D_kl:
///   by row      r_kl = w_k w_l e^(-D_kl/tau)/(sum_j w_j e^(-D_kj/tau) + e^(-D_0/tau)),  contacts of body 1
///   by column   s_kl = w_k w_l e^(-D_kl/tau)/(sum_i w_i e^(-D_il/tau) + e^(-D_0/tau)),  contacts of body 2
/// The weights stand in the sums, so that an edge that is deselected leaves no trace in the others' shares;
/// and an edge that has no other nearer than D_0 has no contact. Both are computed as E/(sum w E + e^-s) with
/// E = T e^((D_0 - D)/tau - s): exactly 0 where E underflows, never 0/0. The shift s does not change a share;
/// it is 0 unless E would be large, as of edges of bodies with large contact radii, whose D is less by these.
///
/// T is 1, or S((D_0 + 12 tau - D)/(4 tau)), S = smoothstep5: it ends the tail of E, of which less than
/// e^-8 = 3.4e-4 is left where T begins to fall. Pairs farther apart than D_0 + 12 tau then change nothing.
///
/// Matrices are (n_1, n_2), row by row. T: float or double.
///
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation",
///       equations 13 and 14, which have neither weights nor D_0: paper_neighbour_weights().
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "collision/sdf/sdf_sample.h"
#include "engine/smooth.h"

namespace abut {

/// T: whether E fades to exactly 0 at D_0 + 12 tau (for the simulation), or not (in batches).
enum class NeighbourTail { ends, whole };

template <typename T>
struct NeighbourSettings {
  T smoothing;  ///< tau [m], > 0
  T cutoff;     ///< D_0/tau [-], >= 0
  NeighbourTail tail = NeighbourTail::whole;

  static constexpr double k_tail_end = 12.0, k_tail_width = 4.0;  // by tau

  /// At and beyond this distance E = 0 [m], if the tail ends.
  [[nodiscard]] T end() const { return (cutoff + T(k_tail_end)) * smoothing; }
  /// What S is taken of.
  template <typename D>
  [[nodiscard]] ABUT_KERNEL_PART D tail_argument(const D& distance) const {
    return (D(end()) - distance) * D(T(1) / (T(k_tail_width) * smoothing));
  }
};

/// Views of the matrices and sums of one pair of bodies, all written by neighbour_weights().
template <typename T>
struct NeighbourWeights {
  std::size_t rows = 0, columns = 0;  ///< n_1, n_2
  std::span<T> by_row, by_column;     ///< r, s: (n_1, n_2)
  std::span<T> nearness;              ///< E: (n_1, n_2)
  std::span<T> row_sums;              ///< (n_1): sum_j w_j E_kj + e^-s
  std::span<T> column_sums;           ///< (n_2): sum_i w_i E_il + e^-s
  std::span<T> slopes = {};           ///< dE/dD [1/m]: (n_1, n_2), or empty where no derivatives are needed
};

/// s and e^-s. The largest exponent of E is below 60; e^-s is held above 1e-30.
template <typename T>
struct NeighbourShift {
  T exponent = T(0), rest = T(1);

  /// @param largest  (D_0 - D)/tau of the nearest pair
  ABUT_KERNEL_PART explicit NeighbourShift(T largest) {
    using std::exp;
    constexpr double k_most = 60.0, k_least = 1e-30;
    const T over = largest - T(k_most);
    if (over > T(0)) exponent = over;
    rest = exp(-exponent);
    if (!(rest > T(k_least))) rest = T(k_least);
  }
};

/// @param distances  D [m], (n_1, n_2) (infinity is allowed)
/// @param weights1   w_k (n_1), weights2 w_l (n_2), in [0, 1]
template <typename T>
void neighbour_weights(std::span<const T> distances, std::span<const T> weights1, std::span<const T> weights2,
                       const NeighbourSettings<T>& settings, NeighbourWeights<T>& out) {
  using std::exp;
  T largest = T(0);
  for (const T& distance : distances) {
    const T exponent = settings.cutoff - distance / settings.smoothing;
    if (exponent > largest) largest = exponent;
  }
  const NeighbourShift<T> shift(largest);
  for (T& sum : out.row_sums) sum = shift.rest;
  for (T& sum : out.column_sums) sum = shift.rest;
  for (std::size_t k = 0; k < out.rows; ++k) {
    for (std::size_t l = 0; l < out.columns; ++l) {
      const std::size_t at = k * out.columns + l;
      T E = exp(settings.cutoff - distances[at] / settings.smoothing - shift.exponent);
      T slope = -E / settings.smoothing;
      if (settings.tail == NeighbourTail::ends) {
        const T x = settings.tail_argument(distances[at]), fade = smoothstep5(x);
        slope = fade * slope - E * smoothstep5_dx(x) / (T(settings.k_tail_width) * settings.smoothing);
        E *= fade;
      }
      out.nearness[at] = E;
      if (!out.slopes.empty()) out.slopes[at] = slope;
      out.row_sums[k] += weights2[l] * out.nearness[at];
      out.column_sums[l] += weights1[k] * out.nearness[at];
    }
  }
  for (std::size_t k = 0; k < out.rows; ++k) {
    for (std::size_t l = 0; l < out.columns; ++l) {
      const std::size_t at = k * out.columns + l;
      const T share = weights1[k] * weights2[l] * out.nearness[at];
      out.by_row[at] = share / out.row_sums[k];
      out.by_column[at] = share / out.column_sums[l];
    }
  }
}

/// VJP. Overwrites distances_bar; adds to weights1_bar and weights2_bar. With the numerator N_kl = w_k w_l
/// E_kl and the sums R_k, C_l:
///   N_bar = r_bar/R + s_bar/C,   R_bar_k = -sum_l r_bar r/R_k,   C_bar_l = -sum_k s_bar s/C_l,
///   E_bar = N_bar w_k w_l + R_bar_k w_l + C_bar_l w_k,   D_bar = E_bar dE/dD.
template <typename T>
void neighbour_weights_vjp(const NeighbourWeights<T>& out, std::span<const T> weights1,
                           std::span<const T> weights2, std::span<const T> by_row_bar,
                           std::span<const T> by_column_bar, std::span<T> distances_bar,
                           std::span<T> weights1_bar, std::span<T> weights2_bar) {
  const auto add = [&](std::size_t at, std::size_t k, std::size_t l, T numerator_bar, T row_sum_bar,
                       T column_sum_bar) {
    const T E = out.nearness[at];
    const T E_bar =
        numerator_bar * weights1[k] * weights2[l] + row_sum_bar * weights2[l] + column_sum_bar * weights1[k];
    distances_bar[at] += out.slopes[at] * E_bar;
    weights1_bar[k] += E * (numerator_bar * weights2[l] + column_sum_bar);
    weights2_bar[l] += E * (numerator_bar * weights1[k] + row_sum_bar);
  };
  for (T& bar : distances_bar) bar = T(0);
  for (std::size_t k = 0; k < out.rows; ++k) {
    T sum_bar = T(0);
    for (std::size_t l = 0; l < out.columns; ++l)
      sum_bar -= by_row_bar[k * out.columns + l] * out.by_row[k * out.columns + l];
    sum_bar /= out.row_sums[k];
    for (std::size_t l = 0; l < out.columns; ++l) {
      const std::size_t at = k * out.columns + l;
      add(at, k, l, by_row_bar[at] / out.row_sums[k], sum_bar, T(0));
    }
  }
  for (std::size_t l = 0; l < out.columns; ++l) {
    T sum_bar = T(0);
    for (std::size_t k = 0; k < out.rows; ++k)
      sum_bar -= by_column_bar[k * out.columns + l] * out.by_column[k * out.columns + l];
    sum_bar /= out.column_sums[l];
    for (std::size_t k = 0; k < out.rows; ++k) {
      const std::size_t at = k * out.columns + l;
      add(at, k, l, by_column_bar[at] / out.column_sums[l], T(0), sum_bar);
    }
  }
}

/// JVP. With e_kl = dw_l E_kl + w_l dE_kl, dE = dE/dD dD:
///   dr_kl = (dw_k w_l E_kl + w_k e_kl - r_kl sum_j e_kj)/R_k,  and so by column.
/// Overwrites by_row_dot and by_column_dot.
template <typename T>
void neighbour_weights_jvp(const NeighbourWeights<T>& out, std::span<const T> weights1,
                           std::span<const T> weights2, std::span<const T> distances_dot,
                           std::span<const T> weights1_dot, std::span<const T> weights2_dot,
                           std::span<T> by_row_dot, std::span<T> by_column_dot) {
  const auto change = [&](std::size_t at, T weight, T weight_dot) {
    return out.nearness[at] * weight_dot + weight * out.slopes[at] * distances_dot[at];
  };
  for (std::size_t k = 0; k < out.rows; ++k) {
    T sum_dot = T(0);
    for (std::size_t l = 0; l < out.columns; ++l)
      sum_dot += change(k * out.columns + l, weights2[l], weights2_dot[l]);
    for (std::size_t l = 0; l < out.columns; ++l) {
      const std::size_t at = k * out.columns + l;
      by_row_dot[at] = (weights1_dot[k] * weights2[l] * out.nearness[at] +
                        weights1[k] * change(at, weights2[l], weights2_dot[l]) - out.by_row[at] * sum_dot) /
                       out.row_sums[k];
    }
  }
  for (std::size_t l = 0; l < out.columns; ++l) {
    T sum_dot = T(0);
    for (std::size_t k = 0; k < out.rows; ++k)
      sum_dot += change(k * out.columns + l, weights1[k], weights1_dot[k]);
    for (std::size_t k = 0; k < out.rows; ++k) {
      const std::size_t at = k * out.columns + l;
      by_column_dot[at] =
          (weights2_dot[l] * weights1[k] * out.nearness[at] +
           weights2[l] * change(at, weights1[k], weights1_dot[k]) - out.by_column[at] * sum_dot) /
          out.column_sums[l];
    }
  }
}

/// As published: softmax of -D/tau along each row, and along each column.
template <typename T>
void paper_neighbour_weights(std::span<const T> distances, std::size_t rows, std::size_t columns, T tau,
                             std::span<T> by_row, std::span<T> by_column) {
  using std::exp;
  const auto share = [&](std::size_t first, std::size_t stride, std::size_t count, std::span<T> weights) {
    T least = distances[first], sum = T(0);
    for (std::size_t i = 1; i < count; ++i)
      least = distances[first + i * stride] < least ? distances[first + i * stride] : least;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = first + i * stride;
      weights[at] = exp((least - distances[at]) / tau);
      sum += weights[at];
    }
    for (std::size_t i = 0; i < count; ++i) weights[first + i * stride] /= sum;
  };
  for (std::size_t k = 0; k < rows && columns > 0; ++k) share(k * columns, 1, columns, by_row);
  for (std::size_t l = 0; l < columns && rows > 0; ++l) share(l, columns, rows, by_column);
}

}  // namespace abut
