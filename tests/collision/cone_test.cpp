#include "collision/sdf/cone.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "collision/sdf/parameter_vjp.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/dual.h"
#include "engine/pack.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

using test::close;
using Parameters = std::array<double, 5>;

/// Every third has a tip, at either end; every third is a cylinder.
Parameters random_cone(Random& random, int i) {
  const double a = random.uniform(0.1, 1.0), b = i % 3 == 0 ? 0.0 : i % 3 == 1 ? a : random.uniform(0.1, 1.0);
  const double half_length = random.uniform(0.1, 1.0);
  const double smoothing = random.uniform(0.01, 0.1) * std::min(a, half_length);
  return i % 2 == 0 ? Parameters{a, b, half_length, smoothing} : Parameters{b, a, half_length, smoothing};
}

/// The exact distance from the sharp cone, in the plane through the axis: outside that to its outline.
double exact_distance(const Parameters& p, const Vec3<double>& x_P) {
  const Vec2<double> x(std::hypot(x_P.x(), x_P.y()), x_P.z());
  const std::array<Vec2<double>, 4> outline{Vec2<double>(0, -p[2]), Vec2<double>(p[0], -p[2]),
                                            Vec2<double>(p[1], p[2]), Vec2<double>(0, p[2])};
  double closest = 1e300;
  bool is_inside = true;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec2<double> a = outline[i], along = outline[i + 1] - a;
    if (along.squaredNorm() == 0.0) continue;
    const double share = std::clamp(along.dot(x - a) / along.squaredNorm(), 0.0, 1.0);
    closest = std::min(closest, (x - a - share * along).norm());
    is_inside = is_inside && along.x() * (x - a).y() - along.y() * (x - a).x() >= 0.0;
  }
  return is_inside ? -closest : closest;
}

template <SdfOrder order, typename S, typename T>
SdfAnswer<order, S> sample(const TruncatedCone<T>& cone, const Vec3<S>& x) {
  return sample_of_potential<order, S>(potential<order, S>(cone, x));
}

TEST_CASE("TruncatedCone: is the sharp cone inside and before faces, and its distance bounds hold",
          "[collision][property]") {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const Parameters p = random_cone(random, i);
    const Pose<double> X_BP = test::random_pose(random);
    const TruncatedCone<double> cone(p, X_BP);
    const Vec3<double> x_P = test::random_vector(random, 2.0), x_B = X_BP * x_P;
    CAPTURE(i, x_P.transpose());
    const double exact = exact_distance(p, x_P), tau = p[3],
                 phi = sample<SdfOrder::normal>(cone, x_B).distance;
    const DistanceBounds<double> bounds = distance_bounds<double>(cone, x_B);
    CHECK(bounds.lower <= phi + 1e-14);
    CHECK(bounds.upper >= phi - 1e-14);
    // It lies within the sharp cone, and inside is no further from it than its edges are rounded.
    CHECK(phi >= std::min(exact, 0.0) - 1e-14);
    if (exact < 0.0) CHECK(phi <= exact + 2.2 * tau);
    const double ratio = std::sqrt(2.0 / (1.0 - std::abs(cone.side_along)));
    if (exact > 0.0) CHECK(phi >= exact / ratio - 1e-14);
    const double place = x_P.z() / p[2], side = std::hypot(x_P.x(), x_P.y());
    const double before_end = std::min(p[0], p[1]) - 10.0 * tau;
    if (std::abs(place) > 1.0 && side < before_end) CHECK(close(phi, exact, 1e-4, 1e-4 * tau));
  }
}

TEST_CASE("TruncatedCone: values of hand", "[collision][value]") {
  const TruncatedCone<double> cylinder({0.5, 0.5, 1.0, 0.01}, {});
  CHECK(close(sample<SdfOrder::normal>(cylinder, Vec3<double>(0.1, 0, 1.5)).distance, 0.5, 1e-12, 0));
  const auto side = sample<SdfOrder::jacobian>(cylinder, Vec3<double>(0.8, 0, 0));
  CHECK(close(side.distance, std::hypot(0.8, 0.01) - 0.5, 1e-12, 0));
  CHECK(close(side.normal, Vec3<double>(1, 0, 0), 0, 1e-10));
  CHECK(close(side.normal_jacobian(1, 1), 1.0 / 0.8, 1e-4, 0));
  // A 3-4-5 triangle: the normal of the side is (0.8, 0, 0.6).
  const TruncatedCone<double> cone({3.0, 0.0, 2.0, 0.001}, {});
  const Vec3<double> middle(1.5, 0, 0), out(0.8, 0, 0.6);
  const auto before_side = sample<SdfOrder::normal>(cone, Vec3<double>(middle + out));
  CHECK(close(before_side.distance, 1.0, 1e-6, 0));
  CHECK(close(before_side.normal, out, 0, 1e-6));
}

TEST_CASE("TruncatedCone: gradient and normal Jacobian agree with Jet and differences, on the axis too",
          "[collision][derivative]") {
  Random random(2);
  for (int i = 0; i < 600; ++i) {
    const Pose<double> X_BP = test::random_pose(random);
    const TruncatedCone<double> cone(random_cone(random, i), X_BP);
    Vec3<double> x_P = test::random_vector(random, 1.2);
    if (i % 5 == 0) x_P.head<2>().setZero();
    const Vec3<double> x = X_BP * x_P;
    const auto s = sample<SdfOrder::jacobian>(cone, x);
    using D = Dual<double, 3>;
    const auto by = sample<SdfOrder::normal, D>(
        cone, Vec3<D>(D::variable(x[0], 0), D::variable(x[1], 1), D::variable(x[2], 2)));
    CAPTURE(i, x_P.transpose());
    for (int k = 0; k < 3; ++k) {
      const auto d = static_cast<std::size_t>(k);
      CHECK(close(s.gradient[k], by.distance.d[d], 0, 1e-12));
      for (int r = 0; r < 3; ++r)
        CHECK(
            close(s.normal_jacobian(r, k), by.normal[r].d[d], 1e-9, 1e-9 * s.normal_jacobian.norm() + 1e-12));
    }
    const double h = 1e-6;
    for (int k = 0; k < 3; ++k) {
      const Vec3<double> step = h * Vec3<double>::Unit(k);
      const double difference = (sample<SdfOrder::normal>(cone, Vec3<double>(x + step)).distance -
                                 sample<SdfOrder::normal>(cone, Vec3<double>(x - step)).distance) /
                                (2.0 * h);
      CHECK(close(s.gradient[k], difference, 0, 1e-7));
    }
  }
}

TEST_CASE("TruncatedCone: derivatives by the parameters agree with Dual numbers", "[collision][derivative]") {
  using D = Dual<double, 5>;
  Random random(3);
  for (int i = 0; i < 600; ++i) {
    const Parameters p = random_cone(random, i);
    const Pose<double> X_BP = test::random_pose(random);
    const Vec3<double> x = X_BP * test::random_vector(random, 1.2);
    std::array<D, 5> dual;
    for (std::size_t k = 0; k < 5; ++k) dual[k] = D::variable(p[k], static_cast<int>(k));
    const auto by = sample<SdfOrder::normal, D>(TruncatedCone<D>(dual, X_BP), Vec3<D>(x.cast<D>()));
    const TruncatedCone<double> cone(p, X_BP);
    const auto s = sample<SdfOrder::jacobian>(cone, x);
    const double distance_bar = random.normal();
    const Vec3<double> normal_bar = random.unit_vector();
    const SampleBar<double> at{
        x, s.distance, s.normal, distance_bar, normal_bar, sample_vjp(s, distance_bar, normal_bar)};
    std::array<double, 5> bar{};
    parameter_vjp(cone, at, bar);
    for (std::size_t k = 0; k < 4; ++k) {
      double expected = distance_bar * by.distance.d[k], size = std::abs(expected);
      for (int r = 0; r < 3; ++r) {
        expected += normal_bar[r] * by.normal[r].d[k];
        size += std::abs(by.normal[r].d[k]);
      }
      CAPTURE(i, k);
      CHECK(close(bar[k], expected, 0, 1e-10 * (1.0 + size)));
    }
  }
}

TEST_CASE("TruncatedCone: a pack equals its lanes to rounding, and float32 is double to single precision",
          "[collision][batch]") {
  using P = Pack<double, 4>;
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    const Parameters p = random_cone(random, i);
    const Pose<double> X_BP = test::random_pose(random);
    const TruncatedCone<double> cone(p, X_BP);
    std::array<float, 5> single;
    std::transform(p.begin(), p.end(), single.begin(), [](double v) { return static_cast<float>(v); });
    Vec3<P> x;
    for (int lane = 0; lane < 4; ++lane) {
      const Vec3<double> point = lane == 0 && i % 3 == 0 ? X_BP.p : X_BP * test::random_vector(random, 1.5);
      for (int k = 0; k < 3; ++k) x[k].set_lane(lane, point[k]);
    }
    const auto s = sample<SdfOrder::jacobian>(cone, x);
    for (int lane = 0; lane < 4; ++lane) {
      const Vec3<double> point(x[0][lane], x[1][lane], x[2][lane]);
      const auto one = sample<SdfOrder::jacobian>(cone, point);
      CAPTURE(i, lane);
      CHECK(close(s.distance[lane], one.distance, 1e-14, 1e-15));
      const double size = one.normal_jacobian.norm() + 1.0;
      for (int r = 0; r < 3; ++r) {
        CHECK(close(s.normal[r][lane], one.normal[r], 0, 1e-14));
        for (int c = 0; c < 3; ++c)
          CHECK(close(s.normal_jacobian(r, c)[lane], one.normal_jacobian(r, c), 0, 1e-13 * size));
      }
      const auto of_float =
          sample<SdfOrder::normal>(TruncatedCone<float>(single, X_BP), Vec3<float>(point.cast<float>()));
      CHECK(close(of_float.distance, one.distance, 0, 3e-6));
    }
  }
}

}  // namespace
}  // namespace abut
