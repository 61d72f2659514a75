#include "apps/viewer/open_dialog.h"

#include <catch2/catch.hpp>

#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <epoxy/gl.h>

#include "engine/atomic_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using test::TemporaryFolder;

/// A scene that needs no other file.
constexpr const char* k_ball = R"([simulation]
steps = 100
[[body]]
name = "floor"
[[body.primitive]]
kind = "half_space"
[[body]]
name = "ball"
position = [0, 0, 0.5]
mass = 1.0
[[body.primitive]]
kind = "sphere"
radius = 0.1
)";

void open_by_path(HeadlessViewer& user, const std::string& path) {
  user.press(GLFW_KEY_O, KeyModifier::control);
  REQUIRE(user.viewer.open_dialog().open());
  user.type(path);
  user.press(GLFW_KEY_ENTER);
  user.draw(3);
}

/// All that were asked for.
void finish(Thumbnails& thumbnails, Renderer& renderer) {
  while (thumbnails.busy()) thumbnails.update(renderer);
}

std::set<std::array<int, 3>> colours_of(unsigned texture) {
  Image image{Thumbnails::k_width, Thumbnails::k_height, {}};
  image.pixels.resize(std::size_t{3} * Thumbnails::k_width * Thumbnails::k_height);
  glBindTexture(GL_TEXTURE_2D, texture);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glGetTexImage(GL_TEXTURE_2D, 0, GL_RGB, GL_UNSIGNED_BYTE, image.pixels.data());
  std::set<std::array<int, 3>> colours;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) colours.insert(pixel(image, x, y));
  }
  return colours;
}

}  // namespace

TEST_CASE("thumbnails: pictures of scenes, kept by what is in their files", "[viewer][value]") {
  const TemporaryFolder folder;
  const fs::path cache = folder.path() / "cache", scene = folder.write("ball.toml", k_ball),
                 broken = folder.write("broken.toml", "[simulation]\nnonsense = 1\n");
  const auto kept = [&] {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(cache)) files.push_back(entry.path());
    return files;
  };
  HeadlessContext context(64, 64);
  Renderer renderer;
  {
    Thumbnails thumbnails(cache);
    CHECK(thumbnails.of(scene).texture == 0);
    (void)thumbnails.of(broken);
    CHECK(thumbnails.busy());
    finish(thumbnails, renderer);
    CHECK(colours_of(thumbnails.of(scene).texture).size() > 100);
    CHECK_THAT(thumbnails.of(broken).problem, Contains("broken.toml:2") && Contains("nonsense"));
    CHECK_FALSE(thumbnails.busy());
  }
  REQUIRE(kept().size() == 1);
  // A later run takes the file, whatever it shows, unless it is damaged.
  const Image red{Thumbnails::k_width, Thumbnails::k_height,
                  std::vector<std::uint8_t>(3u * Thumbnails::k_width * Thumbnails::k_height, 200)};
  write_png(kept()[0], red);
  const auto seen = [&](const fs::path& of) {
    Thumbnails thumbnails(cache);
    (void)thumbnails.of(of);
    finish(thumbnails, renderer);
    return colours_of(thumbnails.of(of).texture).size();
  };
  CHECK(seen(scene) == 1);
  CHECK(seen(folder.write("copy.toml", read_file(scene))) == 1);  // the same content by another name
  write_file(kept()[0], "no picture");
  CHECK(seen(scene) > 100);
  folder.write("ball.toml", read_file(scene) + "# Another one.\n");
  CHECK(seen(scene) > 100);
  CHECK(kept().size() == 2);
  CHECK(seen(scene) > 100);
  require_no_gl_error("thumbnails");
  Thumbnails unfinished(cache);  // is destroyed while it makes one
  (void)unfinished.of(scene_file("two_armadillos"));
  unfinished.update(renderer);
}

TEST_CASE("dialog: a path is opened, becomes the newest recent file, and the dialog closes",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"), 800, 600);
  open_by_path(user, scene_file("box_slide"));
  CHECK(user.frame().model->scene->name == "box_slide");
  CHECK_FALSE(user.viewer.has_popup());
  open_by_path(user, scene_file("box_stack"));
  const std::vector<fs::path> recent = user.viewer.remembered().recent_files;
  REQUIRE(recent.size() == 2);
  CHECK(recent[0].filename() == "box_stack.toml");
  CHECK(recent[1].filename() == "box_slide.toml");
}

TEST_CASE("dialog: says what is wrong with a file, with its line, and stays; the scene stays, too",
          "[viewer][value]") {
  const TemporaryFolder folder;
  const std::string broken = folder.write("broken.toml", "[simulation]\ntime_step = -1\n");
  HeadlessViewer user(scene_file("sphere_bounce"), 800, 600);
  for (const std::string& file : {broken, (folder.path() / "none.toml").string(),
                                  (folder.path() / "none.npz").string(), folder.path().string()}) {
    CAPTURE(file);
    open_by_path(user, file);
    CHECK(user.viewer.open_dialog().open());
    CHECK_THAT(user.viewer.open_dialog().error(), Contains(file == broken ? broken + ":2" : file));
    CHECK(user.frame().model->scene->name == "sphere_bounce");
    CHECK(user.frame().message.empty());  // it is said once
    CHECK(user.viewer.remembered().recent_files.empty());
    user.press(GLFW_KEY_ESCAPE);
    CHECK_FALSE(user.viewer.open_dialog().open());
  }
}

TEST_CASE("dialog: Tab completes the path", "[viewer][value]") {
  const TemporaryFolder folder;
  folder.write("one_scene.toml", k_ball);
  folder.write("other/nothing.npz", "");
  HeadlessViewer user(scene_file("sphere_bounce"), 800, 600);
  user.press(GLFW_KEY_O, KeyModifier::control);
  user.type((folder.path() / "on").string());
  user.press(GLFW_KEY_TAB);
  user.press(GLFW_KEY_ENTER);
  user.draw(3);
  CHECK(user.frame().model->file.filename() == "one_scene.toml");
}

TEST_CASE("dialog: pictures of all scenes that come with Abut appear, and a click opens one",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"), 1280, 720);
  user.press(GLFW_KEY_O, KeyModifier::control);
  user.draw();
  const Image empty = user.image();
  CHECK(user.viewer.makes_thumbnails());
  while (user.viewer.makes_thumbnails()) user.draw();
  user.draw();
  CHECK(difference(empty, user.image()) > 60000);
  user.click(900.0f, 250.0f);  // on one of them
  user.draw(3);
  CHECK_FALSE(user.viewer.has_popup());
  CHECK(user.frame().model->scene->name != "sphere_bounce");
}

TEST_CASE("drop: a scene and a trajectory of it open together, in any order", "[viewer][value]") {
  const TemporaryFolder folder;
  const fs::path moved = folder.write("moved.toml", k_ball), trajectory = folder.path() / "ball.npz";
  HeadlessViewer user(moved);
  user.steps(20);
  user.simulation.call([&](SimulationCore& core) { core.save_trajectory(trajectory); });
  for (const std::vector<fs::path>& files : {std::vector{moved, trajectory}, {trajectory, moved}}) {
    user.viewer.open(scene_file("sphere_bounce"));
    user.draw(2);
    user.viewer.open(files);
    user.draw(2);
    CHECK(user.frame().model->file == moved);
    CHECK(user.frame().is_replay);
    CHECK(user.frame().last == 20);
  }
  CHECK(user.viewer.remembered().recent_files.size() == 3);
  user.viewer.open(std::vector<fs::path>{});
  user.draw();
  CHECK(user.frame().is_replay);
}

TEST_CASE("drop: settings that were changed are not lost without a question", "[viewer][value]") {
  const TemporaryFolder folder;
  const fs::path moved = folder.write("moved.toml", k_ball), trajectory = folder.path() / "ball.npz";
  HeadlessViewer user(moved, 800, 600);
  user.steps(20);
  user.simulation.call([&](SimulationCore& core) { core.save_trajectory(trajectory); });
  user.draw();
  user.viewer.offer(std::vector<fs::path>{scene_file("sphere_bounce")});
  user.draw(2);
  CHECK(user.frame().model->scene->name == "sphere_bounce");  // nothing was changed

  user.simulation.call(
      [](SimulationCore& core) { core.edit([](Scene& scene) { scene.model.gravity.z() = -1.0; }); });
  user.draw();
  user.viewer.offer(std::vector<fs::path>{moved, trajectory});
  user.draw(3);
  CHECK(user.viewer.open_dialog().open());
  CHECK(user.frame().is_edited);
  user.press(GLFW_KEY_ESCAPE);
  CHECK_FALSE(user.viewer.open_dialog().open());
  CHECK(user.frame().is_edited);
  user.viewer.offer(std::vector<fs::path>{moved, trajectory});
  user.draw(3);
  user.press(GLFW_KEY_ENTER);
  user.draw(3);
  CHECK_FALSE(user.viewer.open_dialog().open());
  CHECK(user.frame().model->file == moved);
  CHECK(user.frame().is_replay);
}

TEST_CASE("measurements: are shown in the scene that is open, and nothing of it is lost", "[viewer][value]") {
  const TemporaryFolder folder;
  const fs::path track = folder.write("track.csv", "time,position_x\n0,0.3\n0.1,0.4\n"),
                 broken = folder.write("broken.csv", "time,position_x\n0,0.3\nx,2\n");
  HeadlessViewer user(folder.write("ball.toml", k_ball), 800, 600);
  user.simulation.call(
      [](SimulationCore& core) { core.edit([](Scene& scene) { scene.model.gravity.z() = -1.0; }); });
  user.draw();
  user.viewer.offer(std::vector<fs::path>{track});
  user.draw(3);
  CHECK_FALSE(user.viewer.has_popup());
  CHECK(user.frame().ghosts.size() == 1);
  CHECK(user.frame().is_edited);

  // The dialog warns of what another scene would lose, and no longer as soon as a table of measurements is
  // named.
  user.press(GLFW_KEY_O, KeyModifier::control);
  user.type((folder.path() / "track.cs").string());
  user.draw(2);
  const Image warned = user.image();
  user.type("v");
  user.draw(2);
  CHECK(difference(warned, user.image()) > 500);
  user.press(GLFW_KEY_ENTER);
  user.draw(3);
  CHECK_FALSE(user.viewer.has_popup());
  CHECK(user.frame().is_edited);
  CHECK(user.viewer.remembered().recent_files.front() == track);

  open_by_path(user, broken.string());
  CHECK(user.viewer.open_dialog().open());
  CHECK_THAT(user.viewer.open_dialog().error(), Contains("broken.csv:3"));
  CHECK(user.frame().is_edited);
}

TEST_CASE("Frame: says whether settings were changed since the scene was read", "[viewer][value]") {
  SimulationCore core(options_of(scene_file("box_slide")));
  CHECK_FALSE(core.make_frame(0.0)->is_edited);
  core.edit([](Scene& scene) { scene.model.gravity.z() = -1.0; });
  CHECK(core.make_frame(0.0)->is_edited);
  core.open(scene_file("none"));
  CHECK(core.make_frame(0.0)->is_edited);
  core.reload();
  CHECK_FALSE(core.make_frame(0.0)->is_edited);
}

}  // namespace abut::viewer
