/// Whatever a user does, the viewer goes on.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/random.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

/// The folder that relative paths mean, for as long as this lives: what is typed into fields of files stays
/// in it.
class CurrentFolder {
 public:
  explicit CurrentFolder(const fs::path& folder) : before_(fs::current_path()) { fs::current_path(folder); }
  ~CurrentFolder() { fs::current_path(before_); }
  CurrentFolder(const CurrentFolder&) = delete;
  CurrentFolder& operator=(const CurrentFolder&) = delete;

 private:
  fs::path before_;
};

/// A user without a plan.
class RandomUser {
 public:
  RandomUser(HeadlessViewer& viewer, std::vector<fs::path> files, std::uint64_t seed)
      : user_(viewer), files_(std::move(files)), random_(seed) {}

  /// One event: of the mouse, of keys, of text, a drop of files, another size of the window.
  void act() {
    ImGuiIO& io = ImGui::GetIO();
    const double kind = random_.uniform();
    if (kind < 0.35) {
      io.MousePos = {uniform(-20.0, user_.context.width() + 20.0),
                     uniform(-20.0, user_.context.height() + 20.0)};
    } else if (kind < 0.60) {
      bool& button = io.MouseDown[random_.integer(3)];
      button = !button;
    } else if (kind < 0.65) {
      io.MouseWheel = uniform(-3.0, 3.0);
    } else if (kind < 0.85) {
      press();
    } else if (kind < 0.95) {
      // No slash: files that are named so lie in the current folder.
      constexpr std::string_view k_letters = "abcdefghijklmnopqrstuvwxyz0123456789 ._-%#";
      io.AddInputCharacter(static_cast<unsigned char>(k_letters[random_.integer(k_letters.size())]));
    } else if (kind < 0.98) {
      std::vector<fs::path> dropped;
      for (std::size_t i = random_.integer(3); i > 0; --i)
        dropped.push_back(files_[random_.integer(files_.size())]);
      user_.viewer.offer(dropped);
    } else {
      user_.context.resize(1 + static_cast<int>(random_.integer(400)),
                           1 + static_cast<int>(random_.integer(260)));
    }
  }
  /// Before the next picture: keys are up again, the wheel is at rest.
  void let_go() {
    ImGuiIO& io = ImGui::GetIO();
    std::fill(std::begin(io.KeysDown), std::end(io.KeysDown), false);
    io.MouseWheel = 0.0f;
    user_.set_modifiers(KeyModifier::none);
  }

 private:
  float uniform(double lowest, double highest) {
    return static_cast<float>(random_.uniform(lowest, highest));
  }
  void press() {
    constexpr int k_other_keys[] = {GLFW_KEY_ENTER, GLFW_KEY_ESCAPE, GLFW_KEY_DOWN, GLFW_KEY_UP,
                                    GLFW_KEY_BACKSPACE};
    const std::span<const KeyBinding> keys = key_table();
    const std::size_t i = random_.integer(keys.size() + 3 * std::size(k_other_keys));
    if (i < keys.size()) user_.set_modifiers(keys[i].modifier);
    ImGui::GetIO().KeysDown[i < keys.size() ? keys[i].key : k_other_keys[i % std::size(k_other_keys)]] = true;
  }

  HeadlessViewer& user_;
  std::vector<fs::path> files_;
  Random random_;
};

}  // namespace

TEST_CASE("Viewer: ten thousand random events", "[viewer][property][nightly]") {
  const TemporaryFolder folder;
  const CurrentFolder current(folder.path());
  HeadlessViewer user(scene_file("box_stack"), 320, 200);
  user.viewer.display.panels = true;
  user.viewer.restore({});  // with the hints of a first start
  user.steps(5);
  const fs::path trajectory = folder.path() / "stack.npz";
  user.simulation.call([&](SimulationCore& core) { core.save_trajectory(trajectory); });
  user.viewer.recording.screenshot = "random.png";
  user.viewer.recording.trajectory = "random.npz";
  user.viewer.recording.video = "random_.png";
  RandomUser hands(user,
                   {scene_file("box_stack"), scene_file("sphere_bounce"), scene_file("pendulum"), trajectory,
                    folder.write("broken.toml", "[simulation]\ntime_step = -1\n"), folder.path() / "none.npz",
                    folder.path()},
                   17);
  constexpr int k_events_of_picture = 10;
  const int events = test::samples(10'000);
  int largest = 0, scenes = 0;
  std::string scene;
  for (int event = 0; event < events; event += k_events_of_picture) {
    CAPTURE(event);
    for (int i = 0; i < k_events_of_picture; ++i) hands.act();
    // What a user would wait for is not what this is about.
    user.viewer.gradients.steps = std::min(user.viewer.gradients.steps, 10);
    user.viewer.display.slice.resolution = std::min(user.viewer.display.slice.resolution, 32);
    REQUIRE_NOTHROW(user.draw());
    hands.let_go();
    for (const Pose<double>& X_WB : user.frame().state.X_WB) CHECK(X_WB.p.allFinite());
    CHECK(std::isfinite(user.viewer.camera.distance));
    largest = std::max(largest, user.viewer.glyph_counts().points);
    scenes += user.frame().model->scene->name != scene;
    scene = user.frame().model->scene->name;
  }
  CHECK(largest > 10);
  CHECK(scenes > test::samples(10));
  // Everything that is remembered can be read again.
  const fs::path state = folder.path() / "state.toml";
  write_state(state, user.viewer.remembered());
  CHECK(read_state(state).problem.empty());
  CHECK(read_state(state).state == user.viewer.remembered());
}

}  // namespace abut::viewer
