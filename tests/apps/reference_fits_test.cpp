/// Fits of the reference data (tests/support/reference_data.h), by the command and as bundled bodies.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "apps/abut/fit_input.h"
#include "apps/abut/fit_reader.h"
#include "collision/fitting/distance_grid.h"
#include "collision/fitting/mesh_repair.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_io.h"
#include "engine/mass_properties.h"
#include "engine/mesh_io.h"
#include "tests/apps/program.h"
#include "tests/support/close.h"
#include "tests/support/reference_data.h"
#include "tests/support/samples.h"

namespace abut::test {
namespace {

TEST_CASE("abut fit: holds the superquadrics of the reference fits that it is given",
          "[apps][value][nightly]") {
  const std::string names[] = {"armadillo", "power_drill", "mustard_bottle", "spot"};
  for (std::size_t k = 0; k < std::size(names); ++k) {
    if (!is_drawn(k)) continue;
    const std::string& name = names[k];
    ABUT_REFERENCE_DATA_OR_SKIP(path, "reference_fits/" + name + ".json");
    const Shape fit = read_superquadric_fit(path);
    const TemporaryFolder folder;
    const std::string out = folder.path() / name;
    const ProgramResult result = run_program({"fit", path, "-o", out, "--size", "0.25", "--vertices", "300"});
    CAPTURE(name, result.err);
    REQUIRE(result.exit_code == 0);
    const Body body = read_body(out);
    REQUIRE(body.shape.primitives.size() == fit.primitives.size());
    const double scale = body.shape.primitives[0].parameters[0] / fit.primitives[0].parameters[0];
    const Vec3<double> shift = body.shape.primitives[0].X_BP.p - scale * fit.primitives[0].X_BP.p;
    for (std::size_t i = 0; i < fit.primitives.size(); ++i) {
      const Primitive &a = body.shape.primitives[i], &b = fit.primitives[i];
      for (std::size_t j = 0; j < 3; ++j) CHECK(close(a.parameters[j], scale * b.parameters[j], 1e-12, 0.0));
      for (std::size_t j = 3; j < 5; ++j) CHECK(a.parameters[j] == std::clamp(b.parameters[j], 0.02, 1.9));
      CHECK(close(a.X_BP.p, scale * b.X_BP.p + shift, 0.0, 1e-12));
      CHECK(close(a.X_BP.q.coeffs(), b.X_BP.q.coeffs(), 0.0, 1e-12));
    }
  }
}

struct ReferenceMesh {
  std::string name;
  int most_primitives;
  double least_iou;
};

void check_fit_of(const ReferenceMesh& c) {
  ABUT_REFERENCE_DATA_OR_SKIP(mesh, c.name + ".obj");
  const TemporaryFolder folder;
  const std::string json = folder.path() / "report.json";
  const ProgramResult result =
      run_program({"fit", mesh, "-o", folder.path() / "out", "--max-primitives",
                   std::to_string(c.most_primitives), "--no-visual", "--quiet", "--json", json});
  CAPTURE(c.name, c.most_primitives, result.out, result.err);
  REQUIRE(result.exit_code == 0);
  const Json report = parse_json(read_file(json)), &fit = report["fit"];
  const auto size = report["mesh"]["size"].get<double>();
  CHECK(report["body"]["primitives"] <= c.most_primitives);
  CHECK(fit["iou"].get<double>() >= c.least_iou);
  CHECK(std::abs(fit["volume_error"].get<double>()) <= 0.03);
  CHECK(fit["center_of_mass_error"].get<double>() <= 0.01 * size);
  CHECK(fit["inertia_error"].get<double>() <= 0.05);
  CHECK(report["collision_mesh"]["max_vertex_distance"].get<double>() <= 1e-6 * size);
  CHECK(report["collision_mesh"]["closed"] == true);
}

TEST_CASE("abut fit: few primitives fill household objects, a cow and the armadillo",
          "[apps][value][suite][nightly]") {
  const ReferenceMesh meshes[] = {{"armadillo", 19, 0.89},       {"power_drill", 18, 0.94},
                                  {"mustard_bottle", 15, 0.955}, {"spot", 22, 0.957},
                                  {"armadillo", 39, 0.93},       {"banana", 6, 0.925}};
  check_fit_of(meshes[GENERATE(filter(is_drawn, range(std::size_t{0}, std::size_t{6})))]);
}

TEST_CASE("assets: the fitted bodies fill the meshes that they were fitted to", "[apps][value]") {
  struct Case {
    std::string name;
    std::optional<double> size;  // as in assets/make_bodies.sh [m]
    double iou;
  };
  const Case c = GENERATE(Case{"armadillo", 0.25, 0.89}, Case{"power_drill", std::nullopt, 0.94},
                          Case{"mustard_bottle", std::nullopt, 0.955}, Case{"spot", 0.25, 0.957});
  ABUT_REFERENCE_DATA_OR_SKIP(path, c.name + ".obj");
  const Body body = read_body(std::string(ABUT_SOURCE_DIR) + "/assets/bodies/" + c.name);
  TriangleMesh mesh = placed(read_triangles(path), {.size = c.size});
  const MassProperties inside = mass_properties(mesh, 1.0);
  mesh.vertices.colwise() -= inside.center_of_mass;  // as the body's is; so their distance is in the IoU
  const RepairedMesh repaired = repair_mesh(mesh);
  const DistanceGrid grid = signed_distance_grid(repaired, padded_grid(repaired.bvh.bounds(), 101));
  const double iou = occupancy_iou(grid, distances_on_grid(ShapeSdf(body.shape), grid, grid.grid.cell_size));
  CAPTURE(c.name, iou);
  CHECK(iou >= c.iou);
  CHECK(close(body.volume, inside.volume, 0.03, 0.0));
  const double density = body.mass / body.volume;
  CHECK((body.inertia / density - inside.inertia).norm() < 0.05 * inside.inertia.norm());
}

}  // namespace
}  // namespace abut::test
