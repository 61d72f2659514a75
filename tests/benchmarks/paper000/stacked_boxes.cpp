/// Figure 5: contacts of a box that lies turned on another one, on its edges (12 of 12) and at its vertices
/// (98), normals drawn at equal length and scaled by activity. Both boxes are superquadrics.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "../support/gnuplot.h"
#include "../support/table.h"
#include "collision/manifold/edge_edge.h"
#include "collision/manifold/edge_normals.h"
#include "collision/manifold/manifold_batch.h"
#include "collision/sdf/gauge.h"
#include "engine/body_builder.h"
#include "figure.h"

namespace abut::paper000 {
namespace {

using benchmarks::png_header;
using benchmarks::run_gnuplot;
using benchmarks::Table;

constexpr double k_half = 0.5, k_exponent = 0.1;  // semi-axis [m], eps_1 = eps_2
constexpr double k_smoothing = 0.01;              // tau_p, by the size

/// A cube of n x n squares a face, 6 n^2 + 2 vertices, each moved along its ray onto the surface.
Body box_of(int n) {
  Shape shape;
  Primitive primitive;
  primitive.parameters = {k_half, k_half, k_half, k_exponent, k_exponent};
  shape.primitives = {primitive};
  const Superquadric<double> gauge(primitive.parameters, primitive.X_BP, 0.0);

  std::map<std::array<int, 3>, int> index;
  std::vector<Vec3<double>> vertices;
  const auto vertex = [&](const std::array<int, 3>& at) {
    const auto [found, is_new] = index.emplace(at, static_cast<int>(vertices.size()));
    if (is_new) {
      const Vec3<double> x(2.0 * at[0] / n - 1.0, 2.0 * at[1] / n - 1.0, 2.0 * at[2] / n - 1.0);
      vertices.push_back(x / gauge_derivatives(gauge, x).value);
    }
    return found->second;
  };
  TriangleMesh mesh;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const int side : {0, n}) {
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          const auto corner = [&](int di, int dj) {
            std::array<int, 3> at{};
            at[axis] = side;
            at[(axis + 1) % 3] = i + di;
            at[(axis + 2) % 3] = j + dj;
            return vertex(at);
          };
          const int a = corner(0, 0), b = corner(1, 0), c = corner(1, 1), d = corner(0, 1);
          mesh.triangles.push_back(side == 0 ? Eigen::Vector3i(a, c, b) : Eigen::Vector3i(a, b, c));
          mesh.triangles.push_back(side == 0 ? Eigen::Vector3i(a, d, c) : Eigen::Vector3i(a, c, d));
        }
      }
    }
  }
  mesh.vertices.resize(3, static_cast<Eigen::Index>(vertices.size()));
  for (std::size_t i = 0; i < vertices.size(); ++i)
    mesh.vertices.col(static_cast<Eigen::Index>(i)) = vertices[i];
  return make_body("box", shape, mesh, Density{1000.0});
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

Summary write_edge_contacts(const Body& box, const Pose<double>& X_AB, const FigureOptions& options) {
  ContactConfig config;
  config.activity_smoothing = k_smoothing;
  config.vertex_contacts = VertexContacts::none;
  const PairManifold<double> pair(box, box, config, ManifoldScope::all);
  PairBuffers<double> buffers = pair.make_buffers(ManifoldOrder::value);
  pair.evaluate(X_AB, ManifoldOrder::value, buffers);
  const ManifoldView<double> view = pair.view(buffers);

  const std::vector<MeshEdge> edges = mesh_edges(box.mesh, pair.A().sdf);
  const EdgeEdgeSettings<double> settings(config, box.size);
  const auto edge_in_A = [&](int e, const Pose<double>& X) {
    const MeshEdge& edge = edges[static_cast<std::size_t>(e)];
    const Vec3<double> start = box.mesh.vertices.col(edge.start), end = box.mesh.vertices.col(edge.end);
    return Edge<double>{X * start, X.q * Vec3<double>(end - start), X.q * edge.normal};
  };
  Table table = contact_table();
  Summary summary;
  for (int i = view.size() - view.counts()[k_edge_on_B]; i < view.size(); ++i) {
    const EdgeWitness<double> witness = edge_witness(edge_in_A(view.feature_A(i), Pose<double>()),
                                                     edge_in_A(view.feature_B(i), X_AB), settings);
    const Vec3<double> n = view.normal(i);
    table.add_row({witness.e2[0], witness.e2[1], witness.e2[2], n[0], n[1], n[2], view.activity(i),
                   view.signed_distance(i)});
    summary.add(view.activity(i), n);
  }
  table.write(options.folder / "figure5_edge_edge.tsv");
  return summary;
}

Summary write_vertex_contacts(const Body& box, const Pose<double>& X_AB, const FigureOptions& options) {
  ContactConfig config;
  config.activity_smoothing = k_smoothing;
  config.edge_edge = false;
  const PairManifold<double> pair(box, box, config, ManifoldScope::all);
  PairBuffers<double> buffers = pair.make_buffers(ManifoldOrder::value);
  pair.evaluate(X_AB, ManifoldOrder::value, buffers);
  const ManifoldView<double> view = pair.view(buffers);
  Table table = contact_table();
  Summary summary;
  for (int i = view.counts()[k_vertex_of_A]; i < view.size(); ++i) {
    const Vec3<double> n = view.normal(i), x = X_AB * Vec3<double>(box.contact_points.col(view.feature_B(i)));
    table.add_row({x[0], x[1], x[2], n[0], n[1], n[2], view.activity(i), view.signed_distance(i)});
    summary.add(view.activity(i), n);
  }
  table.write(options.folder / "figure5_vertex_sdf.tsv");
  return summary;
}

/// The twelve edges of both boxes' bounding cubes, a block each, for the picture.
void write_outlines(const char* name, double half, const Pose<double>& X_AB, const FigureOptions& options) {
  Table table({"x[m]", "y[m]", "z[m]"});
  for (const Pose<double>& X : {Pose<double>(), X_AB}) {
    for (int axis = 0; axis < 3; ++axis) {
      for (int corner = 0; corner < 4; ++corner) {
        for (const double end : {-1.0, 1.0}) {
          Vec3<double> x;
          x[axis] = end * half;
          x[(axis + 1) % 3] = corner % 2 == 0 ? -half : half;
          x[(axis + 2) % 3] = corner / 2 == 0 ? -half : half;
          x = X * x;
          table.add_row({x[0], x[1], x[2]});
        }
        table.end_block();
        table.end_block();
      }
    }
  }
  table.write(options.folder / fmt::format("figure5_{}_outlines.tsv", name));
}

}  // namespace

void draw_stacked_boxes(const FigureOptions& options) {
  const double edge_half = k_half * std::pow(3.0, -0.5 * k_exponent);
  const Pose<double> X_of_edges = upper_pose(edge_half), X_of_vertices = upper_pose(k_half);
  const Summary edges = write_edge_contacts(box_of(1), X_of_edges, options),
                vertices = write_vertex_contacts(box_of(4), X_of_vertices, options);
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
