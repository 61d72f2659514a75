/// What a source file compiled for one instruction set consists of; it defines ABUT_KERNELS, the function's
/// name.
#include "collision/manifold/kernel/activity_derivatives.h"
#include "collision/manifold/kernel/pair_kernel.h"
#include "collision/manifold/kernel/pair_kernels.h"

namespace abut {

inline namespace ABUT_SIMD {
namespace {

template <typename T>
bool run_pair_kernel(const PairProblem<T>& problem, ManifoldOrder order, const RelativePose<T>& X_AB,
                     PairBuffers<T>& buffers) {
  switch (order) {
    case ManifoldOrder::value:
      return PairKernel<T, ManifoldOrder::value>(problem, buffers).run(X_AB);
    case ManifoldOrder::distance_gradient:
      return PairKernel<T, ManifoldOrder::distance_gradient>(problem, buffers).run(X_AB);
    case ManifoldOrder::jacobian:
      return PairKernel<T, ManifoldOrder::jacobian>(problem, buffers).run(X_AB);
    case ManifoldOrder::complete:
      break;
  }
  return PairKernel<T, ManifoldOrder::complete>(problem, buffers).run(X_AB);
}

}  // namespace
}  // namespace ABUT_SIMD

PairKernels ABUT_KERNELS();
PairKernels ABUT_KERNELS() { return {&run_pair_kernel<float>, &run_pair_kernel<double>}; }  // NOLINT(misc-definitions-in-headers)

}  // namespace abut
