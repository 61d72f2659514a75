#include "collision/capsule_distance.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/lie.h"
#include "engine/pack.h"
#include "engine/pose.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/no_alloc.h"

namespace abut {
namespace {

using test::close;
using Ends = Eigen::Matrix<double, 12, 1>;  // start_A, end_A, start_B, end_B

constexpr double k_radius_A = 0.3, k_radius_B = 0.45, k_radii = k_radius_A + k_radius_B;
const Vec3<double> k_up(0, 0, 1);

template <typename S>
CapsuleEnds<S> capsule(const Eigen::Matrix<S, 12, 1>& ends, int which) {
  return {ends.template segment<3>(6 * which), ends.template segment<3>(6 * which + 3),
          S(which == 0 ? k_radius_A : k_radius_B)};
}
template <typename S>
CapsuleDistance<S> in_space(const Eigen::Matrix<S, 12, 1>& ends) {
  return capsule_distance(capsule(ends, 0), capsule(ends, 1));
}
template <typename S>
CapsuleDistance<S> in_plane(const Eigen::Matrix<S, 12, 1>& ends) {
  return capsule_distance_in_plane<S>(capsule(ends, 0), capsule(ends, 1), k_up.cast<S>());
}
Ends gradient_of(const CapsuleDistance<double>& at) {
  const CapsuleDistanceGradient<double> g = capsule_distance_gradient(at);
  Ends r;
  r << g.start_A, g.end_A, g.start_B, g.end_B;
  return r;
}
Ends ends_of(const Vec3<double>& start_A, const Vec3<double>& end_A, const Vec3<double>& start_B,
             const Vec3<double>& end_B) {
  Ends r;
  r << start_A, end_A, start_B, end_B;
  return r;
}
Ends random_ends(Random& random) { return test::random_vector<12>(random); }
Ends flat(Ends ends) {
  for (int i = 2; i < 12; i += 3) ends[i] = 0.0;
  return ends;
}

/// Least distance of two segments by golden section over the one, with the closest point of the other.
double searched_distance(const Ends& ends) {
  const Vec3<double> a = ends.head<3>(), u = ends.segment<3>(3) - a, b = ends.segment<3>(6),
                     v = ends.tail<3>() - b;
  const auto distance = [&](double s) {
    const Vec3<double> p = a + s * u;
    const double t = std::clamp((p - b).dot(v) / std::max(v.squaredNorm(), 1e-300), 0.0, 1.0);
    return (p - b - t * v).norm();
  };
  const double ratio = 0.5 * (std::sqrt(5.0) - 1.0);
  double low = 0.0, high = 1.0;
  for (int i = 0; i < 100; ++i) {  // the distance from a convex set is convex
    const double left = high - ratio * (high - low), right = low + ratio * (high - low);
    if (distance(left) < distance(right)) {
      high = right;
    } else {
      low = left;
    }
  }
  return distance(0.5 * (low + high));
}

TEST_CASE("capsule_distance: values of hand", "[collision][value]") {
  // Crossed at right angles, one above the other.
  const auto crossed = in_space(ends_of({-1, 0, 0}, {1, 0, 0}, {0, -2, 3}, {0, 2, 3}));
  CHECK(close(crossed.distance, 3.0 - k_radii, 1e-15, 0));
  CHECK(close(crossed.normal, k_up, 0, 0));
  CHECK(crossed.parameter_A == 0.5);
  CHECK(crossed.parameter_B == 0.5);
  CHECK(close(crossed.point_A, Vec3<double>(0, 0, k_radius_A), 0, 1e-15));
  CHECK(close(crossed.point_B, Vec3<double>(0, 0, 3 - k_radius_B), 0, 1e-15));
  // Side by side for half of their length.
  const auto parallel = in_space(ends_of({0, 0, 0}, {2, 0, 0}, {3, 2, 0}, {1, 2, 0}));
  CHECK(close(parallel.distance, 2.0 - k_radii, 1e-15, 0));
  CHECK(parallel.normal == Vec3<double>(0, 1, 0));
  CHECK(parallel.point_A.x() == 1.5);
  // One behind the other; end against end at 3-4-5; two balls.
  CHECK(close(in_space(ends_of({0, 0, 0}, {2, 0, 0}, {5, 0, 0}, {9, 0, 0})).distance, 3 - k_radii, 1e-15, 0));
  CHECK(close(in_space(ends_of({0, 0, 0}, {2, 0, 0}, {5, 4, 0}, {9, 9, 0})).distance, 5 - k_radii, 1e-15, 0));
  CHECK(close(in_space(ends_of({1, 1, 1}, {1, 1, 1}, {3, 4, 7}, {3, 4, 7})).distance, 7 - k_radii, 1e-15, 0));
}

TEST_CASE("capsule_distance_in_plane: where centre lines cross it is how far they are from parting",
          "[collision][value]") {
  // B's start is 0.25 below the other line, everything else farther from parting.
  const Ends ends = ends_of({-1, 0, 0}, {1, 0, 0}, {0.5, -0.25, 0}, {0.5, 2, 0});
  const auto at = in_plane(ends);
  CHECK(close(at.distance, -0.25 - k_radii, 1e-15, 0));
  CHECK(at.normal == Vec3<double>(0, 1, 0));
  CHECK(at.parameter_B == 0.0);
  CHECK(close(in_space(ends).distance, -k_radii, 1e-15, 0));
  // A sideways push by that much parts them.
  Ends parted = ends;
  parted[7] -= at.distance;
  parted[10] -= at.distance;
  CHECK(close(in_plane(parted).distance, 0.0, 0, 1e-15));
}

TEST_CASE("capsule_distance: is that of a search, and of no other points", "[collision][property]") {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    Ends ends = random_ends(random);
    if (i % 4 == 1) ends = flat(ends);
    if (i % 7 == 2) ends.segment<3>(3) = ends.head<3>();  // a ball
    if (i % 8 == 3) {
      const double off = std::abs(test::random_magnitude(random, -18, -1));
      ends.tail<3>() = ends.segment<3>(6) + random.uniform(-2, 2) * (ends.segment<3>(3) - ends.head<3>()) +
                       off * test::random_vector(random);
    }
    CAPTURE(i, ends.transpose());
    const auto at = in_space(ends);
    CHECK(close(at.distance + k_radii, searched_distance(ends), 1e-10, 1e-9));
    CHECK(close(at.normal.norm(), 1.0, 1e-14, 0));
    CHECK(close(at.normal.dot(at.point_B - at.point_A), at.distance, 1e-12, 1e-13));
    const Vec3<double> x_A = (1 - at.parameter_A) * ends.head<3>() + at.parameter_A * ends.segment<3>(3);
    CHECK(close(at.point_A, Vec3<double>(x_A + k_radius_A * at.normal), 0, 1e-13));
    const auto flat_at = in_plane(flat(ends)), as_in_space = in_space(flat(ends));
    CHECK(flat_at.normal.z() == 0.0);
    if (flat_at.distance > -k_radii + 1e-12) {
      CHECK(close(flat_at.distance, as_in_space.distance, 1e-12, 1e-14));
    } else {
      CHECK(close(as_in_space.distance, -k_radii, 0, 1e-12));
    }
  }
}

TEST_CASE("capsule_distance_in_plane: is the least translation that parts or joins",
          "[collision][property]") {
  Random random(2);
  int crossings = 0;
  for (int i = 0; i < 2000; ++i) {
    const Ends ends = flat(random_ends(random));
    const auto at = in_plane(ends);
    const auto moved = [&](const Vec3<double>& by) {
      Ends r = ends;
      r.segment<3>(6) += by;
      r.tail<3>() += by;
      return in_plane(r).distance;
    };
    CAPTURE(i, ends.transpose());
    CHECK(close(moved(-at.distance * at.normal), 0.0, 0, 1e-13));
    crossings += at.distance < -k_radii;
    // Nothing shorter does.
    for (int k = 0; k < 20; ++k) {
      const double angle = random.uniform(0, 6.3), length = 0.999 * std::abs(at.distance);
      const double there = moved(length * Vec3<double>(std::cos(angle), std::sin(angle), 0));
      CHECK((there > 0.0) == (at.distance > 0.0));
    }
  }
  CHECK(crossings > 200);
}

TEST_CASE("capsule_distance: gradient agrees with Jet and differences", "[collision][derivative]") {
  Random random(3);
  int kinks = 0, checked = 0;
  const auto check = [&](const auto& distance, const Ends& ends, const Ends& weights) {
    const auto value = [&](const auto& x) { return distance(x).distance; };
    const Ends gradient = gradient_of(distance(ends));
    CAPTURE(ends.transpose(), gradient.transpose());
    // Jet differentiates the parameters too, whose derivatives grow as the inverse sine squared.
    const Vec3<double> u = (ends.segment<3>(3) - ends.head<3>()).normalized(),
                       v = (ends.tail<3>() - ends.segment<3>(6)).normalized();
    const double sine = std::max(u.cross(v).norm(), 1e-6);
    CHECK(close(gradient, test::jet_gradient(value, ends), 0, 1e-12 / (sine * sine)));
    const auto along = [&](double h) { return value(Ends(ends + h * weights)); };
    const test::SweptDerivative swept = test::fd_sweep(along, 0.0, 1e-3, 1e-6, 1e-8);
    ++checked;
    if (swept.disagrees_with_itself) {
      ++kinks;
      return;
    }
    CHECK(close(gradient.dot(weights), swept.value, 1e-6, 1e-7));
  };
  for (int i = 0; i < 2000; ++i) {
    Ends ends = random_ends(random);
    if (i % 8 == 3)  // a few degrees from parallel
      ends.tail<3>() = ends.segment<3>(6) + 1.3 * (ends.segment<3>(3) - ends.head<3>()) +
                       test::random_vector(random, 0.05);
    const Ends weights = test::random_vector<12>(random);
    check([](const auto& x) { return in_space(x); }, ends, weights);
    check([](const auto& x) { return in_plane(x); }, flat(ends), flat(weights));
  }
  CAPTURE(kinks, checked);
  CHECK(kinks < checked / 50);
}

TEST_CASE("capsule_distance: one of balls and of near-parallel capsules has the derivative of differences",
          "[collision][derivative]") {
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    Ends ends = random_ends(random);
    ends.tail<3>() += Vec3<double>(3, 0, 0);
    ends.segment<3>(6) += Vec3<double>(3, 0, 0);
    if (i % 3 == 0) ends.segment<3>(3) = ends.head<3>();
    if (i % 3 == 1) ends.segment<3>(3) = ends.head<3>(), ends.tail<3>() = ends.segment<3>(6);
    if (i % 3 == 2) {  // one behind the other: parallel up to rounding, with one closest pair
      const Vec3<double> along = random.unit_vector(), across = 0.1 * random.unit_vector();
      ends = ends_of(Vec3<double>::Zero(), along, 2.5 * along + across, 4.0 * along + across);
    }
    // Translations and rotations keep a ball a ball.
    const auto at = in_space(ends);
    const Vec3<double> origin_A = test::random_vector(random), origin_B = test::random_vector(random);
    const CapsulePoseGradient<double> gradient = capsule_distance_dpose(at, origin_A, origin_B);
    for (int body = 0; body < 2; ++body) {
      const Vec6<double> tangent = test::random_vector<6>(random);
      const Vec3<double> origin = body == 0 ? origin_A : origin_B;
      const auto moved = [&](double h) {
        const Mat3<double> R = exp_so3<double>(h * tangent.head<3>());
        Ends x = ends;
        for (int end = 6 * body; end < 6 * body + 6; end += 3)
          x.segment<3>(end) = origin + R * (ends.segment<3>(end) - origin) + h * tangent.tail<3>();
        return in_space(x).distance;
      };
      const double derivative = (body == 0 ? gradient.A : gradient.B).dot(tangent);
      CAPTURE(i, body);
      CHECK(close(derivative, test::fd_derivative(moved, 0.0, 1e-5), 1e-6, 1e-7));
    }
  }
}

TEST_CASE("capsule_distance: swapping the capsules, turning the world and turning a capsule round",
          "[collision][property]") {
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    Ends ends = random_ends(random);
    if (i % 5 == 1) ends.tail<3>() = ends.segment<3>(6) + (ends.segment<3>(3) - ends.head<3>());
    const bool is_flat = i % 2 == 0;
    if (is_flat) ends = flat(ends);
    const auto distance = [&](const CapsuleEnds<double>& A, const CapsuleEnds<double>& B,
                              const Vec3<double>& up) {
      return is_flat ? capsule_distance_in_plane(A, B, up) : capsule_distance(A, B);
    };
    const CapsuleEnds<double> A = capsule(ends, 0), B = capsule(ends, 1);
    const auto at = distance(A, B, k_up), swapped = distance(B, A, k_up),
               round = distance({A.end, A.start, A.radius}, B, k_up);
    CAPTURE(i, ends.transpose());
    CHECK(close(swapped.distance, at.distance, 1e-13, 1e-14));
    CHECK(close(swapped.normal, Vec3<double>(-at.normal), 0, 1e-11));
    CHECK(close(swapped.point_A, at.point_B, 0, 1e-9));
    CHECK(close(round.distance, at.distance, 1e-13, 1e-14));
    CHECK(close(round.parameter_A, 1.0 - at.parameter_A, 0, 1e-9));
    const Pose<double> X = test::random_pose(random);
    const auto turned =
        distance({X * A.start, X * A.end, A.radius}, {X * B.start, X * B.end, B.radius}, X.q * k_up);
    CHECK(close(turned.distance, at.distance, 1e-12, 1e-13));
    CHECK(close(turned.normal, Vec3<double>(X.q * at.normal), 0, 1e-9));
    CHECK(close(turned.point_A, Vec3<double>(X * at.point_A), 0, 1e-9));
    // A motion of both changes nothing.
    const CapsulePoseGradient<double> gradient =
        capsule_distance_dpose(at, Vec3<double>(0.3, -0.2, 0.1), Vec3<double>(0.3, -0.2, 0.1));
    CHECK(close(gradient.A, Vec6<double>(-gradient.B), 0, 1e-12));
  }
}

TEST_CASE("capsule_distance: centre lines that meet have a normal", "[collision][value]") {
  const auto is_sane = [](const CapsuleDistance<double>& at) {
    return std::isfinite(at.distance) && std::abs(at.normal.norm() - 1.0) < 1e-12 && at.point_A.allFinite() &&
           at.point_B.allFinite() && at.parameter_A >= 0 && at.parameter_A <= 1;
  };
  // Crossed in space: perpendicular to both.
  const auto crossed = in_space(ends_of({-1, 0, 0}, {1, 0, 0}, {0, -2, 0}, {0, 2, 0}));
  CHECK(crossed.distance == -k_radii);
  CHECK(crossed.normal == k_up);
  // Along each other: across, in the plane to the left of B.
  const Ends collinear = ends_of({0, 0, 0}, {2, 0, 0}, {1, 0, 0}, {5, 0, 0});
  CHECK(close(in_space(collinear).normal.x(), 0.0, 0, 1e-15));
  CHECK(in_plane(collinear).normal == Vec3<double>(0, 1, 0));
  CHECK(in_plane(collinear).distance == -k_radii);
  const Ends against = ends_of({0, 0, 0}, {2, 0, 0}, {5, 0, 0}, {1, 0, 0});
  CHECK(in_plane(against).normal == Vec3<double>(0, -1, 0));
  // An end on a line: to the side of the middle.
  CHECK(in_plane(ends_of({-1, 0, 0}, {1, 0, 0}, {0.5, 0, 0}, {0.5, -2, 0})).normal == Vec3<double>(0, -1, 0));
  CHECK(in_plane(ends_of({0.5, 0, 0}, {0.5, 2, 0}, {-1, 0, 0}, {1, 0, 0})).normal == Vec3<double>(0, -1, 0));
  // Balls in one place.
  CHECK(in_space(Ends::Ones().eval()).normal == Vec3<double>(1, 0, 0));
  CHECK(in_plane(flat(Ends::Ones())).normal == Vec3<double>(1, 0, 0));

  Random random(6);
  for (int i = 0; i < 3000; ++i) {
    const Vec3<double> a = test::random_vector(random), u = test::random_vector(random);
    const double s = random.uniform(), t = random.uniform(-1, 2);
    const Vec3<double> v = i % 3 == 0 ? Vec3<double>(random.uniform(-2, 2) * u) : test::random_vector(random);
    const Ends ends =
        ends_of(a, i % 5 == 0 ? a : Vec3<double>(a + u), a + s * u - t * v,
                i % 7 == 0 ? Vec3<double>(a + s * u - t * v) : Vec3<double>(a + s * u + (1 - t) * v));
    CAPTURE(i, ends.transpose());
    CHECK(is_sane(in_space(ends)));
    CHECK(is_sane(in_plane(flat(ends))));
    CHECK(in_plane(flat(ends)).distance <= in_space(flat(ends)).distance + 1e-13);
    const Ends huge = ends * std::abs(test::random_magnitude(random, -60, 60));
    CHECK(is_sane(in_space(huge)));
    CHECK(is_sane(in_plane(flat(huge))));
  }
  Ends broken = Ends::Ones();
  broken[4] = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(in_space(broken).distance));
}

TEST_CASE("capsule_distance: float32 is double to single precision, a pack its lanes", "[collision][batch]") {
  using P = Pack<float, 8>;
  Random random(7);
  for (int i = 0; i < 500; ++i) {
    Ends lanes[8];
    Eigen::Matrix<P, 12, 1> pack;
    for (int lane = 0; lane < 8; ++lane) {
      lanes[lane] = random_ends(random);
      if (lane % 2 == 0) lanes[lane] = flat(lanes[lane]);
      for (int k = 0; k < 12; ++k) pack[k].set_lane(lane, static_cast<float>(lanes[lane][k]));
    }
    const auto together = in_space(pack);
    for (int lane = 0; lane < 8; ++lane) {
      const Eigen::Matrix<float, 12, 1> single = lanes[lane].cast<float>();
      const auto alone = in_space(single);
      CAPTURE(i, lane);
      CHECK(together.distance[lane] == alone.distance);
      for (int k = 0; k < 3; ++k) CHECK(together.point_B[k][lane] == alone.point_B[k]);
      CHECK(close(alone.distance, in_space(lanes[lane]).distance, 0, 2e-6));
    }
  }
}

TEST_CASE("capsule_distance: allocates nothing", "[collision][property]") {
  Random random(8);
  const Ends ends = random_ends(random);
  const test::NoAlloc guard;
  const Ends gradient = gradient_of(in_space(ends)), in_plane_gradient = gradient_of(in_plane(flat(ends)));
  const auto allocations = guard.allocations();
  CHECK(allocations == 0);
  CHECK(gradient.allFinite());
  CHECK(in_plane_gradient.allFinite());
}

}  // namespace
}  // namespace abut
