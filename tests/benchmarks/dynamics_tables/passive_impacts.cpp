/// The table of what impacts do to kinetic energy, with Newton's restitution and with passive impacts.
#include <spdlog/fmt/fmt.h>

#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/impacts.h"

namespace abut::tables {

void print_passive_impacts(const Options&) {
  constexpr int k_throws = 100;
  constexpr double k_counts = 1e-6;
  print_header({"h [ms]", "e", "mu", "throws that gain", "largest gain", "largest gain, passive impacts"});
  for (const double h : {1e-3, 1e-2}) {
    for (const double restitution : {0.9, 1.0}) {
      for (const double friction : {0.0, 0.3, 1.0}) {
        int gaining = 0;
        double largest[2] = {0.0, 0.0};
        for (std::uint64_t seed = 1; seed <= k_throws; ++seed) {
          for (const bool passive : {false, true}) {
            Random random(seed);
            const test::TestScene scene = test::thrown_bodies(test::ThrownKind::box, test::ThrownKind::box,
                                                              restitution, friction, random);
            StepConfig config = test::impact_config(h);
            config.passive_impacts = passive;
            const double gain = test::largest_gain(
                scene, rollout(Stepper(scene.model, config), scene.state, static_cast<int>(0.12 / h)),
                config);
            largest[passive] = std::max(largest[passive], gain);
            gaining += !passive && gain > k_counts;
          }
        }
        print_row({fmt::format("{}", 1e3 * h), fmt::format("{}", restitution), fmt::format("{}", friction),
                   fmt::format("{} of {}", gaining, k_throws), fmt::format("{:.2f} %", 100.0 * largest[0]),
                   fmt::format("{:.0e} %", 100.0 * largest[1])});
      }
    }
  }
}

}  // namespace abut::tables
