#include "engine/osculating_patches.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

#include "engine/mesh_shapes.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

std::vector<OsculatingPatch> patches_of(const TriangleMesh& mesh) {
  return osculating_patches(mesh, vertex_area_vectors(mesh));
}

}  // namespace

TEST_CASE("osculating_patches: on a sphere normals and radii are exact", "[engine][value]") {
  const TriangleMesh mesh = sphere_mesh(0.3, 2);
  const std::vector<OsculatingPatch> patches = patches_of(mesh);
  for (int i = 0; i < mesh.vertex_count(); ++i) {
    const OsculatingPatch& patch = patches[static_cast<std::size_t>(i)];
    REQUIRE(patch.is_round);
    CHECK(close(patch.normal, Vec3<double>(mesh.vertices.col(i) / 0.3), 0.0, 1e-6));
    CHECK(close(patch.radii, Vec2<double>(0.3, 0.3), 1e-6, 0.0));
  }
}

TEST_CASE("osculating_patches: normals and Gaussian curvature are those of an ellipsoid", "[engine][value]") {
  const Vec3<double> axes(0.3, 0.25, 0.2);
  TriangleMesh mesh = sphere_mesh(1.0, 3);
  mesh.vertices = axes.asDiagonal() * mesh.vertices;
  const std::vector<OsculatingPatch> patches = patches_of(mesh);
  for (int i = 0; i < mesh.vertex_count(); ++i) {
    const OsculatingPatch& patch = patches[static_cast<std::size_t>(i)];
    const Vec3<double> gradient = Vec3<double>(mesh.vertices.col(i)).array() / axes.array().square();
    const double radius = std::pow(axes.prod(), 2) * std::pow(gradient.squaredNorm(), 2);  // r_1 r_2
    REQUIRE(patch.is_round);
    CHECK(close(patch.normal, gradient.normalized(), 0.0, 1e-3));
    CHECK(close(patch.radii.prod(), radius, 2.5e-2, 0.0));  // the fit leaves out fourth derivatives
    CHECK(patch.radii[0] <= patch.radii[1]);
    CHECK(std::abs(patch.direction.dot(patch.normal)) < 1e-12);
  }
}

TEST_CASE("osculating_patches: none on a box", "[engine][property]") {
  for (const OsculatingPatch& patch : patches_of(box_mesh({0.3, 0.2, 0.1}, 6))) CHECK_FALSE(patch.is_round);
}

TEST_CASE("osculating_patches: those of a cylinder are straight along it", "[engine][property]") {
  constexpr double k_radius = 0.1;
  constexpr int k_around = 32, k_rings = 8;
  TriangleMesh mesh;  // closed by two fans
  mesh.vertices.resize(3, k_around * k_rings + 2);
  const auto index = [](int ring, int k) { return ring * k_around + k % k_around; };
  for (int ring = 0; ring < k_rings; ++ring) {
    for (int k = 0; k < k_around; ++k) {
      const double angle = 2.0 * 3.14159265358979323846 * k / k_around;
      mesh.vertices.col(index(ring, k)) << k_radius * std::cos(angle), k_radius * std::sin(angle),
          0.02 * ring;
      if (ring + 1 == k_rings) continue;
      mesh.triangles.emplace_back(index(ring, k), index(ring, k + 1), index(ring + 1, k));
      mesh.triangles.emplace_back(index(ring, k + 1), index(ring + 1, k + 1), index(ring + 1, k));
    }
  }
  const int bottom = k_around * k_rings, top = bottom + 1;
  mesh.vertices.col(bottom) << 0.0, 0.0, 0.0;
  mesh.vertices.col(top) << 0.0, 0.0, 0.02 * (k_rings - 1);
  for (int k = 0; k < k_around; ++k) {
    mesh.triangles.emplace_back(index(0, k + 1), index(0, k), bottom);
    mesh.triangles.emplace_back(index(k_rings - 1, k), index(k_rings - 1, k + 1), top);
  }
  const std::vector<OsculatingPatch> patches = patches_of(mesh);
  for (int i = 0; i < mesh.vertex_count(); ++i) {
    const OsculatingPatch& patch = patches[static_cast<std::size_t>(i)];
    const int ring = i / k_around;
    if (ring == 0 || ring >= k_rings - 1) {
      CHECK_FALSE(patch.is_round);  // rims and ends
    } else if (ring > 2 && ring < k_rings - 3) {
      REQUIRE(patch.is_round);
      CHECK(close(patch.radii, Vec2<double>(k_radius, 0.0), 1e-4, 0.0));
      CHECK(std::abs(patch.direction.z()) < 1e-6);
    }
  }
}

}  // namespace abut::test
