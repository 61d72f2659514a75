#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>

#include "accuracy_table.h"
#include "collision/sdf/shape_sdf.h"
#include "convex_bodies.h"
#include "engine/body_io.h"
#include "engine/random.h"
#include "samples.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

// What is required.
constexpr double k_most_crossings_missed = 1.0;  ///< [%]
constexpr double k_largest_growth = 1.2;         ///< of a Lipschitz constant, from one halving to the next

// Bounds of what is measured with few samples, mostly two to four times the measured values.
constexpr double k_exact = 1e-9;                 ///< of d, n and points of crossing edges: rounding
constexpr double k_most_other_edges = 0.01;      ///< share of crossings where another pair is stronger
constexpr double k_difference_error = 8e-5;      ///< h 1e-06 99 % of derivatives: (h/w)^2 of edges' windows
constexpr double k_single_value_error = 1.5e-5;  ///< 99 % of points, distances, normals, weights
constexpr double k_single_derivative_error = 2e-5;  ///< 99 % of derivatives, by the largest value
constexpr double k_force_slope = 15.0;              ///< slope max
constexpr double k_force_jump = 1e-13;              ///< jump of F max: rounding
constexpr double k_force_slope_jump = 2e-5;         ///< jump of dF max: 4e-10 times the second derivative

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

TEST_CASE("unit_size_asset: lengths are those of the asset, by its size", "[accuracy][property]") {
  const Body body = unit_size_asset("mustard_bottle"),
             asset = read_body(ABUT_SOURCE_DIR "/assets/bodies/mustard_bottle");
  CHECK(std::abs(body.inradius - asset.inradius / asset.size) < 1e-12);
  CHECK(std::abs(body.size - 1.0) < 1e-12);
  const Surface surface(body.mesh);
  const ShapeSdf sdf(body.shape);
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Surface::Place place = surface.random_place(random);
    CHECK(std::abs(sdf.distance<double>(place.point)) < 0.02);
    CHECK(surface.offset_of(place.point).norm() < 1e-12);
  }
}

TEST_CASE("touch: convex bodies overlap by the depth along the normal, and by less along no other axis",
          "[accuracy][property]") {
  constexpr double k_depth = 1e-3;
  int faces = 0, edges = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    CAPTURE(seed);
    const ConvexBody A = random_box(random), B = random_prism(random);
    const Quat<double> q_WA = random.quaternion(), q_WB = random.quaternion();
    const ConvexTouch found = touch(A, q_WA, B, q_WB, random.unit_vector(), k_depth);
    const auto overlap = [&](const Vec3<double>& n) {
      double of_A = -k_infinity, of_B = k_infinity;
      for (Eigen::Index i = 0; i < A.body.contact_points.cols(); ++i)
        of_A = std::fmax(of_A, n.dot(q_WA * Vec3<double>(A.body.contact_points.col(i))));
      for (Eigen::Index i = 0; i < B.body.contact_points.cols(); ++i)
        of_B = std::fmin(of_B, n.dot(found.p_AB + q_WB * Vec3<double>(B.body.contact_points.col(i))));
      return of_A - of_B;
    };
    CHECK(std::abs(overlap(found.normal_W) - k_depth) < 1e-12);
    for (int i = 0; i < 200; ++i) {
      const double spread = std::pow(10.0, random.uniform(-4.0, 0.0));
      CHECK(overlap((found.normal_W + spread * random.unit_vector()).normalized()) > k_depth - 1e-12);
    }
    (found.sine > 0.0 ? edges : faces) += 1;
  }
  CHECK(faces > 10);
  CHECK(edges > 10);
}

TEST_CASE("accuracy of vertex-SDF: a gap of a hundredth is met within a hundredth", "[accuracy][property]") {
  const Table table = measured("vertex_sdf");
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    if (table.number(i, "gap") > 0.05) continue;
    CHECK(table.number(i, "error median") < 5e-3);
    CHECK(table.number(i, "error 95 %") < 1e-2);
  }
}

TEST_CASE("accuracy of edge-edge: distance and normal of crossing edges are exact at any angle",
          "[accuracy][property]") {
  const Table table = measured("edge_edge");
  REQUIRE(table.rows().size() == 24);
  int compared = 0;
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    const std::string &crossing = table.text(i, "crossing"), &sine = table.text(i, "sine");
    const bool is_steep = starts_with(sine, "0.1") || starts_with(sine, "0.3");
    CAPTURE(crossing, sine, table.number(i, "clearance"));
    if (crossing == "beyond an end") {
      CHECK(table.number(i, "weight median") == 0.0);
      continue;
    }
    REQUIRE(table.number(i, "contacts %") > 0.0);
    CHECK(table.number(i, "d max") < k_exact);
    CHECK(table.number(i, "n max") < k_exact);
    CHECK(table.number(i, "point max") < k_exact);
    if (crossing == "middle" && is_steep) CHECK(table.number(i, "contacts %") == 100.0);
    ++compared;
  }
  CHECK(compared == 16);
}

TEST_CASE("accuracy of crossings: edges of convex bodies that touch have a contact", "[accuracy][property]") {
  const Table table = measured("crossings");
  int all = 0;
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    CAPTURE(table.text(i, "bodies"), table.text(i, "sine"));
    CHECK(table.number(i, "d 99 %") < k_exact);
    CHECK(table.number(i, "n 99 %") < k_exact);
    if (table.text(i, "sine") != "all") continue;
    ++all;
    CHECK(table.number(i, "other edges") <= k_most_other_edges * table.number(i, "crossings"));
    CHECK(table.number(i, "crossings") >= 300.0);
    CHECK(table.number(i, "without edges %") < k_most_crossings_missed);
  }
  CHECK(all == 3);
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

TEST_CASE("derivatives of contacts: differences converge to them with the square of the step",
          "[accuracy][derivative]") {
  const Table table = measured("derivative_differences");
  REQUIRE(table.rows().size() == 16);
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    CAPTURE(table.text(i, "derivative"), table.text(i, "contacts"), table.text(i, "of"));
    const double coarse = table.number(i, "h 1e-04 99 %"), fine = table.number(i, "h 1e-05 99 %");
    CHECK(table.number(i, "components") > 10.0);
    CHECK(table.number(i, "largest derivative") > 0.1);
    CHECK(coarse > 0.0);
    CHECK(fine < 0.05 * coarse + 1e-8);  // rounding, by the step
    CHECK(table.number(i, "h 1e-06 99 %") < k_difference_error);
  }
}

TEST_CASE("paths: Lipschitz constants do not grow as the step is halved", "[accuracy][property]") {
  const Table table = measured("paths");
  REQUIRE(table.rows().size() == 15);
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    CAPTURE(table.text(i, "paths"), table.text(i, "of"));
    CHECK(table.number(i, "L at h") > 0.0);
    CHECK(table.number(i, "growth") <= k_largest_growth);
  }
}

TEST_CASE("single precision: contacts and derivatives are those of double precision but for rounding",
          "[accuracy][property]") {
  const Table table = measured("single_precision");
  REQUIRE(table.rows().size() == 16);
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    const std::string& what = table.text(i, "error of");
    CAPTURE(table.text(i, "contacts"), what);
    CHECK(table.number(i, "compared") > 20.0);
    CHECK(table.number(i, "missed") == 0.0);
    const bool is_derivative = what.find("by motion") != std::string::npos;
    CHECK(table.number(i, "99 %") < (is_derivative
                                         ? k_single_derivative_error * table.number(i, "largest value")
                                         : k_single_value_error));
  }
}

TEST_CASE("forces: nothing jumps where contacts of edges come and go", "[accuracy][property]") {
  const Table table = measured("force");
  REQUIRE(table.rows().size() == 2);
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    CAPTURE(table.text(i, "edges"));
    CHECK(table.number(i, "changes") > 0.0);
    CHECK(table.number(i, "slope max") > 0.0);
    CHECK(table.number(i, "slope max") < k_force_slope);
    CHECK(table.number(i, "jump of F max") < k_force_jump);
    CHECK(table.number(i, "jump of dF max") < k_force_slope_jump);
  }
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
