/// Actions of gradients: questions to the thread of the simulation, and their answers.
#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "apps/viewer/panels/actions.h"

namespace abut::viewer {
namespace {

template <typename T>
bool is_there(std::future<T>& future) {
  return future.valid() && future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// What is needed for the gradient of steps that were made; throws std::runtime_error if there are none.
GradientRequest request_of_past(const SimulationCore& core, int steps) {
  const History& history = core.history();
  const std::int64_t last = core.number(), first = std::max(core.steps_since(), last - steps);
  if (first == last)
    throw std::runtime_error("no step leads to this moment, or none is kept: step forward first");
  GradientRequest request;
  request.model = core.model();
  request.initial = history.at(first).state;
  request.number = first;
  request.steps = static_cast<int>(last - first);
  bool is_driven = false;
  for (std::int64_t n = first + 1; n <= last; ++n) {
    request.controls.push_back(history.at(n).control);
    const Control& control = request.controls.back();
    is_driven = is_driven || !control.wrenches.empty() || !control.commands.empty();
  }
  if (!is_driven) request.controls.clear();
  return request;
}

/// The scene's pushes and commands in the steps that would follow; none where there are none.
Controls controls_that_follow(const SceneModel& model, const State& from, int steps) {
  Controls controls;
  if (model.scene->pushes.empty() && model.scene->commands.empty()) return controls;
  double time = from.time;
  for (int k = 0; k < steps; ++k, time += model.config().h)
    controls.push_back(control_at(*model.scene, time, model.config().h));
  return controls;
}

}  // namespace

void ask_for_gradient(PanelContext& context, bool check) {
  GradientState& state = context.gradients;
  if (is_busy(state)) return;
  state.message.clear();
  const int bodies = context.frame.model->model().body_count();
  Loss loss = state.loss;
  loss.body = std::clamp(loss.body, 0, bodies - 1);
  loss.other = std::clamp(loss.other, 0, bodies - 1);
  if (loss.direction.norm() > 0.0) loss.direction.normalize();
  const int steps = std::max(1, state.steps);
  std::vector<std::string> unknowns;
  if (context.frame.experiment) {
    for (const ExperimentView::Row& row : context.frame.experiment->unknowns) unknowns.push_back(row.name);
  }
  if (state.from_past) {
    state.request_on_its_way = context.simulation.ask([=](const SimulationCore& core) {
      GradientRequest request = request_of_past(core, steps);
      request.loss = loss;
      request.check = check;
      request.unknowns = unknowns;
      return request;
    });
    return;
  }
  GradientRequest request;
  request.model = context.frame.model;
  request.initial = context.frame.state;
  request.number = context.frame.number;
  request.steps = steps;
  request.controls = controls_that_follow(*request.model, request.initial, steps);
  request.loss = loss;
  request.check = check;
  request.unknowns = std::move(unknowns);
  state.job.start(std::move(request));
}

void ask_for_determinism(PanelContext& context) {
  GradientState& state = context.gradients;
  if (state.determinism_on_its_way.valid()) return;
  state.determinism.reset();
  state.determinism_on_its_way =
      context.simulation.ask([steps = std::max(1, state.steps)](const SimulationCore& core) {
        const History& history = core.history();
        if (history.first() == history.last())
          return DeterminismResult{0, -1, "no step is kept: step forward first"};
        return check_determinism(core, std::max(history.first(), history.last() - steps));
      });
}

bool is_busy(const GradientState& gradients) {
  return gradients.job.busy() || gradients.request_on_its_way.valid();
}

void poll_gradients(GradientState& gradients) {
  if (is_there(gradients.request_on_its_way)) {
    try {
      gradients.job.start(gradients.request_on_its_way.get());
    } catch (const std::exception& error) {
      gradients.message = error.what();
    }
  }
  if (std::optional<GradientResult> result = gradients.job.poll()) {
    gradients.result = std::move(result);
    gradients.study.begin(&*gradients.result);
  }
  gradients.study.poll();
  if (is_there(gradients.determinism_on_its_way)) {
    try {
      gradients.determinism = gradients.determinism_on_its_way.get();
    } catch (const std::exception& error) {
      gradients.determinism = DeterminismResult{0, -1, error.what()};
    }
  }
}

void show_motion_of_sliders(PanelContext& context) {
  GradientState& state = context.gradients;
  if (state.motion == state.shown_motion) return;
  state.shown_motion = state.motion;
  const std::uint64_t version = context.frame.model->geometry_version;
  context.simulation.post([states = state.motion, version](SimulationCore& core) {
    if (core.model()->geometry_version != version) return;  // another scene was opened: these bodies are gone
    core.set_passing_ghosts(states ? motion_ghosts(core.model()->model(), *states, "the sliders' values")
                                   : Ghosts());
  });
}

void follow_experiment(const Frame& frame, GradientState& gradients) {
  Loss& loss = gradients.loss;
  if (!frame.experiment) {
    loss.motion.reset();
    if (loss.kind == LossKind::measurements) loss.kind = LossKind::position;
    return;
  }
  if (loss.motion == frame.experiment->measured) return;
  loss.kind = LossKind::measurements;
  loss.motion = frame.experiment->measured;
  gradients.steps = frame.experiment->steps;
  gradients.from_past = false;
}

}  // namespace abut::viewer
