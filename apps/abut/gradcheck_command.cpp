#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/commands.h"
#include "apps/abut/options.h"
#include "apps/abut/progress_bar.h"
#include "apps/abut/report.h"
#include "dynamics/gradient_check.h"
#include "dynamics/simulator.h"
#include "engine/scene_io.h"

namespace abut {
namespace {

struct GradcheckArguments {
  std::filesystem::path scene;
  std::optional<int> steps;
  int samples = GradientCheckConfig().samples;
  std::uint64_t seed = GradientCheckConfig().seed;
  bool json = false;
};

/// The samples of one group, and how much its inputs matter: the largest derivative, relative to the most
/// sensitive group.
struct GroupSummary {
  std::string group;
  GradientCheckSummary summary;
  double sensitivity = 0.0;
};

std::vector<GroupSummary> summarize_groups(const std::vector<GradientSample>& samples) {
  std::vector<GroupSummary> groups;
  for (const GradientSample& first : samples) {
    if (std::any_of(groups.begin(), groups.end(),
                    [&](const auto& group) { return group.group == first.group; }))
      continue;
    std::vector<GradientSample> of_group;
    GroupSummary group{first.group, {}, 0.0};
    for (const GradientSample& sample : samples) {
      if (sample.group != first.group) continue;
      of_group.push_back(sample);
      if (sample.largest > 0.0)
        group.sensitivity = std::max(group.sensitivity, std::abs(sample.adjoint) / sample.largest);
    }
    group.summary = summarize(of_group);
    groups.push_back(std::move(group));
  }
  return groups;
}

Json json_of(const GradientCheckSummary& s) {
  return {{"samples", s.samples},
          {"median_relative_error", s.median_relative_error},
          {"p99_relative_error", s.p99_relative_error},
          {"max_relative_error", s.max_relative_error},
          {"non_finite", s.non_finite},
          {"unresolved", s.unresolved}};
}

Json json_of(const GradientCheck& check) {
  Json groups = Json::array();
  for (const GroupSummary& group : summarize_groups(check.samples)) {
    Json object = {{"group", group.group}, {"sensitivity", group.sensitivity}};
    object.update(json_of(group.summary));
    groups.push_back(std::move(object));
  }
  Json json = json_of(check.summary);
  json["groups"] = std::move(groups);
  return json;
}

void print_table(const std::string& scene, int steps, double dt, std::uint64_t seed,
                 const GradientCheck& check) {
  fmt::print("{}: adjoint of {} steps of {:.6g} s against central differences, seed {}\n", scene, steps, dt,
             seed);
  Table table(
      {"group", "samples", "sensitivity", "median error", "largest error", "unresolved", "not finite"});
  for (const GroupSummary& group : summarize_groups(check.samples)) {
    const GradientCheckSummary& s = group.summary;
    table.add({group.group, fmt::format("{}", s.samples), fmt::format("{:.1e}", group.sensitivity),
               fmt::format("{:.1e}", s.median_relative_error), fmt::format("{:.1e}", s.max_relative_error),
               fmt::format("{}", s.unresolved), fmt::format("{}", s.non_finite)});
  }
  fmt::print("{}", table.text());
  const GradientCheckSummary& s = check.summary;
  fmt::print(
      "relative error of {} samples: median {:.1e}, 99 % below {:.1e}, largest {:.1e}; {} unresolved, {} not "
      "finite\n",
      s.samples, s.median_relative_error, s.p99_relative_error, s.max_relative_error, s.unresolved,
      s.non_finite);
}

/// 100 steps, or 50 past the first contact if that comes late: a gradient without contact is no test. At most
/// those of the scene.
int default_steps(const Scene& scene) {
  constexpr int k_steps = 100, k_steps_in_contact = 50;
  const Stepper stepper(scene.model, scene.config.step);
  int first_contact = 0;
  State end;
  (void)simulate(stepper, scene.initial, scene.config.steps, {}, end,
                 [&](int step, const State&, const StepReport& report) {
                   first_contact = step;
                   return report.contacts == 0;
                 });
  return std::min(scene.config.steps, std::max(k_steps, first_contact + k_steps_in_contact));
}

int gradcheck(const GradcheckArguments& arguments) {
  const Scene scene = read_scene(arguments.scene);
  for (const Body& body : scene.model.bodies) require_points_on_surface(body);
  GradientCheckConfig config;
  config.steps = arguments.steps ? *arguments.steps : default_steps(scene);
  config.samples = arguments.samples;
  config.seed = arguments.seed;

  GradientCheck check;
  {
    ProgressBar bar("samples", config.samples, false);
    check = check_gradient(scene.model, scene.config.step, scene.initial, config,
                           [&](int done, int) { bar.update(done); });
  }
  const double h = scene.config.step.h;
  if (check.failed_step >= 0) {
    StepConfig used = scene.config.step;
    used.tolerance = std::min(used.tolerance, k_gradient_check_tolerance);
    fmt::print(
        stderr, "abut gradcheck: {}\n",
        failure_text(scene.model, used, scene.initial.time + (check.failed_step + 1) * h, check.failure));
    return 1;
  }
  if (arguments.json) {
    print_json(json_of(check));
  } else {
    print_table(scene.name, config.steps, h, config.seed, check);
  }
  return check.summary.non_finite > 0 ? 1 : 0;
}

}  // namespace

void add_gradcheck_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<GradcheckArguments>();
  CLI::App* command = app.add_subcommand("gradcheck", "check a scene's gradient against differences");
  command->add_option("SCENE", arguments->scene, "scene file (TOML)")->required()->type_name("");
  command
      ->add_option("--steps", arguments->steps,
                   "number of time steps; default: 100, or 50 past the first contact")
      ->check(whole_number(1))
      ->type_name("N");
  command->add_option("--samples", arguments->samples, "number of random losses and directions")
      ->check(whole_number(1))
      ->type_name("P")
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "of the random numbers")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->type_name("S")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "Each sample takes a random loss of the motion and a random direction in one group of inputs (initial\n"
      "state, controls, mass, inertia, friction, shape, ...; the groups take turns) and compares the\n"
      "derivative by the adjoint with central differences of whole rollouts at several step sizes.\n"
      "  sensitivity   largest derivative of the group, relative to that of the most sensitive group\n"
      "  error         |adjoint - difference| / (|adjoint| + 1e-3 |derivative of the most sensitive group|)\n"
      "  unresolved    samples whose differences disagree among themselves by more than 1e-4: the motion is\n"
      "                too sensitive, or has a kink there; they count as the others do\n"
      "The exit code is 1 if anything is not finite.\n"
      "\n"
      "Examples:\n"
      "  abut gradcheck assets/scenes/armadillo_drop.toml\n"
      "  abut gradcheck assets/scenes/box_slide.toml --steps 20 --samples 200 --seed 7 --json");
  command->callback([arguments, &exit_code] { exit_code = gradcheck(*arguments); });
}

}  // namespace abut
