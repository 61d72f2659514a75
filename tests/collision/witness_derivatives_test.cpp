#include "collision/convex/witness_derivatives.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>

#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/convex_parts.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

using test::close;

struct PosedParts {
  ConvexPart<double> A, B;
  Pose<double> X_WA, X_WB;

  [[nodiscard]] ConvexDistance<double> distance() const {
    return moved(Vec6<double>::Zero(), Vec6<double>::Zero());
  }
  /// At poses after tangents.
  [[nodiscard]] ConvexDistance<double> moved(const Vec6<double>& by_A, const Vec6<double>& by_B) const {
    ConvexScratch scratch;
    return convex_distance(A, retract<double>(X_WA, by_A), B, retract<double>(X_WB, by_B), {}, scratch);
  }
};

/// A weighted sum of everything.
double weighted_answer(const ConvexDistance<double>& d, const WitnessBar& bar) {
  return bar.distance * d.distance + bar.normal.dot(d.normal_AB_W) + bar.point_A.dot(d.point_A_W) +
         bar.point_B.dot(d.point_B_W);
}

/// dL/dt along a random motion of both, against differences with steps h, h/2, ...; false where these do not
/// agree with themselves.
bool check_along(const PosedParts& pair, Random& random, double h, double tolerance) {
  const WitnessBar bar{random.uniform(-1.0, 1.0), test::random_vector(random), test::random_vector(random),
                       test::random_vector(random)};
  const Vec6<double> by_A = test::random_vector<6>(random), by_B = test::random_vector<6>(random);
  const auto f = [&](double t) { return weighted_answer(pair.moved(t * by_A, t * by_B), bar); };
  const test::SweptDerivative differences = test::fd_sweep(f, 0.0, h, 1e-6, 1e-7);
  const WitnessPoseBar pose_bar =
      witness_vjp(witness_derivatives(pair.A, pair.X_WA, pair.B, pair.X_WB, pair.distance()), bar);
  const double expected = pose_bar.A.dot(by_A) + pose_bar.B.dot(by_B);
  if (differences.disagrees_with_itself) return false;
  const ConvexDistance<double> d = pair.distance();
  CAPTURE(int(pair.A.core), int(pair.B.core), d.distance, d.core_distance, d.is_polished, d.witness_A.count,
          d.witness_B.count, differences.error);
  CHECK(expected != 0.0);
  CHECK(close(expected, differences.value, tolerance, tolerance));
  return true;
}

TEST_CASE("witness_derivatives: every pair of kinds agrees with differences", "[collision][derivative]") {
  int checked = 0, skipped = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    PosedParts pair{test::random_part(random), test::random_part(random), test::random_pose(random, 0.7),
                    test::random_pose(random, 0.7)};
    CAPTURE(seed);
    ++(check_along(pair, random, 1e-4, 2e-5) ? checked : skipped);
  }
  CHECK(checked > 320);  // others are near a kink
}

TEST_CASE("witness_derivatives: smooth bodies apart, touching and deep", "[collision][derivative]") {
  for (const double core_gap : {0.3, 1e-3, 1e-9, 0.0, -1e-9, -1e-3, -0.02}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      Random random(seed);
      const auto ellipsoid = [&] {
        return test::superquadric_part(
            {random.uniform(0.3, 0.6), random.uniform(0.3, 0.6), random.uniform(0.3, 0.6)});
      };
      PosedParts pair{ellipsoid(), seed % 3 ? ellipsoid() : test::sphere_part(0.4),
                      test::random_pose(random, 0.2), test::random_pose(random, 3.0)};
      pair.B.X_BP = test::random_pose(random, 0.2);
      const ConvexDistance<double> far = pair.distance();
      if (far.distance < 0.1) continue;
      pair.X_WB.p -= (far.distance - core_gap) * far.normal_AB_W;
      CAPTURE(seed, core_gap, pair.distance().distance);
      REQUIRE(std::abs(pair.distance().distance - core_gap) < 1e-8);
      CHECK(check_along(pair, random, 1e-3, 1e-6));
    }
  }
}

TEST_CASE("witness_derivatives: at corners, edges and faces", "[collision][derivative]") {
  const ConvexPart<double> box = test::box_part({0.5, 0.5, 0.5}),
                           rounded = test::box_part({0.5, 0.5, 0.5}, 0.1),
                           cylinder = test::cone_part(0.3, 0.3, 0.5), ball = test::sphere_part(0.3);
  const Quat<double> on_edge(Eigen::AngleAxisd(0.25 * std::numbers::pi, Vec3<double>::UnitX()));
  const Quat<double> on_corner(shortest_rotation(Vec3<double>(1.0, 1.0, 1.0), Vec3<double>(0.1, 0.2, -1.0)));
  const Quat<double> crossed(Quat<double>(Eigen::AngleAxisd(1.2, Vec3<double>::UnitZ())) * on_edge);
  const Quat<double> lying(Eigen::AngleAxisd(0.45 * std::numbers::pi, Vec3<double>::UnitX()));
  struct Case {
    const char* what;
    const ConvexPart<double>*A, *B;
    Pose<double> X_WA, X_WB;
  };
  const std::vector<Case> cases = {
      {"corner over face", &box, &box, {}, {on_corner, {0.1, 0.05, 1.4}}},
      {"corner in face", &box, &box, {}, {on_corner, {0.1, 0.05, 1.3}}},
      {"edge over edge", &box, &box, {on_edge, Vec3<double>::Zero()}, {crossed, {0.1, 0.02, 1.5}}},
      {"edge in edge", &box, &box, {on_edge, Vec3<double>::Zero()}, {crossed, {0.1, 0.02, 1.35}}},
      {"corner beside edge", &box, &box, {on_edge, Vec3<double>::Zero()}, {on_corner, {0.1, 0.02, 1.7}}},
      {"corner over corner", &box, &box, {}, {on_corner, {0.5, 0.45, 2.2}}},
      {"ball over corner", &box, &ball, {}, {Quat<double>::Identity(), {0.6, 0.65, 0.7}}},
      {"ball in corner, its centre still out",
       &box,
       &ball,
       {},
       {Quat<double>::Identity(), {0.55, 0.6, 0.58}}},
      {"ball deep in box", &box, &ball, {}, {Quat<double>::Identity(), {0.1, 0.05, 0.4}}},
      {"rounded corner over face", &box, &rounded, {}, {on_corner, {0.1, 0.05, 1.45}}},
      {"rim of a cylinder over face", &box, &cylinder, {}, {lying, {0.2, 0.1, 0.9}}},
      {"cylinder beside edge",
       &box,
       &cylinder,
       {on_edge, Vec3<double>::Zero()},
       {Quat<double>::Identity(), {0.1, 1.2, 0.02}}},
      {"ball over cylinder", &cylinder, &ball, {}, {Quat<double>::Identity(), {0.1, 0.15, 0.9}}},
  };
  for (const Case& c : cases) {
    Random random(7);
    CAPTURE(c.what);
    for (int i = 0; i < 4; ++i) CHECK(check_along({*c.A, *c.B, c.X_WA, c.X_WB}, random, 1e-4, 1e-6));
  }
}

TEST_CASE("witness_derivatives: at a half-space", "[collision][derivative]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const ConvexPart<double> part = test::random_part(random), ground = test::half_space_part();
    PosedParts pair{ground, part, test::random_pose(random), test::random_pose(random)};
    if (seed % 2) std::swap(pair.A, pair.B);
    CAPTURE(seed);
    CHECK(check_along(pair, random, 1e-5, 1e-5));
  }
}

TEST_CASE("witness_derivatives: moving both together moves the answer along", "[collision][property]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const PosedParts pair{test::random_part(random), test::random_part(random),
                          test::random_pose(random, 0.7), test::random_pose(random, 0.7)};
    const ConvexDistance<double> d = pair.distance();
    const WitnessDerivatives J = witness_derivatives(pair.A, pair.X_WA, pair.B, pair.X_WB, d);
    const Vec6<double> twist = test::random_vector<6>(random);  // about the origin of W
    const auto at_origin_of = [&](const Pose<double>& X) {
      Vec6<double> tangent = twist;
      tangent.tail<3>() = point_velocity(twist, X.p);
      return tangent;
    };
    const Vec6<double> A = at_origin_of(pair.X_WA), B = at_origin_of(pair.X_WB);
    CAPTURE(seed, int(pair.A.core), int(pair.B.core), d.distance, d.is_polished);
    const double slack = 1e-8 * (1.0 + J.normal_A.norm() + J.point_A_A.norm() + J.point_B_B.norm());
    CHECK(close(J.distance_A.dot(A) + J.distance_B.dot(B), 0.0, 0.0, slack));
    CHECK(close(J.normal_A * A + J.normal_B * B, twist.head<3>().cross(d.normal_AB_W), 0.0, slack));
    CHECK(close(J.point_A_A * A + J.point_A_B * B, point_velocity(twist, d.point_A_W), 0.0, slack));
    CHECK(close(J.point_B_A * A + J.point_B_B * B, point_velocity(twist, d.point_B_W), 0.0, slack));
  }
}

TEST_CASE("witness_derivatives: stay bounded where there are none", "[collision][property]") {
  const ConvexPart<double> box = test::box_part({0.5, 0.5, 0.5}),
                           ball = test::superquadric_part({0.5, 0.5, 0.5});
  const double least_radius = 1e-4;
  for (const Vec3<double>& p :
       {Vec3<double>(1.0, 1.0, 1.0), Vec3<double>(0.0, 0.0, 0.0), Vec3<double>(0.0, 0.0, 1.0)}) {
    for (const ConvexPart<double>* part : {&box, &ball}) {
      const PosedParts pair{*part, *part, {}, {Quat<double>::Identity(), p}};
      const WitnessDerivatives J =
          witness_derivatives(pair.A, pair.X_WA, pair.B, pair.X_WB, pair.distance(), least_radius);
      CAPTURE(p.transpose());
      CHECK(J.normal_A.allFinite());
      CHECK(J.point_B_A.allFinite());
      CHECK(J.normal_B.norm() < 10.0 / least_radius);
    }
  }
}

}  // namespace
}  // namespace abut
