/// abut_dynamics_tables --table NAME [options]: prints tables of docs/dynamics.md and docs/gradients.md. Exit
/// codes as those of `abut`.
#include <ctime>
#include <exception>
#include <functional>
#include <map>
#include <string>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "tests/benchmarks/dynamics_tables/tables.h"

namespace abut::tables {

void print_row(const std::vector<std::string>& cells) {
  fmt::print("|");
  for (const std::string& cell : cells) fmt::print(" {} |", cell);
  fmt::print("\n");
}

void print_header(const std::vector<std::string>& cells) {
  print_row(cells);
  print_row(std::vector<std::string>(cells.size(), "---"));
}

double processor_time() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace abut::tables

int main(int argc, char** argv) {
  using namespace abut::tables;
  const std::map<std::string, std::function<void(const Options&)>> tables{
      {"truths", print_truths},
      {"gradients", print_gradients},
      {"convergence", print_convergence},
      {"enhancements", print_enhancements},
      {"penetration", print_penetration},
      {"springs", print_springs},
      {"energy", print_energy},
      {"impacts", print_impacts},
      {"impact_continuity", print_impact_continuity},
      {"impact_phases", print_impact_phases},
      {"passive_impacts", print_passive_impacts},
      {"joints", print_joints},
      {"robots", print_robots},
      {"scaling", print_scaling},
      {"layouts", print_layouts},
      {"heap", print_heap},
      {"complementarity", print_complementarity},
      {"solver", print_solver},
      {"newton_constants", print_newton_constants},
      {"interior_point_constants", print_interior_point_constants},
      {"soak", print_soak},
      {"random", print_random},
      {"from_distance", print_from_distance},
      {"bundle", print_bundle},
      {"warnings", print_warnings}};
  CLI::App app("Prints tables of docs/dynamics.md and docs/gradients.md.", "abut_dynamics_tables");
  std::string table;
  Options options;
  app.add_option("--table", table, "which one")->required()->check(CLI::IsMember(tables));
  app.add_option("--seconds", options.seconds, "penetration: simulated time of each scene")
      ->capture_default_str();
  app.add_option("--steps", options.steps, "soak, heap: steps; random: steps of each scene")
      ->capture_default_str();
  app.add_option("--bodies", options.bodies, "heap: balls")->capture_default_str();
  app.add_option("--scenes", options.scenes,
                 "random, warnings: number of scenes; ..._constants: of hard problems")
      ->capture_default_str();
  app.add_option("--picture", options.folder,
                 "convergence, impact_phases: folder of a picture of it, made by gnuplot");
  app.add_option("--drops", options.drops,
                 "impacts: random drops under each law; impact_continuity: five times the paths")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--law", options.law, "random, impacts, impact_continuity: one law only");
  app.add_option("--top-steps", options.top_steps, "truths: steps of the free top")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    tables.at(table)(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "abut_dynamics_tables: {}\n", error.what());
    return 1;
  }
  return 0;
}
