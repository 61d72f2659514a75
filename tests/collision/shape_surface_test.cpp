// Bodies that are given by their primitives alone.
#include "collision/fitting/shape_surface.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "collision/sdf/shape_sdf.h"
#include "engine/body_io.h"
#include "engine/input_error.h"
#include "engine/mass_properties.h"
#include "engine/scene_io.h"
#include "engine/scene_writer.h"
#include "tests/support/close.h"
#include "tests/support/shapes.h"
#include "tests/support/temporary_folder.h"

using namespace abut;

namespace {

constexpr double k_pi = std::numbers::pi;

Primitive primitive_of(PrimitiveKind kind, const std::array<double, 5>& parameters,
                       const Vec3<double>& p = Vec3<double>::Zero()) {
  Primitive primitive;
  primitive.kind = kind;
  primitive.parameters = parameters;
  primitive.X_BP.p = p;
  return primitive;
}

Primitive ball(double radius, const Vec3<double>& p = Vec3<double>::Zero()) {
  return primitive_of(PrimitiveKind::sphere, {radius}, p);
}

bool same(const ShapeSurface& a, const ShapeSurface& b) {
  return a.mesh.vertices == b.mesh.vertices && a.mesh.triangles == b.mesh.triangles &&
         a.of_unit_density.inertia == b.of_unit_density.inertia && a.union_smoothing == b.union_smoothing;
}

}  // namespace

TEST_CASE("shape_surface: sharp corners of a convex solid stay with it", "[collision][value]") {
  // Corners of a tetrahedron in a cube: on the grid each has a tip of its own.
  for (const double inradius : {0.04, 0.1, 1.0}) {
    Primitive tetrahedron = primitive_of(PrimitiveKind::convex_polyhedron, {1e-3 * inradius});
    tetrahedron.directions.resize(3, 4);
    tetrahedron.directions << 1, 1, -1, -1, 1, -1, 1, -1, 1, -1, -1, 1;
    tetrahedron.directions /= std::sqrt(3.0);
    tetrahedron.values.assign(4, inradius);
    const ShapeSurface surface = make_shape_surface(test::shape_of({tetrahedron}));
    CAPTURE(inradius, surface.mesh.vertex_count());
    CHECK_NOTHROW(require_closed_surface(surface.mesh, "tetrahedron"));
    CHECK(
        test::close(surface.of_unit_density.volume, 8.0 * std::sqrt(3.0) * std::pow(inradius, 3), 1e-12, 0));
    CHECK(surface.of_unit_density.center_of_mass.norm() < 1e-12 * inradius);
    for (const double sign : {-1.0, 1.0}) {
      const Vec3<double> corner = std::sqrt(3.0) * inradius * Vec3<double>(sign, 1.0, -sign);
      CHECK((surface.mesh.vertices.colwise() - corner).colwise().norm().minCoeff() < 1e-12 * inradius);
    }
  }
}

TEST_CASE("shape_surface: mass properties are those of the closed forms", "[collision][value]") {
  const Vec3<double> axes(0.1, 0.2, 0.15);
  const Vec3<double> squares = axes.cwiseAbs2();
  const double volume = 4.0 / 3.0 * k_pi * axes.prod();
  const ShapeSurface ellipsoid = make_shape_surface(
      test::shape_of({primitive_of(PrimitiveKind::superquadric, {0.1, 0.2, 0.15, 1.0, 1.0}, {0.3, 0, -1})}));
  const MassProperties& mass = ellipsoid.of_unit_density;
  CHECK(test::close(mass.volume, volume, 2e-3, 0));
  CHECK(test::close(mass.center_of_mass, Vec3<double>(0.3, 0, -1), 0, 1e-4));
  for (int i = 0; i < 3; ++i)
    CHECK(test::close(mass.inertia(i, i), volume / 5.0 * (squares.sum() - squares[i]), 3e-3, 0));

  const ShapeSurface sphere = make_shape_surface(test::shape_of({ball(0.05)}));
  CHECK(test::close(sphere.of_unit_density.volume, sphere_mass_properties(0.05, 1.0).volume, 2e-3, 0));

  const ShapeSurface box = make_shape_surface(
      test::shape_of({primitive_of(PrimitiveKind::rounded_box, {0.1, 0.05, 0.02, 0.005})}));
  const MassProperties exact = rounded_box_mass_properties({0.1, 0.05, 0.02}, 0.005, 1.0);
  CHECK(test::close(box.of_unit_density.volume, exact.volume, 3e-3, 0));
  CHECK(test::close(box.of_unit_density.inertia, exact.inertia, 0, 5e-3 * exact.inertia.maxCoeff()));
}

TEST_CASE("shape_surface: cones and rings have the mass properties that books give", "[collision][value]") {
  constexpr double pi = std::numbers::pi;
  const MassProperties cone =
      make_shape_surface(test::shape_of({primitive_of(PrimitiveKind::cone, {0.06, 0.0, 0.08, 2e-4})}))
          .of_unit_density;
  CHECK(test::close(cone.volume, pi * 0.06 * 0.06 * 0.16 / 3.0, 1e-12, 0));
  CHECK(test::close(cone.center_of_mass, Vec3<double>(0, 0, -0.04), 0, 1e-14));
  CHECK(test::close(cone.inertia(2, 2), 0.3 * cone.mass * 0.06 * 0.06, 1e-12, 0));
  CHECK(test::close(cone.inertia(0, 0), cone.mass * (0.15 * 0.06 * 0.06 + 0.0375 * 0.16 * 0.16), 1e-12, 0));
  const MassProperties ring =
      make_shape_surface(test::shape_of({primitive_of(PrimitiveKind::torus, {0.06, 0.02})})).of_unit_density;
  CHECK(test::close(ring.volume, 2.0 * pi * pi * 0.06 * 0.02 * 0.02, 5e-3, 0));
  CHECK(test::close(ring.inertia(2, 2), ring.mass * (0.06 * 0.06 + 0.75 * 0.02 * 0.02), 1e-2, 0));
}

TEST_CASE("shape_surface: thin discs and rods keep their volume", "[collision][value]") {
  const double radius = GENERATE(0.2, 0.002), half_length = 0.001 / radius;
  CAPTURE(radius);
  const double volume = 2.0 * k_pi * radius * radius * half_length;
  const auto volume_of = [](PrimitiveKind kind, const std::array<double, 5>& parameters) {
    return make_shape_surface(test::shape_of({primitive_of(kind, parameters)})).of_unit_density.volume;
  };
  CHECK(test::close(volume_of(PrimitiveKind::cone, {radius, radius, half_length, 1e-3 * radius}), volume,
                    1e-12, 0));
  CHECK(test::close(volume_of(PrimitiveKind::superquadric, {radius, radius, half_length, 0.05, 1.0}), volume,
                    0.02, 0));
}

TEST_CASE("shape_surface: meshes are closed, with vertices on the surface; a subtraction makes a hole",
          "[collision][invariant]") {
  Primitive hole = primitive_of(PrimitiveKind::capsule, {0.02, 0.2});
  hole.operation = PrimitiveOperation::subtract;
  const std::vector<std::pair<Shape, int>> shapes{
      {test::shape_of({ball(0.05, {0.06, 0, 0}), ball(0.07, {-0.03, 0, 0.01})}), 2},
      {test::shape_of({primitive_of(PrimitiveKind::rounded_box, {0.1, 0.1, 0.03, 0.005}), hole}), 0},
      {test::shape_of({primitive_of(PrimitiveKind::cone, {0.06, 0.0, 0.08, 0.0005})}), 2},
      {test::shape_of({primitive_of(PrimitiveKind::torus, {0.06, 0.02})}), 0},
      {test::shape_of({primitive_of(PrimitiveKind::superquadric, {0.1, 0.1, 0.004, 0.05, 1.0})}), 2}};
  for (const auto& [shape, euler] : shapes) {
    const ShapeSurface surface = make_shape_surface(shape);
    CAPTURE(shape.primitives.size(), euler);
    CHECK_NOTHROW(require_closed_surface(surface.mesh, "mesh"));
    const int edges = 3 * surface.mesh.triangle_count() / 2;
    CHECK(surface.mesh.vertex_count() - edges + surface.mesh.triangle_count() == euler);
    Shape smoothed = shape;
    smoothed.union_smoothing = surface.union_smoothing;
    const ShapeSdf sdf(smoothed);
    // Unions are meshed without their smoothing tau, which moves the surface of two primitives by tau log 2 at most, and cones
    // without that of their edges, which moves a tip by tau_c log(1 + e) at most.
    const Primitive& first = shape.primitives.front();
    const double most = shape.primitives.size() > 1 ? std::numbers::ln2 * surface.union_smoothing
                        : first.kind == PrimitiveKind::cone
                            ? first.parameters[3] * std::log1p(std::numbers::e)
                            : 0.0;
    for (int v = 0; v < surface.mesh.vertex_count(); ++v)
      REQUIRE(std::abs(sdf.distance<double>(surface.mesh.vertices.col(v))) < most + 1e-9);
    CHECK(mass_properties(surface.mesh, 1.0).volume == Approx(surface.of_unit_density.volume).epsilon(0.04));
  }
}

TEST_CASE("shape_surface: is the same each time, and tells shapes apart by every number",
          "[collision][determinism]") {
  const Shape shape = test::shape_of({ball(0.05, {0.06, 0, 0}), ball(0.07)});
  const ShapeSurface first = make_shape_surface(shape);
  CHECK(same(first, make_shape_surface(shape)));
  const SurfaceMaker maker = surface_maker();
  CHECK(same(first, maker(shape)));
  CHECK(same(first, surface_maker()(shape)));
  Shape other = shape;
  other.primitives[1].X_BP.p.z() = 1e-3;
  CHECK_FALSE(same(first, maker(other)));
  other = shape;
  other.union_smoothing = 1e-3;
  CHECK_FALSE(same(first, maker(other)));
}

TEST_CASE("shape_surface: says why there is none", "[collision][error]") {
  const auto message = [](const Shape& shape) -> std::string {
    try {
      (void)make_shape_surface(shape);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  Primitive cavity = ball(0.03);
  cavity.operation = PrimitiveOperation::subtract;
  Primitive all = ball(0.3);
  all.operation = PrimitiveOperation::subtract;
  CHECK_THAT(message(test::shape_of({ball(0.05), ball(0.05, {1, 0, 0})})),
             Catch::Contains("2 closed surfaces"));
  CHECK_THAT(message(test::shape_of({ball(0.05), cavity})), Catch::Contains("2 closed surfaces"));
  CHECK_THAT(message(test::shape_of({ball(0.05), all})), Catch::Contains("no inside"));
  CHECK_THAT(message(test::shape_of({primitive_of(PrimitiveKind::half_space, {})})),
             Catch::Contains("half-space"));
  CHECK_THAT(message(test::shape_of({cavity})), Catch::Contains("at least one added primitive"));
}

TEST_CASE("shape_surface: scenes and assets need no mesh, mass properties or points", "[collision][io]") {
  test::TemporaryFolder folder;
  const std::string dumbbell =
      "[[PRIMITIVE]]\nkind = \"cylinder\"\nradius = 0.02\nhalf_length = 0.1\nposition = [0, 0, 0.5]\n"
      "[[PRIMITIVE]]\nkind = \"sphere\"\nradius = 0.05\nposition = [0, 0, 0.6]\n"
      "[[PRIMITIVE]]\nkind = \"ellipsoid\"\nsemi_axes = [0.05, 0.05, 0.05]\nposition = [0, 0, 0.4]\n";
  const auto with = [&](std::string word) {
    std::string text = dumbbell;
    for (std::size_t at; (at = text.find("PRIMITIVE")) != std::string::npos;) text.replace(at, 9, word);
    return text;
  };
  folder.write("dumbbell/body.toml", "density = 1000\n" + with("primitive"));
  folder.write("scene.toml", "[[body]]\nname = \"here\"\nmass = 2\n" + with("body.primitive") +
                                 "[[body]]\nname = \"asset\"\nasset = \"dumbbell\"\nposition = [1, 0, 0]\n"
                                 "[[body]]\nname = \"still\"\nfixed = true\n" +
                                 with("body.primitive") +
                                 "[[body]]\nname = \"box\"\ndensity = 1000\n"
                                 "[[body.primitive]]\nkind = \"box\"\nhalf_extents = [0.1, 0.2, 0.3]\n");
  CHECK_THROWS_WITH(read_scene(folder.path() / "scene.toml"),
                    Catch::Contains("a mesh is needed for the contact points"));
  const Scene scene = read_scene(folder.path() / "scene.toml", surface_maker());
  const std::vector<Body>& bodies = scene.model.bodies;
  REQUIRE(bodies.size() == 4);
  CHECK(bodies[0].mass == 2.0);
  CHECK(bodies[1].mass == Approx(1000.0 * bodies[1].volume));
  CHECK(bodies[0].mesh.vertices == bodies[2].mesh.vertices);
  CHECK(bodies[0].contact_points == bodies[0].mesh.vertices);
  CHECK(bodies[0].p_BA.z() == Approx(-0.5).epsilon(1e-3));
  CHECK(bodies[0].inertia.isApprox(bodies[1].inertia * (2.0 / bodies[1].mass), 1e-12));
  // 0.02 of a cylinder between two balls, and what these add.
  CHECK(bodies[1].volume > 2.0 * 4.0 / 3.0 * k_pi * std::pow(0.05, 3));
  CHECK(bodies[1].volume < 2.0 * 4.0 / 3.0 * k_pi * std::pow(0.05, 3) + k_pi * 0.02 * 0.02 * 0.2);
  CHECK(bodies[3].volume == Approx(0.2 * 0.4 * 0.6));

  // A written scene reads back as the same bodies.
  SceneStart start;
  start.state = scene.initial;
  start.time_step = scene.config.step.h;
  start.make_surface = surface_maker();
  write_scene_at(folder.path() / "scene.toml", start, folder.path() / "later.toml");
  const Scene later = read_scene(folder.path() / "later.toml", surface_maker());
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    CHECK(later.model.bodies[b].mesh.vertices == bodies[b].mesh.vertices);
    CHECK(later.model.bodies[b].inertia == bodies[b].inertia);
    CHECK(later.initial.X_WB[b].p == scene.initial.X_WB[b].p);
  }

  // What says all that is needed has no mesh made, and may be of several pieces.
  const std::string posts =
      "[body.contact]\npoints = []\n[[body.primitive]]\nkind = \"sphere\"\nradius = 0.1\n"
      "[[body.primitive]]\nkind = \"sphere\"\nradius = 0.1\nposition = [1, 0, 0]\n";
  folder.write("posts.toml", "[[body]]\nname = \"fixed\"\nfixed = true\n" + posts +
                                 "[[body]]\nname = \"moving\"\nmass = 1\ncenter_of_mass = [0.5, 0, 0]\n"
                                 "inertia = [1, 1, 1, 0, 0, 0]\n" +
                                 posts);
  for (const Body& body : read_scene(folder.path() / "posts.toml", surface_maker()).model.bodies)
    CHECK(body.mesh.vertex_count() == 0);

  folder.write("apart.toml",
               "[[body]]\nname = \"apart\"\nmass = 1\n"
               "[[body.primitive]]\nkind = \"sphere\"\nradius = 0.1\n"
               "[[body.primitive]]\nkind = \"sphere\"\nradius = 0.1\nposition = [1, 0, 0]\n");
  CHECK_THROWS_WITH(read_scene(folder.path() / "apart.toml", surface_maker()),
                    Catch::Contains("apart.toml:1: body[0]: no mesh is given, and none can be made") &&
                        Catch::Contains("2 closed surfaces"));
}
