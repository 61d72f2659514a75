#include "collision/fitting/make_body.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <string>

#include <catch2/catch.hpp>

#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/body_io.h"
#include "engine/mass_properties.h"
#include "engine/primitive_check.h"
#include "engine/scene_io.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"

using namespace abut;

namespace {

Primitive superquadric(const Vec3<double>& axes, double eps1, double eps2,
                       const Vec3<double>& p = Vec3<double>::Zero()) {
  Primitive primitive;
  primitive.parameters = {axes.x(), axes.y(), axes.z(), eps1, eps2};
  primitive.X_BP.p = p;
  return primitive;
}

Shape union_of(std::vector<Primitive> primitives) {
  Shape shape;
  shape.primitives = std::move(primitives);
  return shape;
}

MeshedBodyOptions quick_options() {
  MeshedBodyOptions options;
  options.resolution = 48;
  options.mesh.vertices = 80;
  options.mesh.rounds = 2;
  return options;
}

bool mentions(const std::vector<std::string>& notes, const std::string& word) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(word) != std::string::npos; });
}

std::vector<std::filesystem::path> entries(const std::string& folder) {
  std::vector<std::filesystem::path> result;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(ABUT_SOURCE_DIR) + "/assets/" + folder)) {
    result.push_back(entry.path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

TEST_CASE("make_meshed_body: an ellipsoid has its analytic mass properties, in the frame of its centre",
          "[collision][value]") {
  MeshedBodyOptions options = quick_options();
  options.mass_or_density = Density{700.0};
  options.resolution = 96;
  const Vec3<double> axes(0.05, 0.04, 0.03);
  const MeshedBody made =
      make_meshed_body(union_of({superquadric(axes, 1.0, 1.0, {0.3, -0.2, 0.1})}), options);
  const Body& body = made.body;
  CHECK(made.notes.empty());
  const double mass = 700.0 * 4.0 / 3.0 * std::numbers::pi * axes.prod();
  CHECK(test::close(body.mass, mass, 1e-3, 0.0));
  for (int i = 0; i < 3; ++i) {
    const double b = axes[(i + 1) % 3], c = axes[(i + 2) % 3];
    CHECK(test::close(body.inertia(i, i), mass / 5.0 * (b * b + c * c), 2e-3, 0.0));
  }
  CHECK(body.p_BA.norm() < 1e-15);
  CHECK(body.shape.primitives[0].X_BP.p.norm() < 1e-6);
  CHECK(made.report.max_vertex_distance < 1e-9 * body.size);
  CHECK(test::close(body.shape.union_smoothing, 0.002 * 0.1, 0.01, 0.0));
}

TEST_CASE("make_meshed_body: scaling a shape scales everything", "[collision][value]") {
  const Shape shape = union_of(
      {superquadric({0.5, 0.3, 0.2}, 0.4, 0.8), superquadric({0.2, 0.2, 0.5}, 0.9, 0.5, {0.3, 0.1, 0.3})});
  MeshedBodyOptions options = quick_options();
  options.size = 0.2;
  const MeshedBody small = make_meshed_body(shape, options);
  options.size = 2.0;
  const MeshedBody large = make_meshed_body(shape, options);
  CHECK(test::close(small.body.size, 0.2, 0.02, 0.0));
  CHECK(test::close(large.body.shape.union_smoothing, 0.004, 1e-12, 0.0));
  CHECK(test::close(large.body.mass, 1000.0 * small.body.mass, 1e-9, 0.0));
  CHECK(test::close(large.body.inertia, 1e5 * small.body.inertia, 1e-7, 1e-9));
  CHECK(large.report.vertices == small.report.vertices);
}

TEST_CASE("make_meshed_body: says what it changed about a shape", "[collision][value]") {
  const Primitive base = superquadric({0.3, 0.2, 0.2}, 0.5, 0.5);
  SECTION("exponents out of range") {
    const MeshedBody made = make_meshed_body(
        union_of({base, superquadric({0.2, 0.2, 0.2}, 2.0, 0.0, {0.3, 0, 0})}), quick_options());
    CHECK(made.notes.size() == 2);
    CHECK(mentions(made.notes, "exponent 1"));
    CHECK(mentions(made.notes, "exponent 2"));
    CHECK(made.body.shape.primitives[1].parameters[3] == k_max_exponent);
    CHECK(made.body.shape.primitives[1].parameters[4] == k_min_exponent);
  }
  SECTION("a primitive without thickness") {
    const MeshedBody made =
        make_meshed_body(union_of({base, superquadric({0.2, 0.2, 1e-6}, 1.0, 1.0)}), quick_options());
    CHECK(mentions(made.notes, "thick"));
    CHECK(made.body.shape.primitives.size() == 1);
  }
  SECTION("a primitive that floats apart, with what sits on it") {
    const MeshedBody made =
        make_meshed_body(union_of({superquadric({0.1, 0.1, 0.1}, 1.0, 1.0, {1.0, 0, 0}), base,
                                   superquadric({0.05, 0.05, 0.1}, 1.0, 1.0, {1.0, 0, 0.1}),
                                   superquadric({0.1, 0.1, 0.1}, 1.0, 1.0)}),
                         quick_options());
    CHECK(mentions(made.notes, "primitive 0"));
    CHECK(mentions(made.notes, "primitive 2"));
    CHECK(made.notes.size() == 2);
    CHECK(made.body.shape.primitives.size() == 2);  // the hidden one inside the base stays
    CHECK(made.report.max_vertex_distance < 1e-9);
  }
}

TEST_CASE("make_meshed_body: says by how much smoothing moves the surface, and bounds it by default",
          "[collision][value]") {
  const Primitive ball = superquadric({0.5, 0.5, 0.5}, 1.0, 1.0);
  const Primitive other = superquadric({0.5, 0.5, 0.5}, 1.0, 1.0, {0.4, 0, 0});
  MeshedBodyOptions options = quick_options();
  options.union_smoothing = 0.05;
  const double most = 0.05 * std::log(2.0);  // on the circle in which they meet
  const double two = make_meshed_body(union_of({ball, other}), options).bulge;
  CHECK(two <= most * (1.0 + 1e-9));
  CHECK(two >= 0.8 * most);  // vertices of the fine mesh are up to a cube away from that circle
  Primitive hole = other;
  hole.operation = PrimitiveOperation::subtract;
  const double difference = make_meshed_body(union_of({ball, hole}), options).bulge;
  CHECK(difference <= most * (1.0 + 1e-9));
  CHECK(difference >= 0.7 * most);
  CHECK(make_meshed_body(union_of({ball}), options).bulge == 0.0);

  const Primitive pin = superquadric({0.02, 0.02, 0.7}, 0.5, 1.0);
  const MeshedBody made = make_meshed_body(union_of({ball, pin}), quick_options());
  CHECK(test::close(made.body.shape.union_smoothing, 0.02 * 0.02, 1e-12, 0.0));
  CHECK(made.bulge <= 0.02 * 0.02 * std::log(2.0) * (1.0 + 1e-9));
}

TEST_CASE("make_meshed_body: single simple primitives keep closed forms and regular meshes",
          "[collision][value]") {
  Primitive sphere;
  sphere.kind = PrimitiveKind::sphere;
  sphere.parameters = {1.0};
  MeshedBodyOptions options;
  options.size = 0.1;
  const MeshedBody made = make_meshed_body(union_of({sphere}), options);
  CHECK(test::close(made.body.mass, 1000.0 * 4.0 / 3.0 * std::numbers::pi * 1.25e-4, 1e-10,
                    0.0));  // the box of the SDF is rounded outwards
  CHECK(made.body.contact_points.cols() == 1);
  CHECK(made.report.closed);
}

TEST_CASE("make_meshed_body: shapes that cannot be bodies are errors", "[collision][value]") {
  Primitive half_space;
  half_space.kind = PrimitiveKind::half_space;
  Primitive hole = superquadric({0.1, 0.1, 0.1}, 1.0, 1.0);
  hole.operation = PrimitiveOperation::subtract;
  CHECK_THROWS_AS(make_meshed_body(Shape(), quick_options()), std::invalid_argument);
  CHECK_THROWS_AS(make_meshed_body(union_of({half_space}), quick_options()), std::invalid_argument);
  CHECK_THROWS_AS(make_meshed_body(union_of({superquadric({0.1, -0.1, 0.1}, 1.0, 1.0)}), quick_options()),
                  std::invalid_argument);
  CHECK_THROWS_AS(make_meshed_body(union_of({hole}), quick_options()), std::invalid_argument);
  MeshedBodyOptions options = quick_options();
  options.size = -1.0;
  CHECK_THROWS_AS(make_meshed_body(union_of({superquadric({0.1, 0.1, 0.1}, 1.0, 1.0)}), options),
                  std::invalid_argument);
}

TEST_CASE(
    "assets: every body is closed, touches with points of its own zero set, and has the mass of its mesh",
    "[collision][value]") {
  const auto folders = entries("bodies");
  std::vector<std::string> names;
  for (const auto& folder : folders) names.push_back(folder.filename().string());
  CHECK(names == std::vector<std::string>{"armadillo", "box", "capsule", "dodecahedron", "hex_nut",
                                          "mustard_bottle", "plate", "power_drill", "ring", "sphere", "spot",
                                          "superquadric"});
  for (const auto& folder : folders) {
    const Body body = read_body(folder);
    CAPTURE(body.name);
    CHECK(body.name == folder.filename());
    CHECK_NOTHROW(require_closed_surface(body.mesh, body.name));
    const ShapeSdf sdf(body.shape);
    double off = 0.0;
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
      off = std::max(off, std::abs(sdf.distance<double>(body.contact_points.col(i)) + body.contact_radius));
    }
    CHECK(off < 1e-7 * body.size);
    CHECK(body.p_BA.norm() < 1e-12);

    const bool is_fit = body.shape.primitives.size() > 1;
    const MassProperties of_mesh = mass_properties(body.mesh, body.mass / body.volume);
    if (is_fit) {
      // What the parts allow, or a little more where the size is that of a draft; of a fit it may be less, as
      // its last refinement changes the parts.
      CHECK(body.shape.union_smoothing >= 0.5 * default_union_smoothing(body.shape, body.size));
      CHECK(body.shape.union_smoothing <= 1.03 * default_union_smoothing(body.shape, body.size));
      CHECK(body.mesh.vertex_count() >= 150);
      CHECK(body.mesh.vertex_count() <= 600);
      CHECK(body.contact_points == body.mesh.vertices);
      // The coarse mesh is inscribed nearly everywhere: smaller, by a few per cent.
      CHECK(of_mesh.volume < body.volume);
      CHECK(test::close(of_mesh.volume, body.volume, 0.06, 0.0));  // armadillo: 5.2 %
      CHECK(of_mesh.center_of_mass.norm() < 0.01 * body.size);
      CHECK(test::close(of_mesh.inertia.diagonal(), body.inertia.diagonal(), 0.12, 0.0));
      const SurfaceReport report =
          inspect_surface([&](const Vec3<double>& x) { return sdf.evaluate<double>(x); }, body.mesh);
      CHECK(report.euler_characteristic == (body.name == "hex_nut" ? 0 : 2));
      CHECK(report.mean_sag < 0.005 * body.size);
      CHECK(report.max_sag < 0.05 * body.size);
      CHECK(report.min_angle > 5.0 * std::numbers::pi / 180.0);
    }
    CHECK(body.mass / body.volume > 499.0);
    const std::map<std::string, double> denser{{"dodecahedron", 2500.0}, {"hex_nut", 7850.0}};
    const auto found = denser.find(body.name);
    CHECK(body.mass / body.volume < (found == denser.end() ? 1001.0 : found->second + 1.0));
  }
}

TEST_CASE("assets: every scene loads, and nothing overlaps at the start but what is to",
          "[collision][value]") {
  const auto files = entries("scenes");
  CHECK(files.size() >= 7);
  for (const auto& file : files) {
    const Scene scene = read_scene(file);
    CAPTURE(scene.name);
    CHECK(scene.name == file.stem());
    double least = 1e9;
    for (int i = 0; i < scene.model.body_count(); ++i) {
      const Body& owner = scene.model.bodies[static_cast<std::size_t>(i)];
      for (int j = 0; j < scene.model.body_count(); ++j) {
        const Body& solid = scene.model.bodies[static_cast<std::size_t>(j)];
        if (i == j || (owner.fixed && solid.fixed)) continue;
        const ShapeSdf sdf(solid.shape);
        const Pose<double> X_SO = scene.initial.X_WB[static_cast<std::size_t>(j)].inverse() *
                                  scene.initial.X_WB[static_cast<std::size_t>(i)];
        for (Eigen::Index k = 0; k < owner.contact_points.cols(); ++k) {
          least = std::min(least, sdf.distance<double>(X_SO * Vec3<double>(owner.contact_points.col(k))) -
                                      owner.contact_radius);
        }
      }
    }
    if (scene.name == "armadillo_armadillo" || scene.name == "box_on_box") {
      CHECK(least < -1e-3);
      CHECK(least > -0.01);
    } else {
      CHECK(least > -1e-12);
    }
  }
}
