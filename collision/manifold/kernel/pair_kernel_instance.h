/// What a file compiled for one instruction set consists of: abut_add_kernels() in cmake/AbutTargets.cmake.
#include "collision/manifold/kernel/pair_edges.h"
#include "collision/manifold/kernel/pair_slides.h"
#include "collision/manifold/kernel/pair_vertices.h"

namespace abut {
inline namespace ABUT_SIMD {

template <typename T>
bool find_contacts_by_lanes(const PairProblem<T>& problem, const PairPoses<T>& X, PairScratch<T>& scratch,
                            ContactBlock<T>& block) {
  switch (block.order) {
    case ManifoldOrder::value:
      return PairKernel<T, ManifoldOrder::value>(problem, X, scratch, block).run();
    case ManifoldOrder::jacobian:
      return PairKernel<T, ManifoldOrder::jacobian>(problem, X, scratch, block).run();
    case ManifoldOrder::complete:
      break;
  }
  return PairKernel<T, ManifoldOrder::complete>(problem, X, scratch, block).run();
}

}  // namespace ABUT_SIMD
}  // namespace abut

namespace abut {

PairKernels PairKernels::ABUT_COMPILATION() {  // NOLINT(misc-definitions-in-headers)
  return {&find_contacts_by_lanes<float>, &find_contacts_by_lanes<double>};
}

}  // namespace abut
