#include "collision/sdf/padded_polygon.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "collision/convex/proximity_qp.h"
#include "collision/convex/proximity_qp_sets.h"
#include "engine/dual.h"
#include "engine/mesh.h"
#include "engine/pack.h"
#include "engine/padded_polygon.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/convex_polygon.h"

namespace abut {
namespace {

using std::numbers::pi;
using test::close;
using PlanarCorners = std::vector<Vec2<double>>;

template <typename T = double>
PaddedPolygonSolid<T> solid_of(const PlanarCorners& corners, double radius, const Pose<double>& X_BP = {}) {
  Primitive primitive = make_padded_polygon(corners, radius);
  primitive.X_BP = X_BP;
  return PaddedPolygonSolid<T>(primitive, {T(radius)});
}

PlanarCorners random_polygon(Random& random, int count) {
  return test::random_convex_polygon(random, count, 1.0);
}

/// A distance that knows nothing of edges in order: the least one from all triangles of corners, in space.
double distance_from_polygon(const PlanarCorners& corners, const Vec3<double>& x) {
  double least = std::numeric_limits<double>::infinity();
  const auto in_space = [](const Vec2<double>& p) { return Vec3<double>(p.x(), p.y(), 0.0); };
  for (std::size_t i = 0; i < corners.size(); ++i) {
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const Vec3<double> a = in_space(corners[i]), along = in_space(corners[k]) - a;
      const double share = i == k ? 0.0 : std::clamp(along.dot(x - a) / along.squaredNorm(), 0.0, 1.0);
      least = std::min(least, (a + share * along - x).norm());
      for (std::size_t l = k + 1; i < k && l < corners.size(); ++l) {
        const Vec3<double> other = in_space(corners[l]) - a, r = x - a;
        const double area = along.cross(other).z(), v = r.cross(other).z() / area,
                     w = along.cross(r).z() / area;
        if (v >= 0.0 && w >= 0.0 && v + w <= 1.0) least = std::min(least, std::abs(x.z()));
      }
    }
  }
  return least;
}

template <SdfOrder order, typename S, typename T>
SdfAnswer<order, S> sample(const PaddedPolygonSolid<T>& solid, const Vec3<S>& x) {
  return exact_sample<order, S>(solid, x);
}

/// The solid as a mesh: the point farthest along each direction of a grid on the sphere.
TriangleMesh mesh_of(const PaddedPolygonSolid<double>& solid, int rings, int sectors) {
  TriangleMesh mesh;
  std::vector<Vec3<double>> vertices;
  const auto add = [&](const Vec3<double>& n) {
    vertices.emplace_back(core_support<double>(solid, n) + solid.padding * n);
  };
  add({0, 0, 1});
  for (int i = 1; i < rings; ++i) {
    for (int k = 0; k < sectors; ++k) {
      const double polar = pi * i / rings, angle = 2.0 * pi * k / sectors;
      add({std::sin(polar) * std::cos(angle), std::sin(polar) * std::sin(angle), std::cos(polar)});
    }
  }
  add({0, 0, -1});
  mesh.vertices.resize(3, static_cast<Eigen::Index>(vertices.size()));
  for (std::size_t i = 0; i < vertices.size(); ++i)
    mesh.vertices.col(static_cast<Eigen::Index>(i)) = vertices[i];
  const auto index = [&](int ring, int k) {
    return ring == 0 ? 0 : ring == rings ? int(vertices.size()) - 1 : 1 + (ring - 1) * sectors + k % sectors;
  };
  for (int i = 0; i < rings; ++i) {
    for (int k = 0; k < sectors; ++k) {
      if (i > 0) mesh.triangles.emplace_back(index(i, k), index(i + 1, k), index(i, k + 1));
      if (i + 1 < rings) mesh.triangles.emplace_back(index(i, k + 1), index(i + 1, k), index(i + 1, k + 1));
    }
  }
  return mesh;
}

}  // namespace

TEST_CASE("PaddedPolygonSolid: distances are exact, and those of the proximity program",
          "[collision][value]") {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const PlanarCorners corners = random_polygon(random, 3 + i % 6);
    const double radius = random.uniform(0.05, 0.5);
    const Pose<double> X_BP = test::random_pose(random);
    const auto solid = solid_of(corners, radius, X_BP);
    const Vec3<double> x_P = test::random_vector(random, 1.5), x_B = X_BP * x_P;
    const double d = sample<SdfOrder::distance>(solid, x_B).distance;
    CAPTURE(i, x_P.transpose());
    CHECK(close(d, distance_from_polygon(corners, x_P) - radius, 0, 1e-14));
    if (i >= 300) continue;
    std::vector<Vec3<double>> in_B;
    for (const Vec2<double>& corner : corners)
      in_B.push_back(X_BP * Vec3<double>(corner.x(), corner.y(), 0.0));
    // A point as a segment of 2e-6 m.
    const Vec3<double> half = 1e-6 * random.unit_vector();
    const auto by_program =
        proximity(padded<2, 8>(polygon_core(in_B), radius),
                  padded<1, 2>(segment_core(Vec3<double>(x_B - half), Vec3<double>(x_B + half)), 0.0),
                  ProximitySettings<double>());
    CHECK(close(by_program.distance, d, 0, 2e-5));
  }
}

TEST_CASE("PaddedPolygonSolid: the distance inside is that from the surface", "[collision][property]") {
  Random random(2);
  int inside = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto solid = solid_of(random_polygon(random, 3 + i % 6), 0.4, test::random_pose(random));
    const Vec3<double> x = solid.centre + test::random_vector(random, 1.0);
    const auto at = sample<SdfOrder::gradient>(solid, x);
    if (at.distance >= 0.0) continue;
    ++inside;
    CAPTURE(i);
    const auto after = [&](const Vec3<double>& step) {
      return sample<SdfOrder::distance>(solid, Vec3<double>(x + step)).distance;
    };
    CHECK(close(after(-at.distance * at.normal), 0.0, 0, 1e-14));
    CHECK(after(0.999 * at.distance * random.unit_vector()) < 0.0);
  }
  CHECK(inside > 500);
}

TEST_CASE("PaddedPolygonSolid: gradient and Hessian agree with Dual numbers and differences",
          "[collision][derivative]") {
  Random random(3);
  int faces = 0, edges = 0, corners = 0;
  for (int i = 0; i < 1000; ++i) {
    const Pose<double> X_BP = test::random_pose(random);
    const auto solid = solid_of(random_polygon(random, 3 + i % 6), 0.2, X_BP);
    const Vec3<double> x_P = test::random_vector(random, 1.5), x = X_BP * x_P;
    const auto at = sample<SdfOrder::jacobian>(solid, x);
    const ClosestOnPolygon<double> closest = closest_on_polygon(solid, x_P);
    (closest.is_face > 0.0 ? faces : closest.along.isZero(0.0) ? corners : edges) += 1;
    using D = Dual<double, 3>;
    const auto by = sample<SdfOrder::normal, D>(
        solid, Vec3<D>(D::variable(x[0], 0), D::variable(x[1], 1), D::variable(x[2], 2)));
    CAPTURE(i, x_P.transpose());
    CHECK(close(at.gradient.norm(), 1.0, 1e-14, 0));
    CHECK(at.gradient == at.normal);
    CHECK(close(at.normal_jacobian * at.normal, Vec3<double>(0, 0, 0), 0,
                1e-13 * (1.0 + at.normal_jacobian.norm())));
    for (int k = 0; k < 3; ++k) {
      const auto d = static_cast<std::size_t>(k);
      CHECK(close(at.gradient[k], by.distance.d[d], 0, 1e-13));
      for (int r = 0; r < 3; ++r)
        CHECK(
            close(at.normal_jacobian(r, k), by.normal[r].d[d], 0, 1e-12 * (1.0 + at.normal_jacobian.norm())));
      const Vec3<double> step = 1e-6 * Vec3<double>::Unit(k);
      const auto forward = sample<SdfOrder::normal>(solid, Vec3<double>(x + step)),
                 backward = sample<SdfOrder::normal>(solid, Vec3<double>(x - step));
      CHECK(close(at.gradient[k], (forward.distance - backward.distance) / 2e-6, 0, 1e-4));
    }
  }
  CHECK(faces > 50);
  CHECK(edges > 200);
  CHECK(corners > 100);
}

TEST_CASE("PaddedPolygonSolid: the Hessian of differences of the normal, away from seams",
          "[collision][derivative]") {
  const auto square = solid_of(PlanarCorners{{0, 0}, {1, 0}, {1, 1}, {0, 1}}, 0.1);
  const auto hessian_at = [&](const Vec3<double>& x) {
    Mat3<double> by_difference;
    for (int k = 0; k < 3; ++k) {
      const Vec3<double> step = 1e-5 * Vec3<double>::Unit(k);
      by_difference.col(k) = (sample<SdfOrder::normal>(square, Vec3<double>(x + step)).normal -
                              sample<SdfOrder::normal>(square, Vec3<double>(x - step)).normal) /
                             2e-5;
    }
    CHECK(close(sample<SdfOrder::jacobian>(square, x).normal_jacobian, by_difference, 1e-8, 1e-8));
    return by_difference;
  };
  CHECK(hessian_at({0.5, 0.5, 0.3}).isZero(0.0));
  CHECK(close(hessian_at({0.5, -0.3, 0.4}).trace(), 2.0, 1e-8, 0));        // 1/0.5: a cylinder
  CHECK(close(hessian_at({1.2, 1.1, -0.2}).trace(), 2.0 / 0.3, 1e-8, 0));  // 2/0.3: a ball
  const auto on_it = sample<SdfOrder::jacobian>(square, Vec3<double>(0.3, 0.6, 0.0));
  CHECK(on_it.distance == -0.1);
  CHECK(on_it.normal == Vec3<double>(0, 0, 1));
  CHECK(on_it.normal_jacobian.isZero(0.0));
}

TEST_CASE("PaddedPolygonSolid: derivatives by padding and corners agree with differences",
          "[collision][derivative]") {
  Random random(4);
  int checks = 0;
  for (int i = 0; i < 300; ++i) {
    const PlanarCorners corners = random_polygon(random, 3 + i % 6);
    const Pose<double> X_BP = test::random_pose(random);
    const double radius = 0.2, h = 1e-6;
    const Vec3<double> x = X_BP * test::random_vector(random, 1.5);
    const auto distance = [&](std::size_t parameter, double step) {
      PlanarCorners moved = corners;
      if (parameter > 0) moved[(parameter - 1) / 2][static_cast<Eigen::Index>((parameter - 1) % 2)] += step;
      const auto solid = solid_of(moved, radius + (parameter == 0 ? step : 0.0), X_BP);
      return sample<SdfOrder::distance>(solid, x).distance;
    };
    std::size_t expected_index = 0;
    for_each_parameter_derivative(solid_of(corners, radius, X_BP), x, [&](std::size_t k, double derivative) {
      CAPTURE(i, k);
      CHECK(k == expected_index++);
      CHECK(close(derivative, (distance(k, h) - distance(k, -h)) / (2.0 * h), 0, 2e-5));
      checks += derivative != 0.0;
    });
    CHECK(expected_index == 1 + 2 * corners.size());
  }
  CHECK(checks > 1000);
}

TEST_CASE("PaddedPolygonSolid: a pack equals its lanes bit for bit, and float32 is near",
          "[collision][batch]") {
  using P = Pack<double, 4>;
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    const PlanarCorners corners = random_polygon(random, 3 + i % 6);
    const Pose<double> X_BP = test::random_pose(random);
    const auto solid = solid_of(corners, 0.3, X_BP);
    const auto single = solid_of<float>(corners, 0.3, X_BP);
    Vec3<P> x;
    for (int lane = 0; lane < 4; ++lane) {
      const Vec3<double> point = X_BP * test::random_vector(random, 1.5);
      for (int k = 0; k < 3; ++k) x[k].set_lane(lane, point[k]);
    }
    const auto all = sample<SdfOrder::jacobian>(solid, x);
    for (int lane = 0; lane < 4; ++lane) {
      const Vec3<double> point(x[0][lane], x[1][lane], x[2][lane]);
      const auto one = sample<SdfOrder::jacobian>(solid, point);
      CAPTURE(i, lane);
      CHECK(all.distance[lane] == one.distance);
      for (int r = 0; r < 3; ++r) {
        CHECK(all.normal[r][lane] == one.normal[r]);
        for (int c = 0; c < 3; ++c) CHECK(all.normal_jacobian(r, c)[lane] == one.normal_jacobian(r, c));
      }
      CHECK(close(sample<SdfOrder::distance>(single, Vec3<float>(point.cast<float>())).distance, one.distance,
                  0, 2e-6));
    }
  }
}

TEST_CASE("padded_polygon_mass_properties: are those of meshes of the solid", "[collision][value]") {
  Random random(6);
  for (int i = 0; i < 8; ++i) {
    const PlanarCorners corners = random_polygon(random, 3 + i % 6);
    const double radius = random.uniform(0.05, 0.8), density = random.uniform(100.0, 2000.0);
    const MassProperties exact = padded_polygon_mass_properties(corners, radius, density);
    // Errors of meshes are of second order in their spacing: two of them tell the limit.
    const auto solid = solid_of(corners, radius);
    const MassProperties coarse = mass_properties(mesh_of(solid, 200, 400), density),
                         fine = mass_properties(mesh_of(solid, 400, 800), density);
    CAPTURE(i, radius, corners.size());
    CHECK(fine.volume < exact.volume);
    CHECK(close((4.0 * fine.volume - coarse.volume) / 3.0, exact.volume, 1e-5, 0));
    CHECK(close(exact.mass, density * exact.volume, 1e-14, 0));
    CHECK(close(Vec3<double>((4.0 * fine.center_of_mass - coarse.center_of_mass) / 3.0), exact.center_of_mass,
                0, 1e-5));
    const Mat3<double> inertia = (4.0 * fine.inertia - coarse.inertia) / 3.0;
    CHECK(close(inertia, exact.inertia, 0, 2e-5 * exact.inertia.trace()));
    CHECK_NOTHROW(require_physical(exact.mass, exact.inertia, "the solid"));
  }
}

TEST_CASE("padded_polygon_mass_properties: are integrals over points that the distance says are inside",
          "[collision][value]") {
  Random random(7);
  const PlanarCorners corners{{-0.5, -0.3}, {0.9, -0.1}, {0.4, 0.8}};
  const double radius = 0.35;
  const MassProperties exact = padded_polygon_mass_properties(corners, radius, 1.0);
  const auto solid = solid_of(corners, radius);
  constexpr int k_points = 400000;
  const Vec3<double> lower(-0.85, -0.65, -0.35), extent(2.1, 1.8, 0.7);
  double inside = 0.0;
  Vec3<double> first = Vec3<double>::Zero();
  Mat3<double> second = Mat3<double>::Zero();
  for (int i = 0; i < k_points; ++i) {
    const Vec3<double> x =
        lower + extent.cwiseProduct(Vec3<double>(random.uniform(), random.uniform(), random.uniform()));
    if (sample<SdfOrder::distance>(solid, x).distance > 0.0) continue;
    inside += 1.0;
    first += x;
    second += x * x.transpose();
  }
  const double cell = extent.prod() / k_points, volume = inside * cell;
  const Vec3<double> middle = first / inside;
  const Mat3<double> moments = cell * second - volume * middle * middle.transpose();
  const Mat3<double> inertia = moments.trace() * Mat3<double>::Identity() - moments;
  // Of so many points the standard deviation of the volume is 0.1 %.
  CHECK(close(volume, exact.volume, 5e-3, 0));
  CHECK(close(middle, exact.center_of_mass, 0, 5e-3));
  CHECK(close(inertia, exact.inertia, 0, 1e-2 * exact.inertia.trace()));
}

TEST_CASE("padded_polygon_mass_properties: limits of hand, and a polygon cut up along an edge",
          "[collision][value]") {
  // Steiner: 2 r A + pi r^2 L/2 + 4 pi r^3/3 of a rectangle 2 x 1.
  const PlanarCorners rectangle{{0, 0}, {2, 0}, {2, 1}, {0, 1}};
  const double r = 0.25;
  const MassProperties m = padded_polygon_mass_properties(rectangle, r, 2.0);
  CHECK(close(m.volume, 4.0 * r + 3.0 * pi * r * r + 4.0 / 3.0 * pi * r * r * r, 1e-14, 0));
  CHECK(close(m.center_of_mass, Vec3<double>(1.0, 0.5, 0.0), 0, 1e-14));
  CHECK(close(m.inertia(0, 1), 0.0, 0, 1e-14));
  // A small polygon in a large ball is the ball, a narrow one a capsule.
  const PlanarCorners tiny{{-1e-6, -1e-6}, {1e-6, -1e-6}, {0, 1e-6}};
  const MassProperties ball = sphere_mass_properties(0.5, 3.0),
                       nearly = padded_polygon_mass_properties(tiny, 0.5, 3.0);
  CHECK(close(nearly.volume, ball.volume, 1e-5, 0));
  CHECK(close(nearly.inertia, ball.inertia, 0, 2e-5 * ball.inertia.trace()));
  const PlanarCorners narrow{{-0.7, -1e-7}, {0.7, -1e-7}, {0.7, 1e-7}, {-0.7, 1e-7}};
  const MassProperties along_x = padded_polygon_mass_properties(narrow, 0.2, 3.0),
                       capsule = capsule_mass_properties(0.2, 0.7, 3.0);
  CHECK(close(along_x.volume, capsule.volume, 1e-5, 0));
  CHECK(close(along_x.inertia(0, 0), capsule.inertia(2, 2), 1e-5, 0));
  CHECK(close(along_x.inertia(1, 1), capsule.inertia(0, 0), 1e-5, 0));
  // Moved and turned corners move and turn what is of them.
  PlanarCorners turned;
  const double c = std::cos(0.7), s = std::sin(0.7);
  for (const Vec2<double>& p : rectangle)
    turned.emplace_back(3.0 + c * p.x() - s * p.y(), s * p.x() + c * p.y());
  const MassProperties of_turned = padded_polygon_mass_properties(turned, r, 2.0);
  Mat3<double> R = Mat3<double>::Identity();
  R.topLeftCorner<2, 2>() << c, -s, s, c;
  CHECK(close(of_turned.inertia, Mat3<double>(R * m.inertia * R.transpose()), 0, 1e-13));
}

TEST_CASE("PaddedPolygonSolid: refuses what is no convex polygon, and no padding", "[collision][value]") {
  const auto refused = [](const PlanarCorners& corners, double radius) {
    try {
      (void)make_padded_polygon(corners, radius);
      return std::string("accepted");
    } catch (const std::invalid_argument& error) {
      CHECK_THROWS_AS(padded_polygon_mass_properties(corners, radius, 1.0), std::invalid_argument);
      return std::string(error.what());
    }
  };
  using Catch::Contains;
  const PlanarCorners triangle{{0, 0}, {1, 0}, {0, 1}};
  CHECK(refused(triangle, 0.1) == "accepted");
  CHECK_THAT(refused({{0, 0}, {1, 0}}, 0.1), Contains("2 corners") && Contains("3 or more"));
  CHECK_THAT(refused({{0, 0}, {1, 0}, {2, 0}}, 0.1), Contains("turn to the left"));
  CHECK_THAT(refused({{0, 1}, {1, 0}, {0, 0}}, 0.1), Contains("anticlockwise"));
  CHECK_THAT(refused({{0, 0}, {1, 0}, {0, std::nan("")}}, 0.1), Contains("y of corner 2 is nan"));
  CHECK_THAT(refused(triangle, 0.0), Contains("radius = 0, allowed"));
  CHECK_THAT(refused(triangle, -0.1), Contains("radius = -0.1, allowed"));
  PlanarCorners star;
  for (int i = 0; i < 5; ++i) star.emplace_back(std::cos(0.8 * pi * i), std::sin(0.8 * pi * i));
  CHECK_THAT(refused(star, 0.1), Contains("cross each other"));
  CHECK_THROWS_AS(padded_polygon_mass_properties(triangle, 0.1, 0.0), std::invalid_argument);
  // Of lines a body may have the mass, but nothing more.
  CHECK_THROWS_WITH(make_padded_polygon(PlanarCorners{{0.1, 0}, {0, 1e-8}, {-0.1, 0}}, 0.01),
                    Contains("on a line") && Contains("capsule"));
  CHECK_NOTHROW(make_padded_polygon(PlanarCorners{{0.1, 0}, {0, 3e-6}, {-0.1, 0}}, 0.01));
}

}  // namespace abut
