/// The table of what tells wrong gradients from right ones.
#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/adjoint.h"
#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/benchmarks/dynamics_tables/warning_samples.h"

namespace abut::tables {
namespace {

constexpr std::uint64_t k_seed = 3;

using Samples = std::vector<WarningSample>;

/// The samples of scenes 0 ... count - 1, without those that are refused, in their order.
Samples samples_of(int count) {
  std::vector<std::optional<WarningSample>> found(static_cast<std::size_t>(count));
  std::atomic<int> next = 0;
  const auto work = [&] {
    for (int i = next++; i < count; i = next++)
      found[static_cast<std::size_t>(i)] = warning_sample(i, k_seed);
  };
  {
    std::vector<std::jthread> helpers;
    for (unsigned t = 1; t < std::thread::hardware_concurrency(); ++t) helpers.emplace_back(work);
    work();
  }
  Samples samples;
  for (std::optional<WarningSample>& sample : found) {
    if (sample) samples.push_back(std::move(*sample));
  }
  return samples;
}

/// How many of the samples that are wrong, or right, have an indicator above a threshold.
std::string rate(const Samples& samples, std::size_t indicator, double threshold, bool are_wrong) {
  int count = 0, above = 0;
  for (const WarningSample& sample : samples) {
    if (sample.is_wrong() != are_wrong) continue;
    ++count;
    above += sample.indicators[indicator].second > threshold;
  }
  return count > 0 ? fmt::format("{:.0f} %", 100.0 * above / count) : "-";
}

/// The least threshold above which at most a tenth of the right samples lie.
double threshold_of(const Samples& samples, std::size_t indicator) {
  std::vector<double> right;
  for (const WarningSample& sample : samples) {
    if (!sample.is_wrong()) right.push_back(sample.indicators[indicator].second);
  }
  if (right.empty()) return 0.0;
  const std::size_t tenth = right.size() / 10;
  std::nth_element(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(tenth), right.end(),
                   std::greater<>());
  return right[tenth];
}

void print_families(const Samples& samples) {
  std::map<std::string, std::pair<int, int>> counts;
  for (const WarningSample& sample : samples) {
    for (const std::string& name : {sample.family, std::string("all")}) {
      ++counts[name].first;
      counts[name].second += sample.is_wrong();
    }
  }
  print_header({"scenes", "gradients", "wrong"});
  for (const auto& [name, count] : counts)
    print_row({name, fmt::format("{}", count.first), fmt::format("{}", count.second)});
}

}  // namespace

void print_warnings(const Options& options) {
  const Samples samples = samples_of(options.scenes);
  if (samples.empty()) return;
  print_families(samples);
  Samples chosen, held_out;
  for (std::size_t i = 0; i < samples.size(); ++i) (i % 2 == 0 ? chosen : held_out).push_back(samples[i]);
  // of the warning that there is, and of those that there were
  const std::map<std::string, double> limits{
      {"growth in a step", 10.0},
      {"growth relative to free motion", AdjointOptions().chaos_warning},
      {"share of a step's contacts near a kink", 0.1},
      {"steps on branches", 0.0}};
  fmt::print(
      "\nThresholds above which a tenth of the right gradients of one half lie; rates of the other "
      "half.\n\n");
  print_header({"of what", "threshold", "of wrong ones", "of right ones", "limit", "of all wrong ones",
                "of all right ones"});
  for (std::size_t i = 0; i < samples.front().indicators.size(); ++i) {
    const std::string& name = samples.front().indicators[i].first;
    const double threshold = threshold_of(chosen, i);
    std::vector<std::string> row{name, fmt::format("{:.2g}", threshold), rate(held_out, i, threshold, true),
                                 rate(held_out, i, threshold, false)};
    if (const auto limit = limits.find(name); limit == limits.end()) {
      row.insert(row.end(), 3, "");
    } else {
      row.insert(row.end(), {fmt::format("{:g}", limit->second), rate(samples, i, limit->second, true),
                             rate(samples, i, limit->second, false)});
    }
    print_row(row);
  }
}

}  // namespace abut::tables
