/// The smooth contact manifold of two bodies that overlap, and its derivatives. One iteration is one query in
/// fp32 on one core, unless the name says otherwise; the time is the mean over the poses.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "collision/manifold/pair_manifold.h"
#include "engine/body_builder.h"
#include "engine/instruction_set.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "scenes.h"
#include "tests/support/convex_bodies.h"
#include "timer.h"

namespace abut::benchmarks {
namespace {

constexpr int k_largest_batch = 1024;

struct Poses {
  Body A, B;
  std::vector<PosePair> X_W;
};

const Poses& armadillos() {
  static const Poses poses = [] {
    const PoseSet& set = colliding_armadillos();
    return Poses{set.model.bodies[0], set.model.bodies[1], set.X_WB};
  }();
  return poses;
}

/// Balls of 0.1 m made of `count` superquadrics, one at the centre and the others, smaller, on its surface.
/// The mesh (642 vertices) is that of a ball whatever their number. The centres are 0.15 to 0.19 m apart.
Poses bumpy_balls(int count) {
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
  Poses r;
  r.A = make_body("ball", shape, sphere_mesh(k_radius, 3), Mass{1.0});
  r.B = r.A;
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Quat<double> q = random.quaternion();
    r.X_W.push_back({Pose<double>(), {q, random.uniform(1.5, 1.9) * k_radius * random.unit_vector()}});
  }
  return r;
}

/// Mean numbers of contacts, which instructions, and a hash of all distances.
template <typename T>
void report(benchmark::State& state, const PairManifold<T>& manifold, const Poses& poses,
            ManifoldOrder order) {
  PairScratch<T> scratch;
  ContactBlock<T> block;
  double contacts = 0.0, edges = 0.0;
  Hash hash;
  for (const PosePair& X_W : poses.X_W) {
    manifold.find(X_W, order, scratch, block);
    contacts += block.count;
    edges += block.count - block.ends[k_vertices_of_B];
    for (const T d : block.column(k_contact_distance)) hash.add(static_cast<double>(d));
  }
  state.counters["contacts"] = contacts / static_cast<double>(poses.X_W.size());
  state.counters["of_edges"] = edges / static_cast<double>(poses.X_W.size());
  state.SetLabel(std::string(instruction_set()) + ", " + hash.text());
}

struct Query {
  ManifoldOrder order = ManifoldOrder::value;
  bool edge_edge = true;
  VertexContacts vertices = VertexContacts::both;
};

/// What f(pose) takes less than at nine of ten poses [us]: the least time of as many calls as 5 ms are enough
/// for.
template <typename F>
double ninth_tenth(std::size_t poses, const F& f) {
  std::vector<double> times;
  for (std::size_t i = 0; i < poses; ++i) {
    double least = 1.0;
    for (double spent = 0.0; spent < 5e-3;) {
      const double start = cpu_seconds();
      f(i);
      const double time = cpu_seconds() - start;
      least = std::min(least, time);
      spent += time;
    }
    times.push_back(1e6 * least);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() * 9 / 10];
}

/// What this program has allocated [kB].
double allocated() {
  const struct mallinfo2 info = mallinfo2();
  return 1e-3 * static_cast<double>(info.uordblks + info.hblkhd);
}

/// The mean over the poses; as counters what nine of ten are faster than, and what scratch and contacts take.
template <typename T>
void query(benchmark::State& state, const Poses& poses, const Query& asked) {
  ContactConfig config;
  config.edge_edge = asked.edge_edge;
  config.vertex_contacts = asked.vertices;
  const PairManifold<T> manifold(poses.A, poses.B, config);
  const double before = allocated();
  PairScratch<T> scratch;
  ContactBlock<T> block;
  for (const PosePair& X_W : poses.X_W) manifold.find(X_W, asked.order, scratch, block);
  state.counters["memory_kB"] = allocated() - before;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(poses.X_W.size()))) {
    for (const PosePair& X_W : poses.X_W) {
      manifold.find(X_W, asked.order, scratch, block);
      benchmark::DoNotOptimize(block.numbers.data());
      benchmark::ClobberMemory();
    }
  }
  state.counters["ninth_tenth_us"] = ninth_tenth(
      poses.X_W.size(), [&](std::size_t i) { manifold.find(poses.X_W[i], asked.order, scratch, block); });
  report(state, manifold, poses, asked.order);
}

/// The same function as the stepper calls it: with the broad phase, and contacts for the solver.
void detect(benchmark::State& state, const ContactConfig& config) {
  const PoseSet& set = colliding_armadillos();
  const ContactDetector detector(set.model, config);
  DetectorScratch scratch;
  ContactManifold manifold;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(set.X_WB.size()))) {
    for (const PosePair& X_W : set.X_WB) {
      detector.detect(X_W, {}, scratch, manifold);
      benchmark::DoNotOptimize(manifold.contacts.block().numbers.data());
    }
  }
  state.counters["ninth_tenth_us"] = ninth_tenth(
      set.X_WB.size(), [&](std::size_t i) { detector.detect(set.X_WB[i], {}, scratch, manifold); });
}

/// dL/d(poses) and dL/d(shapes) of contacts that are linearized.
void vjp(benchmark::State& state) {
  const PoseSet& set = colliding_armadillos();
  const ContactDetector detector(set.model, {});
  DetectorScratch scratch;
  ContactManifold manifold;
  struct AtPose {
    PosePair X_W;
    ManifoldLinearization linearization;
    std::vector<ContactBar> bars;
  };
  std::vector<AtPose> poses;
  Random random(1);
  for (const PosePair& X_W : set.X_WB) {
    detector.detect(X_W, {}, scratch, manifold);
    std::vector<ContactFeature> features;
    for (const Contact& contact : manifold.contacts) features.push_back(contact.feature);
    AtPose& at_pose = poses.emplace_back();
    at_pose.X_W = X_W;
    detector.linearize(X_W, features, at_pose.linearization, LinearizeFor::vjp);
    for (std::size_t i = 0; i < features.size(); ++i) {
      ContactBar& bar = at_pose.bars.emplace_back();
      bar.point_W = random.unit_vector();
      bar.signed_distance = random.uniform(-1.0, 1.0);
      bar.normal_AB_W = random.unit_vector();
      bar.activity = random.uniform(-1.0, 1.0);
    }
  }
  std::vector<Vec6<double>> pose_bar(2, Vec6<double>::Zero());
  std::vector<GeometryGradient> geometry;
  for (const Body& body : set.model.bodies) geometry.emplace_back().set_zero(body);
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(poses.size()))) {
    for (AtPose& at_pose : poses) {
      detector.add_vjp(at_pose.X_W, at_pose.bars, at_pose.linearization, pose_bar, geometry);
      benchmark::DoNotOptimize(pose_bar.data());
    }
  }
  state.counters["ninth_tenth_us"] = ninth_tenth(poses.size(), [&](std::size_t i) {
    detector.add_vjp(poses[i].X_W, poses[i].bars, poses[i].linearization, pose_bar, geometry);
  });
}

/// `size` states at a time. The counter `wall` is by the wall clock, a query: of interest with threads, where
/// the time measured is that of one of them.
void batch(benchmark::State& state, int size, int threads) {
  const Poses& poses = armadillos();
  const PairManifold<float> manifold(poses.A, poses.B, {});
  std::vector<PosePair> X_W;
  for (std::size_t i = 0; i < k_largest_batch; ++i) X_W.push_back(poses.X_W[i % poses.X_W.size()]);
  std::vector<ContactBlock<float>> result;
  const auto start = std::chrono::steady_clock::now();
  while (state.KeepRunningBatch(k_largest_batch)) {
    for (int first = 0; first < k_largest_batch; first += size) {
      manifold.find(std::span(X_W).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size)),
                    ManifoldOrder::value, threads, result);
      benchmark::ClobberMemory();
    }
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  state.counters["wall"] = wall.count() / static_cast<double>(state.iterations());
}

/// Two equal prisms of three `sides` edges each, shifted by `shift` [m]: 0 is the most contacts that there
/// can be.
Poses prisms(int sides, double shift) {
  const Body prism = test::prism("prism", sides, 0.3, 0.6).body;
  return {prism,
          prism,
          {{Pose<double>(), Pose<double>{Quat<double>::Identity(), Vec3<double>(shift, 0.0, 0.0)}}}};
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
  add_armadillos("jacobian", {.order = ManifoldOrder::jacobian});
  add_armadillos("complete", {.order = ManifoldOrder::complete});
  add_armadillos("no_edge_edge", {.edge_edge = false});
  add_armadillos("one_sided", {.edge_edge = false, .vertices = VertexContacts::first});
  add("manifold/armadillo/forward_double",
      [](benchmark::State& state) { query<double>(state, armadillos(), {}); });
  add("manifold/armadillo/detect", [](benchmark::State& state) { detect(state, {}); });
  add("manifold/armadillo/detect_edge_sdf", [](benchmark::State& state) {
    ContactConfig config;
    config.edge_sdf = true;
    detect(state, config);
  });
  add("manifold/armadillo/vjp", vjp);
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
  for (const int sides : {100, 500, 1667}) {
    add("manifold/equal_prisms/" + std::to_string(3 * sides),
        [sides](benchmark::State& state) { query<double>(state, prisms(sides, 0.0), {}); });
    add("manifold/shifted_prisms/" + std::to_string(3 * sides),
        [sides](benchmark::State& state) { query<double>(state, prisms(sides, 0.1), {}); });
  }
  return true;
}();

}  // namespace
}  // namespace abut::benchmarks
