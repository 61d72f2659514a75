/// Every key of the viewer, once: the help panel shows this list and the viewer acts by it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

namespace abut::viewer {

/// What a key asks for. Where MuJoCo's simulate has a key for the same thing, ours is that one.
enum class Action {
  // simulation
  run_or_pause,
  step_forward,
  step_back,
  ten_steps_forward,
  ten_steps_back,
  first_moment,
  last_moment,
  branch,
  faster,
  slower,
  real_time,
  loop,
  reset,
  reload,
  // contacts
  contact_points,
  contact_normals,
  contact_forces,
  friction_discs,
  witness_points,
  candidates,
  vertex_sdf_contacts,
  edge_edge_contacts,
  edge_sdf_contacts,
  next_indicator,
  scale_by_indicator,
  larger_glyphs,
  smaller_glyphs,
  side_by_side,
  next_force_sum,
  friction_cones,
  pressure,
  lens,
  // geometry
  collision_mesh,
  wireframe,
  translucent,
  discrepancy,
  next_primitive,
  slice,
  // gradients
  gradient_arrows,
  compute_gradient,
  check_gradient,
  // view
  show_all,
  show_motion,
  view_front,
  view_back,
  view_right,
  view_left,
  view_top,
  view_bottom,
  orthographic,
  follow_body,
  fly,
  keep_view_1,
  keep_view_2,
  keep_view_3,
  return_to_view_1,
  return_to_view_2,
  return_to_view_3,
  clear_selection,
  // panels: each row's key is that of the panel, Panel::key()
  help_panel,
  simulation_panel,
  settings_panel,
  display_panel,
  geometry_panel,
  contacts_panel,
  gradient_panel,
  plots_panel,
  recording_panel,
  scene_panel,
  inspector_panel,
  all_panels,
  reset_layout,
  hints,
  palette,
  // files
  open_dialog,
  screenshot,
  video,
  save_trajectory,
  quit
};

enum class KeyModifier { none, shift, control };
enum class KeyCategory { simulation, contacts, geometry, gradients, view, panels, files };
inline constexpr const char* k_key_category_names[] = {"Simulation", "Contacts", "Geometry", "Gradients",
                                                       "View",       "Panels",   "Files"};

struct KeyBinding {
  Action action;
  int key;  ///< of GLFW
  KeyModifier modifier;
  KeyCategory category;
  const char* what;      ///< it does, in a few words
  bool repeats = false;  ///< while it is held
};

[[nodiscard]] std::span<const KeyBinding> key_table();

/// The row that a key press asks for. With Shift held, keys that have no row of their own with Shift do what
/// they do without: '+' is Shift and '=' on many keyboards. Plus, minus and 0 of the keypad count as those of
/// the main part.
[[nodiscard]] std::optional<KeyBinding> find_key(int key, KeyModifier modifier);

/// "Shift + Right", as the help panel has it.
[[nodiscard]] std::string key_text(const KeyBinding& binding);
/// Of the key that does it, as tooltips have it; empty if there is none.
[[nodiscard]] std::string key_text(Action action);

/// What the mouse does in the picture, and what mouse and keys do while the camera flies.
struct MouseBinding {
  const char *gesture, *what;
};
[[nodiscard]] std::span<const MouseBinding> mouse_table();
[[nodiscard]] std::span<const MouseBinding> fly_table();

/// Where a key moves a flying camera while it is held: to the right, upwards, ahead.
struct FlyKey {
  int key;  ///< of GLFW
  std::array<int, 3> way;
};
[[nodiscard]] std::span<const FlyKey> fly_keys();

}  // namespace abut::viewer
