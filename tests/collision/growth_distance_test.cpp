#include "collision/convex/growth_distance.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <Eigen/LU>

#include "collision/convex/support.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/convex_parts.h"
#include "tests/support/gradient_check.h"
#include "tests/support/no_alloc.h"

namespace abut {
namespace {

using test::close;

struct GrowingPair {
  ConvexPart<double> A, B;
  Pose<double> X_WA, X_WB;

  [[nodiscard]] GrowthDistance grow(const GrowthSettings& settings = {}) const {
    return growth_distance(A, growth_centre(A), X_WA, B, growth_centre(B), X_WB, settings);
  }
  [[nodiscard]] Vec3<double> centre_A() const { return X_WA * (A.X_BP * growth_centre(A).point_P); }
  [[nodiscard]] Vec3<double> centre_B() const { return X_WB * (B.X_BP * growth_centre(B).point_P); }
};

/// n.(x - centre) <= offset.
struct GrowthPlane {
  Vec3<double> n, centre;
  double offset;
};

void add_growth_planes(const ConvexPart<double>& part, const Pose<double>& X_WB,
                       std::vector<GrowthPlane>& planes) {
  const Pose<double> X = X_WB * part.X_BP;
  const Vec3<double> c = growth_centre(part).point_P;
  if (part.core == ConvexCore::box) {
    for (int i = 0; i < 6; ++i)
      planes.push_back({X.q * Vec3<double>((i % 2 == 0 ? 1.0 : -1.0) * Vec3<double>::Unit(i / 2)), X * c,
                        part.extents[i / 2]});
    return;
  }
  const auto& graph = *part.polyhedron;
  for (int f = 0; f < graph.face_count(); ++f) {
    const Vec3<double>& n = graph.face_normals[at(f)];
    double offset = -1e300;
    for (const Vec3<double>& x : graph.vertices) offset = std::max(offset, n.dot(x - c));
    planes.push_back({X.q * n, X * c, offset});
  }
}

/// The linear program in x and a over the planes of both bodies, by all its vertices.
double least_scale(const GrowingPair& pair) {
  std::vector<GrowthPlane> planes;
  add_growth_planes(pair.A, pair.X_WA, planes);
  add_growth_planes(pair.B, pair.X_WB, planes);
  const int count = static_cast<int>(planes.size());
  MatX<double> rows(count, 4);
  VecX<double> right(count);
  for (int i = 0; i < count; ++i) {
    rows.row(i) << planes[at(i)].n.transpose(), -planes[at(i)].offset;
    right[i] = planes[at(i)].n.dot(planes[at(i)].centre);
  }
  double least = 1e300;
  for (int i = 0; i < count; ++i)
    for (int j = i + 1; j < count; ++j)
      for (int k = j + 1; k < count; ++k)
        for (int l = k + 1; l < count; ++l) {
          Mat4<double> M;
          M << rows.row(i), rows.row(j), rows.row(k), rows.row(l);
          if (std::abs(M.determinant()) < 1e-10) continue;
          const Vec4<double> x = M.inverse() * Vec4<double>(right[i], right[j], right[k], right[l]);
          if (x[3] < least && ((rows * x - right).array() <= 1e-9).all()) least = x[3];
        }
  return least;
}

GrowingPair growing_polyhedra(std::uint64_t seed, double spread) {
  Random random(seed);
  const auto part = [&](bool is_hull) {
    ConvexPart<double> made =
        is_hull
            ? test::make_hull_part(random, 7)
            : test::box_part({random.uniform(0.1, 0.5), random.uniform(0.1, 0.5), random.uniform(0.1, 0.5)});
    made.X_BP = test::random_pose(random, 0.2);
    return made;
  };
  GrowingPair pair{part(seed % 3 != 0), part(seed % 2 != 0), {}, {}};
  pair.X_WA = test::random_pose(random, 0.3);
  pair.X_WB = test::random_pose(random, 0.3);
  pair.X_WB.p += pair.X_WA.p + spread * random.unit_vector();
  return pair;
}

TEST_CASE("growth_distance: polyhedra agree with all vertices of the linear program", "[collision][value]") {
  int apart = 0, deep = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const GrowingPair pair = growing_polyhedra(seed, seed % 5 == 0 ? 3.0 : 0.5);
    const GrowthDistance d = pair.grow();
    CAPTURE(seed, d.alpha, d.iterations);
    REQUIRE(d.status == ConvexStatus::converged);
    REQUIRE(close(d.alpha, least_scale(pair), 1e-9, 0.0));
    REQUIRE(d.error <= 1e-13 * d.alpha);
    (d.alpha > 1.0 ? apart : deep)++;
  }
  CHECK(apart > 15);
  CHECK(deep > 15);
}

TEST_CASE("growth_distance: both scaled bodies have the touching point, and a plane parts them",
          "[collision][property]") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    GrowingPair pair{test::random_part(random), test::random_part(random), test::random_pose(random, 0.8),
                     test::random_pose(random, 0.8)};
    const GrowthDistance d = pair.grow({.tolerance = 1e-10});
    CAPTURE(seed, int(pair.A.core), int(pair.B.core), d.alpha, d.error, d.iterations);
    REQUIRE(d.error <= 1e-8 * d.alpha);
    const Vec3<double> n = d.normal_AB_W(), a = d.touch_W - pair.centre_A(), b = d.touch_W - pair.centre_B();
    REQUIRE(close(Vec3<double>(d.point_A_W - pair.centre_A()), Vec3<double>(a / d.alpha), 1e-11, 1e-11));
    REQUIRE(close(Vec3<double>(d.point_B_W - pair.centre_B()), Vec3<double>(b / d.alpha), 1e-11, 1e-11));
    const auto reach = [&](const ConvexPart<double>& part, const Pose<double>& X_WB,
                           const Vec3<double>& normal) {
      const Quat<double> q_PW = (X_WB.q * part.X_BP.q).conjugate();
      return support_value(part, Vec3<double>(q_PW * normal)) -
             (q_PW * normal).dot(growth_centre(part).point_P);
    };
    REQUIRE(close(n.dot(a), d.alpha * reach(pair.A, pair.X_WA, n), 1e-7, 0.0));
    REQUIRE(close(-n.dot(b), d.alpha * reach(pair.B, pair.X_WB, Vec3<double>(-n)), 1e-7, 0.0));
    for (int i = 0; i < 20; ++i) {  // the surface points lie in the bodies
      const Vec3<double> m = random.unit_vector();
      REQUIRE(m.dot(a) <= d.alpha * (reach(pair.A, pair.X_WA, m) + 1e-8));
      REQUIRE(m.dot(b) <= d.alpha * (reach(pair.B, pair.X_WB, m) + 1e-8));
    }
  }
}

TEST_CASE("growth_distance: aligned boxes, spheres, touching and concentric bodies have their closed forms",
          "[collision][value]") {
  const auto box = [](double x, double y, double z) { return test::box_part({x, y, z}); };
  GrowingPair pair{box(0.5, 0.4, 0.3), box(0.25, 0.2, 0.5), {}, {}};
  for (const Vec3<double>& p :
       {Vec3<double>(0.0, 0.0, 0.8), Vec3<double>(0.1, -0.2, 1.6), Vec3<double>(0.75, 0.6, 0.8),
        Vec3<double>(0.0, 0.3, 0.0), Vec3<double>(-0.1, 0.05, 0.2)}) {
    pair.X_WB.p = p;
    const GrowthDistance d = pair.grow();
    CAPTURE(p.transpose());
    CHECK(d.status == ConvexStatus::converged);
    CHECK(close(d.alpha, p.cwiseAbs().cwiseQuotient(Vec3<double>(0.75, 0.6, 0.8)).maxCoeff(), 1e-15, 0.0));
  }
  pair.X_WB.p.setZero();
  CHECK(pair.grow().alpha == 0.0);
  CHECK(pair.grow().error == 0.0);

  pair = {test::sphere_part(0.3), test::sphere_part(0.7), {}, {Quat<double>::Identity(), {0.3, 0.4, 1.2}}};
  CHECK(close(pair.grow().alpha, 1.3, 1e-13, 0.0));

  // alpha = 1 is touch, as distances have it.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    pair = growing_polyhedra(seed, 2.0);
    ConvexScratch scratch;
    const auto apart = convex_distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, scratch);
    if (!(apart.distance > 0.0)) continue;
    pair.X_WB.p -= apart.distance * apart.normal_AB_W;
    CAPTURE(seed);
    CHECK(close(pair.grow().alpha, 1.0, 1e-13, 0.0));
    CHECK(close(pair.grow().touch_W, apart.point_A_W, 0.0, 1e-7));
  }
}

TEST_CASE("growth_distance: swapped, or moved together, bodies have the same alpha",
          "[collision][property]") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    GrowingPair pair = growing_polyhedra(seed, 1.0), other{pair.B, pair.A, pair.X_WB, pair.X_WA};
    Random random(seed);
    const Pose<double> X = test::random_pose(random, 2.0);
    CAPTURE(seed);
    const double alpha = pair.grow().alpha;
    CHECK(close(other.grow().alpha, alpha, 1e-13, 0.0));
    pair.X_WA = X * pair.X_WA;
    pair.X_WB = X * pair.X_WB;
    CHECK(close(pair.grow().alpha, alpha, 1e-12, 0.0));
  }
}

/// alpha and both surface points, by the pose of A (or of B).
Eigen::Matrix<double, 7, 1> growth_after(const GrowingPair& pair, bool moves_A, const Vec6<double>& tangent) {
  GrowingPair moved = pair;
  (moves_A ? moved.X_WA : moved.X_WB) = retract<double>(moves_A ? pair.X_WA : pair.X_WB, tangent);
  const GrowthDistance d = moved.grow();
  Eigen::Matrix<double, 7, 1> x;
  x << d.alpha, d.point_A_W, d.point_B_W;
  return x;
}

void check_growth_derivatives(const GrowingPair& pair, const GrowthDerivatives& J, double h,
                              double tolerance) {
  for (const bool moves_A : {true, false}) {
    Eigen::Matrix<double, 7, 6> expected;
    for (int i = 0; i < 6; ++i) {
      const Vec6<double> step = h * Vec6<double>::Unit(i);
      expected.col(i) = (growth_after(pair, moves_A, step) - growth_after(pair, moves_A, -step)) / (2.0 * h);
    }
    Eigen::Matrix<double, 7, 6> found;
    found << (moves_A ? J.alpha_A : J.alpha_B).transpose(), moves_A ? J.point_A_A : J.point_A_B,
        moves_A ? J.point_B_A : J.point_B_B;
    CAPTURE(moves_A);
    REQUIRE(found.row(0).norm() > 0.1);
    REQUIRE(test::relative_error(found, expected, 1.0) < tolerance);
  }
}

TEST_CASE("growth_derivatives: of polyhedra agree with differences", "[collision][derivative]") {
  int checked = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const GrowingPair pair = growing_polyhedra(seed, seed % 2 == 0 ? 0.4 : 2.0);
    const GrowthDistance d = pair.grow();
    // Within 1e-3 of an edge of K's face differences may see the next one.
    if (*std::min_element(d.weights.begin(), d.weights.end()) < 1e-3 || d.alpha < 0.05) continue;
    CAPTURE(seed, d.alpha);
    check_growth_derivatives(pair, growth_derivatives(pair.X_WA, pair.X_WB, d), 1e-6, 1e-6);
    ++checked;
  }
  CHECK(checked > 40);
}

TEST_CASE("growth_derivatives: of ellipsoids with a radius agree with differences",
          "[collision][derivative]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    const auto ellipsoid = [&] {
      ConvexPart<double> part = test::superquadric_part(
          {random.uniform(0.2, 0.5), random.uniform(0.2, 0.5), random.uniform(0.2, 0.5)});
      part.radius = 0.1;
      return part;
    };
    const GrowingPair pair{ellipsoid(), ellipsoid(), test::random_pose(random, 0.5),
                           test::random_pose(random, 0.5)};
    const GrowthDistance d = pair.grow();
    const auto curvature = [&](const ConvexPart<double>& part, const Pose<double>& X, const Vec3<double>& n) {
      const Mat3<double> R = X.rotation(), P = Mat3<double>::Identity() - n * n.transpose();
      return Mat3<double>(R * core_support_jacobian(part, Vec3<double>(R.transpose() * n)) * R.transpose() +
                          part.radius * P);
    };
    const Vec3<double> n = d.normal_AB_W(), back = -n;
    CAPTURE(seed, d.alpha, d.error);
    // The normal is known to the square root of alpha's tolerance.
    check_growth_derivatives(pair,
                             growth_derivatives(pair.X_WA, pair.X_WB, d, curvature(pair.A, pair.X_WA, n),
                                                curvature(pair.B, pair.X_WB, back)),
                             1e-3, 1e-3);
  }
}

TEST_CASE("growth_distance: bodies without interior or bound are refused", "[collision][value]") {
  const ConvexPart<double> box = test::box_part({0.1, 0.2, 0.3});
  CHECK_THROWS_AS(growth_centre(test::half_space_part()), std::invalid_argument);
  CHECK_THROWS_AS(growth_centre(box, {0.1, 0.0, 0.0}), std::invalid_argument);
  CHECK_THROWS_AS(growth_centre(test::superquadric_part({0.1, 0.1, 0.1}), {0.01, 0.0, 0.0}),
                  std::invalid_argument);
  CHECK(growth_centre(box, {0.05, 0.0, 0.0}).inner_radius == 0.05);
  GrowingPair pair{box, box, {}, {}};
  pair.X_WB.p[0] = std::nan("");
  CHECK(pair.grow().status == ConvexStatus::unbounded);
}

TEST_CASE("growth_distance: allocates nothing", "[collision][property]") {
  const GrowingPair pair = growing_polyhedra(1, 0.5);
  const GrowthCentre c_A = growth_centre(pair.A), c_B = growth_centre(pair.B);
  const test::NoAlloc guard;
  const GrowthDistance d = growth_distance(pair.A, c_A, pair.X_WA, pair.B, c_B, pair.X_WB);
  const GrowthDerivatives J = growth_derivatives(pair.X_WA, pair.X_WB, d);
  CHECK(J.alpha_A.norm() > 0.0);
}

}  // namespace
}  // namespace abut
