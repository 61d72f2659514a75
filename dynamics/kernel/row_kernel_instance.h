/// What a source file compiled for one instruction set consists of; it defines ABUT_KERNELS, the function's
/// name.
#include "dynamics/kernel/row_kernel.h"

namespace abut {
inline namespace ABUT_SIMD {
namespace {

void sum_impulses(const RowKernelInput& in, std::span<RowBlock> blocks, double* wrench) {
  const auto sum = in.with_friction ? &sum_impulses_by_lanes<true> : &sum_impulses_by_lanes<false>;
  sum(in.settings, in.V, blocks, wrench);
}

void sum_resistances(const RowKernelInput& in, std::span<const RowBlock> blocks, ResistanceSums& out) {
  const auto sum = in.with_friction ? &sum_resistances_by_lanes<true> : &sum_resistances_by_lanes<false>;
  sum(in.settings, in.V, blocks, out);
}

void sum_line(const RowKernelInput& in, const double* dV, double a, std::span<const RowBlock> blocks,
              LineSums& out) {
  const auto sum = in.with_friction ? &sum_line_by_lanes<true> : &sum_line_by_lanes<false>;
  sum(in.settings, in.V, dV, a, blocks, out);
}

}  // namespace
}  // namespace ABUT_SIMD

RowKernels ABUT_KERNELS();
RowKernels ABUT_KERNELS() { return {&set_law_by_lanes, &sum_impulses, &sum_resistances, &sum_line}; }

}  // namespace abut
