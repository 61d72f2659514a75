/// The smooth contact manifold of two bodies that overlap, and its derivatives. One iteration is one query in
/// fp32 on one core, unless the name says otherwise; the time is the mean over the poses.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "collision/manifold/manifold_batch.h"
#include "engine/body_builder.h"
#include "engine/instruction_set.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "scenes.h"

namespace abut::benchmarks {
namespace {

constexpr int k_edges = 18;  ///< K, selected of each body
constexpr int k_largest_batch = 1024;

struct RelativePoses {
  Body A, B;
  std::vector<Pose<double>> X_AB;
};

const RelativePoses& armadillos() {
  static const RelativePoses poses = [] {
    const PoseSet& set = colliding_armadillos();
    RelativePoses r{set.model.bodies[0], set.model.bodies[1], {}};
    set_selected_edges(r.A, k_edges);
    set_selected_edges(r.B, k_edges);
    for (const PosePair& X_WB : set.X_WB) r.X_AB.push_back(X_WB[0].inverse() * X_WB[1]);
    return r;
  }();
  return poses;
}

/// Balls of 0.1 m made of `count` superquadrics, one at the centre and the others, smaller, on its surface.
/// The mesh (642 vertices) is that of a ball whatever their number. The centres are 0.15 to 0.19 m apart.
RelativePoses bumpy_balls(int count) {
  constexpr double k_radius = 0.1, k_golden_angle = 2.399963229728653;
  Shape shape;
  for (int i = 0; i < count; ++i) {
    Primitive p;
    if (i == 0) {
      p.parameters = {0.97 * k_radius, 0.97 * k_radius, 0.97 * k_radius, 1.0, 1.0};
    } else {
      const double z = 1.0 - (2.0 * i - 1.0) / std::max(1, count - 1), angle = k_golden_angle * i,
                   r = std::sqrt(1.0 - z * z);
      p.X_BP.p = 0.7 * k_radius * Vec3<double>(r * std::cos(angle), r * std::sin(angle), z);
      p.parameters = {0.3 * k_radius, 0.3 * k_radius, 0.3 * k_radius, 0.9, 0.9};
    }
    shape.primitives.push_back(p);
  }
  shape.union_smoothing = 2e-3 * 2.0 * k_radius;
  RelativePoses r;
  r.A = make_body("ball", shape, sphere_mesh(k_radius, 3), Mass{1.0});
  set_selected_edges(r.A, k_edges);
  r.B = r.A;
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Quat<double> q = random.quaternion();
    r.X_AB.push_back({q, random.uniform(1.5, 1.9) * k_radius * random.unit_vector()});
  }
  return r;
}

/// The median number of contacts, which instructions, and a hash of all distances.
template <typename T>
void report(benchmark::State& state, const PairManifold<T>& manifold, const RelativePoses& poses,
            ManifoldOrder order) {
  auto buffers = manifold.make_buffers(order);
  std::vector<double> contacts;
  Hash hash;
  for (const Pose<double>& X_AB : poses.X_AB) {
    manifold.evaluate(X_AB, order, buffers);
    const ManifoldView<T> view = manifold.view(buffers);
    contacts.push_back(view.size());
    for (const T d : view.column(k_distance)) hash.add(static_cast<double>(d));
  }
  state.counters["contacts"] = median(contacts);
  state.SetLabel(std::string(instruction_set()) + ", " + hash.text());
}

struct Query {
  ManifoldOrder order = ManifoldOrder::value;
  ManifoldScope scope = ManifoldScope::active;
  bool edge_edge = true;
  VertexContacts vertices = VertexContacts::both;
};

template <typename T>
void query(benchmark::State& state, const RelativePoses& poses, const Query& asked) {
  ContactConfig config;
  config.edge_edge = asked.edge_edge;
  config.vertex_contacts = asked.vertices;
  const PairManifold<T> manifold(poses.A, poses.B, config, asked.scope);
  auto buffers = manifold.make_buffers(asked.order);
  Eigen::Matrix<T, 12, 1> gradient;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(poses.X_AB.size()))) {
    for (const Pose<double>& X_AB : poses.X_AB) {
      manifold.evaluate(X_AB, asked.order, buffers);
      if (asked.order == ManifoldOrder::distance_gradient) {
        benchmark::DoNotOptimize(mean_distance_gradient(manifold.view(buffers), gradient));
        benchmark::DoNotOptimize(gradient.data());
      }
      benchmark::DoNotOptimize(buffers.columns);
      benchmark::ClobberMemory();
    }
  }
  report(state, manifold, poses, asked.order);
}

/// `size` poses at a time. The counter `wall` is by the wall clock, a query: of interest with threads, where
/// the time measured is that of one of them.
void batch(benchmark::State& state, int size, int threads) {
  const RelativePoses& poses = armadillos();
  const PairManifold<float> manifold(poses.A, poses.B, {});
  std::vector<Pose<double>> X_AB;
  for (std::size_t i = 0; i < k_largest_batch; ++i) X_AB.push_back(poses.X_AB[i % poses.X_AB.size()]);
  ManifoldBatch<float> result;
  std::chrono::duration<double> wall{0.0};
  const auto start = std::chrono::steady_clock::now();
  while (state.KeepRunningBatch(k_largest_batch)) {
    for (int first = 0; first < k_largest_batch; first += size) {
      manifold.evaluate(
          std::span(X_AB).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size)),
          ManifoldOrder::value, threads, result);
      benchmark::ClobberMemory();
    }
  }
  wall = std::chrono::steady_clock::now() - start;
  state.counters["wall"] = wall.count() / static_cast<double>(state.iterations());
}

const bool registered = [] {
  const auto add = [](const std::string& name, auto f) {
    benchmark::RegisterBenchmark(name.c_str(), f)->Unit(benchmark::kMicrosecond);
  };
  const auto add_armadillos = [&](const std::string& name, const Query& asked) {
    add("manifold/armadillo/" + name,
        [asked](benchmark::State& state) { query<float>(state, armadillos(), asked); });
  };
  add_armadillos("forward", {});
  add_armadillos("forward_all", {.scope = ManifoldScope::all});
  add_armadillos("jacobian", {.order = ManifoldOrder::jacobian});
  add_armadillos("complete", {.order = ManifoldOrder::complete});
  add_armadillos("gradient_mean_distance", {.order = ManifoldOrder::distance_gradient});
  add_armadillos("no_edge_edge", {.edge_edge = false});
  add_armadillos("one_sided", {.edge_edge = false, .vertices = VertexContacts::first});
  add("manifold/armadillo/forward_double",
      [](benchmark::State& state) { query<double>(state, armadillos(), {}); });
  for (int size = 1; size <= k_largest_batch; size *= 4) {
    add("manifold/armadillo/batch/" + std::to_string(size),
        [size](benchmark::State& state) { batch(state, size, 1); });
  }
  add("manifold/armadillo/batch_two_threads/1024",
      [](benchmark::State& state) { batch(state, k_largest_batch, 2); });
  for (int count = 1; count <= 64; count *= 2) {
    add("manifold/primitives/" + std::to_string(count),
        [count](benchmark::State& state) { query<float>(state, bumpy_balls(count), {}); });
  }
  return true;
}();

}  // namespace
}  // namespace abut::benchmarks
