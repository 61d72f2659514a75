/// The broad phase alone, against the number of boxes and their layout.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "collision/broad_phase.h"
#include "engine/random.h"

namespace abut::benchmarks {
namespace {

enum class BoxLayout { line_x, line_y, cube, random, one_huge };

/// Boxes of side 1 whose centres are 1.05 apart; at random, as dense.
std::vector<WorldBox> boxes_of(BoxLayout layout, int count) {
  constexpr double k_spacing = 1.05;
  const int side = static_cast<int>(std::ceil(std::cbrt(count)));
  Random random(1);
  std::vector<WorldBox> boxes;
  for (int i = 0; i < count; ++i) {
    Vec3<double> centre(i % side, i / side % side, i / side / side);
    if (layout == BoxLayout::line_x) centre = {static_cast<double>(i), 0.0, 0.0};
    if (layout == BoxLayout::line_y) centre = {0.0, static_cast<double>(i), 0.0};
    if (layout == BoxLayout::random) {
      for (double& x : centre) x = random.uniform(0.0, side);
    }
    centre *= k_spacing;
    boxes.emplace_back(centre - Vec3<double>::Constant(0.5), centre + Vec3<double>::Constant(0.5));
  }
  if (layout == BoxLayout::one_huge) {
    const Vec3<double> half = Vec3<double>::Constant(2.0 * side);
    boxes[boxes.size() / 2] = WorldBox(-half, half);
  }
  return boxes;
}

/// One search; `pairs`: those found, `by_n_log_n`: the time by n log2 n [s].
void search(benchmark::State& state, BoxLayout layout) {
  const auto count = static_cast<int>(state.range(0));
  const std::vector<WorldBox> boxes = boxes_of(layout, count);
  BroadPhase broad_phase;
  std::size_t pairs = 0;
  for (auto _ : state) pairs = broad_phase.overlapping_pairs(boxes).size();
  state.counters["pairs"] = static_cast<double>(pairs);
  state.counters["by_n_log_n"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * count * std::log2(count),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(10)->Arg(100)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(search, line_x, BoxLayout::line_x)->Name("broad_phase/line_x")->Apply(sizes);
BENCHMARK_CAPTURE(search, line_y, BoxLayout::line_y)->Name("broad_phase/line_y")->Apply(sizes);
BENCHMARK_CAPTURE(search, cube, BoxLayout::cube)->Name("broad_phase/cube")->Apply(sizes);
BENCHMARK_CAPTURE(search, random, BoxLayout::random)->Name("broad_phase/random")->Apply(sizes);
BENCHMARK_CAPTURE(search, one_huge, BoxLayout::one_huge)->Name("broad_phase/one_huge")->Apply(sizes);

}  // namespace
}  // namespace abut::benchmarks
