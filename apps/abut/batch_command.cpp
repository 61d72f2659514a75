#include "apps/abut/batch_command.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/batch_journal.h"
#include "apps/abut/batch_table.h"
#include "apps/abut/file_hash.h"
#include "apps/abut/progress_bar.h"
#include "apps/abut/report.h"
#include "apps/abut/trajectory_file.h"
#include "dynamics/batch_rollout.h"
#include "engine/atomic_file.h"
#include "engine/control.h"
#include "engine/count_text.h"
#include "engine/hash.h"
#include "engine/input_error.h"
#include "engine/instruction_set.h"
#include "engine/npz.h"
#include "engine/scene_writer.h"

namespace abut {
namespace fs = std::filesystem;

namespace {

/// A number for everything that results depend on.
std::uint64_t key_of(const BatchArguments& arguments, const BatchTable& table) {
  std::vector<fs::path> files = scene_files(table.scene_file());
  files.insert(files.begin(), arguments.table);
  return hash_of_files(
      files, hash_of(fmt::format("{} {} {}", ABUT_VERSION, instruction_set(), arguments.trajectories)));
}

/// How many doubles the states of a rollout are in the file.
std::size_t doubles_of_states(const BatchTable& table, std::size_t states) {
  constexpr std::size_t k_per_body = 3 + 4 + 3 + 3;
  const Model& model = table.scene().model;
  return states * (1 + k_per_body * model.bodies.size() + 2 * joints_with_coordinate(model).size());
}

void require_small_enough(const BatchArguments& arguments, const BatchTable& table) {
  const double states = arguments.trajectories ? table.steps() + 2.0 : 1.0;
  const double bytes = 8.0 * table.rollouts() * states *
                       static_cast<double>(doubles_of_states(table, 1) + table.parameters().size());
  constexpr double k_most = 4.0e9;
  if (bytes < k_most) return;
  throw InputError(
      arguments.table.string(), 0,
      fmt::format("{} of {} would be a file of {:.1f} GB, allowed: 4 GB{}",
                  count_text(table.rollouts(), "rollout"), count_text(table.steps(), "step"), bytes / 1e9,
                  arguments.trajectories ? "; it is smaller without --trajectories" : ""));
}

/// Arrays of states: (rollouts, n or m, ...) of the last ones, (rollouts, steps + 1, n or m, ...) of all.
class StateArrays {
 public:
  explicit StateArrays(const Model& model) : model_(&model), joints_(joints_with_coordinate(model)), motors_(motor_count(model)) {}

  void add(const State& state, double time) {
    time_.push_back(time);
    for (std::size_t b = 0; b < model_->bodies.size(); ++b) {
      const Pose<double>& X_WB = state.X_WB[b];
      const Vec3<double> p_WA = X_WB * model_->bodies[b].p_BA;
      const Vec6<double>& V = state.V_WB[b];
      position_.insert(position_.end(), p_WA.begin(), p_WA.end());
      orientation_.insert(orientation_.end(), {X_WB.q.w(), X_WB.q.x(), X_WB.q.y(), X_WB.q.z()});
      angular_velocity_.insert(angular_velocity_.end(), V.begin(), V.begin() + 3);
      linear_velocity_.insert(linear_velocity_.end(), V.begin() + 3, V.end());
    }
    for (const int joint : joints_) {
      joint_coordinate_.push_back(joint_coordinate(*model_, joint, state));
      joint_rate_.push_back(joint_rate(model_->joints[static_cast<std::size_t>(joint)], state));
    }
    motor_force_.resize(motor_force_.size() + motors_);
    write_motor_forces(state, motors_, motor_force_.data() + motor_force_.size() - motors_);
  }
  /// A state that there is not.
  void add_nothing() {
    const std::size_t n = model_->bodies.size();
    const auto add = [](std::vector<double>& values, std::size_t count) {
      values.insert(values.end(), count, std::numeric_limits<double>::quiet_NaN());
    };
    add(time_, 1);
    add(position_, 3 * n);
    add(orientation_, 4 * n);
    add(angular_velocity_, 3 * n);
    add(linear_velocity_, 3 * n);
    add(joint_coordinate_, joints_.size());
    add(joint_rate_, joints_.size());
    add(motor_force_, motors_);
  }
  void write(const std::string& prefix, const std::vector<std::size_t>& shape, NpzWriter& writer) const {
    const auto write_one = [&](const char* name, const std::vector<double>& values,
                               std::vector<std::size_t> more) {
      more.insert(more.begin(), shape.begin(), shape.end());
      writer.add(prefix + name, values, more);
    };
    const std::size_t n = model_->bodies.size();
    write_one("time", time_, {});
    write_one("position", position_, {n, 3});
    write_one("orientation_wxyz", orientation_, {n, 4});
    write_one("linear_velocity", linear_velocity_, {n, 3});
    write_one("angular_velocity", angular_velocity_, {n, 3});
    if (motors_ > 0) write_one("motor_force", motor_force_, {motors_});
    if (joints_.empty()) return;
    write_one("joint_coordinate", joint_coordinate_, {joints_.size()});
    write_one("joint_rate", joint_rate_, {joints_.size()});
  }

 private:
  const Model* model_;
  std::vector<int> joints_;
  std::size_t motors_;
  std::vector<double> time_, position_, orientation_, linear_velocity_, angular_velocity_, joint_coordinate_,
      joint_rate_, motor_force_;
};

/// Numbers for the array "status"; the words are in the file, too.
constexpr std::array k_statuses{StepStatus::ok,       StepStatus::not_converged, StepStatus::non_finite,
                                StepStatus::too_deep, StepStatus::too_fast,      StepStatus::turns_too_far,
                                StepStatus::jumped};
constexpr const char* k_refused = "refused";  // the model made no sense: there was nothing to run

std::string status_word(const BatchResult& result) {
  return result.error.empty() ? to_string(result.report.status) : k_refused;
}

/// How the steps of each rollout were solved, a column each of json_of(SolutionCounts).
void write_solutions(const std::vector<BatchResult>& results, NpzWriter& writer) {
  std::vector<std::string> names;
  const Json columns = json_of(SolutionCounts());
  for (const auto& [name, steps] : columns.items()) names.push_back(name);
  std::vector<std::int64_t> numbers;
  for (const BatchResult& result : results) {
    const Json counts = json_of(result.solutions);
    for (const auto& [name, steps] : counts.items()) numbers.push_back(steps.get<std::int64_t>());
  }
  writer.add("steps_solved_by_names", names, std::array{names.size()});
  writer.add("steps_solved_by", numbers, std::array{results.size(), names.size()});
}

void write_results(const BatchArguments& arguments, const BatchTable& table,
                   const std::vector<BatchResult>& results) {
  const Model& model = table.scene().model;
  const std::size_t n = results.size();
  NpzWriter writer;
  const auto add = [&]<typename T>(const char* name, const T& of) {
    using Value = std::invoke_result_t<T, const BatchResult&>;
    std::vector<Value> values;
    for (const BatchResult& result : results) values.push_back(of(result));
    writer.add(name, values, std::array{n});
  };
  std::vector<std::string> words, parameters, bodies;
  for (const StepStatus status : k_statuses) words.emplace_back(to_string(status));
  words.emplace_back(k_refused);
  for (const SceneParameter& parameter : table.parameters()) parameters.push_back(parameter.name);
  for (const Body& body : model.bodies) bodies.push_back(body.name);
  writer.add("body_names", bodies, std::array{bodies.size()});
  const std::vector<std::string> joints = names_of(model, joints_with_coordinate(model));
  if (!joints.empty()) writer.add("joint_names", joints, std::array{joints.size()});
  const std::vector<std::string> motors = motor_names(model);
  if (!motors.empty()) writer.add("motor_names", motors, std::array{motors.size()});
  writer.add("parameter_names", parameters, std::array{parameters.size()});
  writer.add("status_names", words, std::array{words.size()});
  writer.add("parameters", table.values(), std::array{n, parameters.size()});
  add("status", [&](const BatchResult& r) -> std::int64_t {
    return std::find(words.begin(), words.end(), status_word(r)) - words.begin();
  });
  add("steps", [](const BatchResult& r) -> std::int64_t { return r.steps; });
  add("energy_initial", [](const BatchResult& r) { return r.energy_initial; });
  add("energy_final", [](const BatchResult& r) { return r.energy_final; });
  add("max_penetration", [](const BatchResult& r) { return r.max_penetration; });
  add("contacts_peak", [](const BatchResult& r) -> std::int64_t { return r.contacts_peak; });
  add("state_hash", [](const BatchResult& r) { return hash_text(state_hash(r.final_state)); });
  write_solutions(results, writer);

  StateArrays last(model), all(model);
  const std::size_t rows = static_cast<std::size_t>(table.steps()) + 1;
  for (std::size_t r = 0; r < n; ++r) {
    const BatchResult& result = results[r];
    const auto time = [&](std::size_t steps) {
      return time_after(table.scene().initial.time, table.time_step(static_cast<int>(r)), steps);
    };
    result.error.empty() ? last.add(result.final_state, time(static_cast<std::size_t>(result.steps)))
                         : last.add_nothing();
    if (!arguments.trajectories) continue;
    for (std::size_t k = 0; k < result.states.size(); ++k) all.add(result.states[k], time(k));
    for (std::size_t i = result.states.size(); i < rows; ++i) all.add_nothing();
  }
  last.write("final_", {n}, writer);
  if (arguments.trajectories) all.write("", {n, rows}, writer);
  writer.write(arguments.out);
}

/// What a batch tells about itself.
struct BatchSummary {
  std::string batch, scene;
  int bodies = 0, rollouts = 0, resumed = 0, failed = 0, steps = 0, threads = 0;
  double wall_seconds = 0.0, rollouts_per_second = 0.0, steps_per_second = 0.0, max_penetration = 0.0;
  std::map<std::string, int> statuses;
  std::uint64_t state_hash = 0;  ///< of the hashes of all
  /// What rollouts have in common that is worth a warning: how many, the worst of them, and its words.
  struct Notice {
    std::string kind;
    int rollouts = 0, worst = -1;
    double value = 0.0;
    std::string text;
  };
  std::vector<Notice> notices;
  SolutionCounts solutions;  ///< of all steps of all rollouts
};

Json json_of(const BatchSummary& s) {
  Json warnings = Json::array();
  for (const BatchSummary::Notice& notice : s.notices) {
    warnings.push_back({{"kind", notice.kind},
                        {"rollouts", notice.rollouts},
                        {"worst_rollout", notice.worst},
                        {"worst", notice.value},
                        {"text", notice.text}});
  }
  return {{"batch", s.batch},
          {"scene", s.scene},
          {"bodies", s.bodies},
          {"rollouts", s.rollouts},
          {"resumed", s.resumed},
          {"failed", s.failed},
          {"steps", s.steps},
          {"threads", s.threads},
          {"wall_seconds", s.wall_seconds},
          {"rollouts_per_second", s.rollouts_per_second},
          {"steps_per_second", s.steps_per_second},
          {"max_penetration", s.max_penetration},
          {"statuses", s.statuses},
          {"steps_solved_by", json_of(s.solutions)},
          {"warnings", std::move(warnings)},
          {"state_hash", hash_text(s.state_hash)}};
}

void print_table(const BatchSummary& s) {
  fmt::print("{}\n", s.scene);
  const auto line = [](const char* name, const std::string& value) {
    fmt::print("  {:<18}{}\n", name, value);
  };
  line("batch", s.batch);
  line("bodies", fmt::format("{}", s.bodies));
  line("rollouts", fmt::format("{} of {}{}", s.rollouts, count_text(s.steps, "step"),
                               s.resumed > 0 ? fmt::format(", {} done before", s.resumed) : ""));
  for (const auto& [word, count] : s.statuses) line(word.c_str(), fmt::format("{}", count));
  line("wall time", fmt::format("{}, {}, {:.3g} rollouts/s, {:.0f} steps/s", duration_text(s.wall_seconds),
                                count_text(s.threads, "thread"), s.rollouts_per_second, s.steps_per_second));
  line("penetration", fmt::format("at most {:.3g} m", s.max_penetration));
  for (const std::string& text : fallback_texts(s.solutions)) line("solver", text);
  line("state hash", hash_text(s.state_hash));
  for (const BatchSummary::Notice& notice : s.notices) {
    line("warning", fmt::format("in {}, worst in rollout {}: {}", count_text(notice.rollouts, "rollout"),
                                notice.worst, notice.text));
  }
}

/// The overlaps at the start and the warnings of steps of all rollouts.
std::vector<BatchSummary::Notice> notices_of(const BatchTable& table,
                                             const std::vector<BatchResult>& results) {
  std::vector<BatchSummary::Notice> notices;
  const auto collect = [&](const char* kind, const auto& value_of, const auto& text_of) {
    BatchSummary::Notice notice;
    notice.kind = kind;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const double value = value_of(results[i]);
      if (!(value > 0.0)) continue;
      ++notice.rollouts;
      if (!(value > notice.value)) continue;
      notice.value = value;
      notice.worst = static_cast<int>(i);
    }
    if (notice.rollouts == 0) return;
    const Scene scene = table.scene_of(notice.worst);
    notice.text = text_of(scene, results[static_cast<std::size_t>(notice.worst)]);
    notices.push_back(std::move(notice));
  };
  collect(
      "initial_overlap", [](const BatchResult& r) { return r.initial_overlap.depth; },
      [](const Scene& scene, const BatchResult& r) {
        return fmt::format("at the start, {}", overlap_text(scene.model, r.initial_overlap));
      });
  for (const StepWarning::Kind kind : k_step_warnings) {
    const auto k = static_cast<std::size_t>(kind);
    collect(
        to_string(kind), [k](const BatchResult& r) { return r.warnings[k].value; },
        [&](const Scene& scene, const BatchResult& r) {
          return warning_text(scene.model, scene.config.step, kind, r.warnings[k]);
        });
  }
  return notices;
}

std::string failure_of(const BatchTable& table, int rollout, const BatchResult& result) {
  if (!result.error.empty()) return result.error;
  const Scene scene = table.scene_of(rollout);
  return failure_text(scene.model, scene.config.step, result.final_state.time + scene.config.step.h,
                      result.report);
}

}  // namespace

fs::path batch_journal_path(const fs::path& out) { return out.string() + ".journal"; }

int run_batch_table(const BatchArguments& arguments, const std::function<bool()>& go_on) {
  const bool writes = !arguments.out.empty();
  if (writes) require_output_path(arguments.out, {".npz"});
  const BatchTable table(arguments.table);
  if (writes) require_small_enough(arguments, table);
  const auto n = static_cast<std::size_t>(table.rollouts());

  std::optional<BatchJournal> journal;
  std::vector<BatchResult> results(n);
  std::vector<char> is_done(n, 0);
  BatchSummary summary;
  const auto take = [&](int rollout, BatchResult&& result) {
    results[static_cast<std::size_t>(rollout)] = std::move(result);
    is_done[static_cast<std::size_t>(rollout)] = 1;
  };
  if (writes) {
    make_folder_of(arguments.out);
    journal.emplace(batch_journal_path(arguments.out), key_of(arguments, table), arguments.resume);
    for (auto& [rollout, result] : journal->finished()) {
      if (rollout >= 0 && rollout < table.rollouts()) take(rollout, std::move(result));
    }
    summary.resumed = static_cast<int>(std::count(is_done.begin(), is_done.end(), 1));
  }
  std::vector<int> open;
  for (int i = 0; i < table.rollouts(); ++i) {
    if (!is_done[static_cast<std::size_t>(i)]) open.push_back(i);
  }

  const auto start = std::chrono::steady_clock::now();
  std::int64_t steps_done = 0;
  bool is_whole = true;
  if (!open.empty()) {
    ProgressBar bar("steps", static_cast<std::int64_t>(open.size()) * table.steps(), arguments.quiet);
    std::int64_t omitted = 0;  // by rollouts that ended early
    BatchObserver observer;
    observer.finished = [&](int rollout, BatchResult&& result) {
      if (journal) journal->add(rollout, result);
      omitted += table.steps() - (result.report.step + 1);
      take(rollout, std::move(result));
    };
    observer.progress = [&](std::int64_t steps) {
      steps_done = steps;
      bar.update(std::min(steps + omitted, static_cast<std::int64_t>(open.size()) * table.steps()));
      return go_on();
    };
    const auto source = [&](int rollout) { return table.task_of(rollout); };
    is_whole = run_batch(open, source, {arguments.threads, writes && arguments.trajectories}, observer);
  }
  summary.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!is_whole) {
    const auto done = std::count(is_done.begin(), is_done.end(), 1);
    std::string text = fmt::format("stopped after {} of {}; ", done, count_text(n, "rollout"));
    if (writes) {
      text += fmt::format("they are kept in {}; go on with 'abut run --batch {} --out {}{} --resume'",
                          batch_journal_path(arguments.out).string(), arguments.table.string(),
                          arguments.out.string(), arguments.trajectories ? " --trajectories" : "");
    } else {
      text += "without --out none is kept";
    }
    fmt::print(stderr, "abut run: {}\n", text);
    return 1;
  }
  if (writes) {
    write_results(arguments, table, results);
    journal->remove();
  }

  summary.batch = arguments.table.string();
  summary.scene = table.scene().name;
  summary.bodies = table.scene().model.body_count();
  summary.rollouts = table.rollouts();
  summary.steps = table.steps();
  summary.threads = batch_threads(arguments.threads);
  if (summary.wall_seconds > 0.0) {
    summary.rollouts_per_second = static_cast<double>(open.size()) / summary.wall_seconds;
    summary.steps_per_second = static_cast<double>(steps_done) / summary.wall_seconds;
  }
  std::string hashes;
  int first_failed = -1;
  for (std::size_t i = 0; i < n; ++i) {
    const BatchResult& result = results[i];
    summary.max_penetration = std::max(summary.max_penetration, result.max_penetration);
    summary.solutions.add(result.solutions);
    ++summary.statuses[status_word(result)];
    hashes += hash_text(state_hash(result.final_state));
    if (result.ok()) continue;
    if (summary.failed++ == 0) first_failed = static_cast<int>(i);
  }
  summary.state_hash = hash_of(hashes);
  summary.notices = notices_of(table, results);
  if (arguments.json) {
    print_json(json_of(summary));
  } else {
    print_table(summary);
    if (writes) fmt::print("  {:<18}{}\n", "written to", arguments.out.string());
  }
  if (summary.failed == 0) return 0;
  std::fflush(stdout);
  fmt::print(stderr, "abut run: {} of {} failed; rollout {}: {}\n", summary.failed, count_text(n, "rollout"),
             first_failed, failure_of(table, first_failed, results[static_cast<std::size_t>(first_failed)]));
  return 1;
}

// Ctrl-C ---------------------------------------------------------------------------------------------------

namespace {

// A signal handler reaches nothing but this; searches ask for it from all their threads.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);
extern "C" void note_interrupt(int) { interrupted = true; }

void on_interrupt(void (*handler)(int)) {
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace

InterruptRequest::InterruptRequest() {
  interrupted = false;
  on_interrupt(note_interrupt);
}
InterruptRequest::~InterruptRequest() { on_interrupt(SIG_DFL); }
bool InterruptRequest::received() const { return interrupted; }

}  // namespace abut
