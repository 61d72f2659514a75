#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "tests/support/contact_wrench_cases.h"

int main(int argc, char** argv) {
  using namespace abut;
  using namespace abut::test;
  std::vector<Tessellation> tessellations;
  for (double cells : {4, 8, 12, 16, 32}) tessellations.push_back({1/cells, false});
  tessellations.push_back({1.0/12, true});
  const std::string filter = argc > 1 ? argv[1] : "";
  const double tau_p = argc > 2 ? std::stod(argv[2]) : 2e-3;
  for (const WrenchCase& c : all_wrench_cases()) {
    if (c.name.find(filter) == std::string::npos) continue;
    std::vector<TestScene> scenes;
    for (auto t : tessellations) {t.cell *= c.patch_width; scenes.push_back(c.scene(t));}
    for (const bool edges : {false, true}) {
      StepConfig config;
      config.contact.edge_edge = edges;
      config.contact.activity_smoothing = tau_p;
      std::vector<NetWrench> nets;
      std::string line;
      NetWrench smooth, sharp = pressure_wrench(c.patches, k_wrench_stiffness, 0.0, c.origin);
      for (const auto& scene : scenes) {
        const auto t0 = std::chrono::steady_clock::now();
        nets.push_back(net_contact_wrench(scene, config));
        const double sec = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
        smooth = pressure_wrench(c.patches, k_wrench_stiffness, nets.back().tau, c.origin);
        line += fmt::format(" | {:5.1f} {:5.1f} n{} e{} {:.1f}s", 100 * force_difference(nets.back(), smooth),
                            100 * arm_difference(nets.back(), smooth, c.patch_size), nets.back().contacts,
                            nets.back().edge_contacts, sec);
      }
      if (!edges)
        fmt::print("{}: F {:.3f} {:.3f} {:.3f}  sharp-smooth {:.1f} {:.1f}\n", c.name, smooth.force.x(), smooth.force.y(),
                   smooth.force.z(), 100 * force_difference(smooth, sharp), 100 * arm_difference(smooth, sharp, c.patch_size));
      fmt::print("   {}{}\n", edges ? "full" : "vert", line);
      std::fflush(stdout);
    }
  }
}
