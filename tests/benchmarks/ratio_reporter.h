/// The console report, one line a benchmark, and two tables of medians below it, for pages.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace abut::benchmarks {

/// How many times as long `name` takes as `reference`.
struct Ratio {
  std::string name, reference;
};

/// Prints of each benchmark its median over the repetitions alone (the file of --benchmark_out has them all),
/// and at the end, as Markdown, these medians, sorted by name, and the ratios of the
/// medians of processor time of those benchmarks that ran.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  explicit RatioReporter(std::vector<Ratio> ratios) : ConsoleReporter(OO_None), ratios_(std::move(ratios)) {}

  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  std::vector<Ratio> ratios_;
  std::map<std::string, std::vector<double>> seconds_;  // by name: of each repetition, or their median alone
  std::map<std::string, std::vector<double>> own_ratios_;  // by name: the counter "ratio", where it has one
};

}  // namespace abut::benchmarks
