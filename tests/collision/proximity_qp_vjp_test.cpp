#include "collision/convex/proximity_qp_vjp.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "collision/capsule_distance.h"
#include "collision/convex/proximity_qp_jvp.h"
#include "collision/convex/proximity_qp_sets.h"
#include "engine/pose.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/proximity_cases.h"

namespace abut {
namespace {

using test::close;
using test::PolygonCorners;

using Octagon = PaddedPolygon<double, 8>;
using OctagonPair = Proximity<double, 2, 8, 2, 8>;

/// Derivatives of the solution itself.
ProximitySettings<double> exact_settings() {
  ProximitySettings<double> settings;
  settings.kappa = 0.0;
  settings.solver.centrality = 1e-6;  // differences should see no noise
  return settings;
}

struct PlacedOctagons {
  Octagon A, B;  ///< in their own frames
  Pose<double> X_WA, X_WB;

  [[nodiscard]] Octagon A_W() const { return placed<double>(A, X_WA.rotation(), X_WA.p); }
  [[nodiscard]] Octagon B_W() const { return placed<double>(B, X_WB.rotation(), X_WB.p); }
  [[nodiscard]] PlacedOctagons moved(const Vec6<double>& tangent_A, const Vec6<double>& tangent_B) const {
    return {A, B, retract(X_WA, tangent_A), retract(X_WB, tangent_B)};
  }
};

PlacedOctagons random_octagons(Random& random) {
  const auto octagon = [&](double padding) {
    PolygonCorners corners = test::random_corners(random, 3 + int(random.integer(6)));
    for (Vec3<double>& x : corners) x += Vec3<double>(0.3, -0.2, 0.1);  // the centre is not the origin
    return padded<2, 8>(polygon_core(corners), padding);
  };
  return {octagon(0.1), octagon(0.25), test::random_pose(random, 1.5), test::random_pose(random, 1.5)};
}

/// Weights of a loss.
ProximityBar<double> random_proximity_bar(Random& random) {
  return {random.uniform(-1.0, 1.0), test::random_vector(random), test::random_vector(random),
          test::random_vector(random)};
}
template <typename At>
double proximity_loss(const At& at, const ProximityBar<double>& bar) {
  return bar.distance * at.distance + bar.normal.dot(at.normal) + bar.point_A.dot(at.point_A) +
         bar.point_B.dot(at.point_B);
}

/// How clearly each constraint either holds the points or not: the least of max(s_i, y_i).
double decidedness(const OctagonPair& at) {
  double least = 1.0;
  for (int i = 0; i < 16; ++i) least = std::min(least, std::max(at.solution.s[i], at.solution.y[i]));
  return least;
}

TEST_CASE("proximity_pose_vjp: agrees with differences away from changes of the active set",
          "[collision][derivative]") {
  const auto settings = exact_settings();
  int compared = 0, by_kind[3] = {};
  for (int trial = 0; trial < 600; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const PlacedOctagons pair = random_octagons(random);
    const auto at = proximity(pair.A_W(), pair.B_W(), settings);
    if (at.core_distance < 0.05 || decidedness(at) < 0.01) continue;
    const ProximityBar<double> bar = random_proximity_bar(random);
    const auto gradient =
        proximity_pose_vjp(pair.A_W(), pair.B_W(), pair.X_WA.p, pair.X_WB.p, at, settings, bar);
    const Vec6<double> along_A = test::random_vector<6>(random), along_B = test::random_vector<6>(random);
    const auto on_line = [&](double t) {
      const PlacedOctagons moved = pair.moved(t * along_A, t * along_B);
      return proximity_loss(proximity(moved.A_W(), moved.B_W(), settings), bar);
    };
    const auto swept = test::fd_sweep(on_line, 0.0, 3e-3, 1e-7, 1e-7);
    if (swept.disagrees_with_itself) continue;
    ++compared;
    int active = 0;
    for (int i = 0; i < 16; ++i) active += at.solution.y[i] > at.solution.s[i];
    ++by_kind[std::min(active, 4) - 2 < 0 ? 0 : std::min(active, 4) - 2];
    CAPTURE(trial, active, at.core_distance, swept.value);
    CHECK(close(gradient.A.dot(along_A) + gradient.B.dot(along_B), swept.value, 1e-6, 1e-6));
    CHECK(gradient.A.norm() > 1e-3);
    // Moving both with the frame turns the normal and moves the points, but leaves the distance.
    ProximityBar<double> by_distance;
    by_distance.distance = 1.0;
    const auto distance_bar = proximity_pose_vjp(pair.A_W(), pair.B_W(), Vec3<double>(0, 0, 0),
                                                 Vec3<double>(0, 0, 0), at, settings, by_distance);
    CHECK(close(Vec6<double>(distance_bar.A + distance_bar.B), Vec6<double>::Zero(), 0, 1e-7));
  }
  CHECK(compared > 200);
  for (const int count : by_kind) CHECK(count > 10);  // edge on edge, a corner in part, corner on corner
}

TEST_CASE("proximity_pose_vjp: of a segment and a polytope agrees with differences",
          "[collision][derivative]") {
  const auto settings = exact_settings();
  int compared = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    Points corners(3, 10);
    for (int i = 0; i < 10; ++i) corners.col(i) = random.unit_vector();
    const auto A = padded<1, 2>(segment_core(test::random_vector(random), test::random_vector(random)), 0.1);
    const auto B = padded<3, 16>(polytope_core(corners), 0.2);
    const Pose<double> X_WA = test::random_pose(random, 2.0), X_WB = test::random_pose(random, 2.0);
    const auto at_poses = [&](const Pose<double>& X_A, const Pose<double>& X_B) {
      return proximity(placed<double>(A, X_A.rotation(), X_A.p), placed<double>(B, X_B.rotation(), X_B.p),
                       settings);
    };
    const auto at = at_poses(X_WA, X_WB);
    double decided = 1.0;
    for (int i = 0; i < 18; ++i) decided = std::min(decided, std::max(at.solution.s[i], at.solution.y[i]));
    if (at.core_distance < 0.05 || decided < 0.01) continue;
    const ProximityBar<double> bar = random_proximity_bar(random);
    const auto gradient =
        proximity_pose_vjp(placed<double>(A, X_WA.rotation(), X_WA.p),
                           placed<double>(B, X_WB.rotation(), X_WB.p), X_WA.p, X_WB.p, at, settings, bar);
    const Vec6<double> along_A = test::random_vector<6>(random), along_B = test::random_vector<6>(random);
    const auto swept = test::fd_sweep(
        [&](double t) {
          return proximity_loss(
              at_poses(retract<double>(X_WA, t * along_A), retract<double>(X_WB, t * along_B)), bar);
        },
        0.0, 3e-3, 1e-7, 1e-7);
    if (swept.disagrees_with_itself) continue;
    ++compared;
    CAPTURE(trial, at.core_distance, swept.value);
    CHECK(close(gradient.A.dot(along_A) + gradient.B.dot(along_B), swept.value, 1e-6, 1e-6));
  }
  CHECK(compared > 60);
}

TEST_CASE("proximity_pose_jvp: is the transpose of the VJP, relaxed or not, and where cores meet",
          "[collision][derivative]") {
  int meeting = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    PlacedOctagons pair = random_octagons(random);
    if (trial % 4 == 1) pair.X_WB.p = pair.X_WA * pair.A.centre - pair.X_WB.q * pair.B.centre;
    ProximitySettings<double> settings;
    settings.kappa = std::array{1e-3, 1e-1, 0.0}[at(trial % 3)];
    const Octagon A = pair.A_W(), B = pair.B_W();
    const auto closest = proximity(A, B, settings);
    meeting += closest.meeting == 1.0;
    const auto program = proximity_program(A, B, settings.lambda);
    const auto relaxed = relaxed_solution(program, closest, settings);
    const Vec6<double> along_A = test::random_vector<6>(random), along_B = test::random_vector<6>(random);
    const auto tangent =
        proximity_pose_jvp(A, B, pair.X_WA.p, pair.X_WB.p, program, closest, relaxed, along_A, along_B);
    const ProximityBar<double> bar = random_proximity_bar(random);
    const auto gradient = proximity_pose_vjp(A, B, pair.X_WA.p, pair.X_WB.p, closest, settings, bar);
    const double by_vjp = gradient.A.dot(along_A) + gradient.B.dot(along_B);
    CAPTURE(trial, closest.core_distance);
    // Not relaxed, flat directions are divided by lambda.
    const double tolerance = settings.kappa > 0.0 ? 1e-11 : 1e-15 / settings.lambda;
    CHECK(close(proximity_loss(tangent, bar), by_vjp, tolerance, tolerance));
    CHECK(close(tangent.normal.dot(closest.normal), 0.0, 0, 1e-9));
  }
  CHECK(meeting > 50);
}

TEST_CASE("proximity_vjp: by constraints and paddings agrees with differences", "[collision][derivative]") {
  const auto settings = exact_settings();
  int compared = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const PlacedOctagons pair = random_octagons(random);
    const Octagon A = pair.A_W(), B = pair.B_W();
    const auto at = proximity(A, B, settings);
    if (at.core_distance < 0.05 || decidedness(at) < 0.01) continue;
    const ProximityBar<double> bar = random_proximity_bar(random);
    const auto program = proximity_program(A, B, settings.lambda);
    const auto gradient = proximity_vjp(A, B, program, at, at.solution, bar);
    double directions[2][8][2], along = 0.0;
    const double padding_A = random.uniform(-1, 1), padding_B = random.uniform(-1, 1);
    for (int i = 0; i < 8; ++i) {
      for (int k = 0; k < 2; ++k) {
        directions[0][i][k] = random.uniform(-1, 1);
        directions[1][i][k] = random.uniform(-1, 1);
        along +=
            gradient.A.normals[i][k] * directions[0][i][k] + gradient.B.normals[i][k] * directions[1][i][k];
      }
    }
    along += gradient.A.padding * padding_A + gradient.B.padding * padding_B;
    const auto on_line = [&](double t) {
      Octagon A_moved = A, B_moved = B;
      A_moved.padding += t * padding_A;
      B_moved.padding += t * padding_B;
      for (int i = 0; i < 8; ++i) {
        for (int k = 0; k < 2; ++k) {
          A_moved.normals[i][k] += t * directions[0][i][k];
          B_moved.normals[i][k] += t * directions[1][i][k];
        }
      }
      return proximity_loss(proximity(A_moved, B_moved, settings), bar);
    };
    const auto swept = test::fd_sweep(on_line, 0.0, 1e-3, 1e-7, 1e-7);
    if (swept.disagrees_with_itself) continue;
    ++compared;
    CAPTURE(trial, at.core_distance, swept.value);
    CHECK(close(along, swept.value, 1e-6, 1e-6));
  }
  CHECK(compared > 60);
}

TEST_CASE("proximity_vjp: agrees with the interior-point method differentiated by Jet",
          "[collision][derivative]") {
  using J = test::Jet<12>;
  const auto settings = exact_settings();
  int compared = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const PlacedOctagons pair = random_octagons(random);
    const auto at = proximity(pair.A_W(), pair.B_W(), settings);
    if (at.core_distance < 0.05 || decidedness(at) < 0.01) continue;
    ++compared;
    const ProximityBar<double> bar = random_proximity_bar(random);
    const auto gradient =
        proximity_pose_vjp(pair.A_W(), pair.B_W(), pair.X_WA.p, pair.X_WB.p, at, settings, bar);
    const auto tangents = test::variables<12>(Eigen::Matrix<double, 12, 1>::Zero());
    const Pose<J> X_WA = retract<J>(pair.X_WA.cast<J>(), tangents.head<6>()),
                  X_WB = retract<J>(pair.X_WB.cast<J>(), tangents.tail<6>());
    const auto A = placed<J>(cast<J>(pair.A), X_WA.rotation(), X_WA.p),
               B = placed<J>(cast<J>(pair.B), X_WB.rotation(), X_WB.p);
    const auto by_jet = proximity(A, B, settings);
    J loss = bar.distance * by_jet.distance;
    for (int i = 0; i < 3; ++i) {
      loss += bar.normal[i] * by_jet.normal[i] + bar.point_A[i] * by_jet.point_A[i] +
              bar.point_B[i] * by_jet.point_B[i];
    }
    Eigen::Matrix<double, 12, 1> both;
    both << gradient.A, gradient.B;
    CAPTURE(trial);
    CHECK(close(loss.a, proximity_loss(at, bar), 1e-11, 1e-11));
    CHECK(close(both, loss.v, 1e-5, 1e-5));  // the last steps' derivatives lag behind
  }
  CHECK(compared > 20);
}

TEST_CASE("proximity_distance_dpose: is what the VJP of the distance gives, and that of capsules",
          "[collision][derivative]") {
  for (int trial = 0; trial < 200; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const PlacedOctagons pair = random_octagons(random);
    ProximitySettings<double> settings;  // relaxed: the distance does not feel it
    const auto at = proximity(pair.A_W(), pair.B_W(), settings);
    ProximityBar<double> bar;
    bar.distance = 1.0;
    const auto by_vjp =
        proximity_pose_vjp(pair.A_W(), pair.B_W(), pair.X_WA.p, pair.X_WB.p, at, settings, bar);
    const auto by_envelope = proximity_distance_dpose(at, pair.X_WA.p, pair.X_WB.p);
    CHECK(close(by_vjp.A, by_envelope.A, 0, 1e-13));
    CHECK(close(by_vjp.B, by_envelope.B, 0, 1e-13));

    const Vec3<double> a = test::random_vector(random), b = test::random_vector(random),
                       c = test::random_vector(random), d = test::random_vector(random);
    const auto of_segments =
        proximity(padded<1, 2>(segment_core(a, b), 0.1), padded<1, 2>(segment_core(c, d), 0.1), settings);
    if (of_segments.core_distance < 0.01) continue;
    const auto of_capsules = capsule_distance_dpose<double>(
        capsule_distance<double>({a, b, 0.1}, {c, d, 0.1}), pair.X_WA.p, pair.X_WB.p);
    const auto other = proximity_distance_dpose(of_segments, pair.X_WA.p, pair.X_WB.p);
    CHECK(close(other.A, of_capsules.A, 0, 1e-5));
    CHECK(close(other.B, of_capsules.B, 0, 1e-5));
  }
}

TEST_CASE("proximity_vjp: relaxed, it is the derivative of the relaxed points", "[collision][derivative]") {
  auto settings = exact_settings();
  settings.solver.centrality = 1e-9;
  for (const double kappa : {1e-1, 1e-2, 1e-3, 1e-5}) {
    settings.kappa = kappa;
    int compared = 0;
    for (int trial = 0; trial < 60; ++trial) {
      Random random(static_cast<std::uint64_t>(trial));
      const PlacedOctagons pair = random_octagons(random);
      // A loss of the relaxed points alone: that of proximity() with the forward values relaxed as well.
      const auto relaxed_at = [&](const PlacedOctagons& octagons) {
        const Octagon A = octagons.A_W(), B = octagons.B_W();
        auto relaxed = settings.solver;
        relaxed.kappa = kappa;
        return proximity_of_solution(A, B, interior_point(proximity_program(A, B, settings.lambda), relaxed),
                                     settings, Vec3<double>(1, 0, 0));
      };
      const auto at = relaxed_at(pair);
      if (at.core_distance < 0.05) continue;
      ProximityBar<double> bar = random_proximity_bar(random);
      bar.distance = 0.0;  // the envelope theorem is of the exact points
      const Octagon A = pair.A_W(), B = pair.B_W();
      const auto cores_bar =
          proximity_vjp(A, B, proximity_program(A, B, settings.lambda), at, at.solution, bar);
      const Vec6<double> gradient_A = placed_vjp(A, pair.X_WA.p, cores_bar.A),
                         gradient_B = placed_vjp(B, pair.X_WB.p, cores_bar.B);
      const Vec6<double> along_A = test::random_vector<6>(random), along_B = test::random_vector<6>(random);
      const auto on_line = [&](double t) {
        return proximity_loss(relaxed_at(pair.moved(t * along_A, t * along_B)), bar);
      };
      const auto swept = test::fd_sweep(on_line, 0.0, 1e-2 * std::sqrt(kappa), 1e-7, 1e-7);
      CAPTURE(kappa, trial, at.core_distance, swept.value, swept.error);
      if (swept.disagrees_with_itself) continue;
      ++compared;
      CHECK(close(gradient_A.dot(along_A) + gradient_B.dot(along_B), swept.value, 1e-6, 1e-6));
    }
    CHECK(compared > 30);
  }
}

/// d(x of p_B)/d(rotation of B about y), of a small rectangle above a large one.
double tilt_derivative(double angle, const ProximitySettings<double>& settings) {
  const auto floor = padded<2, 8>(polygon_core(test::rectangle(3, 2)), 0.1);
  const Pose<double> X{exp_quaternion(Vec3<double>(0, angle, 0)), Vec3<double>(0.2, 0.1, 0.5)};
  const auto tile = padded<2, 8>(polygon_core(test::moved(X, test::rectangle(0.5, 0.25))), 0.1);
  const auto at = proximity(floor, tile, settings);
  ProximityBar<double> bar;
  bar.point_B = Vec3<double>(1, 0, 0);
  return proximity_pose_vjp<double>(floor, tile, Vec3<double>(0, 0, 0), X.p, at, settings, bar).B[1];
}

TEST_CASE("proximity_vjp: relaxed, it stays bounded and continuous through changes of the active set",
          "[collision][derivative]") {
  ProximitySettings<double> relaxed, exact = exact_settings();
  CHECK(relaxed.kappa == 1e-3);
  // Through parallel: the exact points rush from edge to edge, the relaxed ones take their time.
  double steepest = 0.0, steepest_exact = 0.0, sharpest = 0.0, last = tilt_derivative(-0.3, relaxed);
  for (int i = -3000; i <= 3000; ++i) {
    const double angle = 1e-4 * i, slope = tilt_derivative(angle, relaxed);
    REQUIRE(std::isfinite(slope));
    steepest = std::max(steepest, std::abs(slope));
    sharpest = std::max(sharpest, std::abs(slope - last));
    last = slope;
  }
  for (const double angle : {-1e-3, -1e-6, -1e-9, 0.0, 1e-9, 1e-6, 1e-3}) {
    REQUIRE(std::isfinite(tilt_derivative(angle, exact)));
    steepest_exact = std::max(steepest_exact, std::abs(tilt_derivative(angle, exact)));
  }
  CAPTURE(steepest, steepest_exact, sharpest);
  CHECK(steepest > 1.0);  // it does feel the tilt
  CHECK(steepest < 1.0 / relaxed.kappa);
  CHECK(steepest_exact > 1e6);
  CHECK(sharpest < 0.02 * steepest);  // over a hundredth of a milliradian
  // The bound scales with kappa.
  for (const double kappa : {1e-1, 1e-2, 1e-4, 1e-6}) {
    relaxed.kappa = kappa;
    CAPTURE(kappa);
    CHECK(std::abs(tilt_derivative(0.0, relaxed)) < 1.0 / kappa);
  }

  // A corner passes over an edge of the other: x_A begins to follow it.
  const auto slope_at = [&](double offset, const ProximitySettings<double>& settings) {
    const auto A = padded<2, 8>(polygon_core(test::rectangle(1, 1)), 0.1);
    const Pose<double> X{exp_quaternion(Vec3<double>(0.4, 0.3, 0.2)), Vec3<double>(offset, 0, 0)};
    const PolygonCorners corners = test::moved(X, {{0, 0, 0.3}, {1, 1, 0.9}, {1, -1, 0.9}});
    const auto B = padded<2, 8>(polygon_core(corners), 0.1);
    const auto at = proximity(A, B, settings);
    ProximityBar<double> bar;
    bar.point_A = Vec3<double>(1, 0, 0);
    return proximity_pose_vjp<double>(A, B, Vec3<double>(0, 0, 0), X.p, at, settings, bar).B[3];
  };
  relaxed.kappa = 1e-3;
  double change = 0.0, change_exact = 0.0;
  for (int i = 0; i < 1000; ++i) {
    const double offset = 0.5 + 1e-3 * i;
    change = std::max(change, std::abs(slope_at(offset + 1e-3, relaxed) - slope_at(offset, relaxed)));
    change_exact = std::max(change_exact, std::abs(slope_at(offset + 1e-3, exact) - slope_at(offset, exact)));
  }
  CAPTURE(change, change_exact);
  CHECK(change < 0.05);
  CHECK(change_exact > 0.3);
}

TEST_CASE("proximity_vjp: tends to the exact one with kappa", "[collision][derivative]") {
  int compared = 0;
  for (int trial = 0; trial < 100; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const PlacedOctagons pair = random_octagons(random);
    auto settings = exact_settings();
    const auto at = proximity(pair.A_W(), pair.B_W(), settings);
    if (at.core_distance < 0.1 || decidedness(at) < 0.05) continue;
    ++compared;
    const ProximityBar<double> bar = random_proximity_bar(random);
    const auto gradient = [&](double kappa) {
      settings.kappa = kappa;
      return proximity_pose_vjp(pair.A_W(), pair.B_W(), pair.X_WA.p, pair.X_WB.p, at, settings, bar).A;
    };
    const Vec6<double> exact = gradient(0.0);
    CAPTURE(trial);
    CHECK((gradient(1e-8) - exact).norm() < 1e-3 * (1.0 + exact.norm()));
    CHECK((gradient(1e-3) - exact).norm() < 3.0 * (1.0 + exact.norm()));
  }
  CHECK(compared > 20);
}

TEST_CASE("proximity_vjp: where cores meet all is finite and the distance leads out",
          "[collision][derivative]") {
  const ProximitySettings<double> settings;
  int meeting = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const test::CornersPair pair = test::corners_pair(random, trial);
    const auto A = padded<2, 8>(polygon_core(pair.A), 0.1), B = padded<2, 8>(polygon_core(pair.B), 0.1);
    const auto at = proximity(A, B, settings);
    const auto gradient =
        proximity_pose_vjp<double>(A, B, A.centre, B.centre, at, settings, random_proximity_bar(random));
    CAPTURE(trial, pair.kind, at.core_distance);
    REQUIRE(gradient.A.allFinite());
    REQUIRE(gradient.B.allFinite());
    CHECK(gradient.A.norm() < 1e3 * (1.0 + 1.0 / std::max(at.core_distance, 0.01)));
    if (at.meeting == 0.0) continue;
    ++meeting;
    const Vec6<double> out = proximity_distance_dpose<double>(at, A.centre, B.centre).B;
    CHECK(close(Vec3<double>(out.tail<3>()), at.normal, 0, 0));
    CHECK(out.tail<3>().dot(B.centre - A.centre) >= 0.0);
  }
  CHECK(meeting > 100);
}

}  // namespace
}  // namespace abut
