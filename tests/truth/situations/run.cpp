#include "tests/truth/situations/run.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/rollout.h"

namespace abut::truth {

namespace {

constexpr double k_small = 0.03, k_middle = 0.1, k_large = 0.3;  // L [m]
constexpr double k_long = 2e-3, k_short = 1e-3;                  // h [s]

/// A law or detector other than the default.
Column column(std::string name, ContactLaw law, const std::function<void(ContactConfig&)>& change = {}) {
  Column result;
  result.name = std::move(name);
  result.config.law = law;
  if (change) change(result.config.contact);
  result.scales = {{k_middle, k_long}};
  return result;
}

/// The default law and detector, at every size and step.
Column default_column() {
  Column result;
  result.name = "default";
  result.scales.clear();
  for (const double L : {k_small, k_middle, k_large}) {
    for (const double h : {k_long, k_short}) result.scales.push_back({L, h});
  }
  return result;
}

/// So slow that it runs with the first kind of each situation only.
Column frank_wolfe_column() {
  Column result = column("frank_wolfe", ContactLaw::smooth_coulomb,
                         [](ContactConfig& c) { c.detector = DetectorKind::frank_wolfe; });
  result.is_slow = true;
  return result;
}

/// A run by Abut.
Recording record(const Setup& setup, StepConfig config, double h, int steps) {
  config.h = h;
  Recording recording;
  std::optional<Stepper> stepper;
  try {
    stepper.emplace(setup.scene.model, config);
  } catch (
      const std::invalid_argument& refusal) {  // a detector without such shapes, a law without restitution
    recording.refusal = refusal.what();
    return recording;
  }
  recording.motion.h = h;
  recording.motion.states.push_back(setup.scene.state);
  State end;
  const StepReport report = simulate(*stepper, setup.scene.state, steps, {}, end,
                                     [&](int, const State& state, const StepReport& step) {
                                       recording.motion.states.push_back(state);
                                       for (const StepWarning& warning : step.warnings)
                                         recording.is_warned |= warning.is_given();
                                       return true;
                                     });
  if (report.status != StepStatus::ok) recording.failure = to_string(report.status);
  return recording;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// Lines of four fields, parted by " | "; '#' begins a comment.
std::vector<std::array<std::string, 4>> read_fields(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::vector<std::array<std::string, 4>> lines;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    std::array<std::string, 4> fields;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t end = i == 3 ? line.size() : line.find('|', begin);
      if (end == std::string::npos || begin > end)
        throw std::runtime_error(fmt::format("{}:{}: not four fields", path.string(), number));
      fields[i] = trimmed(line.substr(begin, end - begin));
      begin = end + 1;
    }
    lines.push_back(std::move(fields));
  }
  return lines;
}

}  // namespace

const State& Motion::at(double time) const {
  const auto k = static_cast<std::size_t>(std::lround(time / h));
  return states[std::min(k, states.size() - 1)];
}

Vec3<double> Motion::displacement(int body) const {
  const auto b = static_cast<std::size_t>(body);
  return last().X_WB[b].p - first().X_WB[b].p;
}

double Motion::turn(int body) const {
  const auto b = static_cast<std::size_t>(body);
  return last().X_WB[b].q.angularDistance(first().X_WB[b].q);
}

const std::vector<Situation>& situations() {
  static const Situations all = [] {
    Situations list;
    for (const auto add : {add_slides, add_rolls, add_rests, add_stacks, add_falls, add_tips, add_bounces,
                           add_strikes, add_joints, add_spins, add_carries, add_pinches})
      add(list);
    return list;
  }();
  return all;
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all{
      default_column(),
      column("penalty", ContactLaw::penalty),
      column("convex_cone", ContactLaw::convex_cone),
      column("impedance", ContactLaw::impedance),
      column("lcp", ContactLaw::lcp),
      column("relaxed_complementarity", ContactLaw::relaxed_complementarity),
      column("edge_edge = false", ContactLaw::smooth_coulomb, [](ContactConfig& c) { c.edge_edge = false; }),
      column("edge_sdf", ContactLaw::smooth_coulomb, [](ContactConfig& c) { c.edge_sdf = true; }),
      column("gjk", ContactLaw::smooth_coulomb, [](ContactConfig& c) { c.detector = DetectorKind::gjk; }),
      column("proximity_qp", ContactLaw::smooth_coulomb,
             [](ContactConfig& c) { c.detector = DetectorKind::proximity_qp; }),
      frank_wolfe_column()};
  return all;
}

std::string cell_name(const Case& at) {
  return fmt::format("{} | {} | {}", at.situation->name, at.kind, at.column->name);
}

std::string scale_name(const Case& at) {
  return fmt::format("{:g}cm@{:g}ms", 100.0 * at.scale.L, 1000.0 * at.scale.h);
}

std::vector<Case> cases(const std::string& filter, const std::vector<Column>& of) {
  std::vector<Case> all;
  for (const Situation& situation : situations()) {
    if (situation.name.find(filter) == std::string::npos) continue;
    for (const std::string& kind : situation.kinds) {
      for (const Column& column : of) {
        if (column.is_slow && kind != situation.kinds.front()) continue;
        for (const Scale& scale : column.scales) all.push_back({&situation, kind, &column, scale});
      }
    }
  }
  return all;
}

Outcome run(const Case& at) {
  const Setup setup = at.situation->build(at.kind, at.scale);
  const double h = at.scale.h;
  const int steps = std::max(1, static_cast<int>(std::lround(setup.seconds / h)));
  Outcome outcome;
  outcome.exact = setup.exact;
  const Recording recording =
      at.column->record ? at.column->record(setup, h, steps) : record(setup, at.column->config, h, steps);
  if (!recording.refusal.empty()) {
    outcome.verdict = Verdict::is_refused;
    outcome.failure = recording.refusal;
    return outcome;
  }
  outcome.is_warned = recording.is_warned;
  outcome.failure = recording.failure;
  if (recording.failure.empty()) {
    outcome.measured = setup.measure(recording.motion);
    outcome.error = std::abs(outcome.measured - outcome.exact) / setup.tolerance;
  } else {
    outcome.measured = outcome.error = std::numeric_limits<double>::infinity();
    outcome.is_warned = true;
  }
  outcome.verdict = outcome.error <= 1.0 ? Verdict::is_true : Verdict::is_wrong;  // NaN is wrong
  return outcome;
}

std::vector<Outcome> run_all(const std::vector<Case>& cases, int threads) {
  std::vector<Outcome> outcomes(cases.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) outcomes[i] = run(cases[i]);
  };
  std::vector<std::jthread> workers;
  for (int t = 1; t < threads; ++t) workers.emplace_back(work);
  work();
  return (workers.clear(), outcomes);  // joined
}

Marks read_marks(const std::filesystem::path& path) {
  Marks marks;
  for (const auto& [situation, kind, column, scales] : read_fields(path))
    marks.emplace(fmt::format("{} | {} | {}", situation, kind, column), " " + scales + " ");
  return marks;
}

bool is_marked(const Marks& marks, const Case& at) {
  const auto found = marks.find(cell_name(at));
  return found != marks.end() && found->second.find(" " + scale_name(at) + " ") != std::string::npos;
}

std::vector<Reason> read_reasons(const std::filesystem::path& path) {
  std::vector<Reason> reasons;
  for (const auto& [situation, kind, column, text] : read_fields(path))
    reasons.push_back({situation, kind, column, text});
  return reasons;
}

const Reason* reason_of(const std::vector<Reason>& reasons, const std::string& cell) {
  const std::size_t first = cell.find(" | "), second = cell.find(" | ", first + 3);
  const std::string situation = cell.substr(0, first), kind = cell.substr(first + 3, second - first - 3),
                    column = cell.substr(second + 3);
  const auto matches = [](const std::string& pattern, const std::string& text) {
    return pattern == "*" || text.find(pattern) != std::string::npos;
  };
  for (const Reason& reason : reasons) {
    if (matches(reason.situation, situation) && matches(reason.kind, kind) && matches(reason.column, column))
      return &reason;
  }
  return nullptr;
}

}  // namespace abut::truth
