#include "apps/viewer/file_listing.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace abut::viewer {
namespace {

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("completions: folders first, then scenes and trajectories that begin like the text",
          "[viewer][value]") {
  const test::TemporaryFolder folder;
  for (const char* name : {"box_stack.toml", "box_slide.toml", "box.npz", "box.txt", "ball.toml", "track.csv",
                           ".hidden.toml", "boxes/inside.toml", "other/x.npz"})
    folder.write(name, "");
  const std::string at = folder.path().string() + "/";
  CHECK(completions_of(at) == Paths{at + "boxes/", at + "other/", at + "ball.toml", at + "box.npz",
                                    at + "box_slide.toml", at + "box_stack.toml", at + "track.csv"});
  CHECK(completions_of(at + "box_") == Paths{at + "box_slide.toml", at + "box_stack.toml"});
  CHECK(completions_of(at + ".") == Paths{at + ".hidden.toml"});
  CHECK(completions_of(at + "boxes/") == Paths{at + "boxes/inside.toml"});
  CHECK(completions_of(at + "none").empty());
  CHECK(completions_of(at + "no/such/folder/").empty());
  CHECK(completions_of(at, 2) == Paths{at + "boxes/", at + "other/"});

  CHECK(completed(at + "box_") == at + "box_s");
  CHECK(completed(at + "box_st") == at + "box_stack.toml");
  CHECK(completed(at + "o") == at + "other/");
  CHECK(completed(at + "b") == at + "b");
  CHECK(completed(at + "none") == at + "none");
}

TEST_CASE("bundled scenes: beside an installed program, and in the tree that one was built in",
          "[viewer][value]") {
  const test::TemporaryFolder folder;
  folder.write("usr/share/abut/assets/scenes/a.toml", "# A scene.\n");
  folder.write("source/assets/scenes/b.toml", "[simulation]\n");
  folder.write("source/assets/scenes/a.toml", "");
  folder.write("source/assets/scenes/notes.txt", "");
  const auto installed = bundled_scenes_folder(folder.path() / "usr/bin/abut-view");
  REQUIRE(scenes_in(installed).size() == 1);
  CHECK(description_of(scenes_in(installed)[0]) == "A scene.");
  const auto built = scenes_in(bundled_scenes_folder(folder.path() / "source/build/release/bin/abut-view"));
  REQUIRE(built.size() == 2);
  CHECK(built[0].filename() == "a.toml");
  CHECK(built[1].filename() == "b.toml");
  CHECK(description_of(built[1]).empty());
  CHECK(bundled_scenes_folder("/nowhere/bin/abut-view").empty());
  CHECK(scenes_in("").empty());
  CHECK(scenes_in(bundled_scenes_folder()) == scenes_in(ABUT_SOURCE_DIR "/assets/scenes"));  // this program's
}

}  // namespace abut::viewer
