#include <cmath>
#include <exception>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/truths.h"

namespace abut::tables {
namespace {

using namespace abut::test;

struct Case {
  std::string name, unit;
  std::function<Truth(const StepConfig&)> measure;
};

std::vector<Case> cases_of_every_law() {
  return {{"stop distance, box at 1.5 m/s, mu 0.5", "m",
           [](const StepConfig& config) { return SlidingBox{}.measured_distance(config); }},
          {"sphere that slid at 2 m/s rolls", "m/s",
           [](const StepConfig& config) { return SlidingSphere{}.measured_speed(config); }},
          {"box tips over on a tilting slope", "rad",
           [](const StepConfig& config) { return toppling_threshold(config); }},
          {"box slips, tan(slope)/mu", "-", [](const StepConfig& config) { return slip_threshold(config); }}};
}

std::vector<Case> other_cases() {
  std::vector<Case> cases;
  for (const double e : {0.0, 0.5, 0.9, 1.0}) {
    cases.push_back({fmt::format("bounce height after a fall of 0.2 m, e = {}", e), "m",
                     [e](const StepConfig& config) { return BouncingBall{.restitution = e}.apex(config); }});
  }
  for (const int of : {0, 1}) {
    cases.push_back({fmt::format("velocity of ball {} after an elastic exchange", of + 1), "m/s",
                     [of](const StepConfig& config) {
                       const State end = state_after(two_balls(), config, step_count(0.2, config));
                       return Truth{end.V_WB[static_cast<std::size_t>(of)][3], of == 0 ? 0.0 : 1.0};
                     }});
  }
  cases.push_back({"period of a pendulum, amplitude 1 rad", "s",
                   [](const StepConfig& config) { return Pendulum{}.measured_period(config); }});
  return cases;
}

std::string percent_or_difference(const Truth& truth) {
  return truth.exact == 0.0 ? fmt::format("{:.1e} (absolute)", truth.value)
                            : fmt::format("{:+.2f} %", 100.0 * truth.relative_error());
}

void print_default_law(const Options& options) {
  fmt::print("\nThe default law and settings, h = 2 ms.\n\n");
  print_header({"truth", "unit", "measured", "exact", "relative error"});
  const StepConfig config;
  std::vector<Case> cases = cases_of_every_law();
  for (Case& c : other_cases()) cases.push_back(std::move(c));
  for (const Case& c : cases) {
    const Truth truth = c.measure(config);
    print_row({c.name, c.unit, fmt::format("{:.6f}", truth.value), fmt::format("{:.6f}", truth.exact),
               percent_or_difference(truth)});
  }
  const TopRun top = free_top(config, options.top_steps);
  const std::string steps = fmt::format("free top, {} steps: ", options.top_steps);
  print_row({steps + "energy", "relative", fmt::format("{:.1e}", top.energy_error), "0", ""});
  print_row({steps + "angular momentum", "relative", fmt::format("{:.1e}", top.momentum_error), "0", ""});
}

void print_every_law() {
  fmt::print("\nRelative error of every law at its default settings, h = 2 ms.\n\n");
  std::vector<std::string> header{"law"};
  const std::vector<Case> cases = cases_of_every_law();
  for (const Case& c : cases) header.push_back(c.name);
  print_header(header);
  for (const auto& [name, law] : contact_laws()) {
    StepConfig config;
    config.law = law;
    std::vector<std::string> row{std::string(name)};
    for (const Case& c : cases) {
      try {
        const Truth truth = c.measure(config);
        row.push_back(std::isnan(truth.value) ? "never" : percent_or_difference(truth));
      } catch (const std::invalid_argument&) {  // a setting that the law ignores
        row.emplace_back("refused");
      } catch (const std::exception& error) {
        row.emplace_back(error.what());
      }
    }
    print_row(row);
  }
}

void print_creep() {
  constexpr double k_ratios[] = {0.1, 0.5, 0.9};
  fmt::print(
      "\nHow fast a box creeps down a slope [mm/s], by its tangent over the friction coefficient.\n\n");
  std::vector<std::string> header{"law", "h [ms]"};
  for (const double ratio : k_ratios) header.push_back(fmt::format("{:g}", ratio));
  print_header(header);
  for (const auto& [name, law] : contact_laws()) {
    for (const double h : {2e-3, 5e-4}) {
      StepConfig config;
      config.law = law;
      config.h = h;
      std::vector<std::string> row{std::string(name), fmt::format("{:g}", 1e3 * h)};
      for (const double ratio : k_ratios)
        row.push_back(fmt::format("{:.2g}", 1e3 * speeds_on_slope(config, ratio)[1]));
      print_row(row);
    }
  }
}

void print_rod() {
  fmt::print("\nA rod that slides at 2 m/s where rigid bodies have no solution (mu > 4/3), 1.5 s.\n\n");
  print_header({"law", "mu", "h [ms]", "largest energy / first", "largest speed / sqrt(2 E/m)",
                "largest penetration [mm]", "stops sliding after [ms]"});
  for (const auto& [name, law] : contact_laws()) {
    for (const double mu : {1.0, 1.6, 3.0}) {
      for (const double h : {2e-3, 5e-4}) {
        StepConfig config;
        config.law = law;
        config.h = h;
        std::vector<std::string> row{std::string(name), fmt::format("{}", mu), fmt::format("{}", 1e3 * h)};
        try {
          const RodRun run = painleve_rod(config, mu);
          for (const auto& cell :
               {fmt::format("{:.6f}", run.energy_ratio), fmt::format("{:.3f}", run.speed_ratio),
                fmt::format("{:.2f}", 1e3 * run.penetration), fmt::format("{:.1f}", 1e3 * run.catch_time)})
            row.push_back(cell);
        } catch (const std::exception& error) {
          row.insert(row.end(), {error.what(), "", "", ""});
        }
        print_row(row);
      }
    }
  }
}

/// A row of a table of least frictions: at default settings, and with a sharper one.
template <typename Leaning>
void print_least_friction(double degrees) {
  const Leaning leaning{degrees * std::numbers::pi / 180.0};
  StepConfig sharp;
  sharp.stiction_factor *= 0.1;
  std::vector<std::string> row{fmt::format("{}°", degrees)};
  for (const StepConfig& config : {StepConfig(), sharp})
    row.push_back(fmt::format("{:+.2f} %", 100.0 * leaning.measured_friction(config).relative_error()));
  print_row(row);
}

void print_ladder() {
  fmt::print("\nThe friction at which a ladder against a smooth wall slips, beside that of statics.\n\n");
  print_header({"angle from the vertical", "default settings", "stiction_factor / 10"});
  for (const double degrees : {15.0, 20.0, 30.0, 40.0, 50.0, 60.0}) print_least_friction<Ladder>(degrees);
}

void print_leaning_plates() {
  fmt::print(
      "\nThe friction at which two plates that lean against each other slip, beside that of statics.\n\n");
  print_header({"angle from the vertical", "default settings", "stiction_factor / 10"});
  for (const double degrees : {25.0, 45.0}) print_least_friction<LeaningPlates>(degrees);
}

}  // namespace

void print_truths(const Options& options) {
  print_default_law(options);
  print_every_law();
  print_creep();
  print_rod();
  print_ladder();
  print_leaning_plates();
}

void print_springs(const Options&) {
  fmt::print("\nA ball at rest on a spring: what is measured, by what is exact.\n\n");
  print_header({"law", "h [ms]", "depth", "its derivative by k"});
  for (const ContactLaw law : {ContactLaw::smooth_coulomb, ContactLaw::convex_cone, ContactLaw::lcp,
                               ContactLaw::relaxed_complementarity}) {
    for (const double h : {1e-2, 1e-3, 1e-4, 1e-5}) {
      StepConfig config;
      config.law = law;
      config.h = h;
      const auto [depth, by_stiffness] = ElasticSupport().measured(config);
      print_row({std::string(to_string(law)), fmt::format("{:g}", 1e3 * h),
                 fmt::format("{:.6f}", depth.value / depth.exact),
                 fmt::format("{:.6f}", by_stiffness.value / by_stiffness.exact)});
    }
  }
}

}  // namespace abut::tables
