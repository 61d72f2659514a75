#include "collision/manifold/mesh_edges.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/body_builder.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "tests/support/close.h"

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
