#include "collision/sdf/frank_wolfe.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "collision/sdf/triangle_minimum.h"
#include "engine/mesh_shapes.h"
#include "engine/pack.h"
#include "engine/pose.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/test_bodies.h"

namespace abut {
namespace {

using test::close;
using Corners3 = Vec3<double>[3];

Primitive solid_of(PrimitiveKind kind, std::array<double, 5> parameters, const Pose<double>& X = {}) {
  Primitive primitive;
  primitive.kind = kind;
  primitive.parameters = parameters;
  primitive.X_BP = X;
  return primitive;
}
ShapeSdf ball_sdf(double radius) {
  return ShapeSdf(test::single_primitive(solid_of(PrimitiveKind::sphere, {radius})));
}
ShapeSdf box_sdf(double half, double radius) {
  return ShapeSdf(test::single_primitive(solid_of(PrimitiveKind::rounded_box, {half, half, half, radius})));
}
/// Two that overlap, neither round nor square.
ShapeSdf union_sdf() {
  Shape shape;
  shape.primitives = {solid_of(PrimitiveKind::superquadric, {0.5, 0.4, 0.6, 0.6, 0.9}),
                      solid_of(PrimitiveKind::superquadric, {0.3, 0.5, 0.3, 1.0, 0.5},
                               {Quat<double>::Identity(), Vec3<double>(0.4, 0.2, 0.1)})};
  shape.union_smoothing = 5e-3;
  return ShapeSdf(shape);
}

/// Within the ball around the origin of that radius, with sides of about 0.3.
void random_triangle(Random& random, double radius, Corners3& corners) {
  const Vec3<double> centre = radius * random.unit_vector();
  for (Vec3<double>& x : corners) x = centre + test::random_vector(random, 0.2);
}

/// The least distance at n (n + 1)/2 points of the triangle, and again around the best of these.
template <typename Sdf>
double sampled_minimum(const Corners3& corners, const Sdf& sdf) {
  double best = k_infinity, b_1 = 1.0 / 3.0, b_2 = 1.0 / 3.0;
  for (double width = 1.0; width > 1e-7; width *= 0.2) {
    const double middle_1 = b_1, middle_2 = b_2;
    for (int i = -20; i <= 20; ++i) {
      for (int k = -20; k <= 20; ++k) {
        double s = std::clamp(middle_1 + width * i / 20.0, 0.0, 1.0);
        double t = std::clamp(middle_2 + width * k / 20.0, 0.0, 1.0);
        if (s + t > 1.0) {
          const double excess = 0.5 * (s + t - 1.0);
          s = std::max(0.0, s - excess);
          t = std::min(1.0 - s, std::max(0.0, t - excess));
        }
        const double d =
            sdf(Vec3<double>((1.0 - s - t) * corners[0] + s * corners[1] + t * corners[2])).distance;
        if (d < best) best = d, b_1 = s, b_2 = t;
      }
    }
  }
  return best;
}

TEST_CASE("frank_wolfe_minimum: of a ball it is within its bound, by projections exact",
          "[collision][value]") {
  const ShapeSdf ball = ball_sdf(0.5);
  const auto sdf = [&](const Vec3<double>& x) { return ball.evaluate(x); };
  for (int trial = 0; trial < 1000; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    Corners3 corners;
    random_triangle(random, random.uniform(0.4, 0.8), corners);
    if (trial % 5 == 1) corners[2] = corners[0] + 1e-3 * (corners[1] - corners[0]);  // all but a segment
    if (trial % 5 == 2) corners[1] = corners[2] = corners[0];                        // a point
    const Vec3<double> nearest =
        -offset_from_triangle(Vec3<double>::Zero(), corners[0], corners[1], corners[2]);
    const double exact = nearest.norm() - 0.5;
    const auto found = frank_wolfe_minimum(corners, sdf, 32);
    const auto projected = projected_minimum(corners, sdf);
    CAPTURE(trial, exact);
    const double diameter = std::max({(corners[0] - corners[1]).norm(), (corners[1] - corners[2]).norm(),
                                      (corners[2] - corners[0]).norm()});
    const double curvature = 1.0 / nearest.norm();
    CHECK(found.distance >= exact - 1e-15);
    CHECK(found.distance <= exact + 2.0 * curvature * diameter * diameter / 34.0);
    CHECK(found.bound <= exact + 1e-12);
    CHECK(close(ball.distance(found.point(corners)), found.distance, 0, 1e-15));
    CHECK(found.weights[0] + found.weights[1] + found.weights[2] == Approx(1.0).epsilon(1e-14));
    for (const double weight : found.weights) CHECK(weight >= 0.0);
    CHECK(close(projected.distance, exact, 0, 1e-12));
    CHECK(projected.bound <= exact + 1e-12);
    CHECK(projected.bound > exact - 1e-5);
    CHECK(close(projected.point, nearest, 0, 1e-5));
  }
}

TEST_CASE("frank_wolfe_minimum: is near the least of dense samples on boxes and unions",
          "[collision][value]") {
  const ShapeSdf box = box_sdf(0.4, 0.02), compound = union_sdf();
  for (const ShapeSdf* shape : {&box, &compound}) {
    const auto sdf = [&](const Vec3<double>& x) { return shape->evaluate(x); };
    int within_1mm = 0, local = 0;
    constexpr int k_trials = 150;
    for (int trial = 0; trial < k_trials; ++trial) {
      Random random(static_cast<std::uint64_t>(trial));
      Corners3 corners;
      random_triangle(random, random.uniform(0.4, 0.9), corners);
      const double sampled = sampled_minimum(corners, sdf);
      const auto found = frank_wolfe_minimum(corners, sdf, 32);
      const auto projected = projected_minimum(corners, sdf);
      CAPTURE(shape == &box, trial, sampled, found.distance, projected.distance);
      CHECK(found.distance >= sampled - 1e-6);
      CHECK(projected.distance >= sampled - 1e-6);
      CHECK(found.distance <= sampled + 0.05);
      within_1mm += found.distance <= sampled + 1e-3;
      local += projected.distance > sampled + 1e-5;
    }
    CAPTURE(within_1mm, local);
    CHECK(within_1mm > 0.8 * k_trials);
    CHECK(local < 0.1 * k_trials);  // not convex on a triangle, or a crease inside
  }
}

TEST_CASE("frank_wolfe_minimum: errors fall with the reciprocal of the number of steps",
          "[collision][property]") {
  const ShapeSdf ball = ball_sdf(0.5);
  const auto sdf = [&](const Vec3<double>& x) { return ball.evaluate(x); };
  std::vector<double> errors_8, errors_32, errors_512;
  for (int trial = 0; trial < 400; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    Corners3 corners;
    random_triangle(random, 0.6, corners);
    const double exact = projected_minimum(corners, sdf).distance;
    double least = k_infinity;  // of all iterates, which do not descend
    for (int steps = 0; steps <= 12; ++steps) {
      const double distance = frank_wolfe_minimum(corners, sdf, steps).distance;
      CHECK(distance <= least);
      least = distance;
    }
    errors_8.push_back(frank_wolfe_minimum(corners, sdf, 8).distance - exact);
    errors_32.push_back(frank_wolfe_minimum(corners, sdf, 32).distance - exact);
    errors_512.push_back(frank_wolfe_minimum(corners, sdf, 512).distance - exact);
  }
  const auto largest = [](const std::vector<double>& errors) {
    return *std::max_element(errors.begin(), errors.end());
  };
  CAPTURE(largest(errors_8), largest(errors_32), largest(errors_512));
  CHECK(largest(errors_32) < 0.5 * largest(errors_8));
  CHECK(largest(errors_512) < 0.2 * largest(errors_32));
  CHECK(largest(errors_512) > 1e-9);  // slow, as it is known to be
}

TEST_CASE("frank_wolfe_minimum: a pack equals its lanes", "[collision][batch]") {
  using P = Pack<double, 4>;
  const ShapeSdf box = box_sdf(0.4, 0.05);
  for (int trial = 0; trial < 100; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    Vec3<P> all[3];
    Corners3 corners[4];
    for (int lane = 0; lane < 4; ++lane) {
      random_triangle(random, 0.5, corners[lane]);
      for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) all[k][i].set_lane(lane, corners[lane][k][i]);
      }
    }
    const auto found = frank_wolfe_minimum(
        all, [&](const Vec3<P>& x) { return box.evaluate_jacobian(x); }, 32);
    for (int lane = 0; lane < 4; ++lane) {
      const auto one = frank_wolfe_minimum(
          corners[lane], [&](const Vec3<double>& x) { return box.evaluate(x); }, 32);
      CHECK(close(found.distance[lane], one.distance, 0, 1e-13));
      for (int k = 0; k < 3; ++k) CHECK(close(found.weights[k][lane], one.weights[k], 0, 1e-11));
    }
  }
}

TEST_CASE("TriangleSearch: misses no triangle that penetrates", "[collision][property]") {
  const ShapeSdf ball = ball_sdf(0.3), box = box_sdf(0.25, 0.01), compound = union_sdf();
  const TriangleSearch search(box_mesh({0.4, 0.3, 0.2}, 4));
  int penetrating = 0, found_deep = 0;
  for (int trial = 0; trial < 24; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const ShapeSdf& sdf = *std::array{&ball, &box, &compound}[at(trial % 3)];
    const Pose<double> X_SM = test::random_pose(random, 0.4);
    FrankWolfeSettings settings;
    std::vector<TriangleContact> contacts;
    search.contacts(sdf, X_SM, settings, contacts);
    std::vector<bool> has_contact(192, false);
    for (const TriangleContact& contact : contacts) {
      REQUIRE(contact.distance <= settings.margin);
      has_contact[at(contact.triangle)] = true;
      Corners3 corners;
      search.corners(contact.triangle, corners);
      CHECK(close(contact.point,
                  X_SM * Vec3<double>(contact.weights[0] * corners[0] + contact.weights[1] * corners[1] +
                                      contact.weights[2] * corners[2]),
                  0, 1e-13));
      CHECK(close(sdf.distance(contact.point), contact.distance, 0, 1e-12));
      CHECK(close(contact.normal, sdf.evaluate_normal(contact.point).normal, 0, 1e-10));
    }
    for (int t = 0; t < 192; ++t) {
      Corners3 corners;
      search.corners(t, corners);
      for (Vec3<double>& x : corners) x = X_SM * x;
      double least = k_infinity;  // a coarse sample will do: it is not below the least
      for (int i = 0; i <= 12; ++i) {
        for (int k = 0; k <= 12 - i; ++k) {
          const Vec3<double> x =
              (12 - i - k) / 12.0 * corners[0] + i / 12.0 * corners[1] + k / 12.0 * corners[2];
          least = std::min(least, sdf.distance(x));
        }
      }
      if (least > -3e-3) continue;
      ++penetrating;
      CAPTURE(trial, t, least);
      CHECK(has_contact[at(t)]);
    }
    for (const TriangleContact& contact : contacts) found_deep += contact.distance < -3e-3;
  }
  CHECK(penetrating > 200);
  CHECK(found_deep > 200);
}

TEST_CASE("TriangleSearch: takes a corner that the circumradius would miss", "[collision][value]") {
  // A right triangle: its far corner is 0.745 from the centroid, its circumradius 0.707.
  TriangleMesh mesh;
  mesh.vertices.resize(3, 3);
  mesh.vertices << 0, 1, 0, 0, 0, 1, 0, 0, 0;
  mesh.triangles = {{0, 1, 2}};
  const Vec3<double> centroid(1.0 / 3.0, 1.0 / 3.0, 0.0), corner(1, 0, 0);
  const Vec3<double> beyond = corner + 0.1 * (corner - centroid).normalized();
  const ShapeSdf ball = ball_sdf(0.1 + 1e-3);
  std::vector<int> triangles;
  TriangleSearch(mesh).candidates(ball, {Quat<double>::Identity(), -beyond}, 0.0, triangles);
  CHECK(triangles == std::vector<int>{0});
  CHECK(ball.distance(Vec3<double>(centroid - beyond)) > std::sqrt(0.5));
  TriangleSearch(mesh).candidates(ball, {Quat<double>::Identity(), -2.0 * beyond}, 0.0, triangles);
  CHECK(triangles.empty());
}

TEST_CASE("TriangleSearch: a box flush on a half-space keeps its four corners", "[collision][value]") {
  const ShapeSdf ground(test::single_primitive(solid_of(PrimitiveKind::half_space, {})));
  const TriangleSearch search(box_mesh({0.3, 0.2, 0.1}, 4));
  const FrankWolfeSettings settings;
  for (const double depth : {0.0, 1e-9, 5e-4, 0.02, -5e-4}) {
    for (const double angle : {0.0, 0.7}) {
      const Pose<double> X{exp_quaternion(Vec3<double>(0, 0, angle)), Vec3<double>(0.5, -0.3, 0.1 - depth)};
      std::vector<TriangleContact> contacts;
      search.contacts(ground, X, settings, contacts);
      const auto kept = search.filtered(contacts, settings);
      CAPTURE(depth, angle, contacts.size());
      CHECK(contacts.size() >= 32);
      REQUIRE(kept.size() >= 4);
      CHECK(kept.size() <= 5);  // and the deepest, where rounding makes another one deepest
      int corners = 0;
      for (int k = 0; k < 4; ++k) {
        const Vec3<double> corner = X * Vec3<double>(k & 1 ? 0.3 : -0.3, k & 2 ? 0.2 : -0.2, -0.1);
        for (const TriangleContact& contact : kept) corners += (contact.point - corner).norm() < 1e-12;
      }
      CHECK(corners == 4);
      for (const TriangleContact& contact : kept) {
        CHECK(close(contact.distance, -depth, 0, 1e-12));
        CHECK(close(contact.normal, Vec3<double>(0, 0, 1), 0, 1e-12));
      }
    }
  }
  std::vector<TriangleContact> contacts(3);
  search.contacts(ground, {Quat<double>::Identity(), Vec3<double>(0, 0, 0.11)}, settings, contacts);
  CHECK(contacts.empty());
  CHECK(search.filtered(contacts, settings).empty());
}

TEST_CASE("TriangleSearch: coincident, tilted and deep boxes keep finite contacts", "[collision][property]") {
  const ShapeSdf box = box_sdf(0.2, 1e-3);
  const TriangleSearch search(box_mesh({0.2, 0.2, 0.2}, 2));
  const FrankWolfeSettings settings;
  const Pose<double> poses[] = {{},
                                {exp_quaternion(Vec3<double>(0, 0, M_PI / 4)), Vec3<double>(0, 0, 0.39)},
                                {exp_quaternion(Vec3<double>(0.6, 0.3, 0.1)), Vec3<double>(0.05, 0, 0.1)},
                                {Quat<double>::Identity(), Vec3<double>(0.4, 0.4, 0.4)},
                                {Quat<double>::Identity(), Vec3<double>(0.3, 0, 0)}};
  for (const Pose<double>& X : poses) {
    std::vector<TriangleContact> contacts;
    search.contacts(box, X, settings, contacts);
    const auto kept = search.filtered(contacts, settings);
    CAPTURE(X.p.transpose(), contacts.size(), kept.size());
    REQUIRE(!kept.empty());
    CHECK(kept.size() <= contacts.size());
    double deepest = k_infinity, deepest_kept = k_infinity;
    for (const TriangleContact& contact : contacts) deepest = std::min(deepest, contact.distance);
    for (const TriangleContact& contact : kept) {
      deepest_kept = std::min(deepest_kept, contact.distance);
      CHECK(contact.point.allFinite());
      CHECK(contact.normal.allFinite());
    }
    CHECK(deepest_kept == deepest);
  }
}

TEST_CASE("TriangleSearch: filter keeps the support polygon of each normal", "[collision][value]") {
  const TriangleSearch search(box_mesh({1, 1, 1}, 1));
  std::vector<TriangleContact> contacts;
  const auto add = [&](double x, double y, double distance, const Vec3<double>& normal) {
    TriangleContact contact;
    contact.triangle = static_cast<int>(contacts.size());
    contact.point = {x, y, 0};
    contact.distance = distance;
    contact.normal = normal;
    contacts.push_back(contact);
  };
  const Vec3<double> up(0, 0, 1), tilted = Vec3<double>(std::sin(0.005), 0, std::cos(0.005)), side(1, 0, 0);
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 5; ++k) add(0.1 * i, 0.1 * k, -1e-4, (i + k) % 2 == 0 ? up : tilted);
  }
  contacts[12].distance = -2e-4;  // the middle one
  add(0.2, 0.1, -3e-4, side);
  add(0.2, 0.1, -1e-5, Vec3<double>(-up));  // opposite: not one with `up`
  const auto kept = search.filtered(contacts, {});
  std::vector<int> triangles;
  for (const TriangleContact& contact : kept) triangles.push_back(contact.triangle);
  CHECK(triangles.size() == 7);
  CHECK(triangles[0] == 25);  // the deepest of all
  CHECK(triangles[1] == 12);
  CHECK(triangles[6] == 26);
  std::sort(triangles.begin() + 2, triangles.begin() + 6);
  CHECK(std::vector<int>(triangles.begin() + 2, triangles.begin() + 6) == std::vector<int>{0, 4, 20, 24});
  // A narrow angle separates the tilted ones.
  FrankWolfeSettings narrow;
  narrow.normal_angle = 1e-3;
  CHECK(search.filtered(contacts, narrow).size() > 8);
}

TEST_CASE("TriangleSearch: filter keeps what is deeper than the hull of the others", "[collision][value]") {
  const TriangleSearch search(box_mesh({1, 1, 1}, 1));
  const Vec2<double> slope = GENERATE(Vec2<double>(0, 0), Vec2<double>(1e-3, -2e-3));
  std::vector<TriangleContact> contacts;
  const auto add = [&](double x, double y, double distance) {
    TriangleContact contact;
    contact.triangle = static_cast<int>(contacts.size());
    contact.point = {x, y, 0};
    contact.distance = distance + slope.dot(Vec2<double>(x, y));
    contact.normal = Vec3<double>::UnitZ();
    contacts.push_back(contact);
  };
  // A face, each of its corners twice, points on its sides and within it, and a rim that lies 1 mm higher.
  for (const double x : {-0.08, 0.08}) {
    for (const double y : {-0.05, 0.05}) {
      for (int twice = 0; twice < 2; ++twice) add(x, y, -1e-4);
      add(1.05 * x, y, 9e-4);
      add(x, 1.08 * y, 9e-4);
    }
    add(x, 0.01, -1e-4);
    add(0.3 * x, 0.02, -1e-4);
  }
  const auto kept = search.filtered(contacts, {});
  int corners = 0, rim = 0;
  for (const TriangleContact& contact : kept) {
    const bool is_corner = std::abs(contact.point.x()) == 0.08 && std::abs(contact.point.y()) == 0.05;
    corners += is_corner;
    rim += std::abs(contact.point.x()) > 0.08 || std::abs(contact.point.y()) > 0.05;
  }
  CAPTURE(slope.transpose());
  CHECK(corners == 4);
  CHECK(rim == 8);
  CHECK(kept.size() == 12);
}

TEST_CASE("TriangleSearch: bad meshes and settings are refused", "[collision][value]") {
  TriangleMesh mesh = box_mesh({1, 1, 1}, 1);
  mesh.triangles[3][1] = 99;
  CHECK_THROWS_WITH(TriangleSearch(mesh), "triangle 3 has a vertex that the mesh has not");
  mesh = box_mesh({1, 1, 1}, 1);
  mesh.vertices(1, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(TriangleSearch(mesh), "the vertices of a mesh must be finite");
  CHECK_NOTHROW(validate(FrankWolfeSettings{}));
  FrankWolfeSettings settings;
  settings.iterations = -1;
  CHECK_THROWS_WITH(validate(settings), "iterations must not be negative, as -1 is");
  settings = {};
  settings.normal_angle = 4.0;
  CHECK_THROWS_WITH(validate(settings), "normal_angle must be from 0 to pi, not 4");
  settings = {};
  settings.margin = k_infinity;
  CHECK_THROWS_WITH(validate(settings), "margin must be finite, not inf");
}

}  // namespace
}  // namespace abut
