/// How gradients approach their closed forms as the smoothing of the contact law goes to 0.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/benchmarks/support/gnuplot.h"
#include "tests/benchmarks/support/table.h"

namespace abut::tables {
namespace {

constexpr double k_steps[] = {2e-3, 2e-4};                                                     // [s]
constexpr double k_smoothings[] = {0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6};  // [m/s]

/// A gradient, and what it depends on most.
struct Line {
  const char* gradient;
  double StepConfig::*factor;  ///< of the smoothing
};
constexpr Line k_lines[] = {
    {"stop distance by speed", &StepConfig::stiction_factor},
    {"stop distance by friction", &StepConfig::stiction_factor},
    {"way of the sphere by friction", &StepConfig::stiction_factor},
    {"height after a bounce by height before", &StepConfig::normal_smoothing_factor},
    {"height after a bounce by e", &StepConfig::normal_smoothing_factor},
    {"exchange: velocity of ball 2 by that of ball 1", &StepConfig::normal_smoothing_factor}};

/// Friction or normal impulses are smoothed over `speed` [m/s] in the end.
StepConfig smoothed(double h, double StepConfig::*factor, double speed) {
  StepConfig config;
  config.h = h;
  config.*factor = speed / (test::k_g * h);
  return config;
}

void draw(const benchmarks::Table& table, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  table.write(folder / "convergence.tsv");
  std::string script = benchmarks::png_header("convergence.png", 900, 500);
  script += R"(
set multiplot layout 1,2
set tmargin at screen 0.92
set bmargin at screen 0.32
set logscale xy
set format x '10^{%T}'
set format y '10^{%T}'
set xrange [1:3e-7]
set yrange [1e-6:3]
set xlabel 'smoothing [m/s]'
set ylabel 'relative error of the gradient'
)";
  int column = 2;
  for (const double h : k_steps) {
    script += fmt::format("set title 'h = {:g} ms'\n", 1e3 * h);
    script += h == k_steps[0] ? "set key at screen 0.5,0.02 center bottom vertical font ',10'\nplot "
                              : "set key off\nplot ";
    int style = 1;
    for (const Line& line : k_lines) {
      script += fmt::format("{}'convergence.tsv' using 1:{} with linespoints ls {} title '{}'",
                            style == 1 ? "" : ", ", column++, style, line.gradient);
      ++style;
    }
    script += "\n";
  }
  benchmarks::run_gnuplot(script + "unset multiplot\n", folder);
}

}  // namespace

void print_convergence(const Options& options) {
  std::vector<std::string> columns{"smoothing [m/s]"};
  for (const double h : k_steps) {
    for (const Line& line : k_lines)
      columns.push_back(fmt::format("{}, h = {:g} ms", line.gradient, 1e3 * h));
  }
  benchmarks::Table table(columns);
  const std::vector<KnownGradient> known = known_gradients();
  for (const double smoothing : k_smoothings) {
    std::vector<double> row{smoothing};
    for (const double h : k_steps) {
      for (const Line& line : k_lines) {
        const auto found = std::find_if(known.begin(), known.end(), [&](const KnownGradient& gradient) {
          return gradient.name == line.gradient;
        });
        row.push_back(std::abs(found->measure(smoothed(h, line.factor, smoothing)).relative_error()));
      }
    }
    table.add_row(row);
  }
  fmt::print(
      "\nRelative error by the speed [m/s] over which friction (the first three) or normal impulses "
      "are smoothed.\n\n{}",
      table.markdown());
  if (!options.folder.empty()) draw(table, options.folder);
}

}  // namespace abut::tables
