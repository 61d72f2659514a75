/// Witness points of pairs of edges, uniform in the unit cube, in float. One iteration is one pair, of a batch of
/// 100,000; the interior-point methods solve the same problems (docs/paper000.md).
#include <benchmark/benchmark.h>

#include "paper000/witness_batch.h"

namespace abut::benchmarks {
namespace {

void witness_edge_edge(benchmark::State& state, paper000::WitnessMethod method) {
  constexpr std::size_t k_pairs = 100000;
  paper000::WitnessBatch<float> batch(k_pairs, 1);
  const auto settings = paper000::published_witness_settings<float>();
  const auto view = batch.view();
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(k_pairs))) {
    paper000::solve_witnesses(paper000::WitnessPair::edge_edge, method, settings, view);
    benchmark::ClobberMemory();
  }
  state.counters["register_bits"] = paper000::witness_register_bits();
}

using paper000::WitnessMethod;
BENCHMARK_CAPTURE(witness_edge_edge, smooth, WitnessMethod::smooth)->Name("witness/edge_edge");
BENCHMARK_CAPTURE(witness_edge_edge, interior_point, WitnessMethod::interior_point)
    ->Name("witness/edge_edge_interior_point_lanes");
BENCHMARK_CAPTURE(witness_edge_edge, dense_interior_point, WitnessMethod::dense_interior_point)
    ->Name("witness/edge_edge_interior_point");

}  // namespace
}  // namespace abut::benchmarks
