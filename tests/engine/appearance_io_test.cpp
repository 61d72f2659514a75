#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/atomic_file.h"
#include "engine/body_io.h"
#include "engine/mesh_io.h"
#include "engine/mesh_shapes.h"
#include "engine/scene_io.h"
#include "engine/scene_writer.h"
#include "tests/support/malformed.h"
#include "tests/support/mesh_files.h"
#include "tests/support/temporary_folder.h"

namespace abut::test {
namespace {

namespace fs = std::filesystem;

const std::string k_ball_keys = "density = 500\n[[primitive]]\nkind = \"sphere\"\nradius = 0.1\n";
const Rgb k_scene_red{1.0f, 0.0f, 0.0f}, k_teal{0.0f, 128.0f / 255.0f, 1.0f};

TEST_CASE("body_io: color and visual are read, and come back as they were written", "[engine][value]") {
  const TemporaryFolder folder;
  folder.write("ball/look.stl", binary_stl(sphere_mesh(0.1, 1)));
  folder.write("ball/body.toml", "color = [1, 0, 0.25]\nvisual = \"look.stl\"\n" + k_ball_keys);
  const Body body = read_body(folder.path() / "ball");
  CHECK(body.appearance.colour == Rgb{1.0f, 0.0f, 0.25f});
  CHECK(body.appearance.visual_mesh == folder.path() / "ball" / "look.stl");
  CHECK_FALSE(body.appearance.paints_visual_mesh);

  write_body(folder.path() / "copy", body);  // refers to the file where it is
  const Body copy = read_body(folder.path() / "copy");
  CHECK(copy.appearance.colour == body.appearance.colour);
  CHECK(fs::equivalent(copy.appearance.visual_mesh, body.appearance.visual_mesh));
  CHECK_FALSE(fs::exists(folder.path() / "copy" / "look.stl"));

  const ColouredMesh visual{sphere_mesh(0.2, 0), {}, {}};  // in place of that file
  write_body(folder.path() / "other", body, "", &visual);
  const Body other = read_body(folder.path() / "other");
  CHECK(other.appearance.visual_mesh == folder.path() / "other" / "visual.obj");
  CHECK(read_mesh(other.appearance.visual_mesh).triangle_count() == visual.mesh.triangle_count());

  folder.write("hex.toml", "color = \"#0080fF\"\n" + k_ball_keys);
  CHECK(read_body(folder.path() / "hex.toml").appearance.colour == k_teal);
  folder.write("none.toml", k_ball_keys);
  CHECK_FALSE(read_body(folder.path() / "none.toml").appearance.colour.has_value());
  CHECK(read_body(folder.path() / "none.toml").appearance.visual_mesh.empty());
}

TEST_CASE("body_io: another color or visual is rejected with file, line, key and cause", "[engine][value]") {
  const TemporaryFolder folder;
  folder.write("notes.txt", "no mesh");
  struct Case {
    std::string line;
    std::vector<std::string> parts;
  };
  const Case cases[] = {
      {"color = \"red\"", {"body.toml:1", "color", "red", "\"#rrggbb\""}},
      {"color = \"\"", {"body.toml:1", "color", "not empty"}},
      {"color = \"#12345\"", {"body.toml:1", "#12345"}},
      {"color = \"#12345g\"", {"body.toml:1", "#12345g"}},
      {"color = \"#-12345\"", {"body.toml:1", "#-12345"}},
      {"color = \"#1234567\"", {"body.toml:1"}},
      {"color = [1, 0]", {"body.toml:1", "color", "3 numbers"}},
      {"color = [1, 0, 0, 1]", {"body.toml:1", "3 numbers"}},
      {"color = [255, 0, 0]", {"body.toml:1", "color[0] = 255", "[0, 1]"}},
      {"color = [0, -0.1, 0]", {"body.toml:1", "color[1]", "[0, 1]"}},
      {"color = [0, nan, 0]", {"body.toml:1", "color[1]"}},
      {"color = [0, \"1\", 0]", {"body.toml:1", "color[1]"}},
      {"color = 5", {"body.toml:1", "color", "[red, green, blue], each in [0, 1], or \"#rrggbb\""}},
      {"colour = [1, 0, 0]", {"body.toml:1", "did you mean 'color'?"}},
      {"visual = \"none.obj\"", {"body.toml:1", "visual", "there is no file", "none.obj"}},
      {"visual = \".\"", {"body.toml:1", "there is no file"}},
      {"visual = \"\"", {"body.toml:1", "visual"}},
      {"visual = 3", {"body.toml:1", "visual"}},
      {"visual = \"notes.txt\"", {"body.toml:1", "'notes.txt' is no mesh", ".obj, .ply, .stl, .gltf, .glb"}},
  };
  for (const Case& c : cases) {
    folder.write("body.toml", c.line + "\n" + k_ball_keys);
    const std::string message = rejection([&] { return read_body(folder.path()); });
    CAPTURE(c.line, message);
    CHECK(missing_part(message, c.parts).empty());
  }
}

TEST_CASE("scene_io: a scene gives bodies another look, which its copies keep", "[engine][value]") {
  const TemporaryFolder folder;
  folder.write("ball/look.obj", obj_text(sphere_mesh(0.1, 1)));
  folder.write("ball/body.toml", "color = [0, 1, 0]\nvisual = \"look.obj\"\n" + k_ball_keys);
  folder.write("box.ply", ascii_ply(box_mesh(Vec3<double>::Constant(0.1), 1)));
  const fs::path file = folder.write("scene.toml", R"([[body]]
name = "green"
asset = "ball"
[[body]]
name = "red"
asset = "ball"
color = "#ff0000"
visual = "box.ply"
[[body]]
name = "own"
density = 500
color = [1, 0, 0]
visual = "box.ply"
[[body.primitive]]
kind = "sphere"
radius = 0.1
)");
  const Scene scene = read_scene(file);
  const fs::path copy_file = folder.path() / "runs" / "copy.toml";
  fs::create_directory(copy_file.parent_path());
  write_scene_at(file, {scene.initial, 0.001, 1}, copy_file);
  for (const Scene& each : {scene, read_scene(copy_file)}) {
    const auto look = [&](std::size_t i) -> const Appearance& { return each.model.bodies[i].appearance; };
    CHECK(look(0).colour == Rgb{0.0f, 1.0f, 0.0f});
    CHECK_FALSE(look(0).paints_visual_mesh);
    CHECK(fs::equivalent(look(0).visual_mesh, folder.path() / "ball" / "look.obj"));
    for (const std::size_t i : {1u, 2u}) {
      CHECK(look(i).colour == k_scene_red);
      CHECK(look(i).paints_visual_mesh);
      CHECK(fs::equivalent(look(i).visual_mesh, folder.path() / "box.ply"));
    }
  }
  // Bodies that a scene cannot describe become assets, which look the same.
  Scene changed = scene;
  for (Body& body : changed.model.bodies) body.inertia *= 1.5;
  SceneStart start{scene.initial, 0.001, 1};
  start.changed = &changed;
  write_scene_at(file, start, copy_file);
  const Scene with_assets = read_scene(copy_file);
  for (std::size_t i = 0; i < scene.model.bodies.size(); ++i) {
    const Appearance &before = scene.model.bodies[i].appearance,
                     &after = with_assets.model.bodies[i].appearance;
    CHECK(after.colour == before.colour);
    CHECK(after.paints_visual_mesh == before.paints_visual_mesh);
    CHECK(fs::equivalent(after.visual_mesh, before.visual_mesh));
  }
}

TEST_CASE("scene_io: an asset that is a mesh, or a folder without a body, is sent to abut fit",
          "[engine][value]") {
  const TemporaryFolder folder;
  folder.write("part.obj", obj_text(sphere_mesh(0.1, 1)));
  folder.write("part.GLB", glb(sphere_mesh(0.1, 1)));
  folder.write("meshes/part.obj", obj_text(sphere_mesh(0.1, 1)));
  folder.write("no_primitives/body.toml", "density = 1\n");
  struct Case {
    std::string asset;
    std::vector<std::string> parts;
  };
  const std::string here = folder.path().string();
  const Case cases[] = {
      {"part.obj", {"scene.toml:3", "is a mesh", "'abut fit " + here + "/part.obj -o " + here + "/part'"}},
      {"part.GLB", {"scene.toml:3", "is a mesh", "abut fit"}},
      {"meshes", {"scene.toml:3", "no such file", "'abut fit MESH -o " + here + "/meshes'"}},
      {"no_primitives", {"no_primitives/body.toml", "no [[primitive]]", "'abut fit MESH -o FOLDER'"}},
      {"none.obj", {"scene.toml:3", "none.obj"}},
  };
  for (const Case& c : cases) {
    const fs::path file =
        folder.write("scene.toml", "[[body]]\nname = \"part\"\nasset = \"" + c.asset + "\"\n");
    const std::string message = rejection([&] { return read_scene(file); });
    CAPTURE(c.asset, message);
    CHECK(missing_part(message, c.parts).empty());
  }
}

}  // namespace
}  // namespace abut::test
