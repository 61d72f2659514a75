#include "apps/viewer/panels/key_table.h"

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace abut::viewer {
namespace {

using M = KeyModifier;
using C = KeyCategory;

// clang-format off
constexpr KeyBinding k_keys[] = {
    {Action::run_or_pause,         GLFW_KEY_SPACE,     M::none,    C::simulation, "run or pause"},
    {Action::step_forward,         GLFW_KEY_RIGHT,     M::none,    C::simulation, "one step forward", true},
    {Action::step_back,            GLFW_KEY_LEFT,      M::none,    C::simulation, "one step back", true},
    {Action::ten_steps_forward,    GLFW_KEY_RIGHT,     M::shift,   C::simulation, "ten steps forward", true},
    {Action::ten_steps_back,       GLFW_KEY_LEFT,      M::shift,   C::simulation, "ten steps back", true},
    {Action::first_moment,         GLFW_KEY_HOME,      M::none,    C::simulation, "first moment that is kept"},
    {Action::last_moment,          GLFW_KEY_END,       M::none,    C::simulation, "last moment"},
    {Action::branch,               GLFW_KEY_B,         M::none,    C::simulation, "branch: forget what comes after this moment"},
    {Action::faster,               GLFW_KEY_EQUAL,     M::none,    C::simulation, "twice as fast", true},
    {Action::slower,               GLFW_KEY_MINUS,     M::none,    C::simulation, "half as fast", true},
    {Action::real_time,            GLFW_KEY_0,         M::none,    C::simulation, "as fast as real time"},
    {Action::loop,                 GLFW_KEY_R,         M::none,    C::simulation, "begin again at the end"},
    {Action::reset,                GLFW_KEY_BACKSPACE, M::none,    C::simulation, "reset to the initial state"},
    {Action::reload,               GLFW_KEY_L,         M::control, C::simulation, "read the scene's file again"},

    {Action::contact_points,       GLFW_KEY_C,         M::none,    C::contacts,   "points"},
    {Action::contact_normals,      GLFW_KEY_N,         M::none,    C::contacts,   "normals"},
    {Action::contact_forces,       GLFW_KEY_F,         M::none,    C::contacts,   "forces"},
    {Action::friction_discs,       GLFW_KEY_L,         M::none,    C::contacts,   "discs: stick or slip"},
    {Action::witness_points,       GLFW_KEY_M,         M::none,    C::contacts,   "witness points"},
    {Action::candidates,           GLFW_KEY_K,         M::none,    C::contacts,   "candidates of the top-K choice"},
    {Action::vertex_sdf_contacts,  GLFW_KEY_V,         M::none,    C::contacts,   "vertex-SDF contacts"},
    {Action::edge_edge_contacts,   GLFW_KEY_E,         M::none,    C::contacts,   "edge-edge contacts"},
    {Action::edge_sdf_contacts,    GLFW_KEY_D,         M::none,    C::contacts,   "edge-SDF contacts"},
    {Action::next_indicator,       GLFW_KEY_I,         M::none,    C::contacts,   "colour by the next indicator"},
    {Action::scale_by_indicator,   GLFW_KEY_A,         M::none,    C::contacts,   "scale by the indicator"},
    {Action::larger_glyphs,        GLFW_KEY_PERIOD,    M::none,    C::contacts,   "larger arrows and points", true},
    {Action::smaller_glyphs,       GLFW_KEY_COMMA,     M::none,    C::contacts,   "smaller arrows and points", true},
    {Action::side_by_side,         GLFW_KEY_X,         M::none,    C::contacts,   "side by side: without edge-edge contacts"},
    {Action::next_force_sum,       GLFW_KEY_F,         M::shift,   C::contacts,   "forces of each contact, pair or body"},
    {Action::friction_cones,       GLFW_KEY_L,         M::shift,   C::contacts,   "friction cones"},
    {Action::pressure,             GLFW_KEY_Y,         M::none,    C::contacts,   "pressure"},
    {Action::lens,                 GLFW_KEY_U,         M::none,    C::contacts,   "lens on a pair of bodies"},

    {Action::collision_mesh,       GLFW_KEY_H,         M::none,    C::geometry,   "collision mesh, not the surface"},
    {Action::wireframe,            GLFW_KEY_W,         M::none,    C::geometry,   "wireframe"},
    {Action::translucent,          GLFW_KEY_T,         M::none,    C::geometry,   "translucent bodies"},
    {Action::discrepancy,          GLFW_KEY_Z,         M::none,    C::geometry,   "mesh coloured by its distance to the SDF"},
    {Action::next_primitive,       GLFW_KEY_P,         M::none,    C::geometry,   "next primitive of the body"},
    {Action::slice,                GLFW_KEY_S,         M::none,    C::geometry,   "slice through the SDF"},

    {Action::gradient_arrows,      GLFW_KEY_G,         M::none,    C::gradients,  "arrows of the gradient"},
    {Action::compute_gradient,     GLFW_KEY_Q,         M::none,    C::gradients,  "compute the gradient"},
    {Action::check_gradient,       GLFW_KEY_Q,         M::shift,   C::gradients,  "compute it and check it"},

    {Action::show_all,             GLFW_KEY_A,         M::control, C::view,       "show all bodies"},
    {Action::show_motion,          GLFW_KEY_A,         M::shift,   C::view,       "show the whole motion"},
    {Action::view_front,           GLFW_KEY_1,         M::none,    C::view,       "from the front, along y"},
    {Action::view_back,            GLFW_KEY_2,         M::none,    C::view,       "from the back"},
    {Action::view_right,           GLFW_KEY_3,         M::none,    C::view,       "from the right, against x"},
    {Action::view_left,            GLFW_KEY_4,         M::none,    C::view,       "from the left"},
    {Action::view_top,             GLFW_KEY_5,         M::none,    C::view,       "from above"},
    {Action::view_bottom,          GLFW_KEY_6,         M::none,    C::view,       "from below"},
    {Action::orthographic,         GLFW_KEY_O,         M::none,    C::view,       "parallel rays: no perspective"},
    {Action::follow_body,          GLFW_KEY_J,         M::none,    C::view,       "follow the selected body"},
    {Action::fly,                  GLFW_KEY_J,         M::shift,   C::view,       "fly through the scene"},
    {Action::keep_view_1,          GLFW_KEY_1,         M::control, C::view,       "keep this view as the first"},
    {Action::keep_view_2,          GLFW_KEY_2,         M::control, C::view,       "keep this view as the second"},
    {Action::keep_view_3,          GLFW_KEY_3,         M::control, C::view,       "keep this view as the third"},
    {Action::return_to_view_1,     GLFW_KEY_1,         M::shift,   C::view,       "return to the first view"},
    {Action::return_to_view_2,     GLFW_KEY_2,         M::shift,   C::view,       "return to the second view"},
    {Action::return_to_view_3,     GLFW_KEY_3,         M::shift,   C::view,       "return to the third view"},
    {Action::clear_selection,      GLFW_KEY_ESCAPE,    M::none,    C::view,       "clear the selection"},

    {Action::help_panel,           GLFW_KEY_F1,        M::none,    C::panels,     "help"},
    {Action::simulation_panel,     GLFW_KEY_F2,        M::none,    C::panels,     "simulation"},
    {Action::settings_panel,       GLFW_KEY_F3,        M::none,    C::panels,     "settings"},
    {Action::display_panel,        GLFW_KEY_F4,        M::none,    C::panels,     "display of contacts"},
    {Action::geometry_panel,       GLFW_KEY_F5,        M::none,    C::panels,     "geometry"},
    {Action::contacts_panel,       GLFW_KEY_F6,        M::none,    C::panels,     "table of contacts"},
    {Action::gradient_panel,       GLFW_KEY_F7,        M::none,    C::panels,     "gradients"},
    {Action::plots_panel,          GLFW_KEY_F8,        M::none,    C::panels,     "plots over time"},
    {Action::recording_panel,      GLFW_KEY_F9,        M::none,    C::panels,     "recording"},
    {Action::scene_panel,          GLFW_KEY_F10,       M::none,    C::panels,     "tree of the scene"},
    {Action::inspector_panel,      GLFW_KEY_F11,       M::none,    C::panels,     "inspector of what is selected"},
    {Action::all_panels,           GLFW_KEY_TAB,       M::none,    C::panels,     "show or hide all panels"},
    {Action::reset_layout,         GLFW_KEY_0,         M::control, C::panels,     "reset the layout"},
    {Action::hints,                GLFW_KEY_F1,        M::shift,   C::panels,     "hints of the first start"},
    {Action::palette,              GLFW_KEY_P,         M::control, C::panels,     "find a command by its name"},

    {Action::open_dialog,          GLFW_KEY_O,         M::control, C::files,      "open a scene or a trajectory"},
    {Action::screenshot,           GLFW_KEY_F12,       M::none,    C::files,      "screenshot"},
    {Action::video,                GLFW_KEY_F12,       M::shift,   C::files,      "begin or end a video"},
    {Action::save_trajectory,      GLFW_KEY_S,         M::control, C::files,      "save the trajectory"},
    {Action::quit,                 GLFW_KEY_Q,         M::control, C::files,      "quit"},
};

constexpr MouseBinding k_mouse[] = {
    {"Left drag",          "turn the camera"},
    {"Right drag",         "move the camera across"},
    {"Wheel",              "nearer or farther"},
    {"Click",              "select a body, or pin a contact"},
    {"Double click",       "turn around the point that was clicked"},
    {"Ctrl + left drag",   "pull a body by a spring"},
    {"Ctrl + right drag",  "move a body"},
    {"Ctrl + Shift + right drag", "turn a body"},
    {"Drag of a handle",   "move or turn the selected body, while paused"},
    {"Drop of a file",     "open a scene, a trajectory, or both"},
};

constexpr MouseBinding k_fly[] = {
    {"W, S",               "ahead, back"},
    {"D, A",               "to the right, to the left"},
    {"E, Q",               "up, down"},
    {"with Shift",         "four times as fast"},
    {"Mouse",              "look around, without a pointer"},
    {"Wheel",              "faster or slower"},
    {"Esc",                "end the flight"},
};
constexpr FlyKey k_fly_keys[] = {
    {GLFW_KEY_W, {0, 0, 1}}, {GLFW_KEY_S, {0, 0, -1}}, {GLFW_KEY_D, {1, 0, 0}},
    {GLFW_KEY_A, {-1, 0, 0}}, {GLFW_KEY_E, {0, 1, 0}}, {GLFW_KEY_Q, {0, -1, 0}},
};

struct KeyName {
  int key;
  const char* name;
};
constexpr KeyName k_names[] = {
    {GLFW_KEY_SPACE, "Space"}, {GLFW_KEY_RIGHT, "Right"}, {GLFW_KEY_LEFT, "Left"},   {GLFW_KEY_HOME, "Home"},
    {GLFW_KEY_END, "End"},     {GLFW_KEY_EQUAL, "="},     {GLFW_KEY_MINUS, "-"},     {GLFW_KEY_BACKSPACE, "Backspace"},
    {GLFW_KEY_PERIOD, "."},    {GLFW_KEY_COMMA, ","},     {GLFW_KEY_ESCAPE, "Esc"},  {GLFW_KEY_TAB, "Tab"},
};
// clang-format on

std::string key_name(int key) {
  for (const KeyName& named : k_names) {
    if (named.key == key) return named.name;
  }
  if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F25) return fmt::format("F{}", key - GLFW_KEY_F1 + 1);
  // GLFW names printable keys by the character that they have on an American keyboard.
  if (key > GLFW_KEY_SPACE && key < 128) return std::string(1, static_cast<char>(key));
  return "key " + std::to_string(key);
}

int without_keypad(int key) {
  switch (key) {
    case GLFW_KEY_KP_ADD:
      return GLFW_KEY_EQUAL;
    case GLFW_KEY_KP_SUBTRACT:
      return GLFW_KEY_MINUS;
    case GLFW_KEY_KP_0:
      return GLFW_KEY_0;
    default:
      return key;
  }
}

}  // namespace

std::span<const KeyBinding> key_table() { return k_keys; }
std::span<const MouseBinding> mouse_table() { return k_mouse; }
std::span<const MouseBinding> fly_table() { return k_fly; }
std::span<const FlyKey> fly_keys() { return k_fly_keys; }

std::optional<KeyBinding> find_key(int key, KeyModifier modifier) {
  key = without_keypad(key);
  const auto find = [&](KeyModifier wanted) {
    return std::find_if(std::begin(k_keys), std::end(k_keys), [&](const KeyBinding& binding) {
      return binding.key == key && binding.modifier == wanted;
    });
  };
  auto row = find(modifier);
  if (row == std::end(k_keys) && modifier == KeyModifier::shift) row = find(KeyModifier::none);
  return row == std::end(k_keys) ? std::nullopt : std::optional(*row);
}

std::string key_text(const KeyBinding& binding) {
  constexpr const char* k_modifiers[] = {"", "Shift + ", "Ctrl + "};
  return k_modifiers[static_cast<std::size_t>(binding.modifier)] + key_name(binding.key);
}

std::string key_text(Action action) {
  for (const KeyBinding& binding : k_keys) {
    if (binding.action == action) return key_text(binding);
  }
  return {};
}

}  // namespace abut::viewer
