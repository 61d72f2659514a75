/// Files that are opened and written while the viewer runs.
#include <catch2/catch.hpp>

#include <cstddef>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {
namespace {

using Catch::Contains;
using test::TemporaryFolder;

int red_pixels(const Image& image) {
  int count = 0;
  for (std::size_t i = 0; i + 2 < image.pixels.size(); i += 3)
    count += image.pixels[i] > 180 && image.pixels[i + 1] < 80 && image.pixels[i + 2] < 80;
  return count;
}

}  // namespace

TEST_CASE("Viewer: opens what is dropped onto it, and says so if that is nothing", "[viewer][value]") {
  const TemporaryFolder folder;
  HeadlessViewer user(scene_file("drill_mustard"));
  user.steps(30);
  const std::string trajectory = folder.path() / "drill.npz";
  user.simulation.call([&](SimulationCore& core) { core.save_trajectory(trajectory); });
  user.viewer.selection.body = 2;
  user.viewer.open(scene_file("sphere_bounce"));
  user.draw(2);
  CHECK(user.frame().model->scene->name == "sphere_bounce");
  CHECK(user.viewer.selection.body == -1);
  user.viewer.open(trajectory);
  user.draw(2);
  CHECK(user.frame().model->scene->name == "drill_mustard");
  CHECK(user.frame().is_replay);
  CHECK(user.frame().last == 30);
  for (const std::string file : {"none.toml", "none.npz"}) {
    user.viewer.open(folder.path() / file);
    user.draw(2);
    CHECK_THAT(user.frame().message, Contains(file));
    CHECK(user.frame().last == 30);
  }
}

TEST_CASE("Viewer: a scene that changes under its user's hands takes nothing with it", "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"), 640, 400);
  const int top = user.frame().model->model().body_count() - 1;
  // A body is being pulled, and a gradient on its way, when a scene with fewer bodies comes.
  user.viewer.act(Action::run_or_pause);
  const auto [x, y] = user.on_screen(user.frame().state.X_WB[static_cast<std::size_t>(top)].p);
  user.set_modifiers(KeyModifier::control);
  user.mouse_to(x, y);
  user.draw();
  ImGui::GetIO().MouseDown[0] = true;
  user.draw();
  user.mouse_to(x + 30, y);
  user.draw(2);
  CHECK(user.frame().pull.body > 1);
  user.viewer.gradients.loss.body = top;
  user.viewer.act(Action::compute_gradient);
  user.viewer.open(scene_file("sphere_bounce"));
  for (int i = 0; i < 20 || user.viewer.gradients.job.busy(); ++i) {
    user.mouse_to(x + static_cast<float>(i % 50), y);
    user.draw();
  }
  CHECK(user.frame().model->scene->name == "sphere_bounce");
  CHECK(user.frame().pull.body == -1);
  CHECK_FALSE(user.viewer.gradients.result);
  ImGui::GetIO().MouseDown[0] = false;
  user.set_modifiers(KeyModifier::none);
  user.draw();
}

TEST_CASE("Viewer: a red sign says that a video is recorded, and the video does not have it",
          "[viewer][value]") {
  const TemporaryFolder folder;
  HeadlessViewer user(scene_file("box_slide"));
  user.viewer.recording.video = folder.path() / "video.png";
  CHECK(red_pixels(user.image()) == 0);
  user.press(GLFW_KEY_F12, KeyModifier::shift);
  user.draw(5);
  CHECK(red_pixels(user.image()) > 30);
  user.press(GLFW_KEY_F12, KeyModifier::shift);
  user.draw(2);
  CHECK(red_pixels(user.image()) == 0);
  CHECK_THAT(user.viewer.recording.message, Contains("written to") && Contains("video"));
  for (const std::string name : {"video_00001.png", "video_00003.png"})
    CHECK(red_pixels(read_png(folder.path() / name)) == 0);
}

}  // namespace abut::viewer
