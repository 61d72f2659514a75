#include "engine/flat_faces.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include <Eigen/Geometry>

#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/revolved_mesh.h"

namespace abut::test {
namespace {

std::vector<FlatFace> flat_faces_of(const TriangleMesh& mesh) {
  return flat_faces(mesh, vertex_areas(mesh), vertex_area_vectors(mesh));
}

/// Of all points of a face, and of its supports, about the mean of its points: what the two have to agree in.
struct FaceMoments {
  double area = 0.0;
  Vec3<double> first = Vec3<double>::Zero();
  Mat3<double> second = Mat3<double>::Zero();

  void add(double a, const Vec3<double>& x) {
    area += a;
    first += a * x;
    second += a * x * x.transpose();
  }
};

/// Mean distance of a face from a point, by many small triangles.
double mean_distance(const TriangleMesh& mesh, const FlatFace& face, const Vec3<double>& from) {
  constexpr int k_cuts = 24;
  const std::set<int> points(face.points.begin(), face.points.end());
  double sum = 0.0, area = 0.0;
  for (const Eigen::Vector3i& corners : mesh.triangles) {
    if (!std::all_of(corners.begin(), corners.end(), [&](int v) { return points.contains(v); })) continue;
    const Vec3<double> a = mesh.vertices.col(corners[0]), b = mesh.vertices.col(corners[1]) - a,
                       c = mesh.vertices.col(corners[2]) - a;
    const double of_piece = 0.5 * b.cross(c).norm() / (k_cuts * k_cuts);
    for (int i = 0; i < k_cuts; ++i) {
      for (int j = 0; j < k_cuts; ++j) {
        const bool is_upright =
            i + j < k_cuts;  // the others are turned by pi, in the other half of the square
        const double u = (i + 1.0 / 3.0) / k_cuts, v = (j + 1.0 / 3.0) / k_cuts;
        sum += of_piece * (a + (is_upright ? u : 1.0 - u) * b + (is_upright ? v : 1.0 - v) * c - from).norm();
        area += of_piece;
      }
    }
  }
  return sum / area;
}

/// Returns whether the supports carry the torque of friction of an even load, to 2 %; if not, they have that of all points,
/// to 6 %.
bool check_moments(const TriangleMesh& mesh, const FlatFace& face) {
  const std::vector<double> areas = vertex_areas(mesh);
  const Points vectors = vertex_area_vectors(mesh);
  const auto x = [&](int i) { return Vec3<double>(mesh.vertices.col(face.points[at(i)])); };
  Vec3<double> across = Vec3<double>::Zero();  // of the widest triangle with the first point
  for (int i = 1; i < static_cast<int>(face.points.size()); ++i) {
    for (int k = 1; k < i; ++k) {
      const Vec3<double> cross = (x(i) - x(0)).cross(x(k) - x(0));
      if (cross.norm() > across.norm()) across = cross;
    }
  }
  const Vec3<double> normal = across.normalized();
  const double sign = x(0).dot(normal) > 0.0 ? 1.0 : -1.0;  // meshes are about the origin
  FaceMoments all, supports;
  for (int i = 0; i < static_cast<int>(face.points.size()); ++i) {
    const int v = face.points[at(i)];
    const double a =
        k_any_facing * areas[at(v)] + std::max(0.0, sign * Vec3<double>(vectors.col(v)).dot(normal));
    CHECK(std::abs((x(i) - x(0)).dot(normal)) <= 1e-9);
    all.add(a, x(i) - x(0));
    if (at(i) < face.factors.size()) supports.add(face.factors[at(i)] * a, x(i) - x(0));
  }
  for (const double factor : face.factors) CHECK(factor > 0.0);
  CHECK(close(supports.area, all.area, 1e-8, 0));
  CHECK(close(supports.first, all.first, 1e-8, 1e-8 * all.first.norm()));
  CHECK(close(supports.second, all.second, 1e-8, 1e-8 * all.second.norm()));
  const Vec3<double> middle = all.first / all.area + x(0);
  double lever_of_all = 0.0, lever_of_supports = 0.0;
  for (int i = 0; i < static_cast<int>(face.points.size()); ++i) {
    const int v = face.points[at(i)];
    const double a =
        k_any_facing * areas[at(v)] + std::max(0.0, sign * Vec3<double>(vectors.col(v)).dot(normal));
    lever_of_all += a * (x(i) - middle).norm();
    if (at(i) < face.factors.size()) lever_of_supports += face.factors[at(i)] * a * (x(i) - middle).norm();
  }
  const bool is_even =
      bool(close(lever_of_supports / all.area, mean_distance(mesh, face, middle), 0.0205, 0));
  CHECK((is_even || close(lever_of_supports, lever_of_all, 0.0601, 0)));
  return is_even;
}

}  // namespace

TEST_CASE("flat faces of a box: corners and a ring about the middle stand for the points of a side",
          "[engine][value]") {
  const Vec3<double> half = GENERATE(Vec3<double>(0.05, 0.05, 0.05), Vec3<double>(0.2, 0.05, 0.08));
  const TriangleMesh mesh = box_mesh(half, 4);
  const std::vector<FlatFace> faces = flat_faces_of(mesh);
  REQUIRE(faces.size() == 6);
  for (const FlatFace& face : faces) {
    CHECK(face.points.size() == 25);
    REQUIRE(face.factors.size() == 8);
    for (int k = 0; k < 4; ++k)
      CHECK(close(mesh.vertices.col(face.points[at(k)]).cwiseAbs().eval(), half, 1e-12, 0));
    // Equal corners.
    for (std::size_t k = 1; k < 4; ++k) CHECK(close(face.factors[k], face.factors[0], 1e-9, 0));
    const Vec3<double> across = (half - half.cwiseProduct(face.normal.cwiseAbs())).cwiseAbs();
    CHECK((check_moments(mesh, face) || across.maxCoeff() > 3.5 * (across.sum() - across.maxCoeff())));
  }
}

TEST_CASE("flat faces: moments are kept, whatever the mesh", "[engine][property]") {
  Random random(11);
  int found = 0, even = 0;
  for (int trial = 0; trial < 60; ++trial) {
    TriangleMesh mesh = box_mesh({random.uniform(0.02, 0.1), random.uniform(0.02, 0.1), 0.05},
                                 2 + static_cast<int>(random.integer(6)));
    // Affine maps keep faces flat.
    Mat3<double> map;
    for (int i = 0; i < 9; ++i) map.data()[i] = (i % 4 == 0 ? 1.0 : 0.0) + random.uniform(-0.3, 0.3);
    mesh.vertices = map * mesh.vertices;
    for (const FlatFace& face : flat_faces_of(mesh)) {
      even += check_moments(mesh, face);
      CHECK(std::set<int>(face.points.begin(), face.points.end()).size() == face.points.size());
      found += face.has_spare_points();
    }
  }
  CHECK(found > 150);
  CHECK(even > 240);  // of 360
}

TEST_CASE("flat faces: turned and scaled meshes have the same", "[engine][property]") {
  TriangleMesh mesh = box_mesh({0.05, 0.07, 0.06}, 4);
  const std::vector<FlatFace> before = flat_faces_of(mesh);
  const Eigen::AngleAxisd turn(0.7, Vec3<double>(1, 2, -1).normalized());
  mesh.vertices = 3.0 * turn.toRotationMatrix() * mesh.vertices;
  const std::vector<FlatFace> after = flat_faces_of(mesh);
  REQUIRE(after.size() == before.size());
  for (std::size_t f = 0; f < after.size(); ++f) {
    const auto factor_of = [](const FlatFace& face, int point) {
      const auto found = std::find(face.points.begin(), face.points.end(), point) - face.points.begin();
      return at(static_cast<int>(found)) < face.factors.size() ? face.factors[at(static_cast<int>(found))]
                                                               : 0.0;
    };
    for (const int point : before[f].points)
      CHECK(close(factor_of(after[f], point), factor_of(before[f], point), 1e-6, 1e-6));
  }
}

TEST_CASE("flat faces: few dozen supports stand for however many points", "[engine][value]") {
  const TriangleMesh mesh = box_mesh({0.05, 0.04, 0.03}, 40);
  const std::vector<FlatFace> faces = flat_faces_of(mesh);
  REQUIRE(faces.size() == 6);
  for (const FlatFace& face : faces) {
    CHECK(face.points.size() == 41 * 41);
    CHECK(face.factors.size() <= 64);
    CHECK(check_moments(mesh, face));
  }
}

TEST_CASE("flat faces: no points to spare where there are corners alone, and none that nearly go on",
          "[engine][value]") {
  for (const FlatFace& face : flat_faces_of(box_mesh({0.05, 0.05, 0.05}, 1))) {
    CHECK(!face.has_spare_points());
    CHECK(face.factors == std::vector<double>(4, 1.0));
  }
  CHECK(flat_faces_of(sphere_mesh(0.05)).empty());
  // A roof so flat that both of its sides could lie on one plane.
  const double rise = GENERATE(0.002, 0.02);
  TriangleMesh roof = box_mesh({0.05, 0.05, 0.05}, 4);
  for (Eigen::Index i = 0; i < roof.vertices.cols(); ++i) {
    if (roof.vertices(2, i) > 0.049)
      roof.vertices(2, i) += rise * (1.0 - std::abs(roof.vertices(0, i)) / 0.05);
  }
  const std::vector<FlatFace> faces = flat_faces_of(roof);
  const auto of_roof = std::count_if(faces.begin(), faces.end(), [&](const FlatFace& face) {
    return std::all_of(face.points.begin(), face.points.end(),
                       [&](int i) { return roof.vertices(2, i) > 0.049; });
  });
  CHECK(of_roof == (rise > 0.01 ? 2 : 0));
}

}  // namespace abut::test
