/// Signed distances of two capsules with ends uniform in a cube of 2 m, in double. One iteration is one pair
/// of 1024 that stay in the cache.
#include <benchmark/benchmark.h>

#include <vector>

#include "collision/capsule_distance.h"
#include "engine/random.h"

namespace abut::benchmarks {
namespace {

constexpr std::size_t k_pairs = 1024;

struct Pairs {
  std::vector<CapsuleEnds<double>> A, B;

  explicit Pairs(bool flat) {
    Random random(1);
    const auto point = [&] {
      const Vec3<double> p(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
      return flat ? Vec3<double>(p.x(), p.y(), 0.0) : p;
    };
    for (std::size_t i = 0; i < k_pairs; ++i) {
      A.push_back({point(), point(), 0.1});
      B.push_back({point(), point(), 0.2});
    }
  }
};

template <typename Distance>
void each_pair(benchmark::State& state, const Pairs& pairs, const Distance& distance) {
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(k_pairs))) {
    for (std::size_t i = 0; i < k_pairs; ++i) benchmark::DoNotOptimize(distance(pairs.A[i], pairs.B[i]));
  }
}

void capsule_distance_in_space(benchmark::State& state) {
  each_pair(state, Pairs(false), [](const auto& A, const auto& B) { return capsule_distance(A, B); });
}
void capsule_distance_with_gradient(benchmark::State& state) {
  each_pair(state, Pairs(false),
            [](const auto& A, const auto& B) { return capsule_distance_gradient(capsule_distance(A, B)); });
}
void capsule_distance_flat(benchmark::State& state) {
  const Vec3<double> up(0, 0, 1);
  each_pair(state, Pairs(true),
            [&](const auto& A, const auto& B) { return capsule_distance_in_plane(A, B, up); });
}

BENCHMARK(capsule_distance_in_space)->Name("capsule_distance");
BENCHMARK(capsule_distance_with_gradient)->Name("capsule_distance/gradient");
BENCHMARK(capsule_distance_flat)->Name("capsule_distance/in_plane");

}  // namespace
}  // namespace abut::benchmarks
