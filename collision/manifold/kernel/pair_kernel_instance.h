/// What a source file compiled for one instruction set consists of; it defines ABUT_KERNELS, the function's
/// name.
#include "collision/manifold/kernel/activity_derivatives.h"
#include "collision/manifold/kernel/manifold_kernels.h"
#include "collision/manifold/kernel/pair_kernel.h"
#include "collision/manifold/kernel/point_kernels.h"

#define ABUT_TEXT_OF(name) #name
#define ABUT_TEXT(name) ABUT_TEXT_OF(name)

namespace abut {

// shape_sdf_packs.cpp has those of the instruction set of the rest of the library.
ABUT_SDF_SAMPLE(, normal, SdfDouble8)
ABUT_SDF_SAMPLE(, jacobian, SdfDouble8)

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

ManifoldKernels ABUT_KERNELS();
ManifoldKernels ABUT_KERNELS() {
  return {ABUT_TEXT(ABUT_SIMD), &run_pair_kernel<float>, &run_pair_kernel<double>, &sample_points_by_lanes,
          &relate_edges_by_lanes};
}

}  // namespace abut
