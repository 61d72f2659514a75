#include "collision/manifold/edge_normals.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <numbers>

#include "collision/manifold/witness_safeguards.h"
#include "engine/body_builder.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

using test::close;

Shape box_shape(const Vec3<double>& half, double eps = 0.1) {
  Shape shape;
  Primitive primitive;
  primitive.parameters = {half.x(), half.y(), half.z(), eps, eps};
  shape.primitives.push_back(primitive);
  shape.union_smoothing = 1e-3;
  return shape;
}

/// A box of 8 corners and 12 triangles.
TriangleMesh box_mesh(const Vec3<double>& half) {
  TriangleMesh mesh;
  mesh.vertices.resize(3, 8);
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.col(i) = Vec3<double>(i & 1 ? half.x() : -half.x(), i & 2 ? half.y() : -half.y(),
                                        i & 4 ? half.z() : -half.z());
  }
  mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  require_closed_surface(mesh, "box");
  return mesh;
}

TEST_CASE("mesh_edges: a box has 12 edges, normals along the diagonals of its corners' planes",
          "[collision][value]") {
  const Vec3<double> half(0.5, 0.5, 0.5);
  const ShapeSdf sdf(box_shape(half));
  const TriangleMesh mesh = box_mesh(half);
  const std::vector<MeshEdge> edges = mesh_edges(mesh, sdf);
  REQUIRE(edges.size() == 12);
  double area = 0.0;
  for (const MeshEdge& edge : edges) {
    const Vec3<double> a = mesh.vertices.col(edge.start), b = mesh.vertices.col(edge.end);
    const Vec3<double> middle = 0.5 * (a + b);
    CHECK(edge.start < edge.end);
    CHECK(close(edge.normal, Vec3<double>(middle.normalized()), 0, 1e-6));
    CHECK(close(edge.angle, std::numbers::pi / 2.0, 1e-12, 0));
    area += edge.area;
    for (const int f : edge.triangles) {
      const Eigen::Vector3i& t = mesh.triangles[static_cast<std::size_t>(f)];
      CHECK((t.array() == edge.start).any());
      CHECK((t.array() == edge.end).any());
    }
    const Eigen::Vector3i& first = mesh.triangles[static_cast<std::size_t>(edge.triangles[0])];
    bool goes_from_start_to_end = false;
    for (int k = 0; k < 3; ++k)
      goes_from_start_to_end |= first[k] == edge.start && first[(k + 1) % 3] == edge.end;
    CHECK(goes_from_start_to_end);
  }
  CHECK(close(area, 4.0, 1e-12, 0));  // two thirds of the surface: the diagonals have the rest
}

TEST_CASE("mesh_edges: the normals of a sharp box are those of its faces' mean, not of one face",
          "[collision][value]") {
  const int subdivisions = GENERATE(1, 2, 3);
  const Body box = make_box({0.05, 0.04, 0.03}, 0.0, subdivisions, 1000.0);
  const std::vector<MeshEdge> edges = mesh_edges(contact_mesh(box), ShapeSdf(box.shape));
  REQUIRE(edges.size() == 12);
  for (const MeshEdge& edge : edges) {
    int zeros = 0;
    for (const double x : edge.normal) {
      CHECK((std::abs(x) < 1e-12 || close(std::abs(x), std::sqrt(0.5), 1e-12, 0)));
      zeros += std::abs(x) < 1e-12;
    }
    CHECK(zeros == 1);
    const Vec3<double> middle = 0.5 * (box.contact_points.col(edge.start) + box.contact_points.col(edge.end));
    CHECK(edge.normal.dot(middle) > 0.0);
  }
}

TEST_CASE("mesh_edges: edges that go on straight between the same two planes are one", "[collision][value]") {
  const Vec3<double> half(0.05, 0.04, 0.03);
  const ShapeSdf sdf(box_shape(half));
  TriangleMesh box = abut::box_mesh(half, 4);
  const auto length = [&](const MeshEdge& edge) {
    return (box.vertices.col(edge.end) - box.vertices.col(edge.start)).norm();
  };
  const std::vector<MeshEdge> whole = mesh_edges(box, sdf);
  REQUIRE(whole.size() == 12);
  std::array<int, 3> parallel{};
  for (const MeshEdge& edge : whole) {
    CHECK(edge.start < edge.end);
    CHECK(close(edge.angle, std::numbers::pi / 2, 1e-12, 0));
    for (int axis = 0; axis < 3; ++axis) {
      if (close(length(edge), 2.0 * half[axis], 1e-12, 0)) ++parallel[static_cast<std::size_t>(axis)];
    }
    // Its first triangle goes along it in its direction, the other one against it.
    const Vec3<double> along = (box.vertices.col(edge.end) - box.vertices.col(edge.start)).normalized();
    for (const int side : {0, 1}) {
      const Eigen::Vector3i& t = box.triangles[static_cast<std::size_t>(edge.triangles[side])];
      int goes = 0;
      for (int k = 0; k < 3; ++k) {
        const Vec3<double> a = box.vertices.col(t[k]), b = box.vertices.col(t[(k + 1) % 3]);
        const bool is_on_edge = (a - box.vertices.col(edge.start)).cross(along).norm() < 1e-12 &&
                                (b - box.vertices.col(edge.start)).cross(along).norm() < 1e-12;
        if (is_on_edge) goes = (b - a).dot(along) > 0.0 ? 1 : -1;
      }
      CHECK(goes == (side == 0 ? 1 : -1));
    }
  }
  CHECK(parallel == std::array<int, 3>{4, 4, 4});
  const auto total_area = [&](int subdivisions) {
    double area = 0.0;
    for (const MeshEdge& edge : mesh_edges(abut::box_mesh(half, subdivisions), sdf)) area += edge.area;
    return area;
  };
  CHECK(close(total_area(4) * 4.0, total_area(1), 1e-12, 0));  // the rims of finer faces are narrower

  // A vertex a fortieth of a degree off the straight line ends its edges.
  int rim = -1;
  for (int v = 0; v < box.vertex_count(); ++v) {
    const Vec3<double> x = box.vertices.col(v);
    if (close(x, Vec3<double>(half[0], half[1], 0.0), 1e-12, 1e-12)) rim = v;
  }
  REQUIRE(rim >= 0);
  const auto ends_there = [&] {
    int count = 0;
    for (const MeshEdge& edge : mesh_edges(box, sdf)) count += edge.start == rim || edge.end == rim;
    return count;
  };
  CHECK(ends_there() == 0);
  box.vertices.col(rim) *= 1.0 + 1e-4;
  CHECK(ends_there() == 2);
}

TEST_CASE("mesh_edges: on request the diagonals of flat faces too, and the areas are the surface",
          "[collision][value]") {
  const Vec3<double> half(0.5, 0.4, 0.3);
  const ShapeSdf sdf(box_shape(half));
  const TriangleMesh mesh = box_mesh(half);
  MeshEdgeOptions all;
  all.flat_angle = 0.0;
  const std::vector<MeshEdge> edges = mesh_edges(mesh, sdf, all);
  REQUIRE(edges.size() == 18);
  double area = 0.0;
  int flat = 0;
  for (const MeshEdge& edge : edges) {
    area += edge.area;
    flat += edge.angle < 1e-12;
    CHECK(close(edge.normal.norm(), 1.0, 1e-12, 0));
    const Vec3<double> along = mesh.vertices.col(edge.end) - mesh.vertices.col(edge.start);
    CHECK(std::abs(edge.normal.dot(along)) < 1e-12);
  }
  CHECK(flat == 6);
  CHECK(close(area, 8.0 * (0.5 * 0.4 + 0.4 * 0.3 + 0.3 * 0.5), 1e-12, 0));
}

TEST_CASE(
    "mesh_edge_normal: where the solid gives no direction the faces do, and where they cancel their planes",
    "[collision][value]") {
  const ShapeSdf nothing{Shape{}};
  const Vec3<double> a(0.0, 0.0, 0.0), b(2.0, 0.0, 0.0), outward(0.3, -1.0, 0.0);
  CHECK(close(mesh_edge_normal(nothing, a, b, {0.2, 0.3, 0.4}, outward), Vec3<double>(0.0, 0.6, 0.8), 1e-14,
              0));
  CHECK(close(mesh_edge_normal(nothing, a, b, {0.2, 0.0, 0.0}, outward), Vec3<double>(0.0, -1.0, 0.0), 1e-14,
              0));
}

TEST_CASE("face_edge_normal_vjp: agrees with differences by every vertex", "[collision][derivative]") {
  const ShapeSdf sdf(box_shape({0.5, 0.4, 0.3}));
  MeshEdgeOptions options;
  options.normals_of_faces = true;
  Random random(5);
  for (int trial = 0; trial < 20; ++trial) {
    TriangleMesh mesh = box_mesh({0.5, 0.4, 0.3});
    for (Eigen::Index i = 0; i < mesh.vertices.cols(); ++i)
      mesh.vertices.col(i) += 0.05 * random.unit_vector();
    const std::vector<MeshEdge> edges = mesh_edges(mesh, sdf, options);
    std::vector<Vec3<double>> bars;
    Points vertices_bar = Points::Zero(3, mesh.vertices.cols());
    for (const MeshEdge& edge : edges) {
      CHECK(std::abs(edge.normal.norm() - 1.0) < 1e-14);
      CHECK(std::abs(edge.normal.dot(mesh.vertices.col(edge.end) - mesh.vertices.col(edge.start))) < 1e-14);
      bars.push_back(random.unit_vector());
      face_edge_normal_vjp(mesh, edge, bars.back(), vertices_bar);
    }
    const auto loss = [&](const Eigen::VectorXd& x) {
      TriangleMesh moved = mesh;
      moved.vertices = Eigen::Map<const Points>(x.data(), 3, mesh.vertices.cols());
      double sum = 0.0;
      const std::vector<MeshEdge> moved_edges = mesh_edges(moved, sdf, options);
      REQUIRE(moved_edges.size() == bars.size());
      for (std::size_t i = 0; i < bars.size(); ++i) sum += bars[i].dot(moved_edges[i].normal);
      return sum;
    };
    const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(mesh.vertices.data(), mesh.vertices.size());
    const Eigen::VectorXd expected = test::fd_gradient(loss, x, 1e-6),
                          found = Eigen::Map<const Eigen::VectorXd>(vertices_bar.data(), vertices_bar.size());
    CHECK(close(found, expected, 1e-7, 1e-8));
  }
}

TEST_CASE("inside_own_body: full weight on the surface with a margin of 4 tau, and its derivative",
          "[collision][derivative]") {
  const double tau = 2e-3, margin = 8e-3;
  CHECK(inside_own_body(0.0, tau, margin) == 1.0);
  CHECK(inside_own_body(-1.0, tau, margin) == 1.0);
  CHECK(inside_own_body(margin + 4.0001 * tau, tau, margin) == 0.0);
  CHECK(close(inside_own_body(0.0, tau, 0.0), 0.5, 1e-14, 0));
  CHECK(close(paper_inside_own_body(tau, tau), 1.0 / (1.0 + std::exp(1.0)), 1e-14, 0));
  for (double phi = -0.01; phi < 0.03; phi += 7e-4) {
    const auto f = [&](auto x) { return inside_own_body(x, decltype(x)(tau), decltype(x)(margin)); };
    CHECK(close(inside_own_body_dphi(phi, tau, margin), test::jet_derivative(f, phi), 1e-12, 1e-12));
    CHECK(close(inside_own_body_dphi(phi, tau, margin), test::fd_derivative(f, phi, 1e-7), 1e-6, 1e-4));
  }
}

TEST_CASE("projected_to_surface: points near a body come to lie on it, with the derivatives of differences",
          "[collision][derivative]") {
  const ShapeSdf sdf(box_shape({0.5, 0.4, 0.3}, 0.6));
  Random random(1);
  const auto project = [&](const auto& x) {
    using S = typename std::decay_t<decltype(x)>::Scalar;
    return projected_to_surface<S>([&](const Vec3<S>& at) { return sdf.evaluate_normal<S>(at); }, x);
  };
  double farthest = 0.0;
  for (int trial = 0; trial < 200; ++trial) {
    const Vec3<double> on_surface =
        projected_to_surface<double>([&](const Vec3<double>& at) { return sdf.evaluate_normal<double>(at); },
                                     random.unit_vector() * 0.5, 40);
    const Vec3<double> near = on_surface + 0.02 * random.unit_vector();
    const Vec3<double> x = project(near);
    farthest = std::max(farthest, std::abs(sdf.distance(near)));
    CHECK(std::abs(sdf.distance(x)) < 1e-5);
    CHECK((x - near).norm() < 0.05);
    CHECK(close(test::jet_jacobian(project, near), test::fd_jacobian(project, near, 1e-6), 1e-4, 1e-5));
  }
  CHECK(farthest > 0.015);
}

}  // namespace
}  // namespace abut
