#include "collision/manifold/mesh_edges.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "engine/body_builder.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/compound_bodies.h"

namespace abut {
namespace {

using test::close;

double angle_between_faces(const MeshEdge& edge) {
  return std::acos(std::clamp(edge.face_normals[0].dot(edge.face_normals[1]), -1.0, 1.0));
}

/// Whether a triangle has a side along `axis` on the line through `a`, 1 if it runs along the axis, else -1.
int direction_of_side(const TriangleMesh& mesh, int triangle, const Vec3<double>& a,
                      const Vec3<double>& axis) {
  const Eigen::Vector3i& t = mesh.triangles[static_cast<std::size_t>(triangle)];
  for (int k = 0; k < 3; ++k) {
    const Vec3<double> from = mesh.vertices.col(t[k]), to = mesh.vertices.col(t[(k + 1) % 3]);
    if ((from - a).cross(axis).norm() < 1e-12 && (to - a).cross(axis).norm() < 1e-12)
      return (to - from).dot(axis) > 0.0 ? 1 : -1;
  }
  return 0;
}

TEST_CASE("mesh_edges: a box has 12 edges between its faces, however these are divided",
          "[collision][value]") {
  const Vec3<double> half(0.05, 0.04, 0.03);
  for (const int subdivisions : {1, 2, 3, 4}) {
    CAPTURE(subdivisions);
    const TriangleMesh mesh = box_mesh(half, subdivisions);
    const std::vector<MeshEdge> edges = mesh_edges(mesh);
    REQUIRE(edges.size() == 12);
    std::array<int, 3> parallel{};
    for (const MeshEdge& edge : edges) {
      const Vec3<double> a = mesh.vertices.col(edge.start), b = mesh.vertices.col(edge.end),
                         along = (b - a).normalized();
      CHECK(edge.start < edge.end);
      CHECK(close(angle_between_faces(edge), 0.5 * std::numbers::pi, 1e-12, 0));
      // Outwards, perpendicular to the edge, and in the order of the triangles.
      CHECK((edge.face_normals[0] + edge.face_normals[1]).dot(0.5 * (a + b)) > 0.0);
      CHECK(edge.face_normals[0].cross(edge.face_normals[1]).dot(along) > 0.99);
      for (const std::size_t side : {0u, 1u}) {
        CHECK(close(edge.face_normals[side].cwiseAbs().maxCoeff(), 1.0, 1e-12, 0));
        CHECK(direction_of_side(mesh, edge.triangles[side], a, along) == (side == 0 ? 1 : -1));
      }
      for (int axis = 0; axis < 3; ++axis)
        parallel[static_cast<std::size_t>(axis)] += close((b - a).norm(), 2.0 * half[axis], 1e-12, 0) ? 1 : 0;
    }
    CHECK(parallel == std::array<int, 3>{4, 4, 4});
  }
}

TEST_CASE("mesh_edges: a vertex a fortieth of a degree off the straight line ends its edges",
          "[collision][value]") {
  const Vec3<double> half(0.05, 0.04, 0.03);
  TriangleMesh mesh = box_mesh(half, 4);
  int rim = -1;
  for (int v = 0; v < mesh.vertex_count(); ++v) {
    if (close(Vec3<double>(mesh.vertices.col(v)), Vec3<double>(half[0], half[1], 0.0), 1e-12, 1e-12)) rim = v;
  }
  REQUIRE(rim >= 0);
  // Two along the rim; displaced, its triangles are bent against their faces too, by less than k_flat_angle.
  const auto ends_there = [&] {
    const std::vector<MeshEdge> edges = mesh_edges(mesh);
    return std::count_if(edges.begin(), edges.end(),
                         [&](const MeshEdge& edge) { return edge.start == rim || edge.end == rim; });
  };
  CHECK(ends_there() == 0);
  mesh.vertices.col(rim) *= 1.0 + 1e-4;
  CHECK(ends_there() == 2);
}

TEST_CASE("mesh_edges: grooves and the diagonals of flat faces are left out", "[collision][value]") {
  // Turned inside out, every edge of a box is a groove.
  TriangleMesh mesh = box_mesh({0.5, 0.4, 0.3}, 1);
  CHECK(mesh_edges(mesh).size() == 12);
  for (Eigen::Vector3i& t : mesh.triangles) std::swap(t[1], t[2]);
  CHECK(mesh_edges(mesh).empty());
}

TEST_CASE("contact_edges: the areas of contact points are shared out among their edges",
          "[collision][value]") {
  const Body box = make_box({0.05, 0.04, 0.03}, 0.0, 1, 1000.0);
  const std::vector<MeshEdge> edges = contact_edges(box);
  REQUIRE(edges.size() == 12);
  double sum = 0.0, of_points = 0.0;
  for (const MeshEdge& edge : edges) sum += edge.area;
  for (const double area : box.contact_areas) of_points += area;
  CHECK(close(sum, of_points, 1e-12, 0));
  CHECK(contact_edges(make_sphere(0.1, 1000.0)).empty());  // its contact point is no vertex
}

TEST_CASE("contact_edges: edges go on beyond the inner corners of a frame, into it, and beyond no others",
          "[collision][value]") {
  for (const double rounding : {0.0, 0.5}) {
    constexpr double k_half = 0.3;
    const Body frame = test::square_ring("frame", k_half, 0.05, {rounding, 0}).body;
    int inner = 0, outer = 0;
    for (const MeshEdge& edge : contact_edges(frame)) {
      const Vec3<double> vector = frame.contact_points.col(edge.end) - frame.contact_points.col(edge.start);
      const bool is_along = std::max(std::abs(vector.x()), std::abs(vector.y())) > k_half;
      for (const auto& [vertex, beyond] :
           {std::pair(edge.start, edge.beyond[0]), std::pair(edge.end, edge.beyond[1])}) {
        const bool is_inner = frame.contact_points.col(vertex).head<2>().cwiseAbs().maxCoeff() < k_half;
        CAPTURE(rounding, is_along, is_inner, vector.transpose());
        CHECK((beyond > 0.0) == (is_along && is_inner));
        (is_along && is_inner ? inner : outer) += 1;
      }
    }
    CHECK(inner >= 16);
    CHECK(outer >= 16);
  }
  for (const MeshEdge& edge : contact_edges(make_box({0.05, 0.04, 0.03}, 0.0, 3, 1000.0)))
    CHECK(edge.beyond == std::array{0.0, 0.0});
}

TEST_CASE("MeshEdge: ends_vjp is the transpose of ends", "[collision][derivative]") {
  Random random(3);
  Points vertices(3, 2), dot(3, 2);
  for (Points* const points : {&vertices, &dot}) {
    for (int i = 0; i < 2; ++i) points->col(i) = random.unit_vector();
  }
  MeshEdge edge;
  edge.start = 0;
  edge.end = 1;
  edge.beyond = {0.2, 0.1};
  const auto ends_dot = edge.ends(dot);  // linear
  const Vec3<double> bars[2] = {random.unit_vector(), random.unit_vector()};
  Points bar = Points::Zero(3, 2);
  edge.ends_vjp(bars[0], bars[1], bar);
  CHECK(bar.cwiseProduct(dot).sum() ==
        Approx(bars[0].dot(ends_dot[0]) + bars[1].dot(ends_dot[1])).margin(1e-14));
  CHECK((edge.ends(vertices)[1] - edge.ends(vertices)[0]).norm() ==
        Approx(1.3 * (vertices.col(1) - vertices.col(0)).norm()));
}

TEST_CASE("face_normals_vjp: agrees with differences by every vertex, of single triangles too",
          "[collision][derivative]") {
  Random random(5);
  for (int trial = 0; trial < 20; ++trial) {
    TriangleMesh mesh = box_mesh({0.5, 0.4, 0.3}, 1);
    for (Eigen::Index i = 0; i < mesh.vertices.cols(); ++i)
      mesh.vertices.col(i) += 0.05 * random.unit_vector();
    if (trial % 2 == 1) mesh.triangles.pop_back();  // leaves edges with one triangle
    const std::vector<MeshEdge> edges = mesh_edges(mesh);
    std::vector<std::array<Vec3<double>, 2>> bars;
    Points vertices_bar = Points::Zero(3, mesh.vertices.cols());
    for (const MeshEdge& edge : edges) {
      const Vec3<double> along = mesh.vertices.col(edge.end) - mesh.vertices.col(edge.start);
      for (const Vec3<double>& normal : edge.face_normals) {
        CHECK(std::abs(normal.norm() - 1.0) < 1e-14);
        CHECK(std::abs(normal.dot(along)) < 1e-14);
      }
      bars.push_back({random.unit_vector(), random.unit_vector()});
      face_normals_vjp(mesh, edge, bars.back(), vertices_bar);
    }
    const auto loss_at = [&](Eigen::Index vertex, int component, double step) {
      TriangleMesh moved = mesh;
      moved.vertices(component, vertex) += step;
      const std::vector<MeshEdge> again = mesh_edges(moved);
      REQUIRE(again.size() == edges.size());
      double loss = 0.0;
      for (std::size_t e = 0; e < again.size(); ++e) {
        for (const std::size_t side : {0u, 1u}) loss += bars[e][side].dot(again[e].face_normals[side]);
      }
      return loss;
    };
    for (Eigen::Index v = 0; v < mesh.vertices.cols(); ++v) {
      for (int c = 0; c < 3; ++c) {
        constexpr double h = 1e-6;
        const double difference = (loss_at(v, c, h) - loss_at(v, c, -h)) / (2.0 * h);
        CAPTURE(trial, v, c);
        CHECK(close(vertices_bar(c, v), difference, 1e-7, 1e-7));
      }
    }
  }
}

}  // namespace
}  // namespace abut
