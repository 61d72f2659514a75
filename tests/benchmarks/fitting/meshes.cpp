/// abut_fitting_meshes FOLDER: writes meshes of solids that need no file, in folders of it: `solids`, made by
/// CSG; `boxes`, side by side; `mixed`, of flat and round parts; `walls`, pieces that run into each other.
/// Exit codes as those of `abut`.
#include <exception>
#include <filesystem>
#include <string>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "engine/mesh_io.h"
#include "engine/mesh_shapes.h"
#include "tests/support/furniture.h"
#include "tests/support/meshes.h"
#include "tests/support/mixed_solids.h"
#include "tests/support/solid_suite.h"

namespace {

using namespace abut;
namespace fs = std::filesystem;

void write_solids(const fs::path& folder) {
  fs::create_directories(folder);
  for (const test::NamedSolid& s : test::solid_suite())
    write_obj(folder / (s.name + ".obj"), test::mesh_of(s.solid));
}

void write_boxes(const fs::path& folder) {
  fs::create_directories(folder);
  for (const test::Boxes& boxes : test::furniture())
    write_obj(folder / (boxes.name + ".obj"), test::mesh_of(boxes));
}

void write_mixed(const fs::path& folder) {
  fs::create_directories(folder);
  for (const test::NamedMesh& solid : test::mixed_solids())
    write_obj(folder / (solid.name + ".obj"), solid.mesh);
}

void write_walls(const fs::path& folder) {
  fs::create_directories(folder);
  const TriangleMesh ball = sphere_mesh(1.0, 4);
  write_obj(folder / "ball within a ball.obj", test::joined(ball, sphere_mesh(0.6, 4)));
  write_obj(folder / "two balls that overlap.obj",
            test::joined(ball, test::translated(ball, {1.2, 0.0, 0.0})));
  TriangleMesh bars;
  for (int axis = 0; axis < 3; ++axis) {
    Vec3<double> half(0.19, 0.19, 0.19);
    half[axis] = 1.0;
    bars = test::joined(bars, box_mesh(half, 1));
  }
  write_obj(folder / "three bars that cross.obj", bars);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes the meshes of tables of docs/fitting.md as .obj.", "abut_fitting_meshes");
  fs::path folder;
  app.add_option("folder", folder, "to write them to, in folders of it")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    write_solids(folder / "solids");
    write_boxes(folder / "boxes");
    write_mixed(folder / "mixed");
    write_walls(folder / "walls");
  } catch (const std::exception& error) {
    fmt::print(stderr, "abut_fitting_meshes: {}\n", error.what());
    return 1;
  }
  return 0;
}
