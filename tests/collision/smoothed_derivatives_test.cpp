#include "collision/convex/smoothed_derivatives.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "collision/convex/support.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/convex_parts.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

using test::close;

struct SmoothedParts {
  ConvexPart<double> A, B;
  Pose<double> X_WA, X_WB;

  [[nodiscard]] ConvexDistance<double> distance() const {
    ConvexScratch scratch;
    return convex_distance(A, X_WA, B, X_WB, {}, scratch);
  }
  [[nodiscard]] WitnessDerivatives exact() const { return witness_derivatives(A, X_WA, B, X_WB, distance()); }
  [[nodiscard]] WitnessDerivatives smoothed(const SmoothingSettings& settings) const {
    SmoothingScratch scratch;
    return smoothed_derivatives(A, X_WA, B, X_WB, distance(), settings, scratch);
  }
};

SmoothedParts ellipsoids(double gap) {
  SmoothedParts pair{
      test::superquadric_part({0.3, 0.4, 0.5}), test::superquadric_part({0.5, 0.3, 0.4}), {}, {}};
  Random random(4);
  pair.X_WA = test::random_pose(random, 0.1);
  pair.X_WB = {random.quaternion(), {1.5, 0.4, 0.2}};
  const ConvexDistance<double> far = pair.distance();
  pair.X_WB.p -= (far.distance - gap) * far.normal_AB_W;
  return pair;
}

/// The largest difference of any Jacobian, by its own largest element or 0.1.
double error_of(const WitnessDerivatives& J, const WitnessDerivatives& expected) {
  return std::max({test::relative_error(J.distance_A, expected.distance_A, 0.1),
                   test::relative_error(J.distance_B, expected.distance_B, 0.1),
                   test::relative_error(J.normal_A, expected.normal_A, 0.1),
                   test::relative_error(J.normal_B, expected.normal_B, 0.1),
                   test::relative_error(J.point_A_A, expected.point_A_A, 0.1),
                   test::relative_error(J.point_A_B, expected.point_A_B, 0.1),
                   test::relative_error(J.point_B_A, expected.point_B_A, 0.1),
                   test::relative_error(J.point_B_B, expected.point_B_B, 0.1)});
}

TEST_CASE("smoothed_derivatives: of smooth bodies all estimates are near the exact ones",
          "[collision][derivative]") {
  const double gap = GENERATE(0.2, 1e-3, 0.0, -0.02);
  const SmoothedParts pair = ellipsoids(gap);
  const WitnessDerivatives exact = pair.exact();
  CAPTURE(gap);
  CHECK(exact.normal_B.norm() > 0.1);
  using enum SmoothingMethod;
  CHECK(error_of(pair.smoothed({.method = finite_differences, .epsilon = 1e-5}), exact) < 1e-7);
  // Of N samples by about sqrt(dimension/N).
  CHECK(error_of(pair.smoothed({.method = zeroth_gaussian, .epsilon = 1e-3, .samples = 4000}), exact) < 0.2);
  CHECK(error_of(pair.smoothed({.method = zeroth_gaussian, .epsilon = 1e-3, .samples = 40000}), exact) <
        0.07);
  CHECK(error_of(pair.smoothed({.method = first_gaussian, .epsilon = 1e-3, .samples = 20000}), exact) < 0.05);
  CHECK(error_of(pair.smoothed({.method = first_gumbel}), exact) < 1e-12);  // curved cores keep their own
}

TEST_CASE("smoothed_derivatives: a pair of samples knows a linear answer", "[collision][derivative]") {
  // Two balls far apart: the distance is linear along their line, and no sample disagrees.
  const SmoothedParts pair{
      test::sphere_part(0.1), test::sphere_part(0.1), {}, {Quat<double>::Identity(), {0.0, 0.0, 50.0}}};
  using enum SmoothingMethod;
  const auto along = [&](const SmoothingSettings& settings) { return pair.smoothed(settings).distance_B; };
  const SmoothingSettings few{.method = zeroth_gaussian, .epsilon = 1e-3, .samples = 100};
  // Mean of z_3^2 over 50 pairs: without a baseline, the 50 m over epsilon would be the noise.
  CHECK(std::abs(along(few)[5] - 1.0) < 0.7);
  CHECK(along(few).norm() < 3.0);
}

TEST_CASE("smoothed_derivatives: the Gumbel Jacobian is that of the mean vertex", "[collision][derivative]") {
  Random random(9);
  const ConvexPart<double> hull = test::make_hull_part(random, 12), box = test::box_part({0.3, 0.4, 0.5}),
                           segment = test::capsule_part(0.1, 0.5);
  SmoothingScratch scratch;
  for (const ConvexPart<double>* part : {&hull, &box, &segment}) {
    const auto corners = test::core_corners(*part, {});
    for (const double eps : {0.4, 0.2}) {
      const Vec3<double> n = random.unit_vector();
      const auto mean_vertex = [&](const Vec3<double>& m) {
        double sum = 0.0;
        Vec3<double> mean = Vec3<double>::Zero();
        for (const Vec3<double>& x : corners) {
          const double w = std::exp(m.dot(x) / eps);
          sum += w;
          mean += w * x;
        }
        return Vec3<double>(mean / sum);
      };
      const Mat3<double> P = Mat3<double>::Identity() - n * n.transpose();
      const Mat3<double> expected = P * test::fd_jacobian(mean_vertex, n, 1e-5) * P;
      const Mat3<double> W = gumbel_support_jacobian(*part, n, eps, 100, scratch);  // all vertices
      CAPTURE(int(part->core), eps);
      CHECK(expected.norm() > 1e-3);
      CHECK(close(W, expected, 1e-6, 1e-8));
      const Mat3<double> near = gumbel_support_jacobian(*part, n, eps, 1, scratch);
      CHECK(near.allFinite());
      CHECK((W - near).norm() <= 2.0 * W.norm());
    }
  }
}

TEST_CASE("smoothed_derivatives: less smoothing comes to the exact ones of corners",
          "[collision][derivative]") {
  // A corner over a corner: generic, with one vertex each.
  const Quat<double> on_corner(shortest_rotation(Vec3<double>(1.0, 1.0, 1.0), Vec3<double>(0.1, 0.2, -1.0)));
  const SmoothedParts pair{
      test::box_part({0.5, 0.5, 0.5}), test::box_part({0.5, 0.5, 0.5}), {}, {on_corner, {0.5, 0.45, 2.2}}};
  const WitnessDerivatives exact = pair.exact();
  using enum SmoothingMethod;
  CHECK(error_of(pair.smoothed({.method = first_gumbel, .epsilon = 1e-3}), exact) < 1e-9);
  CHECK(error_of(pair.smoothed({.method = first_gaussian, .epsilon = 1e-4}), exact) < 1e-9);
  CHECK(error_of(pair.smoothed({.method = finite_differences, .epsilon = 1e-6}), exact) < 1e-6);
  CHECK(error_of(pair.smoothed({.method = first_gumbel, .epsilon = 0.3}), exact) > 1e-2);
}

TEST_CASE("smoothed_derivatives: see the edges of a face where exact ones see none",
          "[collision][property]") {
  // Flush faces: exactly, tilting B does not move the witness point along the face.
  const SmoothedParts pair{test::box_part({0.5, 0.5, 0.5}),
                           test::box_part({0.3, 0.3, 0.3}),
                           {},
                           {Quat<double>::Identity(), {0.1, 0.05, 0.81}}};
  using enum SmoothingMethod;
  for (const SmoothingSettings& settings :
       {SmoothingSettings{.method = first_gumbel, .epsilon = 1e-2, .rings = 2},
        SmoothingSettings{.method = first_gaussian, .epsilon = 1e-2, .samples = 50},
        SmoothingSettings{.method = zeroth_gaussian, .epsilon = 1e-2, .samples = 400}}) {
    const WitnessDerivatives J = pair.smoothed(settings);
    CAPTURE(int(settings.method));
    CHECK(J.point_B_B.allFinite());
    CHECK(J.normal_B.norm() < 1e3);
    CHECK(J.point_B_B.topLeftCorner<2, 2>().norm() > 1e-2);  // [m/rad]
    CHECK(close(J.distance_B[5], 1.0, 0.0, 0.5));
  }
}

TEST_CASE("smoothed_derivatives: the same seed gives the same numbers", "[collision][determinism]") {
  const SmoothedParts pair = ellipsoids(0.1);
  for (const auto method : {SmoothingMethod::zeroth_gaussian, SmoothingMethod::first_gaussian}) {
    const SmoothingSettings one{.method = method, .seed = 7}, other{.method = method, .seed = 8};
    CHECK(pair.smoothed(one).point_A_B == pair.smoothed(one).point_A_B);
    CHECK(pair.smoothed(one).point_A_B != pair.smoothed(other).point_A_B);
  }
}

TEST_CASE("smoothed_derivatives: settings out of range are named", "[collision][value]") {
  CHECK_NOTHROW(validate(SmoothingSettings{}));
  CHECK_THROWS_WITH(validate(SmoothingSettings{.epsilon = 0.0, .samples = 3, .rings = 0}),
                    Catch::Contains("epsilon") && Catch::Contains("samples") && Catch::Contains("rings"));
}

}  // namespace
}  // namespace abut
