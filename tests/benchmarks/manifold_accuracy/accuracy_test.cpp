#include <catch2/catch.hpp>

#include <cmath>
#include <stdexcept>
#include <string>
#include <variant>

#include "accuracy_table.h"
#include "samples.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

/// The table, with few samples; not one of its numbers is infinite or none.
Table measured(const char* name) {
  const AccuracyTable* table = find_accuracy_table(name);
  REQUIRE(table != nullptr);
  Table result = table->measure(true);
  REQUIRE_FALSE(result.rows().empty());
  for (const auto& row : result.rows()) {
    for (const benchmarks::Cell& cell : row) {
      if (const auto* number = std::get_if<double>(&cell)) REQUIRE(std::isfinite(*number));
    }
  }
  return result;
}

bool starts_with(const std::string& text, const char* beginning) { return text.rfind(beginning, 0) == 0; }

}  // namespace

TEST_CASE("accuracy tables: every one has a name of its own, and none is found by another",
          "[accuracy][value]") {
  for (const AccuracyTable& table : accuracy_tables()) CHECK(find_accuracy_table(table.name) == &table);
  CHECK(find_accuracy_table("all") == nullptr);
}

TEST_CASE("table: a page has two digits of a number, all of a whole one, and no empty rows",
          "[accuracy][value]") {
  Table table({"name", "x", "y"});
  table.add_row({"a", 0.00123456, 1234567.0});
  table.end_block();
  table.add_row({"b", -1234.5, 0.0});
  CHECK(table.markdown() ==
        "| name | x | y |\n| --- | --- | --- |\n| a | 0.0012 | 1234567 |\n| b | -1200 | 0 |\n");
  CHECK(table.tsv() == "# name\tx\ty\na\t0.00123456\t1234567\n\nb\t-1234.5\t0\n");
  CHECK(table.text(0, "name") == "a");
  CHECK_THROWS_AS(table.number(0, "z"), std::out_of_range);
}

TEST_CASE("Samples: quantiles are numbers that were added, and what is not finite is refused",
          "[accuracy][value]") {
  Samples samples;
  CHECK_THROWS_AS(samples.median(), std::domain_error);
  for (int i = 100; i >= 1; --i) samples.add(i);
  CHECK(samples.median() == 50.0);
  CHECK(samples.quantile(0.99) == 99.0);
  CHECK(samples.quantile(0.0) == 1.0);
  CHECK(samples.largest() == 100.0);
  CHECK_THROWS_AS(samples.add(std::nan("")), std::domain_error);
}

TEST_CASE("unit_size_asset: distances are those of the asset, by its size", "[accuracy][property]") {
  const Body body = unit_size_asset("mustard_bottle");
  const Surface surface(body.mesh);
  const ShapeSdf sdf(body.shape);
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Surface::Place place = surface.random_place(random);
    CHECK(std::abs(sdf.distance<double>(place.point)) < 0.02);
    CHECK(surface.offset_of(place.point).norm() < 1e-12);
  }
}

TEST_CASE("accuracy of vertex-SDF: a gap of a hundredth is met within a hundredth", "[accuracy][property]") {
  const Table table = measured("vertex_sdf");
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    if (table.number(i, "gap") > 0.05) continue;
    CHECK(table.number(i, "error median") < 5e-3);
    CHECK(table.number(i, "error 95 %") < 1e-2);
  }
}

TEST_CASE("accuracy of edge-edge: the default form knows a gap that the published one loses",
          "[accuracy][property]") {
  const Table table = measured("edge_edge");
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    const bool is_paper = table.text(i, "form") == "paper";
    if (is_paper && table.number(i, "gap") < 5e-3) CHECK(table.number(i, "angle median") > 30.0);
    if (is_paper || table.number(i, "smoothing") != 1.0) continue;
    if (table.number(i, "gap") == 1e-2) CHECK(table.number(i, "error 95 %") < 1e-4);
    CHECK(table.number(i, "angle 95 %") < 1.5);
    CHECK(table.number(i, "error median") > 1e-9);  // it is smooth, not exact
  }
}

TEST_CASE("accuracy of vertex-face: errors vanish with the widths", "[accuracy][property]") {
  const Table table = measured("vertex_face");
  double wide = 0.0, narrow = 0.0;
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    const double error = table.number(i, "point error median");
    if (table.number(i, "widths") == 0.1) wide = std::fmax(wide, error);
    if (table.number(i, "widths") == 0.01) narrow = std::fmax(narrow, error);
  }
  CHECK(wide > 5e-3);
  CHECK(wide < 5e-2);
  CHECK(narrow < 1e-4);
}

TEST_CASE("accuracy of convex solids: a polyhedron in front of a face is exact", "[accuracy][property]") {
  const Table table = measured("convex");
  int faces = 0;
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    if (!starts_with(table.text(i, "solid"), "polyhedron") || table.text(i, "nearest to a") != "face")
      continue;
    ++faces;
    CHECK(table.number(i, "error median") < 2e-5);
  }
  CHECK(faces == 6);
}

TEST_CASE("edge normals: of the faces or of the distance, contacts hardly differ", "[accuracy][property]") {
  const Table table = measured("edge_normals");
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    CHECK(table.number(i, "between the two, median") < 5.0);
    CHECK(table.number(i, "between the two, median") > 0.1);
    CHECK(table.number(i, "tilt median") < 0.5);
  }
}

TEST_CASE("derivatives of edge contacts: differences converge to them with the square of the step",
          "[accuracy][derivative]") {
  const Table table = measured("derivative_differences");
  REQUIRE(table.rows().size() == 6);
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    CAPTURE(table.text(i, "form"), table.text(i, "of"));
    const double coarse = table.number(i, "h 1e-03 99 %"), fine = table.number(i, "h 1e-04 99 %");
    CHECK(coarse > 0.0);
    CHECK(fine < 0.02 * coarse);
    CHECK(table.number(i, "h 1e-05 max") < 1e-3);
    if (table.text(i, "of") == "d" && table.text(i, "form") != "paper") CHECK(coarse < 2e-4);
  }
}

TEST_CASE("paths: the default form keeps its own Lipschitz bound, the published one does not",
          "[accuracy][property]") {
  const Table table = measured("paths");
  double of_paper = 0.0;
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    const double violations = table.number(i, "violations d") + table.number(i, "violations n");
    CAPTURE(table.text(i, "form"), table.number(i, "tau"));
    CHECK(table.number(i, "steps") > 1000.0);
    CHECK(table.number(i, "steepest d") > 0.1);
    CHECK(table.number(i, "jumps") == 0.0);
    if (table.text(i, "form") == "paper") of_paper += violations;
    if (starts_with(table.text(i, "form"), "default")) {
      // Where d hardly changes its slopes at the ends may both be small: half the step tells.
      CHECK(violations <= 1.0);
      CHECK(table.number(i, "halvings") <= 1.0);
    }
  }
  CHECK(of_paper > 10.0);
}

TEST_CASE("single precision: contacts are those of double precision to a millionth of the size",
          "[accuracy][property]") {
  const Table table = measured("single_precision");
  REQUIRE(table.rows().size() == 8);
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    const std::string& what = table.text(i, "error of");
    CHECK(table.number(i, "compared") > 100.0);
    CHECK(table.number(i, "missed") == 0.0);
    if (what == "point" || what == "distance") CHECK(table.number(i, "99 %") < 1e-6);
    if (what == "normal" || what == "activity") CHECK(table.number(i, "99 %") < 1e-4);
  }
}

TEST_CASE("forces: at a swap of edges nothing jumps with soft K, and the value does by rank",
          "[accuracy][property]") {
  const Table table = measured("force");
  REQUIRE(table.rows().size() == 3);
  CHECK(table.number(0, "jump of F max") < 1e-12);
  CHECK(table.number(0, "jump of dF max") < 1e-3);
  CHECK(table.number(1, "jump of F median") > 1e-4);
  CHECK(table.number(2, "jump of dF median") > 1e-2);
}

TEST_CASE("depth: Taubin's distance is right just below the surface, and the radial one is not",
          "[accuracy][property]") {
  const Table table = measured("vertex_depth");
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    if (table.number(i, "depth") > 5e-3) continue;
    const double wrong = table.number(i, "off by > 10 %") / table.number(i, "points");
    if (table.text(i, "mode") == "radial") {
      CHECK(wrong > 0.2);
    } else {
      CHECK(wrong < 0.15);
    }
  }
}

}  // namespace abut::accuracy
