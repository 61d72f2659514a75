/// The table of how poses after a few steps with impacts depend on the initial state: along paths of it,
/// where they jump, and what happens there.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/rollout.h"
#include "dynamics/step/step_memory.h"
#include "engine/lie.h"
#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/random_drops.h"
#include "tests/support/watched_run.h"

namespace abut::tables {
namespace {

using namespace abut::test;

/// The pairs that close in an impact, and the moving bodies that take part in its solution.
struct Impact {
  std::vector<std::pair<int, int>> pairs;
  std::vector<int> bodies;
  int step = 0;
  double restitution_share = 1.0;  ///< that the bound of energy of its group leaves
  bool is_repeated = false, is_last = false;

  [[nodiscard]] bool closes(const std::pair<int, int>& pair) const {
    return std::find(pairs.begin(), pairs.end(), pair) != pairs.end();
  }
  [[nodiscard]] bool has_body_of(const Impact& other) const {
    return std::any_of(bodies.begin(), bodies.end(), [&](int body) {
      return std::find(other.bodies.begin(), other.bodies.end(), body) != other.bodies.end();
    });
  }
  [[nodiscard]] auto flags() const { return std::tie(is_last, restitution_share, step, is_repeated); }
};

struct Outcome {
  bool has_failed = false;
  std::vector<Vec6<double>> poses;  ///< of the bodies, against those at the start
  std::vector<Impact> impacts;      ///< in their order
};

Outcome outcome_of(const TestScene& scene, const State& start, const StepConfig& config, int steps) {
  Outcome out;
  StepScratch scratch;
  State end;
  const StepReport report =
      simulate(Stepper(scene.model, config), start, steps, {}, end, scratch,
               [&](int index, const State&, const StepReport& step) {
                 const PhasesMemory& phases = scratch.memory().phases;
                 for (std::size_t k = 0; step.impacts > 0 && k < phases.event_count; ++k) {
                   const PhaseEvent& event = phases.events[k];
                   if (!event.has_impact()) continue;
                   Impact impact{{}, {}, index, event.restitution_share, event.is_repeated, event.is_last};
                   for (const int p : event.closing)
                     impact.pairs.emplace_back(phases.pairs[at(p)].body_A, phases.pairs[at(p)].body_B);
                   for (const RowPair& pair : event.rows.pairs) {
                     if (pair.slot_A >= 0) impact.bodies.push_back(pair.body_A);
                     if (pair.slot_B >= 0) impact.bodies.push_back(pair.body_B);
                   }
                   out.impacts.push_back(std::move(impact));
                 }
                 return step.status == StepStatus::ok;
               });
  out.has_failed = report.status != StepStatus::ok;
  for (std::size_t b = 0; b < end.X_WB.size(); ++b)
    out.poses.push_back(difference(end.X_WB[b], scene.state.X_WB[b]));
  return out;
}

double distance(const Outcome& a, const Outcome& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.poses.size(); ++i)
    largest = std::max(largest, (a.poses[i] - b.poses[i]).norm());
  return largest;
}

/// Whether all that closes in the impact k of `from`, but not in that of `to`, closes there later in the
/// step.
bool close_later(const Outcome& from, const Outcome& to, std::size_t k) {
  const Impact& impact = from.impacts[k];
  return std::all_of(impact.pairs.begin(), impact.pairs.end(), [&](const std::pair<int, int>& pair) {
    return std::any_of(to.impacts.begin() + static_cast<std::ptrdiff_t>(k), to.impacts.end(),
                       [&](const Impact& x) { return x.step == impact.step && x.closes(pair); });
  });
}

/// The first difference between the two sides of a jump.
std::string cause_of(const Outcome& a, const Outcome& b) {
  if (a.has_failed || b.has_failed) return "a step failed";
  const std::size_t common = std::min(a.impacts.size(), b.impacts.size());
  std::size_t k = 0;
  while (k < common && a.impacts[k].pairs == b.impacts[k].pairs &&
         a.impacts[k].flags() == b.impacts[k].flags())
    ++k;
  if (k == a.impacts.size() && k == b.impacts.size()) return "nothing";
  if (k == common) return "an impact more or less";
  const Impact &x = a.impacts[k], &y = b.impacts[k];
  if (x.is_last != y.is_last) return "impacts cut short";
  if (x.restitution_share != y.restitution_share) return "bound of a group";
  if (x.pairs == y.pairs)
    return x.step != y.step ? "an impact passes from one step to the next" : "repeated closings";
  if (!close_later(a, b, k) || !close_later(b, a, k)) return "an impact more or less";
  return x.has_body_of(y) ? "order of impacts that share a body" : "order of impacts without a common body";
}

}  // namespace

void print_impact_continuity(const Options& options) {
  constexpr int k_points = 200, k_halvings = 40;
  constexpr double k_jump = 1e-7, k_seconds = 0.02;
  fmt::print(
      "\nPaths of initial states (speeds change by 0.2 m/s and 2 rad/s): jumps of poses {:g} ms later that "
      "are "
      "larger "
      "than {:g} m or rad and remain when the path is halved {} times, by what is different on both "
      "sides.\n\n",
      1e3 * k_seconds, k_jump, k_halvings);
  print_header({"law", "h [ms]", "paths", "impacts", "what changes", "jumps", "largest"});
  for (const auto& [name, law] : contact_laws()) {
    if (setting_use("restitution", law) != SettingUse::honoured) continue;
    if (!options.law.empty() && options.law != name) continue;
    for (const double h : {2e-3, 1e-2}) {
      StepConfig config = config_with_step(h);
      config.law = law;
      const int steps = static_cast<int>(std::lround(k_seconds / h)), paths = std::max(1, options.drops / 5);
      std::map<std::string, std::pair<int, double>> jumps;
      long impacts = 0;
      for (int path = 0; path < paths; ++path) {
        Random random(static_cast<std::uint64_t>(1 + path));
        TestScene scene = random_drop(random);
        settle(scene, config, 20);
        // From just before the first impact.
        StepScratch scratch;
        State start = scene.state, end;
        (void)simulate(Stepper(scene.model, config), scene.state, 400, {}, end, scratch,
                       [&](int, const State& state, const StepReport& step) {
                         if (step.impacts == 0) start = state;
                         return step.impacts == 0 && step.status == StepStatus::ok;
                       });
        scene.state = start;
        const Vec6<double> way = stack<double>(random_vector(random, 2.0), random_vector(random, 0.2));
        const auto at_path = [&](double s) {
          State state = start;
          state.V_WB.back() += s * way;
          return outcome_of(scene, state, config, steps);
        };
        Outcome before = at_path(0.0);
        for (int i = 1; i <= k_points; ++i) {
          const Outcome after = at_path(i / double{k_points});
          impacts += static_cast<long>(after.impacts.size());
          Outcome low = before, high = after;
          double a = (i - 1) / double{k_points}, b = i / double{k_points};
          // Towards the half in which more happens.
          for (int k = 0; k < k_halvings && distance(low, high) > k_jump; ++k) {
            const double middle = 0.5 * (a + b);
            Outcome between = at_path(middle);
            if (distance(low, between) > distance(between, high)) {
              high = std::move(between);
              b = middle;
            } else {
              low = std::move(between);
              a = middle;
            }
          }
          if (const double jump = distance(low, high); jump > k_jump) {
            auto& [count, largest] = jumps[cause_of(low, high)];
            ++count;
            largest = std::max(largest, jump);
          }
          before = after;
        }
      }
      if (jumps.empty()) jumps["-"] = {0, 0.0};
      for (const auto& [cause, of_cause] : jumps) {
        print_row({std::string(name), fmt::format("{:g}", 1e3 * h), fmt::format("{}", paths),
                   fmt::format("{}", impacts), cause, fmt::format("{}", of_cause.first),
                   fmt::format("{:.1e}", of_cause.second)});
      }
      std::fflush(stdout);
    }
  }
}

}  // namespace abut::tables
