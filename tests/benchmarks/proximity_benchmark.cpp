/// Proximity programs of padded rectangles with centres uniform in a cube of 2 m and uniform attitudes. One
/// iteration is one pair of 1024 that stay in the cache, on the instruction set of the whole program;
/// capsules have capsule_distance_benchmark.cpp.
#include <benchmark/benchmark.h>

#include <vector>

#include "collision/convex/proximity_qp_active_set.h"
#include "collision/convex/proximity_qp_dual_active_set.h"
#include "collision/convex/proximity_qp_vjp.h"
#include "engine/pack.h"
#include "paper000/dense_interior_point.h"
#include "proximity_pairs.h"

namespace abut::benchmarks {
namespace {

/// W pairs to a pack.
template <typename T, int W>
std::vector<RectanglePair<Pack<T, W>>> packed(const std::vector<RectanglePair<double>>& pairs) {
  std::vector<RectanglePair<Pack<T, W>>> packs(pairs.size() / W);
  const auto set = [](PaddedPolygon<Pack<T, W>, 4>& to, const PaddedPolygon<double, 4>& from, int lane) {
    for (int i = 0; i < 3; ++i) {
      to.centre[i].set_lane(lane, static_cast<T>(from.centre[i]));
      for (int k = 0; k < 2; ++k) to.axes[k][i].set_lane(lane, static_cast<T>(from.axes[k][i]));
    }
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < 2; ++k) to.normals[i][k].set_lane(lane, static_cast<T>(from.normals[i][k]));
    }
    to.size.set_lane(lane, static_cast<T>(from.size));
    to.padding.set_lane(lane, static_cast<T>(from.padding));
  };
  for (std::size_t i = 0; i < packs.size() * W; ++i) {
    set(packs[i / W].A, pairs[i].A, static_cast<int>(i % W));
    set(packs[i / W].B, pairs[i].B, static_cast<int>(i % W));
  }
  return packs;
}

template <typename Pairs, typename Work>
void each_pair(benchmark::State& state, const Pairs& pairs, const Work& work) {
  while (state.KeepRunningBatch(k_pairs)) {
    for (std::size_t i = 0; i < pairs.size(); ++i) benchmark::DoNotOptimize(work(i));
  }
}

void by_interior_point(benchmark::State& state) {
  const auto pairs = rectangle_pairs();
  each_pair(state, pairs, [&](std::size_t i) {
    return proximity(pairs[i].A, pairs[i].B, ProximitySettings<double>()).distance;
  });
}
template <typename T, int W>
void by_interior_point_in_lanes(benchmark::State& state) {
  const auto packs = packed<T, W>(rectangle_pairs());
  each_pair(state, packs, [&](std::size_t i) {
    return proximity(packs[i].A, packs[i].B, ProximitySettings<T>()).distance;
  });
}
void by_active_set(benchmark::State& state) {
  const auto pairs = rectangle_pairs();
  each_pair(state, pairs, [&](std::size_t i) {
    const ProximitySettings<double> settings;
    const auto program = proximity_program(pairs[i].A, pairs[i].B, settings.lambda);
    return proximity_of_solution(pairs[i].A, pairs[i].B, active_set(program), settings, Vec3<double>(1, 0, 0))
        .distance;
  });
}
void by_dual_active_set(benchmark::State& state) {
  const auto pairs = rectangle_pairs();
  each_pair(state, pairs, [&](std::size_t i) {
    const ProximitySettings<double> settings;
    const auto program = proximity_program(pairs[i].A, pairs[i].B, settings.lambda);
    return proximity_of_solution(pairs[i].A, pairs[i].B, dual_active_set(program), settings,
                                 Vec3<double>(1, 0, 0))
        .distance;
  });
}
/// As a solver of any quadratic programs has it, to a gap of 1e-10 (it fails below 1e-12).
void by_dense_interior_point(benchmark::State& state) {
  const auto pairs = rectangle_pairs();
  each_pair(state, pairs, [&](std::size_t i) {
    const auto program = proximity_program(pairs[i].A, pairs[i].B, ProximitySettings<double>().lambda);
    paper000::DenseProgram<double, 4, 8> dense;
    dense.G.setZero();
    dense.h.setOnes();
    for (int k = 0; k < 4; ++k) {
      dense.c[k] = program.c[k];
      for (int l = 0; l < 4; ++l) dense.Q(k, l) = program.P[k][l];
      for (int l = 0; l < 2; ++l) {
        dense.G(k, l) = program.G_A[k][l];
        dense.G(4 + k, 2 + l) = program.G_B[k][l];
      }
    }
    const paper000::InteriorPointSettings<double> settings{0.0, 1e-9, 1e-10};
    return paper000::dense_interior_point(dense, settings).x;
  });
}
template <typename T, int W>
void pose_vjp_in_lanes(benchmark::State& state) {
  using P = Pack<T, W>;
  const auto packs = packed<T, W>(rectangle_pairs());
  const ProximitySettings<T> settings;
  std::vector<Proximity<P, 2, 4, 2, 4>> at;
  for (const auto& pair : packs) at.push_back(proximity(pair.A, pair.B, settings));
  ProximityBar<P> bar;
  bar.distance = P(0.5);
  bar.point_A = Vec3<P>(P(0.3), P(-0.7), P(0.2));
  each_pair(state, packs, [&](std::size_t i) {
    const auto& [A, B] = packs[i];
    return proximity_pose_vjp(A, B, A.centre, B.centre, at[i], settings, bar).A;
  });
}
void distance_dpose(benchmark::State& state) {
  const auto pairs = rectangle_pairs();
  std::vector<Proximity<double, 2, 4, 2, 4>> at;
  for (const auto& pair : pairs) at.push_back(proximity(pair.A, pair.B, ProximitySettings<double>()));
  each_pair(state, pairs, [&](std::size_t i) {
    return proximity_distance_dpose(at[i], pairs[i].A.centre, pairs[i].B.centre);
  });
}

BENCHMARK(by_interior_point)->Name("proximity/polygons_interior_point");
BENCHMARK_TEMPLATE(by_interior_point_in_lanes, double, 8)->Name("proximity/polygons_interior_point_lanes");
BENCHMARK_TEMPLATE(by_interior_point_in_lanes, float, 16)
    ->Name("proximity/polygons_interior_point_float_lanes");
BENCHMARK(by_active_set)->Name("proximity/polygons_active_set");
BENCHMARK(by_dual_active_set)->Name("proximity/polygons_dual_active_set");
BENCHMARK(by_dense_interior_point)->Name("proximity/polygons_dense_interior_point");
BENCHMARK_TEMPLATE(pose_vjp_in_lanes, double, 8)->Name("proximity/polygons_pose_vjp_lanes");
BENCHMARK_TEMPLATE(pose_vjp_in_lanes, float, 16)->Name("proximity/polygons_pose_vjp_float_lanes");
BENCHMARK(distance_dpose)->Name("proximity/polygons_distance_dpose");

}  // namespace
}  // namespace abut::benchmarks
