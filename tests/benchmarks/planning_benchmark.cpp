/// Plans of a car (docs/planning.md). One iteration is a whole plan, or, of `plan/distances`, the distances
/// of all pairs of the polygons' scene at all knots of its plan.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "apps/planning/car_plan.h"
#include "apps/planning/obstacle_distances.h"

namespace abut::benchmarks {
namespace {

using Capsules = CarProblem::CapsuleDistances;

CarProblem car_problem(const std::string& name, Capsules capsules) {
  CarProblem problem =
      read_car_problem(std::filesystem::path(ABUT_SOURCE_DIR) / "assets" / "experiments" / (name + ".toml"));
  problem.solver.capsule_distances = capsules;
  return problem;
}

/// Counters: iterations of Levenberg and Marquardt's method, updates of the multipliers, the worst violation
/// [m, rad, m/s], quadratic programs, and iterations of one of these.
void plan(benchmark::State& state, const std::string& name, Capsules capsules) {
  const CarProblem problem = car_problem(name, capsules);
  CarPlan found;
  for (auto _ : state) {
    found = plan_car(problem);
    benchmark::DoNotOptimize(found.cost);
  }
  state.counters["iterations"] = found.iterations;
  state.counters["updates"] = found.outer_iterations;
  state.counters["violation"] = std::max({found.worst_defect, found.worst_collision, found.worst_limit});
  state.counters["programs"] = static_cast<double>(found.programs);
  if (found.programs > 0) {
    state.counters["each"] =
        static_cast<double>(found.program_iterations) / static_cast<double>(found.programs);
  }
}

void distances(benchmark::State& state, const std::string& name, Capsules capsules) {
  const CarProblem problem = car_problem(name, capsules);
  const CarPlan found = plan_car(problem);
  ObstacleDistances all(problem);
  for (auto _ : state) {
    all.evaluate(found.states);
    benchmark::DoNotOptimize(all.at(0, 0).distance);
  }
  state.counters["pairs"] = static_cast<double>(found.states.size() * problem.obstacles.size());
}

BENCHMARK_CAPTURE(plan, bus, "car_past_bus", Capsules::closed_form)->Name("plan/car_past_bus");
BENCHMARK_CAPTURE(plan, bus, "car_past_bus", Capsules::quadratic_programs)
    ->Name("plan/car_past_bus_quadratic_programs");
BENCHMARK_CAPTURE(plan, polygons, "car_past_polygons", Capsules::closed_form)->Name("plan/car_past_polygons");
BENCHMARK_CAPTURE(distances, bus, "car_past_bus", Capsules::closed_form)->Name("plan/distances/capsules");
BENCHMARK_CAPTURE(distances, bus, "car_past_bus", Capsules::quadratic_programs)
    ->Name("plan/distances/capsules_quadratic_programs");
BENCHMARK_CAPTURE(distances, polygons, "car_past_polygons", Capsules::closed_form)
    ->Name("plan/distances/polygons");

}  // namespace
}  // namespace abut::benchmarks
