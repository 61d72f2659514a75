#include <array>
#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "apps/picture/body_surfaces.h"
#include "apps/viewer/panels/actions.h"
#include "engine/input_error.h"
#include "engine/mesh_io.h"
#include "engine/mesh_shapes.h"
#include "engine/scene_io.h"
#include "tests/support/mesh_files.h"
#include "tests/support/meshes.h"
#include "tests/support/temporary_folder.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::test {
namespace {

using namespace viewer;
using Catch::Contains;

constexpr Rgb k_red_paint{1.0f, 0.0f, 0.0f}, k_green_paint{0.0f, 1.0f, 0.0f};

TEST_CASE("visual_surface: vertices at one place are smoothed over, each with its own colour",
          "[viewer][value]") {
  const TriangleMesh ball = sphere_mesh(1.0, 2);
  ColouredMesh soup{soup_of(ball), {}, {}};
  const SharedSurface plain = visual_surface(soup, {0, 0, 5});
  REQUIRE(plain);
  CHECK(plain->two_sided);
  CHECK(plain->colours.empty());
  CHECK(plain->positions.size() == static_cast<std::size_t>(ball.vertex_count()));
  for (std::size_t i = 0; i < plain->positions.size(); ++i) {
    const Eigen::Vector3f radius = plain->positions[i] - Eigen::Vector3f(0, 0, 5);
    CHECK(plain->normals[i].dot(radius.normalized()) > 0.999f);
  }

  // One half in red, one in no colour: the vertices between them are there twice, with one normal.
  for (const Eigen::Vector3i& t : soup.mesh.triangles) {
    const double z =
        soup.mesh.vertices.row(2)(t[0]) + soup.mesh.vertices.row(2)(t[1]) + soup.mesh.vertices.row(2)(t[2]);
    soup.triangle_colours.push_back(z > 0.0 ? std::optional(k_red_paint) : std::nullopt);
  }
  const SharedSurface painted = visual_surface(soup);
  CHECK(painted->positions.size() > plain->positions.size());
  REQUIRE(painted->colours.size() == painted->positions.size());
  int red = 0, none = 0;
  for (std::size_t i = 0; i < painted->positions.size(); ++i) {
    CHECK(painted->normals[i].dot(painted->positions[i].normalized()) > 0.999f);
    red += painted->colours[i] == Colour(1, 0, 0, 1);
    none += painted->colours[i].w() < 0.0f;
  }
  CHECK(red > 0);
  CHECK(none > 0);
  CHECK(red + none == static_cast<int>(painted->colours.size()));
  CHECK(visual_surface({}) == nullptr);
}

/// A ball whose visual mesh is an open box, seen from the side where there is none, of the given look.
struct Ball {
  TemporaryFolder folder;

  std::string scene(const std::string& of_body, const std::string& of_scene) const {
    ColouredMesh open_box{box_mesh(Vec3<double>(0.2, 0.2, 0.2), 1), {}, {}};
    std::erase_if(open_box.mesh.triangles, [&](const Eigen::Vector3i& t) {
      return (open_box.mesh.vertices(Eigen::all, {t[0], t[1], t[2]}).row(1).array() < -0.19).all();
    });
    open_box.triangle_colours.assign(open_box.mesh.triangles.size(), k_green_paint);
    write_coloured_obj(folder.path() / "box.obj", open_box);
    folder.write("ball/body.toml",
                 "density = 500\n" + of_body + "[[primitive]]\nkind = \"sphere\"\nradius = 0.1\n");
    return folder.write("scene.toml", "[[body]]\nname = \"ball\"\nasset = \"ball\"\n" + of_scene);
  }
};

/// Which of red, green and blue dominates, or '-'.
char dominant(const std::array<int, 3>& pixel) {
  for (std::size_t c = 0; c < 3; ++c) {
    if (pixel[c] > 60 && pixel[c] > 3 * pixel[(c + 1) % 3] && pixel[c] > 3 * pixel[(c + 2) % 3])
      return "rgb"[c];
  }
  return '-';
}

TEST_CASE(
    "Viewer: a body has the colour of its file, a visual mesh that of its own, unless the scene says another",
    "[viewer][value]") {
  const Ball ball;
  struct Case {
    std::string of_body, of_scene;
    char visual, mesh;
  };
  const std::string with_visual = "visual = \"../box.obj\"\n";
  const Case cases[] = {{"", "", '-', '-'},
                        {"color = [1, 0, 0]\n", "", 'r', 'r'},
                        {"color = [1, 0, 0]\n", "color = [0, 0, 1]\n", 'b', 'b'},
                        {with_visual, "", 'g', '-'},
                        {with_visual + "color = [1, 0, 0]\n", "", 'g', 'r'},
                        {with_visual, "color = [0, 0, 1]\n", 'b', 'b'}};
  for (const Case& c : cases) {
    HeadlessViewer user(ball.scene(c.of_body, c.of_scene), 240, 240);
    user.viewer.display.contacts.points = false;
    user.viewer.look_from(camera_between({0, -1, 0}, {0, 0, 0}));
    const auto seen = [&](BodySurface surface) {
      user.viewer.display.surface = surface;
      user.draw();
      return dominant(viewer::pixel(user.image(), 120, 120));
    };
    CAPTURE(c.of_body, c.of_scene);
    CHECK(seen(BodySurface::visual) == c.visual);
    CHECK(seen(BodySurface::mesh) == c.mesh);
    CHECK(seen(BodySurface::sdf) == c.mesh);
    user.viewer.display.discrepancy = true;
    CHECK(seen(BodySurface::visual) == '-');
  }
}

TEST_CASE("BodySurfaces: bodies share a visual mesh, which is read when it is first drawn",
          "[viewer][value]") {
  const Ball ball;
  const std::string file =
      ball.scene("visual = \"../box.obj\"\n", "[[body]]\nname = \"b\"\nasset = \"ball\"\n");
  const Model model = read_scene(file).model;
  BodySurfaces surfaces;
  const SharedSurface first = surfaces.surface_of(model, 0, BodyDisplay());
  REQUIRE(first);
  CHECK(first->positions.size() > 0);
  CHECK(surfaces.surface_of(model, 1, BodyDisplay()) == first);
  CHECK(visual_surfaces(model).size() == 1);
  BodySurfaces others;
  ball.folder.write("box.obj", "v 0 0 0\nv 1 0 zero\n");
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH(others.surface_of(model, 0, BodyDisplay()),
                      Contains("box.obj:2: 'zero' is not a number"));
  BodyDisplay collision;
  collision.surface = BodySurface::mesh;
  CHECK(others.surface_of(model, 0, collision));
}

TEST_CASE("Viewer: of a scene with a damaged visual mesh it says so, and keeps the one it has",
          "[viewer][value]") {
  const Ball ball;
  HeadlessViewer user(ball.scene("", ""), 64, 64);
  const std::string other = ball.folder.write(
      "other.toml", "[[body]]\nname = \"other\"\nasset = \"ball\"\nvisual = \"damaged.obj\"\n");
  ball.folder.write("damaged.obj", "v 0 0\n");
  user.viewer.open(other);
  user.draw(2);
  CHECK(user.frame().model->model().bodies[0].name == "ball");
  CHECK_THAT(user.frame().message, Contains("damaged.obj:1"));
}

}  // namespace
}  // namespace abut::test
