#include "dynamics/rollout/shape_change.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "engine/mesh_shapes.h"
#include "engine/primitive_builder.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/convex_polygon.h"
#include "tests/support/gradient_check.h"
#include "tests/support/revolved_mesh.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;

/// A body of one primitive with contact points all over its surface.
Body body_of(const Primitive& primitive) {
  BodyDescription description;
  description.shape.primitives = {primitive};
  description.shape.union_smoothing = 2e-4;
  const ShapeSdf sdf(description.shape);
  Points points(3, 20);
  Random random(3);
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    Vec3<double> x = 0.1 * random.unit_vector();
    for (int iteration = 0; iteration < 30; ++iteration) {
      const auto s = sdf.evaluate(x);
      x -= s.distance / s.gradient.squaredNorm() * s.gradient;
    }
    points.col(i) = x;
  }
  description.contact_points = points;
  description.contact_radius = 0.0;
  description.mass_or_density = Mass{1.0};
  description.center_of_mass = Vec3<double>::Zero();
  description.inertia = 1e-3 * Mat3<double>::Identity();
  return make_body(description);
}

constexpr int k_kinds = 12;

Body body_of_kind(int kind) {
  switch (kind) {
    case 5: {
      Points corners(3, 12);
      Random random(4);
      for (Eigen::Index i = 0; i < 12; ++i) corners.col(i) = 0.1 * random.unit_vector();
      return body_of(make_convex_hull_polyhedron(corners, 2e-3));
    }
    case 6: {
      const TriangleMesh mesh = sphere_mesh(0.1, 1);
      return body_of(make_oriented_point_cloud(mesh));
    }
    case 7:
      return body_of(
          make_extruded_superquadric({0.1, 0.08, 0.06}, 0.3, 0.7, {0.3, 1.9, 4.0}, {0.06, 0.07, 0.05}));
    case 8:
      return body_of({PrimitiveKind::cone, PrimitiveOperation::add, {0.08, 0.03, 0.07, 0.002}, {}});
    case 9:
      return body_of({PrimitiveKind::torus, PrimitiveOperation::add, {0.08, 0.03}, {}});
    case 10:
      return body_of(
          make_padded_polygon(std::vector<Vec2<double>>{{-0.1, -0.06}, {0.09, -0.05}, {0.02, 0.08}}, 0.03));
    case 11:  // with the mesh that is made for it
      return test::polygon_body(std::vector<Vec2<double>>{{-0.1, -0.06}, {0.09, -0.05}, {0.02, 0.08}}, 0.03);
    case 0:
      return test::sphere_of_mass(0.1, 1.0);
    case 1:
      return make_capsule(0.05, 0.1, 1000.0);
    case 2:
      return test::box_of_mass({0.1, 0.08, 0.06}, 1.0);
    case 3:
      return test::superquadric_of_mass({0.1, 0.08, 0.06}, 0.4, 1.3, 1.0);
    default:
      return test::cross_of_mass({0.1, 0.08, 0.06}, 0.5, 0.8, 1.0);
  }
}

/// The primitives moved by t along a random direction of their parameters and poses.
struct ShapeDirection {
  std::vector<PrimitiveGradient> d;

  ShapeDirection(Random& random, const Body& body) {
    for (const Primitive& primitive : body.shape.primitives) {
      PrimitiveGradient e;
      for (std::size_t k = 0; k < static_cast<std::size_t>(parameter_count(primitive.kind)); ++k) {
        e.parameters[k] = random.uniform(-0.3, 0.3) * primitive.parameters[k];
      }
      for (const double value : primitive.values) {
        const bool is_cloud = primitive.kind == PrimitiveKind::oriented_point_cloud;
        e.values.push_back(random.uniform(-0.1, 0.1) * (is_cloud ? primitive.parameters[0] : value));
      }
      e.pose = test::random_vector<6>(random, 0.05);
      d.push_back(e);
    }
  }
  [[nodiscard]] std::vector<Primitive> moved(const Body& body, double t) const {
    std::vector<Primitive> primitives = body.shape.primitives;
    for (std::size_t l = 0; l < primitives.size(); ++l) {
      for (std::size_t k = 0; k < parameter_count(primitives[l]); ++k) {
        const PrimitiveKind kind = primitives[l].kind;
        shape_parameter(primitives[l], kind, k) += t * shape_parameter(d[l], kind, k);
      }
      primitives[l].X_BP = retract<double>(primitives[l].X_BP, t * d[l].pose);
    }
    return primitives;
  }
  [[nodiscard]] double dot(const std::vector<PrimitiveGradient>& bar) const {
    double sum = 0.0;
    for (std::size_t l = 0; l < d.size(); ++l) {
      for (std::size_t k = 0; k < 5; ++k) sum += d[l].parameters[k] * bar[l].parameters[k];
      for (std::size_t k = 0; k < d[l].values.size(); ++k) sum += d[l].values[k] * bar[l].values[k];
      sum += d[l].pose.dot(bar[l].pose);
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("with_primitives: the same primitives give the same body", "[dynamics][value]") {
  const Body body = body_of_kind(GENERATE(range(0, k_kinds)));
  const Body same = with_primitives(body, body.shape.primitives);
  CHECK(test::close(same.contact_points, body.contact_points, 1e-13, 1e-15));
  CHECK(same.contact_radius == body.contact_radius);
  CHECK(same.mass == body.mass);
}

TEST_CASE("with_primitives: vertices of a padded polygon are where the builder puts them for the new corners",
          "[dynamics][value]") {
  Random random(6);
  for (int i = 0; i < 20; ++i) {
    std::vector<Vec2<double>> corners = test::random_convex_polygon(random, 3 + i % 5, 0.1);
    const Body before = test::polygon_body(corners, 0.03);
    for (Vec2<double>& corner : corners) corner += test::random_vector<2>(random, 1e-3);
    const Body built = test::polygon_body(corners, 0.025);
    if (built.contact_points.cols() != before.contact_points.cols()) continue;  // arcs cut into more pieces
    std::vector<Primitive> primitives = built.shape.primitives;
    const Vec3<double> shift = before.p_BA - built.p_BA;  // of the centres of mass
    primitives[0].X_BP.p += shift;
    const Body after = with_primitives(before, primitives);
    CAPTURE(i);
    CHECK(test::close(after.contact_points, Points(built.contact_points.colwise() + shift), 0, 1e-12));
    CHECK(after.mesh.vertices == after.contact_points);
    CHECK(contact_point_lines(after).primitive.empty());
  }
}

TEST_CASE("with_primitives: contact points are where the builder puts them for the new size",
          "[dynamics][value]") {
  const Body box = make_box({0.1, 0.08, 0.06}, 0.003, 4, 1000.0),
             larger = make_box({0.12, 0.07, 0.09}, 0.005, 4, 1000.0);
  const Body changed = with_primitives(box, larger.shape.primitives);
  CHECK(test::close(changed.contact_points, larger.contact_points, 1e-13, 1e-16));
  CHECK(changed.contact_radius == larger.contact_radius);

  const Body capsule = make_capsule(0.05, 0.1, 1000.0), longer = make_capsule(0.05, 0.11, 1000.0);
  REQUIRE(capsule.contact_points.cols() == make_capsule(0.06, 0.11, 1000.0).contact_points.cols());
  const Body stretched = with_primitives(capsule, make_capsule(0.06, 0.11, 1000.0).shape.primitives);
  CHECK(test::close(stretched.contact_points, make_capsule(0.06, 0.11, 1000.0).contact_points, 1e-13, 1e-16));
  CHECK(stretched.contact_radius == 0.06);

  CHECK(with_primitives(make_sphere(0.1, 1.0), make_sphere(0.2, 1.0).shape.primitives).contact_radius == 0.2);
  CHECK_THROWS_AS(with_primitives(box, {}), std::invalid_argument);
}

TEST_CASE("with_primitives: contact points stay on the surface of every kind", "[dynamics][property]") {
  const int kind = GENERATE(range(0, k_kinds));
  Random random(static_cast<std::uint64_t>(kind) + 1);
  const Body body = body_of_kind(kind);
  for (int i = 0; i < 20; ++i) {
    const ShapeDirection direction(random, body);
    const Body changed = with_primitives(body, direction.moved(body, 0.3));
    const ShapeSdf old_sdf(body.shape), sdf(changed.shape);
    for (Eigen::Index k = 0; k < body.contact_points.cols(); ++k) {
      const double before = old_sdf.distance<double>(body.contact_points.col(k)) + body.contact_radius;
      const double after = sdf.distance<double>(changed.contact_points.col(k)) + changed.contact_radius;
      CAPTURE(kind, i, k);
      REQUIRE(std::abs(after - before) <= 1e-13);
    }
  }
}

TEST_CASE("with_primitives: a cone takes the points of its ends along, rims included, however it changes",
          "[dynamics][property]") {
  BodyDescription description;
  description.shape.primitives = {
      {PrimitiveKind::cone, PrimitiveOperation::add, {0.05, 0.02, 0.05, 2e-4}, {}}};
  description.mesh = test::cone_mesh(0.05, 0.02, 0.05, 24);
  description.mass_or_density = Mass{1.0};
  const Body body = make_body(description);
  const ShapeSdf old_sdf(body.shape);
  for (std::size_t k = 0; k < 3; ++k) {
    for (const double factor : {0.6, 0.8, 0.99, 1.01, 1.25, 1.5}) {
      std::vector<Primitive> primitives = body.shape.primitives;
      primitives[0].parameters[k] *= factor;
      const Body changed = with_primitives(body, primitives);
      const ShapeSdf sdf(changed.shape);
      for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
        CAPTURE(k, factor, i);
        REQUIRE(std::abs(sdf.distance<double>(changed.contact_points.col(i)) -
                         old_sdf.distance<double>(body.contact_points.col(i))) <= 1e-13);
      }
    }
  }
}

TEST_CASE("with_primitives: a capsule without length keeps its point in the middle, with finite derivatives",
          "[dynamics][derivative]") {
  const Body body = make_capsule(0.05, 0.0, 1000.0);
  std::vector<Primitive> longer = body.shape.primitives;
  longer.front().parameters[1] = 0.01;
  CHECK(with_primitives(body, longer).contact_points.isZero(0.0));
  GeometryGradient partial;
  partial.set_zero(body);
  partial.contact_points.setOnes();
  const auto total = total_shape_gradient(body, ShapeSdf(body.shape), partial);
  CHECK(total.front().parameters[1] == 0.0);
  CHECK(total.front().pose.allFinite());
}

TEST_CASE("total_shape_gradient: is the gradient along with_primitives", "[dynamics][derivative]") {
  const int kind = GENERATE(range(0, k_kinds));
  Random random(static_cast<std::uint64_t>(kind) + 11);
  const Body body = body_of_kind(kind);
  const int count = kind < 5 ? 40 : 5;  // kinds with many parameters take longer to prepare
  for (int i = 0; i < count; ++i) {
    // A loss that reads everything: some points of the SDF, all contact points, the contact radius.
    std::vector<Vec3<double>> probes;
    std::vector<double> by_distance;
    std::vector<Vec3<double>> by_normal;
    for (int k = 0; k < 4; ++k) {
      probes.push_back(body.size * random.uniform(0.6, 1.0) * random.unit_vector());
      by_distance.push_back(random.uniform(-1.0, 1.0));
      by_normal.push_back(test::random_vector(random, 0.1));
    }
    Points by_points(3, body.contact_points.cols());
    for (Eigen::Index k = 0; k < by_points.cols(); ++k) by_points.col(k) = test::random_vector(random, 0.1);
    const double by_radius = random.uniform(-1.0, 1.0);
    const auto loss_of = [&](const Body& b) {
      const ShapeSdf sdf(b.shape);
      double sum = by_points.cwiseProduct(b.contact_points).sum() + by_radius * b.contact_radius;
      for (std::size_t k = 0; k < probes.size(); ++k) {
        const auto sample = sdf.evaluate<double>(probes[k]);
        sum += by_distance[k] * sample.distance + by_normal[k].dot(sample.normal);
      }
      return sum;
    };
    const ShapeSdf sdf(body.shape);
    GeometryGradient partial;
    partial.set_zero(body);
    partial.contact_points = by_points;
    partial.contact_radius = by_radius;
    for (std::size_t k = 0; k < probes.size(); ++k)
      sdf.parameter_vjp(probes[k], by_distance[k], by_normal[k], partial.primitives);
    const std::vector<PrimitiveGradient> total = total_shape_gradient(body, sdf, partial);

    const ShapeDirection direction(random, body);
    const auto fd =
        test::fd_sweep([&](double t) { return loss_of(with_primitives(body, direction.moved(body, t))); },
                       0.0, 0.02, 1e-7, 1e-8);
    CAPTURE(kind, i, fd.value, fd.error, direction.dot(total));
    if (kind == 2 && fd.disagrees_with_itself) continue;  // a probe in line with an edge of the core: a kink
    REQUIRE(!fd.disagrees_with_itself);
    REQUIRE(test::close(direction.dot(total), fd.value, 1e-6, 1e-7));
  }
}

TEST_CASE("TotalShapeGradient: of one gradient after another is what each gives alone",
          "[dynamics][derivative]") {
  const int kind = GENERATE(range(0, k_kinds));
  Random random(static_cast<std::uint64_t>(kind) + 31);
  const Body body = body_of_kind(kind);
  const ContactPointLines lines = contact_point_lines(body);
  const Body changed = with_primitives(body, ShapeDirection(random, body).moved(body, 0.1));
  const ShapeSdf sdf(changed.shape);
  TotalShapeGradient total(changed, sdf, lines);
  for (int i = 0; i < 4; ++i) {
    GeometryGradient partial;
    partial.set_zero(changed);
    partial.contact_radius = random.uniform(-1.0, 1.0);
    for (Eigen::Index k = i % 2; k < partial.contact_points.cols(); k += 2)
      partial.contact_points.col(k) = test::random_vector(random);
    for (PrimitiveGradient& primitive : partial.primitives) primitive.pose = test::random_vector<6>(random);
    const ShapeDirection direction(random, changed);
    const double alone = direction.dot(total_shape_gradient(changed, sdf, partial, &lines));
    CAPTURE(kind, i);
    CHECK(alone != 0.0);
    CHECK(test::close(direction.dot(total(partial)), alone, 1e-11, 1e-11));
  }
}
