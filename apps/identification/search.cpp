#include "apps/identification/search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/file_hash.h"
#include "apps/abut/report.h"
#include "apps/abut/stopwatch.h"
#include "engine/atomic_file.h"
#include "engine/hash.h"
#include "engine/input_error.h"
#include "engine/law_settings.h"
#include "engine/random.h"
#include "engine/scene_writer.h"

namespace abut {
namespace {

/// A number that may be null: NaN.
double number_of(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

/// Of every byte that decides what is searched for: the experiment, its scene with all assets and meshes, and
/// the measurements.
std::string key_of(const ExperimentFile& file) {
  std::vector<std::filesystem::path> files = scene_files(file.scene);
  files.insert(files.begin(), file.path);
  for (const MotionData& data : file.data) {
    if (!data.source.file.empty()) files.push_back(data.source.file);
  }
  return fmt::format("{:016x} of abut {}", hash_of_files(files, hash_of("abut identify")), ABUT_VERSION);
}

/// What was reached, on disk.
class Checkpoint {
 public:
  Checkpoint(const ExperimentFile& file, const SearchOptions& options) : path_(options.checkpoint) {
    if (!path_.empty()) key_ = key_of(file);
  }

  void write(const std::vector<StartState>& starts) const {
    if (path_.empty()) return;
    Json json{{"key", key_}, {"starts", Json::array()}};
    for (const StartState& start : starts) {
      json["starts"].push_back({{"stage", start.stage},
                                {"is_done", start.is_done},
                                {"x", std::vector<double>(start.x.begin(), start.x.end())},
                                {"cost", start.cost},
                                {"initial_cost", start.initial_cost},
                                {"trust_region", start.trust_region},
                                {"iterations", start.iterations},
                                {"status", static_cast<int>(start.status)},
                                {"message", start.message},
                                {"notes", start.notes}});
    }
    write_file(path_, json.dump(1) + "\n");
  }
  void read(std::vector<StartState>& starts, Eigen::Index size) const {
    const Json json = Json::parse(read_file(path_), nullptr, false);
    const auto fail = [&](const std::string& what) { throw InputError(path_.string(), 0, what); };
    try {
      if (!json.is_object()) fail("is no checkpoint: it cannot be read as JSON");
      if (json.at("key") != key_)
        fail("belongs to another experiment, other data, another asset or another version");
      if (json.at("starts").size() != starts.size()) fail("has another number of starts");
      for (std::size_t s = 0; s < starts.size(); ++s) {
        const Json& saved = json["starts"][s];
        StartState& start = starts[s];
        const auto x = saved.at("x").get<std::vector<double>>();
        if (x.empty()) continue;  // not begun
        if (static_cast<Eigen::Index>(x.size()) > size) fail("has another number of unknowns");
        start.x = Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
        start.stage = saved.at("stage");
        start.is_done = saved.at("is_done");
        start.cost = number_of(saved.at("cost"));
        start.initial_cost = number_of(saved.at("initial_cost"));
        start.trust_region = saved.at("trust_region");
        start.iterations = saved.at("iterations");
        start.status = static_cast<Solution::Status>(saved.at("status").get<int>());
        start.message = saved.at("message");
        start.notes = saved.at("notes").get<std::vector<std::string>>();
      }
    } catch (const Json::exception& error) {
      fail(fmt::format("is no checkpoint: {}", error.what()));
    }
  }

 private:
  std::filesystem::path path_;
  std::string key_;
};

/// One stage of smoothing: its experiment and what fits it.
struct Stage {
  Experiment experiment;
  std::unique_ptr<MotionFit> fit;
};

class Search {
 public:
  Search(const ExperimentFile& file, const SearchOptions& options)
      : file_(file), options_(options), checkpoint_(file, options) {
    const int starts = file.search.starts;
    const int threads_of_fit = starts > 1 ? 1 : options.threads;
    const auto add = [&](const Experiment& experiment, double factor) {
      auto stage = std::make_unique<Stage>();
      stage->experiment = experiment;
      stage->experiment.scene.config.step = smoothed(experiment.scene, factor);
      stage->fit = std::make_unique<MotionFit>(stage->experiment, threads_of_fit);
      if (file.search.jacobian) stage->fit->set_method(*file.search.jacobian);
      stage->fit->count_steps(options.steps);
      stages_.push_back(std::move(stage));
    };
    for (const double factor : file.search.continuation) add(file.experiment, factor);
    if (file.experiment.shooting.segments > 1) add(whole_motions(file.experiment), 1.0);
    result_.starts.resize(at(starts));
    if (options.resume) checkpoint_.read(result_.starts, stages_.front()->fit->unknowns().size());
  }

  SearchResult run() {
    const Stopwatch stopwatch;
    const int starts = static_cast<int>(result_.starts.size());
    std::atomic<int> next{0};
    std::vector<std::exception_ptr> errors(at(starts));
    const auto work = [&] {
      for (int s = next++; s < starts && !is_stopped_; s = next++) {
        try {
          run_start(s);
        } catch (...) {
          errors[at(s)] = std::current_exception();
        }
      }
    };
    std::vector<std::thread> helpers;
    for (int i = 1; i < std::min(options_.threads, starts); ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    result_.is_whole = !is_stopped_;
    choose_best();
    std::stable_sort(result_.iterations.begin(), result_.iterations.end(),
                     [](const StageIteration& a, const StageIteration& b) {
                       return std::pair(a.start, a.stage) < std::pair(b.start, b.stage);
                     });
    result_.seconds = stopwatch.seconds();
    return std::move(result_);
  }

 private:
  void run_start(int number) {
    StartState& state = result_.starts[at(number)];
    if (state.is_done) return;
    if (state.x.size() == 0) {
      const std::lock_guard lock(mutex_);
      state.x = guess_of_start(*stages_.front()->fit, file_.search.seed, number);
    }
    const int stages = static_cast<int>(stages_.size());
    for (int stage = state.stage; stage < stages && !is_stopped_; ++stage) {
      SolveOptions options;
      options.method = file_.search.method;
      options.max_iterations = file_.search.max_iterations;
      options.tolerance = file_.search.tolerance;
      options.loss = file_.search.loss;
      options.trust_region = file_.search.trust_region;
      if (stage == state.stage && state.trust_region > 0.0) options.trust_region = state.trust_region;
      options.progress = [&](const Iteration& iteration) { return note(number, stage, iteration); };
      // States of segments come last among the unknowns: whole motions have none.
      const MotionFit& fit = *stages_[at(stage)]->fit;
      const Solution solution = solve(fit, Eigen::VectorXd(state.x.head(fit.unknowns().size())), options);
      const std::lock_guard lock(mutex_);
      result_.evaluations += solution.evaluations;
      result_.jacobians += solution.jacobians;
      state.stage = stage;
      state.x = solution.x;
      const bool has_cost = solution.status != Solution::Status::failed;
      state.cost = has_cost ? solution.cost : std::numeric_limits<double>::quiet_NaN();
      state.status = solution.status;
      state.message = solution.message;
      for (const std::string& note : solution.notes) {
        if (std::find(state.notes.begin(), state.notes.end(), note) == state.notes.end())
          state.notes.push_back(note);
      }
      state.trust_region = 0.0;
      if (solution.status == Solution::Status::stopped) is_stopped_ = true;
      const bool is_failed = solution.status == Solution::Status::failed;
      state.is_done = is_failed || (!is_stopped_ && stage + 1 == stages);
      checkpoint_.write(result_.starts);
      if (is_failed) return;
    }
  }

  bool note(int number, int stage, const Iteration& iteration) {
    const std::lock_guard lock(mutex_);
    StartState& state = result_.starts[at(number)];
    if (iteration.number == 0 && stage == 0 && state.iterations == 0) state.initial_cost = iteration.cost;
    if (iteration.number > 0) ++state.iterations;
    state.stage = stage;
    state.x = iteration.x;
    state.cost = iteration.cost;
    state.trust_region = iteration.trust_region;
    result_.iterations.push_back({number, stage, iteration});
    constexpr double k_pause = 0.2;  // [s], so that writing takes no time that counts
    if (since_checkpoint_.seconds() > k_pause) {
      checkpoint_.write(result_.starts);
      since_checkpoint_ = Stopwatch();
    }
    if (options_.progress && !options_.progress(result_.iterations.back())) is_stopped_ = true;
    return !is_stopped_;
  }

  /// The least cost among those of the last stage that were not left early by a failure.
  void choose_best() {
    const auto rank = [&](const StartState& state) {
      const bool is_failed = state.status == Solution::Status::failed || state.x.size() == 0;
      return std::tuple(is_failed, -state.stage, state.cost);
    };
    for (std::size_t s = 1; s < result_.starts.size(); ++s) {
      if (rank(result_.starts[s]) < rank(result_.starts[at(result_.best)]))
        result_.best = static_cast<int>(s);
    }
  }

  const ExperimentFile& file_;
  const SearchOptions& options_;
  Checkpoint checkpoint_;
  std::vector<std::unique_ptr<Stage>> stages_;
  SearchResult result_;
  std::mutex mutex_;
  std::atomic<bool> is_stopped_{false};
  Stopwatch since_checkpoint_;
};

}  // namespace

Experiment whole_motions(const Experiment& experiment) {
  Experiment whole = experiment;
  whole.shooting.segments = 1;
  return whole;
}

StepConfig smoothed(const Scene& scene, double factor) {
  StepConfig smooth = scene.config.step;
  smooth.stiction_factor *= factor;
  smooth.normal_smoothing_factor *= factor;
  smooth.penalty_stiction_factor *= factor;
  smooth.contact.activity_smoothing *= factor;
  reset_ignored(!scene.model.joints.empty(), smooth);
  return smooth;
}

Eigen::VectorXd guess_of_start(const MotionFit& fit, std::uint64_t seed, int number) {
  const UnknownSpace& unknowns = fit.unknowns();
  Eigen::VectorXd x = unknowns.initial();
  if (number == 0) return x;
  Random random(seed + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(number));
  Eigen::VectorXd tangent = Eigen::VectorXd::Zero(unknowns.tangent_size());
  constexpr double k_turn = 0.5;  // 30 degrees
  for (const Variable& variable : unknowns.variables()) {
    const Unknown* unknown = unknowns.unknown_of(variable);
    if (unknown == nullptr) continue;
    if (variable.kind == Variable::Kind::orientation) {
      for (int i = 0; i < 3; ++i) tangent[variable.tangent_begin + i] = k_turn * random.normal();
      continue;
    }
    const auto [lower, upper] = unknowns.bounds(variable);
    double& value = x[variable.begin];
    const bool is_positive = unknown->kind == Unknown::Kind::number && unknown->parameter.range.lower >= 0.0;
    if (unknown->prior && !unknown->logarithmic) {
      value = unknown->prior->mean + unknown->prior->deviation * random.normal();
    } else if (std::isfinite(lower) && std::isfinite(upper)) {
      value = random.uniform(lower, upper);
    } else if (unknown->logarithmic) {
      value += 0.5 * random.normal();
    } else if (is_positive) {
      value *= std::exp(0.5 * random.normal());
    } else {
      value += std::max(1.0, 0.5 * std::abs(value)) * random.normal();
    }
    value = std::clamp(value, lower, upper);
  }
  return unknowns.plus(x, tangent);
}

SearchResult search(const ExperimentFile& file, const SearchOptions& options) {
  return Search(file, options).run();
}

}  // namespace abut
