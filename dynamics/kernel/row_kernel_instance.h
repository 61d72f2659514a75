/// What a file compiled for one instruction set consists of: abut_add_kernels() in cmake/AbutTargets.cmake.
#include <type_traits>

#include "dynamics/kernel/block_kernel.h"
#include "dynamics/kernel/row_kernel.h"
#include "dynamics/kernel/row_vjp_kernel.h"

namespace abut {
inline namespace ABUT_SIMD {
namespace {

/// f of the law as a constant.
template <typename F>
void with_law(RowLaw law, const F& f) {
  switch (law) {
    case RowLaw::frictionless:
      return f(std::integral_constant<RowLaw, RowLaw::frictionless>());
    case RowLaw::bounded:
      return f(std::integral_constant<RowLaw, RowLaw::bounded>());
    case RowLaw::coupled:
      return f(std::integral_constant<RowLaw, RowLaw::coupled>());
    case RowLaw::dual:
      return f(std::integral_constant<RowLaw, RowLaw::dual>());
    case RowLaw::cone:
      return f(std::integral_constant<RowLaw, RowLaw::cone>());
  }
}

inline void sum_impulses(const RowKernelInput& in, std::span<RowBlock> blocks, double* wrench) {
  with_law(in.law, [&](auto law) { sum_impulses_by_lanes<law()>(in, blocks, wrench); });
}

inline void sum_resistances(const RowKernelInput& in, std::span<const RowBlock> blocks, ResistanceSums& out) {
  with_law(in.law, [&](auto law) { sum_resistances_by_lanes<law()>(in, blocks, out); });
}

inline void sum_line(const RowKernelInput& in, const double* dV, double a, std::span<const RowBlock> blocks,
                     LineSums& out) {
  with_law(in.law, [&](auto law) { sum_line_by_lanes<law()>(in, dV, a, blocks, out); });
}

}  // namespace
}  // namespace ABUT_SIMD

RowKernels RowKernels::ABUT_COMPILATION() {  // NOLINT(misc-definitions-in-headers)
  return {&set_law_by_lanes,
          &set_cone_by_lanes,
          &set_impedance_by_lanes,
          &abut::sum_impulses,
          &abut::sum_resistances,
          &abut::sum_line,
          &abut::subtract_block_product,
          &abut::solve_block_transposed,
          &impulse_vjp_by_lanes,
          &law_vjp_by_lanes};
}

}  // namespace abut
