#include "collision/convex/convex_distance.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "collision/capsule_distance.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/convex_parts.h"
#include "tests/support/no_alloc.h"

namespace abut {
namespace {

using test::close;

ConvexDistance<double> core_query(const ConvexPart<double>& A, const Pose<double>& X_WA,
                                  const ConvexPart<double>& B, const Pose<double>& X_WB,
                                  const ConvexDistanceSettings& settings = {}) {
  ConvexScratch scratch;
  return convex_distance(A, X_WA, B, X_WB, settings, scratch);
}

Pose<double> shifted_to(double x, double y, double z) { return {Quat<double>::Identity(), {x, y, z}}; }

/// g(n): the gap between two planes with normal n that touch A and B, never above phi.
double gap_along(const ConvexPart<double>& A, const Pose<double>& X_WA, const ConvexPart<double>& B,
                 const Pose<double>& X_WB, const Vec3<double>& n) {
  const Pose<double> X_WP = X_WA * A.X_BP, X_WQ = X_WB * B.X_BP;
  return n.dot(X_WQ.p - X_WP.p) - support_value(A, Vec3<double>(X_WP.q.conjugate() * n)) -
         support_value(B, Vec3<double>(X_WQ.q.conjugate() * Vec3<double>(-n)));
}

/// What makes an answer right: the points lie in A and B, their difference along n is phi, and no point of A
/// or B reaches farther along n than they do. Where phi > 0 that proves that phi is the distance.
void check_certificate(const ConvexPart<double>& A, const Pose<double>& X_WA, const ConvexPart<double>& B,
                       const Pose<double>& X_WB, const ConvexDistance<double>& d, double tolerance) {
  CAPTURE(int(A.core), int(B.core), A.radius, B.radius, A.eps1, A.eps2, B.eps1, B.eps2, d.distance, d.error,
          d.gjk_iterations, d.epa_iterations, d.polish_iterations, d.is_polished);
  REQUIRE(d.status == ConvexStatus::converged);
  REQUIRE(close(d.normal_AB_W.norm(), 1.0, 1e-14, 0.0));
  REQUIRE(close(d.point_B_W, Vec3<double>(d.point_A_W + d.distance * d.normal_AB_W), 0.0, tolerance));
  REQUIRE(close(gap_along(A, X_WA, B, X_WB, d.normal_AB_W), d.distance, 0.0, tolerance));
  Random random(99);
  const auto reaches_no_farther = [&](const ConvexPart<double>& part, const Pose<double>& X_WB_of,
                                      const Vec3<double>& x_W) {
    const Pose<double> X_WP = X_WB_of * part.X_BP;
    for (int i = 0; i < 20; ++i) {
      const Vec3<double> n = random.unit_vector();
      if (n.dot(inverse_point(X_WP, x_W)) > support_value(part, n) + tolerance) return false;
    }
    return true;
  };
  REQUIRE(reaches_no_farther(A, X_WA, d.point_A_W));
  REQUIRE(reaches_no_farther(B, X_WB, d.point_B_W));
}

TEST_CASE("convex_distance: polyhedra agree with brute force", "[collision][value]") {
  int apart = 0, deep = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    Random random(seed);
    const auto part = [&](bool is_hull) {
      return is_hull ? test::make_hull_part(random, 10)
                     : test::box_part(
                           {random.uniform(0.1, 0.5), random.uniform(0.1, 0.5), random.uniform(0.1, 0.5)});
    };
    const ConvexPart<double> A = part(seed % 3 != 0), B = part(seed % 2 != 0);
    const Pose<double> X_WA = test::random_pose(random, 0.7);
    Pose<double> X_WB = test::random_pose(random, 0.7);
    if (seed % 5 == 0) X_WB.q = X_WA.q;
    if (seed % 7 == 0) X_WB.p = X_WA.p;
    const ConvexDistance<double> d = core_query(A, X_WA, B, X_WB);
    const auto corners_A = test::core_corners(A, X_WA), corners_B = test::core_corners(B, X_WB);
    const double expected = d.distance > 0.0 ? test::hull_distance(corners_A, corners_B)
                                             : -test::hull_depth(corners_A, corners_B);
    CAPTURE(seed);
    check_certificate(A, X_WA, B, X_WB, d, 1e-13);
    REQUIRE(close(d.distance, expected, 0.0, 1e-13));
    ++(d.distance > 0.0 ? apart : deep);
  }
  CHECK(apart > 30);
  CHECK(deep > 30);
}

TEST_CASE("convex_distance: witness points of polyhedra are means of the corners that they name",
          "[collision][value]") {
  int named = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const ConvexPart<double> A = test::make_hull_part(random, 12), B = test::make_hull_part(random, 8);
    const Pose<double> X_WA = test::random_pose(random, 0.7), X_WB = test::random_pose(random, 0.7);
    const ConvexDistance<double> d = core_query(A, X_WA, B, X_WB);
    CAPTURE(seed, d.distance);
    const auto check = [&](const ConvexPart<double>& part, const CoreWitness& witness) {
      for (int i = 0; i < witness.count; ++i, ++named) {
        const int vertex = witness.vertices[at(i)];
        REQUIRE(vertex >= 0);
        CHECK(close(witness.points[at(i)], part.polyhedron->vertices[at(vertex)], 0.0, 1e-14));
      }
    };
    check(A, d.witness_A);
    check(B, d.witness_B);
  }
  CHECK(named > 600);
}

TEST_CASE("convex_distance: every pair of kinds is certified, apart and deep", "[collision][property]") {
  int deep = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    Random random(seed);
    const bool is_polygon_A = seed > 3000, is_polygon_B = seed > 3800;
    const ConvexPart<double> A = is_polygon_A ? test::random_polygon_part(random) : test::random_part(random),
                             B = is_polygon_B ? test::random_polygon_part(random) : test::random_part(random);
    const Pose<double> X_WA = test::random_pose(random, 0.7), X_WB = test::random_pose(random, 0.7);
    const ConvexDistance<double> d = core_query(A, X_WA, B, X_WB);
    CAPTURE(seed);
    check_certificate(A, X_WA, B, X_WB, d, 1e-11);
    if (d.distance >= 0.0) continue;
    ++deep;
    // A shorter way out there is none, but by the error that is admitted.
    for (int i = 0; i < 200; ++i) {
      const Vec3<double> n = i % 2 ? random.unit_vector()
                                   : Vec3<double>((d.normal_AB_W + 0.1 * random.unit_vector()).normalized());
      REQUIRE(gap_along(A, X_WA, B, X_WB, n) <= d.distance + d.error + 1e-13);
    }
  }
  CHECK(deep > 800);
}

TEST_CASE("convex_distance: capsules agree with their closed form", "[collision][value]") {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    const double r_A = random.uniform(0.05, 0.3), r_B = random.uniform(0.05, 0.3),
                 h_A = random.uniform(0.1, 0.5), h_B = random.uniform(0.1, 0.5);
    const ConvexPart<double> A = test::capsule_part(r_A, h_A), B = test::capsule_part(r_B, h_B);
    const Pose<double> X_WA = test::random_pose(random, 0.3);
    Pose<double> X_WB = test::random_pose(random, 0.3);
    if (seed % 4 == 1) X_WB.q = X_WA.q;                                            // parallel
    if (seed % 4 == 2) X_WB.p = X_WA.p;                                            // centre lines cross
    if (seed % 4 == 3) X_WB = {X_WA.q, X_WA * Vec3<double>(0.0, 0.0, 0.3 * h_A)};  // in one line
    const auto ends = [](const Pose<double>& X, double h, double r) {
      return CapsuleEnds<double>{X * Vec3<double>(0.0, 0.0, -h), X * Vec3<double>(0.0, 0.0, h), r};
    };
    const auto expected = capsule_distance(ends(X_WA, h_A, r_A), ends(X_WB, h_B, r_B));
    const ConvexDistance<double> d = core_query(A, X_WA, B, X_WB);
    CAPTURE(seed, r_A, r_B, h_A, h_B);
    REQUIRE(close(d.distance, expected.distance, 0.0, 1e-14));
    REQUIRE(d.status == ConvexStatus::converged);
    REQUIRE(close(d.normal_AB_W.norm(), 1.0, 1e-14, 0.0));
    if (seed % 4 == 0) REQUIRE(close(d.normal_AB_W, expected.normal, 0.0, 1e-10));
    if (seed % 4 > 1)
      REQUIRE(std::abs(d.normal_AB_W.dot(X_WA.q * Vec3<double>(Vec3<double>::UnitZ()))) < 1e-12);
  }
}

TEST_CASE("convex_distance: bodies that are aligned, flush, touching or in one place", "[collision][value]") {
  const ConvexPart<double> box = test::box_part({0.5, 0.5, 0.5}), plate = test::box_part({1.0, 1.0, 0.01}),
                           ball = test::sphere_part(0.5), cylinder = test::cone_part(0.5, 0.5, 0.5),
                           ellipsoid = test::superquadric_part({0.3, 0.4, 0.5}),
                           boxlike = test::superquadric_part({0.5, 0.5, 0.5}, 0.1, 0.1);
  struct Case {
    const char* what;
    const ConvexPart<double>*A, *B;
    Pose<double> X_WB;
    double distance;
    Vec3<double> normal;  // 0: any of several
    double tolerance = 1e-13;
    bool is_certain =
        true;  // false: many ways out are equally long, and the error stays larger than asked for
  };
  const Vec3<double> x = Vec3<double>::UnitX(), z = Vec3<double>::UnitZ(), any = Vec3<double>::Zero();
  const Quat<double> quarter(Eigen::AngleAxisd(0.25 * std::numbers::pi, z));
  const std::vector<Case> cases = {
      {"box on box, apart", &box, &box, shifted_to(0, 0, 1.25), 0.25, z},
      {"box on box, touching", &box, &box, shifted_to(0, 0, 1.0), 0.0, z},
      {"box on box, shifted", &box, &box, shifted_to(0.3, -0.2, 0.99), -0.01, z},
      {"box on box, turned", &box, &box, {quarter, {0, 0, 1.0}}, 0.0, z},
      {"box beside box, faces in one plane", &box, &box, shifted_to(1.125, 0, 0), 0.125, x},
      {"box in box", &box, &box, shifted_to(0, 0, 0), -1.0, any},
      {"edge to edge in one line", &box, &box, shifted_to(1.0, 0, 1.0), 0.0, any},
      {"corner to corner", &box, &box, shifted_to(1.0, 1.0, 1.0), 0.0, any},
      {"plate in plate", &plate, &plate, shifted_to(0, 0, 0), -0.02, any},
      {"plate through box", &box, &plate, shifted_to(0, 0, 0.1), -0.41, z},
      {"ball on box", &box, &ball, shifted_to(0.1, 0.2, 1.0), 0.0, z},
      {"ball in box", &box, &ball, shifted_to(0, 0, 0.25), -0.75, z},
      {"ball in ball", &ball, &ball, shifted_to(0, 0, 0), -1.0, any},
      {"ball at the edge of a box", &box, &ball, shifted_to(1.0, 0, 0.5), 0.0, x},
      {"cylinder on box", &box, &cylinder, shifted_to(0.2, 0, 1.0), 0.0, z},
      {"cylinder on cylinder", &cylinder, &cylinder, shifted_to(0, 0, 0.99), -0.01, z},
      {"cylinder beside cylinder", &cylinder, &cylinder, shifted_to(1.0, 0, 0.2), 0.0, x},
      {"cylinder in cylinder", &cylinder, &cylinder, shifted_to(0, 0, 0), -1.0, any, 1e-13, false},
      {"ellipsoid on ellipsoid", &ellipsoid, &ellipsoid, shifted_to(0, 0, 1.0), 0.0, z},
      {"ellipsoid in ellipsoid", &ellipsoid, &ellipsoid, shifted_to(0, 0, 0), -0.6, any},
      {"ellipsoid on box", &box, &ellipsoid, shifted_to(0, 0, 0.875), -0.125, z},
      {"superquadric on superquadric", &boxlike, &boxlike, shifted_to(0, 0, 1.0), 0.0, z, 2e-12},
      {"superquadric in superquadric", &boxlike, &boxlike, shifted_to(0, 0, 0), -1.0, any, 1e-9, false},
      {"superquadric beside box", &box, &boxlike, shifted_to(0.99, 0, 0), -0.01, x, 2e-12},
  };
  Random random(17);
  for (const Case& c : cases) {
    for (int turn = 0; turn < 6; ++turn) {
      const Pose<double> X_WA = turn == 0 ? Pose<double>{} : test::random_pose(random, 10.0);
      const ConvexDistance<double> d = core_query(*c.A, X_WA, *c.B, X_WA * c.X_WB);
      CAPTURE(c.what, turn, d.distance, d.error, d.normal_AB_W.transpose(), d.gjk_iterations,
              d.epa_iterations, d.is_polished);
      if (c.is_certain) CHECK(d.status == ConvexStatus::converged);
      CHECK(close(d.distance, c.distance, 0.0, c.tolerance));
      CHECK(std::abs(d.distance - c.distance) <= d.error + 1e-14);
      CHECK(close(d.normal_AB_W.norm(), 1.0, 1e-14, 0.0));
      CHECK(close(d.point_B_W, Vec3<double>(d.point_A_W + d.distance * d.normal_AB_W), 0.0,
                  10.0 * c.tolerance));
      if (c.normal.norm() > 0.0) CHECK(close(d.normal_AB_W, X_WA.q * c.normal, 0.0, 1e-9));
      // The other way round, the same distance.
      const ConvexDistance<double> back = core_query(*c.B, X_WA * c.X_WB, *c.A, X_WA);
      CHECK(close(back.distance, c.distance, 0.0, c.tolerance));
    }
  }
}

bool has_sharp_core(const ConvexPart<double>& part) {
  return part.core != ConvexCore::superquadric && part.core != ConvexCore::cone;
}

TEST_CASE("convex_distance: phi is continuous where bodies come to touch", "[collision][property]") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const ConvexPart<double> A = test::random_part(random), B = test::random_part(random);
    const Pose<double> X_WA = test::random_pose(random, 0.5);
    Pose<double> X_WB = test::random_pose(random, 3.0);
    const ConvexDistance<double> far = core_query(A, X_WA, B, X_WB);
    if (far.distance < 0.1) continue;
    const Vec3<double> n = far.normal_AB_W, start = X_WB.p;
    // Pushed along the normal, the witness points meet; the cores do a little later.
    for (const double gap : {1e-2, 1e-5, 1e-8, 1e-11, 1e-14, 0.0, -1e-14, -1e-11, -1e-8, -1e-5}) {
      X_WB.p = start - (far.core_distance - gap) * n;
      const ConvexDistance<double> d = core_query(A, X_WA, B, X_WB);
      INFO("gap " << gap << " core distance " << d.core_distance << " error " << d.error);
      CAPTURE(seed, int(A.core), int(B.core), A.eps1, A.eps2, B.eps1, B.eps2, d.core_distance, d.error,
              d.gjk_iterations, d.epa_iterations, d.is_polished);
      REQUIRE(d.error <= (d.is_polished ? 1e-5 : 1e-8));
      if (has_sharp_core(A) && has_sharp_core(B)) REQUIRE(d.status == ConvexStatus::converged);
      // Exactly so while apart, and to first order beyond.
      const double slack = 4e-14 + std::min(d.error, 1e-8);
      REQUIRE(d.core_distance >= gap - slack);
      if (gap >= 0.0) REQUIRE(d.core_distance <= gap + slack);
      if (gap < 0.0) REQUIRE(d.core_distance <= -gap + slack);  // points and segments pass through each other
      REQUIRE(d.normal_AB_W.allFinite());
    }
  }
}

TEST_CASE("convex_distance: the normal on a face is to rounding however little a point is off its diagonals",
          "[collision][value]") {
  const std::array<Vec2<double>, 4> corners{Vec2<double>(-0.08, -0.06), Vec2<double>(0.08, -0.06),
                                            Vec2<double>(0.08, 0.06), Vec2<double>(-0.08, 0.06)};
  const ConvexPart<double> sphere = test::sphere_part(0.08),
                           plate = make_convex_part(make_padded_polygon(corners, 0.04));
  ConvexScratch scratch;
  for (double aside = 1e-14; aside < 1e-2; aside *= 3.0) {
    const Pose<double> X_WB{Quat<double>::Identity(), {0.0, aside, 0.1201}};
    const ConvexDistance<double> found = convex_distance(sphere, {}, plate, X_WB, {}, scratch);
    CAPTURE(aside, found.normal_AB_W.transpose());
    CHECK(found.status == ConvexStatus::converged);
    CHECK(found.normal_AB_W.head<2>().norm() <= 1e-15);
  }
}

TEST_CASE("convex_distance: changes neither with the size of everything nor with the frame",
          "[collision][property]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const ConvexPart<double> A = test::random_part(random), B = test::random_part(random);
    const Pose<double> X_WA = test::random_pose(random, 0.6), X_WB = test::random_pose(random, 0.6);
    const ConvexDistance<double> d = core_query(A, X_WA, B, X_WB);
    const double slack = std::max(1e-12, 2.0 * d.error);
    CAPTURE(seed, int(A.core), int(B.core), d.distance);
    for (const double scale : {1e-9, 1e9}) {
      const auto scaled_part = [&](ConvexPart<double> part) {
        part.extents *= scale;
        part.radius *= scale;
        part.size *= scale;
        part.X_BP.p *= scale;
        if (part.polyhedron) {
          PolyhedronGraph<double> graph = *part.polyhedron;
          for (Vec3<double>& x : graph.vertices) x *= scale;
          part.polyhedron = std::make_shared<const PolyhedronGraph<double>>(graph);
        }
        return part;
      };
      const ConvexDistance<double> other =
          core_query(scaled_part(A), {X_WA.q, scale * X_WA.p}, scaled_part(B), {X_WB.q, scale * X_WB.p});
      REQUIRE(other.status == ConvexStatus::converged);
      REQUIRE(close(other.distance / scale, d.distance, 0.0, slack));
    }
    const Pose<double> X = test::random_pose(random, 5.0);
    const ConvexDistance<double> moved = core_query(A, X * X_WA, B, X * X_WB),
                                 swapped = core_query(B, X_WB, A, X_WA);
    REQUIRE(close(moved.distance, d.distance, 0.0, slack));
    REQUIRE(close(swapped.distance, d.distance, 0.0, slack));
    if (d.distance > 0.0) {
      REQUIRE(close(moved.normal_AB_W, X.q * d.normal_AB_W, 0.0, 1e-8));
      REQUIRE(close(swapped.normal_AB_W, Vec3<double>(-d.normal_AB_W), 0.0, 1e-8));
    }
  }
}

TEST_CASE("convex_distance: bodies of very different sizes", "[collision][value]") {
  const ConvexPart<double> ground = test::box_part({1e3, 1e3, 1.0}),
                           grain = test::box_part({1e-3, 1e-3, 1e-3});
  const ConvexPart<double> pebble = test::superquadric_part({1e-3, 2e-3, 1e-3});
  for (const double gap : {1e-2, 1e-6, 0.0, -1e-6}) {
    const ConvexDistance<double> d = core_query(ground, {}, grain, shifted_to(300.0, -200.0, 1.001 + gap));
    CHECK(close(d.distance, gap, 0.0, 1e-12));  // rounding by the size of the ground
    CHECK(close(d.normal_AB_W, Vec3<double>(Vec3<double>::UnitZ()), 0.0, 1e-9));
    const ConvexDistance<double> of_pebble =
        core_query(ground, {}, pebble, shifted_to(300.0, -200.0, 1.001 + gap));
    CHECK(close(of_pebble.distance, gap, 0.0, 1e-12));
    CHECK(close(of_pebble.normal_AB_W, Vec3<double>(Vec3<double>::UnitZ()), 0.0, 1e-9));
  }
}

TEST_CASE("convex_distance: in single precision, as good as that is", "[collision][value]") {
  ConvexScratch scratch;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const ConvexPart<double> A = test::random_part(random), B = test::random_part(random);
    Pose<double> X_WA = test::random_pose(random, 0.7), X_WB = test::random_pose(random, 0.7);
    if (seed % 5 == 0) X_WB = X_WA;
    const ConvexDistance<double> d = core_query(A, X_WA, B, X_WB);
    const ConvexDistance<float> f = convex_distance(A.cast<float>(), X_WA.cast<float>(), B.cast<float>(),
                                                    X_WB.cast<float>(), {}, scratch);
    CAPTURE(seed, int(A.core), int(B.core), A.eps1, A.eps2, B.eps1, B.eps2, d.distance, f.distance, f.error,
            f.is_polished, int(f.status));
    REQUIRE(f.normal_AB_W.allFinite());
    REQUIRE(close(f.normal_AB_W.norm(), 1.0f, 1e-6, 0.0));
    REQUIRE(std::abs(double(f.distance) - d.distance) <= double(f.error) + d.error + 1e-5);
    REQUIRE(f.error < 1e-3f);
  }
}

TEST_CASE("convex_distance: a half-space touches what is lowest", "[collision][value]") {
  const ConvexPart<double> ground = test::half_space_part();
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const ConvexPart<double> part = test::random_part(random);
    const Pose<double> X_WA = test::random_pose(random), X_WB = test::random_pose(random);
    const ConvexDistance<double> d = core_query(ground, X_WA, part, X_WB),
                                 back = core_query(part, X_WB, ground, X_WA);
    const Vec3<double> n = X_WA.q * Vec3<double>(Vec3<double>::UnitZ());
    CAPTURE(seed, int(part.core));
    REQUIRE(d.status == ConvexStatus::converged);
    REQUIRE(close(d.normal_AB_W, n, 0.0, 1e-15));
    REQUIRE(close(n.dot(d.point_A_W - X_WA.p), 0.0, 0.0, 1e-14));
    REQUIRE(close(d.point_B_W, Vec3<double>(d.point_A_W + d.distance * n), 0.0, 1e-14));
    const Pose<double> X_WQ = X_WB * part.X_BP;
    REQUIRE(close(
        d.distance,
        n.dot(X_WQ.p - X_WA.p) - support_value(part, Vec3<double>(X_WQ.q.conjugate() * Vec3<double>(-n))),
        0.0, 1e-14));
    REQUIRE(back.distance == d.distance);
    REQUIRE(back.normal_AB_W == -d.normal_AB_W);
    REQUIRE(back.point_A_W == d.point_B_W);
  }
  CHECK(core_query(ground, {}, ground, {}).status == ConvexStatus::unbounded);
}

TEST_CASE("convex_distance: started from the last answer it finds the same, sooner",
          "[collision][property]") {
  int cold = 0, warm_iterations = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const ConvexPart<double> A = test::random_part(random), B = test::random_part(random);
    const Pose<double> X_WA = test::random_pose(random, 0.7), X_WB = test::random_pose(random, 0.7);
    ConvexScratch scratch;
    ConvexWarmStart warm;
    (void)convex_distance(A, X_WA, B, X_WB, {}, scratch, &warm);
    const Pose<double> moved = retract<double>(X_WB, test::random_vector<6>(random, 1e-3));
    const ConvexDistance<double> first = core_query(A, X_WA, B, moved),
                                 second = convex_distance(A, X_WA, B, moved, {}, scratch, &warm);
    CAPTURE(seed, int(A.core), int(B.core), first.distance);
    REQUIRE(second.status == ConvexStatus::converged);
    REQUIRE(close(first.distance, second.distance, 0.0, std::max(1e-12, first.error + second.error)));
    cold += first.gjk_iterations;
    warm_iterations += second.gjk_iterations;
  }
  CHECK(warm_iterations < 0.6 * cold);
}

TEST_CASE("convex_distance: says so where it stops early", "[collision][value]") {
  Random random(5);
  const ConvexPart<double> A = test::make_hull_part(random, 60), B = test::make_hull_part(random, 60);
  const Pose<double> X_WB{Quat<double>::Identity(), {0.3, 0.2, 0.1}};
  const double expected = core_query(A, {}, B, X_WB).distance;
  ConvexDistanceSettings settings;
  settings.epa.max_iterations = 2;
  const ConvexDistance<double> d = core_query(A, {}, B, X_WB, settings);
  CHECK(d.status == ConvexStatus::inaccurate);
  CHECK(d.error > 1e-6);
  CHECK(std::abs(d.distance - expected) <= d.error);

  const Pose<double> far{Quat<double>::Identity(), {3.0, 0.2, 0.1}};
  const double far_distance = core_query(A, {}, B, far).distance;
  settings = {};
  settings.cutoff = 0.1;
  const ConvexDistance<double> beyond = core_query(A, {}, B, far, settings);
  CHECK(beyond.status == ConvexStatus::beyond);
  CHECK(beyond.distance > 0.1);
  CHECK(beyond.distance <= far_distance + 1e-14);
  CHECK(core_query(A, {}, B, X_WB, settings).distance == Approx(expected));

  Pose<double> broken = X_WB;
  broken.p[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK(core_query(A, {}, B, broken).status == ConvexStatus::unbounded);
}

TEST_CASE("convex_distance: allocates nothing the second time", "[collision][property]") {
  ConvexScratch scratch;
  for (const int turn : {0, 1}) {
    Random random(23);
    for (int i = 0; i < 50; ++i) {
      const ConvexPart<double> A = test::random_part(random), B = test::random_part(random);
      const Pose<double> X_WA = test::random_pose(random, 0.4), X_WB = test::random_pose(random, 0.4);
      const test::NoAlloc guard;
      const ConvexDistance<double> d = convex_distance(A, X_WA, B, X_WB, {}, scratch);
      const auto allocations = guard.allocations();
      CHECK(d.status == ConvexStatus::converged);
      if (turn == 1) CHECK(allocations == 0);
    }
  }
}

}  // namespace
}  // namespace abut
