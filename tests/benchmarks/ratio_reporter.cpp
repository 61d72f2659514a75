#include "ratio_reporter.h"

#include <algorithm>
#include <iterator>

#include <spdlog/fmt/fmt.h>

#include "scenes.h"

namespace abut::benchmarks {
namespace {

std::string time_text(double seconds) {
  const char* const units[] = {"ns", "µs", "ms"};
  std::size_t unit = 0;
  for (seconds *= 1e9; seconds >= 1e3 && unit + 1 < std::size(units); ++unit) seconds *= 1e-3;
  return fmt::format("{:.3g} {}", seconds, units[unit]);
}

}  // namespace

void RatioReporter::ReportRuns(const std::vector<Run>& runs) {
  const auto is_median = [](const Run& run) { return run.aggregate_name == "median"; };
  const bool repeated = std::any_of(runs.begin(), runs.end(), is_median);
  std::vector<Run> shown;
  for (const Run& run : runs) {
    if (!run.error_occurred && repeated != is_median(run)) continue;
    shown.push_back(run);
    if (run.error_occurred) continue;
    const double seconds = run.GetAdjustedCPUTime() / benchmark::GetTimeUnitMultiplier(run.time_unit);
    seconds_[run.run_name.function_name].push_back(seconds);
    if (const auto ratio = run.counters.find("ratio"); ratio != run.counters.end())
      own_ratios_[run.run_name.function_name].push_back(ratio->second.value);
  }
  if (!shown.empty()) ConsoleReporter::ReportRuns(shown);
}

void RatioReporter::Finalize() {
  std::ostream& out = GetOutputStream();
  if (!seconds_.empty()) out << "\n| benchmark | CPU time |\n| --- | --- |\n";
  for (const auto& [name, seconds] : seconds_)
    out << fmt::format("| `{}` | {} |\n", name, time_text(median(seconds)));
  std::string rows;
  for (const auto& [name, values] : own_ratios_)
    rows += fmt::format("| `{}` : plain rollout | {:.3g} |\n", name, median(values));
  for (const Ratio& ratio : ratios_) {
    const auto name = seconds_.find(ratio.name), reference = seconds_.find(ratio.reference);
    if (name == seconds_.end() || reference == seconds_.end()) continue;
    rows += fmt::format("| `{}` : `{}` | {:.3g} |\n", ratio.name, ratio.reference,
                        median(name->second) / median(reference->second));
  }
  if (!rows.empty()) out << "\n| ratio of CPU times | |\n| --- | --- |\n" << rows;
  GetOutputStream().flush();
  ConsoleReporter::Finalize();
}

}  // namespace abut::benchmarks
