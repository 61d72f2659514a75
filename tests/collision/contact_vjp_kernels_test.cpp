/// The way back through solids and contacts by lanes: through a solid once and many times, against the one
/// that goes point by point; through contacts on one instruction set against another.
#include "collision/manifold/solid_vjp.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "collision/manifold/kernel/contact_columns.h"
#include "collision/manifold/kernel/solid_bound.h"
#include "collision/manifold/solid_jacobians.h"
#include "engine/body_builder.h"
#include "engine/instruction_set.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/test_bodies.h"

using namespace abut;
using test::superquadric;

namespace {

struct Solid {
  std::string name;
  Shape shape;
};

Primitive exact(PrimitiveKind kind, const std::array<double, 5>& parameters, Random& random) {
  Primitive primitive;
  primitive.kind = kind;
  primitive.parameters = parameters;
  primitive.X_BP = test::random_pose(random, 0.05);
  return primitive;
}

/// With and without lanes' own derivatives, of one primitive and of many.
std::vector<Solid> solids() {
  Random random(3);
  const auto of = [](std::vector<Primitive> primitives, double union_smoothing = 0.004) {
    Shape shape;
    shape.primitives = std::move(primitives);
    shape.union_smoothing = union_smoothing;
    return shape;
  };
  const Primitive sphere = exact(PrimitiveKind::sphere, {0.1, 0, 0, 0, 0}, random),
                  capsule = exact(PrimitiveKind::capsule, {0.05, 0.1, 0, 0, 0}, random),
                  box = exact(PrimitiveKind::rounded_box, {0.1, 0.06, 0.08, 0.02, 0}, random),
                  cone = exact(PrimitiveKind::cone, {0.1, 0.03, 0.08, 0.004, 0}, random),
                  torus = exact(PrimitiveKind::torus, {0.08, 0.03, 0, 0, 0}, random);
  Primitive polygon = exact(PrimitiveKind::padded_polygon, {0.03, 0, 0, 0, 0}, random);
  polygon.values = {-0.1, -0.06, 0.09, -0.05, 0.02, 0.08};
  return {
      {"half-space", make_half_space().shape},
      {"sphere", of({sphere})},
      {"capsule", of({capsule})},
      {"rounded box", of({box})},
      {"cone", of({cone})},
      {"torus", of({torus})},
      {"padded polygon", of({polygon})},
      {"superquadric", of({superquadric({0.1, 0.06, 0.08}, 0.4, 0.9, test::random_pose(random, 0.02))})},
      {"rounded ridges", of({superquadric({0.1, 0.06, 0.08}, 1.5, 1.2)})},
      {"union", of({sphere, capsule, box, cone, torus, superquadric({0.1, 0.06, 0.08}, 0.4, 1.3)})},
      {"twins", of({superquadric({0.1, 0.06, 0.08}, 0.8, 0.9), superquadric({0.099, 0.061, 0.08}, 0.9, 0.8)},
                   1e-4)},  // both matter inside, where the boxes of primitives say nothing
      {"armadillo", test::asset("armadillo").shape},
      {"70 balls", test::many_primitives().shape},
      {"dent", test::dented_body().shape}};
}

constexpr int k_points = 61;

/// Most near the surface, some far from it, and the last packs deep inside, beside each other.
Vec3<double> random_point(const ShapeSdf& sdf, int number, Random& random) {
  const bool is_deep = number >= 40;
  Vec3<double> x = test::random_vector(random, is_deep ? 0.003 : 0.15);
  if (is_deep) x += Vec3<double>(0.02, 0.01, 0.05);
  for (int k = 0; k < 6 && number % 5 != 0 && !is_deep; ++k) {
    const auto s = sdf.evaluate<double>(x);
    x -= 0.5 * s.distance * s.gradient / (s.gradient.squaredNorm() + 0.1);
  }
  return x;
}

}  // namespace

TEST_CASE("solid_vjp: agrees with the derivatives of one point at a time, on every instruction set",
          "[collision][derivative][batch]") {
  for (const Solid& solid : solids()) {
    const ShapeSdf sdf(solid.shape);
    const std::vector<PrimitiveBound<double>> bounds = bounds_of_primitives<double>(sdf);
    CAPTURE(solid.name);
    CHECK(sdf.has_vjp_by_lanes() == (solid.name != "dent" && solid.name != "padded polygon"));
    for (const std::string_view set : available_instruction_sets()) {
      const DerivativeKernels kernels = kernels_for<DerivativeKernels>(set);
      for (const bool with_normals : {false, true}) {
        CAPTURE(set, with_normals);
        Random random(11);
        ContactColumns columns;  // x, distance, distance_bar, normal_bar, x_bar
        columns.resize(k_points, 11);
        std::vector<Vec3<double>> x_bars;
        std::vector<PrimitiveGradient> expected(solid.shape.primitives.size()), found = expected;
        for (auto* gradient : {&expected, &found}) (*gradient)[0].pose[1] = 0.25;  // it adds
        for (std::size_t i = 0; i < k_points; ++i) {
          const Vec3<double> x = random_point(sdf, static_cast<int>(i), random);
          const double distance_bar = random.normal();
          const Vec3<double> normal_bar =
              with_normals ? test::random_vector(random, 0.1) : Vec3<double>(Vec3<double>::Zero());
          const auto at = sdf.evaluate_jacobian<double>(x);
          x_bars.push_back(distance_bar * at.gradient + at.normal_jacobian.transpose() * normal_bar);
          sdf.parameter_vjp(x, distance_bar, normal_bar, expected);
          columns.set(0, i, x);
          columns.set(3, i, at.distance);
          columns.set(4, i, distance_bar);
          columns.set(5, i, normal_bar);
        }
        columns.fill_up(k_points, 0, 4);
        columns.clear_rest(k_points, 4, 7);
        SolidVjpMemory memory;
        const auto go_back = [&](std::span<PrimitiveGradient> primitives) {
          const auto column = [&](int c) { return columns.column(c); };
          SolidBarColumns of{
              {column(0), column(1), column(2)}, static_cast<int>(columns.stride()), column(3), column(4),
              {nullptr, nullptr, nullptr},       {column(8), column(9), column(10)}};
          for (int k = 0; k < 3 && with_normals; ++k) of.normal_bar[k] = column(5 + k);
          solid_vjp({&sdf, bounds.data()}, of, k_points, memory, primitives, false, kernels);
        };
        go_back(found);
        for (std::size_t i = 0; i < k_points; ++i) {
          CAPTURE(i);
          REQUIRE(test::close(columns.vector(8, i), x_bars[i], 1e-9, 1e-10));
        }
        double largest = 0.0;
        for (std::size_t p = 0; p < expected.size(); ++p) {
          CAPTURE(p);
          REQUIRE(test::close(found[p].pose, expected[p].pose, 1e-9, 1e-9));
          for (std::size_t q = 0; q < 5; ++q) {
            CAPTURE(q);
            REQUIRE(test::close(found[p].parameters[q], expected[p].parameters[q], 1e-9, 1e-9));
            largest = std::max(largest, std::abs(expected[p].parameters[q]));
          }
        }
        CHECK((largest > 0.1) == (solid.name != "half-space"));

        // Without primitives the points' derivatives are the same.
        go_back({});
        CHECK(test::close(columns.vector(8, k_points - 1), x_bars.back(), 1e-9, 1e-10));
      }
    }
  }
}

TEST_CASE("SolidJacobians: say of each point by itself what one at a time says, on every instruction set",
          "[collision][derivative][batch]") {
  SolidJacobians jacobians;  // one for all: it keeps its memory
  for (const Solid& solid : solids()) {
    const ShapeSdf sdf(solid.shape);
    if (!sdf.has_vjp_by_lanes()) continue;
    const std::vector<PrimitiveBound<double>> bounds = bounds_of_primitives<double>(sdf);
    for (const std::string_view set : available_instruction_sets()) {
      CAPTURE(solid.name, set);
      const DerivativeKernels kernels = kernels_for<DerivativeKernels>(set);
      Random random(12);
      std::vector<Vec3<double>> points;
      std::vector<double> distances;
      for (int i = 0; i < k_points; ++i) {
        points.push_back(random_point(sdf, i, random));
        distances.push_back(sdf.distance<double>(points.back()));
      }
      jacobians.clear();
      // Two lists, one after the other.
      const std::span<const Vec3<double>> x(points);
      const std::span<const double> phi(distances);
      const BoundedSolid bounded{&sdf, bounds.data()};
      REQUIRE(jacobians.add(bounded, x.first(7), phi.first(7), kernels) == 0);
      REQUIRE(jacobians.add(bounded, x.subspan(7), phi.subspan(7), kernels) == 7);
      for (std::size_t i = 0; i < points.size(); ++i) {
        const double distance_bar = random.normal();
        const Vec3<double> normal_bar = test::random_vector(random, 0.1);
        const auto at = sdf.evaluate_jacobian<double>(points[i]);
        std::vector<PrimitiveGradient> expected(solid.shape.primitives.size()), found = expected;
        for (auto* gradient : {&expected, &found}) gradient->front().parameters[0] = 0.5;  // it adds
        sdf.parameter_vjp(points[i], distance_bar, normal_bar, expected);
        const Vec3<double> x_bar = jacobians.vjp(i, distance_bar, normal_bar, found);
        CAPTURE(i);
        const Vec3<double> expected_x_bar =
            distance_bar * at.gradient + at.normal_jacobian.transpose() * normal_bar;
        REQUIRE(test::close(x_bar, expected_x_bar, 1e-9, 1e-10));
        REQUIRE(jacobians.vjp(i, distance_bar, normal_bar, {}) == x_bar);
        for (std::size_t p = 0; p < expected.size(); ++p) {
          CAPTURE(p);
          REQUIRE(test::close(found[p].pose, expected[p].pose, 1e-9, 1e-10));
          for (std::size_t q = 0; q < 5; ++q)
            REQUIRE(test::close(found[p].parameters[q], expected[p].parameters[q], 1e-9, 1e-10));
        }
      }
    }
  }
}

TEST_CASE("Contact kernels: instruction sets agree on the way back of vertices and edges",
          "[collision][derivative][batch]") {
  constexpr std::size_t k_contacts = 19;
  Random random(5);
  const auto fill = [&](ContactColumns& columns, int count) {
    columns.resize(k_contacts, count);
    for (int c = 0; c < count; ++c) {
      for (std::size_t i = 0; i < columns.stride(); ++i) columns.column(c)[i] = random.uniform(-0.1, 0.1);
    }
  };
  const auto require_like = [](const ContactColumns& a, const ContactColumns& b, int count) {
    for (int c = 0; c < count; ++c) {
      for (std::size_t i = 0; i < k_contacts; ++i) {
        CAPTURE(c, i);
        REQUIRE(test::close(a.column(c)[i], b.column(c)[i], 1e-9, 1e-12));
      }
    }
  };
  ContactColumns vertices, edges;
  fill(vertices, vertex_columns::k_count);
  fill(edges, edge_columns::k_count);
  for (std::size_t i = 0; i < edges.stride(); ++i) {
    vertices.set(vertex_columns::k_area, i, i % 3 == 0 ? 0.0 : random.uniform(0.01, 0.1));
    for (int side = 0; side < 2; ++side) {
      for (int face = 0; face < 2; ++face)
        edges.set(edge_columns::k_geometry + 12 * side + 6 + 3 * face, i, random.unit_vector());
    }
  }
  const Pose<double> X[2] = {test::random_pose(random, 0.1), test::random_pose(random, 0.1)};
  const VertexVjp of_vertices{PlainPose(X[0]), PlainPose(X[1]), 0.01, -1.0};
  const ConvexEdgeSettings<double> settings(ContactConfig(), 0.1, 0.05);
  const EdgeVjp of_edges{{PlainPose(X[0]), PlainPose(X[1])}, {0.01, 0.02}, &settings};
  const int count = static_cast<int>(edges.stride());

  ContactColumns first_vertices, first_edges;
  VertexVjpSums first_vertex_sums{};
  EdgeVjpSums first_edge_sums{};
  for (const std::string_view set : available_instruction_sets()) {
    CAPTURE(set);
    const DerivativeKernels kernels = kernels_for<DerivativeKernels>(set);
    ContactColumns its_vertices = vertices, its_edges = edges;
    VertexVjpSums vertex_sums{};
    EdgeVjpSums edge_sums{};
    kernels.vertices_to_solid(of_vertices, its_vertices.column(0), count);
    kernels.vertices_from_solid(of_vertices, its_vertices.column(0), count, vertex_sums);
    kernels.edge_pairs(of_edges, its_edges.column(0), count);
    kernels.edge_gates(of_edges, its_edges.column(0), count, true);
    kernels.edges_from_solids(of_edges, its_edges.column(0), count, edge_sums);
    if (set == available_instruction_sets().front()) {
      first_vertices = its_vertices;
      first_edges = its_edges;
      first_vertex_sums = vertex_sums;
      first_edge_sums = edge_sums;
      CHECK(std::abs(vertex_sums.pose_O[4]) > 1e-6);
      CHECK(std::abs(edge_sums.poses[0][4]) > 1e-6);
    }
    require_like(its_vertices, first_vertices, vertex_columns::k_count);
    require_like(its_edges, first_edges, edge_columns::k_count);
    for (int k = 0; k < 6; ++k) {
      CHECK(test::close(vertex_sums.pose_O[k], first_vertex_sums.pose_O[k], 1e-9, 1e-12));
      CHECK(test::close(vertex_sums.pose_S[k], first_vertex_sums.pose_S[k], 1e-9, 1e-12));
      for (int side = 0; side < 2; ++side)
        CHECK(test::close(edge_sums.poses[side][k], first_edge_sums.poses[side][k], 1e-9, 1e-12));
    }
  }
}
