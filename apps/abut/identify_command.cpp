/// `abut identify` and `abut optimize`: two questions to the same search.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/batch_command.h"
#include "apps/abut/car_command.h"
#include "apps/abut/commands.h"
#include "apps/abut/heartbeat.h"
#include "apps/abut/options.h"
#include "apps/abut/progress_bar.h"
#include "apps/abut/trajectory_file.h"
#include "apps/identification/experiment_io.h"
#include "apps/identification/html_report.h"
#include "apps/identification/loss_check.h"
#include "apps/identification/plan_files.h"
#include "apps/identification/repetition.h"
#include "apps/identification/report_builder.h"
#include "apps/identification/search.h"
#include "apps/identification/synthetic_data.h"
#include "apps/identification/unit_check.h"
#include "apps/identification/verdict.h"
#include "engine/atomic_file.h"
#include "engine/check.h"
#include "engine/count_text.h"
#include "engine/input_error.h"
#include "engine/random.h"

namespace abut {
namespace {

namespace fs = std::filesystem;

struct IdentifyArguments {
  Question question = Question::identify;
  fs::path experiment, out;
  std::optional<int> repeat;
  DataFlaws flaws;
  std::uint64_t seed = 1;
  int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  bool json = false, quiet = false, resume = false, make_data = false, gradcheck = false;
};

/// One line an iteration, on stderr.
class IterationLines {
 public:
  IterationLines(const ExperimentFile& file, bool quiet)
      : quiet_(quiet),
        most_(file.search.max_iterations),
        stages_(static_cast<int>(file.search.continuation.size())) {}

  void print(const StageIteration& note) {
    if (quiet_) return;
    if (!has_header_) {
      fmt::print(stderr, "{:>5} {:>5} {:>4} {:>12} {:>10} {:>10} {:>9} {:>8} {:>12}\n", "start", "stage",
                 "it.", "loss", "step", "gradient", "contacts", "time", "at most left");
      has_header_ = true;
    }
    const Iteration& i = note.iteration;
    const double each = i.number > 0 ? i.seconds / i.number : 0.0;
    const int left = most_ - i.number + most_ * (stages_ - 1 - note.stage);
    fmt::print(stderr, "{:>5} {:>5} {:>4} {:>12.6g} {:>10.3g} {:>10.3g} {:>9.1f} {:>8} {:>12}{}\n",
               note.start, note.stage, i.number, i.cost, i.step, i.gradient, i.contacts,
               duration_text(i.seconds), i.number > 0 ? duration_text(each * left) : "-",
               i.accepted ? "" : "  step taken back");
  }

 private:
  bool quiet_, has_header_ = false;
  int most_, stages_;
};

const char* verb_of(Question question) { return question == Question::identify ? "identify" : "optimize"; }

/// Says on stderr what is going on where nothing else does: after five seconds, or ten if quiet.
class SignOfLife {
 public:
  explicit SignOfLife(const IdentifyArguments& arguments)
      : heartbeat_("reading the experiment", std::chrono::seconds(arguments.quiet ? 10 : 5),
                   [verb = verb_of(arguments.question)](const std::string& line) {
                     // On a terminal there may be a bar in this line.
                     const char* const begin = ::isatty(STDERR_FILENO) == 1 ? "\r\x1b[K" : "";
                     fmt::print(stderr, "{}abut {}: {}\n", begin, verb, line);
                   }) {}
  Heartbeat* operator->() { return &heartbeat_; }

 private:
  Heartbeat heartbeat_;
};

/// Writes what would be measured, for experiments that are to be made up.
int make_data(const IdentifyArguments& arguments) {
  SignOfLife alive(arguments);
  const ExperimentFile file = read_experiment(arguments.experiment, DataUse::plan);
  alive->set_phase("simulating the true motions");
  const MotionFit fit(file.experiment);
  Random noise(arguments.seed);
  const Experiment made = with_simulated_data(fit, fit.unknowns().truth(), &noise, arguments.flaws);
  int written = 0;
  for (std::size_t m = 0; m < file.data.size(); ++m) {
    if (file.data[m].source.file.empty()) continue;
    make_folder_of(file.data[m].source.file);
    write_measurements(file.data[m].source.file, made.scene.model, made.motions[m]);
    ++written;
  }
  if (!arguments.quiet) fmt::print("{} of measurements written\n", count_text(written, "file"));
  return 0;
}

int gradcheck(const IdentifyArguments& arguments) {
  SignOfLife alive(arguments);
  const ExperimentFile file = read_experiment(arguments.experiment);
  alive->set_phase("comparing the gradient with differences");
  const LossCheck check = check_loss(file, arguments.seed, arguments.threads);
  if (arguments.json) {
    print_json(json_of(check));
  } else {
    fmt::print("{}\n\n{}", file.experiment.name, text_of(check));
  }
  constexpr double k_wrong = 1e-3;  // of a derivative that differences can judge
  const bool is_wrong =
      std::any_of(check.samples.begin(), check.samples.end(), [](const GradientSample& sample) {
        return sample.non_finite || (!sample.unresolved && sample.relative_error > k_wrong);
      });
  return check.failure.empty() && !is_wrong ? 0 : 1;
}

int repeat(const IdentifyArguments& arguments) {
  SignOfLife alive(arguments);
  const ExperimentFile file = read_experiment(arguments.experiment);
  const auto phase_after = [&](int done) {
    return fmt::format("repeating the search, {} of {} done", done, *arguments.repeat);
  };
  alive->set_phase(phase_after(0));
  const InterruptRequest interrupt;
  ProgressBar bar("repetitions", *arguments.repeat, arguments.quiet);
  const RepetitionReport report = repeat_experiment(file, *arguments.repeat, arguments.flaws, arguments.seed,
                                                    arguments.threads, [&](int done) {
                                                      bar.update(done);
                                                      alive->set_phase(phase_after(done));
                                                      return !interrupt.received();
                                                    });
  if (arguments.json) {
    print_json(json_of(report));
  } else {
    fmt::print("{}\n\n{}", file.experiment.name, text_of(report));
  }
  return report.failed == 0 && report.repetitions == *arguments.repeat ? 0 : 1;
}

fs::path folder_of(const IdentifyArguments& arguments) {
  return arguments.out.empty() ? fs::path("out") / arguments.experiment.stem() : arguments.out;
}

int optimize_car(const IdentifyArguments& arguments) {
  require(arguments.question == Question::optimize && !arguments.repeat && !arguments.make_data &&
              !arguments.gradcheck && !arguments.resume,
          fmt::format("{}: the plan of a car is only optimized", arguments.experiment.string()));
  SignOfLife alive(arguments);
  alive->set_phase("planning the car's way");
  return plan_car_experiment({arguments.experiment, folder_of(arguments), arguments.json, arguments.quiet});
}

/// Looks at the units of the measurements. Those of length are but warned of: the verdict will say so, and
/// soon. Times a thousand times too long would make the search as much longer: throws InputError.
void check_units(const ExperimentFile& file, bool quiet) {
  const Experiment whole = whole_motions(file.experiment);
  for (const UnitSuspicion& suspicion : suspected_units(MotionFit(whole))) {
    if (suspicion.quantity == UnitSuspicion::Quantity::times)
      throw InputError(file.path.string(), 0,
                       fmt::format("measurements: {}; they are read as seconds", suspicion.text));
    if (!quiet) fmt::print(stderr, "warning: {}\n", suspicion.text);
  }
}

/// Warns of the initial states of the guess before a search that may take long.
void warn_of_guess(const ExperimentFile& file, Question question) {
  const Experiment whole = whole_motions(file.experiment);
  const MotionFit fit(whole);
  try {
    for (const std::string& text : start_warning_texts(fit, fit.unknowns().initial()))
      fmt::print(stderr, "abut {}: warning: {}\n", verb_of(question), text);
  } catch (const std::invalid_argument&) {
    // a shape that cannot be, as the search will say
  }
}

/// Says before a search that takes long what makes it so.
void print_length(const ExperimentFile& file) {
  constexpr int k_many = 20000;
  for (const MeasuredMotion& motion : file.experiment.motions) {
    const int steps = step_count(file.experiment, motion);
    if (steps < k_many) continue;
    fmt::print(
        stderr,
        "motion '{}' takes {} time steps of {:g} s, which every iteration simulates and differentiates: a "
        "part of it, or [shooting] with segments, is found more easily\n",
        motion.name, steps, file.experiment.scene.config.step.h);
    return;  // the others will be alike
  }
}

/// Words about a run that is no answer, on stderr.
void print_failure(const IdentifyArguments& arguments, const SearchResult& result,
                   const IdentificationReport& report, const Verdict& verdict, const fs::path& folder) {
  const char* const verb = verb_of(arguments.question);
  if (!result.is_whole) {
    fmt::print(stderr,
               "abut {}: stopped; the best so far is in {}; go on with 'abut {} {} --out {} --resume'\n",
               verb, (folder / "result.json").string(), verb, arguments.experiment.string(), folder.string());
  } else if (report.status == to_string(Solution::Status::failed)) {
    fmt::print(stderr, "abut {}: {}\n", verb, report.message);
  } else {
    fmt::print(stderr, "abut {}: {}\n", verb, verdict.headline);
  }
}

int identify(const IdentifyArguments& arguments) {
  SignOfLife alive(arguments);
  const ExperimentFile file = read_experiment(arguments.experiment);
  const Question question = question_of(file, arguments.question);
  const fs::path folder = folder_of(arguments);
  const fs::path checkpoint = folder / "checkpoint.json", page = folder / "report.html",
                 result_file = folder / "result.json";
  if (arguments.resume && !fs::exists(checkpoint))
    throw InputError(checkpoint.string(), 0, "there is nothing to go on with: no search was stopped there");
  alive->set_phase("comparing the measurements with the guess");
  check_units(file, arguments.quiet);
  make_folder_of(page);
  warn_of_guess(file, arguments.question);
  if (!arguments.quiet) print_length(file);
  const InterruptRequest interrupt;
  IterationLines lines(file, arguments.quiet);
  SearchOptions options;
  options.threads = arguments.threads;
  options.checkpoint = checkpoint;
  options.resume = arguments.resume;
  options.steps = &alive->count();
  options.progress = [&](const StageIteration& note) {
    lines.print(note);
    if (!arguments.quiet) alive->said_something();
    alive->set_phase(fmt::format("after iteration {} of start {}, loss {:.6g}", note.iteration.number,
                                 note.start, note.iteration.cost));
    return !interrupt.received();
  };
  alive->set_phase("simulating the motions of the guess");
  const SearchResult result = search(file, options);
  alive->set_phase("looking at what was found");
  const IdentificationReport report = build_report(file, result, question, arguments.threads);
  const Verdict verdict = verdict_of(report);
  const Json json = json_of(report);
  write_file(page, html_report(report));
  write_file(result_file, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  const Eigen::VectorXd& x = result.starts[static_cast<std::size_t>(result.best)].x;
  std::vector<fs::path> plans;
  if (question == Question::optimize && verdict.status != Verdict::Status::failed && x.size() > 0)
    plans = write_plan(file, x, folder);
  if (arguments.json) {
    print_json(json);
  } else {
    fmt::print("{}\n  report: {}\n  result: {}\n", text_of(report), page.string(), result_file.string());
    for (const fs::path& plan : plans)
      fmt::print("  plan:   {0} ('abut run {0}'; 'abut-view {1}')\n", plan.string(),
                 fs::path(plan).replace_extension(".npz").string());
  }
  std::fflush(stdout);
  if (result.is_whole) fs::remove(checkpoint);
  if (result.is_whole && verdict.is_answer()) return 0;
  print_failure(arguments, result, report, verdict, folder);
  return 1;
}

void add_command(CLI::App& app, int& exit_code, Question question, const std::string& description) {
  auto arguments = std::make_shared<IdentifyArguments>();
  arguments->question = question;
  const std::string verb = verb_of(question);
  CLI::App* command = app.add_subcommand(verb, description);
  command->add_option("experiment", arguments->experiment, "experiment file (docs/identification.md)")
      ->required();
  command->add_option("-o,--out", arguments->out,
                      "folder of report.html and result.json; default: out/ and the experiment's name");
  command->add_option("--threads", arguments->threads, "motions or starts at a time; default: all cores")
      ->check(whole_number(1, 1024));
  std::vector<CLI::Option*> instead;
  instead.push_back(
      command->add_flag("--resume", arguments->resume, "go on with a search that was stopped (same --out)"));
  instead.push_back(
      command
          ->add_option(
              "--repeat", arguments->repeat,
              "instead: make data of the true values, with new noise, so many times; tell how often the "
              "truth lies in its interval")
          ->check(whole_number(1, 1000000)));
  instead.push_back(
      command->add_flag("--make-data", arguments->make_data,
                        "instead: write the files of measurements, made of the true values with noise"));
  instead.push_back(
      command->add_flag("--gradcheck", arguments->gradcheck,
                        "instead: compare the gradient of the loss, near the guesses, with differences"));
  for (CLI::Option* const option : instead) {
    for (CLI::Option* const other : instead) {
      if (option != other) option->excludes(other);
    }
  }
  command
      ->add_option("--noise-factor", arguments->flaws.noise_factor,
                   "of --repeat and --make-data: noise is so many times as large as stated; default: 1")
      ->check(number_between(1e-6, 1e6));
  command
      ->add_option(
          "--outliers", arguments->flaws.outliers,
          "of --repeat and --make-data: share of measurements that are off 20 times as far; default: 0")
      ->check(number_between(0.0, 1.0));
  command->add_option("--seed", arguments->seed, "of noise, and of where gradients are compared; default: 1")
      ->check(whole_number(0, 1000000000));
  command->add_flag("--json", arguments->json, "print the result as JSON");
  command->add_flag("-q,--quiet", arguments->quiet,
                    "no lines about iterations; a line every ten seconds that nothing else is said");
  const std::string codes =
      question == Question::identify
          ? "Exit codes: 0 an answer; 1 none: residuals far from what the noise allows (chi square beyond "
            "its\n"
            "99.99 % quantile and beyond 2), an estimate at a bound or physically impossible, nothing told "
            "of\n"
            "any unknown, a search that failed, was stopped or had not converged; 2 bad input. The verdict\n"
            "comes first and names what to check; report.html and result.json are written either way."
          : "Exit codes: 0 every goal is reached to within its tolerance; 1 one is not, or the search failed "
            "or\n"
            "was stopped; 2 bad input. The plan is written either way: best.toml, a scene for 'abut run', "
            "and\n"
            "best.npz, its trajectory for 'abut-view'.";
  command->footer(fmt::format("{}\n\nExample: abut {} assets/experiments/{}.toml", codes, verb,
                              question == Question::identify ? "box_friction" : "drill_push"));
  command->callback([arguments, &exit_code] {
    const DataFlaws& flaws = arguments->flaws;
    require(std::isfinite(flaws.noise_factor) && std::isfinite(flaws.outliers),
            "--noise-factor and --outliers: finite numbers are allowed");
    require((flaws.noise_factor == 1.0 && flaws.outliers == 0.0) || arguments->repeat || arguments->make_data,
            "--noise-factor and --outliers go with --repeat or --make-data");
    if (is_car_experiment(arguments->experiment)) {
      exit_code = optimize_car(*arguments);
    } else if (arguments->make_data) {
      exit_code = make_data(*arguments);
    } else if (arguments->gradcheck) {
      exit_code = gradcheck(*arguments);
    } else if (arguments->repeat) {
      exit_code = repeat(*arguments);
    } else {
      exit_code = identify(*arguments);
    }
  });
}

}  // namespace

void add_identify_command(CLI::App& app, int& exit_code) {
  add_command(app, exit_code, Question::identify,
              "find the parameters that explain recorded motions, and how well they are known");
}

void add_optimize_command(CLI::App& app, int& exit_code) {
  add_command(app, exit_code, Question::optimize,
              "find the initial state, pushes or shape that reach a goal");
}

}  // namespace abut
