#include "collision/convex/proximity_qp.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "collision/capsule_distance.h"
#include "collision/convex/proximity_qp_active_set.h"
#include "collision/convex/proximity_qp_sets.h"
#include "collision/convex/proximity_qp_vjp.h"
#include "engine/pack.h"
#include "engine/pose.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/no_alloc.h"
#include "tests/support/proximity_cases.h"

namespace abut {
namespace {

using test::close;
using test::PolygonCorners;

constexpr double k_padding_A = 0.1, k_padding_B = 0.25, k_paddings = k_padding_A + k_padding_B;
const ProximitySettings<double> k_proximity;

PaddedPolygon<double, 8> octagon_of(const PolygonCorners& corners, double padding) {
  return padded<2, 8>(polygon_core(corners), padding);
}

/// By how much the distance of cores may be too large [m]: m kappa ell^2/delta, and rounding.
template <typename Core_A, typename Core_B>
double error_of(const Core_A& A, const Core_B& B, double core_distance) {
  const double length = A.size + B.size, m = Core_A::k_constraints + Core_B::k_constraints;
  const double kappa = k_proximity.solver.least_kappa;
  return m * kappa * length * length / std::max(core_distance, std::sqrt(m * kappa) * length) + 1e-12;
}

TEST_CASE("proximity: of polygons it is the distance by closed forms, in every kind of pose",
          "[collision][value]") {
  int apart = 0, meeting = 0;
  double most_iterations = 0.0;
  for (int trial = 0; trial < 4000; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const test::CornersPair pair = test::corners_pair(random, trial);
    const auto A = octagon_of(pair.A, k_padding_A), B = octagon_of(pair.B, k_padding_B);
    const auto at = proximity(A, B, k_proximity);
    const double expected = test::distance_of_polygons(pair.A, pair.B);
    CAPTURE(trial, pair.kind, expected, at.distance);
    REQUIRE(at.solution.converged == 1.0);
    most_iterations = std::max(most_iterations, at.solution.iterations);
    CHECK(close(at.normal.norm(), 1.0, 1e-14, 0));
    if (at.meeting == 1.0) {
      ++meeting;
      CHECK(expected < 4e-6);  // k_proximity.meeting (size_A + size_B)
      CHECK(at.distance == -k_padding_A - k_padding_B);
    } else {
      ++apart;
      CHECK(close(at.distance + k_paddings, expected, 1e-11, error_of(A, B, expected)));
      CHECK(close(at.normal.dot(at.point_B - at.point_A), at.distance, 1e-9, 1e-12));
      CHECK(close(at.normal.dot(at.core_B - at.core_A), at.core_distance, 1e-9, 1e-12));
    }
    for (const double slack : at.solution.s) CHECK(slack >= 0.0);
  }
  CHECK(apart > 2000);
  CHECK(meeting > 1000);
  CHECK(most_iterations < 27.0);  // of 30
}

TEST_CASE("proximity: of segments it is that of capsules", "[collision][value]") {
  for (int trial = 0; trial < 1000; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    Vec3<double> ends[4];
    for (Vec3<double>& end : ends) end = test::random_vector(random);
    if (trial % 4 == 1) ends[3] = ends[2] + random.uniform(0.2, 2.0) * (ends[1] - ends[0]);  // parallel
    if (trial % 4 == 2) ends[2] = 0.5 * (ends[0] + ends[1]);                                 // touching
    const auto A = padded<1, 2>(segment_core(ends[0], ends[1]), k_padding_A),
               B = padded<1, 2>(segment_core(ends[2], ends[3]), k_padding_B);
    const auto at = proximity(A, B, k_proximity);
    const auto capsules =
        capsule_distance<double>({ends[0], ends[1], k_padding_A}, {ends[2], ends[3], k_padding_B});
    CAPTURE(trial);
    REQUIRE(at.solution.converged == 1.0);
    CHECK(close(at.distance, capsules.distance, 0.0, at.meeting == 1.0 ? 4e-6 : 1e-9));
    if (trial % 4 == 1 || at.meeting == 1.0) continue;
    CHECK(close(at.point_A, capsules.point_A, 0.0, 1e-5));
    CHECK(close(at.normal, capsules.normal, 0.0, 1e-6));
  }
}

TEST_CASE("proximity: of a segment and a polygon it is the distance by closed forms", "[collision][value]") {
  for (int trial = 0; trial < 1000; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const PolygonCorners face = test::moved(test::random_pose(random), test::random_corners(random, 5));
    PolygonCorners line{test::random_vector(random, 1.5), test::random_vector(random, 1.5)};
    if (trial % 3 == 1) line[1] = line[0] + face[2] - face[0];  // parallel to the plane
    const auto at = proximity(padded<1, 2>(segment_core(line[0], line[1]), k_padding_A),
                              octagon_of(face, k_padding_B), k_proximity);
    const double expected = test::distance_of_polygons(line, face);
    CAPTURE(trial, expected);
    REQUIRE(at.solution.converged == 1.0);
    CHECK(close(at.distance + k_paddings, expected, 1e-10, at.meeting == 1.0 ? 4e-6 : 1e-9));
  }
}

TEST_CASE("proximity: no points of two polytopes are closer, as planes between them prove",
          "[collision][property]") {
  int apart = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    Points corners[2];
    for (int which = 0; which < 2; ++which) {
      const Pose<double> X = test::random_pose(random, 2.0);
      corners[which].resize(3, trial % 3 == 0 ? 8 : 12);
      for (int i = 0; i < corners[which].cols(); ++i) {
        const Vec3<double> box(i & 1 ? 0.8 : -0.8, i & 2 ? 0.5 : -0.5, i & 4 ? 0.4 : -0.4);
        corners[which].col(i) = X * Vec3<double>(trial % 3 == 0 ? box : Vec3<double>(random.unit_vector()));
        if (trial % 6 == 0)
          corners[which].col(i) = box + Vec3<double>(which * random.uniform(0.0, 1.0), 0, which * 1.3);
      }
      if (trial % 6 == 0 && which == 1) corners[1].row(0) = corners[0].row(0).array() + 0.3;  // flush boxes
    }
    const auto A = padded<3, 24>(polytope_core(corners[0]), k_padding_A),
               B = padded<3, 24>(polytope_core(corners[1]), k_padding_B);
    const auto at = proximity(A, B, k_proximity);
    CAPTURE(trial);
    REQUIRE(at.solution.converged == 1.0);
    // x_A and x_B are in their sets, so they are not too close; a slab between the sets is not too wide.
    const double slab = (at.normal.transpose() * corners[1].matrix()).minCoeff() -
                        (at.normal.transpose() * corners[0].matrix()).maxCoeff();
    if (at.meeting == 1.0) continue;
    ++apart;
    CHECK(close(slab, at.core_distance, 0.0,
                error_of(A, B, at.core_distance) + 1e-9 + 1e-11 / at.core_distance));
    for (const double slack : at.solution.s) CHECK(slack >= 0.0);
    if (trial % 6 == 0) CHECK(close(at.distance, 0.5 - k_paddings, 0.0, 1e-9));
  }
  CHECK(apart > 200);
}

TEST_CASE("polytope_core: half-spaces and corners make the same solid", "[collision][value]") {
  Points corners(3, 8), normals = Points::Zero(3, 6);
  for (int i = 0; i < 8; ++i)
    corners.col(i) = Vec3<double>(i & 1 ? 3.0 : -3.0, i & 2 ? 2.0 : -2.0, i & 4 ? 1.0 : -1.0);
  for (int i = 0; i < 6; ++i) normals(i / 2, i) = i % 2 == 0 ? 1.0 : -1.0;
  const std::vector<double> offsets{3, 3, 2, 2, 1, 1};
  const CoreConstraints by_corners = polytope_core(corners), by_planes = polytope_core(normals, offsets);
  CHECK(by_corners.normals.cols() == 6);
  CHECK(close(by_corners.size, std::sqrt(14.0), 1e-14, 0));
  CHECK(close(by_planes.size, std::sqrt(14.0), 1e-12, 0));
  const auto segment = padded<1, 2>(segment_core({5, 1, 0}, {5, 1, 4}), 0.5);
  const auto one = proximity(padded<3, 6>(by_corners, 0.25), segment, k_proximity),
             other = proximity(padded<3, 6>(by_planes, 0.25), segment, k_proximity);
  CHECK(close(one.distance, 1.25, 0, 1e-10));
  CHECK(close(other.distance, 1.25, 0, 1e-10));
  CHECK(close(one.normal, Vec3<double>(1, 0, 0), 0, 1e-9));
  CHECK(close(one.point_A, other.point_A, 0, 1e-6));
}

TEST_CASE("active_set: agrees with the interior-point method, and where points are free nearly so",
          "[collision][property]") {
  double most_steps = 0.0;
  for (int trial = 0; trial < 3000; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const test::CornersPair pair = test::corners_pair(random, trial);
    const auto A = octagon_of(pair.A, k_padding_A), B = octagon_of(pair.B, k_padding_B);
    const auto program = proximity_program(A, B, k_proximity.lambda);
    const auto exact = active_set(program), inner = interior_point(program, k_proximity.solver);
    const Vec3<double> axis(1, 0, 0);
    const auto at = proximity_of_solution(A, B, exact, k_proximity, axis),
               by_inner = proximity_of_solution(A, B, inner, k_proximity, axis);
    CAPTURE(trial, pair.kind);
    REQUIRE(exact.converged == 1.0);
    most_steps = std::max(most_steps, exact.iterations);
    const double size = A.size + B.size;
    CHECK(close(at.core_distance, by_inner.core_distance, 1e-11,
                2e-6 * size * at.meeting + error_of(A, B, at.core_distance)));
    CHECK((at.core_A - by_inner.core_A).norm() < 0.01 * size);
    if (trial % 8 == 0 && at.core_distance > 0.05) {
      CHECK(close(at.core_A, by_inner.core_A, 0.0, 1e-6));
      CHECK(close(at.normal, by_inner.normal, 0.0, 1e-6));
    }
    if (at.meeting == 0.0 && trial % 8 != 7)
      CHECK(close(at.core_distance, test::distance_of_polygons(pair.A, pair.B), 0.0, 1e-9));
    // Optimality to rounding.
    double residual[4];
    program.gradient(exact.x, residual);
    program.add_transposed(exact.y, residual);
    for (const double g : residual) CHECK(std::abs(g) < 1e-12 * (1.0 + at.core_distance));
    for (int i = 0; i < 16; ++i) CHECK(exact.s[i] * exact.y[i] == 0.0);
  }
  CHECK(most_steps < 20.0);
}

TEST_CASE("proximity: parallel faces touch near the middle of the smaller, and tilting moves that steadily",
          "[collision][value]") {
  const auto floor = padded<2, 4>(polygon_core(test::rectangle(5, 4)), k_padding_A);
  const auto at_tilt = [&](double angle, double aside) {
    const Pose<double> X{exp_quaternion(Vec3<double>(0, angle, 0)), Vec3<double>(aside, 0.4, 0.6)};
    return proximity(floor,
                     padded<2, 4>(polygon_core(test::moved(X, test::rectangle(0.5, 0.25))), k_padding_B),
                     k_proximity);
  };
  const auto flush = at_tilt(0.0, 2.0);
  CHECK(close(flush.distance, 0.6 - k_paddings, 0, 1e-10));
  CHECK(close(flush.normal, Vec3<double>(0, 0, 1), 0, 1e-9));
  CHECK(close(flush.core_B, Vec3<double>(2.0, 0.4, 0.6), 0, 0.06));
  // Half over the edge: the point stays on both.
  const auto over = at_tilt(0.0, 5.2);
  CHECK(close(over.distance, 0.6 - k_paddings, 0, 1e-10));
  CHECK(over.core_B.x() < 5.0 + 1e-9);
  CHECK(over.core_B.x() > 4.7);
  // From one edge to the other, without a jump.
  double last = 1.5, widest = 0.0;
  for (int i = -400; i <= 400; ++i) {
    const double angle = std::copysign(std::pow(10.0, std::abs(i) / 50.0 - 12.0), i) * (i != 0);
    const double x = at_tilt(angle, 2.0).core_B.x();
    CHECK(x > last - 0.01);
    widest = std::max(widest, std::abs(x - last));
    last = x;
  }
  CHECK(last > 2.49);
  CHECK(widest < 0.55);
}

TEST_CASE("proximity: converges at every tilt of a face above another", "[collision][property]") {
  // Flat along the active edge, all but flat across it: what a normal matrix loses by rounding.
  const auto floor = padded<2, 8>(polygon_core(test::rectangle(3, 2)), k_padding_A);
  double most_iterations = 0.0;
  for (int i = -3000; i <= 3000; ++i) {
    const double angle = i % 2 == 0 ? 1e-4 * i : std::copysign(std::exp(-0.01 * std::abs(i)), i);
    const Pose<double> X{exp_quaternion(Vec3<double>(0, angle, 0)), Vec3<double>(0.2, 0.1, 0.5)};
    const auto tile = octagon_of(test::moved(X, test::rectangle(0.5, 0.25)), k_padding_B);
    const auto at = proximity(floor, tile, k_proximity);
    CAPTURE(i, angle);
    REQUIRE(at.solution.converged == 1.0);
    most_iterations = std::max(most_iterations, at.solution.iterations);
    CHECK(close(at.core_distance, 0.5 - 0.5 * std::sin(std::abs(angle)), 0, 1e-9));
  }
  CHECK(most_iterations < 22.0);
}

TEST_CASE("proximity: is negative with an exact normal as far as paddings go, and says so beyond",
          "[collision][value]") {
  const auto A = padded<2, 4>(polygon_core(test::rectangle(1, 1)), k_padding_A);
  const Quat<double> upright = exp_quaternion(Vec3<double>(0.3, 1.2, 0.1));
  PolygonCorners standing = test::moved({upright, Vec3<double>::Zero()}, test::rectangle(0.5, 0.5));
  double lowest = 0.0;
  for (const Vec3<double>& x : standing) lowest = std::min(lowest, x.z());
  const auto raised_to = [&](double height) {
    const Pose<double> X{Quat<double>::Identity(), Vec3<double>(0.1, 0.1, height - lowest)};
    return padded<2, 4>(polygon_core(test::moved(X, standing)), k_padding_B);
  };
  for (const double height : {0.5, 0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-5}) {
    const auto B = raised_to(height);
    const auto at = proximity(A, B, k_proximity);
    CAPTURE(height);
    CHECK(at.meeting == 0.0);
    CHECK(close(at.distance, height - k_paddings, 0, error_of(A, B, height)));
    CHECK(close(at.normal, Vec3<double>(0, 0, 1), 0, 1e-8 / height));
  }
  for (const double height : {0.0, -0.01, -0.3}) {
    const auto B = raised_to(height);
    const auto at = proximity(A, B, k_proximity);
    CAPTURE(height);
    CHECK(at.solution.converged == 1.0);
    CHECK(at.meeting == 1.0);
    CHECK(at.distance == -k_padding_A - k_padding_B);
    CHECK(close(at.normal, (B.centre - A.centre).normalized(), 0, 1e-14));
    CHECK(proximity(A, B, k_proximity, Vec3<double>(0, 0, 1)).normal == Vec3<double>(0, 0, 1));
  }
  const auto same = proximity(A, A, k_proximity);  // coincident
  CHECK(same.meeting == 1.0);
  CHECK(same.normal == Vec3<double>(1, 0, 0));
}

TEST_CASE("proximity: swapping the sets turns the normal round, and all moves with the frame",
          "[collision][property]") {
  for (int trial = 0; trial < 500; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const test::CornersPair pair = test::corners_pair(random, 8 * trial);
    const auto A = octagon_of(pair.A, k_padding_A), B = octagon_of(pair.B, k_padding_B);
    const Pose<double> X = test::random_pose(random);
    const auto at = proximity(A, B, k_proximity), swapped = proximity(B, A, k_proximity),
               turned = proximity(placed<double>(A, X.rotation(), X.p), placed<double>(B, X.rotation(), X.p),
                                  k_proximity);
    CAPTURE(trial);
    CHECK(at.meeting == swapped.meeting);
    CHECK(close(swapped.distance, at.distance, 0, 1e-9));
    CHECK(close(turned.distance, at.distance, 0, 1e-9));
    if (at.core_distance < 0.02) continue;
    CHECK(close(swapped.normal, Vec3<double>(-at.normal), 0, 1e-6));
    CHECK(close(swapped.point_A, at.point_B, 0, 1e-5));
    CHECK(close(turned.normal, Vec3<double>(X.q * at.normal), 0, 1e-6));
    CHECK(close(turned.point_A, X * at.point_A, 0, 1e-5));
  }
}

TEST_CASE("proximity: a pack equals its lanes bit for bit, and single precision is close",
          "[collision][batch]") {
  using P = Pack<double, 4>;
  using F = Pack<float, 8>;
  double worst_single = 0.0, worst_single_apart = 0.0;
  for (int trial = 0; trial < 200; ++trial) {
    PaddedPolygon<double, 8> A[8], B[8];
    PaddedPolygon<P, 8> A_pack, B_pack;
    PaddedPolygon<F, 8> A_single, B_single;
    const auto set = [](auto& to, const auto& from, int lane) {
      using T = scalar_value_t<std::remove_cvref_t<decltype(to.size)>>;
      for (int i = 0; i < 3; ++i) {
        to.centre[i].set_lane(lane, static_cast<T>(from.centre[i]));
        for (int k = 0; k < 2; ++k) to.axes[k][i].set_lane(lane, static_cast<T>(from.axes[k][i]));
      }
      for (int i = 0; i < 8; ++i) {
        for (int k = 0; k < 2; ++k) to.normals[i][k].set_lane(lane, static_cast<T>(from.normals[i][k]));
      }
      to.size.set_lane(lane, static_cast<T>(from.size));
      to.padding.set_lane(lane, static_cast<T>(from.padding));
    };
    for (int lane = 0; lane < 8; ++lane) {
      Random random(static_cast<std::uint64_t>(8 * trial + lane));
      const int kind = (trial + 3 * lane) % 7;  // none far apart
      const test::CornersPair pair = test::corners_pair(random, kind);
      A[lane] = octagon_of(pair.A, k_padding_A);
      B[lane] = octagon_of(pair.B, k_padding_B);
      if (lane < 4) {
        set(A_pack, A[lane], lane);
        set(B_pack, B[lane], lane);
      }
      set(A_single, A[lane], lane);
      set(B_single, B[lane], lane);
    }
    const auto all = proximity(A_pack, B_pack, k_proximity);
    const auto single = proximity(A_single, B_single, ProximitySettings<float>());
    ProximityBar<P> bar;
    bar.point_A = Vec3<P>(P(0.3), P(-0.7), P(0.2));
    bar.distance = P(0.5);
    const Vec3<P> origin(P(0), P(0), P(0));
    const auto poses = proximity_pose_vjp(A_pack, B_pack, origin, origin, all, k_proximity, bar);
    for (int lane = 0; lane < 8; ++lane) {
      const auto one = proximity(A[lane], B[lane], k_proximity);
      CAPTURE(trial, lane);
      CHECK(single.solution.converged[lane] == 1.0f);
      const double error = std::abs(static_cast<double>(single.distance[lane]) - one.distance);
      worst_single = std::max(worst_single, error);
      if (one.core_distance > 0.2) worst_single_apart = std::max(worst_single_apart, error);
      if (lane >= 4) continue;
      ProximityBar<double> one_bar;
      one_bar.point_A = Vec3<double>(0.3, -0.7, 0.2);
      one_bar.distance = 0.5;
      const auto one_poses = proximity_pose_vjp<double>(A[lane], B[lane], Vec3<double>::Zero(),
                                                        Vec3<double>::Zero(), one, k_proximity, one_bar);
      CHECK(all.distance[lane] == one.distance);
      CHECK(all.solution.iterations[lane] == one.solution.iterations);
      for (int i = 0; i < 3; ++i) {
        CHECK(all.normal[i][lane] == one.normal[i]);
        CHECK(all.point_A[i][lane] == one.point_A[i]);
        CHECK(poses.A[i][lane] == one_poses.A[i]);
        CHECK(poses.B[i][lane] == one_poses.B[i]);
      }
    }
  }
  CHECK(worst_single < 0.02);  // `meeting`, by sizes of 2
  CHECK(worst_single_apart < 5e-4);
}

TEST_CASE("proximity: NaN in, NaN out, and not converged; other lanes do not feel it", "[collision][batch]") {
  using P = Pack<double, 4>;
  const auto A = octagon_of(test::rectangle(1, 1), k_padding_A);
  auto B = A;
  B.centre = Vec3<double>(0.3, 0.2, 1.5);
  auto broken = B;
  broken.centre[1] = std::numeric_limits<double>::quiet_NaN();
  const auto at = proximity(A, broken, k_proximity);
  CHECK(at.solution.converged == 0.0);
  CHECK(std::isnan(at.distance));
  CHECK(active_set(proximity_program(A, broken, k_proximity.lambda)).converged == 0.0);
  auto lanes = cast<P>(B);
  lanes.centre[1].set_lane(2, broken.centre[1]);
  const auto all = proximity(cast<P>(A), lanes, k_proximity),
             sound = proximity(cast<P>(A), cast<P>(B), k_proximity);
  CHECK(all.solution.converged[2] == 0.0);
  CHECK(all.solution.converged[3] == 1.0);
  CHECK(all.distance[3] == sound.distance[3]);
  CHECK(all.point_A[0][1] == sound.point_A[0][1]);
}

TEST_CASE("proximity: allocates nothing", "[collision][batch]") {
  Random random(1);
  const auto A = octagon_of(test::random_corners(random, 6), k_padding_A),
             B = octagon_of(test::moved(test::random_pose(random), test::random_corners(random, 7)),
                            k_padding_B);
  const test::NoAlloc guard;
  const auto at = proximity(A, B, k_proximity);
  const auto exact = active_set(proximity_program(A, B, k_proximity.lambda));
  ProximityBar<double> bar;
  bar.normal.setOnes();
  const auto poses = proximity_pose_vjp<double>(A, B, A.centre, B.centre, at, k_proximity, bar);
  const auto allocations = guard.allocations();
  CHECK(allocations == 0);
  CHECK(exact.converged == 1.0);
  CHECK(poses.A.allFinite());
}

}  // namespace
}  // namespace abut
