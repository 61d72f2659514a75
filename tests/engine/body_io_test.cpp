#include "engine/body_io.h"

#include <array>
#include <numbers>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/atomic_file.h"
#include "engine/mesh_io.h"
#include "engine/mesh_shapes.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/malformed.h"
#include "tests/support/mesh_files.h"
#include "tests/support/temporary_folder.h"

using namespace abut;

namespace {

void check_same(const Body& a, const Body& b, double rtol) {
  const double length = std::isfinite(b.size) ? rtol * b.size : 0.0;
  CHECK(a.name == b.name);
  CHECK(test::close(a.mass, b.mass, rtol, 0));
  CHECK(test::close(a.volume, b.volume, rtol, 0));
  CHECK(test::close(a.inertia, b.inertia, rtol, rtol * b.inertia.cwiseAbs().maxCoeff()));
  CHECK(test::close(a.p_BA, b.p_BA, rtol, length));
  CHECK(test::close(a.size, b.size, rtol, 0));
  CHECK(a.fixed == b.fixed);
  CHECK(test::close(a.mesh.vertices, b.mesh.vertices, 0, length));
  CHECK(a.mesh.triangles == b.mesh.triangles);
  CHECK(test::close(a.contact_points, b.contact_points, 0, length));
  CHECK(a.contact_radius == b.contact_radius);
  CHECK(a.contact_points_on_surface == b.contact_points_on_surface);
  REQUIRE(a.contact_areas.size() == b.contact_areas.size());
  for (std::size_t i = 0; i < a.contact_areas.size(); ++i) {
    CHECK(test::close(a.contact_areas[i], b.contact_areas[i], 1e-11, 0));
  }
  CHECK(test::close(a.shape.union_smoothing, b.shape.union_smoothing, rtol, 0));
  CHECK(a.shape.distance_mode == b.shape.distance_mode);
  REQUIRE(a.shape.primitives.size() == b.shape.primitives.size());
  for (std::size_t i = 0; i < a.shape.primitives.size(); ++i) {
    const Primitive &p = a.shape.primitives[i], &q = b.shape.primitives[i];
    CHECK(p.kind == q.kind);
    CHECK(p.operation == q.operation);
    CHECK(p.parameters == q.parameters);
    CHECK(p.values == q.values);
    CHECK(p.directions == q.directions);
    CHECK(test::close(p.X_BP.p, q.X_BP.p, 0, std::isfinite(b.size) ? length : 1e-14));
    CHECK(test::close(p.X_BP.q.coeffs(), q.X_BP.q.coeffs(), 0, 1e-15));
  }
  CHECK(a.material.friction == b.material.friction);
  CHECK(a.material.stiffness == b.material.stiffness);
  CHECK(a.material.dissipation_time == b.material.dissipation_time);
  CHECK(a.material.restitution == b.material.restitution);
}

void check_round_trip(const Body& body) {
  const test::TemporaryFolder folder;
  write_body(folder.path() / "asset", body, "Made by a test.\nTwo lines.");
  const Body again = read_body(folder.path() / "asset");
  check_same(again, body, 1e-14);
  const std::string text = read_file(folder.path() / "asset" / "body.toml");
  CHECK(text.starts_with("# Made by a test.\n# Two lines.\nname = "));
  // A second time, into the same folder and by the other form of the path.
  write_body(folder.path() / "asset", again);
  check_same(read_body(folder.path() / "asset" / "body.toml"), body, 1e-13);
}

/// Two superquadrics less a sphere, off centre, with a mesh that belongs to something else but is closed.
Body lump() {
  Random random(3);
  Shape shape;
  Primitive a;
  a.parameters = {0.3, 0.2, 0.1, 0.5, 1.9};
  a.X_BP = test::random_pose(random, 0.2);
  Primitive b = a;
  b.parameters = {0.1, 0.2, 0.3, 0.02, 1.0};
  b.X_BP = test::random_pose(random, 0.2);
  Primitive c;
  c.kind = PrimitiveKind::sphere;
  c.operation = PrimitiveOperation::subtract;
  c.parameters = {0.05};
  shape.primitives = {a, b, c};
  shape.distance_mode = DistanceMode::projected;
  shape.union_smoothing = 0.0123;
  TriangleMesh mesh = sphere_mesh(0.3, 2);
  mesh.vertices.row(0) *= 1.7;
  mesh.vertices.colwise() += Vec3<double>(0.3, -0.2, 0.7);
  Body body = make_body("a \"lump\" \\ of clay", shape, mesh, Density{1234.5});
  body.material = {0.37, 1e5, 0.02, 0.45};
  return body;
}

}  // namespace

TEST_CASE("body_io: bodies come back as they were written", "[engine][value]") {
  SECTION("sphere") { check_round_trip(make_sphere(0.1, 1000.0)); }
  SECTION("capsule") { check_round_trip(make_capsule(0.1, 0.33, 1000.0)); }
  SECTION("rounded box") { check_round_trip(make_box({0.1, 0.2, 0.3}, 0.01, 700.0)); }
  SECTION("box") { check_round_trip(make_box({0.1, 0.2, 0.3}, 0.0, 3, 700.0)); }
  SECTION("half-space") { check_round_trip(make_half_space()); }
  SECTION("superquadrics and a mesh") { check_round_trip(lump()); }
  SECTION("own contact points, with areas and a radius") {
    Body body = lump();
    body.contact_points = Points::Random(3, 5) * 0.1;
    body.contact_areas = {0.1, 0.2, 0.3, 0.4, 0.5};
    body.contact_radius = 0.003;
    body.size += 2 * 0.003;
    body.contact_points_on_surface = false;
    check_round_trip(body);
  }
  SECTION("own areas of the mesh's points") {
    Body body = lump();
    for (double& area : body.contact_areas) area *= 2.0;
    check_round_trip(body);
  }
}

TEST_CASE("body_io: primitives of planes, points and cuts come back as they were written",
          "[engine][value]") {
  Random random(5);
  Body body = lump();
  const TriangleMesh ball = sphere_mesh(0.2, 1);
  body.shape.primitives[0] = make_convex_hull_polyhedron(ball.vertices);
  body.shape.primitives[1] = make_oriented_point_cloud(ball);
  body.shape.primitives[1].operation = PrimitiveOperation::subtract;
  body.shape.primitives.push_back(
      make_extruded_superquadric({0.3, 0.2, 0.1}, 0.5, 1.9, {0.1, 2.3, -1.0}, {0.05, 0.1, 0.2}, 7.5));
  body.shape.primitives.push_back(make_extruded_superquadric({0.3, 0.2, 0.1}, 0.5, 1.9, {}, {}));
  for (Primitive& primitive : body.shape.primitives) primitive.X_BP = test::random_pose(random, 0.3);
  check_round_trip(body);
}

TEST_CASE("body_io: a mesh is enough for a hull and for a point cloud", "[engine][value]") {
  const test::TemporaryFolder folder;
  TriangleMesh box = box_mesh({0.3, 0.2, 0.1}, 4);
  box.vertices.colwise() += Vec3<double>(1.0, 2.0, 3.0);
  folder.write("box.obj", test::obj_text(box));
  const std::string rest =
      "mass = 1\ncenter_of_mass = [0, 0, 0]\ninertia = [1, 1, 1, 0, 0, 0]\n[contact]\npoints = "
      "[]\n[[primitive]]\nmesh = \"box.obj\"\nposition = [0, 0, 5]\norientation = [0, 0, 0, 1]\nkind = ";
  const Body hull = read_body(folder.write("body.toml", rest + "\"convex_polyhedron\"\n"));
  const Primitive& polyhedron = hull.shape.primitives[0];
  CHECK(polyhedron.values.size() == 6);
  CHECK(test::close(polyhedron.X_BP.p, Vec3<double>(-1, -2, 8), 0, 1e-12));  // half a turn about z, and up
  CHECK(test::close(polyhedron.parameters[0], 0.002 * 0.6, 1e-9, 0));
  const Body cloud = read_body(folder.write("body.toml", rest + "\"oriented_point_cloud\"\n"));
  CHECK(cloud.shape.primitives[0].values.size() == static_cast<std::size_t>(3 * box.vertex_count()));
  CHECK(cloud.shape.primitives[0].X_BP.p == Vec3<double>(0, 0, 5));
}

TEST_CASE("body_io: a short file is enough", "[engine][value]") {
  const test::TemporaryFolder folder;
  folder.write("ball/body.toml", "density = 500\n[[primitive]]\nkind = \"sphere\"\nradius = 0.5\n");
  const Body ball = read_body(folder.path() / "ball");
  CHECK(ball.name == "ball");
  CHECK(ball.contact_radius == 0.5);
  CHECK(ball.material.friction == 0.5);
  CHECK(std::isinf(ball.material.stiffness));
  CHECK(ball.material.dissipation_time < 0.0);
  CHECK(ball.material.restitution == 0.0);

  folder.write("box/body.toml",
               "mass = 2\nunion_smoothing = 0.01\n[material]\nstiffness = inf\nfriction = 0\n"
               "[[primitive]]\nkind = \"rounded_box\"\nhalf_extents = [1, 1, 2]\nposition = [0, 0, 2]\n");
  const Body box = read_body(folder.path() / "box");
  CHECK(box.mass == 2.0);
  CHECK(box.p_BA == Vec3<double>(0, 0, -2));
  CHECK(box.contact_points.cols() == 98);
  CHECK(box.contact_radius == 0.0);
  CHECK(box.material.friction == 0.0);
}

TEST_CASE("body_io: words for primitives, and what they are when a number is left out", "[engine][value]") {
  const std::string given =
      "mass = 1\ncenter_of_mass = [0, 0, 0]\ninertia = [1, 1, 1, 0, 0, 0]\n[contact]\npoints = []\n"
      "[[primitive]]\nposition = [0, 0, 5]\nkind = ";
  const auto [text, kind, parameters] = GENERATE(table<std::string, PrimitiveKind, std::array<double, 5>>(
      {{"\"box\"\nhalf_extents = [1, 2, 3]\n", PrimitiveKind::rounded_box, {1, 2, 3, 0}},
       {"\"cylinder\"\nradius = 1\nhalf_length = 3\n", PrimitiveKind::superquadric, {1, 1, 3, 0.05, 1}},
       {"\"cone\"\nradius = 1\nhalf_length = 3\n", PrimitiveKind::cone, {1, 0, 3, 0.012}},
       {"\"cone\"\nradius = 1\ntop_radius = 2\nhalf_length = 3\nsmoothing = 0.05\n",
        PrimitiveKind::cone,
        {1, 2, 3, 0.05}},
       {"\"cone\"\nradius = 0.002\ntop_radius = 0.002\nhalf_length = 0.1\n",  // a rod
        PrimitiveKind::cone,
        {0.002, 0.002, 0.1, 0.25 * 0.1 * 0.002}},
       {"\"torus\"\nradius = 1\ntube_radius = 0.5\n", PrimitiveKind::torus, {1, 0.5}},
       {"\"ellipsoid\"\nsemi_axes = [1, 2, 3]\n", PrimitiveKind::superquadric, {1, 2, 3, 1, 1}}}));
  test::TemporaryFolder folder;
  const Body body = read_body(folder.write("body.toml", given + text));
  CHECK(body.shape.primitives.front().kind == kind);
  CHECK(body.shape.primitives.front().parameters == parameters);
  check_round_trip(body);
}

TEST_CASE("body_io: cones and tori that are none are refused at the key", "[engine][error]") {
  const auto [text, key] = GENERATE(table<std::string, std::string>(
      {{"\"torus\"\nradius = 1\ntube_radius = 1\n", ":5: primitive[0].tube_radius: 1, allowed: < 1"},
       {"\"cone\"\nhalf_length = 1\nradius = 0\n", ":5: primitive[0].radius: 0, allowed: > 0"},
       {"\"cone\"\nradius = 1\nhalf_length = 1\nsmoothing = 0.2\n",
        ":6: primitive[0].smoothing: 0.2, allowed: <= 0.1"}}));
  const test::TemporaryFolder folder;
  const std::string file = folder.write("body.toml", "mass = 1\n[[primitive]]\nkind = " + text);
  CHECK_THROWS_WITH(read_body(file), Catch::Contains(key));
}

TEST_CASE("body_io: a padded polygon is read with its corners, and comes back", "[engine][value]") {
  const test::TemporaryFolder folder;
  const Body body =
      read_body(folder.write("body.toml",
                             "density = 500\n[[primitive]]\nkind = \"padded_polygon\"\nposition = [0, 0, 5]\n"
                             "radius = 0.1\ncorners = [[1, 2], [3, 2], [3, 3], [1, 3]]\n"));
  const Primitive& polygon = body.shape.primitives.front();
  CHECK(polygon.kind == PrimitiveKind::padded_polygon);
  CHECK(polygon.parameters[0] == 0.1);
  CHECK(polygon.values == std::vector<double>{1, 2, 3, 2, 3, 3, 1, 3});
  CHECK(test::close(body.p_BA, Vec3<double>(-2, -2.5, -5), 0, 1e-14));
  const double volume = 0.2 * 2.0 + std::numbers::pi * (0.5 * 0.01 * 6.0 + 4.0 / 3.0 * 0.001);
  CHECK(test::close(body.mass, 500.0 * volume, 1e-14, 0));
  CHECK(body.contact_radius == 0.0);
  CHECK(body.size == 2.2);
  check_round_trip(body);
}

TEST_CASE("body_io: what is no convex polygon is refused at the key", "[engine][error]") {
  const auto [corners, message] = GENERATE(table<std::string, std::string>(
      {{"[[0, 0], [1, 0]]", ":5: primitive[0].corners: a padded polygon has 2 corners"},
       {"[[0, 0], [1, 0], [2, 0]]", ":5: primitive[0].corners: corner 0 of a padded polygon does not turn"},
       {"[[0, 0], [0, 1], [1, 0]]", "does not turn to the left"},
       {"[[0, 0], [2, 0], [1, 0.1], [1, 2]]", "corner 2 of a padded polygon does not turn to the left"},
       {"[[0, 0], [1, 0], [0, nan]]", ":5: primitive[0].corners[2][1] = nan"},
       {"[[0, 0], [1, 0, 0], [0, 1]]", ":5: primitive[0].corners[1] = an array"},
       {"[0, 0, 1, 0]", ":5: primitive[0].corners[0] = 0"}}));
  const test::TemporaryFolder folder;
  const std::string file = folder.write(
      "body.toml",
      "mass = 1\n[[primitive]]\nkind = \"padded_polygon\"\nradius = 1\ncorners = " + corners + "\n");
  CHECK_THROWS_WITH(read_body(file), Catch::Contains(message));
}

TEST_CASE("body_io: how many vertices and edges are selected is read, has a default, and comes back",
          "[engine][value]") {
  const test::TemporaryFolder folder;
  folder.write("mesh.obj", test::obj_text(box_mesh({1, 1, 1}, 2)));  // 26 vertices, 72 edges
  const std::string primitive =
      "[[primitive]]\nkind = \"superquadric\"\nsemi_axes = [1, 1, 1]\nexponents = [0.1, 0.1]\n";
  const auto read = [&](const std::string& keys, int primitives) {
    std::string text = "density = 1000\nmesh = \"mesh.obj\"\n" + keys;
    for (int i = 0; i < primitives; ++i) text += primitive;
    folder.write("body.toml", text);
    return read_body(folder.path());
  };
  const Body default_body = read("", 1);
  CHECK(default_body.mesh.edge_count() == 72);
  CHECK(default_body.selected_vertices == 0);
  CHECK(default_body.selected_edges == 0);

  const Body chosen = read("selected_vertices = 26\nselected_edges = 72\n", 1);
  CHECK(chosen.selected_vertices == 26);
  CHECK(chosen.selected_edges == 72);
  write_body(folder.path() / "copy", chosen);
  const Body copy = read_body(folder.path() / "copy");
  CHECK(copy.selected_vertices == 26);
  CHECK(copy.selected_edges == 72);
  write_body(folder.path() / "plain", default_body);
  CHECK(read_file(folder.path() / "plain" / "body.toml").find("selected") == std::string::npos);
  CHECK_THROWS_WITH(read("selected_vertices = 27\n", 1),
                    Catch::Contains("body.toml:3: selected_vertices: 27, allowed: 0 (all) to 26"));
  CHECK_THROWS_WITH(read("selected_edges = 73\n", 1),
                    Catch::Contains("body.toml:3: selected_edges: 73, allowed: 0 (all) to 72"));
}

TEST_CASE("body_io: nothing is written for what is no body", "[engine][value]") {
  const test::TemporaryFolder folder;
  Body body = make_sphere(0.1, 1000.0);
  body.mass = -1.0;
  CHECK_THROWS_AS(write_body(folder.path() / "asset", body), std::invalid_argument);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "asset"));
  const auto file = folder.write("file", "");
  const std::string message = test::rejection([&] {
    write_body(file / "asset", make_sphere(1, 1));
    return 0;
  });
  CHECK(test::missing_part(message, {"asset", "cannot be made"}) == "");
}

TEST_CASE("body_io: a malformed asset is rejected with file, line, key and cause", "[engine][value]") {
  const test::TemporaryFolder folder;
  const TriangleMesh cube = box_mesh({1, 1, 1}, 1);
  folder.write("mesh.obj", test::obj_text(cube));
  TriangleMesh open = cube, flipped = cube, inwards = cube;
  open.triangles.pop_back();
  std::swap(flipped.triangles[3][0], flipped.triangles[3][1]);
  for (auto& t : inwards.triangles) std::swap(t[0], t[1]);
  folder.write("open.obj", test::obj_text(open));
  folder.write("flipped.obj", test::obj_text(flipped));
  folder.write("inwards.obj", test::obj_text(inwards));
  folder.write("nan.obj", test::obj_text(cube) + "v nan 0 0\n");
  folder.write("unused.obj", test::obj_text(cube) + "v 3 3 3\n");

  const std::string sphere = "[[primitive]]\nkind = \"sphere\"\nradius = 0.1\n";
  const std::string solid =
      "[[primitive]]\nkind = \"superquadric\"\nsemi_axes = [1, 1, 1]\nexponents = [0.1, 0.1]\n";
  const std::string polyhedron = "mass = 1\n[[primitive]]\nkind = \"convex_polyhedron\"\n",
                    cloud = "mass = 1\n[[primitive]]\nkind = \"oriented_point_cloud\"\n",
                    extruded =
                        "mass = 1\n[[primitive]]\nkind = \"extruded_superquadric\"\nsemi_axes = [1, 1, 1]\n"
                        "exponents = [0.1, 1]\n",
                    axes =
                        "normals = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]]\n",
                    four_points = "points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]\n";
  folder.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
  struct Case {
    std::string text;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases{
      {"", {"body.toml", "no [[primitive]]"}},
      {"density = 1\n", {"no [[primitive]]"}},
      {"density = \n" + sphere, {"body.toml:1: not valid TOML"}},
      {std::string("\x00\x01\xff\xfe garbage", 12), {"body.toml:1: not valid TOML"}},
      {"density = 1\ndensity = 2\n" + sphere, {"body.toml:2: not valid TOML", "redefine"}},
      {"densty = 1\n" + sphere,
       {"body.toml:1: missing key 'density'", "unknown key 'densty': did you mean 'density'?"}},
      {sphere, {"missing key 'density'", "one of 'density', 'mass' is needed"}},
      {"density = 1\nmass = 1\n" + sphere, {"body.toml:2: mass: only one of 'density', 'mass'"}},
      {"density = 0\n" + sphere, {"body.toml:1: density = 0, allowed: > 0"}},
      {"mass = -3\n" + sphere, {"body.toml:1: mass = -3, allowed: > 0"}},
      {"mass = nan\n" + sphere, {"body.toml:1: mass = nan, allowed: > 0"}},
      {"mass = inf\n" + sphere, {"body.toml:1: mass = inf"}},
      {"mass = \"one\"\n" + sphere, {"body.toml:1: mass = \"one\", allowed: a number > 0"}},
      {"mass = [1]\n" + sphere, {"body.toml:1: mass = an array of 1, allowed: a number"}},
      {"mass = true\n" + sphere, {"body.toml:1: mass = true, allowed: a number"}},
      {"mass = 1979-05-27\n" + sphere, {"body.toml:1: mass = a date or time"}},
      {"mass = 1\nname = 3\n" + sphere, {"body.toml:2: name = 3, allowed: a string"}},
      {"mass = 1\nname = \"\"\n" + sphere, {"body.toml:2: name = \"\", allowed: a string, not empty"}},
      {"mass = 1\nunion_smoothing = 0\n" + sphere, {"body.toml:2: union_smoothing = 0, allowed: > 0"}},
      {"mass = 1\ndistance_mode = \"taubn\"\n" + sphere,
       {"body.toml:2: distance_mode = \"taubn\", allowed: taubin, radial, projected; did you mean "
        "'taubin'?"}},
      {"mass = 1\ncolour = \"red\"\n" + sphere, {"body.toml:2: unknown key 'colour', allowed: "}},
      {"mass = 1\nprimitive = 3\n", {"body.toml:2: primitive = 3, allowed: tables, [[primitive]]"}},
      {"mass = 1\nprimitive = [1, 2]\n", {"body.toml:2: primitive[0] = 1, allowed: tables"}},
      {"mass = 1\n[primitive]\nkind = \"sphere\"\n",
       {"body.toml:2: primitive = a table, allowed: tables, [[primitive]]"}},
      {"mass = 1\n[[primitive]]\nradius = 1\n",
       {"body.toml:2: missing key 'kind' in primitive[0], allowed: sphere"}},
      {"mass = 1\n[[primitive]]\nkind = \"spher\"\n",
       {"body.toml:3: primitive[0].kind = \"spher\"", "did you mean 'sphere'?"}},
      {"mass = 1\n[[primitive]]\nkind = \"cilinder\"\n",
       {"body.toml:3: primitive[0].kind = \"cilinder\"", "did you mean 'cylinder'?"}},
      {"mass = 1\n[[primitive]]\nkind = \"cylinder\"\nradius = 1\nhalf_length = 0\n",
       {"body.toml:5: primitive[0].half_length = 0, allowed: > 0"}},
      {"mass = 1\n[[primitive]]\nkind = \"box\"\nhalf_extents = [1, 1, 1]\nedge_radius = 0.1\n",
       {"unknown key 'edge_radius'"}},
      {"mass = 1\n[[primitive]]\nkind = 4\n", {"body.toml:3: primitive[0].kind = 4, allowed: sphere"}},
      {"mass = 1\n" + sphere + "operation = \"cut\"\n",
       {"body.toml:5: primitive[0].operation = \"cut\", allowed: add, subtract"}},
      {"mass = 1\n" + sphere + "operation = \"subtract\"\n", {"at least one added primitive"}},
      {"mass = 1\n" + sphere + "half_length = 1\n",
       {"body.toml:5: unknown key 'half_length' in primitive[0], allowed: kind, operation"}},
      {"mass = 1\n" + sphere + "position = [1, 2]\n",
       {"body.toml:5: primitive[0].position = an array of 2, allowed: an array of 3"}},
      {"mass = 1\n" + sphere + "position = [1, 2, nan]\n", {"body.toml:5: primitive[0].position[2] = nan"}},
      {"mass = 1\n" + sphere + "position = [1, 2, \"3\"]\n",
       {"body.toml:5: primitive[0].position[2] = \"3\", allowed: a number"}},
      {"mass = 1\n" + sphere + "orientation = [0, 0, 0, 0]\n",
       {"body.toml:5: primitive[0].orientation", "length 0"}},
      {"mass = 1\n" + sphere + "orientation = [1, 1, 0, 0]\n",
       {"body.toml:5: primitive[0].orientation", "length 1.41"}},
      {"mass = 1\n[[primitive]]\nkind = \"sphere\"\nradius = -1\n",
       {"body.toml:4: primitive[0].radius = -1, allowed: > 0"}},
      {"mass = 1\n[[primitive]]\nkind = \"sphere\"\nraduis = 1\n",
       {"body.toml:4: missing key 'radius' in primitive[0]", "unknown key 'raduis': did you mean 'radius'?"}},
      {"mass = 1\n[[primitive]]\nkind = \"capsule\"\nradius = 1\n",
       {"missing key 'half_length' in primitive[0]"}},
      {"mass = 1\n[[primitive]]\nkind = \"rounded_box\"\nhalf_extents = [1, 1, 1]\nedge_radius = 1\n",
       {"body.toml:5: primitive[0].edge_radius: 1, allowed: < 1"}},
      {"mass = 1\nmesh = \"mesh.obj\"\n[[primitive]]\nkind = \"superquadric\"\nsemi_axes = [1, 1, "
       "1]\nexponents = [0.01, 1]\n",
       {"body.toml:6: primitive[0].exponents[0] = 0.01, allowed: [0.02, 1.9]"}},
      {"mass = 1\n[[primitive]]\nkind = \"superquadric\"\nsemi_axes = [1, 1]\nexponents = [0.1, 1]\n",
       {"body.toml:4: primitive[0].semi_axes = an array of 2, allowed: an array of 3 numbers"}},
      {"mass = 1\n" + solid, {"a mesh is needed for the contact points"}},
      {"mass = 1\nmesh = \"no.obj\"\n" + solid, {"body.toml:2: mesh: there is no file", "no.obj"}},
      {"mass = 1\nmesh = \"..\"\n" + solid, {"body.toml:2: mesh: there is no file"}},
      {"mass = 1\nmesh = 7\n" + solid, {"body.toml:2: mesh = 7, allowed: a string"}},
      {"mass = 1\nmesh = \"open.obj\"\n" + solid, {"open.obj: ", "triangle", "open at the edge"}},
      {"mass = 1\nmesh = \"flipped.obj\"\n" + solid, {"flipped.obj: ", "and 3", "flipped"}},
      {"mass = 1\nmesh = \"inwards.obj\"\n" + solid, {"inwards.obj: ", "face inwards"}},
      {"mass = 1\nmesh = \"nan.obj\"\n" + solid, {"nan.obj:25: coordinate 'nan' is not finite"}},
      {"mass = 1\nmesh = \"unused.obj\"\n" + solid, {"unused.obj: ", "vertex 8 belongs to no triangle"}},
      {"mass = 1\nmesh = \"body.toml\"\n" + solid, {"body.toml: a mesh file ends with '.toml'"}},
      {"mass = 1\nmesh = \"mesh.obj\"\n[[primitive]]\nkind = \"rounded_box\"\nhalf_extents = [1, 1, "
       "1]\nedge_radius = 0.1\n",
       {"outside the inner box"}},
      {"mass = 1\ninertia = [1, 1, 1, 0, 0]\ncenter_of_mass = [0, 0, 0]\n" + sphere,
       {"body.toml:2: inertia = an array of 5, allowed: an array of 6"}},
      {"mass = 1\ninertia = [1, 1, 3, 0, 0, 0]\ncenter_of_mass = [0, 0, 0]\n" + sphere,
       {"body.toml:2: inertia: ", "exceeds the sum"}},
      {"mass = 1\ninertia = [1, 1, 1, 2, 0, 0]\ncenter_of_mass = [0, 0, 0]\n" + sphere,
       {"body.toml:2: inertia: ", "not positive definite"}},
      {"mass = 1\ninertia = [1, 1, 1, 0, 0, 0]\n" + sphere, {"missing key 'center_of_mass'"}},
      {"mass = 1\ncenter_of_mass = [0, 0, 0]\n" + sphere, {"missing key 'inertia'"}},
      {"mass = 1\n[material]\nfriction = -0.1\n" + sphere,
       {"body.toml:3: material.friction = -0.1, allowed: >= 0"}},
      {"mass = 1\n[material]\nfrction = 0.1\n" + sphere,
       {"body.toml:3: unknown key 'frction' in material", "did you mean 'friction'?"}},
      {"mass = 1\n[material]\nstiffness = 0\n" + sphere,
       {"body.toml:3: material.stiffness = 0, allowed: > 0, or inf"}},
      {"mass = 1\nmaterial = 3\n" + sphere, {"body.toml:2: material = 3, allowed: a table, [material]"}},
      {"mass = 1\n[contact]\npoints = \"vertices\"\n" + sphere,
       {"body.toml:3: contact.points = \"vertices\", allowed: mesh"}},
      {"mass = 1\n[contact]\npoints = \"mesh\"\n" + sphere,
       {"body.toml:3: contact.points: there is no mesh"}},
      {"mass = 1\n[contact]\npoints = [[0, 0, 0], [1, 2]]\n" + sphere,
       {"body.toml:3: contact.points[1] = an array of 2, allowed: an array of 3 numbers"}},
      {"mass = 1\n[contact]\npoints = [0, 0, 0]\n" + sphere,
       {"body.toml:3: contact.points[0] = 0, allowed: an array of 3"}},
      {"mass = 1\n[contact]\nareas = [1, 2]\n" + sphere, {"2 contact areas for 1 contact point"}},
      {"mass = 1\n[contact]\nradius = -1\n" + sphere, {"body.toml:3: contact.radius = -1, allowed: >= 0"}},
      {"mass = 1\n[[primitive]]\nkind = \"half_space\"\n",
       {"body.toml:1: mass: a body with a half_space never moves"}},
      {"[contact]\nradius = 1\n[[primitive]]\nkind = \"half_space\"\n",
       {"body.toml:1: contact: a body with a half_space"}},
      {polyhedron, {"missing key 'normals' in primitive[0]", "one of 'normals', 'mesh' is needed"}},
      {polyhedron + "normals = [[1, 0, 0]]\nmesh = \"mesh.obj\"\n",
       {"primitive[0].mesh: only one of 'normals', 'mesh'"}},
      {polyhedron + "mesh = \"no.obj\"\n", {"body.toml:4: primitive[0].mesh: there is no file", "no.obj"}},
      {polyhedron + "mesh = \"mesh.obj\"\nmerge_angle = 3\n",
       {"body.toml:5: primitive[0].merge_angle = 3, allowed: [0, 0.5]"}},
      {polyhedron + "mesh = \"flat.obj\"\n", {"body.toml:4: primitive[0].mesh: ", "in one plane"}},
      {polyhedron + "normals = [[1, 0, 0], [0, 1]]\n",
       {"body.toml:4: primitive[0].normals[1] = an array of 2, allowed: an array of 3 numbers"}},
      {polyhedron + "normals = [[1, 0, 0], [0, 2, 0]]\n",
       {"body.toml:4: primitive[0].normals: normal 1 has length 2, allowed: 1"}},
      {polyhedron + "normals = [[1, 0, 0], [0, 1, 0]]\noffsets = [1]\n",
       {"body.toml:5: primitive[0].offsets = an array of 1, allowed: an array of 2 numbers"}},
      {polyhedron + axes + "offsets = [1, 1, 1, 1, 1, -1]\n",
       {"body.toml:5: primitive[0].offsets[5] = -1, allowed: > 0"}},
      {polyhedron + "normals = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0]]\noffsets = [1, 1, 1, 1]\n",
       {"body.toml:4: primitive[0].normals: ", "leave the solid open"}},
      {polyhedron + axes + "offsets = [1, 1, 1, 1, 1, 1]\nsmoothing = 1\n",
       {"primitive[0].normals: ", "smoothing = 1, allowed: < 0.558"}},
      {polyhedron + axes + "offsets = [1, 1, 1, 1, 1, 1]\nwidth = 1\n",
       {"body.toml:6: unknown key 'width' in primitive[0], allowed: kind, operation"}},
      {cloud + "normals = [[1, 0, 0]]\n", {"missing key 'points' in primitive[0]"}},
      {cloud + "points = [[1, 0, 0]]\n", {"body.toml:4: primitive[0].points: 1 point, allowed: at least 4"}},
      {cloud + four_points, {"missing key 'normals' in primitive[0]"}},
      {cloud + four_points + "normals = [[1, 0, 0]]\n",
       {"body.toml:5: primitive[0].normals: 1 normal, allowed: one for each of the 4 points"}},
      {cloud + four_points + "width = 0\n", {"body.toml:5: primitive[0].width = 0, allowed: > 0"}},
      {cloud + "mesh = \"nan.obj\"\n", {"nan.obj:25: coordinate 'nan' is not finite"}},
      {extruded + "angles = [0, 1]\noffsets = [1]\n",
       {"body.toml:7: primitive[0].offsets = an array of 1, allowed: an array of 2 numbers"}},
      {extruded + "angles = [0]\n", {"missing key 'offsets' in primitive[0]"}},
      {extruded + "angles = [inf]\noffsets = [1]\n", {"body.toml:6: primitive[0].angles[0] = inf"}},
      {extruded + "angles = [0]\noffsets = [0]\n",
       {"body.toml:7: primitive[0].offsets[0] = 0, allowed: > 0"}},
      {extruded + "profile_power = 2\n", {"body.toml:6: primitive[0].profile_power = 2, allowed: [3, 100]"}},
  };
  for (const Case& c : cases) {
    const auto path = folder.write("body.toml", c.text);
    const std::string message = test::rejection([&] { return read_body(path); });
    CAPTURE(c.text, message);
    CHECK(message.starts_with(folder.path().string()));
    CHECK(test::missing_part(message, c.parts) == "");
  }
  CHECK(cases.size() >= 60);
  CHECK(test::missing_part(test::rejection([&] { return read_body(folder.path() / "none"); }),
                           {"none", "no such file"}) == "");
  std::filesystem::create_directories(folder.path() / "hollow");
  CHECK(test::missing_part(test::rejection([&] { return read_body(folder.path() / "hollow"); }),
                           {"hollow/body.toml", "no such file"}) == "");
  std::filesystem::create_directories(folder.path() / "folder" / "body.toml");
  CHECK(test::missing_part(test::rejection([&] { return read_body(folder.path() / "folder"); }),
                           {"folder/body.toml", "is a folder"}) == "");
}
