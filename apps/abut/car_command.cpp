#include "apps/abut/car_command.h"

#include <cstdio>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/batch_command.h"
#include "apps/abut/report.h"
#include "apps/abut/stopwatch.h"
#include "apps/planning/car_plan.h"
#include "apps/planning/car_plan_io.h"
#include "engine/count_text.h"
#include "engine/toml_table.h"

namespace abut {
namespace {

/// Of several quantities, in their order in CarState and CarInput.
constexpr const char* k_defect_units = "m, m, rad, m/s, rad";
constexpr const char* k_limit_units = "m/s, rad, m/s^2, rad/s";

Json json_of(const CarPlan& plan, double seconds) {
  return {{"status", to_string(plan.status)},
          {"message", plan.message},
          {"guess", to_string(plan.guess)},
          {"iterations", plan.iterations},
          {"outer_iterations", plan.outer_iterations},
          {"quadratic_programs", plan.programs},
          {"quadratic_program_iterations", plan.program_iterations},
          {"wall_time", seconds},
          {"cost", plan.cost},
          {"worst_defect", plan.worst_defect},
          {"worst_collision", plan.worst_collision},
          {"worst_limit", plan.worst_limit},
          {"least_distance_on_the_way", plan.least_distance_on_the_way},
          {"units",
           {{"wall_time", "s"},
            {"cost", "1"},
            {"worst_defect", k_defect_units},
            {"worst_collision", "m"},
            {"worst_limit", k_limit_units},
            {"least_distance_on_the_way", "m"}}}};
}

void print_table(const CarArguments& arguments, const CarPlan& plan, double seconds) {
  const auto line = [](const char* name, const std::string& value) {
    fmt::print("  {:<18}{}\n", name, value);
  };
  fmt::print("{}\n", arguments.experiment.stem().string());
  line("status", fmt::format("{}: {}", to_string(plan.status), plan.message));
  line("iterations", fmt::format("{}, multipliers updated {}, from the {} line", plan.iterations,
                                 count_text(plan.outer_iterations, "time"), to_string(plan.guess)));
  if (plan.programs > 0) {
    line("distances",
         fmt::format("{} quadratic programs of {:.1f} iterations", plan.programs,
                     static_cast<double>(plan.program_iterations) / static_cast<double>(plan.programs)));
  }
  line("wall time", fmt::format("{:.2g} s", seconds));
  line("cost", fmt::format("{:.6g}", plan.cost));
  line("worst defect", fmt::format("{:.2e} (of {})", plan.worst_defect, k_defect_units));
  line("worst collision", fmt::format("{:.2e} m at a knot", plan.worst_collision));
  line("worst limit", fmt::format("{:.2e} (of {})", plan.worst_limit, k_limit_units));
  line("least distance", fmt::format("{:.2e} m, between the knots as well", plan.least_distance_on_the_way));
  line("written to", (arguments.out / "plan.csv").string());
  line("", (arguments.out / "plan.svg").string());
}

}  // namespace

bool is_car_experiment(const std::filesystem::path& path) { return TomlTable::read(path).has("experiment"); }

int plan_car_experiment(const CarArguments& arguments) {
  const CarProblem problem = read_car_problem(arguments.experiment);
  const InterruptRequest interrupt;
  bool has_header = false;
  const Stopwatch stopwatch;
  const CarPlan plan = plan_car(problem, [&](const CarPlanProgress& progress) {
    if (!arguments.quiet) {
      if (!has_header) {
        fmt::print(stderr, "{:>9} {:>6} {:>4} {:>12} {:>10} {:>10} {:>10}\n", "from", "outer", "it.", "cost",
                   "defect", "collision", "limit");
      }
      has_header = true;
      fmt::print(stderr, "{:>9} {:>6} {:>4} {:>12.6g} {:>10.2e} {:>10.2e} {:>10.2e}\n",
                 to_string(progress.guess), progress.outer_iteration, progress.iteration, progress.cost,
                 progress.worst_defect, progress.worst_collision, progress.worst_limit);
    }
    return !interrupt.received();
  });
  const double seconds = stopwatch.seconds();
  write_car_plan(problem, plan, arguments.out);
  if (arguments.json) {
    print_json(json_of(plan, seconds));
  } else {
    print_table(arguments, plan, seconds);
  }
  if (plan.ok()) return 0;
  std::fflush(stdout);
  fmt::print(stderr, "abut optimize: {}\n", plan.message);
  return 1;
}

}  // namespace abut
