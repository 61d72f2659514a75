#include "apps/viewer/simulation/simulation_core.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "apps/abut/trajectory_file.h"
#include "engine/input_error.h"
#include "engine/scene_writer.h"

namespace abut::viewer {
namespace {

namespace fs = std::filesystem;

/// Memory of a moment of a model with so many bodies, about.
double bytes_of_moment(int bodies) { return 600.0 + 8.0 * bodies * (13.0 + 6.0); }

/// Corners of boxes around bodies at some moments of a motion, but for those far away of where it began: one
/// body that falls for ever must not make all others small.
Points extent_of(const Model& model, std::span<const State> states) {
  constexpr double k_farthest = 3.0;  // in diagonals of what is there at first
  std::vector<Points> all;
  Eigen::AlignedBox3d near;
  for (const State& state : states) {
    Points corners_W = box_corners_W(model, state.X_WB);
    if (near.isEmpty() && corners_W.cols() > 0 && corners_W.allFinite()) {
      near = {corners_W.rowwise().minCoeff(), corners_W.rowwise().maxCoeff()};
      const double margin = k_farthest * near.diagonal().norm();
      near.extend(Vec3<double>(near.min().array() - margin))
          .extend(Vec3<double>(near.max().array() + margin));
    }
    all.push_back(std::move(corners_W));
  }
  std::vector<Vec3<double>> kept;
  for (const Points& corners_W : all) {
    for (Eigen::Index i = 0; i < corners_W.cols(); ++i) {
      if (near.contains(Vec3<double>(corners_W.col(i)))) kept.emplace_back(corners_W.col(i));
    }
  }
  Points extent_W(3, static_cast<Eigen::Index>(kept.size()));
  for (std::size_t i = 0; i < kept.size(); ++i) extent_W.col(static_cast<Eigen::Index>(i)) = kept[i];
  return extent_W;
}

/// How many moments stand for a motion of so many bodies.
std::int64_t moments_of_motion(int bodies) { return std::clamp(2000 / std::max(bodies, 1), 2, 40); }

/// What the ghosts of an experiment are of. Poses were measured: where shapes are unknown, ghosts have those
/// of the values that are shown.
std::string ghosts_name(const ExperimentView& view) {
  const std::vector<Measurement>& measurements = view.measured->measurements;
  std::string name =
      std::all_of(measurements.begin(), measurements.end(), [](const Measurement& m) { return m.is_goal; })
          ? "the goal"
          : "what was measured";
  const bool has_shape = std::any_of(
      view.unknowns.begin(), view.unknowns.end(),
      [](const ExperimentView::Row& row) { return row.name.find(".primitive.") != std::string::npos; });
  if (has_shape && view.choice.values == UnknownValues::guesses) name += ", shapes as guessed";
  if (has_shape && view.choice.values == UnknownValues::estimates) name += ", shapes as estimated";
  return name;
}

bool same_bodies(const Model& a, const Model& b) {
  return std::equal(a.bodies.begin(), a.bodies.end(), b.bodies.begin(), b.bodies.end(),
                    [](const Body& x, const Body& y) { return x.name == y.name; });
}

}  // namespace

SimulationCore::SimulationCore(const SimulationOptions& options)
    : capacity_limit_(options.history), history_bytes_(options.history_bytes) {
  if (options.experiment.file.empty()) {
    use(read_scene_model(options.scene));
    start_from(model_->scene->initial);
  } else {
    ExperimentScene opened = read_experiment_scene(options.experiment);
    SharedModel model = make_scene_model(opened.scene_file, std::move(opened.scene));
    use_experiment(std::move(opened), std::move(model));
  }
  options.trajectory.empty() ? foresee_motion() : replay(options.trajectory);
}

// Of many bodies only the beginning: what is shown first must not wait for seconds.
void SimulationCore::foresee_motion() {
  constexpr int k_most_body_steps = 30'000;
  const int bodies = model_->model().body_count();
  const int steps = std::min(model_->scene->config.steps, k_most_body_steps / std::max(bodies, 1));
  const std::int64_t stride = std::max<std::int64_t>(1, steps / moments_of_motion(bodies));
  std::vector<State> moments{model_->scene->initial};
  State here = model_->scene->initial, next;
  for (int i = 0; i < steps; ++i) {
    const Control control = control_at(*model_->scene, here.time, model_->config().h);
    if (model_->simulator.stepper().step(here, control, next, scratch_.step).status != StepStatus::ok) break;
    ++foreseen_steps_;
    std::swap(here, next);
    if ((i + 1) % stride == 0 || i + 1 == steps) moments.push_back(here);
  }
  Points extent_W = extent_of(model_->model(), moments);
  const Points ghosts_W = ghost_extent_W(ghosts_, model_->model(), model_->scene->initial);
  const Eigen::Index before = extent_W.cols();
  extent_W.conservativeResize(3, before + ghosts_W.cols());
  extent_W.rightCols(ghosts_W.cols()) = ghosts_W;
  motion_W_ = std::make_shared<const Points>(std::move(extent_W));
}

void SimulationCore::use(SharedModel model) {
  model_ = std::move(model);
  without_edges_.reset();
  ++version_;
}

void SimulationCore::start_from(const State& initial) {
  files_.clear();
  for (const fs::path& file : scene_files(model_->file)) {
    std::error_code ignored;
    files_.emplace_back(file, fs::last_write_time(file, ignored));
  }
  if (experiment_) {
    for (const fs::path& file : {experiment_->choice.file, experiment_->choice.result}) {
      std::error_code ignored;
      if (!file.empty()) files_.emplace_back(file, fs::last_write_time(file, ignored));
    }
  }
  const double most = history_bytes_ / bytes_of_moment(model_->model().body_count());
  history_ = History(std::max<std::size_t>(2, std::min(capacity_limit_, static_cast<std::size_t>(most))));
  history_.restart(moment_of(initial));
  number_ = steps_since_ = 0;
  marks_version_ = 0;
  failure_ = {};
  find_start_warnings_here();
  owed_ = 0.0;
  is_replay_ = false;
  pull_ = {};
  ++version_;
}

void SimulationCore::find_start_warnings_here() {
  start_warnings_.clear();
  const StartWarnings found = find_start_warnings(model_->simulator.stepper(), state());
  for (const std::string& text : warning_texts(model_->model(), found))
    start_warnings_.push_back(fmt::format("At step {}, {}", number_, text));
}

Moment SimulationCore::moment_of(const Model& model, State state) {
  Moment moment;
  moment.energy = mechanical_energy(model, state);
  Vec3<double> p = Vec3<double>::Zero(), L = p;
  for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
    const Body& body = model.bodies[b];
    if (body.fixed) continue;
    const Vec3<double> v = state.V_WB[b].tail<3>(), w = state.V_WB[b].head<3>();
    const Quat<double>& q = state.X_WB[b].q;
    p += body.mass * v;
    L += body.mass * state.X_WB[b].p.cross(v) + q * Vec3<double>(body.inertia * (q.conjugate() * w));
  }
  moment.momentum = p.norm();
  moment.angular_momentum = L.norm();
  moment.state = std::move(state);
  return moment;
}

void SimulationCore::set_running(bool running) {
  running_ = running;
  owed_ = 0.0;
  ++version_;
}

void SimulationCore::set_speed(double speed) {
  speed_ = std::isfinite(speed) ? std::clamp(speed, 1.0 / 1024.0, 64.0) : 1.0;
  ++version_;
}

double SimulationCore::step_length() const {
  if (number_ < history_.last()) {
    const double length = history_.at(number_ + 1).state.time - state().time;
    if (length > 0.0) return length;
  }
  return model_->config().h;
}

Control SimulationCore::control_from(const State& state) const {
  Control control = control_at(*model_->scene, state.time, model_->config().h);
  if (pull_.body < 0) return control;
  control.wrenches.resize(state.X_WB.size(), Vec6<double>::Zero());
  control.wrenches[static_cast<std::size_t>(pull_.body)] += pull_wrench(model_->model(), state, pull_);
  return control;
}

void SimulationCore::step_forward() {
  if (number_ < history_.last()) {
    ++number_;
    ++version_;
    return;
  }
  if (is_replay_) {  // it ends here; branch() goes on
    running_ = false;
    ++version_;
    return;
  }
  const Moment& here = history_.at(number_);
  Control control = control_from(here.state);
  const auto begin = std::chrono::steady_clock::now();
  const StepReport report = model_->simulator.stepper().step(here.state, control, next_, scratch_.step);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ++version_;
  if (report.status != StepStatus::ok) {
    running_ = false;
    message_ = failure_text(model_->model(), model_->config(), here.state.time + model_->config().h, report);
    failure_ = {number_, message_};
    return;
  }
  Moment next = moment_of(next_);
  next.report = report;
  next.control = std::move(control);
  next.step_seconds = seconds;
  history_.push(std::move(next));
  ++number_;
  failure_ = {};
}

void SimulationCore::stop_at_end() {
  if (loops_) return seek(history_.first());
  running_ = false;
  ++version_;
}

void SimulationCore::step_back() { seek(number_ - 1); }

void SimulationCore::seek(std::int64_t number) {
  number_ = std::clamp(number, history_.first(), history_.last());
  owed_ = 0.0;
  ++version_;
}

void SimulationCore::reset() {
  message_.clear();
  if (is_replay_) {
    set_running(false);
    seek(history_.first());
    return;
  }
  start_from(model_->scene->initial);
}

void SimulationCore::forget_future() {
  history_.truncate_after(number_);
  failure_ = {};
  // Who knows what made those of a replay, and earlier ones may be of other settings.
  steps_since_ = is_replay_ ? number_ : std::min(steps_since_, number_);
  is_replay_ = false;
  owed_ = 0.0;
  ++version_;
}

void SimulationCore::branch() { forget_future(); }

void SimulationCore::open(const fs::path& scene, const fs::path& trajectory) {
  try {
    SharedModel model = read_scene_model(scene);
    std::vector<Moment> moments;
    if (!trajectory.empty()) moments = read_moments(trajectory, *model);
    use(std::move(model));
    is_edited_ = false;
    message_.clear();
    running_ = false;
    ghosts_ = passing_ghosts_ = {};
    experiment_.reset();
    start_from(model_->scene->initial);
    trajectory.empty() ? foresee_motion() : replay(std::move(moments));
  } catch (const std::exception& error) {
    set_message(error.what());
  }
}

void SimulationCore::open_experiment(const ExperimentChoice& choice) {
  try {
    ExperimentScene opened = read_experiment_scene(choice);
    SharedModel model = make_scene_model(opened.scene_file, std::move(opened.scene));
    use_experiment(std::move(opened), std::move(model));
    is_edited_ = false;
    message_.clear();
    running_ = false;
    foresee_motion();
  } catch (const std::exception& error) {
    set_message(error.what());
  }
}

void SimulationCore::use_experiment(ExperimentScene opened, SharedModel model) {
  use(std::move(model));
  experiment_ = std::make_shared<const ExperimentView>(std::move(opened.view));
  ghosts_ = measured_ghosts(model_->model(), model_->scene->initial, experiment_->measured->measurements,
                            ghosts_name(*experiment_));
  passing_ghosts_ = {};
  start_from(model_->scene->initial);
}

void SimulationCore::reload() {
  const bool was_running = running_;
  if (experiment_) {
    open_experiment(ExperimentChoice(experiment_->choice));
  } else {
    open(fs::path(model_->file));
  }
  if (message_.empty()) running_ = was_running;
}

void SimulationCore::reload_if_changed() {
  for (auto& [file, date] : files_) {
    std::error_code error;
    const fs::file_time_type now = fs::last_write_time(file, error);
    if (error || now == date) continue;
    date = now;  // one that cannot be read is not tried again until it changes again
    if (is_replay_) {
      set_message("a file of the scene has changed; reading it again would end the replay");
    } else {
      reload();
    }
    return;
  }
}

std::vector<Moment> SimulationCore::read_moments(const fs::path& file, const SceneModel& model) {
  const RecordedTrajectory trajectory(file, model.model());
  std::vector<Moment> moments;
  for (std::size_t i = 0; i < trajectory.size(); ++i) {
    moments.push_back(moment_of(model.model(), trajectory.state(i)));
    moments.back().report.contacts = trajectory.contacts(i);
    moments.back().is_from_file = true;
  }
  return moments;
}

void SimulationCore::replay(const fs::path& file) { replay(read_moments(file, *model_)); }

void SimulationCore::replay(std::vector<Moment> moments) {
  start_from(moments.front().state);
  history_ = History(std::max<std::size_t>(2, moments.size()));
  history_.restart(std::move(moments.front()));
  for (std::size_t i = 1; i < moments.size(); ++i) history_.push(std::move(moments[i]));
  is_replay_ = true;
  steps_since_ = history_.last();
  const std::int64_t stride =
      std::max<std::int64_t>(1, history_.last() / moments_of_motion(model_->model().body_count()));
  std::vector<State> some;
  for (std::int64_t n = history_.first(); n <= history_.last(); n += stride)
    some.push_back(history_.at(n).state);
  some.push_back(history_.at(history_.last()).state);
  motion_W_ = std::make_shared<const Points>(extent_of(model_->model(), some));
}

void SimulationCore::edit(const std::function<void(Scene& scene)>& change) {
  Scene changed = *model_->scene;
  change(changed);
  try {
    if (!same_bodies(changed.model, model_->model()))
      throw std::invalid_argument("bodies cannot be added, removed or renamed");
    use(changed_model(*model_, std::move(changed)));
    is_edited_ = true;
    message_.clear();
  } catch (const std::exception& error) {
    message_ = error.what();
    ++version_;
    return;
  }
  forget_future();
  const Moment& here = history_.at(number_);
  Moment again = moment_of(here.state);
  again.report = here.report;
  again.control = here.control;
  again.step_seconds = here.step_seconds;
  history_.replace_last(std::move(again));
  steps_since_ = number_;
}

void SimulationCore::set_pose(int body, const Pose<double>& X_WB) {
  if (body < 0 || body >= model_->model().body_count()) return;
  const auto b = static_cast<std::size_t>(body);
  if (!X_WB.p.allFinite() || !(X_WB.q.norm() > 0.5)) return;
  State state = history_.at(number_).state;
  state.X_WB[b] = X_WB.normalized();
  if (!model_->model().bodies[b].fixed) state.V_WB[b].setZero();
  forget_future();
  history_.replace_last(moment_of(std::move(state)));
  steps_since_ = number_;
  find_start_warnings_here();
}

void SimulationCore::save_trajectory(const fs::path& path) const {
  require_trajectory_path(path);
  TrajectoryFile file(model_->model(), model_->file);
  for (std::int64_t n = history_.first(); n <= history_.last(); ++n) {
    const Moment& moment = history_.at(n);
    constexpr int k_time_digits = 12;  // the sum of steps that need not be of one length has no more
    file.add(moment.state, rounded_to_digits(moment.state.time, k_time_digits), moment.energy,
             moment.report.contacts);
  }
  file.write(path);
}

}  // namespace abut::viewer
