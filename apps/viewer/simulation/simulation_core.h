/// The simulation that the viewer shows, and what its user can do to it. Knows neither threads nor clocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "apps/viewer/simulation/frame.h"
#include "apps/viewer/simulation/history.h"

namespace abut::viewer {

struct SimulationOptions {
  std::filesystem::path scene;
  ExperimentChoice experiment{};     ///< in place of a scene, if it has a file
  std::filesystem::path trajectory;  ///< to replay, may be empty
  std::size_t history = 20000;       ///< moments that are kept at most, >= 2
  double history_bytes = 512e6;      ///< and as many as this allows, but 2 at least
};

class SimulationCore {
 public:
  /// Throws InputError.
  explicit SimulationCore(const SimulationOptions& options);

  // Time ----------------------------------------------------------------------------------------------------
  void set_running(bool running);
  [[nodiscard]] bool running() const { return running_; }
  void set_speed(double speed);  ///< of real time, clamped to [1/1024, 64]
  /// Simulates (or replays) what `seconds` of real time ask for at the speed, until `may_go_on` says no; what
  /// is left then is dropped. It stops at end(), once: who runs on from there goes on.
  template <typename F>
  void advance(double seconds, F may_go_on) {
    if (!running_) return;
    owed_ += seconds * speed_;
    while (running_ && owed_ > 0.0 && may_go_on()) {
      owed_ -= step_length();
      const std::int64_t before = number_;
      step_forward();
      if (number_ == end() && before < number_) stop_at_end();
    }
    if (owed_ > 0.0) owed_ = 0.0;
  }
  void set_loops(bool loops) {
    loops_ = loops;
    ++version_;
  }
  /// Where running stops by itself, or begins again if it loops: after the scene's `steps`, or where a replay
  /// ends.
  [[nodiscard]] std::int64_t end() const {
    return is_replay_ ? history_.last() : model_->scene->config.steps;
  }
  /// To the moment that follows: one seen before, else a new step. Where a step fails, the simulation stops
  /// and says so.
  void step_forward();
  void step_back();
  void seek(std::int64_t number);  ///< clamped to what there is
  /// To the initial state; everything since is forgotten.
  void reset();
  /// From the moment shown on: later ones are forgotten, also those of a replay.
  void branch();

  // Scene ---------------------------------------------------------------------------------------------------
  /// Another scene, or the same file again, with a trajectory of it to replay unless that is empty. If they
  /// cannot be read, all stays and message() says why.
  void open(const std::filesystem::path& scene, const std::filesystem::path& trajectory = {});
  /// The same of a motion of an experiment, with what was measured as ghosts.
  void open_experiment(const ExperimentChoice& choice);
  void reload();
  /// Reloads if a file of the scene has another date than when it was read.
  void reload_if_changed();
  void replay(const std::filesystem::path& trajectory);
  /// Bodies of another motion, shown beside those of the simulation; none if it is empty.
  void set_ghosts(Ghosts ghosts) {
    ghosts_ = std::move(ghosts);
    ++version_;
  }
  /// The same for a while, beside those.
  void set_passing_ghosts(Ghosts ghosts) {
    passing_ghosts_ = std::move(ghosts);
    ++version_;
  }
  /// Settings and bodies other than their shapes; moments stay, later ones are forgotten. An edit that makes
  /// no sense changes nothing but message().
  void edit(const std::function<void(Scene& scene)>& change);

  // Bodies --------------------------------------------------------------------------------------------------
  /// Of a body that the scene has; else nobody pulls.
  void set_pull(const Pull& pull) {
    pull_ = pull.body < model_->model().body_count() ? pull : Pull();
    ++version_;
  }
  void set_pose(int body, const Pose<double>& X_WB);  ///< its velocity becomes 0; later moments are forgotten
  void set_look_without_edges(bool look) {
    if (look != look_without_edges_) ++version_;
    look_without_edges_ = look;
  }

  // What there is -------------------------------------------------------------------------------------------
  [[nodiscard]] const SharedModel& model() const { return model_; }
  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] std::int64_t number() const { return number_; }
  /// The first moment from which on all that is kept follows from the moment before by a step of this model.
  [[nodiscard]] std::int64_t steps_since() const { return std::max(steps_since_, history_.first()); }
  [[nodiscard]] const State& state() const { return history_.at(number_).state; }
  [[nodiscard]] const std::string& message() const { return message_; }
  void set_message(std::string message) {
    message_ = std::move(message);
    ++version_;
  }
  void dismiss_message() { set_message({}); }
  [[nodiscard]] double speed() const { return speed_; }
  /// Steps that were simulated only to know how far the motion goes.
  [[nodiscard]] std::int64_t foreseen_steps() const { return foreseen_steps_; }
  /// Goes up with every change that can be seen.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] SharedFrame make_frame(double real_time_factor);

  /// Writes all moments that are kept as `abut run --out` does. Throws InputError.
  void save_trajectory(const std::filesystem::path& path) const;

 private:
  [[nodiscard]] double step_length() const;
  [[nodiscard]] Moment moment_of(State state) const { return moment_of(model_->model(), std::move(state)); }
  [[nodiscard]] static Moment moment_of(const Model& model, State state);
  /// Wrenches of the step from a state on: the scene's pushes, and the user's pull.
  [[nodiscard]] Control control_from(const State& state) const;
  void start_from(const State& initial);
  void stop_at_end();
  void foresee_motion();
  /// Reads a trajectory. Throws InputError.
  [[nodiscard]] static std::vector<Moment> read_moments(const std::filesystem::path& file,
                                                        const SceneModel& model);
  void replay(std::vector<Moment> moments);
  void use_experiment(ExperimentScene opened, SharedModel model);
  void find_start_warnings_here();
  void use(SharedModel model);
  void forget_future();

  std::size_t capacity_limit_;
  double history_bytes_;
  SharedModel model_;
  std::vector<std::pair<std::filesystem::path, std::filesystem::file_time_type>> files_;
  SharedModel without_edges_;
  History history_{2};
  std::int64_t number_ = 0, steps_since_ = 0;
  std::vector<std::string> start_warnings_;  ///< of the state from which the steps go on: initial, or set
  FrameScratch scratch_;
  State next_;
  bool running_ = false, loops_ = false, is_replay_ = false, look_without_edges_ = false, is_edited_ = false;
  double speed_ = 1.0, owed_ = 0.0;
  Pull pull_;
  std::shared_ptr<const Points> motion_W_;  ///< of the whole motion, as far as it can be known before
  std::int64_t foreseen_steps_ = 0;
  Ghosts ghosts_, passing_ghosts_;
  std::shared_ptr<const ExperimentView> experiment_;
  std::string message_;
  StepFailure failure_;
  std::shared_ptr<const std::vector<StepMark>> marks_;  ///< of the history, at that version of them
  std::uint64_t marks_version_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace abut::viewer
