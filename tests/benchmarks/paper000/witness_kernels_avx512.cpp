/// The kernels for processors with AVX-512. Compiled with flags of its own.
#include "witness_kernels.h"

namespace abut::paper000 {

void solve_on_packs_avx512(WitnessPair pair, WitnessMethod method, const WitnessSettings<float>& settings,
                           const WitnessView<float>& view) {
  solve_on_packs(pair, method, settings, view);
}

void solve_on_packs_avx512(WitnessPair pair, WitnessMethod method, const WitnessSettings<double>& settings,
                           const WitnessView<double>& view) {
  solve_on_packs(pair, method, settings, view);
}

}  // namespace abut::paper000
