/// Figure 2: how signed distance functions change with their smoothing. Of each kind of primitive the slice
/// z = 0 at three smoothings, as level lines of the distance.
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "../support/gnuplot.h"
#include "../support/table.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/model.h"
#include "engine/primitive_builder.h"
#include "figure.h"

namespace abut::paper000 {
namespace {

using benchmarks::png_header;
using benchmarks::run_gnuplot;
using benchmarks::Table;

constexpr double k_extent = 1.5;  // of the slice: [-k_extent, k_extent]^2 [m]

Primitive superquadric(const std::array<double, 3>& axes, double exponent, const Vec3<double>& centre) {
  Primitive primitive;
  primitive.parameters = {axes[0], axes[1], axes[2], exponent, exponent};
  primitive.X_BP.p = centre;
  return primitive;
}

Shape of_exponent(double exponent) {
  return {.primitives = {superquadric({1.0, 0.7, 0.7}, exponent, {0, 0, 0})}, .union_smoothing = 1e-3};
}

Shape united(double tau) {
  return {.primitives = {superquadric({0.9, 0.35, 0.5}, 0.2, {-0.3, -0.35, 0}),
                         superquadric({0.45, 0.8, 0.5}, 0.6, {0.5, 0.25, 0})},
          .union_smoothing = tau};
}

Shape subtracted(double tau) {
  Shape shape{.primitives = {superquadric({1.1, 0.8, 0.8}, 0.2, {0, 0, 0}),
                             superquadric({0.55, 0.55, 0.9}, 1.0, {0.35, 0.6, 0})},
              .union_smoothing = tau};
  shape.primitives[1].operation = PrimitiveOperation::subtract;
  return shape;
}

/// A pentagonal prism with its top cut off askew.
Shape polyhedron(double tau) {
  Points normals(3, 7);
  std::vector<double> offsets(7, 0.75);
  for (int i = 0; i < 5; ++i) {
    const double angle = 0.3 + 0.4 * std::numbers::pi * i;
    normals.col(i) = Vec3<double>(std::cos(angle), std::sin(angle), 0.0);
  }
  normals.col(5) = Vec3<double>(0.2, 0.0, 1.0);
  normals.col(6) = Vec3<double>(0.0, 0.0, -1.0);
  return {.primitives = {make_convex_polyhedron(normals, offsets, tau)}, .union_smoothing = 1e-3};
}

/// A sphere pulled out into three lobes, as 40 x 15 points with normals.
Shape point_cloud(double width) {
  constexpr int k_around = 40, k_along = 15;
  Points points(3, k_around * k_along), normals(3, k_around * k_along);
  const auto surface = [](double theta, double u) {
    const double r = (0.8 + 0.3 * std::cos(3.0 * theta)) * std::sqrt(1.0 - u * u);
    return Vec3<double>(r * std::cos(theta), r * std::sin(theta), 0.6 * u);
  };
  for (int i = 0; i < k_around; ++i) {
    for (int j = 0; j < k_along; ++j) {
      constexpr double k_step = 1e-5;
      const double theta = 2.0 * std::numbers::pi * i / k_around, u = 0.95 * (2.0 * j / (k_along - 1) - 1.0);
      const Vec3<double> by_theta = surface(theta + k_step, u) - surface(theta - k_step, u),
                         by_u = surface(theta, u + k_step) - surface(theta, u - k_step);
      points.col(i * k_along + j) = surface(theta, u);
      normals.col(i * k_along + j) = by_theta.cross(by_u).normalized();
    }
  }
  return {.primitives = {make_oriented_point_cloud(points, normals, width)}, .union_smoothing = 1e-3};
}

struct Kind {
  const char *name, *title;
  const char *symbol, *unit;  ///< of the smoothing, as gnuplot's enhanced text has it
  std::array<double, 3> smoothings;
  Shape (*make)(double smoothing);
};

constexpr std::array k_kinds{
    Kind{"superquadric", "superquadric", "{/Symbol e}_1 = {/Symbol e}_2", "", {0.1, 0.5, 1.0}, of_exponent},
    Kind{"polyhedron", "convex polyhedron", "{/Symbol t}", " m", {0.005, 0.05, 0.15}, polyhedron},
    Kind{"point_cloud", "oriented point cloud", "h", " m", {0.08, 0.15, 0.3}, point_cloud},
    Kind{"union", "union of two", "{/Symbol t}", " m", {0.005, 0.05, 0.2}, united},
    Kind{"subtraction", "subtraction", "{/Symbol t}", " m", {0.005, 0.05, 0.2}, subtracted},
};

}  // namespace

void draw_smoothed_primitives(const FigureOptions& options) {
  const int intervals = options.quick ? 24 : 150;
  for (const Kind& kind : k_kinds) {
    std::vector<std::string> columns{"x[m]", "y[m]"};
    std::vector<ShapeSdf> sdfs;
    for (const double smoothing : kind.smoothings) {
      columns.push_back(fmt::format("d({})[m]", smoothing));
      sdfs.emplace_back(kind.make(smoothing));
    }
    Table table(columns);
    for (int i = 0; i <= intervals; ++i) {
      for (int j = 0; j <= intervals; ++j) {
        std::vector<double> row{k_extent * (2.0 * i / intervals - 1.0),
                                k_extent * (2.0 * j / intervals - 1.0)};
        for (const ShapeSdf& sdf : sdfs) row.push_back(sdf.distance(Vec3<double>(row[0], row[1], 0.0)));
        table.add_row(row);
      }
      table.end_block();
    }
    table.write(options.folder / fmt::format("figure2_{}.tsv", kind.name));
  }
  if (!options.pictures) return;

  std::string script = png_header("figure2.png", 920, 60 + 300 * static_cast<int>(k_kinds.size()));
  script += fmt::format(R"(
set multiplot layout {},3 margins 0.075,0.875,0.045,0.965 spacing 0.015,0.035
set xrange [-{e}:{e}]
set yrange [-{e}:{e}]
set size ratio -1
set xtics -1,1 offset 0,0.4
set ytics -1,1 offset 0.5,0
unset grid
set cbrange [-0.6:0.6]
set palette defined (-0.6 '#7FB7DA', 0 '#FFFFFF', 0.6 '#F3B98C')
set cblabel 'd [m]'
unset colorbox
)",
                        k_kinds.size(), fmt::arg("e", k_extent));
  for (std::size_t row = 0; row < k_kinds.size(); ++row) {
    const Kind& kind = k_kinds[row];
    const bool is_last = row + 1 == k_kinds.size();
    for (std::size_t i = 0; i < kind.smoothings.size(); ++i) {
      const std::string axes =  // not before the level lines are computed: formats apply to these as well
          std::string(is_last ? "set xlabel 'x [m]' offset 0,0.9\n" : "set format x ''\nunset xlabel\n") +
          (i == 0 ? "set ylabel 'y [m]' offset 1.5,0\n" : "set format y ''\nunset ylabel\n");
      script +=
          row == 0 && i == 2 ? "set colorbox user origin 0.895,0.2 size 0.018,0.6\n" : "unset colorbox\n";
      script += fmt::format(R"(
set title '{title}, {symbol} = {smoothing}{unit}' offset 0,-0.7
set format xy
set contour base
set cntrparam levels discrete -0.4, -0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4, 0.5
set cntrparam linear
unset surface
set table $lines
splot 'figure2_{name}.tsv' using 1:2:{column}
unset table
set surface
unset contour
{axes}plot 'figure2_{name}.tsv' using 1:2:{column} with image, \
     $lines using 1:($3 != 0 ? $2 : NaN) with lines lc rgb '#555555' lw 0.8, \
     $lines using 1:($3 == 0 ? $2 : NaN) with lines lc rgb '#000000' lw 3
)",
                            fmt::arg("title", kind.title), fmt::arg("symbol", kind.symbol),
                            fmt::arg("smoothing", kind.smoothings[i]), fmt::arg("name", kind.name),
                            fmt::arg("column", i + 3), fmt::arg("axes", axes), fmt::arg("unit", kind.unit));
    }
  }
  run_gnuplot(script + "unset multiplot\n", options.folder);
}

}  // namespace abut::paper000
