#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/commands.h"
#include "apps/abut/options.h"
#include "apps/abut/progress_bar.h"
#include "apps/abut/report.h"
#include "apps/abut/trajectory_file.h"
#include "dynamics/simulator.h"
#include "engine/scene_io.h"

namespace abut {
namespace {

struct RunArguments {
  std::filesystem::path scene, out;
  std::optional<int> steps;
  std::optional<double> dt;
  bool json = false, quiet = false;
};

/// What a run tells about itself. `steps` counts those that ended well.
struct RunSummary {
  std::string scene;
  int bodies = 0, steps = 0;
  double dt = 0.0, wall_seconds = 0.0;
  int contacts_peak = 0;
  double max_penetration = 0.0, energy_initial = 0.0, energy_final = 0.0;
  StepStatus status = StepStatus::ok;
  std::uint64_t state_hash = 0;

  [[nodiscard]] double steps_per_second() const { return wall_seconds > 0.0 ? steps / wall_seconds : 0.0; }
};

Json json_of(const RunSummary& s) {
  return {{"scene", s.scene},
          {"bodies", s.bodies},
          {"steps", s.steps},
          {"dt", s.dt},
          {"wall_seconds", s.wall_seconds},
          {"steps_per_second", s.steps_per_second()},
          {"contacts_peak", s.contacts_peak},
          {"max_penetration", s.max_penetration},
          {"energy_initial", s.energy_initial},
          {"energy_final", s.energy_final},
          {"status", to_string(s.status)},
          {"state_hash", fmt::format("{:016x}", s.state_hash)}};
}

void print_table(const RunSummary& s) {
  fmt::print("{}\n", s.scene);
  const auto line = [](const char* name, const std::string& value) {
    fmt::print("  {:<18}{}\n", name, value);
  };
  line("status", to_string(s.status));
  line("bodies", fmt::format("{}", s.bodies));
  line("steps", fmt::format("{} of {:.6g} s: {:.6g} s simulated", s.steps, s.dt, s.steps * s.dt));
  line("wall time", fmt::format("{}, {:.0f} steps/s", duration_text(s.wall_seconds), s.steps_per_second()));
  line("contacts", fmt::format("at most {}", s.contacts_peak));
  line("penetration", fmt::format("at most {:.3g} m", s.max_penetration));
  line("energy", fmt::format("{:.6g} J at the start, {:.6g} J at the end", s.energy_initial, s.energy_final));
  line("state hash", fmt::format("{:016x}", s.state_hash));
}

int run(const RunArguments& arguments) {
  const bool writes = !arguments.out.empty();
  if (writes) require_trajectory_path(arguments.out);
  Scene scene = read_scene(arguments.scene);
  if (arguments.dt) scene.config.step.h = *arguments.dt;
  const int steps = arguments.steps.value_or(scene.config.steps);
  const Simulator simulator(std::move(scene.model), scene.config.step);
  const Model& model = simulator.model();

  RunSummary summary;
  summary.scene = scene.name;
  summary.bodies = model.body_count();
  summary.dt = scene.config.step.h;
  summary.energy_initial = mechanical_energy(model, scene.initial);
  TrajectoryFile trajectory(model);
  if (writes) trajectory.add(scene.initial, summary.energy_initial, 0);

  State end;
  StepReport report;
  {
    ProgressBar bar("steps", steps, arguments.quiet);
    const auto start = std::chrono::steady_clock::now();
    report = simulate(simulator.stepper(), scene.initial, steps, {}, end,
                      [&](int step, const State& state, const StepReport& step_report) {
                        summary.contacts_peak = std::max(summary.contacts_peak, step_report.contacts);
                        summary.max_penetration =
                            std::max(summary.max_penetration, step_report.max_penetration);
                        if (step_report.status != StepStatus::ok) return false;
                        summary.steps = step + 1;
                        if (writes)
                          trajectory.add(state, mechanical_energy(model, state), step_report.contacts);
                        bar.update(step + 1);
                        return true;
                      });
    summary.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  summary.energy_final = mechanical_energy(model, end);
  summary.status = report.status;
  summary.state_hash = state_hash(end);
  const bool well = report.status == StepStatus::ok;
  if (writes && well) trajectory.write(arguments.out);

  if (arguments.json) {
    print_json(json_of(summary));
  } else {
    print_table(summary);
    if (writes && well) fmt::print("  {:<18}{}\n", "written to", arguments.out.string());
  }
  if (well) return 0;
  std::fflush(stdout);
  fmt::print(stderr, "abut run: {}{}\n",
             failure_text(model, scene.config.step, summary.steps, (summary.steps + 1) * summary.dt, report),
             writes ? fmt::format("; {} is not written", arguments.out.string()) : "");
  return 1;
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "simulate a scene; print a summary, write the trajectory");
  command->add_option("SCENE", arguments->scene, "scene file (TOML)")->required()->type_name("");
  command->add_option("--steps", arguments->steps, "number of time steps; default: that of the scene")
      ->check(whole_number(1))
      ->type_name("N");
  command->add_option("--dt", arguments->dt, "time step [s]; default: that of the scene")
      ->check(finite_positive())
      ->type_name("H");
  command->add_option("--out", arguments->out, "write the trajectory: NumPy archive (.npz) or table (.csv)")
      ->type_name("FILE");
  command->add_flag("--json", arguments->json, "print the summary as one JSON object");
  command->add_flag("--quiet", arguments->quiet, "no progress bar");
  command->footer(
      "Scene files: docs/scene_format.md. Everything is in SI units: m, kg, s, N, rad.\n"
      "A trajectory has a row for the initial state and one for every step: time, position and\n"
      "orientation_wxyz of each body's asset frame, linear_velocity and angular_velocity of its centre of\n"
      "mass, energy, and contacts of the step that ended there. In an archive, body_names holds the names\n"
      "as bytes, a row each, filled up with zeros.\n"
      "\n"
      "Examples:\n"
      "  abut run assets/scenes/armadillo_drop.toml\n"
      "  abut run assets/scenes/box_stack.toml --steps 5000 --dt 0.001 --out out/box_stack.npz\n"
      "  abut run assets/scenes/sphere_bounce.toml --json --quiet");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace abut
