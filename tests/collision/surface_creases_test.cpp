// Sharp creases of surfaces, and of the meshes that are made of bodies of primitives.
#include "collision/fitting/surface_creases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "collision/fitting/marching_cubes.h"
#include "collision/fitting/shape_surface.h"
#include "collision/manifold/mesh_edges.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/mass_properties.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "tests/support/meshes.h"
#include "tests/support/samples.h"
#include "tests/support/shapes.h"

using namespace abut;

namespace {

Primitive box(const Vec3<double>& half_extents, const Vec3<double>& p) {
  Primitive primitive;
  primitive.kind = PrimitiveKind::rounded_box;
  for (std::size_t k = 0; k < 3; ++k) primitive.parameters[k] = half_extents[static_cast<Eigen::Index>(k)];
  primitive.X_BP.p = p;
  return primitive;
}

Primitive subtracted(Primitive primitive) {
  primitive.operation = PrimitiveOperation::subtract;
  return primitive;
}

/// Signed distance of the solid without the smoothing of the union.
double sharp_distance(const ShapeSdf& sdf, const Vec3<double>& x) {
  const std::vector<PreparedPrimitive<double>>& primitives = sdf.primitives<double>();
  double added = 1e30, subtracted = 1e30;
  for (std::size_t i = 0; i < primitives.size(); ++i) {
    double& least = static_cast<int>(i) < sdf.added() ? added : subtracted;
    least = std::min(
        least, primitive_sample<SdfOrder::distance, double>(primitives[i], sdf.distance_mode(), x).distance);
  }
  return std::max(added, -subtracted);
}

/// Largest distance of points of sharp edges from the surface, inwards or outwards [m].
double distance_of_edges(const ShapeSdf& sdf, const TriangleMesh& mesh) {
  constexpr double k_sharp = 0.3;
  double largest = 0.0;
  for (const MeshEdge& edge : mesh_edges(mesh)) {
    if (edge.face_normals[0].dot(edge.face_normals[1]) > std::cos(k_sharp)) continue;
    for (const double part : {0.1, 0.3, 0.5, 0.7, 0.9}) {
      const Vec3<double> x =
          (1.0 - part) * mesh.vertices.col(edge.start) + part * mesh.vertices.col(edge.end);
      largest = std::max(largest, std::abs(sharp_distance(sdf, x)));
    }
  }
  return largest;
}

/// Of boxes along the axes whose faces lie on multiples of `step` [m^3].
double volume_by_cells(const ShapeSdf& sdf, double step) {
  const Eigen::AlignedBox3d& box = sdf.bounds();
  const auto first = [&](int axis) { return std::floor(box.min()[axis] / step - 0.5); };
  const auto last = [&](int axis) { return std::ceil(box.max()[axis] / step + 0.5); };
  int cells = 0;
  for (double i = first(0); i <= last(0); ++i) {
    for (double j = first(1); j <= last(1); ++j) {
      for (double k = first(2); k <= last(2); ++k)
        cells += sharp_distance(sdf, step * Vec3<double>(i + 0.5, j + 0.5, k + 0.5)) < 0.0 ? 1 : 0;
    }
  }
  return cells * step * step * step;
}

}  // namespace

TEST_CASE("crease_point: is on the edge and the corner of a box, and none on a sphere",
          "[collision][value]") {
  const ShapeSdf sdf(test::shape_of({box({0.3, 0.2, 0.1}, {0, 0, 0})}));
  const SurfaceField field = [&](const Vec3<double>& x) { return sdf.evaluate<double>(x); };
  const std::array<Vec3<double>, 3> sides{Vec3<double>(0.3, 0.17, 0.07), Vec3<double>(0.28, 0.2, 0.08),
                                          Vec3<double>(0.27, 0.16, 0.1)};
  const auto on_edge =
      crease_point(field, 0.5 * (sides[0] + sides[1]), std::span(sides).first(2), 0.01, 1e-3, 1e-13);
  REQUIRE(on_edge);
  CHECK((*on_edge - Vec3<double>(0.3, 0.2, 0.075)).norm() < 1e-9);
  const Vec3<double> middle = (sides[0] + sides[1] + sides[2]) / 3.0;
  const auto corner = crease_point(field, middle, sides, 0.03, 1e-3, 1e-13);
  REQUIRE(corner);
  CHECK((*corner - Vec3<double>(0.3, 0.2, 0.1)).norm() < 1e-9);

  const SurfaceField ball = [](const Vec3<double>& x) {
    return SdfSample<double>{x.norm() - 1.0, x.normalized(), x.normalized()};
  };
  for (const double angle : {0.05, 0.3, 1.0, 2.0}) {
    const std::array<Vec3<double>, 2> ends{Vec3<double>(1, 0, 0),
                                           Vec3<double>(std::cos(angle), std::sin(angle), 0)};
    for (const double rounding : {0.1, 1.0, 3.0})  // 3: longer than the ends are apart
      CHECK_FALSE(crease_point(ball, 0.5 * (ends[0] + ends[1]), ends, 0.5 * (ends[0] - ends[1]).norm(),
                               rounding * angle, 1e-12));
  }
}

TEST_CASE("with_creases: a smooth solid has none, and its fine mesh stays as it is, bit for bit",
          "[collision][value]") {
  const auto primitive = [](PrimitiveKind kind, const std::array<double, 5>& parameters) {
    Primitive result;
    result.kind = kind;
    result.parameters = parameters;
    return result;
  };
  const std::vector<std::pair<std::string, Primitive>> smooth{
      {"cylinder", primitive(PrimitiveKind::superquadric, {0.05, 0.05, 0.02, 0.05, 1.0})},
      {"disc", primitive(PrimitiveKind::superquadric, {0.1, 0.1, 0.01, 0.05, 1.0})},
      {"ellipsoid", primitive(PrimitiveKind::superquadric, {0.7, 0.7, 0.1, 1.0, 1.0})},
      {"torus", primitive(PrimitiveKind::torus, {0.7, 0.3})},
      {"drum", primitive(PrimitiveKind::cone, {0.8, 0.8, 0.6, 0.003})},
      {"cone", primitive(PrimitiveKind::cone, {0.8, 0.0, 0.6, 0.003})}};
  for (const auto& [name, single] : smooth) {
    const ShapeSdf sdf(test::shape_of({single}));
    const SurfaceField field = [&](const Vec3<double>& x) { return sdf.evaluate<double>(x); };
    const double tolerance = projection_tolerance(sdf.bounds().sizes().maxCoeff());
    TriangleMesh fine = marching_cubes(field_of(sdf), grid_around(sdf.bounds(), 64));
    for (int v = 0; v < fine.vertex_count(); ++v) {
      Vec3<double> x = fine.vertices.col(v);
      if (project_to_surface(field, x, tolerance)) fine.vertices.col(v) = x;
    }
    const CreasedMesh creased = with_creases(field, fine, tolerance);
    CAPTURE(name);
    CHECK(creased.creases.empty());
    REQUIRE(creased.mesh.vertex_count() == fine.vertex_count());
    CHECK(creased.mesh.vertices == fine.vertices);
    CHECK(creased.mesh.triangles == fine.triangles);
  }
}

TEST_CASE("EditableMesh: creases go on through splits and collapses, and corners stay",
          "[collision][value]") {
  EditableMesh mesh(box_mesh({1, 1, 1}, 2));
  const auto at = [&](const Vec3<double>& p) {
    for (int v = 0; v < mesh.vertex_slots(); ++v) {
      if (mesh.has_vertex(v) && (mesh.position(v) - p).norm() < 1e-12) return v;
    }
    return -1;
  };
  const int a = at({-1, 1, 1}), b = at({0, 1, 1}), c = at({1, 1, 1}), d = at({1, 0, 1}), e = at({1, 1, 0});
  for (const auto& [u, v] : {std::pair(a, b), std::pair(b, c), std::pair(c, d), std::pair(c, e)})
    mesh.mark_crease(u, v);
  CHECK(mesh.is_corner(c));
  CHECK_FALSE(mesh.is_corner(b));
  CHECK_FALSE(mesh.is_corner(a));  // an end
  CHECK(mesh.survivor(b, c) == EditableMesh::Survivor::second);
  CHECK(mesh.survivor(c, b) == EditableMesh::Survivor::first);
  CHECK_FALSE(mesh.can_flip(b, c));
  const int v = mesh.split(b, c, {0.5, 1, 1});
  CHECK(mesh.is_crease(b, v));
  CHECK(mesh.is_crease(v, c));
  CHECK_FALSE(mesh.is_crease(b, c));
  CHECK(mesh.survivor(b, v) == EditableMesh::Survivor::along_crease);
  const int beside = at({0, 0, 1});
  CHECK(mesh.survivor(b, beside) == EditableMesh::Survivor::first);
  CHECK(mesh.survivor(beside, b) == EditableMesh::Survivor::second);
  REQUIRE(mesh.can_collapse(b, v));
  mesh.collapse(b, v);
  CHECK(mesh.is_crease(b, c));
  CHECK(mesh.creased_mesh().creases.size() == 4);
  CHECK(mesh.survivor(d, e) == EditableMesh::Survivor::none);  // two creases would become one
}

TEST_CASE("shape_surface: a frame, a U, an L and a box with a notch have the edges that they have",
          "[collision][value]") {
  struct Case {
    std::string name;
    Shape shape;
    std::size_t convex_edges;
    double volume;
    int euler;
  };
  const std::vector<Case> cases{
      {"box minus box",
       test::shape_of({box({0.5, 0.3, 0.1}, {0, 0, 0}), subtracted(box({0.3, 0.2, 0.2}, {0, 0, 0}))}), 20,
       0.2 * (0.6 - 0.24), 0},
      {"frame of four boxes",
       test::shape_of({box({0.5, 0.05, 0.1}, {0, 0.25, 0}), box({0.5, 0.05, 0.1}, {0, -0.25, 0}),
                       box({0.1, 0.3, 0.1}, {-0.4, 0, 0}), box({0.1, 0.3, 0.1}, {0.4, 0, 0})}),
       20, 0.2 * (0.6 - 0.24), 0},
      {"U of three boxes",
       test::shape_of({box({0.5, 0.2, 0.05}, {0, 0, -0.05}), box({0.5, 0.05, 0.1}, {0, -0.15, 0.1}),
                       box({0.5, 0.05, 0.1}, {0, 0.15, 0.1})}),
       22, 0.04 + 2 * 0.02, 2},
      {"L of two boxes",
       test::shape_of({box({0.3, 0.1, 0.05}, {0, 0, 0}), box({0.05, 0.1, 0.2}, {-0.25, 0, 0.15})}), 17,
       0.012 + 0.1 * 0.2 * 0.3, 2},
      {"tray",
       test::shape_of({box({0.3, 0.2, 0.1}, {0, 0, 0}), subtracted(box({0.25, 0.15, 0.1}, {0, 0, 0.05}))}),
       16, 0.048 - 0.5 * 0.3 * 0.15, 2}};
  for (const Case& of : cases) {
    Shape shape = of.shape;
    const ShapeSurface surface = make_shape_surface(shape);
    shape.union_smoothing = surface.union_smoothing;
    const ShapeSdf sdf(shape);
    const double size = sdf.bounds().sizes().maxCoeff();
    CAPTURE(of.name, surface.mesh.vertex_count(), distance_of_edges(sdf, surface.mesh) / size);
    CHECK_NOTHROW(require_closed_surface(surface.mesh, "mesh"));
    CHECK(abut::test::euler_characteristic(surface.mesh) == of.euler);
    CHECK(mesh_edges(surface.mesh).size() == of.convex_edges);
    CHECK(distance_of_edges(sdf, surface.mesh) < 1e-7 * size);
    CHECK(surface.of_unit_density.volume == Approx(of.volume).epsilon(1e-5));
    CHECK(mass_properties(surface.mesh, 1.0).volume == Approx(of.volume).epsilon(1e-5));
  }
}

TEST_CASE("shape_surface: random unions and differences of boxes along the axes, flush ones too, are exact",
          "[collision][property][nightly]") {
  const std::uint64_t seed = GENERATE(from_range(test::seeds(100)));
  constexpr double k_step = 0.05;
  Random random(3000 + seed);
  const auto multiple = [&](double lower, double upper) {
    return k_step * std::round(random.uniform(lower, upper) / k_step);
  };
  Shape shape;
  const int count = 2 + static_cast<int>(random.integer(4));
  for (int i = 0; i < count; ++i) {
    const Vec3<double> half(multiple(0.1, 0.5), multiple(0.1, 0.5), multiple(0.1, 0.5)),
        p(multiple(-0.4, 0.4), multiple(-0.4, 0.4), multiple(-0.4, 0.4));
    const bool is_subtracted = i > 0 && random.uniform(0.0, 1.0) < 0.4;
    shape.primitives.push_back(is_subtracted ? subtracted(box(half, p)) : box(half, p));
  }
  CAPTURE(seed, count);
  ShapeSurface surface;
  try {
    surface = make_shape_surface(shape);
  } catch (const std::invalid_argument&) {
    return;  // more than one part, a cavity, or nothing left
  }
  shape.union_smoothing = surface.union_smoothing;
  const ShapeSdf sdf(shape);
  const double size = sdf.bounds().sizes().maxCoeff();
  CHECK_NOTHROW(require_closed_surface(surface.mesh, "mesh"));
  CHECK(distance_of_edges(sdf, surface.mesh) < 1e-5 * size);
  CHECK(mass_properties(surface.mesh, 1.0).volume == Approx(volume_by_cells(sdf, k_step)).epsilon(1e-5));
  CHECK(surface.of_unit_density.volume == Approx(volume_by_cells(sdf, k_step)).epsilon(1e-4));
}

TEST_CASE("shape_surface: edges of random unions and differences of primitives in any pose lie on them",
          "[collision][property][nightly]") {
  const std::uint64_t seed = GENERATE(from_range(test::seeds(100)));
  Random random(4000 + seed);
  Shape shape;
  const int count = 2 + static_cast<int>(random.integer(2));
  for (int i = 0; i < count; ++i) {
    Primitive primitive =
        box(0.3 * Vec3<double>::Ones() + 0.15 * random.unit_vector(), 0.2 * random.unit_vector());
    const auto kind = random.integer(3);
    if (kind == 1) {
      primitive.kind = PrimitiveKind::sphere;
      primitive.parameters = {random.uniform(0.2, 0.4)};
    } else if (kind == 2) {
      primitive.kind = PrimitiveKind::capsule;
      primitive.parameters = {random.uniform(0.1, 0.2), random.uniform(0.2, 0.4)};
    }
    primitive.X_BP.q = random.quaternion();
    if (i > 0 && random.uniform(0.0, 1.0) < 0.4) primitive.operation = PrimitiveOperation::subtract;
    shape.primitives.push_back(primitive);
  }
  CAPTURE(seed, count);
  ShapeSurface surface;
  try {
    surface = make_shape_surface(shape);
  } catch (const std::invalid_argument&) {
    return;
  }
  shape.union_smoothing = surface.union_smoothing;
  const ShapeSdf sdf(shape);
  const double size = sdf.bounds().sizes().maxCoeff();
  CAPTURE(distance_of_edges(sdf, surface.mesh) / size);
  CHECK_NOTHROW(require_closed_surface(surface.mesh, "mesh"));
  // Of chords of round creases this is the sagitta, with 300 vertices in all; the grid has a spacing of size/64.
  CHECK(distance_of_edges(sdf, surface.mesh) < 0.013 * size);
  CHECK(mass_properties(surface.mesh, 1.0).volume == Approx(surface.of_unit_density.volume).epsilon(0.03));
}

TEST_CASE(
    "contact_edges: the edge of a triangle across an inner corner is left out, chords of round rims are not",
    "[collision][value]") {
  // An L-shaped plate whose mesh fills its inner corner by a triangle.
  Shape shape = test::shape_of({box({0.3, 0.1, 0.05}, {0, 0, 0}), box({0.1, 0.3, 0.05}, {-0.2, 0.2, 0})});
  const std::array<std::array<double, 2>, 8> outline{{{-0.3, -0.1},
                                                      {0.3, -0.1},
                                                      {0.3, 0.1},
                                                      {0.1, 0.1},
                                                      {-0.1, 0.106},
                                                      {-0.1, 0.5},
                                                      {-0.3, 0.5},
                                                      {-0.3, 0.1}}};
  TriangleMesh mesh;
  mesh.vertices.resize(3, 16);
  for (int i = 0; i < 16; ++i) {
    const auto& [x, y] = outline[static_cast<std::size_t>(i % 8)];
    mesh.vertices.col(i) = Vec3<double>(x, y, i < 8 ? -0.05 : 0.05);
  }
  for (int i = 0; i < 8; ++i) {
    const int j = (i + 1) % 8;
    mesh.triangles.emplace_back(i, j, 8 + j);
    mesh.triangles.emplace_back(i, 8 + j, 8 + i);
  }
  for (const std::array<int, 3>& t :
       std::vector<std::array<int, 3>>{{0, 1, 3}, {1, 2, 3}, {0, 3, 4}, {0, 4, 7}, {7, 4, 5}, {7, 5, 6}}) {
    mesh.triangles.emplace_back(t[0], t[2], t[1]);
    mesh.triangles.emplace_back(8 + t[0], 8 + t[1], 8 + t[2]);
  }
  const Body body = make_body("L", shape, mesh, Density{1000.0});
  const auto has_bridge = [&](const std::vector<MeshEdge>& edges) {
    return std::any_of(edges.begin(), edges.end(),
                       [](const MeshEdge& edge) { return edge.start % 8 == 3 && edge.end % 8 == 4; });
  };
  CHECK(has_bridge(mesh_edges(contact_mesh(body))));
  CHECK_FALSE(has_bridge(contact_edges(body)));
  CHECK(contact_edges(body).size() + 2 == mesh_edges(contact_mesh(body)).size());

  // A torus keeps all of its edges, those around its hole too: across them it bends outwards.
  Primitive torus;
  torus.kind = PrimitiveKind::torus;
  torus.parameters = {0.3, 0.05};
  Shape ring = test::shape_of({torus});
  const ShapeSurface surface = make_shape_surface(ring);
  const Body made = make_body("ring", ring, surface.mesh, Density{1000.0});
  CHECK(contact_edges(made).size() == mesh_edges(contact_mesh(made)).size());
}

TEST_CASE("contact_edges: of a round hole only the chords of its two rims are left, next to the rims",
          "[collision][value]") {
  constexpr double k_radius = 0.05, k_half = 0.06;
  const double inset = GENERATE(1e-4, 1e-3);  // smoothing of the cutter
  CAPTURE(inset);
  Primitive cutter;
  cutter.kind = PrimitiveKind::cone;
  cutter.parameters = {k_radius, k_radius, 0.1, inset};
  Shape shape = test::shape_of({box({0.2, 0.15, k_half}, {0, 0, 0}), subtracted(cutter)});
  const ShapeSurface surface = make_shape_surface(shape);
  shape.union_smoothing = surface.union_smoothing;
  const Body plate = make_body("plate", shape, surface.mesh, Density{1000.0});
  constexpr double k_size = 0.4, k_sagitta = 3e-4 * k_size;
  const auto count_in_hole = [&](const std::vector<MeshEdge>& edges) {
    return std::count_if(edges.begin(), edges.end(), [&](const MeshEdge& edge) {
      return plate.contact_points.col(edge.start).head<2>().norm() < 1.1 * k_radius;
    });
  };
  double angles[2] = {0.0, 0.0};
  for (const MeshEdge& edge : contact_edges(plate)) {
    const Vec3<double> a = plate.contact_points.col(edge.start), b = plate.contact_points.col(edge.end);
    if (a.head<2>().norm() > 1.1 * k_radius) continue;
    CAPTURE(a.transpose(), b.transpose());
    CHECK(std::abs(std::abs(a.z()) - k_half) < 1e-5);
    CHECK(std::abs(a.z() - b.z()) < 1e-5);
    CHECK((0.5 * (a + b)).head<2>().norm() > k_radius - 1.1 * k_sagitta - 1e-2 * inset);
    angles[a.z() > 0.0 ? 1 : 0] += std::acos(a.head<2>().normalized().dot(b.head<2>().normalized()));
  }
  for (const double angle : angles) CHECK(angle == Approx(2.0 * std::numbers::pi).epsilon(1e-9));
  CHECK(count_in_hole(mesh_edges(contact_mesh(plate))) > count_in_hole(contact_edges(plate)));
}
