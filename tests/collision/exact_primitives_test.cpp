#include "collision/sdf/exact_primitives.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

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

/// Calls f with each of the five solids, of random size and pose, in the number T.
template <typename F>
void with_each_solid(Random& random, const F& f) {
  const Pose<double> X_BP = test::random_pose(random, 0.5);
  const double a = random.uniform(0.1, 1.0), b = random.uniform(0.1, 1.0), c = random.uniform(0.1, 1.0);
  f("half-space", HalfSpace<double>({}, X_BP));
  f("sphere", Sphere<double>({a}, X_BP));
  f("capsule", Capsule<double>({a, b}, X_BP));
  f("rounded box", RoundedBox<double>({a, b, c, 0.3 * std::min({a, b, c})}, X_BP));
  f("torus", Torus<double>({a, 0.3 * a}, X_BP));
}

template <SdfOrder order, typename Solid, typename S>
SdfAnswer<order, S> sample(const Solid& solid, const Vec3<S>& x) {
  return exact_sample<order, S>(solid, x);
}

template <typename Solid>
inline constexpr bool k_is_box = std::is_same_v<Solid, RoundedBox<double>>;

/// Where a face meets an edge, or the side of a capsule its cap; beside the axis of a torus.
template <typename Solid>
bool is_at_seam(const Solid& solid, const Vec3<double>& x_B) {
  if constexpr (k_is_box<Solid>) {
    const Vec3<double> q = (solid.R_BP.transpose() * (x_B - solid.centre)).cwiseAbs() - solid.core;
    return q.cwiseAbs().minCoeff() < 1.01 * k_seam * q.cwiseMax(0.0).norm();
  } else if constexpr (std::is_same_v<Solid, Capsule<double>>) {
    const Vec3<double> r = x_B - solid.centre;
    const double along = solid.axis.dot(r);
    return std::abs(std::abs(along) - solid.half_length) < 1.01 * k_seam * (r - along * solid.axis).norm();
  } else if constexpr (std::is_same_v<Solid, Torus<double>>) {
    return solid.axis.cross(x_B - solid.centre).norm() < 1.01 * solid.hole;
  } else {
    return false;
  }
}

/// How much larger a distance may be at a seam, the exact one from the skeleton being r.
double seam_excess(double r) { return 0.05 * k_seam * k_seam * r; }

/// Deeper in a box the normal is not that of the exact distance.
template <typename Solid>
bool normal_is_gradient(const Solid& solid, const Vec3<double>& x_B, double distance) {
  if (is_at_seam(solid, x_B)) return false;
  if constexpr (k_is_box<Solid>) return distance >= -0.499 * solid.radius;
  return true;
}

/// Signed distance of a point in P from the surface of a rounded box, by projecting it onto the core.
double box_distance(const Vec3<double>& x, const Vec3<double>& core, double radius) {
  const Vec3<double> closest = x.cwiseMin(core).cwiseMax(-core);  // of the core
  if (closest == x) return (x.cwiseAbs() - core).maxCoeff() - radius;
  return (x - closest).norm() - radius;
}

TEST_CASE("exact primitives: values of hand", "[collision][value]") {
  const Pose<double> X_BP{Quat<double>(std::sqrt(0.5), 0, std::sqrt(0.5), 0), {1, 2, 3}};  // z of P is x of B
  const Vec3<double> x(5, 2, 3);
  const auto plane = sample<SdfOrder::jacobian>(HalfSpace<double>({}, X_BP), x);
  CHECK(close(plane.distance, 4.0, 1e-15, 0));
  CHECK(close(plane.normal, Vec3<double>(1, 0, 0), 0, 1e-15));
  CHECK(plane.normal_jacobian.isZero(0));
  const auto sphere = sample<SdfOrder::jacobian>(Sphere<double>({0.5}, X_BP), x);
  CHECK(close(sphere.distance, 3.5, 1e-15, 0));
  CHECK(close(sphere.normal_jacobian, Vec3<double>(0, 0.25, 0.25).asDiagonal().toDenseMatrix(), 0, 1e-15));
  const auto cap = sample<SdfOrder::jacobian>(Capsule<double>({0.5, 1.5}, X_BP), x);
  CHECK(close(cap.distance, 2.0, 1e-15, 0));
  CHECK(close(cap.normal_jacobian, Vec3<double>(0, 0.4, 0.4).asDiagonal().toDenseMatrix(), 0, 1e-15));
  const auto side = sample<SdfOrder::jacobian>(Capsule<double>({0.5, 1.5}, X_BP), Vec3<double>(1.7, 2, 5));
  CHECK(close(side.distance, 1.5, 1e-15, 0));
  CHECK(close(side.normal, Vec3<double>(0, 0, 1), 0, 1e-15));
  CHECK(close(side.normal_jacobian, Vec3<double>(0, 0.5, 0).asDiagonal().toDenseMatrix(), 0, 1e-15));
  // Outside of the tube across its axis, (3, 0, 4) from the circle; and above the circle.
  const auto torus = sample<SdfOrder::jacobian>(Torus<double>({2, 0.5}, {}), Vec3<double>(5, 0, 4));
  CHECK(close(torus.distance, 4.5, 1e-15, 0));
  CHECK(close(torus.normal, Vec3<double>(0.6, 0, 0.8), 0, 1e-15));
  CHECK(close(torus.normal_jacobian(1, 1), 0.6 / 5.0, 1e-15, 0));  // turns about the axis, not the circle
  CHECK(close(sample<SdfOrder::normal>(Torus<double>({2, 0.5}, {}), Vec3<double>(0, 2, 1)).distance, 0.5,
              1e-15, 0));
  const RoundedBox<double> box({1, 2, 3, 0.5}, {});
  CHECK(close(sample<SdfOrder::distance>(box, Vec3<double>(0.9, 0, 0)).distance, -0.1, 0, 1e-15));
  CHECK(close(sample<SdfOrder::distance>(box, Vec3<double>(3.5, 1.5 + 4, 0)).distance, 4.5, 1e-15, 0));
  CHECK(close(sample<SdfOrder::jacobian>(box, Vec3<double>(3.5, 1.5 + 4, 0)).normal,
              Vec3<double>(0.6, 0.8, 0), 0, 1e-15));
  CHECK(close(sample<SdfOrder::jacobian>(box, Vec3<double>(0.9, 0.3, 0.1)).normal, Vec3<double>(1, 0, 0), 0,
              0));
}

TEST_CASE("exact primitives: the distance is that to the closest point", "[collision][property]") {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const Pose<double> X_BP = test::random_pose(random);
    const double radius = random.uniform(0.05, 0.5), half_length = random.uniform(0.1, 1.0);
    const Vec3<double> core(random.uniform(0.05, 1.0), random.uniform(0.05, 1.0), random.uniform(0.05, 1.0));
    const Vec3<double> x_P = test::random_vector(random, 2.0), x_B = X_BP * x_P;
    CAPTURE(i, x_P.transpose());
    const double h = std::clamp(x_P.z(), -half_length, half_length);
    const auto compare = [&](const auto& solid, double exact) {
      const double at_seam = is_at_seam(solid, x_B) ? seam_excess(exact + radius) : 0.0,
                   distance = sample<SdfOrder::distance>(solid, x_B).distance;
      CHECK(close(distance, exact, 1e-13, 1e-14 + at_seam));
      CHECK(distance >= exact - 1e-13);
    };
    compare(Capsule<double>({radius, half_length}, X_BP), (x_P - Vec3<double>(0, 0, h)).norm() - radius);
    compare(RoundedBox<double>({core[0] + radius, core[1] + radius, core[2] + radius, radius}, X_BP),
            box_distance(x_P, core, radius));
    const Vec3<double> of_circle =
        (half_length + 0.5) * Vec3<double>(x_P.x(), x_P.y(), 0.0).normalized();  // its closest point
    compare(Torus<double>({half_length + 0.5, radius}, X_BP), (x_P - of_circle).norm() - radius);
    // An eikonal function, 1-Lipschitz but at seams: no two points are farther apart in distance than in
    // space.
    const Vec3<double> y_B = x_B + test::random_vector(random, 0.5);
    with_each_solid(random, [&](const char* name, const auto& solid) {
      CAPTURE(name);
      const auto at_x = sample<SdfOrder::gradient>(solid, x_B), at_y = sample<SdfOrder::gradient>(solid, y_B);
      CHECK(std::abs(at_x.distance - at_y.distance) <= (x_B - y_B).norm() * (1 + 0.05 * k_seam * k_seam));
      constexpr bool k_is_torus = std::is_same_v<std::remove_cvref_t<decltype(solid)>, Torus<double>>;
      if (!k_is_torus || !is_at_seam(solid, x_B))
        CHECK(close(at_x.gradient.norm(), 1.0, is_at_seam(solid, x_B) ? 0.02 * k_seam : 1e-13, 0));
      if (normal_is_gradient(solid, x_B, at_x.distance)) {
        CHECK(close(at_x.gradient, at_x.normal, 0, 1e-15));
      }
      // The foot of the point lies on the surface, with the same normal.
      const Vec3<double> foot_B = x_B - at_x.distance * at_x.normal;
      if (at_x.distance > 0 && !is_at_seam(solid, x_B) && !is_at_seam(solid, foot_B)) {
        const auto foot = sample<SdfOrder::normal>(solid, foot_B);
        CHECK(close(foot.distance, 0.0, 0, 1e-13));
        CHECK(close(foot.normal, at_x.normal, 0, 1e-12));
      }
    });
  }
}

TEST_CASE("exact primitives: gradient and normal Jacobian agree with Jet and differences",
          "[collision][derivative]") {
  Random random(2);
  int kinks = 0;
  for (int i = 0; i < 1000; ++i) {
    with_each_solid(random, [&](const char* name, const auto& solid) {
      const Vec3<double> x = test::random_vector(random, 2.0);
      const auto s = sample<SdfOrder::jacobian>(solid, x);
      const auto distance = [&](const auto& y) { return sample<SdfOrder::distance>(solid, y).distance; };
      const auto normal = [&](const auto& y) {
        return Vec3<std::remove_cvref_t<decltype(y[0])>>(sample<SdfOrder::normal>(solid, y).normal);
      };
      CAPTURE(i, name, x.transpose());
      const double scale = s.normal_jacobian.cwiseAbs().maxCoeff();
      CHECK(close(s.gradient, test::jet_gradient(distance, x), 0, 1e-13));
      CHECK(close(s.normal_jacobian, test::jet_jacobian(normal, x), 0, 1e-12 * (1 + scale)));
      if (normal_is_gradient(solid, x, s.distance)) {
        CHECK(close(s.normal_jacobian, s.normal_jacobian.transpose().eval(), 0, 1e-13 * (1 + scale)));
        CHECK((s.normal_jacobian * s.normal).norm() <= 1e-13 * (1 + scale));
      }
      // Inside a box the closest face changes at its medial planes: where the step of the differences is
      // across one of them they say nothing.
      const double h = 1e-6;
      const Mat3<double> differences = test::fd_jacobian(normal, x, h),
                         half = test::fd_jacobian(normal, x, 0.5 * h);
      if ((differences - half).norm() > 1e-3 * (1 + scale)) {
        ++kinks;
        return;
      }
      CHECK(close(s.normal_jacobian, differences, 0, 1e-7 * (1 + scale)));
      CHECK(close(s.gradient, test::fd_gradient(distance, x, h), 0, 1e-8));
    });
  }
  CHECK(kinks <= 4);
}

TEST_CASE("exact primitives: at a seam the normal has the mean curvature of both sides, and no kink",
          "[collision][derivative][property]") {
  // Points at the height r above the skeleton, along a path across the end of the flat part.
  const double r = GENERATE(0.1, 0.15, 0.35);
  const Vec3<double> up = Vec3<double>::UnitZ(), across = Vec3<double>::UnitX();
  const Pose<double> upright{Quat<double>(std::sqrt(0.5), 0, std::sqrt(0.5), 0), Vec3<double>::Zero()};
  const auto check = [&](const auto& solid, const Vec3<double>& seam, double width) {
    const auto at = [&](double x) {
      return sample<SdfOrder::jacobian>(solid, Vec3<double>(seam + x * across));
    };
    CAPTURE(r, width);
    CHECK(close(at(0.0).normal_jacobian(0, 0), 0.5 / r, 0.01, 0));
    CHECK(close(at(-2.0 * width).normal_jacobian(0, 0), 0.0, 0, 1e-12));
    CHECK(close(at(2.0 * width).normal_jacobian(0, 0), 1.0 / r, 0.01, 0));
    CHECK(std::abs(at(0.0).normal.dot(across)) <= 0.16 * width / r);
    CHECK(close(at(0.0).distance, at(-2.0 * width).distance, 0, 0.013 * width * width / r));
    CHECK(close(at(-2.0 * width).normal, up, 0, 1e-14));
    // Lipschitz continuous are the normal (1/r) and its Jacobian (slope of smoothstep5, 15/16, by width and
    // r).
    constexpr int k_points = 4000;
    double turn = 0.0, bend = 0.0;
    for (int i = 0; i < k_points; ++i) {
      const double dx = 4.0 * width / k_points, x = -2.0 * width + i * dx;
      const auto a = at(x), b = at(x + dx);
      turn = std::max(turn, (b.normal - a.normal).norm() / dx);
      bend = std::max(bend, (b.normal_jacobian - a.normal_jacobian).norm() / dx);
    }
    CHECK(turn <= 1.02 / r);
    CHECK(bend <= 1.1 * 15.0 / 16.0 / (width * r));
  };
  check(Capsule<double>({0.1, 0.3}, upright), 0.3 * across + r * up, k_seam * r);
  const RoundedBox<double> box({0.5, 0.6, 0.4, 0.1}, {});
  check(box, Vec3<double>(0.4, 0.1, 0.3 + r), k_seam * r);
}

TEST_CASE("exact primitives: the middle of a ring is smooth, and hardly nearer than it is",
          "[collision][property]") {
  const double radius = 0.5, tube = 0.1, hole = radius - tube;
  const Torus<double> torus({radius, tube}, {});
  for (const double z : {0.0, 0.2, -0.5}) {
    const auto on_axis = sample<SdfOrder::jacobian>(torus, Vec3<double>(0, 0, z));
    const double exact = std::hypot(radius, z) - tube;
    CHECK(on_axis.distance <= exact);
    CHECK(on_axis.distance >= exact - 0.02 * hole);
    CHECK(on_axis.normal.head<2>().isZero(0.0));  // of all ways outwards none is taken
    // Seen along a line through the axis: no jump of the normal's derivative.
    constexpr int k_points = 4000;
    double turn = 0.0, bend = 0.0;
    for (int i = 0; i < k_points; ++i) {
      const double dx = 0.2 * hole / k_points, x = -0.1 * hole + i * dx;
      const auto a = sample<SdfOrder::jacobian>(torus, Vec3<double>(x, 0, z)),
                 b = sample<SdfOrder::jacobian>(torus, Vec3<double>(x + dx, 0, z));
      turn = std::max(turn, (b.normal - a.normal).norm() / dx);
      bend = std::max(bend, (b.normal_jacobian - a.normal_jacobian).norm() / dx);
      CHECK(b.gradient.norm() <= 1.0 + 1e-12);
    }
    CHECK(turn <= 1.55 / (0.05 * hole));
    CHECK(bend <= 10.0 / std::pow(0.05 * hole, 2));
  }
}

TEST_CASE("exact primitives: a capsule without length is a sphere, with all derivatives",
          "[collision][derivative]") {
  Random random(8);
  for (int i = 0; i < 200; ++i) {
    const Pose<double> X_BP = test::random_pose(random);
    const Vec3<double> x = X_BP * test::random_vector(random, i % 2 == 0 ? 0.01 : 1.0);
    const auto capsule = sample<SdfOrder::jacobian>(Capsule<double>({0.2, 0.0}, X_BP), x),
               sphere = sample<SdfOrder::jacobian>(Sphere<double>({0.2}, X_BP), x);
    CHECK(close(capsule.distance, sphere.distance, 0, 1e-15));
    CHECK(close(capsule.normal, sphere.normal, 0, 1e-13));
    CHECK(close(capsule.gradient, sphere.gradient, 0, 1e-13));
    CHECK(close(capsule.normal_jacobian, sphere.normal_jacobian, 1e-12, 1e-10));
  }
}

TEST_CASE("exact primitives: Dual gives the derivatives by the parameters", "[collision][derivative]") {
  using D = Dual<double, 5>;
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const Pose<double> X_BP = test::random_pose(random);
    const Parameters p{random.uniform(0.2, 1.0), random.uniform(0.2, 1.0), random.uniform(0.2, 1.0), 0.1,
                       0.0};
    const Vec3<double> x = test::random_vector(random, 2.0);
    std::array<D, 5> dual;
    for (std::size_t k = 0; k < 5; ++k) dual[k] = D::variable(p[k], static_cast<int>(k));
    const auto check = [&](auto make, int count) {
      const auto by_dual = exact_sample<SdfOrder::normal, D>(make(dual), Vec3<D>(x.cast<D>()));
      for (int k = 0; k < count; ++k) {
        const auto moved = [&](double value) {
          Parameters q = p;
          q[static_cast<std::size_t>(k)] = value;
          const auto s = exact_sample<SdfOrder::normal, double>(make(q), x);
          return Vec4<double>(s.distance, s.normal[0], s.normal[1], s.normal[2]);
        };
        const double at = p[static_cast<std::size_t>(k)], h = 1e-6;
        const Vec4<double> differences = (moved(at + h) - moved(at - h)) / (2 * h);
        const auto d = static_cast<std::size_t>(k);
        const Vec4<double> by(by_dual.distance.d[d], by_dual.normal[0].d[d], by_dual.normal[1].d[d],
                              by_dual.normal[2].d[d]);
        CAPTURE(i, k, x.transpose());
        CHECK(close(by, differences, 0, 1e-7));
      }
    };
    check([&](const auto& q) { return Sphere<std::remove_cvref_t<decltype(q[0])>>(q, X_BP); }, 1);
    check([&](const auto& q) { return Capsule<std::remove_cvref_t<decltype(q[0])>>(q, X_BP); }, 2);
    check([&](const auto& q) { return RoundedBox<std::remove_cvref_t<decltype(q[0])>>(q, X_BP); }, 4);
    check([&](const auto& q) { return Torus<std::remove_cvref_t<decltype(q[0])>>(q, X_BP); }, 2);
  }
}

TEST_CASE("exact primitives: a pack equals its lanes bit for bit", "[collision][batch]") {
  using P = Pack<double, 4>;
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    with_each_solid(random, [&](const char* name, const auto& solid) {
      Vec3<P> x;
      for (int lane = 0; lane < 4; ++lane) {
        const Vec3<double> point = test::random_vector(random, 2.0);
        for (int k = 0; k < 3; ++k) x[k].set_lane(lane, lane == 0 && i % 3 == 0 ? 0.0 : point[k]);
      }
      const auto s = sample<SdfOrder::jacobian>(solid, x);
      for (int lane = 0; lane < 4; ++lane) {
        const auto one = sample<SdfOrder::jacobian>(solid, Vec3<double>(x[0][lane], x[1][lane], x[2][lane]));
        CAPTURE(i, name, lane);
        CHECK(s.distance[lane] == one.distance);
        for (int r = 0; r < 3; ++r) {
          CHECK(s.normal[r][lane] == one.normal[r]);
          CHECK(s.gradient[r][lane] == one.gradient[r]);
          for (int c = 0; c < 3; ++c) CHECK(s.normal_jacobian(r, c)[lane] == one.normal_jacobian(r, c));
        }
      }
    });
  }
}

TEST_CASE("exact primitives: float32 is double to single precision", "[collision][value]") {
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    const Pose<double> X_BP = test::random_pose(random);
    const Vec3<float> x = test::random_vector(random, 2.0).cast<float>();
    const auto check = [&](const auto& single, const auto& exact) {
      const auto s = exact_sample<SdfOrder::normal, float>(single, x);
      const auto d = exact_sample<SdfOrder::normal, double>(exact, Vec3<double>(x.cast<double>()));
      CHECK(close(s.distance, d.distance, 0, 1e-6));
      CHECK(close(s.normal, d.normal, 0, 1e-5));
    };
    check(HalfSpace<float>({}, X_BP), HalfSpace<double>({}, X_BP));
    check(Sphere<float>({0.5f}, X_BP), Sphere<double>({0.5}, X_BP));
    check(Capsule<float>({0.5f, 0.25f}, X_BP), Capsule<double>({0.5, 0.25}, X_BP));
    check(RoundedBox<float>({0.5f, 0.75f, 1.0f, 0.125f}, X_BP),
          RoundedBox<double>({0.5, 0.75, 1.0, 0.125}, X_BP));
    check(Torus<float>({0.5f, 0.25f}, X_BP), Torus<double>({0.5, 0.25}, X_BP));
  }
}

TEST_CASE("exact primitives: a fixed finite answer where no closest point is singled out, and far away",
          "[collision][value]") {
  Random random(6);
  const Pose<double> X_BP = test::random_pose(random);
  const auto is_sane = [](const auto& s) {
    return std::isfinite(s.distance) && s.normal_jacobian.allFinite() &&
           std::abs(s.gradient.norm() - 1.0) < 1e-12;
  };
  const auto centre = sample<SdfOrder::jacobian>(Sphere<double>({0.5}, X_BP), X_BP.p);
  CHECK(centre.distance == -0.5);
  CHECK(centre.normal == Vec3<double>(0, 0, 1));
  CHECK(centre.normal_jacobian.isZero(0));
  const Capsule<double> capsule({0.5, 1.0}, {});
  for (const double z : {0.0, 0.5, 1.0, -1.0}) {
    const auto s = sample<SdfOrder::jacobian>(capsule, Vec3<double>(0, 0, z));
    CHECK(s.distance == -0.5);
    CHECK(s.normal == Vec3<double>(1, 0, 0));
    CHECK(s.normal_jacobian.isZero(0));
  }
  const auto on_circle = sample<SdfOrder::jacobian>(Torus<double>({1.0, 0.25}, {}), Vec3<double>(0, 1, 0));
  CHECK(on_circle.distance == -0.25);
  CHECK(on_circle.normal == Vec3<double>(0, 0, 1));
  CHECK(is_sane(on_circle));
  const auto middle =
      sample<SdfOrder::jacobian>(RoundedBox<double>({0.5, 0.25, 1.0, 0.1}, {}), Vec3<double>(0, 0, 0));
  CHECK(middle.distance == -0.25);
  CHECK(middle.gradient == Vec3<double>(0, 1, 0));
  CHECK(middle.normal == Vec3<double>(0, 0, 0));
  // At an edge or corner of a box with sharp edges: the mean of both sides along each axis.
  for (const auto& [x, gradient] : {std::pair(Vec3<double>(1, 1, 1), Vec3<double>(0.5, 0.5, 0.5)),
                                    std::pair(Vec3<double>(1, 0.5, -1), Vec3<double>(0.5, 0, -0.5)),
                                    std::pair(Vec3<double>(0, 1, 0), Vec3<double>(0, 1, 0))}) {
    const auto s = sample<SdfOrder::jacobian>(RoundedBox<double>({1, 1, 1, 0}, {}), x);
    CHECK(s.distance == 0.0);
    CHECK(s.gradient == gradient);
    CHECK(s.normal_jacobian.allFinite());
    CHECK(close(s.normal.norm(), 1.0, 1e-15, 0));
  }
  for (int i = 0; i < 1000; ++i) {
    Vec3<double> x;
    for (int k = 0; k < 3; ++k) x[k] = random.integer(4) == 0 ? 0.0 : test::random_magnitude(random, -300, 6);
    with_each_solid(random, [&](const char* name, const auto& solid) {
      CAPTURE(name, x.transpose());
      const auto s = sample<SdfOrder::jacobian>(solid, x);
      const bool at_seam = is_at_seam(solid, x);
      CHECK((is_sane(s) || (at_seam && s.normal_jacobian.allFinite())));
      CHECK(s.gradient.norm() < 1.0 + (at_seam ? 0.05 * k_seam * k_seam : 1e-12));  // on an axis, less
      CHECK(s.normal.norm() < 1.0 + 1e-12);
      if (normal_is_gradient(solid, x, s.distance)) CHECK(s.normal.norm() > 1.0 - 1e-12);
    });
  }
}

}  // namespace
}  // namespace abut
