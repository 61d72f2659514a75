/// Figure 3: edge 1 turns about the origin in the plane z = 0, edge 2 lies along x at y = -1.2, both of
/// length 2 m. The witness point of edge 1 and its derivative by the angle, without smoothing, with L2
/// regularisation, and with soft choices on top. The edges are parallel at pi/2.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "../support/gnuplot.h"
#include "../support/table.h"
#include "active_set.h"
#include "edge_witness.h"
#include "figure.h"

namespace abut::paper000 {
namespace {

using benchmarks::png_header;
using benchmarks::run_gnuplot;
using benchmarks::Table;

struct Smoothing {
  const char* title;
  double regularization;  ///< lambda [m^2]
  bool soft;              ///< else the exact minimiser
};

/// A regularisation of nothing has no answer at the parallel configuration itself.
constexpr double k_least_regularization = 1e-9;

/// The first three are shown; the two below are for comparison with a weaker regularisation.
constexpr std::array k_smoothings{
    Smoothing{"none", k_least_regularization, false}, Smoothing{"L2, {/Symbol l} = 0.1 m^2", 0.1, false},
    Smoothing{"L2, {/Symbol l} = 0.1 m^2, and soft choices", 0.1, true},
    Smoothing{"L2, {/Symbol l} = 0.01 m^2", 0.01, false}, Smoothing{"L2 + soft choices", 0.01, true}};

/// e_1 [m] at an angle.
Vec3<double> witness(const Smoothing& smoothing, double theta) {
  const Vec3<double> direction(-std::sin(theta), std::cos(theta), 0.0);
  const Edge<double> edge1{-direction, 2.0 * direction};
  const Edge<double> edge2{{-1.0, -1.2, 0.0}, {2.0, 0.0, 0.0}};
  const EdgeWitnessSettings<double> settings({.clip = 0.1, .minimum = 0.1, .interior = 0.1},
                                             smoothing.regularization);
  if (smoothing.soft) return edge_witness(edge1, edge2, settings).e1;
  return point_on(edge1, active_set(edge_problem(edge1, edge2, settings), UnitSquare()).x[0]);
}

}  // namespace

void draw_rotating_edge(const FigureOptions& options) {
  const int intervals = options.quick ? 200 : 2000;
  const double step = std::numbers::pi / intervals;
  std::vector<std::string> columns{"theta[rad]"};
  std::vector<std::vector<Vec3<double>>> traces;
  for (const Smoothing& smoothing : k_smoothings) {
    const std::string name =
        fmt::format("{}_lambda_{}", smoothing.soft ? "soft" : "hard", smoothing.regularization);
    for (const char* value : {"e1x[m]", "e1y[m]", "de1x[m/rad]", "de1y[m/rad]"}) {
      columns.push_back(name + "_" + value);
    }
    std::vector<Vec3<double>>& trace = traces.emplace_back();
    for (int i = 0; i <= intervals; ++i) trace.push_back(witness(smoothing, step * i));
  }
  Table table(columns);
  std::array<double, k_smoothings.size()> steepest{};
  for (int i = 0; i <= intervals; ++i) {
    std::vector<double> row{step * i};
    const auto before = static_cast<std::size_t>(std::max(i - 1, 0)),
               after = static_cast<std::size_t>(std::min(i + 1, intervals));
    for (std::size_t k = 0; k < traces.size(); ++k) {
      const Vec3<double>& e1 = traces[k][static_cast<std::size_t>(i)];
      const Vec3<double> de1 =
          (traces[k][after] - traces[k][before]) / (step * static_cast<double>(after - before));
      steepest[k] = std::max(steepest[k], std::abs(de1[0]));
      row.insert(row.end(), {e1[0], e1[1], de1[0], de1[1]});
    }
    table.add_row(row);
  }
  table.write(options.folder / "figure3.tsv");
  Table summary({"lambda[m^2]", "soft", "max|de1x/dtheta|[m/rad]"});
  fmt::print("\n| lambda [m²] | soft choices | largest abs(de₁ₓ/dθ) [m/rad] |\n| --- | --- | --- |\n");
  for (std::size_t k = 0; k < k_smoothings.size(); ++k) {
    const Smoothing& smoothing = k_smoothings[k];
    summary.add_row({smoothing.regularization, smoothing.soft ? 1.0 : 0.0, steepest[k]});
    fmt::print("| {} | {} | {:.1f} |\n", smoothing.regularization, smoothing.soft ? "yes" : "no",
               steepest[k]);
  }
  summary.write(options.folder / "figure3_steepest.tsv");
  if (!options.pictures) return;

  std::string script = png_header("figure3.png", 1000, 900);
  script += R"(
set multiplot layout 3,2 margins 0.08,0.98,0.075,0.955 spacing 0.1,0.075
set xrange [0:pi]
set xtics ('0' 0, '{/Symbol p}/4' pi/4, '{/Symbol p}/2' pi/2, '3{/Symbol p}/4' 3*pi/4, '{/Symbol p}' pi)
)";
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t column = 2 + 4 * k;
    script += fmt::format(
        R"(
set title '{title}' offset 0,-0.6
{label}
set ylabel 'e_1 [m]' offset 1,0
set yrange [-1.15:1.15]
set ytics 0.5
set key top right
plot 'figure3.tsv' using 1:{x} with lines ls 1 title 'x', '' using 1:{y} with lines ls 2 dt 2 title 'y'
set title 'largest |de_{{1x}}/d{{/Symbol q}}| = {steepest} m/rad' offset 0,-0.6
set ylabel 'de_1/d{{/Symbol q}} [m/rad]' offset 0,0
set yrange [-30:30]
set ytics 10
plot 'figure3.tsv' using 1:{dx} with lines ls 1 title 'x', '' using 1:{dy} with lines ls 2 dt 2 title 'y'
)",
        fmt::arg("title", k_smoothings[k].title), fmt::arg("x", column), fmt::arg("y", column + 1),
        fmt::arg("dx", column + 2), fmt::arg("dy", column + 3),
        fmt::arg("steepest", fmt::format("{:.0f}", steepest[k])),
        fmt::arg("label", k == 2 ? "set xlabel 'angle {/Symbol q} [rad]' offset 0,0.4" : "unset xlabel"));
  }
  run_gnuplot(script + "unset multiplot\n", options.folder);
}

}  // namespace abut::paper000
