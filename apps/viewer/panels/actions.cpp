#include "apps/viewer/panels/actions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace abut::viewer {
namespace {

constexpr double k_largest_size = 8.0, k_smallest_size = 0.125;  // of glyphs

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

void set_flying(PanelContext& context, bool flies) {
  context.camera_state.flies = flies;
  if (!flies) return;
  context.camera.orthographic = false;
  context.recording.message =
      "flying: W A S D and E Q move, with Shift faster; the mouse looks around; Esc ends it";
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
    case Action::next_force_sum:
      if (!contacts.forces && !contacts.friction_cones) return toggle(contacts.forces), true;
      contacts.force_sum = static_cast<ForceSum>((static_cast<std::size_t>(contacts.force_sum) + 1) %
                                                 std::size(k_force_sum_names));
      return true;
    case Action::friction_cones:
      return toggle(contacts.friction_cones), true;
    case Action::pressure:
      return toggle(contacts.pressure), true;
    case Action::lens:
      return toggle(context.display.lens), true;

    case Action::collision_mesh:
      context.display.surface =
          context.display.surface == BodySurface::mesh ? BodySurface::visual : BodySurface::mesh;
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
      context.camera_state.flies = false;  // nothing comes nearer without perspective
      return toggle(context.camera.orthographic), true;
    case Action::follow_body:
      return toggle(context.camera_state.follows), true;
    case Action::fly:
      return set_flying(context, !context.camera_state.flies), true;
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
      if (context.camera_state.flies) return set_flying(context, false), true;
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
    case Action::open_dialog:
      return context.requests.open_dialog = true;
    case Action::palette:
      return context.requests.palette = true;
    case Action::hints:
      return context.requests.hints = true;
    case Action::reset_layout:
      return context.requests.reset_layout = true;
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
    case Action::friction_cones:
      return contacts.friction_cones;
    case Action::pressure:
      return contacts.pressure;
    case Action::lens:
      return display.lens;
    case Action::collision_mesh:
      return display.surface == BodySurface::mesh;
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
    case Action::fly:
      return context.camera_state.flies;
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

}  // namespace abut::viewer
