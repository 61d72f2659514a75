/// The manifold kernels, one for each instruction set; which one runs is decided when the program runs.
#pragma once

#include <span>
#include <string_view>

#include "collision/manifold/kernel/pair_buffers.h"

namespace abut {

/// One compilation of pair_kernel.h. A kernel answers whether there was room for all pairs of edges; if not,
/// buffers.selected says how many there are, and it has to be called again.
struct ManifoldKernels {
  std::string_view instruction_set;  ///< "sse2", "avx2" or "avx512"
  bool (*run_float)(const PairProblem<float>&, ManifoldOrder, const RelativePose<float>&,
                    PairBuffers<float>&);
  bool (*run_double)(const PairProblem<double>&, ManifoldOrder, const RelativePose<double>&,
                     PairBuffers<double>&);

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
