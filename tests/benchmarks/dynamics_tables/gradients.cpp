#include <functional>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/truths.h"

namespace abut::tables {
namespace {

using namespace abut::test;

constexpr double k_bounce_time = 0.4;

/// d(velocity of a ball)/d(velocity of the first before).
Truth exchange(const StepConfig& config, std::size_t of) {
  const EndGradient end = end_gradient(
      two_balls(), config, step_count(0.2, config), [](const State&) { return 0.0; },
      [of](const State&, StateTangent& bar) { bar.twist[of][3] += 1.0; });
  return {end.by.initial.twist[0][3], of == 0 ? 0.0 : 1.0};
}

}  // namespace

std::vector<KnownGradient> known_gradients() {
  const auto bounce_gradient = [](const StepConfig& config) {
    return BouncingBall{}.gradient(config, k_bounce_time);
  };
  const Pendulum pendulum;
  std::vector<KnownGradient> list{
      {"stop distance by speed",
       [](const StepConfig& config) {
         const SlidingBox box;
         return Truth{box.gradient(config).by.initial.twist[1][3], box.distance_by_speed()};
       }},
      {"stop distance by friction",
       [](const StepConfig& config) {
         const SlidingBox box;
         return Truth{by_common_friction(box.gradient(config).by), box.distance_by_friction()};
       }},
      {"rolling speed by sliding speed",
       [](const StepConfig& config) {
         return Truth{SlidingSphere{}.speed_gradient(config).by.initial.twist[1][3], 5.0 / 7.0};
       }},
      {"rolling speed by friction",
       [](const StepConfig& config) {
         return Truth{by_common_friction(SlidingSphere{}.speed_gradient(config).by), 0.0};
       }},
      {"way of the sphere by friction",
       [](const StepConfig& config) {
         const SlidingSphere sphere;
         return Truth{by_common_friction(sphere.distance_gradient(config).by), sphere.distance_by_friction()};
       }},
      {"height after a bounce by height before",
       [=](const StepConfig& config) {
         return Truth{bounce_gradient(config).by.initial.pose[1][5], BouncingBall{}.by_gap(k_bounce_time)};
       }},
      {"height after a bounce by e",
       [=](const StepConfig& config) {
         const EndGradient end = bounce_gradient(config);
         return Truth{end.by.model.bodies[0].restitution + end.by.model.bodies[1].restitution,
                      BouncingBall{}.by_restitution(k_bounce_time)};
       }},
      {"exchange: velocity of ball 1 by that of ball 1",
       [](const StepConfig& config) { return exchange(config, 0); }},
      {"exchange: velocity of ball 2 by that of ball 1",
       [](const StepConfig& config) { return exchange(config, 1); }}};
  const char* const by[] = {"start angle", "start rate", "arm"};
  for (int i = 0; i < 3; ++i) {
    list.push_back(
        {fmt::format("pendulum's angle after 1 s by its {}", by[i]), [=](const StepConfig& config) {
           return Truth{pendulum.gradient(config, 1.0)[i], pendulum.exact_gradient(1.0)[i]};
         }});
  }
  return list;
}

namespace {

std::string error_text(const Truth& truth) {
  return truth.exact == 0.0 ? fmt::format("{:+.1e} (absolute)", truth.value)
                            : fmt::format("{:+.3f} %", 100.0 * truth.relative_error());
}

/// A table of errors with a column for each config.
void print_errors(const std::vector<KnownGradient>& list, const std::vector<std::string>& header,
                  const std::vector<StepConfig>& configs) {
  print_header(header);
  for (const KnownGradient& c : list) {
    std::vector<std::string> row{c.name};
    for (const StepConfig& config : configs) row.push_back(error_text(c.measure(config)));
    print_row(row);
  }
}

}  // namespace

void print_gradients(const Options&) {
  fmt::print("\nThe default law and settings, h = 2 ms.\n\n");
  print_header({"gradient", "adjoint", "exact", "relative error"});
  const std::vector<KnownGradient> list = known_gradients();
  for (const KnownGradient& c : list) {
    const Truth truth = c.measure({});
    print_row(
        {c.name, fmt::format("{:.6f}", truth.value), fmt::format("{:.6f}", truth.exact), error_text(truth)});
  }

  fmt::print("\nRelative error by the time step.\n\n");
  std::vector<std::string> header{"gradient"};
  std::vector<StepConfig> configs;
  for (const double h : {8e-3, 4e-3, 2e-3, 1e-3, 5e-4}) {
    configs.emplace_back().h = h;
    header.push_back(fmt::format("h = {} ms", 1e3 * h));
  }
  print_errors(list, header, configs);

  const std::vector<KnownGradient> with_contact(list.begin(), list.begin() + 9);
  fmt::print("\nRelative error by `stiction_factor`, h = 0.5 ms.\n\n");
  header = {"gradient"};
  configs.clear();
  for (const double factor : {1.0, 0.1, 0.01, 0.001, 1e-4}) {
    StepConfig& config = configs.emplace_back();
    config.h = 5e-4;
    config.stiction_factor = factor;
    header.push_back(fmt::format("{:g}", factor));
  }
  print_errors({list.begin(), list.begin() + 5}, header, configs);

  fmt::print("\nRelative error by `normal_smoothing_factor`, h = 0.5 ms.\n\n");
  header = {"gradient"};
  configs.clear();
  for (const double factor : {0.5, 0.1, 0.02, 0.005, 0.001}) {
    StepConfig& config = configs.emplace_back();
    config.h = 5e-4;
    config.normal_smoothing_factor = factor;
    header.push_back(fmt::format("{:g}", factor));
  }
  print_errors(with_contact, header, configs);
}

}  // namespace abut::tables
