#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "apps/picture/glyph_list.h"
#include "apps/render/glyph_meshes.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

constexpr GlyphShape k_all_shapes[] = {GlyphShape::sphere, GlyphShape::cylinder, GlyphShape::cone,
                                       GlyphShape::disc};

std::size_t count(const GlyphList& list) {
  std::size_t sum = 0;
  for (const auto& glyphs : list.of_shape) sum += glyphs.size();
  return sum;
}

Vec3<double> place(const Glyph& glyph, const Vec3<double>& x) {
  return (glyph.axes * x.cast<float>() + glyph.origin).cast<double>();
}

TEST_CASE("GlyphList: an arrow begins at its start and its tip is at its end", "[viewer][property]") {
  Random random(3);
  for (int i = 0; i < 50; ++i) {
    const Vec3<double> from = random_vector(random),
                       to = from + random.uniform(0.2, 1.0) * random.unit_vector();
    const double radius = 0.01;
    GlyphList list;
    list.add_arrow(from, to, radius, k_force_colour);
    REQUIRE(list.glyphs(GlyphShape::cylinder).size() == 1);
    REQUIRE(list.glyphs(GlyphShape::cone).size() == 1);
    const Glyph &rod = list.glyphs(GlyphShape::cylinder)[0], &head = list.glyphs(GlyphShape::cone)[0];
    CAPTURE(i);
    CHECK(close(place(rod, Vec3<double>::Zero()), from, 0, 1e-6));
    CHECK(close(place(head, Vec3<double>::UnitZ()), to, 0, 1e-6));
    CHECK(close(place(rod, Vec3<double>::UnitZ()), place(head, Vec3<double>::Zero()), 0, 1e-6));
    CHECK(close(double(rod.axes.col(0).norm()), radius, 1e-5, 0));
    CHECK(close(double(head.axes.col(1).norm()), 2.5 * radius, 1e-5, 0));
    for (const Glyph& glyph : {rod, head}) {
      CHECK(glyph.colour == k_force_colour);
      CHECK(glyph.axes.determinant() > 0.0f);  // triangles keep their outside
      CHECK(std::abs(glyph.axes.col(0).dot(glyph.axes.col(2))) < 1e-6f);
      CHECK(std::abs(glyph.axes.col(1).dot(glyph.axes.col(2))) < 1e-6f);
    }
  }
}

TEST_CASE("GlyphList: of a short arrow the head alone is left, smaller, and of none nothing",
          "[viewer][value]") {
  GlyphList list;
  const Vec3<double> from(1, 2, 3);
  list.add_arrow(from, from + Vec3<double>(0, 0, 0.03), 0.01, k_force_colour);
  CHECK(count(list) == 1);
  const Glyph& head = list.glyphs(GlyphShape::cone).at(0);
  CHECK(close(place(head, Vec3<double>::Zero()), from, 0, 1e-6));
  CHECK(close(place(head, Vec3<double>::UnitZ()), from + Vec3<double>(0, 0, 0.03), 0, 1e-6));
  CHECK(head.axes.col(0).norm() < 0.025f);

  list.clear();
  list.add_arrow(from, from, 0.01, k_force_colour);
  list.add_rod(from, from, 0.01, k_force_colour);
  list.add_disc(from, Vec3<double>::Zero(), 0.01, k_force_colour);
  CHECK(count(list) == 0);
}

TEST_CASE("GlyphList: what is not finite is not drawn", "[viewer][value]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Vec3<double> bad(nan, 0, 0), good(1, 0, 0), far(std::numeric_limits<double>::infinity(), 0, 0);
  GlyphList list;
  list.add_sphere(bad, 1.0, k_slip_colour);
  list.add_sphere(good, nan, k_slip_colour);
  for (const Vec3<double>& end : {bad, far}) {
    list.add_rod(good, end, 0.1, k_slip_colour);
    list.add_arrow(end, good, 0.1, k_slip_colour);
    list.add_disc(good, end, 0.1, k_slip_colour);
  }
  CHECK(count(list) == 0);
}

TEST_CASE("GlyphList: a disc is across its normal, whatever its length, and a sphere about its centre",
          "[viewer][property]") {
  Random random(4);
  for (int i = 0; i < 20; ++i) {
    const Vec3<double> centre = random_vector(random), normal = random_vector(random, 5.0);
    GlyphList list;
    list.add_disc(centre, normal, 0.2, k_stick_colour);
    list.add_sphere(centre, 0.3, k_stick_colour);
    const Glyph &disc = list.glyphs(GlyphShape::disc).at(0), &sphere = list.glyphs(GlyphShape::sphere).at(0);
    for (const Vec3<double>& x : {Vec3<double>(1, 0, 0), Vec3<double>(0, 1, 0)}) {
      const Vec3<double> r = place(disc, x) - centre;
      CHECK(std::abs(r.dot(normal.normalized())) < 1e-6);
      CHECK(close(r.norm(), 0.2, 1e-5, 0));
    }
    CHECK(close((place(sphere, random.unit_vector()) - centre).norm(), 0.3, 1e-5, 0));
  }
}

TEST_CASE(
    "glyph_mesh: triangles look outwards, normals are theirs and of unit length, and all is within bounds",
    "[viewer][property]") {
  for (const GlyphShape shape : k_all_shapes) {
    const Surface mesh = glyph_mesh(shape);
    CAPTURE(static_cast<int>(shape));
    REQUIRE(mesh.normals.size() == mesh.positions.size());
    CHECK(mesh.triangles.size() <= 3 * 80);
    for (std::size_t i = 0; i < mesh.positions.size(); ++i) {
      CHECK(std::abs(mesh.normals[i].norm() - 1.0f) < 1e-6f);
      CHECK(mesh.positions[i].head<2>().norm() < 1.0f + 1e-6f);
      CHECK(std::abs(mesh.positions[i].z()) < 1.0f + 1e-6f);
    }
    for (std::size_t t = 0; t < mesh.triangles.size(); t += 3) {
      const auto a = mesh.triangles[t], b = mesh.triangles[t + 1], c = mesh.triangles[t + 2];
      const Eigen::Vector3f normal =
          (mesh.positions[b] - mesh.positions[a]).cross(mesh.positions[c] - mesh.positions[a]);
      REQUIRE(normal.norm() > 1e-4f);
      for (const auto i : {a, b, c}) CHECK(normal.normalized().dot(mesh.normals[i]) > 0.8f);
    }
  }
}

TEST_CASE("colours: scales are clamped, bodies come round again, and nothing is NaN", "[viewer][value]") {
  CHECK(sequential_colour(-1.0) == sequential_colour(0.0));
  CHECK(sequential_colour(2.0) == sequential_colour(1.0));
  CHECK(diverging_colour(-7.0) == diverging_colour(-1.0));
  CHECK(diverging_colour(7.0) == diverging_colour(1.0));
  CHECK(diverging_colour(-1.0).z() > diverging_colour(-1.0).x());  // blue
  CHECK(diverging_colour(1.0).x() > diverging_colour(1.0).z());    // orange
  CHECK(diverging_colour(0.0).head<3>().minCoeff() > 0.9f);        // nearly white
  CHECK(body_colour(0) != body_colour(1));
  CHECK(body_colour(7) == body_colour(0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(sequential_colour(nan).allFinite());
  CHECK(diverging_colour(nan).allFinite());

  const auto luminance = [](const Colour& c) { return 0.2126f * c.x() + 0.7152f * c.y() + 0.0722f * c.z(); };
  for (int i = 0; i < 50; ++i) {
    CHECK(luminance(sequential_colour((i + 1) / 50.0)) > luminance(sequential_colour(i / 50.0)));
  }
}

}  // namespace
}  // namespace abut::test
