#include "engine/inertia_coordinates.h"

#include <catch2/catch.hpp>

#include <Eigen/Eigenvalues>

#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut::test {

TEST_CASE("inertia coordinates: every choice is the inertia of a possible body", "[engine][property]") {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    Vec6<double> c;
    for (int k = 0; k < 6; ++k) c[k] = k < 3 ? random.uniform(-4.0, 1.0) : random.uniform(-1.0, 1.0);
    const double mass = random.uniform(0.1, 10.0);
    const Mat3<double> inertia = inertia_from_coordinates(mass, c);
    const Vec3<double> principal = Eigen::SelfAdjointEigenSolver<Mat3<double>>(inertia).eigenvalues();
    REQUIRE(principal[0] > 0.0);
    REQUIRE(principal[0] + principal[1] > principal[2] * (1.0 - 1e-12));
    REQUIRE(close(inertia_from_coordinates(2.0 * mass, c), Mat3<double>(2.0 * inertia), 1e-12, 0.0));
    REQUIRE(close(inertia_coordinates(mass, inertia), c, 1e-6, 1e-6));
  }
}

TEST_CASE("inertia coordinates: those of a box", "[engine][value]") {
  // Second moments of a box of half extents a: m a^2/3 along each axis.
  const double mass = 2.0, a = 0.3, b = 0.2, c = 0.1;
  const Mat3<double> inertia =
      (mass / 3.0 * Vec3<double>(b * b + c * c, a * a + c * c, a * a + b * b)).asDiagonal();
  const Vec6<double> coordinates = inertia_coordinates(mass, inertia);
  CHECK(coordinates[0] == Approx(std::log(a / std::sqrt(3.0))));
  CHECK(coordinates[1] == Approx(std::log(b / std::sqrt(3.0))));
  CHECK(coordinates[2] == Approx(std::log(c / std::sqrt(3.0))));
  CHECK(coordinates.tail<3>().isZero(1e-15));
  // Moments that break the triangle inequality are no body's.
  CHECK_FALSE(inertia_coordinates(1.0, Vec3<double>(1.0, 1.0, 3.0).asDiagonal()).allFinite());
}

TEST_CASE("inertia coordinates: their directions are those of differences", "[engine][derivative]") {
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    Vec6<double> c;
    for (int k = 0; k < 6; ++k) c[k] = random.uniform(-1.0, 1.0);
    for (int k = 0; k < 6; ++k) {
      const Mat3<double> direction = inertia_coordinate_direction(1.5, c, k);
      const auto along = [&](double x) {
        Vec6<double> moved = c;
        moved[k] = x;
        return inertia_from_coordinates(1.5, moved);
      };
      const double h = 1e-5;
      const Mat3<double> difference = (along(c[k] + h) - along(c[k] - h)) / (2.0 * h);
      REQUIRE(close(direction, difference, 1e-7, 1e-8));
    }
  }
}

}  // namespace abut::test
