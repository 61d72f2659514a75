/// abut_detector_tables [--problems N] [--targets KIND] [--threads N] [--out FILE]: exit codes as those of
/// `abut`.
#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "contact_pose.h"
#include "tests/benchmarks/support/table.h"

namespace {

using namespace abut;
using namespace abut::benchmarks;

constexpr std::array k_quantiles{0.1, 0.25, 0.5, 0.75, 0.9};
constexpr double k_solved = 1e-12;  ///< below, points are within about 1 µm of each other [m^2]

Cell cost_cell(double cost) {
  return cost < k_solved ? Cell(fmt::format("< {:.0e}", k_solved)) : Cell(fmt::format("{:.1e}", cost));
}

Table measure(const ContactPoseProblems& problems, int iterations, int threads) {
  Table table({"method", "D1", "Q1", "median", "Q3", "D9", "solved %", "document's median", "document's Q3",
               "document's D9"});
  for (const PoseMethod& method : pose_methods()) {
    std::vector<double> costs = solve_contact_poses(problems, method, iterations, threads);
    std::sort(costs.begin(), costs.end());
    std::vector<Cell> row{method.name};
    for (const double q : k_quantiles)
      row.push_back(cost_cell(costs[static_cast<std::size_t>(q * static_cast<double>(costs.size() - 1))]));
    const auto solved = std::lower_bound(costs.begin(), costs.end(), k_solved) - costs.begin();
    row.emplace_back(
        fmt::format("{:.1f}", 100.0 * static_cast<double>(solved) / static_cast<double>(costs.size())));
    for (const std::size_t i : {2u, 3u, 4u})
      row.emplace_back(method.document[i] > 0.0 ? fmt::format("{:.0e}", method.document[i]) : "");
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Poses that bring given points of two rough bodies into contact, by the Gauss-Newton method with "
      "derivatives "
      "of several detectors: quantiles of the terminal cost [m^2]. docs/detectors.md describes it.\n",
      "abut_detector_tables");
  int problems = 10000, iterations = 50, threads = 0;
  std::uint64_t seed = 1;
  PoseTargets targets = PoseTargets::vertices;
  std::string out;
  std::array<double, 2> axes = k_pose_axes;
  const std::map<std::string, PoseTargets> kinds{{"vertices", PoseTargets::vertices},
                                                 {"witnesses", PoseTargets::witnesses},
                                                 {"surface", PoseTargets::surface}};
  app.add_option("--problems", problems, "how many, in turns of up to 100 pairs (10000)")
      ->check(CLI::PositiveNumber);
  app.add_option("--targets", targets, "vertices, witnesses or surface (vertices)")
      ->transform(CLI::CheckedTransformer(kinds));
  app.add_option("--axes", axes, "least and largest semi-axis of the ellipsoids [m] (0.05 0.3)")
      ->check(CLI::PositiveNumber);
  app.add_option("--iterations", iterations, "of the Gauss-Newton method (50)")->check(CLI::PositiveNumber);
  app.add_option("--threads", threads, "0: as many as the machine has (0)")->check(CLI::NonNegativeNumber);
  app.add_option("--seed", seed, "of bodies, targets and samples (1)");
  app.add_option("--out", out, "file to write the table to as well, as TSV");
  CLI11_PARSE(app, argc, argv);
  try {
    const Table table =
        measure(make_contact_pose_problems(problems, targets, seed, axes), iterations, threads);
    fmt::print("{}", table.markdown());
    if (!out.empty()) table.write(out);
  } catch (const std::exception& error) {
    fmt::print(stderr, "abut_detector_tables: {}\n", error.what());
    return 1;
  }
  return 0;
}
