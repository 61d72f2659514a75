#include "ratio_reporter.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

#include "scenes.h"

namespace abut::benchmarks {

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
  }
  if (!shown.empty()) ConsoleReporter::ReportRuns(shown);
}

void RatioReporter::Finalize() {
  std::size_t width = 0;
  for (const Ratio& ratio : ratios_) width = std::max(width, ratio.name.size() + ratio.reference.size() + 3);
  for (const Ratio& ratio : ratios_) {
    const auto name = seconds_.find(ratio.name), reference = seconds_.find(ratio.reference);
    if (name == seconds_.end() || reference == seconds_.end()) continue;
    const double value = median(name->second) / median(reference->second);
    GetOutputStream() << fmt::format("ratio  {:<{}} = {:.3g}\n", ratio.name + " : " + ratio.reference, width,
                                     value);
  }
  GetOutputStream().flush();
  ConsoleReporter::Finalize();
}

}  // namespace abut::benchmarks
