#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include "apps/abut/fit_reader.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_io.h"
#include "engine/input_error.h"
#include "tests/apps/program.h"
#include "tests/support/close.h"
#include "tests/support/reference_data.h"

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
    "abut mesh --fit: writes a body that reads back, with every vertex on its zero set, the same each time",
    "[apps][value][determinism]") {
  const TemporaryFolder folder;
  const std::string fit = folder.write("dumbbell.json", k_fit);
  const auto run = [&](const std::string& out) {
    return run_program({"mesh", "--fit", fit, "--out", folder.path() / out, "--size", "0.5", "--vertices",
                        "100", "--density", "500", "--resolution", "40", "--friction", "0.3"});
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

  SECTION("and --body makes it again in another size, with the material and density it has") {
    const ProgramResult again =
        run_program({"mesh", "--body", folder.path() / "a", "--out", folder.path() / "c", "--size", "1",
                     "--vertices", "120", "--resolution", "40", "--name", "large", "--quiet"});
    CAPTURE(again.err);
    REQUIRE(again.exit_code == 0);
    CHECK(again.err.empty());
    const Body large = read_body(folder.path() / "c");
    CHECK(large.name == "large");
    CHECK(large.mesh.vertex_count() == 120);
    CHECK(close(large.mass, 8.0 * body.mass, 0.01, 0.0));
    CHECK(large.material.friction == 0.3);
  }
}

TEST_CASE("abut mesh: bad usage and bad input are exit code 2 and one line", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string fit = folder.write("fit.json", k_fit), out = folder.path() / "out";
  struct Case {
    std::vector<std::string> arguments;
    std::string cause;
  };
  const Case cases[] = {
      {{"mesh", "--out", out}, "--fit or --body"},
      {{"mesh", "--fit", fit}, "--out"},
      {{"mesh", "--fit", fit, "--body", fit, "--out", out}, "--body"},
      {{"mesh", "--fit", fit, "--out", out, "--size", "0"}, "--size"},
      {{"mesh", "--fit", fit, "--out", out, "--vertices", "3"}, "--vertices"},
      {{"mesh", "--fit", fit, "--out", out, "--density", "nan"}, "--density"},
      {{"mesh", "--fit", folder.path() / "none.json", "--out", out}, "none.json"},
      {{"mesh", "--body", folder.path() / "none", "--out", out}, "none"},
      {{"mesh", "--fit", fit, "--out", folder.path() / "no" / "such", "--resolution", "16", "--vertices",
        "20"},
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

TEST_CASE("assets: the fitted bodies hold the primitives of the reference fits they were made of",
          "[apps][value]") {
  for (const std::string name : {"armadillo", "power_drill", "mustard_bottle", "spot"}) {
    ABUT_REFERENCE_DATA_OR_SKIP(path, "reference_fits/" + name + ".json");
    const Shape fit = read_superquadric_fit(path);
    const Body body = read_body(std::string(ABUT_SOURCE_DIR) + "/assets/bodies/" + name);
    CAPTURE(name);
    REQUIRE(body.shape.primitives.size() == fit.primitives.size());
    const double scale = body.shape.primitives[0].parameters[0] / fit.primitives[0].parameters[0];
    const Vec3<double> shift = body.shape.primitives[0].X_BP.p - scale * fit.primitives[0].X_BP.p;
    for (std::size_t i = 0; i < fit.primitives.size(); ++i) {
      const Primitive &a = body.shape.primitives[i], &b = fit.primitives[i];
      for (std::size_t k = 0; k < 3; ++k) CHECK(close(a.parameters[k], scale * b.parameters[k], 1e-12, 0.0));
      for (std::size_t k = 3; k < 5; ++k) CHECK(a.parameters[k] == std::clamp(b.parameters[k], 0.02, 1.9));
      CHECK(close(a.X_BP.p, scale * b.X_BP.p + shift, 0.0, 1e-12));
      CHECK(close(a.X_BP.q.coeffs(), b.X_BP.q.coeffs(), 0.0, 1e-12));
    }
  }
}

}  // namespace
}  // namespace abut::test
