#include "apps/viewer/panels/actions.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <utility>

#include "apps/abut/trajectory_file.h"

namespace abut::viewer {
namespace {

constexpr double k_largest_size = 8.0, k_smallest_size = 0.125;  // of glyphs

template <typename T>
bool is_there(std::future<T>& future) {
  return future.valid() && future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void toggle(bool& value) { value = !value; }

/// @param others_W  points that are to be in the picture beside the bodies
void show_all(PanelContext& context, std::span<const Points> others_W) {
  context.camera = camera_around(context.frame.model->model(), context.frame.state.X_WB, context.aspect,
                                 context.camera, std::nullopt, others_W);
}

void look_from(PanelContext& context, double azimuth, double elevation) {
  context.camera.azimuth = azimuth;
  context.camera.elevation = elevation;
}

std::size_t bookmark_of(Action action, Action first) {
  return static_cast<std::size_t>(action) - static_cast<std::size_t>(first);
}

void toggle_panel(Action action, std::span<const std::unique_ptr<Panel>> panels) {
  for (const KeyBinding& binding : key_table()) {
    if (binding.action != action) continue;
    for (const auto& panel : panels) {
      if (panel->key() == binding.key) panel->open() ? panel->set_open(false) : choose_panel(*panel, panels);
    }
  }
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
  bool is_pulled = false;
  for (std::int64_t n = first + 1; n <= last; ++n) {
    request.controls.push_back(history.at(n).control);
    is_pulled = is_pulled || !request.controls.back().empty();
  }
  if (!is_pulled) {
    request.controls.clear();
  } else {
    const Control nobody(request.initial.X_WB.size(), Vec6<double>::Zero());
    for (Control& control : request.controls) {
      if (control.empty()) control = nobody;
    }
  }
  return request;
}

/// A promise that a command can carry: commands are copied.
template <typename T, typename F>
std::future<T> ask(SimulationThread& simulation, F question) {
  auto promise = std::make_shared<std::promise<T>>();
  std::future<T> answer = promise->get_future();
  simulation.post([promise, question](SimulationCore& core) {
    try {
      promise->set_value(question(core));
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  });
  return answer;
}

}  // namespace

bool perform(Action action, PanelContext& context, std::span<const std::unique_ptr<Panel>> panels) {
  using std::numbers::pi;
  ContactDisplay& contacts = context.display.contacts;
  const auto post = [&](void (*command)(SimulationCore&)) { context.simulation.post(command); };
  switch (action) {
    case Action::run_or_pause:
      context.simulation.post(
          [run = !context.frame.running](SimulationCore& core) { core.set_running(run); });
      return true;
    case Action::step_forward:
      return step_by(context, 1), true;
    case Action::step_back:
      return step_by(context, -1), true;
    case Action::ten_steps_forward:
      return step_by(context, 10), true;
    case Action::ten_steps_back:
      return step_by(context, -10), true;
    case Action::first_moment:
      post([](SimulationCore& core) {
        core.set_running(false);
        core.seek(core.history().first());
      });
      return true;
    case Action::last_moment:
      post([](SimulationCore& core) { core.seek(core.history().last()); });
      return true;
    case Action::branch:
      post([](SimulationCore& core) { core.branch(); });
      return true;
    case Action::faster:
      return change_speed(context, 2.0), true;
    case Action::slower:
      return change_speed(context, 0.5), true;
    case Action::real_time:
      post([](SimulationCore& core) { core.set_speed(1.0); });
      return true;
    case Action::loop:
      context.simulation.post(
          [loops = !context.frame.loops](SimulationCore& core) { core.set_loops(loops); });
      return true;
    case Action::reset:
      post([](SimulationCore& core) { core.reset(); });
      return true;
    case Action::reload:
      post([](SimulationCore& core) { core.reload(); });
      return true;

    case Action::contact_points:
      return toggle(contacts.points), true;
    case Action::contact_normals:
      return toggle(contacts.normals), true;
    case Action::contact_forces:
      return toggle(contacts.forces), true;
    case Action::friction_discs:
      return toggle(contacts.friction_discs), true;
    case Action::witness_points:
      return toggle(contacts.witness_points), true;
    case Action::candidates:
      return toggle(contacts.candidates), true;
    case Action::vertex_sdf_contacts:
      return toggle(contacts.vertex_sdf), true;
    case Action::edge_edge_contacts:
      return toggle(contacts.edge_edge), true;
    case Action::edge_sdf_contacts:
      return toggle(contacts.edge_sdf), true;
    case Action::next_indicator:
      contacts.indicator = static_cast<Indicator>((static_cast<std::size_t>(contacts.indicator) + 1) %
                                                  std::size(k_indicator_names));
      return true;
    case Action::scale_by_indicator:
      return toggle(contacts.scale_by_indicator), true;
    case Action::larger_glyphs:
      contacts.size = std::min(k_largest_size, contacts.size * std::sqrt(2.0));
      return true;
    case Action::smaller_glyphs:
      contacts.size = std::max(k_smallest_size, contacts.size / std::sqrt(2.0));
      return true;
    case Action::side_by_side:
      return set_side_by_side(context, !context.display.side_by_side), true;

    case Action::sdf_surface:
      context.display.surface =
          context.display.surface == BodySurface::sdf ? BodySurface::visual : BodySurface::sdf;
      return true;
    case Action::wireframe:
      return toggle(context.display.wireframe), true;
    case Action::translucent:
      return toggle(context.display.translucent), true;
    case Action::discrepancy:
      toggle(context.display.discrepancy);
      if (context.display.discrepancy) context.display.surface = BodySurface::visual;
      return true;
    case Action::next_primitive:
      return next_primitive(context), true;
    case Action::slice:
      toggle(context.display.slice.shown);
      if (context.display.slice.shown) place_slice(context);
      return true;

    case Action::gradient_arrows:
      return toggle(context.display.gradient_arrows), true;
    case Action::compute_gradient:
      return ask_for_gradient(context, false), true;
    case Action::check_gradient:
      return ask_for_gradient(context, true), true;

    case Action::show_all:
      return show_all(context, {}), true;
    case Action::show_motion:
      return show_all(context, context.frame.motion()), true;
    case Action::view_front:
      return look_from(context, -0.5 * pi, 0.0), true;
    case Action::view_back:
      return look_from(context, 0.5 * pi, 0.0), true;
    case Action::view_right:
      return look_from(context, 0.0, 0.0), true;
    case Action::view_left:
      return look_from(context, pi, 0.0), true;
    case Action::view_top:
      return look_from(context, -0.5 * pi, 0.5 * pi), true;
    case Action::view_bottom:
      return look_from(context, -0.5 * pi, -0.5 * pi), true;
    case Action::orthographic:
      return toggle(context.camera.orthographic), true;
    case Action::follow_body:
      return toggle(context.camera_state.follows), true;
    case Action::keep_view_1:
    case Action::keep_view_2:
    case Action::keep_view_3:
      context.camera_state.bookmarks[bookmark_of(action, Action::keep_view_1)] = context.camera;
      return true;
    case Action::return_to_view_1:
    case Action::return_to_view_2:
    case Action::return_to_view_3: {
      const auto& kept = context.camera_state.bookmarks[bookmark_of(action, Action::return_to_view_1)];
      if (kept) context.camera = *kept;
      return true;
    }
    case Action::clear_selection:
      return context.selection.clear(), true;

    case Action::help_panel:
    case Action::simulation_panel:
    case Action::settings_panel:
    case Action::display_panel:
    case Action::geometry_panel:
    case Action::contacts_panel:
    case Action::gradient_panel:
    case Action::plots_panel:
    case Action::recording_panel:
    case Action::scene_panel:
    case Action::inspector_panel:
      context.display.panels = true;
      return toggle_panel(action, panels), true;
    case Action::all_panels:
      return toggle(context.display.panels), true;

    case Action::screenshot:
      context.recording.take_screenshot = true;
      return true;
    case Action::video:
      toggle(context.recording.recording_video);
      // The viewer says what came of it when it ends, or at once if it cannot be.
      if (context.recording.recording_video)
        context.recording.message = "recording " + context.recording.video;
      return true;
    case Action::save_trajectory:
      context.recording.save_trajectory = true;
      return true;
    case Action::quit:
      return false;
  }
  return false;
}

bool is_on(Action action, const PanelContext& context) {
  const DisplayOptions& display = context.display;
  const ContactDisplay& contacts = display.contacts;
  switch (action) {
    case Action::run_or_pause:
      return context.frame.running;
    case Action::loop:
      return context.frame.loops;
    case Action::contact_points:
      return contacts.points;
    case Action::contact_normals:
      return contacts.normals;
    case Action::contact_forces:
      return contacts.forces;
    case Action::friction_discs:
      return contacts.friction_discs;
    case Action::witness_points:
      return contacts.witness_points;
    case Action::candidates:
      return contacts.candidates;
    case Action::vertex_sdf_contacts:
      return contacts.vertex_sdf;
    case Action::edge_edge_contacts:
      return contacts.edge_edge;
    case Action::edge_sdf_contacts:
      return contacts.edge_sdf;
    case Action::scale_by_indicator:
      return contacts.scale_by_indicator;
    case Action::side_by_side:
      return display.side_by_side;
    case Action::sdf_surface:
      return display.surface == BodySurface::sdf;
    case Action::wireframe:
      return display.wireframe;
    case Action::translucent:
      return display.translucent;
    case Action::discrepancy:
      return display.discrepancy;
    case Action::slice:
      return display.slice.shown;
    case Action::gradient_arrows:
      return display.gradient_arrows;
    case Action::orthographic:
      return context.camera.orthographic;
    case Action::follow_body:
      return context.camera_state.follows;
    case Action::all_panels:
      return display.panels;
    case Action::video:
      return context.recording.recording_video;
    default:
      return false;
  }
}

void choose_panel(Panel& chosen, std::span<const std::unique_ptr<Panel>> panels) {
  for (const auto& panel : panels) {
    if (panel->pane() == chosen.pane()) panel->set_open(false);
  }
  chosen.set_open(true);
}

void open_file(SimulationThread& simulation, const std::filesystem::path& file) {
  simulation.post([file](SimulationCore& core) {
    if (file.extension() != ".npz") return core.open(file);
    core.open(scene_of_trajectory(file));
    if (core.message().empty()) core.replay(file);
  });
}

void step_by(PanelContext& context, int steps) {
  context.simulation.post([steps](SimulationCore& core) {
    core.set_running(false);
    if (steps < 0) return core.seek(core.number() + steps);
    for (int i = 0; i < steps; ++i) {
      const std::int64_t before = core.number();
      core.step_forward();
      if (core.number() == before) return;  // it failed, or a replay is over
    }
  });
}

void change_speed(PanelContext& context, double factor) {
  context.simulation.post([factor](SimulationCore& core) {
    core.set_speed(std::clamp(core.speed() * factor, 1.0 / 16.0, 16.0));
  });
}

void set_side_by_side(PanelContext& context, bool side_by_side) {
  context.display.side_by_side = side_by_side;
  context.simulation.post(
      [side_by_side](SimulationCore& core) { core.set_look_without_edges(side_by_side); });
}

void place_slice(PanelContext& context) {
  SliceDisplay& slice = context.display.slice;
  slice.centre = context.camera.target;
  slice.offset = 0.0;
  slice.size = context.camera.distance * std::tan(0.5 * context.camera.vertical_angle);
  slice.azimuth = context.camera.azimuth;
  slice.elevation = context.camera.elevation;
}

void next_primitive(PanelContext& context) {
  const Model& model = context.frame.model->model();
  int &body = context.display.primitive_body, &primitive = context.display.primitive;
  const auto count = [&](int b) {
    return b >= 0 && b < model.body_count()
               ? static_cast<int>(model.bodies[static_cast<std::size_t>(b)].shape.primitives.size())
               : 0;
  };
  const int wanted = context.selection.body;
  if (count(wanted) > 0 && body != wanted) {
    body = wanted;
    primitive = 0;
    return;
  }
  if (body >= 0 && primitive + 1 < count(body)) {
    ++primitive;
    return;
  }
  // After the last one of the selected body comes its first, of any body the first of the next, and at last
  // nobody's.
  primitive = 0;
  if (count(wanted) > 0) return;
  for (int b = body + 1; b < model.body_count(); ++b) {
    if (count(b) == 0) continue;
    body = b;
    return;
  }
  body = primitive = -1;
}

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
  if (state.from_past) {
    state.request_on_its_way = ask<GradientRequest>(context.simulation, [=](const SimulationCore& core) {
      GradientRequest request = request_of_past(core, steps);
      request.loss = loss;
      request.check = check;
      return request;
    });
    return;
  }
  GradientRequest request;
  request.model = context.frame.model;
  request.initial = context.frame.state;
  request.number = context.frame.number;
  request.steps = steps;
  request.loss = loss;
  request.check = check;
  state.job.start(std::move(request));
}

void ask_for_determinism(PanelContext& context) {
  GradientState& state = context.gradients;
  if (state.determinism_on_its_way.valid()) return;
  state.determinism.reset();
  state.determinism_on_its_way = ask<DeterminismResult>(
      context.simulation, [steps = std::max(1, state.steps)](const SimulationCore& core) {
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
  if (std::optional<GradientResult> result = gradients.job.poll()) gradients.result = std::move(result);
  if (is_there(gradients.determinism_on_its_way)) {
    try {
      gradients.determinism = gradients.determinism_on_its_way.get();
    } catch (const std::exception& error) {
      gradients.determinism = DeterminismResult{0, -1, error.what()};
    }
  }
}

void sample_pinned(const Frame& frame, Selection& selection) {
  // Of another scene.
  const int bodies = frame.model->model().body_count();
  std::erase_if(selection.pinned, [&](const Selection::Pinned& p) { return p.feature.body_B >= bodies; });
  const auto time = static_cast<float>(frame.state.time);
  for (Selection::Pinned& pinned : selection.pinned) {
    std::vector<float>* const columns[] = {&pinned.time, &pinned.distance, &pinned.force, &pinned.activity};
    if (!pinned.time.empty() && time == pinned.time.back()) continue;
    if (!pinned.time.empty() && time < pinned.time.back()) {
      for (std::vector<float>* column : columns) column->clear();
    }
    if (pinned.time.size() >= k_most_samples) {
      for (std::vector<float>* column : columns) column->erase(column->begin());
    }
    const auto place = std::find_if(
        frame.contacts.begin(), frame.contacts.end(),
        [&](const ContactView& view) { return Selection::same(view.contact.feature, pinned.feature); });
    const bool is_there_now = place != frame.contacts.end();
    // A contact that is not there has a distance that nobody knows, and neither force nor activity.
    pinned.time.push_back(time);
    pinned.distance.push_back(is_there_now ? static_cast<float>(place->contact.signed_distance)
                                           : std::numeric_limits<float>::quiet_NaN());
    pinned.force.push_back(is_there_now && place->has_force ? static_cast<float>(place->force.normal_force())
                                                            : 0.0f);
    pinned.activity.push_back(is_there_now ? static_cast<float>(place->contact.activity) : 0.0f);
  }
}

}  // namespace abut::viewer
