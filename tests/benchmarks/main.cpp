/// Runs the benchmarks. Flags are those of Google Benchmark; the defaults here are five repetitions, in
/// random order, so that a busy moment of the machine does not fall on one benchmark alone.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "ratio_reporter.h"
#include "tests/support/mujoco_peer/mujoco_peer.h"

namespace {

/// What /proc/cpuinfo says of `key`, of the first processor.
std::string cpu_info(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1) != key) continue;
    return colon + 2 < line.size() ? line.substr(colon + 2) : std::string();
  }
  return "unknown";
}

/// The commit of the source tree, "-dirty" if it has changes; "none" outside of git.
std::string commit() {
  const std::string command =
      "git -C '" ABUT_SOURCE_DIR "' describe --always --dirty --exclude='*' 2>/dev/null";
  std::string text;
  if (std::FILE* output = popen(command.c_str(), "r")) {
    std::array<char, 128> buffer;
    while (std::fgets(buffer.data(), buffer.size(), output)) text += buffer.data();
    pclose(output);
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "none" : text;
}

void add_context(bool with_commit) {
  benchmark::AddCustomContext(
      "cpu", cpu_info("model name") + ", family " + cpu_info("cpu family") + ", model " + cpu_info("model"));
  if (with_commit) benchmark::AddCustomContext("commit", commit());
#if defined(__clang__)
  benchmark::AddCustomContext("compiler", "clang " __clang_version__);
#else
  benchmark::AddCustomContext("compiler", "g++ " __VERSION__);
#endif
  benchmark::AddCustomContext("build", ABUT_BUILD_TYPE ", -march=" ABUT_ARCH);
  if (const std::string version = abut::test::mujoco_version(); !version.empty()) {
    benchmark::AddCustomContext("mujoco", version);
  }
}

const std::vector<abut::benchmarks::Ratio>& ratios() {
  static const std::vector<abut::benchmarks::Ratio> list{
      {"manifold/armadillo/forward", "mujoco/manifold/armadillo"},
      {"manifold/armadillo/jacobian", "manifold/armadillo/forward"},
      {"manifold/armadillo/complete", "manifold/armadillo/forward"},
      {"manifold/armadillo/detect", "manifold/armadillo/forward_double"},
      {"manifold/armadillo/vjp", "manifold/armadillo/detect"},
      {"manifold/armadillo/detect_edge_sdf", "manifold/armadillo/detect"},
      {"mujoco/manifold/armadillo_differences", "manifold/armadillo/jacobian"},
      {"manifold/armadillo/no_edge_edge", "manifold/armadillo/forward"},
      {"manifold/armadillo/one_sided", "manifold/armadillo/forward"},
      {"manifold/armadillo/forward_double", "manifold/armadillo/forward"},
      {"manifold/armadillo/batch/1", "manifold/armadillo/batch/1024"},
      {"manifold/armadillo/batch/1024", "manifold/armadillo/batch_two_threads/1024"},
      {"manifold/primitives/64", "manifold/primitives/1"},
      {"gradient/armadillo_drop", "step/armadillo_drop"},
      {"witness/edge_edge_interior_point", "witness/edge_edge"},
      {"witness/edge_edge_interior_point_lanes", "witness/edge_edge"},
      {"proximity/polygons_quadprog", "proximity/polygons_interior_point_lanes"},
      {"proximity/polygons_quadprog", "proximity/polygons_interior_point_float_lanes"},
      {"proximity/polygons_cgal", "proximity/polygons_interior_point_lanes"},
      {"plan/car_past_bus_quadratic_programs", "plan/car_past_bus"},
      {"step/armadillo_drop", "mujoco/step/armadillo_drop"},
      {"step/box_stack", "mujoco/step/box_stack"},
      {"step/two_armadillos", "mujoco/step/two_armadillos"},
      {"step/box_stack_10", "mujoco/step/box_stack_10"},
      {"step/box_stack_10_corners", "mujoco/step/box_stack_10"},
      {"step/box_pile_100", "mujoco/step/box_pile_100"},
      {"gradient/armadillo_drop", "mujoco/gradient/armadillo_drop"},
      {"bullet/step/box_stack_10", "mujoco/step/box_stack_10"},
      {"bullet/step/box_pile_100", "mujoco/step/box_pile_100"},
      {"step/box_stack_10", "bullet/step/box_stack_10"},
      {"step/box_pile_100", "bullet/step/box_pile_100"},
      {"detectors/collision/detect", "detectors/collision/fcl"},
      {"detectors/collision/detect_warm", "detectors/collision/fcl"},
      {"detectors/collision/exact", "detectors/collision/detect"},
      {"detectors/collision/first_gumbel_1", "detectors/collision/detect"},
      {"detectors/collision/first_gumbel_3", "detectors/collision/detect"},
      {"detectors/collision/first_gumbel_5", "detectors/collision/detect"},
      {"detectors/collision/first_gaussian_10", "detectors/collision/detect"},
      {"detectors/collision/first_gaussian_20", "detectors/collision/detect"},
      {"detectors/collision/differences", "detectors/collision/detect"},
      {"detectors/collision/zeroth_gaussian_10", "detectors/collision/detect"},
      {"detectors/collision/exact", "detectors/collision/detect_warm"},
      {"detectors/collision/first_gumbel_1", "detectors/collision/detect_warm"},
      {"detectors/collision/growth", "detectors/collision/detect"},
      {"detectors/collision/growth_derivatives", "detectors/collision/growth"},
      {"detectors/apart/detect", "detectors/apart/fcl"},
      {"detectors/apart/detect_warm", "detectors/apart/fcl"},
      {"detectors/apart/exact", "detectors/apart/detect"},
      {"detectors/apart/first_gumbel_1", "detectors/apart/detect"},
      {"detectors/apart/first_gumbel_3", "detectors/apart/detect"},
      {"detectors/apart/first_gumbel_5", "detectors/apart/detect"},
      {"detectors/apart/first_gaussian_10", "detectors/apart/detect"},
      {"detectors/apart/first_gaussian_20", "detectors/apart/detect"},
      {"detectors/apart/differences", "detectors/apart/detect"},
      {"detectors/apart/zeroth_gaussian_10", "detectors/apart/detect"},
      {"detectors/apart/exact", "detectors/apart/detect_warm"},
      {"detectors/apart/first_gumbel_1", "detectors/apart/detect_warm"},
      {"detectors/apart/growth", "detectors/apart/detect"},
      {"detectors/apart/growth_derivatives", "detectors/apart/growth"},
  };
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments{argv[0], "--benchmark_repetitions=5",
                                     "--benchmark_enable_random_interleaving=true",
                                     "--benchmark_display_aggregates_only=true"};
  arguments.insert(arguments.end(), argv + 1, argv + argc);  // the last of equal flags counts
  bool with_commit = true, on_console = true;
  for (const std::string_view argument : arguments) {
    const bool is_context = argument.starts_with("--benchmark_context=");
    if (is_context && argument.find("commit=") != std::string_view::npos) with_commit = false;
    if (argument.starts_with("--benchmark_format=")) on_console = argument.ends_with("=console");
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(arguments.size());

  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 2;
  add_context(with_commit);
  try {
    abut::benchmarks::RatioReporter reporter(ratios());
    benchmark::RunSpecifiedBenchmarks(on_console ? &reporter : nullptr);
  } catch (const std::exception& error) {
    std::cerr << "abut_benchmarks: " << error.what() << "\n";
    return 1;
  }
  benchmark::Shutdown();
  return 0;
}
