#include "apps/viewer/panels/panel.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <imgui.h>
#include <imgui_internal.h>  // what the mouse is over, by id; nothing public says so
#include <catch2/catch.hpp>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/panels/actions.h"
#include "apps/viewer/panels/key_table.h"
#include "apps/viewer/panels/pending_edits.h"
#include "apps/viewer/panels/plot.h"

namespace abut::viewer {
namespace {

using Catch::Contains;

constexpr float k_width = 340.0f, k_height = 3000.0f;

std::string scene_file(const std::string& name) { return ABUT_SOURCE_DIR "/assets/scenes/" + name + ".toml"; }

/// All that the viewer has around a panel, but no window and no OpenGL: pictures end as lists of triangles.
class Desk {
 public:
  explicit Desk(const std::string& scene)
      : context_(ImGui::CreateContext()), simulation(options(scene), Threading::none) {
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;  // as the viewer's has it
    // The viewer's font where there is one: whether words fit depends on it.
    constexpr const char* k_font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
    if (std::filesystem::exists(k_font)) io.Fonts->AddFontFromFileTTF(k_font, 15.0f);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
    io.DisplaySize = {2.0f * k_width, k_height};
    io.DeltaTime = 1.0f / 60.0f;
    io.MousePos = {-1.0f, -1.0f};
    panels = make_panels();
  }
  ~Desk() { ImGui::DestroyContext(context_); }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  [[nodiscard]] Panel& panel(int key) const {
    for (const auto& one : panels) {
      if (one->key() == key) return *one;
    }
    throw std::logic_error("no such panel");
  }

  [[nodiscard]] PanelContext context() {
    return {*frame, simulation, display, selection, gradients, recording, camera, 60.0};
  }

  /// One picture of a panel in a window of its own; what stands inside the same window afterwards goes to
  /// `inside`.
  void draw(Panel& panel, const std::function<void()>& inside = {}) {
    frame = simulation.frame();
    poll_gradients(gradients);
    sample_pinned(*frame, selection);
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0.0f, 0.0f});
    ImGui::SetNextWindowSize({k_width, k_height});
    ImGui::Begin(panel.title().c_str(), nullptr, ImGuiWindowFlags_AlwaysVerticalScrollbar);
    PanelContext now = context();
    panel.draw(now);
    beyond_the_edge = ImGui::GetScrollMaxX();
    content_height = ImGui::GetCursorPosY();
    if (inside) inside();
    ImGui::End();
    ImGui::Render();
    triangles = ImGui::GetDrawData()->TotalIdxCount / 3;
  }

  /// A picture, and what it asked for is done.
  void turn(Panel& panel, double seconds = 0.0) {
    draw(panel);
    simulation.update(seconds);
    frame = simulation.frame();
  }

  /// The middle of the item that `id` says, found by the mouse as a user would find it.
  std::optional<ImVec2> find(Panel& panel, const std::function<ImGuiID()>& id) {
    ImGuiID wanted = 0;
    draw(panel, [&] { wanted = id(); });
    draw(panel);
    const auto is_over = [&](float x, float y) {
      ImGui::GetIO().MousePos = {x, y};
      draw(panel);
      return context_->HoveredId == wanted;
    };
    const float bottom = std::min(k_height, content_height + 10.0f);
    for (float y = 4.0f; y < bottom; y += 5.0f) {
      for (float x = 12.0f; x < k_width; x += 12.0f) {
        if (!is_over(x, y)) continue;
        float right = x, below = y;
        while (is_over(right + 2.0f, y)) right += 2.0f;
        while (is_over(x, below + 2.0f)) below += 2.0f;
        return ImVec2(0.5f * (x + right), 0.5f * (y + below));
      }
    }
    return std::nullopt;
  }

  /// Presses and lets go of a button of the mouse at a place, a picture for each.
  void click(Panel& panel, ImVec2 at, int button = 0) {
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = at;
    turn(panel);
    io.MouseDown[button] = true;
    turn(panel);
    io.MouseDown[button] = false;
    turn(panel);
    turn(panel);
  }

  /// What the mouse is over there.
  [[nodiscard]] ImGuiID item_at(Panel& panel, float x, float y) {
    ImGui::GetIO().MousePos = {x, y};
    draw(panel);
    return context_->HoveredId;
  }

  static SimulationOptions options(const std::string& scene) {
    SimulationOptions result;
    result.scene = scene;
    return result;
  }

 private:
  ImGuiContext* context_;

 public:
  SimulationThread simulation;
  std::vector<std::unique_ptr<Panel>> panels;
  SharedFrame frame;
  DisplayOptions display;
  Selection selection;
  GradientState gradients;
  RecordingState recording;
  OrbitCamera camera;
  float beyond_the_edge = 0.0f, content_height = 0.0f;
  int triangles = 0;
};

void run_steps(Desk& desk, int count) {
  desk.simulation.call([count](SimulationCore& core) {
    for (int i = 0; i < count; ++i) core.step_forward();
  });
  desk.frame = desk.simulation.frame();
}

void require_all_draw(Desk& desk) {
  for (const auto& panel : desk.panels) {
    CAPTURE(panel->title());
    for (int i = 0; i < 4; ++i) desk.draw(*panel);  // sizes settle
    CHECK(desk.triangles > 50);
    CHECK(desk.content_height > 60.0f);
    CHECK(desk.beyond_the_edge == 0.0f);  // nothing is clipped at 340 pixels
  }
}

void pin_contacts(Desk& desk, std::size_t count) {
  for (std::size_t i = 0; i < std::min(count, desk.frame->contacts.size()); ++i)
    desk.selection.toggle_pin(desk.frame->contacts[i].contact.feature);
}

ImGuiID id_in(const char* outer, const char* inner) {
  ImGui::PushID(outer);
  const ImGuiID id = ImGui::GetID(inner);
  ImGui::PopID();
  return id;
}

}  // namespace

// Keys ------------------------------------------------------------------------------------------------------

TEST_CASE("key table: no key means two things, and no row is without words", "[viewer][value]") {
  std::set<std::pair<int, int>> keys;
  std::set<Action> actions;
  for (const KeyBinding& binding : key_table()) {
    CAPTURE(key_text(binding), binding.what);
    CHECK(keys.emplace(binding.key, static_cast<int>(binding.modifier)).second);
    CHECK(actions.insert(binding.action).second);
    CHECK(std::string(binding.what).size() > 3);
    CHECK_THAT(key_text(binding), !Contains("key "));  // each has a name
    const auto found = find_key(binding.key, binding.modifier);
    REQUIRE(found);
    CHECK(found->action == binding.action);
  }
  CHECK(actions.size() == static_cast<std::size_t>(Action::quit) + 1);  // every action has a key
  CHECK_FALSE(find_key(GLFW_KEY_F25, KeyModifier::none));
  CHECK(find_key(GLFW_KEY_KP_ADD, KeyModifier::none)->action == Action::faster);
  CHECK(find_key(GLFW_KEY_EQUAL, KeyModifier::shift)->action == Action::faster);  // '+'
  CHECK(find_key(GLFW_KEY_RIGHT, KeyModifier::shift)->action == Action::ten_steps_forward);
  CHECK_FALSE(find_key(GLFW_KEY_SPACE, KeyModifier::control));
}

TEST_CASE("key table: keys that MuJoCo's simulate has mean the same here", "[viewer][value]") {
  CHECK(key_text(Action::run_or_pause) == "Space");
  CHECK(key_text(Action::step_forward) == "Right");
  CHECK(key_text(Action::step_back) == "Left");
  CHECK(key_text(Action::reset) == "Backspace");
  CHECK(key_text(Action::contact_points) == "C");
  CHECK(key_text(Action::contact_forces) == "F");
  CHECK(key_text(Action::sdf_surface) == "H");
  CHECK(key_text(Action::help_panel) == "F1");
  CHECK(key_text(Action::reload) == "Ctrl + L");
}

TEST_CASE("key table: the key of every panel opens and closes it, and no other", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.frame = desk.simulation.frame();
  REQUIRE(desk.panels.size() == 9);
  for (std::size_t i = 0; i < desk.panels.size(); ++i) {
    CHECK(desk.panels[i]->key() == GLFW_KEY_F1 + static_cast<int>(i));
    const auto binding = find_key(desk.panels[i]->key(), KeyModifier::none);
    REQUIRE(binding);
    CHECK(binding->category == KeyCategory::panels);
    std::vector<bool> expected;
    for (const auto& panel : desk.panels) expected.push_back(panel->open());
    expected[i] = !expected[i];
    PanelContext context = desk.context();
    CHECK(perform(binding->action, context, desk.panels));
    for (std::size_t j = 0; j < desk.panels.size(); ++j) CHECK(desk.panels[j]->open() == expected[j]);
  }
}

TEST_CASE("keys: each that shows something switches that, once on and once off", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.frame = desk.simulation.frame();
  ContactDisplay& contacts = desk.display.contacts;
  const std::pair<Action, bool*> switches[] = {{Action::contact_points, &contacts.points},
                                               {Action::contact_normals, &contacts.normals},
                                               {Action::contact_forces, &contacts.forces},
                                               {Action::friction_discs, &contacts.friction_discs},
                                               {Action::witness_points, &contacts.witness_points},
                                               {Action::candidates, &contacts.candidates},
                                               {Action::vertex_sdf_contacts, &contacts.vertex_sdf},
                                               {Action::edge_edge_contacts, &contacts.edge_edge},
                                               {Action::edge_sdf_contacts, &contacts.edge_sdf},
                                               {Action::scale_by_indicator, &contacts.scale_by_indicator},
                                               {Action::side_by_side, &desk.display.side_by_side},
                                               {Action::wireframe, &desk.display.wireframe},
                                               {Action::translucent, &desk.display.translucent},
                                               {Action::discrepancy, &desk.display.discrepancy},
                                               {Action::slice, &desk.display.slice.shown},
                                               {Action::gradient_arrows, &desk.display.gradient_arrows},
                                               {Action::all_panels, &desk.display.panels},
                                               {Action::screenshot, nullptr}};
  for (const auto& [action, value] : switches) {
    CAPTURE(key_text(action));
    PanelContext context = desk.context();
    std::vector<bool> before, after;
    for (const auto& [other, flag] : switches) before.push_back(flag && *flag);
    CHECK(perform(action, context, desk.panels));
    for (const auto& [other, flag] : switches) after.push_back(flag && *flag);
    for (std::size_t i = 0; i < before.size(); ++i)
      CHECK((before[i] != after[i]) == (switches[i].first == action && value != nullptr));
    if (!value) continue;
    CHECK(perform(action, context, desk.panels));
    CHECK(*value == before[static_cast<std::size_t>(
                        &*std::find_if(std::begin(switches), std::end(switches),
                                       [&, a = action](const auto& s) { return s.first == a; }) -
                        std::begin(switches))]);
  }
  PanelContext context = desk.context();
  CHECK(desk.recording.take_screenshot);
  perform(Action::sdf_surface, context, desk.panels);
  CHECK(desk.display.surface == BodySurface::sdf);
  perform(Action::sdf_surface, context, desk.panels);
  CHECK(desk.display.surface == BodySurface::mesh);
  for (int i = 0; i < 6; ++i) {
    CHECK(contacts.indicator == static_cast<Indicator>(i));
    perform(Action::next_indicator, context, desk.panels);
  }
  CHECK(contacts.indicator == Indicator::activity);
  desk.selection.body = 1;
  perform(Action::clear_selection, context, desk.panels);
  CHECK(desk.selection.body == -1);
  perform(Action::video, context, desk.panels);
  CHECK(desk.recording.recording_video);
  perform(Action::save_trajectory, context, desk.panels);
  CHECK(desk.recording.save_trajectory);
  CHECK_FALSE(perform(Action::quit, context, desk.panels));
}

TEST_CASE("keys: those of the simulation do what they say", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  const auto press = [&](Action action) {
    desk.frame = desk.simulation.frame();
    PanelContext context = desk.context();
    CHECK(perform(action, context, desk.panels));
    desk.simulation.update(0.0);
    desk.frame = desk.simulation.frame();
  };
  press(Action::step_forward);
  CHECK(desk.frame->number == 1);
  press(Action::ten_steps_forward);
  CHECK(desk.frame->number == 11);
  press(Action::step_back);
  CHECK(desk.frame->number == 10);
  CHECK(desk.frame->last == 11);
  press(Action::ten_steps_back);
  CHECK(desk.frame->number == 0);
  press(Action::last_moment);
  CHECK(desk.frame->number == 11);
  press(Action::first_moment);
  CHECK(desk.frame->number == 0);
  press(Action::step_forward);
  press(Action::branch);
  CHECK(desk.frame->last == 1);
  press(Action::run_or_pause);
  CHECK(desk.frame->running);
  press(Action::run_or_pause);
  CHECK_FALSE(desk.frame->running);
  press(Action::faster);
  CHECK(desk.frame->speed == 2.0);
  for (int i = 0; i < 9; ++i) press(Action::slower);
  CHECK(desk.frame->speed == 1.0 / 16.0);
  press(Action::real_time);
  CHECK(desk.frame->speed == 1.0);
  press(Action::reset);
  CHECK(desk.frame->last == 0);
  const SharedModel before = desk.frame->model;
  press(Action::reload);
  CHECK(desk.frame->model != before);
  press(Action::show_all);
  CHECK(desk.camera.target.allFinite());
}

TEST_CASE("next primitive: goes through all of a body, and of all bodies where none is selected",
          "[viewer][value]") {
  Desk desk(scene_file("drill_mustard"));
  desk.frame = desk.simulation.frame();
  const Model& model = desk.frame->model->model();
  PanelContext context = desk.context();
  std::size_t total = 0, seen = 0;
  for (const Body& body : model.bodies) total += body.shape.primitives.size();
  std::set<std::pair<int, int>> places;
  do {
    next_primitive(context);
    if (desk.display.primitive_body < 0) break;
    places.emplace(desk.display.primitive_body, desk.display.primitive);
  } while (++seen < 2 * total);
  CHECK(places.size() == total);
  CHECK(seen == total);
  desk.selection.body = 1;
  const auto of_body = static_cast<int>(model.bodies[1].shape.primitives.size());
  for (int i = 0; i < of_body + 1; ++i) next_primitive(context);
  CHECK(desk.display.primitive_body == 1);
  CHECK(desk.display.primitive == 0);
}

// Panels ----------------------------------------------------------------------------------------------------

TEST_CASE("panels: all draw in 340 pixels, whatever the scene, the selection and what is switched on",
          "[viewer][value]") {
  const std::string scene =
      GENERATE(as<std::string>(), "box_stack", "gripper", "sphere_bounce", "drill_mustard", "hanging_chain");
  CAPTURE(scene);
  Desk desk(scene_file(scene));
  require_all_draw(desk);  // nothing selected, one moment, perhaps no contact

  run_steps(desk, 40);
  desk.selection.body = desk.frame->model->model().body_count() - 1;
  pin_contacts(desk, 3);
  desk.display.contacts.forces = desk.display.contacts.friction_discs = true;
  desk.display.slice.shown = desk.display.discrepancy = true;
  desk.display.primitive_body = desk.selection.body;
  desk.display.primitive = 0;
  desk.recording.message = "picture.png is written";
  require_all_draw(desk);

  PanelContext context = desk.context();
  set_side_by_side(context, true);
  desk.simulation.call([](SimulationCore& core) {
    core.step_back();
    core.set_message("the 3rd step % failed: ## of body 'box' at contact {}");
  });
  require_all_draw(desk);
  desk.simulation.call([](SimulationCore& core) {  // a body of another number of contacts, all in the air
    core.set_pose(core.model()->model().body_count() - 1,
                  {Quat<double>::Identity(), Vec3<double>(0.0, 0.0, 50.0)});
    core.set_running(true);
  });
  require_all_draw(desk);
}

TEST_CASE("panels: all draw for every contact law, and without any contact", "[viewer][value]") {
  Desk desk(scene_file("sphere_bounce"));
  for (std::size_t law = 0; law < contact_laws().size(); ++law) {
    desk.simulation.call([law](SimulationCore& core) {
      core.edit([law](Scene& scene) {
        scene.config.step.law = contact_laws()[law].second;
        scene.config.step.adaptive_substeps = true;
        scene.config.step.acceleration_scale = 5.0;
        scene.model.bodies[1].material.stiffness = 1e4;
        scene.model.bodies[1].material.dissipation_time = 0.01;
      });
    });
    desk.frame = desk.simulation.frame();
    CAPTURE(to_string(contact_laws()[law].second), desk.frame->message);
    CHECK(desk.frame->message.empty());
    CHECK(desk.frame->contacts.empty());
    require_all_draw(desk);
  }
}

TEST_CASE("panels: all draw for a scene of one body", "[viewer][value]") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::filesystem::path file = folder / "abut_panels_test_one_body.toml";
  {
    std::ofstream out(file);
    out << "[[body]]\nname = \"50 % ## ball\"\ndensity = 1000\n[[body.primitive]]\nkind = \"sphere\"\nradius "
           "= 0.1\n";
  }
  Desk desk(file);
  require_all_draw(desk);
  desk.selection.body = 0;
  run_steps(desk, 5);
  require_all_draw(desk);
  std::filesystem::remove(file);
}

TEST_CASE("panels: no ImGui id is used twice", "[viewer][value]") {
  Desk desk(scene_file("gripper"));
  run_steps(desk, 60);
  REQUIRE_FALSE(desk.frame->contacts.empty());
  desk.selection.body = 1;
  pin_contacts(desk, 2);
  desk.display.primitive_body = 1;
  desk.display.slice.shown = true;
  for (const auto& panel : desk.panels) {
    CAPTURE(panel->title());
    for (int i = 0; i < 3; ++i) desk.draw(*panel);
    // Items have a gap between them, so the places where an item is under the mouse hang together.
    constexpr float k_x_step = 14.0f, k_y_step = 3.0f;
    const int columns = static_cast<int>(k_width / k_x_step),
              rows = static_cast<int>(desk.content_height / k_y_step);
    std::vector<ImGuiID> ids(static_cast<std::size_t>(columns * rows));
    const auto at = [&](int r, int c) -> ImGuiID& { return ids[static_cast<std::size_t>(r * columns + c)]; };
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c)
        at(r, c) =
            desk.item_at(*panel, (static_cast<float>(c) + 0.5f) * k_x_step, static_cast<float>(r) * k_y_step);
    }
    std::map<ImGuiID, int> pieces;
    std::vector<bool> seen(ids.size());
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        const ImGuiID id = at(r, c);
        if (id == 0 || seen[static_cast<std::size_t>(r * columns + c)]) continue;
        ++pieces[id];
        std::vector<std::pair<int, int>> todo{{r, c}};
        while (!todo.empty()) {
          const auto [i, j] = todo.back();
          todo.pop_back();
          if (i < 0 || j < 0 || i >= rows || j >= columns || at(i, j) != id) continue;
          if (seen[static_cast<std::size_t>(i * columns + j)]) continue;
          seen[static_cast<std::size_t>(i * columns + j)] = true;
          todo.insert(todo.end(), {{i + 1, j}, {i - 1, j}, {i, j + 1}, {i, j - 1}, {i, j + 2}, {i, j - 2}});
        }
      }
    }
    if (panel->key() != GLFW_KEY_F1) CHECK(pieces.size() > 3);  // help has nothing to press
    for (const auto& [id, count] : pieces) {
      CAPTURE(id);
      CHECK(count == 1);
    }
  }
}

// What is pressed -------------------------------------------------------------------------------------------

TEST_CASE("simulation panel: a click on Run runs, and one on Pause stops", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  Panel& panel = desk.panel(GLFW_KEY_F2);
  const auto button = desk.find(panel, [] { return ImGui::GetID("###run"); });
  REQUIRE(button);
  CHECK_FALSE(desk.frame->running);
  desk.click(panel, *button);
  CHECK(desk.frame->running);
  desk.turn(panel, 0.1);
  CHECK(desk.frame->number > 5);
  desk.click(panel, *button);
  CHECK_FALSE(desk.frame->running);
  const std::int64_t there = desk.frame->number;
  desk.turn(panel, 0.1);
  CHECK(desk.frame->number == there);

  const auto forward = desk.find(panel, [] { return ImGui::GetID("###forward"); });
  REQUIRE(forward);
  desk.click(panel, *forward);
  CHECK(desk.frame->number == there + 1);
  const auto back = desk.find(panel, [] { return ImGui::GetID("###back"); });
  REQUIRE(back);
  desk.click(panel, *back);
  CHECK(desk.frame->number == there);
  const auto branch = desk.find(panel, [] { return ImGui::GetID("###branch"); });
  REQUIRE(branch);
  desk.click(panel, *branch);
  CHECK(desk.frame->last == there);
}

TEST_CASE("simulation panel: the time line seeks to where it is pressed", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 100);
  Panel& panel = desk.panel(GLFW_KEY_F2);
  const auto line = desk.find(panel, [] { return ImGui::GetID("##timeline"); });
  REQUIRE(line);
  desk.click(panel, *line);
  CHECK(desk.frame->number > 40);
  CHECK(desk.frame->number < 60);
  CHECK(desk.frame->last == 100);
}

TEST_CASE("simulation panel: a message is shown until it is dismissed", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  Panel& panel = desk.panel(GLFW_KEY_F2);
  const auto dismiss = [] { return ImGui::GetID("Dismiss"); };
  CHECK_FALSE(desk.find(panel, dismiss));
  desk.simulation.call([](SimulationCore& core) { core.set_message("it failed"); });
  const auto button = desk.find(panel, dismiss);
  REQUIRE(button);
  desk.click(panel, *button);
  CHECK(desk.frame->message.empty());
}

TEST_CASE(
    "settings panel: a slider that is dragged changes what is simulated, and its button brings the file's "
    "back",
    "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.selection.body = 1;
  desk.frame = desk.simulation.frame();
  const auto friction = [&] { return desk.frame->model->scene.model.bodies[1].material.friction; };
  const double before = friction();
  Panel& panel = desk.panel(GLFW_KEY_F3);
  const auto of_body = [](const char* inner) {
    return [inner] {
      ImGui::PushID(1);
      const ImGuiID id = id_in("friction", inner);
      ImGui::PopID();
      return id;
    };
  };
  const auto slider = desk.find(panel, of_body("##value"));
  REQUIRE(slider);
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = *slider;
  desk.turn(panel);
  io.MouseDown[0] = true;
  desk.turn(panel);
  io.MousePos.x += 30.0f;
  desk.turn(panel);
  desk.turn(panel);
  const double dragged = friction();
  CHECK(dragged > 0.5);
  CHECK(dragged != before);
  CHECK(dragged < 2.0);
  CHECK(std::abs(dragged * 1000.0 - std::round(dragged * 1000.0)) < 1e-9);  // of a hand, not of a pixel
  io.MouseDown[0] = false;
  desk.turn(panel);
  CHECK(friction() == dragged);
  CHECK(desk.frame->model->as_read.model.bodies[1].material.friction == before);

  const auto button = desk.find(panel, of_body("###standard"));
  REQUIRE(button);
  desk.click(panel, *button);
  CHECK(friction() == before);

  desk.click(panel, *slider);
  CHECK(friction() != before);
  desk.click(panel, *slider, 1);
  CHECK(friction() == before);
}

TEST_CASE("settings panel: reset to the file undoes every edit", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.simulation.call([](SimulationCore& core) {
    core.edit([](Scene& scene) {
      scene.config.step.h = 1e-3;
      scene.model.gravity.z() = -1.6;
      scene.model.bodies[1].mass *= 3.0;
    });
  });
  Panel& panel = desk.panel(GLFW_KEY_F3);
  const auto button = desk.find(panel, [] { return ImGui::GetID("Reset to the file"); });
  REQUIRE(button);
  desk.click(panel, *button);
  const Scene &now = desk.frame->model->scene, &file = desk.frame->model->as_read;
  CHECK(now.config.step.h == file.config.step.h);
  CHECK(now.model.gravity == file.model.gravity);
  CHECK(now.model.bodies[1].mass == file.model.bodies[1].mass);
}

TEST_CASE("contacts panel: a click on a row pins its contact, and another one lets it go",
          "[viewer][value]") {
  Desk desk(scene_file("box_stack"));
  run_steps(desk, 20);
  REQUIRE(desk.frame->contacts.size() > 3);
  Panel& panel = desk.panel(GLFW_KEY_F6);
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  // The first item below the header of the table.
  float y = 0.0f;
  for (float below = 60.0f; below < 400.0f; below += 4.0f) {
    desk.click(panel, {60.0f, below});
    if (desk.selection.pinned.empty()) continue;
    y = below;
    break;
  }
  REQUIRE(y > 0.0f);
  CHECK(desk.selection.pinned.size() == 1);
  CHECK(desk.selection.is_pinned(desk.selection.pinned[0].feature));
  desk.click(panel, {60.0f, y});
  CHECK(desk.selection.pinned.empty());
}

TEST_CASE("plots panel: a press in a plot shows that moment", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 100);
  Panel& panel = desk.panel(GLFW_KEY_F8);
  const auto curve = desk.find(panel, [] { return id_in("plot", "Energy"); });
  REQUIRE(curve);
  desk.click(panel, *curve);
  CHECK(desk.frame->number > 35);  // the axis takes its part of the left half
  CHECK(desk.frame->number < 50);
}

// Values on their way ---------------------------------------------------------------------------------------

TEST_CASE(
    "PendingEdits: what was set is shown until the simulation has it, and one edit is on its way at a time",
    "[viewer][value]") {
  SimulationThread simulation(Desk::options(scene_file("box_slide")), Threading::none);
  PendingEdits edits;
  int posted = 0;
  const PendingEdits::Edit set_gravity = [&posted](SimulationCore& core, double value) {
    ++posted;
    core.edit([&](Scene& scene) { scene.model.gravity.z() = value; });
  };
  const auto simulated = [&] { return simulation.frame()->model->scene.model.gravity.z(); };
  const double before = simulated();
  CHECK(edits.shown(1, before, 0.0) == before);
  edits.change(1, -1.0, set_gravity);
  edits.post(simulation, 0.0);
  CHECK(edits.shown(1, simulated(), 5.0) == -1.0);  // the simulation has not got to it, however long it takes
  edits.change(1, -2.0, set_gravity);
  edits.change(1, -3.0, set_gravity);
  edits.post(simulation, 0.1);
  CHECK(edits.shown(1, simulated(), 0.1) == -3.0);
  simulation.update(0.0);
  CHECK(posted == 1);
  CHECK(simulated() == -1.0);
  CHECK(edits.shown(1, simulated(), 0.2) == -3.0);
  edits.post(simulation, 0.2);
  simulation.update(0.0);
  CHECK(posted == 2);  // -2 was never asked for
  CHECK(edits.shown(1, simulated(), 0.3) == -3.0);
  CHECK(simulated() == -3.0);
  // It has arrived: from now on the simulation says what there is.
  CHECK(edits.shown(1, -9.0, 0.3) == -9.0);
}

TEST_CASE("PendingEdits: what is refused is shown no longer, and the simulation says why",
          "[viewer][value]") {
  SimulationThread simulation(Desk::options(scene_file("box_slide")), Threading::none);
  PendingEdits edits;
  const double before = simulation.frame()->model->scene.config.step.h;
  edits.change(7, -1.0, [](SimulationCore& core, double value) {
    core.edit([&](Scene& scene) { scene.config.step.h = value; });
  });
  edits.post(simulation, 0.0);
  simulation.update(0.0);
  edits.post(simulation, 0.1);
  CHECK(edits.shown(7, before, 0.11) == -1.0);
  CHECK(edits.shown(7, before, 1.0) == before);
  CHECK_THAT(simulation.frame()->message, Contains("time_step"));
  CHECK(simulation.frame()->model->scene.config.step.h == before);
}

// Pinned contacts -------------------------------------------------------------------------------------------

TEST_CASE(
    "pinned contacts: samples are as many for each curve, at most 2,000, and begin anew when time goes back",
    "[viewer][value]") {
  Desk desk(scene_file("box_stack"));
  run_steps(desk, 10);
  REQUIRE_FALSE(desk.frame->contacts.empty());
  pin_contacts(desk, 2);
  Selection& selection = desk.selection;
  const auto require_equal_lengths = [&](std::size_t length) {
    for (const Selection::Pinned& pinned : selection.pinned) {
      CHECK(pinned.time.size() == length);
      CHECK(pinned.distance.size() == length);
      CHECK(pinned.force.size() == length);
      CHECK(pinned.activity.size() == length);
    }
  };
  sample_pinned(*desk.frame, selection);
  sample_pinned(*desk.frame, selection);  // the same moment
  require_equal_lengths(1);
  const ContactView& first = desk.frame->contacts[0];
  CHECK(selection.pinned[0].distance[0] == static_cast<float>(first.contact.signed_distance));
  CHECK(selection.pinned[0].activity[0] == static_cast<float>(first.contact.activity));
  REQUIRE(first.has_force);
  CHECK(selection.pinned[0].force[0] == static_cast<float>(first.force.normal_force()));

  // Frames of a made-up clock, with and without the contact.
  Frame frame = *desk.frame;
  for (int i = 1; i < 3000; ++i) {
    frame.state.time = desk.frame->state.time + 0.01 * i;
    if (i == 2000) frame.contacts.clear();
    sample_pinned(frame, selection);
    if (i == 500) require_equal_lengths(501);
  }
  require_equal_lengths(k_most_samples);
  CHECK(std::isnan(selection.pinned[0].distance.back()));
  CHECK(selection.pinned[0].activity.back() == 0.0f);
  CHECK(selection.pinned[0].force.back() == 0.0f);
  CHECK(selection.pinned[0].time.back() == static_cast<float>(frame.state.time));
  CHECK(selection.pinned[0].time.front() > selection.pinned[0].time.back() - 21.0f);
  CHECK(std::is_sorted(selection.pinned[0].time.begin(), selection.pinned[0].time.end()));
  desk.draw(desk.panel(GLFW_KEY_F6));  // back at its own time
  require_equal_lengths(1);
}

TEST_CASE("Selection: contacts are told apart by everything that they come from", "[viewer][value]") {
  const ContactFeature feature{ContactKind::edge_edge, 1, 2, 3, 4, false};
  Selection selection;
  selection.toggle_pin(feature);
  CHECK(selection.is_pinned(feature));
  for (int change = 0; change < 6; ++change) {
    ContactFeature other = feature;
    if (change == 0) other.kind = ContactKind::edge_sdf;
    if (change == 1) other.body_A = 0;
    if (change == 2) other.body_B = 3;
    if (change == 3) other.feature_A = 5;
    if (change == 4) other.feature_B = 5;
    if (change == 5) other.on_B = true;
    CAPTURE(change);
    CHECK_FALSE(selection.is_pinned(other));
  }
  selection.toggle_pin(feature);
  CHECK(selection.pinned.empty());
  ContactDisplay display;
  display.edge_sdf = false;
  CHECK(display.shows(ContactKind::edge_edge));
  CHECK_FALSE(display.shows(ContactKind::edge_sdf));
}

// Gradients -------------------------------------------------------------------------------------------------

TEST_CASE("gradient panel: shows gradients of the future and the past, their check, and determinism",
          "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  Panel& panel = desk.panel(GLFW_KEY_F7);
  desk.gradients.steps = 20;
  desk.gradients.from_past = GENERATE(false, true);
  const bool from_past = desk.gradients.from_past;
  CAPTURE(from_past);
  const auto wait = [&] {
    for (int i = 0; i < 2000 && (is_busy(desk.gradients) || desk.gradients.determinism_on_its_way.valid());
         ++i) {
      desk.turn(panel);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  desk.frame = desk.simulation.frame();
  PanelContext context = desk.context();
  if (from_past) {
    ask_for_gradient(context, false);
    wait();
    CHECK_FALSE(desk.gradients.result);
    CHECK_THAT(desk.gradients.message, Contains("step forward first"));
    desk.draw(panel);
  }
  run_steps(desk, 12);
  const auto button = desk.find(panel, [] { return ImGui::GetID("Check this gradient"); });
  REQUIRE(button);
  desk.click(panel, *button);
  CHECK(is_busy(desk.gradients));
  wait();
  REQUIRE(desk.gradients.result);
  const GradientResult& result = *desk.gradients.result;
  CAPTURE(result.error);
  CHECK(result.error.empty());
  CHECK(result.request.number == (from_past ? 0 : 12));
  CHECK(result.request.steps == (from_past ? 12 : 20));
  CHECK(result.request.controls.empty());  // nobody pulled
  CHECK_FALSE(result.check.empty());
  CHECK(desk.gradients.message.empty());
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  CHECK(desk.beyond_the_edge == 0.0f);

  const auto repeat = desk.find(panel, [] { return ImGui::GetID("Check determinism"); });
  REQUIRE(repeat);
  desk.click(panel, *repeat);
  wait();
  REQUIRE(desk.gradients.determinism);
  CHECK(desk.gradients.determinism->error.empty());
  CHECK(desk.gradients.determinism->steps == 12);
  CHECK(desk.gradients.determinism->first_difference == -1);
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  CHECK(desk.beyond_the_edge == 0.0f);

  // Verdicts of every kind, and of a job that failed.
  GradientSample sample;
  sample.group = "initial angular velocity";
  sample.adjoint = -1.23456e-12;
  sample.difference = 1.23456e+12;
  desk.gradients.result->check.assign(5, sample);
  desk.gradients.result->check[1].unresolved = true;
  desk.gradients.result->check[2].non_finite = true;
  desk.gradients.result->check[2].relative_error = std::numeric_limits<double>::infinity();
  desk.gradients.result->check[3].relative_error = 0.5;
  desk.gradients.result->check[4].relative_error = 5e-3;
  desk.gradients.result->gradient.health.warnings.assign(9, {GradientWarning::Kind::kinks, 3, 1, 0.5});
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  CHECK(desk.beyond_the_edge == 0.0f);
  desk.gradients.result->error = "a step failed";
  for (int i = 0; i < 3; ++i) desk.draw(panel);
}

TEST_CASE("gradient of the past: has the forces of whoever pulled in each step", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 5);
  desk.simulation.call([](SimulationCore& core) {
    Pull pull;
    pull.body = 1;
    pull.target_W = core.state().X_WB[1].p + Vec3<double>(0.0, 0.0, 0.1);
    core.set_pull(pull);
    for (int i = 0; i < 3; ++i) core.step_forward();
    core.set_pull({});
  });
  desk.frame = desk.simulation.frame();
  desk.gradients.from_past = true;
  desk.gradients.steps = 6;
  PanelContext context = desk.context();
  ask_for_gradient(context, false);
  desk.simulation.update(0.0);
  for (int i = 0; i < 2000 && is_busy(desk.gradients); ++i) {
    poll_gradients(desk.gradients);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  REQUIRE(desk.gradients.result);
  const GradientResult& result = *desk.gradients.result;
  CHECK(result.error.empty());
  CHECK(result.request.number == 2);
  REQUIRE(result.request.controls.size() == 6);
  for (std::size_t k = 0; k < 6; ++k) {
    REQUIRE(result.request.controls[k].size() == 2);
    CHECK((result.request.controls[k][1].norm() > 0.0) == (k >= 3));
    CHECK(result.request.controls[k][0].norm() == 0.0);
  }
}

// Plots -----------------------------------------------------------------------------------------------------

TEST_CASE("axis_ticks: round numbers within the bounds, never too many, whatever the bounds",
          "[viewer][property]") {
  CHECK(axis_ticks(0.0, 1.0, 5) == std::vector<double>{0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0});
  CHECK(axis_ticks(-0.3, 2.1, 3) == std::vector<double>{0.0, 1.0, 2.0});
  CHECK(axis_ticks(0.01, 1000.0, 10, true).size() == 6);
  CHECK(axis_ticks(1.0, 1.0, 5).empty());
  CHECK(axis_ticks(0.0, std::numeric_limits<double>::infinity(), 5).empty());
  CHECK(axis_ticks(std::nan(""), 1.0, 5).empty());
  CHECK(axis_ticks(-1.0, 1.0, 5, true).empty());
  CHECK(axis_ticks(1.0, std::nextafter(1.0, 2.0), 5).size() <= 2);
  for (const double size : {1e-9, 1e-3, 1.0, 37.0, 1e6}) {
    for (const double offset : {0.0, 0.3, -0.7, 100.0}) {
      for (const int most : {2, 4, 7}) {
        const double low = offset * size, high = low + size;
        CAPTURE(low, high, most);
        const auto ticks = axis_ticks(low, high, most);
        CHECK(ticks.size() >= 1);
        CHECK(ticks.size() <= static_cast<std::size_t>(most) + 1);
        for (const double tick : ticks) {
          CHECK(tick >= low - 1e-8 * size);
          CHECK(tick <= high + 1e-8 * size);
        }
        if (ticks.size() < 2) continue;
        const double spacing = ticks[1] - ticks[0],
                     leading = spacing / std::pow(10.0, std::floor(std::log10(spacing) + 1e-6));
        CHECK((std::abs(leading - 1.0) < 1e-5 || std::abs(leading - 2.0) < 1e-5 ||
               std::abs(leading - 5.0) < 1e-5));
        std::set<std::string> texts;
        for (const double tick : ticks) texts.insert(tick_text(tick, spacing));
        CHECK(texts.size() == ticks.size());  // told apart
      }
    }
  }
}

TEST_CASE("tick_text: as short as tells ticks apart", "[viewer][value]") {
  CHECK(tick_text(0.6000000000000001, 0.2) == "0.6");
  CHECK(tick_text(0.0, 0.2) == "0");
  CHECK(tick_text(-20.0, 10.0) == "-20");
  CHECK(tick_text(1.25, 0.05) == "1.25");
  CHECK(tick_text(1e-6, 1e-6) == "1e-06");
  CHECK(tick_text(200000.0, 100000.0) == "2e+05");
  CHECK(tick_text(0.001, 0.0) == "0.001");
}

TEST_CASE("visible_samples: keep peaks, ends and gaps of a curve, and no more than a plot can show",
          "[viewer][property]") {
  constexpr std::size_t k_count = 10000;
  std::vector<float> x(k_count), y(k_count);
  for (std::size_t i = 0; i < k_count; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = std::sin(0.001f * x[i]);
  }
  y[4321] = 50.0f;
  y[7654] = -50.0f;
  y[6000] = std::numeric_limits<float>::quiet_NaN();
  const auto chosen = visible_samples(x, y, 300);
  CHECK(chosen.size() <= 3 * 300 + 2);
  CHECK(chosen.size() > 300);
  CHECK(std::is_sorted(chosen.begin(), chosen.end()));
  CHECK(std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end());
  for (const std::size_t i :
       {std::size_t{0}, std::size_t{4321}, std::size_t{6000}, std::size_t{7654}, k_count - 1})
    CHECK(std::find(chosen.begin(), chosen.end(), i) != chosen.end());
  CHECK(visible_samples({}, {}, 300).empty());
  const std::vector<float> few{1.0f, 2.0f};
  CHECK(visible_samples(few, few, 300) == std::vector<std::size_t>{0, 1});
  std::vector<float> nothing(k_count, std::numeric_limits<float>::quiet_NaN());
  CHECK_FALSE(visible_samples(x, nothing, 10).empty());
}

TEST_CASE("plot: draws curves that are empty, constant, broken, of one sample, or of no positive value",
          "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  const float none = std::numeric_limits<float>::quiet_NaN(), huge = std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> curves{{},
                                               {1.0f},
                                               {2.0f, 2.0f, 2.0f},
                                               {none, none},
                                               {1.0f, none, 3.0f, huge, 2.0f},
                                               {-1.0f, 0.0f, -2.0f},
                                               {1e-30f, 1e30f},
                                               {1e-38f, 3.0f, 0.0f}};
  for (const bool logarithmic : {false, true}) {
    for (const auto& y : curves) {
      std::vector<float> x;
      for (std::size_t i = 0; i < y.size(); ++i) x.push_back(0.1f * static_cast<float>(i));
      ImGui::NewFrame();
      ImGui::SetNextWindowSize({k_width, 400.0f});
      ImGui::Begin("plots");
      PlotOptions options{"Title", "m"};
      options.logarithmic = logarithmic;
      options.cursor = 0.1;
      plot("curve", x, y, options);
      ImGui::End();
      ImGui::Render();
      const ImDrawList& list = *ImGui::GetDrawData()->CmdLists[0];
      CHECK(list.VtxBuffer.Size > 20);
      for (const ImDrawVert& vertex : list.VtxBuffer) {
        CHECK(std::isfinite(vertex.pos.x));
        CHECK(std::isfinite(vertex.pos.y));
      }
    }
  }
}

}  // namespace abut::viewer
