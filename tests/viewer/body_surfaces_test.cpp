#include <array>
#include <cmath>

#include <catch2/catch.hpp>

#include "apps/picture/body_surfaces.h"
#include "apps/viewer/picking.h"
#include "engine/geometry_comparison.h"
#include "engine/mesh_shapes.h"
#include "tests/apps/program.h"
#include "tests/support/scenes.h"
#include "tests/viewer/every_kind_scene.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::test {
namespace {

using namespace viewer;

/// Cosine between two colours in linear light, whatever their brightness.
double likeness(const std::array<int, 3>& pixel, const Colour& colour) {
  Vec3<double> a, b;
  for (int c = 0; c < 3; ++c) {
    a[c] = std::pow(pixel[static_cast<std::size_t>(c)] / 255.0, 2.2);
    b[c] = std::pow(static_cast<double>(colour[c]), 2.2);
  }
  return a.dot(b) / (a.norm() * b.norm());
}

/// Bodies of every kind, seen from the front.
struct EveryKind {
  TemporaryFolder folder;
  HeadlessViewer user{folder.write("scene.toml", k_every_kind), 640, 120};

  EveryKind() {
    user.viewer.display.contacts.points = user.viewer.display.contacts.normals = false;
    user.viewer.look_from(camera_between({0.0, -1.2, 0.3}, {0.0, 0.0, 0.15}));
    user.draw();
  }
};

TEST_CASE("Viewer: a body of every kind of primitive is seen in its own colour, with a mesh and without",
          "[viewer][value]") {
  EveryKind scene;
  for (const BodySurface surface : {BodySurface::mesh, BodySurface::sdf}) {
    scene.user.viewer.display.surface = surface;
    scene.user.draw();
    const Image image = scene.user.image();
    const State& state = scene.user.frame().state;
    REQUIRE(state.X_WB.size() == static_cast<std::size_t>(k_bodies_of_every_kind));
    for (int body = 1; body < k_bodies_of_every_kind; ++body) {
      const auto [x, y] = scene.user.on_screen(state.X_WB[static_cast<std::size_t>(body)].p);
      const auto seen = pixel(image, static_cast<int>(x), static_cast<int>(y));
      CAPTURE(body, static_cast<int>(surface), seen[0], seen[1], seen[2]);
      CHECK(likeness(seen, body_colour(body)) > 0.99);
    }
  }
  // Without them there is nothing of these colours.
  scene.user.viewer.display.surface = BodySurface::none;
  scene.user.draw();
  const Image empty = scene.user.image();
  for (int body = 1; body < k_bodies_of_every_kind; ++body) {
    const auto [x, y] = scene.user.on_screen(scene.user.frame().state.X_WB[static_cast<std::size_t>(body)].p);
    CHECK(likeness(pixel(empty, static_cast<int>(x), static_cast<int>(y)), body_colour(body)) < 0.99);
  }
}

TEST_CASE("pick_body: bodies without a mesh are picked where they are seen", "[viewer][value]") {
  EveryKind scene;
  for (int body = 1; body < k_bodies_of_every_kind; ++body) {
    const auto [x, y] = scene.user.on_screen(scene.user.frame().state.X_WB[static_cast<std::size_t>(body)].p);
    scene.user.viewer.selection = {};  // its handles would be in the way
    scene.user.draw();
    scene.user.click(x, y);
    CHECK(scene.user.viewer.selection.body == body);
  }
}

TEST_CASE("BodySurfaces: beside a half-space, which is a floor, the rest of the body has a surface",
          "[viewer][value]") {
  TestScene scene = floor_scene();
  Primitive bump;
  bump.kind = PrimitiveKind::sphere;
  bump.parameters[0] = 0.1;
  scene.model.bodies[0].shape.primitives.push_back(bump);
  BodySurfaces surfaces;
  Picture picture;
  surfaces.add_bodies(scene.model, scene.state.X_WB, BodyDisplay(), -1, picture);
  CHECK(picture.floors.size() == 1);
  REQUIRE(picture.surfaces.size() == 1);
  for (const Eigen::Vector3f& p : picture.surfaces[0].surface->positions)
    REQUIRE(double(p.norm()) == Approx(0.1).epsilon(1e-4));
  // A surface is made once.
  CHECK(surfaces.surface_of(scene.model, 0, BodyDisplay()) == picture.surfaces[0].surface);
}

TEST_CASE("BodySurfaces: bodies of the same geometry share one surface, others do not", "[viewer][value]") {
  const auto ball = [](double radius) {
    Body body;
    Primitive primitive;
    primitive.kind = PrimitiveKind::sphere;
    primitive.parameters[0] = radius;
    body.shape.primitives = {primitive};
    body.shape.union_smoothing = 0.01;
    return body;
  };
  Model model;
  model.bodies = {ball(0.1), ball(0.2), ball(0.1), ball(0.1)};
  model.bodies[3].shape.primitives[0].X_BP.p.x() = 0.05;
  CHECK(first_of_same_geometry(model.bodies) == std::vector{0, 1, 0, 3});
  BodySurfaces surfaces;
  const auto surface = [&](int body) { return surfaces.surface_of(model, body, BodyDisplay()); };
  REQUIRE(surface(0));
  CHECK(surface(2) == surface(0));
  CHECK(surface(1) != surface(0));
  CHECK(surface(3) != surface(0));

  // Meshes count, too: the same primitive with another one is another geometry.
  model.bodies[2].mesh = sphere_mesh(0.1, 1);
  CHECK(first_of_same_geometry(model.bodies) == std::vector{0, 1, 2, 3});
  model.bodies[0].mesh = model.bodies[2].mesh;
  CHECK(first_of_same_geometry(model.bodies) == std::vector{0, 1, 0, 3});
}

TEST_CASE(
    "BodySurfaces: a body with a coarse mesh is seen with the smooth surface of its SDF, sharp ones with "
    "their mesh",
    "[viewer][value]") {
  Body body;
  Primitive primitive;
  primitive.kind = PrimitiveKind::sphere;
  primitive.parameters[0] = 0.1;
  body.shape.primitives = {primitive};
  body.mesh = sphere_mesh(0.1, 1);
  Model model;
  model.bodies = {body};
  BodyDisplay display;
  BodySurfaces surfaces;
  const auto positions = [&] { return surfaces.surface_of(model, 0, display)->positions.size(); };
  CHECK(positions() > 10 * static_cast<std::size_t>(body.mesh.vertex_count()));
  display.wireframe = true;
  CHECK(positions() == static_cast<std::size_t>(body.mesh.vertex_count()));
  display = {};
  display.surface = BodySurface::mesh;
  CHECK(positions() == static_cast<std::size_t>(body.mesh.vertex_count()));

  display = {};
  primitive.kind = PrimitiveKind::rounded_box;
  primitive.parameters = {0.1, 0.1, 0.1, 0.0, 0.0};
  model.bodies[0].shape.primitives = {primitive};
  model.bodies[0].mesh = box_mesh({0.1, 0.1, 0.1}, 1);
  surfaces.reset({});
  CHECK(positions() == 24);  // three at each corner, one for each face
}

}  // namespace
}  // namespace abut::test
