#include "engine/config.h"

#include <array>
#include <cmath>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/config_fields.h"

namespace abut {
namespace {

using Number = double& (*)(StepConfig&);
using Count = int& (*)(StepConfig&);

constexpr std::array<StepConfigField, 13> k_fields{{
    {"time_step", Number([](StepConfig& c) -> double& { return c.h; })},
    {"near_rigid_factor", Number([](StepConfig& c) -> double& { return c.near_rigid_factor; })},
    {"dissipation_steps", Number([](StepConfig& c) -> double& { return c.dissipation_steps; })},
    {"stiction_factor", Number([](StepConfig& c) -> double& { return c.stiction_factor; })},
    {"normal_smoothing_factor", Number([](StepConfig& c) -> double& { return c.normal_smoothing_factor; })},
    {"acceleration_scale", Number([](StepConfig& c) -> double& { return c.acceleration_scale; }), 0.0, true},
    {"push_out_factor", Number([](StepConfig& c) -> double& { return c.push_out_factor; })},
    {"friction_repeats", Count([](StepConfig& c) -> int& { return c.friction_repeats; }), 1},
    {"tolerance", Number([](StepConfig& c) -> double& { return c.tolerance; })},
    {"max_iterations", Count([](StepConfig& c) -> int& { return c.max_iterations; }), 1},
    {"penalty_stiffness", Number([](StepConfig& c) -> double& { return c.penalty_stiffness; })},
    {"penalty_stiction_factor", Number([](StepConfig& c) -> double& { return c.penalty_stiction_factor; })},
    {"activity_smoothing", Number([](StepConfig& c) -> double& { return c.contact.activity_smoothing; })},
}};

/// Does not compile once a structure has a member more: which then needs a line above, and in
/// docs/scene_format.md.
[[maybe_unused]] void list_is_complete(const StepConfig& config) {
  [[maybe_unused]] const auto& [h, law, near_rigid_factor, dissipation_steps, stiction_factor,
                                normal_smoothing_factor, acceleration_scale, push_out_factor,
                                friction_repeats, tolerance, max_iterations, penalty_stiffness,
                                penalty_stiction_factor, contact] = config;
}

}  // namespace

std::span<const StepConfigField> step_config_fields() { return k_fields; }

void validate(const StepConfig& config) {
  std::string problems;
  const auto add = [&](std::string_view key, auto value, std::string_view allowed) {
    problems += fmt::format("{}{} = {}, allowed: {}", problems.empty() ? "" : "; ", key, value, allowed);
  };
  StepConfig copy = config;  // the list gives access for writing
  for (const StepConfigField& field : k_fields) {
    if (const auto* number = std::get_if<Number>(&field.get)) {
      const double value = (*number)(copy);
      const bool is_default = field.negative_means_default && value < 0.0;
      if (!std::isfinite(value) || !(value > field.lower || is_default)) {
        add(field.key, value,
            fmt::format("> {}, finite{}", field.lower,
                        field.negative_means_default ? ", or negative for the default" : ""));
      }
    } else {
      const int value = std::get<Count>(field.get)(copy);
      if (value < field.lower) add(field.key, value, fmt::format(">= {}", field.lower));
    }
  }
  constexpr int k_most_repeats = 100;
  if (config.friction_repeats > k_most_repeats) {
    add("friction_repeats", config.friction_repeats, fmt::format("<= {}", k_most_repeats));
  }
  if (config.law != ContactLaw::smooth_coulomb && config.law != ContactLaw::penalty) {
    add("law", static_cast<int>(config.law), "a ContactLaw");
  }
  require(problems.empty(), problems);
}

}  // namespace abut
