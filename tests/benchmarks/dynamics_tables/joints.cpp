#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/rollout.h"
#include "engine/check.h"
#include "engine/joint_geometry.h"
#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/mechanisms.h"

namespace abut::tables {
namespace {

/// What became of a mechanism that was let go at rest.
struct Fall {
  double gap = 0.0;     ///< largest of its joints [m]
  double energy = 0.0;  ///< largest |E - E(0)| [J]
};

Fall fall(const test::Mechanism& mechanism, double h, double seconds) {
  const Model& model = mechanism.model;
  StepConfig config;
  config.h = h;
  State start = state_at_rest(model.body_count()), end;
  start.X_WB = mechanism.X_WB;
  const double energy = mechanical_energy(model, start);
  Fall result;
  const StepReport report =
      simulate(Stepper(model, config), start, static_cast<int>(std::lround(seconds / h)), {}, end,
               [&](int, const State& state, const StepReport&) {
                 result.energy = std::max(result.energy, std::abs(mechanical_energy(model, state) - energy));
                 for (const Joint& joint : model.joints)
                   result.gap = std::max(result.gap, joint_error(joint, state).position);
                 return true;
               });
  require(report.status == StepStatus::ok, "a mechanism failed");
  return result;
}

}  // namespace

void print_joints(const Options&) {
  const std::vector<std::pair<std::string, test::Mechanism>> mechanisms = {
      {"arm of 7 hinges", test::arm7()},
      {"chain of 6", test::chain(6, 0.2, 0.02, 0.3)},
      {"chain of 30", test::chain(30, 0.1, 0.01, 0.1)},
      {"5 links of 3 g, a load of 20 kg", test::light_chain_with_load()}};
  constexpr double k_seconds = 10.0;
  print_header({"mechanism", "largest gap, 2 ms [m]", "largest energy error, 2 ms [J]", "0.5 ms [J]"});
  for (const auto& [name, mechanism] : mechanisms) {
    const Fall coarse = fall(mechanism, 2e-3, k_seconds), fine = fall(mechanism, 5e-4, k_seconds);
    print_row({name, fmt::format("{:.0e}", coarse.gap), fmt::format("{:.2g}", coarse.energy),
               fmt::format("{:.2g}", fine.energy)});
  }
}

}  // namespace abut::tables
