#include "apps/viewer/remembered_state.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/atomic_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using test::TemporaryFolder;

/// A variable of the environment, for as long as this lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Environment() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

RememberedState some_state() {
  RememberedState state;
  state.layout.left = 123.5f;
  state.layout.right = 410.0f;
  state.layout.bottom = 77.25f;
  state.open_panels = {"simulation", "plots"};
  state.recent_files = {"/a/\"quoted\" scene.toml", "/b/drill.npz"};
  state.hints_seen = true;
  return state;
}

}  // namespace

TEST_CASE("state file: what is written reads back the same", "[viewer][value]") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "new" / "viewer.toml";
  CHECK(read_state(file).state == RememberedState());
  CHECK(read_state(file).problem.empty());
  write_state(file, some_state());
  CHECK(read_state(file).state == some_state());
  RememberedState other = some_state();
  other.open_panels = {};
  other.recent_files.clear();
  write_state(file, other);
  CHECK(read_state(file).state == other);
  int files = 0;  // neither a temporary one nor one that was kept
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(file.parent_path())) ++files;
  CHECK(files == 1);
}

TEST_CASE("state file: one that is broken or of another program is ignored with a message, and kept",
          "[viewer][value]") {
  const TemporaryFolder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"[layout\nleft = 3", "state.toml:1"},
      {"[simulation]\ntime_step = 0.01\n", "no state of abut-view"},
      {"format = \"abut-view state 1\"\n[layout]\nleft = \"wide\"\n", "state.toml:3"},
      {"format = \"abut-view state 1\"\n[layout]\nleft = -3\n", "state.toml:3"},
      {"format = \"abut-view state 1\"\n[files]\nrecent = [3]\n", "recent"},
      {"\x89PNG\x01\x02", "state.toml"},
  };
  for (const auto& [text, cause] : cases) {
    CAPTURE(text);
    const fs::path file = folder.write("state.toml", text);
    StateFile state_file(file);
    CHECK(state_file.reading().state == RememberedState());
    CHECK_THAT(state_file.reading().problem, Contains(cause) && Contains("ignored"));
    CHECK(read_file(file) == text);
    state_file.save(some_state());
    CHECK(read_state(file).state == some_state());
    CHECK(read_file(file.string() + ".old") == text);
  }
  CHECK_FALSE(read_state(folder.path()).problem.empty());  // a folder
  // Keys of later versions are no reason to lose the rest.
  const fs::path later = folder.write(
      "later.toml", "format = \"abut-view state 1\"\n[layout]\nleft = 99.0\ntop = 3\n[sounds]\nvolume = 1\n");
  CHECK(read_state(later).state.layout.left == 99.0f);
  CHECK(read_state(later).problem.empty());
}

TEST_CASE("state file: a value that makes no sense is named, and all others are kept", "[viewer][value]") {
  const TemporaryFolder folder;
  const fs::path file = folder.write("state.toml", R"(format = "abut-view state 1"
[layout]
left = 123.5
right = "wide"
bottom = 77.25
open = ["simulation", "plots"]
[files]
recent = ["/a.toml", 3]
[hints]
seen = true
)");
  const StateReading reading = read_state(file);
  RememberedState expected = some_state();
  expected.layout.right = RememberedState().layout.right;
  expected.recent_files.clear();
  CHECK(reading.state == expected);
  CHECK_THAT(reading.problem, Contains("state.toml:4: layout.right") &&
                                  Contains("state.toml:8: files.recent") && Contains("ignored"));
  const fs::path tables = folder.write("tables.toml",
                                       "format = \"abut-view state 1\"\nlayout = 3\n[hints]\n"
                                       "seen = true\n");
  CHECK(read_state(tables).state.hints_seen);
  CHECK_THAT(read_state(tables).problem, Contains("tables.toml:2: layout"));
  const std::string text = read_file(file);
  write_state(file, reading.state);
  CHECK(read_state(file).problem.empty());
  CHECK(read_file(file.string() + ".old") == text);
}

TEST_CASE("state file: it is written when something has changed, and where it cannot be, nothing is lost",
          "[viewer][value]") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "viewer.toml";
  StateFile state_file(file);
  state_file.save({});
  CHECK_FALSE(fs::exists(file));
  state_file.save(some_state());
  CHECK(fs::exists(file));
  fs::remove(file);
  state_file.save(some_state());
  CHECK_FALSE(fs::exists(file));

  StateFile nowhere(folder.write("file", "") / "viewer.toml");
  nowhere.save(some_state());
  StateFile none("");
  none.save(some_state());
  CHECK(read_file(folder.path() / "file").empty());
}

TEST_CASE("state file: it lies where XDG says", "[viewer][value]") {
  const Environment home("HOME", "/home/somebody");
  {
    const Environment state("XDG_STATE_HOME", "/states");
    CHECK(default_state_file() == "/states/abut/viewer.toml");
  }
  for (const char* useless : {"", "relative", static_cast<const char*>(nullptr)}) {
    const Environment state("XDG_STATE_HOME", useless);
    CHECK(default_state_file() == "/home/somebody/.local/state/abut/viewer.toml");
  }
  const Environment state("XDG_STATE_HOME", nullptr), nobody("HOME", nullptr);
  CHECK(default_state_file().empty());
}

TEST_CASE("recent files: the newest first, each once, at most ten", "[viewer][value]") {
  std::vector<fs::path> recent;
  for (int i = 0; i < 15; ++i) add_recent_file(fmt::format("/scenes/{}.toml", i % 12), recent);
  REQUIRE(recent.size() == k_most_recent_files);
  CHECK(recent[0] == "/scenes/2.toml");
  CHECK(recent[2] == "/scenes/0.toml");
  CHECK(recent[3] == "/scenes/11.toml");
  add_recent_file("/scenes/x/../11.toml", recent);
  CHECK(recent[0] == "/scenes/11.toml");
  CHECK(recent.size() == k_most_recent_files);
  add_recent_file("relative.toml", recent);
  CHECK(recent[0].is_absolute());
}

TEST_CASE("Viewer: borders, tabs and recent files are those of the run before; a key resets the layout",
          "[viewer][value]") {
  RememberedState remembered;
  {
    HeadlessViewer user(scene_file("sphere_bounce"), 1280, 720);
    user.viewer.display.panels = true;
    user.draw(3);
    const Rectangle before = user.viewer.scene();
    user.drag(0, before.x - 3.0f, 300.0f, before.x + 77.0f, 300.0f);  // the left pane's border
    CHECK(user.viewer.scene().x == Approx(before.x + 80.0f));
    user.press(GLFW_KEY_F5);
    user.press(GLFW_KEY_F8);
    user.viewer.open(scene_file("box_slide"));
    user.draw(2);
    remembered = user.viewer.remembered();
  }
  CHECK(remembered.layout.left == Approx(Layout().left + 80.0f));
  REQUIRE(remembered.open_panels);
  CHECK_THAT(*remembered.open_panels, Catch::VectorContains(std::string("geometry")));
  CHECK_THAT(*remembered.open_panels, Catch::VectorContains(std::string("time")));  // plots over it
  CHECK_THAT(*remembered.open_panels, !Catch::VectorContains(std::string("display")));
  REQUIRE(remembered.recent_files.size() == 1);
  CHECK(remembered.recent_files[0].filename() == "box_slide.toml");

  HeadlessViewer user(scene_file("sphere_bounce"), 1280, 720);
  remembered.hints_seen = true;
  user.viewer.restore(remembered);
  user.viewer.display.panels = true;
  user.draw(3);
  CHECK(user.viewer.scene().x == Approx(Layout().left + 80.0f));
  CHECK(user.viewer.remembered() == remembered);
  user.press(GLFW_KEY_0, KeyModifier::control);
  CHECK(user.viewer.scene().x == Approx(Layout().left));
  const RememberedState reset = user.viewer.remembered();
  CHECK(reset.layout == RememberedState().layout);
  CHECK(reset.open_panels != remembered.open_panels);
  CHECK(reset.recent_files == remembered.recent_files);

  remembered.open_panels = {"geometry", "display", "nonsense"};  // two of one pane, and none at all
  user.viewer.restore(remembered);
  user.draw();
  CHECK(*user.viewer.remembered().open_panels == std::vector<std::string>{"geometry"});
}

TEST_CASE("Viewer: hints are shown until they have been seen, and any click or Esc closes them",
          "[viewer][value]") {
  RememberedState state;
  for (const int way : {0, 1, 2}) {
    CAPTURE(way);
    HeadlessViewer user(scene_file("sphere_bounce"), 800, 600);
    const Image before = user.image();
    user.viewer.restore({});
    user.draw(3);
    CHECK(user.viewer.has_popup());
    CHECK(difference(before, user.image()) > 20000);
    CHECK_FALSE(user.viewer.remembered().hints_seen);
    const OrbitCamera camera = user.viewer.camera;
    user.viewer.selection.body = 1;
    if (way == 0) user.press(GLFW_KEY_ESCAPE);
    if (way == 1) user.drag(0, 400.0f, 300.0f, 420.0f, 310.0f);  // on them
    if (way == 2) user.drag(0, 10.0f, 590.0f, 60.0f, 560.0f);    // beside them
    CHECK_FALSE(user.viewer.has_popup());
    CHECK(user.viewer.selection.body == 1);  // and nothing else
    CHECK(user.viewer.camera.azimuth == camera.azimuth);
    state = user.viewer.remembered();
    CHECK(state.hints_seen);
  }
  HeadlessViewer user(scene_file("sphere_bounce"), 800, 600);
  user.viewer.restore(state);
  user.draw(3);
  CHECK_FALSE(user.viewer.has_popup());
  user.press(GLFW_KEY_F1, KeyModifier::shift);
  CHECK(user.viewer.has_popup());
}

}  // namespace abut::viewer
