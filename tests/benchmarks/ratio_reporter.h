/// The console report, one line a benchmark, and the ratios of medians below it.
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
/// and at the end the ratios of the medians of processor time of those benchmarks that ran.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  explicit RatioReporter(std::vector<Ratio> ratios) : ConsoleReporter(OO_None), ratios_(std::move(ratios)) {}

  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  std::vector<Ratio> ratios_;
  std::map<std::string, std::vector<double>> seconds_;  // by name: of each repetition, or their median alone
};

}  // namespace abut::benchmarks
