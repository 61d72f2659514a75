/// From a mesh to its signed distances and superquadrics, on one thread: repair, the grid, single queries. Of
/// a sphere with bumps, and of the reference mesh armadillo.obj where it is ($ABUT_DATA_DIR, or
/// ../shared/data beside the source tree).
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collision/fitting/distance_grid.h"
#include "collision/fitting/marching_primitives.h"
#include "collision/fitting/mesh_repair.h"
#include "engine/mesh_io.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"

namespace abut::benchmarks {
namespace {

constexpr int k_points = 100;  // of the grid along each axis

/// 20 4^n triangles.
TriangleMesh bumpy_sphere(int subdivisions) {
  TriangleMesh mesh = sphere_mesh(1.0, subdivisions);
  for (int v = 0; v < mesh.vertex_count(); ++v) {
    const Vec3<double> x = mesh.vertices.col(v);
    const double bumps = std::sin(7.0 * x.x()) + std::sin(9.0 * x.y() + 1.0) + std::sin(8.0 * x.z() + 2.0);
    mesh.vertices.col(v) = (1.0 + 0.05 * bumps) * x;
  }
  return mesh;
}

std::filesystem::path reference_mesh(const std::string& name) {
  const char* folder = std::getenv("ABUT_DATA_DIR");
  return (folder != nullptr ? std::filesystem::path(folder)
                            : std::filesystem::path(ABUT_SOURCE_DIR) / "../shared/data") /
         name;
}

TriangleMesh mesh_named(const std::string& name) {
  return name.ends_with(".obj") ? read_mesh(reference_mesh(name)) : bumpy_sphere(std::stoi(name));
}

/// One mesh at a time is kept: benchmarks run in random order, and large meshes are large.
const RepairedMesh& repaired_mesh(const std::string& name) {
  static std::map<std::string, RepairedMesh> kept;
  if (kept.count(name) == 0) {
    kept.clear();
    kept.emplace(name, repair_mesh(mesh_named(name), {.find_intersections = false, .threads = 1}));
  }
  return kept.at(name);
}

void count_triangles(benchmark::State& state, int triangles) { state.counters["triangles"] = triangles; }

void repair(benchmark::State& state, const std::string& name, bool find_intersections) {
  const TriangleMesh mesh = mesh_named(name);
  for (auto _ : state)
    benchmark::DoNotOptimize(repair_mesh(mesh, {.find_intersections = find_intersections, .threads = 1}));
  count_triangles(state, mesh.triangle_count());
}

void grid(benchmark::State& state, const std::string& name, double far_tolerance) {
  const RepairedMesh& mesh = repaired_mesh(name);
  const SampleGrid points = padded_grid(mesh.bvh.bounds(), k_points);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        signed_distance_grid(mesh, points, {.far_tolerance = far_tolerance, .threads = 1}));
  }
  count_triangles(state, mesh.mesh.triangle_count());
  state.counters["bytes_a_triangle"] = static_cast<double>(mesh.bvh.memory()) / mesh.mesh.triangle_count();
}

void march(benchmark::State& state, const std::string& name, int most) {
  const RepairedMesh& mesh = repaired_mesh(name);
  const DistanceGrid distances =
      signed_distance_grid(mesh, padded_grid(mesh.bvh.bounds(), k_points + 1), {.threads = 1});
  FittedSuperquadrics fitted;
  for (auto _ : state) fitted = march_primitives(distances, {.max_primitives = most});
  state.counters["primitives"] = static_cast<double>(fitted.primitives.size());
  state.counters["iou"] = fitted.report.iou;
}

/// Points anywhere in a cube around the mesh.
template <typename Query>
void query(benchmark::State& state, const std::string& name, const Query& of_point) {
  const RepairedMesh& mesh = repaired_mesh(name);
  const Vec3<double> center = mesh.bvh.bounds().center(), half = 0.625 * mesh.bvh.bounds().sizes();
  Random random(1);
  std::vector<Vec3<double>> points(4096);
  for (Vec3<double>& p : points) {
    for (int k = 0; k < 3; ++k) p[k] = center[k] + random.uniform(-half[k], half[k]);
  }
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(points.size()))) {
    for (const Vec3<double>& p : points) benchmark::DoNotOptimize(of_point(mesh.bvh, p));
  }
}

const bool k_registered = [] {
  std::vector<std::string> names{"6", "8"};
  if (std::filesystem::exists(reference_mesh("armadillo.obj"))) names.emplace_back("armadillo.obj");
  for (const std::string& name : names) {
    const std::string suffix = "/" + (name == "armadillo.obj" ? name : "bumpy_sphere_" + name);
    const auto add = [&](const std::string& what, auto&& function) {
      benchmark::RegisterBenchmark(("fitting/" + what + suffix).c_str(), function)
          ->Unit(benchmark::kMillisecond);
    };
    add("repair", [=](benchmark::State& state) { repair(state, name, false); });
    add("repair_and_intersections", [=](benchmark::State& state) { repair(state, name, true); });
    add("grid", [=](benchmark::State& state) { grid(state, name, DistanceGridOptions().far_tolerance); });
    if (name == "8") continue;
    add("grid_exact", [=](benchmark::State& state) { grid(state, name, 0.0); });
    const auto add_query = [&](const std::string& what, auto&& of_point) {
      benchmark::RegisterBenchmark(("fitting/" + what + suffix).c_str(),
                                   [=](benchmark::State& state) { query(state, name, of_point); });
    };
    add_query("nearest",
              [](const TriangleBvh& bvh, const Vec3<double>& p) { return bvh.nearest(p).distance; });
    add_query("winding_number",
              [](const TriangleBvh& bvh, const Vec3<double>& p) { return bvh.winding_number(p); });
  }
  const std::vector<std::pair<std::string, int>> marched{
      {"6", 20},        {"armadillo.obj", 19},      {"armadillo.obj", 39}, {"power_drill.obj", 18},
      {"spot.obj", 22}, {"mustard_bottle.obj", 15}, {"banana.obj", 6}};
  for (const auto& [name, most] : marched) {
    if (name != "6" && !std::filesystem::exists(reference_mesh(name))) continue;
    const std::string suffix = "/" + (name == "6" ? "bumpy_sphere_6" : name) + "/" + std::to_string(most);
    benchmark::RegisterBenchmark(("fitting/march_primitives" + suffix).c_str(), [name = name, most = most](
                                                                                    benchmark::State& state) {
      march(state, name, most);
    })->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace abut::benchmarks
