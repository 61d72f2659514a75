#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/batch_command.h"
#include "apps/abut/commands.h"
#include "apps/abut/failure_scene.h"
#include "apps/abut/options.h"
#include "apps/abut/progress_bar.h"
#include "apps/abut/report.h"
#include "apps/abut/trajectory_file.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "dynamics/simulator.h"
#include "engine/count_text.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"
#include "engine/scene_writer.h"

namespace abut {
namespace {

struct RunArguments {
  std::filesystem::path scene, out, dump;
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
  SolutionCounts solutions;
  std::uint64_t state_hash = 0;
  StartWarnings start;
  RunWarnings warnings;

  [[nodiscard]] double steps_per_second() const { return wall_seconds > 0.0 ? steps / wall_seconds : 0.0; }
};

Json json_of(const RunSummary& s, const Model& model) {
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
          {"steps_solved_by", json_of(s.solutions)},
          {"state_hash", hash_text(s.state_hash)},
          {"initial_overlaps", json_of(model, s.start.overlaps)},
          {"initial_joint_warnings", json_of(model, s.start.joints)},
          {"warnings", json_of(model, s.warnings)}};
}

void print_table(const RunSummary& s, const Model& model, const StepConfig& config) {
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
  for (const std::string& text : fallback_texts(s.solutions)) line("solver", text);
  line("state hash", hash_text(s.state_hash));
  for (const Overlap& overlap : s.start.overlaps) line("overlap at start", overlap_text(model, overlap));
  for (const JointStartWarning& warning : s.start.joints)
    line("joint at start", warning_text(model, warning));
  for (const RunWarnings::Entry& entry : s.warnings.entries()) {
    line("warning", fmt::format("in {}, first in step {}: {}", count_text(entry.steps, "step"),
                                entry.first_step + 1, warning_text(model, config, entry.kind, entry.worst)));
  }
}

/// Steps between two states whose penetration is measured by the surfaces: contacts alone do not see bodies
/// that have come to lie deep in each other.
constexpr int k_steps_between_overlaps = 1000;

void require_other_than(const std::filesystem::path& input, const std::filesystem::path& output,
                        const std::string& why) {
  if (std::error_code ignored; std::filesystem::equivalent(input, output, ignored))
    throw InputError(output.string(), 0, why);
}

int run(const RunArguments& arguments) {
  const bool writes = !arguments.out.empty();
  if (writes) require_trajectory_path(arguments.out);
  require_other_than(arguments.scene, arguments.dump, "is the scene itself, which --dump would overwrite");
  Scene scene = read_scene(arguments.scene, surface_maker(user_cache_folder()));
  for (const std::filesystem::path& file : scene_files(arguments.scene)) {
    require_other_than(file, arguments.dump, "is a file of the scene, which --dump would overwrite");
    require_other_than(file, arguments.out, "is a file of the scene, which --out would overwrite");
  }
  if (arguments.dt) scene.config.step.h = *arguments.dt;
  const int steps = arguments.steps.value_or(scene.config.steps);
  const Controls controls = controls_of(scene, steps);
  const Simulator simulator = naming_file(
      arguments.scene.string(), [&] { return Simulator(std::move(scene.model), scene.config.step); });
  const Model& model = simulator.model();

  RunSummary summary;
  summary.scene = scene.name;
  summary.bodies = model.body_count();
  summary.dt = scene.config.step.h;
  summary.energy_initial = mechanical_energy(model, scene.initial);
  summary.start = find_start_warnings(simulator.stepper(), scene.initial);
  warn_of_start("run", model, summary.start);
  const auto measure_overlap = [&](const State& state) {
    summary.max_penetration =
        deepest_overlap(simulator.stepper().detector(), state.X_WB, summary.max_penetration);
  };
  for (const Overlap& overlap : summary.start.overlaps)
    summary.max_penetration = std::max(summary.max_penetration, overlap.depth);
  RecentStates recent(scene.initial);
  TrajectoryFile trajectory(model, arguments.scene);
  if (writes) trajectory.require_room(arguments.out, steps);
  if (writes) trajectory.add(scene.initial, scene.initial.time, summary.energy_initial, 0);

  State end;
  StepReport report;
  {
    ProgressBar bar("steps", steps, arguments.quiet);
    const auto start = std::chrono::steady_clock::now();
    report = simulate(simulator.stepper(), scene.initial, steps, controls, end,
                      [&](int step, const State& state, const StepReport& step_report) {
                        summary.contacts_peak = std::max(summary.contacts_peak, step_report.contacts);
                        summary.max_penetration =
                            std::max(summary.max_penetration, step_report.max_penetration);
                        if (step_report.status != StepStatus::ok) return false;
                        summary.steps = step + 1;
                        summary.solutions.add(step_report);
                        summary.warnings.add(step, step_report);
                        if ((step + 1) % k_steps_between_overlaps == 0) measure_overlap(state);
                        recent.add(state);
                        if (writes) {
                          const auto done = static_cast<std::size_t>(summary.steps);
                          trajectory.add(state, time_after(scene.initial.time, summary.dt, done),
                                         mechanical_energy(model, state), step_report.contacts);
                        }
                        bar.update(step + 1);
                        return true;
                      });
    summary.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  measure_overlap(end);
  summary.energy_final = mechanical_energy(model, end);
  summary.status = report.status;
  summary.state_hash = state_hash(end);
  const bool well = report.status == StepStatus::ok;
  if (writes && well) trajectory.write(arguments.out);

  if (arguments.json) {
    print_json(json_of(summary, model));
  } else {
    print_table(summary, model, scene.config.step);
    if (writes && well) fmt::print("  {:<18}{}\n", "written to", arguments.out.string());
  }
  if (well) return 0;
  std::fflush(stdout);
  std::string text = failure_text(model, scene.config.step, end.time + summary.dt, report);
  if (writes) text += fmt::format("; {} is not written", arguments.out.string());
  const std::filesystem::path dump =
      arguments.dump.empty() ? default_failure_scene(arguments.scene, arguments.out) : arguments.dump;
  try {
    const int dumped =
        write_failure_scene(simulator.stepper(), arguments.scene, recent, controls, report, text, dump);
    text += fmt::format("; 'abut run {}' repeats it in step {}", dump.string(), dumped);
  } catch (const InputError& error) {
    text += fmt::format("; no scene that repeats it: {}", error.what());
  }
  fmt::print(stderr, "abut run: {}\n", text);
  return 1;
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<RunArguments>();
  auto batch = std::make_shared<BatchArguments>();
  CLI::App* command = app.add_subcommand("run", "simulate a scene; print a summary, write the trajectory");
  CLI::Option* scene =
      command->add_option("SCENE", arguments->scene, "scene file (TOML); none with --batch")->type_name("");
  CLI::Option* table =
      command->add_option("--batch", batch->table, "table of rollouts (TOML), run instead of one scene")
          ->type_name("FILE")
          ->excludes(scene);
  command->add_option("--threads", batch->threads, "threads of a batch; default: all cores")
      ->check(whole_number(1, 1024))
      ->type_name("N")
      ->needs(table);
  command
      ->add_flag("--resume", batch->resume,
                 "go on with a batch that was stopped, from the journal beside --out")
      ->needs(table);
  command->add_flag("--trajectories", batch->trajectories, "write every state of a batch, not the last alone")
      ->needs(table);
  command->add_option("--steps", arguments->steps, "number of time steps; default: that of the scene")
      ->check(whole_number(1))
      ->type_name("N")
      ->excludes(table);
  command->add_option("--dt", arguments->dt, "time step [s]; default: that of the scene")
      ->check(finite_positive())
      ->type_name("H")
      ->excludes(table);
  command->add_option("--out", arguments->out, "write the trajectory: NumPy archive (.npz) or table (.csv)")
      ->type_name("FILE");
  command
      ->add_option(
          "--dump", arguments->dump,
          "where to write, after a failure, a scene that repeats it; default: the scene's name with\n"
          "_failure.toml, beside --out, else in the current folder")
      ->type_name("FILE")
      ->excludes(table);
  command->add_flag("--json", arguments->json, "print the summary as one JSON object");
  command->add_flag("--quiet", arguments->quiet, "no progress bar");
  command->footer(
      "Scene files: docs/scene_format.md. Everything is in SI units: m, kg, s, N, rad.\n"
      "A trajectory has a row for the initial state and one for every step: time, position and\n"
      "orientation_wxyz of each body's asset frame, linear_velocity and angular_velocity of its centre of\n"
      "mass, energy, and contacts of the step that ended there. In an archive, body_names and scene are\n"
      "strings: the names of the bodies, and the scene file's path.\n"
      "A batch writes one archive with a row for each rollout: docs/scene_format.md, \"Batches\".\n"
      "\n"
      "Examples:\n"
      "  abut run assets/scenes/armadillo_drop.toml\n"
      "  abut run assets/scenes/box_stack.toml --steps 5000 --dt 0.001 --out out/box_stack.npz\n"
      "  abut run assets/scenes/sphere_bounce.toml --json --quiet\n"
      "  abut run --batch friction.toml --out out/friction.npz --threads 4");
  command->callback([arguments, batch, table, scene, &exit_code] {
    if (table->count() == 0) {
      if (scene->count() == 0) throw CLI::RequiredError("SCENE");
      exit_code = run(*arguments);
      return;
    }
    batch->out = arguments->out;
    batch->json = arguments->json;
    batch->quiet = arguments->quiet;
    for (const auto& [given, name] :
         {std::pair{batch->resume, "--resume"}, std::pair{batch->trajectories, "--trajectories"}}) {
      if (given && batch->out.empty()) throw CLI::RequiresError(name, "--out");
    }
    const InterruptRequest interrupt;
    exit_code = run_batch_table(*batch, [&] { return !interrupt.received(); });
  });
}

}  // namespace abut
