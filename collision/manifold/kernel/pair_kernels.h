/// The manifold of a pair of bodies, one compilation for each instruction set.
#pragma once

#include <string_view>

#include "collision/manifold/kernel/pair_buffers.h"

namespace abut {

/// One compilation of pair_kernel.h. A kernel answers whether there was room for all pairs of edges; if not,
/// buffers.selected says how many there are, and it has to be called again.
struct PairKernels {
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

/// Those for one of available_instruction_sets().
[[nodiscard]] PairKernels pair_kernels_for(std::string_view instruction_set);

/// Those for instruction_set().
[[nodiscard]] const PairKernels& pair_kernels();

}  // namespace abut
