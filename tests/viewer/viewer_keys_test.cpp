/// Keys of the window.
#include <catch2/catch.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "engine/body_builder.h"
#include "tests/support/temporary_folder.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {
namespace {

using test::TemporaryFolder;

bool keeps_more(const CameraState& now, const CameraState& before) {
  for (std::size_t i = 0; i < k_bookmarks; ++i) {
    if (now.bookmarks[i] && !before.bookmarks[i]) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("Viewer: every key does something that is to be seen or known", "[viewer][value]") {
  const TemporaryFolder folder;
  for (const KeyBinding& binding : key_table()) {
    CAPTURE(binding.what);
    const bool is_of_edges =
        binding.action == Action::edge_edge_contacts || binding.action == Action::edge_sdf_contacts;
    HeadlessViewer user(scene_file(is_of_edges ? "armadillo_armadillo" : "drill_mustard"));
    at_rest(user, is_of_edges ? 1 : 200);
    user.simulation.call([&](SimulationCore& core) { core.seek(is_of_edges ? 0 : 150); });
    user.viewer.recording.screenshot = folder.path() / "key.png";
    user.viewer.recording.trajectory = folder.path() / "key.npz";
    user.viewer.recording.video = folder.path() / "key.mp4";
    user.viewer.display.contacts.size = 3.0;
    user.viewer.selection.body = 1;
    if (binding.action == Action::edge_sdf_contacts) {
      user.simulation.call([](SimulationCore& core) {
        core.edit([](Scene& scene) { scene.config.step.contact.edge_sdf = true; });
      });
    }
    if (binding.action == Action::candidates) {
      user.simulation.call([](SimulationCore& core) {
        core.edit([](Scene& scene) {
          for (Body& body : scene.model.bodies) {
            if (body.fixed) continue;
            set_selected_vertices(body, 10);
            set_selected_edges(body, 10);
          }
        });
      });
    }
    if (binding.action == Action::faster || binding.action == Action::real_time)
      user.simulation.call([](SimulationCore& core) { core.set_speed(0.5); });
    if (binding.action == Action::gradient_arrows) user.viewer.compute_gradient_now(false);
    for (auto& bookmark : user.viewer.camera_state.bookmarks) {
      bookmark = user.viewer.camera;
      bookmark->azimuth += 0.5;
    }
    if (binding.action == Action::keep_view_1 || binding.action == Action::keep_view_2 ||
        binding.action == Action::keep_view_3) {
      user.viewer.camera_state = {};
    }
    if (binding.action == Action::show_all || binding.action == Action::show_motion)
      user.viewer.camera.distance *= 3.0;
    user.draw(2);
    const Image before = user.image();
    const SharedFrame frame = user.viewer.frame();
    const std::string message = user.viewer.recording.message;
    const CameraState camera_state = user.viewer.camera_state;
    const bool had_result = user.viewer.gradients.result.has_value();
    user.press(binding.key, binding.modifier);
    while (user.viewer.gradients.job.busy()) user.draw();
    user.draw(2);
    const SharedFrame after = user.viewer.frame();
    const bool is_seen = difference(before, user.image()) > 5;
    const bool is_known =
        after->running != frame->running || after->number != frame->number || after->last != frame->last ||
        after->speed != frame->speed || after->loops != frame->loops || after->model != frame->model ||
        user.viewer.camera_state.follows != camera_state.follows ||
        user.viewer.camera_state.flies != camera_state.flies ||
        keeps_more(user.viewer.camera_state, camera_state) || user.viewer.recording.message != message ||
        user.viewer.wants_to_close() || user.viewer.gradients.result.has_value() != had_result;
    CHECK((is_seen || is_known));
  }
  CHECK(std::filesystem::file_size(folder.path() / "key.png") > 1000);
  CHECK(std::filesystem::file_size(folder.path() / "key.npz") > 1000);
}

TEST_CASE("Viewer: keys that are typed into a text field do nothing else", "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"));
  ImGui::GetIO().WantTextInput = true;  // as of the picture before, which is when it is asked
  user.set_modifiers(KeyModifier::none);
  user.viewer.display.panels = true;
  user.draw();
  CHECK_FALSE(user.frame().running);
  user.press(GLFW_KEY_SPACE);
  CHECK(user.frame().running);
}

TEST_CASE("Viewer: every panel opens by its key, alone and with all others, in large and in small",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("drill_mustard"), 1280, 720);
  at_rest(user, 200);
  user.viewer.display.panels = true;
  for (const auto& panel : user.viewer.panels()) panel->set_open(false);
  user.draw(3);
  const Image without = user.image();
  std::set<int> keys;
  for (const auto& panel : user.viewer.panels()) {
    CAPTURE(panel->title());
    CHECK(keys.insert(panel->key()).second);
    user.press(panel->key());
    CHECK(panel->open());
    user.draw(3);
    CHECK(difference(without, user.image()) > 5000);
    user.press(panel->key());
    CHECK_FALSE(panel->open());
  }
  for (const auto& panel : user.viewer.panels()) panel->set_open(true);
  user.draw(3);
  for (const auto& [width, height] :
       {std::pair(400, 300), std::pair(60, 40), std::pair(1, 1), std::pair(1920, 1080)}) {
    user.context.resize(width, height);
    user.draw(2);
    CHECK(user.image().pixels.size() == 3u * static_cast<unsigned>(width * height));
  }
}

}  // namespace abut::viewer
