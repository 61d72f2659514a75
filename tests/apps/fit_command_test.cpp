#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spdlog/fmt/fmt.h>
#include <catch2/catch.hpp>

#include "apps/abut/fit_reader.h"
#include "collision/fitting/marching_cubes.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_io.h"
#include "engine/input_error.h"
#include "engine/mesh_shapes.h"
#include "tests/apps/program.h"
#include "tests/support/close.h"
#include "tests/support/mesh_files.h"
#include "tests/support/meshes.h"

namespace abut::test {
namespace {

using Catch::Contains;

const std::string k_fit = R"({
 "mesh": "dumbbell.obj",
 "superquadrics": [
  {"epsilon": [0.5, 1.0], "semi_axes": [0.1, 0.1, 0.05], "rotation_wxyz": [1, 0, 0, 0], "center": [0, 0, -0.2]},
  {"epsilon": [0.5, 1.0], "semi_axes": [0.1, 0.1, 0.05], "rotation_wxyz": [1, 0, 0, 0], "center": [0, 0, 0.2]},
  {"epsilon": [0.3, 2.0], "semi_axes": [0.03, 0.03, 0.2], "rotation_wxyz": [0.707107, 0, 0, 0.707107], "center": [0, 0, 0]}
 ]
})";

std::string complaint(const std::string& json) {
  const TemporaryFolder folder;
  try {
    (void)read_superquadric_fit(folder.write("fit.json", json));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST_CASE("read_superquadric_fit: gives what is in the file, and says what is wrong with another",
          "[apps][value]") {
  const TemporaryFolder folder;
  const Shape shape = read_superquadric_fit(folder.write("fit.json", k_fit));
  REQUIRE(shape.primitives.size() == 3);
  CHECK(shape.primitives[1].parameters == std::array<double, 5>{0.1, 0.1, 0.05, 0.5, 1.0});
  CHECK(shape.primitives[1].X_BP.p == Vec3<double>(0, 0, 0.2));
  CHECK(close(shape.primitives[2].X_BP.q.norm(), 1.0, 1e-15, 0.0));

  struct Case {
    std::string json, cause;
  };
  const Case cases[] = {
      {"", "not JSON"},
      {replaced(k_fit, "\"center\": [0, 0, -0.2]}", "\"center\": [0, 0, -0.2]"), "fit.json:"},
      {"[1, 2]", "no list \"superquadrics\""},
      {"{\"superquadrics\": []}", "empty"},
      {"{\"superquadrics\": [3]}", "superquadrics[0]"},
      {replaced(k_fit, "semi_axes", "axes"), "\"semi_axes\" is missing"},
      {replaced(k_fit, "[0.1, 0.1, 0.05]", "[0.1, 0.05]"), "3 numbers"},
      {replaced(k_fit, "[0.1, 0.1, 0.05]", "[0.1, \"a\", 0.05]"), "3 numbers"},
      {replaced(k_fit, "[0.1, 0.1, 0.05]", "[0.1, -0.1, 0.05]"), "semi-axis -0.1"},
      {replaced(k_fit, "[0.1, 0.1, 0.05]", "[0.1, 1e999, 0.05]"), "fit.json"},
      {replaced(k_fit, "[0.3, 2.0]", "[-0.3, 2.0]"), "superquadrics[2]: exponent -0.3"},
      {replaced(k_fit, "[0.707107, 0, 0, 0.707107]", "[0.5, 0, 0, 0]"), "length 0.5"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.json);
    CHECK_THAT(complaint(c.json), Contains(c.cause) && Contains("fit.json"));
  }
  CHECK_THROWS_AS(read_superquadric_fit(folder.path() / "missing.json"), InputError);
}

TEST_CASE(
    "abut fit: of superquadrics writes a body that reads back, with every vertex on its zero set, the same "
    "each time",
    "[apps][value][determinism]") {
  const TemporaryFolder folder;
  const std::string fit = folder.write("dumbbell.json", k_fit);
  const auto run = [&](const std::string& out) {
    return run_program({"fit", fit, "--out", folder.path() / out, "--size", "0.5", "--vertices", "100",
                        "--density", "500", "--resolution", "40", "--friction", "0.3"});
  };
  const ProgramResult result = run("a");
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("dumbbell: 3 primitives") && Contains("closed, V - E + F = 2") &&
                             Contains("exponent 2"));
  const Body body = read_body(folder.path() / "a");
  CHECK(body.name == "dumbbell");
  CHECK(body.mesh.vertex_count() == 100);
  CHECK(close(body.mass / body.volume, 500.0, 1e-12, 0.0));
  CHECK(close(body.size, 0.5, 0.01, 0.0));
  CHECK(body.material.friction == 0.3);
  CHECK(body.p_BA.norm() < 1e-12);
  CHECK(close(body.shape.union_smoothing, 0.02 * body.shape.primitives[2].parameters[0], 1e-9, 0.0));
  const ShapeSdf sdf(body.shape);
  for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
    REQUIRE(std::abs(sdf.distance<double>(body.contact_points.col(i))) < 1e-8);
  }
  CHECK_THAT(result.err, Contains("3/3 drafts") && Contains(" layers") && Contains("10/10 rounds") &&
                             Contains(" distances"));
  REQUIRE(run("b").exit_code == 0);
  for (const char* file : {"body.toml", "mesh.obj"}) {
    CHECK(read_file(folder.path() / "a" / file) == read_file(folder.path() / "b" / file));
  }

  SECTION("and of that body makes it again in another size, with the material and density it has") {
    const ProgramResult again =
        run_program({"fit", folder.path() / "a", "--out", folder.path() / "c", "--size", "1", "--vertices",
                     "120", "--resolution", "40", "--name", "large", "--quiet"});
    CAPTURE(again.err);
    REQUIRE(again.exit_code == 0);
    CHECK(again.err.empty());
    const Body large = read_body(folder.path() / "c");
    CHECK(large.name == "large");
    CHECK(large.mesh.vertex_count() == 120);
    CHECK(close(large.mass, 8.0 * body.mass, 0.01, 0.0));
    CHECK(close(large.shape.union_smoothing, 2.0 * body.shape.union_smoothing, 0.01, 0.0));
    CHECK(large.material.friction == 0.3);
  }
}

TEST_CASE("abut fit: bad usage and bad input are exit code 2 and one line", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string fit = folder.write("fit.json", k_fit), out = folder.path() / "out";
  struct Case {
    std::vector<std::string> arguments;
    std::string cause;
  };
  const Case cases[] = {
      {{"fit", "--out", out}, "input is required"},
      {{"fit", fit}, "--out"},
      {{"fit", fit, "--out", out, "--size", "0"}, "--size"},
      {{"fit", fit, "--out", out, "--vertices", "3"}, "--vertices"},
      {{"fit", fit, "--out", out, "--density", "nan"}, "--density"},
      {{"fit", folder.path() / "none.json", "--out", out}, "none.json"},
      {{"fit", folder.path() / "none", "--out", out}, "none"},
      {{"fit", fit, "--out", folder.path() / "no" / "such", "--resolution", "16", "--vertices", "20"},
       "such"},
  };
  for (const Case& c : cases) {
    const ProgramResult result = run_program(c.arguments);
    CAPTURE(c.cause, result.err);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains(c.cause));
    CHECK(line_count(result.err) == 1);
  }
  CHECK_FALSE(std::filesystem::exists(out));
}

/// A block of 2 x 1 x 0.5 with a ball on top of it, as a file would hold it.
TriangleMesh block_and_ball() {
  const Eigen::AlignedBox3d box(Vec3<double>(-1.1, -1.1, -0.6), Vec3<double>(1.1, 1.1, 1.1));
  return marching_cubes(field_of([](const Vec3<double>& p) {
                          const Vec3<double> q = p.cwiseAbs() - Vec3<double>(1.0, 0.5, 0.25);
                          return std::min(q.maxCoeff(), (p - Vec3<double>(0.5, 0, 0.4)).norm() - 0.4);
                        }),
                        grid_around(box, 40));
}

/// Options that make a fit quick.
std::vector<std::string> quick_fit(const std::string& input, const std::string& out,
                                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"fit", input,          "-o", out,      "--vertices",
                                     "80",  "--resolution", "48", "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_CASE("abut fit: makes a body of a mesh, the same on any number of threads, and reports how good it is",
          "[apps][value][determinism]") {
  const TemporaryFolder folder;
  const std::string mesh = folder.write("part.obj", obj_text(block_and_ball())),
                    json = folder.path() / "report.json";
  const ProgramResult result = run_program(quick_fit(
      mesh, folder.path() / "one",
      {"--unit", "cm", "--mass", "0.5", "--friction", "0.3", "--up", "z", "--threads", "1", "--json", json}));
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out,
             Contains("part: ") && Contains("IoU") && Contains("centre of mass") && Contains("written to"));
  const Body body = read_body(folder.path() / "one");
  CHECK(body.name == "part");
  CHECK(close(body.mass, 0.5, 1e-12, 0.0));
  CHECK(body.material.friction == 0.3);
  CHECK(close(body.size, 0.02, 0.02, 0.0));
  const ShapeSdf sdf(body.shape);
  for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i)
    REQUIRE(std::abs(sdf.distance<double>(body.contact_points.col(i))) < 1e-6 * body.size);

  const Json report = parse_json(read_file(json));
  CHECK(keys_of(report) == std::vector<std::string>{"input", "seconds", "body", "collision_mesh", "notes",
                                                    "mesh", "fit", "shortcomings"});
  CHECK(report["fit"]["iou"].get<double>() > 0.95);
  CHECK(std::abs(report["fit"]["volume_error"].get<double>()) < 0.03);
  const auto exact = std::count_if(body.shape.primitives.begin(), body.shape.primitives.end(),
                                   [](const Primitive& p) { return p.kind != PrimitiveKind::superquadric; });
  CHECK(report["fit"]["method"] == "superquadrics");
  CHECK(report["fit"]["exact_kinds"] == exact);
  CHECK(report["fit"]["superquadrics"] == std::ssize(body.shape.primitives) - exact);
  CHECK(report["fit"]["polyhedra"] == 0);
  CHECK(exact > 0);  // the ball, at least
  CHECK_THAT(result.out,
             Contains(fmt::format("{} added, 0 subtracted; {}", body.shape.primitives.size(), exact)));
  CHECK(report["shortcomings"].empty());
  CHECK(report["collision_mesh"]["closed"] == true);
  CHECK_THAT(result.out, Contains("smooth union    moves the surface by at most "));
  CHECK(report["body"]["bulge"].get<double>() > 0.0);
  CHECK(report["body"]["bulge"].get<double>() <=
        report["body"]["union_smoothing"].get<double>() * std::log(body.shape.primitives.size()));

  REQUIRE(run_program(quick_fit(mesh, folder.path() / "four",
                                {"--unit", "cm", "--mass", "0.5", "--friction", "0.3", "--up", "z",
                                 "--threads", "4"}))
              .exit_code == 0);
  for (const char* file : {"body.toml", "mesh.obj"})
    CHECK(read_file(folder.path() / "one" / file) == read_file(folder.path() / "four" / file));
}

TEST_CASE("abut fit: takes a polyhedron for a box by itself, or the method that it is given",
          "[apps][value]") {
  const TemporaryFolder folder;
  const std::string box = folder.write("box.obj", obj_text(box_mesh({0.15, 0.1, 0.05}, 1)));
  const auto kind_of = [&](const std::string& out, const std::vector<std::string>& more) {
    const ProgramResult result = run_program(quick_fit(box, folder.path() / out, more));
    CAPTURE(result.out, result.err);
    REQUIRE(result.exit_code == 0);
    return read_body(folder.path() / out).shape.primitives.at(0).kind;
  };
  CHECK(kind_of("a", {}) == PrimitiveKind::convex_polyhedron);
  CHECK(kind_of("b", {"--method", "superquadrics"}) == PrimitiveKind::superquadric);
  CHECK_THAT(read_file(folder.path() / "a" / "body.toml"), !Contains("-0.0,") && !Contains("-0.0]"));
  const ProgramResult wrong = run_program(quick_fit(box, folder.path() / "c", {"--method", "best"}));
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("--method") && Contains("superquadrics"));
}

TEST_CASE(
    "abut fit: a union of convex polyhedra, within a number of them or a tolerance, the same on any threads",
    "[apps][value][determinism]") {
  const TemporaryFolder folder;
  const TriangleMesh upright = translated(box_mesh({0.02, 0.05, 0.1}, 1), {-0.08, 0, 0.12});
  const std::string mesh =
      folder.write("bracket.obj", obj_text(joined(box_mesh({0.1, 0.05, 0.02}, 1), upright)));
  const auto fit = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.begin(), {"--method", "convex"});
    return run_program(quick_fit(mesh, folder.path() / out, more));
  };
  const std::string json = folder.path() / "report.json";
  const ProgramResult one = fit("one", {"--threads", "1", "--json", json});
  CAPTURE(one.out, one.err);
  REQUIRE(one.exit_code == 0);
  CHECK_THAT(one.out, Contains("method          convex") &&
                          Contains("parts           2 convex polyhedra with 12 planes, of 2 pieces"));
  const Json report = parse_json(read_file(json));
  CHECK(report["fit"]["method"] == "convex");
  CHECK(report["fit"]["polyhedra"] == 2);
  CHECK(report["fit"]["planes"] == 12);
  CHECK(report["fit"]["exact_kinds"] == 0);
  CHECK(report["fit"]["occupancy_iou"].get<double>() > 0.98);
  CHECK(report["collision_mesh"]["closed"] == true);
  const Body body = read_body(folder.path() / "one");
  REQUIRE(body.shape.primitives.size() == 2);
  for (const Primitive& primitive : body.shape.primitives)
    CHECK(primitive.kind == PrimitiveKind::convex_polyhedron);
  CHECK_THAT(read_file(folder.path() / "one" / "body.toml"), Contains("--method convex"));
  REQUIRE(fit("three", {"--threads", "3"}).exit_code == 0);
  for (const char* file : {"body.toml", "mesh.obj"})
    CHECK(read_file(folder.path() / "one" / file) == read_file(folder.path() / "three" / file));

  REQUIRE(fit("single", {"--max-primitives", "1"}).exit_code == 1);  // the hull of both
  CHECK(read_body(folder.path() / "single").shape.primitives.size() == 1);
  const ProgramResult rough = fit("rough", {"--tolerance", "20%"});
  CHECK_THAT(rough.err, Contains("--method superquadrics") || Contains("--max-primitives"));
  CHECK(read_body(folder.path() / "rough").shape.primitives.size() == 1);
  const ProgramResult wrong =
      run_program(quick_fit(mesh, folder.path() / "wrong", {"--method", "hull", "--max-primitives", "3"}));
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("for superquadrics and convex polyhedra, not for --method hull"));
}

TEST_CASE("abut fit: says that a part floats, or that a cavity counts as solid, where that makes a fit poor",
          "[apps][value]") {
  const TemporaryFolder folder;
  const TriangleMesh ball = sphere_mesh(0.1, 3);
  const auto complaint = [&](const TriangleMesh& mesh) {
    const ProgramResult result =
        run_program(quick_fit(folder.write("balls.obj", obj_text(mesh)), folder.path() / "out"));
    CAPTURE(result.out);
    CHECK(result.exit_code == 1);
    return result.err;
  };
  CHECK_THAT(
      complaint(joined(ball, translated(ball, {0.5, 0, 0}))),
      Contains("1 part of the mesh floats apart from the rest") && Contains("fit each part by itself"));
  CHECK_THAT(complaint(joined(ball, translated(sphere_mesh(0.035, 3), {0.3, 0, 0}))),
             Contains("% of the volume is left out: 1 part of the mesh floats"));
  CHECK_THAT(complaint(joined(ball, inverted(sphere_mesh(0.07, 3)))),
             Contains("1 closed cavity within the mesh counts as solid") && Contains("--mass"));
}

TEST_CASE("abut fit: reads every kind of mesh file, in any unit, size and with any axis up",
          "[apps][value]") {
  const TemporaryFolder folder;
  const TriangleMesh mesh = block_and_ball();
  const auto body_of = [&](const std::string& file, const std::vector<std::string>& more) {
    const ProgramResult result = run_program(quick_fit(file, folder.path() / "out", more));
    CAPTURE(file, result.err);
    REQUIRE(result.exit_code == 0);
    return read_body(folder.path() / "out");
  };
  const Body stl = body_of(folder.write("a.stl", binary_stl(mesh)), {});
  CHECK(close(stl.size, 2.0, 0.02, 0.0));
  CHECK(close(body_of(folder.write("a.PLY", ascii_ply(mesh)), {"--scale", "0.01"}).size, 0.02, 0.02, 0.0));
  const Body glb_body = body_of(folder.write("a.glb", glb(mesh)), {"--size", "0.5", "--density", "500"});
  CHECK(close(glb_body.size, 0.5, 0.02, 0.0));
  CHECK(close(glb_body.mass / glb_body.volume, 500.0, 1e-9, 0.0));
  // The extents are 2, 1, 1.05: with y up, what was z points along -y or x then.
  const Body turned = body_of(folder.write("a.gltf", gltf_text(mesh)), {"--up", "x"});
  const Vec3<double> extents =
      turned.mesh.vertices.rowwise().maxCoeff() - turned.mesh.vertices.rowwise().minCoeff();
  CHECK(close(extents.z(), 2.0, 0.02, 0.0));
}

TEST_CASE("abut fit: a poor fit is written, and is exit code 1 with what to try", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string mesh =
      folder.write("part.obj", obj_text(joined(block_and_ball(), translated(block_and_ball(), {0, 0, 3}))));
  const ProgramResult result = run_program(quick_fit(mesh, folder.path() / "out", {"--max-primitives", "1"}));
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("abut fit: poor fit: the IoU is 0.") && Contains("--max-primitives"));
  CHECK(std::filesystem::exists(folder.path() / "out" / "body.toml"));

  const ProgramResult strict = run_program(quick_fit(folder.write("b.obj", obj_text(block_and_ball())),
                                                     folder.path() / "b", {"--tolerance", "0.001%"}));
  CAPTURE(strict.err);
  CHECK(strict.exit_code == 1);
  CHECK_THAT(strict.err, Contains("more than the tolerance of 0.001 %"));
  CHECK(line_count(strict.err) == 1);
}

TEST_CASE("abut fit: a thin part that is lost makes a fit poor, and a line says what to try",
          "[apps][value]") {
  const TemporaryFolder folder;
  const TriangleMesh fin = translated(box_mesh({0.08, 0.1, 0.0005}, 1), {0.27, 0.0, 0.01});
  const std::string mesh = folder.write("fin.obj", obj_text(joined(box_mesh({0.2, 0.2, 0.2}, 1), fin)));
  const ProgramResult result =
      run_program(quick_fit(mesh, folder.path() / "out", {"--method", "superquadrics"}));
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("of the mesh's surface is lost, parts about 0.001 m thick") &&
                             Contains("make them thicker in the mesh"));
  CHECK(line_count(result.err) == 1);
}

TEST_CASE("abut fit: what cannot be fitted is exit code 2, one line and no files", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string good = folder.write("part.obj", obj_text(block_and_ball())),
                    fit = folder.write("fit.json", k_fit), out = folder.path() / "out";
  const std::string sheet =
                        folder.write("sheet.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0.1\nf 1 2 3\nf 1 3 4\n"),
                    empty = folder.write("empty.stl", ""),
                    broken = folder.write("broken.obj", "v 0 0 0\nf 1 2 3\n"),
                    other = folder.write("part.step", "ISO-10303-21;");
  struct Case {
    std::vector<std::string> arguments;
    std::string cause;
  };
  const Case cases[] = {
      {{"fit", sheet, "-o", out}, "sheet.obj: "},
      {{"fit", empty, "-o", out}, "empty.stl"},
      {{"fit", broken, "-o", out}, "broken.obj:2"},
      {{"fit", other, "-o", out}, "unknown extension '.step', allowed: .obj"},
      {{"fit", folder.path() / "none.obj", "-o", out}, "none.obj: there is no such file or folder"},
      {{"fit", good, "-o", folder.path() / "no" / "such"}, "there is no such folder"},
      {{"fit", good, "-o", good}, "it is a file, not a folder"},
      {{"fit", good, "-o", out, "--mass", "1", "--density", "2"}, "--mass excludes --density"},
      {{"fit", good, "-o", out, "--size", "1", "--unit", "mm"}, "--unit excludes --size"},
      {{"fit", good, "-o", out, "--size", "1", "--scale", "2"}, "--scale excludes --size"},
      {{"fit", good, "-o", out, "--scale", "2", "--unit", "mm"}, "--unit excludes --scale"},
      {{"fit", good, "-o", out, "--unit", "inch"}, "--unit inch, "},
      {{"fit", good, "-o", out, "--up", "w"}, "--up"},
      {{"fit", good, "-o", out, "--scale", "1e-9"}, "is it in another unit (--unit, --scale, --size)?"},
      {{"fit", good, "-o", out, "--smoothing", "5"}, "the smoothing of the union is 5 m, allowed: up to 0.1"},
      {{"fit", good, "-o", out, "--max-primitives", "0"}, "--max-primitives"},
      {{"fit", good, "-o", out, "--tolerance", "0.5"}, "--tolerance 0.5, allowed: a percentage"},
      {{"fit", good, "-o", out, "--tolerance", "-1%"}, "--tolerance -1%"},
      {{"fit", good, "-o", out, "--json", folder.path() / "r.txt"}, "r.txt"},
      {{"fit", good, "-o", out, "--json", folder.path() / "none" / "r.json"}, "there is no such folder"},
      {{"fit", good, "-o", out, "--json", "/proc/r.json"}, "/proc/r.json: cannot be written"},
      {{"fit", good, "-o", out, "--picture", "/proc/fit.png"}, "/proc/fit.png: cannot be written"},
      {{"fit", good, "-o", out, "--picture", folder.path() / (std::string(250, 'p') + ".png")},
       "cannot be written"},
      {{"fit", fit, "-o", out, "--up", "y"}, "--up is for meshes, but "},
      {{"fit", fit, "-o", out, "--tolerance", "1%"}, "--tolerance is for meshes"},
  };
  for (const Case& c : cases) {
    const ProgramResult result = run_program(c.arguments);
    CAPTURE(c.cause, result.err, result.out);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains(c.cause));
    CHECK(line_count(result.err) <= 2);  // a stage's bar, and the message
  }
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("abut fit: makes a body again that has primitives alone", "[apps][value]") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "ring");
  folder.write("ring/body.toml",
               "name = \"ring\"\ndensity = 1000\n[[primitive]]\nkind = \"torus\"\nradius = 0.06\ntube_radius "
               "= 0.02\n");
  const ProgramResult result = run_program({"fit", folder.path() / "ring", "-o", folder.path() / "again",
                                            "--resolution", "40", "--vertices", "100", "--quiet"});
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(read_body(folder.path() / "again").mesh.vertex_count() == 100);
}

TEST_CASE("abut fit: an interrupt leaves nothing behind", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string mesh = folder.write("part.obj", obj_text(block_and_ball()));
  const ProgramResult result =
      run_executable("/bin/sh", {"-c", "exec timeout -s INT 0.3 \"$0\" \"$@\"", ABUT_EXECUTABLE, "fit", mesh,
                                 "-o", folder.path() / "out"});
  CHECK(result.exit_code != 0);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()),
                      std::filesystem::directory_iterator()) == 1);
}

/// The bytes of every file of a folder, by name.
std::map<std::string, std::string> files_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files[entry.path().filename().string()] = entry.is_directory() ? "" : read_file(entry.path());
  return files;
}

/// Starts `abut`, all of its streams on one descriptor.
pid_t start_program(std::vector<std::string> arguments, int stream) {
  arguments.insert(arguments.begin(), ABUT_EXECUTABLE);
  std::vector<char*> argv;
  for (std::string& word : arguments) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int to : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(stream, to);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  return child;
}

TEST_CASE("abut fit: an interrupt leaves all files of an older body as they were, or all of them new",
          "[apps][value]") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  // With a visual mesh that takes some time to write, 81,920 triangles.
  folder.write("ball/body.toml",
               "name = \"ball\"\ndensity = 1000\nvisual = \"visual.obj\"\n[[primitive]]\nkind = "
               "\"sphere\"\nradius = 0.1\n");
  folder.write("ball/visual.obj", obj_text(sphere_mesh(0.1, 6)));
  const fs::path work = folder.path() / "work", out = work / "out", json = work / "report.json";
  fs::create_directory(work);
  const auto fit_of_size = [&](const std::string& size) {
    return std::vector<std::string>{
        "fit", folder.path() / "ball", "-o", out, "--size", size, "--json", json, "--quiet"};
  };
  REQUIRE(run_program(fit_of_size("0.4")).exit_code == 0);
  const auto new_files = files_in(out);
  REQUIRE(run_program(fit_of_size("0.2")).exit_code == 0);
  const auto old_files = files_in(out);
  const std::string old_report = read_file(json);
  REQUIRE(old_files.size() == 3);
  for (const auto& [name, bytes] : old_files) REQUIRE(new_files.at(name) != bytes);

  struct Case {
    bool while_writing;  // milliseconds count from the first temporary name in the folder
    int milliseconds;
    int signal;
  };
  const Case cases[] = {{false, 20, SIGTERM}, {false, 150, SIGINT}, {true, 0, SIGINT},
                        {true, 2, SIGTERM},   {true, 10, SIGINT},   {true, 40, SIGINT}};
  int interrupted_writing = 0;
  for (const Case& c : cases) {
    CAPTURE(c.while_writing, c.milliseconds);
    for (const auto& [name, bytes] : old_files) write_file(out / name, bytes);
    write_file(json, old_report);
    const int nowhere = ::open("/dev/null", O_RDWR);
    const pid_t child = start_program(fit_of_size("0.4"), nowhere);
    ::close(nowhere);
    int status = 0;
    pid_t ended = 0;
    const auto has_temporary = [&] {
      const fs::directory_iterator files(out);
      return std::any_of(begin(files), end(files),
                         [](const auto& entry) { return entry.path().filename().string().front() == '.'; });
    };
    while (c.while_writing && ended == 0 && !has_temporary()) ended = ::waitpid(child, &status, WNOHANG);
    ::usleep(static_cast<useconds_t>(1000 * c.milliseconds));
    if (ended == 0) {
      ::kill(child, c.signal);
      ::waitpid(child, &status, 0);
    }
    const auto files = files_in(out);
    const bool is_new = files == new_files;
    CHECK((is_new || files == old_files));
    const auto size = parse_json(read_file(json))["body"]["size"].get<double>();
    CHECK(close(size, is_new ? 0.4 : 0.2, 1e-6, 0.0));
    CHECK(files_in(work).size() == 2);
    if (WIFSIGNALED(status)) {
      CHECK(WTERMSIG(status) == c.signal);
      interrupted_writing += c.while_writing ? 1 : 0;
    } else {
      CHECK((is_new && WEXITSTATUS(status) == 0));
    }
  }
  CHECK(interrupted_writing > 0);
}

TEST_CASE("abut fit: on a terminal shows how far a stage is, and the time left", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string mesh = folder.write("part.obj", obj_text(block_and_ball()));
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE(::grantpt(terminal) == 0);
  REQUIRE(::unlockpt(terminal) == 0);
  const int other_end = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  REQUIRE(other_end >= 0);
  const pid_t child =
      start_program({"fit", mesh, "-o", folder.path() / "out", "--vertices", "150", "--resolution", "64",
                     "--threads", "1", "--method", "superquadrics", "--max-primitives", "3"},
                    other_end);
  ::close(other_end);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(terminal, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));  // fails once the program has ended
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  CAPTURE(text);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK_THAT(text, Contains(" %  ") && Contains(" layers") && Contains(" rounds") && Contains("/s  ") &&
                       Contains(" s left"));
}

TEST_CASE("abut fit: of a mesh with a hole, faces turned inwards or several shells says what was done",
          "[apps][value]") {
  const TriangleMesh ball = sphere_mesh(0.1, 3);
  const auto is_right = [](const Vec3<double>& p) { return p.x() > 0.0; };
  const auto is_left = [&](const Vec3<double>& p) { return !is_right(p); };
  const auto is_top = [](const Vec3<double>& p) { return p.z() > 0.085; };
  const double whole = 4.0 / 3.0 * std::numbers::pi * 1e-3, lens = 5.0 / 12.0 * std::numbers::pi * 1e-3;
  struct Case {
    std::string name;
    TriangleMesh mesh;
    std::string note;
    bool is_closed;
    int holes, shells, primitives;
    double volume;  // [m^3]
  };
  const Case cases[] = {
      {"hole", without(ball, is_top), " left open: inside is where the winding number is above 1/2.", false,
       1, 1, 1, whole},
      {"turned in part", joined(without(ball, is_right), inverted(without(ball, is_left))),
       " triangles turned, to face outwards like the others.", true, 0, 1, 1, whole},
      {"turned", inverted(ball), "The whole mesh faced inwards; it was turned.", true, 0, 1, 1, whole},
      {"two that overlap", joined(ball, translated(ball, {0.1, 0, 0})),
       " % of the surface lies within the solid, where pieces overlap or touch", true, 0, 2, 2,
       2.0 * whole - lens},
  };
  const TemporaryFolder folder;
  for (const Case& c : cases) {
    const std::string json = folder.path() / "report.json", out = folder.path() / "out";
    const ProgramResult result =
        run_program({"fit", folder.write("part.obj", obj_text(c.mesh)), "-o", out, "--vertices", "30",
                     "--resolution", "32", "--method", "superquadrics", "--max-primitives",
                     std::to_string(c.primitives), "--quiet", "--json", json});
    CAPTURE(c.name, result.out, result.err);
    CHECK(result.exit_code == 0);
    const Json mesh = parse_json(read_file(json))["mesh"];
    CHECK(mesh["closed"] == c.is_closed);
    CHECK(mesh["holes"] == c.holes);
    CHECK(mesh["shells"] == c.shells);
    const auto note = std::find_if(mesh["notes"].begin(), mesh["notes"].end(), [&](const Json& text) {
      return text.get<std::string>().find(c.note) != std::string::npos;
    });
    REQUIRE(note != mesh["notes"].end());
    CHECK_THAT(result.out, Contains("note: " + note->get<std::string>()));
    CHECK(close(read_body(out).volume, c.volume, 0.05, 0.0));
  }
}

TEST_CASE("abut fit: reports the errors that the hull of a box and of an angle bracket are known to have",
          "[apps][value]") {
  const TemporaryFolder folder;
  const auto fit_of = [&](const TriangleMesh& mesh, int exit_code) {
    const std::string json = folder.path() / "report.json";
    const ProgramResult result =
        run_program(quick_fit(folder.write("part.obj", obj_text(mesh)), folder.path() / "out",
                              {"--method", "hull", "--json", json}));
    CAPTURE(result.out, result.err);
    CHECK(result.exit_code == exit_code);
    CHECK_THAT(result.out, Contains("  method          hull") && Contains(" degrees apart on the mean") &&
                               Contains("  centre of mass  ") && Contains("  inertia         ") &&
                               Contains(" ns a query"));
    CHECK(read_body(folder.path() / "out").shape.primitives.at(0).kind == PrimitiveKind::convex_polyhedron);
    return parse_json(read_file(json))["fit"];
  };
  const auto number = [](const Json& fit, const char* key) {
    REQUIRE(fit.contains(key));
    return fit[key].get<double>();
  };
  const Json box = fit_of(box_mesh({0.15, 0.1, 0.05}, 1), 0);
  CHECK(box["method"] == "hull");
  CHECK(number(box, "iou") > 0.99);
  CHECK(close(number(box, "volume_of_mesh"), 0.006, 1e-12, 0.0));
  CHECK(std::abs(number(box, "volume_error")) < 0.01);
  CHECK(number(box, "center_of_mass_error") < 1e-3 * 0.3);
  CHECK(number(box, "inertia_error") < 0.01);
  CHECK(number(box, "mean_normal_angle") > 0.0);  // at its edges
  CHECK(number(box, "mean_normal_angle") < 0.03);
  CHECK(number(box, "seconds_per_query") > 1e-9);
  CHECK(number(box, "seconds_per_query") < 1e-4);

  // Plates of 0.2 x 0.1 x 0.04 m and 0.04 x 0.1 x 0.2 m; their hull is twice as large.
  const TriangleMesh upright = translated(box_mesh({0.02, 0.05, 0.12}, 1), {-0.08, 0, 0.1});
  const Json bracket = fit_of(joined(box_mesh({0.1, 0.05, 0.02}, 1), upright), 1);
  CHECK(close(number(bracket, "volume_of_mesh"), 0.0016, 0.03, 0.0));
  CHECK(close(number(bracket, "volume_error"), 1.0, 0.0, 0.06));
  CHECK(close(number(bracket, "iou"), 0.5, 0.0, 0.05));
  CHECK(close(number(bracket, "center_of_mass_error"), 0.021344, 0.05, 0.0));
  CHECK(close(number(bracket, "inertia_error"), 0.53524, 0.0, 0.05));
  CHECK(number(bracket, "mean_normal_angle") > 0.1);
}

TEST_CASE("abut fit: makes a body of one cloud of points where that is asked for", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string mesh = folder.write("ball.obj", obj_text(sphere_mesh(0.1, 3))),
                    out = folder.path() / "out";
  const ProgramResult result = run_program({"fit", mesh, "-o", out, "--method", "pointcloud", "--resolution",
                                            "16", "--vertices", "12", "--quiet"});
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("  method          pointcloud"));
  const Body body = read_body(out);
  REQUIRE(body.shape.primitives.size() == 1);
  CHECK(body.shape.primitives[0].kind == PrimitiveKind::oriented_point_cloud);
  CHECK(close(body.volume, 4.0 / 3.0 * std::numbers::pi * 1e-3, 0.05, 0.0));
}

TEST_CASE("abut fit: a body without primitives is sent here", "[apps][value]") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "part");
  folder.write("part/mesh.obj", obj_text(block_and_ball()));
  folder.write("part/body.toml", "density = 1000\nmesh = \"mesh.obj\"\n");
  const std::string scene = folder.write("scene.toml", "[[body]]\nname = \"part\"\nasset = \"part\"\n");
  const ProgramResult result = run_program({"run", scene});
  CAPTURE(result.err);
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Contains("abut fit"));
}

}  // namespace
}  // namespace abut::test
