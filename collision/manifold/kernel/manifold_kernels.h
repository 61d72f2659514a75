/// The manifold kernels, one for each instruction set; which one runs is decided when the program runs.
#pragma once

#include <span>
#include <string_view>

#include "collision/manifold/kernel/pair_buffers.h"

namespace abut {

/// What sample_points() writes: columns of numbers, one of each for every point.
enum SampleColumn {
  k_sample_distance = 0,         ///< [m]
  k_sample_normal = 1,           ///< 3
  k_sample_normal_columns = 4,   ///< so many with SdfOrder::normal
  k_sample_gradient = 4,         ///< 3
  k_sample_normal_jacobian = 7,  ///< 9, row by row [1/m]
  k_sample_columns = 16
};

/// Edges as a structure of arrays: start (3), vector (3), normal (3), `count` numbers each.
struct EdgeColumns {
  const double* numbers;  ///< number c of edge i is numbers[c * count + i]
  int count;
};

/// What relate_edges() writes of each pair, in (n_A, n_B) numbers each.
struct EdgeRelations {
  double *softened, *interior, *clash;
  double* points[2][3];  ///< witness points e_1, e_2
};

/// One compilation of pair_kernel.h and point_kernels.h. A kernel answers whether there was room for all
/// pairs of edges; if not, buffers.selected says how many there are, and it has to be called again.
struct ManifoldKernels {
  std::string_view instruction_set;  ///< "sse2", "avx2" or "avx512"
  bool (*run_float)(const PairProblem<float>&, ManifoldOrder, const RelativePose<float>&,
                    PairBuffers<float>&);
  bool (*run_double)(const PairProblem<double>&, ManifoldOrder, const RelativePose<double>&,
                     PairBuffers<double>&);

  /// The solid at points of its own frame, out[c * count + i] for SampleColumn c; order is normal or
  /// jacobian.
  void (*sample_points)(const ShapeSdf&, SdfOrder order, const double* x, const double* y, const double* z,
                        int count, double* out);
  /// Witness points and indicators of all pairs of edges, given in one frame.
  void (*relate_edges)(const EdgeEdgeSettings<double>&, const EdgeColumns& A, const EdgeColumns& B,
                       const EdgeRelations& out);

  template <typename T>
  [[nodiscard]] bool run(const PairProblem<T>& problem, ManifoldOrder order, const RelativePose<T>& X_AB,
                         PairBuffers<T>& buffers) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return run_float(problem, order, X_AB, buffers);
    } else {
      return run_double(problem, order, X_AB, buffers);
    }
  }
};

/// Those that this machine can run, the widest last.
[[nodiscard]] std::span<const ManifoldKernels> available_manifold_kernels();

/// The widest of these, or what the environment variable ABUT_INSTRUCTION_SET asks for. Throws
/// std::runtime_error if it asks for something that there is not.
[[nodiscard]] const ManifoldKernels& manifold_kernels();

}  // namespace abut
