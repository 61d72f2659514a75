#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "../support/table.h"
#include "active_set.h"
#include "engine/atomic_file.h"
#include "figure.h"
#include "tests/support/temporary_folder.h"
#include "witness_batch.h"

namespace abut::paper000 {
namespace {

using benchmarks::Table;

struct Columns {
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;

  [[nodiscard]] std::size_t index(const std::string& name) const {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return i;
    }
    FAIL("no column " << name);
    return 0;
  }
};

/// A table that has rows, all of the length of its header and finite.
Columns read_table(const std::filesystem::path& path) {
  CAPTURE(path.filename());
  std::istringstream text(read_file(path));
  Columns r;
  std::string line, word;
  REQUIRE(std::getline(text, line));
  REQUIRE(line.substr(0, 2) == "# ");
  std::istringstream header(line.substr(2));
  while (std::getline(header, word, '\t')) r.names.push_back(word);
  while (std::getline(text, line)) {
    if (line.empty()) continue;
    std::istringstream words(line);
    std::vector<double>& row = r.rows.emplace_back();
    while (std::getline(words, word, '\t')) row.push_back(std::stod(word));
    REQUIRE(row.size() == r.names.size());
    for (const double x : row) REQUIRE(std::isfinite(x));
  }
  REQUIRE_FALSE(r.rows.empty());
  return r;
}

void draw(const char* name, const std::filesystem::path& folder, bool pictures = false) {
  const Figure* figure = find_figure(name);
  REQUIRE(figure != nullptr);
  figure->draw({.folder = folder, .quick = true, .pictures = pictures});
}

bool gnuplot_is_installed() { return std::system("gnuplot --version > /dev/null 2>&1") == 0; }

}  // namespace

TEST_CASE("figures: every one has a name of its own, and none is found by another", "[paper000][value]") {
  for (const Figure& figure : figures()) CHECK(find_figure(figure.name) == &figure);
  CHECK(find_figure("0") == nullptr);
}

TEST_CASE("table: a row of another length than the header is refused", "[paper000][value]") {
  Table table({"a", "b"});
  CHECK_THROWS_AS(table.add_row({1.0}), std::invalid_argument);
  CHECK_NOTHROW(table.add_row({1.0, 2.0}));
}

TEST_CASE("figure 2: the level lines are those of the primitives, and smoothing makes a union larger",
          "[paper000][value]") {
  const test::TemporaryFolder folder;
  draw("2", folder.path());
  const Columns ellipsoid = read_table(folder.path() / "figure2_superquadric.tsv");
  for (const auto& row : ellipsoid.rows) {  // semi-axes 1 and 0.7: the sign of d at exponent 1 is known
    const double F2 = row[0] * row[0] + row[1] * row[1] / 0.49;
    const double d = row[ellipsoid.index("d(1)[m]")];
    CAPTURE(row[0], row[1]);
    if (std::abs(F2 - 1.0) > 1e-9) CHECK((d > 0.0) == (F2 > 1.0));
  }
  const Columns united = read_table(folder.path() / "figure2_union.tsv");
  const Columns less = read_table(folder.path() / "figure2_subtraction.tsv");
  const std::size_t sharp = united.index("d(0.005)[m]"), smooth = united.index("d(0.2)[m]");
  double largest = 0.0;
  for (std::size_t i = 0; i < united.rows.size(); ++i) {
    const double grown = united.rows[i][sharp] - united.rows[i][smooth];
    CHECK(grown > -1e-9);
    CHECK(grown < 0.2 * std::numbers::ln2 + 1e-9);
    largest = std::fmax(largest, grown);
    CHECK(less.rows[i][smooth] > less.rows[i][sharp] - 1e-9);
  }
  CHECK(largest > 0.13);
}

TEST_CASE("figure 3: without smoothing the witness point is the exact one, and L2 takes its jump away",
          "[paper000][value]") {
  const test::TemporaryFolder folder;
  draw("3", folder.path());
  const Columns trace = read_table(folder.path() / "figure3.tsv");
  const std::size_t x = trace.index("hard_lambda_1e-09_e1x[m]"), y = trace.index("hard_lambda_1e-09_e1y[m]");
  for (const auto& row : trace.rows) {
    const double theta = row[0];
    if (std::abs(theta - 0.5 * std::numbers::pi) < 1e-3) continue;  // parallel: any point is nearest
    // Edge 1 stays above edge 2, and its lower end is the nearest point as long as that lies over edge 2.
    const double sign = theta < 0.5 * std::numbers::pi ? 1.0 : -1.0;
    CAPTURE(theta);
    CHECK(std::abs(row[x] - sign * std::sin(theta)) < 1e-5);
    CHECK(std::abs(row[y] + sign * std::cos(theta)) < 1e-5);
  }
  const Columns steepest = read_table(folder.path() / "figure3_steepest.tsv");
  REQUIRE(steepest.rows.size() == 5);
  CHECK(steepest.rows[0][2] > 30.0);  // a jump of 2 in two steps of pi/200 [m/rad]
  CHECK(steepest.rows[1][2] < 30.0);
  CHECK(steepest.rows[2][2] < steepest.rows[1][2] * 1.1);
}

TEST_CASE("figure 5: of all contacts those in the overlap are active, and edges push straight up",
          "[paper000][value]") {
  const test::TemporaryFolder folder;
  draw("5", folder.path());
  struct Panel {
    const char* name;
    std::size_t contacts;
    int active;
    double sum, steepest_tangent;  // of the angles between active normals and the vertical
  };
  for (const Panel& panel :
       {Panel{"edge_edge", 144, 8, 0.967, 1e-3}, Panel{"vertex_sdf", 98, 17, 12.01, 0.65}}) {
    const Columns contacts = read_table(folder.path() / fmt::format("figure5_{}.tsv", panel.name));
    const std::size_t x = contacts.index("normal_x"), activity = contacts.index("activity"),
                      distance = contacts.index("distance[m]");
    CAPTURE(panel.name);
    REQUIRE(contacts.rows.size() == panel.contacts);
    int active = 0;
    double sum = 0.0;
    for (const auto& row : contacts.rows) {
      CHECK(row[activity] >= 0.0);
      CHECK(row[activity] <= 1.0);
      sum += row[activity];
      if (row[activity] < 0.05) continue;
      ++active;
      CHECK(row[distance] < 0.04);
      CHECK(row[x + 2] > 0.8);
      CHECK(std::hypot(row[x], row[x + 1]) < panel.steepest_tangent * row[x + 2]);
      if (panel.contacts == 144) CHECK(std::abs(row[distance] + 0.02) < 1e-4);  // the cubes overlap by 0.02 m
    }
    CHECK(active == panel.active);
    CHECK(std::abs(sum - panel.sum) < 0.01);
  }
}

TEST_CASE("figure 6: every method takes time, and deviates from the exact points by its smoothing alone",
          "[paper000][value]") {
  const test::TemporaryFolder folder;
  draw("6", folder.path());
  for (const char* name : {"edge_edge_fp32", "edge_edge_fp64", "vertex_face_fp32", "vertex_face_fp64"}) {
    const Columns times = read_table(folder.path() / fmt::format("figure6_{}.tsv", name));
    for (const auto& row : times.rows) {
      for (std::size_t i = 1; i < row.size(); ++i) CHECK(row[i] > 0.0);
    }
    const Columns deviation = read_table(folder.path() / fmt::format("figure6_{}_deviation.tsv", name));
    const std::size_t to_exact = deviation.index("mean_to_exact"),
                      to_barrier = deviation.index("largest_to_barrier");
    const bool is_float = std::string(name).ends_with("fp32");
    CAPTURE(name);
    CHECK(deviation.rows[0][to_exact] > 1e-3);
    CHECK(deviation.rows[0][to_exact] < 0.1);
    CHECK(deviation.rows[1][to_exact] < (is_float ? 1e-5 : 1e-15));
    CHECK(deviation.rows[2][to_exact] < 0.1);
    CHECK(deviation.rows[2][to_barrier] < (is_float ? 1e-2 : 1e-5));
  }
}

TEMPLATE_TEST_CASE("solve_witnesses: padding and batch size change nothing", "[paper000][batch]", float,
                   double) {
  const auto settings = published_witness_settings<TestType>();
  for (const WitnessPair pair : {WitnessPair::edge_edge, WitnessPair::vertex_face}) {
    for (int method = 0; method < 5; ++method) {
      WitnessBatch<TestType> many(100, 3), few(37, 3);
      solve_witnesses(pair, static_cast<WitnessMethod>(method), settings, many.view());
      solve_witnesses(pair, static_cast<WitnessMethod>(method), settings, few.view());
      CAPTURE(method);
      for (std::size_t k = 0; k < 37; ++k) {
        for (std::size_t i = 0; i < 6; ++i) REQUIRE(many.output(i, k) == few.output(i, k));
      }
    }
  }
}

TEST_CASE("solve_witnesses: the exact method is no farther than any point of the edges or the face",
          "[paper000][property]") {
  WitnessBatch<double> batch(2000, 5);
  const auto settings = published_witness_settings<double>();
  const auto point = [&](std::size_t first, std::size_t k) {
    return Vec3<double>(batch.input(first, k), batch.input(first + 1, k), batch.input(first + 2, k));
  };
  solve_witnesses(WitnessPair::vertex_face, WitnessMethod::active_set, settings, batch.view());
  for (std::size_t k = 0; k < batch.count(); ++k) {
    const Vec3<double> v = point(0, k), a = point(3, k), b = point(6, k), c = point(9, k);
    const double distance =
        (v - Vec3<double>(batch.output(0, k), batch.output(1, k), batch.output(2, k))).norm();
    for (int i = 0; i <= 10; ++i) {
      for (int j = 0; i + j <= 10; ++j) {
        REQUIRE(distance <= (v - a - 0.1 * i * (b - a) - 0.1 * j * (c - a)).norm() + 1e-12);
      }
    }
  }
}

TEST_CASE("figures 7 and 8: manifolds of every kind take time, and have contacts", "[paper000]") {
  const test::TemporaryFolder folder;
  draw("7", folder.path());
  draw("8", folder.path());
  const auto check = [&](const char* name, const std::vector<std::string>& names) {
    const Columns table = read_table(folder.path() / fmt::format("figure{}.tsv", name));
    CAPTURE(name);
    CHECK(table.names == names);
    for (const auto& row : table.rows) {
      for (const double x : row) CHECK(x > 0.0);
    }
  };
  check("7_complexity", {"primitives", "contacts", "values[us/manifold]", "gradient[us/manifold]"});
  for (const char* batch : {"7_batch_few", "7_batch_many"})
    check(batch, {"batch", "values[us/batch]", "gradient[us/batch]"});
  check("8", {"batch", "full[us/batch]", "no_edges[us/batch]", "one_sided[us/batch]"});
}

TEST_CASE("figures: gnuplot makes a picture of each", "[paper000]") {
  if (!gnuplot_is_installed()) {
    WARN("gnuplot is not installed");
    return;
  }
  const test::TemporaryFolder folder;
  for (const Figure& figure : figures()) {
    draw(figure.name, folder.path(), true);
    const auto picture = folder.path() / fmt::format("figure{}.png", figure.name);
    CAPTURE(figure.name);
    REQUIRE(std::filesystem::is_regular_file(picture));
    CHECK(std::filesystem::file_size(picture) > 10000);
  }
}

}  // namespace abut::paper000
