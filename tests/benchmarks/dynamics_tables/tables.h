/// The tables of docs/dynamics.md and some of docs/gradients.md, as Markdown to standard output.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/config.h"
#include "tests/support/truths.h"

namespace abut::tables {

/// What the command line may change.
struct Options {
  double seconds = 2.0;          ///< of simulated time of each scene of `penetration`
  int steps = 2000;              ///< of `soak` and `heap`; of each scene of `random` and `solver`
  int bodies = 343;              ///< of `heap`
  int scenes = 20;               ///< of `random`, `solver`, `warnings`; hard problems of `..._constants`
  int drops = 1000;              ///< of `impacts`, under each law
  int top_steps = 100000;        ///< of the free top
  std::string law;               ///< of `random` and `impacts`; empty: every law
  std::filesystem::path folder;  ///< of pictures of `convergence`, `impact_phases`; empty: none
};

void print_truths(const Options& options);
void print_gradients(const Options& options);
void print_convergence(const Options& options);
void print_enhancements(const Options& options);
void print_penetration(const Options& options);
void print_springs(const Options& options);
void print_energy(const Options& options);
void print_impacts(const Options& options);
void print_impact_continuity(const Options& options);
void print_impact_phases(const Options& options);
void print_passive_impacts(const Options& options);
void print_joints(const Options& options);
void print_robots(const Options& options);
void print_scaling(const Options& options);
void print_layouts(const Options& options);
void print_heap(const Options& options);
void print_complementarity(const Options& options);
void print_solver(const Options& options);
void print_newton_constants(const Options& options);
void print_interior_point_constants(const Options& options);
void print_soak(const Options& options);
void print_random(const Options& options);
void print_from_distance(const Options& options);
void print_bundle(const Options& options);
void print_warnings(const Options& options);

/// A derivative whose closed form is known.
struct KnownGradient {
  std::string name;
  std::function<test::Truth(const StepConfig&)> measure;
};
[[nodiscard]] std::vector<KnownGradient> known_gradients();

/// A row of a table.
void print_row(const std::vector<std::string>& cells);
/// The first row, and the line below it.
void print_header(const std::vector<std::string>& cells);

/// Processor time of this process so far [s].
[[nodiscard]] double processor_time();

}  // namespace abut::tables
