/// Figure 5: contacts of a box that lies turned on another one, on its edges (12 of 12) and at its vertices
/// (98), normals drawn at equal length and scaled by activity. Both boxes are superquadrics.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "../support/gnuplot.h"
#include "../support/table.h"
#include "collision/manifold/contact_activity.h"
#include "collision/sdf/gauge.h"
#include "collision/sdf/shape_sdf.h"
#include "edge_contact.h"
#include "engine/model.h"
#include "engine/pose.h"
#include "figure.h"

namespace abut::paper000 {
namespace {

using benchmarks::png_header;
using benchmarks::run_gnuplot;
using benchmarks::Table;

constexpr double k_half = 0.5, k_exponent = 0.1;  // semi-axis [m], eps_1 = eps_2
constexpr double k_smoothing = 0.01;              // tau_p and tau_d, by the size of the mesh

Primitive superquadric() {
  Primitive primitive;
  primitive.parameters = {k_half, k_half, k_half, k_exponent, k_exponent};
  return primitive;
}

/// The vertices of a cube of n x n squares a face, 6 n^2 + 2, each moved along its ray onto the surface [m].
std::vector<Vec3<double>> surface_points(int n) {
  const Primitive primitive = superquadric();
  const Superquadric<double> gauge(primitive.parameters, primitive.X_BP, 0.0);
  std::vector<Vec3<double>> points;
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j <= n; ++j) {
      for (int k = 0; k <= n; ++k) {
        const auto is_end = [&](int index) { return index == 0 || index == n; };
        if (!is_end(i) && !is_end(j) && !is_end(k)) continue;
        const Vec3<double> x(2.0 * i / n - 1.0, 2.0 * j / n - 1.0, 2.0 * k / n - 1.0);
        points.push_back(x / gauge_derivatives(gauge, x).value);
      }
    }
  }
  return points;
}

/// The twelve edges of a cube at a pose. Their normals halve the angle between the faces.
std::vector<EdgeWithNormal> cube_edges(double half, const Pose<double>& X) {
  std::vector<EdgeWithNormal> edges;
  for (int axis = 0; axis < 3; ++axis) {
    for (int corner = 0; corner < 4; ++corner) {
      Vec3<double> middle = Vec3<double>::Zero(), along = Vec3<double>::Zero();
      middle[(axis + 1) % 3] = corner % 2 == 0 ? -half : half;
      middle[(axis + 2) % 3] = corner / 2 == 0 ? -half : half;
      along[axis] = half;
      edges.push_back({{X * Vec3<double>(middle - along), X.q * Vec3<double>(2.0 * along)},
                       X.q * Vec3<double>(middle.normalized())});
    }
  }
  return edges;
}

/// Of the upper box in the lower one: turned by 40 degrees, a little aside, 2 % of the size deep if both
/// reach to `half` [m]. The corners of the cubes lie on the surface, so their edges run below its faces, at
/// 0.473 m.
Pose<double> upper_pose(double half) {
  constexpr double k_angle = 40.0 * std::numbers::pi / 180.0, k_depth = 0.02;
  Pose<double> X_AB;
  X_AB.q = Quat<double>(Eigen::AngleAxisd(k_angle, Vec3<double>::UnitZ()));
  X_AB.p = Vec3<double>(0.08, 0.04, 2.0 * half - k_depth);
  return X_AB;
}

Table contact_table() {
  return Table({"x[m]", "y[m]", "z[m]", "normal_x", "normal_y", "normal_z", "activity", "distance[m]"});
}

struct Summary {
  int contacts = 0, active = 0;
  double activity = 0.0, largest_activity = 0.0;
  double steepest_tilt = 0.0;  ///< largest angle of an active normal with the vertical [deg]

  void add(double weight, const Vec3<double>& normal) {
    ++contacts;
    activity += weight;
    largest_activity = std::max(largest_activity, weight);
    if (weight < 0.05) return;
    ++active;
    const double tilt = std::atan2(normal.head<2>().norm(), normal[2]) * 180.0 / std::numbers::pi;
    steepest_tilt = std::max(steepest_tilt, tilt);
  }
};

/// Of the cubes' edges, at the witness points on those of the upper box.
Summary write_edge_contacts(double half, const Pose<double>& X_AB, const FigureOptions& options) {
  const ShapeSdf lower({.primitives = {superquadric()}});
  const double size = 2.0 * half, square = size * size;  // edges are as long as the cubes are wide
  const EdgeContactSettings settings{
      .witness = {{.clip = 0.1, .minimum = 0.1 * square, .interior = 0.1}, 0.01 * square},
      .activity_smoothing = k_smoothing * size,
      .neighbour_smoothing = k_smoothing * size};
  Table table = contact_table();
  Summary summary;
  for (const EdgeContact& contact :
       edge_contacts(cube_edges(half, Pose<double>()), lower, cube_edges(half, X_AB), settings)) {
    const Vec3<double>&x = contact.point, &n = contact.normal_AB;
    table.add_row({x[0], x[1], x[2], n[0], n[1], n[2], contact.activity, contact.distance});
    summary.add(contact.activity, n);
  }
  table.write(options.folder / "figure5_edge_edge.tsv");
  return summary;
}

/// Of the upper box's vertices with the signed distance function of the lower one.
Summary write_vertex_contacts(const Pose<double>& X_AB, const FigureOptions& options) {
  const ShapeSdf lower({.primitives = {superquadric()}});
  Table table = contact_table();
  Summary summary;
  for (const Vec3<double>& vertex : surface_points(4)) {
    const Vec3<double> x = X_AB * vertex;
    const SdfNormal<double> at = lower.evaluate_normal<double>(x);
    const Vec3<double>& n = at.normal;
    const double weight = activity(at.distance, k_smoothing * 2.0 * k_half);
    table.add_row({x[0], x[1], x[2], n[0], n[1], n[2], weight, at.distance});
    summary.add(weight, n);
  }
  table.write(options.folder / "figure5_vertex_sdf.tsv");
  return summary;
}

/// The edges of both cubes, a block each, for the picture.
void write_outlines(const char* name, double half, const Pose<double>& X_AB, const FigureOptions& options) {
  Table table({"x[m]", "y[m]", "z[m]"});
  for (const Pose<double>& X : {Pose<double>(), X_AB}) {
    for (const EdgeWithNormal& of_cube : cube_edges(half, X)) {
      for (const double end : {0.0, 1.0}) {
        const Vec3<double> x = point_on(of_cube.edge, end);
        table.add_row({x[0], x[1], x[2]});
      }
      table.end_block();
      table.end_block();
    }
  }
  table.write(options.folder / fmt::format("figure5_{}_outlines.tsv", name));
}

}  // namespace

void draw_stacked_boxes(const FigureOptions& options) {
  const double edge_half = k_half * std::pow(3.0, -0.5 * k_exponent);
  const Pose<double> X_of_edges = upper_pose(edge_half), X_of_vertices = upper_pose(k_half);
  const Summary edges = write_edge_contacts(edge_half, X_of_edges, options),
                vertices = write_vertex_contacts(X_of_vertices, options);
  write_outlines("edge_edge", edge_half, X_of_edges, options);
  write_outlines("vertex_sdf", k_half, X_of_vertices, options);
  fmt::print(
      "\n| contacts on the upper box | all | Γ > 0.05 | sum of Γ | their normals off the vertical by at most "
      "[°] "
      "|\n| --- | --- | --- | --- | --- |\n");
  const auto describe = [](const char* name, const Summary& s) {
    fmt::print("| {} | {} | {} | {:.2f} | {:.1f} |\n", name, s.contacts, s.active, s.activity,
               s.steepest_tilt);
  };
  describe("edge-edge", edges);
  describe("vertex-SDF", vertices);
  if (!options.pictures) return;

  std::string script = png_header("figure5.png", 900, 920);
  script += R"(
set multiplot layout 2,2 margins 0.01,0.885,0.01,0.96 spacing 0.01,0.05
set angles degrees
u(x, y) = x*cos(24) + y*sin(24)
v(x, y, z) = z*cos(22) + (y*cos(24) - x*sin(24))*sin(22)
set size ratio -1
unset border
unset xtics
unset ytics
unset grid
set xrange [-1.15:1.15]
set yrange [-0.8:1.95]
set palette defined (0 '#B8C4CC', 0.05 '#56B4E9', 0.5 '#E69F00', 1 '#D55E00')
set cblabel 'activity [-]' offset 0,0
)";
  const auto panels = [&](const char* name, const std::string& title, const Summary& s, double colorbox_y) {
    for (const bool scaled : {false, true}) {
      script += fmt::format(
          R"(
set title '{title}, {how}' offset 0,-0.8
set cbrange [0:{largest}]
{colorbox}
plot 'figure5_{name}_outlines.tsv' using (u($1,$2)):(v($1,$2,$3)) with lines lc rgb '#888888' lw 1, \
     'figure5_{name}.tsv' using (u($1,$2)):(v($1,$2,$3)):({length}*u($4,$5)):({length}*v($4,$5,$6)):7 \
     with vectors filled head lw 1.8 lc palette, \
     '' using (u($1,$2)):(v($1,$2,$3)):7 with points pt 7 ps 0.55 lc palette
)",
          fmt::arg("title", title), fmt::arg("name", name),
          fmt::arg("how", scaled ? "scaled by activity" : "unscaled"),
          fmt::arg("largest", fmt::format("{:.3f}", s.largest_activity)),
          fmt::arg("length", scaled ? fmt::format("0.28*$7/{:.4f}", s.largest_activity) : "0.28"),
          fmt::arg("colorbox",
                   scaled ? "unset colorbox"
                          : fmt::format("set colorbox user origin 0.9,{} size 0.018,0.3", colorbox_y)));
    }
  };
  panels("edge_edge", fmt::format("{} edge-edge contacts", edges.contacts), edges, 0.56);
  panels("vertex_sdf", fmt::format("{} vertex-SDF contacts", vertices.contacts), vertices, 0.09);
  run_gnuplot(script + "unset multiplot\n", options.folder);
}

}  // namespace abut::paper000
