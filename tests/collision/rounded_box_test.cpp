/// The normal of rounded boxes, deep inside too, where their exact distance has its skeleton.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "collision/sdf/exact_primitives.h"
#include "collision/sdf/parameter_vjp.h"
#include "engine/pack.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

using test::close;
using Box = RoundedBox<double>;

struct Case {
  Vec3<double> half_extents;
  double radius;

  [[nodiscard]] std::array<double, 5> parameters() const {
    return {half_extents[0], half_extents[1], half_extents[2], radius, 0.0};
  }
  [[nodiscard]] Box box(const Pose<double>& X_BP = {}) const { return Box(parameters(), X_BP); }
  [[nodiscard]] Vec3<double> core() const { return half_extents.array() - radius; }
  [[nodiscard]] double inradius() const { return half_extents.minCoeff(); }
};

/// Long, flat, cubic, nearly spherical; sharp, and of every radius.
Case random_case(Random& random) {
  Case c;
  for (int i = 0; i < 3; ++i) c.half_extents[i] = random.uniform(0.05, 1.0);
  if (random.integer(4) == 0) c.half_extents.setConstant(c.half_extents[0]);
  if (random.integer(6) == 0) c.half_extents[2] = 0.02 * c.half_extents.maxCoeff();
  const double most = random.integer(4) == 0 ? 0.999 : 0.3;
  c.radius = random.integer(5) == 0 ? 0.0 : random.uniform(0.01, most) * c.half_extents.minCoeff();
  return c;
}

Vec3<double> random_point(const Case& c, Random& random, double reach = 1.0) {
  return test::random_vector(random, reach).cwiseProduct(c.half_extents);
}

/// The centre, and points on centre planes, on planes of equal depth, on the core's faces, edges and corners.
Vec3<double> aligned_point(const Case& c, Random& random) {
  Vec3<double> x = random_point(c, random, 1.1);
  const double depth = random.uniform(0.0, c.inradius());
  for (int i = 0; i < 3; ++i) {
    const double sign = random.uniform() < 0.5 ? -1.0 : 1.0;
    const double aligned[] = {0.0, sign * (c.half_extents[i] - depth), sign * c.core()[i], x[i], x[i]};
    x[i] = aligned[random.integer(5)];
  }
  return x;
}

/// By projection onto the core.
double exact_distance(const Case& c, const Vec3<double>& x) {
  const Vec3<double> closest = x.cwiseMin(c.core()).cwiseMax(-c.core());
  if (closest == x) return (x.cwiseAbs() - c.core()).maxCoeff() - c.radius;
  return (x - closest).norm() - c.radius;
}

/// Whether a face meets an edge or corner of the core near the foot of x, so that distance and normal are not
/// exact: k_seam.
bool is_at_seam(const Case& c, const Vec3<double>& x) {
  const Vec3<double> q = x.cwiseAbs() - c.core();
  return q.cwiseAbs().minCoeff() < 1.01 * k_seam * q.cwiseMax(0.0).norm();
}

/// By how much the distance may be larger there.
double seam_excess(const Case& c, const Vec3<double>& x) {
  return is_at_seam(c, x) ? 0.05 * k_seam * k_seam * (x.cwiseAbs() - c.core()).cwiseMax(0.0).norm() : 0.0;
}

TEST_CASE("rounded box: the normal is that of the exact distance down to half the radius of the edges",
          "[collision][value]") {
  Random random(1);
  int inside = 0, at_seam = 0;
  for (int i = 0; i < 100000; ++i) {
    const Case c = random_case(random);
    const Pose<double> X_BP = test::random_pose(random);
    Vec3<double> x = random_point(c, random, 1.5);
    const Vec3<double> closest = x.cwiseMin(c.core()).cwiseMax(-c.core());
    if (i % 2 == 0 && closest != x)  // a little below the surface
      x = closest + (1.0 - random.uniform(0.0, 0.499)) * c.radius * (x - closest).normalized();
    const double exact = exact_distance(c, x);
    if (!(exact > -0.4999 * c.radius)) continue;
    inside += exact < 0.0;
    const auto s = exact_sample<SdfOrder::gradient>(c.box(X_BP), Vec3<double>(X_BP * x));
    CAPTURE(i, c.half_extents.transpose(), c.radius, x.transpose());
    REQUIRE(close(s.distance, exact, 1e-13, 1e-14 + seam_excess(c, x)));
    if (is_at_seam(c, x)) {
      ++at_seam;
      REQUIRE(close(s.normal.norm(), 1.0, k_seam * k_seam, 0));
      REQUIRE(close(s.normal, s.gradient, 0, 0.2 * k_seam));
      continue;
    }
    REQUIRE(close(s.normal.norm(), 1.0, 1e-13, 0));
    // Next to a sharp edge the normal turns.
    if (c.radius > 0.0 || exact > Box::k_least_turning * c.half_extents.sum())
      REQUIRE(close(s.normal, s.gradient, 0, 1e-13));
  }
  CHECK(inside > 20000);
  CHECK(at_seam < 10000);
}

TEST_CASE("rounded box: deep inside the normal is that of a face that is closest by far, never longer than 1",
          "[collision][value][property]") {
  Random random(2);
  int flat = 0, turned = 0;
  for (int i = 0; i < 100000; ++i) {
    const Case c = random_case(random);
    const Vec3<double> x = i % 4 == 0 ? aligned_point(c, random) : random_point(c, random);
    const double exact = exact_distance(c, x), depth = -exact;
    if (depth < 1e-12) continue;
    const auto s = exact_sample<SdfOrder::jacobian>(c.box(), x);
    CAPTURE(i, c.half_extents.transpose(), c.radius, x.transpose());
    REQUIRE(s.distance == exact_sample<SdfOrder::distance>(c.box(), x).distance);
    REQUIRE(close(s.distance, exact, 1e-13, 1e-15 + seam_excess(c, x)));
    REQUIRE(s.normal.norm() <= 1.0 + 1e-15);
    REQUIRE(s.normal.dot(s.gradient) >= 0.0);
    // Depths below all faces, those beyond the core taken as rounded edges.
    Vec3<double> below = c.half_extents - x.cwiseAbs();
    int face = 0;
    const double least = below.minCoeff(&face);
    below[face] = 1e9;
    const double opposite = 2.0 * c.half_extents[face] - least;
    const double turning = Box::k_least_turning * c.half_extents.sum(),
                 reach = c.radius + 1.25 * (depth + turning);
    if (least <= depth && std::min(below.minCoeff(), opposite) >= (1.0 + 2.0 * k_seam) * reach) {
      ++flat;
      const Vec3<double> out = std::copysign(1.0, x[face]) * Vec3<double>::Unit(face);
      REQUIRE((s.normal - out).norm() <= 2.3e-16);  // the rounding of v (1/|v|)
      REQUIRE(s.normal_jacobian.norm() * depth <= 1e-14);
    } else {
      ++turned;
    }
  }
  CHECK(flat > 5000);
  CHECK(turned > 5000);
}

TEST_CASE("rounded box: the Jacobian of the normal agrees with Jet and differences, at aligned points too",
          "[collision][derivative]") {
  Random random(4);
  std::vector<double> errors;
  for (int i = 0; i < 20000; ++i) {
    const Case c = random_case(random);
    const Pose<double> X_BP = i % 2 == 0 ? Pose<double>{} : test::random_pose(random);
    const bool is_aligned = i % 4 == 0;
    const Vec3<double> x_P = is_aligned ? aligned_point(c, random) : random_point(c, random, 1.1),
                       x = X_BP * x_P;
    if (c.radius == 0.0 && exact_distance(c, x_P) > -0.05 * c.inradius()) continue;
    const Box box = c.box(X_BP);
    const auto s = exact_sample<SdfOrder::jacobian>(box, x);
    const auto normal = [&](const auto& y) {
      return Vec3<std::remove_cvref_t<decltype(y[0])>>(exact_sample<SdfOrder::normal>(box, y).normal);
    };
    CAPTURE(i, c.half_extents.transpose(), c.radius, x_P.transpose());
    const double scale = 1.0 + s.normal_jacobian.cwiseAbs().maxCoeff();
    REQUIRE(close(s.normal_jacobian, test::jet_jacobian(normal, x), 0, 1e-11 * scale));
    if (is_aligned) continue;
    const double h = 1e-6 * (c.radius > 0.0 ? c.radius : c.inradius());
    errors.push_back((s.normal_jacobian - test::fd_jacobian(normal, x, h)).cwiseAbs().maxCoeff() / scale);
  }
  // It jumps at the skeleton, where the gradient of the distance does.
  std::sort(errors.begin(), errors.end());
  CHECK(errors[errors.size() * 999 / 1000] <= 1e-6);
}

TEST_CASE("rounded box: distance and normal are Lipschitz continuous along paths through the skeleton",
          "[collision][property]") {
  constexpr int k_paths = 1000, k_intervals = 2000, k_finest = 8;
  Random random(5);
  for (const bool is_sharp : {false, true}) {
    // of distance and normal, at a step of k_finest >> k of the finest, by radius or inradius
    std::array<std::array<double, 2>, 4> largest{};
    struct Sample {
      Vec3<double> x, normal;
      double distance;
    };
    std::vector<Sample> path(k_intervals * k_finest + 1);
    for (int p = 0; p < k_paths; ++p) {
      Case c;
      for (int i = 0; i < 3; ++i) c.half_extents[i] = random.uniform(0.2, 1.0);
      if (p % 3 == 0) c.half_extents.setConstant(c.half_extents[0]);
      c.radius = is_sharp ? 0.0 : random.uniform(0.1, 0.9) * c.inradius();
      const Box box = c.box();
      const Vec3<double> middle = aligned_point(c, random);
      Vec3<double> direction = random.unit_vector();
      if (p % 4 == 0) direction = Vec3<double>::Unit(p / 4 % 3);
      if (p % 4 == 1) direction = Vec3<double>(1, p % 8 == 1 ? -1 : 1, 0).normalized();
      const double length = 0.5 * c.inradius(), unit = is_sharp ? c.inradius() : c.radius;
      for (std::size_t i = 0; i < path.size(); ++i) {
        const double along = static_cast<double>(i) / static_cast<double>(path.size() - 1) - 0.5;
        const Vec3<double> x = middle + along * length * direction;
        const auto s = exact_sample<SdfOrder::normal>(box, x);
        path[i] = {x, s.normal, s.distance};
      }
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t stride = std::size_t{k_finest} >> k;
        for (std::size_t i = 0; i + stride < path.size(); i += stride) {
          const Sample &a = path[i], &b = path[i + stride];
          // At the edges of a sharp box normals jump on the surface.
          if (is_sharp && std::max(a.distance, b.distance) > -0.1 * c.inradius()) continue;
          const double dx = (b.x - a.x).norm();
          largest[k][0] = std::max(largest[k][0], std::abs(b.distance - a.distance) / dx);
          largest[k][1] = std::max(largest[k][1], (b.normal - a.normal).norm() / dx * unit);
        }
      }
    }
    for (std::size_t k = 0; k < 4; ++k) {
      CAPTURE(is_sharp, k, largest[k][0], largest[k][1]);
      CHECK(largest[k][0] <= 1.0 + 0.05 * k_seam * k_seam);
      if (k > 0) CHECK(largest[k][1] <= 1.2 * largest[k - 1][1]);
    }
    // Of a sharp box at a tenth of the inradius, where edges have a fortieth of it.
    CHECK(largest[3][1] <= (is_sharp ? 100.0 : 10.0));
  }
}

TEST_CASE("rounded box: the same bit for bit with axes turned round", "[collision][property]") {
  Random random(6);
  for (int i = 0; i < 20000; ++i) {
    const Case c = random_case(random);
    const Vec3<double> x = i % 2 == 0 ? aligned_point(c, random) : random_point(c, random, 1.1);
    const auto s = exact_sample<SdfOrder::normal>(c.box(), x);
    CAPTURE(i, c.half_extents.transpose(), c.radius, x.transpose());
    for (int signs = 1; signs < 8; ++signs) {
      const Vec3<double> flip((signs & 1) != 0 ? -1 : 1, (signs & 2) != 0 ? -1 : 1,
                              (signs & 4) != 0 ? -1 : 1);
      const auto f = exact_sample<SdfOrder::normal>(c.box(), Vec3<double>(flip.cwiseProduct(x)));
      REQUIRE(f.distance == s.distance);
      REQUIRE(f.normal == flip.cwiseProduct(s.normal));
    }
  }
}

TEST_CASE("rounded box: derivatives by half extents and radius agree with differences, a pack with its lanes",
          "[collision][derivative][batch]") {
  using P = Pack<double, 4>;
  Random random(7);
  int deep = 0;
  for (int i = 0; i < 2000; ++i) {
    Case c = random_case(random);
    if (c.radius == 0.0) c.radius = 0.1 * c.inradius();
    const Pose<double> X_BP = test::random_pose(random);
    const double distance_bar = random.normal();
    const Vec3<double> normal_bar = test::random_vector(random, 0.1 * c.radius);
    const auto bar_of = [&](const auto& x, const auto& s, const auto& weight) {
      using S = std::remove_cvref_t<decltype(x[0])>;
      SampleBar<S> at{x, s.distance, s.normal, weight, {}, {}};
      for (int k = 0; k < 3; ++k) at.normal_bar[k] = S(normal_bar[k]);
      at.x_bar = sample_vjp<S>(s, at.distance_bar, at.normal_bar);
      return at;
    };
    const Box box = c.box(X_BP);
    std::array<std::array<double, 5>, 4> found{};
    Vec3<P> x_pack;
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const Vec3<double> x_P = random_point(c, random, lane == 0 ? 1.3 : 1.0), x = X_BP * x_P;
      for (int k = 0; k < 3; ++k) x_pack[k].set_lane(static_cast<int>(lane), x[k]);
      deep += exact_distance(c, x_P) < -0.5 * c.radius;
      parameter_vjp(box, bar_of(x, exact_sample<SdfOrder::jacobian>(box, x), distance_bar), found[lane]);
      for (std::size_t k = 0; k < 4; ++k) {
        const auto loss = [&](double value) {
          std::array<double, 5> moved = c.parameters();
          moved[k] = value;
          const auto s = exact_sample<SdfOrder::normal>(Box(moved, X_BP), x);
          return distance_bar * s.distance + normal_bar.dot(s.normal);
        };
        CAPTURE(i, lane, k, c.half_extents.transpose(), c.radius, x_P.transpose());
        const double h = 1e-6 * c.radius, at = c.parameters()[k];
        const double differences = test::fd_derivative(loss, at, h);
        // At the skeleton that of the distance jumps.
        const double change = std::abs(differences - test::fd_derivative(loss, at, 0.5 * h));
        REQUIRE(close(found[lane][k], differences, 0, 1e-6 + 10.0 * change));
      }
    }
    const auto s = exact_sample<SdfOrder::jacobian, P>(box, x_pack);
    std::array<P, 5> by_pack;
    by_pack.fill(P(0));
    parameter_vjp(box, bar_of(x_pack, s, P(distance_bar)), by_pack);
    for (std::size_t lane = 0; lane < 4; ++lane) {
      for (std::size_t k = 0; k < 5; ++k) {
        CAPTURE(i, lane, k);
        REQUIRE(by_pack[k][static_cast<int>(lane)] == found[lane][k]);
      }
    }
  }
  CHECK(deep > 2000);
}

}  // namespace
}  // namespace abut
