/// Distances and depths of hulls of meshes, their derivatives, and FCL on the same hulls (docs/detectors.md).
///
/// Hulls of the meshes in $ABUT_DATA_DIR, by default ../shared/data beside the checkout, or of bundled bodies
/// where there are none, scaled to an extent of 0.2 m. One iteration is one of 500 relative poses of two of
/// them: a uniform rotation, a uniform direction, and a gap of 0 to 50 mm (apart) or a depth of 0 to 20 mm
/// (collision). Warm starts come from a pose that is 1 mm and 0.01 rad away. Derivatives start from what was
/// found.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "collision/convex/convex_distance.h"
#include "collision/convex/growth_distance.h"
#include "collision/convex/smoothed_derivatives.h"
#include "collision/convex/witness_derivatives.h"
#include "engine/mesh_io.h"
#include "engine/random.h"

#ifdef ABUT_HAVE_FCL
#include "fcl_peer.h"
#endif

namespace abut::benchmarks {
namespace {

constexpr std::size_t k_detector_poses = 500;
constexpr double k_hull_extent = 0.2;                           ///< [m]
constexpr double k_largest_gap = 0.05, k_largest_depth = 0.02;  ///< [m]

struct HullPose {
  std::size_t A, B;  ///< hulls
  Pose<double> X_WA, X_WB;
  ConvexWarmStart warm;  ///< of a pose nearby
};

struct HullPoses {
  std::vector<ConvexPart<double>> hulls;
  std::vector<HullPose> apart, collision;
};

std::vector<std::filesystem::path> detector_meshes() {
  const std::filesystem::path source(ABUT_SOURCE_DIR);
  const char* folder = std::getenv("ABUT_DATA_DIR");
  const std::filesystem::path data =
      folder != nullptr ? std::filesystem::path(folder) : source / "../shared/data";
  std::vector<std::filesystem::path> meshes;
  for (const char* name : {"armadillo", "banana", "mustard_bottle", "power_drill", "spot"})
    if (const auto path = data / (std::string(name) + ".obj"); std::filesystem::exists(path))
      meshes.push_back(path);
  if (!meshes.empty()) return meshes;
  for (const char* name : {"armadillo", "mustard_bottle", "power_drill", "spot"})
    meshes.push_back(source / "assets/bodies" / name / "mesh.obj");
  return meshes;
}

ConvexPart<double> hull_of_extent(const Points& points) {
  const Vec3<double> low = points.rowwise().minCoeff(), high = points.rowwise().maxCoeff();
  const double scale = k_hull_extent / (high - low).maxCoeff();
  return make_convex_part(Points(scale * (points.colwise() - 0.5 * (low + high))));
}

HullPoses make_hull_poses() {
  HullPoses set;
  for (const auto& path : detector_meshes()) set.hulls.push_back(hull_of_extent(read_mesh(path).vertices));
  Random random(1);
  ConvexScratch scratch;
  for (const bool are_apart : {true, false}) {
    auto& poses = are_apart ? set.apart : set.collision;
    while (poses.size() < k_detector_poses) {
      HullPose pose{random.integer(set.hulls.size()), random.integer(set.hulls.size()), {}, {}, {}};
      const auto &A = set.hulls[pose.A], &B = set.hulls[pose.B];
      pose.X_WA.q = random.quaternion();
      pose.X_WB = {random.quaternion(), 2.0 * k_hull_extent * random.unit_vector()};
      const auto far = convex_distance(A, pose.X_WA, B, pose.X_WB, {}, scratch);
      const double gap =
          are_apart ? random.uniform(0.0, k_largest_gap) : -random.uniform(0.0, k_largest_depth);
      pose.X_WB.p -= (far.distance - gap) * far.normal_AB_W;
      const Vec6<double> step = stack<double>(0.01 * random.unit_vector(), 1e-3 * random.unit_vector());
      (void)convex_distance(A, pose.X_WA, B, retract<double>(pose.X_WB, step), {}, scratch, &pose.warm);
      poses.push_back(pose);
    }
  }
  return set;
}

const HullPoses& hull_poses() {
  static const HullPoses set = make_hull_poses();
  return set;
}

const std::vector<HullPose>& hull_poses(bool are_apart) {
  return are_apart ? hull_poses().apart : hull_poses().collision;
}

/// Calls work(i, A, B, pose) of each pose in turns.
template <typename Work>
void each_hull_pose(benchmark::State& state, bool are_apart, const Work& work) {
  const auto& poses = hull_poses(are_apart);
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(poses.size()))) {
    for (std::size_t i = 0; i < poses.size(); ++i)
      work(i, hull_poses().hulls[poses[i].A], hull_poses().hulls[poses[i].B], poses[i]);
  }
}

void hull_detect(benchmark::State& state, bool are_apart, bool is_warm) {
  ConvexScratch scratch;
  double vertices = 0.0, gjk = 0.0, epa = 0.0;
  each_hull_pose(state, are_apart, [&](std::size_t, const auto& A, const auto& B, const HullPose& pose) {
    ConvexWarmStart warm = is_warm ? pose.warm : ConvexWarmStart();
    const auto found = convex_distance(A, pose.X_WA, B, pose.X_WB, {}, scratch, is_warm ? &warm : nullptr);
    vertices += A.polyhedron->vertex_count() + B.polyhedron->vertex_count();
    gjk += found.gjk_iterations;
    epa += found.epa_iterations;
    benchmark::DoNotOptimize(found);
  });
  const auto count = static_cast<double>(state.iterations());
  state.counters["vertices"] = 0.5 * vertices / count;
  state.counters["gjk_iterations"] = gjk / count;
  state.counters["epa_iterations"] = epa / count;
}

void hull_derivative(benchmark::State& state, bool are_apart, const SmoothingSettings* smoothing) {
  SmoothingScratch scratch;
  std::vector<ConvexDistance<double>> found;
  for (const HullPose& pose : hull_poses(are_apart))
    found.push_back(convex_distance(hull_poses().hulls[pose.A], pose.X_WA, hull_poses().hulls[pose.B],
                                    pose.X_WB, {}, scratch.convex));
  each_hull_pose(state, are_apart, [&](std::size_t i, const auto& A, const auto& B, const HullPose& pose) {
    const WitnessDerivatives J =
        smoothing == nullptr
            ? witness_derivatives(A, pose.X_WA, B, pose.X_WB, found[i])
            : smoothed_derivatives(A, pose.X_WA, B, pose.X_WB, found[i], *smoothing, scratch);
    benchmark::DoNotOptimize(J);
  });
}

void hull_growth(benchmark::State& state, bool are_apart, bool differentiates) {
  std::vector<GrowthCentre> centres;
  for (const auto& hull : hull_poses().hulls) centres.push_back(growth_centre(hull));
  std::vector<GrowthDistance> found;
  for (const HullPose& pose : hull_poses(are_apart))
    found.push_back(growth_distance(hull_poses().hulls[pose.A], centres[pose.A], pose.X_WA,
                                    hull_poses().hulls[pose.B], centres[pose.B], pose.X_WB));
  each_hull_pose(state, are_apart, [&](std::size_t i, const auto& A, const auto& B, const HullPose& pose) {
    if (differentiates) {
      benchmark::DoNotOptimize(growth_derivatives(pose.X_WA, pose.X_WB, found[i]));
    } else {
      benchmark::DoNotOptimize(growth_distance(A, centres[pose.A], pose.X_WA, B, centres[pose.B], pose.X_WB));
    }
  });
}

#ifdef ABUT_HAVE_FCL
/// Of hulls A and B: A + B times the number of hulls.
const std::vector<std::unique_ptr<FclPair>>& fcl_pairs() {
  static const std::vector<std::unique_ptr<FclPair>> pairs = [] {
    std::vector<std::unique_ptr<FclPair>> made;
    for (const auto& B : hull_poses().hulls)
      for (const auto& A : hull_poses().hulls) made.push_back(std::make_unique<FclPair>(A, B));
    return made;
  }();
  return pairs;
}

void hull_fcl(benchmark::State& state, bool are_apart) {
  double failed = 0.0;
  each_hull_pose(state, are_apart, [&](std::size_t, const auto&, const auto&, const HullPose& pose) {
    const FclPair& pair = *fcl_pairs()[pose.A + pose.B * hull_poses().hulls.size()];
    const FclDistance found = pair.distance(pose.X_WA, pose.X_WB, 1e-6);
    failed += found.failed ? 1.0 : 0.0;
    benchmark::DoNotOptimize(found);
  });
  state.counters["failed"] = failed / static_cast<double>(state.iterations());
}
#endif

const SmoothingSettings k_differences{.method = SmoothingMethod::finite_differences, .epsilon = 1e-6};
const SmoothingSettings k_zeroth{.method = SmoothingMethod::zeroth_gaussian, .epsilon = 1e-2, .samples = 10};
const SmoothingSettings k_gaussian_10{
    .method = SmoothingMethod::first_gaussian, .epsilon = 1e-3, .samples = 10};
const SmoothingSettings k_gaussian_20{
    .method = SmoothingMethod::first_gaussian, .epsilon = 1e-3, .samples = 20};
const SmoothingSettings k_gumbel_1{.method = SmoothingMethod::first_gumbel, .epsilon = 1e-4, .rings = 1};
const SmoothingSettings k_gumbel_3{.method = SmoothingMethod::first_gumbel, .epsilon = 1e-4, .rings = 3};
const SmoothingSettings k_gumbel_5{.method = SmoothingMethod::first_gumbel, .epsilon = 1e-4, .rings = 5};

[[maybe_unused]] const bool k_are_registered = [] {
  for (const bool are_apart : {false, true}) {
    const std::string folder = are_apart ? "detectors/apart/" : "detectors/collision/";
    const auto add = [&](const std::string& name, const auto& run) {
      benchmark::RegisterBenchmark((folder + name).c_str(), run);
    };
    add("detect", [=](benchmark::State& state) { hull_detect(state, are_apart, false); });
    add("detect_warm", [=](benchmark::State& state) { hull_detect(state, are_apart, true); });
    const auto add_derivative = [&](const std::string& name, const SmoothingSettings* smoothing) {
      add(name, [=](benchmark::State& state) { hull_derivative(state, are_apart, smoothing); });
    };
    add_derivative("exact", nullptr);
    add_derivative("differences", &k_differences);
    add_derivative("zeroth_gaussian_10", &k_zeroth);
    add_derivative("first_gaussian_10", &k_gaussian_10);
    add_derivative("first_gaussian_20", &k_gaussian_20);
    add_derivative("first_gumbel_1", &k_gumbel_1);
    add_derivative("first_gumbel_3", &k_gumbel_3);
    add_derivative("first_gumbel_5", &k_gumbel_5);
    add("growth", [=](benchmark::State& state) { hull_growth(state, are_apart, false); });
    add("growth_derivatives", [=](benchmark::State& state) { hull_growth(state, are_apart, true); });
#ifdef ABUT_HAVE_FCL
    add("fcl", [=](benchmark::State& state) { hull_fcl(state, are_apart); });
#endif
  }
  return true;
}();

}  // namespace
}  // namespace abut::benchmarks
