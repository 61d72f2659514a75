#include "apps/abut/fit_picture.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "apps/abut/fit_visual.h"
#include "apps/picture/image.h"
#include "collision/fitting/make_body.h"
#include "engine/body_io.h"
#include "engine/mesh_io.h"
#include "engine/mesh_shapes.h"
#include "tests/apps/program.h"
#include "tests/support/close.h"
#include "tests/support/mesh_files.h"
#include "tests/support/meshes.h"

namespace abut::test {
namespace {

using Catch::Contains;

constexpr Rgb k_red{1.0f, 0.0f, 0.0f}, k_blue{0.0f, 0.0f, 1.0f};

/// A box with four red and two blue sides.
ColouredMesh painted_box() {
  ColouredMesh box{box_mesh(Vec3<double>(1.0, 0.6, 0.4), 1), {}, {}};
  for (const Eigen::Vector3i& t : box.mesh.triangles) {
    const double z = box.mesh.vertices.row(2)(t[0]), other = box.mesh.vertices.row(2)(t[1]);
    box.triangle_colours.emplace_back(z == other && z == box.mesh.vertices.row(2)(t[2]) ? k_blue : k_red);
  }
  return box;
}

std::vector<std::string> box_fit(const std::string& input, const std::string& out,
                                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{
      "fit", input, "-o", out, "--vertices", "80", "--resolution", "48", "--quiet", "--max-primitives", "2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_CASE("abut fit: writes the mesh itself as what pictures show, where the body is and in its colours",
          "[apps][value]") {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "out", input = folder.path() / "box.obj";
  ColouredMesh box = painted_box();
  box.mesh.vertices.colwise() += Vec3<double>(5, 6, 7);
  write_coloured_obj(input, box);
  const ProgramResult result = run_program(box_fit(input, out, {"--unit", "cm", "--up", "y"}));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const Body body = read_body(out);
  CHECK(body.appearance.visual_mesh == std::filesystem::path(out) / "visual.obj");
  const ColouredMesh visual = read_coloured_mesh(body.appearance.visual_mesh);
  REQUIRE(visual.mesh.triangle_count() == box.mesh.triangle_count());
  for (int t = 0; t < box.mesh.triangle_count(); ++t) {
    for (int k = 0; k < 3; ++k) CHECK(visual.colour(t, k) == box.colour(t, k));
  }
  // y of the file is up; the body's frame is at its centre of mass, near the middle of the box.
  const auto extent = [&](int axis) {
    return std::pair(visual.mesh.vertices.row(axis).minCoeff(), visual.mesh.vertices.row(axis).maxCoeff());
  };
  const double expected[] = {0.004, 0.01, 0.006};
  for (int axis = 0; axis < 3; ++axis) {
    CHECK(close(extent(axis).first, -expected[axis], 0.0, 2e-4));
    CHECK(close(extent(axis).second, expected[axis], 0.0, 2e-4));
  }

  SECTION("and of a body that is there again in another size its visual mesh in that size") {
    const ProgramResult again = run_program({"fit", out, "-o", folder.path() / "large", "--size", "0.2",
                                             "--vertices", "80", "--resolution", "48", "--quiet"});
    CAPTURE(again.err);
    REQUIRE(again.exit_code == 0);
    const Body large = read_body(folder.path() / "large");
    const TriangleMesh look = read_mesh(large.appearance.visual_mesh);
    CHECK(close(largest_extent(look), 0.2 / body.size * largest_extent(visual.mesh), 0.02, 0.0));
  }
  SECTION("unless that is not wanted") {
    REQUIRE(run_program(box_fit(input, folder.path() / "none", {"--no-visual"})).exit_code == 0);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "none" / "visual.obj"));
    CHECK(read_body(folder.path() / "none").appearance.visual_mesh.empty());
    CHECK_THAT(read_file(folder.path() / "none" / "body.toml"), Contains("--no-visual"));
  }
}

TEST_CASE("reduced_visual_mesh: a large mesh becomes coarser, near the surface and in its colours",
          "[apps][value]") {
  ColouredMesh ball{sphere_mesh(1.0, 5), {}, {}};
  ball.mesh.triangles.erase(ball.mesh.triangles.begin());  // it may be open
  for (int v = 0; v < ball.mesh.vertex_count(); ++v)
    ball.vertex_colours.emplace_back(ball.mesh.vertices(2, v) > 0.0 ? k_red : k_blue);
  ball.triangle_colours.assign(ball.mesh.triangles.size(), k_red);
  std::vector<std::string> notes;
  CHECK(reduced_visual_mesh(ball, 50000, notes).mesh.triangles == ball.mesh.triangles);
  CHECK(notes.empty());

  const ColouredMesh coarse = reduced_visual_mesh(ball, 5000, notes);
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Contains("of the 20479 triangles"));
  CHECK(coarse.mesh.triangle_count() <= 5000);
  CHECK(coarse.mesh.triangle_count() > 2500);
  REQUIRE(coarse.vertex_colours.size() == static_cast<std::size_t>(coarse.mesh.vertex_count()));
  CHECK(coarse.triangle_colours.size() == coarse.mesh.triangles.size());
  for (int v = 0; v < coarse.mesh.vertex_count(); ++v) {
    CHECK(close(coarse.mesh.vertices.col(v).norm(), 1.0, 1e-6, 0.0));
    CHECK(coarse.vertex_colours[static_cast<std::size_t>(v)] ==
          (coarse.mesh.vertices(2, v) > 0.0 ? k_red : k_blue));
  }
}

TEST_CASE("fit_views: input, primitives, zero set and error, from one camera", "[apps][value]") {
  Shape shape;
  for (const double x : {-0.05, 0.05}) {
    Primitive ball;
    ball.kind = PrimitiveKind::sphere;
    ball.parameters[0] = 0.1;
    ball.X_BP.p.x() = x;
    shape.primitives.push_back(ball);
  }
  MeshedBodyOptions options;
  options.resolution = 48;
  options.mesh.vertices = 80;
  const MeshedBody made = make_meshed_body(shape, options);
  // A coarse box around it, so all of it is outside.
  const ColouredMesh input{box_mesh(Vec3<double>(0.16, 0.11, 0.11), 1), {}, {}};
  FitQuality quality;
  quality.mesh_to_zero_set.percentile_95 = 0.034 * 0.32;
  const FitSubject subject{input, input.mesh.triangle_count(), made.body, made.surface, quality};
  CHECK(colour_range(subject) == Approx(0.05 * 0.32));
  const std::array<Picture, 4> views = fit_views(subject, 1.0);
  REQUIRE(views[0].surfaces.size() == 1);
  CHECK(views[0].surfaces[0].surface->triangles.size() == 3 * input.mesh.triangles.size());
  REQUIRE(views[1].surfaces.size() == 2);
  CHECK(views[1].surfaces[0].colour != views[1].surfaces[1].colour);
  REQUIRE(views[2].surfaces.size() == 1);
  REQUIRE(views[3].surfaces.size() == 1);
  for (const Picture& view : views) CHECK(view.camera.position() == views[0].camera.position());
  const Surface& error = *views[3].surfaces[0].surface;
  REQUIRE(error.colours.size() == error.positions.size());
  CHECK(error.triangles.size() > 100 * input.mesh.triangles.size());
  float area = 0.0f;
  for (std::size_t t = 0; t < error.triangles.size(); t += 3) {
    const auto corner = [&](std::size_t k) { return error.positions[error.triangles[t + k]]; };
    const Eigen::Vector3f normal = (corner(1) - corner(0)).cross(corner(2) - corner(0));
    CHECK(normal.dot(error.normals[error.triangles[t]]) > 0.0f);
    area += 0.5f * normal.norm();
  }
  const std::vector<double> areas = vertex_areas(input.mesh);
  double expected = 0.0;
  for (const double part : areas) expected += part;
  CHECK(static_cast<double>(area) == Approx(expected).epsilon(1e-3));
  for (std::size_t i = 0; i < error.positions.size(); ++i) {
    CHECK(error.colours[i].x() > error.colours[i].z());  // orange: outside
    const double far = (error.positions[i].cast<double>().cwiseAbs() - Vec3<double>(0.16, 0.11, 0.11)).norm();
    if (far < 1e-6) CHECK(error.colours[i] == diverging_colour(1.0));  // a corner is beyond the range
  }
}

TEST_CASE("fit_views: subtracted primitives are in the picture, and counted in its title", "[apps][value]") {
  Shape shape;
  shape.primitives.resize(2);
  shape.primitives[0].kind = PrimitiveKind::sphere;
  shape.primitives[0].parameters[0] = 0.1;
  shape.primitives[1].kind = PrimitiveKind::capsule;  // a hole through the ball that reaches far out of it
  shape.primitives[1].parameters = {0.03, 0.5};
  shape.primitives[1].operation = PrimitiveOperation::subtract;
  CHECK(primitives_title(shape) == "2 primitives, 1 subtracted");
  CHECK(primitives_title({{shape.primitives[0]}}) == "1 primitive");
  MeshedBodyOptions options;
  options.resolution = 48;
  options.mesh.vertices = 80;
  const MeshedBody made = make_meshed_body(shape, options);
  const ColouredMesh input{sphere_mesh(0.1, 2), {}, {}};
  constexpr double k_aspect = 1.04;
  const std::array<Picture, 4> views =
      fit_views({input, input.mesh.triangle_count(), made.body, made.surface, FitQuality{}}, k_aspect);
  REQUIRE(views[1].surfaces.size() == 2);
  double highest = 0.0;
  for (const DrawnSurface& drawn : views[1].surfaces) {
    const Points positions = positions_of(drawn);
    for (Eigen::Index i = 0; i < positions.cols(); ++i) {
      const Vec3<double> place = views[1].camera.project(positions.col(i), k_aspect);
      CHECK(place.head<2>().cwiseAbs().maxCoeff() <= 1.0);
      highest = std::max(highest, place.y());
    }
  }
  CHECK(highest > 0.7);
}

#ifdef ABUT_HAVE_RENDERER
TEST_CASE("abut fit: --picture draws all four parts, a scale bar and a legend", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string input = folder.path() / "box.obj", picture = folder.path() / "fit.png";
  write_coloured_obj(input, painted_box());
  const ProgramResult result = run_program(box_fit(input, folder.path() / "out", {"--picture", picture}));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const Image image = read_png(picture);
  const auto at = [&](int x, int y) {
    const std::size_t i = 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                               static_cast<std::size_t>(x));
    return std::array<int, 3>{image.pixels[i], image.pixels[i + 1], image.pixels[i + 2]};
  };
  // In the middle of each view is something that is no background, whose channels are nearly equal and dark.
  std::set<std::array<int, 3>> middles;
  const int width = image.width / 4, middle = image.height / 2;
  for (int view = 0; view < 4; ++view) {
    const auto seen = at(view * width + width / 2, middle), beside = at(view * width + 4, middle);
    CAPTURE(view, seen[0], seen[1], seen[2]);
    int difference = 0;
    for (std::size_t c = 0; c < 3; ++c) difference += std::abs(seen[c] - beside[c]);
    CHECK(difference > 60);
    middles.insert(seen);
  }
  CHECK(middles.size() == 4);
  const auto bright_pixels = [&](int left, int right, int top, int bottom) {
    int count = 0;
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) count += at(x, y)[0] > 220 && at(x, y)[1] > 220 && at(x, y)[2] > 220;
    }
    return count;
  };
  for (int view = 0; view < 4; ++view)
    CHECK(bright_pixels(view * width, (view + 1) * width, 0, 40) > 100);  // titles
  CHECK(bright_pixels(0, width, image.height - 80, image.height) > 100);
  CHECK(bright_pixels(3 * width, 4 * width, image.height - 80, image.height) > 100);
}

TEST_CASE("abut fit: where it cannot draw, the body is written nevertheless, and the exit code is 1",
          "[apps][value]") {
  const TemporaryFolder folder;
  const std::string input = folder.path() / "box.obj", picture = folder.path() / "fit.png";
  write_coloured_obj(input, painted_box());
  const ProgramResult result =
      run_executable(ABUT_EXECUTABLE, box_fit(input, folder.path() / "out", {"--picture", picture}),
                     {{"__EGL_VENDOR_LIBRARY_FILENAMES", "/dev/null"}});
  CAPTURE(result.err);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("abut fit: the body is written, but no picture of it") && Contains("EGL"));
  CHECK(line_count(result.err) == 1);
  CHECK_FALSE(std::filesystem::exists(picture));
  CHECK(std::filesystem::path(read_body(folder.path() / "out").appearance.visual_mesh).filename() ==
        "visual.obj");
}
#endif

TEST_CASE("abut fit: a picture that makes no sense is exit code 2 before any work", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string input = folder.path() / "box.obj", out = folder.path() / "out";
  write_coloured_obj(input, painted_box());
  struct Case {
    std::vector<std::string> arguments;
    std::string cause;
  };
  const Case cases[] = {
      {{"fit", input, "-o", out, "--picture", folder.path() / "fit.jpg"}, ".png"},
      {{"fit", input, "-o", out, "--picture", folder.path() / "no" / "fit.png"}, "there is no such folder"},
      {{"fit", std::string(ABUT_SOURCE_DIR) + "/assets/bodies/box", "-o", out, "--picture",
        folder.path() / "fit.png"},
       "--picture is for meshes"},
  };
  for (const Case& c : cases) {
    const ProgramResult result = run_program(c.arguments);
    CAPTURE(c.cause, result.err);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains(c.cause));
  }
  CHECK_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace abut::test
