/// `abut-view` as a user meets it, with a display and without.
#include <catch2/catch.hpp>

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/atomic_file.h"
#include "engine/npz.h"
#include "tests/apps/program.h"
#include "tests/viewer/every_kind_scene.h"

namespace abut::test {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

const std::string k_spot = ABUT_SOURCE_DIR "/assets/scenes/spot_on_pole.toml";

/// An X server that nobody sees, as long as it lives.
class VirtualDisplay {
 public:
  VirtualDisplay() {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    process_ = ::fork();
    if (process_ == 0) {
      ::close(ends[0]);
      const int nowhere = ::open("/dev/null", O_RDWR);
      ::dup2(nowhere, STDOUT_FILENO);
      ::dup2(nowhere, STDERR_FILENO);
      const std::string answer = std::to_string(ends[1]);
      ::execlp("Xvfb", "Xvfb", "-displayfd", answer.c_str(), "-screen", "0", "1024x768x24", "-nolisten",
               "tcp", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(ends[1]);
    char letter = 0;
    pollfd ready{ends[0], POLLIN, 0};
    constexpr int k_patience = 60000;  // [ms]
    while (::poll(&ready, 1, k_patience) == 1 && ::read(ends[0], &letter, 1) == 1 && letter != '\n')
      number_ += letter;
    ::close(ends[0]);
  }
  ~VirtualDisplay() {
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
  }
  VirtualDisplay(const VirtualDisplay&) = delete;
  VirtualDisplay& operator=(const VirtualDisplay&) = delete;

  [[nodiscard]] std::string name() const { return ":" + number_; }
  [[nodiscard]] bool is_there() const { return !number_.empty(); }

 private:
  pid_t process_ = -1;
  std::string number_;
};

ProgramResult view(const std::vector<std::string>& arguments, const std::string& display = "") {
  // What drivers of a display leave behind when they are unloaded is not ours to free; the viewer's own
  // memory is looked after where it draws without one.
  return run_executable(ABUT_VIEW_EXECUTABLE, arguments,
                        {{"DISPLAY", display},
                         {"WAYLAND_DISPLAY", ""},
                         {"ASAN_OPTIONS", display.empty() ? "" : "detect_leaks=0"}});
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

}  // namespace

TEST_CASE("abut-view: draws in a window and without a display", "[viewer][value]") {
  const TemporaryFolder folder;
  const std::string in_window = folder.path() / "window.png",
                    headless = folder.path() / "new" / "headless.png";
  const VirtualDisplay display;
  REQUIRE(display.is_there());
  const ProgramResult window =
      view({k_spot, "--frames", "20", "--width", "640", "--height", "480", "--text-scale", "1", "--paused",
            "--steps", "100", "--screenshot", in_window},
           display.name());
  CAPTURE(window.err);
  CHECK(window.exit_code == 0);
  CHECK(window.err.empty());
  const ProgramResult without = view({k_spot, "--headless", "--frames", "20", "--width", "640", "--height",
                                      "480", "--paused", "--steps", "100", "--screenshot", headless});
  CAPTURE(without.err);
  CHECK(without.exit_code == 0);
  for (const std::string& file : {in_window, headless}) {
    const std::string png = read_file(file);
    CHECK(png.size() > 20000);  // not blank
    CHECK(big_endian(png, 16) == 640);
    CHECK(big_endian(png, 20) == 480);
  }
}

TEST_CASE("abut-view: the camera is where it is put", "[viewer][value]") {
  const TemporaryFolder folder;
  const auto picture = [&](const std::string& camera) {
    const std::string file = folder.path() / "picture.png";
    REQUIRE(view({k_spot, "--headless", "--paused", "--width", "160", "--height", "120", "--hide", "panels",
                  "--camera", camera, "--screenshot", file})
                .exit_code == 0);
    return read_file(file);
  };
  const std::string near = picture("0.5,0.5,0.4,0,0,0.3");
  CHECK(picture("1.0,1.0,0.5,0,0,0.3") != near);  // from the same side, farther away
  CHECK(picture("0.6,0.5,0.4,0.1,0,0.3") != near);
  CHECK(picture("0.5,0.5,0.4,0,0,0.3") == near);
}

TEST_CASE("abut-view: draws what abut snapshot draws, from the same camera", "[viewer][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_every_kind),
                    by_viewer = folder.path() / "viewer.png", by_snapshot = folder.path() / "snapshot.png";
  for (const std::vector<std::string>& camera : {std::vector<std::string>{},
                                                 {"--camera", "0.5,-1.2,0.4,0,0,0.1"},
                                                 {"--camera-from", "0.5,-1.2,0.4"},
                                                 {"--camera-to", "0.1,0,0.1"},
                                                 {"--camera-from", "0,-2,1", "--camera-to", "0,0,0.1"}}) {
    std::vector<std::string> viewer{scene,     "--headless", "--paused", "--hide", "panels,points,normals",
                                    "--width", "160",        "--height", "90",     "--screenshot",
                                    by_viewer},
        snapshot{"snapshot", scene, "--width", "160", "--height", "90", "--out", by_snapshot};
    viewer.insert(viewer.end(), camera.begin(), camera.end());
    snapshot.insert(snapshot.end(), camera.begin(), camera.end());
    CAPTURE(camera);
    REQUIRE(view(viewer).exit_code == 0);
    REQUIRE(run_executable(ABUT_EXECUTABLE, snapshot).exit_code == 0);
    CHECK(read_file(by_viewer) == read_file(by_snapshot));
  }
}

TEST_CASE("abut-view: without a display it says so, and what to do", "[viewer][value]") {
  const ProgramResult result = view({k_spot});
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("display") && Contains("--headless"));
  CHECK(line_count(result.err) == 1);
  CHECK(view({k_spot, "--headless"}).exit_code == 0);
}

TEST_CASE("abut-view: replays what abut run wrote, by its name alone", "[viewer][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene), trajectory = folder.path() / "run.npz",
                    nameless = folder.path() / "nameless.npz", png = folder.path() / "picture.png";
  REQUIRE(run_executable(ABUT_EXECUTABLE, {"run", scene, "--quiet", "--out", trajectory}).exit_code == 0);
  CHECK(view({trajectory, "--headless", "--frames", "3", "--screenshot", png}).exit_code == 0);
  CHECK(fs::exists(png));
  CHECK(view({scene, trajectory, "--headless"}).exit_code == 0);
  NpzWriter writer;
  writer.add("time", 1.0);
  writer.write(nameless);
  const ProgramResult result = view({nameless, "--headless"});
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Contains("nameless.npz") && Contains("of which scene"));
}

TEST_CASE("abut-view: runs without a display end, however many steps are asked of a replay",
          "[viewer][value]") {
  const TemporaryFolder folder;
  const std::string scene = folder.write("scene.toml", k_scene), trajectory = folder.path() / "run.npz",
                    png = folder.path() / "picture.png";
  REQUIRE(run_executable(ABUT_EXECUTABLE, {"run", scene, "--quiet", "--out", trajectory}).exit_code == 0);
  const ProgramResult result = view({trajectory, "--headless", "--steps", "2000000000", "--screenshot", png});
  CHECK(result.exit_code == 0);
  CHECK(result.out == "written to " + png + "\n");
  CHECK(view({trajectory, "--headless", "--steps", "2000000000", "--video", folder.path() / "video.png"})
            .exit_code == 0);
}

TEST_CASE("abut-view: a window records the video that the command line asks for", "[viewer][value]") {
  const TemporaryFolder folder;
  const VirtualDisplay display;
  REQUIRE(display.is_there());
  const ProgramResult result = view(
      {k_spot, "--frames", "4", "--width", "320", "--height", "240", "--video", folder.path() / "video.png"},
      display.name());
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("written to") && Contains("video"));
  CHECK(fs::exists(folder.path() / "video_00001.png"));
}

TEST_CASE("abut-view: without a display it remembers something only where it is told to", "[viewer][value]") {
  const TemporaryFolder folder;
  const fs::path home = folder.path() / "home", state = folder.path() / "new/state.toml";
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{k_spot, "--headless", "--paused", "--width", "320", "--height", "200"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_executable(ABUT_VIEW_EXECUTABLE, arguments, {{"XDG_STATE_HOME", home.string()}});
  };
  CHECK(run({}).exit_code == 0);
  CHECK_FALSE(fs::exists(home));
  CHECK(run({"--state", state, "--open", "geometry"}).exit_code == 0);
  CHECK_FALSE(fs::exists(home));
  CHECK_THAT(read_file(state), Contains("open = [\"geometry\"]") && Contains("spot_on_pole.toml"));
  const fs::path broken = folder.write("broken.toml", "[layout");
  const ProgramResult result = run({"--state", broken});
  CHECK(result.exit_code == 0);
  CHECK(line_count(result.err) == 1);
  CHECK_THAT(result.err, Contains("broken.toml:1") && Contains("ignored"));
  CHECK(read_file(broken.string() + ".old") == "[layout");
}

TEST_CASE("abut-view: bad usage and input are exit code 2 and one line that names the cause",
          "[viewer][value]") {
  const TemporaryFolder folder;
  const std::string bad = folder.write("bad.toml", k_scene + "nonsense = 1\n"),
                    png = folder.path() / "picture.png";
  struct Case {
    std::vector<std::string> arguments;
    std::string cause;
  };
  const Case cases[] = {
      {{}, "FILE"},
      {{folder.path() / "none.toml", "--headless"}, "none.toml"},
      {{bad, "--headless"}, "nonsense"},
      {{k_spot, folder.path() / "none.npz", "--headless"}, "none.npz"},
      {{k_spot, "--headless", "--show", "normal"}, "did you mean 'normals'"},
      {{k_spot, "--headless", "--open", "nothing"}, "simulation"},
      {{k_spot, "--headless", "--indicator", "activty"}, "activity"},
      {{k_spot, "--headless", "--select", "cow"}, "spot"},
      {{k_spot, "--headless", "--loss", "z:cow"}, "spot"},
      {{k_spot, "--headless", "--loss", "speed"}, "kinetic-energy"},
      {{k_spot, "--headless", "--camera", "0,0,0,0,0,0"}, "--camera"},
      {{k_spot, "--headless", "--camera", "0,0"}, "--camera"},
      {{k_spot, "--headless", "--width", "0"}, "--width"},
      {{k_spot, "--headless", "--frames", "0"}, "--frames"},
      {{k_spot, "--headless", "--glyph-size", "inf"}, "--glyph-size"},
      {{k_spot, "--headless", "--screenshot", folder.path() / "picture.jpg"}, ".png"},
      {{k_spot, "--screenshot", png}, "--frames"},
      {{k_spot, "--no-such-option"}, "--no-such-option"},
  };
  for (const Case& c : cases) {
    const ProgramResult result = view(c.arguments);
    CAPTURE(c.cause, result.err);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains(c.cause));
    CHECK(line_count(result.err) == 1);
  }
  CHECK_FALSE(fs::exists(png));
}

TEST_CASE("abut-view: Ctrl + C ends the wait for ghosts that are simulated, and the program ends well",
          "[viewer][value]") {
  const TemporaryFolder folder;
  std::string text = read_file(ABUT_SOURCE_DIR "/assets/scenes/box_slide.toml");
  const std::size_t steps = text.find("steps = ");
  REQUIRE(steps != std::string::npos);
  text.replace(steps, text.find('\n', steps) - steps, "steps = 100000000");
  const std::size_t asset = text.find("\"../bodies");
  REQUIRE(asset != std::string::npos);
  text.replace(asset, 4, "\"" ABUT_SOURCE_DIR "/assets/");
  const fs::path scene = folder.write("endless.toml", text), png = folder.path() / "picture.png";
  // The signal comes as soon as the program catches it.
  const std::string script = R"("$0" "$1" --ghosts "$1" --headless --width 64 --height 48 --screenshot "$2" &
p=$!
until [ $(( 0x$(awk '/SigCgt/ {print $2}' /proc/$p/status) & 2 )) -ne 0 ]; do sleep 0.01; done
kill -INT $p
wait $p)";
  const ProgramResult result = run_executable(
      "/bin/bash", {"-c", script, ABUT_VIEW_EXECUTABLE, scene.string(), png.string()}, {{"DISPLAY", ""}});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(fs::exists(png));
}

}  // namespace abut::test
