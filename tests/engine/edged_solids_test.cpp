// Meshes and mass of convex polyhedra and cones with sharp edges.
#include "engine/edged_solids.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <tuple>
#include <vector>

#include "engine/convex_hull.h"
#include "engine/flat_faces.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

constexpr int k_vertices = 300;

struct Planes {
  Points normals;
  std::vector<double> offsets;
};

Planes box_planes(const Vec3<double>& half) {
  Planes box{Points(3, 6), {half.x(), half.x(), half.y(), half.y(), half.z(), half.z()}};
  box.normals << 1, -1, 0, 0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 0, 0, 1, -1;
  return box;
}

Planes prism_planes(int sides, double radius, double half_length) {
  Planes prism{Points::Zero(3, sides + 2), std::vector<double>(static_cast<std::size_t>(sides), radius)};
  for (int i = 0; i < sides; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / sides;
    prism.normals.col(i) << std::cos(angle), std::sin(angle), 0.0;
  }
  prism.normals(2, sides) = 1.0;
  prism.normals(2, sides + 1) = -1.0;
  prism.offsets.insert(prism.offsets.end(), 2, half_length);
  return prism;
}

/// Whether a map of space takes vertices to vertices of the same area.
bool is_symmetric(const TriangleMesh& mesh, const Mat3<double>& map) {
  const std::vector<double> areas = vertex_areas(mesh);
  const double size = largest_extent(mesh);
  for (int v = 0; v < mesh.vertex_count(); ++v) {
    Eigen::Index image = 0;
    const Vec3<double> x = map * mesh.vertices.col(v);
    const double off = (mesh.vertices.colwise() - x).colwise().norm().minCoeff(&image);
    if (off > 1e-9 * size || !close(areas[at(v)], areas[static_cast<std::size_t>(image)], 1e-9, 0))
      return false;
  }
  return true;
}

Mat3<double> turn_about_z(double angle) {
  return Eigen::AngleAxisd(angle, Vec3<double>::UnitZ()).toRotationMatrix();
}

/// Mean distance from the z axis of the points of the face that looks along -z, by their shares of its area.
double lever_of_base(const TriangleMesh& mesh) {
  const Points vectors = vertex_area_vectors(mesh);
  const double lowest = mesh.vertices.row(2).minCoeff();
  double sum = 0.0, area = 0.0;
  for (int v = 0; v < mesh.vertex_count(); ++v) {
    if (mesh.vertices(2, v) > lowest + 1e-9 * largest_extent(mesh)) continue;
    const double down = std::max(0.0, -vectors(2, v));
    sum += down * mesh.vertices.col(v).head<2>().norm();
    area += down;
  }
  return sum / area;
}

}  // namespace

TEST_CASE("polyhedron_mesh: is closed, has all corners, and the volume of the hull of these",
          "[engine][property]") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(900 + seed);
    Points points(3, 5 + static_cast<int>(random.integer(60)));
    for (Eigen::Index i = 0; i < points.size(); ++i) points.data()[i] = random.uniform(-1.0, 1.0);
    const Primitive solid = make_convex_hull_polyhedron(points);
    const std::optional<TriangleMesh> mesh = polyhedron_mesh(solid.directions, solid.values, k_vertices);
    CAPTURE(seed, points.cols());
    REQUIRE(mesh);
    REQUIRE_NOTHROW(require_closed_surface(*mesh, "mesh"));
    CHECK(mesh->vertex_count() <= k_vertices);
    const Points corners = polyhedron_vertices(solid.directions, solid.values);
    for (Eigen::Index c = 0; c < corners.cols(); ++c)
      CHECK((mesh->vertices.colwise() - corners.col(c)).colwise().norm().minCoeff() == 0.0);
    for (Eigen::Index v = 0; v < mesh->vertices.cols(); ++v) {
      double largest = -std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < solid.values.size(); ++i)
        largest =
            std::max(largest, solid.directions.col(static_cast<Eigen::Index>(i)).dot(mesh->vertices.col(v)) -
                                  solid.values[i]);
      CHECK(std::abs(largest) < 1e-9);
    }
    const ConvexHull hull = convex_hull(corners);
    CHECK(close(mass_properties(*mesh, 1.0).volume,
                mass_properties({hull.vertices, hull.triangles}, 1.0).volume, 1e-9, 0));
  }
}

TEST_CASE("polyhedron_mesh: has the symmetries of boxes, prisms and tetrahedra", "[engine][property]") {
  for (const Vec3<double>& half : {Vec3<double>(1.0, 0.8, 0.6), Vec3<double>(0.4, 0.4, 1.0),
                                   Vec3<double>(0.15, 0.5, 1.0), Vec3<double>(1.0, 1.0, 0.05)}) {
    const Planes box = box_planes(half);
    const TriangleMesh mesh = polyhedron_mesh(box.normals, box.offsets, k_vertices).value();
    CAPTURE(half.transpose(), mesh.vertex_count());
    for (int axis = 0; axis < 3; ++axis) {
      Mat3<double> mirror = Mat3<double>::Identity();
      mirror(axis, axis) = -1.0;
      CHECK(is_symmetric(mesh, mirror));
    }
  }
  for (const int sides : {3, 5, 6, 7, 12}) {
    const Planes prism = prism_planes(sides, 0.7, 0.5);
    const TriangleMesh mesh = polyhedron_mesh(prism.normals, prism.offsets, k_vertices).value();
    CAPTURE(sides, mesh.vertex_count());
    CHECK(is_symmetric(mesh, turn_about_z(2.0 * std::numbers::pi / sides)));
    CHECK(is_symmetric(mesh, Vec3<double>(1, -1, 1).asDiagonal()));
    CHECK(is_symmetric(mesh, Vec3<double>(1, 1, -1).asDiagonal()));
  }
  Points normals(3, 4);
  normals << 1, 1, -1, -1, 1, -1, 1, -1, 1, -1, -1, 1;
  normals /= std::sqrt(3.0);
  const TriangleMesh mesh = polyhedron_mesh(normals, std::vector<double>(4, 1.0), k_vertices).value();
  Mat3<double> swap;
  swap << 0, 1, 0, 1, 0, 0, 0, 0, 1;
  CHECK(is_symmetric(mesh, swap));
  CHECK(is_symmetric(mesh, Vec3<double>(-1, -1, 1).asDiagonal()));
}

TEST_CASE(
    "polyhedron_mesh: a rectangle's inner points but its middle have the same area, and friction its arm",
    "[engine][value]") {
  const Vec3<double> half(1.0, 0.8, 0.6);
  const Planes box = box_planes(half);
  const TriangleMesh mesh = polyhedron_mesh(box.normals, box.offsets, k_vertices).value();
  const std::vector<double> areas = vertex_areas(mesh);
  std::map<int, std::vector<double>> inner;  // by the face
  for (int v = 0; v < mesh.vertex_count(); ++v) {
    const Vec3<double> at_face = mesh.vertices.col(v).cwiseAbs().cwiseQuotient(half);
    std::vector<int> on;
    for (int axis = 0; axis < 3; ++axis) {
      if (at_face[axis] > 1.0 - 1e-9) on.push_back(axis);
    }
    if (on.size() == 1) inner[on.front()].push_back(areas[at(v)]);
  }
  REQUIRE(inner.size() == 3);
  for (auto& [axis, of_face] : inner) {  // of both sides
    std::sort(of_face.begin(), of_face.end());
    const std::size_t middles = of_face.size() - 2;
    for (std::size_t i = 0; i < of_face.size(); ++i)
      CHECK(close(of_face[i], (i < middles ? 1.0 : 4.0 / 3.0) * of_face.front(), 1e-9, 0));
  }
  double exact = 0.0;
  constexpr int k_n = 300;
  for (int i = 0; i < k_n; ++i) {
    for (int j = 0; j < k_n; ++j) exact += std::hypot(half.x() * (i + 0.5) / k_n, half.y() * (j + 0.5) / k_n);
  }
  CHECK(close(lever_of_base(mesh), exact / (k_n * k_n), 0.015, 0));
}

TEST_CASE("polyhedron_mesh: no more corners than there are, however few vertices are wanted",
          "[engine][value]") {
  const Planes box = box_planes({1.0, 1.0, 1.0});
  CHECK(polyhedron_mesh(box.normals, box.offsets, 4).value().vertex_count() == 8);
  // The same plane twice.
  Planes doubled = box;
  doubled.normals.conservativeResize(3, 7);
  doubled.normals.col(6) = box.normals.col(0);
  doubled.offsets.push_back(1.0);
  CHECK_FALSE(polyhedron_mesh(doubled.normals, doubled.offsets, k_vertices));
  // One that only touches an edge.
  doubled.normals.col(6) = Vec3<double>(1.0, 1.0, 0.0).normalized();
  doubled.offsets.back() = std::numbers::sqrt2;
  CHECK(polyhedron_mesh(doubled.normals, doubled.offsets, k_vertices).value().vertex_count() ==
        polyhedron_mesh(box.normals, box.offsets, k_vertices).value().vertex_count());
}

TEST_CASE("cone_mesh: is a cone of 36 sides, with rims, tips and the mass of that", "[engine][value]") {
  const auto [base, top, half_length] =
      GENERATE(std::tuple(0.8, 0.8, 0.6), std::tuple(0.8, 0.0, 0.6), std::tuple(0.0, 0.2, 0.3),
               std::tuple(0.2, 0.1, 1.0), std::tuple(0.2, 0.2, 0.005), std::tuple(0.01, 0.01, 0.03),
               std::tuple(0.3, 1e-3, 0.2));
  CAPTURE(base, top, half_length);
  const TriangleMesh mesh = cone_mesh(base, top, half_length, k_vertices);
  REQUIRE_NOTHROW(require_closed_surface(mesh, "mesh"));
  CHECK(mesh.vertex_count() <= k_vertices);
  const double larger = std::max(base, top), slant = std::hypot(2.0 * half_length, base - top);
  constexpr double k_most_bevel = 0.0115;  // 1.5 times 0.75 %, of a long cylinder; a quarter of a small end
  int sharp = 0, bevelled = 0, tips = 0;
  for (int v = 0; v < mesh.vertex_count(); ++v) {
    const Vec3<double> x = mesh.vertices.col(v);
    const double t = 0.5 * (x.z() / half_length + 1.0), radius = (1.0 - t) * base + t * top,
                 off_side = (x.head<2>().norm() - radius) * 2.0 * half_length / slant,
                 off_end = std::abs(x.z()) - half_length;
    CHECK(std::abs(std::max(off_side, off_end)) < 1e-12 * larger);
    if (std::min(off_side, off_end) > -1e-9 * larger)
      ++(x.head<2>().norm() > 1e-9 * larger ? sharp : tips);
    else if (std::min(off_side, off_end) >
             -std::min(k_most_bevel * larger, 0.2501 * (x.z() < 0.0 ? base : top)))
      ++bevelled;
  }
  CHECK(sharp == (base == top ? 0 : 36));  // the acute rim
  CHECK(bevelled == 72 * ((base > 0.0 && base <= top) + (top > 0.0 && top <= base)));
  CHECK(tips == (base == 0.0) + (top == 0.0));
  CHECK(is_symmetric(mesh, turn_about_z(std::numbers::pi / 3.0)));

  // Each section is a regular polygon in place of a disc. The bevels take 1e-4 away at most.
  const double angle = 2.0 * std::numbers::pi / 36, area = std::sin(angle) / angle,
               polar = area * (2.0 + std::cos(angle)) / 3.0, bevel = 3e-4;
  const MassProperties of_mesh = mass_properties(mesh, 700.0),
                       exact = cone_mass_properties(base, top, half_length, 700.0);
  CHECK(close(of_mesh.volume, area * exact.volume, bevel, 0));
  CHECK(close(of_mesh.mass, area * exact.mass, bevel, 0));
  CHECK(close(of_mesh.center_of_mass, exact.center_of_mass, bevel, 1e-12 * half_length));
  CHECK(close(of_mesh.inertia(2, 2), polar * exact.inertia(2, 2), bevel, 0));
  CHECK(close(of_mesh.inertia(0, 0),
              polar * 0.5 * exact.inertia(2, 2) + area * (exact.inertia(0, 0) - 0.5 * exact.inertia(2, 2)),
              bevel, 0));
  CHECK(exact.inertia(0, 0) == exact.inertia(1, 1));
}

TEST_CASE("cone_mesh: friction of an end has its arm, and that is a flat face, the side none",
          "[engine][value]") {
  const double radius = 0.8, half_length = GENERATE(0.05, 0.6, 2.0);
  const TriangleMesh mesh = cone_mesh(radius, radius, half_length, k_vertices);
  CHECK(close(lever_of_base(mesh), 2.0 / 3.0 * radius, 0.012, 0));  // 1.1 % of it is the bevel's, at most
  const std::vector<FlatFace> faces = flat_faces(mesh, vertex_areas(mesh), vertex_area_vectors(mesh));
  CHECK(faces.size() == 2);
  for (const FlatFace& face : faces) CHECK(std::abs(face.normal.z()) > 1.0 - 1e-9);
}

TEST_CASE("cone_mesh: refuses what is no cone", "[engine][error]") {
  CHECK_THROWS_AS(cone_mesh(0.0, 0.0, 1.0, k_vertices), std::invalid_argument);
  CHECK_THROWS_AS(cone_mesh(1.0, -0.1, 1.0, k_vertices), std::invalid_argument);
  CHECK_THROWS_AS(cone_mesh(1.0, 1.0, 0.0, k_vertices), std::invalid_argument);
  CHECK_THROWS_AS(cone_mass_properties(1.0, 1.0, 1.0, 0.0), std::invalid_argument);
}

}  // namespace abut::test
