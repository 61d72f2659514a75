/// Witness points of many pairs at once, by each of the methods compared.
///
/// A batch is a structure of arrays, one array a coordinate:
///
/// |             | inputs (12)                                  | outputs (7)                             |
/// | ----------- | -------------------------------------------- | --------------------------------------- |
/// | edge_edge   | the ends of edge 1, then those of edge 2     | point on edge 1, point on edge 2, extra |
/// | vertex_face | the vertex, then the corners of the triangle | point on the face, three unused, extra  |
///
/// `extra` is gamma (how much the minimum of the whole lines or plane lies inside) of the first two methods,
/// the number of iterations of the others. All lengths are in units of the size of the scene.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "barrier_lbfgs.h"
#include "edge_witness.h"
#include "interior_point.h"
#include "vertex_face.h"

namespace abut::paper000 {

enum class WitnessPair { edge_edge, vertex_face };

/// All but the last compute as many pairs at once as a register has lanes.
enum class WitnessMethod {
  smooth,               ///< closed form, every choice soft: box_quadratic.h, vertex_face.h
  active_set,           ///< closed form, exact: active_set.h
  interior_point,       ///< interior_point.h
  barrier_lbfgs,        ///< barrier_lbfgs.h
  dense_interior_point  ///< dense_interior_point.h
};

/// Batches are padded to a multiple of this many pairs, so that every register is full.
inline constexpr std::size_t k_padding = 32;

template <typename T>
struct WitnessView {
  std::size_t count;  ///< of pairs; the arrays go on to a multiple of k_padding
  std::array<const T*, 12> inputs;
  std::array<T*, 7> outputs;
};

template <typename T>
struct WitnessSettings {
  EdgeWitnessSettings<T> edge_edge;  ///< all methods have its regularisation
  VertexFaceSettings vertex_face;
  InteriorPointSettings<T> interior_point;
  BarrierSettings<T> barrier;
};

/// The widths and the regularisation as published (absolute: the scene is the unit cube), and for the methods
/// with a barrier a kappa of 1e-3, to which they converge as far as the precision lets them.
template <typename T>
[[nodiscard]] WitnessSettings<T> published_witness_settings();

/// Owns the arrays of a batch.
template <typename T>
class WitnessBatch {
 public:
  /// Pairs of points uniform in the unit cube; the padding repeats the last one.
  WitnessBatch(std::size_t count, std::uint64_t seed);

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] WitnessView<T> view();
  [[nodiscard]] T input(std::size_t array, std::size_t pair) const {
    return numbers_[array * stride_ + pair];
  }
  [[nodiscard]] T output(std::size_t array, std::size_t pair) const { return input(12 + array, pair); }

 private:
  std::size_t count_, padded_, stride_;
  std::vector<T> numbers_;
};

/// One compilation of witness_kernels.h.
struct WitnessKernels {
  template <typename T>
  using Solve = void (*)(WitnessPair, WitnessMethod, const WitnessSettings<T>&, const WitnessView<T>&);

  Solve<float> solve_float;
  Solve<double> solve_double;
  int register_bits;

  [[nodiscard]] static WitnessKernels base();
  [[nodiscard]] static WitnessKernels avx2();
  [[nodiscard]] static WitnessKernels avx512();
};

/// Solves all pairs of a batch, by the kernels for instruction_set().
template <typename T>
void solve_witnesses(WitnessPair pair, WitnessMethod method, const WitnessSettings<T>& settings,
                     const WitnessView<T>& view);

/// The size of the registers used here [bit].
[[nodiscard]] int witness_register_bits();

}  // namespace abut::paper000
