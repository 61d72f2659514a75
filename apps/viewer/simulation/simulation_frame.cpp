/// The frames of a simulation.
#include <limits>
#include <memory>
#include <utility>

#include "apps/abut/report.h"
#include "apps/viewer/simulation/simulation_core.h"

namespace abut::viewer {
namespace {

SharedModel model_without_edges(const SceneModel& model) {
  Scene scene = *model.scene;
  scene.config.step.contact.edge_edge = false;
  for (PairOverride& pair : scene.model.pair_overrides) pair.contact.edge_edge = false;
  return changed_model(model, std::move(scene));
}

}  // namespace

SharedFrame SimulationCore::make_frame(double real_time_factor) {
  auto frame = std::make_shared<Frame>();
  const Moment& here = history_.at(number_);
  frame->model = model_;
  frame->state = here.state;
  frame->number = number_;
  frame->first = history_.first();
  frame->last = history_.last();
  frame->steps_since = steps_since();
  frame->end = end();
  frame->running = running_;
  frame->loops = loops_;
  frame->is_replay = is_replay_;
  frame->is_edited = is_edited_;
  frame->speed = speed_;
  frame->real_time_factor = real_time_factor;
  frame->report = here.report;
  frame->step_seconds = here.step_seconds;
  frame->energy = here.energy;
  frame->message = message_;
  frame->warnings = start_warnings_;
  for (const StepWarning::Kind kind : k_step_warnings) {
    const StepWarning& warning = here.report.warnings[static_cast<std::size_t>(kind)];
    if (warning.is_given())
      frame->warnings.push_back("In the last step, " +
                                warning_text(model_->model(), model_->config(), kind, warning));
  }
  if (marks_version_ != history_.marks_version()) {
    marks_ = std::make_shared<const std::vector<StepMark>>(history_.marks().begin(), history_.marks().end());
    marks_version_ = history_.marks_version();
  }
  frame->marks = marks_;
  frame->failure = failure_;
  frame->pull = pull_;
  frame->motion_W = motion_W_;
  frame->ghosts = ghosts_at(ghosts_, model_->model(), here.state);
  if (const GhostPoints* points = ghost_points_at(ghosts_, here.state.time)) frame->ghost_points = *points;
  frame->ghosts_name = ghosts_.name;
  for (BodyGhost& ghost : ghosts_at(passing_ghosts_, model_->model(), here.state)) {
    ghost.is_passing = true;
    frame->ghosts.push_back(ghost);
  }
  frame->passing_ghosts_name = passing_ghosts_.name;
  frame->experiment = experiment_;
  const bool is_seen = pull_.body < 0 && number_ < history_.last() && !is_replay_;
  const Control control = is_seen ? history_.at(number_ + 1).control : control_from(here.state);
  look_at_contacts(*model_, here.state, control, scratch_, *frame);
  if (look_without_edges_) {
    if (!without_edges_) without_edges_ = model_without_edges(*model_);
    Frame other;
    look_at_contacts(*without_edges_, here.state, control, scratch_, other);
    frame->without_edges = std::move(other.contacts);
  }

  constexpr std::int64_t k_most_points = 1000;
  const std::int64_t count = history_.last() - history_.first() + 1;
  const std::int64_t stride = (count + k_most_points - 1) / k_most_points;
  Curves& curves = frame->curves;
  for (std::int64_t n = history_.first(); n <= history_.last(); n += stride) {
    if (n + stride > history_.last()) n = history_.last();  // the last moment is always there
    const Moment& moment = history_.at(n);
    curves.number.push_back(n);
    curves.time.push_back(static_cast<float>(moment.state.time));
    const auto if_known = [&](double value) {
      return moment.is_from_file ? std::numeric_limits<double>::quiet_NaN() : value;
    };
    const double values[k_curves] = {moment.energy,
                                     moment.momentum,
                                     moment.angular_momentum,
                                     if_known(moment.report.max_penetration),
                                     static_cast<double>(moment.report.contacts),
                                     if_known(moment.report.iterations),
                                     if_known(moment.step_seconds)};
    for (std::size_t c = 0; c < k_curves; ++c) curves.values[c].push_back(static_cast<float>(values[c]));
  }
  return frame;
}

}  // namespace abut::viewer
