/// abut_contact_wrench [--case PART] [--cells N ...] [--activity-smoothing TAU] [--law LAW]: exit codes as
/// those of `abut`.
#include <exception>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "tests/support/contact_wrench_cases.h"

namespace {

using namespace abut;
using namespace abut::test;

struct Options {
  std::string part;                             ///< of the names of the cases
  std::vector<double> cells{4, 8, 16, 24, 32};  ///< across the narrowest extent of the patch
  double irregular_cells = 16, spread_from = 16;
  StepConfig config;
};

std::vector<WrenchCase> chosen_cases(const std::string& part) {
  std::vector<WrenchCase> chosen;
  for (auto& list : {box_wrench_cases(), cylinder_wrench_cases(), interlocking_wrench_cases()}) {
    for (const WrenchCase& c : list) {
      if (c.name.find(part) != std::string::npos) chosen.push_back(c);
    }
  }
  return chosen;
}

std::string percent(double force, double arm) {
  return fmt::format("{:.1f} / {:.1f}", 100.0 * force, 100.0 * arm);
}

void print_table(const WrenchSetting& setting, const std::vector<WrenchCase>& cases, const Options& options) {
  fmt::print("\n{}\n\n| case | force [N] | activity |", setting.name);
  for (const double cells : options.cells) fmt::print(" {} |", cells);
  fmt::print(" {} irregular | spread |\n| --- | --- | --- |", options.irregular_cells);
  for (std::size_t i = 0; i < options.cells.size() + 2; ++i) fmt::print(" --- |");
  fmt::print("\n");
  for (const WrenchCase& c : cases) {
    StepConfig config = options.config;
    const double activity_smoothing = config.contact.activity_smoothing;
    config.contact = setting.contact;
    config.contact.activity_smoothing = activity_smoothing;
    std::vector<NetWrench> nets, spread_over;
    for (const double cells : options.cells) {
      nets.push_back(net_contact_wrench(c.scene(tessellation_of(c, cells)), config));
      if (cells >= options.spread_from) spread_over.push_back(nets.back());
    }
    nets.push_back(net_contact_wrench(c.scene(tessellation_of(c, options.irregular_cells, true)), config));
    spread_over.push_back(nets.back());
    const NetWrench smooth = pressure_wrench(c.patches, k_wrench_stiffness, nets.back().tau, c.origin),
                    foundation = pressure_wrench(c.patches, k_wrench_stiffness, 0.0, c.origin);
    fmt::print(
        "| {} | {:.2f} | {} |", c.name, foundation.force.norm(),
        percent(force_difference(smooth, foundation), arm_difference(smooth, foundation, c.patch_size)));
    for (const NetWrench& net : nets)
      fmt::print(" {} |", percent(force_difference(net, smooth), arm_difference(net, smooth, c.patch_size)));
    const WrenchSpread over = spread(spread_over, smooth, c.patch_size);
    fmt::print(" {} |\n", percent(over.force, over.arm));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Prints how far net contact wrenches are from those of the analytic pressure: docs/contact_wrench.md.",
      "abut_contact_wrench");
  Options options;
  std::string law = "smooth_coulomb";
  app.add_option("--case", options.part, "part of the names of the cases to show; default: all");
  app.add_option("--cells", options.cells, "cells across the narrowest extent of the patch")
      ->capture_default_str();
  app.add_option("--activity-smoothing", options.config.contact.activity_smoothing, "tau_p of ContactConfig")
      ->capture_default_str();
  app.add_option("--law", law, "contact law")
      ->check(CLI::IsMember({"smooth_coulomb", "penalty"}))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  options.config.law = law == "penalty" ? ContactLaw::penalty : ContactLaw::smooth_coulomb;
  try {
    validate(options.config);
    const std::vector<WrenchCase> cases = chosen_cases(options.part);
    if (cases.empty()) {
      fmt::print(stderr, "abut_contact_wrench: no case is named like '{}'\n", options.part);
      return 2;
    }
    fmt::print("Differences of force, relative to it, and of its arm, relative to the patch [%].\n");
    for (const WrenchSetting& setting : wrench_settings()) print_table(setting, cases, options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "abut_contact_wrench: {}\n", error.what());
    return 1;
  }
  return 0;
}
